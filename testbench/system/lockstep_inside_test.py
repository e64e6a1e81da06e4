"""The program with a fault in one twin, built to show the inside of twins (RNICSIM)."""
import re
import unittest

from lockstep_test import SLOW, Wave
from rnicsim import ProgramTest


class Inside(ProgramTest):
    def test_the_registers_behind_a_difference(self):
        run = self.run_program("run", self.small_scenario(), "--lockstep", "crc_insert", "--lockstep-inside", "--out", "out")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertIn("rnicsim: the inside of the twin before it: out/lockstep_inside.vcd\n", run.stderr)
        told = re.search(r"in lock-step with RTL: (\S+)\.crc_insert, cycle (\d+): out\.octet\[(\d+)\]: "
                         r"the stage has \d+, the twin (\d+)", run.stderr)
        cycle, octet, twin = (int(n) for n in told.groups()[1:])
        inside = Wave((self.folder / "out/lockstep_inside.vcd").read_text())
        # Values before each edge: a register shows the result of an edge in the next cycle.
        self.assertEqual(inside.at("top.out_data_o", 4000 * (cycle + 1)) >> 8 * octet & 0xff, twin)
        self.assertEqual(inside.at("top.out_valid_o", 4000 * (cycle + 1)), 1)
        registers = [name for name in inside.changes if name.startswith("top.crc_insert.") and name.count(".") > 2]
        self.assertGreater(len(registers), 10, sorted(inside.changes))
        times = sorted({time for changes in inside.changes.values() for time, _ in changes})
        self.assertLessEqual(times[0], 4000 * (cycle - 100))
        self.assertGreater(times[-1], 4000 * cycle)

    def test_a_fault_of_a_twin_in_its_stage_s_place(self):
        run = self.run_program("run", self.small_scenario(), "--rtl", "crc_check", "--lockstep-inside", "--out", "out", *SLOW)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        told = re.search(r"RTL in a stage's place: (\S+)\.crc_check, cycle (\d+): out: a launch without credit\n"
                         r"rnicsim: the inside of the twin before it: out/lockstep_inside\.vcd\n", run.stderr)
        self.assertIsNotNone(told, run.stderr)
        inside = Wave((self.folder / "out/lockstep_inside.vcd").read_text())
        self.assertEqual(max(time for changes in inside.changes.values() for time, _ in changes), 4000 * int(told[2]))
        self.assertEqual([inside.at(f"top.{pin}", 4000 * int(told[2])) for pin in ("out_launch_o", "out_ready_i")], [1, 0])

    def test_it_is_left_on_request_only(self):
        run = self.run_program("run", self.small_scenario(), "--lockstep", "all", "--out", "out")
        self.assertEqual(run.returncode, 1)
        self.assertFalse((self.folder / "out/lockstep_inside.vcd").exists())
        run = self.run_program("run", self.small_scenario(), "--lockstep-inside")
        self.assertEqual((run.returncode, run.stderr), (2, "rnicsim: run: --lockstep-inside needs --lockstep or --rtl\n"))


if __name__ == "__main__":
    unittest.main()
