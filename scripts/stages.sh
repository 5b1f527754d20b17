# shellcheck shell=bash
# Sourced by the scripts that build: named stages with their time, and the release build.

export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}

# shellcheck source=scripts/build-tools.sh
source scripts/build-tools.sh

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
  { mkdir -p "$(dirname "$log")" && : >"$log"; } 2>/dev/null || true
  logged "$log" "$@" || status=$?
  if [[ $status != 0 ]]; then explain "$log" "$status" "$*"; fi
  return "$status"
}

# explain LOG STATUS COMMAND: why the last command failed: in one sentence where the reason is known.
explain() {
  local folder
  folder=$(realpath -m "$(dirname "$1")")
  if is_out_of_room "$folder"; then
    say_no_room "$(room_for_build)" "$folder" "${TMPDIR:-/tmp}"
    return
  fi
  echo "$said" >&2
  echo "'$3' failed with exit code $2; all of its output is in $1" >&2
}

# configure_preset PRESET [CMAKE-OPTION...]: in build/PRESET.
configure_preset() {
  local folder=build/$1
  forget_half_made "$folder"
  check_cmake && check_place "$folder" && check_compilers "$folder" &&
    quietly "build/configure-$1.log" cmake --preset "$1" "${@:2}"
}

configure_release() { configure_preset release "$@"; }

# Puts what has CMake compile both plug-ins of TensorRT, warnings as errors, into the array
# `tensorrt`. More folders of headers, of TensorRT 8.5 for its recordings, are taken from
# TENSORRT_INCLUDE_DIR.
with_tensorrt() {
  local folders
  folders=$(scripts/tensorrt-headers.sh) || return 1
  if [[ -n ${TENSORRT_INCLUDE_DIR:-} ]]; then folders+=$'\n'$TENSORRT_INCLUDE_DIR; fi
  tensorrt=(-DVERNIER_BACKEND_TENSORRT=ON -DTENSORRT_INCLUDE_DIR="${folders//$'\n'/;}"
    -DVERNIER_TENSORRT_WERROR=ON)
}

# With all that tests need.
configure_all() {
  with_tensorrt && configure_release -DVERNIER_REQUIRE_PEER=ON "${tensorrt[@]}"
}

# build_release [TARGET...]: says now and then how much is done.
build_release() {
  local status=0 targets=() watch=print_progress
  if (($#)); then targets=(--target "$@"); fi
  echo "   0 % built"
  { NINJA_STATUS='[%p] ' quietly build/build.log cmake --build build/release "${targets[@]}" ||
    status=$?; } 3>&1
  return "$status"
}

# Passes on what ninja says, and reports the percentage done through file descriptor 3.
print_progress() {
  awk '{ print }
       match($0, /^\[ *[0-9]+%\]/) {
         share = substr($0, 2, RLENGTH - 3) + 0
         if (share >= printed + 10) {
           printed = share - share % 10
           print "   " printed " % built" | "cat >&3"
           fflush("cat >&3")
         }
       }'
}
