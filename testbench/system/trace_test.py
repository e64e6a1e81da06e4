"""The transaction log agrees with the other outputs, and adds the times."""
import collections
import csv
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
