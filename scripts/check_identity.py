#!/usr/bin/env python3
"""Checks a run's folder: every event of the data path has an owner, a request passes its stations in order, its frames are
those that tcp_tx has counted, and the parts of its latency sum to the whole, to the picosecond.

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

# Events of work requests and of the connections that carry them. The firmware's log has no owner.
DATA_PATH = {"posted", "doorbell_written", "doorbell", "wqe_fetched", "segmented", "payload_read", "passed", "fpdu_sent", "frame_sent",
             "retransmitted", "frame_received", "stream_delivered", "fpdu_received", "crc_checked", "placed", "delivered",
             "response", "completed", "cqe_written", "polled", "terminated", "dropped"}
REQUEST = re.compile(r"^\w+\.\d+(#\d+)?\.\d+$")
OWNER = re.compile(r"^\w+\.(rq|srq|int|qp|cq|flow|cmd|ev)?\d+(#\d+)?\.\d+$")


def rows(path):
    with open(path, newline="") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


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
    events = owned = 0
    posted, polled, lives = {}, {}, collections.defaultdict(int)
    frames = collections.Counter()  # by node that sent them
    for row in rows(trace):
        if row["kind"] not in DATA_PATH:
            continue
        events += 1
        request = row["request"]
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

    counted = json.loads(stats.read_text())["stats"]
    for node, sent in frames.items():
        number = counted[node]["rnic"]["tcp_tx"]["segments"]["value"]
        check.expect(number == sent, "nodes whose frames are not what tcp_tx has counted", {node: (sent, number)})

    broken_down = 0
    for row in rows(parts):
        broken_down += 1
        durations = [int(part.rsplit("=", 1)[1]) for part in row["parts"].split(";") if part]
        total, request = int(row["total_ps"]), row["request"]
        check.expect(sum(durations) == total, "requests whose parts do not sum to the whole", row)
        check.expect(request in posted and request in polled and polled[request] - posted[request] == total,
                     "requests whose whole is not the time from post to poll", row)
    completed = [r for r in polled if REQUEST.match(r)]
    check.expect(broken_down == len(completed), "runs with completions that were not broken down",
                 {"broken down": broken_down, "polled": len(completed)})

    print(f"{events} events of the data path, {owned} owned; {len(posted)} requests posted, {len(polled)} polled, "
          f"{broken_down} broken down; frames {dict(frames)}")
    for what, count in check.failures.items():
        print(f"{count} {what}, such as {dict(check.examples[what])}")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
