#!/usr/bin/env bash
# scripts/format.sh [--check]: formats all C++ with clang-format 14 as .clang-format says. With --check nothing is written: prints
# each line that would change and exits with 1 if there is one.
set -euo pipefail
cd "$(dirname "$0")/.."
case $* in "" | --check) ;; *) echo "usage: scripts/format.sh [--check]" >&2; exit 2 ;; esac
scripts/setup.sh clang-format >&2
how=(-i)
[ "${1:-}" = --check ] && how=(--dry-run -Werror)
find model firmware rtl-stubs testbench \( -name '*.h' -o -name '*.cpp' \) -print0 | xargs -0 -n 50 -P "$(nproc)" clang-format "${how[@]}"
