#!/usr/bin/env bash
# Measures what docs/reliability.md says, and writes its tables.
# Usage: scripts/figures.sh [--fuzz-seconds N] [--step N] [--kills N] [--work DIR] [TABLE...]
# TABLE is fuzz, faults, damage, scale or sanitizers; all of them if none is named.
#
# fuzz needs clang with libFuzzer; each target runs N seconds (600). faults makes every N-th system
# call of saving fail (1: all of them) and kills N runs (50). scale needs 20 GB in DIR (a folder in
# build/). sanitizers runs all tests under AddressSanitizer and UBSan, which takes an hour.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fuzz_seconds=600 step=1 kills=50 work=$PWD/build/figures tables=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --fuzz-seconds) fuzz_seconds=$2; shift 2 ;;
    --step) step=$2; shift 2 ;;
    --kills) kills=$2; shift 2 ;;
    --work) work=$2; shift 2 ;;
    fuzz | faults | damage | scale | sanitizers) tables+=("$1"); shift ;;
    *) sed -n '3,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
if [[ ${#tables[@]} == 0 ]]; then tables=(fuzz faults damage scale sanitizers); fi
readonly fuzz_seconds step kills work tables
readonly page=docs/reliability.md seeds=tests/fuzz/seeds
readonly asan=detect_leaks=0:allocator_may_return_null=1:handle_segv=0:handle_sigfpe=0:handle_sigbus=0

# shellcheck source=scripts/stages.sh
source scripts/stages.sh

# replace TABLE FILE: puts the lines of FILE between the page's marks of that name.
replace() {
  python3 - "$page" "$1" "$2" <<'PYTHON'
import pathlib, sys
page, name, rows = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3]).read_text()
text = page.read_text()
begin, end = f"<!-- figures: {name} -->\n", "<!-- end -->"
head, rest = text.split(begin, 1)
page.write_text(head + begin + rows + rest[rest.index(end):])
PYTHON
}

# One target for some seconds, beginning with the seeds and what earlier runs found.
fuzz_target() {
  local name=$1 corpus=$work/corpus/$1 log=$work/$1.log status=0 runs known crashes
  mkdir -p "$corpus" "$work/crashes"
  ASAN_OPTIONS=$asan "build/fuzz/fuzz/${name}_fuzz" -max_total_time="$fuzz_seconds" \
    -print_final_stats=1 -timeout=25 -rss_limit_mb=4096 -artifact_prefix="$work/crashes/$name-" \
    "$corpus" "$seeds/$name" >"$log" 2>&1 || status=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  known=$(find "$seeds/$name" -name 'regression-*' | wc -l)
  crashes=$(find "$work/crashes" -name "$name-*" | wc -l)
  if [[ -z $runs ]]; then
    tail -n 20 "$log" >&2
    return 1
  fi
  printf '| `%s` | %s | %s | %s | %s | %s |\n' "$name" "$runs" \
    "$(awk "BEGIN {printf \"%.2f\", $fuzz_seconds / 3600}")" "$known" "$known" "$crashes"
  return "$status"
}

fuzz() {
  local name status=0
  quietly build/configure-fuzz.log cmake --preset fuzz
  quietly build/build-fuzz.log cmake --build build/fuzz --target tests/fuzz/all
  {
    echo "| Target | Executions | Hours | Crashes found | fixed | open |"
    echo "|---|---|---|---|---|---|"
    for path in build/fuzz/fuzz/*_fuzz; do
      name=$(basename "$path" _fuzz)
      fuzz_target "$name" || status=1
    done
  } >"$work/fuzz.md"
  replace fuzz "$work/fuzz.md"
  return "$status"
}

faults() {
  local status=0
  VERNIER=build/release/bin/vernier FAILING_CALLS=$PWD/build/release/tests/libvernier_failing_calls.so \
    python3 -B tests/faults/save_faults.py --step "$step" --kills "$kills" --table "$work/faults.md" ||
    status=$?
  replace faults "$work/faults.md"
  return "$status"
}

damage() {
  mkdir -p "$work/damaged"
  {
    echo "| File | Bytes | Damaged copies | refused | read, other tensors | read, same tensors | crashes |"
    echo "|---|---|---|---|---|---|---|"
    build/release/fuzz/damage_table "$work/damaged" $seeds/damaged/*
  } >"$work/damage.md"
  replace damage "$work/damage.md"
}

scale() {
  local status=0
  printf '| What | Seconds | Memory, MiB | Answers |\n|---|---|---|---|\n' >"$work/scale.md"
  VERNIER=build/release/bin/vernier python3 tests/scale/test_scale.py --work "$work" \
    --table "$work/scale.md" || status=$?
  replace scale "$work/scale.md"
  return "$status"
}

sanitizers() {
  local status=0 log=$work/asan.log
  quietly build/configure-asan.log cmake --preset asan
  quietly build/build-asan.log cmake --build build/asan
  ASAN_OPTIONS=$asan UBSAN_OPTIONS=print_stacktrace=1 TBB_ENABLE_SANITIZERS=1 \
    ctest --preset asan --no-tests=error >"$log" 2>&1 || status=$?
  {
    echo "AddressSanitizer and UndefinedBehaviorSanitizer, every test:"
    grep -E '^[0-9]+% tests passed' "$log" | tail -n 1
  } >"$work/sanitizers.md"
  replace sanitizers "$work/sanitizers.md"
  return "$status"
}

mkdir -p "$work"
stage configure configure_release
stage build build_release
status=0
for table in "${tables[@]}"; do
  stage "$table" "$table" || status=$?
done
exit "$status"
