"""A host may be far from its device: nothing in flight is reported as an error, and no message arrives before its receive."""
import json
import unittest

from rnicsim import ProgramTest

FAR = {
    "rnic.pcie.link.propagation_ns": (1000, 6000, 100000),
    "host.root_complex.mmio_ns": (3000, 30000),
    "host.cpu.mmio_write_ns": (2000, 20000),
}
WORK = {
    "send": {"op": "send", "size": 64},
    "write_imm": {"op": "write_imm", "size": 64},
    "write": {"op": "write", "size": 64},
    "ping-pong": {"op": "send", "size": 64, "mode": "pingpong", "depth": 1},
    "ping-pong of Writes": {"op": "write", "size": 5000, "mode": "pingpong", "depth": 1},
    "fetch_add": {"op": "fetch_add", "words": 4},
    "cmp_swap": {"op": "cmp_swap", "words": 4},
}


class FarHosts(ProgramTest):
    def run_far(self, far, config):
        work = [{"name": name, "connections": ["c0"], "count": 40, "depth": 16, **item} for name, item in WORK.items()]
        nodes = [{"name": name, "config": config if name == far else {}} for name in "ab"]
        scenario = {"name": "far", "nodes": nodes, "connections": [{"name": "c0", "from": "a", "to": "b"}],
                    "work": work, "checks": [{"check": "data"}]}
        (self.folder / "far.json").write_text(json.dumps(scenario))
        run = self.run_program("run", "far.json", "--out", "out", "--no-capture")
        self.assertEqual(run.returncode, 0, f"{far} {config}: {run.stdout}{run.stderr}")
        results = json.loads((self.folder / "out/stats.json").read_text())["results"]
        self.assertEqual([r["count"] for r in results], [40] * len(WORK))

    def test_either_host_may_be_far_from_its_device(self):
        for key, values in FAR.items():
            for value in values:
                for far in "ab":
                    self.run_far(far, {key: value})


if __name__ == "__main__":
    unittest.main()
