"""A scenario with a sweep: a run for each point, equal to the same run alone."""
import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import time
import unittest

from rnicsim import NEEDS_IMAGE, QUICKSTART, ProgramTest

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
        self.assertEqual(rows[3].split()[:6], ["2", "0.5", "%", "true", str(int(again[2])), "ok"])
        for point in range(4):
            alone = self.run_program("run", "swept.json", "--point", point, "--out", "alone")
            self.assertEqual(alone.returncode, 0, alone.stdout + alone.stderr)
            self.assertEqual(self.digest("alone"), summary["points"][point]["digest"])
            self.assertEqual(self.digest(f"out/{point}"), summary["points"][point]["digest"])

    def test_values_of_the_scenario(self):
        deeper = [{"key": "connections.c0.ord", "title": "ORD", "values": [1, 8]},
                  {"key": "work.reads.depth", "title": "depth", "values": [1, 16]}]
        reads = [{"name": "reads", "op": "read", "size": 1024, "count": 100}]
        scenario = self.scenario(sweep=deeper, work=reads, columns=[])
        run = self.run_program("run", scenario, "--out", "out", "--set", "nodes.b.rnic.fwcpu.max_ird=16")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        points = json.loads((self.folder / "out/sweep.json").read_text())["points"]
        shallow, one_read, one_request, deep = (p["columns"]["reads Gb/s"] for p in points)
        self.assertGreater(deep, 2 * one_read, "ORD 8 and ORD 1")
        self.assertGreater(deep, 2 * one_request, "16 requests and one")
        self.assertGreaterEqual(one_read, shallow)
        for point in (0, 3):
            alone = self.run_program("run", scenario, "--point", point, "--out", "alone", "--set", "nodes.b.rnic.fwcpu.max_ird=16")
            self.assertEqual(alone.returncode, 0, alone.stdout + alone.stderr)
            self.assertEqual(self.digest("alone"), points[point]["digest"])
        stats = json.loads((self.folder / "alone/stats.json").read_text())
        self.assertEqual(stats["assigned"], {"connections.c0.ord": 8, "nodes.b.rnic.fwcpu.max_ird": 16, "work.reads.depth": 16})
        self.assertEqual([stats["config"][n]["rnic"]["fwcpu"]["max_ird"] for n in "ab"], [32, 16])

    def test_a_mistyped_column(self):
        mistyped = {"title": "again", "value": "stats.a.rnic.tcp_tx.retransmission"}
        message = ("rnicsim: columns: stats.json has nothing at 'stats.a.rnic.tcp_tx.retransmission'; "
                   "the nearest is 'stats.a.rnic.tcp_tx.retransmissions'\n")
        for columns in ([mistyped], [mistyped, AGAIN], [AGAIN, mistyped, {"value": "cpu_s"}]):
            for command in (("run",), ("sweep", "submit", "--slurm", "--dry-run")):
                run = self.run_program(*command, self.scenario(columns=columns), "--out", "out")
                self.assertEqual((run.returncode, run.stdout, run.stderr), (2, "", message))
                self.assertEqual(self.files(), ["swept.json"], "no point has run")

    def test_every_number_of_the_statistics_can_be_a_column(self):
        def paths_of(value, path=""):
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                yield path[1:]
            elif isinstance(value, (dict, list)):
                members = value.items() if isinstance(value, dict) else enumerate(value)
                for name, member in members:
                    yield from paths_of(member, f"{path}.{name}")
        whole = self.run_program("run", self.scenario(columns=[]), "--out", "whole", "--breakdown", "--jobs", 1)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        paths = list(paths_of(json.loads((self.folder / "whole/0/stats.json").read_text())))
        self.assertGreater(len(paths), 1000)
        one = [{"key": "link.forward.loss.ppm", "values": [0]}]
        columns = [{"title": f"c{i}", "value": path} for i, path in enumerate(paths)]
        run = self.run_program("run", self.scenario(columns=columns, sweep=one), "--out", "out", "--breakdown")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_a_mistyped_column_of_what_only_the_end_has(self):
        mistyped = {"title": "x", "value": "latency_breakdown.0.total.mean"}
        run = self.run_program("run", self.scenario(columns=[mistyped, AGAIN]), "--out", "out", "--breakdown")
        self.assertEqual((run.returncode, run.stderr),
                         (2, "rnicsim: columns: out/0/stats.json has nothing at 'latency_breakdown.0.total.mean'; "
                             "the nearest is 'latency_breakdown.0.total.mean_ns'\n"))
        points = json.loads((self.folder / "out/sweep.json").read_text())["points"]
        self.assertEqual([p["columns"]["x"] for p in points], [None] * 4)
        self.assertEqual([p["columns"]["again"] > 0 for p in points], [False, False, True, True])

    def test_a_column_by_a_name_with_a_dot(self):
        late = {"title": "late", "value": "results.0.latency_ns.p99.9"}
        run = self.run_program("run", self.scenario(columns=[late]), "--out", "out")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        for point in json.loads((self.folder / "out/sweep.json").read_text())["points"]:
            self.assertGreater(point["columns"]["late"], 0)

    def test_the_worst_point_decides(self):
        never = {"check": "min_goodput_gbps", "value": 89}
        run = self.run_program("run", self.scenario(checks=[never]), "--out", "out")
        self.assertEqual(run.returncode, 1, run.stdout)
        codes = [p["exit_code"] for p in json.loads((self.folder / "out/sweep.json").read_text())["points"]]
        self.assertEqual(codes, [0, 0, 1, 1])
        self.assertIn("point 2 (loss 0.5 %, SACK true): exit code 1; see out/2/report.txt", run.stderr)
        self.assertIn("FAILED", (self.folder / "out/2/report.txt").read_text())

    def long_scenario(self):
        """Points that run long enough for the test to look at their files."""
        return self.scenario(work=[{"op": "send", "size": 65536, "count": 600}])

    def written(self, name):
        file = self.folder / name
        return (file.stat().st_ino, file.stat().st_mtime_ns) if file.exists() else None

    def records(self):
        """Records of the journal; none before the first point has ended."""
        file = self.folder / "out/points.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def stopped_sweep(self, stop, *options):
        """Stops a sweep when its first point is finished: exit code and standard error."""
        earlier = self.records()
        command = [os.environ["RNICSIM"], "run", self.long_scenario(), "--out", "out", "--jobs", "1", *options]
        with subprocess.Popen(command, cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              start_new_session=True) as sweep:
            while self.records() in ([], earlier):
                self.assertIsNone(sweep.poll(), "it has ended")
                time.sleep(0.005)
            begin = time.monotonic()
            stop(sweep)
            errors = sweep.communicate(timeout=1200)[1]
            self.assertLess(time.monotonic() - begin, 10)  # a second, on an idle machine
            return sweep.returncode, errors

    def check_resumed(self):
        """Resumes a sweep and compares the results with those of an uninterrupted one; returns how many points were finished before."""
        first = self.written("out/0/stats.json")
        run = self.run_program("run", "swept.json", "--out", "out", "--resume")
        self.assertEqual(run.returncode, 0, run.stderr)
        finished = int(run.stdout.splitlines()[0].removesuffix(" of 4 points were finished before"))
        whole = self.run_program("run", "swept.json", "--out", "whole")
        self.assertEqual(run.stdout.splitlines()[1:6], whole.stdout.splitlines()[:5])
        resumed, unstopped = (json.loads((self.folder / f / "sweep.json").read_text()) for f in ("out", "whole"))
        self.assertEqual([p["digest"] for p in resumed["points"]], [p["digest"] for p in unstopped["points"]])
        self.assertTrue(resumed["complete"])
        if finished:
            self.assertEqual(self.written("out/0/stats.json"), first, "the first point was run again")
        return finished

    def test_stopped_and_resumed(self):
        for number, everyone in ((signal.SIGTERM, False), (signal.SIGINT, True)):
            with self.subTest(number.name):
                def stop(sweep, number=number, everyone=everyone):
                    (os.killpg if everyone else os.kill)(sweep.pid, number)  # a terminal's Ctrl-C goes to all
                code, errors = self.stopped_sweep(stop)
                self.assertEqual(code, 128 + number)
                self.assertRegex(errors, rf"{number.name} has stopped the sweep: [123] of 4 points are finished; --resume goes on\n$")
                self.assertFalse(json.loads((self.folder / "out/sweep.json").read_text())["complete"])
                self.assertGreaterEqual(self.check_resumed(), 1)

    def test_killed_and_resumed(self):
        self.run_program("run", self.scenario(), "--out", "out")
        self.assertEqual(self.stopped_sweep(lambda sweep: sweep.kill())[0], -signal.SIGKILL)
        self.assertFalse((self.folder / "out/sweep.json").exists(), "of an earlier sweep")
        self.assertFalse((self.folder / "out/3/stats.json").exists(), "of an earlier sweep")
        self.assertGreaterEqual(self.check_resumed(), 1)

    def sweep(self, folder="out"):
        return json.loads((self.folder / folder / "sweep.json").read_text())

    def finished_before(self, *options):
        run = self.run_program("run", "swept.json", "--out", "out", "--resume", *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return int(run.stdout.split(" of ", 1)[0])

    def test_one_at_a_time_with_seeds(self):
        small = [{"name": "reads", "op": "read", "size": {"law": "uniform", "min": 1, "max": 9000}, "count": 20}]
        axes = [{"key": "connections.c0.ord", "title": "ORD", "baseline": 8, "values": {"from": 1, "to": 4, "factor": 4}},
                {"key": "rnic.tcp.mtu", "title": "MTU", "values": [9000, 1500]},
                {"key": "seed", "values": [1, 2, 3]}]
        run = self.run_program("run", self.scenario(work=small, columns=[], sweep={"mode": "one_at_a_time", "axes": axes}),
                               "--out", "out")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        rows = [" ".join(line.split()) for line in run.stdout.splitlines()]
        self.assertEqual(rows[0], "point setting reads Gb/s data")
        self.assertRegex(rows[1], r"^0 baseline, seed 1 [0-9.]+ ok")
        self.assertRegex(rows[12], r"^11 MTU 9000, seed 3 [0-9.]+ ok")
        sweep = self.sweep()
        self.assertEqual([a.get("baseline") for a in sweep["axes"]], [8, 1500, None])
        self.assertEqual([p["axis"] for p in sweep["points"]], [None] * 3 + [0] * 6 + [1] * 6)
        self.assertEqual(len(sweep["means"]), 5)
        values = [p["columns"]["reads Gb/s"] for p in sweep["points"]]
        self.assertEqual(len(set(values[:3])), 3, "the seeds have sizes of their own")
        baseline = sweep["means"][0]["columns"]["reads Gb/s"]
        self.assertAlmostEqual(baseline["mean"], sum(values[:3]) / 3, places=9)
        self.assertGreater(baseline["ci95"], 0)
        self.assertIn("means, with 95 % confidence intervals:", run.stdout)
        # An MTU of 1500 is the baseline: that point is the same run, so it is not run again.
        self.assertEqual([p["id"] for p in sweep["points"][12:]], [p["id"] for p in sweep["points"][:3]])
        self.assertEqual([p["folder"] for p in sweep["points"][12:]], ["out/00", "out/01", "out/02"])
        self.assertFalse((self.folder / "out/12").exists())
        self.assertEqual(len((self.folder / "out/sweep.csv").read_text().splitlines()), 16)

    def test_points_without_folders(self):
        never = {"check": "min_goodput_gbps", "value": 89}
        whole = self.run_program("run", self.scenario(checks=[never]), "--out", "whole")
        for kept, folders in (("failed", ["2", "3"]), ("none", [])):
            with self.subTest(kept):
                run = self.run_program("run", "swept.json", "--out", "out", "--keep-points", kept)
                self.assertEqual((run.returncode, run.stdout.splitlines()[:5]), (1, whole.stdout.splitlines()[:5]))
                self.assertEqual(sorted(p.name for p in (self.folder / "out").iterdir()),
                                 folders + ["points.jsonl", "sweep.csv", "sweep.json"])
                again = self.run_program("run", "swept.json", "--out", "out", "--keep-points", kept, "--resume")
                self.assertEqual(again.stdout.splitlines()[0], "4 of 4 points were finished before")
                self.assertEqual([p["columns"] for p in self.sweep()["points"]],
                                 [p["columns"] for p in self.sweep("whole")["points"]])
        self.assertIn("min_goodput_gbps", self.sweep()["points"][3]["error"])
        again = self.run_program("run", "swept.json", "--out", "out", "--resume")
        self.assertEqual(again.stdout.splitlines()[0], "0 of 4 points were finished before", "their folders are wanted")

    def test_points_count_by_what_they_come_from(self):
        self.run_program("run", self.scenario(), "--out", "out")
        loss, sack = SWEEP
        self.scenario(name="renamed", description="more", columns=[{"value": "frames"}])
        self.assertEqual(self.finished_before(), 4, "names and columns change no result")
        self.assertTrue(all(p["columns"]["frames"] > 0 for p in self.sweep()["points"]))
        self.scenario(sweep=[{**loss, "values": [0, 5000, 9000], "labels": ["0", "1", "2"]}, sack])
        self.assertEqual(self.finished_before(), 4, "a longer axis")
        self.assertEqual(len(self.sweep()["points"]), 6)
        self.scenario(sweep=[{**loss, "values": [100, 5000], "labels": ["1", "2"]}, sack])
        self.assertEqual(self.finished_before(), 2, "another value")

    def test_shares_come_to_what_one_process_comes_to(self):
        whole = self.run_program("run", self.scenario(), "--out", "whole")
        self.assertEqual(whole.returncode, 0, whole.stderr)
        for share in ("1/3", "2/3"):
            run = self.run_program("run", "swept.json", "--out", "out", "--share", share)
            self.assertEqual(run.returncode, 0, run.stderr)
        early = self.run_program("run", "swept.json", "--out", "out", "--collect")
        self.assertEqual((early.returncode, early.stderr), (1, "rnicsim: 2 of 4 points are finished\n"))
        self.assertFalse(self.sweep()["complete"])
        self.assertEqual([p["point"] for p in self.sweep()["points"]], [1, 2])
        self.run_program("run", "swept.json", "--out", "out", "--share", "0/3")
        run = self.run_program("run", "swept.json", "--out", "out", "--collect")
        self.assertEqual((run.returncode, run.stdout.splitlines()[:5]), (0, whole.stdout.splitlines()[:5]))
        self.assertTrue(self.sweep()["complete"])
        self.assertEqual([p["digest"] for p in self.sweep()["points"]], [p["digest"] for p in self.sweep("whole")["points"]])
        self.assertEqual(self.finished_before(), 4)

    def test_a_process_that_dies_is_a_point_that_failed(self):
        self.long_scenario()
        command = [os.environ["RNICSIM"], "run", "swept.json", "--out", "out", "--jobs", "1"]
        with subprocess.Popen(command, cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as sweep:
            children = pathlib.Path(f"/proc/{sweep.pid}/task/{sweep.pid}/children")
            while not (self.folder / "out/0").exists() or not (child := children.read_text().split()):
                time.sleep(0.001)  # a process that checks the columns comes first
            os.kill(int(child[0]), signal.SIGKILL)
            errors = sweep.communicate(timeout=1200)[1]
        self.assertEqual(sweep.returncode, 4, errors)
        self.assertIn("point 0 (loss none, SACK true): exit code 4; see out/0/report.txt: its process ended by signal 9 (Killed)",
                      errors)
        self.assertEqual([p["exit_code"] for p in self.sweep()["points"]], [4, 0, 0, 0])
        self.assertEqual(self.sweep()["points"][0]["error"], "its process ended by signal 9 (Killed)")
        self.assertFalse(self.sweep()["complete"])
        self.assertEqual(self.finished_before(), 3)
        self.assertTrue(self.sweep()["complete"])

    def test_what_another_scenario_has_left_is_no_point_of_this(self):
        self.run_program("run", self.scenario(), "--out", "out")
        for keys, options, kept in (({}, (), 4), ({"seed": 7}, (), 0), ({"seed": 7}, ("--set", "link.delay_ns=1000"), 0)):
            with self.subTest(keys=keys, options=options):
                run = self.run_program("run", self.scenario(**keys), "--out", "out", "--resume", *options)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual(run.stdout.splitlines()[0], f"{kept} of 4 points were finished before")

    def test_points_of_another_program_are_run_again(self):
        program = self.folder / "rnicsim"
        shutil.copy(os.environ["RNICSIM"], program)
        arguments = (program, "run", self.scenario(), "--out", "out", "--resume")
        for finished in (0, 4, 0):
            run = self.run_command(*arguments)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(run.stdout.splitlines()[0], f"{finished} of 4 points were finished before")
            if finished:
                with program.open("ab") as file:
                    file.write(b"\0")
                run = self.run_command(*arguments[:-1], "--collect")
                self.assertEqual((run.returncode, run.stderr), (1, "rnicsim: 0 of 4 points are finished; the folder has 4 results of "
                                                                   "another program or other settings\n"))

    def test_two_processes_do_not_share_a_folder(self):
        self.long_scenario()
        command = [os.environ["RNICSIM"], "run", "swept.json", "--out", "out", "--jobs", "1"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL) as sweep:
            while not (self.folder / "out/0").is_dir():
                self.assertIsNone(sweep.poll(), "it has ended")
                time.sleep(0.001)
            sweep.send_signal(signal.SIGSTOP)  # keeps a fast sweep from ending before the others have looked
            for options in ((), ("--resume",)):
                run = self.run_program("run", "swept.json", "--out", "out", *options)
                self.assertEqual((run.returncode, run.stderr),
                                 (2, "rnicsim: out/points.jsonl: another process is running these points\n"))
            run = self.run_program("run", "swept.json", "--out", "out", "--point", "1")
            self.assertEqual((run.returncode, run.stderr), (2, "rnicsim: out: another run writes into this folder\n"))
            sweep.send_signal(signal.SIGCONT)
            self.assertEqual(sweep.wait(timeout=1200), 0)
        self.assertEqual(len(self.records()), 4)

    def test_a_terminal_shows_how_far_it_is(self):
        terminal, end = pty.openpty()
        command = [os.environ["RNICSIM"], "run", self.long_scenario(), "--out", "out", "--jobs", "1", "--set",
                   "work.send0.count=1200"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=end, text=True) as sweep:
            os.close(end)
            shown = b""
            try:
                while piece := os.read(terminal, 4096):
                    shown += piece
            except OSError:  # its other end is closed
                pass
            rows = sweep.stdout.read().splitlines()
        os.close(terminal)
        lines = shown.decode().split("\r\x1b[K")
        self.assertRegex(lines[1], r"^[0-3] of 4 points \([0-9]+ %\), 1 running(, [0-9]+ s left)?$")
        self.assertEqual(lines[-1], "", "the line is removed")
        self.assertEqual(len(rows), 6)

    @NEEDS_IMAGE
    def test_points_of_another_firmware_image_are_run_again(self):
        image = self.folder / "fw.elf"
        shutil.copy(os.environ["RV32_IMAGE"], image)
        options = ("--out", "out", "--set", f"rnic.fwcpu.image={image}")
        scenario = self.scenario(sweep=[{"key": "rnic.fwcpu.target", "values": ["native", "rv32"]}])
        self.assertEqual(self.run_program("run", scenario, *options).returncode, 0)
        for finished in (2, 1):
            run = self.run_program("run", scenario, *options, "--resume")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(run.stdout.splitlines()[0], f"{finished} of 2 points were finished before")
            with image.open("ab") as file:  # the same program, in another file
                file.write(b"\0")

    def test_mistakes_are_told_before_anything_runs(self):
        wrong = [{"key": "link.delay_ns", "values": [100, 0]}]
        unknown = [{"key": "link.dely_ns", "values": [100]}]
        for scenario, options, message in (
                ({"sweep": wrong}, (), "link.delay_ns = 0 (sweep): must be 1 to 1000000000 ns"),
                ({"sweep": unknown}, (), "link.dely_ns (sweep): unknown setting; the nearest is link.delay_ns"),
                ({"sweep": [{"key": "connections.c0.ord", "values": [1, 200]}]}, ("--set", "rnic.fwcpu.max_ord=8"),
                 "swept.json with connections.c0.ord = 200 (sweep): connection 'c0': ORD 200 of node 'a' exceeds rnic.fwcpu.max_ord 8"),
                ({"sweep": [{"key": "work.write0.dept", "values": [1]}]}, (),
                 "swept.json with work.write0.dept = 1 (sweep): work[0]: unknown key 'dept'; did you mean 'depth'?"),
                ({"sweep": [{"key": "nodes.b.rnic.tcp.sak", "values": [1]}]}, (),
                 "rnic.tcp.sak (sweep, node 'b'): unknown setting; the nearest is rnic.tcp.sack"),
                ({"sweep": [{"key": "work.write0.depth", "values": [1]}]}, ("--set", "work.write0.depth=2"),
                 "--set work.write0.depth: is varied by the sweep"),
                ({}, ("--set", "connections.c1.ord=2"),
                 "connections.c1.ord (command line): unknown connection 'c1'; the nearest is 'c0'"),
                ({}, ("--set", "rnic.tcp.sack=true"), "--set rnic.tcp.sack: is varied by the sweep"),
                ({}, ("--point", 4), "run: --point 4: the sweep has points 0 to 3"),
                ({}, ("--trace", "t.txt"), "run: --trace applies to one point of a sweep only; use --point"),
                ({}, ("--resume", "--point", 0), "run: --resume is for all points of a sweep, --point for one"),
                ({}, ("--jobs", 0), "run: --jobs must be 1 or more"),
                ({}, ("--share", "3/3"), "run: --share 3/3: is not k/n with k from 0 to n - 1, such as 3/16"),
                ({}, ("--keep-points", "some"), "run: --keep-points some: is all, failed or none"),
                ({}, ("--collect", "--share", "0/2"), "run: --collect is for all shares of a sweep, not --share")):
            with self.subTest(message):
                run = self.run_program("run", self.scenario(**scenario), "--out", "out", *options)
                self.assertEqual((run.returncode, run.stdout), (2, ""))
                self.assertIn(message, run.stderr)
                self.assertEqual(self.files(), ["swept.json"])
        run = self.run_program("run", QUICKSTART, "--point", 0)
        self.assertEqual((run.returncode, run.stderr), (2, "rnicsim: run: --point needs a scenario with a sweep\n"))


if __name__ == "__main__":
    unittest.main()
