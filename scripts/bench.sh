#!/usr/bin/env bash
# scripts/bench.sh [--with-ns3 | --rtl] [--short [--write]] [benchmark options…]: installs what is missing, builds and runs
# the benchmarks; with --with-ns3 also ns-3, which it installs; with --rtl those against Verilated RTL instead, for which it
# installs clang. --short: each once, and what they count (not what they time) must be as testbench/perf/counted.json says, and no
# block may take more instructions than testbench/perf/profile.json says; --write writes those files. testbench/perf/README.md says what the figures mean.
set -euo pipefail
cd "$(dirname "$0")/.."

which=-^rtl_ short= ns3= write=
while :; do
  case ${1:-} in
    --with-ns3) ns3=yes ;;
    --rtl) which=^rtl_ ;;
    --short) short=yes ;;
    --write) write=--write ;;
    *) break ;;
  esac
  shift
done
[ -z "$write" ] || [ "$which$short" = -^rtl_yes ] || { echo "bench: --write goes with --short, and not with --rtl" >&2; exit 2; }
[ -z "$ns3" ] || scripts/setup.sh libns3-dev libgsl-dev >&2
[ "$which$short" != ^rtl_ ] || scripts/setup.sh clang >&2  # the short form does with what is there
scripts/build.sh release bench rnicsim >&2
results=build/release/bench.json
run=(build/release/bin/bench --benchmark_filter="$which" --benchmark_out=$results "$@")
if [ -z "$short" ]; then
  "${run[@]}" --benchmark_display_aggregates_only=true
else
  RNIC_BENCH_SHORT=1 "${run[@]}"
fi
# A benchmark that fails does not end the others, nor with them the program's status.
if [ "$which$short" = -^rtl_yes ]; then
  python3 -B scripts/bench_counted.py $results $write
  python3 -B scripts/profile.py "${write:---check}"
else
  python3 -B scripts/bench_counted.py $results --failures
fi
if [ "$which" != ^rtl_ ]; then
  python3 -B scripts/bench_outputs.py ${short:+--runs 1}
fi
if [ "$which" != ^rtl_ ] && cmake --build --preset release --target help | grep -q '^ns3_bulk:'; then
  cmake --build --preset release --target ns3_bulk >&2
  build/release/bin/ns3_bulk
fi
