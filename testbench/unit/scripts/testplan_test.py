"""The test plan's mistakes are found and named by line; covered beats excluded."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
import testplan  # noqa: E402

SYSTEMS = {"DDP-1": "DDP", "DDP-2": "DDP", "MPA-1": "MPA"}
NAMES = ["Place.One", "Place.Two", "Seeds/Shuffled.Three/0", "Seeds/Shuffled.Three/1"]


def row(requirements, tests="", excluded=""):
    return {"requirements": requirements, "tests": tests, "excluded": excluded}


class Plan(unittest.TestCase):
    def test_several_requirements_and_tests_in_a_row(self):
        covered, excluded, mistakes = testplan.check_plan(
            [row("DDP-1 MPA-1", "Place.One Seeds/Shuffled.Three/*"), row("DDP-2", "", "never sent")], SYSTEMS, NAMES)
        self.assertEqual((covered, excluded, mistakes), ({"DDP-1", "MPA-1"}, {"DDP-2"}, []))

    def test_what_is_tested_is_not_excluded(self):
        covered, excluded, _ = testplan.check_plan(
            [row("DDP-1", "Place.One"), row("DDP-1", "", "no")], SYSTEMS, NAMES)
        self.assertEqual((covered, excluded), ({"DDP-1"}, set()))

    def test_mistakes(self):
        for bad, complaint in (
            (row("DDP-9", "Place.One"), "line 2: unknown requirement DDP-9"),
            (row("DDP-1", "Place.On"), "line 2: no test Place.On"),
            (row("DDP-1", "Place.N*"), "line 2: no test Place.N*"),
            (row("DDP-1"), "line 2: give either tests or the reason of the exclusion"),
            (row("DDP-1", "Place.One", "no"), "line 2: give either tests or the reason of the exclusion"),
        ):
            self.assertEqual(testplan.check_plan([bad], SYSTEMS, NAMES)[2], [complaint])


if __name__ == "__main__":
    unittest.main()
