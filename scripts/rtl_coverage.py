#!/usr/bin/env python3
"""Says what tests reach in the RTL: merges the files that Verilated blocks have written, and has genhtml write the report.

rtl_coverage.py FOLDER REPORT   the folder of the .dat files, and the one for the report

Lines and branches are those that Verilator counts; a line that several statements share is reached when all of them are.
(`verilator_coverage --write-info` of Verilator 5.006 adds their counts, so that one of them is enough: the tracefile for
genhtml is written here.) In the report functional points stand where a program has functions, and excluded lines have no count.
A point `Name_C : cover` in a module is a functional one, and testbench/testplan.csv names each, as module.Name_C. The same point of
several instances is one. rtl-stubs/coverage_exclusions.csv says what need not be reached, and why.
Exit status 0; 1 where a module has less than 98 % of its lines, a functional point is not reached or not in the plan, or
an exclusion is of no use; 2 if a file cannot be read or the report not be written.
"""
import argparse
import collections
import csv
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RTL = ROOT / "rtl-stubs"
EXCLUSIONS = RTL / "coverage_exclusions.csv"
PLAN = ROOT / "testbench" / "testplan.csv"
TARGET = 98  # percent of the lines

class Module:
    """What was reached in one source file."""

    def __init__(self, path):
        self.path = path
        self.text = path.read_text(encoding="utf-8").splitlines()
        self.lines = {}                  # by number: how often, at least
        self.points = {}                 # functional points by name
        self.places = {}                 # and their lines
        self.branches = []               # line, and how often
        self.toggles = []
        self.excluded = {}               # by line: the reason

    @staticmethod
    def counts(values):
        return sum(1 for v in values if v), len(values)

    def branch_counts(self):
        return self.counts([count for _, count in self.branches])

    def line_counts(self):
        return self.counts([n for line, n in self.lines.items() if line not in self.excluded])


def percent(hit, all_):
    return 100.0 * hit / all_ if all_ else 100.0


def read_points(folder):
    """How often each point was reached, over all files and instances. A key is file, kind, line, column, name, lines."""
    points = collections.Counter()
    for path in sorted(folder.glob("*.dat")):
        with open(path, encoding="latin-1") as file:
            for line in file:
                if not line.startswith("C '"):
                    continue
                text, _, count = line[3:].rpartition("' ")
                field = dict(part.split("\x02", 1) for part in text.split("\x01")[1:])
                kind = field["page"].partition("/")[0]
                points[field["f"], kind, int(field["l"]), field["n"], field["o"], field.get("S", "")] += int(count)
    return points


def spans(text):
    """The numbers in '2-3,9'."""
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def collect(points):
    """Modules of rtl-stubs/rtl by name."""
    modules = {}
    for (file, kind, at, _, name, lines), count in sorted(points.items()):
        path = pathlib.Path(file)
        if path.parent.name != "rtl" or path.parent.parent.name != RTL.name:
            continue
        module = modules.setdefault(path.stem, Module(RTL / "rtl" / path.name))
        if kind == "v_toggle":
            module.toggles.append(count)
        elif kind == "v_user":
            module.points[name] = module.points.get(name, 0) + count
            module.places[name] = at
        else:
            if kind == "v_branch":
                module.branches.append((at, count))
            for line in spans(lines):
                module.lines[line] = min(module.lines.get(line, count), count)
    return modules


def exclude(modules):
    """Marks what the file of exclusions names; returns what is wrong with it."""
    with open(EXCLUSIONS, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        module = modules.get(row["module"])
        found = [] if module is None else [
            n for n, text in enumerate(module.text, start=1) if text.strip() == row["line"] and module.lines.get(n) == 0]
        for n in found:
            module.excluded[n] = row["reason"]
        if not found or not row["reason"]:
            yield f"{EXCLUSIONS.name}: of no use: {row['module']}: {row['line']}"


def planned():
    with open(PLAN, newline="", encoding="utf-8") as file:
        return {point for row in csv.DictReader(file) for point in (row.get("covers") or "").split()}


def judge(modules):
    """What is missing, a line each."""
    points = {f"{name}.{point}": count for name, m in modules.items() for point, count in m.points.items()}
    for name, module in modules.items():
        hit, all_ = module.line_counts()
        if percent(hit, all_) < TARGET:
            missed = [n for n, count in module.lines.items() if not count and n not in module.excluded]
            yield f"{name}: {hit} of {all_} lines; not {', '.join(map(str, missed))}"
    yield from (f"{point} is not reached" for point, count in points.items() if not count)
    plan = planned()
    yield from (f"{point} is not in {PLAN.name}" for point in sorted(points.keys() - plan))
    yield from (f"{PLAN.name} names {point}, which no module has" for point in sorted(plan - points.keys()))
    unseen = {p.stem for p in RTL.glob("rtl/*.sv") if re.search(r"always_|assign", p.read_text(encoding="utf-8"))}
    yield from (f"{name}: no test runs it" for name in sorted(unseen - modules.keys()))


def table(modules):
    """Figures by module: names of columns, then rows."""
    yield "module", "lines", "%", "excluded", "branches", "%", "toggles", "%", "points"
    for name, m in modules.items():
        row = [name]
        for hit, all_ in (m.line_counts(), m.branch_counts(), m.counts(m.toggles)):
            row += [f"{hit}/{all_}", f"{percent(hit, all_):.1f}"]
            if len(row) == 3:
                row.append(str(len(m.excluded)))
        yield *row, "{}/{}".format(*m.counts(list(m.points.values())))


def tracefile(modules):
    """The modules as lcov describes programs (geninfo(1), FILES)."""
    for m in modules.values():
        yield f"SF:{m.path}"
        yield from (f"FN:{m.places[name]},{name}" for name in m.points)
        yield from (f"FNDA:{count},{name}" for name, count in m.points.items())
        yield from (f"BRDA:{line},0,{n},{count}" for n, (line, count) in enumerate(m.branches))
        yield from (f"DA:{line},{count}" for line, count in sorted(m.lines.items()) if line not in m.excluded)
        yield "end_of_record"


def write_report(modules, report):
    report.mkdir(parents=True, exist_ok=True)
    info = report / "rtl.info"
    info.write_text("\n".join(tracefile(modules)) + "\n", encoding="utf-8")
    subprocess.run(["genhtml", "--quiet", "--branch-coverage", "--title", "RTL coverage", "--prefix", RTL,
                    "--output-directory", report, info], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("report", type=pathlib.Path)
    args = parser.parse_args()
    try:
        points = read_points(args.folder)
        if not points:
            raise ValueError(f"{args.folder}: no files of coverage")
        modules = dict(sorted(collect(points).items()))
        problems = [*exclude(modules), *judge(modules)]
        write_report(modules, args.report)
    except (OSError, ValueError, KeyError, subprocess.CalledProcessError) as error:
        print(f"rtl_coverage: {error}", file=sys.stderr)
        return 2
    for row in table(modules):
        print(f"{row[0]:<18}" + "".join(f"{cell:>12}" for cell in row[1:]))
    print(*problems, f"report: {args.report / 'index.html'}", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
