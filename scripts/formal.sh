#!/usr/bin/env bash
# scripts/formal.sh [--faults] [proof…]: installs what is missing, and proves what rtl-stubs/formal/proofs.toml says of the
# RTL; with --faults, that a planted fault brings each proof down. --list names the proofs.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh --tests >&2
exec python3 -B scripts/formal.py "$@"
