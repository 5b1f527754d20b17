# shellcheck shell=bash
# Sourced by the scripts that build: what of compilers and CMake is in the way, in one sentence each
# with what to type.

# shellcheck source=scripts/machine.sh
source scripts/machine.sh

# compiler_words CC|CXX: the compiler that CMake would take, with its options: of words such as
# "ccache g++ -m64" those behind.
compiler_words() {
  local words default=cc
  if [[ $1 == CXX ]]; then default=c++; fi
  read -r -a words <<<"${!1:-$default}"
  if [[ ${words[0]##*/} == ccache && ${#words[@]} -gt 1 ]]; then words=("${words[@]:1}"); fi
  echo "${words[*]}"
}

# why_not_building CC|CXX COMMAND [LINK-OPTIONS]: nothing if this makes a program of one line in
# that language, else what it said last. As CMake does, a shell takes the command apart.
why_not_building() {
  local folder status=0 source=a.c command=$2
  if [[ $1 == CXX ]]; then source=a.cc command+=' -std=c++20'; fi
  folder=$(mktemp -d 2>/dev/null) || return 0  # of a full /tmp others tell
  echo 'int main() { return 0; }' >"$folder/$source"
  (cd "$folder" && sh -c "$command -c $source -o a.o && $2 ${3:-} a.o -o a.out") \
    >"$folder/log" 2>&1 </dev/null || status=$?
  if [[ $status != 0 || ! -e $folder/a.out ]]; then
    awk '/error|fatal|:/ { print; found = 1; exit } END { exit !found }' "$folder/log" ||
      echo "it makes no program, and its exit code is $status"
  fi
  rm -rf "$folder"
}

# check_compilers [BUILD-FOLDER]: without CC and cc CMake looks for other compilers of C.
check_compilers() {
  local folder=${1:-.}
  check_compiler CXX g++ "$folder" && check_flags CXX CXXFLAGS "$folder" &&
    check_flags CXX LDFLAGS "$folder" || return
  if [[ -n ${CC:-} ]] || command -v cc >/dev/null; then
    check_compiler CC gcc "$folder" && check_flags CC CFLAGS "$folder"
  fi
}

# check_compiler CC|CXX PACKAGE BUILD-FOLDER: a folder that was configured with another compiler
# keeps that one, whatever the variable says.
check_compiler() {
  local words path reason remedy="type apt-get install $2, then env --unset=$1 $typed"
  read -r -a words < <(compiler_words "$1")
  if ! path=$(command -v "${words[0]}"); then
    echo "there is no compiler '${words[0]}'${!1:+, which $1 names}: $remedy" >&2
    return 1
  fi
  if [[ $1 == CXX ]]; then check_version "${words[0]}" || return; fi
  reason=$(why_not_building "$1" "${words[*]}")
  if [[ -n $reason ]]; then
    echo "${words[*]} does not make a program of one line ($reason): $remedy" >&2
    return 1
  fi
  check_configured_compiler "$1" "${words[0]}" "$path" "$3"
}

# check_flags CC|CXX VARIABLE BUILD-FOLDER: a configured folder keeps what it was configured with.
check_flags() {
  local command flags=${!2:-} reason
  if [[ -z $flags || -e $3/CMakeCache.txt ]]; then return; fi
  command=$(compiler_words "$1")
  if [[ $2 == LDFLAGS ]]; then
    reason=$(why_not_building "$1" "$command" "$flags")
  else
    reason=$(why_not_building "$1" "$command $flags")
  fi
  if [[ -z $reason ]]; then return; fi
  echo "with $2='$flags' $command does not make a program of one line ($reason): type" \
    "env --unset=$2 $typed" >&2
  return 1
}

# check_version COMPILER: C++20 as of g++ 12 or clang 14; others are taken as they are.
check_version() {
  local version name=g++ package=g++ least=12
  if [[ $("$1" --version 2>/dev/null) == *clang* ]]; then name=clang++ package=clang least=14; fi
  version=$("$1" -dumpfullversion 2>/dev/null || "$1" -dumpversion 2>/dev/null) || version=
  if [[ $version =~ ^[0-9]+ && ${version%%.*} -lt $least ]]; then
    echo "$1 is $name $version, and $name $least or newer is needed: type apt-get install" \
      "$package-$least, then CXX=$name-$least $typed" >&2
    return 1
  fi
}

# check_configured_compiler CC|CXX COMPILER PATH BUILD-FOLDER
check_configured_compiler() {
  local configured language=${1/CC/C}
  configured=$(sed -n "s/^CMAKE_${language}_COMPILER:[A-Z]*=//p" "$4/CMakeCache.txt" 2>/dev/null) ||
    configured=
  if [[ -z ${!1:-} || -z $configured ]]; then return; fi
  if [[ $(realpath "$3") != $(realpath -m "$configured") ]]; then
    echo "$4 was configured with $configured, and $1 says $2: type rm -r $4, then type $typed" \
      "again" >&2
    return 1
  fi
}

# forget_half_made BUILD-FOLDER: CMake keeps the compilers that it has tried, also those with which
# its first configuration failed.
forget_half_made() {
  if [[ ! -e $1/build.ninja ]]; then rm -rf "$1/CMakeCache.txt" "$1/CMakeFiles"; fi
}

# check_place BUILD-FOLDER: of a checkout that was moved or copied, CMake takes no build folder.
check_place() {
  local place
  place=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$1/CMakeCache.txt" 2>/dev/null) || return 0
  if [[ -n $place && $(realpath -m "$place") != $(realpath .) ]]; then
    echo "$1 was configured in $place, and this is $PWD: type rm -r $1, then type $typed" \
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
