#!/usr/bin/env bash
# scripts/setup.sh [--rv32] [--tests] [--cluster] [package…]: installs what is missing on Debian 12 for building and running the
# program, and fetches the libraries of the report's page (scripts/page_libraries.sh); with --rv32 also for the firmware's RV32
# image, with --tests for tests, benchmarks and proofs, with --cluster for sweeps on a cluster of one machine; and the packages
# that are named. Does nothing where all is there.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache pkg-config
  libsystemc-dev verilator libboost-dev libboost-program-options-dev nlohmann-json3-dev libfmt-dev
  libelf-dev libisal-dev libsqlite3-dev zlib1g-dev libunicorn-dev
)
command -v npm >/dev/null || packages+=(npm)
for wanted in "$@"; do
  case $wanted in
    --rv32) packages+=(gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf) ;;
    --tests) packages+=(git make python3 libgtest-dev libgmock-dev libbenchmark-dev clang-format tshark gdb-multiarch protobuf-compiler
                          lcov yosys z3 chromium gtkwave xvfb xauth libusrsctp-dev valgrind) ;;
    --cluster) packages+=(munge slurmctld slurmd slurm-client parallel) ;;
    *) packages+=("$wanted") ;;
  esac
done
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  command -v apt-get >/dev/null || { echo "setup: this is not Debian; needed is what it calls ${missing[*]}" >&2; exit 2; }
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "setup: these packages are missing and need root to install: ${missing[*]}" >&2; exit 2; }
    as_root=(sudo)
  fi
  echo "setup: installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
"$(dirname "$0")/page_libraries.sh"
