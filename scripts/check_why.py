#!/usr/bin/env python3
"""Checks that `rnicsim explain --why` names the first cause of planted faults: the 30 errors of traces/errors, causes on the cable, in
settings and in programs, and no cause in runs without faults. The number of the frame comes from the captures, octet by octet, and never
from the program's decoder; each expectation shifted by a frame must fail.

scripts/check_why.py [--rnicsim PROGRAM] [NAME…]: all, or those named. Exit code 1 if one is not as expected.
"""
import argparse
import json
import pathlib
import re
import sqlite3
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
WRITES = ("work.writes.depth=4", "work.writes.count=20", "work.writes.size=16384")
SENDS = {"name": "sends", "nodes": [{"name": "a"}, {"name": "b"}], "connections": [{"from": "a", "to": "b"}],
         "work": [{"name": "sends", "op": "send", "size": 4096, "count": 40, "depth": 16}]}
PATIENT = ("rnic.tcp.rto_min_us=10000000", "rnic.tcp.rto_initial_us=10000000", "rnic.tcp.rto_max_us=20000000", "sim.max_time_us=5000")
SHORT = ("work.writes.depth=1", "work.writes.count=20")
SHORT_SCTP = tuple(f"work.writes.{key}" for key in ("count=20", "depth=4", "size=16384")) + ("work.sends.count=20",)


def packets(file, with_times=False):
    """(interface, octets) of each packet of a pcapng file, in order: the first is number 1. Times are in units of the file."""
    data, at, names, found = file.read_bytes(), 0, [], []
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        body = data[at + 8:at + size - 4]
        if kind == 1:
            names.append(len(names))
        elif kind == 6:
            interface, high, low, captured, _ = struct.unpack_from("<IIIII", body)
            found.append((interface, body[20:20 + captured], *([high << 32 | low] if with_times else [])))
        at += size
    return found


def sender(octets):
    """The last octet of the Ethernet source: 1 is node a, 2 node b."""
    return octets[11]


def payload(octets):
    """Of its TCP segment; empty for what has none."""
    if octets[12:14] != b"\x08\x00" or octets[23] != 6:
        return b""
    ip = 14 + 4 * (octets[14] & 15)
    return octets[ip + 4 * (octets[ip + 12] >> 4):14 + struct.unpack_from(">H", octets, 16)[0]]


def segments(capture):
    """(number, octets of the FPDU without markers) of each packet with an FPDU, which is one here."""
    starts, found = {}, []
    for number, (_, octets) in enumerate(capture, 1):
        data = payload(octets)
        if not data:
            continue
        sequence = struct.unpack_from(">I", octets, 14 + 4 * (octets[14] & 15) + 4)[0]
        if data[:4] == b"MPA ":
            starts[sender(octets)] = (sequence + len(data)) & 0xffffffff
            continue
        at = (sequence - starts[sender(octets)]) & 0xffffffff
        marked = at != 0 or data[:4] == bytes(4)
        kept = bytes(octet for n, octet in enumerate(data) if not marked or (at + n) % 512 >= 4)
        found.append((number, kept))
    return found


class Case:
    """A run, what is asked of it, and what must be answered."""

    def __init__(self, name, scenario, settings=(), frame=None, symptom=None, kind=None, end=None, request=None):
        self.name, self.scenario, self.settings = name, scenario, settings
        self.frame, self.symptom, self.kind, self.end, self.request = frame, symptom, kind, end, request

    def expect(self, run):
        """Finds the frame, if it is not given."""


class Planted(Case):
    """`nth` frame of a side: its number in the run without the fault."""

    def __init__(self, name, scenario, common, fault, nth, side="a", **expected):
        super().__init__(name, scenario, (*common, *fault), **expected)
        self.common, self.nth, self.side = common, nth, side

    def expect(self, run):
        if self.nth is None:
            return
        capture = packets(run(self.scenario, self.common, f"{self.name}.clean") / "wire.pcapng")
        sides = sorted({sender(octets) for _, octets in capture})
        wanted = sides["ab".index(self.side)]
        self.frame = [number for number, (_, octets) in enumerate(capture, 1) if sender(octets) == wanted][self.nth - 1]


class Spoiled(Case):
    """A work request that the program spoils: its first segment has that QN and MSN."""

    def __init__(self, name, text, by, **expected):
        super().__init__(name, {"name": name, "nodes": [{"name": "a"}, {"name": "b"}], "connections": [{"from": "a", "to": "b"}], **text}, **expected)
        self.by = by

    def expect(self, run):
        capture = packets(run(self.scenario, (), f"{self.name}.first") / "wire.pcapng")
        self.frame = next(number for number, fpdu in segments(capture) if not fpdu[2] & 0x80 and fpdu[8:16] == struct.pack(">II", *self.by))


