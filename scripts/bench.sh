#!/usr/bin/env bash
# scripts/bench.sh [--with-ns3 | --rtl] [benchmark options…]: installs what is missing, builds and runs the benchmarks;
# with --with-ns3 also ns-3, which it installs; with --rtl those against Verilated RTL instead, for which it installs
# clang. testbench/perf/README.md says what the figures mean.
set -euo pipefail
cd "$(dirname "$0")/.."

which=-^rtl_
if [ "${1:-}" = --with-ns3 ]; then
  shift
  scripts/setup.sh libns3-dev libgsl-dev >&2
elif [ "${1:-}" = --rtl ]; then
  shift
  which=^rtl_
  scripts/setup.sh clang >&2
fi
scripts/build.sh release bench >&2
build/release/bin/bench --benchmark_display_aggregates_only=true --benchmark_filter="$which" "$@"
[ "$which" = ^rtl_ ] && exit
if cmake --build --preset release --target help | grep -q '^ns3_bulk:'; then
  cmake --build --preset release --target ns3_bulk >&2
  build/release/bin/ns3_bulk
fi
