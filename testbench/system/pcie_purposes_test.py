"""What the TLPs of the PCIe link are for: sums by purpose, and what other counters say of the same."""
import json
import unittest

from few_rows import few_rows
from rnicsim import TRACES, ProgramTest

FIGURES = {"tlps", "data_bytes", "wire_bytes", "credit_stalls", "wait_ps", "credit_wait_ps"}
ALWAYS = {"doorbell", "register", "wqe", "receive_wqe", "payload", "cqe", "event", "interrupt", "command"}
ONE_WAY = {"device_to_host": {"doorbell"}, "host_to_device": {"event", "interrupt"}}  # what there is not in this direction
# In most scenarios the one end posts no receives, and the other end's messages are in its work requests.
ONE_SENDS = [*(("a", direction, "receive_wqe") for direction in ONE_WAY), ("b", "host_to_device", "payload")]
WQE, CQE, COMMAND, EVENT, WORD = 128, 32, 64, 64, 8  # octets


def values(group):
    """{name: value} of the counters that are directly in it."""
    return {name: counter["value"] for name, counter in group.items() if "value" in counter}


def few(*caches):
    """Few rows of each on the chip, and the others in the host."""
    return tuple(word for cache in caches for word in few_rows(cache, 2, 2, "lru", 4, "host"))


