# Debian packages: cpack -G DEB. Configure with -DCMAKE_INSTALL_PREFIX=/usr, so that the libraries
# get into the folder that Debian has for them.
#
#   libholdfast<version>, libholdfast-tls<version>, libholdfast-etcd<version>,
#   libholdfast-zookeeper<version>, libholdfast-postgresql<version>, libholdfast-mysql<version>
#                                                    the shared libraries
#   libholdfast-dev                                  all that is needed to build programs
#   holdfast                                         the command-line program
if(NOT library_kinds STREQUAL "static;shared")
    return()
endif()

# The default is what Debian's own tools take: the variables DEBFULLNAME and DEBEMAIL.
set(one_address "^[^<>@,]*[^<>@, ] <[^<>@, ]+@[^<>@, ]+>$")
set(maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
if(NOT maintainer MATCHES "${one_address}")
    set(maintainer "holdfast maintainers <maintainers@holdfast.invalid>") # nobody's address
endif()
set(HOLDFAST_PACKAGE_MAINTAINER "${maintainer}" CACHE STRING
    "The maintainer in the control files of packages: Name <address>")
if(NOT HOLDFAST_PACKAGE_MAINTAINER MATCHES "${one_address}")
    message(FATAL_ERROR "HOLDFAST_PACKAGE_MAINTAINER is \"${HOLDFAST_PACKAGE_MAINTAINER}\". It must be "
        "one name with its address: Jane Doe <jane@example.org>")
endif()

set(CPACK_PACKAGE_NAME holdfast)
set(CPACK_PACKAGE_VENDOR holdfast)
# The default of CPack. It puts any other summary before that of each package.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${CMAKE_PROJECT_NAME} built using CMake")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB)
set(CPACK_SOURCE_GENERATOR TXZ)
set(CPACK_VERBATIM_VARIABLES ON)
# Only at the top: the tests have a folder with the name build. The path may have any characters.
string(REGEX REPLACE "([][+.*()^$?|\\])" "\\\\\\1" source_folder "${PROJECT_SOURCE_DIR}")
set(CPACK_SOURCE_IGNORE_FILES "^${source_folder}/[.]git" "^${source_folder}/[.]cache/"
    "^${source_folder}/build[^/]*/" "^${source_folder}/_CPack_Packages/")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${HOLDFAST_PACKAGE_MAINTAINER}")
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_warning.cmake)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# For dpkg-shlibdeps: the libraries of one package that those of another one need.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
foreach(configuration IN LISTS CMAKE_CONFIGURATION_TYPES)
    list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/${configuration})
endforeach()

set(about "Locks over several Redis servers (the Redlock algorithm), for C++20 coroutines.
A lease is granted by a majority of the servers, renewed while it lives, and
the work under it is told to stop before it ends.")

get_target_property(so_version holdfast_shared SOVERSION)
set(exact "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(components holdfast_runtime holdfast_dev)

# holdfast_deb(<component> <package> <section> <summary> <details>): the control file of a package,
# and its copyright file.
function(holdfast_deb component package section summary details)
    string(TOUPPER ${component} upper)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package} PARENT_SCOPE)
    set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
    set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n${about}\n\n${details}" PARENT_SCOPE)
    # Installed by the packages only.
    install(FILES LICENSE
        DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${package} RENAME copyright
        COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

holdfast_deb(holdfast_runtime libholdfast${so_version} libs
    "distributed locks for Boost.Asio coroutines" "This package has the shared library.")
set(needed "libholdfast${so_version} ${exact}")
if(with_tls)
    list(APPEND components holdfast_tls)
    holdfast_deb(holdfast_tls libholdfast-tls${so_version} libs
        "distributed locks for Boost.Asio coroutines (TLS)"
        "This package has the shared library for connections over TLS.")
    set(CPACK_DEBIAN_HOLDFAST_TLS_PACKAGE_DEPENDS "${needed}")
    string(APPEND needed ", libholdfast-tls${so_version} ${exact}, libssl-dev (>= 3)")
endif()
if(with_etcd)
    list(APPEND components holdfast_etcd)
    holdfast_deb(holdfast_etcd libholdfast-etcd${so_version} libs
        "distributed locks for Boost.Asio coroutines (etcd)"
        "This package has the shared library for locks in etcd.")
    set(CPACK_DEBIAN_HOLDFAST_ETCD_PACKAGE_DEPENDS "libholdfast${so_version} ${exact}")
    string(APPEND needed ", libholdfast-etcd${so_version} ${exact}, libnghttp2-dev")
endif()
if(HOLDFAST_ZOOKEEPER)
    list(APPEND components holdfast_zookeeper)
    holdfast_deb(holdfast_zookeeper libholdfast-zookeeper${so_version} libs
        "distributed locks for Boost.Asio coroutines (ZooKeeper)"
        "This package has the shared library for locks in ZooKeeper.")
    set(CPACK_DEBIAN_HOLDFAST_ZOOKEEPER_PACKAGE_DEPENDS "libholdfast${so_version} ${exact}")
    string(APPEND needed ", libholdfast-zookeeper${so_version} ${exact}")
endif()
if(with_postgresql)
    list(APPEND components holdfast_postgresql)
    holdfast_deb(holdfast_postgresql libholdfast-postgresql${so_version} libs
        "distributed locks for Boost.Asio coroutines (PostgreSQL)"
        "This package has the shared library for locks in a PostgreSQL database.")
    set(CPACK_DEBIAN_HOLDFAST_POSTGRESQL_PACKAGE_DEPENDS "libholdfast${so_version} ${exact}")
    string(APPEND needed ", libholdfast-postgresql${so_version} ${exact}, libpq-dev")
endif()
if(with_mysql)
    list(APPEND components holdfast_mysql)
    holdfast_deb(holdfast_mysql libholdfast-mysql${so_version} libs
        "distributed locks for Boost.Asio coroutines (MariaDB and MySQL)"
        "This package has the shared library for locks in a MariaDB or MySQL\ndatabase.")
    set(CPACK_DEBIAN_HOLDFAST_MYSQL_PACKAGE_DEPENDS "libholdfast${so_version} ${exact}")
    string(APPEND needed ", libholdfast-mysql${so_version} ${exact}, libmariadb-dev")
endif()
# The same Boost as the libraries were built with.
string(APPEND needed ", libboost${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR}-dev")
holdfast_deb(holdfast_dev libholdfast-dev libdevel
    "distributed locks for Boost.Asio coroutines (development files)"
    "This package has the headers, the static libraries, and the files for\nCMake and pkg-config.")
set(CPACK_DEBIAN_HOLDFAST_DEV_PACKAGE_DEPENDS "${needed}")
set(CPACK_DEBIAN_HOLDFAST_DEV_PACKAGE_SHLIBDEPS OFF)

# The program has the libraries in itself.
if(with_tools)
    list(APPEND components holdfast_tools)
    holdfast_deb(holdfast_tools holdfast utils
        "distributed locks for programs and scripts"
        "This package has the program holdfast, its man page, and completions for\nbash, zsh and fish.")
endif()

set(CPACK_COMPONENTS_ALL ${components})
include(CPack)
