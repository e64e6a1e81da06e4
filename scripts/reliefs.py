"""What limits a run, found without reading its accounts: each thing that a report could name gets twice of what it has, or takes half of
the time, by settings; then the work is run again. What helps most is what limits. Used by check_bottlenecks.py and check_knees.py."""
import itertools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "model/golden/python"))

import rnicsim  # noqa: E402

LINK = "rnic.pcie.link"
CLASSES = {"posted": "posted", "non-posted": "non_posted", "completion": "completion"}
HOST_TIMES = "post", "poll", "completion", "mmio_write", "poll_interval"
FIRMWARE_TIMES = "clock_divider", "dispatch_cycles", "csr_write_cycles", "sram_word_cycles"


def run(scenario, settings, **options):
    """stats.json of a run that came to its end, whether or not it met its checks. Its report begins with the bottleneck's line.
    `scenario` is a dict or a file's name."""
    with rnicsim.run(scenario, settings, **options) as done:
        if done.exit_code not in (0, 1):
            raise RuntimeError(f"{settings}: {done.messages.strip()}")
        stats, first = done.value("all"), done.report.partition("\n")[0]
    if stats["bottleneck"]["line"] != first:
        raise RuntimeError(f"{settings}: the report begins with '{first}', stats.json has '{stats['bottleneck']['line']}'")
    return stats


def items_of(scenario):
    return [item for phase in scenario["work"] for item in (phase if isinstance(phase, list) else [phase])]


