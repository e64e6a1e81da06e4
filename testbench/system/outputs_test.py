"""A run's outputs when it is stopped or killed, and when the disk is full."""
import contextlib
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import time
import unittest

from rnicsim import NEEDS_IMAGE, QUICKSTART, ROOT, RV32, TRACES, ProgramTest

PATIENCE_S = 600  # for a loaded machine, and sanitizers


def own_mounts():
    """Whether this machine lets us mount a small disk."""
    probe = ("unshare", "--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt")
    return shutil.which("unshare") is not None and subprocess.run(probe, capture_output=True, check=False).returncode == 0


NEEDS_MOUNTS = unittest.skipUnless(own_mounts(), "no file system can be mounted here")


def frames_in(capture):
    """Frames in a pcapng file, which must end with a whole block."""
    frames = at = 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        frames += kind == 6
        at += length
    assert at == len(capture)
    return frames


class OutputsTest(ProgramTest):
    def endless(self, name="endless.json"):
        scenario = json.loads(QUICKSTART.read_text())
        scenario["work"] = [{"op": "send", "size": 65536, "count": 10_000_000}]
        (self.folder / name).write_text(json.dumps(scenario))
        return name

    @contextlib.contextmanager
    def started(self, *arguments, **options):
        options = {"stdout": subprocess.PIPE, **options}
        with subprocess.Popen([os.environ["RNICSIM"], *(str(a) for a in arguments)], cwd=self.folder, text=True,
                              stderr=subprocess.PIPE, **options) as process:
            try:
                yield process
            finally:
                process.kill()

    def wait_for_file(self, run, file, octets=0):
        file = self.folder / file
        end = time.monotonic() + PATIENCE_S
        while not file.exists() or file.stat().st_size < octets:
            self.assertIsNone(run.poll(), f"no {file}, and the run has ended")
            self.assertLess(time.monotonic(), end, f"no {file}")
            time.sleep(0.01)

    def stats(self, folder="out"):
        return json.loads((self.folder / folder / "stats.json").read_text())

    def parts(self):
        return [f for f in self.files() if f.endswith(".part")]


