#!/usr/bin/env bash
# Prints the folder of the libraries that packages carry, and builds them first where there are
# none: Highway, libpng, libjpeg-turbo and zlib, static and position-independent, which the
# distribution's are not. They are made of its own source packages, so that they are of the versions
# of its headers.
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
at_most 0 "$@"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Its real place: a work tree may have a link to another one's.
folder=$(realpath -m .deps)/static
readonly folder log=$folder/build.log
# shellcheck source=scripts/own-apt.sh
source scripts/own-apt.sh
# shellcheck source=scripts/pieces.sh
source scripts/pieces.sh

fail() {
  echo "static libraries: $*; all of the output is in $log" >&2
  exit 1
}

# Debian keeps the packages in main, Ubuntu has Highway in universe. Sources wait in $folder/apt.
fetch_source() {
  local release component mirror
  release=$(own_release)
  for component in main universe; do
    mirror=$(mirror_of "$release" "$component")
    if [[ -n $mirror ]] && own_apt "$folder/apt" deb-src "$mirror" "$release" "$component" \
      source --download-only "$1" >>"$log" 2>&1; then
      return
    fi
  done
  fail "no source of the package '$1' on this machine's mirrors: is there a network?"
}

# unpack SOURCE-PACKAGE: into $folder/SOURCE-PACKAGE.
unpack() {
  fetch_source "$1"
  mkdir -p "$folder/$1"
  tar --extract --strip-components=1 --directory "$folder/$1" \
    --file "$(find "$folder/apt" -name "$1_*.orig.tar.*" ! -name '*.asc')"
  rm -rf "$folder/apt"
}

# Debian's source is without what CMake would need of it.
build_zlib() {
  (cd "$folder/zlib" && CFLAGS='-O2 -fPIC' ./configure --static --prefix="$folder/root" &&
    make install) >>"$log" 2>&1 || fail "zlib does not build"
}

# build_by_cmake SOURCE-PACKAGE [CMAKE-OPTION...]. An absolute folder of libraries: libjpeg-turbo
# takes a relative one for one below the working directory.
build_by_cmake() {
  cmake -S "$folder/$1" -B "$folder/$1/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX="$folder/root" \
    -DCMAKE_INSTALL_LIBDIR="$folder/root/lib" -DCMAKE_PREFIX_PATH="$folder/root" \
    -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF "${@:2}" >>"$log" 2>&1 &&
    cmake --build "$folder/$1/build" --target install >>"$log" 2>&1 ||
    fail "$1 does not build"
}

# What of the files that packages are built with is not there.
missing() {
  local file
  for file in lib/lib{z,png,jpeg,hwy}.a include/{zlib.h,png.h,jpeglib.h,hwy/highway.h}; do
    if [[ ! -s $folder/root/$file ]]; then echo "$file"; fi
  done
}

# What an earlier version left may lack something.
if [[ ! -e $folder/root/.complete || -n $(missing) ]] || ! is_whole "$folder/root"; then
  rm -rf "$folder"
  mkdir -p "$folder"
  unpack zlib
  build_zlib
  unpack libpng1.6
  build_by_cmake libpng1.6 -DPNG_SHARED=OFF -DPNG_TESTS=OFF
  unpack libjpeg-turbo
  build_by_cmake libjpeg-turbo -DENABLE_SHARED=OFF -DWITH_TURBOJPEG=OFF
  unpack highway
  build_by_cmake highway -DHWY_ENABLE_CONTRIB=OFF -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_TESTS=OFF
  [[ -z $(missing) ]] || fail "built, but $folder/root has no $(missing | xargs)"
  rm -rf "$folder"/{zlib,libpng1.6,libjpeg-turbo,highway}
  seal "$folder/root"
  touch "$folder/root/.complete"
fi
echo "$folder/root"
