#!/usr/bin/env bash
# scripts/tidy.sh [regex]: installs what is missing, and runs clang-tidy over model/ and firmware/, or over the sources
# whose path matches.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh python3 clang-tidy >&2
# A command for each source, without what g++ precompiles.
cmake -S . -B build/tidy -G Ninja -D CMAKE_BUILD_TYPE=Release -D RNIC_UNITY=OFF -D CMAKE_DISABLE_PRECOMPILE_HEADERS=ON >&2
run-clang-tidy -quiet -p build/tidy "${1:-$PWD/(model|firmware)/.*\.cpp$}"
