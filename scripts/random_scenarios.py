#!/usr/bin/env python3
"""Runs random legal scenarios over a link that loses, repeats and reorders frames: each has to end with its work done.

random_scenarios.py [--program FILE] [--first SEED] [--count N] [--jobs N] [--keep DIR]

A seed makes a scenario: transport, connections, work, link faults and settings. Of 100 seeds and more, each feature must
occur. Prints which seeds failed and how and, at the end, how often each feature occurred. Exit status 0; 1 where a run did
not exit with 0, or a feature is missing. --keep: the scenarios stay there as <seed>.json; --first SEED --count 1 makes one
again.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENOUGH = 100  # seeds, of which each feature must occur
TIMEOUT_S = 120

# Settings of the chip and the host, and what they may be. One in four is set; others keep their default.
SETTINGS = {
    "host.clock_period_ps": (500, 1000, 1700),
    "host.cpu.post_ns": (0, 40, 133),
    "host.root_complex.memory_read_ns": (90, 250, 800),
    "host.root_complex.pending_reads": (4, 256),
    "rnic.clock_period_ps": (2500, 4000, 3333),
    "rnic.mac_tx.line_gbps": (10, 25, 100, 400),
    "rnic.pcie.dma_read.max_requests": (8, 64, 256),
    "rnic.pcie.dma_read.max_tags": (4, 32, 256),
    "rnic.pcie.link.device_credits.completion_data": (0, 64, 512),
    "rnic.pcie.link.generation": (3, 4, 5),
    "rnic.pcie.link.host_credits.non_posted_headers": (4, 16),
    "rnic.pcie.link.host_credits.posted_data": (64, 512),
    "rnic.pcie.link.host_credits.posted_headers": (4, 16),
    "rnic.pcie.link.max_payload_bytes": (128, 256, 512),
    "rnic.pcie.link.max_read_request_bytes": (128, 512, 4096),
    "rnic.pcie.link.width": (4, 8, 16),
    "rnic.pcie.rx_cycles": (1, 4, 9),
    "rnic.pcie.tx_cycles": (1, 4, 9),
    "rnic.responder.atomic_alu.initiation_interval": (1, 4, 7),
    "rnic.responder.atomic_alu.operations": (1, 64),
    "rnic.rx.crc_check.pipeline_cycles": (1, 4, 11),
    "rnic.rx.mpa_deframer.pipeline_cycles": (1, 2, 5),
    "rnic.rx.mpa_deframer.queue_fpdus": (2, 3, 8),
    "rnic.rx.rqe_fetch.batch": (1, 4, 8),
    "rnic.rx.rqe_fetch.prefetch": (1, 8, 32),
    "rnic.rx.rqe_fetch.shared": (0, 6, 1 << 20),
    "rnic.tcp.ack_delay_ns": (0, 500, 20000),
    "rnic.tcp.ack_every": (1, 2, 8),
    "rnic.tcp.congestion": ("newreno", "cubic", "dctcp"),
    "rnic.tcp.early_placement": (True, False),
    "rnic.tcp.ecn": (True, False),
    "rnic.tcp.initial_window": (1, 10, 90),
    "rnic.tcp.reorder_segments": (0, 4, 512),
    "rnic.tcp.rx_cycles": (1, 6, 17),
    "rnic.tcp.sack": (True, False),
    "rnic.tcp.timestamps": (True, False),
    "rnic.tcp.tx_cycles": (1, 6, 17),
    "rnic.tcp.window_bytes": (16384, 131072, 1048576),
    "rnic.sctp.chunk_cycles": (1, 3),
    "rnic.sctp.early_placement": (True, False),
    "rnic.sctp.receive_buffer": (16384, 131072),
    "rnic.sctp.sack_every": (1, 2, 5),
    "rnic.tx.crc_insert.pipeline_cycles": (1, 4, 11),
    "rnic.tx.marker_inserter.pipeline_cycles": (1, 3),
    "rnic.tx.mpa_framer.pipeline_cycles": (1, 4),
    "rnic.tx.payload_fetch.jobs": (1, 2, 32),
    "rnic.tx.wqe_fetch.batch": (1, 4, 8),
    "rnic.tx.wqe_fetch.prefetch": (1, 8, 32),
    "rnic.tx.wqe_fetch.reads": (1, 16),
    "rnic.tx.wqe_fetch.shared": (0, 6, 1 << 20),
}
MTUS = 576, 1500, 4096, 9000
FAULTS = {
    "loss": ({"ppm": 5000}, {"every": 37}),
    "burst": ({"enter_ppm": 2000, "leave_ppm": 400000},),
    "duplicate": ({"ppm": 10000}, {"every": 23}),
    "reorder": ({"ppm": 10000}, {"every": 29}),
    "corrupt": ({"ppm": 5000},),
    "delay": ({"ns": 3000, "jitter_ns": 700},),
    "rate": ({"mbps": 5000, "queue_bytes": 40000},),
}
FEATURES = ("tcp", "sctp", "markers", "no markers", "no crc", "revision 1", "rtr", "events", "several qps", "ord 1", "faults",
            "settings", "at the same time", "reverse", "both", "pingpong", "unsignaled", "empty messages", "changed octet",
            "rdmac", "far host",
            *(f"op {op}" for op in ("send", "write", "write_imm", "read", "fetch_add", "cmp_swap", "connect")),
            *(f"mtu {mtu}" for mtu in MTUS), *(f"fault {fault}" for fault in FAULTS))
NOT_WITH_FAULTS = {"changed octet", "op connect"}  # an attempt that finds no peer is an outcome of a connect item
# Of one host, which is far from its device: what one program knows takes longer to come into the other's memory.
FAR = {
    "rnic.pcie.link.propagation_ns": (1000, 6000, 40000),
    "host.root_complex.mmio_ns": (3000, 20000),
    "host.cpu.mmio_write_ns": (1000, 9000),
}


class Scenario:
    """The scenario of a seed, and which features it has. Faulty: its link has faults both ways."""

    def __init__(self, seed, faulty=False):
        self.random = random.Random(seed)
        self.features = set()
        self.faulty = faulty
        self.sctp, self.rdmac = self.one_in(4), self.one_in(12)
        self.rdmac = self.rdmac and not self.sctp
        self.has("sctp" if self.sctp else "tcp")
        self.link = self.faults() if faulty or self.one_in(3) else {}
        nodes = [{"name": "a"}, {"name": "b"}]
        settings = self.settings()
        if self.rdmac:
            self.has("rdmac")
            nodes[self.random.randrange(2)]["config"] = {"rnic.fwcpu.personality": "rdmac"}
            settings["rnic.fwcpu.personality"] = "permissive"
        if self.has("far host", self.one_in(4)):
            far, key = self.random.choice(nodes), self.random.choice(sorted(FAR))
            far.setdefault("config", {})[key] = self.random.choice(FAR[key])
        no_crc = not self.sctp and not self.rdmac and self.one_in(5)
        if no_crc:
            self.has("no crc")
            settings["rnic.fwcpu.crc"] = False
        self.connections = [self.connection(i, no_crc) for i in range(self.random.choice((1, 1, 2, 3)))]
        work = [self.phase(i) for i in range(self.random.randint(1, 3))]
        self.octets = {"name": str(seed), "seed": seed, "transport": "sctp" if self.sctp else "tcp", "config": settings,
                       "link": self.link, "nodes": nodes, "connections": self.connections, "work": work,
                       "checks": [{"check": "data"}]}
        if not self.link and not self.rdmac and self.one_in(8):
            self.octets["inject"] = [self.changed_octet()]

    def one_in(self, n):
        return self.random.randrange(n) == 0

    def has(self, feature, really=True):
        if really:
            self.features.add(feature)
        return really

    def settings(self):
        # A queue that others keep full may drop a retransmission eight times in a row: that is not the end of a legal path.
        chosen = {"rnic.tcp.mtu": self.random.choice(MTUS), "rnic.tcp.max_retries": 32, "rnic.sctp.max_retries": 32}
        self.has(f"mtu {chosen['rnic.tcp.mtu']}")
        if self.has("settings", not self.one_in(4)):
            chosen.update({key: self.random.choice(values) for key, values in SETTINGS.items() if self.one_in(4)})
        return chosen

    def faults(self):
        link = {"delay_ns": self.random.choice((1, 500, 4000))}
        for direction in ("forward", "reverse"):
            chosen = self.random.sample(sorted(FAULTS), self.random.choice((1, 2, 3) if self.faulty else (0, 1, 2)))
            link[direction] = {fault: self.random.choice(FAULTS[fault]) for fault in chosen}
            self.features.update(f"fault {fault}" for fault in chosen)
            self.has("faults", bool(chosen))
        return link

    def connection(self, number, no_crc):
        pick = self.random.choice
        ird = pick((1, 2, 16))
        self.has("ord 1", ird == 1)
        made = {"name": f"c{number}", "from": pick("ab"), "port": 41000 + 100 * number, "qps": pick((1, 1, 2, 5)),
                "completion": "event" if self.has("events", self.one_in(3)) else "poll", "ird": ird, "ord": ird}
        made["to"] = "b" if made["from"] == "a" else "a"
        self.has("several qps", made["qps"] > 1)
        if self.sctp:
            return made
        made["mpa_revision"] = 1 if self.has("revision 1", self.rdmac or self.one_in(4)) else 2
        for side in ("from_side", "to_side"):
            made[side] = {"markers": self.rdmac or pick((True, False)), "crc": not no_crc}
            self.has("markers" if made[side]["markers"] else "no markers")
        if made["mpa_revision"] == 2 and self.has("rtr", self.one_in(3)):
            made["rtr"] = pick(("send", "write", "read"))
        return made

    def size(self, op):
        least = 1 if op in ("write_imm", "read") else 0
        fixed = self.random.choice((8, 64, 1408, 4096, 65536, self.random.randint(1, 20000), least))
        self.has("empty messages", fixed == 0)
        if not self.one_in(3):
            return fixed
        law = self.random.choice(("uniform", "log_uniform", "powers_of_two"))
        return {"law": law, "min": self.random.choice((1, 50)), "max": self.random.choice((100, 3000, 40000))}

    def item(self, name, op, connections):
        direction = self.random.choice(("forward", "forward", "reverse", "both"))
        made = {"name": name, "op": op, "connections": connections, "direction": direction,
                "count": self.random.randint(4, 120 if self.faulty else 40), "depth": self.random.choice((1, 2, 8, 32))}
        self.has(f"op {op}")
        self.has(direction, direction != "forward")
        if op in ("fetch_add", "cmp_swap"):
            made["words"] = self.random.choice((1, 1, 100))
        else:
            made["size"] = self.size(op)
            made["align"] = self.random.choice((1, 64, 4096))
        if self.has("page lists", self.one_in(4)):
            made["pages"] = self.random.choice(("4k", "4k", "64k", "2m"))
        pingpong = op in ("send", "write") and direction != "both" and made.get("size") != 0 and self.one_in(4)
        if self.has("pingpong", pingpong):
            made.update(mode="pingpong", depth=1)
        elif self.has("unsignaled", made["depth"] > 2 and self.one_in(3)):
            made["signal_every"] = self.random.randint(2, made["depth"])
        return made

    def phase(self, number):
        """One item on all connections, or one that sends and one that reads on each of them at the same time."""
        names = [c["name"] for c in self.connections]
        named = ["send", "write", "read"] + ["write_imm", "fetch_add", "cmp_swap"] * (not self.rdmac)
        if not self.rdmac and not self.sctp and not self.link and self.one_in(10):
            self.has("op connect")
            return {"name": f"i{number}", "op": "connect", "connections": names[:1], "count": 6, "depth": 2, "size": 64}
        first = self.item(f"i{number}", self.random.choice(named), names)
        if first["op"] in ("read", "fetch_add", "cmp_swap") or not self.has("at the same time", self.one_in(3)):
            return first
        return [first, self.item(f"j{number}", self.random.choice(named[2:3] + named[4:]), names)]

    def changed_octet(self):
        self.has("changed octet")
        connection = self.random.choice(self.connections)
        messages = "write", "send", "read_request", "read_response", "immediate", "atomic_request"
        return {"connection": connection["name"], "qp": self.random.randrange(connection["qps"]),
                "sender": self.random.choice("ab"), "message": self.random.choice(messages),
                "number": self.random.choice((0, 1, 5)), "octet": self.random.randrange(18),
                "add": self.random.choice((1, 64, 128))}



def run(program, seed, folder):
    """(features, what is wrong)"""
    scenario = Scenario(seed, faulty=True)
    file = folder / f"{seed}.json"
    file.write_text(json.dumps(scenario.octets, indent=1) + "\n")
    try:
        with tempfile.TemporaryDirectory() as out:
            done = subprocess.run([program, "run", file, "--no-capture", "--out", out], capture_output=True, text=True,
                                  timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return scenario.features, f"no end after {TIMEOUT_S} s"
    return scenario.features, "" if done.returncode == 0 else f"exit status {done.returncode}: {done.stderr.strip()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/rnicsim")
    parser.add_argument("--first", type=int, default=1, metavar="SEED")
    parser.add_argument("--count", type=int, default=100, metavar="N")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR")
    options = parser.parse_args()
    program, failed, occurred = options.program.resolve(), 0, collections.Counter()
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = options.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        seeds = range(options.first, options.first + options.count)
        for seed, (features, wrong) in zip(seeds, pool.map(lambda s: run(program, s, folder), seeds)):
            occurred.update(features)
            failed += bool(wrong)
            if wrong:
                print(f"seed {seed}: {wrong}", flush=True)
    print(", ".join(f"{feature} {occurred[feature]}" for feature in FEATURES))
    missing = [feature for feature in FEATURES if not occurred[feature] and feature not in NOT_WITH_FAULTS]
    missing = missing if options.count >= ENOUGH else []
    if missing:
        print(f"never occurred: {', '.join(missing)}")
    print(f"{options.count} random scenarios, {failed} failed")
    return 1 if failed or missing else 0


if __name__ == "__main__":
    sys.exit(main())
