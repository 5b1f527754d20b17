#!/usr/bin/env bash
# Holds the sources to the project's style. Usage: scripts/lint.sh [--fix] [--tidy]
#
#   --fix    format C++ and Python imports, and write the budgets anew (tests/size-budgets.txt)
#   --tidy   also run clang-tidy on the C++ files that differ from $LINT_BASE (default: main);
#            needs build/release, and minutes
#
# The tools come from .deps/lint (scripts/deps.sh --with lint).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Subjects of commits after this one are at most 72 columns.
readonly subjects_from=38024b5638870879e307ba3642270f87d7965921
readonly subject_columns=72

fix=false
tidy=false
for argument in "$@"; do
  case $argument in
    --fix) fix=true ;;
    --tidy) tidy=true ;;
    *)
      echo "lint.sh: unknown argument '$argument', expected --fix or --tidy" >&2
      exit 2
      ;;
  esac
done

readonly tools=.deps/lint/bin
if [[ ! -x $tools/ruff ]]; then
  echo "lint.sh: no tools: scripts/deps.sh --with lint fetches them" >&2
  exit 1
fi

# Files that git knows, or would know: an archive without git has no commits to look at either.
sources() { git ls-files --cached --others --exclude-standard --deduplicate -- "$@"; }

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
  sources '*.md' '*.cc' '*.h' '*.hpp' '*.py' '*.sh' '*.cmake' '*.txt' | grep -v '^tests/fuzz/seeds/' |
    xargs "$tools/codespell"
}

includes() {
  python3 -B tests/layers/check_includes.py && python3 -B tests/layers/check_imports.py
}

subjects() {
  local long
  if ! git merge-base --is-ancestor "$subjects_from" HEAD 2>/dev/null; then
    echo "a history without ${subjects_from:0:7}: subjects of commits are not looked at"
    return
  fi
  long=$(git log --format='%h %s' "$subjects_from..HEAD" |
    awk -v most="$subject_columns" 'length(substr($0, index($0, " ") + 1)) > most')
  if [[ -z $long ]]; then return; fi
  printf '%s\n' "$long" "these subjects have more than $subject_columns columns" >&2
  return 1
}

changed_tidy() {
  local base=${LINT_BASE:-main}
  git diff --name-only --diff-filter=d "$base"...HEAD -- 'src/*.cc' 'backends/*.cc' |
    xargs --no-run-if-empty -n 1 -P "$(nproc)" clang-tidy-14 --quiet -p build/release
}

status=0
for check in format python_style shell_style sizes spelling includes subjects; do
  if ! "$check"; then
    echo "lint.sh: ${check//_/ }: FAILED" >&2
    status=1
  fi
done
if $tidy && ! changed_tidy; then
  echo "lint.sh: clang-tidy: FAILED" >&2
  status=1
fi
if [[ $status != 0 ]]; then
  echo "lint.sh: scripts/lint.sh --fix mends what a program can" >&2
fi
exit "$status"
