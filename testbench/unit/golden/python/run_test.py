#!/usr/bin/env python3
"""Whole runs from Python against the program: run_test.py PROGRAM."""
import argparse
import concurrent.futures
import csv
import filecmp
import importlib.util
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from xml.etree import ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[4]
PACKAGE = ROOT / "model/golden/python"
sys.path[:0] = [str(PACKAGE), str(PACKAGE / "examples")]

import rnicsim  # noqa: E402
from rnicsim import RnicError, errors  # noqa: E402
import read_scan  # noqa: E402

PROGRAM = None
LIBRARIES = pathlib.Path(os.environ["RNICSIM_LIBRARY_PATH"])  # of a build
SCENARIO = ROOT / "traces/quickstart.json"
SHORT = {"work.sends.count": 20, "work.writes.count": 5, "work.reads.count": 5, "link.forward.loss.every": 50}
OWN = re.compile(r'^ *"(?:wall_s|cpu_s|frames_per_cpu_s|systemc)".*\n', re.MULTILINE)


def without_own(text):
    """stats.json without what the machine's speed decides, and without the kernel's version."""
    return OWN.sub("", text)


def database(file):
    """All that is in a database of --db but the kernel's version, as SQL."""
    connection = sqlite3.connect(file)
    connection.execute("DELETE FROM run WHERE name = 'version.systemc'")
    text = list(connection.iterdump())
    connection.close()
    return text


