#!/usr/bin/env python3
"""Says what tests reach in the RTL: merges the files that Verilated blocks have written, and writes a report as HTML.

rtl_coverage.py FOLDER REPORT   the folder of the .dat files, and the one for the report

Lines and branches are those that Verilator counts; a line that several statements share is reached when all of them are.
A point `Name_C : cover` in a module is a functional one, and testbench/testplan.csv names each, as module.Name_C. The same point of
several instances is one. rtl-stubs/coverage_exclusions.csv says what need not be reached, and why.
Exit status 0; 1 where a module has less than 98 % of its lines, a functional point is not reached or not in the plan, or
an exclusion is of no use; 2 if a file cannot be read.
"""
import argparse
import collections
import csv
import html
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RTL = ROOT / "rtl-stubs"
EXCLUSIONS = RTL / "coverage_exclusions.csv"
PLAN = ROOT / "testbench" / "testplan.csv"
TARGET = 98  # percent of the lines

STYLE = """body{font:14px sans-serif;margin:2em}pre{margin:0}td,th{padding:1px 8px;text-align:right}td:first-child,
th:first-child{text-align:left}.code td{font:12px monospace;text-align:left}.hit{background:#dfd}.missed{background:#fcc}
.excluded{background:#ddd}"""


class Module:
    """What was reached in one source file."""

    def __init__(self, path):
        self.text = path.read_text(encoding="utf-8").splitlines()
        self.lines = {}                  # by number: how often, at least
        self.points = {}                 # functional points by name
        self.branches = []               # how often
        self.toggles = []
        self.excluded = {}               # by line: the reason

    def counts(self, values):
        return sum(1 for v in values if v), len(values)

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
    for (file, kind, _, _, name, lines), count in sorted(points.items()):
        path = pathlib.Path(file)
        if path.parent.name != "rtl" or path.parent.parent.name != RTL.name:
            continue
        module = modules.setdefault(path.stem, Module(RTL / "rtl" / path.name))
        if kind == "v_toggle":
            module.toggles.append(count)
        elif kind == "v_user":
            module.points[name] = module.points.get(name, 0) + count
        else:
            if kind == "v_branch":
                module.branches.append(count)
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
        for hit, all_ in (m.line_counts(), m.counts(m.branches), m.counts(m.toggles)):
            row += [f"{hit}/{all_}", f"{percent(hit, all_):.1f}"]
            if len(row) == 3:
                row.append(str(len(m.excluded)))
        yield *row, "{}/{}".format(*m.counts(list(m.points.values())))


def page(title, body):
    return f"<!DOCTYPE html><meta charset=utf-8><title>{title}</title><style>{STYLE}</style><h1>{title}</h1>{body}"


def write_report(modules, problems, report):
    report.mkdir(parents=True, exist_ok=True)
    head, *rows = table(modules)
    cells = "".join(f"<th>{c}</th>" for c in head)
    body = "".join(f"<tr><td><a href='{r[0]}.html'>{r[0]}</a></td>" + "".join(f"<td>{c}</td>" for c in r[1:]) + "</tr>"
                   for r in rows)
    missing = "".join(f"<li>{html.escape(p)}</li>" for p in problems)
    (report / "index.html").write_text(
        page("RTL coverage", f"<table><tr>{cells}</tr>{body}</table><ul>{missing}</ul>"), encoding="utf-8")
    for name, m in modules.items():
        points = "".join(f"<li class={'hit' if n else 'missed'}>{p}: {n}</li>" for p, n in m.points.items())
        code = []
        for n, text in enumerate(m.text, start=1):
            count = m.lines.get(n)
            kind = "excluded" if n in m.excluded else "" if count is None else "hit" if count else "missed"
            code.append(f"<tr class='{kind}'><td>{n}</td><td>{'' if count is None else count}</td>"
                        f"<td><pre>{html.escape(text)}</pre></td><td>{html.escape(m.excluded.get(n, ''))}</td></tr>")
        (report / f"{name}.html").write_text(
            page(name, f"<ul>{points}</ul><table class=code>{''.join(code)}</table>"), encoding="utf-8")


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
    except (OSError, ValueError, KeyError) as error:
        print(f"rtl_coverage: {error}", file=sys.stderr)
        return 2
    write_report(modules, problems, args.report)
    for row in table(modules):
        print(f"{row[0]:<18}" + "".join(f"{cell:>12}" for cell in row[1:]))
    print(*problems, f"report: {args.report / 'index.html'}", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
