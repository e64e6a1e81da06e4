#!/usr/bin/env python3
"""Plants one bottleneck after the other in a scenario, and looks whether the first line of the report names it.

check_bottlenecks.py [--program FILE] [NAME…]    NAME: of the first column; all unless given

A case is a scenario with settings, and what is planted in it on top. The run with it must name it as `bottleneck` in stats.json and in
the first line of its report; the run without it must name something else. One more case has nothing planted: what limits Writes of 8
octets must be found, and without that limit another one. Prints a line for each case. Exit status 0; 1 where a name is wrong.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WRITES = ("write_bw",)
SHORT = ("write_bw", "work.writes.size=8", "work.writes.depth=128", "work.writes.count=8000")
CREDITS = "rnic.pcie.link.host_credits"
# Case: scenario with its settings, what is planted, the expected name and where.
CASES = {
    "payload fetch jobs": (WRITES, ("rnic.tx.payload_fetch.jobs=2",), "payload fetch jobs", "node a"),
    "ORD": (("read_bw_ord16",), ("connections.c0.ord=1",), "ORD", "node a"),
    "WQE prefetch": (("write_bw", "work.writes.size=2048"), ("rnic.tx.wqe_fetch.prefetch=1",), "WQE prefetch", "node a"),
    "PCIe credits": (WRITES, (f"{CREDITS}.posted_headers=4", f"{CREDITS}.non_posted_headers=4"), "PCIe posted credits to the host",
                     "node b"),
    "PCIe tags": (WRITES, ("rnic.pcie.dma_read.max_tags=4",), "PCIe tags", "node a"),
    "TCP window": (WRITES, ("rnic.tcp.window_bytes=8192",), "TCP window", "node a"),
    "datapath": (WRITES, ("rnic.datapath.beat_bytes=16",), "transmit datapath, a", ""),
    "host core": (("write_bw", "work.writes.size=4096"), ("nodes.a.host.cpu.post_ns=2000",), "host core 1", "node a"),
    "host memory": (WRITES, ("host.root_complex.memory_read_ns=5000",), "host memory", "node a"),
    "firmware": (("churn",), ("nodes.b.rnic.fwcpu.clock_divider=16",), "firmware", "node b"),
    # Requests wait for ORD, as their responses wait for the window.
    "TCP window of a responder": (("read_bw_ord16", "work.reads.size=4096", "work.reads.count=2000"),
                                  ("rnic.tcp.window_bytes=16384",), "TCP window", "node b"),
    # Nothing is planted: a read of eight WQEs of 128 octets takes 0.6 us, and no more than these are on chip.
    "writes of 8 octets": ((*SHORT, "rnic.tx.wqe_fetch.prefetch=64"), ("rnic.tx.wqe_fetch.prefetch=8",), "WQE prefetch", "node a"),
}


def run(program, scenario, settings):
    """The bottleneck of stats.json, once the report's first line says the same."""
    with tempfile.TemporaryDirectory() as folder:
        options = [word for setting in settings for word in ("--set", setting)]
        done = subprocess.run([program, "run", ROOT / f"traces/{scenario}.json", "--no-capture", "--out", folder, *options],
                              capture_output=True, text=True)
        stats = pathlib.Path(folder, "stats.json")
        if not stats.exists():
            sys.exit(f"check_bottlenecks.py: {scenario} {' '.join(settings)}: {done.stderr.strip()}")
        found = json.loads(stats.read_text())["bottleneck"]
    first = done.stdout.partition("\n")[0]
    if first != found["line"]:
        sys.exit(f"check_bottlenecks.py: the first line is '{first}', stats.json has '{found['line']}'")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", default=str(ROOT / "build/release/bin/rnicsim"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    if unknown := [n for n in options.names if n not in CASES]:
        parser.error(f"unknown case {unknown[0]}; there are: {', '.join(CASES)}")
    without, wrong = {}, 0
    for case, (base, planted, name, where) in CASES.items():
        if options.names and case not in options.names:
            continue
        if base not in without:
            without[base] = run(options.program, base[0], base[1:])
        found = run(options.program, base[0], base[1:] + planted)
        named = (found["name"], found["where"]) == (name, where)
        only_then = (without[base]["name"], without[base]["where"]) != (name, where)
        wrong += not (named and only_then)
        print(f"{case:<25} {'ok   ' if named and only_then else 'WRONG'} {found['line']}")
        print(f"{'':<25}       without it: {without[base]['line']}")
    print(f"{wrong} wrong" if wrong else "all are named first, and only where they are planted")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
