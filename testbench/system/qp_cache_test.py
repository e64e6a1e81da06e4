"""Scenarios with fewer contexts of queue pairs on the chip than there are."""
import unittest

from few_rows import SCENARIOS, SIZES, few_rows
from rnicsim import TRACES, ProgramTest

KNEES = TRACES / "qp-scaling.json"
FRAME = ("--set", "rnic.context.cache.qp.prefetch=frame")
OBJECTS = ("--set", "rnic.context.cache.qp.fetch=object")
SINGLE = [word for item in ("writes", "sends", "reads") for word in ("--set", f"work.{item}.depth=1")]


class QpCache(ProgramTest):
    def stats(self, scenario, *options):
        """Whether it is fast enough does not matter here."""
        return self.run_scenario(scenario, "--no-capture", *options, codes=(0, 1))

    def test_every_kind_of_work_with_few_queue_pairs_on_the_chip(self):
        for scenario in SCENARIOS:
            for size in SIZES:
                with self.subTest(scenario=scenario, size=size):
                    stats = self.stats(TRACES / f"{scenario}.json", *few_rows("qp", *size))
                    self.assertEqual([check["passed"] for check in stats["checks"] if check["name"] == "data"], [True])
                    home = [{name: counter["value"] for name, counter in node["rnic"]["context_home"].items()} for node in stats["stats"].values()]
                    self.assertGreater(sum(node["write_backs"] for node in home), 10 if size[0] < 4 else -1)
                    self.assertEqual([node["failed"] + node["corrupt"] for node in home], [0, 0])
            with self.subTest(scenario=scenario, fetch="object"):
                stats = self.stats(TRACES / f"{scenario}.json", *few_rows("qp", 2, 1, "lru", 2, "host"), *OBJECTS)
                self.assertEqual([check["passed"] for check in stats["checks"] if check["name"] == "data"], [True])
                self.assertNotIn("rx_cache", next(iter(stats["stats"].values()))["rnic"])

    def test_a_queue_pair_that_is_fetched_at_once_is_there_when_the_response_comes(self):
        """Eight misses in flight: what one half of a queue pair was fetched for brings the other, so Reads do as well as Writes."""
        halves, objects = (self.stats(KNEES, "--point", 17, *options)["results"] for options in ((), OBJECTS))
        self.assertAlmostEqual(halves[2]["rate_mops"], 9.3, delta=0.3)
        self.assertAlmostEqual(objects[2]["rate_mops"], 10.8, delta=0.3)
        for half, whole in zip(halves[:2], objects):
            self.assertAlmostEqual(whole["rate_mops"] / half["rate_mops"], 1, delta=0.02)

    def test_beyond_the_knee_the_rate_is_misses_in_flight_by_their_time(self):
        """With one request outstanding on each queue pair, each doorbell needs a fetch, and lets no more through than find their rows there later."""
        for entries, misses, home, fetch_ns in ((64, 1, "host", 606), (256, 1, "host", 606), (64, 1, "board", None)):
            with self.subTest(entries=entries, misses=misses, home=home):
                stats = self.stats(KNEES, "--point", 23, *SINGLE, *few_rows("qp", entries, 8, "lru", misses, home))
                a = {name: counter["value"] for name, counter in stats["stats"]["a"]["rnic"]["context_home"].items()}
                measured = stats["config"]["a"]["rnic"]["clock_period_ps"] / 1000 * a["fetch_cycles"] / a["fetches"]
                if fetch_ns is not None:
                    self.assertAlmostEqual(measured, fetch_ns, delta=6)
                    for result in stats["results"]:
                        share = result["rate_mops"] * measured / 1000 / misses
                        self.assertAlmostEqual(share, 1, delta=0.05, msg=result["name"])
                else:
                    self.assertLess(measured, 250)
                self.assertEqual(stats["bottleneck"]["name"], "QP cache misses")

    def goodputs(self, scenario, *points):
        """Of the second item, beside others, as a share of that with all rows on the chip."""
        rates = [self.stats(scenario, "--point", point)["results"][1]["goodput_gbps"] for point in (0, *points)]
        return [rate / rates[0] for rate in rates[1:]]

    def test_a_busy_queue_pair_waits_for_a_place_with_one_miss_in_flight(self):
        one, eight = self.goodputs(TRACES / "hot-qp.json", 4, 5)
        self.assertAlmostEqual(one, 0.535, delta=0.03)
        self.assertAlmostEqual(eight, 0.735, delta=0.02)
        places = self.stats(TRACES / "hot-qp.json", "--point", 5, "--set", "rnic.rx.ddp_placement.parked=63")["results"][1]["goodput_gbps"]
        self.assertAlmostEqual(places / 31.8, 0.55, delta=0.02)

    def test_receive_contexts_are_misses_in_flight_by_their_time(self):
        """Writes to a chip with room for few receive contexts; with eight fetches at a time something else is the limit."""
        for misses in (1, 2, 4):
            with self.subTest(misses=misses):
                stats = self.writes_to_few(f"nodes.b.rnic.context.cache.qp.misses_in_flight={misses}")
                home, cache = ({name: counter["value"] for name, counter in stats["stats"]["b"]["rnic"][of].items()} for of in ("context_home", "rx_cache"))
                fetch_ns = stats["config"]["b"]["rnic"]["clock_period_ps"] / 1000 * home["fetch_cycles"] / home["fetches"]
                self.assertAlmostEqual(fetch_ns, 600, delta=6)
                messages = stats["results"][0]["rate_mops"] * cache["misses"] / 32000
                self.assertAlmostEqual(messages * fetch_ns / 1000 / misses, 1, delta=0.03)
                self.assertEqual(stats["bottleneck"]["name"], "QP receive cache misses")

    def test_segments_of_others_pass_one_whose_queue_pair_is_fetched(self):
        """As many rows are fetched at a time as segments are parked, and one for that at the input."""
        rates = [self.writes_to_few(f"nodes.b.rnic.rx.ddp_placement.parked={places}", "nodes.b.rnic.context.cache.qp.misses_in_flight=16")["results"][0]["rate_mops"]
                 for places in (0, 1, 2)]
        for places, rate in enumerate(rates):
            self.assertAlmostEqual(rate / rates[0], 1 + places, delta=0.1 * (1 + places))

    def writes_to_few(self, *settings):
        of_all = ("connections.c0.qps=32", "work.writes.size=64", "work.writes.count=1000", "work.writes.depth=8", "nodes.b.rnic.context.cache.qp.entries=8")
        return self.stats(TRACES / "write_bw.json", *(word for setting in (*of_all, *settings) for word in ("--set", setting)))

    def test_a_longer_turn_needs_one_fetch_for_all_of_it(self):
        """Writes of 64 KiB over 200 queue pairs with room for 64 and one fetch at a time: an FPDU in 608 ns, or the line rate."""
        of_all = ("rnic.context.cqs=2048", "connections.c0.qps=200", "work.writes.count=16", "rnic.context.cache.qp.entries=64", "rnic.context.cache.qp.misses_in_flight=1")
        for fpdus, goodput in ((1, 18.6), (8, 91.8)):
            with self.subTest(fpdus=fpdus):
                settings = (*of_all, f"rnic.tx.rdmap_segmenter.turn_fpdus={fpdus}")
                stats = self.stats(TRACES / "write_bw.json", *(word for setting in settings for word in ("--set", setting)))
                self.assertAlmostEqual(stats["results"][0]["goodput_gbps"] / goodput, 1, delta=0.03)
                self.assertEqual(stats["bottleneck"]["name"], "wire a to b" if fpdus == 8 else "QP cache misses")

    def test_connections_that_come_and_go_take_the_rows_of_those_that_stay(self):
        room, one, eight = self.goodputs(TRACES / "eviction-storm.json", 2, 4, 5)
        self.assertAlmostEqual(room, 1, delta=0.01)
        self.assertAlmostEqual(one, 0.465, delta=0.03)
        self.assertAlmostEqual(eight, 0.88, delta=0.02)

    def test_a_frame_fetches_its_queue_pair_before_the_segment_is_there(self):
        """Of eight queue pairs two are on the chip: each message needs a fetch at the responder."""
        few = few_rows("qp", 2, 2, "lru", 16, "host")
        words = ("connections.c0.qps=8", "work.write_64.count=200", "work.write_4096.count=200")
        settings = [word for setting in words for word in ("--set", setting)]
        without, ahead = (self.stats(TRACES / "write_pingpong.json", *few, *settings, *prefetch) for prefetch in ((), FRAME))
        for result, ns, saved in ((1, 2980, 50), (4, 3510, 160)):
            before, after = (stats["results"][result]["latency_ns"]["p50"] for stats in (without, ahead))
            self.assertAlmostEqual(before, ns, delta=20)
            self.assertAlmostEqual(before - after, saved, delta=20)
        for name, node in ahead["stats"].items():
            counted = {key: counter["value"] for key, counter in node["rnic"]["qp_prefetch"].items()}
            with self.subTest(node=name):
                self.assertGreater(counted["late"], 5000)
                self.assertGreater(counted["dropped"], 0)
                self.assertLessEqual(counted["used"] + counted["late"] + counted["unused"], counted["rows"])
        self.assertEqual({counter["value"] for node in without["stats"].values() for counter in node["rnic"]["qp_prefetch"].values()}, {0})

    def test_every_kind_of_work_with_prefetches_in_any_order_of_calls(self):
        """Losses and connections that come and go among it."""
        for scenario in SCENARIOS:
            for size in (SIZES[1], SIZES[2]):
                with self.subTest(scenario=scenario, size=size):
                    options = (*few_rows("qp", *size), *FRAME, "--set", "link.forward.loss.ppm=1000")
                    first, *others = (self.stats(TRACES / f"{scenario}.json", *options, "--set", mode) for mode in ("sim.shuffle_seed=0", "sim.shuffle_seed=7", "sim.run_ahead=false"))
                    self.assertEqual([check["passed"] for check in first["checks"] if check["name"] == "data"], [True])
                    self.assertEqual([other["digest"] for other in others], [first["digest"]] * 2)
                    rows = sum(node["rnic"]["qp_prefetch"]["rows"]["value"] for node in first["stats"].values() if "rnic" in node)
                    self.assertEqual(rows > 0, scenario != "sctp_qps16")

    def test_what_can_be_prefetched_when_is_said(self):
        for key, value, said in (("qp", "frames", "expected one of none, frame"), ("qp", "doorbell", "expected one of none, frame"),
                                 ("cq", "frame", "unknown setting; the nearest is rnic.context.cache.qp.prefetch")):
            run = self.run_program("run", TRACES / "qps16.json", "--set", f"rnic.context.cache.{key}.prefetch={value}")
            self.assertEqual((run.returncode, len(run.stderr.splitlines())), (2, 1))
            self.assertIn(said, run.stderr)

    def test_a_cache_with_room_for_all_queue_pairs_is_none(self):
        scenario = TRACES / "qps16.json"
        without = self.stats(scenario)["digest"]
        all_of_them = self.stats(scenario, *few_rows("qp", 256, 4, "lru", 4, "host"), "--set", "rnic.context.cache.qp.tag_cycles=7")["digest"]
        self.assertEqual(all_of_them, without)
        self.assertNotEqual(self.stats(scenario, *few_rows("qp", 2, 1, "lru", 4, "host"))["digest"], without)


if __name__ == "__main__":
    unittest.main()
