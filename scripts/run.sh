#!/usr/bin/env bash
# Installs what is missing, builds, and runs build/release/bin/rnicsim with the given arguments; without any, the
# default scenario. RTL twins, worked vectors and the firmware's RV32 image are built where the arguments need them.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh release rnicsim >&2
case " $*" in
  *" --lockstep-inside"*) scripts/build.sh release rnicsim_rtl_trace >&2 ;;
  *" --rtl"* | *" --lockstep"*) scripts/build.sh release rnicsim_rtl >&2 ;;
esac
case " $*" in " vectors"*) scripts/build.sh release rnicsim_vectors >&2 ;; esac
case " $*" in *fwcpu.target=rv32*) scripts/build.sh release rnic_fw_rv32 >&2 ;; esac
if [ $# -eq 0 ]; then set -- run traces/quickstart.json; fi
exec build/release/bin/rnicsim "$@"
