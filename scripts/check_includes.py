#!/usr/bin/env python3
"""Compares every #include of ours with the LINK lines: what a folder uses of another, its library has to link.

check_includes.py [--build FOLDER]

A file belongs to the library of its folder; where a folder has several targets, to the one that lists it, that lists
the source of the same name, that has the folder's name, or whose sources include it. It may include headers of its own
target and of those that this links, with what they link publicly. CMake writes the targets into targets.tsv of the
build folder (the newest of build/ without --build). Prints each violation, each file of no target, each circle between
folders, what is linked against STAGES and ONLY, each use of a row by a stage that has not asked a table for it, each stage that reaches
WRITES, and each header of PLAIN that reaches the JSON library. Exit status 0; 1 where there is any of these; 2 on bad usage.
"""
import argparse
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHECKED = ("model", "firmware", "rtl-stubs/verilated", "testbench/support")

# Folders of stages: they talk by messages and link no other of these, not even over others.
STAGES = {f"rnic_{folder}" for folder in ("completion", "fwcpu", "pcie", "responder", "rx", "sctp", "tcp", "terminate", "tx")}
# Of the others below the chip and of the firmware, all that they may link.
ONLY = {
    "rnic_base": set(),
    "rnic_checksums": {"rnic_base"},
    "rnic_common": {"rnic_base", "rnic_checksums", "rnic_config", "rnic_stats"},
    "rnic_wire": {"rnic_base", "rnic_checksums"},
    "rnic_config": {"rnic_base"},
    "rnic_stats": {"rnic_base"},
    "rnic_trace": {"rnic_base"},
    "rnic_abi": {"rnic_base", "rnic_checksums", "rnic_wire"},
    "rnic_messages": {"rnic_base", "rnic_checksums", "rnic_wire", "rnic_config", "rnic_abi"},
    "rnic_boundary": {"rnic_base"},
    "rnic_firmware": {"rnic_base", "rnic_checksums", "rnic_wire", "rnic_abi"},
}

# For observers: a stage gets a row through a port.
FREE_READ = re.compile(r"_table\.peek\(|contexts_?\.stag\(")

# The firmware's side of the contexts: of the stages it is its own that writes them. The others see their tables.
WRITES = "model/rnic/context/context.h"
WRITERS = {"rnic_fwcpu"}

# Headers of stages, and what they include: none of these brings in the JSON library, not even over others.
PLAIN = ("model/common", "model/rnic", "model/host", "model/stats/registry.h", "model/stats/high_water.h", "model/stats/histogram.h")
JSON = "nlohmann/"

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"')

Target = collections.namedtuple("Target", "name folder sources links public")


def read_targets(path):
    """The targets of targets.tsv that have a folder of the tree and are compiled or linked, by name."""
    targets = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        parts = line.split("\t")
        if len(parts) != 5:
            raise ValueError(f"{path}:{number}: {len(parts)} columns instead of 5")
        name, folder, *lists = parts
        sources, links, public = (tuple(dict.fromkeys(filter(None, text.split(";")))) for text in lists)
        # The model's second build (model/golden) takes libraries as objects.
        links += tuple(f"rnic_{library}" for text in (*sources, *links) for library in re.findall(r"\brnic_golden_(\w+)", text))
        targets[name] = Target(name, folder, frozenset(f"{folder}/{source}" for source in sources), links, public)
    return targets


def linked(targets, name):
    """Targets whose headers `name` may use: what it links, and what these link publicly."""
    found, left = set(), list(targets[name].links)
    while left:
        other = left.pop()
        if other in targets and other not in found:
            found.add(other)
            left += targets[other].public
    return found


def read_includes(root):
    """Of each file that is checked, the pairs of line and file that it includes from the tree."""
    includes = {}
    for folder in CHECKED:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".c"):
                continue
            lines = enumerate(path.read_text().splitlines(), 1)
            found = ((number, INCLUDE.match(line)) for number, line in lines)
            includes[path.relative_to(root).as_posix()] = [(number, m[1]) for number, m in found
                                                           if m and (root / m[1]).is_file()]
    return includes


def chain_to(start, includes, is_it):
    """The shortest chain of includes to a file that is it, or None."""
    chains, seen = [[start]], {start}
    while chains:
        chain = chains.pop(0)
        if is_it(chain[-1]):
            return chain
        for _, other in includes.get(chain[-1], ()):
            if other not in seen:
                seen.add(other)
                chains.append([*chain, other])
    return None


def reaches_json(root, includes):
    """Of headers of PLAIN that reach the JSON library, the chain of includes to it."""
    direct = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<" + JSON, re.M)
    uses_json = {file for file in includes if direct.search((root / file).read_text())}
    for start in includes:
        if not start.endswith(".h") or not any(start == p or start.startswith(p + "/") for p in PLAIN):
            continue
        chain = chain_to(start, includes, lambda file: file in uses_json)
        if chain:
            yield chain


