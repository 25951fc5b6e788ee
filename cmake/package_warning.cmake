# Read by cpack.
if(CPACK_GENERATOR STREQUAL "DEB" AND CPACK_DEBIAN_PACKAGE_MAINTAINER MATCHES "\\.invalid>$")
    message(WARNING "These packages name nobody as their maintainer. Before you publish them, set "
        "HOLDFAST_PACKAGE_MAINTAINER: see docs/packages.md.")
endif()
