#!/usr/bin/env python3
"""Compares what the scenarios of traces/ do, to the cycle and the octet, with testbench/digests.json.

digests.py [--program FILE] [--modes MODE…] [--long | --write] [SCENARIO…]

A scenario's digest is over all trace events, their cycles, and all frames with their times of arrival; a sweep's is that of its first
and its last point (in the object form: the first one, which is the baseline, and the one in the middle). It is the same in all
modes: plain, shuffled (stages called in another order in each cycle), stepped (no stage runs ahead) and rtl (SystemVerilog twins in
the stages' places, which takes minutes and needs rnicsim_rtl beside the program). With them go the names of statistics, with their
units, and of waves, of one node: testbench/statistics.txt and testbench/waves.txt. SCENARIO: a name such as quickstart; all unless given.

Those that traces/long.txt lists run only if they are named, by --long, and for --write: in the first mode, and of a sweep the last point.

Prints a table. Exit status 0; 1 where something differs or a run fails. With --write the files are made of this program: for a change
that is intended, which the CHANGELOG lists.
"""
import argparse
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from twins import twins_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIGESTS = ROOT / "testbench/digests.json"
NAMES = {"statistics": ROOT / "testbench/statistics.txt", "waves": ROOT / "testbench/waves.txt"}
MODES = {"plain": (), "shuffled": ("--set", "sim.shuffle_seed=7"), "stepped": ("--set", "sim.run_ahead=false"),
         "rtl": ("--rtl", "all")}
LONG = set((ROOT / "traces/long.txt").read_text().split())
PACKET, FLAGS = 6, 2  # pcapng: Enhanced Packet Block, its option epb_flags
LOST = b"\x88\xb5"    # the EtherType before a frame that never arrived (model/cable/link.md)


def is_long(name):
    """Of a scenario or a point of a sweep."""
    return name.split()[0] in LONG


def points_of(program, file):
    """How many points its sweep has: the program's answer to one that it does not have."""
    asked = subprocess.run([program, "run", file, "--point", str(10**9)], capture_output=True, text=True, check=False)
    last = re.search(r"the sweep has points 0 to (\d+)", asked.stderr)
    if last is None:
        sys.exit(f"digests.py: {file}: {asked.stderr.strip()}")
    return int(last[1]) + 1


def scenarios(program):
    """{name: (file, options)}"""
    found = {}
    for file in sorted(ROOT.glob("traces/*.json")) + sorted(ROOT.glob("traces/errors/*.json")):
        name = file.stem if file.parent.name == "traces" else f"{file.parent.name}/{file.stem}"
        sweep = json.loads(file.read_text()).get("sweep")
        if not sweep:
            found[name] = (file, ())
            continue
        points = points_of(program, file)
        last = points // 2 if isinstance(sweep, dict) else points - 1
        for point in (last,) if is_long(name) else (0, last):
            found[f"{name} {point}"] = (file, ("--point", str(point)))
    return found


def options_of(mode, file):
    return ("--rtl", twins_of(json.loads(file.read_text()))) if mode == "rtl" else MODES[mode]


def without_words(packet):
    """A packet's block with epb_flags as its only option: no comment."""
    captured = int.from_bytes(packet[20:24], "little")
    options = 28 + (captured + 3) // 4 * 4
    at, flags = options, b""
    while at < len(packet) - 4:
        code, size = (int.from_bytes(packet[at + n:at + n + 2], "little") for n in (0, 2))
        if code == FLAGS:
            flags = packet[at:at + 4 + size]
        at += 4 + (size + 3) // 4 * 4
    size = (options + len(flags) + 8).to_bytes(4, "little")
    return packet[:4] + size + packet[8:options] + flags + bytes(4) + size


def frames_of(capture):
    """A hash over the frames that arrived, without the blocks that name program and file, and without comments."""
    octets, at, digest = capture.read_bytes(), 0, hashlib.sha256()
    while at < len(octets):
        kind, size = (int.from_bytes(octets[at + n:at + n + 4], "little") for n in (0, 4))
        if kind == PACKET and octets[at + 40:at + 42] != LOST:
            digest.update(without_words(octets[at:at + size]))
        at += size
    return digest.hexdigest()[:16]


