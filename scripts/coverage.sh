#!/usr/bin/env bash
# scripts/coverage.sh [--rtl]: installs what is missing, and says which lines the tests reach:
# of model/ and firmware/, by gcov over every test, in build/coverage/report/index.html (not with --rtl);
# of rtl-stubs/rtl, by Verilator over the co-simulation, in build/coverage/report/rtl/index.html. Exit status 1 where a module
# has less than 98 % of its lines or a functional point is not reached.
set -euo pipefail
cd "$(dirname "$0")/.."
report=build/coverage/report
scripts/setup.sh gcovr lcov >&2

if [ "${1:-}" != --rtl ]; then
  build=build/coverage
  scripts/build.sh coverage >&2
  find $build -name '*.gcda' -delete  # of an earlier run
  ctest --preset coverage -j "$(nproc)" >&2
  mkdir -p $report
  gcovr --root . --filter model/ --filter firmware/ --exclude-throw-branches --object-directory $build -j "$(nproc)" \
    --html-details $report/index.html --txt $report/coverage.txt --print-summary
fi

reached=build/rtl-coverage/reached
scripts/build.sh rtl-coverage cosim >&2
rm -rf $reached
mkdir -p $reached
ctest --preset rtl-coverage -j "$(nproc)" >&2
python3 -B scripts/rtl_coverage.py $reached $report/rtl
