#!/usr/bin/env python3
"""Finds what limits each point of a sweep by relieving one thing at a time, and looks whether the point's report names it.

check_knees.py [--program FILE] [--scenario FILE] [--count N] [--jobs N] [--verbose] [POINT…]    POINT: all unless given

This is no reading of the accounts: at each point, each thing that a report could name gets twice of what it has (or takes half of
the time) by a setting of one node, the point is run again, and the goodput is compared. What raises it most is what limits. Then:
- A name is right if its relief raises the goodput by the most, or by no less than TIE of that.
- Where no relief alone raises it by ALONE, several limit in step. Then each of the two best is relieved together with each other one,
  and a name is right if it is of the best pair, or of one no less than TIE of that.
- Where no pair does, either, nothing that has a setting limits, and only `requests` is right.
The name is that of the point as it is; goodputs are of runs with more requests (--count), of which begin and end are a smaller part.
Prints a line for each point. Exit status 0; 1 where a name is wrong.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALONE = 0.05  # a relief that raises the goodput by less is none
TIE = 0.9     # of the best gain
CREDITS = "rnic.pcie.link"
NAMES = {"posted": "posted", "non-posted": "non_posted", "completion": "completion"}


class Point:
    """A point's settings, and its reliefs: {(name, where): settings}"""

    def __init__(self, stats, scenario):
        self.config, self.assigned, self.scenario = stats["config"], stats.get("assigned", {}), scenario
        self.reliefs = {}
        self.add_all()

    def setting(self, node, key):
        value = self.config[node]
        for part in key.split("."):
            value = value[part]
        return value

    def change(self, name, where, node, keys, by=lambda value: 2 * value, limit=float("inf")):
        """Nothing where all of these are unlimited (0) or at the limit of their range."""
        settings = {}
        for key in keys:
            value = self.setting(node, key)
            changed = min(by(value), limit)
            if changed not in (0, value):
                settings[f"nodes.{node}.{key}"] = changed
        if settings:
            self.reliefs[name, where] = settings

    def add_all(self):
        nodes = list(self.config)
        for node, peer in zip(nodes, reversed(nodes)):
            where = f"node {node}"
            self.change("WQE prefetch", where, node, ["rnic.tx.wqe_fetch.prefetch"], limit=256)
            self.change("WQE reads", where, node, ["rnic.tx.wqe_fetch.reads"], limit=64)
            self.change("payload fetch jobs", where, node, ["rnic.tx.payload_fetch.jobs"], limit=256)
            self.change("PCIe tags", where, node, ["rnic.pcie.dma_read.max_tags"], limit=256)
            self.change("PCIe read requests", where, node, ["rnic.pcie.dma_read.max_requests"], limit=4096)
            for (name, key), (to, of) in itertools.product(NAMES.items(), (("host", "host"), ("device", "device"))):
                keys = [f"{CREDITS}.{of}_credits.{key}_headers"] + ([f"{CREDITS}.{of}_credits.{key}_data"] if key != "non_posted" else [])
                self.change(f"PCIe {name} credits to the {to}", where, node, keys, limit=65535)
            self.change("host memory", where, node, ["host.root_complex.memory_read_ns"], lambda ns: ns // 2)
            self.change("host cores", where, node,
                        [f"host.cpu.{key}_ns" for key in ("post", "poll", "completion", "mmio_write", "poll_interval")],
                        lambda ns: (ns + 1) // 2)
            self.change("TCP window", where, peer, ["rnic.tcp.window_bytes"], limit=1 << 30)
            self.change(f"wire {node} to {peer}", "", node, ["rnic.mac_tx.line_gbps"], limit=800)
            if self.setting(node, f"{CREDITS}.width") < 16:
                self.change("PCIe link", node, node, [f"{CREDITS}.width"])
            else:
                self.change("PCIe link", node, node, [f"{CREDITS}.generation"], lambda generation: generation + 1, limit=5)
            self.change("datapath", node, node, ["rnic.datapath.beat_bytes"], limit=128)
        for connection in self.scenario["connections"]:
            ord_ = 2 * self.assigned.get(f"connections.{connection['name']}.ord", connection.get("ord", 16))
            deeper = {f"connections.{connection['name']}.{key}": ord_ for key in ("ord", "ird")}
            deeper.update({f"rnic.fwcpu.max_{key}": max(ord_, self.setting(nodes[0], f"rnic.fwcpu.max_{key}")) for key in ("ord", "ird")})
            self.reliefs["ORD", f"node {connection['from']}"] = deeper
        for work in self.scenario["work"]:
            self.reliefs["requests", "programs"] = {f"work.{work['name']}.depth": 2 * work["depth"]}

    @staticmethod
    def relief_of(name, where):
        """What a bottleneck of stats.json is called here: two directions of a PCIe link are one setting, and so are datapaths and cores."""
        for long, short in (("PCIe device to host, ", "PCIe link"), ("PCIe host to device, ", "PCIe link"),
                            ("transmit datapath, ", "datapath"), ("receive datapath, ", "datapath")):
            if name.startswith(long):
                return short, name[len(long):]
        return ("host cores", where) if name.startswith("host core ") else (name, where)


class Knees:
    def __init__(self, options):
        self.options = options
        self.scenario = json.loads(options.scenario.read_text())

    def run(self, point, settings, count=None):
        """stats.json of a run of the point."""
        given = dict(settings)
        if count:
            given.update({f"work.{work['name']}.count": count for work in self.scenario["work"]})
        with tempfile.TemporaryDirectory() as folder:
            options = [word for key, value in given.items() for word in ("--set", f"{key}={value}")]
            done = subprocess.run([self.options.program, "run", self.options.scenario, "--point", str(point), "--no-capture", "--out",
                                   folder, *options], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise RuntimeError(f"point {point} {' '.join(options)}: {done.stderr.strip()}")
            return json.loads(pathlib.Path(folder, "stats.json").read_text())

    def gain(self, point, base, settings):
        stats = self.run(point, settings, self.options.count)
        return stats["results"][0]["goodput_gbps"] / base - 1

    def judge(self, point):
        """(whether the name is right, a line)"""
        stats = self.run(point, {})
        named = stats["bottleneck"]
        relief = Point.relief_of(named["name"], named["where"])
        base = self.run(point, {}, self.options.count)["results"][0]["goodput_gbps"]
        reliefs = Point(stats, self.scenario).reliefs
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
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/rnicsim")
    parser.add_argument("--scenario", type=pathlib.Path, default=ROOT / "traces/read-knees.json")
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
