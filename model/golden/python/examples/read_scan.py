#!/usr/bin/env python3
"""Goodput of RDMA Reads by ORD and round-trip time, as a table and a plot.

read_scan.py [--ord N …] [--delay-ns N …] [--size OCTETS] [--count N] [--jobs N] [--svg FILE]

A Read needs a round trip, and at most ORD of them may be on their way (RFC 5040 section 6.1), so that goodput is ORD × size / round trip until the
wire is full. Each point is a run of its own, in a thread: the library does not hold Python's lock. The table ends with what bounds the
last point of each row, as its report says.
"""
import argparse
import concurrent.futures
import itertools
import os

import rnicsim

COLOURS = "#1b6ca8", "#c8553d", "#588b3a", "#7a4fa3", "#b8860b", "#2a9d8f"


def point(size, count, ord_, delay_ns):
    """(goodput in Gb/s, the bottleneck's name) of Reads over a cable with this delay each way."""
    scenario = rnicsim.scenario([rnicsim.work("read", size, count, depth=2 * ord_)], {"ord": ord_, "ird": ord_})
    with rnicsim.run(scenario, {"link.delay_ns": delay_ns, "rnic.tcp.window_bytes": 1 << 23}) as run:
        return run.results[0]["goodput_gbps"], run.bottleneck["name"]


def scan(options):
    """{ord: [(goodput, bottleneck), …] by delay}"""
    grid = list(itertools.product(options.ord, options.delay_ns))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = dict(zip(grid, pool.map(lambda at: point(options.size, options.count, *at), grid)))
    return {ord_: [found[ord_, delay] for delay in options.delay_ns] for ord_ in options.ord}


def table(options, rows):
    lines = ["round trip, us  " + "".join(f"{2 * delay / 1000:9.2f}" for delay in options.delay_ns)]
    for ord_, row in rows.items():
        lines.append(f"ORD {ord_:<12}" + "".join(f"{goodput:9.2f}" for goodput, _ in row) + f"  Gb/s, {row[-1][1]}")
    return "\n".join(lines)


def svg(options, rows, width=640, height=360, margin=48):
    """A line of each ORD over the round trip."""
    most = max(goodput for row in rows.values() for goodput, _ in row)
    longest = max(options.delay_ns)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
             f'<text x="{margin}" y="16">Reads of {options.size} octets: goodput, Gb/s (to {most:.1f}), by round trip, us (to {2 * longest / 1000:g})</text>',
             f'<path d="M{margin} {margin}V{height - margin}H{width - margin}" fill="none" stroke="black"/>']
    for colour, (ord_, row) in zip(itertools.cycle(COLOURS), rows.items()):
        at = [(margin + (width - 2 * margin) * delay / longest, height - margin - (height - 2 * margin) * goodput / most)
              for delay, (goodput, _) in zip(options.delay_ns, row)]
        parts.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in at)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{at[-1][0] + 4:.1f}" y="{at[-1][1]:.1f}" fill="{colour}">{ord_}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ord", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--delay-ns", type=int, nargs="+", default=[500, 2000, 5000, 10000, 20000], help="of the cable, each way")
    parser.add_argument("--size", type=int, default=16384)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--svg", metavar="FILE")
    options = parser.parse_args()
    rows = scan(options)
    print(table(options, rows))
    if options.svg:
        with open(options.svg, "w", encoding="utf-8") as file:
            file.write(svg(options, rows))


if __name__ == "__main__":
    main()
