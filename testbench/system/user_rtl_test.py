"""A user's own module in the place of a block: the program with it (RNICSIM), and how a build is told of it."""
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
