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

    def parts_of(self, operation, *options, which="mean_ns", scenario="write_bw.json", work="writes"):
        """{part: ns} of a group."""
        self.run_scenario(TRACES / scenario, "--breakdown", "--no-capture", *options, codes=(0, 1))
        groups = json.loads((self.folder / "out/stats.json").read_text())["latency_breakdown"]
        group = next(group for group in groups if (group.get("work"), group["operation"]) == (work, operation))
        return {part["name"]: part[which] for part in group["parts"]}

    def test_a_delayed_acknowledgement(self):
        alone = ("--set", "work.writes.depth=1", "--set", "work.writes.size=64", "--set", "work.writes.count=20")
        for delay in 500, 50_000:
            parts = self.parts_of("write", *alone, "--set", f"rnic.tcp.ack_delay_ns={delay}", which="p50_ns")
            self.assertAlmostEqual(parts["ACK delay"], delay, delta=100)
            self.assertNotIn("TCP acknowledgement", parts)
            self.assertLess(sum(ns for name, ns in parts.items() if name != "ACK delay"), 5000)
            for name in "peer tcp_rx", "peer mac_tx queue", "tcp_rx", "completion":
                self.assertLess(parts[name], 100, name)
            self.assertAlmostEqual(parts["wire back"], parts["wire"], delta=20)
        at_once = self.parts_of("write", *alone, "--set", "rnic.tcp.ack_every=1")
        self.assertLess(at_once["ACK delay"], 100)

    def test_each_request_knows_its_acknowledgement(self):
        for options in (), ("--set", "link.forward.loss.every=30"), ("--set", "link.reverse.loss.every=7"), ("--set", "link.reverse.reorder.every=11"):
            self.parts_of("write", "--set", "work.writes.count=200", *options)
            for row in self.rows():
                if row["operation"] in ("write", "send"):
                    self.assertIn("ACK delay=", row["parts"], (options, row))

    def test_hops_of_reads_and_atomics(self):
        for scenario, operations in ("quickstart.json", ("read",)), ("atomics.json", ("fetch and add", "compare and swap")):
            self.run_scenario(TRACES / scenario, "--breakdown", "--no-capture")
            groups = json.loads((self.folder / "out/stats.json").read_text())["latency_breakdown"]
            answered = [group for group in groups if "hops" in group and group["operation"] != "receive"]
            self.assertLessEqual(set(operations), {group["operation"] for group in answered})
            for group in answered:
                self.assertEqual([hop["name"] for hop in group["hops"]], ["request", "peer", "response"])
                for which in "p50_ns", "p99_ns", "worst_ns":
                    self.assertEqual(sum(picoseconds(hop[which]) for hop in group["hops"]), picoseconds(group["total"][which]))
                for hop in group["hops"]:
                    of_hop = sum(picoseconds(part["worst_ns"]) for part in group["parts"] if part["hop"] == hop["name"])
                    self.assertEqual(of_hop, picoseconds(hop["worst_ns"]))
            self.assertFalse([group for group in groups if group["operation"] in ("write", "send") and "hops" in group])
            for group in groups:
                if group["operation"] == "receive":
                    before = [part for part in group["parts"] if part["hop"] == "no message"]
                    self.assertEqual(before[-1]["name"], "no message")
                    self.assertEqual(sum(picoseconds(part["p99_ns"]) for part in before), picoseconds(group["hops"][0]["p99_ns"]))
                    self.assertEqual(sum(picoseconds(hop["p99_ns"]) for hop in group["hops"]), picoseconds(group["total"]["p99_ns"]))

    def ping_pong(self, operation, *options):
        scenario = json.loads((TRACES / f"{operation}_pingpong.json").read_text())
        scenario["work"] = [{**item, "count": 50} for item in scenario["work"] if item["size"] in (64, 4096)]
        scenario.pop("checks", None)
        (self.folder / "pp.json").write_text(json.dumps(scenario))
        self.run_it("pp.json", *options)

    def expect_ways(self, name):
        latency, one_way = (self.results[name][which] for which in ("latency_ns", "one_way_ns"))
        self.expect_alike(latency, self.groups[name, "a", "half a round trip"])
        self.expect_alike(one_way, self.groups[name, "a", "one way"])
        there, back = (self.groups[name, node, "one way"] for node in "ab")
        self.assertEqual(there["requests"], back["requests"])

    def test_a_ping_pong_shows_what_is_reported(self):
        for operation in "send", "write":
            self.ping_pong(operation)
            self.assertGreater(self.results[f"{operation}_64"]["latency_ns"]["p50"], 0)
            for size in 64, 4096:
                self.expect_ways(f"{operation}_{size}")
            there, back = {}, {}
            for row in self.rows():
                total = sum(int(part.rsplit("=", 1)[1]) for part in row["parts"].split(";"))
                self.assertEqual(total, int(row["total_ps"]), row)
                if row["operation"] == "one way" and row["work"] == f"{operation}_64":
                    {"a": there, "b": back}[row["request"][0]][row["request"]] = total
            self.assertEqual((len(there), len(back)), (50, 50))

    def test_a_ping_pong_in_reverse_and_with_a_warm_up(self):
        scenario = json.loads((TRACES / "send_pingpong.json").read_text())
        scenario["work"] = [{"name": "pp", "op": "send", "mode": "pingpong", "size": 64, "count": 60, "direction": "reverse"}]
        scenario.pop("checks", None)
        (self.folder / "reverse.json").write_text(json.dumps(scenario))
        for options, all_count in ((), True), (("--warmup", "150us"), False):
            self.run_it("reverse.json", *options)
            rounds = self.groups["pp", "b", "half a round trip"]
            self.assertEqual(rounds["requests"] == 60, all_count)
            self.expect_alike(self.results["pp"]["latency_ns"], rounds)
            self.expect_alike(self.results["pp"]["one_way_ns"], self.groups["pp", "b", "one way"])

    def test_a_ping_pong_over_sctp_and_with_loss(self):
        for options in (), ("--set", "link.forward.loss.every=23"):
            self.ping_pong("send", *options)
            self.expect_ways("send_64")
        scenario = json.loads((self.folder / "pp.json").read_text())
        scenario["transport"] = "sctp"
        for connection in scenario["connections"]:
            for key in "mpa_revision", "markers", "crc":
                connection.pop(key, None)
        (self.folder / "sctp.json").write_text(json.dumps(scenario))
        self.run_it("sctp.json")
        self.expect_ways("send_64")
        self.assertIn("peer sctp_association receive", {part["name"] for part in self.groups["send_64", "a", "one way"]["parts"]})

    def test_explain_and_diff_tell_the_lines_of_a_message_apart(self):
        self.ping_pong("send", "--db")
        group = self.groups["send_64", "a", "send"]
        story = self.run_program("explain", "out", "--request", group["examples"]["worst"])
        told = story.stdout.split("where the time went")[1]
        self.assertIn("ACK delay", told)
        self.assertNotIn("peer poll", told)
        (self.folder / "out").rename(self.folder / "first")
        self.ping_pong("send", "--set", "nodes.b.host.cpu.poll_ns=400")
        diff = self.run_program("diff", "first", "out", "--json")
        median = [figure["name"] for figure in json.loads(diff.stdout)["median_request"]]
        self.assertTrue(any(name.startswith("send_64, a, one way: peer poll") for name in median), median)

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
        fast, slow = (self.parts_of("write", "--set", "work.writes.count=100", "--set", f"nodes.b.rnic.pcie.link.width={width}") for width in (16, 4))
        self.assertLess(fast.get("peer mac_rx queue", 0), 100)
        self.assertGreater(slow["peer mac_rx queue"], 10_000)
        self.assertAlmostEqual(slow["wire"], fast["wire"], delta=10)


if __name__ == "__main__":
    unittest.main()
