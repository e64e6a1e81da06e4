"""Two processes of the program are each other's external peer, over a Unix socket and each with its own clock."""
import csv
import json
import os
import subprocess
import time
import unittest

from rnicsim import NEEDS_RTL, RUN_FILES, RUN_KEYS, TRACES, ProgramTest

LOSS = ("--set", "link.symmetric=true", "--set", "link.forward.loss.ppm=20000")
WAIT = 600  # seconds of wall time; simulated time runs on with it


class TwoProcesses(ProgramTest):
    def scenario(self, role, program):
        """The scenario of traces/interop with the program's keys changed."""
        scenario = json.loads((TRACES / f"interop/echo_{role}.json").read_text())
        scenario["programs"][0].update(program)
        (self.folder / f"{role}.json").write_text(json.dumps(scenario))
        return f"{role}.json"

    def start(self, scenario, out, options):
        process = subprocess.Popen([os.environ["RNICSIM"], "run", scenario, "--out", out, "--set",
                                    f"sim.max_time_us={WAIT * 1_000_000}", *options],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def echo(self, client, wire="seqpacket", both=(), at_client=()):
        """Runs the client against a server; returns stats.json of both, the client's first."""
        wire_options = ("--set", f"external.wire={wire}")
        server = self.start(self.scenario("server", {}), "s", (*wire_options, *both))
        while not (self.folder / "wire.sock").exists() and server.poll() is None:
            time.sleep(0.01)
        ours = self.start(self.scenario("client", client), "c", (*wire_options, *both, *at_client))
        said = ours.communicate(timeout=WAIT)[0] + server.communicate(timeout=WAIT)[0]
        self.assertEqual((ours.returncode, server.returncode), (0, 0), said)
        return [json.loads((self.folder / side / "stats.json").read_text()) for side in "cs"]

    def check_rounds(self, stats, client):
        for side in stats:
            program = side["programs"][0]
            self.assertTrue(program["done"])
            self.assertEqual(program["rounds"], client["count"])
            self.assertEqual(program["bytes"], 2 * client["count"] * client["size"])

    def test_every_operation_with_loss(self):
        lost = 0
        for op in ("send", "write", "write_inv", "read"):
            with self.subTest(op):
                client = {"op": op, "count": 8, "size": 20_000, "crc": True, "markers": True}
                stats = self.echo(client, both=LOSS)
                self.check_rounds(stats, client)
                lost += sum(side["stats"]["link"][d]["lost"]["value"] for side in stats for d in ("forward", "reverse"))
                wire = self.run_command("tshark", "-r", "c/wire.pcapng", "-Y", "_ws.malformed")
                self.assertEqual(wire.stdout, "")
                self.assertFalse((self.folder / "wire.sock").exists(), "who has bound it is gone")
        self.assertGreater(lost, 10)

    def test_over_a_stream_and_as_small_as_it_gets(self):
        client = {"op": "read", "count": 3, "size": 64}
        stats = self.echo(client, wire="stream")
        self.check_rounds(stats, client)
        self.assertEqual({p.name for p in (self.folder / "c").iterdir()}, RUN_FILES)
        self.assertEqual(set(stats[0]), RUN_KEYS | {"scenario", "programs"})
        self.assertRegex((self.folder / "c/stats.txt").read_text(), r"(?s)^bottleneck: .*\necho0: 3 rounds, .*\na\.netdev\.")

    @NEEDS_RTL
    def test_with_twins_log_and_waveform(self):
        client = {"op": "write", "count": 5, "size": 9000}
        watching = ("--rtl", "all", "--trace", "log.tsv", "--wave", "w.vcd", "--wave-scope", "rnic_a.tx",
                    "--wave-to", "4ms")
        stats = self.echo(client, at_client=watching)
        self.check_rounds(stats, client)
        with open(self.folder / "log.tsv", newline="", encoding="utf-8") as log:
            kinds = [line["kind"] for line in csv.DictReader(log, delimiter="\t", quoting=csv.QUOTE_NONE)]
        fpdus = stats[0]["stats"]["a"]["rnic"]["mpa_framer"]["fpdus"]["value"]
        self.assertEqual(kinds.count("fpdu_sent"), fpdus)
        self.assertIn("$scope module tx $end", (self.folder / "w.vcd").read_text())

    @NEEDS_RTL
    def test_in_lock_step_and_without_a_capture(self):
        client = {"op": "send", "count": 5, "size": 9000}
        self.check_rounds(self.echo(client, at_client=("--lockstep", "all", "--no-capture")), client)
        self.assertFalse((self.folder / "c/wire.pcapng").exists())


if __name__ == "__main__":
    unittest.main()
