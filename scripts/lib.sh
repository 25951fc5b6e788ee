# Functions of the scripts: find missing packages, install them, configure. To be sourced.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '==> %s\n' "$*" >&2; }
die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

as_root() {
    if [[ $EUID -eq 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "must be root, or have sudo, to run: $*"
    fi
}

installed() {
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# The installed version of a package, or else the version that apt-get would install.
version_of() {
    if installed "$1"; then
        dpkg-query -W -f '${Version}' "$1"
    else
        LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: //p'
    fi
}

# Prints the suffix of the Boost packages. The default Boost of Debian 12 is too old, but Debian 12
# also has packages of version 1.81.
boost_suffix() {
    local version
    version=$(version_of libboost-dev)
    if installed libboost1.81-dev || [[ $version != [0-9]* ]] ||
        dpkg --compare-versions "$version" lt 1.81; then
        echo 1.81
    fi
}

# The Clang version for fuzzing: the oldest installed version from 16 on, or else the oldest
# available one.
clang_version() {
    local version
    for version in {16..30}; do
        if installed "clang-$version" && installed "libclang-rt-$version-dev"; then
            echo "$version"
            return
        fi
    done
    for version in {16..30}; do
        if [[ $(version_of "clang-$version") == [0-9]* ]]; then
            echo "$version"
            return
        fi
    done
    echo 16 # apt-get will report that it is missing
}

# A script that builds the tests, or needs Clang for fuzzing, sets these to yes.
with_tests=no
with_clang=no

# A script that needs other packages adds them.
more_packages=()
# Packages with servers of ZooKeeper and MariaDB, and what the build needs for them. They have no
# services.
# shellcheck disable=SC2034
zookeeper_packages=(default-jre-headless libzookeeper-java libslf4j-java)
# shellcheck disable=SC2034
mariadb_packages=(libmariadb-dev mariadb-server-core mariadb-client-core)

missing_packages() {
    local boost clang package packages
    boost=$(boost_suffix)
    packages=(g++ cmake ninja-build redis-server libssl-dev libcli11-dev "libboost$boost-dev"
        "libboost-program-options$boost-dev" "${more_packages[@]}")
    if [[ $with_tests == yes ]]; then
        packages+=(valgrind pkg-config dpkg-dev file curl liblua5.1-0-dev doxygen mandoc
            python3-prometheus-client "libboost-test$boost-dev")
    fi
    if [[ $with_clang == yes ]]; then
        clang=$(clang_version)
        packages+=("clang-$clang" "libclang-rt-$clang-dev")
    fi
    for package in "${packages[@]}"; do
        installed "$package" || echo "$package"
    done
}

# Runs a command that installs packages, without starting their services. Debian starts a service
# when it is installed and at every boot. The programs here start their own servers on other ports
# and do not need the service. policy-rc.d tells Debian whether a service may start (101: no). The
# caller disables the new unit. A service that was installed before is not changed.
without_services() (
    policy=/usr/sbin/policy-rc.d
    if [[ ! -e $policy ]]; then
        trap 'as_root rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
        as_root chmod 755 "$policy"
    fi
    "$@"
)

install_missing() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        die "this script needs apt-get (Debian 12+ or Ubuntu 24.04+); otherwise see README.md"
    fi

    local missing
    mapfile -t missing < <(missing_packages)
    [[ ${#missing[@]} -gt 0 ]] || return 0

    say "looking for packages: ${missing[*]}"
    as_root apt-get update -q
    mapfile -t missing < <(missing_packages) # the updated lists may offer a newer Boost
    say "installing: ${missing[*]}"
    # With --no-remove, apt-get fails instead of removing installed packages.
    without_services as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends --no-remove -o DPkg::Lock::Timeout=120 "${missing[@]}" ||
        return
    local service
    for service in redis-server postgresql etcd-server pgbouncer; do
        if [[ " ${missing[*]} " == *" $service "* && -d /run/systemd/system ]]; then
            as_root systemctl disable --quiet "${service/etcd-server/etcd}.service" || true
        fi
    done
}

# configure <folder> <cmake argument>...: configures a build folder. CMAKE_ARGS come last.
configure() {
    local folder=$1 arguments=("${@:2}") extra=()
    if command -v ccache >/dev/null; then
        arguments+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    fi
    read -r -a extra <<<"${CMAKE_ARGS:-}"
    say "building in $folder"
    cmake -S "$root" -B "$root/$folder" -G Ninja "${arguments[@]}" "${extra[@]}"
}
