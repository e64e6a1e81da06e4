"""Every event of a run has an owner, and the parts of each request's latency sum to the whole."""
import collections
import csv
import json
import sys
import unittest

from rnicsim import NEEDS_RTL, ROOT, TRACES, ProgramTest


class Identity(ProgramTest):
    def check(self, scenario, *options):
        run = self.run_program("run", scenario, "--out", "out", "--breakdown", "--trace", "out/trace.tsv", *options)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        check = self.run_command(sys.executable, "-B", ROOT / "scripts/check_identity.py", "out")
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        with open(self.folder / "out/trace.tsv", newline="", encoding="utf-8") as log:
            return list(csv.DictReader(log, delimiter="\t", quoting=csv.QUOTE_NONE))

    def test_sends_writes_and_reads(self):
        lines = self.check(self.small_scenario())
        kinds = {line["kind"] for line in lines if line["request"] == "a.0.50"}  # a Write
        self.assertLessEqual({"posted", "segmented", "frame_sent", "frame_received", "placed", "cqe_written", "polled"}, kinds)

    def test_atomics(self):
        lines = self.check(TRACES / "atomics.json")
        senders = collections.defaultdict(set)
        for line in lines:
            if line["kind"] == "frame_sent":
                senders[line["request"]].add(line["node"])
        answered = {line["request"] for line in lines if line["kind"] == "response"}
        self.assertTrue(answered)
        for request in answered:  # both chips work for the requester
            self.assertEqual(len(senders[request]), 2, request)

    def test_a_retransmission_has_the_owner_of_what_it_repeats(self):
        lines = self.check(self.small_scenario(), "--set", "link.forward.loss.every=50")
        again = [line for line in lines if line["kind"] == "retransmitted"]
        self.assertTrue(again)
        sent = {line["request"] for line in lines if line["kind"] == "frame_sent"}
        for line in again:
            self.assertIn(line["request"], sent)
        self.assertIn("dropped", {line["kind"] for line in self.check(self.small_scenario(), "--set", "link.forward.duplicate.every=20")})

    def test_a_terminate_belongs_to_the_request_at_fault(self):
        lines = self.check(TRACES / "errors/ddp_bounds.json")
        owners = {line["request"] for line in lines if line["kind"] == "terminated"}
        self.assertEqual(len(owners), 1)
        self.assertRegex(owners.pop(), r"^\w\.\d+\.\d+$")

    def test_a_breakdown_of_each_operation(self):
        self.check(self.small_scenario())
        for group in json.loads((self.folder / "out/stats.json").read_text())["latency_breakdown"]:
            for which in ("p50_ns", "p99_ns", "worst_ns", "mean_ns"):
                self.assertAlmostEqual(sum(part[which] for part in group["parts"]), group["total"][which], places=3)

    @NEEDS_RTL
    def test_the_same_owners_with_rtl(self):
        # A twin of atomic_alu does not know whose its DMA is.
        of_stages, of_twins = ([line for line in self.check(TRACES / "atomics.json", *rtl) if not line["where"].startswith("pcie.")]
                               for rtl in ((), ("--rtl", "all")))
        self.assertTrue(of_stages == of_twins)


if __name__ == "__main__":
    unittest.main()
