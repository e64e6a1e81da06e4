"""The scenarios of traces/ over SCTP: the same work, checks and Terminates as over TCP, whatever the cable does."""
import json
import pathlib
import unittest

from rnicsim import LONG, NEEDS_IMAGE, NEEDS_RTL, RV32, ProgramTest

TRACES = pathlib.Path(__file__).resolve().parents[2] / "traces"
# Scenarios that need MPA or TCP, and the key that the refusal names.
REFUSED = {
    "errors/mpa_closed": "inject[0].close_after",
    "errors/mpa_crc": "inject[0].field",
    "errors/mpa_ird": "inject[0].message",
    "errors/mpa_marker": "inject[0].field",
    "errors/mpa_rtr": "inject[0].message",
    "errors/mpa_startup": "inject[0].message",
    "qps1024": "need 128 associations of rnic.sctp.streams 16",
    "rdmac_peer": "transport",
}
FAULTS = {
    "lost": {"loss.ppm": 10000},
    "late": {"reorder.ppm": 20000, "delay.reorder_ns": 20000},
    "twice": {"duplicate.ppm": 20000},
    "bent": {"corrupt.ppm": 10000},
}


def over_sctp(scenario):
    """Without the keys that only MPA has; revision 1 becomes a plain session."""
    scenario = {**scenario, "transport": "sctp"}
    for connection in scenario.get("connections", []):
        if connection.pop("mpa_revision", 2) == 1:
            connection["enhanced"] = False
        for end in (connection, connection.get("from_side", {}), connection.get("to_side", {})):
            for key in ("markers", "crc"):
                end.pop(key, None)
    return scenario


def scenarios():
    for path in sorted([*TRACES.glob("*.json"), *TRACES.glob("errors/*.json")]):
        scenario = json.loads(path.read_text())
        name = str(path.relative_to(TRACES).with_suffix(""))
        if name not in LONG and "nodes" in scenario and "sweep" not in scenario and scenario.get("transport") != "sctp":
            yield name, scenario


class OverSctp(ProgramTest):
    def write(self, scenario):
        (self.folder / "sctp.json").write_text(json.dumps(scenario))
        return "sctp.json"

    def check(self, stats):
        self.assertTrue(stats["checks"])
        self.assertTrue(all(check["passed"] for check in stats["checks"]), stats["checks"])

    def test_ends_with_different_mtus(self):
        scenario = json.loads((TRACES / "quickstart.json").read_text())
        for a, b in ((9000, 1500), (1500, 9000), (4096, 576)):
            with self.subTest((a, b)):
                self.check(self.run_scenario(self.write(over_sctp(scenario)), "--set", f"nodes.a.rnic.tcp.mtu={a}", "--set",
                                             f"nodes.b.rnic.tcp.mtu={b}"))

    def test_every_scenario(self):
        for name, scenario in scenarios():
            with self.subTest(name):
                file = self.write(over_sctp(scenario))
                if name not in REFUSED:
                    self.check(self.run_scenario(file))
                    continue
                run = self.run_program("run", file, "--out", "refused")
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertIn(REFUSED[name], run.stderr)

    # Nothing is lost and nothing arrives twice.
    def test_a_bad_cable(self):
        scenario = json.loads((TRACES / "quickstart.json").read_text())
        for fault, settings in FAULTS.items():
            with self.subTest(fault):
                options = ["--set", "link.symmetric=true"]
                for key, value in settings.items():
                    options += ["--set", f"link.forward.{key}={value}"]
                stats = self.run_scenario(self.write(over_sctp(scenario)), *options)
                self.check(stats)

    def test_a_path_that_shrinks(self):
        scenario = json.loads((TRACES / "write_bw.json").read_text())
        stats = self.run_scenario(self.write(over_sctp(scenario)), "--set", "link.forward.mtu.bytes=1000", "--set",
                                  "link.forward.mtu.at_us=100-")
        self.check(stats)
        self.assertGreater(stats["stats"]["b"]["rnic"]["sctp_rx"]["fragments"]["value"], 0)
        self.assertEqual(stats["stats"]["a"]["rnic"]["sctp_association"]["path_mtu_changes"]["value"], 1)
        self.assertEqual(stats["stats"]["a"]["rnic"]["sctp_association"]["timeouts"]["value"], 0)

    @NEEDS_IMAGE
    def test_the_rv32_firmware(self):
        scenario = json.loads((TRACES / "quickstart.json").read_text())
        self.check(self.run_scenario(self.write(over_sctp(scenario)), *RV32))

    # Twins in place of the stages do the same in every cycle.
    @NEEDS_RTL
    def test_twins(self):
        for name in ("quickstart", "atomics", "errors/rdma_bounds"):
            with self.subTest(name):
                file = self.write(over_sctp(json.loads((TRACES / f"{name}.json").read_text())))
                plain = self.run_scenario(file)
                twins = self.run_scenario(file, "--rtl", "all")
                self.check(twins)
                self.assertEqual(plain["digest"], twins["digest"])
                self.run_scenario(file, "--lockstep", "sctp_crc_check,sctp_crc_insert,ddp_placement")


if __name__ == "__main__":
    unittest.main()
