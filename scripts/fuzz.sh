#!/usr/bin/env bash
# scripts/fuzz.sh [--seconds N | --minutes N | --hours N] [TARGET…]: installs what is missing, builds the fuzzers with clang
# under ASan and UBSan, and runs all of them, or those named, in so much time altogether (one minute). They begin with
# testbench/fuzz/corpus/TARGET and with what earlier runs have left in build/fuzz/corpus/TARGET. Each input that is a finding
# stays in build/fuzz/findings/TARGET, and has a line here. Exit status 0; 1 where something was found, 2 for a mistake.
# testbench/fuzz/README.md says how a finding becomes a test.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { echo "usage: scripts/fuzz.sh [--seconds N | --minutes N | --hours N] [TARGET…]" >&2; exit 2; }
seconds=60
unit=0
case ${1:-} in
  --seconds) unit=1 ;;
  --minutes) unit=60 ;;
  --hours) unit=3600 ;;
  -*) usage ;;
esac
if [ $unit -ne 0 ]; then
  [[ ${2:-} =~ ^[1-9][0-9]{0,6}$ ]] || usage
  seconds=$(($2 * unit))
  shift 2
fi

mapfile -t all < <(ls testbench/fuzz/corpus)
targets=("$@")
[ $# -ne 0 ] || targets=("${all[@]}")
for target in "${targets[@]}"; do
  [ -d "testbench/fuzz/corpus/$target" ] || { echo "fuzz: there is no target $target, but ${all[*]}" >&2; exit 2; }
done
program_of() { case $1 in association | chip | golden) echo "fuzz_$1" ;; *) echo fuzz_parsers ;; esac; }

mapfile -t programs < <(for target in "${targets[@]}"; do program_of "$target"; done | sort -u)
scripts/build.sh fuzz "${programs[@]}"

# So many run at a time; the chip has more to offer than any parser, and gets four times as long.
jobs=$(nproc)
weight() { if [ "$1" = chip ]; then echo 4; else echo 1; fi; }
longest() { if [ "$1" = chip ]; then echo 512; else echo 16384; fi; }  # octets of an input
shares=0
for target in "${targets[@]}"; do shares=$((shares + $(weight "$target"))); done

# fuzz TARGET SECONDS: a line with what it came to.
fuzz() {
  local target=$1 found=build/fuzz/findings/$1 grown=build/fuzz/corpus/$1 log=build/fuzz/findings/$1.log
  mkdir -p "$found" "$grown"
  local status=0 inputs
  touch "$log.begin"
  "build/fuzz/bin/$(program_of "$target")" "--target=$target" "$grown" "testbench/fuzz/corpus/$target" \
    -max_total_time="$2" -timeout=20 -rss_limit_mb=2048 -max_len="$(longest "$target")" -artifact_prefix="$found/" \
    -print_final_stats=1 \
    >"$log" 2>&1 </dev/null || status=$?
  inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  if [ $status -eq 0 ]; then
    printf '%-12s %10d inputs in %d s, nothing found\n' "$target" "${inputs:-0}" "$2"
  else
    printf '%-12s FAILED: %s\n' "$target" "$(sed -n 's/^ *what(): *//p; s/^SUMMARY: //p' "$log" | head -1)"
    find "$found" -newer "$log.begin" -type f -printf '             %p\n'
    echo "             $log"
  fi
  rm "$log.begin"
  return $((status != 0))
}

mkdir -p build/fuzz/findings
running=0
failed=0
# The chip first, so that nobody waits for it alone.
order=()
for target in "${targets[@]}"; do
  if [ "$target" = chip ]; then order=(chip "${order[@]}"); else order+=("$target"); fi
done
for target in "${order[@]}"; do
  share=$((seconds * jobs * $(weight "$target") / shares))
  if [ $share -gt "$seconds" ]; then share=$seconds; fi
  if [ $share -lt 1 ]; then share=1; fi
  if [ $running -ge "$jobs" ]; then
    wait -n || failed=1
    running=$((running - 1))
  fi
  fuzz "$target" $share &
  running=$((running + 1))
done
while [ $running -gt 0 ]; do
  wait -n || failed=1
  running=$((running - 1))
done
[ $failed -eq 0 ] || echo "fuzz: testbench/fuzz/README.md says how a finding becomes a test"
exit $failed
