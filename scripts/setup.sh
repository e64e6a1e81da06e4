#!/usr/bin/env bash
# scripts/setup.sh [package…]: installs what is missing for building, running and testing on Debian 12, and the packages
# that are named. Does nothing where all is there.
set -euo pipefail

packages=(
  g++ make cmake ninja-build ccache pkg-config git python3
  libsystemc-dev verilator libboost-program-options-dev nlohmann-json3-dev libfmt-dev
  libisal-dev libpcap-dev zlib1g-dev libunicorn-dev
  gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf gdb-multiarch
  libgtest-dev libgmock-dev libbenchmark-dev tshark yosys z3
  "$@"
)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

command -v apt-get >/dev/null || { echo "setup: this is not Debian; needed is what it calls ${missing[*]}" >&2; exit 2; }
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: these packages are missing and need root to install: ${missing[*]}" >&2; exit 2; }
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
