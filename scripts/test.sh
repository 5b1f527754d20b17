#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. Fails when a backend of
# tests/required-backends.txt cannot be used, and when a suite of tests/expected-tests.txt is
# missing, smaller or skipped other than tests/expected-skips.txt has it: a test that did not run is
# no pass.
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
at_most 0 "$@"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly results=$PWD/build/release/test-results.xml

require_backends() {
  local names
  mapfile -t names < <(sed -e 's/#.*//' tests/required-backends.txt | xargs --no-run-if-empty -n 1)
  if [[ ${#names[@]} == 0 ]]; then
    echo "test.sh: tests/required-backends.txt names no backend" >&2
    return 1
  fi
  # Where the distribution has it.
  if [[ -e /usr/include/torch/script.h ]]; then names+=(torch); fi
  build/release/bin/vernier backends --require "${names[@]}"
}

run_tests() {
  rm -f "$results"
  # All output goes into the results, so that skips inside of a test program are counted too.
  ctest --preset release --no-tests=error --output-on-failure --output-junit "$results" \
    --test-output-size-passed 100000000 --test-output-size-failed 100000000
}

# shellcheck source=scripts/stages.sh
source scripts/stages.sh
stage set-up scripts/deps.sh --tests --with tensorflow,torch,tract,wheel,python,graphsurgeon \
  --with docs,lint
stage lint scripts/lint.sh
stage configure configure_all
stage suites scripts/expected-tests.py --configured
stage build build_release
stage tidy scripts/lint.sh tidy
stage backends require_backends
status=0
stage "suites and their tests" scripts/expected-tests.py || status=$?
stage tests run_tests || status=$?
stage "what ran" scripts/expected-tests.py --ran "$results" || status=$?
if [[ $status == 0 ]]; then
  echo "test.sh: everything passed in $SECONDS s"
else
  echo "test.sh: FAILED after $SECONDS s" >&2
fi
exit "$status"
