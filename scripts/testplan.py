#!/usr/bin/env python3
"""Says which requirements the tests cover.

usage: testplan.py REQUIREMENTS.csv [--plan PLAN.csv] [--build DIR] [--system NAME]... [--list]

REQUIREMENTS.csv has the columns id and system. PLAN.csv (testbench/testplan.csv) has the columns requirements and
tests, each a list separated by spaces, and excluded, the reason why requirements without tests need none. A test is
named as ctest names it; * and ? match as in a shell. DIR is a build directory whose tests are built (build/release).
Prints covered, excluded and open requirements per system, with --list the open ids too. Exit status 0, 1 if the plan
names an unknown requirement or a test that ctest does not have, 2 if a file cannot be read.
"""
import argparse
import collections
import csv
import fnmatch
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def read_rows(path, columns):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    missing = [c for c in columns if rows and c not in rows[0]]
    if not rows or missing:
        raise ValueError(f"{path}: no rows" if not rows else f"{path}: no column {', '.join(missing)}")
    return rows


def ctest_names(build):
    result = subprocess.run(["ctest", "--test-dir", build, "-N"], capture_output=True, text=True, check=False)
    names = re.findall(r"^ *Test +#\d+: (\S+)", result.stdout, re.MULTILINE)
    if result.returncode or not names:
        raise ValueError(f"{build}: ctest lists no tests there")
    return names


def check_plan(plan, systems, names):
    """Returns the covered ids, the excluded ids, and what is wrong with the plan."""
    covered, excluded, mistakes = set(), set(), []
    known = set(names)
    for line, row in enumerate(plan, start=2):
        ids, tests, reason = row["requirements"].split(), row["tests"].split(), (row["excluded"] or "").strip()
        mistakes += [f"line {line}: unknown requirement {i}" for i in ids if i not in systems]
        mistakes += [f"line {line}: no test {t}" for t in tests if t not in known and not fnmatch.filter(names, t)]
        if bool(tests) == bool(reason):
            mistakes.append(f"line {line}: give either tests or the reason of the exclusion")
        (covered if tests else excluded).update(ids)
    return covered, excluded - covered, mistakes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("requirements")
    parser.add_argument("--plan", default=ROOT / "testbench" / "testplan.csv")
    parser.add_argument("--build", default=ROOT / "build" / "release")
    parser.add_argument("--system", action="append", help="only these systems")
    parser.add_argument("--list", action="store_true", help="print the ids that no test covers")
    args = parser.parse_args()
    try:
        systems = {r["id"]: r["system"] for r in read_rows(args.requirements, ["id", "system"])}
        plan = read_rows(args.plan, ["requirements", "tests", "excluded"])
        covered, excluded, mistakes = check_plan(plan, systems, ctest_names(args.build))
    except (OSError, ValueError) as error:
        print(f"testplan: {error}", file=sys.stderr)
        return 2

    by_system = collections.defaultdict(list)
    for requirement, system in systems.items():
        if not args.system or system in args.system:
            by_system[system].append(requirement)
    print(f"{'system':<14} {'covered':>8} {'excluded':>9} {'open':>6} {'all':>6}")
    for system, ids in by_system.items():
        open_ids = [i for i in ids if i not in covered and i not in excluded]
        done, out = sum(i in covered for i in ids), sum(i in excluded for i in ids)
        print(f"{system:<14} {done:>8} {out:>9} {len(open_ids):>6} {len(ids):>6}")
        if args.list:
            print(*(f"  {i}" for i in open_ids), sep="\n")
    for mistake in mistakes:
        print(f"{args.plan}: {mistake}")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
