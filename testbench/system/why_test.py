"""What `rnicsim run` says about why it failed, and what `rnicsim explain --why` says of a run as a whole."""
import json
import unittest

from rnicsim import ProgramTest, TRACES

WRITES = ("--set", "work.writes.depth=4", "--set", "work.writes.count=20", "--set", "work.writes.size=16384")


class WhyTest(ProgramTest):
    def why(self, *options):
        run = self.run_program("explain", "out", "--why", *options)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout

    def lost(self, *options):
        scenario = json.loads((TRACES / "write_bw.json").read_text())
        scenario["checks"] = [{"check": "min_goodput_gbps", "value": 1}]
        (self.folder / "lost.json").write_text(json.dumps(scenario))
        self.run_scenario("lost.json", "--db", *WRITES, *options)

    def test_the_hint_of_a_run_that_failed(self):
        """Its last line leads to a command that works, or names the option that is missing."""
        scenario = json.loads((TRACES / "write_bw.json").read_text())
        scenario["work"][0]["count"] = 2
        scenario["checks"] = [{"check": "min_goodput_gbps", "value": 1000}]
        (self.folder / "fails.json").write_text(json.dumps(scenario))
        for options, hint in ((("--db",), "why: rnicsim explain out --why"), (("--db", "x.sqlite"), "why: rnicsim explain x.sqlite --why"),
                              ((), "why: run it again with --db, then rnicsim explain OUT --why")):
            with self.subTest(options=options):
                run = self.run_program("run", "fails.json", *options)
                self.assertEqual((run.returncode, run.stdout.splitlines()[-1]), (1, hint), run.stderr)
                if options:
                    self.assertEqual(self.run_program(*hint.split()[2:]).returncode, 0)
        scenario["checks"] = []
        (self.folder / "fails.json").write_text(json.dumps(scenario))
        self.assertNotIn("why:", self.run_program("run", "fails.json").stdout)

    def test_what_the_cable_did(self):
        """As planted, by direction, kind and setting."""
        self.lost("--set", "link.forward.loss.frames=100,120", "--set", "link.reverse.reorder.frames=60")
        self.assertIn("\ncable: a to b: 2 lost (loss); b to a: 1 reordered (reorder)\n", self.why())
        self.assertEqual(json.loads(self.why("--json").splitlines()[-1]),
                         {"cable": [{"from": "a", "to": "b", "kind": "lost", "setting": "link.*.loss", "frames": 2},
                                    {"from": "b", "to": "a", "kind": "reordered", "setting": "link.*.reorder", "frames": 1}]})
        self.lost()
        self.assertIn("\ncable: delivered every frame as it was sent\n", self.why())

    def test_the_objects(self):
        """Each symptom has all members; a window and tags both hold the slowest request."""
        self.lost("--set", "rnic.tcp.window_bytes=8192", "--set", "rnic.pcie.dma_read.max_tags=2")
        answers = [answer for answer in map(json.loads, self.why("--json", "--all").splitlines()) if "symptom" in answer]
        for answer in answers:
            self.assertEqual(list(answer), ["symptom", "cause", "chain", "waits", "also", "not_recorded"])
        slow = next(answer for answer in answers if answer["symptom"]["kind"] == "slow")
        self.assertEqual({slow["cause"]["kind"], *(cause["kind"] for cause in slow["also"])}, {"window", "tags"})
        self.assertIn("\n  also    setting: ", self.why())
        states = [step["state"] for answer in answers for step in answer["chain"] if "state" in step]
        self.assertIn({"octets_in_flight", "congestion_window", "peer_window"}, [set(state) for state in states])
        self.assertEqual([answer["not_recorded"] for answer in answers], [[]] * len(answers))


if __name__ == "__main__":
    unittest.main()
