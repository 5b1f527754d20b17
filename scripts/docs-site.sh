#!/usr/bin/env bash
# Builds the documentation as a site: every page of docs/site/navigation.txt, with a search, readable
# from a folder and without a network.
#
# Usage: scripts/docs-site.sh [FOLDER]     (default: build/docs)
#
# Needs Sphinx and MyST: scripts/deps.sh --with docs. Warnings, such as a link that leads nowhere, are
# errors.
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

at_most 1 "$@"
folder=${1:-build/docs}
# Debian's packages are those of its own interpreter.
python=${VERNIER_DOCS_PYTHON:-/usr/bin/python3}
if ! "$python" -c 'import sphinx, myst_parser' 2>/dev/null; then
  echo "docs-site.sh: '$python' has no Sphinx with MyST: scripts/deps.sh --with docs gets them" >&2
  exit 5
fi
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
"$python" -B docs/site/stage.py "$stage/pages"
mkdir -p "$folder"
"$python" -m sphinx -q -W --keep-going -b html -d "$stage/doctrees" "$stage/pages" "$folder"
echo "docs-site.sh: $folder/index.html"
