#!/usr/bin/env bash
# scripts/setup.sh [--rv32] [--tests] [--cluster] [package…]: installs what is missing on Debian 12 or 13 for building and running
# the program, and fetches the libraries of the report's page (scripts/page_libraries.sh); with --rv32 also for the firmware's RV32
# image, with --tests for tests, benchmarks and proofs, with --cluster for sweeps on a cluster of one machine; and the packages
# that are named. Does nothing where all is there. Elsewhere it installs nothing and says what is needed.
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
    --tests) packages+=(git make python3 python3-venv libgtest-dev libgmock-dev libbenchmark-dev clang-format tshark gdb-multiarch protobuf-compiler
                          lcov yosys z3 chromium gtkwave xvfb xauth libusrsctp-dev valgrind) ;;
    --cluster) packages+=(munge slurmctld slurmd slurm-client parallel) ;;
    *) packages+=("$wanted") ;;
  esac
done
if ! command -v apt-get >/dev/null; then
  echo "setup: this is not Debian, so nothing is installed. Building the program needs these programs:"
  echo "  a compiler of C++17 (g++ 12 is tested), cmake 3.25, ninja, pkg-config, python3 3.11, npm; ccache if it is there"
  echo "setup: and what CMake looks for (scripts/cmake/dependencies.cmake), with pkg-config or as CMake packages:"
  sed -nE 's/^rnic_require_pkg\([A-Z0-9_]+ ([^ ]+) .*/  \1 (pkg-config)/p
           s/^find_package\(([A-Za-z_]+) ?([0-9][0-9.]*)?.*/  \1 \2/p
           s/^rnic_optional\([A-Z_]+ ([a-z]+) [^ ]+ ([A-Za-z0-9]+) ([0-9.]+).*/  \2 \3, for \1/p' "$(dirname "$0")/cmake/dependencies.cmake"
  echo "setup: systemc is built for C++17. The firmware's RV32 image needs riscv64-unknown-elf-g++ of the compiler's release, and picolibc."
  echo "setup: Debian's names of everything that was asked for: ${packages[*]}"
  absent=()
  for program in c++ cmake ninja pkg-config npm verilator; do command -v "$program" >/dev/null || absent+=("$program"); done
  if [ ${#absent[@]} -gt 0 ]; then echo "setup: missing here: ${absent[*]}" >&2; exit 2; fi
  exec "$(dirname "$0")/page_libraries.sh"
fi
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
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
