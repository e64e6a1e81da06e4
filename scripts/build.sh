#!/usr/bin/env bash
# scripts/build.sh [preset] [target…]: configures and builds, quietly where there is nothing to say.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true
scripts/setup.sh
log=$(cmake --preset "$preset" 2>&1) || { echo "$log" >&2; exit 1; }
cmake --build --preset "$preset" ${1:+--target "$@"}
