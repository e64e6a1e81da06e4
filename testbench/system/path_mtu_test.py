"""A cable whose MTU drops during the run: the router's ICMP, the sender's reaction, and FPDUs that are aligned again."""
import json
import subprocess
import unittest

from rnicsim import NEEDS_IMAGE, NEEDS_RTL, RV32, ProgramTest

MTU, HEADERS = 1000, 40  # octets of IP and TCP
NARROW = ("--set", f"link.forward.mtu.bytes={MTU}", "--set", "link.forward.mtu.at_us=150-")


class PathMtu(ProgramTest):
    def scenario(self, **connection):
        scenario = json.loads((self.folder / self.small_scenario(**connection)).read_text())
        scenario["work"] = [{"op": "write", "size": 65536, "count": 100, "depth": 16}]
        (self.folder / "writes.json").write_text(json.dumps(scenario))
        return "writes.json"

    def run_narrow(self, *options, **connection):
        stats = self.run_scenario(self.scenario(**connection), *NARROW, *options)
        self.assertTrue(all(r["data_ok"] for r in stats["results"]))
        return stats

    def counters(self, stats, path):
        for key in path.split("."):
            stats = stats[key]
        return {name: int(counter["value"]) for name, counter in stats.items() if "value" in counter}

    def tshark(self, display_filter, *fields):
        command = ["tshark", "-n", "-r", self.folder / "out/wire.pcapng", "-o", "ip.check_checksum:TRUE", "-o",
                   "tcp.check_checksum:TRUE", "-Y", display_filter, "-T", "fields", "-E", "occurrence=f"]
        run = subprocess.run([*command, *(word for f in fields for word in ("-e", f))], capture_output=True, text=True,
                             timeout=1200)
        self.assertEqual(run.returncode, 0, run.stderr)
        return [line.split("\t") for line in run.stdout.splitlines()]

    def check_counters(self, stats):
        link = self.counters(stats["stats"], "link.forward")
        self.assertGreater(link["too_long"], 0)
        self.assertEqual(link["icmp_sent"], link["too_long"])
        node = stats["stats"]["a"]["rnic"]
        sender = self.counters(node, "tcp_tx")
        self.assertEqual(self.counters(node, "tcp_rx")["path_mtu_reports"], link["icmp_sent"])
        self.assertEqual((sender["path_mtu_changes"], sender["path_mtu_ignored"]), (1, link["icmp_sent"] - 1))
        self.assertEqual(self.counters(node, "fwcpu")["mulpdu_changes"], 1)
        self.assertGreater(sender["cuts"], 0)
        self.assertEqual(sender["timeouts"], 0)
        return link["icmp_sent"]

    def test_the_capture(self):
        sent = self.check_counters(self.run_narrow(markers=False))
        icmp = self.tshark("icmp", "frame.number", "icmp.type", "icmp.code", "icmp.mtu", "icmp.checksum.status",
                           "ip.checksum.status", "ip.dst", "_ws.malformed", "_ws.expert")
        self.assertEqual([told[1:] for told in icmp], [["3", "4", str(MTU), "1", "1", "10.0.0.1", "", ""]] * sent)
        first_told = int(icmp[0][0])
        data = self.tshark("ip.src == 10.0.0.1 && tcp.len > 0 && !icmp", "frame.number", "ip.len", "tcp.payload")[1:]
        before, after = ([(int(octets), self.is_fpdu(int(octets) - HEADERS, payload)) for number, octets, payload in data
                          if (int(number) < first_told) == early] for early in (True, False))
        self.assertTrue(all(aligned for _, aligned in before))
        self.assertEqual(max(before), (1500, True))
        behind = len(after) - [aligned for _, aligned in reversed(after)].index(False)
        self.assertLess(behind, len(after) // 10)  # the last piece of an FPDU of the old size arrives soon
        self.assertEqual(max(after), (MTU, True))
        self.assertEqual(max(after[behind:]), (MTU, True))

    @staticmethod
    def is_fpdu(octets, payload):
        """Whether a segment is one FPDU without markers, by ULPDU_Length."""
        ulpdu = int(payload[:4], 16)
        return octets == -(-(2 + ulpdu) // 4) * 4 + 4

    def check_same_run(self, *options):
        plain, run = self.run_narrow(), self.run_narrow(*options)
        self.check_counters(plain)
        self.assertEqual((run["digest"], run["frames"]), (plain["digest"], plain["frames"]))

    def test_the_same_run_in_any_order_of_calls(self):
        self.check_same_run("--set", "sim.shuffle_seed=5")
        self.check_same_run("--set", "sim.run_ahead=false")

    @NEEDS_RTL
    def test_the_same_run_with_rtl(self):
        self.check_same_run("--rtl", "all")

    @NEEDS_IMAGE
    def test_firmware_on_rv32(self):
        self.check_counters(self.run_narrow(*RV32))

    def test_reads_too(self):
        """Both directions are narrow: a separate MULPDU limits the responses."""
        stats = self.run_scenario(self.small_scenario(), *NARROW, "--set", "link.symmetric=true")
        self.assertTrue(all(r["data_ok"] for r in stats["results"]))
        for node in "a", "b":
            self.assertEqual(self.counters(stats["stats"][node]["rnic"], "fwcpu")["mulpdu_changes"], 1)

    def test_start_up_frames_too(self):
        stats = self.run_scenario(self.scenario(private_data="p" * 500, mpa_revision=1), "--set", "link.symmetric=true",
                                  "--set", "link.forward.mtu.bytes=400", "--set", "rnic.tcp.path_mtu_min=296")
        self.assertTrue(all(r["data_ok"] for r in stats["results"]))
        for node in "a", "b":
            rnic = stats["stats"][node]["rnic"]
            sender = self.counters(rnic, "tcp_tx")
            self.assertEqual((sender["path_mtu_changes"], sender["cuts"], sender["timeouts"]), (1, 1, 0), node)

    def test_a_black_hole(self):
        run = self.run_program("run", self.scenario(), "--out", "out", *NARROW, "--set", "link.forward.mtu.icmp=false",
                               "--set", "rnic.tcp.max_retries=3")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        stats = json.loads((self.folder / "out/stats.json").read_text())["stats"]
        self.assertEqual(self.counters(stats, "link.forward")["icmp_sent"], 0)
        self.assertEqual(self.counters(stats["a"]["rnic"], "tcp_tx")["path_mtu_changes"], 0)


if __name__ == "__main__":
    unittest.main()
