#!/usr/bin/env bash
# scripts/test.sh [--all]: installs what is missing, builds, also the kernel of the live peer (once, into a cache), and
# runs the tests: what sanitizers can see under ASan and UBSan with warnings as errors, the rest as released. With --all
# also the long forms (label long), and everything as released, too. testbench/README.md says what runs where.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 0 ] || [ "$*" = --all ] || { echo "usage: scripts/test.sh [--all]" >&2; exit 2; }

scripts/setup.sh --rv32 --tests
scripts/interop.sh --prepare || echo "test: no live peer on this machine; its tests are skipped"

# run PRESET TARGETS… -- CTEST OPTIONS…
run() {
  local preset=$1 targets=()
  shift
  while [ "$1" != -- ]; do targets+=("$1"); shift; done
  shift
  echo "== $preset"
  rm -rf "build/$preset/results"
  scripts/build.sh "$preset" "${targets[@]}"
  mkdir -p "build/$preset/results"
  ctest --preset "$preset" -j "$(nproc)" "$@"
}

if [ $# -eq 0 ]; then
  run dev sanitized_tests -- -L '^(unit|system|sanitized)$'
  run release released_tests -- -LE '^(unit|system|long)$'
else
  run dev all sanitized_tests --
  run release all mutants --
fi
scripts/requirements.py --results build/dev build/release
