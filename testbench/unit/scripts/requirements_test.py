"""The test plan's mistakes are found and named by line; covered beats excluded."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
import requirements  # noqa: E402

KNOWN = {"DDP-1", "DDP-2", "MPA-1"}
RESULTS = {"Place.One": True, "Place.Two": False, "Seeds/Shuffled.Three/0": True, "Seeds/Shuffled.Three/1": True}


def row(requirements, tests="", excluded=""):
    return {"requirements": requirements, "tests": tests, "excluded": excluded}


GTEST = """<testsuites><testsuite name="Crc"><testcase name="Known/0" classname="Seeds/Crc" status="run" result="completed"/>
<testcase name="Wrong" classname="Crc" status="run" result="completed"><failure message="x"/></testcase></testsuite></testsuites>"""
FORKED = """<testsuite><testcase name="rtl.Place.One" status="run"/><testcase name="Place.Two" status="run"><failure/></testcase>
<testcase name="Place.Three" status="notrun"/></testsuite>"""
CTEST = """<testsuite><testcase name="scenario" classname="scenario" status="run"/><testcase name="interop" classname="interop" status="fail"/>
<testcase name="Place.Three" classname="x" status="run"/></testsuite>"""


class Results(unittest.TestCase):
    def test_of_all_programs_of_a_build(self):
        with tempfile.TemporaryDirectory() as name:
            build = pathlib.Path(name)
            (build / "results").mkdir()
            (build / "tests.xml").write_text(CTEST)
            (build / "results/a.xml").write_text(GTEST)
            (build / "results/b.xml").write_text(FORKED)
            self.assertEqual(requirements.read_results([build]), {
                "scenario": True, "interop": False, "Seeds/Crc.Known/0": True, "Crc.Wrong": False,
                "rtl.Place.One": True, "Place.Two": False, "Place.Three": True})
            again = build / "again.xml"
            again.write_text(FORKED.replace("<failure/>", ""))
            for order in ([build, again], [again, build]):
                self.assertFalse(requirements.read_results(order)["Place.Two"], "it failed once")

    def test_without_results(self):
        with self.assertRaisesRegex(ValueError, "run scripts/test.sh"):
            requirements.read_results([pathlib.Path("/nowhere")])


class Plan(unittest.TestCase):
    def test_several_requirements_and_tests_in_a_row(self):
        covered, excluded, mistakes = requirements.check_plan(
            [row("DDP-1 MPA-1", "Place.One Seeds/Shuffled.Three/*"), row("DDP-2", "", "never sent")], KNOWN, RESULTS)
        self.assertEqual((covered, excluded, mistakes), ({"DDP-1", "MPA-1"}, {"DDP-2"}, []))

    def test_what_is_tested_is_not_excluded(self):
        covered, excluded, _ = requirements.check_plan(
            [row("DDP-1", "Place.One"), row("DDP-1", "", "no")], KNOWN, RESULTS)
        self.assertEqual((covered, excluded), ({"DDP-1"}, set()))

    def test_a_test_that_did_not_pass_covers_nothing(self):
        covered, _, mistakes = requirements.check_plan(
            [row("DDP-1 DDP-2", "Place.*"), row("DDP-1", "Place.One"), row("MPA-1", "Place.One")], KNOWN, RESULTS)
        self.assertEqual((covered, mistakes), ({"MPA-1"}, []))

    def test_the_table_counts_by_system_and_level(self):
        matrix = [{"id": i, "system": i[:3], "level": level}
                  for i, level in (("DDP-1", "MUST"), ("DDP-2", "MUST"), ("MPA-1", "MAY"))]
        self.assertEqual([line.split() for line in requirements.table(matrix, {"DDP-1"}, {"MPA-1"})][1:],
                         [["DDP", "MUST", "1", "0", "1", "2"], ["MPA", "MAY", "0", "1", "0", "1"]])

    def test_mistakes(self):
        for bad, complaint in (
            (row("DDP-9", "Place.One"), "line 2: unknown requirement DDP-9"),
            (row("DDP-1", "Place.On"), "line 2: no test Place.On"),
            (row("DDP-1", "Place.N*"), "line 2: no test Place.N*"),
            (row("DDP-1"), "line 2: give either tests or the reason of the exclusion"),
            (row("DDP-1", "Place.One", "no"), "line 2: give either tests or the reason of the exclusion"),
        ):
            self.assertEqual(requirements.check_plan([bad], KNOWN, RESULTS)[2], [complaint])


if __name__ == "__main__":
    unittest.main()
