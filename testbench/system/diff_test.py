"""`rnicsim diff` on planted pairs of runs: the difference that was planted is the first one it names."""
import contextlib
import json
import re
import shutil
import sqlite3
import unittest

from rnicsim import TRACES, ProgramTest

LOSS = "link.forward.loss.frames=100"
ARRIVAL = "frame_received at rnic_b.rx.rx_frames of b"


class DiffTest(ProgramTest):
    def runs(self, *settings, name="a", count=20, events=True, scenario="write_bw.json", codes=(0, 1)):
        """A run with all outputs into the folder `name`, its log beside it; returns the folder's name."""
        run = json.loads((TRACES / scenario).read_text())
        for item in run["work"]:
            item.update(count=count, size=16384, depth=4)
        (self.folder / "scenario.json").write_text(json.dumps(run))
        outputs = ("--db", f"{name}/run.sqlite", "--breakdown", "--trace", f"{name}.tsv") if events else ()
        ended = self.run_program("run", "scenario.json", "--out", name, "--no-capture", *outputs,
                                 *(word for setting in settings for word in ("--set", setting)))
        self.assertIn(ended.returncode, codes, ended.stdout + ended.stderr)
        return name

    def diff(self, a, b, code=1, *options):
        run = self.run_program("diff", a, b, *options)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run.stdout

    def first(self, a, b):
        found = json.loads(self.diff(a, b, 1, "--json"))
        self.assertTrue(self.diff(a, b).startswith(found["text"] + "\n"))
        return found

    def refused(self, text, *arguments):
        run = self.run_program("diff", *arguments)
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        self.assertRegex(run.stderr, f"^rnicsim: .*{text}.*\n$")


