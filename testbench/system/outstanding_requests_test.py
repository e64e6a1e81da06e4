"""Scenarios with few places for requests that are not complete."""
import unittest

from few_rows import SCENARIOS
from rnicsim import TRACES, ProgramTest


def places(requests):
    """Words for the command line."""
    return ["--set", f"rnic.tx.rdmap_segmenter.outstanding={requests}"]


class OutstandingRequests(ProgramTest):
    def requests(self, stats):
        """Of the nodes, with the values of their statistics."""
        groups = [node["rnic"]["outstanding_requests"] for node in stats["stats"].values() if "rnic" in node]
        return [{key: value["value"] for key, value in group.items()} for group in groups]

    def check(self, stats, requests):
        """All data came, never were more outstanding, and none is in the end."""
        self.assertEqual([check["passed"] for check in stats["checks"] if check["name"] == "data"], [True])
        for of_node in self.requests(stats):
            self.assertEqual(of_node["requests"], requests)
            self.assertLessEqual(of_node["requests_max"], requests)
            self.assertEqual(of_node["requests_used"], 0)
        self.assertGreater(sum(of_node["waits"] for of_node in self.requests(stats)), 0)

    def test_every_kind_of_work_with_few_places(self):
        for scenario in (*SCENARIOS, "bidirectional"):
            for requests in (1, 2, 3):
                with self.subTest(scenario=scenario, requests=requests):
                    self.check(self.run_scenario(TRACES / f"{scenario}.json", "--no-capture", *places(requests), codes=(0, 1)), requests)

    def test_few_places_little_room_and_few_rows(self):
        others = ("rnic.tcp.tx_memory.octets=1500", "rnic.context.cache.qp.entries=2", "rnic.context.cache.qp.ways=2")
        words = [word for setting in others for word in ("--set", setting)]
        for requests in (1, 2):
            with self.subTest(requests=requests):
                self.check(self.run_scenario(TRACES / "qps16.json", "--no-capture", *places(requests), *words, codes=(0, 1)), requests)

    def test_the_order_of_calls_and_running_ahead_change_nothing(self):
        for requests in (3, 20):
            with self.subTest(requests=requests):
                modes = ("sim.shuffle_seed=0", "sim.shuffle_seed=7", "sim.run_ahead=false")
                runs = [self.run_scenario(TRACES / "qps16.json", "--no-capture", *places(requests), "--set", mode, codes=(0, 1)) for mode in modes]
                self.assertEqual({run["digest"] for run in runs}, {runs[0]["digest"]})
                self.assertEqual([self.requests(run) for run in runs[1:]], [self.requests(runs[0])] * 2)

    def test_half_of_them_in_each_round_trip_is_the_rate_of_one_queue_pair(self):
        """Twice the places, twice the rate."""
        rates = []
        for requests in (4, 8, 16):
            settings = (f"nodes.a.rnic.tx.rdmap_segmenter.outstanding={requests}", "work.writes.size=8", "work.writes.count=4000")
            stats = self.run_scenario(TRACES / "write_bw.json", "--no-capture", *(word for s in settings for word in ("--set", s)), codes=(0, 1))
            rates.append(stats["results"][0]["rate_mops"])
            self.assertEqual(stats["bottleneck"]["name"], "requests outstanding")
        for less, more in zip(rates, rates[1:]):
            self.assertAlmostEqual(more / less, 2, delta=0.05)


if __name__ == "__main__":
    unittest.main()
