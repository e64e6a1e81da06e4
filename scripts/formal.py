#!/usr/bin/env python3
"""Proves what rtl-stubs/formal/proofs.toml says of the RTL, with Yosys.

formal.py [NAME...]           the proofs, or all of them
formal.py --faults [NAME...]  the same with planted faults: each has to bring a proof down
formal.py --list              names, methods and claims

Prints a line for each proof and set of parameters. Of one that fails, the assertion and the path of a waveform
(counterexample.vcd) under --work. Exit status 0; 1 if a proof fails, or holds in spite of a fault; 2 for a wrong usage.
"""
import argparse
import itertools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib

import gf2

ROOT = pathlib.Path(__file__).resolve().parent.parent
RTL = ROOT / "rtl-stubs"
TIMEOUT = 600  # seconds for one tool, on a busy machine

GATES = "opt -full -nodffe -nosdff; techmap; opt -fast -nodffe -nosdff; dffunmap; abc -g AND -fast; opt_clean"


class Failure(Exception):
    """A claim that is wrong, and where."""


class Undecided(Exception):
    """A tool that cannot say."""


def run(command, work, name):
    """Runs a tool in the folder work, with its output in name.log; returns exit status and output."""
    with open(work / f"{name}.log", "w", encoding="utf-8") as log:
        with subprocess.Popen(command, cwd=work, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              start_new_session=True) as tool:
            try:
                status = tool.wait(TIMEOUT)
            except subprocess.TimeoutExpired as late:
                os.killpg(tool.pid, signal.SIGKILL)  # with its solver
                raise Undecided(f"{command[0]} has taken {TIMEOUT} s without a result: {log.name}") from late
    return status, (work / f"{name}.log").read_text(encoding="utf-8", errors="replace")


def yosys(proof, parameters, sources, work, commands):
    top = f"{proof['name']}_proof"
    files = " ".join(str(sources / s) for s in [*proof["sources"], f"formal/{top}.sv"])
    chosen = "".join(f" -chparam {k} {v}" for k, v in parameters.items())
    script = f"read_verilog -formal -sv {files}; hierarchy -check -top {top}{chosen}; {commands}"
    (work / "proof.ys").write_text(script + "\n", encoding="utf-8")  # with -p, newer versions take commas for ends of commands
    status, output = run(["yosys", "-q", "-s", "proof.ys"], work, "yosys")
    if status != 0:
        raise Undecided(f"Yosys does not read it: {output.strip()}")


def solve(work, depth, *options):
    """One run of yosys-smtbmc on proof.smt2; a counterexample is a failure."""
    command = ["yosys-smtbmc", "--noprogress", "--unroll", "-s", "z3", "-t", str(depth), "--dump-vcd", "counterexample.vcd", *options]
    status, output = run([*command, "proof.smt2"], work, "smtbmc")
    if "Status: PASSED" in output and status == 0:
        return
    found = re.findall(r"Assert failed in (.*)", output)
    if not found:
        raise Undecided(f"yosys-smtbmc gave up: {work / 'smtbmc.log'}")
    raise Failure(f"{', '.join(found)}; see {work / 'counterexample.vcd'}")


def bounded(proof, parameters, sources, work):
    yosys(proof, parameters, sources, work, "prep -flatten; async2sync; dffunmap; write_smt2 -wires proof.smt2")
    solve(work, proof["depth"])


def inductive(proof, parameters, sources, work):
    """abc either finds an invariant that implies the assertions, or a way to break one, which z3 then walks along."""
    memories = "memory_map; setundef -init -zero; " if proof.get("zeros") else ""
    yosys(proof, parameters, sources, work, f"prep -flatten; async2sync; dffunmap; {memories}write_smt2 -wires proof.smt2; "
          f"chformal -cover -remove; {GATES}; write_aiger -zinit -map proof.aim proof.aig")
    smaller = "scleanup; lcorr; scorr; " if proof.get("zeros") else ""
    _, output = run(["yosys-abc", "-c", f"read_aiger proof.aig; fold; strash; {smaller}pdr; write_cex -a proof.aiw"], work, "abc")
    if "Property proved" in output:
        return
    if "was asserted in frame" not in output:
        raise Undecided(f"abc gave up: {work / 'abc.log'}")
    (work / "proof.aiw").write_text(witness((work / "proof.aiw").read_text(encoding="utf-8")), encoding="utf-8")
    (work / "proof.aim").write_text(latch_map((work / "proof.aim").read_text(encoding="utf-8")), encoding="utf-8")
    solve(work, 100, "--aig", "proof")
    raise Undecided(f"abc finds a counterexample that z3 does not: {work}")


