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

task='static libraries'
# shellcheck source=scripts/environments.sh
source scripts/environments.sh
# shellcheck source=scripts/own-apt.sh
source scripts/own-apt.sh

# They are made aside: what is there stays until all of them are.
readonly libraries=$deps/static new=$deps/static.new log=$deps/logs/static-libraries.log

# Only the folder goes to stdout.
step() { echo "$task: $*" >&2; }

# Debian keeps the packages in main, Ubuntu has Highway in universe. Sources wait in $new/apt.
fetch_source() {
  local release component mirror
  release=$(own_release)
  for component in main universe; do
    mirror=$(mirror_of "$release" "$component")
    if [[ -n $mirror ]] && logged "$log" own_apt "$new/apt" deb-src "$mirror" "$release" \
      "$component" source --download-only "$1"; then
      return
    fi
  done
  fail_of_log "no source of the package '$1' on this machine's mirrors" "$log"
}

# unpack SOURCE-PACKAGE: into $new/SOURCE-PACKAGE.
unpack() {
  fetch_source "$1"
  mkdir -p "$new/$1"
  logged "$log" tar --extract --strip-components=1 --directory "$new/$1" \
    --file "$(find "$new/apt" -name "$1_*.orig.tar.*" ! -name '*.asc')" ||
    fail_of_log "the source of $1 cannot be unpacked" "$log"
  rm -rf "$new/apt"
}

# Debian's source is without what CMake would need of it.
make_zlib() {
  cd "$new/zlib" && CFLAGS='-O2 -fPIC' ./configure --static --prefix="$new/root" && make install
}

# make_by_cmake SOURCE-PACKAGE [CMAKE-OPTION...]. An absolute folder of libraries: libjpeg-turbo
# takes a relative one for one below the working directory.
make_by_cmake() {
  cmake -S "$new/$1" -B "$new/$1/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX="$new/root" \
    -DCMAKE_INSTALL_LIBDIR="$new/root/lib" -DCMAKE_PREFIX_PATH="$new/root" \
    -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF "${@:2}" &&
    cmake --build "$new/$1/build" --target install
}

# build SOURCE-PACKAGE COMMAND...
build() {
  unpack "$1"
  logged "$log" "${@:2}" || fail_of_log "$1 does not build" "$log"
  rm -rf "${new:?}/$1"
}

# missing FOLDER: what of the files that packages are built with is not there.
missing() {
  local file
  for file in lib/lib{z,png,jpeg,hwy}.a include/{zlib.h,png.h,jpeglib.h,hwy/highway.h}; do
    if [[ ! -s $1/$file ]]; then echo "$file"; fi
  done
}

build_all() {
  rm -rf "$new"
  mkdir -p "$new"
  build zlib make_zlib
  build libpng1.6 make_by_cmake libpng1.6 -DPNG_SHARED=OFF -DPNG_TESTS=OFF
  build libjpeg-turbo make_by_cmake libjpeg-turbo -DENABLE_SHARED=OFF -DWITH_TURBOJPEG=OFF
  build highway make_by_cmake highway -DHWY_ENABLE_CONTRIB=OFF -DHWY_ENABLE_EXAMPLES=OFF \
    -DHWY_ENABLE_TESTS=OFF
  [[ -z $(missing "$new/root") ]] ||
    fail "built, but $new/root has no $(missing "$new/root" | xargs); see $log"
  # What they say of their own place.
  grep -rlIZF "$new/root" "$new/root" | xargs -r -0 sed -i "s|$new/root|$libraries/root|g"
  { seal "$new/root" && touch "$new/root/.complete"; } 2>/dev/null || cannot_be_written "$new"
}

lock_deps
# What an earlier version left may lack something.
if [[ ! -e $libraries/root/.complete || -n $(missing "$libraries/root") ]] ||
  ! is_whole "$libraries/root"; then
  if [[ -e $libraries/root ]]; then
    step "$(damaged_files "$libraries/root"): built again, and the old ones stay until then"
  fi
  build_all
  if [[ -e $libraries ]]; then mv -T "$libraries" "$libraries.former"; fi
  mv -T "$new" "$libraries"
  discard "$libraries.former"
fi
echo "$libraries/root"