class LastSegment(Case):
    """The last segment of the nth message of node a, the first of which opens the connection."""

    def __init__(self, name, scenario, settings, nth, **expected):
        super().__init__(name, scenario, settings, **expected)
        self.nth = nth

    def expect(self, run):
        capture = packets(run(self.scenario, self.settings, f"{self.name}.first") / "wire.pcapng")
        of_a = min(sender(octets) for _, octets in capture)
        ends = [number for number, fpdu in segments(capture) if fpdu[2] & 0x40 and sender(capture[number - 1][1]) == of_a]
        self.frame = ends[self.nth - 1]


class Acknowledged(Case):
    """The acknowledgement that came longest after the last octets that it is the first to cover."""

    def expect(self, run):
        capture = packets(run(self.scenario, self.settings, f"{self.name}.first") / "wire.pcapng", with_times=True)
        of_a = min(sender(octets) for _, octets, _ in capture)
        ends, longest = [], -1  # of what no acknowledgement covers, and when it came
        for number, (_, octets, time) in enumerate(capture, 1):
            data, tcp = payload(octets), 14 + 4 * (octets[14] & 15)
            seq, ack = struct.unpack_from(">II", octets, tcp + 4)
            if sender(octets) == of_a:
                if data and not data.startswith(b"MPA "):
                    ends.append(((seq + len(data)) & 0xffffffff, time))
                continue
            covered = [came for end, came in ends if (ack - end) & 0xffffffff < 1 << 26]
            ends = ends[len(covered):]
            if covered and time - covered[-1] > longest:
                longest, self.frame = time - covered[-1], number


class FirstAcknowledgement(Case):
    """The first packet of node a that covers the first message of node b."""

    def expect(self, run):
        capture = packets(run(self.scenario, self.settings, f"{self.name}.first") / "wire.pcapng")
        of_a = min(sender(octets) for _, octets in capture)
        ends = None
        for number, (_, octets) in enumerate(capture, 1):
            data, tcp = payload(octets), 14 + 4 * (octets[14] & 15)
            seq, ack = struct.unpack_from(">II", octets, tcp + 4)
            if sender(octets) != of_a and ends is None and data and not data.startswith(b"MPA "):
                ends = (seq + len(data)) & 0xffffffff
            if sender(octets) == of_a and ends is not None and (ack - ends) & 0xffffffff < 1 << 26:
                self.frame = number
                return


class Limit(Case):
    """What limits the run: the rate that it names must be that of stats.json, within a tenth, and its sum no less, and no more than `slack`
    times that. A window is not full at each instant, as a peer opens it by whole segments."""

    def __init__(self, name, scenario, settings, kind, end="setting", slack=1.25):
        super().__init__(name, scenario, settings, symptom="throughput", kind=kind, end=end)
        self.slack = slack

    def problem(self, out, answer):
        sums = re.search(r" = ([0-9.]+) Gb/s at most, measured ([0-9.]+) Gb/s$", answer["cause"]["text"])
        if not sums:
            return "has no sum: " + answer["cause"]["text"]
        wanted = json.loads((out / "stats.json").read_text())["results"][0]["goodput_gbps"]
        found, measured = map(float, sums.groups())
        if not abs(measured / wanted - 1) < 0.1 or not 0.98 <= found / wanted <= self.slack:
            return f"{answer['cause']['text']}: stats.json has {wanted}"
        return ""


class FirstLost(Case):
    """The first packet of the interface for what the cable swallowed."""

    def expect(self, run):
        capture = packets(run(self.scenario, self.settings, f"{self.name}.first") / "wire.pcapng")
        self.frame = next(number for number, (_, octets) in enumerate(capture, 1) if octets[12:14] == b"\x88\xb5")


class SetUp(Case):
    """The MPA Request of the first connection: the first segment with its key."""

    def expect(self, run):
        capture = packets(run(self.scenario, self.settings, f"{self.name}.first") / "wire.pcapng")
        self.frame = next(number for number, (_, octets) in enumerate(capture, 1) if payload(octets).startswith(b"MPA ID Req Frame"))


