# Finds libpq, the client library of PostgreSQL, without its server: the target Libpq::Libpq.
find_path(Libpq_INCLUDE_DIR libpq-fe.h PATH_SUFFIXES postgresql pgsql)
find_library(Libpq_LIBRARY pq)
if(Libpq_INCLUDE_DIR AND EXISTS ${Libpq_INCLUDE_DIR}/pg_config.h)
    file(STRINGS ${Libpq_INCLUDE_DIR}/pg_config.h Libpq_VERSION REGEX "^#define PG_VERSION \"")
    string(REGEX REPLACE "^.*\"([0-9.]+).*$" "\\1" Libpq_VERSION "${Libpq_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libpq
    REQUIRED_VARS Libpq_LIBRARY Libpq_INCLUDE_DIR
    VERSION_VAR Libpq_VERSION)
mark_as_advanced(Libpq_INCLUDE_DIR Libpq_LIBRARY)

if(Libpq_FOUND AND NOT TARGET Libpq::Libpq)
    add_library(Libpq::Libpq UNKNOWN IMPORTED)
    set_target_properties(Libpq::Libpq PROPERTIES
        IMPORTED_LOCATION ${Libpq_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${Libpq_INCLUDE_DIR})
endif()
