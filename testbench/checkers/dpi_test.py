#!/usr/bin/env python3
"""Each bench of rtl-stubs/examples/dpi finds our block right, and names its planted bug.

DPI_BENCHES is the folder of the programs.
"""
import os
import pathlib
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(os.environ["DPI_BENCHES"])


def run(bench, *options):
    done = subprocess.run([FOLDER / bench, *options], capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


class Benches(unittest.TestCase):
    def right(self, bench, says):
        status, said = run(bench)
        self.assertEqual(status, 0, said)
        self.assertIn(says, said)

    def planted(self, bench, *says):
        status, said = run(bench, "+plant")
        self.assertNotEqual(status, 0, said)
        for each in says:
            self.assertRegex(said, each)

    def test_crc_check(self):
        self.right("crc_check_tb", "crc_check: 300 FPDUs, all right")
        self.planted("crc_check_tb", r"crc_check: fpdu \d+ of flow \d+ differs", "crc_ok: expected 1, seen 0")

    def test_marker_inserter(self):
        self.right("marker_inserter_tb", "marker_inserter: 300 FPDUs, all right")
        self.planted("marker_inserter_tb", r"marker_inserter: FPDU 7, beat \d+, octet \d+: expected")

    def test_irrq(self):
        self.right("irrq_tb", "messages, all right")
        self.planted("irrq_tb", r"irrq\.(event: expected QP 7|(out|atomic): request \d+ of QP 7 is too much)")


if __name__ == "__main__":
    sys.exit(unittest.main())
