"""Waveforms of a window and a scope of a run."""
import unittest

from rnicsim import ProgramTest

WINDOW = ("--wave-scope", "rnic_a.tx", "--wave-from", "34us", "--wave-to", "36us")


class Waves(ProgramTest):
    def dump(self, name, *options):
        self.run_scenario(self.small_scenario(), "--wave", name, *options)
        return (self.folder / name).read_bytes()

    def test_vcd_holds_the_scope_and_the_window_only(self):
        lines = self.dump("w.vcd", *WINDOW).decode().splitlines()
        top = [line.split()[2] for line in lines if line.startswith("$scope")][:2]
        self.assertEqual(top, ["rnic_a", "tx"])
        self.assertNotIn("$scope module rx $end", lines)
        self.assertNotIn("$scope module rnic_b $end", lines)
        times = [int(line[1:]) for line in lines if line.startswith("#")]
        self.assertEqual(times[0], 34_000_000)
        self.assertLessEqual(times[-1], 36_000_000)
        self.assertEqual(times, sorted(times))
        self.assertGreater(len(times), 100)  # traffic, not just first and last values

    def test_fst_is_written_and_the_same_twice(self):
        first = self.dump("w.fst", *WINDOW)
        self.assertGreater(len(first), 1000)
        self.assertEqual(first, self.dump("w.fst", *WINDOW))

    def test_both_chips_without_a_scope(self):
        text = self.dump("w.vcd", "--wave-from", "34us", "--wave-to", "35us").decode()
        self.assertIn("$scope module rnic_a $end", text)
        self.assertIn("$scope module rnic_b $end", text)


if __name__ == "__main__":
    unittest.main()
