#!/usr/bin/env bash
# Gets what building and running needs (scripts/setup.sh), and larger sets that are asked for.
#
# Usage: scripts/deps.sh [--with SET[,SET...]] [--list] [--tests] [--tolerant]
#
#   --with       optional sets; may be given several times
#   --list       print the sets and end
#   --tests, --tolerant   as scripts/setup.sh has them; --tolerant also passes over sets that fail
#
# What is already there is left alone, so that a second run needs no network. Downloads are kept in
# pip's own cache; VERNIER_CACHE=DIR keeps them there instead.
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

task=deps
# shellcheck source=scripts/environments.sh
source scripts/environments.sh

# Name, how it is got, list of packages, size on disk, what it is for. A backend's own is in its
# folder.
sets=$(cat backends/*/deps-set.txt 2>/dev/null) || true
readonly sets+='
tensorflow|wheels|scripts/python-tensorflow.txt|1.6 GB|--tf: TensorFlow, Keras and tf2onnx, in .deps/tensorflow
torch|debian|scripts/apt-torch.txt|600 MB|--torch: PyTorch of the distribution, installed by apt
wheel|wheelhouse|scripts/python-wheel.txt|60 MB|the Python package: what builds it, and its tests, in .deps/wheel
graphsurgeon|wheels|scripts/python-graphsurgeon.txt|110 MB|tests against Polygraphy: ONNX-GraphSurgeon, PyYAML, Matplotlib and onnxconverter-common, in .deps/graphsurgeon
tensorrt-headers|headers|-|2 MB|--trt: headers of TensorRT, from the public repository of NVIDIA, in .deps/tensorrt-headers
lint|both|-|300 MB|style of the sources: clang-format 14, ruff, shellcheck and codespell, in .deps/lint, and clang-tidy 14 (by apt)
package|wheels|scripts/python-package.txt|2 MB|packages: auditwheel, for wheels, in .deps/package
docs|debian|scripts/apt-docs.txt|60 MB|the documentation as a site: Sphinx and MyST, installed by apt
clusters|both|-|500 MB|tests of launchers: Slurm, Open MPI (by apt), Ray, kubernetes-validate
python|peer|scripts/python-tests.txt|200 MB|--onnxref and scripts: NumPy, onnx, ONNX Runtime and Polygraphy, in .deps/peer
'

list_sets() {
  local name how list size purpose
  while IFS='|' read -r name how list size purpose; do
    if [[ -n $name ]]; then printf '%-16s %-8s %s\n' "$name" "$size" "$purpose"; fi
  done <<<"$sets"
}

# get SET: one row of the table.
get() {
  local name how list size purpose
  IFS='|' read -r name how list size purpose < <(grep "^$1|" <<<"$sets")
  case $how in
    debian) if has_packages "$list" "$name"; then install_packages "$list" "$name"; fi ;;
    wheels) environment "$name" "$list" "$name" ;;
    both)
      list=scripts/apt-$name.txt
      if has_packages "$list" "$name"; then install_packages "$list" "$name"; fi
      environment "$name" "scripts/python-$name.txt" "$name"
      ;;
    headers) scripts/tensorrt-headers.sh ;;
    wheelhouse)
      environment "$name" "$list" "$name"
      wheelhouse "$name" "$list"
      ;;
    *) environment "$how" "$list" "$name" ;;
  esac
}

wanted=()
setup_words=()
while (($#)); do
  case $1 in
    --with=*) wanted+=("${1#--with=}") ;;
    --with)
      (($# > 1)) || usage_error "--with: expected names of sets: $(list_sets | cut -d ' ' -f 1 | xargs)"
      wanted+=("$2")
      shift
      ;;
    --list)
      list_sets
      exit
      ;;
    --tests | --tolerant) setup_words+=("$1") ;;
    *) usage_error "unknown argument '$1', expected --with SETS, --list, --tests or --tolerant" ;;
  esac
  shift
done
IFS=', ' read -r -a wanted <<<"${wanted[*]}"
for name in "${wanted[@]}"; do
  grep -q "^$name|" <<<"$sets" ||
    usage_error "--with: unknown set '$name', expected one of: $(list_sets | cut -d ' ' -f 1 | xargs)"
done

scripts/setup.sh "${setup_words[@]}"
lock_deps
for name in "${wanted[@]}"; do
  if [[ " ${setup_words[*]} " == *' --tolerant '* ]]; then
    (get "$name") || step "$name: not available: passed over"
  else
    get "$name"
  fi
done
