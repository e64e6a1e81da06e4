"""The same inputs give the same run, in whatever order stages are called, and whether or not they run ahead."""
import hashlib
import unittest

from rnicsim import QUICKSTART, ProgramTest


class Determinism(ProgramTest):
    def digest(self, *options):
        """Digest of the trace, and of the capture's octets."""
        stats = self.run_scenario(QUICKSTART, *options)
        return stats["digest"], hashlib.sha256((self.folder / "out/wire.pcapng").read_bytes()).hexdigest()

    def test_call_order_changes_nothing_and_the_seed_does(self):
        plain = self.digest("--set", "sim.shuffle_seed=0")
        self.assertEqual(plain, self.digest("--set", "sim.shuffle_seed=7"))
        self.assertEqual(plain, self.digest("--set", "sim.run_ahead=false"))
        other = self.digest("--set", "sim.seed=2")
        self.assertNotEqual(plain[0], other[0])
        self.assertNotEqual(plain[1], other[1])

    def test_keys_are_of_the_seed_or_of_the_system(self):
        def keys_and_run(*options):
            stats = self.run_scenario(QUICKSTART, *options)
            keys = [key for n in "ab" for key in (stats["config"][n]["rnic"]["tcp"]["seed"],
                                                  stats["config"][n]["host"]["driver"]["stag_seed"])]
            return keys, hashlib.sha256((self.folder / "out/wire.pcapng").read_bytes()).hexdigest(), stats["digest"]
        runs = [keys_and_run(), keys_and_run()]
        self.assertEqual(runs[0], runs[1])
        runs += [keys_and_run("--set", "sim.system_keys=true") for _ in range(2)]
        self.assertEqual(len({key for run in runs[1:] for key in run[0]}), 12)
        self.assertEqual(len({run[1] for run in runs[1:]}), 3)
        self.assertEqual(len({run[2] for run in runs}), 1, "what happens when does not depend on keys")
        own = keys_and_run("--set", "rnic.tcp.seed=5", "--set", "host.driver.stag_seed=6")
        self.assertEqual(own[0], [5, 6, 5, 6])

    def test_watching_changes_nothing(self):
        scenario = self.small_scenario()
        watched = self.run_scenario(scenario, "--wave", "w.fst", "--wave-to", "20us")
        unwatched = self.run_scenario(scenario, "--no-capture")
        self.assertEqual(watched["digest"], unwatched["digest"])
        self.assertEqual(watched["results"], unwatched["results"])


if __name__ == "__main__":
    unittest.main()
