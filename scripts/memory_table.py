"""The memories of a scenario's chips as a table, and what twice of something costs; for area.py.

All figures are rnicsim's: of `rnicsim config --memories`, or of a run's stats.json, which has the same form. A memory is a part
of the statistics with `entries`, `bits` and `size` (model/common/pool.md).
"""
import json
import pathlib
import subprocess

# What may double, and its setting.
DOUBLED = (("queue pairs", "rnic.context.qps"), ("STags", "rnic.context.stags"), ("page table entries", "rnic.context.pages"),
           ("completion queues", "rnic.context.cqs"), ("TCP flows", "rnic.tcp.max_flows"),
           ("SCTP associations", "rnic.sctp.max_associations"), ("receive reorder memory", "rnic.tcp.reorder_bytes"))
HEAD = ("memory", "entries", "used", "bits", "ports", "banks", "KiB", "most reads a cycle")


class Refused(Exception):
    """What rnicsim says."""


def rnicsim(program, *arguments):
    run = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise Refused(run.stderr.strip() or run.stdout.strip())
    return json.loads(run.stdout)


def memories(stats):
    """{node: {path: {figure: value}}}, in the order of the statistics."""
    def visit(part, path, found):
        if not isinstance(part, dict):
            return found
        if all("value" in part.get(key, {}) for key in ("entries", "bits", "size")):
            found[".".join(path)] = {key: figure["value"] for key, figure in part.items() if "value" in figure}
            return found
        for name, inner in part.items():
            visit(inner, [*path, name], found)
        return found
    nodes = {node: visit(parts, [], {}) for node, parts in stats["stats"].items()}
    return {node: found for node, found in nodes.items() if found}


def kib(found):
    """Of all memories of a node together."""
    return sum(memory["size"] for memory in found.values()) / 1024


def of_setting(settings, path):
    for name in path.split("."):
        settings = settings[name]
    return settings


def rows(found, was_run):
    for path, memory in found.items():
        yield (path, f"{memory['entries']:.0f}", f"{memory['used']:.0f}" if was_run else "-", f"{memory['bits']:.0f}",
               *(f"{memory[key]:.0f}" if key in memory else "-" for key in ("ports", "banks")), f"{memory['size'] / 1024:.1f}",
               f"{memory['most_accesses']:.0f}" if was_run and "most_accesses" in memory else "-")
    yield ("all", "", "", "", "", "", f"{kib(found):.1f}", "")


def aligned(table):
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    return [(row[0].ljust(widths[0]) + "".join("  " + cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))).rstrip()
            for row in table]


def doubled(program, scenario, given):
    """Of each setting of DOUBLED: its name, from, to, and KiB more of a node each, or why there are none."""
    before = memories(rnicsim(program, "config", "--memories", *given, scenario))
    settings = rnicsim(program, "config", "--dump", *given, scenario)
    for name, path in DOUBLED:
        value = of_setting(settings, path)
        try:
            after = memories(rnicsim(program, "config", "--memories", *given, "--set", f"{path}={2 * value}", scenario))
        except Refused as refused:
            yield name, path, value, None, str(refused)
            continue
        yield name, path, value, {node: kib(after[node]) - kib(found) for node, found in before.items()}, ""


def of_run(file):
    """The statistics a run left in `file`. Raises Refused for a file that is none: it may be cut off, or somebody else's."""
    try:
        stats = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Refused(f"{file}: not the statistics of a run: {error}") from error
    if not isinstance(stats, dict) or not isinstance(stats.get("stats"), dict):
        raise Refused(f"{file}: not the statistics of a run: it has no 'stats'")
    return stats


def write(program, scenario, run=None, assignments=()):
    """Prints both tables. `run`: the folder of a run, whose figures are shown."""
    given = [argument for assignment in assignments for argument in ("--set", assignment)]
    if run is None:
        stats = rnicsim(program, "config", "--memories", *given, scenario)
    else:
        stats = of_run(pathlib.Path(run) / "stats.json")
    tables = {node: "\n".join(aligned([HEAD, *rows(found, run is not None)])) for node, found in memories(stats).items()}
    for text in dict.fromkeys(tables.values()):
        print(f"{', '.join(node for node, its in tables.items() if its == text)}:\n{text}\n")
    if run is not None:
        return
    print("Twice as many cost, in KiB of a chip:")
    table = []
    for name, path, value, more, why in doubled(program, scenario, given):
        costs = ", ".join(dict.fromkeys(f"{cost:.1f}" for cost in more.values())) if more is not None else why
        table.append((name, f"{path} {value}", costs))
    print("\n".join(f"{name:<24}{setting:<34}{costs}" for name, setting, costs in table))
