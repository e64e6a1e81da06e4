#!/usr/bin/env python3
"""Follows the README's list "Adding a stage" in a scratch copy of this tree, and tries what comes of it.

new_stage.py [--twin] [--build FOLDER] [--keep]

Adds the stage of scripts/templates, `pass_through`, between crc_check and ddp_placement; with --twin its SystemVerilog too. Builds
it, runs its test and the chip's, runs traces/quickstart.json, and looks for its settings, statistics, waves and trace events; with
--twin it runs the co-simulation and the scenario with the twin in the stage's place as well. The files that are touched have to be
those that the list names, and each of the list has to be touched.

The scratch copy is this tree under an overlay in a mount namespace, seen by this script alone: FOLDER (build/release) is built as far
as it has been here, and nothing here is changed. Where there are no such namespaces it is a copy in a temporary folder, built from
nothing; --keep keeps that.
Exit status 0; 1 where anything is missing; 2 on bad usage.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME, CLASS = "pass_through", "PassThrough"
INSIDE = "RNIC_NEW_STAGE_INSIDE"  # in the namespace: the folder of the overlay
SCENARIO = "traces/quickstart.json"


class Failed(Exception):
    """What is missing."""


def run(*command, cwd, **options):
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise Failed(f"{' '.join(str(part) for part in command)}: exit status {done.returncode}\n"
                     + "\n".join((done.stdout + done.stderr).splitlines()[-30:]))
    return done.stdout


class Tree:
    """A copy of the tree, and what is done to it."""

    def __init__(self, root):
        self.root, self.touched = root, []

    def add(self, path, template):
        """A file from its template."""
        shutil.copyfile(self.root / "scripts/templates" / template, self.root / path)
        self.touched.append(path)

    def edit(self, path, *changes):
        """Texts of which each stands once in the file, and what takes their place."""
        text = (self.root / path).read_text()
        for old, new in changes:
            if text.count(old) != 1:
                raise Failed(f"{path}: {text.count(old)} times: {old}")
            text = text.replace(old, new)
        (self.root / path).write_text(text)
        self.touched.append(path)


def add_stage(tree):
    for suffix in "h", "cpp", "md":
        tree.add(f"model/rnic/rx/{NAME}.{suffix}", f"{NAME}.{suffix}")
    tree.edit("model/rnic/rnic_config.h",
              ('#include "model/rnic/rx/mpa_deframer.h"\n', f'#include "model/rnic/rx/mpa_deframer.h"\n#include "model/rnic/rx/{NAME}.h"\n'),
              ("  CrcCheckConfig crc_check;\n", f"  CrcCheckConfig crc_check;\n  {CLASS}Config {NAME};\n"),
              ('    v.group("crc_check", &RxConfig::crc_check);\n',
               f'    v.group("crc_check", &RxConfig::crc_check);\n    v.group("{NAME}", &RxConfig::{NAME});\n'))
    tree.edit("model/rnic/rnic.h", ("  CrcCheck crc_check;\n", f"  CrcCheck crc_check;\n  {CLASS} {NAME};\n"))
    tree.edit("model/rnic/rnic.cpp",
              ('      crc_check("crc_check", clk),\n', f'      crc_check("crc_check", clk),\n      {NAME}("{NAME}", clk),\n'),
              ("  net_.connect(mpa_deframer.out, crc_check.in,",
               f'  net_.connect(crc_check.out, {NAME}.in, "rx.passed", LinkConfig::pipeline(config_.rx.crc_check))\n'
               "      .traced_as(TraceKind::kFpduReceived);\n"
               "  net_.connect(mpa_deframer.out, crc_check.in,"),
              ("tcp_tx.acked, crc_check.out,", f"tcp_tx.acked, {NAME}.out,"),
              # The latency of a stage is in its output link.
              ('{"rx.checked", LinkConfig::pipeline(config_.rx.crc_check)}', f'{{"rx.checked", LinkConfig::pipeline(config_.rx.{NAME})}}'))
    arrow = f"{NAME} → "
    tree.edit("README.md", ("            ddp_placement → rdmap_dispatch" + " " * len(arrow),
                            f"            {arrow}ddp_placement → rdmap_dispatch"))
    tree.edit("model/report/page/diagram.js", ('  ["rqe_fetch", 3, 2, ', f'  ["{NAME}", 2, 2, [], "{NAME}.fpdus"],\n  ["rqe_fetch", 3, 2, '))
    tree.add(f"testbench/unit/rnic/rx/{NAME}_test.cpp", f"{NAME}_test.cpp")


def add_twin(tree):
    tree.add(f"rtl-stubs/rtl/{NAME}.sv", f"{NAME}.sv")
    tree.add(f"rtl-stubs/verilated/{NAME}_pins.h", f"{NAME}_pins.h")
    tree.edit("rtl-stubs/CMakeLists.txt",
              ("rnic_verilate(mpa_deframer include/rnic_messages_pkg.sv)\n", f"rnic_verilate({NAME})\nrnic_verilate(mpa_deframer include/rnic_messages_pkg.sv)\n"))
    tree.edit("rtl-stubs/verilated/stream_twins.cpp",
              ('#include "rtl-stubs/verilated/twin_of.h"\n',
               f'#include "rtl-stubs/verilated/{NAME}_pins.h"\n#include "rtl-stubs/verilated/twin_of.h"\n'),
              ('      {"sctp_crc_check", twin_of<CrcCheckPins>},\n',
               f'      {{"sctp_crc_check", twin_of<CrcCheckPins>}},\n      {{"{NAME}", twin_of<{CLASS}Pins>}},\n'))
    tree.add(f"testbench/cosim/{NAME}_cosim_test.cpp", f"{NAME}_cosim_test.cpp")


def listed(page, twin):
    """The files that the README's list names: paths in backquotes, of which one that begins with a dot is another suffix."""
    section = page.split("## Adding a stage\n", 1)[1].split("\n## ", 1)[0]
    steps = [step.split("\n\n", 1)[0] for step in re.split(r"^(?=\d+\. )", section, flags=re.M) if re.match(r"\d+\. ", step)]
    files = set()
    for step in steps:
        if "twin" in step.split(":", 1)[0].lower() and not twin:
            continue
        last = None
        for word in re.findall(r"`([^`\n]+)`", step.replace("NAME", NAME)):
            if re.fullmatch(r"\.\w+", word) and last:
                files.add(last.rpartition(".")[0] + word)
            elif re.fullmatch(r"[\w./-]*\.(h|cpp|js|md|sv|txt)", word) and not word.startswith("scripts/"):
                files.add(word)
                last = word
    return files


