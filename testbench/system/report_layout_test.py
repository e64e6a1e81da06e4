"""The layout of the pages of rnicsim report, measured in a real browser: no text is cut off, covered or pale, no drawing leaves its panel.

page_boxes.js measures boxes of texts, of elements and of canvases. Each page is laid out in windows of 1300 and 1900 px, light and
dark, and for print also on paper. Planted faults show that it sees them.
"""
import json
import pathlib
import unittest

import browser
from report_folders import ReportTest
from rnicsim import QUICKSTART, TRACES

BOXES = (pathlib.Path(__file__).parent / "page_boxes.js").read_text()
PAPER = 1017  # px: A4 across without its margins
LAYOUTS = ((1300, "light", ""), (1300, "dark", ""), (1900, "light", ""), (1900, "dark", ""),
           (1300, "light", "print"), (1900, "light", "print"), (PAPER, "light", "print"))
UNFOLDED = (LAYOUTS[0], LAYOUTS[-1])  # of pages on which all is open
EVERYTHING = ("--breakdown", "--stats-every", "10us", "--set", "rnic.fwcpu.log_level=4", "--db", "out/run.sqlite")
SHOWN = 12  # faults of a layout that a failure prints


class Layout(ReportTest):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.__exit__)
        cls.browser.call("Page.addScriptToEvaluateOnNewDocument", source=BOXES)

    def open(self, folder="out"):
        report = self.report(folder)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.browser.media("light")
        self.browser.open_report(self.folder / "report.html")

    def faults(self, width, scheme="light", medium=""):
        self.browser.resize(width, 1000)
        self.browser.media(scheme, medium)
        self.browser.run("scrollTo({top: 0, behavior: 'instant'}),"
                         "document.querySelectorAll('.plot').forEach(p => p.dispatchEvent(new CustomEvent('draw')))")
        self.browser.settle()
        found = self.browser.run("pageBoxes()")
        self.assertGreater(found["texts"], 100, "a page without text has no faults, either")
        return found["faults"]

    def assert_laid_out(self, layouts=LAYOUTS):
        for layout in layouts:
            with self.subTest(layout=layout):
                faults = self.faults(*layout)
                if faults:
                    self.fail(f"{len(faults)} faults:\n" + "\n".join(faults[:SHOWN]))
        self.assertEqual(self.browser.problems, [])

    def unfold(self):
        """Twice, as what is folded is made when it is opened."""
        for _ in range(2):
            self.browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
            self.browser.settle()

    def run_json(self, scenario, *options, codes=(0,)):
        self.write("scenario.json", scenario)
        return self.run_scenario("scenario.json", *options, codes=codes)

    def test_quickstart(self):
        self.run_scenario(QUICKSTART, *EVERYTHING)
        self.open()
        self.assert_laid_out()
        self.unfold()
        self.assert_laid_out(UNFOLDED)

    def test_loss_sweep(self):
        scenario = json.loads((TRACES / "loss-sweep.json").read_text())
        scenario["work"][0]["count"] = 16
        self.run_sweep(scenario)
        self.open()
        self.assert_laid_out()
        self.unfold()
        self.assert_laid_out(UNFOLDED)

    def run_sweep(self, scenario):
        self.write("swept.json", scenario)
        run = self.run_program("run", "swept.json", "--out", "out")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_a_hang(self):
        lost = ",".join(str(n) for n in range(100, 400))
        self.run_scenario(QUICKSTART, *EVERYTHING, "--set", f"link.forward.loss.frames={lost}", "--set", "sim.max_time_us=1000", codes=(0, 1, 3, 4))
        self.open()
        self.assert_laid_out()

    def test_10_000_requests(self):
        scenario = json.loads(QUICKSTART.read_text())
        size = {"law": "log_uniform", "min": 1, "max": 65536}
        scenario["work"] = [{"name": f"{op}s", "op": op, "size": size, "count": 5000, "depth": 16} for op in ("write", "send")]
        self.run_json(scenario, *EVERYTHING, "--set", "link.forward.loss.ppm=200")
        self.open()
        self.assert_laid_out()

    def test_churn(self):
        self.run_scenario(TRACES / "churn.json", *EVERYTHING)
        self.open()
        self.assert_laid_out()

    def test_longest_names(self):
        long = {name: name.upper() * 3 + "W" * (64 - 3 * len(name)) for name in ("a", "b", "c", "work", "read")}
        self.assertEqual({len(name) for name in long.values()}, {64})
        work = [{"name": long["work"], "op": "write", "size": 20000, "count": 40}, {"name": long["read"], "op": "read", "size": 20000, "count": 40}]
        self.run_json({"name": "W" * 64, "nodes": [{"name": long["a"]}, {"name": long["b"]}],
                       "connections": [{"name": long["c"], "from": long["a"], "to": long["b"]}], "work": work}, *EVERYTHING, "--set", "link.forward.loss.every=50")
        self.open()
        self.assert_laid_out()

    def test_planted_faults_are_seen(self):
        self.small_run("out")
        self.open()
        self.assertEqual(self.faults(1300), [])
        plants = {
            "cut off": "(() => { const p = document.querySelector('.headline'); p.style.cssText = 'width:40px;overflow:hidden;white-space:nowrap'; })()",
            "cut off: Results": "(() => { const t = document.querySelector('[data-title=Results] td'); t.style.cssText = 'position:relative;left:-90px'; })()",
            "cut off: Bottleneck": "document.querySelector('.headline').style.marginLeft = '-60px'",
            "overlap": "(() => { const p = document.querySelector('.headline'); p.style.cssText = 'position:relative;top:-45px'; })()",
            "outside: Utilization": "document.querySelector('.diagram .block rect').setAttribute('x', -200)",
            "outside": "(() => { const b = document.querySelector('.track > span'); b.style.width = '120%'; b.parentElement.style.overflow = 'visible'; })()",
            "pale": "(() => { document.querySelector('.headline').style.color = '#999'; })()",
        }
        for kind, plant in plants.items():
            with self.subTest(kind):
                self.open()
                self.browser.run(plant)
                self.assertTrue([f for f in self.faults(1300) if f.startswith(kind)], plant)
        with self.subTest("text of a canvas"):
            self.open()
            self.assertEqual(self.faults(1300), [])
            self.browser.run("document.querySelector('.plot canvas').getContext('2d').fillText('planted', -20, 30)")
            found = self.browser.run("pageBoxes().faults")
            self.assertTrue([f for f in found if f.startswith("cut off") and "planted" in f], found)


if __name__ == "__main__":
    if browser.program() is None:
        raise SystemExit("no browser: scripts/setup.sh --tests installs chromium")
    unittest.main()
