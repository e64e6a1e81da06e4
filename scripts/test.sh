#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test: first as released, then under ASan and UBSan with warnings as
# errors. RNIC_TEST_PRESETS chooses other presets.
set -euo pipefail
cd "$(dirname "$0")/.."
for preset in ${RNIC_TEST_PRESETS:-release dev}; do
  echo "== $preset"
  scripts/build.sh "$preset"
  ctest --preset "$preset" -j "$(nproc)"
  scripts/requirements.py --results "build/$preset/tests.xml"
done
