"""RTL from a shared library in a stage's place: one that fits, in SystemVerilog and in plain C, and every one that does not."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest
import unittest.mock

from rnicsim import NEEDS_RTL, ROOT, ProgramTest

HERE = pathlib.Path(__file__).parent
CLAIMS = HERE / "rtl/claims_crc.c"
LOUD = HERE / "rtl/loud_check.sv"
FOREIGN = ROOT / "testbench/golden/foreign"
ALL = os.environ.get("RNIC_ALL_TWINS")  # the settings that take minutes
sys.path.insert(0, str(ROOT / "scripts"))
import rtl_library  # noqa: E402


class LibraryTest(ProgramTest):
    def build(self, *arguments, **environment):
        run = self.run_program("rtl", *arguments, "-o", "lib.so", **environment)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))

    def compile(self, *faults):
        """The block in C, with texts replaced: pairs of an old and a new one."""
        text = CLAIMS.read_text()
        for old, new in faults:
            self.assertEqual(text.count(old), 1, old)
            text = text.replace(old, new)
        (self.folder / "block.c").write_text(text)
        run = self.run_command("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC", "-I", ROOT / "rtl-stubs/loaded",
                               "block.c", "-o", "lib.so")
        self.assertEqual(run.returncode, 0, run.stderr)

    def refused(self, words, *options, code=2):
        run = self.run_program("run", self.small_scenario(), "--rtl", "crc_check=./lib.so", *options)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.assertIn(words, run.stderr)
        self.assertNotIn("bug of rnicsim", run.stderr)
        return run.stderr


class Fits(LibraryTest):
    def test_a_block_in_c(self):
        """In its place all arrives, in other cycles; beside the stage the first difference is its latency."""
        self.compile()
        plain = self.run_scenario(self.small_scenario())
        other = self.run_scenario("small.json", "--rtl", "crc_check=./lib.so")
        self.assertNotEqual(other["digest"], plain["digest"])
        for side in ("a", "b"):
            self.assertEqual(other["stats"][side]["rnic"]["crc_check"], plain["stats"][side]["rnic"]["crc_check"])
        beside = self.run_program("run", "small.json", "--lockstep", "crc_check=./lib.so")
        self.assertEqual(beside.returncode, 1, beside.stderr)
        self.assertIn("crc_check, cycle ", beside.stderr)
        self.assertIn("out.valid: the stage has 0, the twin 1", beside.stderr)

    def test_our_own_module(self):
        self.build("crc_check")
        plain = self.run_scenario(self.small_scenario())
        for options in (("--rtl", "crc_check=./lib.so"), ("--lockstep", "crc_check=./lib.so,sctp_crc_check=lib.so")):
            with self.subTest(options=options):
                names = [name for name in options[1].split(",") if "sctp" not in name]  # this chip has no SCTP
                self.assertEqual(self.run_scenario("small.json", options[0], ",".join(names))["digest"], plain["digest"])

    def test_somebodys_module_by_its_port_map(self):
        self.build(FOREIGN / "axis_crc.toml", FOREIGN / "axis_crc.sv")
        stats = self.run_scenario(self.small_scenario(), "--rtl", "crc_check=./lib.so")
        self.assertEqual({result["errors"] for result in stats["results"] if "errors" in result} - {0}, set())

    def test_a_sweep_goes_on_with_the_same_library_alone(self):
        self.compile()
        scenario = json.loads((self.folder / self.small_scenario()).read_text())
        scenario["sweep"] = {"mode": "one_at_a_time", "axes": [{"key": "seed", "values": [1, 2]}]}
        (self.folder / "swept.json").write_text(json.dumps(scenario))

        def written():
            run = self.run_program("run", "swept.json", "--out", "out", "--resume", "--rtl", "crc_check=./lib.so")
            self.assertEqual(run.returncode, 0, run.stderr)
            return [(self.folder / f"out/{point}/stats.json").stat().st_mtime_ns for point in range(2)]
        first = written()
        self.assertEqual(written(), first)
        self.compile(("too many beats", "too many"))
        again = written()
        self.assertTrue(again[0] > first[0] and again[1] > first[1], "the points of another library count as finished")

    @NEEDS_RTL
    def test_with_twins_that_are_built_in(self):
        self.compile()
        stats = self.run_scenario(self.small_scenario(), "--rtl", "all,crc_check=./lib.so")
        self.assertEqual(stats["digest"], self.run_scenario("small.json", "--rtl", "crc_check=./lib.so")["digest"])


class Refused(LibraryTest):
    def test_what_is_no_library(self):
        for file, words in (("nothing.so", "nothing.so: there is no such file"), ("small.json", "small.json: it is no shared library that can be loaded")):
            run = self.run_program("run", self.small_scenario(), "--rtl", f"crc_check={file}")
            self.assertEqual(run.returncode, 2)
            self.assertIn(words, run.stderr)
        run = self.run_program("run", "small.json", "--rtl", "crc_check=")
        self.assertEqual((run.returncode, run.stderr), (2, "rnicsim: 'crc_check=' needs the file of a library, as crc_check=./lib.so\n"))

    def test_by_name(self):
        port = '{"in_i", 124, RNIC_RTL_INPUT}'
        for fault, words in (
            (("const rnic_rtl rnic_rtl_1", "const rnic_rtl rnic_rtl_0"), "it has no symbol rnic_rtl_1, which `rnicsim rtl` gives a library"),
            ((" RNIC_RTL_ABI,", " 7,"), "its rnic_rtl_1 has ABI 7 and 88 octets, this program's ABI 1 and 88; build it again"),
            (("    sizeof(rnic_rtl),", "    24,"), "its rnic_rtl_1 has ABI 1 and 24 octets"),
            (('"crc_check",', '"crc_insert",'), "it has RTL for crc_insert, not for crc_check"),
            (("{\\\"PipelineCycles\\\": 4}", "{\\\"PipelineCycles\\\": 6}"),
             "it was built with PipelineCycles = 6, but rnic.rx.crc_check.pipeline_cycles = 4 needs 4"),
            (("{\\\"PipelineCycles\\\": 4}", "4"), "its parameters_json is no JSON object"),
            ((port, '{"in_beat_i", 124, RNIC_RTL_INPUT}'), "it lacks crc_check's port in_i of 124 bits"),
            ((port, '{"in_i", 123, RNIC_RTL_INPUT}'), "its port in_i has 123 bits, but crc_check's has 124"),
            ((port, '{"in_i", 124, RNIC_RTL_OUTPUT}'), "its port in_i is an output, but crc_check's is an input"),
            (("b->rst_ni && b->out_launch_o", "1"), "its port out_valid_o is 1 in reset"),
            (("b->in_valid_i && b->in_ready_o", "1"), "its port out_launch_o is 1 in reset"),
        ):
            with self.subTest(words=words):
                self.compile(fault)
                self.assertEqual(self.refused("rnicsim: ./lib.so: " + words).count("\n"), 1)

    def test_an_input_that_nobody_drives(self):
        self.compile(('{"in_data_i", 512, RNIC_RTL_INPUT}', '{"in_data_i", 512, RNIC_RTL_INPUT}, {"in_vald_i", 1, RNIC_RTL_INPUT}'),
                     ("kPorts, 11", "kPorts, 12"), ("b->in_data_i,\n", "b->in_data_i, &b->clk_before,\n"))
        self.refused("./lib.so: crc_check has no input in_vald_i; the nearest port is in_valid_i")

    def test_a_width_of_the_chip(self):
        self.compile()
        self.refused("./lib.so: its port in_data_i has 512 bits, but crc_check's has 256 with rnic.datapath.beat_bytes = 32",
                     "--set", "rnic.datapath.beat_bytes=32")


class InTheRun(LibraryTest):
    """Exit status 1, with the block, the cycle and a wave of its pins."""

    def ends(self, words):
        said = self.refused(words, "--out", "out", code=1)
        self.assertRegex(said, r"(?m)^rnicsim: RTL in a stage's place: [ab]\.rnic_[ab]\.crc_check, cycle \d+: ")
        self.assertIn("rnicsim: its pins before it: out/rtl_pins.vcd", said)
        return (self.folder / "out/rtl_pins.vcd").read_text()

    def test_never_ready(self):
        self.compile(("b->in_ready_o = b->out_ready_i;", "b->in_ready_o = b->out_ready_i && b->beats < 20;"))
        wave = self.ends("never ready: for 10000 cycles it has taken no message, though one waits and there is room in all outputs")
        for pin, bits in (("in_valid_i", 1), ("in_ready_o", 1), ("in_data_i", 512)):
            self.assertRegex(wave, rf"\$var \w+ {bits} \S+ {pin} ")

    def test_a_launch_without_credit(self):
        self.compile(("b->in_ready_o = b->out_ready_i;", "b->in_ready_o = 1;"))
        self.ends("out: a launch without credit")

    def test_an_assertion_with_its_text(self):
        self.compile(("b->beats == 0xffffffff", "b->beats == 30"))
        self.ends(": claims_crc.c: too many beats\n")
        self.build("crc_check", LOUD, "--top", "loud_check", "--inside")
        said = self.refused("loud_check.sv:", "--lockstep-inside", code=1)
        self.assertIn("OneBeat_A", said)
        self.assertIn("rnicsim: the inside of the twin before it: out/lockstep_inside.vcd", said)
        self.assertIn("loud_check", (self.folder / "out/lockstep_inside.vcd").read_text())

    def test_beats_that_are_no_fpdus(self):
        self.compile(("b->out_o[0] |= 1;", "b->out_o[0] = (b->out_o[0] | 1) & ~0x3f000u;"))
        self.ends("out: a beat without octets")
        self.compile(("b->out_o[0] |= 1;", "b->out_o[0] = (b->out_o[0] | 1) & ~8u;"))
        self.ends("out: its beats are not from a first one to a last one")

    def test_what_brings_the_chip_to_its_end(self):
        """A beat that says of its payload that it is already placed passes the pins; the model behind them cannot go on."""
        self.compile(("b->out_o[0] |= 1;", "b->out_o[3] |= 1u << 26; b->out_o[0] |= 1;"))
        said = self.refused("the chip cannot go on with the RTL in place of crc_check=./lib.so: ", code=1)
        self.assertIn("; --lockstep crc_check=./lib.so and the scoreboard find its first fault", said)

    def test_a_crash_in_it(self):
        self.compile(("b->out_o[0] |= 1;", "b->out_o[0] |= b->beats > 9 ? *(volatile unsigned*)8 : 1;"))
        self.refused("SIGSEGV in no handler of firmware: the RTL of crc_check=./lib.so is in the process", code=1)


class Build(LibraryTest):
    def failed(self, words, *arguments):
        run = self.run_program("rtl", *arguments)
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertIn(words, run.stderr)

    def test_bad_arguments(self):
        self.failed("rnicsim rtl: no block is called 'crc_chek'; the nearest is 'crc_check'", "crc_chek", LOUD)
        self.failed("rnicsim rtl: none.sv: there is no such file", "crc_check", "none.sv")
        self.failed("rnicsim rtl: none.toml: No such file or directory", "none.toml", LOUD)
        self.failed("rnicsim rtl: which SystemVerilog?", FOREIGN / "axis_crc.toml")
        self.failed("rnicsim rtl: -G BeatBytes: a parameter is NAME=NUMBER, as BeatBytes=32", "crc_check", "-G", "BeatBytes")
        self.failed("Parameters from the command line were not found in the design: BeatOctets", "crc_check", "-GBeatOctets=32")
        self.failed("crc_check: BeatBytes must be a power of two from 16 to 128", "crc_check", "-GBeatBytes=24")
        self.failed("rnicsim rtl: no/lib.so cannot be written: No such file or directory", "crc_check", LOUD, "--top", "loud_check", "--inside", "-o", "no/lib.so")

    def test_without_tools(self):
        path, os.environ["PATH"] = os.environ["PATH"], str(self.folder)
        self.addCleanup(os.environ.update, {"PATH": path})
        self.failed("rnicsim: rtl: it needs python3, which is not installed", "crc_check", LOUD)
        (self.folder / "python3").symlink_to(sys.executable)
        self.failed("rnicsim rtl: verilator is missing: it makes C++ of SystemVerilog", "crc_check", LOUD)

    def test_a_place_that_cannot_be_written(self):
        with unittest.mock.patch.dict(os.environ, RNICSIM_CACHE="/dev/null/cache"):
            self.failed("rnicsim rtl: /dev/null/cache/rtl: Not a directory", "crc_check", LOUD)

    def test_ctrl_c(self):
        """It ends at once, and leaves nothing behind."""
        with unittest.mock.patch.dict(os.environ, TMPDIR=str(self.folder)):
            run = subprocess.Popen([os.environ["RNICSIM"], "rtl", "crc_check", LOUD, "--top", "loud_check", "--no-cache", "-o", "lib.so"], cwd=self.folder, text=True,
                                   stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            while run.poll() is None and not list(self.folder.glob("rnicsim-rtl-*")):
                time.sleep(0.01)
            run.send_signal(signal.SIGINT)
            self.assertEqual((run.communicate(timeout=60)[1], run.returncode), ("rnicsim rtl: interrupted\n", 130))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_files_that_are_included(self):
        """The result depends on them, wherever they are included."""
        parts = self.folder / "parts"
        parts.mkdir()
        (self.folder / "mine.sv").write_text('  `include "parts/a.svh"\n// `include "none.svh"\n`include "nowhere.svh"\n')
        (parts / "a.svh").write_text('`include "b.svh"\n')
        (parts / "b.svh").write_text('`include "a.svh"\n')
        found = rtl_library.included([self.folder / "mine.sv"])
        self.assertEqual([(file.name, file.read_text()) for file in found], [("a.svh", '`include "b.svh"\n'), ("b.svh", '`include "a.svh"\n')])

    def test_the_cache(self):
        """It has each result once, by all that it depends on, and what was used longest ago goes."""
        cache = self.folder / "cache"
        before = os.environ.get("RNICSIM_CACHE")
        os.environ["RNICSIM_CACHE"] = str(cache)
        self.addCleanup(os.environ.update, {"RNICSIM_CACHE": before} if before else {})
        if before is None:
            self.addCleanup(os.environ.pop, "RNICSIM_CACHE")
        for _ in range(2):
            self.build("crc_check", LOUD, "--top", "loud_check")
            (first,) = cache.glob("rtl/*/lib.so")
            stamp = first.stat().st_ino
        (self.folder / "mine.sv").write_text(LOUD.read_text().replace("in_i.last)", "1'b1)"))
        self.build("crc_check", "mine.sv", "--top", "loud_check")
        self.assertEqual(len(list(cache.glob("rtl/*/lib.so"))), 2)
        self.assertEqual(first.stat().st_ino, stamp, "it was built once")
        os.utime(first, (1, 1))
        rtl_library.trim(cache / "rtl", first.stat().st_size)
        (second,) = cache.glob("rtl/*/lib.so")
        self.assertNotEqual(second, first)


class Settings(LibraryTest):
    """Twins of a chip with other settings than those built in, beside their stages."""

    def agrees(self, twins, *settings, scenario=None):
        options = [word for setting in settings for word in ("--set", setting)]
        scenario = scenario or self.small_scenario(markers=True)
        plain = self.run_scenario(scenario, "--no-capture", *options)
        beside = self.run_scenario(scenario, "--no-capture", "--lockstep", twins, *options)
        self.assertEqual(plain["digest"], beside["digest"])

    def atomics(self, ird):
        """traces/atomics.json with so many Reads and Atomics outstanding on each connection."""
        scenario = json.loads((ROOT / "traces/atomics.json").read_text())
        for connection in scenario["connections"]:
            connection.update(ord=ird, ird=ird)
        for item in scenario["work"]:
            for part in item if isinstance(item, list) else [item]:
                part["depth"] = 128
        (self.folder / "atomics.json").write_text(json.dumps(scenario))
        return "atomics.json"

    def test_a_few(self):
        self.agrees("crc_insert,mpa_framer", "rnic.datapath.beat_bytes=16", "rnic.tx.crc_insert.pipeline_cycles=7", "rnic.tx.mpa_framer.pipeline_cycles=2")
        self.agrees("terminate_generator", "rnic.context.qps=2000")
        # A response takes the place of one that is over in the same cycle.
        self.agrees("response_queue,irrq", "rnic.tx.crc_insert.pipeline_cycles=1", scenario=ROOT / "traces/atomics.json")

    def test_the_setting_has_to_reach_the_module(self):
        """A library for another depth beside the stage differs, so the comparison above is one."""
        self.build("crc_check", "-GPipelineCycles=7")
        run = self.run_program("run", self.small_scenario(), "--lockstep", "crc_check=lib.so", "--set", "rnic.rx.crc_check.pipeline_cycles=6")
        self.assertEqual(run.returncode, 2)
        self.assertIn("lib.so: it was built with PipelineCycles = 7, but rnic.rx.crc_check.pipeline_cycles = 6 needs 6", run.stderr)

    @unittest.skipUnless(ALL, "minutes; RNIC_ALL_TWINS=1 runs it")
    def test_all_at_every_width(self):
        for octets in (16, 32, 128):
            with self.subTest(octets=octets):
                self.agrees("all", f"rnic.datapath.beat_bytes={octets}")
                self.agrees("all", f"rnic.datapath.beat_bytes={octets}", scenario=ROOT / "traces/atomics.json")

    @unittest.skipUnless(ALL, "minutes; RNIC_ALL_TWINS=1 runs it")
    def test_all_at_every_depth(self):
        paths = ("tx.mpa_framer", "tx.marker_inserter", "tx.crc_insert", "rx.mpa_deframer", "rx.crc_check", "responder.atomic_alu")
        for cycles in (1, 2, 7):
            with self.subTest(cycles=cycles):
                for scenario in (None, ROOT / "traces/atomics.json"):
                    self.agrees("all", *(f"rnic.{path}.pipeline_cycles={cycles}" for path in paths), scenario=scenario)
        self.agrees("all", "rnic.rx.mpa_deframer.queue_fpdus=5", "rnic.responder.atomic_alu.operations=3", "rnic.responder.atomic_alu.initiation_interval=9",
                    scenario=ROOT / "traces/atomics.json")

    @unittest.skipUnless(ALL, "minutes; RNIC_ALL_TWINS=1 runs it")
    def test_all_at_other_sizes_of_tables(self):
        for qps in (1024, 4000):
            with self.subTest(qps=qps):
                self.agrees("all", f"rnic.context.qps={qps}", scenario=ROOT / "traces/atomics.json")
        for ird in (1, 200):
            with self.subTest(ird=ird):
                self.agrees("all", f"rnic.fwcpu.max_ird={ird}", f"rnic.fwcpu.max_ord={ird}", scenario=self.atomics(ird))


if __name__ == "__main__":
    unittest.main()