class Reliefs:
    """Of a run, by what is relieved and where: {(name, where): settings}. `stats` is the stats.json of the run as it is."""

    def __init__(self, stats, scenario):
        self.config, self.assigned, self.scenario = stats["config"], stats.get("assigned", {}), scenario
        self.items = items_of(scenario)
        self.of = {}
        nodes = list(self.config)
        for node, peer in zip(nodes, reversed(nodes)):
            self.add_chip(node)
            self.add_pcie(node)
            self.add_host(node)
            self.add_path(node, peer)
        self.add_programs(nodes)
        self.add_faults(nodes)

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
            self.of.setdefault((name, where), {}).update(settings)

    def add_chip(self, node):
        where = f"node {node}"
        self.change("WQE prefetch", where, node, ["rnic.tx.wqe_fetch.prefetch"], limit=256)
        if self.setting(node, "rnic.tx.wqe_fetch.shared") < 1 << 10:
            self.change("WQE prefetch", where, node, ["rnic.tx.wqe_fetch.shared"], lambda n: 2 * n + 2)
        self.change("WQE reads", where, node, ["rnic.tx.wqe_fetch.reads"], limit=64)
        if any(item["op"] in ("send", "write_imm") for item in self.items):
            self.change("RQE prefetch", where, node, ["rnic.rx.rqe_fetch.prefetch"], limit=256)
            if self.setting(node, "rnic.rx.rqe_fetch.shared") < 1 << 10:
                self.change("RQE prefetch", where, node, ["rnic.rx.rqe_fetch.shared"], lambda n: 2 * n + 2)
            self.change("RQE reads", where, node, ["rnic.rx.rqe_fetch.reads"], limit=64)
        if any(item["op"] == "connect" for item in self.items):
            self.change("firmware", where, node, [f"rnic.fwcpu.{key}" for key in FIRMWARE_TIMES], lambda n: (n + 1) // 2)
        self.change("payload fetch jobs", where, node, ["rnic.tx.payload_fetch.jobs"], limit=256)
        self.change("datapath", where, node, ["rnic.datapath.beat_bytes"], limit=128)
        if 4 * self.setting(node, "rnic.context.cache.page.entries") < self.setting(node, "rnic.context.pages"):
            self.change("page cache", where, node, ["rnic.context.cache.page.entries"], limit=1 << 20)
            self.change("page cache misses", where, node, ["rnic.context.cache.page.misses_in_flight"], limit=64)
        if self.setting(node, "rnic.context.cache.cq.entries") < self.setting(node, "rnic.context.cqs"):
            self.change("CQ cache", where, node, ["rnic.context.cache.cq.entries"], limit=1 << 20)
            self.change("CQ cache misses", where, node, ["rnic.context.cache.cq.misses_in_flight"], limit=64)
        if self.setting(node, "rnic.context.cache.stag.entries") < self.setting(node, "rnic.context.stags"):
            self.change("STag cache", where, node, ["rnic.context.cache.stag.entries"], limit=1 << 20)
            self.change("STag cache misses", where, node, ["rnic.context.cache.stag.misses_in_flight"], limit=64)
        if self.setting(node, "rnic.context.cache.qp.entries") < self.setting(node, "rnic.context.qps"):
            self.change("QP cache", where, node, ["rnic.context.cache.qp.entries"], limit=1 << 20)
            self.change("QP cache misses", where, node, ["rnic.context.cache.qp.misses_in_flight"], limit=64)
            self.change("QP receive cache", where, node, ["rnic.context.cache.qp.entries"], limit=1 << 20)
            self.change("QP receive cache misses", where, node, ["rnic.context.cache.qp.misses_in_flight"], limit=64)
            self.change("parked FPDUs", where, node, ["rnic.rx.ddp_placement.parked"], limit=63)
        if self.setting(node, "rnic.context.cache.flow.entries") < self.setting(node, "rnic.tcp.max_flows"):
            self.change("flow cache", where, node, ["rnic.context.cache.flow.entries"], limit=1 << 20)
            self.change("flow cache misses", where, node, ["rnic.context.cache.flow.misses_in_flight"], limit=64)
        if self.setting(node, "rnic.context.cache.srq.entries") < self.setting(node, "rnic.context.srqs"):
            self.change("SRQ cache", where, node, ["rnic.context.cache.srq.entries"], limit=1 << 20)
            self.change("SRQ cache misses", where, node, ["rnic.context.cache.srq.misses_in_flight"], limit=64)

        if self.setting(node, "rnic.tx.rdmap_segmenter.outstanding") < 1 << 16:
            self.change("requests outstanding", where, node, ["rnic.tx.rdmap_segmenter.outstanding"], limit=1 << 26)
        for name, memory in ("TCP transmit memory", "rnic.tcp.tx_memory"), ("SCTP transmit memory", "rnic.sctp.tx_memory"):
            if self.setting(node, f"{memory}.octets") < 1 << 20:
                self.change(name, where, node, [f"{memory}.octets"])
            if self.setting(node, f"{memory}.segments") < 1 << 10:
                self.change(name, where, node, [f"{memory}.{key}" for key in ("octets", "segments")], limit=1 << 30)

    def add_pcie(self, node):
        where = f"node {node}"
        self.change("PCIe tags", where, node, ["rnic.pcie.dma_read.max_tags"], limit=256)
        self.change("PCIe read requests", where, node, ["rnic.pcie.dma_read.max_requests"], limit=4096)
        for (name, key), of in itertools.product(CLASSES.items(), ("host", "device")):
            keys = [f"{LINK}.{of}_credits.{key}_headers"] + ([f"{LINK}.{of}_credits.{key}_data"] if key != "non_posted" else [])
            self.change(f"PCIe {name} credits to the {of}", where, node, keys, limit=65535)
        if self.setting(node, f"{LINK}.width") < 16:
            self.change("PCIe link", where, node, [f"{LINK}.width"])
        else:
            self.change("PCIe link", where, node, [f"{LINK}.generation"], lambda generation: generation + 1, limit=5)

    def add_host(self, node):
        where = f"node {node}"
        self.change("host memory", where, node, ["host.root_complex.memory_read_ns"], lambda ns: ns // 2)
        self.change("host cores", where, node, [f"host.cpu.{key}_ns" for key in HOST_TIMES], lambda ns: (ns + 1) // 2)

    def add_path(self, node, peer):
        window = "rnic.sctp.receive_buffer" if self.scenario.get("transport") == "sctp" else "rnic.tcp.window_bytes"
        self.change("window", f"node {node}", peer, [window], limit=1 << 30)
        self.change("wire", f"{node} to {peer}", node, ["rnic.mac_tx.line_gbps"], limit=800)

    def add_programs(self, nodes):
        for number, connection in enumerate(self.scenario["connections"]):
            name = connection.get("name", f"c{number}")
            ord_ = 2 * self.assigned.get(f"connections.{name}.ord", connection.get("ord", 16))
            deeper = {f"connections.{name}.{key}": ord_ for key in ("ord", "ird")}
            deeper.update({f"rnic.fwcpu.max_{key}": max(ord_, self.setting(nodes[0], f"rnic.fwcpu.max_{key}")) for key in ("ord", "ird")})
            self.of["ORD", f"node {connection['from']}"] = deeper
        deeper = {f"work.{item['name']}.depth": min(2 * item["depth"], 512) for item in self.items if item.get("depth", 512) < 512}
        if deeper:
            self.of["requests", "programs"] = deeper

    def add_faults(self, nodes):
        link = self.scenario.get("link", {})
        for direction, sender, receiver in ("forward", *nodes), ("reverse", *reversed(nodes)):
            faults = link.get(direction, {})
            if faults.get("rate", {}).get("mbps", 0) != 0:
                self.of["link rate", f"{sender} to {receiver}"] = {f"link.{direction}.rate.mbps": 2 * faults["rate"]["mbps"]}
            if lost := {f"link.{direction}.loss.{key}": 0 for key in ("ppm", "every") if faults.get("loss", {}).get(key, 0) != 0}:
                self.of["losses", f"node {sender}"] = lost

    def everywhere(self):
        """{name: settings that relieve it wherever it is}"""
        merged = {}
        for (name, _), settings in self.of.items():
            merged.setdefault(name, {}).update(settings)
        return merged


# How a name of a report begins, and what relieves it. What follows is where.
PLACED = {"wire ": "wire", "link rate ": "link rate", "PCIe device to host, ": "PCIe link",
          "PCIe host to device, ": "PCIe link", "transmit datapath, ": "datapath", "receive datapath, ": "datapath"}
WINDOWS = "TCP window", "SCTP window"


def relief_of(name, where):
    """What relieves a bottleneck of stats.json. Both directions of a PCIe link are one setting, and so are datapaths and cores."""
    for begin, relief in PLACED.items():
        if name.startswith(begin):
            place = name[len(begin):]
            return relief, place if " to " in place else f"node {place}"
    if name in WINDOWS:
        return "window", where
    if name == "TCP congestion window":
        return "losses", where
    if name.startswith("host core "):
        return "host cores", where
    return name.replace(" data credits ", " credits "), where
