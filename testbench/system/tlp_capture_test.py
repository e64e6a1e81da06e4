"""TLPs in the capture, as Wireshark shows them with our dissector; comments; and Immediate Data."""
import json
import re
import struct
import unittest

from rnicsim import DISSECTOR, TRACES, ProgramTest, needs_lua



@needs_lua
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

    def test_each_row_names_its_node(self):
        """The packet list has no column for the interface."""
        self.run_scenario(self.small_scenario(), "--capture-tlps")
        rows = {tuple(row) for row in self.fields("rnicsim_tlp", "frame.interface_name", "rnicsim_tlp.chip", "rnicsim_tlp.direction", "_ws.col.Source", "_ws.col.Destination")}
        self.assertEqual(rows, {(f"{n}.pcie", n, "1", f"host {n}", f"device {n}") for n in "ab"} | {(f"{n}.pcie", n, "2", f"device {n}", f"host {n}") for n in "ab"})
        self.assertEqual({row[0] for row in self.fields('rnicsim_tlp.chip == "b"', "frame.interface_name")}, {"b.pcie"})

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
        # A completion belongs to the read with its tag, which is free again only when all completions have arrived.
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

    def test_configuration_space(self):
        """No scenario has such TLPs: their octets are given here."""
        pseudo = lambda direction, space, offset: struct.pack(">BBBBIQ", 1, direction, space, 0, offset, 0)
        tlps = [pseudo(1, 3, 0x104) + bytes.fromhex("04000001 0000050f 01000104"),
                pseudo(1, 3, 0x82) + bytes.fromhex("44000001 0000060c 01000080 000023c1"),
                pseudo(2, 0, 0) + bytes.fromhex("0a000000 01000004 00000600")]
        records = b"".join(struct.pack("<IIII", 0, i, len(tlp), len(tlp)) + tlp for i, tlp in enumerate(tlps))
        (self.folder / "out").mkdir()
        (self.folder / "out/wire.pcapng").write_bytes(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 147) + records)
        shown = self.fields("rnicsim_tlp", *("rnicsim_tlp." + name for name in ("type", "space", "offset", "address", "tag", "data")))
        self.assertEqual(shown, [["4", "3", "0x00000104", "0x0000000000000104", "5", ""],
                                 ["5", "3", "0x00000082", "0x0000000000000080", "6", "000023c1"],
                                 ["2", "0", "", "", "6", ""]])
        self.assertTrue(self.tshark()[0].endswith("CfgRd0 0x104 tag 5, 4 octets"), self.tshark()[0])

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


