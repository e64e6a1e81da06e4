#!/usr/bin/env python3
"""Builds a shared library of one block's RTL, for `rnicsim run SCENARIO --rtl crc_check=./libmine.so`. Also called `rnicsim rtl`.

    rnicsim rtl mine.toml mine.sv [more.sv] -o libmine.so     a module with pins of its own, by its port map
    rnicsim rtl crc_check mine.sv [more.sv] -o libmine.so     a module with the pins of the block crc_check

Verilates the sources, compiles them with the C++ compiler and links a library that exports one symbol, rnic_rtl_1
(rtl-stubs/loaded/rnic_rtl.h). Results are kept in a cache, $RNICSIM_CACHE/rtl, by the SHA-256 of all that they depend on."""
import argparse
import atexit
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

import rtl_adapter
from rtl_adapter import BLOCKS, nearest

STUBS = pathlib.Path(__file__).resolve().parent.parent / "rtl-stubs"
LOADED = STUBS / "loaded"
ABI = 1  # RNIC_RTL_ABI of rnic_rtl.h
PACKAGES = ("rnic_stream_pkg", "rnic_messages_pkg", "rnic_crc32c_pkg", "rnic_ddp_pkg")  # in the order of their use
LINT = ("-Wno-fatal", "-Wno-lint", "-Wno-style", "-Werror-USERERROR", "-Werror-USERFATAL")  # its style is no concern of ours
VERILATOR = ("--cc", "--assert", "-O3", "--x-assign", "fast", "--x-initial", "fast", *LINT)
COMPILER = ("-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-fno-gnu-unique", "-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TRACE_FST=0",
            "-DVL_PRINTF=rnic_rtl_print")
MOST_LINES = 40  # of what a tool says
LIMIT = 2 << 30  # octets that the libraries in the cache take


class RtlError(Exception):
    """A sentence for the user: what is missing or wrong, and what would do."""


def tool(name, why):
    path = shutil.which(name)
    if path is None:
        raise RtlError(f"{name} is missing: {why}")
    return path


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


class Tools:
    """Verilator and the compiler, with what tells their versions apart."""

    def __init__(self):
        self.verilator = tool("verilator", "it makes C++ of SystemVerilog; on Debian `apt install verilator` brings it")
        self.compiler = tool(os.environ.get("CXX", "c++"), "it compiles what Verilator makes; on Debian `apt install g++` brings it")
        self.root = pathlib.Path(output_of(self.verilator, "--getenv", "VERILATOR_ROOT"))
        self.version = output_of(self.verilator, "--version") + "\n" + output_of(self.compiler, "--version").split("\n", 1)[0]

    def flags(self, trace):
        include = self.root / "include"
        return (*COMPILER, f"-DVM_TRACE={int(trace)}", f"-DVM_TRACE_VCD={int(trace)}", f"-I{LOADED}", "-isystem", str(include), "-isystem",
                str(include / "vltstd"), "-include", str(LOADED / "print.h"))


def cache_folder():
    home = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "rnicsim"
    return pathlib.Path(os.environ.get("RNICSIM_CACHE") or home) / "rtl"


def key_of(*parts):
    """SHA-256 of texts and files."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.read_bytes() if isinstance(part, pathlib.Path) else str(part).encode()
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()


@contextlib.contextmanager
def locked(folder, name):
    """One process at a time builds what has this name."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def trim(folder, limit=LIMIT):
    """The libraries used longest ago go, until the rest fits."""
    files = sorted(folder.glob("*/lib.so"), key=lambda f: f.stat().st_mtime, reverse=True)
    size = 0
    for file in files:
        size += file.stat().st_size
        if size > limit and file is not files[0]:
            shutil.rmtree(file.parent, ignore_errors=True)
            (folder / f"{file.parent.name}.lock").unlink(missing_ok=True)


def run(command, what):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        more = [f"… and {len(lines) - MOST_LINES} lines"] if len(lines) > MOST_LINES else []
        raise RtlError("\n".join([f"{what}:", *lines[:MOST_LINES], *more]))
    return done.stdout


def made(key, name, cache, make):
    """The file of the cache with this key, made if it is not there."""
    if not cache:
        folder = tempfile.TemporaryDirectory(prefix="rnicsim-rtl-")
        atexit.register(folder.cleanup)
        make(pathlib.Path(folder.name) / name)
        return pathlib.Path(folder.name) / name
    root = cache_folder()
    file = root / key / name
    with locked(root, key):
        if not file.exists():
            with tempfile.TemporaryDirectory(dir=root) as folder:
                make(pathlib.Path(folder) / name)
                file.parent.mkdir(exist_ok=True)
                os.replace(pathlib.Path(folder) / name, file)
        file.touch()
    trim(root)
    return file


