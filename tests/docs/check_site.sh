#!/usr/bin/env bash
# Builds the site, which fails on any warning, and checks that it loads nothing from elsewhere.
# Usage: check_site.sh FOLDER
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
"$root/scripts/docs-site.sh" "$1"
if grep -rnE '<(script|link|img|iframe)[^>]+(src|href)="(https?:)?//' --include='*.html' "$1"; then
  echo "the site loads something over the network" >&2
  exit 1
fi
for page in index docs/tutorial docs/commands/run docs/formats/npz search; do
  test -s "$1/$page.html" || { echo "there is no $page.html" >&2; exit 1; }
done
