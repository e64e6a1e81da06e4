#!/usr/bin/env bash
# scripts/tidy.sh [regex | --changed]: installs what is missing, and runs clang-tidy over model/ and firmware/, or over the
# sources whose path matches.
# --changed: over the sources that differ from where this branch left origin/main, and those of changed headers, with exit status 1
# if there is a finding. It begins none after 100 s and says how many are left, and has nothing to do where git, origin/main or
# clang-tidy are not available.
set -euo pipefail
cd "$(dirname "$0")/.."

nothing() { echo "scripts/tidy.sh: nothing was looked at: $1"; exit 0; }

# The sources to look at: changed ones, and of changed headers those with the header's name.
changed() {
  local file
  { git diff --name-only --diff-filter=d "$1" -- model firmware; git ls-files --others --exclude-standard -- model firmware; } |
    while read -r file; do
      case $file in
        *.cpp) echo "$file" ;;
        *.h) [ -f "${file%.h}.cpp" ] && echo "${file%.h}.cpp" ;;
      esac
    done | sort -u
}

case ${1:-} in
  --changed)
    command -v git >/dev/null || nothing "there is no git"
    base=$(git merge-base HEAD origin/main 2>/dev/null) || nothing "there is no origin/main to compare with"
    mapfile -t sources < <(changed "$base")
    [ ${#sources[@]} -ne 0 ] || nothing "no source of model/ or firmware/ differs from origin/main"
    scripts/setup.sh python3 clang-tidy >&2 || nothing "clang-tidy is not to be had" ;;
  -*) echo "usage: scripts/tidy.sh [regex | --changed]" >&2; exit 2 ;;
  *) scripts/setup.sh python3 clang-tidy >&2 ;;
esac
# A command for each source, without what g++ precompiles.
cmake -S . -B build/tidy -G Ninja -D CMAKE_BUILD_TYPE=Release -D RNIC_UNITY=OFF -D CMAKE_DISABLE_PRECOMPILE_HEADERS=ON >&2
if [ "${1:-}" != --changed ]; then
  exec run-clang-tidy -quiet -p build/tidy "${1:-$PWD/(model|firmware)/.*\.cpp$}"
fi

log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
begin=$SECONDS left=0
for source in "${sources[@]}"; do
  grep -qF "\"file\": \"$PWD/$source\"" build/tidy/compile_commands.json || continue  # of no target here: the RV32 image's
  if [ $((SECONDS - begin)) -ge 100 ]; then left=$((left + 1)); continue; fi
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
  clang-tidy --quiet --warnings-as-errors='*' -p build/tidy "$source" >"$log/${source//\//.}" 2>"$log/${source//\//.}.err" ||
    echo "$source" >>"$log/failed" &
done
wait
[ $left -eq 0 ] || echo "scripts/tidy.sh: time is up, $left changed sources were not looked at"
if [ -f "$log/failed" ]; then
  while read -r source; do
    if [ -s "$log/${source//\//.}" ]; then cat "$log/${source//\//.}"; else cat "$log/${source//\//.}.err"; fi
  done <"$log/failed"
  exit 1
fi
echo "scripts/tidy.sh: $((${#sources[@]} - left)) changed sources, nothing found"
