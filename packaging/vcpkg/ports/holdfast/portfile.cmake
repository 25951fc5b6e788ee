# An overlay port: it builds the sources that it stands in.
#
#   vcpkg install holdfast[tls] --overlay-ports=<sources>/packaging/vcpkg/ports
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" "dynamic" shared)
vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES tls HOLDFAST_TLS)
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${features}
        -DHOLDFAST_ETCD=OFF
        -DHOLDFAST_ZOOKEEPER=OFF
        -DHOLDFAST_POSTGRESQL=OFF
        -DHOLDFAST_MYSQL=OFF
        -DHOLDFAST_INSTALL=ON
        -DBUILD_SHARED_LIBS=${shared}
        -DHOLDFAST_BUILD_TESTS=OFF
        -DHOLDFAST_BUILD_EXAMPLES=OFF
        -DHOLDFAST_BUILD_BENCHMARKS=OFF
        -DHOLDFAST_BUILD_TOOLS=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/holdfast)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
    "${CURRENT_PACKAGES_DIR}/share/doc")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