class Interrupted(OutputsTest):
    def interrupt(self, number, *arguments, until="out/wire.pcapng.part", octets=1 << 20):
        """Stops a run once it has written that much: exit code, standard output, standard error."""
        with self.started("run", *arguments, "--out", "out") as run:
            self.wait_for_file(run, until, octets)
            begin = time.monotonic()
            run.send_signal(number)
            out, err = run.communicate(timeout=PATIENCE_S)
            self.assertLess(time.monotonic() - begin, 10)  # a second, on an idle machine
            self.assertEqual(self.parts(), [])
            return run.returncode, out, err

    def test_what_there_is_is_left_and_marked(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                code, out, err = self.interrupt(number, self.endless(), "--trace", "log.tsv", "--wave", "w.vcd",
                                                "--wave-scope", "rnic_a.tx", "--wave-to", "100us")
                self.assertEqual((code, err), (128 + number, ""))
                self.assertTrue(out.startswith(f"incomplete: {number.name} has stopped the run\n"), out)
                stats = self.stats()
                self.assertEqual((stats["end"], stats["complete"]), ("interrupted", False))
                self.assertGreater(stats["results"][0]["count"], 0)
                self.assertTrue((self.folder / "out/stats.txt").read_text().startswith("incomplete: interrupted\n"))
                self.assertEqual(frames_in((self.folder / "out/wire.pcapng").read_bytes()), stats["frames"])
                lines = (self.folder / "log.tsv").read_text().splitlines()
                self.assertEqual({line.count("\t") for line in lines}, {10})
                self.assertGreater((self.folder / "w.vcd").stat().st_size, 0)

    def test_a_run_that_is_not_stopped_is_complete(self):
        self.assertTrue(self.run_scenario(self.small_scenario())["complete"])

    def test_the_second_ends_at_once(self):
        reader, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, b"." * 4096)
        fcntl.fcntl(writer, fcntl.F_SETFL, 0)
        with self.started("run", self.endless(), "--out", "out", stdout=writer) as run:  # its table cannot be printed
            self.wait_for_file(run, "out/wire.pcapng.part", 1 << 20)
            run.send_signal(signal.SIGINT)
            self.wait_for_file(run, "out/stats.json")
            time.sleep(0.2)
            self.assertIsNone(run.poll())
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=PATIENCE_S)
            self.assertEqual(run.returncode, -signal.SIGINT)
        os.close(reader)
        os.close(writer)

    def test_while_it_waits_for_a_peer(self):
        code, out, _ = self.interrupt(signal.SIGINT, TRACES / "interop/echo_server.json", octets=0)
        self.assertEqual(code, 130)
        self.assertIn("incomplete: SIGINT has stopped the run\n", out)
        self.assertEqual((self.stats()["end"], self.stats()["complete"]), ("interrupted", False))

    @NEEDS_IMAGE
    def test_while_it_waits_for_gdb(self):
        code, out, _ = self.interrupt(signal.SIGINT, QUICKSTART, "--gdb", "0", *RV32, octets=0)
        self.assertEqual(code, 130)
        self.assertIn("incomplete: SIGINT has stopped the run\n", out)

    def test_what_an_earlier_run_left_is_gone(self):
        """A killed run leaves no file under its final name."""
        self.run_scenario(self.small_scenario(), "--trace", "out/log.tsv", "--wave", "out/w.fst")
        (self.folder / "out/firmware-b.txt").write_text("of an earlier run")
        with self.started("run", self.endless(), "--out", "out", "--trace", "out/log.tsv", "--wave", "out/w.fst") as run:
            self.wait_for_file(run, "out/wire.pcapng.part", 1 << 20)
            run.kill()
        self.assertEqual([f for f in self.files() if f.startswith("out/")],
                         ["out/log.tsv.part", "out/w.fst.part", "out/wire.pcapng.part"])
        self.run_scenario("small.json")
        self.assertEqual([f for f in self.parts() if "wire" in f], [])


