#!/usr/bin/env bash
# Prints the folder of a Highway that packages can carry, and builds it first where there is none:
# Debian and Ubuntu have only the shared library, which a bare machine lacks. It is made of the
# distribution's own source package, so that it is the version that the headers are of.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Its real place: a work tree may have a link to another one's.
folder=$(realpath -m .deps)/highway
readonly folder log=$folder/build.log
# shellcheck source=scripts/own-apt.sh
source scripts/own-apt.sh

fail() {
  echo "static Highway: $*; all of the output is in $log" >&2
  exit 1
}

# Debian keeps the package in main, Ubuntu in universe. The source waits in $folder/apt.
fetch_source() {
  local release component mirror
  release=$(own_release)
  for component in main universe; do
    mirror=$(mirror_of "$release" "$component")
    if [[ -n $mirror ]] && own_apt "$folder/apt" deb-src "$mirror" "$release" "$component" \
      source --download-only highway >>"$log" 2>&1; then
      return
    fi
  done
  fail "no source of the package 'highway' on this machine's mirrors: is there a network?"
}

build() {
  mkdir -p "$folder/source"
  tar --extract --strip-components=1 --directory "$folder/source" \
    --file "$folder"/apt/highway_*.orig.tar.*
  cmake -S "$folder/source" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX="$folder/root" \
    -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF -DHWY_ENABLE_CONTRIB=OFF \
    -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_TESTS=OFF >>"$log" 2>&1 &&
    cmake --build "$folder/build" --target install >>"$log" 2>&1 || fail "it does not build"
}

if [[ ! -e $folder/root/.complete ]]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  fetch_source
  build
  rm -rf "$folder/apt" "$folder/source" "$folder/build"
  touch "$folder/root/.complete"
fi
echo "$folder/root"
