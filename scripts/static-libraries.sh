#!/usr/bin/env bash
# Prints the folder of the libraries that packages carry, and builds them first where there are none:
# Highway, libpng and zlib, static and position-independent, which the distribution's are not. They
# are made of its own source packages, so that they are of the versions that its headers are of.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Its real place: a work tree may have a link to another one's.
folder=$(realpath -m .deps)/static
readonly folder log=$folder/build.log
# shellcheck source=scripts/own-apt.sh
source scripts/own-apt.sh

fail() {
  echo "static libraries: $*; all of the output is in $log" >&2
  exit 1
}

# Debian keeps the packages in main, Ubuntu has Highway in universe. The sources wait in $folder/apt.
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

# build SOURCE-PACKAGE [CMAKE-OPTION...]
build() {
  local name=$1
  fetch_source "$name"
  mkdir -p "$folder/$name"
  tar --extract --strip-components=1 --directory "$folder/$name" \
    --file "$folder/apt/$name"_*.orig.tar.*[a-z2]
  cmake -S "$folder/$name" -B "$folder/$name/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX="$folder/root" \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_PREFIX_PATH="$folder/root" \
    -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF "${@:2}" >>"$log" 2>&1 &&
    cmake --build "$folder/$name/build" --target install >>"$log" 2>&1 ||
    fail "$name does not build"
  rm -rf "${folder:?}/$name" "$folder/apt"
}

if [[ ! -e $folder/root/.complete ]]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  build zlib
  build libpng1.6 -DPNG_SHARED=OFF -DPNG_TESTS=OFF
  build highway -DHWY_ENABLE_CONTRIB=OFF -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_TESTS=OFF
  # zlib makes a shared library as well, which a linker would take first.
  rm -f "$folder"/root/lib/*.so*
  touch "$folder/root/.complete"
fi
echo "$folder/root"
