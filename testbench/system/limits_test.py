"""A device keeps as many connections as configured: it refuses a latecomer, and serves it once a connection has ended."""
import json
import unittest

from rnicsim import TRACES, ProgramTest


class Limits(ProgramTest):
    def churn(self, **node_config):
        """Only the first phase of traces/churn.json, with settings of the nodes a and b."""
        scenario = json.loads((TRACES / "churn.json").read_text())
        scenario["work"] = scenario["work"][:1]
        scenario["checks"] = [{"check": "data"}]
        for node in scenario["nodes"]:
            node["config"] = node_config.get(node["name"], {})
        (self.folder / "churn.json").write_text(json.dumps(scenario))
        return "churn.json"

    def test_the_connecting_side_is_refused_and_tries_again(self):
        stats = self.run_scenario(self.churn(a={"rnic.fwcpu.max_connections": 5}))
        result = stats["results"][0]
        self.assertTrue(result["data_ok"])
        self.assertEqual(result["count"], 200)
        self.assertGreater(result["retries"], 0)
        self.assertEqual(stats["stats"]["a"]["rnic"]["fwcpu"]["connections"]["value"], 0)

    def test_so_it_is_without_a_flow(self):
        stats = self.run_scenario(self.churn(a={"rnic.tcp.max_flows": 12}))
        self.assertGreater(stats["results"][0]["retries"], 0)
        self.assertTrue(stats["results"][0]["data_ok"])

    def test_the_listening_side_resets_what_it_has_no_room_for(self):
        run = self.run_program("run", self.churn(b={"rnic.fwcpu.max_connections": 2}), "--out", "out")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertIn("the connection failed: connection reset", run.stdout + run.stderr)
        self.assertRegex(run.stderr, r"rnicsim: b: \d+ connections found no room: rnic.fwcpu.max_connections is 2,")
        stats = json.loads((self.folder / "out/stats.json").read_text())
        self.assertGreater(stats["stats"]["b"]["rnic"]["fwcpu"]["no_resources"]["value"], 0)

    def test_a_receive_window_below_the_mtu_is_used(self):
        for a, b in ((4096, 4096), (131072, 4096), (4096, 131072), (8192, 5000)):
            with self.subTest(a=a, b=b):
                self.write_scenario(a, b)
                stats = self.run_scenario("windows.json")
                self.assertTrue(all(result["data_ok"] for result in stats["results"]))
                self.assertEqual([result["count"] for result in stats["results"]], [20, 20, 20])
                for node in "ab":
                    tcp = stats["stats"][node]["rnic"]
                    self.assertEqual(tcp["tcp_rx"]["beyond_window"]["value"], 0)
                    self.assertEqual(tcp["tcp_tx"]["timeouts"]["value"], 0)

    def write_scenario(self, a, b):
        nodes = [{"name": name, "config": {"rnic.tcp.window_bytes": window}} for name, window in (("a", a), ("b", b))]
        work = [{"name": op, "op": op, "size": 65536, "count": 20} for op in ("write", "read", "send")]
        (self.folder / "windows.json").write_text(json.dumps({
            "name": "windows", "config": {"rnic.tcp.mtu": 9000, "sim.max_time_us": 100000}, "nodes": nodes,
            "connections": [{"from": "a", "to": "b"}], "work": work, "checks": [{"check": "data"}]}))

    def test_a_completion_timeout_is_counted(self):
        run = self.run_program("run", self.small_scenario(), "--out", "out",
                               "--set", "host.root_complex.memory_read_ns=5000",
                               "--set", "rnic.pcie.dma_read.completion_timeout_us=1")
        self.assertEqual(run.returncode, 3, run.stdout + run.stderr)
        self.assertIn("rnicsim: a: 1 reads of host memory took longer than rnic.pcie.dma_read.completion_timeout_us 1\n",
                      run.stderr)
        stats = json.loads((self.folder / "out/stats.json").read_text())["stats"]["a"]
        self.assertEqual(stats["rnic"]["dma_read"]["timeouts"]["value"], 1)
        self.assertEqual(stats["rnic"]["dma_read"]["failed_requests"]["value"], 1)
        self.assertEqual(stats["root_complex"]["memory_reads"]["value"], 1)
        self.assertEqual(stats["rnic"]["mmio"]["writes"]["value"], stats["root_complex"]["mmio_writes"]["value"])

    def test_work_that_opens_connections_needs_room_for_one_more(self):
        for key in ("rnic.fwcpu.max_connections", "rnic.context.qps", "rnic.tcp.max_flows"):
            for node in "ab":
                run = self.run_program("run", self.churn(**{node: {key: 1}}), "--out", "out")
                self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
                self.assertIn(f"the connections of node '{node}' have 1 queue pairs, and work opens others beside them: "
                              f"{key} is 1", run.stderr)

    def many_queue_pairs(self, qps, **node_config):
        scenario = {"name": "many", "config": {"rnic.context": {"qps": 512, "cqs": 1024, "stags": 4096}, "rnic.tcp.max_flows": 512},
                    "nodes": [{"name": name, "config": node_config.get(name, {})} for name in "ab"], "connections": [{"from": "a", "to": "b", "qps": qps}],
                    "work": [{"name": "writes", "op": "write", "size": 64, "count": 2}], "checks": [{"check": "data"}]}
        (self.folder / "many.json").write_text(json.dumps(scenario))
        return "many.json"

    def test_each_queue_pair_has_a_port_to_listen_at(self):
        for qps in (256, 257, 512):
            with self.subTest(qps):
                stats = self.run_scenario(self.many_queue_pairs(qps), "--no-capture")
                self.assertTrue(stats["results"][0]["data_ok"])

    def test_firmware_without_room_for_the_ports_is_named_before_the_run(self):
        run = self.run_program("run", self.many_queue_pairs(257, b={"rnic.fwcpu.target": "rv32"}), "--out", "out", "--no-capture")
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertEqual(run.stderr, "rnicsim: many.json: node 'b' listens at 257 ports, one for each queue pair; its RV32 firmware has room for 256: fewer qps,"
                         " or rnic.fwcpu.target native\n")

    def test_more_than_the_firmware_can_keep_is_refused(self):
        for key, value, target, message in (
                ("rnic.fwcpu.max_connections", 70000, "native", "rnic.fwcpu.max_connections = 70000 (churn.json: node 'a'): must be 1 to 65536"),
                ("rnic.context.qps", 1025, "rv32", "the RV32 firmware is built for 1024 QPs, 2048 flows, 1024 CQs, 256 SRQs, 4096 STags and "
                 "1024 connections at most"),
                ("rnic.fwcpu.max_connections", 1025, "rv32", "and 1024 connections at most")):
            run = self.run_program("run", self.churn(a={key: value, "rnic.fwcpu.target": target}), "--out", "out")
            self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
            self.assertIn(message, run.stderr)


if __name__ == "__main__":
    unittest.main()
