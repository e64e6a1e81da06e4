"""A scenario of traces/, by its name, with every stage that has a twin replaced: no cycle differs."""
import json
import sys
import unittest

from rnicsim import ROOT, TRACES, ProgramTest, is_swept

sys.path.insert(0, str(ROOT / "scripts"))
from twins import twins_of  # noqa: E402

MESSAGES_OF_A_POINT = 16


class RtlScenario(ProgramTest):
    def test_the_same_digest(self):
        plain, rtl = (self.run_scenario(TRACES / f"{NAME}.json", "--no-capture", *options)
                      for options in ((), ("--rtl", "all")))
        self.assertEqual(plain["digest"], rtl["digest"])
        self.assertEqual(plain["results"], rtl["results"])


class SweptRtlScenario(ProgramTest):
    def points(self, *options):
        run = self.run_program("run", "short.json", "--out", "out", "--jobs", 2, *options)
        self.assertIn(run.returncode, (0, 1), run.stdout + run.stderr)  # so short a run may miss figures
        return json.loads((self.folder / "out/sweep.json").read_text())["points"]

    def test_the_same_digest(self):
        """At every point of a sweep, with fewer messages; if one axis varies at a time, at the first value of each."""
        scenario = json.loads((TRACES / f"{NAME}.json").read_text())
        if isinstance(scenario["sweep"], dict):
            axes = [a for a in scenario["sweep"]["axes"] if a["key"] != "rnic.datapath.beat_bytes"]  # the twins have one width
            for axis in axes:
                values = axis["values"]
                axis["values"] = [values["from"] if isinstance(values, dict) else values[0]]
            scenario["sweep"]["axes"] = axes
        for item in scenario["work"]:
            for part in item if isinstance(item, list) else [item]:  # a list: at the same time
                part["count"] = MESSAGES_OF_A_POINT
        (self.folder / "short.json").write_text(json.dumps(scenario))
        plain, rtl = (self.points(*options) for options in ((), ("--rtl", twins_of(scenario))))
        self.assertEqual([p["digest"] for p in plain], [p["digest"] for p in rtl])


if __name__ == "__main__":
    NAME = sys.argv.pop(1)
    swept = is_swept(TRACES / f"{NAME}.json")
    unittest.main(argv=[sys.argv[0], "SweptRtlScenario" if swept else "RtlScenario"])