class PlantedPairs(DiffTest):
    def test_equal_runs(self):
        a, b = self.runs(), self.runs(name="b")
        self.assertRegex(self.diff(a, b, 0), r"^equal: digest [0-9a-f]{16}, settings and results\n$")
        self.assertRegex(self.diff("a/run.sqlite", "b/run.sqlite", 0), r"^equal: digest [0-9a-f]{16}, settings\n$")
        self.assertEqual(self.diff("a.tsv", "b.tsv", 0), "equal: all events and their times\n")
        self.assertTrue(json.loads(self.diff(a, b, 0, "--json"))["equal"])

    def test_one_lost_frame(self):
        a, b = self.runs(), self.runs(LOSS, name="b")
        with contextlib.closing(sqlite3.connect(self.folder / "b/run.sqlite")) as database:
            number, ps, offset = database.execute("SELECT number, events.time_ps, events.offset FROM events JOIN frames ON sender = node "
                                                  "AND serial = 100 WHERE kind = 'lost'").fetchone()
        for names, order in (("A", "B"), (b, a)), (("B", "A"), (a, b)):
            found = self.first(*order)
            self.assertRegex(found["text"], rf"^first difference at \S+ us: {names[0]} lost frame {number} "
                                            rf"\(a\.0\.\d+ from octet {offset} on, loss\), {names[1]} delivered it as frame {number}$")
            self.assertEqual((found["first"]["ps"], found["also"]), (ps, []))
            self.assertEqual([s["name"] for s in found["settings"]], ["link.forward.loss.frames"])
            self.assertEqual([row["is_difference"] for row in found["of_request"]], [False] * 3 + [True] + [False] * 3)
            for row in found["of_request"][:3]:
                self.assertEqual(row["a"], row["b"])
            self.assertIn("writes.goodput_gbps", [figure["name"] for figure in found["results"]])
            self.assertIn("writes, a, write: tcp_tx queue", [figure["name"] for figure in found["median_request"]])
            retransmitted = [f for f in found["counters"] if f["name"] == "a.rnic.tcp_tx.retransmitted_bytes"]
            self.assertEqual({retransmitted[0]["a"], retransmitted[0]["b"]}, {0, 1460})
        # A log has no numbers of frames.
        self.assertRegex(self.diff("a.tsv", "b.tsv"), r"^first difference at \S+ us: B lost frame a:100 \(a\.0\.\d+ from octet \d+ on, loss\), A did not\n")

    def test_the_numbers_of_figures(self):
        a, b = self.runs(), self.runs(LOSS, name="b")
        of_a, of_b = (json.loads((self.folder / run / "stats.json").read_text()) for run in (a, b))
        found = self.first(a, b)
        goodput, = (f for f in found["results"] if f["name"] == "writes.goodput_gbps")
        self.assertEqual((goodput["a"], goodput["b"]), tuple(s["results"][0]["goodput_gbps"] for s in (of_a, of_b)))
        self.assertAlmostEqual(goodput["change"], goodput["b"] / goodput["a"] - 1)
        changes = [abs(f["a"] - f["b"]) / max(abs(f["a"]), abs(f["b"])) for f in found["counters"]]
        self.assertEqual(changes, sorted(changes, reverse=True))
        text = self.diff(a, b)
        self.assertEqual(len(re.findall(r"^  \S+ +A .*", text[text.index("\ncounters"):], re.MULTILINE)), 12)

    def test_a_setting_that_changes_only_times(self):
        a, b = self.runs(), self.runs("link.delay_ns=700", name="b")
        for pair in ((a, b), ("a.tsv", "b.tsv")):
            found = self.first(*pair)
            self.assertEqual((found["first"]["what"], found["also"]), ("time", []))
            self.assertRegex(found["text"], rf"{ARRIVAL} \(a.flow0.0\) comes 0.200 us later in B$")
        self.assertIn("0.200 us earlier in B", self.first(b, a)["text"])

    def test_a_lost_frame_of_a_later_run(self):
        a, b = self.runs(), self.runs(LOSS, "link.delay_ns=700", name="b")
        found = self.first(a, b)
        self.assertRegex(found["text"], r": B lost frame \d+ \(.*, loss\), A delivered it as frame \d+$")
        self.assertEqual([other["what"] for other in found["also"]], ["time"])

    def test_another_seed(self):
        settings = "link.forward.loss.ppm=5000",
        a, b = self.runs(*settings), self.runs(*settings, "sim.seed=9", name="b")
        found = self.first(a, b)
        self.assertRegex(found["text"], r"^first difference at .* lost frame \d+ ")
        self.assertIn({"name": "sim.seed", "a": "3", "b": "9", "nodes": ["a", "b"]}, found["settings"])
        # Without faults a seed changes what no event shows.
        a, b = self.runs(), self.runs("sim.seed=9", name="b")
        self.assertRegex(self.first(a, b)["text"], "^all events and their times are equal, but not ")

    def test_a_run_that_was_cut(self):
        a, b = self.runs(), self.runs("sim.max_time_us=40", name="b", codes=(3,))
        found = self.first(a, b)
        self.assertEqual((found["text"], found["first"]), ("what happened is equal until one of the runs was ended", None))
        self.assertGreater(found["requests_only"]["a"], 0)
        self.assertRegex(found["notes"][0], r"^B was ended \(time limit\) at ")

    def test_more_work(self):
        a, b = self.runs(), self.runs(name="b", count=30)
        found = self.first(a, b)
        self.assertEqual(found["requests_only"], {"a": 0, "b": 10})

    def test_another_chip(self):
        a, b = self.runs(), self.runs("rnic.tcp.early_placement=false", LOSS, name="b")
        self.assertIn(" B lost frame ", self.first(a, b)["text"])
        with contextlib.closing(sqlite3.connect(self.folder / "a/run.sqlite")) as database:
            database.execute("UPDATE sources SET place = 'rnic_b.rx.proved' WHERE kind = 'crc_checked'")
            database.commit()
        found = self.first(a, b)
        self.assertIn(" B lost frame ", found["text"])
        self.assertEqual(found["notes"], ["left out, as only A has them: crc_checked at rnic_b.rx.proved of b",
                                          "left out, as only B has them: crc_checked at rnic_b.rx.checked of b"])

    def test_without_databases(self):
        a, b = self.runs(events=False), self.runs(LOSS, name="b", events=False)
        found = self.first(a, b)
        self.assertRegex(found["text"], "^the runs differ: digest [0-9a-f]{16} in A, [0-9a-f]{16} in B$")
        self.assertIn("rnicsim run … --db a/run.sqlite writes them", found["notes"][0])
        self.assertTrue(found["counters"])


