#!/usr/bin/env bash
# scripts/build.sh [preset] [target…]: configures and builds, quietly where there is nothing to say.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true
scripts/setup.sh
cmake --preset "$preset" >build.log 2>&1 || { cat build.log; exit 1; }
rm -f build.log
cmake --build --preset "$preset" ${1:+--target "$@"}
