"""A run's database agrees with its other outputs, and `explain` reads it."""
import csv
import json
import os
import re
import shlex
import sqlite3
import unittest

from rnicsim import QUICKSTART, ROOT, TRACES, ProgramTest


class Database(ProgramTest):
    def database(self, *options):
        self.stats = self.run_scenario(self.small_scenario(), "--db", "out/run.sqlite", *options)
        database = sqlite3.connect(self.folder / "out/run.sqlite")
        self.addCleanup(database.close)
        return database

    def test_it_has_the_events_of_the_log(self):
        database = self.database("--trace", "log.tsv")
        with open(self.folder / "log.tsv", newline="", encoding="utf-8") as log:
            lines = [(int(line["time_ps"]), line["node"], line["where"], line["kind"])
                     for line in csv.DictReader(log, delimiter="\t", quoting=csv.QUOTE_NONE)]
        self.assertEqual(lines, database.execute("SELECT time_ps, node, place, kind FROM events ORDER BY id").fetchall())
        facts = dict(database.execute("SELECT name, value FROM run WHERE node IS NULL"))
        self.assertEqual((facts["digest"], facts["end"]), (self.stats["digest"], "done"))
        settings = dict(database.execute("SELECT name, value FROM run WHERE node = 'a'"))
        self.assertEqual(int(settings["rnic.tcp.mtu"]), self.stats["config"]["a"]["rnic"]["tcp"]["mtu"])

    def test_frames_and_tlps_are_those_that_were_counted(self):
        database = self.database()
        self.assertEqual(database.execute("SELECT count(*), max(number) FROM frames").fetchone(), (self.stats["frames"],) * 2)
        sent = dict(database.execute("SELECT node || place, count(*) FROM tlps GROUP BY node, place"))
        octets = dict(database.execute("SELECT node || place, sum(bytes) FROM tlps WHERE type <> 'read' GROUP BY node, place"))
        for node in "ab":
            for place, direction in (("pcie.upstream", "device_to_host"), ("pcie.downstream", "host_to_device")):
                counted = self.stats["stats"][node]["pcie"][direction]
                self.assertEqual(sent[node + place], counted["tlps"]["value"])
                self.assertEqual(octets[node + place], counted["data_bytes"]["value"])
        # Every read is answered completely, under its tag and after the request.
        asked, answered = database.execute("SELECT (SELECT sum(bytes) FROM tlps WHERE type = 'read'), (SELECT sum(bytes) FROM "
                                           "tlps WHERE type = 'completion')").fetchone()
        self.assertEqual(asked, answered)

    def test_the_page_s_questions_have_answers(self):
        database = self.database()
        page = (ROOT / "model/trace/database.md").read_text()
        questions = re.findall(r"(?:^    .*\n)+", page[page.index("## Questions"):], re.MULTILINE)
        self.assertGreater(len(questions), 5)
        for question in questions:
            database.execute(question).fetchall()
        columns = {name: {column[1] for column in database.execute(f"PRAGMA table_info({name})")}
                   for name, in database.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
        rows = re.findall(r"^\| `(\w+)`[^|]*\|[^|]*\| (.*) \|$", page, re.MULTILINE)
        self.assertEqual({name for name, _ in rows}, set(columns))
        for name, text in rows:
            if text != "likewise":
                named = set(re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", text)))
                self.assertEqual(named, columns[name], name)

    def test_the_same_in_any_order_of_calls(self):
        rows = []
        for options in (), ("--set", "sim.shuffle_seed=7"):
            database = self.database(*options)
            rows.append([database.execute(f"SELECT * FROM {table}").fetchall() for table in ("events", "frames", "requests")])
        self.assertEqual(*rows)

    def test_explain(self):
        database = self.database()
        slowest = self.run_program("explain", "out", "--slowest", "3").stdout.splitlines()
        self.assertEqual(len(slowest), 4)
        request, took = slowest[1].split()[:2]
        events = database.execute("SELECT time_ps FROM events JOIN requests ON requests.id = request WHERE text = ?", (request,))
        times = sorted(time for time, in events)
        self.assertEqual(took, f"{(times[-1] - times[0]) // 1000}.{(times[-1] - times[0]) % 1000:03}")
        story = self.run_program("explain", "out/run.sqlite", "--request", request).stdout.splitlines()
        self.assertEqual(len(story), 2 + len(times))
        self.assertEqual([line.split()[0] for line in story[2:]], [f"{t // 10**6}.{t % 10**6:06}" for t in times])
        since = [line.split()[2] for line in story[2:]]
        self.assertEqual(since, ["+0.000"] + [f"+{(b - a) // 1000}.{(b - a) % 1000:03}" for a, b in zip(times, times[1:])])

    def test_no_room_for_it(self):
        program = shlex.join([os.environ["RNICSIM"], "run", self.small_scenario(), "--no-capture", "--db", "out/run.sqlite"])
        run = self.run_command("bash", "-c", f"ulimit -f 500; exec {program}")  # in units of 1024 octets
        self.assertEqual(run.returncode, 5, run.stderr)
        self.assertRegex(run.stderr, r"^rnicsim: out/run.sqlite: cannot be written: ")
        self.assertNotIn("out/run.sqlite", "".join(self.files()))
        self.assertIn("out/stats.json", self.files())

    def test_of_one_side_of_a_capture(self):
        run = self.run_program("replay", TRACES / "siw/rping-64.pcap", "--as", "server", "--out", "out", "--db", "out/run.sqlite")
        self.assertEqual(run.returncode, 0, run.stderr)
        database = sqlite3.connect(self.folder / "out/run.sqlite")
        self.addCleanup(database.close)
        senders = dict(database.execute("SELECT sender IS NULL, count(*) FROM frames GROUP BY 1"))
        self.assertEqual(senders.keys(), {0, 1})

    def test_without_a_file_it_is_where_explain_looks(self):
        """The next word is the file, unless it begins with "-" or there is none."""
        scenario = self.small_scenario()
        for words, folder in ((("--db", "--out", "out/l"), "out/l"), (("--out", "m", "--no-capture", "--db"), "m"), (("--db",), "out"), (("-o", "n", "--db", "--no-capture"), "n")):
            with self.subTest(words=words):
                run = self.run_program("run", scenario, *words)
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                self.assertIn(f"{folder}/run.sqlite", run.stdout)
                explained = self.run_program("explain", folder, "--slowest", "1")
                self.assertEqual((explained.returncode, explained.stderr), (0, ""))
        swept = self.run_program("run", TRACES / "write_bw.json", "--set", "work.writes.count=1", "--out", "p", "--db")
        self.assertTrue((self.folder / "p/run.sqlite").exists(), swept.stderr)
        replayed = ("replay", TRACES / "siw/rping-64.pcap", "--as", "server")
        self.assertEqual(self.run_program(*replayed, "--out", "r", "--db").returncode, 0)
        self.assertTrue((self.folder / "r/run.sqlite").exists())
        self.check_refused("replay: --db without a file is OUT/run.sqlite, which needs --out", *replayed, "--db")
        self.check_refused("--db applies to one point", "run", TRACES / "loss-sweep.json", "--db")
        self.check_refused("run: which scenario?", "run", "--db", scenario)
        self.assertEqual(json.loads((self.folder / scenario).read_text())["name"], "quickstart", "it is no database")

    def check_refused(self, text, *arguments):
        run = self.run_program(*arguments)
        self.assertEqual(run.returncode, 2, run.stdout)
        self.assertIn(text, run.stderr)

    def test_mistakes(self):
        self.check_refused("none/run.sqlite: cannot be created", "run", QUICKSTART, "--db", "none/run.sqlite")
        self.assertEqual(self.files(), [])
        self.run_scenario(self.small_scenario())
        self.check_refused("rnicsim run … --db out/run.sqlite", "explain", "out", "--slowest", "1")
        self.check_refused("rnicsim run … --db out/run.sqlite", "explain", "out", "--why")
        self.database()
        self.check_refused("has no request 'x'; the nearest is", "explain", "out", "--request", "x")
        self.check_refused("one of --request ID, --slowest N and --why", "explain", "out")
        self.check_refused("no request 'x' that was posted and polled; there are a.0.0 to", "explain", "out", "--why", "--request", "x")
        self.check_refused("--json and --all belong to --why", "explain", "out", "--slowest", "1", "--json")
        self.check_refused("--why has the slowest requests", "explain", "out", "--slowest", "1", "--why")
        self.check_refused("--slowest must be", "explain", "out", "--slowest", "0")
        self.check_refused("--db applies to one point", "run", TRACES / "loss-sweep.json", "--db", "x.sqlite")


if __name__ == "__main__":
    unittest.main()
