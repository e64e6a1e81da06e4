"""A firmware that fails: its host hears of the failure, the run ends with a report, and a dump shows where the firmware was."""
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from rnicsim import NEEDS_IMAGE, QUICKSTART, RV32, ProgramTest

# Sanitizers handle the signals of a crash themselves.
NEEDS_SIGNALS = unittest.skipIf(b"__asan_init" in pathlib.Path(os.environ["RNICSIM"]).read_bytes(), "AddressSanitizer has the signals")

CAUSES = {"panic": "panic", "watchdog": "watchdog", "illegal_instruction": "illegal instruction", "bus_fault": "bus fault",
          "stack_overflow": "stack overflow"}


class FirmwareFaults(ProgramTest):
    def fail(self, cause, event, *options):
        """A run in which the firmware of b fails: the run's messages and the dump."""
        scenario = json.loads(QUICKSTART.read_text())
        scenario["nodes"][1]["config"] = {"rnic": {"fwcpu": {"fault": cause, "fault_event": event}}}
        (self.folder / "failing.json").write_text(json.dumps(scenario))
        run = self.run_program("run", "failing.json", "--out", "out", "--set", "rnic.fwcpu.watchdog_cycles=100000", *options)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertEqual(json.loads((self.folder / "out/stats.json").read_text())["end"], "failed")
        return run.stderr, (self.folder / "out/firmware-b.txt").read_text()

    def check(self, *options):
        for cause, text in CAUSES.items():
            # While the device is being opened, while the connection is being set up, and when it closes.
            for event in (1, 3, 7, 14):
                with self.subTest(cause=cause, event=event):
                    said, dump = self.fail(cause, event, *options)
                    self.assertIn(f": the device's firmware stopped: {text}\n", said)
                    self.assertRegex(said, r"(?m)^rnicsim: the firmware of b stopped: .*; see out/firmware-b.txt$")
                    self.assertRegex(dump, r"^The firmware of b\.rnic_b\.fwcpu stopped: ")
                    self.assertIn(f"\ncause {cause}\n", dump)
                    self.assertIn(f", in event {event}\n", dump)

    def test_native(self):
        self.check()

    @NEEDS_SIGNALS
    def test_native_crashes_name_node_event_function_and_line(self):
        for cause, what in {"bus_fault": "SIGSEGV at 0x0", "illegal_instruction": r"an illegal instruction \(SIGILL\)",
                            "stack_overflow": r"its stack has overflowed \(SIGSEGV\)"}.items():
            with self.subTest(cause):
                said, dump = self.fail(cause, 5)
                place = r"rnic::planted::.*\+0x[0-9a-f]+ \(model/rnic/fwcpu/crash/planted_faults\.cpp:\d+\)"
                self.assertRegex(said, rf"(?m)^rnicsim: the firmware of b stopped: {what}, in {place}, in event 5 \(\w+( \w+)?\); "
                                       r"--set rnic\.fwcpu\.target=rv32 .*; see out/firmware-b\.txt$")
                self.assertRegex(dump, rf"(?m)^at   {place}$")
                self.assertNotIn("rnic::FwCpu::", dump)  # the handler's caller is no part of the firmware
                self.assertIn("\n--set rnic.fwcpu.target=rv32 ", dump)
                for file in ("wire.pcapng", "fw_log.txt", "stats.txt"):
                    self.assertTrue((self.folder / "out" / file).exists(), file)

    def stop_a_loop(self, signals):
        """A run whose native firmware of b loops endlessly: exit code, error output, the dump, seconds from the last signal."""
        scenario = json.loads(QUICKSTART.read_text())
        scenario["nodes"][1]["config"] = {"rnic": {"fwcpu": {"fault": "endless_loop", "fault_event": 5}}}
        (self.folder / "looping.json").write_text(json.dumps(scenario))
        run = subprocess.Popen([os.environ["RNICSIM"], "run", "looping.json", "--out", "out"], cwd=self.folder, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            while not (self.folder / "out/wire.pcapng.part").exists():
                self.assertIsNone(run.poll(), "it has ended")
                time.sleep(0.01)
            time.sleep(1.5)  # it is looping
            for _ in range(signals):
                self.assertIsNone(run.poll(), "it has ended")
                run.send_signal(signal.SIGTERM)
                begin = time.monotonic()
                time.sleep(0.3)
            out, err = run.communicate(timeout=60)
        finally:
            run.kill()
        self.assertIn("incomplete: SIGTERM has stopped the run\n", out)
        self.assertEqual(json.loads((self.folder / "out/stats.json").read_text())["end"], "interrupted")
        self.assertTrue((self.folder / "out/wire.pcapng").exists())
        return run.returncode, err, (self.folder / "out/firmware-b.txt").read_text(), time.monotonic() - begin

    def test_native_firmware_that_loops_ends_by_a_signal(self):
        busy = os.getloadavg()[0] > os.cpu_count()
        for signals, seconds in ((1, 10), (2, 10 if busy else 1.3)):
            with self.subTest(signals=signals):
                code, err, dump, took = self.stop_a_loop(signals)
                self.assertEqual(code, 128 + signal.SIGTERM, err)
                self.assertRegex(err, r"(?m)^rnicsim: the firmware of b stopped: a handler does not end, and SIGTERM has ended it, in "
                                      r"rnic::planted::endless_loop\(\).*, in event 5 \(\w+( \w+)?\); .*; see out/firmware-b\.txt$")
                self.assertIn("\ncause watchdog\n", dump)
                self.assertLess(took, seconds)

    @NEEDS_IMAGE
    def test_rv32(self):
        self.check(*RV32)
        self.assertRegex(self.fail("panic", 5, *RV32)[1],
                         r"\npc +8[0-9a-f]{7}  rnic_interrupt\+0x[0-9a-f]+  firmware/targets/rv32/[a-z.]+:\d+\n")
        said, dump = self.fail("stack_overflow", 5, *RV32)
        self.assertIn("the firmware of b stopped: its stack of 65536 octets has overflowed, at 0x8016fffc, in event 5 (", said)
        self.assertIn("\nfault address 8016fffc\n", dump)

    @NEEDS_IMAGE
    def test_a_dump_has_the_last_log_entries_whatever_the_level(self):
        for options in ((), ("--set", "rnic.fwcpu.log_level=0"), RV32):
            with self.subTest(options):
                dump = self.fail("panic", 14, *options)[1]
                self.assertRegex(dump, r"last log entries, of all levels:\n(?:  cycle .*\n)*  cycle \d+  connection_state: ")
                self.assertNotIn("connection_state", (self.folder / "out/fw_log.txt").read_text())

    def test_a_dump_does_not_outlive_its_run(self):
        self.fail("panic", 3)
        self.run_scenario(self.small_scenario())
        self.assertFalse((self.folder / "out/firmware-b.txt").exists())

    def test_the_same_failure_twice(self):
        first = self.fail("panic", 7)
        self.assertEqual(first, self.fail("panic", 7, "--set", "sim.shuffle_seed=7"))


if __name__ == "__main__":
    unittest.main()
