"""A scenario with a sweep: a run for each point, each the run that it would be alone."""
import json
import unittest

from rnicsim import QUICKSTART, ProgramTest

SWEEP = [{"key": "link.forward.loss.ppm", "title": "loss", "values": [0, 5000], "labels": ["none", "0.5 %"]},
         {"key": "rnic.tcp.sack", "title": "SACK", "values": [True, False]}]
AGAIN = {"title": "again", "value": "stats.a.rnic.tcp_tx.retransmissions"}


class Sweep(ProgramTest):
    def scenario(self, **keys):
        scenario = json.loads(QUICKSTART.read_text())
        scenario["work"] = [{"op": "write", "size": 65536, "count": 20}]
        scenario.update({"name": "swept", "sweep": SWEEP, "columns": [AGAIN], **keys})
        (self.folder / "swept.json").write_text(json.dumps(scenario))
        return "swept.json"

    def digest(self, folder):
        return json.loads((self.folder / folder / "stats.json").read_text())["digest"]

    def test_a_point_is_the_same_run_alone_and_beside_others(self):
        run = self.run_program("run", self.scenario(), "--out", "out", "--jobs", 2)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        summary = json.loads((self.folder / "out/sweep.json").read_text())
        self.assertEqual([p["settings"] for p in summary["points"]],
                         [{"link.forward.loss.ppm": loss, "rnic.tcp.sack": sack}
                          for loss in (0, 5000) for sack in (True, False)])
        again = [p["columns"]["again"] for p in summary["points"]]
        self.assertEqual(again[:2], [0, 0])
        self.assertTrue(all(n > 0 for n in again[2:]), again)
        rows = run.stdout.splitlines()
        self.assertEqual(rows[0].split(), ["point", "loss", "SACK", "again", "data"])
        self.assertEqual(rows[3].split(), ["2", "0.5", "%", "true", str(int(again[2])), "ok"])
        for point in range(4):
            alone = self.run_program("run", "swept.json", "--point", point, "--out", "alone")
            self.assertEqual(alone.returncode, 0, alone.stdout + alone.stderr)
            self.assertEqual(self.digest("alone"), summary["points"][point]["digest"])
            self.assertEqual(self.digest(f"out/{point}"), summary["points"][point]["digest"])

    def test_a_mistyped_column(self):
        mistyped = {"title": "again", "value": "stats.a.rnic.tcp_tx.retransmission"}
        run = self.run_program("run", self.scenario(columns=[mistyped]), "--out", "out")
        self.assertEqual(run.returncode, 2, run.stdout)
        self.assertEqual(run.stderr, "rnicsim: columns: out/0/stats.json has nothing at 'stats.a.rnic.tcp_tx.retransmission'; "
                                     "the nearest is 'stats.a.rnic.tcp_tx.retransmissions'\n")
        self.assertEqual(len(json.loads((self.folder / "out/sweep.json").read_text())["points"]), 4)

    def test_a_column_by_a_name_with_a_dot(self):
        late = {"title": "late", "value": "results.0.latency_ns.p99.9"}
        run = self.run_program("run", self.scenario(columns=[late]), "--out", "out")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        for point in json.loads((self.folder / "out/sweep.json").read_text())["points"]:
            self.assertGreater(point["columns"]["late"], 0)

    def test_the_worst_point_decides(self):
        never = {"check": "min_goodput_gbps", "value": 90}
        run = self.run_program("run", self.scenario(checks=[never]), "--out", "out")
        self.assertEqual(run.returncode, 1, run.stdout)
        codes = [p["exit_code"] for p in json.loads((self.folder / "out/sweep.json").read_text())["points"]]
        self.assertEqual(codes, [0, 0, 1, 1])
        self.assertIn("point 2 (loss 0.5 %, SACK true): exit code 1; see out/2/report.txt", run.stderr)
        self.assertIn("FAILED", (self.folder / "out/2/report.txt").read_text())

    def test_mistakes_are_told_before_anything_runs(self):
        wrong = [{"key": "link.delay_ns", "values": [100, 0]}]
        unknown = [{"key": "link.dely_ns", "values": [100]}]
        for scenario, options, message in (
                ({"sweep": wrong}, (), "link.delay_ns = 0 (sweep): must be 1 to 1000000000 ns"),
                ({"sweep": unknown}, (), "link.dely_ns (sweep): unknown setting; the nearest is link.delay_ns"),
                ({}, ("--set", "rnic.tcp.sack=true"), "--set rnic.tcp.sack: is what the sweep varies"),
                ({}, ("--point", 4), "run: --point 4: the sweep has points 0 to 3"),
                ({}, ("--trace", "t.txt"), "run: --trace is for one point of a sweep: --point"),
                ({}, ("--jobs", 0), "run: --jobs must be 1 or more")):
            with self.subTest(message):
                run = self.run_program("run", self.scenario(**scenario), "--out", "out", *options)
                self.assertEqual((run.returncode, run.stdout), (2, ""))
                self.assertIn(message, run.stderr)
                self.assertEqual(self.files(), ["swept.json"])
        run = self.run_program("run", QUICKSTART, "--point", 0)
        self.assertEqual((run.returncode, run.stderr), (2, "rnicsim: run: --point needs a scenario with a sweep\n"))


if __name__ == "__main__":
    unittest.main()
