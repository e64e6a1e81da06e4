#!/usr/bin/env python3
"""Makes the tables of settings and counters on the pages, or compares them, so that they cannot go stale.

page_tables.py [--program FILE] [--write] [PAGE…]

A table stands between two comments, of which the first names its source:

    <!-- settings rnic.rx.crc_check -->     the settings of this group, as `rnicsim config --list` has them
    <!-- counters rnic.crc_check -->        the figures of this group of statistics, in a node of traces/quickstart.json
    <!-- pools rnic -->                     the memories without ports in this group: with this table, no page needs their figures
    <!-- end -->

Another source is a function in SOURCES. PAGE: all .md files unless given. Prints each table that differs, and, of all pages, each
setting and each figure of a chip that no page has. Exit status 0; 1 where there is any of these; 2 where a comment names nothing.
With --write the tables are made again.
"""
import argparse
import collections
import functools
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = re.compile(r"^<!-- (\w+) (\S+) -->\n(.*?)^<!-- end -->\n", re.M | re.S)
COVERED = "rnic."  # of what is below this, each line has to be on a page


def of_group(lines, group):
    """Of lines that begin with a path, those directly in the group, with the rest of the path."""
    inside = [(path[len(group) + 1:], *rest) for path, *rest in lines if path.startswith(group + ".")]
    return [line for line in inside if "." not in line[0]]


def columns(text):
    """The rows of an aligned table, whose first line has a word over each column."""
    first, *lines = text.splitlines()
    starts = [match.start() for match in re.finditer(rb"\S+", first)]
    ends = starts[1:] + [None]
    return [[line[a:b].decode().strip() for a, b in zip(starts, ends)] for line in lines]


class Program:
    def __init__(self, file):
        self.file = file.resolve()
        self.values = {}  # with the counters

    @functools.cached_property
    def settings(self):
        """(path, type, default, range, unit, meaning) of each."""
        done = subprocess.run([self.file, "config", "--list"], check=True, capture_output=True)
        return columns(done.stdout)

    @functools.cached_property
    def counters(self):
        """(path in a node, unit, description) of each figure."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([self.file, "run", ROOT / "traces/quickstart.json", "--out", folder], check=True, capture_output=True)
            node = json.loads((pathlib.Path(folder) / "stats.json").read_text())["stats"]["a"]
        return list(self._figures(node, ""))

    def _figures(self, tree, path):
        for name, below in tree.items():
            if "description" in below and "unit" in below:
                self.values[path + name] = below.get("value")
                yield path + name, below["unit"], below["description"]
            else:
                yield from self._figures(below, f"{path}{name}.")


def settings(program, group):
    rows = of_group(program.settings, group)
    return ("setting", "default", "unit", "range", "meaning"), [
        (f"`{name}`", default.strip('"') or default, unit, limits or (kind.replace("|", ", ") if "|" in kind else ""), meaning)
        for name, kind, default, limits, unit, meaning in rows]


def counters(program, group):
    """Those that count the same of different things have one line."""
    lines = itertools.groupby(of_group(program.counters, group), key=lambda line: line[1:])
    return ("counter", "unit", "counts"), [(", ".join(f"`{line[0]}`" for line in same), unit, text) for (unit, text), same in lines]


SHAPE = {"entries", "used", "bits", "size"}  # all figures of a memory without ports


def pools_of(program):
    """{path: {figure: value, description of its entries}} of the memories without ports."""
    groups = collections.defaultdict(dict)
    for path, _, text in program.counters:
        group, _, name = path.rpartition(".")
        groups[group][name] = (program.values[path], text)
    return {path: figures for path, figures in groups.items() if set(figures) == SHAPE}


def pools(program, group):
    rows = [(f"`{path[len(group) + 1:]}`", figures["entries"][1].partition(";")[0], f"{figures['entries'][0]:,.0f}",
             f"{figures['bits'][0]:.0f}", f"{figures['size'][0] / 1024:,.1f}")
            for path, figures in pools_of(program).items() if path.startswith(group + ".")]
    return ("memory", "room for", "entries", "bits", "KiB"), rows


SOURCES = {"settings": settings, "counters": counters, "pools": pools}


def table(program, kind, name):
    head, rows = SOURCES[kind](program, name) if kind in SOURCES else ((), ())
    if not rows:
        raise ValueError(f"there are no {kind} {name}")
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def pages():
    listed = [path for folder in ("model", "firmware", "rtl-stubs", "testbench", "traces") for path in (ROOT / folder).rglob("*.md")]
    return sorted(listed) + [ROOT / "README.md"]


def missing(program, named):
    """Lines of the chip that no table has."""
    shown = {("counters", path) for path in pools_of(program) for kind, group in named
             if kind == "pools" and path.startswith(group + ".")}
    named = named | shown
    for kind, lines in ("settings", program.settings), ("counters", program.counters):
        for path in dict.fromkeys(line[0] for line in lines):
            group = path.rpartition(".")[0]
            if path.startswith(COVERED) and (kind, group) not in named:
                yield f"{kind} {path}: no page has a table of {group}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=pathlib.Path, metavar="PAGE")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/rnicsim")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    program, wrong, named = Program(options.program), 0, set()
    for page in options.pages or pages():
        text = page.read_text()

        def made(match, page=page):
            kind, name, body = match.groups()
            named.add((kind, name))
            try:
                new = table(program, kind, name)
            except ValueError as error:
                errors.append(f"{page}: {error}")
                return match[0]
            if new != body:
                stale.append(f"{page}: {kind} {name}: not what the program says")
            return f"<!-- {kind} {name} -->\n{new}<!-- end -->\n"

        errors, stale = [], []
        new = TABLE.sub(made, text)
        if errors:
            print("\n".join(errors), file=sys.stderr)
            return 2
        if options.write:
            if new != text:
                page.write_text(new)
            stale = []
        for line in stale:
            print(line)
        wrong += len(stale)
    if not options.pages:
        for line in missing(program, named):
            print(line)
            wrong += 1
    if wrong and not options.write:
        print("scripts/page_tables.py --write makes the tables anew")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
