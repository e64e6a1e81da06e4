#!/usr/bin/env python3
"""Says what an FPDU and a small message cost, by block, in instructions; which are the same on every machine.

usage: profile.py [--program PATH] [--check | --write] [--functions N] [WORKLOAD...]

Runs each workload twice under valgrind's callgrind, with few messages and with more, and prints the difference per FPDU or
message: what setting up costs is not in it. A block is the header that declares a class; the instructions of the standard library,
of the C library and of other functions without a class are their callers'. --functions N prints the N most expensive functions
instead. --write makes testbench/perf/profile.json of the figures, --check compares with it. Exit status 0; 1 where a workload or
one of its larger blocks has become more than 3 % more expensive than that file says; 2 where something cannot be run.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDED = ROOT / "testbench/perf/profile.json"
TOLERANCE = 1.03
LARGE = 0.02  # of a workload: smaller blocks are not compared

# Operation, octets, queue depth, MTU, transport, how often in the two runs, and what is counted.
WORKLOADS = {
    "write_1500": ("write", 65536, 32, 1500, "tcp", (40, 120), "fpdus"),
    "write_9000": ("write", 65536, 32, 9000, "tcp", (40, 200), "fpdus"),
    "write_1500_sctp": ("write", 65536, 32, 1500, "sctp", (40, 120), "fpdus"),
    "write_8": ("write", 8, 32, 1500, "tcp", (500, 3500), "messages"),
    "send_8": ("send", 8, 32, 1500, "tcp", (500, 3500), "messages"),
}
KERNEL, OTHER = "SystemC kernel", "other"


def scenario(op, size, depth, mtu, transport, count):
    connection = {"name": "c", "from": "a", "to": "b", "port": 41000, "ird": 16, "ord": 16}
    if transport == "tcp":
        connection.update(mpa_revision=2, markers=True, crc=True)
    return {
        "name": "profile", "seed": 1, "transport": transport, "config": {"rnic.tcp.mtu": mtu},
        "nodes": [{"name": "a", "ip": "10.0.0.1", "mac": "02:00:00:00:00:01"},
                  {"name": "b", "ip": "10.0.0.2", "mac": "02:00:00:00:00:02"}],
        "connections": [connection],
        "work": [{"name": "work", "op": op, "size": size, "count": count, "depth": depth}],
        "checks": [{"check": "data"}],
    }


class Profile:
    """Of a file of callgrind's: self[function] and calls[caller, callee], in instructions."""

    COST = re.compile(r"[-+*\d]\S* (\d+)$")
    NAME = re.compile(r"(c?fn)=\((\d+)\)(?: (.*))?$")

    def __init__(self, path):
        self.self_cost, self.calls = collections.Counter(), collections.Counter()
        names, function, callee, of_call = {}, None, None, False
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if named := self.NAME.match(line):
                    kind, number, name = named.groups()
                    if name:
                        names[number] = name
                    if kind == "fn":
                        function = names[number]
                    else:
                        callee = names[number]
                elif line.startswith("calls="):
                    of_call = True
                elif cost := self.COST.match(line):
                    if of_call:
                        self.calls[function, callee] += int(cost[1])
                    else:
                        self.self_cost[function] += int(cost[1])
                    of_call = False

    def minus(self, other):
        self.self_cost.subtract(other.self_cost)
        self.calls.subtract(other.calls)
        return self


def classes():
    """{class: block}; a name that two headers declare belongs to neither."""
    found = {}
    for header in sorted((ROOT / "model").rglob("*.h")):
        block = str(header.relative_to(ROOT / "model").with_suffix(""))
        for name in re.findall(r"^(?:class|struct)(?: \[\[\w+\]\])? (\w+)[^;]*$", header.read_text(), re.M):
            found[name] = block if found.get(name, block) == block else None
    return {name: block for name, block in found.items() if block}


