#!/usr/bin/env bash
# Prints the path of onnxruntime_c_api.h, and fetches it first where this machine has none.
#
# It is looked for in $ONNXRUNTIME_ROOT, on the system and in .deps/. ONNX Runtime's wheel has no
# headers, so the fallback is the package libonnxruntime-dev of a newer release of this machine's
# own distribution. It is unpacked, not installed: it wants a newer libc than this machine's. An
# older header drives a newer library, because the C API only ever grows.
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
at_most 0 "$@"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly deps=$PWD/.deps
readonly unpacked=$deps/onnxruntime-headers log=$deps/logs/onnxruntime-header.log
# shellcheck source=scripts/machine.sh
source scripts/machine.sh
# shellcheck source=scripts/own-apt.sh
source scripts/own-apt.sh
# shellcheck source=scripts/pieces.sh
source scripts/pieces.sh

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

# fetch_from MIRROR RELEASE COMPONENT
fetch_from() {
  if ! logged "$log" own_apt "$deps/apt" deb "$@" download libonnxruntime-dev ||
    ! { rm -rf "$unpacked.new" &&
      logged "$log" dpkg-deb -x "$deps"/apt/libonnxruntime-dev_*.deb "$unpacked.new"; }; then
    if is_out_of_room "$deps"; then say_no_room 50 "$deps"; exit 1; fi
    if proxy_in_the_way >/dev/null || is_unreachable; then fail "$1: $(reason)"; fi
    return 1
  fi
  { seal "$unpacked.new" && mv "$unpacked.new" "$unpacked" && rm -rf "$unpacked.damaged"; } \
    2>/dev/null || fail "$unpacked cannot be written"
}

fetch_header() {
  local codename component mirror release
  codename=$(own_release)
  mkdir -p "$deps/logs"
  # Debian keeps the package in main, Ubuntu in universe.
  for component in universe main; do
    mirror=$(mirror_of "$codename" "$component")
    if [[ -z $mirror ]]; then continue; fi
    for release in $(releases_with_package "$codename"); do
      if fetch_from "$mirror" "$release" "$component"; then return; fi
    done
  done
  fail "no libonnxruntime-dev in the newer releases of '$codename' on this machine's mirrors"
}

trap 'rm -rf "$deps/apt"' EXIT
# A build must not find what is damaged.
if [[ -e $unpacked ]] && ! is_whole "$unpacked"; then
  echo "onnxruntime-headers: $(damaged_files "$unpacked"): all are fetched again, and the old" \
    "ones stay in $unpacked.damaged until then" >&2
  rm -rf "$unpacked.damaged"
  mv "$unpacked" "$unpacked.damaged"
fi
header=$(find_header)
if [[ -z $header ]]; then
  fetch_header
  header=$(find_header)
fi
[[ -n $header ]] || fail "not in the package libonnxruntime-dev"
echo "$header"