class TwoAtOnce(OutputsTest):
    def test_a_folder_is_of_one_run(self):
        (self.folder / "real").mkdir()
        (self.folder / "out").symlink_to("real")
        scenario = json.loads((self.folder / self.small_scenario()).read_text())
        (self.folder / "swept.json").write_text(json.dumps({**scenario, "sweep": [{"key": "seed", "values": [1, 2]}]}))
        first = ("run", self.endless(), "--out", "out", "--db", "out/run.sqlite", "--trace", "out/log.tsv")
        with self.started(*first) as run:
            self.wait_for_file(run, "out/wire.pcapng.part")
            commands = (("run", "small.json", "--db", "out/run.sqlite"), ("run", "swept.json"), ("run", "swept.json", "--collect"),
                        ("sweep", "submit", "swept.json", "--slurm", "--dry-run"))
            for command, folder in zip(commands, ("out", "real", "./real/", self.folder / "out")):
                second = self.run_program(*command, "--out", folder)
                self.assertEqual((second.returncode, second.stdout, second.stderr),
                                 (2, "", f"rnicsim: {folder}: another run writes into this folder\n"))
            self.assertEqual(self.parts(), ["real/log.tsv.part", "real/run.sqlite.part", "real/wire.pcapng.part"])
            elsewhere = self.run_program("run", "small.json", "--out", "real/deeper")
            self.assertEqual(elsewhere.returncode, 0, elsewhere.stderr)
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=PATIENCE_S)
        self.assertEqual(run.returncode, 130)
        self.assertEqual(self.stats()["end"], "interrupted")
        self.run_scenario("small.json")

    def test_a_file_is_of_one_run_whatever_the_folders_are(self):
        options = {"--db": "run.sqlite", "--trace": "log.tsv", "--perfetto": "run.perfetto", "--wave": "w.fst"}
        self.small_scenario()
        with self.started("run", self.endless(), "--out", "out", *(word for pair in options.items() for word in pair)) as run:
            self.wait_for_file(run, "out/wire.pcapng.part")
            before = self.parts()
            for option, file in options.items():
                own = () if option == "--db" else ("--db", "my.sqlite")
                second = self.run_program("run", "small.json", "--out", "other", *own, option, f"./{file}")
                self.assertEqual((second.returncode, second.stdout, second.stderr),
                                 (2, "", f"rnicsim: ./{file}: another run writes this file\n"))
            self.assertEqual(self.parts(), before)
            self.assertFalse((self.folder / "other").exists())
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=PATIENCE_S)
        self.assertEqual(run.returncode, 130)
        self.run_scenario("small.json", *(word for pair in options.items() for word in pair))

    def test_of_runs_that_begin_together_one_is_refused(self):
        self.endless()
        for _ in range(2):
            command = ("run", "endless.json", "--out", "new/out", "--no-capture")
            with self.started(*command) as one, self.started(*command) as two:
                while one.poll() is None and two.poll() is None:  # ctest has a limit
                    time.sleep(0.01)
                refused, runs = (one, two) if one.poll() is not None else (two, one)
                self.assertEqual((refused.returncode, refused.stderr.read()),
                                 (2, "rnicsim: new/out: another run writes into this folder\n"))
                runs.send_signal(signal.SIGINT)
                runs.communicate(timeout=PATIENCE_S)
                self.assertEqual(runs.returncode, 130)
            self.assertEqual(self.stats("new/out")["end"], "interrupted")
            shutil.rmtree(self.folder / "new")


