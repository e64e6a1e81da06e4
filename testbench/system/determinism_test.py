"""The same inputs give the same run, whatever the order in which stages are called, and whether they run ahead."""
import hashlib
import unittest

from rnicsim import QUICKSTART, ProgramTest


class Determinism(ProgramTest):
    def digest(self, *options):
        """Of the trace, and of the capture's octets."""
        stats = self.run_scenario(QUICKSTART, *options)
        return stats["digest"], hashlib.sha256((self.folder / "out/wire.pcapng").read_bytes()).hexdigest()

    def test_call_order_changes_nothing_and_the_seed_does(self):
        plain = self.digest("--set", "sim.shuffle_seed=0")
        self.assertEqual(plain, self.digest("--set", "sim.shuffle_seed=7"))
        self.assertEqual(plain, self.digest("--set", "sim.run_ahead=false"))
        other = self.digest("--set", "sim.seed=2")
        self.assertNotEqual(plain[0], other[0])
        self.assertNotEqual(plain[1], other[1])

    def test_watching_changes_nothing(self):
        scenario = self.small_scenario()
        watched = self.run_scenario(scenario, "--wave", "w.fst", "--wave-to", "20us")
        unwatched = self.run_scenario(scenario, "--no-capture")
        self.assertEqual(watched["digest"], unwatched["digest"])
        self.assertEqual(watched["results"], unwatched["results"])


if __name__ == "__main__":
    unittest.main()
