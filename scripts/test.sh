#!/usr/bin/env bash
# Installs what is missing, builds, also the kernel of the live peer (once, into a cache), and runs every test: first as
# released, then under ASan and UBSan with warnings as errors. RNIC_TEST_PRESETS chooses other presets.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/interop.sh --prepare || echo "test: no live peer on this machine; its tests are skipped"
for preset in ${RNIC_TEST_PRESETS:-release dev}; do
  echo "== $preset"
  scripts/build.sh "$preset"
  ctest --preset "$preset" -j "$(nproc)"
  scripts/requirements.py --results "build/$preset/tests.xml"
done