class FullDisk(OutputsTest):
    def run_on(self, kilobytes, *arguments, tmp=""):
        """A run whose folder `out` is on its own disk; `kept` gets the final contents. `tmp` is /tmp's size."""
        (self.folder / "out").mkdir(exist_ok=True)
        shell = f"mount -t tmpfs -o size={kilobytes}k tmpfs out && "
        shell += 'exec 3<"$1" && shift && '  # the program may lie in /tmp
        shell += f"mount -t tmpfs -o size={tmp} tmpfs /tmp && " if tmp else ""
        shell += '/proc/self/fd/3 "$@"; code=$?; cp -r out kept; exit $code'
        return self.run_command("unshare", "--map-root-user", "--mount", "sh", "-c", shell, "sh", os.environ["RNICSIM"],
                                "run", *arguments, "--out", "out")

    def check(self, run, message):
        self.assertRegex(run.stdout, r"(?m)^writes +write +\d+ .* ok$")
        self.assertRegex(run.stdout, r"(?m)^files: .*out/stats\.json$")
        self.assertRegex(run.stderr, message)
        self.assertEqual(run.returncode, 5)

    @NEEDS_MOUNTS
    def test_the_capture(self):
        run = self.run_on(768, self.small_scenario())
        self.check(run, r"^rnicsim: out/wire\.pcapng: cannot be written: No space left on device\n$")
        self.assertEqual(sorted(p.name for p in (self.folder / "kept").iterdir()), ["fw_log.txt", "stats.json", "stats.txt"])
        stats = self.stats("kept")
        self.assertEqual(stats["not_written"], ["out/wire.pcapng: cannot be written: No space left on device"])
        self.assertTrue(stats["complete"])

    @NEEDS_MOUNTS
    def test_everything(self):
        run = self.run_on(4, self.small_scenario())
        self.assertRegex(run.stdout, r"(?m)^writes +write +\d+ .* ok$")
        self.assertIn("rnicsim: out/stats.json: cannot be written: No space left on device\n", run.stderr)
        self.assertEqual(run.returncode, 5)

    @NEEDS_MOUNTS
    def test_a_waveform(self):
        """Its library maps temporary files: a full disk or /tmp must not cause a SIGBUS."""
        for kilobytes, tmp in ((600, ""), (4, ""), (16384, "4k"), (600, "4k")):
            with self.subTest(kilobytes=kilobytes, tmp=tmp):
                shutil.rmtree(self.folder / "kept", ignore_errors=True)
                small = self.small_scenario()
                run = self.run_on(kilobytes, small, "--no-capture", "--wave", "out/w.fst", tmp=tmp)
                if kilobytes > 10000:
                    self.assertEqual(run.returncode, 0, run.stderr)
                else:
                    self.assertIn("rnicsim: out/w.fst: cannot be written completely; is the disk full?\n", run.stderr)
                    self.assertRegex(run.stdout, r"(?m)^writes +write +\d+ .* ok$")
                    self.assertEqual(run.returncode, 5)

    def test_a_limit_of_the_process(self):
        limits = (400 * 1024, resource.RLIM_INFINITY)
        run = subprocess.run([os.environ["RNICSIM"], "run", self.small_scenario(), "--out", "out", "--wave", "w.fst"],
                             cwd=self.folder, capture_output=True, text=True, timeout=1200, check=False,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits))
        self.check(run, r"(?m)^rnicsim: out/wire\.pcapng: cannot be written: File too large$")
        self.assertIn("rnicsim: w.fst: cannot be written completely; is the disk full?\n", run.stderr)

    def test_the_log(self):
        run = self.run_program("run", self.small_scenario(), "--out", "out", "--trace", "/dev/full")
        self.check(run, r"^rnicsim: /dev/full: cannot be written: No space left on device\n$")
        self.assertTrue(os.path.exists("/dev/full"))

    def test_a_link_stays_one(self):
        (self.folder / "there").mkdir()
        (self.folder / "log.tsv").symlink_to("there/log.tsv")
        for _ in range(2):
            self.run_scenario(self.small_scenario(), "--trace", "log.tsv")
            self.assertTrue((self.folder / "log.tsv").is_symlink())
            self.assertGreater((self.folder / "there/log.tsv").stat().st_size, 0)


class ExitCodes(ProgramTest):
    def test_the_page_and_the_program_say_the_same(self):
        page = (ROOT / "README.md").read_text().split("## Exit codes\n")[1].split("\n## ")[0]
        rows = re.findall(r"(?m)^\| ([\d, ]+) \| (.*) \|$", page)
        self.assertEqual([int(n) for codes, _ in rows for n in codes.split(",")], [0, 1, 2, 3, 4, 5, 129, 130, 143])
        told = self.run_program("--help").stdout.split("exit codes, of several the highest:\n")[1]
        for codes, meaning in rows:
            self.assertIn(f"  {codes:<15}{meaning}\n", told)


class Statistics(ProgramTest):
    def test_statistics_without_zeros(self):
        """The lines are those of a run with zeros, and say how many more there are."""
        texts = []
        for options in ((), ("--no-zeros",)):
            self.run_scenario(self.small_scenario(), "--no-capture", *options)
            texts.append([line.split() for line in (self.folder / "out/stats.txt").read_text().splitlines()])
        every, some = texts
        zeros = [line for line in every if len(line) > 2 and line[0].count(".") > 1 and re.fullmatch(r"0(\.0)?", line[1])]
        self.assertGreater(len(zeros), len(every) // 3)
        self.assertEqual(some[-1], [str(len(zeros)), "more", "figures", "are", "0"])
        self.assertEqual(some[:-1], [line for line in every if line not in zeros])
        run = self.run_program("replay", TRACES / "siw/rping-64.pcap", "--as", "server", "--no-zeros")
        self.assertEqual((run.returncode, run.stderr), (2, "rnicsim: replay: --no-zeros is about stats.txt, which needs --out\n"))


if __name__ == "__main__":
    unittest.main()
