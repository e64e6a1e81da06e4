"""Captures of the tests with a peer built by hand, read by tshark: every message is dissected, and each capture has the
Terminates that its test expects.

The environment variables TERMINATE_TEST and ATOMIC_TEST name the test programs.
"""
import os
import subprocess
import unittest

from rnicsim import ProgramTest

CHIP, PEER = "02:00:00:00:00:01", "02:00:00:00:00:02"
# Segments of the peer that no dissector could read whole: they are wrong in that way.
UNREADABLE = {"AtomicMsnOutOfRange", "AtomicOnTheQueueOfSends", "AtomicRdmapVersion", "RdmapVersionTagged", "SendAsATaggedMessage", "SegmentShorterThanItsHeader", "ShortAtomic", "ShortReadRequest",
              "ReceivedWithAMissingReadRequest", "ReceivedWithHalfAHeader", "ReceivedWithoutAControlWord",
              "ReceivedWithHalfAControlWord"}
# Wireshark 4.0 takes a returned DDP header to be untagged (18 octets) unless the error type is 1, whatever its T bit.
MISREAD = {"RdmapVersionTagged", "SendAsATaggedMessage", "AReadResponseThatNobodyAskedForIsUnexpected"}
# Local catastrophic: there are no names for its codes.
NAMELESS = {"ReceiveBufferWithABadKey", "ABadLocalKeyIsLocalCatastrophic", "PayloadThatCannotBeReadIsLocalCatastrophic"}
CODES = ("rdma", "ddp_tagged", "ddp_untagged", "llp")


# Atomics and immediate data: the streams that end in a Terminate.
TERMINATED = {"AnyOffsetOfAnAlignedAddressWillDo", "AResponseToAnotherRequestEndsTheStream",
              "ABadLocalKeyIsLocalCatastrophic", "RefuseImmediateData", "RefuseImmediateDataWithSe",
              "RefuseAtomicRequests", "RefuseAtomicResponses"}


class Captures(ProgramTest):
    def listed(self, program):
        lines = self.run_command(program, "--gtest_list_tests").stdout.splitlines()
        suite = ""
        for line in lines:
            name = line.split("#")[0].rstrip()
            if name.startswith("  ") and suite:
                yield suite + name.strip()
            elif name.endswith("."):
                suite = name

    def dissected(self, capture):
        """For every frame: its sender, whether it is malformed, and the fields of a Terminate."""
        fields = ("eth.src", "_ws.malformed", "iwarp_rdma.opcode", "iwarp_rdma.term_hdrct_m", "iwarp_rdma.hdrct_d",
                  "iwarp_rdma.term_ddp_h", *(f"iwarp_rdma.term_errcode_{code}" for code in CODES))
        # Short Sends are not RPC over RDMA, as the dissector would assume.
        run = self.run_command("tshark", "-r", capture, "-o", "tcp.try_heuristic_first:TRUE",
                               "--disable-protocol", "rpcordma", "-T", "fields",
                               *(word for field in fields for word in ("-e", field)))
        self.assertEqual(run.returncode, 0, run.stderr)
        return [line.split("\t") for line in run.stdout.splitlines()]

    def each_capture(self, program, least, check):
        tests = list(self.listed(program))
        self.assertGreater(len(tests), least)
        for test in tests:
            name = test.split("/")[-1].split(".")[-1]
            with self.subTest(name):
                subprocess.run([program, f"--gtest_filter={test}"], cwd=self.folder,
                               env={**os.environ, "RNIC_CAPTURE_DIR": str(self.folder)}, capture_output=True,
                               check=True, timeout=1200)
                check(name, self.dissected(self.folder / f"{name}.pcapng"))

    def test_atomics_and_immediate_data(self):
        self.each_capture(os.environ["ATOMIC_TEST"], 15, self.check_atomics)

    def check_atomics(self, name, frames):
        self.assertEqual([frame for frame in frames if frame[1]], [], "malformed")
        self.assertEqual(sum(frame[2] == "0x07" for frame in frames), name in TERMINATED)

    def test_terminates(self):
        self.each_capture(os.environ["TERMINATE_TEST"], 60, self.check_terminate)

    def check_terminate(self, name, frames):
        malformed = {frame[0] for frame in frames if frame[1]}
        self.assertLessEqual(malformed, ({PEER} if name in UNREADABLE else set()) | ({CHIP} if name in MISREAD else set()))
        terminates = [frame for frame in frames if frame[2] == "0x07"]
        if name in UNREADABLE and name.startswith("Received"):
            return  # the Terminate itself is the unreadable one
        self.assertEqual(len(terminates), 1)
        sender, _, _, m, d, header, *codes = terminates[0]
        self.assertEqual(sender, PEER if name.startswith(("Received", "NothingIsTaken")) else CHIP)
        self.assertEqual(m, d)
        if name not in MISREAD:
            self.assertEqual(d in ("1", "True"), header != "")
        if name not in NAMELESS:
            self.assertEqual(sum(code != "" for code in codes), 1, codes)


if __name__ == "__main__":
    unittest.main()
