#!/usr/bin/env python3
"""Finds what limits each point of a sweep by relieving one thing at a time, and looks whether the point's report names it.

check_knees.py [--scenario FILE] [--item N] [--count N] [--jobs N] [--verbose] [POINT…]    POINT: all unless given

This is no reading of the accounts: at each point, each thing that a report could name gets twice of what it has (or takes half of
the time) by a setting of one node (reliefs.py), the point is run again, and the goodput of the item is compared. What raises it most is
what limits. Then:
- A name is right if its relief raises the goodput by the most, or by no less than TIE of that.
- Where no relief alone raises it by ALONE, several limit in step. Then each of the two best is relieved together with each other one,
  and a name is right if it is of the best pair, or of one no less than TIE of that.
- Where no pair does, either, nothing that has a setting limits, and only `requests` is right.
The name is that of the item's phase, at the point as it is; goodputs are of runs with more requests (--count), of which begin and end
are a smaller part. Runs are those of librnicsim_run (model/golden/python). Prints a line for each point. Exit status 0; 1 where a name is wrong.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import sys

from reliefs import Reliefs, items_of, relief_of, run

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALONE = 0.05  # a relief that raises the goodput by less is none
TIE = 0.9     # of the best gain


class Knees:
    def __init__(self, options):
        self.options = options
        self.scenario = json.loads(options.scenario.read_text())

    def run(self, point, settings, count=None):
        """stats.json of a run of the point."""
        given = dict(settings)
        if count:
            given.update({f"work.{item['name']}.count": count for item in items_of(self.scenario)})
        return run(self.options.scenario, given, point=point)

    def gain(self, point, base, settings):
        stats = self.run(point, settings, self.options.count)
        return self.goodput(stats) / base - 1

    def goodput(self, stats):
        return stats["results"][self.options.item]["goodput_gbps"]

    def judge(self, point):
        """(whether the name is right, a line)"""
        stats = self.run(point, {})
        phase = stats["results"][self.options.item]["phase"]
        named = next(p["bottleneck"] for p in stats["phases"] if p["phase"] == phase)
        relief = relief_of(named["name"], named["where"])
        base = self.goodput(self.run(point, {}, self.options.count))
        reliefs = Reliefs(stats, self.scenario).of
        gains = {(key,): self.gain(point, base, settings) for key, settings in reliefs.items()}
        how = ""
        if max(gains.values()) < ALONE:
            how = " together"
            best_two = [keys[0] for keys in sorted(gains, key=gains.get)[-2:]]
            pairs = {tuple(sorted((one, other))) for one in best_two for other in reliefs if other != one}
            gains = {pair: self.gain(point, base, {**reliefs[pair[0]], **reliefs[pair[1]]}) for pair in sorted(pairs)}
        best = max(gains.values())
        if best < ALONE:
            right, how = {("requests", "programs")}, " (nothing helps)"
        else:
            right = {key for keys, gain in gains.items() if gain >= TIE * best for key in keys}
        listed = sorted(((gain, keys) for keys, gain in gains.items()), reverse=True)
        shown = ", ".join(f"{' + '.join(' '.join(key).replace(' node', '') for key in keys)} {100 * gain:+.1f} %"
                          for gain, keys in listed[:8 if self.options.verbose else 2])
        return relief in right, f"{base:6.2f} Gb/s  {named['name']} {named['where']} ({100 * named['share']:.1f} %); relief{how}: {shown}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("points", nargs="*", type=int, metavar="POINT")
    parser.add_argument("--scenario", type=pathlib.Path, default=ROOT / "traces/read-knees.json")
    parser.add_argument("--item", type=int, default=0, metavar="N", help="whose goodput counts, by its place in the results")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    points = options.points or range(71)
    knees, wrong = Knees(options), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for point, (right, line) in zip(points, pool.map(knees.judge, points)):
            wrong += not right
            print(f"{point:3} {'ok   ' if right else 'WRONG'} {line}", flush=True)
    print(f"{wrong} wrong" if wrong else f"all {len(points)} points are named as their reliefs say")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
