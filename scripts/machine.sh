# shellcheck shell=bash
# Sourced by the scripts that fetch and build: what of this machine is in the way, in one sentence
# each with what to type. They run in the project's folder.

# What was typed: often another script, which has started this one (usage.sh).
typed=${VERNIER_TYPED:-$0}

# check_writable: whether files can be made here.
check_writable() {
  local folder copy=/tmp/vernier
  if [[ -w ${HOME:-/} ]]; then copy=$HOME/vernier; fi
  for folder in . .deps build; do
    if [[ -e $folder && ! -w $folder ]]; then
      echo "$(realpath "$folder") cannot be written by $(id -un): type cp -r $PWD $copy &&" \
        "cd $copy && scripts/$(basename "$typed")" >&2
      return 1
    fi
  done
}

# The lines of a list file, without comments.
entries() { sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' "$1"; }

# missing_megabytes: what is still to be fetched and to be built takes at most this. Measured:
# .deps/runtimes 300 MB, the build of the demo 100 MB, and as much for files that come and go.
missing_megabytes() {
  local needed=50 requirement
  for requirement in $(entries scripts/python-runtimes.txt); do
    if ! grep -qsxF "$requirement" .deps/runtimes/.installed; then needed=$((needed + 300)); fi
  done
  if [[ ! -x build/release/bin/vernier ]]; then needed=$((needed + 200)); fi
  echo "$needed"
}

free_megabytes() { df --output=avail --block-size=1M "${1:-.}" | tail -n 1 | xargs; }

# Room for what is still to be fetched and built.
check_room() {
  local free needed
  free=$(free_megabytes)
  needed=$(missing_megabytes)
  if ((free < needed)); then
    echo "$free MB are free in $PWD, and $needed are needed: make room, then type $typed again" >&2
    return 1
  fi
}

# disk_is_full FOLDER: whether not even a small file can be written there. A log on the full disk
# does not say so: it has no room for the words.
disk_is_full() {
  local probe=$1/.room.$$ status=0
  { head -c 262144 /dev/zero >"$probe"; } 2>/dev/null || status=1
  rm -f "$probe"
  [[ -w $1 && $status != 0 ]]
}

say_disk_is_full() {
  echo "the disk is full ($(free_megabytes "$1") MB are free in $(realpath "$1")): make room," \
    "then type the same command again" >&2
}

# The compiler that CMake would take, with its options: of words such as "ccache g++ -m64" those
# behind.
compiler_words() {
  local words
  read -r -a words <<<"${CXX:-c++}"
  if [[ ${words[0]##*/} == ccache && ${#words[@]} -gt 1 ]]; then words=("${words[@]:1}"); fi
  echo "${words[*]}"
}

# why_not_compiling WORD...: nothing if these words compile a program of one line, else what they
# said last.
why_not_compiling() {
  local folder status=0
  folder=$(mktemp -d 2>/dev/null) || return 0  # of a full /tmp others tell
  echo 'int main() { return 0; }' >"$folder/a.cc"
  "$@" -std=c++20 -c "$folder/a.cc" -o "$folder/a.o" >"$folder/log" 2>&1 </dev/null || status=$?
  if [[ $status != 0 || ! -e $folder/a.o ]]; then
    awk '/error|fatal|:/ { print; found = 1; exit } END { exit !found }' "$folder/log" ||
      echo "it makes no object file, and its exit code is $status"
  fi
  rm -rf "$folder"
}

# check_compiler [BUILD-FOLDER]: C++20 as of g++ 12 or clang 14; others are taken as they are. A
# folder that was configured with another compiler keeps that one, whatever CXX says.
check_compiler() {
  local words compiler path version name=g++ package=g++ least=12 reason
  read -r -a words < <(compiler_words)
  compiler=${words[0]}
  if ! path=$(command -v "$compiler"); then
    echo "there is no compiler '$compiler'${CXX:+, which CXX names}: type apt-get install g++," \
      "then env --unset=CXX $typed" >&2
    return 1
  fi
  if [[ $("$compiler" --version 2>/dev/null) == *clang* ]]; then
    name=clang++ package=clang least=14
  fi
  version=$("$compiler" -dumpfullversion 2>/dev/null || "$compiler" -dumpversion 2>/dev/null) ||
    version=
  if [[ $version =~ ^[0-9]+ && ${version%%.*} -lt $least ]]; then
    echo "$compiler is $name $version, and $name $least or newer is needed: type apt-get install" \
      "$package-$least, then CXX=$name-$least $typed" >&2
    return 1
  fi
  reason=$(why_not_compiling "${words[@]}")
  if [[ -n $reason ]]; then
    echo "${words[*]} does not compile a program of one line ($reason): type apt-get install g++," \
      "then env --unset=CXX $typed" >&2
    return 1
  fi
  check_configured_compiler "${1:-.}" "$compiler" "$path"
}

# check_configured_compiler BUILD-FOLDER COMPILER PATH
check_configured_compiler() {
  local configured
  configured=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$1/CMakeCache.txt" 2>/dev/null) ||
    configured=
  if [[ -z ${CXX:-} || -z $configured ]]; then return; fi
  if [[ $(realpath "$3") != $(realpath -m "$configured") ]]; then
    echo "$1 was configured with $configured, and CXX says $2: type rm -r $1, then the" \
      "same command again" >&2
    return 1
  fi
}

# check_place BUILD-FOLDER: of a checkout that was moved or copied, CMake takes no build folder.
check_place() {
  local place
  place=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$1/CMakeCache.txt" 2>/dev/null) || return 0
  if [[ -n $place && $(realpath -m "$place") != $(realpath .) ]]; then
    echo "$1 was configured in $place, and this is $PWD: type rm -r $1, then the same command" \
      "again" >&2
    return 1
  fi
}

# check_cmake: as new as CMakeLists.txt asks for, and with a ninja that runs.
check_cmake() {
  local least version cmake ninja
  cmake=$(command -v cmake || echo cmake)
  ninja=$(command -v ninja || echo ninja)
  least=$(sed -n 's/^cmake_minimum_required(VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
  version=$("$cmake" --version 2>/dev/null | sed -n '1s/^cmake version \([0-9.]*\).*/\1/p') ||
    version=
  if [[ $(printf '%s\n' "$least" "${version:-0}" | sort -V | head -n 1) != "$least" ]]; then
    echo "$cmake is ${version:-no CMake that runs}, and CMake $least or newer is needed: type" \
      "apt-get install cmake, or take this one out of PATH" >&2
    return 1
  fi
  if ! "$ninja" --version >/dev/null 2>&1; then
    echo "$ninja does not run: type apt-get install ninja-build, or take this one out of PATH" >&2
    return 1
  fi
}

# What has CMake leave ccache out, also in a folder that was configured with it (stages.sh).
# shellcheck disable=SC2034
without_ccache=()

# find_ccache: after the set-up, which installs it. Its folder lies in the home folder, which may be
# missing or not ours. One that does not work is left out.
find_ccache() {
  local words reason
  if ! command -v ccache >/dev/null; then return; fi
  export CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER:-ccache}
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}
  find_ccache_folder
  read -r -a words < <(compiler_words)
  reason=$(why_not_compiling ccache "${words[@]}")
  if [[ -n $reason && -z $(why_not_compiling "${words[@]}") ]]; then
    echo "ccache does not work ($reason): it is left out"
    export CMAKE_C_COMPILER_LAUNCHER='' CMAKE_CXX_COMPILER_LAUNCHER=''
    # shellcheck disable=SC2034
    without_ccache=(-DCMAKE_C_COMPILER_LAUNCHER= -DCMAKE_CXX_COMPILER_LAUNCHER=)
  fi
}

find_ccache_folder() {
  local folder
  folder=$(ccache --get-config cache_dir 2>/dev/null) || folder=
  if [[ -n $folder ]] && mkdir -p "$folder" 2>/dev/null && [[ -w $folder ]]; then return; fi
  export CCACHE_DIR=$PWD/build/ccache
  echo "ccache cannot write '${folder:-its folder}': it uses $CCACHE_DIR instead"
}
