#!/usr/bin/env bash
# Prints the names of this project's files, one a line: those that git knows or would know; in an
# archive of the sources, or without git, those outside of hidden and build folders.
# Usage: scripts/source-files.sh [--how | PATTERN...]
#
#   --how     print "git" or "find": where the names come from
#   PATTERN   as of a file's name, such as '*.cc' (default: all)
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# An archive may be unpacked within another repository, whose git knows nothing of these files.
how='find'
git=(git -c safe.directory=* -c core.quotePath=false)
top=$("${git[@]}" rev-parse --show-toplevel 2>/dev/null) || top=
if [[ -n $top && $(realpath "$top") == $(realpath .) ]]; then how='git'; fi

if [[ ${1:-} == --how ]]; then
  echo "$how"
elif [[ $how == git ]]; then
  "${git[@]}" ls-files --cached --others --exclude-standard --deduplicate -- "$@" |
    while IFS= read -r name; do if [[ -e $name || -L $name ]]; then printf '%s\n' "$name"; fi; done
else
  names=()
  if (($# == 0)); then set -- '*'; fi
  for pattern in "$@"; do names+=(-o -name "$pattern"); done
  find . \( -path ./.git -o -path ./.deps -o -path ./build -o -name __pycache__ -o -name .venv \) \
    -prune -o \( -type f -o -type l \) \( "${names[@]:1}" \) ! -name '*.pyc' ! -name '*.partial' \
    -print | sed 's|^\./||' | LC_ALL=C sort
fi
