"""A sweep on a cluster: a Slurm of one node, and GNU parallel. Killed in the middle and resumed, it gives one process's results."""
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
import unittest

from rnicsim import QUICKSTART, ROOT, ProgramTest

sys.path.insert(0, str(ROOT / "scripts"))
import slurm_node  # noqa: E402

POINTS = 12
TASKS = 3
PATIENCE = 600  # seconds for a task to begin, on a busy machine


class Cluster(ProgramTest):
    def setUp(self):
        super().setUp()
        scenario = json.loads(QUICKSTART.read_text())
        scenario["work"] = [{"op": "send", "size": 65536, "count": 600}]
        scenario["sweep"] = {"mode": "one_at_a_time", "axes": [
            {"key": "link.delay_ns", "title": "delay", "values": {"from": 1000, "to": 5000, "step": 1000}},
            {"key": "seed", "values": [1, 2]}]}
        (self.folder / "swept.json").write_text(json.dumps(scenario))
        self.whole = self.run_program("run", "swept.json", "--out", "whole", "--keep-points", "none")
        self.assertEqual(self.whole.returncode, 0, self.whole.stderr)

    def records(self):
        """Records of all tasks."""
        lines = [line for file in (self.folder / "out").glob("points.*-of-*.jsonl") for line in file.read_text().splitlines()]
        return [json.loads(line) for line in lines if line.endswith("}")]

    def sweep(self, folder):
        """sweep.json without the members that differ from run to run."""
        sweep = json.loads((self.folder / folder / "sweep.json").read_text())
        for point in sweep["points"]:
            del point["cpu_s"]
        return sweep

    def check_collected(self, collect):
        self.assertEqual(collect.returncode, 0, collect.stderr)
        self.assertEqual([line for line in self.whole.stdout.splitlines() if not line.startswith("files: ")],
                         [line for line in collect.stdout.splitlines() if not line.startswith("files: ")])
        self.assertEqual(self.sweep("out"), self.sweep("whole"))
        self.assertEqual((self.folder / "out/sweep.csv").read_text(), (self.folder / "whole/sweep.csv").read_text())


@unittest.skipIf(slurm_node.why_not(), slurm_node.why_not())
class Slurm(Cluster):
    def setUp(self):
        super().setUp()
        try:
            self.slurm = slurm_node.SlurmNode().__enter__()
        except slurm_node.NotStarted as error:
            self.fail("\n".join(error.args))
        self.addCleanup(self.slurm.stop)
        environment = os.environ.copy()
        self.addCleanup(os.environ.update, environment)
        os.environ.update(self.slurm.environment)

    def submit(self, *options):
        run = self.run_program("sweep", "submit", "swept.json", "--slurm", "--out", "out", "--array-size", TASKS,
                               "--keep-points", "none", *options)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def test_killed_and_resumed(self):
        self.assertIn("Submitted batch job", self.submit())
        end = time.monotonic() + PATIENCE
        while not self.records():
            self.assertLess(time.monotonic(), end, self.slurm.logs())
            time.sleep(0.005)
        self.run_command("scancel", "--signal=KILL", "--full", "--me")
        self.run_command("scancel", "--me")
        while self.slurm.ask("squeue", "--noheader").strip():
            self.assertLess(time.monotonic(), end, self.slurm.logs())
            time.sleep(0.1)
        finished = {r["id"] for r in self.records()}
        self.assertIn(len(finished), range(1, POINTS))
        early = self.run_program("sweep", "collect", "out")
        self.assertEqual((early.returncode, early.stderr), (1, f"rnicsim: {len(finished)} of {POINTS} points are finished\n"))

        self.submit("--resume", "--pass=--wait")
        self.assertEqual(len(self.records()), POINTS, "none that was finished has been run again")
        self.check_collected(self.run_program("sweep", "collect", "out"))

        self.submit("--resume", "--pass=--wait")
        self.assertEqual(len(self.records()), POINTS)
        self.submit("--pass=--wait")
        self.assertEqual(len(self.records()), POINTS, "an earlier sweep is removed")
        logs = "".join(file.read_text() for file in (self.folder / "out").glob("task-*.log"))
        self.assertNotIn("slurmstepd: error: rnicsim", logs)


@unittest.skipIf(shutil.which("parallel") is None, "parallel is missing: scripts/setup.sh --cluster installs it")
class Parallel(Cluster):
    def submit(self, *options):
        return self.run_program("sweep", "submit", "swept.json", "--parallel", "--out", "out", "--array-size", TASKS,
                                "--keep-points", "none", "--pass=--jobs=2", *options)

    def test_the_same_results(self):
        self.check_collected(self.submit())
        self.assertEqual(len((self.folder / "out/joblog").read_text().splitlines()), 1 + TASKS)

    def test_killed_and_resumed(self):
        command = [os.environ["RNICSIM"], "sweep", "submit", "swept.json", "--parallel", "--out", "out", "--array-size", str(TASKS),
                   "--keep-points", "none", "--pass=--jobs=1"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True) as sweep:
            while not (self.folder / "out").is_dir() or not self.records():
                self.assertIsNone(sweep.poll(), "it has ended")
                time.sleep(0.005)
            os.killpg(sweep.pid, 9)
        for journal in (self.folder / "out").glob("points.*.jsonl"):  # waits for the end of its task, which parallel may leave running
            with journal.open() as file:
                fcntl.flock(file, fcntl.LOCK_EX)
        finished = len(self.records())
        self.assertIn(finished, range(1, POINTS + 1))
        self.check_collected(self.submit("--resume"))
        self.assertEqual(len({r["id"] for r in self.records()}), POINTS)


