"""Every event of a run has an owner, and the parts of each request's latency sum to the whole."""
import collections
import csv
import json
import re
import sys
import unittest

from rnicsim import NEEDS_RTL, ROOT, TRACES, ProgramTest


class Identity(ProgramTest):
    def check(self, scenario, *options):
        run = self.run_program("run", scenario, "--out", "out", "--breakdown", "--trace", "out/trace.tsv", *options)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        check = self.run_command(sys.executable, "-B", ROOT / "scripts/check_identity.py", "out")
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        with open(self.folder / "out/trace.tsv", newline="", encoding="utf-8") as log:
            return list(csv.DictReader(log, delimiter="\t", quoting=csv.QUOTE_NONE))

    def test_sends_writes_and_reads(self):
        lines = self.check(self.small_scenario())
        kinds = {line["kind"] for line in lines if line["request"] == "a.0.50"}  # a Write
        self.assertLessEqual({"posted", "segmented", "frame_sent", "frame_received", "placed", "cqe_written", "polled"}, kinds)

    def test_rows_that_are_not_on_the_chip_are_owners(self):
        lines = self.check(TRACES / "page_lists.json", "--set", "rnic.context.cache.page.entries=16")
        kinds = {line["kind"] for line in lines if ".ctx0." in line["request"]}
        self.assertLessEqual({"tlp_read", "tlp_write", "tlp_completion"}, kinds)

    def test_atomics(self):
        lines = self.check(TRACES / "atomics.json")
        senders = collections.defaultdict(set)
        for line in lines:
            if line["kind"] == "frame_sent":
                senders[line["request"]].add(line["node"])
        answered = {line["request"] for line in lines if line["kind"] == "response"}
        self.assertTrue(answered)
        for request in answered:  # both chips send frames for the requester
            self.assertEqual(len(senders[request]), 2, request)

    def test_a_retransmission_has_the_owner_of_what_it_repeats(self):
        lines = self.check(self.small_scenario(), "--set", "link.forward.loss.every=50")
        again = [line for line in lines if line["kind"] == "retransmitted"]
        self.assertTrue(again)
        sent = {line["request"] for line in lines if line["kind"] == "frame_sent"}
        for line in again:
            self.assertIn(line["request"], sent)
        self.assertIn("dropped", {line["kind"] for line in self.check(self.small_scenario(), "--set", "link.forward.duplicate.every=20")})

    def owners_of_terminate(self, scenario):
        """At both ends. What the firmware orders belongs to the queue pair."""
        lines = self.check(TRACES / f"errors/{scenario}.json")
        return {line["request"] for line in lines if line["kind"] == "terminated" and not line["words"].startswith("ordered")}

    def test_a_terminate_belongs_to_the_request_at_fault(self):
        owners = self.owners_of_terminate("ddp_bounds")
        self.assertEqual(len(owners), 1)
        self.assertRegex(owners.pop(), r"^\w\.\d+\.\d+$")

    def test_a_terminate_that_no_segment_has_caused_is_the_queue_pairs(self):
        self.assertEqual(self.owners_of_terminate("mpa_closed"), {"b.int0.0"})

    def groups(self):
        return json.loads((self.folder / "out/stats.json").read_text())["latency_breakdown"]

    def parts(self):
        """{request: {part: ps}}"""
        with open(self.folder / "out/breakdown.tsv", newline="", encoding="utf-8") as lines:
            return {line["request"]: {part: int(ps) for part, ps in (p.split("=") for p in line["parts"].split(";") if p)}
                    for line in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)}

    def test_a_breakdown_of_each_operation(self):
        self.check(self.small_scenario())
        groups = self.groups()
        for group in groups:
            for which in ("p50_ns", "p99_ns", "worst_ns", "mean_ns"):
                self.assertAlmostEqual(sum(part[which] for part in group["parts"]), group["total"][which], places=3)
        parts = {(group.get("work"), group["node"], group["operation"]): {part["name"] for part in group["parts"]} for group in groups}
        writes = next(names for (_, node, operation), names in parts.items() if (node, operation) == ("a", "write"))
        self.assertLessEqual({"rdmap_segmenter queue", "rdmap_segmenter", "payload_fetch", "mpa_framer", "tcp_tx", "wire"}, writes)
        receives = next(names for (_, node, operation), names in parts.items() if (node, operation) == ("b", "receive"))
        self.assertLessEqual({"RQE fetch", "no message", "message", "tcp_rx", "ddp_placement", "CQE write", "poll"}, receives)

    def test_work_items_of_one_operation_are_told_apart(self):
        scenario = self.small_scenario()
        content = json.loads((self.folder / scenario).read_text())
        content["work"] = [{"name": name, "op": "write", "size": size, "count": 20, "depth": 4} for name, size in (("bulk", 8192), ("control", 64))]
        (self.folder / scenario).write_text(json.dumps(content))
        self.check(scenario)
        writes = {group["work"]: group for group in self.groups() if (group["node"], group["operation"]) == ("a", "write")}
        self.assertEqual({name: group["requests"] for name, group in writes.items()}, {"bulk": 20, "control": 20})
        self.assertGreater(writes["bulk"]["total"]["mean_ns"], writes["control"]["total"]["mean_ns"])

    def test_every_queue_pair_of_sixteen(self):
        self.check(TRACES / "qps16.json", "--set", "work.writes.count=20", "--set", "work.sends.count=20")
        self.assertEqual({request.rsplit(".", 1)[0] for request in self.parts()} & {f"{queue}{n}" for queue in ("a.", "b.rq") for n in range(99)},
                         {f"{queue}{n}" for queue in ("a.", "b.rq") for n in range(16)})

    def test_numbers_used_again_and_connections_that_fail(self):
        lines = self.check(TRACES / "churn_failures.json", "--set", "rnic.tcp.max_flows=16")
        owners = {line["request"] for line in lines}
        self.assertTrue(any(re.match(r"a\.\d+#\d+\.0$", owner) for owner in owners), "queue pairs")
        self.assertTrue(any(re.match(r"a\.flow\d+#\d+\.0$", owner) for owner in owners), "flows")

    def test_the_time_until_a_retransmission_is_no_other_part(self):
        lines = self.check(self.small_scenario(), "--set", "link.forward.loss.every=20")
        sent = {line["request"]: [] for line in lines}
        for line in lines:
            if line["kind"] in ("frame_sent", "retransmitted") and line["node"] == "a":
                sent[line["request"]].append((int(line["time_ps"]), line["kind"]))
        parts, checked = self.parts(), 0
        for request, frames in sent.items():
            if len(frames) != 2 or frames[1][1] != "retransmitted" or "retransmission" not in parts.get(request, {}):
                continue
            checked += 1
            waited = frames[1][0] - frames[0][0]
            self.assertLessEqual(abs(parts[request]["retransmission"] - waited), 100_000, request)  # within tcp_tx's cycles
            self.assertLess(parts[request]["wire"], waited)
        self.assertGreater(checked, 0)
        others = [p for p in parts.values() if p.get("wait for retransmission", 0) > 0]
        self.assertTrue(others, "octets behind a lost frame wait for it")

    def test_over_sctp(self):
        scenario = json.loads((TRACES / "sctp_quickstart.json").read_text())
        for item in scenario["work"]:
            item["count"] //= 10
        (self.folder / "sctp.json").write_text(json.dumps(scenario))
        self.check("sctp.json")
        parts = self.parts()
        self.assertLessEqual({"payload_fetch", "sctp_association send", "sctp_tx", "wire", "SCTP acknowledgement"}, parts["a.0.50"].keys())
        self.assertFalse({"mpa_framer", "tcp_tx", "tcp_rx", "ACK delay", "TCP acknowledgement"} & {part for request in parts.values() for part in request})
        reads = [p for p in parts.values() if "peer sctp_association send" in p]
        self.assertTrue(reads)
        for read in reads:
            self.assertLessEqual({"sctp_rx", "sctp_association receive", "ddp_placement"}, read.keys())
        lines = self.check("sctp.json", "--set", "link.forward.loss.every=20")
        sent = {line["request"] for line in lines if line["kind"] == "frame_sent"}
        again = [line for line in lines if line["kind"] == "retransmitted"]
        self.assertTrue(again)
        for line in again:
            self.assertIn(line["request"], sent)
        self.assertTrue(any(p.get("retransmission", 0) > 0 for p in self.parts().values()))
        self.assertIn("dropped", {line["kind"] for line in self.check("sctp.json", "--set", "link.forward.corrupt.every=20")})

    def test_explain_says_where_the_time_went(self):
        self.check(self.small_scenario(), "--db", "out/run.sqlite")
        parts = self.parts()
        slowest = self.run_program("explain", "out", "--slowest", "3")
        self.assertEqual(slowest.returncode, 0, slowest.stderr)
        for line in slowest.stdout.splitlines()[1:]:
            request, most = line.split()[0], line.split("  ")[-1].split(", ")[0]
            longest = max(parts[request], key=parts[request].get)
            share = 100 * parts[request][longest] / sum(parts[request].values())
            self.assertEqual(most, f"{longest} {share:.0f} %")
        story = self.run_program("explain", "out", "--request", "a.0.50")
        told = dict(reversed(line.strip().split(" %  ")) for line in story.stdout.split("where the time went")[1].splitlines()[1:])
        self.assertEqual(list(told), [part for part, ps in parts["a.0.50"].items() if ps])

    @NEEDS_RTL
    def test_the_same_owners_with_rtl(self):
        for scenario in ("atomics.json", "errors/mpa_closed.json", "errors/rdma_catastrophic.json"):
            of_stages, of_twins = (self.check(TRACES / scenario, *rtl) for rtl in ((), ("--rtl", "all")))
            self.assertTrue(of_stages == of_twins, scenario)


if __name__ == "__main__":
    unittest.main()
