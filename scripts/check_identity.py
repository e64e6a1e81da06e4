#!/usr/bin/env python3
"""Checks a run's folder: every event of the data path and every TLP has an owner, none comes before its request was posted, the frames
are those that tcp_tx and sctp_tx have counted, and the parts of each request's latency, of receive requests too, sum to the whole, to the picosecond.

usage: scripts/check_identity.py OUT_DIR [--trace FILE]

The run needs --breakdown and --trace OUT_DIR/trace.tsv (or FILE). Exit code 0: all holds; 1: something does not; 2: a file is
missing."""

import argparse
import collections
import csv
import json
import pathlib
import re
import sys

# Events of work requests and of the connections that carry them. The firmware's log has no owner, nor has a register that is no doorbell.
DATA_PATH = {"posted", "doorbell_written", "doorbell", "wqe_fetched", "segmented", "payload_read", "framed", "marked", "fpdu_sent", "frame_sent",
             "retransmitted", "frame_received", "stream_delivered", "fpdu_received", "crc_checked", "placed", "delivered",
             "due", "response", "completed", "cqe_written", "polled", "terminated", "dropped"}
TLPS = {"tlp_read", "tlp_write", "tlp_completion", "tlp_config"}
REGISTERS = pathlib.Path(__file__).resolve().parent.parent / "model/abi/rnic_regs.h"
DOORBELL = re.compile(r"^struct (?:\w+Doorbell|CqArm|EvqCi) \{\n.*kOffset = (0x[0-9a-f]+);", re.MULTILINE)
REQUEST = re.compile(r"^\w+\.(rq|srq)?\d+(#\d+)?\.\d+$")
SEVERAL = re.compile(r"^\w+\.s?rq")  # a completion of a receive queue covers no other
OWNER = re.compile(r"^\w+\.(rq|srq|int|qp|cq|flow|cmd|ev|ctx)?\d+(#\d+)?\.\d+$")


def rows(path):
    with open(path, newline="") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


def sets_up(row, registers, doorbells):
    """Whether a TLP is an access of the host to a register that is no doorbell, or the answer to it."""
    if row["kind"] == "tlp_completion":
        return row["where"] == "pcie.upstream"
    if row["where"] != "pcie.downstream":
        return False
    return int(row["words"].rsplit(" ", 1)[1], 16) - registers[row["node"]] not in doorbells


class Check:
    def __init__(self):
        self.failures = collections.Counter()
        self.examples = {}

    def expect(self, holds, what, example):
        if holds:
            return
        self.failures[what] += 1
        self.examples.setdefault(what, example)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--trace", type=pathlib.Path)
    args = parser.parse_args()
    trace = args.trace or args.folder / "trace.tsv"
    stats, parts = args.folder / "stats.json", args.folder / "breakdown.tsv"
    for path in (trace, stats, parts):
        if not path.is_file():
            print(f"check_identity: {path} is missing; run with --breakdown --trace {trace}", file=sys.stderr)
            return 2

    check = Check()
    facts = json.loads(stats.read_text())
    registers = {node: config["rnic"]["pcie"]["link"]["bar0_address"] for node, config in facts["config"].items()}
    doorbells = {int(offset, 16) for offset in DOORBELL.findall(REGISTERS.read_text())}
    events = owned = tlps = owned_tlps = 0
    posted, polled, lives = {}, {}, collections.defaultdict(int)
    seen = {}  # messages of programs, by the request that sent them
    frames = collections.Counter()  # by node that sent them
    for row in rows(trace):
        request = row["request"]
        if row["kind"] in TLPS:
            tlps += 1
            owned_tlps += bool(request)
            check.expect(OWNER.match(request or "") or sets_up(row, registers, doorbells), "TLPs without an owner", row)
            check.expect(not REQUEST.match(request or "") or request in posted, "TLPs of a request that nobody has posted", row)
        if row["kind"] == "seen":
            seen[request] = int(row["time_ps"])
        if row["kind"] not in DATA_PATH:
            continue
        events += 1
        owned += bool(request)
        check.expect(OWNER.match(request or ""), "events without an owner", row)
        time = int(row["time_ps"])
        if row["kind"] == "posted":
            check.expect(request not in posted, "requests posted twice under one id", row)
            posted[request] = time
        elif row["kind"] == "polled":
            polled[request] = time
        elif row["kind"] in ("frame_sent", "retransmitted"):
            frames[row["node"]] += 1
        if REQUEST.match(request or "") and row["kind"] != "posted":
            check.expect(request in posted, "events of a request that nobody has posted", row)
            check.expect(time >= posted.get(request, 0), "events before their request was posted", row)
            lives[request] += 1

    counted = facts["stats"]
    for node, sent in frames.items() if "warmup_ps" not in facts else ():  # after it they count from 0 again
        chip = counted[node]["rnic"]
        number = sum(chip[stage][figure]["value"] for stage, figure in (("tcp_tx", "segments"), ("sctp_tx", "packets")) if stage in chip)
        check.expect(number == sent, "nodes whose frames are not what tcp_tx and sctp_tx have counted", {node: (sent, number)})

    # An unsignaled request ends with the next completion of its queue.
    ends = dict(polled)
    for request in sorted(posted, key=lambda r: int(r.rsplit(".", 1)[1]), reverse=True):
        queue, number = request.rsplit(".", 1)
        covering = ends.get(f"{queue}.{int(number) + 1}")
        if request not in ends and covering is not None and not SEVERAL.match(request):
            ends[request] = covering

    broken_down = 0
    for row in rows(parts):
        durations = [int(part.rsplit("=", 1)[1]) for part in row["parts"].split(";") if part]
        total, request = int(row["total_ps"]), row["request"]
        check.expect(sum(durations) == total, "requests whose parts do not sum to the whole", row)
        if row["operation"] == "one way":
            check.expect(seen.get(request, 0) - posted[request] == total, "messages whose whole is not the time until they were seen", row)
        if row["operation"] in ("one way", "half a round trip"):
            continue
        broken_down += 1
        check.expect(request in posted and request in ends and ends[request] - posted[request] == total,
                     "requests whose whole is not the time from post to poll", row)
    check.expect(broken_down == len(ends), "runs with completions that were not broken down",
                 {"broken down": broken_down, "polled or covered": len(ends)})

    print(f"{events} events of the data path, {owned} owned; {tlps} TLPs, {owned_tlps} owned; {len(posted)} requests posted, {len(polled)} polled, "
          f"{broken_down} broken down; frames {dict(frames)}")
    for what, count in check.failures.items():
        print(f"{count} {what}, such as {dict(check.examples[what])}")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
