"""A scenario of traces/, by its name, with every stage that has a twin replaced: nothing is a cycle earlier or later."""
import sys
import unittest

from rnicsim import TRACES, ProgramTest


class RtlScenario(ProgramTest):
    def test_the_same_digest(self):
        plain, rtl = (self.run_scenario(TRACES / f"{NAME}.json", "--no-capture", *options)
                      for options in ((), ("--rtl", "all")))
        self.assertEqual(plain["digest"], rtl["digest"])
        self.assertEqual(plain["results"], rtl["results"])


if __name__ == "__main__":
    NAME = sys.argv.pop(1)
    unittest.main()