class Error(Case):
    """A scenario of traces/errors: the first packet that differs from the run without `inject`, or the first segment of the message
    whose header the Terminate returns, or the one with that QN and MSN."""

    def __init__(self, name, code, end, by, **expected):
        super().__init__(f"errors/{name}", ROOT / f"traces/errors/{name}.json", (), end=end, **expected)
        self.symptom, self.code, self.by = "terminate" if name != "mpa_startup" else "startup", code, by

    def expect(self, run):
        capture = packets(run(self.scenario, (), f"{self.name}.first") / "wire.pcapng")
        if self.by == "difference":
            scenario = json.loads(self.scenario.read_text())
            del scenario["inject"], scenario["checks"]
            clean = packets(run(scenario, (), f"{self.name}.clean") / "wire.pcapng")
            self.frame = next(number for number, (one, other) in enumerate(zip(capture, clean), 1) if one[1] != other[1])
        elif self.by == "quoted":
            fpdus = segments(capture)
            told = next(fpdu for _, fpdu in fpdus if fpdu[3:4] == b"\x47" and fpdu[8:12] == b"\0\0\0\2")
            first = None  # of its message
            for number, fpdu in fpdus:
                if fpdu is told:
                    continue
                first = first or number
                header = fpdu[2:16] if fpdu[2] & 0x80 else fpdu[2:20]
                if header in told[20:]:
                    self.frame = first
                    return
                if fpdu[2] & 0x40:
                    first = None
            raise AssertionError("no segment has the header that the Terminate returns")
        elif self.by:
            self.frame = next(number for number, fpdu in segments(capture) if not fpdu[2] & 0x80 and fpdu[8:16] == struct.pack(">II", *self.by))


ON_THE_WIRE = {
    "ddp_invalid_stag": "1/1/00", "ddp_mo": "1/2/04", "ddp_msn": "1/2/03", "ddp_qn": "1/2/01", "ddp_tagged_version": "1/1/04", "ddp_to_wrap": "1/1/03",
    "ddp_untagged_version": "1/2/06", "mpa_closed": "2/0/01", "mpa_crc": "2/0/02", "mpa_ird": "2/0/06", "mpa_marker": "2/0/03", "mpa_rtr": "2/0/07",
    "mpa_startup": "bad_rev", "rdma_catastrophic": "0/2/07", "rdma_invalid_stag": "0/1/00", "rdma_opcode": "0/2/06", "rdma_to_wrap": "0/1/04",
    "rdma_unknown_invalidate": "0/2/09", "rdma_unspecified": "0/2/ff", "rdma_version": "0/2/05"}
CASES = [Error(name, code, "injected", "difference") for name, code in ON_THE_WIRE.items()]
CASES += [Error(name, code, "program", "quoted", request=request) for name, code, request in (
    ("ddp_bounds", "1/1/01", "a.0.10"), ("ddp_not_associated", "1/1/02", "a.0.4"), ("ddp_too_long", "1/2/05", "a.0.4"), ("rdma_access", "0/1/02", "a.0.4"),
    ("rdma_bounds", "0/1/01", "a.0.10"), ("rdma_foreign_invalidate", "0/1/09", "a.0.4"), ("rdma_not_associated", "0/1/03", "a.0.4"))]
CASES += [Error("ddp_local", "1/0/00", "program", (0, 5), request="b.rq0.4"), Error("rdma_local", "0/0/00", "program", None, request="a.0.4"),
          Error("ddp_no_buffer", "1/2/02", "setting", (1, 3), request="a.0.3")]