class AgainstTheProgram(unittest.TestCase):
    """One run by both, with all files."""
    @classmethod
    def setUpClass(cls):
        cls.folders = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folders.name)
        cls.of_program, cls.of_library = folder / "program", folder / "library"
        words = [word for key, value in SHORT.items() for word in ("--set", f"{key}={value}")]
        cls.done = subprocess.run([PROGRAM, "run", SCENARIO, "--out", cls.of_program, "--trace", cls.of_program / "trace.tsv", "--db", "--breakdown",
                                   "--stats-every", "10us", "--capture-tlps", *words], capture_output=True, text=True, check=True)
        cls.run_ = rnicsim.run(SCENARIO, SHORT, out=cls.of_library, trace=cls.of_library / "trace.tsv", db=True, breakdown=True,
                               stats_every="10us", capture_tlps=True, events=True)

    @classmethod
    def tearDownClass(cls):
        cls.run_.close()
        cls.folders.cleanup()

    def test_files_are_equal_octet_by_octet(self):
        names = sorted(file.name for file in self.of_program.iterdir())
        self.assertEqual(names, sorted(file.name for file in self.of_library.iterdir()))
        self.assertIn("wire.pcapng", names)
        same, different, _ = filecmp.cmpfiles(self.of_program, self.of_library, names, shallow=False)
        self.assertEqual(different, ["run.sqlite", "stats.json"])
        self.assertEqual(len(same), len(names) - 2)
        folders = self.of_program, self.of_library
        self.assertEqual(*(without_own((folder / "stats.json").read_text()) for folder in folders))
        self.assertEqual(*(database(folder / "run.sqlite") for folder in folders))

    def test_results_are_those_of_stats_json(self):
        stats = json.loads((self.of_program / "stats.json").read_text())
        run = self.run_
        self.assertEqual((run.digest, run.results, run.bottleneck, run.exit_code), (stats["digest"], stats["results"], stats["bottleneck"], 0))
        self.assertEqual(run.stats.tree, stats["stats"])
        chip = stats["stats"]["a"]["rnic"]["tcp_tx"]
        self.assertGreater(run.stats["a.rnic.tcp_tx.segments"], 0)
        self.assertEqual(run.stats["a.rnic.tcp_tx.segments"], chip["segments"]["value"])
        self.assertEqual(run.stats["a.rnic.irrq.depth"]["p99"], stats["stats"]["a"]["rnic"]["irrq"]["depth"]["p99"])
        with self.assertRaisesRegex(KeyError, "the nearest is 'a.rnic.tcp_tx.segments'"):
            run.stats["a.rnic.tcp_tx.segmnts"]

    def test_the_report_is_what_the_program_prints(self):
        def lines(text, folder):
            return re.sub(r"in \S+ s of", "in * s of", text).replace(str(folder), "FOLDER")
        self.assertEqual(lines(self.run_.report, self.of_library), lines(self.done.stdout, self.of_program))
        self.assertEqual(self.run_.messages, self.done.stderr)

    def test_events_are_the_lines_of_the_log(self):
        with open(self.of_program / "trace.tsv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        for row, event in zip(rows, self.run_.events(), strict=True):
            self.assertEqual(row, {name: "" if value is None else str(value) for name, value in event._asdict().items()})
        lost = [row for row in rows if row["kind"] == "lost"]
        self.assertTrue(lost)
        self.assertEqual([str(event.time_ps) for event in self.run_.events("lost")], [row["time_ps"] for row in lost])

    def test_the_series_has_its_columns(self):
        series = json.loads((self.of_program / "series.json").read_text())
        self.assertEqual(self.run_.series.time_ps, series["time_ps"])
        self.assertEqual(self.run_.series["wire a to b"], [row[0] for row in series["rows"]])
        self.assertEqual(len(self.run_.series), len(series["columns"]))

    def test_arrays_of_the_series(self):
        """Of numpy where it is there, with the lists' values."""
        series = self.run_.series
        for column, values in (("wire a to b", series["wire a to b"]), ("time_ps", series.time_ps)):
            with unittest.mock.patch.dict(sys.modules, {"numpy": None}):
                self.assertEqual(series.array(column), values)
            array = series.array(column)
            self.assertEqual(list(array), values)
            if importlib.util.find_spec("numpy"):
                self.assertEqual((type(array).__module__, array.shape), ("numpy", (len(values),)))
        with self.assertRaises(KeyError):
            series.array("wire a to c")


class Runs(unittest.TestCase):
    def test_digests_of_scenarios_in_threads(self):
        expected = json.loads((ROOT / "testbench/digests.json").read_text(encoding="utf-8"))
        names = ["atomics", "sctp_quickstart", "churn"]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            digests = pool.map(lambda name: rnicsim.run(ROOT / f"traces/{name}.json").digest, names)
        self.assertEqual(list(digests), [expected[name].split()[0] for name in names])

    def test_a_dict_and_settings(self):
        """A longer cable is a longer half of a round trip, by the time of the way."""
        scenario = json.loads((ROOT / "traces/send_pingpong.json").read_text(encoding="utf-8"))
        near, far = (rnicsim.run(scenario, {"link.delay_ns": delay}) for delay in (100, 1100))
        self.assertAlmostEqual(far.results[0]["latency_ns"]["p50"] - near.results[0]["latency_ns"]["p50"], 1000, delta=50)
        self.assertNotEqual(near.digest, far.digest)

    def test_driving_on(self):
        with rnicsim.Run(SCENARIO, SHORT) as run:
            self.assertFalse(run.drive(50_000_000))
            self.assertEqual(run.value("sim_time_ps"), 50_000_000)
            sent = run.stats["a.rnic.tcp_tx.segments"]
            with self.assertRaisesRegex(RnicError, "RNIC_NONE: the run has not ended"):
                run.digest
            self.assertTrue(run.drive())
            self.assertGreater(run.stats["a.rnic.tcp_tx.segments"], sent)

    def test_a_signal_interrupts_a_run_that_goes_on_afterwards(self):
        """A hang would last until the time limit, ten seconds of simulated time; the signal comes at once."""
        class Signal(Exception):
            pass

        def handler(*_):
            raise Signal
        before = signal.signal(signal.SIGALRM, handler)
        try:
            with rnicsim.Run(SCENARIO, {"work.sends.count": 300_000}) as run:
                signal.setitimer(signal.ITIMER_REAL, 0.1)
                with self.assertRaises(Signal):
                    run.drive()
                self.assertFalse(run.ended)
                at = run.value("sim_time_ps")
                self.assertFalse(run.drive(at + 2_000_000_000))
                self.assertGreater(run.value("sim_time_ps"), at)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    @unittest.skipUnless((LIBRARIES.parents[1] / "firmware/rnic_fw.elf").is_file(), "the RV32 firmware is not built")
    def test_the_rv32_firmware_is_found_from_the_library(self):
        digests = [rnicsim.run(SCENARIO, {**SHORT, "rnic.fwcpu.target": target}).digest for target in ("rv32", "native")]
        self.assertEqual(len(set(digests)), 2)  # it has other cycles

    def test_a_point_of_a_sweep(self):
        run = rnicsim.run(ROOT / "traces/read-knees.json", {"work.reads.count": 20}, point=3, no_capture=True)
        self.assertEqual(run.exit_code, 0)

    def test_mistakes(self):
        for status, words, call in (
                (errors.E_NAME, 'the nearest is "stats-every"', lambda: rnicsim.run(SCENARIO, stats_evry="10us")),
                (errors.E_SETTINGS, "the nearest is", lambda: rnicsim.run(SCENARIO, {"rnic.tcp.mt": 1500})),
                (errors.E_SETTINGS, "needs 'name'", lambda: rnicsim.run({})),
                (errors.E_NAME, "no events are kept", lambda: next(rnicsim.run(SCENARIO, SHORT).events()))):
            with self.assertRaises(RnicError) as caught:
                call()
            self.assertEqual(caught.exception.status, status)
            self.assertIn(words, caught.exception.text)
        with self.assertRaises(FileNotFoundError):
            rnicsim.run("/nowhere.json")

    def test_a_difference_is_not_hidden(self):
        self.assertEqual(without_own('{\n  "digest": "1",\n  "wall_s": 1.5,\n  "cpu_s": 2\n}\n'), '{\n  "digest": "1",\n}\n')


class Judged(unittest.TestCase):
    """Scoreboards and somebody's RTL in a run, against the program."""
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compile(self, says):
        """A crc_check in C: of each beat it says that its CRC is right, or what else is given."""
        text = (ROOT / "testbench/system/rtl/claims_crc.c").read_text(encoding="utf-8")
        self.assertEqual(text.count("b->out_o[0] |= 1;"), 1)
        (self.folder / "block.c").write_text(text.replace("b->out_o[0] |= 1;", says))
        library = self.folder / "libmine.so"
        subprocess.run(["cc", "-std=c99", "-shared", "-fPIC", "-I", ROOT / "rtl-stubs/loaded", self.folder / "block.c", "-o", library], check=True)
        return f"crc_check={library}"

    def of_program(self, *options):
        words = [word for key, value in SHORT.items() for word in ("--set", f"{key}={value}")]
        return subprocess.run([PROGRAM, "run", SCENARIO, *words, *options], capture_output=True, text=True, check=False)

    def test_the_reports_are_those_of_the_program(self):
        out = self.folder / "out"
        run = rnicsim.run(SCENARIO, SHORT, scoreboard="all", out=self.folder / "mine", no_capture=True)
        done = self.of_program("--scoreboard", "all", "--out", out, "--no-capture")
        self.assertEqual((done.returncode, run.exit_code), (0, 0), done.stderr + run.messages)
        self.assertEqual(run.scoreboard, json.loads((out / "scoreboard.json").read_text()))
        self.assertEqual((self.folder / "mine/scoreboard.json").read_text(), (out / "scoreboard.json").read_text())
        self.assertEqual(run.messages, done.stderr)
        self.assertGreater(run.scoreboard["b.rnic_b.crc_check"]["compared"], 100)
        with self.assertRaisesRegex(RnicError, "there is no scoreboard"):
            rnicsim.run(SCENARIO, SHORT).scoreboard

    def test_somebodys_rtl(self):
        rtl = self.compile("b->out_o[0] |= 1;")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = list(pool.map(lambda _: rnicsim.run(SCENARIO, SHORT, rtl=rtl, scoreboard="crc_check"), range(2)))
        done = self.of_program("--rtl", rtl, "--out", self.folder / "out")
        for run in runs:
            self.assertEqual(run.exit_code, 0, run.messages)
            self.assertEqual(run.digest, json.loads((self.folder / "out/stats.json").read_text())["digest"], done.stderr)
        latency = runs[0].scoreboard["b.rnic_b.crc_check"]["ports"][1]["latency"]
        self.assertNotEqual((latency["min"], latency["max"]), (4, 4))  # those of the stage

    def test_somebodys_bug(self):
        rtl = self.compile("b->out_o[0] &= ~1u;")
        run = rnicsim.run(SCENARIO, SHORT, rtl=rtl, scoreboard="crc_check")
        self.assertEqual((run.exit_code, run.value("end")), (1, "failed"))
        self.assertRegex(run.messages, r"^rnicsim: scoreboard: [ab]\.rnic_[ab]\.crc_check, RTL of libmine\.so: fpdu \d+ of flow \d+ differs")
        self.assertIn("differs   crc_ok: expected 1, seen 0", run.messages)
        self.assertFalse(list(self.folder.glob("*.vcd")) + list(pathlib.Path().glob("*.vcd")))

    def test_a_fault_of_the_pins(self):
        rtl = self.compile("b->out_o[0] = (b->out_o[0] | 1) & ~0x3f000u;")
        run = rnicsim.run(SCENARIO, SHORT, rtl=rtl)
        self.assertEqual(run.exit_code, 1)
        self.assertRegex(run.messages, r"(?m)^rnicsim: RTL in a stage's place: [ab]\.rnic_[ab]\.crc_check, cycle \d+: out: a beat without octets$")
        self.assertEqual(rnicsim.run(SCENARIO, SHORT).exit_code, 0)  # afterwards


class Scan(unittest.TestCase):
    """The example's Reads take ORD × size / round trip, as long as that is less than the wire carries."""
    @classmethod
    def setUpClass(cls):
        cls.options = argparse.Namespace(ord=[1, 4], delay_ns=[2000, 12000], size=16384, count=20, jobs=2)
        cls.rows = read_scan.scan(cls.options)

    def test_a_round_trip_more_is_a_round_trip_more(self):
        for ord_, row in self.rows.items():
            near, far = (ord_ * 16384 * 8 / goodput for goodput, _ in row)  # ns between the first and the ORD-th Read after it
            self.assertAlmostEqual(far - near, 20000, delta=1500)
            self.assertEqual({name for _, name in row}, {"ORD"})

    def test_table_and_plot(self):
        self.assertRegex(read_scan.table(self.options, self.rows), r"round trip, us +4\.00 +24\.00\nORD 1 .*\nORD 4 .* Gb/s, ORD$")
        plot = ElementTree.fromstring(read_scan.svg(self.options, self.rows))
        self.assertEqual(sum(part.tag.endswith("polyline") for part in plot), 2)


if __name__ == "__main__":
    PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
