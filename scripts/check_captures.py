#!/usr/bin/env python3
"""Compares what `rnicsim decode` finds in a folder of captures with the folder's index.json.

usage: check_captures.py DIR [--rnicsim PATH]

index.json maps each file name to its list of connections, with ports, startup frames, and per direction the FPDUs by
RDMAP opcode, the CRC results and the number of Terminates. PATH is any program that accepts `decode FILE --json`; without it
it is the one that scripts/run.sh builds.
Prints every difference and "N files, D differences"; exit status 0 without differences, 1 with, 2 if it cannot run.
"""
import argparse
import json
import pathlib
import subprocess
import sys

PROGRAM = pathlib.Path(__file__).resolve().parent.parent / "build" / "release" / "bin" / "rnicsim"
STARTUP_KEYS = ("rev", "m", "c", "r", "s", "ird", "ord", "pd_length")


def port(endpoint):
    return int(endpoint.rsplit(":", 1)[1])


def comparable(connection):
    """The index's form of a decoded connection."""
    mpa = connection["mpa"]
    return {
        "initiator_port": port(connection["initiator"]),
        "responder_port": port(connection["responder"]),
        "req": mpa["req"],
        "rep": mpa["rep"],
        "directions": [
            {"from": d["from"], "fpdus": d["fpdus"], "crc": d["crc"], "terminates": len(d["terminates"])}
            for d in connection["directions"]
        ],
    }


def expected(connection):
    """The part of an index entry that decode reports."""
    return {
        "initiator_port": connection["initiator_port"],
        "responder_port": connection["responder_port"],
        "req": connection["req"] and {key: connection["req"][key] for key in STARTUP_KEYS},
        "rep": connection["rep"] and {key: connection["rep"][key] for key in STARTUP_KEYS},
        "directions": [{key: d[key] for key in ("from", "fpdus", "crc", "terminates")}
                       for d in connection["directions"]],
    }


def differences(want, have, where=""):
    """Yields one line for every leaf that differs."""
    if isinstance(want, dict) and isinstance(have, dict):
        for key in sorted(set(want) | set(have)):
            yield from differences(want.get(key), have.get(key), f"{where}.{key}")
    elif isinstance(want, list) and isinstance(have, list) and len(want) == len(have):
        for i, (w, h) in enumerate(zip(want, have)):
            yield from differences(w, h, f"{where}[{i}]")
    elif want != have:
        yield f"{where}: expected {json.dumps(want)}, got {json.dumps(have)}"


def ports(connection):
    return connection["initiator_port"], connection["responder_port"]


def check(rnicsim, path, connections):
    run = subprocess.run([rnicsim, "decode", str(path), "--json"], capture_output=True, text=True)
    if run.returncode != 0:
        yield f": exit status {run.returncode}: {run.stderr.strip()}"
    try:
        found = json.loads(run.stdout)
    except json.JSONDecodeError as error:
        yield f": no JSON: {error}"
        return
    for item in found["undecoded"]:
        yield f": not decoded, offset {item['offset']}: {item['reason']}"
    yield from differences(sorted(map(expected, connections), key=ports),
                           sorted(map(comparable, found["connections"]), key=ports))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("--rnicsim", default=str(PROGRAM), help="the program to run (default: the release build)")
    arguments = parser.parse_args()
    try:
        index = json.loads((arguments.dir / "index.json").read_text())
    except (OSError, json.JSONDecodeError) as error:
        print(f"{arguments.dir / 'index.json'}: {error}", file=sys.stderr)
        return 2
    if not index:
        print(f"{arguments.dir / 'index.json'}: names no captures", file=sys.stderr)
        return 2

    count = 0
    indexed = set(index)
    present = {p.name for p in arguments.dir.iterdir() if p.suffix in (".pcap", ".pcapng")}
    for name in sorted(present - indexed):
        print(f"{name}: not in index.json")
        count += 1
    for name in sorted(indexed):
        try:
            for line in check(arguments.rnicsim, arguments.dir / name, index[name]):
                print(name + line)
                count += 1
        except OSError as error:
            print(f"{arguments.rnicsim}: {error.strerror}", file=sys.stderr)
            return 2
    print(f"{len(indexed)} files, {count} differences")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
