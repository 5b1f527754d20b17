#!/usr/bin/env bash
# Makes the Python wheel, which holds the program too, in build/packages.
set -euo pipefail
# shellcheck source=scripts/usage.sh
source "$(dirname "${BASH_SOURCE[0]}")/usage.sh"
at_most 0 "$@"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec scripts/packages.sh wheel
