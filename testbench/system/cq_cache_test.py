"""Scenarios with fewer completion queues on the chip than there are."""
import json
import unittest

from few_rows import SCENARIOS, SIZES, few_rows
from rnicsim import TRACES, ProgramTest

KNEES = TRACES / "cq-scaling.json"
CACHE = "rnic.context.cache.cq"


class CqCache(ProgramTest):
    def stats(self, scenario, *options):
        return self.run_scenario(scenario, "--no-capture", *options)

    def test_every_kind_of_work_with_few_queues_on_the_chip(self):
        for scenario in SCENARIOS:
            for size in SIZES:
                with self.subTest(scenario=scenario, size=size):
                    stats = self.stats(TRACES / f"{scenario}.json", *few_rows("cq", *size))
                    self.assertTrue(all(check["passed"] for check in stats["checks"]))
                    home = [{name: counter["value"] for name, counter in node["rnic"]["context_home"].items()} for node in stats["stats"].values()]
                    self.assertGreater(sum(node["write_backs"] for node in home), 10 if size[0] < 4 else -1)
                    self.assertEqual([node["failed"] + node["corrupt"] for node in home], [0, 0])

    def test_beyond_the_knee_the_rate_is_misses_in_flight_by_their_time(self):
        axes = [axis["values"] for axis in json.loads(KNEES.read_text())["sweep"]]
        points = [(qps, entries, misses) for qps in axes[0] for entries in axes[1] for misses in axes[2]]
        limited = 0
        for number, (qps, entries, misses) in enumerate(points):
            if (qps, entries) not in ((64, 64), (256, 64)):
                continue
            stats = self.stats(KNEES, "--point", number)
            home = {name: counter["value"] for name, counter in stats["stats"]["a"]["rnic"]["context_home"].items()}
            fetch_ns = stats["config"]["a"]["rnic"]["clock_period_ps"] / 1000 * home["fetch_cycles"] / home["fetches"]
            self.assertAlmostEqual(fetch_ns, 600, delta=6)
            for result in stats["results"]:
                if result["name"] != "sends":  # those miss at the other end, too
                    self.assertAlmostEqual(result["rate_mops"] / (misses / fetch_ns * 1000), 1, delta=0.05, msg=f"{qps} {misses} {result['name']}")
            self.assertEqual(stats["bottleneck"]["name"], "CQ cache misses")
            limited += 1
        self.assertEqual(limited, 4)

    def test_a_cache_with_room_for_all_queues_is_none(self):
        scenario = TRACES / "qps16.json"
        without = self.stats(scenario)["digest"]
        all_of_them = self.stats(scenario, "--set", f"{CACHE}.entries=256", "--set", f"{CACHE}.tag_cycles=7")["digest"]
        self.assertEqual(all_of_them, without)
        self.assertNotEqual(self.stats(scenario, *few_rows("cq", 2, 1, "lru", 4, "host"))["digest"], without)


if __name__ == "__main__":
    unittest.main()
