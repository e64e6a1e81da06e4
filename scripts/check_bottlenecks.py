#!/usr/bin/env python3
"""Looks whether the first line of the report names what limits, where one thing is planted, and at random points.

check_bottlenecks.py [NAME…]    NAME: of the first column; all unless given
check_bottlenecks.py --random N [--first SEED] [--jobs N] [--measured FILE] [--verbose]
check_bottlenecks.py --seeds SEED… [--jobs N] [--measured FILE] [--verbose]

A case is a scenario with settings, and what is planted in it on top. The run with it must name it as `bottleneck` in stats.json and in
the first line of its report; the run without it must name something else. One more case has nothing planted: what limits Writes of 8
octets must be found, and without that limit another one. Prints a line for each case. Exit status 0; 1 where a name is wrong.

--random N: points, each of a seed, with items and phases of Writes, Sends and Reads, losses, slow links, and several tight settings
(bottleneck_points.py). At each, one thing after the other is relieved (reliefs.py), on both nodes, and the phase that the report names
is timed. The name is right if its relief makes that phase as short as the best one does, or no more than 2 % longer, and on the node
that it names gains as much as on the other one, or less by no more than a quarter of what it gains on both, or by 2 %. Where no relief gains 2 %, `requests` is right, and what gains that
together with another one. Of points with losses the times of five seeds of the link are summed up. Prints a table of those that are wrong;
exit status 0 where 95 % of the names are right. --measured: times are kept there, and those of an earlier run are not measured again,
as long as the chip's frames are the same.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import sys

import reliefs
from bottleneck_points import Point

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIE = 0.02     # longer than with the best relief, or gained by none
ENOUGH = 0.95  # of the names are right
SEEDS = 5      # of the link, of a point with losses
WRITES = ("write_bw",)
SHORT = ("write_bw", "work.writes.size=8", "work.writes.depth=128", "work.writes.count=8000")
PAGED = ("write_bw", "rnic.context.pages=65536", "connections.c0.qps=4",
         *(f"work.writes.{key}" for key in ("size=64", "count=5000", "depth=32", "pages=4k", "align=4096", "places=4096")))
PAGE_CACHE = "nodes.b.rnic.context.cache.page"
QUEUES = ("write_bw", "connections.c0.qps=32", "work.writes.size=64", "work.writes.count=1000", "work.writes.depth=8")
CQ_CACHE = "nodes.a.rnic.context.cache.cq"
REGIONS = ("read_bw_ord16", "connections.c0.qps=64", "work.reads.size=64", "work.reads.count=500", "work.reads.depth=8")
STAG_CACHE = "nodes.b.rnic.context.cache.stag"
QP_CACHE, PEERS_QP_CACHE = (f"nodes.{node}.rnic.context.cache.qp" for node in "ab")
FLOW_CACHE = "nodes.b.rnic.context.cache.flow"
CREDITS = "rnic.pcie.link.host_credits"
# Case: scenario with its settings, what is planted, the expected name and where.
CASES = {
    "payload fetch jobs": (WRITES, ("rnic.tx.payload_fetch.jobs=2",), "payload fetch jobs", "node a"),
    "ORD": (("read_bw_ord16",), ("connections.c0.ord=1",), "ORD", "node a"),
    "WQE prefetch": (("write_bw", "work.writes.size=2048"), ("rnic.tx.wqe_fetch.prefetch=1",), "WQE prefetch", "node a"),
    "shared WQEs": ((*SHORT, "rnic.tx.wqe_fetch.prefetch=64"), ("nodes.a.rnic.tx.wqe_fetch.shared=8",), "WQE prefetch", "node a"),
    "PCIe credits": (WRITES, (f"{CREDITS}.posted_headers=4", f"{CREDITS}.non_posted_headers=4"), "PCIe posted credits to the host",
                     "node b"),
    "PCIe tags": (WRITES, ("rnic.pcie.dma_read.max_tags=4",), "PCIe tags", "node a"),
    "TCP window": (WRITES, ("rnic.tcp.window_bytes=8192",), "TCP window", "node a"),
    "datapath": (WRITES, ("rnic.datapath.beat_bytes=16",), "transmit datapath, a", ""),
    "host core": (("write_bw", "work.writes.size=4096"), ("nodes.a.host.cpu.post_ns=2000",), "host core 1", "node a"),
    "host memory": (WRITES, ("host.root_complex.memory_read_ns=5000",), "host memory", "node a"),
    "firmware": (("churn",), ("nodes.b.rnic.fwcpu.clock_divider=16",), "firmware", "node b"),
    "page cache misses": (PAGED, (f"{PAGE_CACHE}.entries=256", f"{PAGE_CACHE}.misses_in_flight=2"), "page cache misses", "node b"),
    "page cache": (PAGED, (f"{PAGE_CACHE}.entries=256", f"{PAGE_CACHE}.misses_in_flight=16"), "page cache", "node b"),
    "CQ cache misses": (QUEUES, (f"{CQ_CACHE}.entries=8", f"{CQ_CACHE}.misses_in_flight=1"), "CQ cache misses", "node a"),
    # The queues in use have even numbers: the four places of their set are all on their way.
    "CQ cache": (QUEUES, (f"{CQ_CACHE}.entries=8", f"{CQ_CACHE}.misses_in_flight=8"), "CQ cache", "node a"),
    "STag cache misses": (REGIONS, (f"{STAG_CACHE}.entries=16", f"{STAG_CACHE}.misses_in_flight=1"), "STag cache misses", "node b"),
    # Segments of Writes are checked one after the other: more misses in flight would not help.
    "STag cache": (QUEUES, (f"{STAG_CACHE}.entries=8", f"{STAG_CACHE}.misses_in_flight=8"), "STag cache", "node b"),
    "QP cache misses": (QUEUES, (f"{QP_CACHE}.entries=8", f"{QP_CACHE}.misses_in_flight=1"), "QP cache misses", "node a"),
    # Reads of WQEs wait for the rows of their queues: enough of them, so that they are not all taken as well.
    "QP cache": (QUEUES, (f"{QP_CACHE}.entries=8", f"{QP_CACHE}.misses_in_flight=16", "nodes.a.rnic.tx.wqe_fetch.reads=64"), "QP cache", "node a"),
    "QP receive cache misses": (QUEUES, (f"{PEERS_QP_CACHE}.entries=8", f"{PEERS_QP_CACHE}.misses_in_flight=1"), "QP receive cache misses", "node b"),
    "QP receive cache": (QUEUES, (f"{PEERS_QP_CACHE}.entries=8", f"{PEERS_QP_CACHE}.misses_in_flight=32", "work.writes.depth=1"),
                         "QP receive cache", "node b"),
    "parked FPDUs": (QUEUES, (f"{PEERS_QP_CACHE}.entries=8", "nodes.b.rnic.rx.ddp_placement.parked=0"), "parked FPDUs", "node b"),
    "flow cache misses": (QUEUES, (f"{FLOW_CACHE}.entries=8", f"{FLOW_CACHE}.misses_in_flight=1", "rnic.tcp.rto_min_us=10000"), "flow cache misses", "node b"),
    "flow cache": (QUEUES, (f"{FLOW_CACHE}.entries=8", f"{FLOW_CACHE}.misses_in_flight=32", "rnic.tcp.rto_min_us=10000"), "flow cache", "node b"),
    # Half of them are for one queue pair.
    "requests outstanding": (SHORT, ("nodes.a.rnic.tx.rdmap_segmenter.outstanding=16", "rnic.tx.wqe_fetch.prefetch=64"), "requests outstanding", "node a"),
    "TCP transmit memory": (WRITES, ("nodes.a.rnic.tcp.tx_memory.octets=16384",), "TCP transmit memory", "node a"),
    # Half of them are for one flow: 32 segments in each round trip.
    "its records": (SHORT, ("nodes.a.rnic.tcp.tx_memory.segments=8", "rnic.tx.wqe_fetch.prefetch=64"), "TCP transmit memory", "node a"),
    "SCTP transmit memory": (("sctp_quickstart",), ("nodes.a.rnic.sctp.tx_memory.octets=4096",), "SCTP transmit memory", "node a"),
    # Requests wait for ORD, as their responses wait for the window.
    "TCP window of a responder": (("read_bw_ord16", "work.reads.size=4096", "work.reads.count=2000"),
                                  ("rnic.tcp.window_bytes=16384",), "TCP window", "node b"),
    # Nothing is planted: a read of eight WQEs of 128 octets takes 0.6 us, and no more than these are on chip.
    "writes of 8 octets": ((*SHORT, "rnic.tx.wqe_fetch.prefetch=64"), ("rnic.tx.wqe_fetch.prefetch=8",), "WQE prefetch", "node a"),
}


def bottleneck(scenario, settings):
    """That of stats.json."""
    try:
        return reliefs.run(ROOT / f"traces/{scenario}.json", dict(setting.split("=") for setting in settings))["bottleneck"]
    except (RuntimeError, reliefs.rnicsim.RnicError) as error:
        sys.exit(f"check_bottlenecks.py: {error}")


def check_planted(names):
    without, wrong = {}, 0
    for case, (base, planted, name, where) in CASES.items():
        if names and case not in names:
            continue
        if base not in without:
            without[base] = bottleneck(base[0], base[1:])
        found = bottleneck(base[0], base[1:] + planted)
        named = (found["name"], found["where"]) == (name, where)
        only_then = (without[base]["name"], without[base]["where"]) != (name, where)
        wrong += not (named and only_then)
        print(f"{case:<25} {'ok   ' if named and only_then else 'WRONG'} {found['line']}")
        print(f"{'':<25}       without it: {without[base]['line']}")
    print(f"{wrong} wrong" if wrong else "all are named first, and only where they are planted")
    return wrong == 0


class RandomPoint:
    """What the report of a point names, and how long the work of each phase takes with each relief."""

    def __init__(self, seed, known):
        self.seed, self.point = seed, Point(seed)
        self.known = known  # times by settings, as text

    def times(self, settings):
        """Of each phase, in ps."""
        known = self.known.setdefault(json.dumps(settings, sort_keys=True), [])
        while len(known) < (SEEDS if self.point.loses else 1):
            known.append(self.phases_of(self.run(settings, len(known) + 1)))
        return [sum(times) for times in zip(*known)]

    def run(self, settings, seed=1):
        return reliefs.run(self.point.scenario, {**settings, **({"link.seed": seed} if self.point.loses else {})})

    def phases_of(self, stats):
        """Items of both directions have two results."""
        taken, results = [], iter(stats["results"])
        for phase in self.point.scenario["work"]:
            taken.append(max(next(results)["duration_ps"] for item in phase for _ in range(1 + (item["direction"] == "both"))))
        return taken

    def named_phase(self, named):
        """The phase that the report's line names, if there are several."""
        names = [" and ".join(item["name"] for item in phase) for phase in self.point.scenario["work"]]
        said = named["line"].rpartition(" in ")[2].partition(",")[0]
        return names.index(said) if len(names) > 1 else 0

    def judge(self):
        stats = self.run({})
        if self.known.get("digest") != stats["digest"]:
            self.known.clear()
            self.known["digest"] = stats["digest"]
        named = stats["bottleneck"]
        phase = self.named_phase(named)
        of = reliefs.Reliefs(stats, self.point.scenario)
        base = self.times({})[phase]
        gains = {name: base / self.times(settings)[phase] - 1 for name, settings in of.everywhere().items()}
        verdict = Verdict(named, gains)
        verdict.judge()
        if verdict.alone and not verdict.right and verdict.name in gains:
            self.relieve_with_others(verdict, of.everywhere(), base, phase)
        if verdict.right and verdict.name in gains and gains[verdict.name] > TIE:
            self.judge_place(verdict, of.of, base, phase, gains[verdict.name])
        return verdict

    def relieve_with_others(self, verdict, everywhere, base, phase):
        mine = everywhere[verdict.name]
        for name, settings in everywhere.items():
            gain = base / self.times({**mine, **settings})[phase] - 1
            if name != verdict.name and gain > TIE:
                verdict.right, verdict.how = True, f"with {name} {100 * gain:+.1f} %"
                return

    def judge_place(self, verdict, of, base, phase, on_both):
        gains = {where: base / self.times(settings)[phase] - 1 for (name, where), settings in of.items() if name == verdict.name}
        needed = max(gains.values()) - max(TIE, on_both / 4)
        if len(gains) > 1 and gains.get(verdict.where, 0) < needed:
            verdict.right, verdict.how = False, "elsewhere: " + ", ".join(f"{where} {100 * g:+.1f} %" for where, g in gains.items())


