#!/usr/bin/env bash
# Makes the pages that come from the option table anew: docs/cli.md, docs/coming-from-polygraphy.md
# and docs/vernier-run.1.
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

# page KIND FILE: `vernier option-docs KIND` belongs into docs/FILE.
page() {
  "$vernier" option-docs "$1" >"$made/$2"
  if $check; then
    diff --unified "docs/$2" "$made/$2" || stale=1
  elif ! cmp --silent "$made/$2" "docs/$2"; then
    # Not mv: the temporary folder's files are private.
    cat "$made/$2" >"docs/$2"
    echo "docs/$2: updated"
  fi
}

page reference cli.md
page polygraphy coming-from-polygraphy.md
page man vernier-run.1
if ((stale)); then echo "out of date: run scripts/update-docs.sh" >&2; fi
exit "$stale"
