#!/usr/bin/env bash
# scripts/page_libraries.sh: fetches the libraries of the page that `rnicsim report` writes, as model/report/page/package-lock.json
# pins them, by npm, which compares their SHA-512 with that file. Into a cache that all clones and presets share (RNICSIM_CACHE, default
# ~/.cache/rnicsim), so it does nothing the second time. scripts/setup.sh runs it; without them CMake ends and names this script.
# With --where prints the folder only.
set -euo pipefail
cd "$(dirname "$0")/../model/report/page"
cache=${RNICSIM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rnicsim}
folder=$cache/page-$(sha256sum package-lock.json | cut -c1-16)
if [ "${1:-}" = --where ]; then echo "$folder"; exit; fi
[ -e "$folder/complete" ] && exit
command -v npm >/dev/null || { echo "page_libraries: npm is missing; scripts/setup.sh installs it" >&2; exit 2; }
echo "page_libraries: fetching the libraries of the report's page into $folder"
mkdir -p "$folder"
cp package.json package-lock.json "$folder"
log=$(cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund 2>&1) || { echo "$log" >&2; exit 1; }
touch "$folder/complete"
