"""Scenarios whose chips have few contexts and send each change of one to its home at once."""
import unittest

from few_rows import SCENARIOS, few_rows
from rnicsim import TRACES, ProgramTest

KINDS = ("cq", "flow", "qp", "stag")


def write_through(kind):
    return ("--set", f"rnic.context.cache.{kind}.write_back=false")


class WriteThrough(ProgramTest):
    def stats(self, scenario, *options):
        """Whether it is fast enough does not matter here."""
        return self.run_scenario(TRACES / f"{scenario}.json", "--no-capture", *options, codes=(0, 1))

    def home(self, stats):
        return [{name: counter["value"] for name, counter in node["rnic"]["context_home"].items()} for node in stats["stats"].values()]

    def test_every_kind_of_work(self):
        for scenario in SCENARIOS:
            for size in ((1, 1, "lru", 1, "host"), (2, 1, "random", 2, "board")):
                with self.subTest(scenario=scenario, size=size):
                    stats = self.stats(scenario, *(word for kind in KINDS for word in (*few_rows(kind, *size), *write_through(kind))))
                    self.assertEqual([check["passed"] for check in stats["checks"] if check["name"] == "data"], [True])
                    home = self.home(stats)
                    self.assertEqual([(node["write_backs"], node["failed"] + node["corrupt"]) for node in home], [(0, 0)] * len(home))
                    self.assertGreater(min(node["write_throughs"] for node in home), 500)

    def test_in_any_order_of_calls(self):
        words = [word for kind in KINDS for word in (*few_rows(kind, 4, 2, "lru", 3, "host"), *write_through(kind))]
        plain, shuffled, stepped = (self.stats("churn", *words, *option)["digest"] for option in
                                    ((), ("--set", "sim.shuffle_seed=7"), ("--set", "sim.run_ahead=false")))
        self.assertEqual([shuffled, stepped], [plain, plain])

    def test_a_cache_with_room_for_all_has_nothing_to_write(self):
        without = self.stats("qps16")
        through = self.stats("qps16", *(word for kind in KINDS for word in write_through(kind)))
        self.assertEqual(through["digest"], without["digest"])
        self.assertEqual([node["write_throughs"] for node in self.home(through)], [0, 0])

    def test_no_other_kind_has_it(self):
        for kind in ("page", "srq"):
            answer = self.run_program("config", "--dump", str(TRACES / "qps16.json"), *write_through(kind))
            self.assertEqual(answer.returncode, 2)
            self.assertIn(f"rnic.context.cache.{kind}.write_back", answer.stderr)


if __name__ == "__main__":
    unittest.main()
