#!/usr/bin/env bash
# Live interoperation with Linux's Soft-iWARP and Debian's tools; `scripts/interop.sh --help` lists the options. Installs
# what is missing where it may, builds the programs and the guest's kernels once into a cache (RNICSIM_CACHE, default ~/.cache/rnicsim), and
# stays on Unix sockets.
set -euo pipefail
cd "$(dirname "$0")/.."
case " $* " in
  *" --no-build "* | *" --help "*) ;;
  *)
    scripts/setup.sh --tests linux-source-6.1 flex bison bc xz-utils busybox-static ethtool iproute2 rdma-core rdmacm-utils \
      ibverbs-providers || { echo "interop: skipped: packages are missing"; exit 77; }
    scripts/setup.sh qemu-system-x86 || echo "interop: there is no QEMU: its cases will be skipped"
    ;;
esac
case " $* " in
  *" --no-build "* | *" --help "* | *" --prepare "* | *" --program "*) ;;
  *) scripts/build.sh release rnicsim tcp_bulk sctp_peer >&2 ;;
esac
exec python3 -B scripts/interop/interop.py "$@"
