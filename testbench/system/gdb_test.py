"""gdb on the RV32 firmware: it stops, inspects and continues, and the run is the same as without gdb."""
import os
import re
import shutil
import socket
import subprocess
import unittest

from rnicsim import NEEDS_IMAGE, QUICKSTART, ROOT, RV32, ProgramTest

GDB = shutil.which("gdb-multiarch")


@NEEDS_IMAGE
@unittest.skipUnless(GDB, "there is no gdb-multiarch")
class Session(ProgramTest):
    def debug(self, *commands, run=()):
        """What gdb prints, and the program's exit code, output and error output."""
        run = subprocess.Popen([os.environ["RNICSIM"], "run", QUICKSTART, *RV32, *run, "--gdb", "0", "--out", "out"],
                               cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            where = re.fullmatch(r"rnicsim: gdb: (target remote 127\.0\.0\.1:\d+)\n", run.stderr.readline())
            options = [o for c in ("set confirm off", where[1], *commands) for o in ("-ex", c)]
            gdb = subprocess.run([GDB, "-batch", "-nx", *options, os.environ["RV32_IMAGE"]], cwd=ROOT,
                                 capture_output=True, text=True, timeout=1200)
            output, errors = run.communicate(timeout=1200)
        finally:
            run.kill()
        return gdb.stdout, (run.returncode, output, errors)

    def test_from_the_request_parser_to_an_established_connection(self):
        # The parser is called for the header, and again for the whole frame.
        seen, run = self.debug("break rnic::fw::examine_frame", "continue", "info args", "backtrace", "continue", "finish",
                               'printf "revision %d\\n", $.frame.rev', "delete",
                               "info threads", "stepi", "x/2i $pc", "x/4xw $sp", "print/x $pc", "continue")
        self.assertRegex(seen, r"Thread 2 hit Breakpoint 1, rnic::fw::examine_frame \(.*kRequest")
        self.assertIn("max_rev = 2", seen)
        # Events do not share code; the frames of shared code would have the other event's name.
        self.assertRegex(seen, r"#\d+ .*::on<rnic::fw::TcpStreamData>")
        self.assertNotRegex(seen, r"#\d+ .*::on<rnic::fw::(?!TcpStreamData)")
        self.assertIn("revision 2\n", seen)
        self.assertRegex(seen, r"1 +Thread 1 \(firmware of a\).*\n\* 2 +Thread 2 \(firmware of b\)")
        self.assertIn("exited normally", seen)
        self.assertEqual(run[0], 0, run)
        debugged = (self.folder / "out/wire.pcapng").read_bytes()
        plain = self.run_scenario(QUICKSTART, *RV32)
        self.assertEqual(debugged, (self.folder / "out/wire.pcapng").read_bytes())
        self.assertGreater(plain["results"][0]["count"], 0)

    def test_registers_and_memory_can_be_changed(self):
        seen, run = self.debug("break rnic_interrupt", "continue", "set $a5 = 0x1234", "print/x $a5", "info registers sp",
                               "set var *(int*)($sp - 64) = 77", "print *(int*)($sp - 64)", "set var *(int*)$pc = 0",
                               "delete", "detach")
        self.assertIn("= 0x1234\n", seen)
        self.assertIn("= 77\n", seen)
        self.assertEqual(run[0], 0, run)

    def test_a_detached_run_goes_on(self):
        _, run = self.debug("break rnic_interrupt", "continue", "detach")
        self.assertEqual(run[0], 0, run)

    def test_a_killed_run_ends(self):
        _, (code, _, errors) = self.debug("break rnic_interrupt", "continue", "kill")
        self.assertEqual((code, errors), (1, "rnicsim: the debugger ended the run\n"))

    def test_a_fault_is_a_signal(self):
        seen, (code, _, errors) = self.debug("continue", "print/x $pc", "continue",
                                             run=("--set", "rnic.fwcpu.fault=illegal_instruction",
                                                  "--set", "rnic.fwcpu.fault_event=3"))
        self.assertIn("received signal SIGILL, Illegal instruction", seen)
        self.assertIn("= 0x8000fffc\n", seen)
        self.assertEqual(code, 1)
        self.assertIn("the device's firmware stopped: illegal instruction\n", errors)

    def test_a_debugger_that_goes_away(self):
        run = subprocess.Popen([os.environ["RNICSIM"], "run", QUICKSTART, *RV32, "--gdb", "0"], cwd=self.folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        port = int(run.stderr.readline().split(":")[-1])
        with socket.create_connection(("127.0.0.1", port)) as s:
            s.sendall(b"$qSupported#37$m8000\x00\xff}$")
        run.communicate(timeout=1200)
        self.assertEqual(run.returncode, 0)


class Refused(ProgramTest):
    def refuse(self, *options):
        run = self.run_program("run", QUICKSTART, *options)
        self.assertEqual((run.returncode, run.stdout, self.files()), (2, "", []))
        return run.stderr

    def test_native_firmware(self):
        self.assertEqual(self.refuse("--gdb", "0"),
                         "rnicsim: --gdb: the firmware runs natively; a debugger needs --set rnic.fwcpu.target=rv32\n")

    def test_no_port(self):
        self.assertEqual(self.refuse("--gdb", "65536"), "rnicsim: --gdb: 65536 is no TCP port\n")
        self.assertEqual(self.refuse("--gdb=-1"), "rnicsim: --gdb: -1 is no TCP port\n")

    @NEEDS_IMAGE
    def test_a_port_that_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            self.assertEqual(self.refuse(*RV32, "--gdb", str(port)), f"rnicsim: --gdb {port}: Address already in use\n")


if __name__ == "__main__":
    unittest.main()
