"""The mistakes of the test plan and of the exclusions are found and named by line."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
import requirements  # noqa: E402

KNOWN = {"DDP-1", "DDP-2", "MPA-1"}
RESULTS = {"Place.One": True, "Place.Two": False, "Seeds/Shuffled.Three/0": True, "Seeds/Shuffled.Three/1": True}


def row(requirements, tests=""):
    return {"requirements": requirements, "tests": tests}


def excluded(requirement, kind="impossible", reason="because"):
    return {"requirement": requirement, "kind": kind, "reason": reason}


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
        covered, mistakes = requirements.check_plan([row("DDP-1 MPA-1", "Place.One Seeds/Shuffled.Three/*")], KNOWN, RESULTS)
        self.assertEqual((covered, mistakes), ({"DDP-1", "MPA-1"}, []))

    def test_a_test_that_did_not_pass_covers_nothing(self):
        covered, mistakes = requirements.check_plan(
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
            (row("DDP-1"), "line 2: no tests"),
        ):
            self.assertEqual(requirements.check_plan([bad], KNOWN, RESULTS)[1], [complaint])


    def test_names_are_those_of_the_sources(self):
        tests = [("Place", "One", False), ("Shuffled", "Three", True)]
        for good in ("Place.One", "Place.*", "Seeds/Shuffled.Three/*", "*/Shuffled.Three/2", "formal_of_ctest"):
            self.assertEqual(list(requirements.check_names([row("DDP-1", good)], tests)), [])
        for bad in ("Place.Two", "Shuffle.Three", "Seeds/Shuffled.Four/*", "Place.One/1"):
            self.assertEqual(list(requirements.check_names([row("DDP-1", bad)], tests)), [f"line 2: no test {bad}"])


class Exclusions(unittest.TestCase):
    LEVELS = {"DDP-1": "MUST", "DDP-2": "MUST", "MPA-1": "MAY"}

    def test_as_they_have_to_be(self):
        rows = [excluded("DDP-1"), excluded("MPA-1", "choice")]
        self.assertEqual(requirements.check_exclusions(rows, self.LEVELS, {"DDP-2"}), ({"DDP-1", "MPA-1"}, []))

    def test_mistakes(self):
        for bad, complaint in (
            (excluded("DDP-9"), "line 2: unknown requirement DDP-9"),
            (excluded("MPA-1", "nonsense"), "line 2: unknown kind nonsense; it is one of " + ", ".join(requirements.KINDS)),
            (excluded("DDP-1", "choice"), "line 2: DDP-1 is a MUST, and choice does not excuse it"),
            (excluded("DDP-1", reason=" "), "line 2: no reason"),
            (excluded("DDP-2"), "line 2: DDP-2 has tests, or had"),
        ):
            self.assertEqual(requirements.check_exclusions([bad], self.LEVELS, {"DDP-2"})[1], [complaint])
        self.assertEqual(requirements.check_exclusions([excluded("MPA-1")] * 2, self.LEVELS, set())[1],
                         ["line 3: MPA-1 a second time"])


if __name__ == "__main__":
    unittest.main()
