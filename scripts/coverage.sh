#!/usr/bin/env bash
# scripts/coverage.sh: installs what is missing, builds with gcov, runs every test, prints which lines and branches of
# model/ and firmware/ they reach, and leaves build/coverage/report/index.html.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/coverage
scripts/setup.sh gcovr >&2
scripts/build.sh coverage >&2
find $build -name '*.gcda' -delete  # of an earlier run
ctest --preset coverage -j "$(nproc)" >&2
mkdir -p $build/report
gcovr --root . --filter model/ --filter firmware/ --exclude-throw-branches --object-directory $build -j "$(nproc)" \
  --html-details $build/report/index.html --txt $build/report/coverage.txt --print-summary
