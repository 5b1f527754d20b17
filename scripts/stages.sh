# shellcheck shell=bash
# Sourced by the scripts that build: named stages with their time, and the release build.

export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}

# After the set-up, which installs it.
find_ccache() {
  if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER:-ccache}
    export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}
  fi
}

# What is fetched and built takes less than this.
check_room() {
  local free
  free=$(df --output=avail --block-size=1M . | tail -n 1)
  if ((free < 2000)); then
    echo "$free MB are free in $PWD, and 2000 are needed: make room, then type $0" >&2
    return 1
  fi
}

# Processor time, in ticks, of everything that this shell has started and that has ended.
ended_ticks() {
  local stat
  read -r -a stat </proc/$$/stat
  echo $((stat[15] + stat[16]))
}

# stage NAME COMMAND...: runs the command and prints how long it took, and how much of the processors.
stage() {
  local name=$1 start=$SECONDS ticks status=0
  ticks=$(ended_ticks)
  shift
  echo "== $name"
  "$@" || status=$?
  ticks=$(($(ended_ticks) - ticks))
  echo "== $name: $((SECONDS - start)) s, $((ticks / $(getconf CLK_TCK))) s of processor time"
  return "$status"
}

# quietly LOG COMMAND...: the output goes to LOG and is shown, its end at least, only on failure.
quietly() {
  local log=$1 status=0
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 || status=$?
  if [[ $status != 0 ]]; then explain "$log" "$status" "$*"; fi
  return "$status"
}

# explain LOG STATUS COMMAND: why a command failed: in one sentence where the reason is known.
explain() {
  if grep -q 'No space left on device' "$1"; then
    echo "the disk is full: free 2 GB for $PWD/build, then type the same command again" >&2
    return
  fi
  tail -n 60 "$1" >&2
  echo "'$3' failed with exit code $2; all of its output is in $1" >&2
}

# C++20 as of g++ 12; other compilers are taken as they are.
check_compiler() {
  local compiler=${CXX:-c++} version
  version=$("$compiler" -dumpfullversion 2>/dev/null) || return 0
  if [[ $("$compiler" --version) == *clang* || ${version%%.*} -ge 12 ]]; then return; fi
  echo "$compiler is g++ $version, and g++ 12 or newer is needed: install g++-12, then type" \
    "CXX=g++-12 $0" >&2
  return 1
}

configure_release() { quietly build/configure.log cmake --preset release "$@"; }

# build_release [TARGET...]: says now and then how much is done. Under `set -o pipefail`.
build_release() {
  local log=build/build.log status=0 targets=()
  if (($#)); then targets=(--target "$@"); fi
  NINJA_STATUS='[%p] ' cmake --build build/release "${targets[@]}" 2>&1 | tee "$log" |
    awk 'match($0, /^\[ *[0-9]+%\]/) {
           share = substr($0, 2, RLENGTH - 3) + 0
           if (share >= told + 10) { told = share - share % 10; print "   " told " % built"; fflush() }
         }' || status=$?
  if [[ $status != 0 ]]; then explain "$log" "$status" "cmake --build build/release"; fi
  return "$status"
}