def run(program, file, options, folder):
    """The digest, or what went wrong."""
    done = subprocess.run([program, "run", file, "--out", folder, *options], capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip() or f"exit status {done.returncode}"
    stats = json.loads((folder / "stats.json").read_text())
    return f"{stats['digest']} {frames_of(folder / 'wire.pcapng')}", None


def statistics_of(stats, path=""):
    """Lines "path unit" of a tree of statistics."""
    if "unit" in stats and "description" in stats:
        return [f"{path} {stats['unit']}"]
    return [line for name, below in stats.items() for line in statistics_of(below, f"{path}.{name}" if path else name)]


def waves_of(vcd):
    """Lines "scope.variable bits" of a waveform's header."""
    scopes, lines = [], []
    for line in vcd.read_text().splitlines():
        if match := re.match(r"\$scope \w+ (\S+) \$end", line):
            scopes.append(match[1])
        elif line.startswith("$upscope"):
            scopes.pop()
        elif match := re.match(r"\$var \w+ (\d+) \S+ (\S+)", line):
            lines.append(f"{'.'.join(scopes)}.{match[2]} {match[1]}")
        elif line.startswith("$enddefinitions"):
            return lines
    return lines


def names(program, folder):
    wave = folder / "w.vcd"
    subprocess.run([program, "run", ROOT / "traces/quickstart.json", "--out", folder, "--wave", wave, "--wave-to", "1us"], check=True,
                   capture_output=True)
    stats = json.loads((folder / "stats.json").read_text())["stats"]
    of_one = {"statistics": ("a.", "link."), "waves": ("rnic_a.",)}
    lines = {"statistics": statistics_of(stats), "waves": waves_of(wave)}
    return {kind: sorted(line for line in lines[kind] if line.startswith(of_one[kind])) for kind in lines}


def compare_names(found):
    """How many differ; each is printed."""
    different = 0
    for kind, lines in found.items():
        kept = NAMES[kind].read_text().splitlines()
        for line in sorted(set(kept) ^ set(lines)):
            print(f"{kind}: {'lost' if line in kept else 'new'}: {line}")
            different += 1
    return different


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/rnicsim")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=["plain", "shuffled", "stepped"])
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    known = scenarios(options.program.resolve())
    if unknown := [s for s in options.scenarios if s not in known]:
        parser.error(f"no scenario {unknown[0]!r}; there are {', '.join(known)}")
    if options.long:
        options.scenarios += [n for n in known if is_long(n)]
    if options.write and (options.scenarios or options.modes[0] != "plain"):
        parser.error("--write is of all scenarios, in the mode plain")
    kept = {} if options.write else json.loads(DIGESTS.read_text())
    found, different = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for name in options.scenarios or [n for n in known if options.write or not is_long(n)]:
            file, point = known[name]
            row = []
            for mode in options.modes[:1] if is_long(name) else options.modes:
                digest, error = run(options.program.resolve(), file, (*point, *options_of(mode, file)), pathlib.Path(folder) / "out")
                expected = found.setdefault(name, digest) if options.write else kept.get(name)
                same = digest is not None and digest == expected
                different += not same
                row.append(f"{mode} {'same' if same else 'DIFFERENT' if error is None else 'FAILED: ' + error}")
            print(f"{name:32} {found[name] if options.write else kept.get(name, 'not known')}  {', '.join(row)}", flush=True)
        if not options.scenarios:
            for name in sorted(set(kept) - set(known)):
                print(f"{name:32} {kept[name]}  there is no such scenario")
                different += 1
            lines = names(options.program.resolve(), pathlib.Path(folder))
            if options.write:
                for kind, list_ in lines.items():
                    NAMES[kind].write_text("\n".join(list_) + "\n")
            else:
                different += compare_names(lines)
    if options.write and not different:
        DIGESTS.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{different} differences")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
