#!/usr/bin/env bash
# Holds the sources to the project's style.
# Usage: scripts/lint.sh [--fix] [--tidy] [CHECK...]
#        scripts/lint.sh --message FILE
#
#   CHECK      one of those below (default: all but tidy)
#   --fix      format C++ and Python imports, and write the budgets anew (tests/size-budgets.txt)
#   --tidy     the check "tidy" as well: clang-tidy on the C++ files that differ from where this
#              branch left $LINT_BASE (default: main, else origin/main) or are not committed; needs
#              build/release
#   --message  only the first line of a commit message, for the hook of pre-commit
#
# The tools come from .deps/lint (scripts/deps.sh --with lint). In an archive of the sources files
# are found by name, and there are no commits to look at: that is said.
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Subjects of commits after this one are at most 72 columns.
readonly subjects_from=38024b5638870879e307ba3642270f87d7965921
readonly subject_columns=72
readonly all_checks="format python_style shell_style sizes spelling includes subjects"

fail() {
  echo "lint.sh: $*" >&2
  exit 2
}

# The first paragraph is the subject, as git has it.
check_message() {
  local subject LC_ALL=C.UTF-8
  subject=$(sed '/^#/d' "$1" | awk '/[^[:space:]]/ { printf "%s%s", space, $0; space = " "; next }
                                    space { exit }')
  if [[ -z $subject ]]; then
    echo "lint.sh: this commit message is empty: its first line says what the commit does" >&2
    return 1
  fi
  if ((${#subject} > subject_columns)); then
    echo "lint.sh: this subject has ${#subject} columns, at most $subject_columns are allowed:" \
      "'$subject'" >&2
    return 1
  fi
}

fix=false
checks=()
with_tidy=()
while (($#)); do
  case $1 in
    --fix) fix=true ;;
    --tidy) with_tidy=('tidy') ;;
    --message)
      [[ $# == 2 && -f $2 ]] || fail "--message: expected the file of a commit message"
      check_message "$2"
      exit
      ;;
    *)
      [[ $1 != *" "* && " $all_checks tidy " == *" $1 "* ]] ||
        fail "unknown argument '$1', expected --fix, --tidy, --message FILE or one of:" \
          "$all_checks tidy"
      checks+=("$1")
      ;;
  esac
  shift
done
if [[ ${#checks[@]} == 0 ]]; then read -r -a checks <<<"$all_checks"; fi
checks+=("${with_tidy[@]}")

readonly tools=.deps/lint/bin
if [[ ! -x $tools/ruff && ${checks[*]} =~ format|style|spelling ]]; then
  echo "lint.sh: no tools: scripts/deps.sh --with lint fetches them" >&2
  exit 1
fi

sources() { scripts/source-files.sh "$@"; }

format() {
  local how=(--dry-run --Werror)
  if $fix; then how=(-i); fi
  sources '*.cc' '*.h' '*.hpp' '*.c' '*.cu' '*.cuh' | xargs -P "$(nproc)" -n 40 \
    "$tools/clang-format" "${how[@]}"
}

python_style() {
  local how=()
  if $fix; then how=(--fix); fi
  "$tools/ruff" check --quiet --no-cache "${how[@]}" .
}

shell_style() {
  { sources '*.sh'; echo .ci/run; } | xargs "$tools/shellcheck" --severity=warning --external-sources
}

sizes() {
  if $fix; then
    python3 -B scripts/check-sizes.py --update
  else
    python3 -B scripts/check-sizes.py
  fi
}

# Words that are names here are in pyproject.toml.
spelling() {
  sources '*.md' '*.cc' '*.h' '*.hpp' '*.c' '*.cu' '*.cuh' '*.js' '*.py' '*.pyi' '*.sh' '*.cmake' \
    '*.txt' '*.toml' .ci/run | grep -v '^tests/fuzz/seeds/' |
    xargs "$tools/codespell"
}

includes() {
  python3 -B tests/layers/check_includes.py && python3 -B tests/layers/check_imports.py &&
    python3 -B tests/layers/check_backend_names.py
}

has_git() { [[ $(scripts/source-files.sh --how) == git ]]; }

subjects() {
  local long='' commit subject LC_ALL=C.UTF-8
  if ! has_git; then
    echo "no git here: files were found by name, and subjects of commits are NOT looked at"
    return
  fi
  local range=$subjects_from..HEAD
  if ! git merge-base --is-ancestor "$subjects_from" HEAD 2>/dev/null; then
    if [[ $(git rev-parse --is-shallow-repository) != true ]]; then
      echo "a history without ${subjects_from:0:7}: subjects of commits are NOT looked at"
      return
    fi
    range=HEAD
    echo "a shallow clone: only the subjects of its $(git rev-list --count HEAD) commits are" \
      "looked at, NOT those of earlier ones"
  fi
  while read -r commit subject; do
    if ((${#subject} > subject_columns)); then long+="$commit $subject"$'\n'; fi
  done < <(git log --format='%h %s' "$range")
  if [[ -z $long ]]; then return; fi
  printf '%s\n' "${long%$'\n'}" "these subjects have more than $subject_columns columns" >&2
  return 1
}

# Where this branch began; on the base itself, its last commit. A checkout may have no branch but
# its own.
branch_point() {
  local base
  for base in ${LINT_BASE:-main origin/main}; do
    if git merge-base "$base" HEAD 2>/dev/null; then return; fi
  done
  return 1
}

# changed BASE PATTERN...: what differs from the commit BASE, and files that git does not know yet.
changed() {
  git diff --name-only --diff-filter=d "$1" -- "${@:2}"
  git ls-files --others --exclude-standard -- "${@:2}"
}

# The headers of TensorRT that build/release was configured with: sources are compiled together, and
# clang-tidy does not find out by itself which of these need them.
tensorrt_headers() {
  local folder
  folder=$(sed -n 's/^TENSORRT_INCLUDE_DIR:[A-Z]*=\([^;]*\).*/\1/p' build/release/CMakeCache.txt)
  if [[ -d $folder ]]; then echo "$folder"; fi
}

# clang_tidy BASE SOURCE...: of headers only those that differ: others are not this change's matter.
clang_tidy() {
  local headers folder words=(--quiet --warnings-as-errors='*' -p build/release)
  headers=$(changed "$1" '*.h' '*.hpp' | sed 's/[.]/[.]/g' | paste -s -d '|')
  words+=(--header-filter="(${headers:-no header})\$")
  folder=$(tensorrt_headers)
  if [[ -n $folder ]]; then
    words+=(--extra-arg="-isystem$folder")
  elif [[ " ${*:2}" == *' backends/tensorrt/'* ]]; then
    echo "build/release is without TensorRT: clang-tidy did NOT look at backends/tensorrt"
  fi
  printf '%s\n' "${@:2}" | if [[ -n $folder ]]; then cat; else sed '/^backends.tensorrt/d'; fi |
    xargs --no-run-if-empty -n 1 -P "$(nproc)" clang-tidy-14 "${words[@]}"
}

tidy() {
  local base sources
  if ! has_git; then
    echo "no git here: what changed is not known, and clang-tidy did NOT run"
    return
  fi
  if ! base=$(branch_point); then
    echo "clang-tidy was NOT run: no '${LINT_BASE:-main}' to compare with"
    [[ -z ${LINT_BASE:-} ]]
    return
  fi
  mapfile -t sources < <(changed "$base" 'src/*.cc' 'backends/*.cc')
  if [[ ${#sources[@]} == 0 ]]; then
    echo "no C++ source differs from ${LINT_BASE:-main} ($(git rev-parse --short "$base")):" \
      "clang-tidy looked at NOTHING; LINT_BASE=HEAD~1 makes it look at the last commit"
    return
  fi
  if [[ ! -e build/release/compile_commands.json ]]; then
    echo "clang-tidy needs to know how files are compiled: type cmake --preset release first" >&2
    return 1
  fi
  if ! command -v clang-tidy-14 >/dev/null; then
    if ! apt-cache show clang-tidy-14 >/dev/null 2>&1; then
      echo "clang-tidy was NOT run: this distribution has no package clang-tidy-14"
      return
    fi
    echo "there is no clang-tidy-14: type scripts/deps.sh --with lint" >&2
    return 1
  fi
  clang_tidy "$base" "${sources[@]}"
}

status=0
for check in "${checks[@]}"; do
  if ! "$check"; then
    echo "lint.sh: ${check//_/ }: FAILED" >&2
    status=1
  fi
done
if [[ $status != 0 ]]; then
  echo "lint.sh: scripts/lint.sh --fix mends what a program can" >&2
fi
exit "$status"
