#!/usr/bin/env python3
"""What outputs of a run cost: the time of a run with each, as a multiple of a run without, and the goal beside it.

bench_outputs.py [--program FILE] [--before FILE] [--runs N] [SCENARIO…]    SCENARIO: write_bw and qps16 unless given

Runs each scenario N times with each set of outputs, in turn, and takes the minimum of each: processor time, which counts all
threads and is what the goals limit, and wall time. --before names an earlier program; a run without outputs is compared with one of it.
An output that the program does not have is reported as such. The account of cycles is always on; its cost is on the page
model/system/accounting.md, as there is no run without. Prints a table. Exit status 0, goals met or not, as times differ from machine to
machine; 1 where a run fails.
"""
import argparse
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTPUTS = {  # name: options, goal
    "none": ((), None),
    "--breakdown": (("--breakdown",), 1.15),
    "--db": (("--db", "run.sqlite"), 1.5),
    "--perfetto": (("--perfetto", "run.pftrace"), 1.5),
    "--wave-ring 20us": (("--wave", "w.fst", "--wave-ring", "20us"), 1.2),
    "--db --perfetto": (("--db", "run.sqlite", "--perfetto", "run.pftrace"), None),
    "--trace": (("--trace", "log.tsv"), None),
    "--stats-every 10us": (("--stats-every", "10us"), None),
    "--capture-tlps": (("--capture-tlps",), None),
}
BEFORE, BEFORE_GOAL = "none, before", 1.01


def run(program, scenario, options, folder):
    """Processor and wall time of a run in seconds."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([program, "run", ROOT / f"traces/{scenario}.json", *options], cwd=folder, capture_output=True, text=True,
                          check=False)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"bench_outputs: {scenario} {' '.join(options)}: {done.stderr.strip()}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def measure(scenario, options, available):
    """{name: (processor, wall)}: the least, which others on the machine disturb least."""
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.runs):
            if options.before:
                times.setdefault(BEFORE, []).append(run(options.before.resolve(), scenario, (), folder))
            for name in available:
                times.setdefault(name, []).append(run(options.program.resolve(), scenario, OUTPUTS[name][0], folder))
    return {name: tuple(map(min, zip(*of))) for name, of in times.items()}


def row(name, times, base, goal):
    processor, wall = (a / b for a, b in zip(times, base))
    verdict = "" if goal is None else f"{goal:6.2f} {'met' if processor <= goal else 'missed'}"
    return f"{name:20} {times[0]:8.3f} s {processor:7.2f} {times[1]:9.3f} s {wall:7.2f} {verdict}".rstrip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", default=["write_bw", "qps16"])
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/rnicsim")
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    known = subprocess.run([options.program.resolve(), "run", "--help"], capture_output=True, text=True, check=False).stdout
    available = [name for name, (words, _) in OUTPUTS.items() if all(w in known for w in words if w.startswith("--"))]
    for scenario in options.scenarios:
        best = measure(scenario, options, available)
        print(f"{'outputs: ' + scenario:20} {'processor':>10} {'of none':>7} {'wall':>11} {'of none':>7} {'goal':>6}")
        if BEFORE in best:
            print(row("none", best["none"], best[BEFORE], BEFORE_GOAL) + f"  (of the program before: {best[BEFORE][0]:.3f} s)")
        for name, (_, goal) in OUTPUTS.items():
            if name not in best:
                print(f"{name:20} this program has no such option")
            elif name != "none" or BEFORE not in best:
                print(row(name, best[name], best["none"], goal))
    return 0


if __name__ == "__main__":
    sys.exit(main())
