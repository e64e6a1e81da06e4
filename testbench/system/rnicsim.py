"""Shared by the tests of the program: running it, and scenarios to run it on.

The environment variable RNICSIM names the program, RV32_IMAGE the firmware's image, if the build made one.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = ROOT / "traces"
QUICKSTART = TRACES / "quickstart.json"
LONG = set((TRACES / "long.txt").read_text().split())  # names of scenarios that only tests labelled "long" run
RV32 = ("--set", "rnic.fwcpu.target=rv32")
NEEDS_RTL = unittest.skipUnless(os.path.exists(os.environ.get("RNICSIM", "") + "_rtl"), "rnicsim_rtl is not built")
# Members of stats.json about the run and its folder, whatever it simulates.
RUN_KEYS = {"end", "complete", "versions", "seed", "digest", "sim_time_ps", "wall_s", "cpu_s", "frames", "frames_per_cpu_s",
            "errors", "utilization", "config", "stats", "bottleneck", "bottleneck_candidates", "phases", "occupancy"}
RUN_FILES = {"stats.json", "stats.txt", "fw_log.txt", "wire.pcapng"}
NEEDS_IMAGE = unittest.skipUnless("RV32_IMAGE" in os.environ, "no RV32 image was built: riscv64-unknown-elf-g++ is missing")

DISSECTOR = ROOT / "scripts/wireshark/rnicsim.lua"


def lua_runs():
    """Whether tshark loads Lua scripts: since version 4.4 not for root."""
    if os.geteuid() != 0:
        return True
    asked = subprocess.run(["tshark", "-X", f"lua_script:{DISSECTOR}", "-r", TRACES / "siw/rping-64.pcap", "-c", "1", "-T", "fields",
                            "-e", "ddp_session.code"], capture_output=True, check=False)
    return asked.returncode == 0


NO_LUA = "tshark loads no Lua script for root: run the tests as another user"


def needs_lua(test):
    """Skips a test, or all of a class, where tshark does not load our dissector."""
    return unittest.skipUnless(lua_runs(), NO_LUA)(test)


def is_swept(scenario):
    return "sweep" in json.loads(scenario.read_text())


class ProgramTest(unittest.TestCase):
    """A test in its own folder, which is the program's working directory."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *arguments):
        return self.run_command(os.environ["RNICSIM"], *arguments)

    def run_command(self, *command):
        return subprocess.run([str(c) for c in command], cwd=self.folder, capture_output=True, text=True, timeout=1200)

    def check_wire(self, capture):
        return self.run_command(sys.executable, "-B", ROOT / "scripts/check_wire.py", capture)

    def run_scenario(self, scenario, *options, codes=(0,)):
        """Runs it with such an exit code into the folder `out`; returns stats.json."""
        run = self.run_program("run", scenario, "--out", "out", *options)
        self.assertIn(run.returncode, codes, run.stdout + run.stderr)
        return json.loads((self.folder / "out/stats.json").read_text())

    def small_scenario(self, name="small.json", **connection):
        """quickstart with a tenth of its messages and the given settings of its connection; crc=False also applies to the devices."""
        scenario = json.loads(QUICKSTART.read_text())
        for item in scenario["work"]:
            item["count"] //= 10
        scenario["connections"][0].update(connection)
        for node in scenario["nodes"] if connection.get("crc") is False else ():
            node.setdefault("config", {})["rnic.fwcpu.crc"] = False
        (self.folder / name).write_text(json.dumps(scenario))
        return name

    def files(self):
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*") if p.is_file())