class Decoded(ProgramTest):
    """libpcap refuses a file with two link types."""

    def decoded(self, capture, status=0, *options):
        run = self.run_program("decode", capture, "--json", *options)
        self.assertEqual(run.returncode, status, run.stderr)
        return json.loads(run.stdout)

    @staticmethod
    def blocks(octets):
        """(place, type, octets of the block)"""
        at = 0
        while at < len(octets):
            kind, size = struct.unpack_from("<II", octets, at)
            yield at, kind, octets[at:at + size]
            at += size

    def captured(self):
        self.stats = self.run_scenario(self.small_scenario(), "--capture-tlps")
        return (self.folder / "out/wire.pcapng").read_bytes()

    def written(self, octets):
        (self.folder / "changed.pcapng").write_bytes(octets)
        return "changed.pcapng"

    def test_of_frames_and_tlps_the_frames(self):
        self.run_scenario(self.small_scenario())
        frames = self.decoded("out/wire.pcapng")
        self.assertEqual(frames["skipped_packets"], 0)
        self.captured()
        both = self.decoded("out/wire.pcapng")
        tlps = sum(self.stats["stats"][node]["pcie"][direction]["tlps"]["value"] for node in "ab"
                   for direction in ("device_to_host", "host_to_device"))
        self.assertEqual(both, {**frames, "skipped_packets": tlps})
        lines = self.run_program("decode", "out/wire.pcapng").stdout.splitlines()
        self.assertIn(f"{tlps} packets of interfaces that are not Ethernet were skipped", lines)
        self.assertIn(f"{self.stats['frames']} frames, ", lines[-1])

    def test_a_place_is_that_of_the_file(self):
        """A broken FPDU is reported in the same frame, wherever that is in the file."""
        found = []
        for options in (), ("--capture-tlps",):
            self.run_scenario(self.small_scenario(), *options)
            octets = (self.folder / "out/wire.pcapng").read_bytes()
            frames = [place for place, kind, block in self.blocks(octets) if kind == 6 and block[8:12] == bytes(4)]
            large = [place for place in frames if struct.unpack_from("<I", octets, place + 20)[0] > 1000]
            changed = bytearray(octets)
            changed[large[40] + 28 + 500] ^= 1
            undecoded = self.decoded(self.written(changed), 1, "--ignore-checksums")["undecoded"]
            found.append([(frames.index(u["offset"]), u["reason"]) for u in undecoded])
        self.assertIn("CRC", found[0][0][1])
        self.assertEqual(*found)

    def test_the_same_as_big_endian_and_in_another_order_of_interfaces(self):
        octets = self.captured()
        expected = self.decoded("out/wire.pcapng")
        interfaces = [b for _, kind, b in self.blocks(octets) if kind == 1]
        moved = {0: len(interfaces) - 1, **{i: i - 1 for i in range(1, len(interfaces))}}
        new, big = [], []
        for _, kind, block in self.blocks(octets):
            if kind == 1:
                block = interfaces.pop(1 if len(interfaces) > 1 else 0)
            if kind == 6:
                block = block[:8] + struct.pack("<I", moved[struct.unpack_from("<I", block, 8)[0]]) + block[12:]
            new.append(block)
            head = {0x0a0d0d0a: ("<IHHQ", ">IHHQ"), 1: ("<HHI", ">HHI"), 6: ("<IIIII", ">IIIII")}[kind]
            body = struct.pack(head[1], *struct.unpack_from(head[0], block, 8))
            rest = block[8 + len(body):8 + len(body) + struct.unpack_from("<I", block, 20)[0]] if kind == 6 else b""
            rest += bytes(-len(rest) % 4)
            if kind == 1:  # if_tsresol
                rest = struct.pack(">HHB3xI", 9, 1, 9, 0)
            size = struct.pack(">I", 12 + len(body) + len(rest))
            big.append(struct.pack(">I", kind) + size + body + rest + size)
        self.assertEqual(self.decoded(self.written(b"".join(new))), expected)
        self.assertEqual(self.decoded(self.written(b"".join(big))), expected)

    def test_without_ethernet(self):
        octets = self.captured()
        tlps = b"".join(b for _, kind, b in self.blocks(octets) if kind != 6 and not (kind == 1 and b[8] == 1))
        run = self.run_program("decode", self.written(tlps))
        self.assertEqual((run.returncode, run.stderr), (2, "decode: changed.pcapng: no interface of the capture is Ethernet\n"))

    def test_wherever_it_ends(self):
        octets = self.captured()
        whole = {place for place, _, _ in self.blocks(octets)}
        for end in (*range(4, 400, 7), len(octets) // 2, len(octets) // 2 + 1, len(octets) - 1):
            run = self.run_program("decode", self.written(octets[:end]))
            self.assertIn(run.returncode, (0, 1) if end in whole else (1, 2), end)
            self.assertNotIn("internal", run.stderr)

    def test_a_sweep_has_no_captures(self):
        for option in "--capture-tlps", "--capture-requests":
            run = self.run_program("run", TRACES / "loss-sweep.json", option)
            self.assertEqual(run.returncode, 2)
            self.assertIn(f"{option} applies to one point of a sweep only, as there is no capture of the others; use --point", run.stderr)


if __name__ == "__main__":
    unittest.main()
