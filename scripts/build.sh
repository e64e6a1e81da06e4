#!/usr/bin/env bash
# scripts/build.sh [preset] [target…]: installs what the targets need, configures and builds, quietly where there is
# nothing to say. Without a target: everything.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true
case "$*" in
  rnicsim | rnicsim_vectors | rnicsim_rtl | rnicsim_rtl_trace) needs=() ;;
  rnic_fw_rv32) needs=(--rv32) ;;
  *) needs=(--rv32 --tests) ;;
esac
[ "$preset" != fuzz ] || needs+=(clang libclang-rt-dev llvm)
scripts/setup.sh "${needs[@]}"
log=$(cmake --preset "$preset" 2>&1) || { echo "$log" >&2; exit 1; }
cmake --build --preset "$preset" ${1:+--target "$@"}