CASES += [
    Planted("lost", "write_bw", WRITES, ("link.forward.loss.frames=100",), 100, symptom="slow_in_turn", kind="lost", end="cable", request="a.0.8"),
    Planted("lost_last", "write_bw", (*SHORT, "work.writes.size=4096"), ("link.forward.loss.frames=20",), 20, symptom="slow", kind="lost", end="cable",
            request="a.0.5"),
    Planted("lost_ack", "write_bw", (*SHORT, "work.writes.size=1024"), ("link.reverse.loss.frames=10",), 10, "b", symptom="slow", kind="lost", end="cable",
            request="a.0.6"),
    Planted("corrupted", "write_bw", WRITES, ("link.forward.corrupt.frames=100",), 100, symptom="slow_in_turn", kind="corrupted", end="cable", request="a.0.8"),
    Planted("unseen", "plain", (), ("link.forward.corrupt_repaired.frames=60",), 60, symptom="check", kind="corrupted", end="cable"),
    Planted("repaired", "write_bw", WRITES, ("link.forward.corrupt_repaired.frames=100",), 100, symptom="terminate", kind="corrupted", end="cable",
            request="a.0.8"),
    Planted("reordered_far", "write_bw", (*WRITES, "rnic.tcp.reorder_segments=4"), ("link.forward.reorder.frames=100", "link.forward.delay.reorder_ns=20000"),
            None, symptom="slow", kind="reordered", end="cable", request="a.0.12"),
    Planted("reordered", "write_bw", WRITES, ("link.forward.reorder.frames=100",), None, symptom="resent", kind="reordered", end="cable", request="a.0.8"),
    Planted("queue", "write_bw", (), ("link.forward.rate.mbps=40000", "link.forward.rate.queue_bytes=65536"), None, symptom="slow", kind="queue_dropped",
            end="cable"),
    Planted("down", "write_bw", WRITES, ("link.forward.down_us=40-45",), None, symptom="slow", kind="lost", end="cable", request="a.0.9"),
    Planted("down_for_good", "write_bw", (), ("link.forward.down_us=300-", "sim.max_time_us=20000"), None, symptom="stalled", kind="lost", end="cable"),
    Planted("path_mtu", "write_bw", WRITES, ("link.forward.mtu.bytes=1000", "link.forward.mtu.at_us=40-"), None, symptom="resent", kind="path_mtu",
            end="setting"),
    Planted("marked", "write_bw", (*WRITES, "rnic.tcp.ecn=true"), ("link.forward.mark.frames=100",), 100, symptom="reduced", kind="ce_marked", end="cable"),
    Planted("ord", "read_bw_ord16", (), ("connections.c0.ord=1",), None, symptom="slow", kind="ord", end="setting", request="a.0.32"),
    Planted("window", "write_bw", WRITES, ("rnic.tcp.window_bytes=8192",), None, symptom="slow_in_turn", kind="window", end="setting"),
    Planted("sctp_window", "sctp_qps16", SHORT_SCTP, ("nodes.b.rnic.sctp.receive_buffer=16384",), None, symptom="slow_in_turn", kind="window", end="setting"),
    Planted("sctp_lost", "sctp_qps16", SHORT_SCTP, ("link.forward.loss.frames=200",), 200, symptom="slow_in_turn", kind="lost", end="cable"),
    Planted("core", "write_bw", ("work.writes.size=4096",), ("nodes.a.host.cpu.post_ns=3000",), None, symptom="slow", kind="core", end="program",
            request="a.0.17"),
    Planted("lost_syn", "write_bw", WRITES, ("link.forward.loss.frames=1",), 1, symptom="slow_setup", kind="lost", end="cable"),
    Planted("firmware", "churn", (), ("nodes.b.rnic.fwcpu.clock_divider=16",), None, symptom="slow_setup", kind="firmware", end="setting"),
    SetUp("firmware_alone", "write_bw", (*WRITES, "nodes.b.rnic.fwcpu.clock_divider=16"), symptom="slow_setup", kind="firmware", end="setting"),
    Spoiled("ended", {"work": [{"name": "reads", "op": "read", "size": 4096, "count": 10}], "inject": [{"work": "reads", "request": 3, "right": "ended"}],
                      "checks": [{"check": "terminate", "sender": "b", "code": "0/1/00"}]}, (1, 4), symptom="terminate", end="program", request="a.0.4"),
    Spoiled("not_posted", {"work": [{"name": "sends", "op": "send", "size": 4096, "count": 10}],
                           "inject": [{"work": "sends", "receive": 3, "posted": False}],
                           "checks": [{"check": "terminate", "sender": "b", "code": "1/2/02"}]}, (0, 5), symptom="terminate", end="program", request="b.rq0.4"),
    Spoiled("fence", {"work": [[{"name": "reads", "op": "read", "size": 16384, "count": 40, "depth": 8},
                                {"name": "sends", "op": "send", "size": 1024, "count": 40, "depth": 8, "fence_every": 4}]]}, (1, 8),
            symptom="slow", kind="fence", end="program", request="a.0.16"),
    Case("tags", "write_bw", (*WRITES, "rnic.pcie.dma_read.max_tags=4"), symptom="slow", kind="tags", end="setting", request="a.0.4"),
    Case("jobs", "write_bw", (*WRITES, "rnic.tx.payload_fetch.jobs=2"), symptom="slow_in_turn", kind="jobs", end="setting", request="a.0.5"),
    Case("memory", "write_bw", (*WRITES, "host.root_complex.memory_read_ns=4000"), symptom="slow", kind="memory", end="setting", request="a.0.4"),
    Case("memory_of_the_peer", "read_bw_ord16", ("nodes.b.host.root_complex.memory_read_ns=4000", "work.reads.count=40", "work.reads.depth=1"),
         symptom="slow_in_turn", kind="memory", end="setting"),
    Case("poll", "write_bw", (*WRITES, "host.cpu.poll_interval_ns=20000"), symptom="slow", kind="poll_interval", end="setting", request="a.0.17"),
    Case("own_queue", "read_bw_ord16", ("work.reads.count=40", "work.reads.depth=16"), symptom="slow_in_turn", kind="own_queue", end="program"),
    Case("other_queue_pairs", "qps16", ("work.writes.size=65536", "work.writes.count=10", "work.sends.count=1"), symptom="slow", kind="other_queue_pairs",
         end="program"),
    FirstAcknowledgement("receive_fetch", SENDS, ("nodes.b.host.root_complex.memory_read_ns=20000",), symptom="slow", kind="memory", end="setting",
                         request="b.0.0"),
    Limit("limit_ord", "read_bw_ord16", ("connections.c0.ord=1",), "ORD"),
    Limit("limit_window", "write_bw", (*WRITES, "rnic.tcp.window_bytes=8192"), "TCP window", slack=2),
    Limit("limit_wide_window", "write_bw", ("work.writes.count=100", "rnic.tcp.window_bytes=16384"), "TCP window", slack=2),
    Limit("limit_tags", "write_bw", (*WRITES, "rnic.pcie.dma_read.max_tags=4"), "PCIe tags"),
    Limit("limit_depth", "write_bw", (*WRITES, "host.root_complex.memory_read_ns=4000"), "requests", end="program"),
    FirstLost("retries", "write_bw", ("link.forward.down_us=300-", "rnic.tcp.max_retries=2"), symptom="connection_lost", kind="lost", end="cable",
              request="a.0.48"),
    Planted("never_again", "write_bw", (*SHORT, "work.writes.size=1024", *PATIENT), ("link.forward.loss.frames=10",), 10, symptom="stalled", kind="lost",
            end="cable"),
    Planted("no_answer", "write_bw", (*SHORT, "work.writes.size=1024", *PATIENT), ("link.reverse.loss.frames=10",), 10, "b", symptom="stalled", kind="lost",
            end="cable", request="a.0.6"),
    Case("not_polled", "write_bw", (*SHORT, "nodes.a.host.cpu.poll_interval_ns=1000000", "sim.max_time_us=1500"), symptom="stalled", kind="not_polled",
         end="program", request="a.0.1"),
    Case("time_was_up", "write_bw", ("sim.max_time_us=100",), symptom="stalled", kind="time", end="setting"),
    Case("cache", "qps16", ("rnic.context.cache.qp.entries=4", "work.writes.size=64", "work.writes.depth=1", "work.sends.count=1"), symptom="slow", kind="cache",
         end="setting"),
    Acknowledged("ack_delay", "write_bw", (*WRITES, "rnic.tcp.ack_delay_ns=50000"), symptom="slow", kind="ack_delay", end="setting", request="a.0.21"),
    LastSegment("mac_rx_datapath", "write_bw", (*WRITES, "nodes.b.rnic.datapath.beat_bytes=16"), 5, symptom="slow", kind="datapath", end="setting",
                request="a.0.4"),
    LastSegment("window_by_mac_rx", "write_bw", ("work.writes.count=60", "nodes.b.rnic.datapath.beat_bytes=16"), 33, symptom="slow", kind="datapath",
                end="setting", request="a.0.32"),
    LastSegment("mac_rx_link", "write_bw", (*WRITES, "nodes.b.rnic.pcie.link.width=4"), 17, symptom="slow_in_turn", kind="pcie_link", end="setting",
                request="a.0.16"),
    LastSegment("mac_rx_credits", "write_bw", (*WRITES, "nodes.b.rnic.pcie.link.host_credits.posted_data=32"), 18, symptom="slow_in_turn",
                kind="posted_credits", end="setting", request="a.0.17"),
]
CONTROLS = [Case("clean", "write_bw", WRITES), Case("duplicated", "write_bw", (*WRITES, "link.forward.duplicate.frames=100"))]


