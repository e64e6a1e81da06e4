"""stats.json splits the time of a setup and of a command into its parts."""
import unittest

from rnicsim import TRACES, ProgramTest

PARTS = ("tcp", "mpa", "firmware", "host")


class SetupSplit(ProgramTest):
    def setup(self, stats, node, role):
        return {k: v for k, v in stats["stats"][node]["rnic"]["fwcpu"]["setup"][role].items()}

    def test_the_parts_of_the_only_setup_add_up_to_it(self):
        stats = self.run_scenario(self.small_scenario())
        for node, role, other in (("a", "initiator", "responder"), ("b", "responder", "initiator")):
            times = self.setup(stats, node, role)
            self.assertEqual(times["total"]["count"], 1)
            self.assertEqual(sum(times[p]["max"] for p in PARTS), times["total"]["max"])
            self.assertEqual(self.setup(stats, node, other)["total"]["count"], 0)
        self.assertEqual(self.setup(stats, "a", "initiator")["host"]["max"], 0)
        self.assertGreater(self.setup(stats, "b", "responder")["host"]["max"], 0)
        # The handshake takes at least one round trip of the cable.
        self.assertGreaterEqual(self.setup(stats, "a", "initiator")["tcp"]["max"], 1_000_000)

    def test_every_setup_and_command_is_counted(self):
        stats = self.run_scenario(TRACES / "churn.json")
        times = self.setup(stats, "a", "initiator")
        self.assertEqual(times["total"]["count"], 251)
        self.assertAlmostEqual(sum(times[p]["mean"] for p in PARTS), times["total"]["mean"], delta=1)
        commands = stats["stats"]["a"]["rnic"]["fwcpu"]["commands"]
        self.assertEqual(commands["connect"]["count"], 251)
        self.assertEqual(commands["create_qp"]["count"], 251)
        self.assertEqual(commands["accept"]["count"], 0)
        busy = stats["stats"]["a"]["rnic"]["fwcpu"]["utilization"]["value"]
        self.assertTrue(0 < busy < 1, busy)


if __name__ == "__main__":
    unittest.main()
