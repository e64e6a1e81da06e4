#!/usr/bin/env python3
"""The TLPs of a run, as its capture has them, break no rule of rtl-stubs/checkers/tlp_checker.sv; a changed one does.

RNICSIM is the program, TLPS_BENCH the bench.
"""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

TRACES = pathlib.Path(__file__).resolve().parents[2] / "traces"
USER0 = 147  # the link type of TLPs (model/trace/trace.md)


def blocks(octets):
    """Blocks of a pcapng file: (type, body)."""
    at = 0
    while at < len(octets):
        kind, size = struct.unpack_from("<II", octets, at)
        yield kind, octets[at + 8:at + size - 4]
        at += size


def tlps(capture):
    """Of node a: (direction, double words, first 16 octets)."""
    interfaces = []
    for kind, body in blocks(capture.read_bytes()):
        if kind == 1:
            interfaces.append(struct.unpack_from("<H", body)[0] == USER0 and b"a.pcie" in body)
        elif kind == 6:
            interface, _, _, kept, size = struct.unpack_from("<IIIII", body)
            if interfaces[interface]:
                packet = body[20:20 + kept]
                header = 16 if packet[0] == 1 else 24
                yield packet[1], (size - header) // 4, packet[header:header + 16].ljust(16, b"\0")


class Tlps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        subprocess.run([os.environ["RNICSIM"], "run", TRACES / "atomics.json", "--capture-tlps"], cwd=cls.folder, check=True,
                       capture_output=True)
        cls.tlps = list(tlps(cls.folder / "out/wire.pcapng"))

    def judged(self, some):
        file = self.folder / "tlps.hex"
        file.write_text("".join(f"{direction} {words} {octets.hex()}\n" for direction, words, octets in some), encoding="ascii")
        done = subprocess.run([os.environ["TLPS_BENCH"], f"+tlps={file}"], capture_output=True, text=True, timeout=300, check=False)
        return done.returncode, done.stdout

    def test_all_are_right(self):
        self.assertGreater(len(self.tlps), 50_000)
        self.assertEqual(len({octets[0] for _, _, octets in self.tlps}), 5)  # reads and writes with both headers, completions
        status, said = self.judged(self.tlps)
        self.assertEqual(status, 0, said[:400])
        self.assertIn(f"{len(self.tlps)} TLPs", said)

    def test_a_completion_without_its_read_is_found(self):
        reads = [i for i, (direction, _, octets) in enumerate(self.tlps) if direction == 2 and octets[0] in (0x00, 0x20)]
        status, said = self.judged(self.tlps[:reads[5]] + self.tlps[reads[5] + 1:])
        self.assertNotEqual(status, 0)
        self.assertIn("TagWasAsked_A", said)

    def test_a_length_that_is_one_too_large_is_found(self):
        at = next(i for i, (_, _, octets) in enumerate(self.tlps) if octets[0] == 0x60)
        direction, words, octets = self.tlps[at]
        changed = direction, words, octets[:3] + bytes([octets[3] + 1]) + octets[4:]
        status, said = self.judged([*self.tlps[:at], changed, *self.tlps[at + 1:]])
        self.assertNotEqual(status, 0)
        self.assertIn("LengthOfItsHeader_A", said)


if __name__ == "__main__":
    sys.exit(unittest.main())
