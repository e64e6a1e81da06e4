"""How rtl_coverage.py combines Verilator's files: lines that several statements share, and instances of one module."""
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
import rtl_coverage  # noqa: E402

SOURCE = str(rtl_coverage.RTL / "rtl/stream_pipe.sv")


def point(kind, name, lines, count, instance="top", column=1):
    fields = {"f": SOURCE, "l": lines.split("-")[0] or "1", "n": column, "page": f"{kind}/stream_pipe", "o": name,
              "S": lines, "h": instance}
    return "C '" + "".join(f"\x01{k}\x02{v}" for k, v in fields.items()) + f"' {count}\n"


def module(*points):
    with tempfile.TemporaryDirectory() as folder:
        for i, text in enumerate(points):  # a file each, as from separate processes
            (pathlib.Path(folder) / f"{i}.dat").write_text("# SystemC::Coverage-3\n" + text, encoding="latin-1")
        return rtl_coverage.collect(rtl_coverage.read_points(pathlib.Path(folder)))["stream_pipe"]


class Collected(unittest.TestCase):
    def test_a_line_is_reached_when_all_its_statements_are(self):
        m = module(point("v_line", "block", "2-3,9", 5), point("v_branch", "if", "9-10", 0))
        self.assertEqual(m.lines, {2: 5, 3: 5, 9: 0, 10: 0})
        self.assertEqual(m.line_counts(), (2, 4))

    def test_instances_and_processes_are_one(self):
        m = module(point("v_line", "block", "2", 0, "top.a"), point("v_line", "block", "2", 1, "top.b"))
        self.assertEqual(m.line_counts(), (1, 1))

    def test_statements_of_one_line_are_not(self):
        m = module(point("v_branch", "if", "4", 3), point("v_branch", "else", "", 0, column=2))
        self.assertEqual((m.line_counts(), m.branch_counts()), ((1, 1), (1, 2)))

    def test_functional_points_have_names(self):
        m = module(point("v_user", "Full_C", "20", 0, "a"), point("v_user", "Full_C", "20", 7, "b"))
        self.assertEqual(m.points, {"Full_C": 7})
        self.assertEqual(m.lines, {})


class Reported(unittest.TestCase):
    def test_lcov_is_told_the_same_without_what_is_excluded(self):
        m = module(point("v_line", "block", "2-3,9", 5), point("v_branch", "if", "9", 0), point("v_user", "Full_C", "20", 7))
        m.excluded[3] = "no way there"
        self.assertEqual(list(rtl_coverage.tracefile({"stream_pipe": m})),
                         [f"SF:{SOURCE}", "FN:20,Full_C", "FNDA:7,Full_C", "BRDA:9,0,0,0", "DA:2,5", "DA:9,0",
                          "end_of_record"])

    @unittest.skipUnless(shutil.which("genhtml"), "lcov is not installed")
    def test_the_report_has_a_page_of_each_module(self):
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder)
            rtl_coverage.write_report({"stream_pipe": module(point("v_line", "block", "2-3", 5))}, report)
            self.assertIn("stream_pipe.sv", (report / "rtl/index.html").read_text())
            self.assertTrue((report / "rtl/stream_pipe.sv.gcov.html").is_file())


class Judged(unittest.TestCase):
    def test_what_is_missing_is_named(self):
        m = module(point("v_line", "block", "2-3", 0), point("v_user", "Full_C", "20", 0))
        problems = list(rtl_coverage.judge({"stream_pipe": m}))
        self.assertIn("stream_pipe: 0 of 2 lines; not 2, 3", problems)
        self.assertIn("stream_pipe.Full_C is not reached", problems)
        self.assertIn("stream_pipe.Full_C is not in testplan.csv", problems)
        self.assertIn("crc_check: no test runs it", problems)


if __name__ == "__main__":
    unittest.main()
