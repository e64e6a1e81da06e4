#!/usr/bin/env python3
"""Runs every command that the pages show, as they show it, in this tree.

documented.py           runs them; what takes long in its short form or not at all, as SHORT and LONG say
documented.py --short   the same with what LONG has, in its short form
documented.py --all     runs all as they are
documented.py --list    prints them

A command is a line of an indented block, or text in backquotes, that begins with a program of ours or of PROGRAMS. Options of
`rnicsim run` alone are tried with the default scenario, a command of rnicsim that a sentence only names is asked for its help, and
lines with (gdb) are said to gdb. Prints a line for each. Exit status 0; 1 where one does not end with 0 or the status in EXIT, or
where a table below names a command that no page shows.

scripts/test.sh begins with this, so that in a new clone each command finds what those before it have installed and built, and
no more. As a user's runs do, they leave their outputs in out/.
"""
import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ("README.md", "rtl-stubs/README.md", "rtl-stubs/adapter/README.md", "firmware/README.md", "traces/README.md", "testbench/fuzz/README.md")
PROGRAMS = ("rnicsim", "cmake", "ctest", "gdb-multiarch", "gtkwave")
MADE = (".fst", ".vcd", ".gtkw", ".sucl", ".tsv", ".pftrace")  # files that commands make beside out/
RUN_OPTIONS = ("--set", "--wave", "--trace", "--db", "--perfetto", "--rtl", "--lockstep", "--scoreboard")

# These come first: in a new clone they have to do with what scripts/run.sh has left.
FIRST = ("scripts/run.sh", "scripts/interop.sh", "scripts/bench.sh", "scripts/bench.sh --rtl")

# What is not run at all, and why.
NOT_RUN = {
    "scripts/test.sh": "it runs this",
    "scripts/test.sh --all": "it runs this",
    "scripts/fuzz.sh": "scripts/test.sh runs it last",
    "scripts/digests.py --write": "writes what a test compares",
    "scripts/new_stage.py --twin": "the test new_stage_twin runs it",
    "rnicsim run traces/quickstart.json --set rnic.fwcpu.target=rv32 --gdb 0": "waits for the gdb session, which starts it",
    "rnicsim sweep submit traces/read-knees.json --slurm --out out/knees --array-size 16": "the test slurm runs the like",
    "rnicsim sweep collect out/knees": "the test slurm runs the like",
    "gtkwave w.fst w.gtkw": "opens a window",
    "gtkwave out/lockstep.vcd": "opens a window",
}
# What builds or measures for minutes even in its short form.
LONG = ("scripts/interop.sh", "scripts/bench.sh", "scripts/bench.sh --rtl", "scripts/build.sh release rnicsim_rtl_trace")
# What stands for what takes minutes; None: nothing, and only --all runs it.
SHORT = {
    "scripts/interop.sh": "scripts/interop.sh --only 'rping server 64'",
    "scripts/bench.sh": "scripts/bench.sh --short",
    "scripts/bench.sh --rtl": "scripts/bench.sh --rtl --short",
    "scripts/formal.sh": "scripts/formal.sh link",
    "scripts/formal.sh --faults": "scripts/formal.sh --faults link",
    "scripts/digests.py --long": "scripts/digests.py qps65536",
    "scripts/fuzz.sh --minutes 30 capture elf": None,
    "ctest --preset release -L formal": None,
    "scripts/build.sh release released_tests": None,
    "ctest --preset nightly -j 2": "ctest --preset nightly -N",
    "scripts/area.sh": None,
    "scripts/coverage.sh": None,
    "scripts/coverage.sh --rtl": None,
    "scripts/tidy.sh": None,
}
# Words that stand for something, in what the pages show.
PLACEHOLDERS = {"SCENARIO": "traces/quickstart.json"}
SKIPPED = 77
PATIENCE = {False: 1800, True: 6 * 3600}  # seconds for one command, by --all
MAY_SKIP = ("scripts/interop.sh",)  # where a machine can have no guest
EXIT = {"rnicsim run traces/quickstart.json --set rnic.fwcpu.fault=panic --set rnic.fwcpu.fault_event=5": 1}


class Command:
    def __init__(self, page, line, text):
        self.page, self.line, self.text = page, line, text
        self.gdb = []  # what is said to it


def is_command(text):
    word = text.split()[0]
    if re.match(r"[A-Z_]+=\S+ ", text):
        return True
    if word.startswith(("scripts/", "build/")):
        return " " in text or (word.endswith(".sh") and (ROOT / word).exists())
    return word in PROGRAMS and " " in text


