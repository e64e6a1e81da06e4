"""Random runs whose limits meet: work of several items and phases, and some settings that are tight. Used by check_bottlenecks.py."""
import math
import random

LINK = "rnic.pcie.link"
OCTETS = 1_500_000  # of payload, of an item: enough that its begin and end are a small part
MESSAGES = 400      # no more of them
IN_STEP = 4         # at least so many times the depth

# What may be tight, between the lowest value and the highest.
NUMBERS = {
    "rnic.tx.wqe_fetch.prefetch": (1, 16),
    "rnic.tx.wqe_fetch.reads": (1, 8),
    "rnic.rx.rqe_fetch.prefetch": (1, 16),
    "rnic.tx.payload_fetch.jobs": (1, 32),
    "rnic.pcie.dma_read.max_tags": (1, 64),
    "rnic.pcie.dma_read.max_requests": (1, 64),
    f"{LINK}.max_read_request_bytes": (128, 2048),
    f"{LINK}.host_credits.posted_headers": (1, 64),
    f"{LINK}.host_credits.posted_data": (32, 512),
    f"{LINK}.host_credits.non_posted_headers": (1, 64),
    f"{LINK}.device_credits.completion_headers": (1, 64),
    f"{LINK}.device_credits.completion_data": (32, 1024),
    f"{LINK}.width": (1, 8),
    f"{LINK}.generation": (1, 3),
    "rnic.datapath.beat_bytes": (16, 32),
    "rnic.tcp.window_bytes": (4096, 131072),
    "rnic.mac_tx.line_gbps": (5, 100),
    "host.root_complex.memory_read_ns": (300, 8000),
    "host.cpu": (2, 60),  # times as slow
}
POWERS = f"{LINK}.max_read_request_bytes", f"{LINK}.width", "rnic.datapath.beat_bytes"
HOST_CPU = {"post": 40, "poll": 15, "completion": 15, "mmio_write": 5, "poll_interval": 20}
OTHERS = "ord", "rate", "rate", "loss", "depth"


class Point:
    """The scenario of a seed."""

    def __init__(self, seed):
        self.random = random.Random(f"bottleneck {seed}")
        self.depths = 4, 128
        self.connection = {"name": "c0", "from": "a", "to": "b", "qps": self.random.choice((1, 1, 1, 2, 4)), "ord": 16, "ird": 16,
                           "markers": self.one_in(2)}
        self.link = {"delay_ns": self.log(200, 8000), "forward": {}, "reverse": {}}
        self.nodes = [{"name": "a", "config": {}}, {"name": "b", "config": {}}]
        tight = self.random.sample(sorted(NUMBERS) + list(OTHERS), self.random.choice((1, 2, 2, 3, 4)))
        for key in tight:
            self.tighten(key)
        work = self.work()
        settings = {"rnic.tcp.mtu": self.random.choice((1500, 1500, 4096, 9000))}
        self.loses = any("loss" in faults for faults in (self.link["forward"], self.link["reverse"]))
        if self.loses:
            settings["rnic.tcp.rto_min_us"] = 30  # or one timeout more or less is all that is seen
        self.scenario = {"name": f"point {seed}", "seed": seed + 1, "config": settings, "link": self.link,
                         "nodes": self.nodes, "connections": [self.connection], "work": work,
                         "checks": [{"check": "data"}]}

    def one_in(self, n):
        return self.random.randrange(n) == 0

    def log(self, low, high):
        return round(math.exp(self.random.uniform(math.log(low), math.log(high))))

    def tighten(self, key):
        if key == "ord":
            self.connection["ord"] = self.connection["ird"] = self.log(1, 16)
        elif key == "depth":
            self.depths = 1, 4
        elif key in ("rate", "loss"):
            faults = {"rate": {"mbps": self.log(2000, 90000), "queue_bytes": self.log(30000, 300000)}, "loss": {"ppm": self.log(200, 20000)}}
            for direction in self.random.choice((("forward",), ("reverse",), ("forward", "reverse"))):
                self.link[direction][key] = faults[key]
        else:
            self.tighten_setting(key)

    def tighten_setting(self, key):
        value = self.log(*NUMBERS[key])
        if key in POWERS:
            value = 1 << value.bit_length() - 1
        settings = {key: value}
        if key == "host.cpu":
            settings = {f"host.cpu.{name}_ns": ns * value for name, ns in HOST_CPU.items()}
        for node in self.random.choice((self.nodes, self.nodes, self.nodes[:1], self.nodes[1:])):
            node["config"].update(settings)

    def item(self, number, op, direction):
        size = self.log(64, 65536)
        most = OCTETS * 2 // (size * self.connection["qps"] * IN_STEP)
        depth = max(1, min(self.log(*self.depths), most))
        count = max(IN_STEP * depth, min(MESSAGES, OCTETS // size) // self.connection["qps"], 8)
        return {"name": f"{op}{number}", "op": op, "size": size, "depth": depth, "count": count, "direction": direction}

    def direction(self):
        return self.random.choice(("forward", "forward", "forward", "reverse", "both"))

    def op(self):
        return self.random.choice(("write", "write", "send", "read", "read"))

    def work(self):
        """Items that run at the same time do not both receive at the same side, but for Reads."""
        phases = []
        for number in range(self.random.choice((1, 1, 1, 2, 2, 3))):
            if not phases or len(phases[-1]) > 1 or self.one_in(2):
                phases.append([self.item(number, self.op(), self.direction())])
                continue
            other = phases[-1][0]
            op, direction = "read", self.direction()
            if other["op"] == "read":
                op = self.op()
            elif other["direction"] != "both" and self.one_in(2):
                op, direction = self.random.choice(("write", "send")), "reverse" if other["direction"] == "forward" else "forward"
            phases[-1].append(self.item(number, op, direction))
        return phases
