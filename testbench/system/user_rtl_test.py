"""A user's own modules in place of blocks: the program with them (RNICSIM), and how to build it."""
import unittest

from rnicsim import ROOT, ProgramTest

EXAMPLE = ROOT / "rtl-stubs/examples/word_serial"


class UserRtl(ProgramTest):
    def configure(self, folder):
        return self.run_command("cmake", "-S", ROOT, "-B", self.folder / "build", "-G", "Ninja", f"-DRNIC_USER_RTL={folder}",
                                "-DRNIC_BUILD_TESTS=OFF", "-DRNIC_BUILD_BENCH=OFF")

    def test_the_same_run(self):
        plain = self.run_scenario(self.small_scenario())
        for options in (("--rtl", "crc_insert"), ("--lockstep", "crc_insert")):
            self.assertEqual(self.run_scenario(self.small_scenario(), *options)["digest"], plain["digest"])

    def test_a_block_with_cycles_of_its_own(self):
        """It refuses beats at random and outputs them later: all arrives, at other times."""
        plain = self.run_scenario(self.small_scenario())
        other = self.run_scenario("small.json", "--rtl", "crc_check")
        self.assertNotEqual(other["digest"], plain["digest"])
        counted = [{side: stats["stats"][side]["rnic"]["crc_check"] for side in ("a", "b")} for stats in (plain, other)]
        self.assertEqual(counted[0], counted[1])
        beside = self.run_program("run", "small.json", "--lockstep", "crc_check")
        self.assertEqual(beside.returncode, 1, beside.stderr)
        self.assertRegex(beside.stderr, r"in lock-step with RTL: \S+crc_check, cycle \d+: (in\.ready|out\.valid): the stage has")

    def test_a_build_with_it(self):
        run = self.configure(EXAMPLE)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn(f"crc_insert is {EXAMPLE}/crc_insert.sv", run.stdout)

    def test_a_folder_without_a_block(self):
        run = self.configure(self.folder)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("no block's module is in", run.stderr)
        self.assertIn("crc_insert.sv", run.stderr)


if __name__ == "__main__":
    unittest.main()
