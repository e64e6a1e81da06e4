"""A program of tests runs each in its own process, and reports the results (FORKED_EXAMPLES: such a program)."""
import os
import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree


class ForkedTests(unittest.TestCase):
    def run_tests(self, *arguments):
        return subprocess.run([os.environ["FORKED_EXAMPLES"], *arguments], capture_output=True, text=True, timeout=600)

    def test_each_elaborates(self):
        for jobs in ("0", "1", "2"):
            run = self.run_tests("--gtest_filter=Elaborates.*", f"--jobs={jobs}")
            self.assertEqual(run.returncode, 0, run.stdout)
            self.assertIn("2 tests: 2 passed, 0 failed, 0 skipped\n", run.stdout)

    def test_a_failure_is_shown_and_named(self):
        run = self.run_tests("--gtest_filter=*Parameter*")
        self.assertEqual(run.returncode, 1)
        self.assertIn("2 tests: 1 passed, 1 failed, 0 skipped\n[  FAILED  ] Values/Parameter.IsTwo/0\n", run.stdout)
        self.assertRegex(run.stdout, r"forked_examples\.cpp:\d+: Expected equality of these values:\n  GetParam\(\)\n    Which is: 1\n")
        self.assertNotIn("[ RUN", run.stdout)

    def test_a_signal_and_a_test_that_hangs(self):
        run = self.run_tests("--gtest_filter=Ends.*", "--timeout=1")
        self.assertEqual(run.returncode, 1)
        self.assertIn("4 tests: 0 passed, 3 failed, 1 skipped\n", run.stdout)
        self.assertIn("ended by a signal: Terminated\n", run.stdout)
        self.assertIn("killed after 10 s\n", run.stdout)
        self.assertIn("killed after 1 s of processor time\n", run.stdout)

    def test_the_report(self):
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.xml"
            self.run_tests("--gtest_filter=*Parameter*:Ends.Skipped", f"--results={report}", "--prefix=rtl.")
            cases = {c.get("name"): c for c in xml.etree.ElementTree.parse(report).getroot().iter("testcase")}
        self.assertEqual({name: (c.get("status"), c.find("failure") is not None) for name, c in cases.items()},
                         {"rtl.Values/Parameter.IsTwo/0": ("run", True), "rtl.Values/Parameter.IsTwo/1": ("run", False),
                          "rtl.Ends.Skipped": ("notrun", False)})
        self.assertIn('<&">', cases["rtl.Values/Parameter.IsTwo/0"].find("failure").text)

    def test_none_selected(self):
        run = self.run_tests("--gtest_filter=Elaborate")
        self.assertEqual((run.returncode, run.stdout), (1, "0 tests: 0 passed, 0 failed, 0 skipped\n"))

    def test_in_one_process(self):
        run = self.run_tests("--gtest_filter=Elaborates.First", "--one-process")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("[       OK ] Elaborates.First", run.stdout)

    def test_an_unknown_option(self):
        run = self.run_tests("--job=2")
        self.assertEqual(run.returncode, 1)
        self.assertIn("there is no option --job=2", run.stderr)

    def test_no_number(self):
        for option in ("--jobs=x", "--timeout=", "--timeout=1s", "--jobs=-1"):
            run = self.run_tests("--gtest_filter=Elaborates.*", option)
            self.assertEqual(run.returncode, 1)
            self.assertIn("takes a number, not", run.stderr)


if __name__ == "__main__":
    unittest.main()
