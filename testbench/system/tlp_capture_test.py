"""TLPs in the capture, as Wireshark shows them with our dissector; comments; and Immediate Data."""
import re
import unittest

from rnicsim import ROOT, TRACES, ProgramTest

DISSECTOR = ROOT / "scripts/wireshark/rnicsim.lua"


class TlpCapture(ProgramTest):
    def tshark(self, *arguments):
        run = self.run_command("tshark", "-X", f"lua_script:{DISSECTOR}", "-r", "out/wire.pcapng", *arguments)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotRegex(run.stdout + run.stderr, r"(?i)lua error|\[Malformed")
        return run.stdout.splitlines()

    def fields(self, shown, *names):
        options = [word for name in names for word in ("-e", name)]
        return [line.split("\t") for line in self.tshark("-Y", shown, "-T", "fields", *options)]

    def test_tlps_are_a_second_interface(self):
        stats = self.run_scenario(self.small_scenario(), "--capture-tlps")
        packets = [line.split("\t") for line in self.tshark("-T", "fields", "-e", "frame.interface_name", "-e", "frame.time_epoch")]
        self.assertEqual(sum(name == "a" for name, _ in packets), stats["frames"])
        for node in "ab":
            links = stats["stats"][node]["pcie"]
            counted = sum(links[direction]["tlps"]["value"] for direction in ("device_to_host", "host_to_device"))
            self.assertEqual(sum(name == node + ".pcie" for name, _ in packets), counted)
        times = [float(time) for _, time in packets]
        self.assertEqual(times, sorted(times))

    def test_what_a_tlp_is(self):
        stats = self.run_scenario(self.small_scenario(), "--capture-tlps")["stats"]["a"]
        of_a = 'frame.interface_name == "a.pcie"'
        doorbells = self.fields(of_a + ' && rnicsim_tlp.register == "SQ_DOORBELL"', "rnicsim_tlp.direction", "rnicsim_tlp.qpn",
                                "rnicsim_tlp.pi", "rnicsim_tlp.type")
        self.assertGreater(len(doorbells), 0)
        for direction, qpn, producer, kind in doorbells:
            self.assertEqual((direction, kind), ("1", "1"))
            self.assertLess(int(qpn), 2)
            self.assertGreater(int(producer), 0)
        interrupts = self.fields(of_a + " && rnicsim_tlp.vector", "rnicsim_tlp.address")
        self.assertEqual(len(interrupts), stats["root_complex"]["interrupts"]["value"])
        self.assertTrue(all(int(address, 16) >> 20 == 0xfee for address, in interrupts))
        # A completion is of a read under its tag, which is asked again only when all has come.
        left = {}
        for kind, direction, tag, length, count in self.fields(of_a + " && rnicsim_tlp.type != 1", *(
                "rnicsim_tlp." + name for name in ("type", "direction", "tag", "length", "byte_count"))):
            if kind == "0":
                self.assertEqual(left.get((direction, tag), 0), 0)
                left[direction, tag] = 4 * int(length)
            else:
                asked = "2" if direction == "1" else "1", tag
                self.assertLessEqual(int(count), left[asked])
                left[asked] = max(0, int(count) - 4 * int(length))
        self.assertGreater(len(left), 0)

    def test_comments_name_requests(self):
        self.run_scenario(self.small_scenario(), "--capture-requests")
        comments = [line[0] for line in self.fields("frame", "frame.comment")]
        self.assertTrue(any(re.fullmatch(r"request \S+", comment) for comment in comments))
        self.assertTrue(all(comments))  # ACKs and set-up have owners too

    def test_without_the_switches_the_capture_is_what_it_was(self):
        captures = []
        for options in ((), ("--db", "out/run.sqlite", "--perfetto", "out/run.pftrace", "--trace", "log.tsv")):
            self.run_scenario(self.small_scenario(), *options)
            captures.append((self.folder / "out/wire.pcapng").read_bytes())
        self.assertEqual(*captures)

    def test_immediate_data(self):
        self.run_scenario(TRACES / "atomics.json")
        values = self.fields("rnicsim_immediate", "rnicsim_immediate.value")
        opcodes = self.fields("iwarp_rdma.opcode == 8 || iwarp_rdma.opcode == 9", "iwarp_rdma.opcode")
        self.assertGreater(len(values), 0)
        count = [sum(len(line[0].split(",")) for line in lines) for lines in (values, opcodes)]
        self.assertGreater(count[0], 0)

    def test_no_capture_no_tlps(self):
        run = self.run_program("run", TRACES / "quickstart.json", "--no-capture", "--capture-tlps")
        self.assertEqual(run.returncode, 2)
        self.assertIn("do not go with --no-capture", run.stderr)


if __name__ == "__main__":
    unittest.main()