class PciePurposes(ProgramTest):
    def nodes(self, name, *options):
        """The statistics of each node. Whether the scenario's checks of rates pass does not matter here."""
        stats = self.run_scenario(TRACES / f"{name}.json", "--no-capture", *options, codes=(0, 1))
        self.assertEqual(stats["end"], "done")
        return {node: parts for node, parts in stats["stats"].items() if "pcie" in parts}

    def by_purpose(self, parts, direction):
        """{purpose: {figure: value}}; their sums are compared with the totals."""
        counted = parts["pcie"][direction]
        found = {purpose: values(group) for purpose, group in counted["by_purpose"].items()}
        totals = values(counted)
        self.assertEqual(set(totals), FIGURES)
        self.assertEqual({figure: sum(group[figure] for group in found.values()) for figure in FIGURES}, totals)
        return found

    # Other stages count some of it: those that ask for it, and the other end of the link.
    def assert_counted_alike(self, up, down, root, chip):
        registers = root["mmio_reads"] + root["config_accesses"]
        self.assertEqual(up["interrupt"]["tlps"], root["interrupts"])
        self.assertEqual(up["register"]["tlps"], registers)
        self.assertEqual(down["doorbell"]["tlps"] + down["register"]["tlps"], root["mmio_writes"] + registers)
        written, read = ({purpose: group["data_bytes"] for purpose, group in found.items() if purpose not in ("doorbell", "register", "interrupt")}
                         for found in (up, down))
        self.assertEqual((sum(written.values()), sum(read.values())), (chip["dma_write"]["bytes"], chip["dma_read"]["bytes"]))
        self.assertEqual((read["wqe"], read["receive_wqe"]), (WQE * chip["wqe_fetch"]["wqes"], WQE * chip["rqe_fetch"]["wqes"]))
        self.assertEqual(written["cqe"], CQE * chip["cqe_writer"]["cqes"])
        self.assertEqual(read["context"] + read["translation"], chip["context_home"]["fetched_bytes"])
        self.assertGreaterEqual(read["command"], COMMAND * chip["command_fetch"]["commands"])  # some have data
        self.assertGreaterEqual(written["event"], EVENT * chip["event_writer"]["events"])
        return written

    def check(self, nodes, more=(), none=()):
        """`none`: (node, direction, purpose) that its programs have no use for."""
        atomics = [values(parts["rnic"]["atomic_alu"]) for parts in nodes.values()]
        for node, parts in nodes.items():
            with self.subTest(node):
                up, down = (self.by_purpose(parts, direction) for direction in ONE_WAY)
                chip = {name: values(group) for name, group in parts["rnic"].items() if "value" not in group}
                written = self.assert_counted_alike(up, down, values(parts["root_complex"]), chip)
                # Each is written where its word is, and its original value where it was requested.
                self.assertEqual(written["atomic"], WORD * sum(alu["fetch_adds"] + alu["cmp_swaps"] for alu in atomics))
                for (direction, not_there), found in zip(ONE_WAY.items(), (up, down)):
                    used = {purpose for purpose, group in found.items() if group["tlps"] > 0}
                    unused = {purpose for where, way, purpose in none if (where, way) == (node, direction)}
                    self.assertEqual(used, ALWAYS.union(more) - not_there - unused, direction)

    def test_quickstart(self):
        self.check(self.nodes("quickstart"), none=ONE_SENDS[:2])

    def test_atomics(self):
        self.check(self.nodes("atomics"), {"atomic"}, ONE_SENDS[:2])

    def test_contexts_in_the_host(self):
        self.check(self.nodes("qps16", *few("cq", "qp", "stag", "flow")), {"context"}, ONE_SENDS)

    def test_page_lists_in_the_host(self):
        self.check(self.nodes("page_lists", *few("page")), {"atomic", "translation"}, [("client", direction, "receive_wqe") for direction in ONE_WAY])

    def test_churn(self):
        self.check(self.nodes("churn"), none=ONE_SENDS)

    # With few credits of the hosts, requests of both chips stall.
    def test_stalls(self):
        nodes = self.nodes("qps16", "--set", "rnic.pcie.link.host_credits.posted_headers=2", "--set", "rnic.pcie.link.host_credits.non_posted_headers=2")
        self.check(nodes, none=ONE_SENDS)
        for parts in nodes.values():
            stalls = {purpose: group["credit_stalls"] for purpose, group in self.by_purpose(parts, "device_to_host").items()}
            self.assertGreater(min(stalls["wqe"], stalls["payload"], stalls["cqe"]), 0)
            self.assertEqual({stalls[purpose] for purpose in ("doorbell", "atomic", "context", "translation")}, {0})
            for group in self.by_purpose(parts, "device_to_host").values():
                self.assertLessEqual(group["credit_wait_ps"], group["wait_ps"])
                self.assertGreaterEqual(group["credit_wait_ps"], 4000 if group["credit_stalls"] else 0)

    # Reads leave in order, so one at a time is refused; the account of their class counts those cycles on its own.
    def test_waits_for_credit_and_the_account_of_the_class(self):
        stats = self.run_scenario(TRACES / "qps16.json", "--no-capture", "--set", "rnic.pcie.link.host_credits.non_posted_headers=2", codes=(0, 1))
        for node in "ab":
            found = self.by_purpose(stats["stats"][node], "device_to_host")
            account = next(a for a in stats["occupancy"] if (a["node"], a["name"]) == (node, "pcie.to_host.non-posted_headers"))
            reads = sum(group["credit_wait_ps"] for group in found.values())  # writes have enough
            blocked = account["blocked_cycles"] * account["cycle_ps"]
            self.assertGreater(blocked, 0)
            self.assertAlmostEqual(reads / blocked, 1, delta=0.02)

    def test_no_credit_is_scarce_by_default(self):
        for parts in self.nodes("quickstart").values():
            for direction in ONE_WAY:
                for group in self.by_purpose(parts, direction).values():
                    self.assertEqual(group["credit_wait_ps"], 0)
                    if group["tlps"] == 0:
                        self.assertEqual(group["wait_ps"], 0)
            self.assertGreater(self.by_purpose(parts, "host_to_device")["payload"]["wait_ps"] + self.by_purpose(parts, "device_to_host")["payload"]["wait_ps"], 0)

    def test_the_series_adds_up_to_the_counters(self):
        """A purpose has columns once it has TLPs; octets on the wire in Gb/s, and the mean number of TLPs that wait."""
        stats = self.run_scenario(TRACES / "qps16.json", "--no-capture", "--stats-every", "20us")
        series = json.loads((self.folder / "out/series.json").read_text())
        lengths = [b - a for a, b in zip([0, *series["time_ps"]], series["time_ps"])]
        units = {column["name"]: column["unit"] for column in series["columns"]}

        def whole(name):
            at = [column["name"] for column in series["columns"]].index(name)
            return sum((row[at] or 0) * length for row, length in zip(series["rows"], lengths))

        for node in "ab":
            for direction, to in (("device_to_host", "to_host"), ("host_to_device", "to_device")):
                found = self.by_purpose(stats["stats"][node], direction)
                for purpose, group in found.items():
                    name = f"{node}.pcie.{to}.{purpose}"
                    self.assertEqual(name in units, group["tlps"] > 0)
                    if group["tlps"]:
                        self.assertEqual(units[name], "Gb/s")
                        self.assertAlmostEqual(whole(name) * 1e-3 / 8 / group["wire_bytes"], 1, delta=1e-3)
                    self.assertEqual(f"{name}.waiting" in units, group["wait_ps"] > 0)
                    if group["wait_ps"]:
                        self.assertAlmostEqual(whole(f"{name}.waiting") / group["wait_ps"], 1, delta=1e-3)
                used = whole(f"PCIe {direction.replace('_', ' ')}, {node}")
                wire_bytes = sum(group["wire_bytes"] for group in found.values())
                self.assertAlmostEqual(used / (wire_bytes * 31.7382), 1, delta=1e-3)  # ps of an octet, Gen4 x16


if __name__ == "__main__":
    unittest.main()
