#!/usr/bin/env bash
# scripts/tidy.sh [regex]: installs what is missing, and runs clang-tidy over model/ and firmware/, or over the sources
# whose path matches.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh clang-tidy >&2
cmake --preset release >&2  # writes the compile commands
run-clang-tidy -quiet -p build/release "${1:-$PWD/(model|firmware)/.*\.cpp$}"
