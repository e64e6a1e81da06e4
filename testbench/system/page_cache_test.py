"""A cache of page lists: rates beyond the knee, and no wrong octet whatever makes room for what."""
import json
import unittest

from few_rows import few_rows
from rnicsim import TRACES, ProgramTest

KNEES = TRACES / "mr-scaling.json"
CACHE = "rnic.context.cache.page"


class PageCache(ProgramTest):
    def stats(self, scenario, *options):
        return self.run_scenario(scenario, "--no-capture", *options)

    def test_beyond_the_knee_the_rate_is_misses_in_flight_by_their_time(self):
        scenario = json.loads(KNEES.read_text())
        axes = [axis["values"] for axis in scenario["sweep"]]
        points = [(pages, entries, misses) for pages in axes[0] for entries in axes[1] for misses in axes[2]]
        limited = 0
        for number, (pages, entries, misses) in enumerate(points):
            if pages != "4k" or entries > 1024 or misses > 4:
                continue
            stats = self.stats(KNEES, "--point", number)
            cache, home = ({name: counter["value"] for name, counter in stats["stats"]["b"]["rnic"][block].items()}
                           for block in ("page_cache", "context_home"))
            share = cache["misses"] / (cache["hits"] + cache["misses"] + cache["joined"])
            fetch_ns = stats["config"]["b"]["rnic"]["clock_period_ps"] / 1000 * home["fetch_cycles"] / home["fetches"]
            for result in stats["results"]:
                expected = misses / (fetch_ns * share) * 1000
                self.assertAlmostEqual(result["rate_mops"] / expected, 1, delta=0.05, msg=f"{entries} {misses} {result['name']}")
            self.assertEqual((stats["bottleneck"]["name"], stats["bottleneck"]["where"]), ("page cache misses", "node b"))
            limited += 1
        self.assertEqual(limited, 4)

    def test_every_kind_of_operation_with_few_rows_on_the_chip(self):
        for size in ((1, 1, "lru", 1, "host"), (2, 2, "plru", 4, "host"), (3, 3, "random", 2, "host"), (8, 4, "random", 8, "board"),
                     (2, 1, "lru", 64, "board")):
            stats = self.stats(TRACES / "page_lists.json", *few_rows("page", *size))
            self.assertTrue(all(check["passed"] for check in stats["checks"]), size)
            for node in stats["stats"].values():
                self.assertGreater(node["rnic"]["page_cache"]["evictions"]["value"], 50, size)
                self.assertEqual([node["rnic"]["context_home"][name]["value"] for name in ("failed", "corrupt")], [0, 0])

    def test_a_cache_with_room_for_all_rows_is_none(self):
        bounds = (TRACES / "page_lists.json", "--set", "rnic.context.pages=16384")
        without = self.stats(*bounds)["digest"]
        self.assertEqual(self.stats(*bounds, "--set", f"{CACHE}.entries=4096", "--set", f"{CACHE}.tag_cycles=7")["digest"], without)
        self.assertNotEqual(self.stats(*bounds, "--set", f"{CACHE}.entries=2048")["digest"], without)


if __name__ == "__main__":
    unittest.main()
