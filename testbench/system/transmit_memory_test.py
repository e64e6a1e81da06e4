"""Scenarios with little room for what is not acknowledged."""
import json
import unittest

from few_rows import SCENARIOS
from rnicsim import TRACES, ProgramTest

FPDU = 1500  # and no more than one


def room(octets, segments=None):
    """Words for the command line."""
    words = ["--set", f"rnic.tcp.tx_memory.octets={octets}"]
    return words if segments is None else [*words, "--set", f"rnic.tcp.tx_memory.segments={segments}"]


class TransmitMemory(ProgramTest):
    def memories(self, stats, name="tcp_memory"):
        """Of the nodes, with the values of their statistics."""
        groups = [node["rnic"][name] for node in stats["stats"].values() if "rnic" in node]
        return [{key: value["entries" if key == "kept" else "value"] for key, value in group.items()} for group in groups]

    def check(self, stats, octets, segments=None, name="tcp_memory"):
        """All data came, and all is given back."""
        self.assertEqual([check["passed"] for check in stats["checks"] if check["name"] == "data"], [True])
        for memory in self.memories(stats, name):
            self.assertEqual(memory["kept"]["value"], octets)
            self.assertEqual([memory["octets_used"], memory["segments_used"]], [0, 0])
            if segments is not None:
                self.assertEqual(memory["segments"], segments)

    def test_every_kind_of_work_with_room_for_a_few_fpdus(self):
        for scenario in SCENARIOS:
            if scenario.startswith("sctp"):
                continue
            for fpdus, segments in ((1, None), (2, None), (3, 5), (1000, 1), (1000, 3)):
                with self.subTest(scenario=scenario, fpdus=fpdus, segments=segments):
                    stats = self.run_scenario(TRACES / f"{scenario}.json", "--no-capture", *room(fpdus * FPDU, segments), codes=(0, 1))
                    self.check(stats, fpdus * FPDU, segments)
                    self.assertGreater(sum(memory["waits"] for memory in self.memories(stats)), 0)
                    if segments is None and scenario != "churn":  # octets of set-ups do not wait
                        self.assertLessEqual(max(memory["octets_max"] for memory in self.memories(stats)), fpdus * FPDU)

    def test_losses_with_room_for_a_few_fpdus(self):
        scenario = json.loads((TRACES / "quickstart.json").read_text())
        scenario["link"] = {"forward": {"loss": {"ppm": 20000}}, "reverse": {"loss": {"ppm": 20000}}}
        for item in scenario["work"]:
            item["count"] //= 10
        (self.folder / "lossy.json").write_text(json.dumps(scenario))
        for fpdus in (1, 2, 3, 8):
            with self.subTest(fpdus=fpdus):
                stats = self.run_scenario(self.folder / "lossy.json", "--no-capture", *room(fpdus * FPDU), codes=(0, 1))
                self.check(stats, fpdus * FPDU)
                self.assertGreater(stats["stats"]["a"]["rnic"]["tcp_tx"]["retransmissions"]["value"], 0)

    def test_the_order_of_calls_and_running_ahead_change_nothing(self):
        for scenario, octets in (("qps16", 3 * FPDU), ("qps16", 20 * FPDU), ("bidirectional", 5 * FPDU)):
            with self.subTest(scenario=scenario, octets=octets):
                modes = ("sim.shuffle_seed=0", "sim.shuffle_seed=7", "sim.run_ahead=false")
                runs = [self.run_scenario(TRACES / f"{scenario}.json", "--no-capture", *room(octets), "--set", mode, codes=(0, 1)) for mode in modes]
                self.assertEqual({run["digest"] for run in runs}, {runs[0]["digest"]})
                self.assertEqual([self.memories(run) for run in runs[1:]], [self.memories(runs[0])] * 2)

    def test_half_of_it_in_each_round_trip_is_the_rate_of_one_flow(self):
        """Twice the memory, or twice the records, twice the rate, until the wire is full."""
        messages = ("rnic.tx.wqe_fetch.prefetch=64", "work.writes.size=8", "work.writes.depth=128", "work.writes.count=8000")
        cases = ("goodput_gbps", "octets", (4 * FPDU, 8 * FPDU, 16 * FPDU), ()), ("rate_mops", "segments", (4, 8, 16), messages)
        for rate, setting, sizes, others in cases:
            with self.subTest(setting=setting):
                rates = []
                for size in sizes:
                    settings = (f"nodes.a.rnic.tcp.tx_memory.{setting}={size}", *others)
                    stats = self.run_scenario(TRACES / "write_bw.json", "--no-capture", *(word for s in settings for word in ("--set", s)), codes=(0, 1))
                    rates.append(stats["results"][0][rate])
                    self.assertEqual(stats["bottleneck"]["name"], "TCP transmit memory")
                for less, more in zip(rates, rates[1:]):
                    self.assertAlmostEqual(more / less, 2, delta=0.02)
        wide = self.run_scenario(TRACES / "write_bw.json", "--no-capture", *room(64 * FPDU), codes=(0, 1))
        self.assertEqual(wide["bottleneck"]["name"], "wire a to b")

    def test_sctp_with_room_for_a_few_chunks(self):
        for scenario in ("sctp_qps16", "sctp_quickstart"):
            for octets, segments in ((FPDU, 1000), (2 * FPDU, 1000), (3 * FPDU, 5), (1 << 20, 1), (1 << 20, 3)):
                with self.subTest(scenario=scenario, octets=octets, segments=segments):
                    words = [word.replace("rnic.tcp", "rnic.sctp") for word in room(octets, segments)]
                    stats = self.run_scenario(TRACES / f"{scenario}.json", "--no-capture", *words, codes=(0, 1))
                    self.check(stats, octets, segments, "sctp_memory")
                    self.assertGreater(sum(memory["waits"] for memory in self.memories(stats, "sctp_memory")), 0)

    def test_a_memory_that_holds_no_segment_is_refused(self):
        run = self.run_program("run", TRACES / "quickstart.json", "--set", "rnic.tcp.tx_memory.octets=1400")
        self.assertEqual(run.returncode, 2)
        self.assertIn("rnic.tcp.tx_memory.octets: 1400 is less than rnic.tcp.mtu, 1500", run.stderr)


if __name__ == "__main__":
    unittest.main()
