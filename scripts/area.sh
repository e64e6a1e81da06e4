#!/usr/bin/env bash
# scripts/area.sh [module…] [--beat-bytes N,N…]: installs what is missing, and prints the RTL's cells, flip-flops and logic
# depth, for datapaths of 16, 32, 64 and 128 octets.
# scripts/area.sh --memories [scenario]: the chips' memories instead, and what twice of something costs (area.py --help).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh --tests >&2
exec python3 -B scripts/area.py "$@"
