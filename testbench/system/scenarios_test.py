"""Every scenario of traces/ does what it promises, and tshark agrees with every octet it puts on the wire."""
import json
import sys
import unittest

from rnicsim import LONG, NO_LUA, TRACES, ProgramTest, is_swept, lua_runs


class Scenario(ProgramTest):
    def check_stats(self, stats):
        self.assertEqual(stats["scenario"], NAME)
        self.assertEqual(stats["end"], "done")
        self.assertTrue(stats["checks"])
        self.assertEqual([c for c in stats["checks"] if not c["passed"]], [])

    def test_checks_pass_and_tshark_agrees(self):
        scenario = TRACES / f"{NAME}.json"
        self.check_stats(self.run_scenario(scenario))
        if json.loads(scenario.read_text()).get("transport") == "sctp" and not lua_runs():
            self.skipTest(NO_LUA)
        wire = self.check_wire("out/wire.pcapng")
        self.assertEqual(wire.returncode, 0, wire.stdout + wire.stderr)


class LongScenario(Scenario):
    def test_checks_pass_and_tshark_agrees(self):
        """Without a capture: with so many ports most are those of other protocols, which tshark looks for."""
        self.check_stats(self.run_scenario(TRACES / f"{NAME}.json", "--no-capture"))


class SweptScenario(Scenario):
    def test_checks_pass_and_tshark_agrees(self):
        """Without captures: retransmissions_test.py checks loss with tshark."""
        run = self.run_program("run", TRACES / f"{NAME}.json", "--out", "out", "--jobs", 2)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        for point in json.loads((self.folder / "out/sweep.json").read_text())["points"]:
            self.assertNotIn(None, point["columns"].values())
            self.check_stats(json.loads((self.folder / point["folder"] / "stats.json").read_text()))


if __name__ == "__main__":
    NAME = sys.argv.pop(1)
    swept = is_swept(TRACES / f"{NAME}.json")
    unittest.main(argv=[sys.argv[0], "SweptScenario" if swept else "LongScenario" if NAME in LONG else "Scenario"])
