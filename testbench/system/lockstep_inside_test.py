"""The program with a fault in one twin, built to show what is inside of twins (RNICSIM)."""
import re
import unittest

from lockstep_test import Wave
from rnicsim import ProgramTest


class Inside(ProgramTest):
    def test_the_registers_behind_a_difference(self):
        run = self.run_program("run", self.small_scenario(), "--lockstep", "all", "--lockstep-inside", "--out", "out")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertIn("rnicsim: the inside of the twin before it: out/lockstep_inside.vcd\n", run.stderr)
        told = re.search(r"in lock-step with RTL: (\S+)\.crc_insert, cycle (\d+): out\.octet\[(\d+)\]: "
                         r"the stage has \d+, the twin (\d+)", run.stderr)
        cycle, octet, twin = (int(n) for n in told.groups()[1:])
        inside = Wave((self.folder / "out/lockstep_inside.vcd").read_text())
        # Values before each edge: a register has in the next cycle what the edge of this one has made of it.
        self.assertEqual(inside.at("top.out_data_o", 4000 * (cycle + 1)) >> 8 * octet & 0xff, twin)
        self.assertEqual(inside.at("top.out_valid_o", 4000 * (cycle + 1)), 1)
        registers = [name for name in inside.changes if name.startswith("top.crc_insert.") and name.count(".") > 2]
        self.assertGreater(len(registers), 10, sorted(inside.changes))
        times = sorted({time for changes in inside.changes.values() for time, _ in changes})
        self.assertLessEqual(times[0], 4000 * (cycle - 100))
        self.assertGreater(times[-1], 4000 * cycle)

    def test_it_is_left_on_request_only(self):
        run = self.run_program("run", self.small_scenario(), "--lockstep", "all", "--out", "out")
        self.assertEqual(run.returncode, 1)
        self.assertFalse((self.folder / "out/lockstep_inside.vcd").exists())
        run = self.run_program("run", self.small_scenario(), "--lockstep-inside")
        self.assertEqual((run.returncode, run.stderr), (2, "rnicsim: run: --lockstep-inside needs --lockstep or --rtl\n"))


if __name__ == "__main__":
    unittest.main()
