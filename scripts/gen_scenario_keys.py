#!/usr/bin/env python3
"""Makes the tables of keys in traces/README.md from the program's description of a scenario (model/system/scenario_keys.h).

gen_scenario_keys.py [--program FILE]          writes them between their marks, <!-- keys: connection --> and <!-- end -->
gen_scenario_keys.py [--program FILE] --check  compares; exit code 1 where one differs or has no mark
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = "traces/README.md"
MARKED = re.compile(r"(?s)(<!-- keys: ([^\n]*) -->\n).*?(<!-- end -->)")


def tables_of(program):
    """{element: table}"""
    listed = subprocess.run([program, "config", "--keys"], capture_output=True, text=True, check=True).stdout
    return dict(part.split("\n\n", 1) for part in listed.removeprefix("## ").rstrip("\n").split("\n\n## "))


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--program", default=ROOT / "build/release/bin/rnicsim", help="rnicsim")
    options.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = options.parse_args()
    tables = tables_of(arguments.program)
    page = (ROOT / PAGE).read_text()
    marks = [name for _, name, _ in MARKED.findall(page)]
    if sorted(marks) != sorted(tables):
        print(f"{PAGE}: marks of {sorted(marks)}; the tables are {sorted(tables)}", file=sys.stderr)
        return 1
    made = MARKED.sub(lambda m: f"{m[1]}{tables[m[2]]}\n{m[3]}", page)
    if made == page:
        return 0
    if arguments.check:
        print(f"{PAGE} does not match model/system/scenario_keys.h; run scripts/gen_scenario_keys.py", file=sys.stderr)
        return 1
    (ROOT / PAGE).write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