def witness(text):
    """abc's counterexample in the form of the aiger tools: status, property and end around states and inputs."""
    lines = text.split("\n")
    return text if lines[0].strip() in ("1", "2") else "\n".join(["1", "b0", *lines, "."])


def latch_map(text):
    """Yosys' map without the line `ninitff`, which the yosys-smtbmc of the same Yosys (0.52) does not know."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("ninitff "))


def affine(proof, parameters, sources, work):
    yosys(proof, parameters, sources, work, "proc; flatten; opt_expr; opt_clean; techmap; opt_expr; opt_clean; "
          "write_json proof.json")
    try:
        net = gf2.Netlist(work / "proof.json", f"{proof['name']}_proof", proof.get("registers", {}))
        cases = {name: parameters.get(last, last) for name, last in proof["cases"].items()}
        for case in itertools.product(*(range(last + 1) for last in cases.values())):
            net.compare(*proof["equal"], dict(zip(cases, case)))
    except gf2.Refuted as refuted:
        raise Failure(str(refuted)) from refuted
    except gf2.Unsupported as unsupported:
        raise Undecided(str(unsupported)) from unsupported


METHODS = {"inductive": inductive, "bounded": bounded, "affine": affine}


def attempt(proof, parameters, sources, work):
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    METHODS[proof["method"]](proof, parameters, sources, work)


def described(proof, parameters):
    return " ".join([proof["name"], *(f"{k}={v}" for k, v in parameters.items())])


def prove(proof, work):
    """Whether the proof goes through for all its parameters."""
    proved = True
    for parameters in proof.get("parameters", [{}]):
        begin = time.monotonic()
        what = described(proof, parameters)
        try:
            attempt(proof, parameters, RTL, work / what.replace(" ", "_"))
            print(f"proved  {what} ({proof['method']}, {time.monotonic() - begin:.1f} s)", flush=True)
        except (Failure, Undecided) as failure:
            print(f"FAILED  {what}: {failure}", flush=True)
            proved = False
    return proved


def planted(fault, proof, work):
    """A copy of the sources with the fault in it."""
    copy = work / "sources"
    shutil.rmtree(copy, ignore_errors=True)
    for source in [*proof["sources"], f"formal/{proof['name']}_proof.sv"]:
        (copy / source).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(RTL / source, copy / source)
    text = (copy / fault["source"]).read_text(encoding="utf-8")
    if text.count(fault["text"]) != 1:
        raise ValueError(f"{proof['name']}: {fault['source']} has '{fault['text']}' {text.count(fault['text'])} times")
    (copy / fault["source"]).write_text(text.replace(fault["text"], fault["by"]), encoding="utf-8")
    return copy


def find_faults(proof, work):
    """Whether each fault brings the proof down, for one set of parameters at least."""
    found = True
    for fault in proof["faults"]:
        folder = work / f"{proof['name']}_{fault['name'].replace(' ', '_')}"
        sources = planted(fault, proof, folder)
        for parameters in proof.get("parameters", [{}]):
            try:
                attempt(proof, parameters, sources, folder / "proof")
            except Failure as failure:
                print(f"found   {described(proof, parameters)} with '{fault['name']}': {failure}", flush=True)
                break
        else:
            print(f"MISSED  {proof['name']} with '{fault['name']}': it still goes through", flush=True)
            found = False
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="proofs; all without one")
    parser.add_argument("--faults", action="store_true", help="plant faults, and expect the proofs to fail")
    parser.add_argument("--list", action="store_true", help="print what there is to prove")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/formal", help="folder for what the tools write")
    args = parser.parse_args()
    with open(RTL / "formal/proofs.toml", "rb") as file:
        proofs = {p["name"]: p for p in tomllib.load(file)["proof"]}
    unknown = [n for n in args.names if n not in proofs]
    if unknown:
        parser.error(f"no proof {', '.join(unknown)}; there are {', '.join(proofs)}")
    chosen = [proofs[n] for n in args.names or proofs]
    if args.list:
        for proof in chosen:
            print(f"{proof['name']} ({proof['method']}): {proof['claim']}")
        return 0
    step = find_faults if args.faults else prove
    return 0 if all([step(proof, args.work.resolve()) for proof in chosen]) else 1


if __name__ == "__main__":
    sys.exit(main())
