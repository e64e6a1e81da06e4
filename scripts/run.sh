#!/usr/bin/env bash
# Installs what is missing, builds, and runs build/release/bin/rnicsim with the given arguments; without any, the
# default scenario.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh release rnicsim >&2
if [ $# -eq 0 ]; then set -- run traces/quickstart.json; fi
exec build/release/bin/rnicsim "$@"