def commands_of(page):
    found, fenced = [], False
    for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1):
        fenced ^= line.startswith("```")
        if line.startswith("    (gdb) ") and found:
            found[-1].gdb.append(re.sub(r"  .*", "", line.removeprefix("    (gdb) ")))
            continue
        if line.startswith("    "):
            texts = [re.sub(r"\s+#.*", "", line.strip())]
        else:
            texts = [] if fenced else re.findall(r"`([^`]+)`", line)
        for text in texts:
            if text.startswith(RUN_OPTIONS) and (" " in text or text == "--db"):
                text = f"rnicsim run traces/quickstart.json {text}"
            elif not line.startswith("    ") and re.fullmatch(r"rnicsim \w+", text):
                text += " --help"
            if text and is_command(text) and "…" not in text:
                found.append(Command(page, number, text))
    return found


def documented():
    seen, commands = set(), []
    for page in PAGES:
        for command in commands_of(page):
            if command.text not in seen:
                seen.add(command.text)
                commands.append(command)
    unknown = [text for text in (*FIRST, *NOT_RUN, *LONG, *SHORT, *EXIT) if text not in seen]
    if unknown:
        sys.exit("documented: no page shows " + "; ".join(unknown))
    return sorted(commands, key=lambda c: FIRST.index(c.text) if c.text in FIRST else len(FIRST))


def in_gdb(command, environment):
    """The program that waits, and gdb at its port; it has to stop at its breakpoint. Exit status and output."""
    wait = "build/release/bin/rnicsim run traces/quickstart.json --set rnic.fwcpu.target=rv32 --gdb 0"
    with subprocess.Popen(wait.split(), cwd=ROOT, env=environment, text=True, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as waiting:
        try:
            where = waiting.stderr.readline()
            port = re.search(r":(\d+)$", where.strip())
            if port is None:
                return 1, where
            said = [word for line in (*command.gdb, "kill") for word in ("-ex", line.replace("PORT", port[1]))]
            session = subprocess.run([*command.text.split(), "-batch", "-nx", "-ex", "set confirm off", *said], cwd=ROOT,
                                     env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
            stopped = "hit Breakpoint 1," in session.stdout
            return session.returncode if stopped else 1, session.stdout
        finally:
            waiting.kill()


def run(command, text, environment, patience):
    """Exit status and output."""
    if command.gdb:
        return in_gdb(command, environment)
    for word, meaning in PLACEHOLDERS.items():
        text = text.replace(word, meaning)
    text = text.replace("~/", f"{ROOT}/build/home/")
    with subprocess.Popen(["bash", "-c", text], cwd=ROOT, env=environment, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as started:
        try:
            output, _ = started.communicate(timeout=patience)
            return started.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)  # with what it has started
            return 1, f"killed after {patience} s"
        except KeyboardInterrupt:
            os.killpg(started.pid, signal.SIGKILL)
            raise


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    commands = documented()
    if options.list:
        for c in commands:
            print(f"{c.page}:{c.line}: {c.text}")
        return 0
    environment = dict(os.environ, PATH=f"{ROOT}/build/release/bin:{os.environ['PATH']}")
    failed = 0
    for c in commands:
        text = c.text if options.all else SHORT.get(c.text, c.text)
        left_out = c.text in LONG and not (options.all or options.short)
        if text is None or c.text in NOT_RUN or left_out:
            why = NOT_RUN.get(c.text, "only with --all or --short" if left_out else "only with --all")
            print(f"not run             {c.text}  ({why})", flush=True)
            continue
        made = [ROOT / word for word in text.split() if word.endswith(MADE) and "/" not in word and not (ROOT / word).exists()]
        begin = time.monotonic()
        status, output = run(c, text, environment, PATIENCE[options.all])
        for file in made:
            file.unlink(missing_ok=True)
        skipped = status == SKIPPED and c.text in MAY_SKIP
        passed = skipped or status == EXIT.get(c.text, 0)
        failed += not passed
        print(f"{'skipped' if skipped else 'passed' if passed else 'FAILED':7} {time.monotonic() - begin:6.1f} s    {text}", flush=True)
        if not passed:
            print(f"{c.page}:{c.line}: exit status {status}\n" + "\n".join(output.splitlines()[-30:]), flush=True)
    print(f"{len(commands)} commands, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