def expect(what, found):
    print(f"  {'found' if found else 'MISSING'}: {what}")
    if not found:
        raise Failed(f"{what} is missing")


def built(tree, build, targets):
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", os.cpu_count())
    run("cmake", "--build", build, "--target", *targets, "-j", jobs, cwd=tree.root)


def scenario(tree, build, out, *options):
    """Its statistics."""
    run(build / "bin/rnicsim", "run", SCENARIO, "--out", out, *options, cwd=tree.root)
    return json.loads((out / "stats.json").read_text())


def look(tree, build, out):
    """Everything that a new stage has without a line for it."""
    program = build / "bin/rnicsim"
    settings = run(program, "config", "--list", cwd=tree.root)
    expect(f"setting rnic.rx.{NAME}.pipeline_cycles", f"rnic.rx.{NAME}.pipeline_cycles " in settings)
    run("scripts/page_tables.py", "--program", program, "--write", f"model/rnic/rx/{NAME}.md", cwd=tree.root)
    page = (tree.root / f"model/rnic/rx/{NAME}.md").read_text()
    expect("its settings and counters on its page", "| `pipeline_cycles` |" in page and "| `fpdus` |" in page)
    run("scripts/page_tables.py", "--program", program, cwd=tree.root)
    run("scripts/check_includes.py", "--build", build, cwd=tree.root)
    run(build / "bin/chip_test", cwd=tree.root)
    expect("the stage in the README's diagram", True)
    wave, log = out / "w.vcd", out / "log.tsv"
    stats = scenario(tree, build, out, "--wave", wave, "--wave-to", "1us", "--trace", log, "--stats-every", "1us")
    counted = stats["stats"]["a"]["rnic"].get(NAME, {}).get("fpdus", {})
    expect(f"counter a.rnic.{NAME}.fpdus, with unit and description, and more than 100",
           counted.get("unit") == "FPDUs" and counted.get("description") and counted.get("value", 0) > 100)
    text = wave.read_text().split("$enddefinitions", 1)[0]
    signals = re.search(r"\$scope \w+ passed \$end\n((?:\$var .*\n)+)", text)
    signals = set(re.findall(r"\$var \w+ \d+ \S+ (\w+)", signals[1])) if signals else set()
    expect("waves of link rx.passed with all fields of its messages", {"valid", "ready", "credit", "flow", "crc_ok", "words"} <= signals)
    events = [line for line in log.read_text().splitlines() if ".rx.passed\t" in line or "\trx.passed\t" in line]
    expect("trace events of link rx.passed", len(events) > 100)
    accounts = [account["name"] for account in stats["occupancy"] if account["node"] == "a"]
    expect(f"account {NAME}.beats, behind the others", accounts and accounts[-1] == f"{NAME}.beats")
    series = json.loads((out / "series.json").read_text())["columns"]
    expect(f"column a.{NAME}.fpdus of the series", any(c["name"] == f"a.{NAME}.fpdus" and c["unit"] == "FPDUs/s" for c in series))
    subprocess.run([program, "run", SCENARIO, "--out", out / "bad", "--trace", log, "--set", "link.forward.corrupt_repaired.frames=20"],
                   cwd=tree.root, capture_output=True)  # its stream ends
    drops = [line for line in log.read_text().splitlines() if f".{NAME}\tdropped\t" in line and "passed on with a wrong CRC" in line]
    expect("drops of the stage in the trace", drops)
    return stats


