#!/usr/bin/env bash
# Prints the path of onnxruntime_c_api.h, and fetches it first where this machine has none.
#
# It is looked for in $ONNXRUNTIME_ROOT, on the system and in .deps/. ONNX Runtime's wheel has no
# headers, so the fallback is the package libonnxruntime-dev of a newer release of this machine's
# own distribution. It is unpacked, not installed: it wants a newer libc than this machine's. An
# older header drives a newer library, because the C API only ever grows.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly deps=$PWD/.deps
readonly unpacked=$deps/onnxruntime-headers

fail() {
  echo "onnxruntime_c_api.h: $*; set ONNXRUNTIME_ROOT to a folder that has include/" >&2
  exit 1
}

find_header() {
  local root folder
  for root in "${ONNXRUNTIME_ROOT:-}" /usr/local /usr "$unpacked/usr"; do
    [[ -n $root ]] || continue
    for folder in include include/onnxruntime include/onnxruntime/core/session; do
      if [[ -f $root/$folder/onnxruntime_c_api.h ]]; then
        echo "$root/$folder/onnxruntime_c_api.h"
        return
      fi
    done
    # A root that was named by hand and is wrong must not be passed over in silence.
    if [[ $root == "${ONNXRUNTIME_ROOT:-}" ]]; then
      fail "not under ONNXRUNTIME_ROOT='$root'"
    fi
  done
}

# Releases to ask, first choice first, for a machine of the release $1.
releases_with_package() {
  case $1 in
    bullseye | bookworm | trixie) echo "trixie forky sid" ;;
    # The long-term release stays on the mirrors longest.
    focal | jammy | noble | plucky | questing) echo "resolute questing" ;;
    *) echo "$1" ;;
  esac
}

# The mirror of this machine's apt sources that serves component $2 of the release $1. A source may
# call its release by another name, such as "stable"; then the first one with the component counts.
mirror_of() {
  apt-get indextargets --format '$(CREATED_BY) $(REPO_URI) $(RELEASE) $(COMPONENT)' |
    awk -v release="$1" -v component="$2" '
      $1 != "Packages" || $4 != component { next }
      $3 == release { exact = exact ? exact : $2 }
      { first = first ? first : $2 }
      END { print exact ? exact : first }'
}

# The keyring that this machine's sources name for the mirror $1, if any.
signed_by() {
  local host=${1#*://}
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null |
    awk -v host="${host%/}" 'BEGIN { RS = "" } index($0, host)' |
    sed -n -E -e 's/^Signed-By:[[:space:]]*(\/[^[:space:]]+)$/\1/Ip' \
      -e 's/^deb .*signed-by=(\/[^], ]+).*/\1/Ip' | head -n 1
}

# download MIRROR RELEASE COMPONENT: leaves the package's file in $deps/apt.
download() {
  local key own=$deps/apt
  rm -rf "$own"
  mkdir -p "$own/state/lists/partial" "$own/cache/archives/partial"
  key=$(signed_by "$1") || key=
  echo "deb ${key:+[signed-by=$key] }$1 $2 $3" >"$own/sources.list"
  # An apt of our own: the machine's lists, sources and caches are neither read nor changed.
  local options=(
    -o "Dir::Etc::SourceList=$own/sources.list" -o Dir::Etc::SourceParts=-
    -o "Dir::State=$own/state" -o Dir::State::status=/dev/null -o "Dir::Cache=$own/cache"
    -o APT::Sandbox::User=root -o Acquire::Languages=none
    -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
  )
  apt-get "${options[@]}" update >&2 &&
    (cd "$own" && apt-get "${options[@]}" download libonnxruntime-dev >&2)
}

fetch_header() {
  local codename component mirror release
  # shellcheck disable=SC1091
  codename=$(. /etc/os-release && echo "${UBUNTU_CODENAME:-${VERSION_CODENAME:-sid}}")
  for release in $(releases_with_package "$codename"); do
    # Debian keeps the package in main, Ubuntu in universe.
    for component in universe main; do
      mirror=$(mirror_of "$codename" "$component")
      if [[ -n $mirror ]] && download "$mirror" "$release" "$component"; then
        mkdir -p "$unpacked"
        dpkg-deb -x "$deps"/apt/libonnxruntime-dev_*.deb "$unpacked"
        return
      fi
    done
  done
  fail "no libonnxruntime-dev in the newer releases of '$codename' on this machine's mirrors"
}

header=$(find_header)
if [[ -z $header ]]; then
  fetch_header
  rm -rf "$deps/apt"
  header=$(find_header)
fi
[[ -n $header ]] || fail "not in the package libonnxruntime-dev"
echo "$header"
