#!/usr/bin/env bash
# Makes the files that come from the option table anew: docs/cli.md, docs/coming-from-polygraphy.md
# and what Python reads of TensorRT's options, libexec/vernier/tensorrt_options.json. And the table
# of rules in docs/lint.md. The manual pages are not part of the source: the build writes them to
# share/man/man1 of its folder.
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

# put FILE: $made/FILE belongs into the source tree.
put() {
  if $check; then
    diff --unified --new-file "$1" "$made/$1" || stale=1
  elif ! cmp --silent "$made/$1" "$1"; then
    # Not mv: the temporary folder's files are private.
    cat "$made/$1" >"$1"
    echo "$1: updated"
  fi
}

# rule_table: docs/lint.md with the rows of its table replaced by the linter's rules.
# shellcheck disable=SC2016  # Markdown's backticks
rule_table() {
  "$vernier" check lint --list-rules |
    sed -E 's/^(\S+) +(\S+) +(.*)$/| `\1` | \2 | \3 |/; s/--[a-z-]+/`&`/g' >"$made/rules"
  sed -e "/^| Rule | Level /{n;r $made/rules" -e '}' \
    -e '/^| `[a-z0-9-]*` | [a-z]* | /d' docs/lint.md
}

"$vernier" option-docs list >"$made/list"
while read -r file word; do
  mkdir -p "$made/${file%/*}"
  "$vernier" option-docs "$word" >"$made/$file"
  put "$file"
done <"$made/list"
rule_table >"$made/docs/lint.md"
put docs/lint.md
if ((stale)); then echo "out of date: run scripts/update-docs.sh" >&2; fi
exit "$stale"
