"""Scenarios with few entries of rings on the chip, beside the one that each ring has."""
import unittest

from few_rows import SCENARIOS
from rnicsim import TRACES, ProgramTest

POOLS = ("rdmap_segmenter", "wqes", 256), ("ddp_placement", "rqes", 256 + 64)  # with the rings of the default settings


def shared(entries):
    """Words for the command line."""
    return ["--set", f"rnic.tx.wqe_fetch.shared={entries}", "--set", f"rnic.rx.rqe_fetch.shared={entries}"]


class SharedEntries(ProgramTest):
    def waits(self, stats):
        chips = [node["rnic"] for node in stats["stats"].values() if "rnic" in node]
        return [chip[stage]["waits"]["value"] for chip in chips for stage in ("wqe_fetch", "rqe_fetch")]

    def test_every_kind_of_work(self):
        for scenario in (*SCENARIOS, "bidirectional"):
            for entries in (0, 1, 5):
                with self.subTest(scenario=scenario, entries=entries):
                    stats = self.run_scenario(TRACES / f"{scenario}.json", "--no-capture", *shared(entries), codes=(0, 1))
                    self.assertEqual([check["passed"] for check in stats["checks"] if check["name"] == "data"], [True])
                    self.assertGreater(sum(self.waits(stats)), 0)

    def test_their_pools_are_as_large(self):
        stats = self.run_scenario(TRACES / "qps16.json", "--no-capture", *shared(5), codes=(0, 1))
        for node in stats["stats"].values():
            for stage, pool, rings in POOLS:
                figures = node["rnic"][stage][pool]
                self.assertEqual(figures["entries"]["value"], rings + 5)
                self.assertLessEqual(figures["used"]["value"], rings + 5)

    def test_enough_for_all_change_nothing(self):
        without, enough = (self.run_scenario(TRACES / "qps16.json", "--no-capture", *words) for words in ([], shared(256 * 7)))
        self.assertEqual(enough["digest"], without["digest"])
        self.assertEqual(self.waits(enough), [0] * 4)

    def test_the_order_of_calls_and_running_ahead_change_nothing(self):
        for entries in (0, 3):
            with self.subTest(entries=entries):
                modes = ("sim.shuffle_seed=0", "sim.shuffle_seed=7", "sim.run_ahead=false")
                runs = [self.run_scenario(TRACES / "qps16.json", "--no-capture", *shared(entries), "--set", mode, codes=(0, 1)) for mode in modes]
                self.assertEqual({run["digest"] for run in runs}, {runs[0]["digest"]})

    def test_a_ring_with_one_entry_reads_one_in_each_round_trip(self):
        """As with one entry for each ring by prefetch."""
        of_one = []
        for setting in ("shared=0", "prefetch=1"):
            settings = (f"nodes.a.rnic.tx.wqe_fetch.{setting}", "work.writes.size=8", "work.writes.count=2000")
            stats = self.run_scenario(TRACES / "write_bw.json", "--no-capture", *(word for s in settings for word in ("--set", s)), codes=(0, 1))
            of_one.append(stats["results"][0]["rate_mops"])
            self.assertEqual(stats["bottleneck"]["name"], "WQE prefetch")
        self.assertAlmostEqual(of_one[0], of_one[1])


if __name__ == "__main__":
    unittest.main()
