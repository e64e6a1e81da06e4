#!/usr/bin/env bash
# scripts/area.sh [module…] [--beat-bytes N,N…]: installs what is missing, and prints the RTL's cells, flip-flops and logic
# depth, for datapaths of 16, 32, 64 and 128 octets.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh --tests >&2
exec python3 -B scripts/area.py "$@"
