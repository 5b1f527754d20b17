#!/usr/bin/env bash
# Makes the pages that come from the option table anew: docs/cli.md, docs/coming-from-polygraphy.md
# and the manual pages in docs/man/.
#
# Usage: scripts/update-docs.sh [--check] [VERNIER]
#
#   --check    change nothing; exit 1, with the difference, when a page is out of date
#   VERNIER    the program (default: build/release/bin/vernier)
set -euo pipefail

check=false
if [[ ${1:-} == --check ]]; then
  check=true
  shift
fi
if (($# > 1)) || [[ ${1:-} == -* ]]; then
  echo "usage: scripts/update-docs.sh [--check] [VERNIER]" >&2
  exit 2
fi
vernier=${1:-}
if [[ -n $vernier ]]; then vernier=$(realpath -- "$vernier"); fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
vernier=${vernier:-$PWD/build/release/bin/vernier}
if [[ ! -x $vernier ]]; then
  echo "update-docs.sh: no program at '$vernier': build it first, or name it" >&2
  exit 2
fi

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
stale=0

# page FILE WORDS...: `vernier option-docs WORDS` belongs into docs/FILE.
page() {
  mkdir -p "$(dirname "$made/$1")"
  "$vernier" option-docs "${@:2}" >"$made/$1"
  if $check; then
    diff --unified --new-file "docs/$1" "$made/$1" || stale=1
  elif ! cmp --silent "$made/$1" "docs/$1"; then
    mkdir -p "$(dirname "docs/$1")"
    # Not mv: the temporary folder's files are private.
    cat "$made/$1" >"docs/$1"
    echo "docs/$1: updated"
  fi
}

"$vernier" option-docs list >"$made/list"
while read -r file words; do
  # Unquoted: a command of two words is two words.
  page "$file" $words
done <"$made/list"
if ((stale)); then echo "out of date: run scripts/update-docs.sh" >&2; fi
exit "$stale"
