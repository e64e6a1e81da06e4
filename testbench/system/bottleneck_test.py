"""The limit of a run, and the cycles that show it (model/system/accounting.md)."""
import json
import unittest

from report_folders import data_of
from rnicsim import TRACES, ProgramTest


class Accounts(ProgramTest):
    def accounts(self, scenario, *options):
        return self.run_scenario(TRACES / f"{scenario}.json", "--no-capture", *options)

    def test_every_cycle_of_the_run_is_of_one_kind(self):
        links = "--set", "sim.account_links=true"
        for scenario, *options in ("quickstart",), ("atomics", *links), ("churn",), ("qps16", *links):
            stats = self.accounts(scenario, *options)
            cycles = {}
            for thing in stats["occupancy"]:
                with self.subTest(scenario, thing=thing["name"]):
                    kinds = [thing[f"{kind}_cycles"] for kind in ("busy", "blocked", "starved", "idle")]
                    self.assertEqual(sum(kinds), thing["cycles"])
                    self.assertEqual(sum(thing["histogram"]), thing["cycles"])
                    self.assertGreaterEqual(min(kinds), 0)
                    # The length of the run, plus its clock's lead.
                    self.assertGreaterEqual(thing["cycles"] * thing["cycle_ps"], stats["sim_time_ps"])
                    self.assertLess(thing["cycles"] * thing["cycle_ps"], stats["sim_time_ps"] + 1_000_000)
                    cycles.setdefault((thing["node"], thing["cycle_ps"]), set()).add(thing["cycles"])
            self.assertTrue(all(len(each) == 1 for each in cycles.values()), cycles)

    def test_they_do_not_depend_on_the_order_of_calls_nor_on_running_ahead(self):
        links = "--set", "sim.account_links=true"
        plain = self.accounts("atomics", *links)
        self.assertGreater(sum(t["kind"] == "link" for t in plain["occupancy"]), 150)
        for setting in "sim.shuffle_seed=7", "sim.run_ahead=false":
            other = self.accounts("atomics", *links, "--set", setting)
            self.assertEqual(other["occupancy"], plain["occupancy"])
            self.assertEqual(other["bottleneck"], plain["bottleneck"])

    def test_links_change_nothing(self):
        plain = self.accounts("quickstart")
        seen = self.accounts("quickstart", "--set", "sim.account_links=true")
        self.assertEqual(seen["digest"], plain["digest"])
        self.assertEqual([t for t in seen["occupancy"] if t["kind"] != "link"], plain["occupancy"])
        sealed = next(t for t in seen["occupancy"] if (t["node"], t["name"]) == ("a", "tx.sealed"))
        self.assertGreater(sealed["busy_cycles"] + sealed["blocked_cycles"], sealed["cycles"] // 10)


    def test_of_many_cores_the_busiest_are_shown(self):
        def cores(stats):
            return {(t["node"], t["name"]): t["busy_cycles"] for t in stats["occupancy"] if t["kind"] == "core"}

        every = self.accounts("qps16", "--set", "sim.account_cores=0")
        few = self.accounts("qps16", "--set", "sim.account_cores=4")
        self.assertNotIn("occupancy_left_out", every)
        self.assertEqual(few["bottleneck"], every["bottleneck"])
        for node in "a", "b":
            busy = sorted((v for (n, _), v in cores(every).items() if n == node), reverse=True)
            self.assertEqual(sorted((v for (n, _), v in cores(few).items() if n == node), reverse=True), busy[:4])
            self.assertEqual(few["occupancy_left_out"][node], len(busy) - 4)
        self.assertEqual({n: every_busy for n, every_busy in cores(every).items() if n in cores(few)}, cores(few))
        self.assertEqual([t for t in few["occupancy"] if t["kind"] != "core"],
                         [t for t in every["occupancy"] if t["kind"] != "core"])


class Named(ProgramTest):
    def named(self, *arguments):
        """The report's first line, the same as in stats.json and stats.txt."""
        run = self.run_program("run", *arguments, "--no-capture")
        stats = json.loads((self.folder / "out/stats.json").read_text())
        first = run.stdout.partition("\n")[0]
        self.assertEqual(first, stats["bottleneck"]["line"])
        self.assertIn(first, (self.folder / "out/stats.txt").read_text().splitlines()[:2])
        return first, stats["bottleneck"]

    def test_a_full_wire(self):
        line, found = self.named(TRACES / "write_bw.json")
        self.assertRegex(line, r"^bottleneck: wire a to b \((9[5-9]|100)\.\d % busy\)$")
        self.assertGreater(found["share"], 0.95)

    def test_gaps_at_begin_and_end_do_not_count(self):
        """250 Reads fill the wire, except during the first and the last one's trip, and use up ORD all the time."""
        found = self.run_scenario(TRACES / "read-knees.json", "--point", "0", "--no-capture")["bottleneck"]
        self.assertRegex(found["line"], r"^bottleneck: wire b to a \((9[89]|100)\.\d % busy\)$")
        self.assertRegex(found["evidence"][0], r"^busy [\d.]+ % of the time from its first to its last use, 9[34]\.\d % of the phase$")

    def test_nothing(self):
        line, found = self.named(TRACES / "send_pingpong.json")
        self.assertRegex(line, r"^bottleneck: too few requests outstanding \(nothing is used up; busiest: wire a to b "
                               r"\(\d+\.\d % busy\)\) in send_65536, \d+\.\d % of the time$")
        self.assertEqual(found["name"], "requests")
        self.assertEqual(len(found["evidence"]), 7)  # phases

    def test_a_run_without_frames(self):
        line, found = self.named(TRACES / "quickstart.json", "--set", "rnic.fwcpu.fault=panic",
                                 "--set", "rnic.fwcpu.fault_event=1")
        self.assertEqual(line, "bottleneck: none, as no work was begun")
        self.assertEqual(found["name"], "none")

    def test_the_smaller_window_is_named(self):
        """A congestion window that begins with one segment, and a path so long that the window stays small."""
        _, found = self.named(TRACES / "write_bw.json", "--set", "link.delay_ns=50000", "--set", "work.writes.count=20",
                              "--set", "rnic.tcp.initial_window=1")
        self.assertEqual(found["name"], "TCP congestion window")
        _, found = self.named(TRACES / "write_bw.json", "--set", "link.delay_ns=50000", "--set", "work.writes.count=100")
        self.assertEqual(found["name"], "TCP window")

    def test_a_slow_link(self):
        line, found = self.named(TRACES / "write_bw.json", "--set", "link.forward.rate.mbps=20000", "--set", "work.writes.count=100")
        self.assertRegex(line, r"^bottleneck: link rate a to b \((9[5-9]|100)\.\d % busy\)$")
        self.assertEqual(found["where"], "")

    def test_what_a_read_waits_for_behind_memory_is_not_memory(self):
        """Memory has answered, and the answers wait for the device's credits or for a slow PCIe link."""
        device = "rnic.pcie.link.device_credits.completion"
        _, found = self.named(TRACES / "write_bw.json", "--set", "work.writes.count=100", "--set", f"{device}_headers=2",
                              "--set", f"{device}_data=64")
        self.assertEqual((found["name"], found["where"]), ("PCIe completion credits to the device", "node a"))
        _, found = self.named(TRACES / "write_bw.json", "--set", "work.writes.count=100", "--set", "nodes.a.rnic.pcie.link.width=2",
                              "--set", "rnic.pcie.dma_read.max_tags=4")
        self.assertRegex(found["name"], "^PCIe (host to device, a|tags)$")

    def test_receive_requests_that_are_not_fetched_yet(self):
        _, found = self.named(TRACES / "write_bw.json", "--set", "work.writes.op=send", "--set", "work.writes.size=256",
                              "--set", "rnic.rx.rqe_fetch.prefetch=1", "--set", "rnic.tx.wqe_fetch.prefetch=64")
        self.assertEqual((found["name"], found["where"]), ("RQE prefetch", "node b"))

    def test_a_window_has_its_transports_name(self):
        """Also when no octet is outstanding while requests wait for the window."""
        _, found = self.named(TRACES / "sctp_quickstart.json", "--set", "rnic.sctp.receive_buffer=8192")
        self.assertEqual(found["name"], "SCTP window")


class Phases(ProgramTest):
    def test_the_figures_of_each_work_item(self):
        """Reads with ORD 1 wait for it; then Writes fill the wire."""
        (self.folder / "two_phases.json").write_text(json.dumps({
            "name": "two phases", "nodes": [{"name": "a"}, {"name": "b"}],
            "connections": [{"name": "c0", "from": "a", "to": "b", "ord": 1, "ird": 1}],
            "work": [{"name": "reads", "op": "read", "size": 4096, "count": 60, "depth": 32},
                     {"name": "writes", "op": "write", "size": 65536, "count": 60, "depth": 32}]}))
        stats = self.run_scenario("two_phases.json")
        phase_of = {result["name"]: stats["phases"][result["phase"]] for result in stats["results"]}
        self.assertEqual([(p["phase"], p["name"], p["bottleneck"]["name"]) for p in stats["phases"]],
                         [(0, "reads", "ORD"), (1, "writes", "wire a to b")])
        self.assertLess(phase_of["reads"]["utilization"]["wire a to b"], 0.1)
        self.assertGreater(phase_of["writes"]["utilization"]["wire a to b"], 0.9)
        self.assertEqual(phase_of["writes"]["candidates"], stats["bottleneck_candidates"])  # it is the longer one
        time = sum(p["time_ps"] for p in stats["phases"])
        for resource, share in stats["utilization"].items():
            self.assertAlmostEqual(share, sum(p["utilization"][resource] * p["time_ps"] for p in stats["phases"]) / time, places=9)
        whole = {(o["node"], o["name"]): o for o in stats["occupancy"]}
        for phase in stats["phases"]:
            shares = list(phase["utilization"].values())
            self.assertEqual(shares, sorted(shares, reverse=True))
            for part in phase["occupancy"]:
                of_all = whole[part["node"], part["name"]]
                self.assertEqual(sum(part[f"{kind}_cycles"] for kind in ("busy", "blocked", "starved")), part["cycles"])
                self.assertAlmostEqual(part["cycles"] * of_all["cycle_ps"], phase["time_ps"], delta=100_000)  # clocks have a lead
        for key, of_all in whole.items():
            parts = [p for phase in stats["phases"] for p in phase["occupancy"] if (p["node"], p["name"]) == key]
            self.assertLessEqual(sum(p["blocked_cycles"] for p in parts), of_all["blocked_cycles"])
            if len(parts) == len(stats["phases"]):
                self.assertEqual(sum(p["starved_cycles"] for p in parts), of_all["starved_cycles"])
        self.assertIn(("a", "tx.ord"), {(p["node"], p["name"]) for p in phase_of["reads"]["occupancy"] if p["blocked_cycles"] > 0})


class Knees(ProgramTest):
    def test_a_knee_and_its_limiter_are_of_one_phase(self):
        """Reads wait for ORD, in the shorter phase. In the longer one, Writes fill the wire at all points."""
        (self.folder / "two_phases.json").write_text(json.dumps({
            "name": "two phases", "nodes": [{"name": "a"}, {"name": "b"}], "connections": [{"name": "c0", "from": "a", "to": "b"}],
            "work": [{"name": "reads", "op": "read", "size": 4096, "count": 60, "depth": 32},
                     {"name": "writes", "op": "write", "size": 65536, "count": 60, "depth": 32}],
            "sweep": {"mode": "one_at_a_time", "axes": [{"title": "ORD", "key": ["connections.c0.ord", "connections.c0.ird"],
                                                         "baseline": 16, "values": [1, 2]}]}}))
        run = self.run_program("run", "two_phases.json", "--out", "out")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        sweep = json.loads((self.folder / "out/sweep.json").read_text())
        self.assertEqual({p["bottleneck"]["name"] for p in sweep["points"]}, {"wire a to b"})
        self.assertEqual([k["limited_by"] for k in sweep["knees"]], [["ORD"]])
        self.assertRegex(run.stdout, r"ORD +[\d.]+  limits below 16 \(ORD\)\n")
        page = self.run_program("report", "out", "-o", "out/report.html")
        self.assertEqual(page.returncode, 0, page.stderr)
        knees = data_of((self.folder / "out/report.html").read_text())["sweep"]["knees"]
        self.assertEqual([k["limited_by"] for k in knees], [["ORD"]])


if __name__ == "__main__":
    unittest.main()