def look_at_twin(tree, build, out, plain):
    run(build / "bin/cosim_test", f"--gtest_filter=*{CLASS}*", cwd=tree.root)
    expect("a co-simulation that passes", True)
    stats = scenario(tree, build, out / "rtl", "--rtl", NAME)
    expect("the same digest with the twin in the stage's place", stats["digest"] == plain["digest"])


def try_it(root, build, twin):
    tree = Tree(root)
    before = (root / "README.md").read_text()
    add_stage(tree)
    if twin:
        add_twin(tree)
    named = listed(before, twin)
    if named != set(tree.touched):
        raise Failed(f"the README's list names {sorted(named - set(tree.touched))} more, and not {sorted(set(tree.touched) - named)}")
    print(f"{len(tree.touched)} files, as the README lists them:", *sorted(tree.touched), sep="\n  ", flush=True)
    if not (build / "build.ninja").is_file():
        run("cmake", "--preset", "release", cwd=root)
    built(tree, build, ["rnicsim", "chip_test", "rx_test", *(["rnicsim_rtl", "cosim_test"] if twin else [])])
    run(build / "bin/rx_test", f"--gtest_filter={CLASS}*", cwd=root)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        stats = look(tree, build, out)
        if twin:
            look_at_twin(tree, build, out, stats)
    print("passed")


def in_namespace(arguments):
    """This script once more with an overlay over the tree, or None where that cannot be."""
    with tempfile.TemporaryDirectory(prefix="new_stage.") as folder:
        if ROOT in pathlib.Path(folder).parents:
            return None
        upper, work = pathlib.Path(folder, "upper"), pathlib.Path(folder, "work")
        upper.mkdir()
        work.mkdir()
        mount = f"lowerdir={ROOT},upperdir={upper},workdir={work}"
        own = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
        with_overlay = [*own, "sh", "-c", 'mount -t overlay overlay -o "$0" "$1" && shift && exec "$@"', mount, ROOT]
        if not shutil.which("unshare") or subprocess.run([*with_overlay, "true"], capture_output=True).returncode != 0:
            return None
        return subprocess.run([*with_overlay, sys.executable, "-B", __file__, *arguments], cwd=folder,
                              env={**os.environ, INSIDE: folder}).returncode


def copy_of_tree(folder):
    keep_out = shutil.ignore_patterns("build", ".git", "__pycache__")
    shutil.copytree(ROOT, folder, ignore=lambda at, names: keep_out(at, names) if pathlib.Path(at) == ROOT else set())
    return folder


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--twin", action="store_true")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args(arguments)
    build = options.build.resolve()
    try:
        if INSIDE in os.environ:
            try_it(ROOT, build, options.twin)
            return 0
        if ROOT in build.parents:
            status = in_namespace(["--build", str(build), *(["--twin"] if options.twin else [])])  # from another folder
            if status is not None:
                return status
        print("no overlay can be mounted here: a copy is built from nothing, which takes minutes", flush=True)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="new_stage."))
        try:
            tree = copy_of_tree(folder / "tree")
            try_it(tree, tree / "build/release", options.twin)
        finally:
            if options.keep:
                print(f"the copy is {folder / 'tree'}")
            else:
                shutil.rmtree(folder)
        return 0
    except Failed as failed:
        print(f"new_stage.py: {failed}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
