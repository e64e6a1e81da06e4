"""The transaction log agrees with the other outputs, and adds the times."""
import collections
import csv
import sqlite3
import unittest

from rnicsim import NEEDS_RTL, QUICKSTART, TRACES, ProgramTest


class TransactionLog(ProgramTest):
    def lines(self, scenario, *options):
        self.stats = self.run_scenario(scenario, "--trace", "log.tsv", *options)
        with open(self.folder / "log.tsv", newline="", encoding="utf-8") as log:
            return list(csv.DictReader(log, delimiter="\t", quoting=csv.QUOTE_NONE))

    def test_frames_completions_and_time(self):
        lines = self.lines(self.small_scenario())
        times = [int(line["time_ps"]) for line in lines]
        self.assertEqual(times, sorted(times))
        kinds = [line["kind"] for line in lines]
        self.assertEqual(kinds.count("frame_sent"), self.stats["frames"])
        for node, stats in self.stats["stats"].items():
            if "rnic" in stats:
                sent = sum(line["node"] == node and line["kind"] == "fpdu_sent" for line in lines)
                self.assertEqual(sent, stats["rnic"]["mpa_framer"]["fpdus"]["value"])

    def test_a_request_from_its_posting_to_its_completion(self):
        lines = [line for line in self.lines(self.small_scenario()) if line["request"].startswith("a.0.")]
        stations = ("posted", "wqe_fetched", "payload_read", "fpdu_sent", "frame_sent", "frame_received", "placed", "completed",
                    "polled")
        requests = {kind: [line["request"] for line in lines if line["kind"] == kind] for kind in stations}
        for kind in stations[1:]:
            self.assertEqual(set(requests[kind]), set(requests["posted"]), kind)
        one = requests["completed"][0]
        times = [min(int(line["time_ps"]) for line in lines if line["request"] == one and line["kind"] == kind)
                 for kind in stations]
        self.assertEqual(times, sorted(times))

    def test_the_octets_that_segments_place(self):
        """Each segment has its own; those of a request add up to its size."""
        for scenario, count in (("read_bw_ord1.json", "work.reads.count=20"), ("write_bw.json", "work.writes.count=20")):
            segments = collections.defaultdict(list)
            for line in self.lines(TRACES / scenario, "--set", count):
                if line["kind"] == "placed":
                    segments[line["request"]].append(int(line["bytes"]))
            messages = [octets for octets in segments.values() if len(octets) > 1]
            self.assertEqual(len(messages), 20)
            for octets in messages:
                self.assertEqual(sum(octets), self.stats["results"][0]["bytes"] // 20)
                self.assertLessEqual(octets.count(0), 1, "a Read Request")
                self.assertLess(max(octets), 1500)

    def test_offsets_tell_the_segments_of_a_message_apart(self):
        """They are those of the database."""
        lines = self.lines(TRACES / "write_bw.json", "--set", "work.writes.count=20", "--db", "run.sqlite")
        logged = collections.Counter((line["time_ps"], line["kind"], line["request"], line["offset"]) for line in lines if line["offset"])
        with sqlite3.connect(self.folder / "run.sqlite") as database:
            stored = collections.Counter((str(ps), kind, request, str(offset)) for ps, kind, request, offset in database.execute(
                "SELECT time_ps, kind, text, offset FROM events JOIN requests ON requests.id = request WHERE offset IS NOT NULL"))
        self.assertEqual(logged, stored)
        of_one = [int(line["offset"]) for line in lines if line["kind"] == "segmented" and line["request"] == "a.0.8"]
        self.assertEqual(of_one, sorted(set(of_one)))
        self.assertGreater(len(of_one), 5)

    def test_the_firmware_s_states_and_commands(self):
        lines = self.lines(self.small_scenario(), "--set", "rnic.fwcpu.log_level=4")
        states = [line["words"] for line in lines if line["kind"] == "firmware_log" and line["node"] == "a"]
        self.assertRegex("\n".join(states), r"wait_reply -> rts")
        commands = self.stats["stats"]["b"]["rnic"]["fwcpu"]["commands"]
        for op in ("listen", "accept", "create_qp"):
            latencies = [int(line["words"].split()[1]) * 4000 for line in lines
                         if (line["node"], line["kind"], line["words"].split(",")[0]) == ("b", "command", op)]
            self.assertEqual(len(latencies), commands[op]["count"])
            self.assertEqual(max(latencies), commands[op]["max"])

    def test_a_filter_leaves_the_lines_that_meet_each_of_its_conditions(self):
        scenario = self.small_scenario()
        every = self.lines(scenario)
        last = int(every[-1]["time_ps"])
        middle = (last // 2 // 1000) * 1000
        one = [line["request"] for line in every if line["kind"] == "completed" and line["receive"]][-1]
        received = next(line["receive"] for line in every if line["kind"] == "completed" and line["request"] == one and line["receive"])
        cases = ((("request", one),), (("request", received),), (("request", one), ("request", "a.0.0")), (("node", "b"),),
                 (("kind", "placed"),), (("kind", "placed"), ("kind", "tlp_write")), (("from", f"{middle}ps"),), (("to", f"{middle // 1000}ns"),),
                 (("request", one), ("node", "b"), ("kind", "placed"), ("from", "1us"), ("to", f"{last}ps")))
        for case in cases:
            of = {option: [value for name, value in case if name == option] for option, _ in case}
            begin, end = (next((int(value[:-2]) * (1000 if value.endswith("ns") else 1 if value.endswith("ps") else 10**6) for value in of.get(option, ())), usual)
                          for option, usual in (("from", 0), ("to", last + 1)))
            expected = [line for line in every if begin <= int(line["time_ps"]) < end and line["node"] in of.get("node", line["node"])
                        and line["kind"] in of.get("kind", [line["kind"]])
                        and ("request" not in of or {line["request"], line["receive"]} & set(of["request"]))]
            with self.subTest(case=case):
                self.assertGreater(len(expected), 0)
                digest = self.stats["digest"]
                self.assertEqual(self.lines(scenario, *(word for option, value in case for word in (f"--trace-{option}", value))), expected)
                self.assertEqual(self.stats["digest"], digest)

    def test_a_filter_is_for_the_perfetto_trace_too_and_not_for_the_database(self):
        scenario = self.small_scenario()
        sizes = []
        for options in (), ("--trace-kind", "placed"):
            self.run_scenario(scenario, "--perfetto", "t.perfetto", "--db", "run.sqlite", *options)
            with sqlite3.connect(self.folder / "run.sqlite") as database:
                sizes.append(((self.folder / "t.perfetto").stat().st_size, database.execute("SELECT count(*) FROM events").fetchone()[0]))
        self.assertLess(sizes[1][0], sizes[0][0] / 5)
        self.assertEqual(sizes[1][1], sizes[0][1])

    def test_a_filter_that_lets_nothing_pass_is_said(self):
        scenario = self.small_scenario()
        for options, words in ((("--trace-kind", "lost"), "--trace-kind lost"), (("--trace-request", "a.0.99999", "--trace-from", "1500ns"), "--trace-request a.0.99999 --trace-from 1500ns"),
                               (("--trace-from", "5s"), "--trace-from 5000ms")):
            run = self.run_program("run", scenario, "--out", "out", "--trace", "log.tsv", *options)
            self.assertEqual(run.returncode, 0)
            self.assertRegex(run.stderr, rf"^rnicsim: nothing is in log.tsv: of \d+ events none passes {words}\n$")
            self.assertEqual(len((self.folder / "log.tsv").read_text().splitlines()), 1)

    def test_what_a_filter_names_is_known(self):
        scenario = self.small_scenario()
        for options, said in ((("--trace-kind", "plased"), "--trace-kind plased: unknown kind of event; the nearest is placed"),
                              (("--trace-node", "c"), "--trace-node c: unknown node; the nearest is a"),
                              (("--trace-request", "x.0.1"), "--trace-request x.0.1: unknown node x; the nearest is a"),
                              (("--trace-request", "17"), "--trace-request 17: unknown node 17; the nearest is a"),
                              (("--trace-request", "b.0"), "--trace-request b.0: not an id as the log has them, such as b.0.17: node, queue pair, number of the request"),
                              (("--trace-from", "2us", "--trace-to", "2us"), "run: the window of --trace-from and --trace-to ends before it begins"),
                              (("--trace-to", "2"), "--trace-to: '2' is not a time with its unit, such as 12us (ps, ns, us, ms or s)")):
            run = self.run_program("run", scenario, "--out", "out", "--trace", "log.tsv", *options)
            self.assertEqual((run.returncode, run.stderr), (2, f"rnicsim: {said}\n"))
            self.assertEqual(self.files(), ["small.json"])
        run = self.run_program("run", scenario, "--db", "run.sqlite", "--trace-node", "a")
        self.assertEqual((run.returncode, run.stderr), (2, "rnicsim: run: --trace-node needs --trace FILE or --perfetto FILE\n"))

    def check_same_file(self, *runs):
        files = []
        for options in ((), *runs):
            self.lines(self.small_scenario(), *options)
            files.append((self.folder / "log.tsv").read_bytes())
        for file in files[1:]:
            self.assertEqual(files[0], file)

    def test_the_same_file_in_any_order_of_calls(self):
        self.check_same_file(("--set", "sim.shuffle_seed=7"), ("--set", "sim.run_ahead=false"))

    @NEEDS_RTL
    def test_the_same_file_with_rtl(self):
        self.check_same_file(("--rtl", "all"))

    def test_a_file_that_cannot_be(self):
        run = self.run_program("run", QUICKSTART, "--trace", "none/log.tsv")
        self.assertEqual((run.returncode, self.files()), (2, []), run.stderr)


if __name__ == "__main__":
    unittest.main()