def reaches_writes(includes, targets):
    """Of files of stages that reach WRITES, the chain of includes to it."""
    folders = [targets[name].folder + "/" for name in STAGES - WRITERS if name in targets]
    for start in includes:
        chain = chain_to(start, includes, lambda file: file == WRITES) if start.startswith(tuple(folders)) else None
        if chain:
            yield chain


class Owners:
    """Which targets a file belongs to."""

    def __init__(self, targets, includes):
        self._includes = includes
        self._in_folder = collections.defaultdict(list)
        for target in targets.values():
            self._in_folder[target.folder].append(target)
        self._reached = {}

    def of(self, file):
        for folder in map(str, pathlib.PurePosixPath(file).parents):
            here = self._in_folder.get(folder)
            if here:
                break
        else:
            return []
        named = [t for t in here if file in t.sources]
        named = named or [t for t in here if any(file.rpartition(".")[0] == s.rpartition(".")[0] for s in t.sources)]
        named = named or (here if len(here) == 1 else [])
        named = named or [t for t in here if t.name == "rnic_" + folder.rpartition("/")[2]]
        return named or [t for t in here if file in self._reached_from(t)]

    def _reached_from(self, target):
        """Files of the target's folder that its sources include, over others of them."""
        if target.name not in self._reached:
            found, left = set(), [s for s in target.sources if s in self._includes]
            while left:
                file = left.pop()
                if file not in found:
                    found.add(file)
                    others = (other for _, other in self._includes.get(file, ()))
                    left += [other for other in others if other.startswith(target.folder + "/")]
            self._reached[target.name] = found
        return self._reached[target.name]


def circles(uses):
    """Groups of targets that use each other, over others or not: strongly connected components of more than one."""
    def reached(start):
        found, left = set(), [start]
        while left:
            for other in uses.get(left.pop(), ()):
                if other not in found:
                    found.add(other)
                    left.append(other)
        return found
    from_each = {name: reached(name) for name in uses}
    groups = {frozenset(other for other in found if name in from_each.get(other, ()))
              for name, found in from_each.items()}
    return sorted(sorted(group) for group in groups if len(group) > 1)


def check(root, targets):
    """Violations as (file, line, included file, owner of that, owner of the file), files of no target, circles, chains to
    the JSON library, and to WRITES."""
    includes = read_includes(root)
    owners = Owners(targets, includes)
    violations, uses = [], collections.defaultdict(set)
    for file, found in includes.items():
        for line, other in found:
            theirs = owners.of(other)
            for mine in owners.of(file):
                if mine in theirs or not theirs:  # a file of no target is reported separately
                    continue
                uses[mine.name].add(theirs[0].name)
                if not any(t.name in linked(targets, mine.name) for t in theirs):
                    violations.append((file, line, other, theirs[0].name, mine.name))
    return (violations, [file for file in includes if not owners.of(file)], circles(uses), list(reaches_json(root, includes)),
            list(reaches_writes(includes, targets)))


def breaches(targets):
    """Pairs of a target and what it may not link."""
    for name in targets:
        reached = linked(targets, name) - {name}
        forbidden = reached - ONLY.get(name, reached)
        if name in STAGES:
            forbidden |= reached & STAGES - {name}
        for other in sorted(forbidden):
            yield name, other


def free_reads(root, targets):
    """Files and lines of stages that look into a table."""
    folders = sorted(targets[name].folder for name in STAGES if name in targets)
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if FREE_READ.search(line):
                    yield path.relative_to(root), number


def newest(root):
    files = sorted(root.glob("build/*/targets.tsv"), key=lambda path: path.stat().st_mtime)
    if not files:
        raise ValueError(f"no targets.tsv in {root}/build: run cmake --preset release")
    return files[-1].parent


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, help="a build folder that cmake has configured")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the tree; by default the one of this script")
    args = parser.parse_args(arguments)
    try:
        targets = read_targets((args.build or newest(args.root)) / "targets.tsv")
    except (OSError, ValueError) as error:
        print(f"check_includes.py: {error}", file=sys.stderr)
        return 2
    violations, orphans, groups, chains, writers = check(args.root, targets)
    walls = list(breaches(targets))
    for file, line, other, theirs, mine in violations:
        print(f"{file}:{line} includes {other} of target {theirs}, which {mine} does not link")
    for file in orphans:
        print(f"{file} belongs to no target: list it beside the sources of one")
    for mine, other in walls:
        print(f"{mine} links {other}, which it may not")
    free = list(free_reads(args.root, targets))
    for file, line in free:
        print(f"{file}:{line} reads a row of a table without a port")
    for group in groups:
        print(f"a circle: {', '.join(group)} include each other")
    for chain in chains:
        print(f"{chain[0]} brings in the JSON library: {' -> '.join(chain)}")
    for chain in writers:
        print(f"{chain[0]} sees the firmware's side of the contexts: {' -> '.join(chain)}")
    return 1 if violations or orphans or walls or free or groups or chains or writers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
