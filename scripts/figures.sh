#!/usr/bin/env bash
# Measures what docs/reliability.md says, and writes its tables.
# Usage: scripts/figures.sh [--fuzz-seconds N] [--fuzz-targets "NAME ..."] [--fuzz-processes N]
#                           [--jobs N] [--step N] [--kills N] [--work DIR] [--no-build] [TABLE...]
# TABLE is fuzz, faults, damage, scale or sanitizers; all of them if none is named.
#
# fuzz needs clang with libFuzzer; each target (all, or those named) runs N seconds (600) in N
# processes (1) that share what they find, --jobs targets at a time (one for each processor). faults
# makes every N-th system call of saving fail (1: all of
# them) and kills N runs (50). scale needs 20 GB in DIR (a folder in build/). sanitizers runs all
# tests under AddressSanitizer and UBSan, and those of code with threads under ThreadSanitizer, which
# takes hours on two processors. --no-build takes what is built.
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fuzz_seconds=600 fuzz_targets='' fuzz_processes=1 jobs=$(nproc) step=1 kills=50 work=$PWD/build/figures tables=()
build=1
while [[ $# -gt 0 ]]; do
  case $1 in
    --fuzz-seconds) fuzz_seconds=$2; shift 2 ;;
    --fuzz-targets) fuzz_targets=$2; shift 2 ;;
    --fuzz-processes) fuzz_processes=$2; shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    --no-build) build=0; shift ;;
    --step) step=$2; shift 2 ;;
    --kills) kills=$2; shift 2 ;;
    --work) work=$2; shift 2 ;;
    fuzz | faults | damage | scale | sanitizers) tables+=("$1"); shift ;;
    *) sed -n '3,14s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
if [[ ${#tables[@]} == 0 ]]; then tables=(fuzz faults damage scale sanitizers); fi
readonly fuzz_seconds fuzz_targets fuzz_processes jobs build step kills work tables
readonly page=docs/reliability.md seeds=tests/fuzz/seeds
# What ThreadSanitizer looks at: the tests of modules, which reach all code with threads.
readonly threaded='_test\.|^device\.Worker$'
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

# The sanitizers of today's compilers do not know where a kernel that places memory with more than 28
# random bits may put it: without those, they do.
fixed_places=()
if (($(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28) > 28)); then
  fixed_places=(setarch "$(uname -m)" --addr-no-randomize)
fi
readonly fixed_places

# fuzz_process NAME NUMBER: one process of a target, beginning with the seeds and what earlier runs found.
fuzz_process() {
  local name=$1 status=0
  ASAN_OPTIONS=$asan "${fixed_places[@]}" "build/fuzz/fuzz/${name}_fuzz" \
    -max_total_time="$fuzz_seconds" -reload=10 -print_final_stats=1 -timeout=25 -rss_limit_mb=4096 \
    -artifact_prefix="$work/crashes/$name-" "$work/corpus/$name" "$seeds/$name" \
    >"$work/$name.$2.log" 2>&1 || status=$?
  if ! grep -q '^stat::number_of_executed_units' "$work/$name.$2.log"; then
    tail -n 20 "$work/$name.$2.log" >&2
    return 1
  fi
  return "$status"
}

# All processes of one target. Its row of the table is kept: targets may be run at different times.
fuzz_target() {
  local name=$1 status=0 number ids=() runs edges known crashes
  mkdir -p "$work/corpus/$name" "$work/crashes" "$work/rows"
  rm -f "$work/$name".*.log
  for ((number = 1; number <= fuzz_processes; number++)); do
    fuzz_process "$name" "$number" &
    ids+=($!)
  done
  for number in "${ids[@]}"; do wait "$number" || status=1; done
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$name".*.log |
    awk '{all += $1} END {printf "%d", all}')
  edges=$(grep -aho 'cov: [0-9]*' "$work/$name".*.log | sort -k 2n | tail -n 1)
  known=$(find "$seeds/$name" -name 'regression-*' | wc -l)
  crashes=$(find "$work/crashes" -name "$name-*" | wc -l)
  printf '| `%s` | %s | %s | %s | %s | %s |\n' "$name" "$runs" \
    "$(awk "BEGIN {printf \"%.2f\", $fuzz_seconds * $fuzz_processes / 3600}")" "${edges#cov: }" \
    "$known" "$crashes" >"$work/rows/$name"
  return "$status"
}

fuzz() {
  local name status=0 names=$fuzz_targets
  if [[ $build == 1 ]]; then
    CC=clang CXX=clang++ configure_preset fuzz || return 1
    quietly build/build-fuzz.log cmake --build build/fuzz --target tests/fuzz/all || return 1
  fi
  [[ -n $names ]] || names=$(basename -s _fuzz -a build/fuzz/fuzz/*_fuzz)
  for name in $names; do
    while (($(jobs -rp | wc -l) >= jobs)); do wait -n || status=1; done
    fuzz_target "$name" &
  done
  while [[ -n $(jobs -rp) ]]; do wait -n || status=1; done
  {
    echo "| Target | Executions | Hours | Edges reached | Fixed earlier, kept as seeds | Crashes in this run |"
    echo "|---|---|---|---|---|---|"
    cat "$work/rows"/*
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

# sanitized PRESET WHAT CTEST-OPTION...: builds the preset, runs its tests and adds a row to the table.
sanitized() {
  local preset=$1 what=$2 status=0 targets=(all)
  shift 2
  if [[ $preset == tsan ]]; then targets=(src/all backends/all tests/fake_{backend,cuda}/all); fi
  if [[ $build == 1 ]]; then
    configure_preset "$preset" || return 1
    quietly "build/build-$preset.log" cmake --build "build/$preset" --target "${targets[@]}" || return 1
  fi
  "${fixed_places[@]}" ctest --preset "$preset" --no-tests=error --output-junit "$work/$preset.xml" \
    "$@" >"$work/$preset.log" 2>&1 || status=$?
  scripts/test-counts.py "$what" "$work/$preset.xml" >>"$work/sanitizers.md" || status=1
  return "$status"
}

sanitizers() {
  local status=0 compiler
  compiler=$(c++ --version | head -n 1)
  {
    echo "Measured on $(date -u +%F) at $(git rev-parse --short HEAD), $compiler, $(nproc) processors."
    echo
    echo "| Sanitizers | Tests | Passed | Skipped | Failed |"
    echo "|---|---|---|---|---|"
  } >"$work/sanitizers.md"
  sanitized asan "AddressSanitizer, UBSan" || status=$?
  sanitized tsan "ThreadSanitizer" --tests-regex "$threaded" || status=$?
  replace sanitizers "$work/sanitizers.md"
  return "$status"
}

mkdir -p "$work"
if [[ $build == 1 && ${tables[*]} =~ faults|damage|scale ]]; then
  stage configure configure_release
  stage build build_release
fi
status=0
for table in "${tables[@]}"; do
  stage "$table" "$table" || status=$?
done
exit "$status"
