"""Folders for the tests of rnicsim report."""
import base64
import itertools
import json
import pathlib
import re
import zlib

from rnicsim import QUICKSTART, ProgramTest

FIXTURE = json.loads((pathlib.Path(__file__).parent / "report_fixture.json").read_text())


def data_of(page):
    """The JSON that a page of rnicsim report shows."""
    found = re.search(r'<script type="text/plain" id="data">(.*?)</script>', page, re.S)
    return json.loads(zlib.decompress(base64.b64decode(found[1], validate=True)))


def rows_of(columns):
    """Rows of columns that have the differences of neighbours, as those of a time-sequence graph."""
    return list(zip(*map(itertools.accumulate, columns)))


class ReportTest(ProgramTest):
    def write(self, name, value):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value))

    def small_run(self, folder, *options):
        """A tenth of quickstart; returns stats.json."""
        run = self.run_program("run", self.small_scenario(), "--out", folder, *options)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return json.loads((self.folder / folder / "stats.json").read_text())

    def full_run(self, folder, *options):
        """The same with every file that a run's folder may have."""
        stats = {**self.small_run(folder, *options), **FIXTURE["stats"]}
        self.write(f"{folder}/stats.json", stats)
        self.write(f"{folder}/series.json", FIXTURE["series"])
        return stats

    def small_sweep(self, folder):
        scenario = json.loads(QUICKSTART.read_text())
        scenario["work"] = [{"name": "writes", "op": "write", "size": 65536, "count": 20}]
        scenario["sweep"] = [{"key": "link.delay_ns", "title": "delay", "values": [100, 1000, 10000]},
                             {"key": "rnic.tcp.mtu", "title": "MTU", "values": [1500, 9000]}]
        (self.folder / "swept.json").write_text(json.dumps(scenario))
        run = self.run_program("run", "swept.json", "--out", folder)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def report(self, *folders):
        return self.run_program("report", *folders, "-o", "report.html")
