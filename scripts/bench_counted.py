#!/usr/bin/env python3
"""Compares what the benchmarks have counted, which is the same on every machine, with testbench/perf/counted.json.

bench_counted.py RESULTS [--write | --failures]   RESULTS: what --benchmark_out of bench left

Prints each figure that differs. Exit status 0; 1 where one differs, is missing or is new, or where a benchmark failed. With --write
the file is made of RESULTS; with --failures nothing is compared.
"""
import argparse
import json
import pathlib
import sys

COUNTED = pathlib.Path(__file__).resolve().parent.parent / "testbench/perf/counted.json"
# Of simulated time, events and octets. What depends on the processor, the C++ library's heap or a compiler for RV32 is not here.
NAMES = ("goodput_Gbps", "share_of_limit_%", "kernel_events/FPDU", "Mops", "of_ALU_%", "round_trip_us", "of_IRD*size/RTT_%",
         "connections/s", "of_limit_%", "cycles/connection", "setup_p50_us", "load_%", "firmware_B/QP")


def counted(results):
    """{benchmark: {figure: value}}, to six digits."""
    figures = {}
    for run in results["benchmarks"]:
        name = run["name"].split("/iterations:")[0]
        if run.get("error_occurred"):
            sys.exit(f"bench: {name}: {run['error_message']}")
        if run.get("run_type") == "aggregate" or "rv32:1" in name:
            continue
        of_run = {n: float(f"{run[n]:.6g}") for n in NAMES if n in run}
        if of_run:
            figures[name] = of_run
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--failures", action="store_true")
    options = parser.parse_args()
    figures = counted(json.loads(options.results.read_text(encoding="utf-8")))
    if options.failures:
        return 0
    if options.write:
        COUNTED.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        return 0
    expected = json.loads(COUNTED.read_text(encoding="utf-8"))
    flat = [{(name, figure): value for name, of_run in all_runs.items() for figure, value in of_run.items()}
            for all_runs in (figures, expected)]
    names = list(dict.fromkeys([*flat[1], *flat[0]]))
    differences = [f"{name}: {figure} is {flat[0].get((name, figure), 'missing')}, was {flat[1].get((name, figure), 'missing')}"
                   for name, figure in names if flat[0].get((name, figure)) != flat[1].get((name, figure))]
    print(*differences, sep="\n", end="\n" if differences else "")
    print(f"bench: of {len(names)} counted figures {len(differences)} differ from testbench/perf/counted.json"
          + ("; scripts/bench.sh --short --write makes it anew" if differences else ""))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
