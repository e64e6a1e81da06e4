#!/usr/bin/env bash
# scripts/test.sh [--all | --quick]: installs what is missing, tries the commands that the pages show, builds, and runs the tests as
# released; then, built by clang with ASan and UBSan, the program with foreign and bad input, and the fuzzers for a minute. --all adds
# what takes long: all tests under sanitizers with warnings as errors, the long forms, proofs, benchmarks, the live peer with its
# kernel; it is for the end of a piece of work, and for the night. --quick is for the time between two edits: of unit and system tests
# those whose program has changed since it passed, and the scenarios and co-simulations. testbench/README.md says what runs where.
# Each step has a limit of its own and prints its time, and its processor time; without --all the whole ends after 70 minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
case $* in "" | --all | --quick) ;; *) echo "usage: scripts/test.sh [--all | --quick]" >&2; exit 2 ;; esac
mode=${1:-}
python=/usr/bin/python3  # Debian's, whatever stands before it in PATH
whole=70
[ "$mode" != --all ] || whole=1440

clock=$(mktemp)
steps=()
summary() {
  echo "== minutes, and minutes of processor time, the longest step first"
  printf '%s\n' "${steps[@]}" | sort -rn | sed 's/^[0-9]* //'
}
trap 'rm -f "$clock"' EXIT
trap 'kill "$child" 2>/dev/null || true; exit 130' INT TERM

# Sets `seconds`, of processor time of all that has ended so far. In this shell: another one has children of its own.
processor() {
  times >"$clock"
  seconds=$(awk '{ for (i = 1; i <= 2; ++i) { split($i, t, /[ms]/); sum += 60 * t[1] + t[2] } } END { printf "%d", sum }' "$clock")
}

# step MINUTES NAME COMMAND…
step() {
  local limit=$(($1 * 60)) name=$2 begin=$SECONDS used seconds status=0 line
  shift 2
  processor
  used=$seconds
  if ((limit > whole * 60 - SECONDS)); then limit=$((whole * 60 - SECONDS)); fi
  echo "== $name"
  if ((limit > 0)); then
    timeout --kill-after=20 "$limit" "$@" &
    child=$!
    wait "$child" || status=$?
  else
    status=124
  fi
  processor
  used=$((seconds - used))
  line=$(printf '%3d:%02d %3d:%02d  %s' $(((SECONDS - begin) / 60)) $(((SECONDS - begin) % 60)) $((used / 60)) $((used % 60)) "$name")
  steps+=("$((SECONDS - begin)) $line")
  if ((status == 0)); then echo "== $line"; return; fi
  summary
  if ((status == 124 || status == 137)); then echo "test: \"$name\" was stopped after $((limit / 60)) minutes: of its own limit, or of the $whole of the whole" >&2
  else echo "test: \"$name\" has failed" >&2; fi
  exit "$status"
}

# run PRESET MINUTES TARGETS… -- CTEST OPTIONS…
run() {
  local preset=$1 minutes=$2 targets=()
  shift 2
  while [ "$1" != -- ]; do targets+=("$1"); shift; done
  shift
  [ "$mode" = --quick ] || rm -rf "build/$preset/results"
  step "$minutes" "$preset: building" scripts/build.sh "$preset" "${targets[@]}"
  mkdir -p "build/$preset/results"
  step "$minutes" "$preset: tests" ctest --preset "$preset" -j "$(nproc)" "$@"
}

# The programs of a preset that have passed as they are, as a pattern for ctest.
passed() {
  local xml name
  for xml in "build/$1"/results/*.xml; do
    name=$(basename "$xml" .xml)
    [ "$xml" -nt "build/$1/bin/$name" ] && ! grep -q '<failure' "$xml" && printf '%s|' "$name"
  done
}

case $mode in
  --quick)
    scripts/build.sh release released_tests
    run release 60 released_tests -- -LE '^(slow|long|slurm|interop)$' -E "^($(passed release))$"
    exit
    ;;
  --all)
    step 15 "Python" scripts/setup.sh python3
    step 120 "commands of the pages" "$python" -B scripts/documented.py --short
    step 15 "packages" scripts/setup.sh --rv32 --tests --cluster
    run release 360 all mutants --
    run dev 360 all --
    ;;
  *)
    step 15 "Python" scripts/setup.sh python3
    step 40 "commands of the pages" "$python" -B scripts/documented.py
    step 15 "packages" scripts/setup.sh --rv32 --tests
    # First of all, as clang warns of what g++ takes, and every warning is an error.
    step 45 "fuzz: building" scripts/build.sh fuzz sanitized_tests
    run release 50 released_tests -- -LE '^long$'
    ;;
esac
run fuzz 45 sanitized_tests -- -L '^sanitized$'
fuzzed=()  # all with --all; golden is a build of its own
[ "$mode" = --all ] || mapfile -t fuzzed < <(ls testbench/fuzz/corpus | grep -vx golden)
step 20 "fuzzing" scripts/fuzz.sh --seconds 60 "${fuzzed[@]}"
results=(build/release build/fuzz)
if [ "$mode" = --all ]; then
  results+=(build/dev)
  step 60 "clang-tidy" bash -c 'scripts/tidy.sh --changed || echo "test: clang-tidy has findings in changed sources; they fail no test yet"'
fi
step 5 "requirements" "$python" -B scripts/requirements.py --results "${results[@]}"
summary
