"""wire.pcapng against the run that wrote it: through rnicsim's own decoder, and through tshark with check_wire.py."""
import json
import struct
import unittest

from rnicsim import ProgramTest


def frames(capture):
    """(offset of the frame, its length) for every Enhanced Packet Block."""
    at = 0
    while at < len(capture):
        kind, size = struct.unpack_from("<II", capture, at)
        if kind == 6:
            yield at + 28, struct.unpack_from("<I", capture, at + 20)[0]
        at += size


class Captures(ProgramTest):
    def decoded(self, name="out/wire.pcapng"):
        run = self.run_program("decode", name, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def assert_decode_agrees(self, **connection):
        stats = self.run_scenario(self.small_scenario(**connection))
        found = self.decoded()
        self.assertEqual(found["undecoded"], [])
        (only,) = found["connections"]
        for node, direction in zip("ab", only["directions"]):
            fpdus = sum(direction["fpdus"].values())
            self.assertEqual(fpdus, stats["stats"][node]["rnic"]["mpa_framer"]["fpdus"]["value"])
            crc = connection.get("crc", True)
            self.assertEqual(direction["crc"], {"good": fpdus * crc, "bad": 0, "absent": fpdus * (not crc)})
        return sum(sum(d["fpdus"].values()) for d in only["directions"])

    def assert_agreement(self, **connection):
        fpdus = self.assert_decode_agrees(**connection)
        wire = self.check_wire("out/wire.pcapng")
        self.assertEqual(wire.returncode, 0, wire.stdout + wire.stderr)
        self.assertIn(f" {fpdus} FPDUs,", wire.stdout)

    def test_markers_and_crc(self):
        self.assert_agreement()

    def test_no_markers(self):
        self.assert_agreement(markers=False)

    def test_markers_towards_one_side_only(self):
        for side in "from_side", "to_side":
            with self.subTest(side):
                self.assert_decode_agrees(**{side: {"markers": False}})
                wire = self.check_wire("out/wire.pcapng")
                self.assertEqual(wire.returncode, 2)
                self.assertIn("one direction only", wire.stderr)

    def test_no_crc(self):
        self.assert_agreement(crc=False)

    def test_revision_1(self):
        self.assert_agreement(mpa_revision=1)

    def test_truncated_capture(self):
        self.run_scenario(self.small_scenario())
        capture = (self.folder / "out/wire.pcapng").read_bytes()
        (self.folder / "cut.pcapng").write_bytes(capture[:len(capture) // 2 + 1])
        run = self.run_program("decode", "cut.pcapng")
        self.assertEqual(run.returncode, 1)
        self.assertIn("truncated", run.stdout)
        self.assertEqual(self.check_wire("cut.pcapng").returncode, 2)

    def damaged(self, change):
        """check_wire.py's verdict on a capture in which `change` altered one frame of 1500 octets."""
        self.run_scenario(self.small_scenario())
        capture = bytearray((self.folder / "out/wire.pcapng").read_bytes())
        offset = [at for at, size in frames(capture) if size > 1500][20]
        change(capture, offset)
        (self.folder / "damaged.pcapng").write_bytes(capture)
        run = self.check_wire("damaged.pcapng")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        return run.stdout

    def test_one_wrong_payload_bit_is_a_bad_crc(self):
        def flip(capture, offset):
            capture[offset + 200] ^= 1

        self.assertIn("Bad CRC32", self.damaged(flip))

    def test_wrong_length_field(self):
        def lengthen(capture, offset):  # ULPDU_Length is the first field after 54 octets of headers
            capture[offset + 55] ^= 4

        self.assertIn("with an FPDU of", self.damaged(lengthen))

    def test_gap_in_the_stream(self):
        def skip(capture, offset):
            capture[offset + 38] ^= 0x40  # of the TCP sequence number

        self.assertIn("TCP", self.damaged(skip))


if __name__ == "__main__":
    unittest.main()
