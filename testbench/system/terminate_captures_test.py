"""Captures of the Terminate tests, read by tshark: every message is dissected, and it sees one Terminate in each.

The environment variable TERMINATE_TEST names the test program.
"""
import os
import subprocess
import unittest

from rnicsim import ProgramTest

CHIP, PEER = "02:00:00:00:00:01", "02:00:00:00:00:02"
# Segments of the peer that no dissector could read whole: that is what is wrong with them.
UNREADABLE = {"RdmapVersionTagged", "SendAsATaggedMessage", "SegmentShorterThanItsHeader", "ShortReadRequest",
              "ReceivedWithAMissingReadRequest", "ReceivedWithHalfAHeader", "ReceivedWithoutAControlWord",
              "ReceivedWithHalfAControlWord"}
# Wireshark 4.0 takes a returned DDP header for untagged (18 octets) unless the error type is 1, whatever its T bit says.
MISREAD = {"RdmapVersionTagged", "SendAsATaggedMessage", "AReadResponseThatNobodyAskedForIsUnexpected"}
# Local catastrophic: no code has a name.
NAMELESS = {"ReceiveBufferWithABadKey", "ABadLocalKeyIsLocalCatastrophic", "PayloadThatCannotBeReadIsLocalCatastrophic"}
CODES = ("rdma", "ddp_tagged", "ddp_untagged", "llp")


class TerminateCaptures(ProgramTest):
    def listed(self):
        lines = self.run_command(os.environ["TERMINATE_TEST"], "--gtest_list_tests").stdout.splitlines()
        suite = ""
        for line in lines:
            name = line.split("#")[0].rstrip()
            if name.startswith("  ") and suite:
                yield suite + name.strip()
            elif name.endswith("."):
                suite = name

    def dissected(self, capture):
        """For every frame its sender, whether it is malformed, and the fields of a Terminate."""
        fields = ("eth.src", "_ws.malformed", "iwarp_rdma.opcode", "iwarp_rdma.term_hdrct_m", "iwarp_rdma.hdrct_d",
                  "iwarp_rdma.term_ddp_h", *(f"iwarp_rdma.term_errcode_{code}" for code in CODES))
        run = self.run_command("tshark", "-r", capture, "-o", "tcp.try_heuristic_first:TRUE", "-T", "fields",
                               *(word for field in fields for word in ("-e", field)))
        self.assertEqual(run.returncode, 0, run.stderr)
        return [line.split("\t") for line in run.stdout.splitlines()]

    def test_every_message_is_dissected(self):
        names = list(self.listed())
        self.assertGreater(len(names), 40)
        for test in names:
            name = test.split("/")[-1].split(".")[-1]
            with self.subTest(name):
                subprocess.run([os.environ["TERMINATE_TEST"], f"--gtest_filter={test}"], cwd=self.folder,
                               env={**os.environ, "RNIC_CAPTURE_DIR": str(self.folder)}, capture_output=True,
                               check=True, timeout=60)
                self.check(name)

    def check(self, name):
        frames = self.dissected(self.folder / f"{name}.pcapng")
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
            self.assertEqual(d == "1", header != "")
        if name not in NAMELESS:
            self.assertEqual(sum(code != "" for code in codes), 1, codes)


if __name__ == "__main__":
    unittest.main()
