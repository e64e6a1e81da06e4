#!/usr/bin/env python3
"""What the chip takes: the size of RTL modules, or of memories.

Synthesizes the modules of rtl-stubs/rtl with Yosys, for gates that no technology is meant with, and prints their size:

area.py [MODULE...] [--beat-bytes N,N...]   a table: cells, flip-flops and logic depth, for each datapath width
area.py --read                              only reads every module at each width, and says which Yosys does not take

Prints the memories of a scenario's chips, and what twice the queue pairs, STags, pages, completion queues, flows, SCTP
associations or reorder memory cost:

area.py --memories [SCENARIO] [--set KEY=VALUE]... [--program FILE]   without a run; traces/quickstart.json without a scenario
area.py --memories --run FOLDER                                       of a run: also how many entries were used at a time, and
                                                                      the most reads in a cycle

Columns: entries that there may be, here or in their home; used: at a time, of a table since the start; bits of an entry, of an
element with its link; read ports of each bank; KiB on the chip. All figures are rnicsim's (`config --memories`, stats.json).

A module with the parameter BeatBytes has a line for each width, others have one. Cells are gates of two inputs,
multiplexers, inverters and flip-flops; the depth is the longest way through gates and multiplexers from a port or
register to the next. Exit status 0; 1 where Yosys does not take a module; 2 for a wrong usage, or where rnicsim refuses.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import memory_table

ROOT = pathlib.Path(__file__).resolve().parent.parent
RTL = ROOT / "rtl-stubs"
SYNTH = ("proc; chformal -remove; synth -flatten -noabc; abc -g AND,NAND,OR,NOR,XOR,XNOR,MUX "
         "-script +strash;ifraig;balance;dch,-f;map; opt_clean")  # for depth, as adders are meant


class Refused(Exception):
    """What Yosys says of a module that it does not take."""


def with_defaults(text, parameters):
    """The module's text with other defaults. Yosys 0.23 fails an assertion of its own where -chparam chooses them for
    ddp_placement."""
    for name, value in parameters.items():
        text, found = re.subn(rf"(parameter int unsigned {name} += )\d+", rf"\g<1>{value}", text)
        if found != 1:
            raise ValueError(f"{name} is no parameter with a number as its default")
    return text


def yosys(module, parameters, commands):
    """Runs commands on a module with everything it may use; returns what Yosys prints."""
    sources = {p.stem: p for p in sorted(RTL.glob("rtl/*.sv"))}
    with tempfile.NamedTemporaryFile("w", suffix=f"_{module}.sv", encoding="utf-8") as chosen:
        if parameters:
            chosen.write(with_defaults(sources[module].read_text(encoding="utf-8"), parameters))
            chosen.flush()
            sources[module] = chosen.name
        packages = " ".join(str(p) for p in sorted(RTL.glob("include/*.sv")))
        modules = " ".join(str(p) for p in sources.values())
        script = (f"read_verilog -sv {packages}; read_verilog -sv -defer {modules}; "
                  f"hierarchy -check -top {module}; {commands}")
        # Not by -p, with which newer versions take commas for ends of commands.
        with tempfile.NamedTemporaryFile("w", suffix=".ys", encoding="utf-8") as commands_file:
            commands_file.write(script + "\n")
            commands_file.flush()
            run = subprocess.run(["yosys", "-Q", "-T", "-s", commands_file.name], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise Refused(f"{module}: {run.stderr.strip() or run.stdout.strip().splitlines()[-1]}")
    return run.stdout


def size(module, parameters):
    """Cells, flip-flops and depth."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as stat:
        output = yosys(module, parameters, f"{SYNTH}; tee -q -o {stat.name} stat -json; ltp -noff")
        counts = json.load(stat)["design"]["num_cells_by_type"]
    depth = re.search(r"Longest topological path in .* \(length=(\d+)\)", output)
    flip_flops = sum(n for cell, n in counts.items() if "DFF" in cell)
    return sum(counts.values()), flip_flops, int(depth.group(1)) if depth else 0


def widths(module, asked):
    """The parameters of the module for each width; none for its own default, and for a module without beats."""
    text = (RTL / f"rtl/{module}.sv").read_text(encoding="utf-8")
    default = re.search(r"parameter int unsigned BeatBytes += (\d+)", text)
    if not default:
        return {"-": {}}
    return {width: {} if width == default.group(1) else {"BeatBytes": width} for width in asked.split(",")}


def write_memories(parser, args):
    if len(args.modules) > 1 or (args.run and (args.modules or args.set)):
        parser.error("--memories takes one scenario with its --set, or --run")
    scenario = args.modules[0] if args.modules else ROOT / "traces/quickstart.json"
    try:
        memory_table.write(args.program, scenario, args.run, args.set)
    except (memory_table.Refused, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="all without one; with --memories a scenario")
    parser.add_argument("--beat-bytes", default="16,32,64,128", help="datapath widths in octets, separated by commas")
    parser.add_argument("--read", action="store_true", help="read the modules, no more")
    parser.add_argument("--memories", action="store_true", help="the chips' memories instead of modules")
    parser.add_argument("--run", type=pathlib.Path, metavar="FOLDER", help="of --memories: a run's folder")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of --memories: as of rnicsim")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/rnicsim", help="of --memories: rnicsim")
    args = parser.parse_args()
    if args.memories:
        return write_memories(parser, args)
    known = sorted(p.stem for p in RTL.glob("rtl/*.sv"))
    unknown = [m for m in args.modules if m not in known]
    if unknown:
        parser.error(f"no module {', '.join(unknown)}; there are {', '.join(known)}")
    status = 0
    if not args.read:
        print(f"{'module':<20}{'octets a beat':>14}{'cells':>9}{'flip-flops':>12}{'depth':>7}", flush=True)
    for module in args.modules or known:
        for width, parameters in widths(module, args.beat_bytes).items():
            try:
                if args.read:
                    yosys(module, parameters, "proc; check -assert")
                    print(f"read    {module} {width}", flush=True)
                    continue
                cells, flip_flops, depth = size(module, parameters)
                print(f"{module:<20}{width:>14}{cells:>9}{flip_flops:>12}{depth:>7}", flush=True)
            except Refused as refused:
                print(f"REFUSED {refused}", flush=True)
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
