#!/usr/bin/env bash
# Makes the Python wheel, which holds the program too, in build/packages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec scripts/packages.sh wheel
