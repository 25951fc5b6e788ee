"""The recipe for Conan 2. It packages the sources that it stands in:

    conan create packaging/conan -s compiler.cppstd=20
"""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.0"


class HoldfastConan(ConanFile):
    name = "holdfast"
    description = "Distributed locks for Boost.Asio coroutines"
    license = "BSL-1.0"
    topics = ("locks", "redis", "redlock", "asio", "coroutines")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "tls": [True, False]}
    default_options = {
        "shared": False,
        "fPIC": True,
        "tls": True,
        "boost/*:header_only": True,
    }
    implements = ["auto_shared_fpic"]

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, os.pardir, os.pardir)

    def set_version(self):
        header = load(self, os.path.join(self._root, "include", "holdfast", "version.hpp"))
        numbers = re.findall(r"^#define HOLDFAST_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.M)
        self.version = ".".join(numbers)

    def export_sources(self):
        for pattern in (
            "CMakeLists.txt",
            "LICENSE",
            "README.md",
            "CHANGELOG.md",
            "cmake/*",
            "include/*",
            "src/*",
        ):
            folder, _, name = pattern.rpartition("/")
            copy(
                self,
                name,
                src=os.path.join(self._root, folder),
                dst=os.path.join(self.export_sources_folder, folder),
            )

    def requirements(self):
        # Its headers are part of the interface, and code of theirs is in the library.
        self.requires("boost/[>=1.81]", transitive_headers=True)
        if self.options.tls:
            self.requires("openssl/[>=3 <4]")

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("holdfast needs Linux")
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["HOLDFAST_INSTALL"] = True
        toolchain.cache_variables["HOLDFAST_TLS"] = "ON" if self.options.tls else "OFF"
        toolchain.cache_variables["HOLDFAST_ETCD"] = "OFF"
        toolchain.cache_variables["HOLDFAST_ZOOKEEPER"] = "OFF"
        toolchain.cache_variables["HOLDFAST_POSTGRESQL"] = "OFF"
        toolchain.cache_variables["HOLDFAST_MYSQL"] = "OFF"
        toolchain.cache_variables["HOLDFAST_LIBRARIES"] = (
            "shared" if self.options.shared else "static"
        )
        for part in ("TESTS", "EXAMPLES", "BENCHMARKS", "TOOLS"):
            toolchain.cache_variables[f"HOLDFAST_BUILD_{part}"] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(
            self,
            "LICENSE",
            src=self.source_folder,
            dst=os.path.join(self.package_folder, "licenses"),
        )
        # CMakeDeps and PkgConfigDeps make these for the graph of packages.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "holdfast")
        core = self.cpp_info.components["holdfast"]
        core.set_property("cmake_target_name", "holdfast::holdfast")
        core.set_property("pkg_config_name", "holdfast")
        core.libs = ["holdfast"]
        core.system_libs = ["pthread"]
        core.requires = ["boost::headers"]
        if self.options.tls:
            tls = self.cpp_info.components["tls"]
            tls.set_property("cmake_target_name", "holdfast::tls")
            tls.set_property("pkg_config_name", "holdfast-tls")
            tls.libs = ["holdfast_tls"]
            tls.requires = ["holdfast", "openssl::ssl"]
