# Finds libmariadb, the client library of MariaDB and MySQL, without a server: the target
# Libmariadb::Libmariadb.
find_path(Libmariadb_INCLUDE_DIR mysql.h PATH_SUFFIXES mariadb)
find_library(Libmariadb_LIBRARY mariadb)
if(Libmariadb_INCLUDE_DIR AND EXISTS ${Libmariadb_INCLUDE_DIR}/mariadb_version.h)
    file(STRINGS ${Libmariadb_INCLUDE_DIR}/mariadb_version.h Libmariadb_VERSION
        REGEX "^#define MARIADB_PACKAGE_VERSION \"")
    string(REGEX REPLACE "^.*\"([0-9.]+).*$" "\\1" Libmariadb_VERSION "${Libmariadb_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libmariadb
    REQUIRED_VARS Libmariadb_LIBRARY Libmariadb_INCLUDE_DIR
    VERSION_VAR Libmariadb_VERSION)
mark_as_advanced(Libmariadb_INCLUDE_DIR Libmariadb_LIBRARY)

if(Libmariadb_FOUND AND NOT TARGET Libmariadb::Libmariadb)
    add_library(Libmariadb::Libmariadb UNKNOWN IMPORTED)
    set_target_properties(Libmariadb::Libmariadb PROPERTIES
        IMPORTED_LOCATION ${Libmariadb_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${Libmariadb_INCLUDE_DIR})
endif()
