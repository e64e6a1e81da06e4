#!/usr/bin/env python3
"""What outputs of a run cost: the time of a run with each, as a multiple of a run without.

bench_outputs.py [--program FILE] [--runs N] [--scenario FILE]

Runs traces/quickstart.json, or another scenario, N times with each set of outputs, in turns, and takes the shortest time of each: wall
time, and processor time, which counts all threads. Prints a table. Exit status 0; 1 where a run fails.
"""
import argparse
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTPUTS = {
    "none": (),
    "--breakdown": ("--breakdown",),
    "--trace": ("--trace", "log.tsv"),
    "--perfetto": ("--perfetto", "run.pftrace"),
    "--db": ("--db", "run.sqlite"),
    "--db --perfetto": ("--db", "run.sqlite", "--perfetto", "run.pftrace"),
    "--capture-tlps": ("--capture-tlps",),
}


def run(program, scenario, options, folder):
    """Wall and processor time of a run in seconds."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([program, "run", scenario, *options], cwd=folder, capture_output=True, text=True,
                          check=False)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"bench_outputs: {' '.join(options)}: {done.stderr.strip()}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/rnicsim")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--scenario", type=pathlib.Path, default=ROOT / "traces/quickstart.json")
    options = parser.parse_args()
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.runs):
            for name, outputs in OUTPUTS.items():
                times = run(options.program.resolve(), options.scenario.resolve(), outputs, folder)
                best[name] = tuple(map(min, times, best.get(name, times)))
    print(f"{'outputs':18} {'wall':>8} {'of none':>8} {'processor':>10} {'of none':>8}")
    for name, (wall, processor) in best.items():
        print(f"{name:18} {wall:6.2f} s {wall / best['none'][0]:8.2f} {processor:8.2f} s {processor / best['none'][1]:8.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