class Runs:
    """Runs scenarios into folders, once each."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def scenario(self, scenario):
        if isinstance(scenario, pathlib.Path):
            return scenario
        if isinstance(scenario, dict):
            file = self.folder / f"scenario{len(list(self.folder.iterdir()))}.json"
            file.write_text(json.dumps(scenario))
            return file
        if scenario != "plain":
            return ROOT / f"traces/{scenario}.json"
        text = json.loads((ROOT / "traces/quickstart.json").read_text())
        text["connections"][0]["crc"] = False
        for node in text["nodes"]:
            node.setdefault("config", {})["rnic.fwcpu.crc"] = False
        return self.scenario(text)

    def __call__(self, scenario, settings, name):
        out = self.folder / name.replace("/", "_")
        words = [word for setting in settings for word in ("--set", setting)]
        run = subprocess.run([self.program, "run", self.scenario(scenario), "--out", out, "--db", out / "run.sqlite", *words], capture_output=True, text=True,
                             check=False)
        if run.returncode not in (0, 1, 3):
            raise AssertionError(run.stderr)
        return out

    def explain(self, out, *options):
        run = subprocess.run([self.program, "explain", out, "--why", *options], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise AssertionError(run.stderr)
        return run.stdout

    def answers(self, out):
        """The objects of --json that are about symptoms."""
        return [answer for answer in map(json.loads, self.explain(out, "--json", "--all").splitlines()) if "symptom" in answer]


def problem(case, frame, answers, text):
    """What an answer lacks; empty: nothing. `answers` are the objects of --json."""
    of_symptom = [answer for answer in answers if answer["symptom"]["kind"] == case.symptom]
    if not of_symptom:
        return f"has no symptom {case.symptom}"
    answer = of_symptom[0]
    cause = answer["cause"]
    if cause is None:
        return f"names no cause of {case.symptom}"
    for what, found, wanted in (("ends at", cause["end"], case.end), ("kind", cause["kind"], case.kind), ("request", answer["symptom"]["request"], case.request),
                                ("frame", cause["frame"], frame)):
        if wanted is not None and found != wanted:
            return f"{what} {found}, not {wanted}"
    if getattr(case, "code", "") not in answer["symptom"]["text"]:
        return f"says {answer['symptom']['text']}, not {case.code}"
    if frame is not None and f"frame {frame}" not in text:
        return f"does not print frame {frame}"
    return ""


def in_view(case, frame, out):
    """The same by one SELECT."""
    with sqlite3.connect(out / "run.sqlite") as database:
        row = database.execute("SELECT symptom, code, frame, request FROM causes ORDER BY event").fetchone()
    if row is None:
        return "the view has no row"
    symptom, code, number, request = row
    if (symptom, number) != (case.symptom, frame) or case.code not in code or (case.request and request != case.request):
        return f"the view has {row}"
    return ""


def check(case, run):
    """Its problems."""
    out = run(case.scenario, case.settings, case.name)
    case.expect(run)
    answers = run.answers(out)
    text = run.explain(out, "--all")
    found = [problem(case, case.frame, answers, text)]
    if isinstance(case, Limit) and not found[0]:
        found.append(case.problem(out, next(answer for answer in answers if answer["symptom"]["kind"] == "throughput")))
    if isinstance(case, Error):
        found.append(in_view(case, case.frame, out))
    if case.frame is not None:
        for shifted in (case.frame - 1, case.frame + 1):
            if not problem(case, shifted, answers, text):
                found.append(f"is as expected with frame {shifted}, too")
    for answer in answers:
        slow = answer["symptom"]["kind"].startswith("slow")
        if slow and sum(wait["ps"] for wait in answer["waits"]) != answer["symptom"]["to"] - answer["symptom"]["from"]:
            found.append(f"the waits of {answer['symptom']['request']} do not add up")
    return [text for text in found if text]


def check_control(case, run):
    answers = run.answers(run(case.scenario, case.settings, case.name))
    # A set-up is work of firmware and programs, with or without a fault.
    return [f"names {answer['cause']['text']}" for answer in answers
            if answer["cause"] is not None and (answer["symptom"]["kind"] != "slow_setup" or answer["cause"]["end"] not in ("setting", "program"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rnicsim", default=ROOT / "build/release/bin/rnicsim", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    failed = checked = 0
    with tempfile.TemporaryDirectory() as folder:
        run = Runs(options.rnicsim.resolve(), pathlib.Path(folder))
        for cases, judge in ((CASES, check), (CONTROLS, check_control)):
            for case in cases:
                if options.names and case.name not in options.names:
                    continue
                checked += 1
                for text in judge(case, run):
                    failed += 1
                    print(f"{case.name}: {text}")
    print(f"{checked} cases, {failed} problems")
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
