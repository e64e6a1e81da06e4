"""Published curves of devices whose contexts do not all fit on the chip: traces/qpc-cliff.md says whose."""
import json
import unittest

from rnicsim import TRACES, ProgramTest

# Queue pairs on each machine, Reads of each machine in M/s.
CLIFF = {48: 11.0, 88: 7.7, 144: 3.2, 176: 2.7, 240: 2.1, 352: 1.5, 528: 1.5, 792: 1.2}
KNEE = {88, 144}
SLOPE = {84: 50.3, 154: 47.7, 252: 46.3, 420: 40.9, 588: 37.7, 756: 35.9, 924: 34.7, 1092: 33.7, 1260: 31.8}


class PublishedCurves(ProgramTest):
    def rates(self, name):
        """Of both nodes together, by queue pairs on each."""
        run = self.run_program("run", TRACES / f"{name}.json", "--no-capture", "--out", "out")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        points = json.loads((self.folder / "out/sweep.json").read_text())["points"]
        return {point["settings"]["connections.c0.qps"]: (point["columns"]["M/s of a"] + point["columns"]["M/s of b"]) / 2 for point in points}

    def test_one_fetch_at_a_time_is_a_cliff(self):
        for qps, rate in self.rates("qpc-cliff").items():
            with self.subTest(qps=qps):
                self.assertAlmostEqual(rate / CLIFF[qps], 1, delta=0.45 if qps in KNEE else 0.15)

    def test_many_fetches_at_a_time_are_a_slope(self):
        rates = self.rates("qpc-slope")
        shares = {qps: rate / rates[84] for qps, rate in rates.items()}
        for qps, share in shares.items():
            with self.subTest(qps=qps):
                self.assertAlmostEqual(share / (SLOPE[qps] / SLOPE[84]), 1, delta=0.1)
        self.assertAlmostEqual(shares[1260], 0.63, delta=0.05)
        self.assertEqual(sorted(shares.values(), reverse=True), list(shares.values()), "no cliff: it falls all the way")
        self.assertLess(max(a - b for a, b in zip(list(shares.values()), list(shares.values())[1:])), 0.1)


if __name__ == "__main__":
    unittest.main()
