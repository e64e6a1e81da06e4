"""Rows that were not on the chip: each miss and each row that made room is an event, with its object and who asked."""
import sqlite3
import unittest

from rnicsim import TRACES, ProgramTest

SMALL = [word for cache in ("qp", "stag", "cq", "flow") for word in ("--set", f"rnic.context.cache.{cache}.entries=4")]
PLACES = {"flow": "flow_tx"}  # others are called as their table
KINDS = {"page": 0, "cq": 1, "stag": 2, "tx": 3, "rx": 3, "flow": 4}  # of ContextKind, in names of owners


class CacheEvents(ProgramTest):
    def run_with(self, scenario, *options):
        stats = self.run_scenario(TRACES / f"{scenario}.json", "--db", "run.sqlite", *options, codes=(0, 1))
        database = sqlite3.connect(self.folder / "run.sqlite")
        self.addCleanup(database.close)
        self.rows = database.execute(
            "SELECT node, place, kind, words, requests.text FROM events JOIN requests ON requests.id = request WHERE kind IN ('missed', 'evicted')"
            " ORDER BY events.id").fetchall()
        return stats

    def of(self, node, cache, kind):
        return [row for row in self.rows if row[0] == node and row[1].endswith(f".{PLACES.get(cache, cache)}_table") and row[2] == kind]

    def check_counters(self, stats):
        """Each that was counted has its event. Returns the caches that missed."""
        missed = set()
        for node in {row[0] for row in self.rows}:
            chip = stats["stats"][node]["rnic"]
            for cache in KINDS:
                if f"{cache}_cache" not in chip:  # its queue pairs are one object
                    continue
                counters = {name: chip[f"{cache}_cache"][name]["value"] for name in ("misses", "evictions", "dirty_evictions")}
                asked = [row for row in self.of(node, cache, "missed") if not row[3].endswith("by a prefetch")]
                made_room = self.of(node, cache, "evicted")
                self.assertEqual(len(asked), counters["misses"], cache)
                self.assertEqual(len(made_room), counters["evictions"], cache)
                self.assertEqual(sum("changed here" in row[3] for row in made_room), counters["dirty_evictions"], cache)
                if asked:
                    missed.add(cache)
                for *_, words, owner in asked + made_room:  # "row 7, by tx_scheduler", of a.ctx3.7
                    self.assertEqual(owner, f"{node}.ctx{KINDS[cache]}.{words.split()[1].rstrip(',')}")
        return missed

    def test_events_are_the_counters(self):
        stats = self.run_with("qps16", *SMALL)
        self.assertEqual(self.check_counters(stats), {"stag", "cq", "tx", "rx", "flow"})
        self.assertEqual({row[3].split(" by ")[1] for row in self.of("b", "rx", "missed")} & {"ddp_placement"}, {"ddp_placement"})

    def test_pages_are_told_too(self):
        stats = self.run_with("page_lists", "--set", "rnic.context.cache.page.entries=4", "--set", "rnic.context.cache.page.ways=1")
        self.assertEqual(self.check_counters(stats), {"page"})

    def test_a_row_makes_room_for_one_that_was_missed(self):
        """A row that is on the chip is not missed, and only such a row makes room."""
        self.run_with("qps16", *SMALL)
        for node in ("a", "b"):
            for cache in KINDS:
                here = set()
                missed = None
                for row in (row for row in self.rows if row[0] == node and row[1].endswith(f".{PLACES.get(cache, cache)}_table")):
                    number = int(row[3].split()[1].rstrip(","))
                    if row[2] == "missed":
                        self.assertNotIn(number, here)
                        missed = number
                        here.add(number)
                    else:
                        self.assertIn(number, here)
                        self.assertEqual(int(row[3].split()[-1]), missed)
                        here.remove(number)

    def test_a_prefetch_asks_for_nobody(self):
        stats = self.run_with("qps16", *SMALL, "--set", "rnic.context.cache.qp.fetch=half", "--set", "rnic.context.cache.qp.prefetch=frame")
        self.check_counters(stats)
        told = sum(row[3].endswith("by a prefetch") for node in ("a", "b") for row in self.of(node, "rx", "missed"))
        self.assertEqual(told, sum(stats["stats"][node]["rnic"]["qp_prefetch"]["rows"]["value"] for node in ("a", "b")))
        self.assertGreater(told, 0)

    def test_a_chip_with_room_for_all_tells_nothing(self):
        self.run_with("qps16")
        self.assertEqual(self.rows, [])

    def test_no_result_depends_on_being_told(self):
        plain = self.run_scenario(TRACES / "qps16.json", *SMALL, codes=(0, 1))["digest"]
        self.assertEqual(self.run_with("qps16", *SMALL)["digest"], plain)


if __name__ == "__main__":
    unittest.main()
