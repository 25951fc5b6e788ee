# What `cmake --install` installs, in components: `holdfast_runtime`, `holdfast_tls`,
# `holdfast_etcd`, `holdfast_zookeeper`, `holdfast_postgresql` and `holdfast_mysql`, the shared
# libraries, which programs need; `holdfast_dev`, all that is needed to build programs. The program
# is the component `holdfast_tools`, see tools/CMakeLists.txt.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)

# holdfast_install(<target> <name> <component>): installs the kinds of a library that are wanted.
# Each kind has a file of exported targets: holdfast-<kind>-<name>.cmake.
function(holdfast_install target name component)
    foreach(kind IN LISTS library_kinds)
        set(library ${target})
        if(kind STREQUAL "shared")
            set(library ${target}_shared)
        endif()
        install(TARGETS ${library}
            EXPORT holdfast-${kind}-${name}
            ARCHIVE COMPONENT holdfast_dev
            LIBRARY COMPONENT ${component} NAMELINK_COMPONENT holdfast_dev)
        install(EXPORT holdfast-${kind}-${name}
            NAMESPACE holdfast::
            DESTINATION ${package_folder}
            COMPONENT holdfast_dev)
    endforeach()
endfunction()

# holdfast_pkg_config(<package> <libraries> <private libraries> <packages> <private packages>)
#
# Installs <package>.pc. A program that links statically needs the private libraries and packages.
# If only the static library is installed, every program does.
function(holdfast_pkg_config package libraries private_libraries packages private_packages)
    if(library_kinds STREQUAL "static")
        set(libraries "${libraries} ${private_libraries}")
        set(packages "${packages} ${private_packages}")
        set(private_libraries "")
        set(private_packages "")
    endif()
    # Relative to the file itself, so that the prefix can be moved.
    set(folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    string(REGEX REPLACE "[^/]+" ".." up "${folder}")
    set(prefix "\${pcfiledir}/${up}")
    if(IS_ABSOLUTE ${folder})
        set(prefix ${CMAKE_INSTALL_PREFIX})
    endif()
    # An absolute folder stays as it is.
    set(library_folder "\${prefix}")
    set(include_folder "\${prefix}")
    cmake_path(APPEND library_folder ${CMAKE_INSTALL_LIBDIR})
    cmake_path(APPEND include_folder ${CMAKE_INSTALL_INCLUDEDIR})
    configure_file(${PROJECT_SOURCE_DIR}/cmake/holdfast.pc.in ${package}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc
        DESTINATION ${folder} COMPONENT holdfast_dev)
endfunction()

holdfast_install(holdfast holdfast holdfast_runtime)
holdfast_pkg_config(holdfast "-lholdfast -pthread" "" "" "")
if(with_tls)
    holdfast_install(holdfast_tls tls holdfast_tls)
    holdfast_pkg_config(holdfast-tls "-lholdfast_tls" "" "holdfast = ${PROJECT_VERSION}"
        "openssl >= 3")
endif()
if(with_etcd)
    holdfast_install(holdfast_etcd etcd holdfast_etcd)
    holdfast_pkg_config(holdfast-etcd "-lholdfast_etcd" "" "holdfast = ${PROJECT_VERSION}"
        "libnghttp2")
    install(FILES cmake/FindNghttp2.cmake DESTINATION ${package_folder} COMPONENT holdfast_dev)
endif()
if(HOLDFAST_ZOOKEEPER)
    holdfast_install(holdfast_zookeeper zookeeper holdfast_zookeeper)
    holdfast_pkg_config(holdfast-zookeeper "-lholdfast_zookeeper" ""
        "holdfast = ${PROJECT_VERSION}" "")
endif()
if(with_postgresql)
    holdfast_install(holdfast_postgresql postgresql holdfast_postgresql)
    holdfast_pkg_config(holdfast-postgresql "-lholdfast_postgresql" ""
        "holdfast = ${PROJECT_VERSION}" "libpq")
    install(FILES cmake/FindLibpq.cmake DESTINATION ${package_folder} COMPONENT holdfast_dev)
endif()

if(with_mysql)
    holdfast_install(holdfast_mysql mysql holdfast_mysql)
    holdfast_pkg_config(holdfast-mysql "-lholdfast_mysql" ""
        "holdfast = ${PROJECT_VERSION}" "libmariadb")
    install(FILES cmake/FindLibmariadb.cmake DESTINATION ${package_folder} COMPONENT holdfast_dev)
endif()

install(DIRECTORY include/holdfast TYPE INCLUDE COMPONENT holdfast_dev)
# Not CMAKE_INSTALL_DOCDIR: in a sub-project that is the folder of the whole project.
install(FILES LICENSE README.md CHANGELOG.md
    DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/holdfast COMPONENT holdfast_dev)

# The headers of Boost are part of the interface, and code of theirs is in the library: a program
# must use the same version of them.
set(boost_version ${Boost_VERSION_STRING})
configure_package_config_file(cmake/holdfast-config.cmake.in holdfast-config.cmake
    INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(holdfast-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    ${CMAKE_CURRENT_BINARY_DIR}/holdfast-config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/holdfast-config-version.cmake
    DESTINATION ${package_folder} COMPONENT holdfast_dev)