def runtime(tools, trace, cache):
    """Verilator's own part, one object for all libraries."""
    names = ["verilated.cpp", "verilated_threads.cpp"] + ["verilated_vcd_c.cpp"] * trace
    sources = [tools.root / "include" / name for name in names]

    def make(file):
        unit = file.with_suffix(".cpp")
        unit.write_text("".join(f'#include "{source}"\n' for source in sources), encoding="utf-8")
        run([tools.compiler, *tools.flags(trace), "-c", str(unit), "-o", str(file)], "the compiler refuses Verilator's runtime")

    return made(key_of("runtime", tools.version, tools.flags(trace), LOADED / "print.h", *sources), "runtime.o", cache, make)


PORT = re.compile(r"VL_(IN|OUT)(?:8|16|64|W)?\(&(\w+),(\d+),(\d+)")


def ports_of(header):
    """(name, bits, direction) of each port in the header of Verilator's class."""
    return [(name, int(high) - int(low) + 1, direction) for direction, name, high, low in PORT.findall(header.read_text(encoding="utf-8"))]


def export(block, parameters, ports):
    """The C++ that gives Verilator's class the interface of rnic_rtl.h."""
    rows = "".join(f'    {{"{name}", {bits}, RNIC_RTL_{direction}PUT}},\n' for name, bits, direction in ports)
    cases = "".join(f"    case {i}: return &v.{name};\n" for i, (name, _, _) in enumerate(ports))
    text = json.dumps(json.dumps(parameters, sort_keys=True))
    return f"""#include "Vrtl.h"
#include "exported.h"
namespace {{
constexpr rnic_rtl_port kPorts[] = {{
{rows}}};
void* address_of(Vrtl& v, std::uint32_t port) {{
  switch (port) {{
{cases}    default: return nullptr;
  }}
}}
}}
extern "C" __attribute__((visibility("default"))) const rnic_rtl rnic_rtl_1 =
    rnic_rtl_export::table<Vrtl, address_of>("{block}", {text}, kPorts, {len(ports)});
"""


INCLUDE = re.compile(r'^\s*`include\s+"([^"]+)"', re.MULTILINE)


def included(sources):
    """The files that sources include, and those that these include: beside the one that does, or in the folder at work."""
    found, left = [], list(sources)
    while left:
        source = left.pop()
        for name in INCLUDE.findall(source.read_text(encoding="utf-8", errors="replace")):
            file = next((folder / name for folder in (source.parent, pathlib.Path()) if (folder / name).is_file()), None)
            if file is not None and file not in found:  # one that is nowhere is Verilator's to refuse
                found.append(file)
                left.append(file)
    return found


def verilate(tools, top, sources, parameters, trace, folder):
    packages = [STUBS / "include" / f"{name}.sv" for name in PACKAGES]
    command = [tools.verilator, *VERILATOR, *["--trace"] * trace, "--top-module", top, "--prefix", "Vrtl", "--Mdir", str(folder)]
    command += [f"-G{name}={value}" for name, value in sorted(parameters.items())]
    command += [f"-I{folder}" for folder in sorted({str(source.parent) for source in sources})]
    for library in (STUBS / "rtl", STUBS / "adapter"):
        command += ["-y", str(library)]
    run([*command, *map(str, packages), *map(str, sources)], f"Verilator refuses {', '.join(str(s) for s in sources)}")


def build(block, sources, top=None, parameters=None, out=None, cache=True, trace=False, more_keys=(), tells=False):
    """Builds the library of `block` from SystemVerilog `sources` whose module `top` has the block's pins (the block's name unless
    given), with the parameters of that module. `out`: the file to write, or None for the cache's own. `trace`: with the signals
    inside. `more_keys`: texts or files that the result depends on beside these. `tells`: says on standard error what it builds.
    Returns the path. RtlError says what is wrong."""
    parameters = dict(parameters or {})
    top = top or block
    sources = [pathlib.Path(source) for source in sources]
    for source in sources:
        if not source.is_file():
            raise RtlError(f"{source}: there is no such file")
    tools = Tools()
    own = [file for folder in ("include", "rtl", "adapter") for file in sorted((STUBS / folder).glob("*.sv"))]
    own += [LOADED / name for name in ("exported.h", "print.h", "rnic_rtl.h", "rnic_rtl.map")]
    key = key_of("lib", ABI, block, top, json.dumps(parameters, sort_keys=True), tools.version, VERILATOR, tools.flags(trace), *own, *sources,
                 *included(sources), *more_keys)

    def make(file):
        if tells:
            named = ", ".join(f"{name} = {value}" for name, value in sorted(parameters.items()))
            print(f"rnicsim: building RTL of {block}" + f" with {named}" * bool(named), file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="rnicsim-rtl-") as name:
            folder = pathlib.Path(name)
            verilate(tools, top, sources, parameters, trace, folder)
            unit = folder / "all.cpp"
            parts = sorted(part.name for part in folder.glob("Vrtl*.cpp"))
            text = "".join(f'#include "{part}"\n' for part in parts)
            unit.write_text(text + export(block, parameters, ports_of(folder / "Vrtl.h")), encoding="utf-8")
            objects = [str(runtime(tools, trace, cache))]
            run([tools.compiler, *tools.flags(trace), f"-I{folder}", "-shared", f"-Wl,--version-script={LOADED / 'rnic_rtl.map'}", str(unit), *objects, "-o", str(file)],
                "the compiler refuses what Verilator made")

    library = made(key, "lib.so", cache, make)
    if out is None:
        return library
    out = pathlib.Path(out)
    copy = out.with_name(f"{out.name}.{os.getpid()}")  # one that is loaded keeps its own
    try:
        shutil.copyfile(library, copy)
        os.chmod(copy, 0o755)
        os.replace(copy, out)
    except OSError as error:
        with contextlib.suppress(OSError):
            copy.unlink()
        raise RtlError(f"{out} cannot be written: {error.strerror}") from error
    return out


