#!/usr/bin/env bash
# Gets what building and running needs. Usage: scripts/setup.sh [--tolerant] [--tests]
#
#   --tolerant   a framework that cannot be had is a warning, and its backend is off
#   --tests      also get what the tests need beyond the frameworks
#
# Needs bash, apt and python3, and root or sudo only where Debian packages are missing. All else
# goes to .deps/. What is already there is left alone, so that a second run needs no network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly deps=$PWD/.deps
# The system's interpreter first: it is the one that python3-venv belongs to.
if [[ -x /usr/bin/python3 ]]; then python=/usr/bin/python3; else python=python3; fi
tolerant=false
tests=false
for argument in "$@"; do
  case $argument in
    --tolerant) tolerant=true ;;
    --tests) tests=true ;;
    *)
      echo "setup.sh: unknown argument '$argument', expected --tolerant or --tests" >&2
      exit 2
      ;;
  esac
done

step() { echo "setup: $*"; }

fail() {
  echo "setup: error: $*" >&2
  exit 1
}

# The lines of a list file, without comments.
entries() { sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' "$1"; }

# The last line that a failed command wrote: what it says went wrong.
reason() { grep -v '^[[:space:]]*$' "$1" | grep -v '^\[notice\]' | tail -n 1; }

framework_missing() {
  if $tolerant; then
    step "$1: not available ($2): this backend is off"
  else
    fail "$1: not available ($2)"
  fi
}

as_root() {
  if [[ $(id -u) == 0 ]]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

missing_packages() {
  local package
  for package in $(entries scripts/apt-packages.txt); do
    # A package of several architectures has a line for each; one installed is enough.
    dpkg-query --show --showformat '${db:Status-Status}\n' "$package" 2>/dev/null |
      grep -qx installed || echo "$package"
  done
}

install_packages() {
  local missing log=$deps/logs/apt.log
  missing=$(missing_packages)
  if [[ -z $missing ]]; then
    step "Debian packages: all there"
    return
  fi
  missing=${missing//$'\n'/ }
  if [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
    fail "these Debian packages are missing: $missing; install them as root (there is no sudo)"
  fi
  step "Debian packages: installing $missing"
  # Lists that cannot be renewed may still be good enough for the packages asked for.
  as_root apt-get update >"$log" 2>&1 || true
  # shellcheck disable=SC2086  # a list of names
  as_root apt-get install --yes --no-install-recommends $missing >>"$log" 2>&1 </dev/null ||
    fail "apt-get could not install the packages ($(reason "$log")); see $log"
}

# venv NAME LIST: a virtual environment .deps/NAME, made anew when LIST, the interpreter or the
# place of this folder has changed. Packages are recorded one by one in .installed.
venv() {
  local list=$2 log=$deps/logs/$1.log folder=$deps/$1 stamp
  stamp=$({ cat "$list"; "$python" --version; echo "$folder"; } | sha256sum | cut -d ' ' -f 1)
  if [[ $(cat "$folder/.stamp" 2>/dev/null) == "$stamp" && -x $folder/bin/python ]]; then
    return
  fi
  rm -rf "$folder"
  "$python" -m venv "$folder" >"$log" 2>&1 ||
    fail "python3 -m venv failed ($(reason "$log")); see $log"
  touch "$folder/.installed"
  echo "$stamp" >"$folder/.stamp"
}

# pip NAME REQUIREMENT...: installs into .deps/NAME and records the requirements. Without
# dependencies: the lists are complete for their purpose.
pip() {
  local log=$deps/logs/$1.log folder=$deps/$1
  shift
  "$folder/bin/python" -m pip --disable-pip-version-check install --no-deps --no-input \
    --retries 3 --only-binary :all: "$@" >>"$log" 2>&1 || return 1
  printf '%s\n' "$@" >>"$folder/.installed"
}

not_yet_installed() { entries "$2" | grep -vxFf "$deps/$1/.installed" || true; }

get_runtimes() {
  local list=scripts/python-runtimes.txt requirement
  venv runtimes "$list"
  for requirement in $(entries "$list"); do
    if grep -qxF "$requirement" "$deps/runtimes/.installed"; then
      step "$requirement: there"
    elif pip runtimes "$requirement"; then
      step "$requirement: fetched into .deps/runtimes"
    else
      framework_missing "${requirement%%==*}" "$(reason "$deps/logs/runtimes.log")"
    fi
  done
}

get_peer() {
  local list=scripts/python-tests.txt wanted
  venv peer "$list"
  wanted=$(not_yet_installed peer "$list")
  if [[ -z $wanted ]]; then
    step "Python packages of the tests: all there"
    return
  fi
  # shellcheck disable=SC2086  # a list of requirements
  pip peer $wanted ||
    fail "Python packages of the tests: $(reason "$deps/logs/peer.log"); see $deps/logs/peer.log"
  step "Python packages of the tests: fetched into .deps/peer"
}

mkdir -p "$deps/logs"
# The demo and the tests may be started side by side.
exec {lock}>"$deps/lock"
flock "$lock"

command -v "$python" >/dev/null || fail "python3 is missing"
install_packages
get_runtimes
if header=$(scripts/onnxruntime-header.sh 2>"$deps/logs/onnxruntime-header.log"); then
  step "onnxruntime_c_api.h: ${header#"$PWD/"}"
else
  framework_missing onnxruntime "$(reason "$deps/logs/onnxruntime-header.log")"
fi
if $tests; then get_peer; fi
