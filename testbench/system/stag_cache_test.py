"""Scenarios with fewer STags on the chip than there are."""
import json
import unittest

from few_rows import SCENARIOS, SIZES, few_rows
from rnicsim import TRACES, ProgramTest

KNEES = TRACES / "stag-scaling.json"


def counters(node, block):
    return {name: counter["value"] for name, counter in node["rnic"][block].items()}


class StagCache(ProgramTest):
    def stats(self, scenario, *options):
        """Whether it is fast enough does not matter here."""
        return self.run_scenario(scenario, "--no-capture", *options, codes=(0, 1))

    def test_every_kind_of_work_with_few_stags_on_the_chip(self):
        for scenario in SCENARIOS:
            for size in SIZES:
                with self.subTest(scenario=scenario, size=size):
                    stats = self.stats(TRACES / f"{scenario}.json", *few_rows("stag", *size))
                    self.assertEqual([check["passed"] for check in stats["checks"] if check["name"] == "data"], [True])
                    for node in stats["stats"].values():
                        self.assertGreater(counters(node, "stag_cache")["misses"], 0)
                        home = counters(node, "context_home")
                        self.assertEqual(home["failed"] + home["corrupt"], 0)

    def test_beyond_the_knee_the_rate_is_misses_by_their_time(self):
        axes = [axis["values"] for axis in json.loads(KNEES.read_text())["sweep"]]
        points = [(qps, entries, misses) for qps in axes[0] for entries in axes[1] for misses in axes[2]]
        limited = 0
        for number, (qps, entries, misses) in enumerate(points):
            if (qps, entries) not in ((64, 16), (256, 16), (256, 64)):
                continue
            stats = self.stats(KNEES, "--point", number)
            b = stats["stats"]["b"]
            home = counters(b, "context_home")
            fetch_ns = stats["config"]["b"]["rnic"]["clock_period_ps"] / 1000 * home["fetch_cycles"] / home["fetches"]
            self.assertAlmostEqual(fetch_ns, 600, delta=6)
            writes, reads = (result["rate_mops"] * fetch_ns / 1000 for result in stats["results"])
            # With few entries for so many fetches some have left before their response is cut, and are fetched twice.
            if entries > 4 * misses:
                self.assertAlmostEqual(reads / misses, 1, delta=0.05, msg=f"{qps} {entries} {misses}")
            else:
                self.assertLess(reads / misses, 0.95, msg=f"{qps} {entries} {misses}")
            # The receive pipeline keeps the order of the wire: one miss at a time.
            if (qps, entries) == (256, 16):
                self.assertAlmostEqual(writes, 1, delta=0.05, msg=f"{qps} {entries} {misses}")
            self.assertIn(stats["bottleneck"]["name"], ("STag cache", "STag cache misses"))
            limited += 1
        self.assertEqual(limited, 6)

    def test_a_cache_with_room_for_all_stags_is_none(self):
        scenario = TRACES / "qps16.json"
        without = self.stats(scenario)["digest"]
        all_of_them = self.stats(scenario, *few_rows("stag", 1024, 4, "lru", 4, "host"), "--set", "rnic.context.cache.stag.tag_cycles=7")["digest"]
        self.assertEqual(all_of_them, without)
        self.assertNotEqual(self.stats(scenario, *few_rows("stag", 2, 1, "lru", 4, "host"))["digest"], without)


if __name__ == "__main__":
    unittest.main()
