"""Scoreboards of the program (RNICSIM): what all stages give is compared with librnic_golden, and a difference gives five lines
with a command that shows it."""
import json
import os
import pathlib
import re
import shlex
import shutil
import unittest

from rnicsim import TRACES, ProgramTest

STREAM = ("mpa_framer", "marker_inserter", "crc_insert", "mpa_deframer", "crc_check")
# Stages that look contexts up, and the cache whose rows need not be on the chip.
CACHED = {"irrq": "qp", "response_queue": "qp", "atomic_alu": "stag", "ddp_placement": "srq"}


class Scoreboards(ProgramTest):
    def mismatch(self, *options):
        """The five lines of a run that fails."""
        run = self.run_program("run", self.small_scenario(), *options)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        lines = run.stderr.splitlines()
        self.assertEqual(len(lines), 5, run.stderr)
        for line, word in zip(lines[1:], ("stream", "accepted", "expected", "see")):
            self.assertEqual(line.split()[0], word)
        return lines

    def refused(self, words, *options):
        run = self.run_program("run", self.small_scenario(), *options)
        self.assertEqual((run.returncode, run.stderr.count("\n")), (2, 1), run.stderr)
        self.assertIn(words, run.stderr)

    def test_all_stages_are_right(self):
        scenario = self.small_scenario(markers=True)
        digest = self.run_scenario(scenario)["digest"]
        run = self.run_program("run", scenario, "--scoreboard", "all")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertEqual(json.loads((self.folder / "out/stats.json").read_text())["digest"], digest)
        self.assertRegex(run.stderr, r"^rnicsim: scoreboards: \d+ transactions of 24 stages are right; nothing passed atomic_alu, response_queue, sctp_crc_check, "
                                     r"sctp_crc_insert, terminate_generator\n$")
        reports = json.loads((self.folder / "out/scoreboard.json").read_text())
        counters = json.loads((self.folder / "out/stats.json").read_text())["stats"]
        for node in "ab":
            for stage in STREAM:
                report = reports[f"{node}.rnic_{node}.{stage}"]
                self.assertGreater(report["compared"], 0, stage)
                self.assertEqual(report["mismatch"], "")
                self.assertTrue(all(port.get("expected", 0) == 0 for port in report["ports"]), stage)
            framed = reports[f"{node}.rnic_{node}.mpa_framer"]["compared"]
            self.assertEqual(framed, counters[node]["rnic"]["mpa_framer"]["fpdus"]["value"])

    def test_sctp_and_loss(self):
        loss = ("--set", "link.forward.loss.every=50")
        over_sctp = ("--set", "work.sends.count=20", "--set", "work.writes.count=10", "--set", "work.reads.count=10")
        for run in (self.run_program("run", self.small_scenario(), "--scoreboard", "all", *loss),
                    self.run_program("run", TRACES / "sctp_quickstart.json", "--scoreboard", "sctp_crc_insert,sctp_crc_check", *loss, *over_sctp)):
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertRegex(run.stderr, r"scoreboards: [1-9]\d+ transactions")

    def test_stages_with_contexts(self):
        scenario = json.loads((TRACES / "page_lists.json").read_text())
        for item in sum(([item] if isinstance(item, dict) else item for item in scenario["work"]), []):
            item["count"] //= 4
        (self.folder / "lists.json").write_text(json.dumps(scenario))
        run = self.run_program("run", "lists.json", "--scoreboard", ",".join(CACHED))
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        reports = json.loads((self.folder / "out/scoreboard.json").read_text())
        for stage in CACHED:
            self.assertGreater(sum(report["compared"] for name, report in reports.items() if name.endswith(stage)), 0, stage)

    def test_streams_that_end_with_an_error(self):
        for error in ("rdma_access", "ddp_no_buffer", "rdma_unknown_invalidate"):
            run = self.run_program("run", TRACES / f"errors/{error}.json", "--scoreboard", "ddp_placement,terminate_generator")
            self.assertEqual((run.returncode, run.stderr.count("are right")), (0, 1), run.stdout + run.stderr)

    def test_what_is_too_late_is_shown(self):
        lines = self.mismatch("--scoreboard", "crc_insert", "--max-latency", "3")
        self.assertRegex(lines[0], r"^rnicsim: scoreboard: [ab]\.rnic_[ab]\.crc_insert: fpdu \d+ of flow \d+ is missing")
        command = re.search(r" in rnicsim (run .*)$", lines[4])[1]
        again = self.run_program(*shlex.split(command))
        self.assertEqual(again.stderr.splitlines()[:4], lines[:4])
        self.assertTrue((self.folder / "out/scoreboard.fst").stat().st_size > 0)

    def test_names(self):
        self.refused("no stage 'crc_chek' has a scoreboard; the nearest that has is 'crc_check'", "--scoreboard", "crc_chek")
        self.refused("--max-latency needs --scoreboard", "--max-latency", "5")
        self.refused("max_latency", "--scoreboard", "all", "--max-latency", "0")
        self.refused("--race-window needs --scoreboard", "--race-window", "5")
        self.refused("race_window", "--scoreboard", "all", "--race-window", "0")
        run = self.run_program("run", self.small_scenario(), "--scoreboard", "crc_check,sctp_crc_check")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual(run.stderr, "rnicsim: --scoreboard: nothing was compared of sctp_crc_check\n")

    def test_contexts_in_a_cache(self):
        for stage, cache in CACHED.items():
            setting = f"rnic.context.cache.{cache}.entries"
            self.refused(f"a.rnic_a.{stage} has its", "--scoreboard", stage, "--set", f"{setting}=4")
            self.refused(setting, "--scoreboard", stage, "--set", f"{setting}=4")
        run = self.run_program("run", self.small_scenario(), "--scoreboard", "all", "--set", "rnic.context.cache.qp.entries=4")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stderr, r"transactions of 16 stages are right; .*; not compared: atomic_alu, ddp_placement, irrq, response_queue\n$")

    def test_contexts_of_one_node_in_a_cache(self):
        scenario = json.loads((self.folder / self.small_scenario()).read_text())
        scenario["nodes"][1]["config"] = {"rnic.context.cache.srq.entries": 4}
        (self.folder / "one.json").write_text(json.dumps(scenario))
        run = self.run_program("run", "one.json", "--scoreboard", "all")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stderr, r"transactions of 23 stages are right; .*; not compared: b\.rnic_b\.ddp_placement\n$")

    def test_without_the_library(self):
        (self.folder / "bin").mkdir()
        program = self.folder / "bin/rnicsim"
        shutil.copy2(os.environ["RNICSIM"], program)
        run = self.run_command(str(program), "run", self.small_scenario(), "--scoreboard", "all")
        self.assertEqual((run.returncode, run.stderr.count("\n")), (2, 1), run.stderr)
        self.assertIn("--scoreboard needs librnic_golden.so.1, which is not in", run.stderr)
        self.assertFalse(pathlib.Path(self.folder / "out/stats.json").exists())


if __name__ == "__main__":
    unittest.main()
