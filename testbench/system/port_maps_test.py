"""From somebody's RTL to a verdict, as a user goes: a port map, `rnicsim rtl`, a run."""
import os
import unittest

from rnicsim import ROOT, ProgramTest

FOREIGN = ROOT / "testbench" / "golden" / "foreign"


class PortMaps(ProgramTest):
    def setUp(self):
        super().setUp()
        os.environ["RNICSIM_CACHE"] = str(self.folder / "cache")

    def build(self, map_, library):
        run = self.run_program("rtl", map_, FOREIGN / "axis_crc.sv", "-o", library)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))

    def test_a_right_one_and_its_bug(self):
        self.build(FOREIGN / "axis_crc.toml", "libmine.so")
        scenario = self.small_scenario()
        judged = ("--rtl", "crc_check=./libmine.so", "--scoreboard", "crc_check")
        mine, ours = (self.run_scenario(scenario, *options) for options in (judged, ()))
        for stats in (mine, ours):
            self.assertTrue(all(item["data_ok"] for item in stats["results"]))
        checked = [[node["rnic"]["crc_check"][counter]["value"] for counter in ("good", "bad", "unchecked")]
                   for node in (mine["stats"]["b"], ours["stats"]["b"])]
        self.assertGreater(checked[0][0], 100)
        self.assertEqual(checked[0][1:], [0, 0])
        self.assertEqual(checked[1][1:], [0, 0])

        # The bug: the octets after an FPDU's end count.
        text = (FOREIGN / "axis_crc.toml").read_text().replace('"8*beat_bytes"', '"8*beat_bytes", KEEP_ONLY = 0')
        (self.folder / "bug.toml").write_text(text)
        self.build("bug.toml", "libbug.so")
        run = self.run_program("run", scenario, "--rtl", "crc_check=./libbug.so", "--out", "out")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertIn("2/0/02 (MPA: CRC mismatch)", run.stderr)
        run = self.run_program("run", scenario, "--rtl", "crc_check=./libbug.so", "--scoreboard", "crc_check", "--out", "out")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertRegex(run.stderr, r"crc_check, RTL of libbug\.so: fpdu \d+ of flow \d+ differs, of request a\.0\.\d+")
        self.assertIn("differs   crc_ok: expected 1, seen 0", run.stderr)

    def test_a_map_that_does_not_fit(self):
        text = (FOREIGN / "axis_crc.toml").read_text()
        for old, new, sentence in (
                ('"m_axis_"', '"maxis_"', "out.axi_stream: axis_crc_check has no pin 'maxis_tdata', which is this stream's tdata; the nearest is "
                                          "'m_axis_tdata'"),
                ("clock ", "clok ", "clok: unknown key; the nearest is 'clock'"),
                ('block      = "crc_check"', 'block      = "crc"', "block: there is no block 'crc'; the nearest is 'crc_check'")):
            (self.folder / "mine.toml").write_text(text.replace(old, new))
            run = self.run_program("rtl", "mine.toml", FOREIGN / "axis_crc.sv", "-o", "libmine.so")
            self.assertEqual((run.returncode, run.stdout, run.stderr), (2, "", f"rnicsim rtl: mine.toml: {sentence}\n"))


if __name__ == "__main__":
    unittest.main()
