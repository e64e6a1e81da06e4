"""A device keeps as many connections as it is told: who comes too late hears so, and is served when one has ended."""
import json
import unittest

from rnicsim import TRACES, ProgramTest


class Limits(ProgramTest):
    def churn(self, **node_config):
        """traces/churn.json, its first phase only, with settings of the nodes a and b."""
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
        stats = json.loads((self.folder / "out/stats.json").read_text())
        self.assertGreater(stats["stats"]["b"]["rnic"]["fwcpu"]["no_resources"]["value"], 0)

    def test_a_completion_timeout_is_counted(self):
        run = self.run_program("run", self.small_scenario(), "--out", "out",
                               "--set", "host.root_complex.memory_read_ns=5000",
                               "--set", "rnic.pcie.dma_read.completion_timeout_us=1")
        self.assertEqual(run.returncode, 3, run.stdout + run.stderr)
        stats = json.loads((self.folder / "out/stats.json").read_text())["stats"]["a"]
        self.assertEqual(stats["rnic"]["dma_read"]["timeouts"]["value"], 1)
        self.assertEqual(stats["rnic"]["dma_read"]["failed_requests"]["value"], 1)
        self.assertEqual(stats["root_complex"]["memory_reads"]["value"], 1)
        self.assertEqual(stats["rnic"]["mmio"]["writes"]["value"], stats["root_complex"]["mmio_writes"]["value"])

    def test_more_than_the_firmware_can_keep_is_refused(self):
        run = self.run_program("run", self.churn(a={"rnic.fwcpu.max_connections": 2000}), "--out", "out")
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertIn("max_connections", run.stderr)


if __name__ == "__main__":
    unittest.main()
