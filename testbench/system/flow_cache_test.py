"""Scenarios with fewer flows of TCP on the chip than there are connections."""
import json
import unittest

from few_rows import SCENARIOS, SIZES, few_rows
from rnicsim import TRACES, ProgramTest

KNEES = TRACES / "flow-scaling.json"


def counters(node, block):
    return {name: counter["value"] for name, counter in node["rnic"][block].items()}


class FlowCache(ProgramTest):
    def stats(self, scenario, *options):
        """Whether it is fast enough does not matter here."""
        return self.run_scenario(scenario, "--no-capture", *options, codes=(0, 1))

    def check(self, scenario, *options):
        stats = self.stats(TRACES / f"{scenario}.json", *options)
        self.assertEqual([check["passed"] for check in stats["checks"] if check["name"] == "data"], [True])
        nodes = [node for node in stats["stats"].values() if "rnic" in node]
        for node in nodes:
            home = counters(node, "context_home")
            self.assertEqual(home["failed"] + home["corrupt"], 0)
        return nodes

    def test_every_kind_of_work_with_few_flows_on_the_chip(self):
        for scenario in SCENARIOS:
            for size in SIZES:
                with self.subTest(scenario=scenario, size=size):
                    self.check(scenario, *few_rows("flow", *size))

    def test_flows_that_were_away_repair_losses(self):
        for seed in (1, 2, 3):
            with self.subTest(seed=seed):
                nodes = self.check("qps16", *few_rows("flow", 2, 2, "random", 4, "host"), "--set", "link.forward.loss.ppm=20000", "--set", "link.reverse.loss.ppm=20000", "--set", f"seed={seed}")
                self.assertGreater(sum(counters(node, "tcp_tx")["retransmissions"] for node in nodes), 0)
                self.assertGreater(min(counters(node, "flow_cache")["misses"] for node in nodes), 100)

    def test_lost_flows_end_their_connections_and_their_numbers_are_used_again(self):
        """Connections come and go: where one is lost, later ones have its number."""
        for number in (40, 90, 140):
            with self.subTest(number=number):
                stats = self.stats(TRACES / "churn.json", *few_rows("flow", 1, 1, "lru", 2, "host"), "--set", "rnic.tcp.max_flows=16",
                                   "--set", f"nodes.b.rnic.context.home.flip_fetch={number}")
                self.assertEqual(counters(stats["stats"]["b"], "context_home")["corrupt"], 1)
                self.assertEqual(stats["stats"]["b"]["driver"]["lost_contexts"]["value"], 1)

    def test_beyond_the_knee_the_rate_is_misses_by_their_time(self):
        axes = [axis["values"] for axis in json.loads(KNEES.read_text())["sweep"]]
        points = [(qps, entries, misses) for qps in axes[0] for entries in axes[1] for misses in axes[2]]
        for misses in (1, 4):
            stats = self.stats(KNEES, "--point", points.index((256, 16, misses)))
            b = stats["stats"]["b"]
            home = counters(b, "context_home")
            fetch_ns = stats["config"]["b"]["rnic"]["clock_period_ps"] / 1000 * home["fetch_cycles"] / home["fetches"]
            self.assertAlmostEqual(fetch_ns, 616, delta=6)
            self.assertAlmostEqual(stats["results"][0]["rate_mops"] * fetch_ns / 1000 / misses, 1, delta=0.05)
            self.assertEqual(stats["bottleneck"]["name"], "flow cache misses")

    def test_a_cache_with_room_for_all_flows_is_none(self):
        scenario = TRACES / "qps16.json"
        without = self.stats(scenario)["digest"]
        all_of_them = self.stats(scenario, *few_rows("flow", 1024, 4, "lru", 4, "host"), "--set", "rnic.context.cache.flow.tag_cycles=7")["digest"]
        self.assertEqual(all_of_them, without)


if __name__ == "__main__":
    unittest.main()