class BadInput(DiffTest):
    def test_what_is_no_run(self):
        self.runs()
        self.refused("which two runs", "a")
        self.refused("which two runs", "a", "a", "a")
        self.refused("none: there is no such folder", "a", "none")
        (self.folder / "empty").mkdir()
        self.refused(r"empty: has no stats.json; rnicsim run … --out empty writes it", "a", "empty")
        (self.folder / "empty/sweep.json").write_text("{}")
        self.refused("empty: is the folder of a sweep", "a", "empty")
        self.refused("a is the folder of a run, a.tsv is an event log of --trace", "a", "a.tsv")
        self.refused("a.tsv is an event log of --trace, a/run.sqlite is a database of --db", "a.tsv", "a/run.sqlite")

    def test_other_nodes(self):
        self.runs()
        scenario = json.loads((self.folder / "scenario.json").read_text())
        scenario["nodes"][1]["name"] = scenario["connections"][0]["to"] = "server"
        (self.folder / "other.json").write_text(json.dumps(scenario))
        run = self.run_program("run", "other.json", "--out", "b", "--db", "b/run.sqlite", "--trace", "b.tsv")
        self.assertIn(run.returncode, (0, 1), run.stderr)
        self.refused("the runs have different nodes: a, b in a, a, server in b", "a", "b")
        self.refused("the runs have different nodes: a, b in a.tsv", "a.tsv", "b.tsv")

    def test_damaged_logs(self):
        self.runs()
        log = (self.folder / "a.tsv").read_bytes()
        lines = log.splitlines(keepends=True)
        for text, message in ((log[:-20], "b.tsv: line [0-9]+: has no end: the log was cut"), (b"", "b.tsv: is no event log"),
                              (log.replace(b"\trequest", b"", 1), "b.tsv: is no event log of this version of rnicsim: no column request"),
                              (log.replace(b"\toffset", b"", 1), "b.tsv: is no event log of this version of rnicsim: no column offset; rnicsim run"),
                              (b"".join([*lines[:9], lines[9].replace(b"\t", b"", 1), *lines[10:]]), "b.tsv: line 10: has 10 columns"),
                              (b"".join([*lines, lines[1]]), f"b.tsv: line {len(lines) + 1}: goes back in time")):
            (self.folder / "b.tsv").write_bytes(text)
            with self.subTest(message):
                self.refused(message, "a.tsv", "b.tsv")

    def test_damaged_databases(self):
        self.runs(LOSS)
        self.runs(name="b")
        whole = self.folder / "whole.sqlite"
        shutil.copy(self.folder / "b/run.sqlite", whole)
        with contextlib.closing(sqlite3.connect(whole)) as database:
            columns = [(table, name) for table in ("sources", "words", "event", "requests", "run", "frames")
                       for _, name, *_ in database.execute(f"PRAGMA table_info({table})")]
        for table, column in columns:
            for new in ("text", b"octets", 5.5, -1, 2**62, None):
                shutil.copy(whole, self.folder / "b/run.sqlite")
                with contextlib.closing(sqlite3.connect(self.folder / "b/run.sqlite")) as database:
                    try:
                        database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = 3", (new,))
                        database.commit()
                    except sqlite3.Error:
                        continue  # the table forbids it
                with self.subTest(table=table, column=column, new=new):
                    run = self.run_program("diff", "a", "b")
                    self.assertIn(run.returncode, (1, 2), run.stderr)
                    if run.returncode == 2:
                        self.assertRegex(run.stderr, "^rnicsim: (b/run.sqlite: |the runs have different nodes: ).*\n$")
        shutil.copy(whole, self.folder / "b/run.sqlite")
        with contextlib.closing(sqlite3.connect(self.folder / "b/run.sqlite")) as database:
            database.execute("PRAGMA user_version = 2")
        self.refused("b/run.sqlite: is no database of a run of this version of rnicsim; rnicsim run … --db b/run.sqlite", "a", "b")
        (self.folder / "b/run.sqlite").write_bytes(whole.read_bytes()[:50_000])
        self.refused("b/run.sqlite: ", "a", "b")
        (self.folder / "b/run.sqlite").write_bytes((self.folder / "a/run.sqlite").read_bytes())
        self.refused("b/run.sqlite: is of another run than stats.json", "a", "b")

    def test_a_damaged_breakdown(self):
        self.runs(LOSS)
        self.runs(name="b")
        file = self.folder / "b/breakdown.tsv"
        file.write_text(file.read_text().replace("=", ":"))
        self.refused("b/breakdown.tsv: line [0-9]+: parts: must be names with numbers", "a", "b")


if __name__ == "__main__":
    unittest.main()
