#!/usr/bin/env python3
"""Reads all our SystemVerilog with a second front end, slang, as what Verilator takes is not always legal.

check_sv.py [FILE...]    all blocks, proofs, checkers, benches, examples, adapters and the template; or the packages, the blocks and these files

slang comes as the Python package pyslang, of a pinned version, into a cache that all clones share (RNICSIM_CACHE, default
~/.cache/rnicsim). An error or a warning fails. Exit status 0; 1 where slang refuses something, or takes what it must refuse; 2 on
bad usage; 77 where the package is not available, which is said.
"""
import argparse
import fcntl
import os
import pathlib
import subprocess
import sys
import tempfile
import venv

sys.dont_write_bytecode = True
import rtl_adapter

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = "12.1.0"

# Runs in slang's own environment: reads the files of its arguments as one compilation, and prints what is wrong with them.
READ = """
import sys
from pyslang import driver
d = driver.Driver()
d.addStandardArgs()
good = d.parseCommandLine("slang -Werror " + " ".join(f'"{name}"' for name in sys.argv[1:])) and d.processOptions() and d.parseAllSources()
sys.exit(0 if good and d.reportCompilation(d.createCompilation(), True) and d.reportDiagnostics(True) else 1)
"""

# Verilator takes this: a name that is used before its declaration (IEEE 1800-2017, section 6.5).
ILLEGAL = """module used_too_early(input logic i, output logic o);
  assign o = later;
  logic later;
  assign later = !i;
endmodule
"""


def front_end():
    """The interpreter that has pyslang; None if it is not available, with the reason printed."""
    cache = pathlib.Path(os.environ.get("RNICSIM_CACHE") or
                         pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "rnicsim")
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / f"slang-{VERSION}"
    with open(cache / f"slang-{VERSION}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            try:
                venv.create(folder, with_pip=True, clear=True)
                subprocess.run([folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", f"pyslang=={VERSION}"],
                               check=True, stderr=subprocess.PIPE, text=True, timeout=300)
            except (OSError, subprocess.SubprocessError) as error:
                said = getattr(error, "stderr", None) or getattr(error, "output", None) or error
                said = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
                print(f"check_sv: skipped: pyslang {VERSION} cannot be installed: {said.strip().splitlines()[-1]}")
                return None
            (folder / "complete").touch()
    return folder / "bin/python3"


def read(python, files):
    """Reads files as one compilation. Returns what slang says, or nothing where all is right."""
    done = subprocess.run([python, "-c", READ, *map(str, files)], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    return (done.stdout + done.stderr).strip() if done.returncode else ""


def compilations(folder):
    """Each set of files, and options, that belongs together, by name. Of two modules of one name, the later file's stands."""
    blocks = [file for folder in ("include", "rtl", "adapter") for file in sorted(ROOT.glob(f"rtl-stubs/{folder}/*.sv"))]
    checkers = sorted(ROOT.glob("rtl-stubs/checkers/*_checker.sv"))
    yield "rtl-stubs/rtl", blocks
    bound = blocks + sorted(ROOT.glob("rtl-stubs/checkers/*.sv"))
    yield "rtl-stubs/checkers", bound
    yield "rtl-stubs/checkers, level 2", ["-DRNIC_SVA_FULL", *bound]
    shared = [*blocks, *checkers, ROOT / "rtl-stubs/golden/rnic_golden_pkg.sv"]
    for pattern in ("rtl-stubs/formal/*.sv", "rtl-stubs/examples/*/*.sv", "testbench/**/*.sv", "scripts/templates/*.sv"):
        for file in sorted(ROOT.glob(pattern)):
            others = [other for other in shared if other.name != file.name]
            yield str(file.relative_to(ROOT)), ["--include-directory=rtl-stubs/golden", *others, file]
    foreign = sorted(ROOT.glob("testbench/golden/foreign/*.sv"))
    bound = [ROOT / "rtl-stubs/checkers/axis_checker.sv", ROOT / "testbench/cosim/adapted_bind.svh"]
    for file in sorted(ROOT.glob("testbench/golden/foreign/*.toml")):
        _, files, _ = rtl_adapter.adapter(rtl_adapter.read_map(file), folder, foreign)
        yield f"the wrapper by {file.relative_to(ROOT)}", rtl_adapter.Packages().files + files + bound


def check(python, folder, files):
    """Reads all compilations, or these files beside the blocks; wrappers are written in `folder`. Returns the number of problems."""
    sets = list(compilations(folder))
    if files:
        sets = [("the given files", sets[0][1] + [file.resolve() for file in files])]
    failed = 0
    for name, together in sets:
        said = read(python, together)
        if said:
            print(f"check_sv: {name}\n{said}")
            failed += 1
    print(f"check_sv: {len(sets)} compilations, {failed} problems")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="FILE", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    for file in options.files:
        if not file.is_file():
            parser.error(f"{file}: no such file")
    python = front_end()
    if python is None:
        return 77
    planted = python.parent.parent / "used_too_early.sv"
    planted.write_text(ILLEGAL, encoding="utf-8")
    failed = 0
    if "used before its declaration" not in read(python, [planted]):
        print("check_sv: slang takes a name that is used before its declaration")
        failed += 1
    with tempfile.TemporaryDirectory() as folder:
        failed += check(python, folder, options.files)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
