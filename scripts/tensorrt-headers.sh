#!/usr/bin/env bash
# Prints the folders of TensorRT's headers that the plug-ins are compiled with, one a line, and
# fetches them first where this machine has none: TensorRT 10.13.3 and 11.1, NvInfer.h and
# NvOnnxParser.h, under the Apache License 2.0.
#
# They are looked for in ../shared/third_party/tensorrt-VERSION and in .deps/tensorrt-headers. Else
# they are cloned from NVIDIA's public repository; the ONNX parser is the submodule of it that the
# tag names. TENSORRT_REPOSITORY is another place to clone from.
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
at_most 0 "$@"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly versions=(10.13.3 11.1)
readonly repository=${TENSORRT_REPOSITORY:-https://github.com/NVIDIA/TensorRT.git}
readonly fetched=.deps/tensorrt-headers
readonly log=.deps/logs/tensorrt-headers.log

# shellcheck source=scripts/machine.sh
source scripts/machine.sh
# shellcheck source=scripts/pieces.sh
source scripts/pieces.sh

fail() {
  if is_out_of_room .deps; then
    say_no_room 50 .deps
    exit 1
  fi
  echo "TensorRT's headers: $*; or put NvInfer.h and NvOnnxParser.h of $version with the other headers" \
    "of their release into $PWD/$fetched/$version/include" >&2
  exit 1
}

# The folder that has the headers of $1, if any.
find_headers() {
  local folder
  for folder in "../shared/third_party/tensorrt-$1/include" "$fetched/$1/include"; do
    if [[ -s $folder/NvInfer.h && -s $folder/NvOnnxParser.h ]] && is_good "${folder%/include}"; then
      realpath "$folder"
      return
    fi
  done
}

# is_good FOLDER: what was fetched here has the licence and a seal; what somebody has put there is
# taken as it is.
is_good() { [[ $1 != "$fetched"/* || ! (-e $1/.sums || -e $1/LICENSE) ]] || is_whole "$1"; }

# Puts the tag of a release into `tag`: some have no last number of 0.
find_tag() {
  git_does . ls-remote --tags "$repository" "refs/tags/v$1" "refs/tags/v$1.0"
  tag=$(sed -n 's|.*refs/tags/||p' <<<"$said" | head -n 1)
}

# git_does FOLDER WORD...
git_does() {
  logged "$log" git -C "$@" || fail "git $2 of $repository: $(reason)$(what_to_type "$log")"
}

# fetch VERSION: a clone of one commit, of which only the headers are checked out.
fetch() {
  local version=$1 clone=$fetched/$1.clone tag
  command -v git >/dev/null || fail "they are cloned, and git is missing: apt-get install git"
  mkdir -p "$fetched" "$(dirname "$log")"
  : >"$log"
  if [[ -e $fetched/$version ]]; then
    echo "TensorRT's headers: $version: $(damaged_files "$fetched/$version"): all are fetched" \
      "again, and the old ones stay until then" >&2
  fi
  rm -rf "$clone"
  find_tag "$version"
  [[ -n $tag ]] || fail "$repository has no tag v$version: set TENSORRT_REPOSITORY to one that" \
    "has it, then type $typed again"
  git_does . clone --quiet --depth 1 --branch "$tag" --filter=blob:none --sparse "$repository" \
    "$clone"
  git_does "$clone" sparse-checkout set include
  git_does "$clone" submodule update --quiet --init --depth 1 parsers/onnx
  rm -rf "$fetched/$version.new"
  {
    mkdir -p "$fetched/$version.new" &&
      cp -R "$clone/include" "$clone/LICENSE" "$fetched/$version.new/" &&
      cp "$clone"/parsers/onnx/*.h "$fetched/$version.new/include/" && seal "$fetched/$version.new"
  } 2>/dev/null || fail "$PWD/$fetched/$version.new cannot be written: make it writable, then" \
    "type $typed again"
  rm -rf "${fetched:?}/$version"
  mv "$fetched/$version.new" "$fetched/$version"
  rm -rf "$clone"
}

for version in "${versions[@]}"; do
  if [[ -z $(find_headers "$version") ]]; then fetch "$version"; fi
  folder=$(find_headers "$version")
  [[ -n $folder ]] || fail "the clone of v$version has no NvInfer.h and NvOnnxParser.h: set" \
    "TENSORRT_REPOSITORY to another place, then type $typed again"
  echo "$folder"
done
