# Finds libnghttp2, which has no file for CMake in Debian: the target Nghttp2::Nghttp2.
find_path(Nghttp2_INCLUDE_DIR nghttp2/nghttp2.h)
find_library(Nghttp2_LIBRARY nghttp2)
if(Nghttp2_INCLUDE_DIR AND EXISTS ${Nghttp2_INCLUDE_DIR}/nghttp2/nghttp2ver.h)
    file(STRINGS ${Nghttp2_INCLUDE_DIR}/nghttp2/nghttp2ver.h Nghttp2_VERSION
        REGEX "^#define NGHTTP2_VERSION \"")
    string(REGEX REPLACE "^.*\"([0-9.]+).*$" "\\1" Nghttp2_VERSION "${Nghttp2_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Nghttp2
    REQUIRED_VARS Nghttp2_LIBRARY Nghttp2_INCLUDE_DIR
    VERSION_VAR Nghttp2_VERSION)
mark_as_advanced(Nghttp2_INCLUDE_DIR Nghttp2_LIBRARY)

if(Nghttp2_FOUND AND NOT TARGET Nghttp2::Nghttp2)
    add_library(Nghttp2::Nghttp2 UNKNOWN IMPORTED)
    set_target_properties(Nghttp2::Nghttp2 PROPERTIES
        IMPORTED_LOCATION ${Nghttp2_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${Nghttp2_INCLUDE_DIR})
endif()
