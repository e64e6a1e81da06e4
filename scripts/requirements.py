#!/usr/bin/env python3
"""Says which requirements of the source documents the tests verify, by the results of their last run.

usage: requirements.py [--system NAME]... [--open] [--tied] [--results PATH...] [--record]
       requirements.py --names

testbench/requirements.csv has a row for each requirement: id, system, level (MUST, SHOULD, MAY, INFO), text and how to
verify it. testbench/testplan.csv ties them to tests: its columns requirements and tests are lists separated by spaces.
testbench/requirements_excluded.csv lists those that need no test, each with a kind of KINDS and the reason; a MUST has to be
of one of MUST_KINDS, and none may be there that tests verify or have verified. A test is named as ctest names it; * and ? match as in a
shell. The column covers names functional points of the RTL that the row's tests have to reach, which
scripts/rtl_coverage.py looks after; such a row needs no requirement. A requirement is covered when all tests tied to
it have passed in the runs that --results names: JUnit reports, or build folders, whose tests.xml and results/*.xml are
read (build/dev and build/release, where scripts/test.sh leaves them). As scripts/test.sh gives those of its default
run, no requirement can hang on a test of scripts/test.sh --all alone. --open prints the requirements that are neither
covered nor excluded, --tied the others with the tests that they are tied to. testbench/requirements_covered.txt lists
the MUSTs that were covered before; --record brings it up to date. --names needs no run: it only looks whether the tests
of GoogleTest that the plan names stand in the sources of testbench/.
Exit status 0; 1 if the plan names an unknown requirement or a test that was not run, if an exclusion is not as it has to be, or
if a MUST that was covered no longer is; 2 if a file cannot be read.
"""
import argparse
import collections
import csv
import fnmatch
import pathlib
import re
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
MATRIX = ROOT / "testbench" / "requirements.csv"
PLAN = ROOT / "testbench" / "testplan.csv"
EXCLUDED = ROOT / "testbench" / "requirements_excluded.csv"
RECORD = ROOT / "testbench" / "requirements_covered.txt"
KINDS = {
    "unobservable": "not observable by a peer, a host or on the wire",
    "impossible": "nothing that could break it exists",
    "permission": "it allows and forbids nothing",
    "choice": "a MAY that is not taken",
    "unused": "for others to use, and not used",
    "user": "it is the device's user who is to do it",
}
MUST_KINDS = ("unobservable", "impossible")
LEVELS = ("MUST", "SHOULD", "MAY", "INFO")
TEST = re.compile(r"^\s*TEST(_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)


def read_rows(path, columns):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    missing = [c for c in columns if rows and c not in rows[0]]
    if not rows or missing:
        raise ValueError(f"{path}: no rows" if not rows else f"{path}: no column {', '.join(missing)}")
    return rows


def reports_in(path):
    return [path / "tests.xml", *sorted((path / "results").glob("*.xml"))] if path.is_dir() else [path]


def name_of(case):
    """As the plan has it. gtest's own reports keep a test's suite apart; ctest's and forked_tests.cpp's do not."""
    return f'{case.get("classname")}.{case.get("name")}' if case.get("result") else case.get("name")


def read_results(paths):
    """Whether each test passed, by name: it ran at least once and never failed."""
    passed = {}
    for path in (report for folder in paths for report in reports_in(folder)):
        try:
            suite = xml.etree.ElementTree.parse(path).getroot()
        except FileNotFoundError as error:
            raise ValueError(f"{path}: no results; run scripts/test.sh") from error
        except xml.etree.ElementTree.ParseError as error:
            raise ValueError(f"{path}: {error}") from error
        for case in suite.iter("testcase"):
            name = name_of(case)
            if case.get("status") == "fail" or case.find("failure") is not None:
                passed[name] = False
            elif case.get("status") == "run":
                passed[name] = passed.get(name) is not False
            else:
                passed.setdefault(name, None)  # skipped, unless another run has it
    return {name: bool(value) for name, value in passed.items()}


def check_plan(plan, known, results):
    """Returns the covered ids, and what is wrong with the plan."""
    covered, failing, mistakes = set(), set(), []
    for line, row in enumerate(plan, start=2):
        ids, tests = row["requirements"].split(), row["tests"].split()
        mistakes += [f"line {line}: unknown requirement {i}" for i in ids if i not in known]
        if not tests:
            mistakes.append(f"line {line}: no tests")
        for test in tests:
            names = [test] if test in results else fnmatch.filter(results, test)
            if not names:
                mistakes.append(f"line {line}: no test {test}")
            if not names or not all(results[n] for n in names):
                failing.update(ids)
        covered.update(ids)
    return covered - failing, mistakes


def check_names(plan, tests):
    """What the plan calls tests of GoogleTest and is none. `tests`: (suite, name, whether it has parameters)."""
    plain = [f"{suite}.{name}" for suite, name, has_parameters in tests if not has_parameters]
    with_parameters = [f"{suite}.{name}" for suite, name, has_parameters in tests if has_parameters]
    for line, row in enumerate(plan, start=2):
        for test in row["tests"].split():
            suite, dot, name = test.partition(".")
            instance = f"{suite.rpartition('/')[2]}.{name.partition('/')[0]}"  # Prefix/Suite.Name/parameter
            if dot and not fnmatch.filter(plain, test) and not fnmatch.filter(with_parameters, instance):
                yield f"line {line}: no test {test}"


def tests_in(folder):
    return [(suite, name, kind == "_P") for path in sorted(folder.rglob("*.cpp"))
            for kind, suite, name in TEST.findall(path.read_text(encoding="utf-8"))]


def check_exclusions(rows, levels, tied):
    """Returns the excluded ids, and what is wrong with them. `tied`: what tests verify, or have verified."""
    excluded, mistakes = set(), []
    for line, row in enumerate(rows, start=2):
        name, kind = row["requirement"], row["kind"]
        if name not in levels:
            mistakes.append(f"line {line}: unknown requirement {name}")
        if kind not in KINDS:
            mistakes.append(f"line {line}: unknown kind {kind}; it is one of {', '.join(KINDS)}")
        elif levels.get(name) == "MUST" and kind not in MUST_KINDS:
            mistakes.append(f"line {line}: {name} is a MUST, and {kind} does not excuse it")
        if not row["reason"].strip():
            mistakes.append(f"line {line}: no reason")
        if name in excluded:
            mistakes.append(f"line {line}: {name} a second time")
        if name in tied:
            mistakes.append(f"line {line}: {name} has tests, or had")
        excluded.add(name)
    return excluded, mistakes


def table(matrix, covered, excluded):
    """Rows of text: per system and level, how many requirements are covered, excluded, open."""
    count = collections.Counter()
    for r in matrix:
        state = "covered" if r["id"] in covered else "excluded" if r["id"] in excluded else "open"
        count[r["system"], r["level"], state] += 1
    yield f"{'system':<14}{'level':<8}{'covered':>8}{'excluded':>10}{'open':>6}{'all':>6}"
    for system in dict.fromkeys(r["system"] for r in matrix):
        for level in LEVELS:
            states = [count[system, level, s] for s in ("covered", "excluded", "open")]
            if sum(states):
                yield f"{system:<14}{level:<8}{states[0]:>8}{states[1]:>10}{states[2]:>6}{sum(states):>6}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--system", action="append", help="only these systems")
    parser.add_argument("--open", action="store_true", help="print the requirements that are not covered")
    parser.add_argument("--tied", action="store_true", help="print the requirements and the tests that verify them")
    parser.add_argument("--results", nargs="+", type=pathlib.Path,
                        default=[ROOT / "build" / "dev", ROOT / "build" / "release"], help="reports or build folders")
    parser.add_argument("--record", action="store_true", help="write the MUSTs that are covered now to the record")
    parser.add_argument("--names", action="store_true", help="only look whether the tests that the plan names exist")
    args = parser.parse_args()
    try:
        if args.names:
            mistakes = list(check_names(read_rows(PLAN, ["requirements", "tests"]), tests_in(PLAN.parent)))
            for mistake in mistakes:
                print(f"{PLAN.relative_to(ROOT)}: {mistake}")
            return 1 if mistakes else 0
        matrix = read_rows(MATRIX, ["id", "system", "level", "requirement"])
        levels = {r["id"]: r["level"] for r in matrix}
        plan = read_rows(PLAN, ["requirements", "tests"])
        covered, mistakes = check_plan(plan, levels, read_results(args.results))
        before = set() if args.record else set(RECORD.read_text(encoding="utf-8").split())
        tied = before.union(*(row["requirements"].split() for row in plan))
        excluded, wrong = check_exclusions(read_rows(EXCLUDED, ["requirement", "kind", "reason"]), levels, tied)
    except (OSError, ValueError) as error:
        print(f"requirements: {error}", file=sys.stderr)
        return 2

    shown = [r for r in matrix if not args.system or r["system"] in args.system]
    print(*table(shown, covered, excluded), sep="\n")
    if args.open:
        for r in shown:
            if r["id"] not in covered and r["id"] not in excluded:
                print(f"{r['id']} {r['level']}: {r['requirement']}")
    if args.tied:
        for r in shown:
            tests = [row["tests"] for row in plan if r["id"] in row["requirements"].split() and row["tests"]]
            if tests:
                print(r["id"], *tests)
    if args.record:
        musts = [r["id"] for r in matrix if r["level"] == "MUST" and r["id"] in covered]
        RECORD.write_text("".join(f"{i}\n" for i in musts), encoding="utf-8")
    lost = sorted(before - covered)
    for path, complaints in ((PLAN, mistakes), (EXCLUDED, wrong)):
        for complaint in complaints:
            print(f"{path.relative_to(ROOT)}: {complaint}")
    for requirement in lost:
        print(f"{requirement}: was covered and no longer is")
    return 1 if mistakes or wrong or lost else 0


if __name__ == "__main__":
    sys.exit(main())
