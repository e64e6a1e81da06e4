#!/usr/bin/env python3
"""Breaks a rule in the model or the firmware, one at a time, and sees whether the tests that are tied to it fail.

usage: mutate.py [--list | --check] [--only ID…] [--jobs N] [--build FOLDER]

testbench/mutants.toml has the mutants. Each is a text that stands exactly once in a file, the text that takes its place, and the
requirements that this breaks. The tests are those that testbench/testplan.csv ties to these requirements, without
co-simulations: they compare the model with its twin, which says nothing about the rule. A mutant is killed if for each
of its requirements a tied test fails; if not, a tie is wrong. Rules of documents that testbench/requirements.csv does not have, such as
TCP's, name their tests instead, and each of them has to fail. A test that hangs has failed if its program cuts it off and says so, and is marked.

The tree is copied to FOLDER (build/mutants), and only the copy is changed. First the tests have to pass unbroken. --list
prints each mutant with its tests, --check only looks whether texts, requirements and tests exist; both take the names
of the tests from the compilation database of FOLDER, and build nothing.
Exit status 0; 1 if a mutant survives, does not compile or hangs, if tests fail unbroken, or if a text, a requirement or
a test is not there; 2 if a file cannot be read or the copy cannot be built.
"""
import argparse
import collections
import contextlib
import dataclasses
import fnmatch
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time
import tomllib

import requirements

ROOT = pathlib.Path(__file__).resolve().parent.parent
MUTANTS = ROOT / "testbench" / "mutants.toml"
FOLDER = ROOT / "build" / "mutants"
KEYS = {"file": str, "find": str, "put": str, "breaks": str}
RULES = ("requirements", "tests")  # a mutant has one of them
JUDGES = ("unit", "system")  # folders of testbench/
TEST_TIMEOUT_S = 60       # a test of a forked program
PROGRAM_TIMEOUT_S = 600   # a program that does not cut off its tests
SETTINGS = {  # compiled fast, run fast enough
    "CMAKE_BUILD_TYPE": "RelWithDebInfo",
    "CMAKE_CXX_FLAGS_RELWITHDEBINFO": "-O1 -DNDEBUG",
    "RNIC_RTL_WIDTHS": "",
    "RNIC_BUILD_BENCH": "OFF",
}

OBJECT = re.compile(r" -o testbench/(\w+)/(?:\S*/)?CMakeFiles/(\w+)\.dir/")
INSTANCE = re.compile(r"^\s*INSTANTIATE_TEST_SUITE_P\(\s*(\w*)\s*,\s*(\w+)", re.MULTILINE)
FAILED = re.compile(r"^\[  FAILED  \] ([^\s,]+\.[^\s,]+)", re.MULTILINE)
CUT_OFF = re.compile(r"killed after \d+ s\nFAILED .*  (\S+)$", re.MULTILINE)
STARTED = re.compile(r"^\[ RUN      \] (\S+)", re.MULTILINE)


class Unusable(Exception):
    """What keeps the script from working at all."""


@dataclasses.dataclass(frozen=True)
class Mutant:
    rules: tuple  # requirements, or names of tests
    file: str
    find: str
    put: str
    breaks: str
    names_tests: bool = False

    @property
    def name(self):
        return f"{self.rules[0]}: {self.breaks}"


def read_mutants(path):
    with open(path, "rb") as file:
        tables = tomllib.load(file).get("mutant", [])
    mutants = []
    for number, table in enumerate(tables, start=1):
        for key, kind in KEYS.items():
            if not isinstance(table.get(key), kind) or (not table[key] and key != "put"):
                raise Unusable(f"{path}: mutant {number}: {key} is missing or empty")
        for key in table.keys() - KEYS.keys() - set(RULES):
            raise Unusable(f"{path}: mutant {number}: unknown key {key}")
        given = [key for key in RULES if key in table]
        if len(given) != 1 or not isinstance(table[given[0]], list) or not table[given[0]]:
            raise Unusable(f"{path}: mutant {number}: it needs requirements or tests")
        rules = tuple(table.pop(given[0]))
        mutants.append(Mutant(rules=rules, names_tests=given == ["tests"], **table))
    return mutants


