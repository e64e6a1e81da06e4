"""Waveforms around a moment that the run finds: triggers, and the waveform of a run that fails."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from rnicsim import QUICKSTART, RV32, TRACES, ProgramTest
from wave_file import read_fst

US = 1_000_000  # ps
LOSS = ("--set", "link.forward.loss.every=50")
LAYOUTS = ["w.gtkw", "w.sucl"]
SCOPE = ("--wave-scope", "rnic_a.tx")


def own_mounts():
    """Whether this machine lets us mount a small disk."""
    probe = ("unshare", "--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt")
    return shutil.which("unshare") is not None and subprocess.run(probe, capture_output=True, check=False).returncode == 0


def children_of(process):
    return pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


class WaveTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.small = self.small_scenario()

    def run_waved(self, *options, scenario=None, code=0):
        run = self.run_program("run", scenario or self.small, "--out", "out", "--no-capture", "--wave", "w.fst", *SCOPE, *options)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.assertEqual([f for f in self.files() if f.endswith(".part")], [])
        return run

    def events(self, *options, scenario=None):
        """Events of the same run: (time, kind, node, QP, request), in order of time."""
        self.run_program("run", scenario or self.small, "--out", "log", "--no-capture", "--trace", "log.tsv", *options)
        rows = [line.split("\t") for line in (self.folder / "log.tsv").read_text().splitlines()]
        head = rows[0]
        return [(int(r[head.index("time_ps")]), r[head.index("kind")], r[head.index("node")], r[head.index("qpn")],
                 r[head.index("request")]) for r in rows[1:]]

    def window(self):
        """The first and the last time of the waveform, read by an independent tool."""
        text = subprocess.run(["fst2vcd", "w.fst"], cwd=self.folder, check=True, capture_output=True, text=True).stdout
        times = [int(line[1:]) for line in text.splitlines() if line.startswith("#")]
        return times[0], times[-1]

    def check_same_as_a_window(self, begin, end, *options, scenario=None):
        """The waveform equals, octet for octet, one of a run with the given window."""
        found = (self.folder / "w.fst").read_bytes()
        self.run_program("run", scenario or self.small, "--out", "again", "--no-capture", "--wave", "again.fst", *SCOPE, "--wave-from",
                         f"{begin}ps", "--wave-to", f"{end}ps", *options)
        self.assertTrue(found == (self.folder / "again.fst").read_bytes())


class Triggers(WaveTest):
    def check_found(self, at, *options, ring=0, last=20 * US, others=()):
        run = self.run_waved(*options, *others)
        self.assertEqual(self.window(), (max(at - ring, 0), at + last))
        self.check_same_as_a_window(max(at - ring, 0), at + last, *others)
        return run.stderr

    def test_a_retransmission(self):
        at = next(t for t, kind, *_ in self.events(*LOSS) if kind == "retransmitted")
        err = self.check_found(at, "--wave-on", "retransmit", others=LOSS)
        self.assertRegex(err, r"^rnicsim: w\.fst shows [\d.]+ us to [\d.]+ us: retransmit at [\d.]+ us\n$")
        self.assertEqual([f for f in self.files() if f in LAYOUTS], LAYOUTS)

    def test_what_was_before_and_how_long(self):
        at = next(t for t, kind, *_ in self.events(*LOSS) if kind == "retransmitted")
        self.check_found(at, "--wave-on", "retransmit", "--wave-ring", "7us", "--wave-for", "3us", ring=7 * US, last=3 * US, others=LOSS)

    def test_to_the_end(self):
        at = next(t for t, kind, *_ in self.events(*LOSS) if kind == "retransmitted")
        self.run_waved("--wave-on", "retransmit", "--wave-for", "end", *LOSS)
        stats = json.loads((self.folder / "out/stats.json").read_text())
        self.assertEqual(self.window(), (at, stats["sim_time_ps"]))

    def test_a_terminate(self):
        scenario = TRACES / "errors/ddp_bounds.json"
        at = next(t for t, kind, *_ in self.events(scenario=scenario) if kind == "terminated")
        self.run_waved("--wave-on", "terminate", "--wave-ring", "5us", "--wave-for", "1us", scenario=scenario)
        self.assertEqual(self.window()[0], at - 5 * US)
        self.assertLessEqual(self.window()[1], at + US)
        self.check_same_as_a_window(at - 5 * US, at + US, scenario=scenario)

    def test_a_queue_pair_and_a_request(self):
        events = self.events()
        for option, at in (("qp=0", next(t for t, _, _, qp, _ in events if qp == "0")),
                           ("qp=b.0", next(t for t, _, node, qp, _ in events if node == "b" and qp == "0")),
                           ("request=a.0.7", next(t for t, _, _, _, request in events if request == "a.0.7"))):
            with self.subTest(option):
                self.assertIn(f": {option} at ", self.check_found(at, "--wave-on", option, "--wave-for", "1us", last=US))

    def test_the_first_of_several_counts_and_those_of_one_cycle_are_both_named(self):
        events = self.events()
        at, _, node, qp, request = next(e for e in events if e[3] == "0" and e[4].startswith(f"{e[2]}.0."))
        first = next(e for e in events if e[4] == request)
        self.assertEqual(first[0], at)
        later = [e for e in events if e[4] and e[0] > at][-1][4]
        same_cycle = next(t for t, _, n, q, _ in events if q == "0" and n == node)
        options = ("--wave-on", f"request={later}", "--wave-on", f"request={request}", "--wave-on", f"qp={node}.0")
        run = self.run_waved(*options, "--wave-for", "1us")
        self.assertEqual(self.window()[0], min(at, same_cycle))
        if at == same_cycle:
            self.assertIn(f": request={request} and qp={node}.0 at ", run.stderr)

    def test_in_the_first_and_the_last_microsecond(self):
        events = [e for e in self.events() if e[4]]
        at, *_, request = events[0]
        self.assertLess(at, 2 * US)  # among the earliest
        self.run_waved("--wave-on", f"request={request}", "--wave-ring", "5us", "--wave-for", "1us")
        self.assertEqual(self.window(), (0, at + US))
        first = {}
        for at, *_, request in events:
            first.setdefault(request, at)
        request, at = max(first.items(), key=lambda item: item[1])
        self.run_waved("--wave-on", f"request={request}", "--wave-ring", "1us")
        end = json.loads((self.folder / "out/stats.json").read_text())["sim_time_ps"]
        self.assertEqual(self.window(), (at - US, min(at + 20 * US, end)))

    def test_one_that_never_comes_is_said(self):
        for options, what in ((("retransmit",), "retransmit"), (("terminate", "--wave-on", "request=a.0.99999"), "terminate or request=a.0.99999")):
            with self.subTest(what):
                run = self.run_waved("--wave-on", *options)
                self.assertEqual(run.stderr, f"rnicsim: w.fst is not written: there was no {what}\n")
                self.assertEqual([f for f in self.files() if f.startswith("w.")], [])

    def test_an_earlier_runs_file_does_not_pass_for_this_ones(self):
        for name in ("w.fst", *LAYOUTS):
            (self.folder / name).write_text("earlier")
        self.run_waved("--wave-on", "retransmit")
        self.assertEqual([f for f in self.files() if f.startswith("w.")], [])

    def test_nothing_else_changes(self):
        plain = self.run_scenario(self.small, "--no-capture", *LOSS)
        self.run_waved("--wave-on", "retransmit", "--wave-ring", "20us", *LOSS)
        waved = json.loads((self.folder / "out/stats.json").read_text())
        for stats in (plain, waved):
            for key in ("wall_s", "cpu_s", "frames_per_cpu_s"):
                del stats[key]
        self.assertEqual(plain, waved)

    def test_bad_values_are_refused(self):
        for options, message in (
                (("--wave-on", "retransmitt"), "--wave-on retransmitt: unknown; the nearest is retransmit"),
                (("--wave-on", "qp=x"), "--wave-on qp=x: a queue pair is a number, or a node and a number: qp=3, qp=a.3"),
                (("--wave-on", "qp=256"), "--wave-on qp=256: there are queue pairs 0 to 255; the nearest is 255"),
                (("--wave-on", "qp=c.1"), "--wave-on qp=c.1: there is no node 'c'; the nearest is a"),
                (("--wave-on", "request=c.1.1"), "--wave-on request=c.1.1: there is no node 'c'; the nearest is a"),
                (("--wave-on", "request=a.1"), "--wave-on request=a.1: a request is named as in the transaction log: request=a.3.17"),
                (("--wave-ring", "fast"), "--wave-ring: 'fast' is not a time with its unit, such as 12us (ps, ns, us, ms or s)"),
                (("--wave-ring", "0us"), "run: --wave-ring: must be 1 ps or more, or the waveform has nothing"),
                (("--wave-ring", "0.4ps"), "run: --wave-ring: must be 1 ps or more, or the waveform has nothing"),
                (("--wave-ring", "nan"), "--wave-ring: 'nan' is not a time with its unit, such as 12us (ps, ns, us, ms or s)"),
                (("--wave-on", "retransmit", "--wave-for", "0us"), "run: --wave-for: must be 1 ps or more without --wave-ring"),
                (("--wave-ring", "20us", "--wave-from", "3us"),
                 "run: --wave-from and --wave-to do not go with --wave-on and --wave-ring"),
                (("--wave-ring", "20us", "--wave-for", "3us"), "run: --wave-for needs --wave-on")):
            with self.subTest(options):
                run = self.run_waved(*options, code=2)
                self.assertEqual(run.stderr, f"rnicsim: {message}\n")
                self.assertEqual(self.files(), ["small.json"])
        run = self.run_program("run", self.small, "--wave-ring", "20us")
        self.assertEqual((run.returncode, run.stderr), (2, "rnicsim: run: --wave-ring needs --wave FILE\n"))

    def test_what_cannot_be_repeated_is_refused(self):
        message = "rnicsim: --wave-on and --wave-ring repeat the run, and one with {} cannot be repeated\n"
        run = self.run_program("run", TRACES / "interop/echo_server.json", "--out", "out", "--wave", "w.fst", "--wave-ring", "20us",
                               "--set", "external.wire=seqpacket")
        self.assertEqual((run.returncode, run.stderr), (2, message.format("a peer outside")))
        if "RV32_IMAGE" in os.environ:
            run = self.run_waved("--wave-ring", "20us", "--gdb", "0", *RV32, code=2)
            self.assertEqual(run.stderr, message.format("a debugger"))

    def test_of_a_replay(self):
        run = self.run_program("replay", TRACES / "siw/rping-64.pcap", "--as", "server", "--out", "out", "--wave", "w.fst", "--wave-on",
                               "qp=0", "--wave-for", "5us")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("qp=0 at ", run.stderr)
        begin, end = self.window()
        self.assertEqual(end - begin, 5 * US)

    def test_a_path_that_cannot_be_written_is_refused_before_the_run(self):
        run = self.run_program("run", self.small, "--out", "out", "--wave", "no/such/w.fst", "--wave-ring", "20us")
        self.assertEqual((run.returncode, run.stderr), (2, "rnicsim: no/such/w.fst: cannot be created\n"))
        self.assertEqual(self.files(), ["small.json"])


class Ring(WaveTest):
    def check_left(self, why, code, *options, scenario, ring="20us", length=20 * US):
        run = self.run_waved("--wave-ring", ring, *options, scenario=scenario, code=code)
        self.assertRegex(run.stderr, rf"(?m)^rnicsim: w\.fst shows [\d.]+ \w+ to [\d.]+ \w+: {why}$")
        begin, end = self.window()
        if length is not None:
            self.assertEqual(end - begin, length)
        changes = read_fst(self.folder / "w.fst")
        self.assertGreater(sum(map(len, changes.values())), len(changes))  # more than its initial values
        self.assertEqual([f for f in self.files() if f in LAYOUTS], LAYOUTS)
        return begin, end

    def failing(self):
        scenario = json.loads((self.folder / self.small).read_text())
        scenario["checks"] = [{"check": "data"}, {"check": "min_share_percent", "work": "writes", "value": 100}]
        (self.folder / "failing.json").write_text(json.dumps(scenario))
        return "failing.json"

    def test_a_run_that_ends_well_leaves_nothing_and_says_nothing(self):
        run = self.run_waved("--wave-ring", "20us")
        self.assertEqual(run.stderr, "")
        self.assertEqual([f for f in self.files() if f.startswith("w.")], [])

    def test_a_failing_check(self):
        scenario = self.failing()
        begin, end = self.check_left("a check failed", 1, scenario=scenario, length=None)
        self.check_same_as_a_window(begin, begin + 20 * US, scenario=scenario)
        self.assertLessEqual(end - begin, 20 * US)
        self.assertLessEqual(begin, self.events(scenario=scenario)[-1][0] - 15 * US)

    def test_a_failing_check_as_a_trigger(self):
        run = self.run_waved("--wave-on", "check-fail", scenario=self.failing(), code=1)
        self.assertIn(": a check failed\n", run.stderr)
        run = self.run_waved("--wave-on", "check-fail")
        self.assertEqual(run.stderr, "rnicsim: w.fst is not written: there was no check-fail\n")

    def test_a_run_that_hangs(self):
        """The last events, and not the silence during which the watchdog waited."""
        slow = ("--set", "host.root_complex.memory_read_ns=5000", "--set", "rnic.pcie.dma_read.completion_timeout_us=1")
        _, end = self.check_left("no progress", 3, *slow, "--wave-scope", "rnic_a", scenario=self.small, length=None)
        last = self.events(*slow)[-1][0]
        self.assertLessEqual(end, last + 2 * US)
        self.assertGreater(json.loads((self.folder / "out/stats.json").read_text())["sim_time_ps"], 5 * end)

    def test_a_time_limit(self):
        self.check_left("time limit reached", 3, "--set", "sim.max_time_us=100", scenario=QUICKSTART, length=None)

    def test_longer_than_the_run(self):
        begin, _ = self.check_left("a check failed", 1, scenario=self.failing(), ring="1s", length=None)
        self.assertEqual(begin, 0)

    def test_a_firmware_that_stops(self):
        self.check_left("[a-z ]+", 1, "--set", "nodes.a.rnic.fwcpu.fault=panic", "--set", "nodes.a.rnic.fwcpu.fault_event=4",
                        "--wave-scope", "rnic_a", scenario=self.small, length=None)


class Interrupted(WaveTest):
    def test_a_signal_leaves_nothing_of_it(self):
        scenario = json.loads(QUICKSTART.read_text())
        scenario["work"] = [{"op": "send", "size": 65536, "count": 10_000_000}]
        (self.folder / "endless.json").write_text(json.dumps(scenario))
        for options in (("--wave-ring", "20us"), ("--wave-on", "qp=0", "--wave-for", "end"), ("--wave-on", "retransmit")):
            with self.subTest(options):
                command = [os.environ["RNICSIM"], "run", "endless.json", "--out", "out", "--wave", "w.fst", *options]
                with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
                    end = time.monotonic() + 600
                    capture = self.folder / "out/wire.pcapng.part"
                    while not capture.exists() or capture.stat().st_size < 1 << 20:
                        self.assertLess(time.monotonic(), end)
                        time.sleep(0.01)
                    children = children_of(run)
                    self.assertEqual(len(children), 1)
                    run.send_signal(signal.SIGTERM)
                    run.communicate(timeout=1200)
                self.assertEqual(run.returncode, 128 + signal.SIGTERM)
                self.assertFalse(os.path.exists(f"/proc/{children[0]}"))
                self.assertEqual([f for f in self.files() if f.startswith("w.")], [])
                self.assertTrue((self.folder / "out/stats.json").exists())

    def test_the_second_process_ends_with_the_first(self):
        command = [os.environ["RNICSIM"], "run", QUICKSTART, "--out", "out", "--wave", "w.fst", "--wave-ring", "20us"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL) as run:
            children = []
            while not children:
                children = children_of(run)
            run.kill()
        end = time.monotonic() + 600
        while os.path.exists(f"/proc/{children[0]}"):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)


@unittest.skipUnless(own_mounts(), "no file system can be mounted here")
class FullDisk(WaveTest):
    def test_the_waveform_is_named_and_removed(self):
        shell = ('mkdir disk && mount -t tmpfs -o size=16k tmpfs disk && "$@"; code=$?; ls disk; exit $code')
        run = self.run_command("unshare", "--map-root-user", "--mount", "sh", "-c", shell, "sh", os.environ["RNICSIM"], "run", self.small,
                               "--out", "out", "--no-capture", "--wave", "disk/w.fst", "--wave-on", "qp=0")
        self.assertEqual(run.returncode, 5, run.stdout + run.stderr)
        self.assertIn("rnicsim: disk/w.fst: cannot be written completely; is the disk full?", run.stderr)
        self.assertTrue((self.folder / "out/stats.json").exists())
        self.assertNotIn("w.", run.stdout.rsplit("files:", 1)[1].split("\n", 1)[1])


if __name__ == "__main__":
    unittest.main()
