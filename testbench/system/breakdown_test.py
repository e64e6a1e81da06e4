"""The latency breakdown counts the requests that results count, and its parts come to the latencies that results report."""
import csv
import json
import unittest

from rnicsim import TRACES, ProgramTest

SHOWN = (("p50", "p50_ns"), ("p99", "p99_ns"), ("max", "worst_ns"))  # in results, in the breakdown


def picoseconds(ns):
    return round(1000 * ns)


class Breakdown(ProgramTest):
    def run_it(self, scenario, *options):
        stats = self.run_scenario(scenario, "--breakdown", "--no-capture", *options)
        self.results = {result["name"]: result for result in stats["results"]}
        self.groups = {(group.get("work"), group["node"], group["operation"]): group for group in stats["latency_breakdown"]}
        for key, group in self.groups.items():
            for _, which in SHOWN:
                parts = sum(picoseconds(part[which]) for part in group["parts"])
                self.assertEqual(parts, picoseconds(group["total"][which]), (key, which))
        return stats

    def rows(self):
        """Of breakdown.tsv."""
        with open(self.folder / "out/breakdown.tsv", newline="", encoding="utf-8") as lines:
            return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))

    def expect_alike(self, latency, group):
        self.assertEqual(latency["count"], group["requests"])
        for result, which in SHOWN:
            self.assertEqual(picoseconds(latency[result]), picoseconds(group["total"][which]), which)

    def test_unsignaled_work_counts_as_in_results(self):
        self.run_it(TRACES / "write_bw.json", "--set", "work.writes.count=203", "--set", "work.writes.signal_every=4")
        writes = self.groups["writes", "a", "write"]
        self.assertEqual(writes["requests"], 203)
        self.expect_alike(self.results["writes"]["latency_ns"], writes)
        self.assertIn("covering completion", {part["name"] for part in writes["parts"]})

    def test_immediate_data_covers_its_write(self):
        scenario = json.loads((TRACES / "write_bw.json").read_text())
        scenario["work"] = [{"name": "writes", "op": "write_imm", "size": 4096, "count": 60, "depth": 4, "signal_every": 3}]
        del scenario["checks"]
        (self.folder / "imm.json").write_text(json.dumps(scenario))
        self.run_it("imm.json")
        for operation in "write", "immediate data":
            self.expect_alike(self.results["writes"]["latency_ns"], self.groups["writes", "a", operation])

    def test_a_warm_up_restarts_both(self):
        options = TRACES / "write_bw.json", "--set", "work.writes.count=400"
        for more in (), ("--set", "work.writes.signal_every=4"):
            self.run_it(*options, "--warmup", "300us", *more)
            writes = self.groups["writes", "a", "write"]
            self.assertGreater(writes["requests"], 200)
            self.assertLess(writes["requests"], 400)
            self.expect_alike(self.results["writes"]["latency_ns"], writes)
            self.assertEqual(sum(row["operation"] == "write" for row in self.rows()), 400)

    def test_a_peer_that_lags_behind_is_no_part_of_the_wire(self):
        """Its PCIe link is slower than the cable, so frames wait in the buffer of mac_rx."""
        options = TRACES / "write_bw.json", "--set", "work.writes.count=100"
        means = {}
        for width in 16, 4:
            self.run_scenario(*options, "--breakdown", "--no-capture", "--set", f"nodes.b.rnic.pcie.link.width={width}", codes=(0, 1))
            groups = json.loads((self.folder / "out/stats.json").read_text())["latency_breakdown"]
            writes = next(group for group in groups if group["operation"] == "write")
            means[width] = {part["name"]: part["mean_ns"] for part in writes["parts"]}
        self.assertGreater(means[4]["peer mac_rx queue"], 10_000)
        self.assertLess(means[16].get("peer mac_rx queue", 0), 100)
        self.assertLess(means[4]["wire"], 1000)


if __name__ == "__main__":
    unittest.main()
