"""The layouts for viewers beside a waveform: GTKWave opens its own, and every name in them is one of the file's."""
import re
import shutil
import unittest

from rnicsim import ProgramTest
from wave_file import read_fst

WINDOW = ("--wave-from", "60us", "--wave-to", "70us")
NEEDS_GTKWAVE = unittest.skipUnless(shutil.which("gtkwave") and shutil.which("xvfb-run"), "no gtkwave and Xvfb")
# Prints GTKWave's signals, with their values at a time.
SCRIPT = """
gtkwave::setMarker 61000000
foreach name [gtkwave::getDisplayedSignals] {
  puts "SHOWN $name [gtkwave::getTraceValueAtMarkerFromName $name]"
}
exit
"""


class Layouts(ProgramTest):
    def setUp(self):
        super().setUp()
        self.run_scenario(self.small_scenario(), "--no-capture", "--wave", "w.fst", *WINDOW)
        self.groups = self.read_gtkwave()

    def read_gtkwave(self):
        """The names in each group of the save file."""
        groups, now = {}, None
        for line in (self.folder / "w.gtkw").read_text().splitlines():
            if line.startswith("@"):
                flags = int(line[1:], 16)
            elif line.startswith("-"):
                if flags & 0x800000:
                    now = line[1:]
                    self.assertNotIn(now, groups)
                    groups[now] = []
                else:
                    self.assertTrue(flags & 0x1000000)
                    self.assertEqual(line[1:], now)
                    now = None
            elif now is not None:
                groups[now].append(re.sub(r"\[\d+:0\]$", "", line))
        self.assertIsNone(now)
        return groups

    def test_the_groups_are_what_moves(self):
        for name in ("host_a.core1", "rnic_a.state.flow0", "rnic_a.state.pcie", "rnic_a.tx", "rnic_b.rx"):
            self.assertIn(name, self.groups)
        self.assertNotIn("rnic_a.state.flow1", self.groups)  # unused
        self.assertIn("rnic_a.state.flow0.snd_una", self.groups["rnic_a.state.flow0"])
        self.assertIn("rnic_a.tx.sealed.valid", self.groups["rnic_a.tx"])
        self.assertLess(sum(map(len, self.groups.values())), 1000)

    def test_every_name_is_in_the_file(self):
        known = set(read_fst(self.folder / "w.fst"))
        names = [name for group in self.groups.values() for name in group]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual(set(names), known)
        commands = [line.split(" ", 1) for line in (self.folder / "w.sucl").read_text().splitlines()]
        self.assertEqual({c[0] for c in commands}, {"divider_add", "variable_add", "zoom_fit"})
        self.assertEqual([c[1] for c in commands if c[0] == "variable_add"], names)
        self.assertEqual([c[1] for c in commands if c[0] == "divider_add"], list(self.groups))

    def view(self):
        """Start of the waves, time span of their 750 pixels, and the marker, as GTKWave reads its file."""
        text = (self.folder / "w.gtkw").read_text()
        begin = int(re.search(r"^\[timestart\] (\d+)$", text, re.MULTILINE)[1])
        zoom, marker, rest = re.search(r"^\*(\S+) (\S+)( .*)$", text, re.MULTILINE).groups()
        self.assertEqual(rest, f" {marker}" + " -1" * 25)  # it stays when the user sets another one
        return begin, 2**-float(zoom) / 200 * 750, int(marker)  # calczoom(): a frame of 200 pixels takes 2 to the power of -zoom

    def test_all_of_the_window_is_shown(self):
        begin, shown, marker = self.view()
        self.assertEqual(begin, 60_000_000)
        self.assertAlmostEqual(shown, 10_000_000, delta=50_000)
        self.assertEqual(marker, -1)

    def test_a_marker_is_where_the_trigger_was(self):
        run = self.run_program("run", self.small_scenario(), "--no-capture", "--wave", "w.fst", "--wave-on", "request=a.0.7", "--wave-for", "4us",
                               "--wave-ring", "1us")
        self.assertEqual(run.returncode, 0, run.stderr)
        begin, shown, marker = self.view()
        self.assertEqual(marker, begin + 1_000_000)
        self.assertEqual((self.folder / "w.sucl").read_text().splitlines()[-3:], [f"cursor_set {marker}", "marker_set trigger", "zoom_fit"])
        self.assertAlmostEqual(shown, 5_000_000, delta=50_000)

    @NEEDS_GTKWAVE
    def test_gtkwave_shows_them_and_words(self):
        (self.folder / "show.tcl").write_text(SCRIPT)
        run = self.run_command("xvfb-run", "-a", "gtkwave", "-S", "show.tcl", "w.fst", "w.gtkw")
        shown = dict(line.split(" ", 2)[1:] for line in run.stdout.splitlines() if line.startswith("SHOWN "))
        names = [name for group in self.groups.values() for name in group]
        self.assertEqual([re.sub(r"\[\d+:0\]$", "", name) for name in shown], names)
        self.assertEqual(shown["rnic_a.state.flow0.state[3:0]"], "established")
        self.assertEqual(shown["rnic_a.state.qp0.state[2:0]"], "rts")
        self.assertGreater(int(shown["rnic_a.state.flow0.cwnd[31:0]"]), 1000)  # as a decimal number
        self.assertIn("rnic_a.clock.clk", shown)

    @NEEDS_GTKWAVE
    def test_gtkwave_shows_owners_as_texts(self):
        """As the layout has them; but there they are in groups that are closed, of which GTKWave has no values."""
        line = re.search(r"^@.*\nrnic_a\.tx\.sealed\.owner$", (self.folder / "w.gtkw").read_text(), re.MULTILINE)[0]
        (self.folder / "owner.gtkw").write_text(f"[*]\n{line}\n")
        (self.folder / "show.tcl").write_text(SCRIPT)
        run = self.run_command("xvfb-run", "-a", "gtkwave", "-S", "show.tcl", "w.fst", "owner.gtkw")
        self.assertRegex(run.stdout, r"(?m)^SHOWN rnic_a\.tx\.sealed\.owner a\.0\.\d+$")


if __name__ == "__main__":
    unittest.main()