class Verdict:
    def __init__(self, named, gains):
        self.line, self.gains, self.how = named["line"], gains, ""
        self.name, self.where = reliefs.relief_of(named["name"], named["where"])
        self.best = max(gains, key=gains.get)
        self.right = False

    @property
    def alone(self):
        """No relief gains anything on its own."""
        return self.gains[self.best] < TIE

    def judge(self):
        if self.alone:
            self.right = self.name == "requests"
        else:
            self.right = (1 + self.gains.get(self.name, 0)) * (1 + TIE) >= 1 + self.gains[self.best]

    def text(self, shown):
        listed = sorted(self.gains.items(), key=lambda pair: -pair[1])[:shown]
        return f"{self.line}; " + ", ".join(f"{name} {100 * gain:+.1f} %" for name, gain in listed) + (f"; {self.how}" if self.how else "")


def check_random(options):
    known = {}
    if options.measured and options.measured.exists():
        known = json.loads(options.measured.read_text())
    seeds = options.seeds or range(options.first, options.first + options.random)
    points = [RandomPoint(seed, known.setdefault(str(seed), {})) for seed in seeds]
    right, table = 0, collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for point, verdict in zip(points, pool.map(RandomPoint.judge, points)):
            right += verdict.right
            if not verdict.right:
                table[verdict.name, "nothing" if verdict.alone else verdict.best if not verdict.how else "elsewhere"] += 1
            if options.verbose or not verdict.right:
                print(f"{point.seed:4} {'ok   ' if verdict.right else 'WRONG'} {verdict.text(6)}", flush=True)
    if options.measured:
        options.measured.write_text(json.dumps(known))
    if table:
        print(f"{'named':<35} {'helps most':<35} points")
    for (name, best), count in table.most_common():
        print(f"{name:<35} {best:<35} {count:6}")
    print(f"{right} of {len(points)} points are named as their reliefs say, {100 * right / len(points):.1f} %")
    return right >= ENOUGH * len(points)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, metavar="N")
    parser.add_argument("--seeds", type=int, nargs="+", metavar="SEED")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--measured", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    if options.random or options.seeds:
        return 0 if check_random(options) else 1
    if unknown := [n for n in options.names if n not in CASES]:
        parser.error(f"unknown case {unknown[0]}; there are: {', '.join(CASES)}")
    return 0 if check_planted(options.names) else 1


if __name__ == "__main__":
    sys.exit(main())
