#!/usr/bin/env bash
# scripts/test.sh [--all | --quick]: tries the commands that the pages show, builds, and runs the tests: what sanitizers can see
# under ASan and UBSan with warnings as errors, the rest as released; and fuzzes for a minute, where clang is to be had. Installs
# what is missing, and builds the kernel of the live peer (once, into a cache). --all adds the long forms (label long), and runs everything as released, too. --quick is
# for the time between two edits: of unit and system tests those whose program has changed since it passed, and the scenarios
# and co-simulations. testbench/README.md says what runs where.
set -euo pipefail
cd "$(dirname "$0")/.."
case $* in "" | --all | --quick) ;; *) echo "usage: scripts/test.sh [--all | --quick]" >&2; exit 2 ;; esac

# run PRESET TARGETS… -- CTEST OPTIONS…
run() {
  local preset=$1 targets=()
  shift
  while [ "$1" != -- ]; do targets+=("$1"); shift; done
  shift
  echo "== $preset"
  [ "$mode" = --quick ] || rm -rf "build/$preset/results"
  scripts/build.sh "$preset" "${targets[@]}"
  mkdir -p "build/$preset/results"
  ctest --preset "$preset" -j "$(nproc)" "$@"
}

# The programs of a preset that have passed as they are, as a pattern for ctest.
passed() {
  local xml name
  for xml in "build/$1"/results/*.xml; do
    name=$(basename "$xml" .xml)
    [ "$xml" -nt "build/$1/bin/$name" ] && ! grep -q '<failure' "$xml" && printf '%s|' "$name"
  done
}

mode=${1:-}
if [ "$mode" = --quick ]; then
  scripts/build.sh dev sanitized_tests
  run dev sanitized_tests -- -L '^(unit|system)$' -E "^($(passed dev))$"
  scripts/build.sh release released_tests
  run release released_tests -- -L '^(program|sanitized|cosim)$' -LE '^slow$' -E "^($(passed release))$"
  exit
fi
scripts/setup.sh python3
scripts/documented.py
scripts/setup.sh --rv32 --tests --cluster
if [ "$mode" = --all ]; then
  run dev all sanitized_tests --
  run release all mutants --
else
  run dev sanitized_tests -- -L '^(unit|system|sanitized)$'
  run release released_tests -- -LE '^(unit|system|long)$'
fi
if command -v clang++ >/dev/null || apt-cache show clang >/dev/null 2>&1; then scripts/fuzz.sh --seconds 60
else echo "scripts/test.sh: clang is not to be had here, so nothing was fuzzed"; fi
scripts/tidy.sh --changed || echo "scripts/test.sh: clang-tidy has findings in changed sources; they fail no test yet"
scripts/requirements.py --results build/dev build/release
