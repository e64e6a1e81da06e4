"""Every scenario of traces/ does what it says, and tshark agrees with every octet it puts on the wire."""
import sys
import unittest

from rnicsim import TRACES, ProgramTest


class Scenario(ProgramTest):
    def test_checks_pass_and_tshark_agrees(self):
        stats = self.run_scenario(TRACES / f"{NAME}.json")
        self.assertEqual(stats["scenario"], NAME)
        self.assertEqual(stats["end"], "done")
        self.assertTrue(stats["checks"])
        self.assertEqual([c for c in stats["checks"] if not c["passed"]], [])
        wire = self.check_wire("out/wire.pcapng")
        self.assertEqual(wire.returncode, 0, wire.stdout + wire.stderr)


if __name__ == "__main__":
    NAME = sys.argv.pop(1)
    unittest.main()
