"""Reads waveforms for tests: the changes of their signals. FST through Debian's fst2vcd, an independent reader."""
import re
import subprocess


def read_vcd(text):
    """By full name: the times in ps at which a signal changed, and its new value as a string of bits; of a text, the text."""
    head, body = text.split("$enddefinitions", 1)
    names, scope = {}, []
    for words in map(str.split, head.splitlines()):
        if words[:1] == ["$scope"]:
            scope.append(words[2])
        elif words[:1] == ["$upscope"]:
            scope.pop()
        elif words[:1] == ["$var"]:
            names.setdefault(words[3], []).append(".".join([*scope, words[4]]))
    changes, now = {name: [] for of in names.values() for name in of}, 0
    for line in body.splitlines()[1:]:
        if line.startswith("#"):
            now = int(line[1:])
        elif line and line[0] in "01xzb":
            value, code = line[1:].split() if line[0] == "b" else (line[0], line[1:])
            for name in names[code]:
                changes[name].append((now, value))
        elif line.startswith("s"):
            value, code = line[1:].split(" ")
            for name in names[code]:
                changes[name].append((now, re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), value)))
    return changes


def read_fst(file):
    """The same for an FST file."""
    return read_vcd(subprocess.run(["fst2vcd", file], check=True, capture_output=True, text=True).stdout)


def time_in(changes, holds, end):
    """How long a value holds, up to the end; unknown values do not count."""
    total = 0
    for (at, value), (until, _) in zip(changes, [*changes[1:], (end, "")]):
        if "x" not in value and holds(value):
            total += until - at
    return total