def check_block(block):
    if block not in BLOCKS:
        raise RtlError(f"no block is called '{block}'; the nearest is '{nearest(block, BLOCKS)}'")


def read_map(file):
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise RtlError(f"{file}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RtlError(f"{file}: {error}") from error


def build_mapped(file, sources, parameters, out, cache, trace):
    """A module with pins of its own: its adapter has ours."""
    text = read_map(file)
    with tempfile.TemporaryDirectory(prefix="rnicsim-rtl-") as folder:
        try:
            top, files, own = rtl_adapter.adapter(text, pathlib.Path(folder), [pathlib.Path(source) for source in sources], parameters)
        except rtl_adapter.MapError as error:
            raise RtlError(f"{file}: {error}") from error
        block = text["block"].removeprefix("sctp_")  # whose stages have the modules of the others
        return build(block, files, top, {**own, **parameters}, out, cache, trace, [file])


def assignment(text):
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name) or not value.isdecimal():
        raise RtlError(f"-G {text}: a parameter is NAME=NUMBER, as BeatBytes=32")
    return name, int(value)


def parsed(arguments):
    parser = argparse.ArgumentParser(prog="rnicsim rtl", description="Builds a library of one block's RTL for `rnicsim run --rtl BLOCK=LIBRARY`.")
    parser.add_argument("what", metavar="MAP.toml|BLOCK", help="the port map of a module, or the block whose pins it has")
    parser.add_argument("sources", metavar="FILE.sv", nargs="*", help="SystemVerilog; without any, our own module of that block")
    parser.add_argument("-o", "--out", metavar="LIB.so", help="the library to write; its place in the cache is printed unless given")
    parser.add_argument("-G", dest="parameters", metavar="NAME=NUMBER", action="append", default=[], help="a parameter of the module; may be repeated")
    parser.add_argument("--top", metavar="MODULE", help="the module, if it does not have the block's name")
    parser.add_argument("--inside", action="store_true", help="with the signals inside, for `rnicsim run --lockstep-inside`")
    parser.add_argument("--for-run", action="store_true", help=argparse.SUPPRESS)  # a run calls it: errors go where the result would
    parser.add_argument("--no-cache", action="store_true", help="build it even if it is in the cache, and leave nothing there")
    return parser.parse_intermixed_args(arguments)


def main(arguments):
    given = parsed(arguments)
    parameters = dict(map(assignment, given.parameters))
    cache = not given.no_cache
    if given.no_cache and given.out is None:
        raise RtlError("--no-cache needs -o, the library to write")
    if given.what.endswith(".toml"):
        if not given.sources:
            raise RtlError("which SystemVerilog? A port map needs the file with its module")
        library = build_mapped(pathlib.Path(given.what), given.sources, parameters, given.out, cache, given.inside)
    else:
        check_block(given.what)
        sources = given.sources or [STUBS / "rtl" / f"{given.what}.sv"]
        library = build(given.what, sources, given.top, parameters, given.out, cache, given.inside, tells=given.for_run)
    if given.out is None:
        print(library)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except RtlError as error:
        said, status = str(error), 2
    except OSError as error:
        said, status = f"{error.filename or cache_folder()}: {error.strerror}", 2
    except KeyboardInterrupt:
        said, status = "interrupted", 130
    for_run = "--for-run" in sys.argv
    print(said if for_run else f"rnicsim rtl: {said}", file=sys.stdout if for_run else sys.stderr)
    sys.exit(status)
