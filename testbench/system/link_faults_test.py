"""Faults of the cable in whole runs: nothing is lost, CRC32c detects what TCP cannot, and a seed determines the run."""
import unittest

from rnicsim import ProgramTest

# All kinds at once.
ALL = {"loss.ppm": 3000, "burst.enter_ppm": 500, "burst.leave_ppm": 400000, "duplicate.ppm": 5000, "reorder.ppm": 3000,
       "corrupt.ppm": 2000, "delay.ns": 1000, "delay.jitter_ns": 500, "rate.mbps": 40000, "down_us": "100-150"}


def settings(faults, *more):
    options = [f"link.forward.{key}={value}" for key, value in faults.items()] + ["link.symmetric=true", *more]
    return [word for option in options for word in ("--set", option)]


class LinkFaults(ProgramTest):
    def run_with(self, faults, *more):
        return self.run_scenario(self.small_scenario(), *settings(faults, *more))

    def test_nothing_is_lost_whatever_the_fault(self):
        counted = {"loss.ppm": "lost", "burst.enter_ppm": "lost_in_bursts", "duplicate.ppm": "duplicated",
                   "reorder.ppm": "reordered", "corrupt.ppm": "corrupted", "down_us": "lost_while_down"}
        for key, counter in counted.items():
            with self.subTest(key):
                stats = self.run_with({key: ALL[key]})
                self.assertTrue(all(r["data_ok"] for r in stats["results"]))
                for direction in ("forward", "reverse"):
                    counters = stats["stats"]["link"][direction]
                    self.assertGreater(counters[counter]["value"], 0, counters)
                    others = set(counted.values()) - {counter}
                    self.assertTrue(all(counters[o]["value"] == 0 for o in others), counters)

    def test_all_at_once_are_the_same_run_in_any_order_of_calls(self):
        plain = self.run_with(ALL)
        self.assertGreater(plain["stats"]["a"]["rnic"]["tcp_tx"]["retransmissions"]["value"], 0)
        for same in ("sim.shuffle_seed=5", "sim.run_ahead=false", f"link.seed={plain['fault_seed']}"):
            with self.subTest(same):
                run = self.run_with(ALL, same)
                self.assertEqual((run["digest"], run["frames"]), (plain["digest"], plain["frames"]))
        self.assertNotEqual(self.run_with(ALL, "link.seed=99")["digest"], plain["digest"])

    def test_the_crc_notices_what_a_repaired_checksum_hides(self):
        options = settings({"corrupt_repaired.frames": 60}, "link.symmetric=false")
        run = self.run_program("run", self.small_scenario(), "--out", "out", *options)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertIn("c0 listening: the queue pair went to the error state: sent Terminate 2/0/02 (MPA: CRC mismatch)",
                      run.stderr)

    def test_without_crc_the_payload_tells(self):
        connection = self.small_scenario(crc=False)
        run = self.run_program("run", connection, "--out", "out", *settings({"corrupt_repaired.ppm": 3000}))
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)

    def test_mistakes_name_path_and_reason(self):
        for option, message in {
            "link.foward.loss.ppm=1": "link.foward.loss.ppm (command line): unknown setting; the nearest is link.forward.loss.ppm",
            "link.forward.loss.ppm=1000001": "link.forward.loss.ppm = 1000001 (command line): must be 0 to 1000000 ppm",
            "link.reverse.down_us=9-3": "link.reverse.down_us = 9-3: '9-3' ends before it begins",
        }.items():
            with self.subTest(option):
                run = self.run_program("run", self.small_scenario(), "--set", option)
                self.assertEqual((run.returncode, run.stderr), (2, f"rnicsim: {message}\n"))


if __name__ == "__main__":
    unittest.main()
