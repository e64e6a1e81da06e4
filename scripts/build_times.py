#!/usr/bin/env python3
"""Says where the time of builds and tests goes.

usage: build_times.py [--headers N] [BUILD...]

For each build folder (build/release and build/dev unless given): seconds of compiling by folder of the tree, of
precompiling headers, Verilator and linking, as ninja logged them; the N headers of the project whose change costs most
to compile again; and tests by label, with what starting a process of tests takes. Before them, what configuring takes, and
what a source pays for each header from outside that is not precompiled. Seconds are the commands' own, so on two processors
the clock shows about half of their sum.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTSIDE = ("systemc", "tlm", "gmock/gmock.h", "nlohmann/json.hpp", "fmt/format.h", "benchmark/benchmark.h")
FLAGS = {"release": ["-O3"], "dev": ["-Og", "-g1", "-fsanitize=address,undefined"]}


def elapsed(*command):
    """Seconds of a command; nothing where it fails."""
    begin = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - begin if done.returncode == 0 else None


def logged(build):
    """Seconds of each command of the last build, by its first output."""
    commands = {}
    for line in (build / ".ninja_log").read_text().splitlines():
        fields = line.split("\t")
        if len(fields) == 5:
            begin, end, _, output, mark = fields
            commands[output] = ((int(end) - int(begin)) / 1000, begin, mark)
    seen, seconds = set(), {}
    for output, (duration, begin, mark) in commands.items():
        if (begin, mark) not in seen and (build / output).exists():  # one command may have several outputs
            seen.add((begin, mark))
            seconds[output] = duration
    return seconds


def part_of(output):
    if output.endswith(".gch"):
        return "precompiled headers"
    if "__ALL.cpp.o" in output or "verilated" in output and output.endswith(".o") and "share/verilator" in output:
        return "Verilated blocks, compiling"
    if output.endswith("__ALL.cpp"):
        return "Verilator"
    if not output.endswith(".o"):
        return "linking and the rest"
    folders = output.split("CMakeFiles")[0].strip("/").split("/")
    return "/".join(folders[:2]) or "."


def dependents(build, seconds):
    """What compiles again when a header of the project changes: how many sources, how many seconds."""
    listing = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True).stdout
    count, cost, output = collections.Counter(), collections.Counter(), None
    for line in listing.splitlines():
        if line and not line.startswith(" "):
            output = line.split(":")[0]
        elif line.strip().startswith(str(ROOT)) and line.endswith(".h"):
            header = str(pathlib.Path(line.strip()).relative_to(ROOT))
            if not header.startswith("build/"):
                count[header] += 1
                cost[header] += seconds.get(output, 0)
    return count, cost


def tests(build):
    """Number and seconds of the tests of ctest's last run, by label."""
    count, seconds = collections.Counter(), collections.Counter()
    report = build / "tests.xml"
    if not report.exists():
        return count, seconds
    known = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], capture_output=True, text=True, check=True)
    labels = {t["name"]: p["value"][0] for t in json.loads(known.stdout)["tests"]
              for p in t["properties"] if p["name"] == "LABELS"}
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        label = labels.get(case.get("name"), "none")
        count[label] += 1
        seconds[label] += float(case.get("time") or 0)
    return count, seconds


def start_up(build):
    """Seconds that a program of tests takes to start, without a test."""
    program = build / "bin" / "atomic_system_test"
    return elapsed(program, "--gtest_list_tests") if program.exists() else None


def before_anything_is_compiled():
    with tempfile.TemporaryDirectory() as folder:
        configuring = elapsed("cmake", "-S", ROOT, "-B", f"{folder}/build", "-G", "Ninja", "-D", "CMAKE_BUILD_TYPE=Release")
        print(f"configuring: {configuring:.1f} s" if configuring else "configuring: failed")
        empty = pathlib.Path(folder) / "empty.cpp"
        empty.write_text("")
        print(f"\n{'a header from outside, seconds':<40}" + "".join(f"{preset:>10}" for preset in FLAGS))
        for header in OUTSIDE:
            seconds = [elapsed("g++", "-std=c++17", *flags, "-include", header, "-c", empty, "-o", f"{folder}/empty.o")
                       for flags in FLAGS.values()]
            print(f"{header:<40}" + "".join("   missing" if s is None else f"{s:>10.2f}" for s in seconds))
    print()


def rows(title, count, seconds, limit=None):
    print(f"\n{title:<56}{'number':>8}{'seconds':>10}")
    for name, value in seconds.most_common(limit):
        print(f"{name:<56}{count[name]:>8}{value:>10.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headers", type=int, default=12, metavar="N", help="how many headers to list")
    parser.add_argument("build", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    builds = args.build or [b for b in (ROOT / "build/release", ROOT / "build/dev") if b.exists()]
    if not builds:
        print("build_times: there is no build; run scripts/build.sh", file=sys.stderr)
        return 2
    before_anything_is_compiled()
    for build in builds:
        if not (build / ".ninja_log").exists():
            print(f"build_times: {build} is no build of ninja's", file=sys.stderr)
            return 2
        seconds = logged(build)
        count, parts = collections.Counter(), collections.Counter()
        for output, duration in seconds.items():
            count[part_of(output)] += 1
            parts[part_of(output)] += duration
        print(f"== {build}: {sum(parts.values()):.0f} s in {sum(count.values())} commands")
        rows("building", count, parts)
        rows("headers by what their change compiles again", *dependents(build, seconds), limit=args.headers)
        rows("tests by label", *tests(build))
        start = start_up(build)
        if start is not None:
            print(f"\nstarting a process of tests takes {start * 1000:.0f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