class Blocks:
    """The block of a function; None: its caller's."""

    def __init__(self):
        self.classes = classes()

    def of(self, function):
        if function.startswith("sc_core::") or function.startswith("tlm"):
            return KERNEL
        if function.startswith("std::") or "rnic::" not in function:
            return None
        # The class that a lambda of a shared function is in, and otherwise the one that the function is of.
        scopes = re.findall(r"(\w+)::\w+\([^()]*\)(?: const)?::\{lambda", function)
        plain = re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", function.split("(")[0])))
        for name in scopes + re.findall(r"\w+", plain)[::-1]:
            if name in self.classes:
                return self.classes[name]
        return None


def by_block(profile, blocks):
    """Instructions by block. What belongs to a caller is shared among the callers as the calls cost."""
    total, moved = collections.Counter(), collections.Counter(profile.self_cost)
    callers = collections.defaultdict(list)
    for (caller, callee), cost in profile.calls.items():
        if cost > 0 and caller != callee:
            callers[callee].append((caller, cost))
    for _ in range(50):
        waiting, moved = moved, collections.Counter()
        for function, cost in waiting.items():
            block = blocks.of(function)
            if block is not None or not callers[function]:
                total[block or OTHER] += cost
                continue
            whole = sum(c for _, c in callers[function])
            for caller, share in callers[function]:
                moved[caller] += cost * share / whole
    total[OTHER] += sum(moved.values())
    return total


def run(program, folder, name, count):
    """Callgrind's file, and how many FPDUs were sent."""
    op, size, depth, mtu, transport, _, _ = WORKLOADS[name]
    out = f"{name}.{count}"
    (folder / f"{out}.json").write_text(json.dumps(scenario(op, size, depth, mtu, transport, count)))
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}.callgrind", program, "run", f"{out}.json", "--out", out,
               "--no-capture"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"profile: {name}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    stats = json.loads((folder / out / "stats.json").read_text())["stats"]["a"]["rnic"]
    sent = stats["sctp_association"]["messages"] if transport == "sctp" else stats["mpa_framer"]["fpdus"]
    return folder / f"{out}.callgrind", sent["value"]


def measure(program, names):
    """{workload: (profile of the difference, how many FPDUs or messages it is of)}."""
    measured = {}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = {(name, n): pool.submit(run, program, pathlib.Path(folder), name, n) for name in names for n in WORKLOADS[name][5]}
        for name in names:
            few, many = WORKLOADS[name][5]
            (few_file, few_sent), (many_file, many_sent) = runs[name, few].result(), runs[name, many].result()
            of = many_sent - few_sent if WORKLOADS[name][6] == "fpdus" else many - few
            measured[name] = Profile(many_file).minus(Profile(few_file)), of
    return measured


def shown(costs, limit=None):
    whole = sum(costs.values())
    for name, cost in sorted(costs.items(), key=lambda item: -item[1])[:limit]:
        if cost >= whole / 200:
            print(f"{cost:9.0f} {100 * cost / whole:5.1f} %  {name[:110]}")


def dearer(name, figures, recorded):
    """What has become more expensive by more than TOLERANCE."""
    before = recorded.get(name)
    if before is None:
        return [f"{name} is not in {RECORDED.relative_to(ROOT)}"]
    found = []
    for block, cost in figures.items():
        old = before.get(block, 0)
        large = block == "all" or cost > LARGE * figures["all"]
        if large and cost > TOLERANCE * old:
            found.append(f"{name}: {block}: {old} to {cost} instructions")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(WORKLOADS))
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/rnicsim")
    parser.add_argument("--functions", type=int, metavar="N")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    for name in options.workloads:
        if name not in WORKLOADS:
            parser.error(f"there is no workload {name}; there are {', '.join(WORKLOADS)}")
    if not options.program.exists():
        parser.error(f"{options.program} is not built")
    names = options.workloads or list(WORKLOADS)
    blocks, complaints = Blocks(), []
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    for name, (profile, of) in measure(options.program.resolve(), names).items():
        unit = "FPDU" if WORKLOADS[name][6] == "fpdus" else "message"
        costs = {block: cost / of for block, cost in by_block(profile, blocks).items()}
        print(f"{name}: {sum(costs.values()):.0f} instructions per {unit}")
        if options.functions:
            shown({function: cost / of for function, cost in profile.self_cost.items()}, options.functions)
        else:
            shown(costs)
        figures = {block: round(cost) for block, cost in sorted(costs.items()) if cost >= 1}
        figures = {"all": round(sum(costs.values())), **figures}
        if options.check:
            complaints += dearer(name, figures, recorded)
        recorded[name] = figures
    if options.write:
        RECORDED.write_text(json.dumps(recorded, indent=1) + "\n")
    for text in complaints:
        print(f"profile: {text}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