class Submission(ProgramTest):
    def test_mistakes_are_told_before_anything_is_written(self):
        (self.folder / "one.json").write_text(QUICKSTART.read_text())
        scenario = json.loads(QUICKSTART.read_text())
        scenario["sweep"] = [{"key": "link.delay_ns", "values": [100, 0]}]
        (self.folder / "wrong.json").write_text(json.dumps(scenario))
        for arguments, message in (
                (("one.json", "--slurm", "--out", "o"), "one.json: has no sweep"),
                (("wrong.json", "--slurm", "--out", "o"), "link.delay_ns = 0 (sweep): must be 1 to 1000000000 ns"),
                (("wrong.json", "--out", "o"), "sweep submit: give one of --slurm and --parallel"),
                (("wrong.json", "--slurm"), "sweep submit: --out DIR is needed, a folder that all machines see")):
            with self.subTest(message):
                run = self.run_program("sweep", "submit", *arguments)
                self.assertEqual(run.returncode, 2)
                self.assertIn(message, run.stderr)
                self.assertEqual(self.files(), ["one.json", "wrong.json"])
        run = self.run_program("sweep", "collect", "o")
        self.assertEqual((run.returncode, run.stderr),
                         (2, "rnicsim: o/submit.json: is not there; rnicsim sweep submit writes it\n"))

    def swept(self, folder="."):
        scenario = json.loads(QUICKSTART.read_text())
        scenario["sweep"] = [{"key": "link.delay_ns", "values": [100, 200]}]
        (self.folder / folder / "swept.json").write_text(json.dumps(scenario))

    def test_a_script_runs_nothing_but_the_task(self):
        self.swept()
        for way in ("--slurm", "--parallel"):
            for options in (("--out", "o\ntouch ran #"), ("--out", "o\rtouch ran"), ("--out", "o\x7f"),
                            ("--out", "o", "--rtl", "a\ntouch ran #")):
                run = self.run_program("sweep", "submit", "swept.json", way, "--dry-run", *options)
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertIn("has a control character, which a job must not have\n", run.stderr)
                self.assertEqual(self.files(), ["swept.json"])
        (self.folder / "a\nb").mkdir()
        self.swept("a\nb")
        run = self.run_program("sweep", "submit", "a\nb/swept.json", "--slurm", "--dry-run", "--out", "o")
        self.assertEqual(run.returncode, 0, "the scenario is copied")
        (self.folder / "true").symlink_to("/bin/true")
        for word in ("$(touch ran)", "`touch ran`", "; touch ran ;", "' ; touch ran ; '", '"; touch ran; "', "& touch ran", "| touch ran",
                     "> ran", "*", "\\", "#", "{}", "%j"):
            for way, script in (("--slurm", "job.sh"), ("--parallel", "joblist")):
                folder = f"o{word}"
                run = self.run_program("sweep", "submit", "swept.json", way, "--dry-run", "--out", folder)
                self.assertEqual(run.returncode, 0, run.stderr)
                text = (self.folder / folder / script).read_text().replace(os.path.realpath(os.environ["RNICSIM"]), str(self.folder / "true"))
                run = subprocess.run(["sh", "-c", text], cwd=self.folder, env={**os.environ, "SLURM_ARRAY_TASK_ID": "0"},
                                     capture_output=True, text=True)
                self.assertEqual((run.returncode, run.stderr), (0, ""), text)
                self.assertFalse((self.folder / "ran").exists(), text)
                shutil.rmtree(self.folder / folder)

    def test_a_dry_run_writes_a_script_of_one_command(self):
        self.swept()
        run = self.run_program("sweep", "submit", "swept.json", "--slurm", "--dry-run", "--out", "o", "--set", "rnic.tcp.mtu=9000")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.files(), ["o/job.sh", "o/scenario.json", "o/submit.json", "swept.json"])
        script = (self.folder / "o/job.sh").read_text()
        self.assertIn("#SBATCH --array=0-1\n", script)
        for task in range(2):
            run = subprocess.run(["sh", "o/job.sh"], cwd=self.folder, env={**os.environ, "SLURM_ARRAY_TASK_ID": str(task)},
                                 capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stderr)
        run = self.run_program("sweep", "collect", "o")
        self.assertEqual(run.returncode, 0, run.stderr)
        stats = json.loads((self.folder / "o/1/stats.json").read_text())
        self.assertEqual([stats["config"]["a"]["rnic"]["tcp"]["mtu"], stats["config"]["a"]["link"]["delay_ns"]], [9000, 200])


if __name__ == "__main__":
    unittest.main()