class Ties:
    """The tests that the plan, or a mutant, ties to each rule, and the programs that have them."""

    def __init__(self, plan, database, mutants=()):
        self.patterns = collections.defaultdict(list)  # by rule: a requirement, or a test's name
        for row in plan:
            for requirement in row["requirements"].split():
                self.patterns[requirement] += row["tests"].split()
        for mutant in mutants:
            if mutant.names_tests:
                self.patterns.update((test, [test]) for test in mutant.rules)
        self.tests = tests_by_program(database)

    def programs(self, rules, folder=None):
        """In a folder of tests, or in all, those that may have tests of one of the rules."""
        patterns = {p for r in rules for p in self.patterns[r]}
        return sorted(program for program, (place, tests) in self.tests.items() if folder in (None, place)
                      and any(could_match(pattern, test) for pattern in patterns for test in tests))

    def chosen(self, rule, names):
        """Of these names of tests those that are tied to it."""
        return [n for n in names if any(fnmatch.fnmatchcase(n, p) for p in self.patterns[rule])]


def tests_by_program(database):
    """program: (folder of testbench/, [(suite with its prefix, name, whether it has parameters)])"""
    tests = {}
    try:
        commands = json.loads(database.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise Unusable(f"{database}: not there; run cmake --preset release, or name a build folder") from error
    for command in commands:
        place = OBJECT.search(command["command"])
        if not place or place[1] not in JUDGES:
            continue
        text = "\n".join(s.read_text(encoding="utf-8") for s in sources_of(pathlib.Path(command["file"])) if s.name.endswith("_test.cpp"))
        prefixes = collections.defaultdict(list)
        for prefix, suite in INSTANCE.findall(text):
            prefixes[suite].append(f"{prefix}/{suite}" if prefix else suite)
        found = tests.setdefault(place[2], (place[1], []))[1]
        for kind, suite, name in requirements.TEST.findall(text):
            found += [(s, name, kind == "_P") for s in (prefixes[suite] if kind == "_P" else [suite])]
    return tests


def sources_of(file):
    """What is compiled together in a file, or the file itself (rnic_unite in scripts/cmake/targets.cmake)."""
    if file.parent.name != "Unity":
        return [file]
    return [ROOT / line.split('"')[1] for line in file.read_text(encoding="utf-8").splitlines()]


def could_match(pattern, test):
    """Whether the pattern may select the test; only its program knows the parameters."""
    suite, name, has_parameters = test
    if not has_parameters:
        return fnmatch.fnmatchcase(f"{suite}.{name}", pattern)
    left, _, right = pattern.partition(".")
    return fnmatch.fnmatchcase(suite, left) and fnmatch.fnmatchcase(name, right.partition("/")[0])


def mistakes_in(mutants, ties, known, root):
    for mutant in mutants:
        where = f"{MUTANTS.name}: {mutant.name}"
        path = root / mutant.file
        if not path.is_file():
            yield f"{where}: no file {mutant.file}"
            continue
        count = path.read_text(encoding="utf-8").count(mutant.find)
        if count != 1:
            yield f"{where}: what it replaces stands {count} times in {mutant.file}: {mutant.find}"
        if mutant.find == mutant.put:
            yield f"{where}: replaces a text by itself"
        for rule in mutant.rules:
            if mutant.names_tests:
                if not ties.programs([rule]):
                    yield f"{where}: no test {rule}"
            elif rule not in known:
                yield f"{where}: unknown requirement {rule}"
            elif not ties.programs([rule]):
                yield f"{where}: no test is tied to {rule}, or only a program's or a co-simulation"
    for (file, find, put), count in collections.Counter((m.file, m.find, m.put) for m in mutants).items():
        if count > 1:
            yield f"{MUTANTS.name}: {count} mutants are the same: {file}: {find}"


def copy_tree(source, target):
    """Makes target the same as source, without what builds and runs leave. What is equal keeps its time."""
    wanted = set()
    for folder, folders, files in os.walk(source):
        folder = pathlib.Path(folder)
        top = folder == source
        folders[:] = [f for f in folders if f not in (".git", "__pycache__") and not (top and re.match("build$|out", f))]
        for file in files:
            place = (folder / file).relative_to(source)
            wanted.add(place)
            data, copy = (folder / file).read_bytes(), target / place
            if not copy.is_file() or copy.read_bytes() != data:
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(folder / file, copy)
                copy.touch()
    for old in [p for p in target.rglob("*") if p.is_file() and p.relative_to(target) not in wanted]:
        old.unlink()


class Copy:
    """The copy of the tree, and the test programs that are built from it."""

    def __init__(self, folder, jobs):
        self.tree, self.out, self.jobs = folder / "tree", folder / "out", jobs
        self.names = {}  # of the tests, by program

    def configure(self):
        subprocess.run([ROOT / "scripts" / "setup.sh", "--tests"], check=True)
        copy_tree(ROOT, self.tree)
        command = ["cmake", "-S", self.tree, "-B", self.out, "-G", "Ninja"]
        command += [f"-D{key}={value}" for key, value in SETTINGS.items()]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Unusable(done.stderr)

    def build(self, programs):
        """What the compiler says if it fails, or nothing."""
        done = subprocess.run(["cmake", "--build", self.out, "-j", str(self.jobs), "--target", *programs],
                              capture_output=True, text=True)
        return done.stdout + done.stderr if done.returncode else ""

    def tests(self, program):
        if program not in self.names:
            listing = subprocess.run([self.out / "bin" / program, "--gtest_list_tests"], capture_output=True, text=True).stdout
            self.names[program], suite = [], ""
            for line in listing.splitlines():
                line = line.partition("  #")[0]
                if re.fullmatch(r"\S+\.", line):
                    suite = line
                elif re.fullmatch(r"  \S+", line) and "DISABLED_" not in suite + line:
                    self.names[program].append(suite + line.strip())
        return self.names[program]

    def failed(self, program, names):
        """How the tests that have failed did so, by name; None if the program was still at it when its time was over."""
        command = [self.out / "bin" / program, f"--jobs={self.jobs}", f"--timeout={TEST_TIMEOUT_S}",
                   f"--gtest_filter={':'.join(names)}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PROGRAM_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return None
        failed = dict.fromkeys(FAILED.findall(done.stdout), "")
        failed.update(dict.fromkeys(CUT_OFF.findall(done.stdout), " (cut off)"))
        if done.returncode and not failed:  # a crash ends a program that does not fork
            failed[(STARTED.findall(done.stdout) or [program])[-1]] = " (broke down)"
        return failed

    @contextlib.contextmanager
    def broken(self, mutant):
        path = self.tree / mutant.file
        original = path.read_text(encoding="utf-8")
        path.write_text(original.replace(mutant.find, mutant.put), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(original, encoding="utf-8")


class Trial:
    """What has come of a mutant: the rules whose tests have not failed yet, and those tests that have."""

    def __init__(self, mutant):
        self.mutant, self.left, self.killers, self.error = mutant, list(mutant.rules), [], ""

    @property
    def over(self):
        return bool(self.error) or not self.left

    def __str__(self):
        words = self.error or (f"no test of {' '.join(self.left)} fails" if self.left else " ".join(dict.fromkeys(self.killers)))
        return f"{'SURVIVED' if self.left else 'killed':<9}{self.mutant.name}: {words}"

    def judge(self, copy, ties, folder):
        """By the programs of a folder of tests, from a copy that is broken."""
        for program in ties.programs(self.left, folder):
            tied = {r: names for r in self.left if (names := ties.chosen(r, copy.tests(program)))}
            if not tied:
                continue
            if errors := copy.build([program]):
                first = next((line for line in errors.splitlines() if "error" in line), errors.strip().splitlines()[-1])
                self.error = f"does not compile: {first}"
                return
            failed = copy.failed(program, sorted(set().union(*tied.values())))
            if failed is None:
                self.error = f"{program} hangs, and no test reports it"
                return
            for rule, names in tied.items():
                if hits := [f for f in failed if f in names or f == program]:
                    self.killers.append(hits[0] + failed[hits[0]])
                    self.left.remove(rule)
            if not self.left:
                return


def fails_unbroken(rules, copy, ties, folder):
    """The tests that do, of those that are tied to these rules."""
    programs = ties.programs(rules, folder)
    print(f"{folder}: building {len(programs)} programs", flush=True)
    if errors := copy.build(programs) if programs else "":
        raise Unusable(errors)
    for program in programs:
        names = sorted(set().union(*(ties.chosen(r, copy.tests(program)) for r in rules)))
        failed = copy.failed(program, names) if names else []
        yield from [f"{program}, which hangs"] if failed is None else failed


def processor_time():
    """Of all compilers and tests so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(mutants, copy, ties):
    """Unit tests first, as they are the fast ones; what they do not kill is left to the tests of whole systems."""
    begin = time.monotonic()
    # One file after the other, sources before headers: less is compiled twice, and most is known soon.
    trials = [Trial(m) for m in sorted(mutants, key=lambda m: (m.file.endswith(".h"), m.file))]
    for folder in JUDGES:
        left = [t for t in trials if not t.over]
        failing = list(fails_unbroken({r for t in left for r in t.left}, copy, ties, folder))
        print(f"{folder}: {len(left)} mutants; unbroken, the tests have run ({time.monotonic() - begin:.0f} s)", flush=True)
        if failing:
            print(*(f"fails unbroken: {name}" for name in failing), sep="\n")
            return False
        for trial in left:
            with copy.broken(trial.mutant):
                trial.judge(copy, ties, folder)
            if trial.over:
                print(trial, flush=True)
    survivors = [t for t in trials if t.left]
    print(*(t for t in survivors if not t.error), sep="\n", end="\n" if survivors else "")
    rules = {r for m in mutants for r in m.rules}
    print(f"{len(mutants)} mutants of {len(rules)} rules: {len(mutants) - len(survivors)} killed, {len(survivors)} survived"
          f" ({time.monotonic() - begin:.0f} s, {processor_time():.0f} s of processors)")
    return not survivors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the mutants and their tests, and run nothing")
    parser.add_argument("--check", action="store_true", help="only look whether texts, requirements and tests exist")
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="those of these requirements or tests; * and ? as in a shell")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers and tests at once")
    parser.add_argument("--build", type=pathlib.Path, metavar="FOLDER",
                        help="where the copy is; with --list and --check a build folder")
    args = parser.parse_args()
    try:
        mutants = read_mutants(MUTANTS)
        if args.only:
            mutants = [m for m in mutants if any(fnmatch.fnmatchcase(r, o) for r in m.rules for o in args.only)]
            if not mutants:
                raise Unusable(f"{MUTANTS}: no mutant of {' '.join(args.only)}")
        folder = (args.build or FOLDER).resolve()
        copy = Copy(folder, args.jobs)
        if args.list or args.check:
            database = folder / "compile_commands.json" if args.build else copy.out / "compile_commands.json"
        else:
            copy.configure()
            database = copy.out / "compile_commands.json"
        ties = Ties(requirements.read_rows(requirements.PLAN, ["requirements", "tests"]), database, mutants)
        known = {r["id"] for r in requirements.read_rows(requirements.MATRIX, ["id"])}
        mistakes = list(mistakes_in(mutants, ties, known, ROOT))
        print(*mistakes, sep="\n", end="\n" if mistakes else "")
        if args.list:
            for mutant in mutants:
                print(f"{' '.join(mutant.rules)}: {mutant.breaks} ({mutant.file})")
                for rule in mutant.rules:
                    print(f"    {rule}: {' '.join(ties.programs([rule]))}: {' '.join(ties.patterns[rule])}")
        if args.list or args.check or mistakes:
            return 1 if mistakes else 0
        return 0 if run(mutants, copy, ties) else 1
    except (OSError, ValueError, subprocess.CalledProcessError, Unusable) as error:
        print(f"mutate: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
