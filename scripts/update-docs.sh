#!/usr/bin/env bash
# Makes the pages that come from the option table anew: docs/cli.md and
# docs/coming-from-polygraphy.md. The manual pages are no part of the source: the build writes them
# to share/man/man1 of its folder.
#
# Usage: scripts/update-docs.sh [--check] [VERNIER]
#
#   --check    change nothing; exit 1, with the difference, when a page is out of date
#   VERNIER    the program (default: build/release/bin/vernier)
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"

check=false
if [[ ${1:-} == --check ]]; then
  check=true
  shift
fi
at_most 1 "$@"
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

# page FILE WORD: `vernier option-docs WORD` belongs into docs/FILE.
page() {
  "$vernier" option-docs "$2" >"$made/$1"
  if $check; then
    diff --unified --new-file "docs/$1" "$made/$1" || stale=1
  elif ! cmp --silent "$made/$1" "docs/$1"; then
    # Not mv: the temporary folder's files are private.
    cat "$made/$1" >"docs/$1"
    echo "docs/$1: updated"
  fi
}

"$vernier" option-docs list >"$made/list"
while read -r file word; do
  page "$file" "$word"
done <"$made/list"
if ((stale)); then echo "out of date: run scripts/update-docs.sh" >&2; fi
exit "$stale"
