# shellcheck shell=bash
# Sourced by the scripts that build: named stages with their time, and the release build.

export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER:-ccache}
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}
fi

# stage NAME COMMAND...: runs the command and prints how many seconds it took.
stage() {
  local name=$1 start=$SECONDS status=0
  shift
  echo "== $name"
  "$@" || status=$?
  echo "== $name: $((SECONDS - start)) s"
  return "$status"
}

# quietly LOG COMMAND...: the output goes to LOG and is shown, its end at least, only on failure.
quietly() {
  local log=$1 status=0
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 || status=$?
  if [[ $status != 0 ]]; then
    tail -n 60 "$log" >&2
    echo "'$*' failed with exit code $status; all of its output is in $log" >&2
  fi
  return "$status"
}

configure_release() { quietly build/configure.log cmake --preset release "$@"; }
build_release() { quietly build/build.log cmake --build build/release; }
