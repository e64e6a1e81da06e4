"""Captures of DDP over SCTP, built by hand and from runs: read by decode, by tshark with our dissector, and by check_wire.py."""
import json
import re
import struct
import unittest

import sctp_capture as sctp
from rnicsim import DISSECTOR, ProgramTest, needs_lua
from sctp_scenarios_test import over_sctp

NEXT_TSN, NEXT_SSN = 1005, 3  # the client's, after the worked packets


@needs_lua
class SctpCapture(ProgramTest):
    def capture(self, *chunks, wrong=0):
        """The worked packets, and then one packet of the client for each of `chunks`."""
        frames = sctp.worked() + [sctp.frame(True, sctp.packet(True, c, wrong)) for c in chunks]
        (self.folder / "c.pcapng").write_bytes(sctp.pcapng(frames))
        return len(frames)

    def segment(self, n, opcode, payload, flags=sctp.WHOLE):
        user_data = struct.pack(">H", NEXT_SSN + n) + sctp.untagged(opcode, n + 2, payload)
        return sctp.data(NEXT_TSN + n, sctp.PPID_SEGMENT, user_data, flags)

    def verdict(self, status):
        run = self.check_wire("c.pcapng")
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run.stdout

    def fields(self, *names):
        run = self.run_command("tshark", "-X", f"lua_script:{DISSECTOR}", "--disable-protocol", "rpcordma", "--disable-protocol",
                               "smb_direct", "-r", "c.pcapng", "-T", "fields", *(w for name in names for w in ("-e", name)))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotRegex(run.stdout + run.stderr, r"(?i)lua error")
        return [line.split("\t") for line in run.stdout.splitlines()]

    def test_tshark_shows_segments_and_control_messages(self):
        self.capture()
        shown = self.fields("ddp_sctp.ssn", "iwarp_rdma.opcode", "iwarp_ddp.stag", "ddp_session.ssn", "ddp_session.code",
                            "ddp_session.ird", "ddp_session.ord", "ddp_session.a", "ddp_session.private_data")
        nothing = [""] * 9
        self.assertEqual(shown, [
            nothing, nothing,
            ["", "", "", "0", "0x0005", "16", "32", shown[2][7], "68656c6c6f"],
            ["", "", "", "0", "0x0006", "32", "16", shown[3][7], ""],
            ["1", "0x03", "", "", "", "", "", "", ""],
            ["2", "0x00", "0x12345678", "", "", "", "", "", ""],
            ["10", "0x07", "", "11", "0x0004", "", "", "", ""]])
        self.assertIn(shown[2][7], ("1", "True"))

    def test_immediate_data(self):
        self.capture(self.segment(0, 8, bytes(range(8))) + self.segment(1, 9, bytes(range(8, 16))))
        self.assertEqual(self.fields("rnicsim_immediate.value", "rnicsim_immediate.solicited")[-1][0],
                         "0001020304050607,08090a0b0c0d0e0f")

    def test_a_short_segment_is_malformed_and_no_error_of_the_dissector(self):
        self.capture(sctp.data(NEXT_TSN, sctp.PPID_SEGMENT, b"\0\3\x41\x43"), sctp.data(NEXT_TSN + 1, sctp.PPID_SESSION, b"\0\4"))
        malformed = self.fields("_ws.malformed")
        self.assertNotEqual(malformed[-2], [""])
        self.assertNotEqual(malformed[-1], [""])

    def test_the_checker_agrees(self):
        self.capture()
        self.assertIn("7 SCTP packets with 3 DDP segments and 3 session control messages", self.verdict(0))

    def test_the_checker_knows_fragments_retransmissions_and_any_order(self):
        whole = struct.pack(">H", NEXT_SSN) + sctp.untagged(3, 2, b"abcdef")
        first = sctp.data(NEXT_TSN, sctp.PPID_SEGMENT, whole[:10], sctp.FIRST)
        last = sctp.data(NEXT_TSN + 1, sctp.PPID_SEGMENT, whole[10:], sctp.LAST)
        other = sctp.data(NEXT_TSN + 2, sctp.PPID_SEGMENT, struct.pack(">H", NEXT_SSN + 1) + sctp.untagged(3, 3, b""))
        for order in (first, last, other), (last, other, first, last), (other, first, other, last, first):
            with self.subTest(order=order):
                self.capture(*order)
                self.assertIn("with 5 DDP segments", self.verdict(0))

    def test_a_wrong_checksum_is_found(self):
        number = self.capture(self.segment(0, 3, b"abcd"), wrong=1)
        self.assertIn(f"frame {number}: tshark finds the checksum wrong", self.verdict(1))

    def test_a_malformed_chunk_is_found(self):
        for chunk in "0b000040", "0b000002", "03000010 000003e8 00020000 00050000":
            with self.subTest(chunk):
                number = self.capture(bytes.fromhex(chunk))
                self.assertRegex(self.verdict(1), f"frame {number}: (tshark finds it malformed|SCTP chunk)")

    def test_what_is_no_ddp_is_found(self):
        for chunk, reason in ((sctp.data(NEXT_TSN, 46, b"ab"), "with PPID 46"), (self.segment(0, 3, b"abcd", flags=3), "without U")):
            with self.subTest(reason):
                self.capture(chunk)
                self.assertIn(reason, self.verdict(1))

    def test_a_segment_shorter_than_its_header_is_found(self):
        self.capture(sctp.data(NEXT_TSN, sctp.PPID_SEGMENT, b"\0\3" + b"\xc1\x43"))
        self.assertRegex(self.verdict(1), "tshark finds it malformed|expected")

    def test_decode_and_tshark_count_the_same(self):
        self.capture(self.segment(0, 3, b"abcd") + self.segment(1, 8, bytes(8)))
        run = self.run_program("decode", "c.pcapng", "--json")
        self.assertEqual(run.returncode, 0, run.stdout)
        (association,) = json.loads(run.stdout)["associations"]
        (session,) = association["sessions"]
        self.assertEqual(session["directions"][0]["segments"], {"0": 1, "3": 2, "7": 1, "8": 1})
        self.assertIn("with 5 DDP segments and 3 session control messages", self.verdict(0))

    def test_the_list_and_tshark_show_the_same(self):
        whole = struct.pack(">H", NEXT_SSN) + sctp.untagged(3, 2, b"abcdef")
        self.capture(sctp.data(NEXT_TSN, sctp.PPID_SEGMENT, whole[:10], sctp.FIRST), sctp.data(NEXT_TSN + 1, sctp.PPID_SEGMENT, whole[10:], sctp.LAST),
                     self.segment(2, 3, b"abcd") + self.segment(3, 8, bytes(8)))
        shown = []
        names = "iwarp_rdma.opcode", "iwarp_ddp.msn", "iwarp_ddp.stag", "iwarp_ddp.tagged_offset"
        for number, (opcodes, msns, stags, offsets) in enumerate(self.fields(*names), 1):
            for opcode in opcodes.split(",") if opcodes else ():
                tagged = int(opcode, 0) == 0
                msn, _, msns = ("", "", msns) if tagged else msns.partition(",")
                shown.append((number, int(opcode, 0), int(msn) if msn else None, int(stags, 0) if tagged else None,
                              int(offsets, 0) if tagged else None))
        run = self.run_program("decode", "c.pcapng", "--list", "--json")
        self.assertEqual(run.returncode, 0, run.stdout)
        rows = [json.loads(line) for line in run.stdout.splitlines()]
        codes = {"RDMA Write": 0, "Send": 3, "Terminate": 7, "Immediate Data": 8}
        self.assertEqual([(row["frame"], codes[row["opcode"]], row["msn"], row["stag"], row["to"]) for row in rows], shown)
        self.assertEqual([row["first_frame"] for row in rows], [5, 6, 7, 8, 10, 10])
        self.assertEqual({(row["stream"], row["crc"], row["markers"]) for row in rows}, {(0, None, None)})

    # A snapshot length of 96 leaves the headers.
    def test_the_headers_of_a_cut_capture_are_those_of_the_whole(self):
        frames = sctp.worked() + [sctp.frame(True, sctp.packet(True, self.segment(0, 3, bytes(100))))]
        lists = []
        for snapshot in None, 96:
            (self.folder / "c.pcapng").write_bytes(sctp.pcapng(frames, snapshot))
            run = self.run_program("decode", "c.pcapng", "--list", "--json")
            self.assertEqual(run.returncode, 0 if snapshot is None else 1)
            lists.append([json.loads(line) for line in run.stdout.splitlines()])
        whole, cut = lists
        self.assertEqual([row for row in cut if "undecoded" not in row], whole)
        self.assertEqual(whole[-1]["length"], 100)
        self.assertEqual([row["frame"] for row in cut if "undecoded" in row], [2])


class CaptureOfARun(ProgramTest):
    FAULTS = {"lost": {"loss.ppm": 10000}, "late": {"reorder.ppm": 20000, "delay.reorder_ns": 20000}, "twice": {"duplicate.ppm": 20000}}

    def run_over_sctp(self, *options):
        file = self.folder / self.small_scenario()
        file.write_text(json.dumps(over_sctp(json.loads(file.read_text()))))
        return self.run_scenario(file.name, *options)

    def decoded(self):
        run = self.run_program("decode", "out/wire.pcapng", "--json")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        found = json.loads(run.stdout)
        (association,) = found["associations"]
        self.assertEqual((association["ddp"], association["end"]), (True, "shutdown"))
        self.assertEqual([d["init"]["adaptation"] for d in association["directions"]], [1, 1])
        self.assertEqual([d["tsns"]["missing"] for d in association["directions"]], [0, 0])
        for session in association["sessions"]:
            for direction in session["directions"]:
                self.assertEqual(direction["ddp_ssns"], {"duplicates": 0, "missing": 0})
                self.assertEqual(direction["ordered"], 0)
        return found

    def assert_agreement(self):
        found = self.decoded()
        segments = sum(sum(direction["segments"].values()) for session in found["associations"][0]["sessions"]
                       for direction in session["directions"])
        wire = self.check_wire("out/wire.pcapng")
        self.assertEqual(wire.returncode, 0, wire.stdout + wire.stderr)
        self.assertIn(f" with {segments} DDP segments", wire.stdout)
        return segments

    @needs_lua
    def test_decode_and_tshark_agree(self):
        self.run_over_sctp()
        segments = self.assert_agreement()
        for fault, settings in self.FAULTS.items():
            with self.subTest(fault):
                self.run_over_sctp("--set", "link.symmetric=true", *(
                    word for key, value in settings.items() for word in ("--set", f"link.forward.{key}={value}")))
                self.assertEqual(self.assert_agreement(), segments)

    @needs_lua
    def test_what_the_cable_bends_is_found_and_dropped(self):
        self.run_over_sctp("--set", "link.forward.corrupt.ppm=10000")
        self.decoded()
        wire = self.check_wire("out/wire.pcapng")
        self.assertEqual(wire.returncode, 1)
        self.assertIn("tshark finds the checksum wrong", wire.stdout)

    def test_comments_and_tlps_beside_the_frames(self):
        self.run_over_sctp()
        alone = self.decoded()
        stats = self.run_over_sctp("--capture-requests", "--capture-tlps")
        both = self.decoded()
        self.assertGreater(both["skipped_packets"], 0)
        self.assertEqual({**both, "skipped_packets": 0}, alone)
        run = self.run_command("tshark", "-r", "out/wire.pcapng", "-Y", "sctp", "-T", "fields", "-e", "frame.comment")
        comments = run.stdout.splitlines()
        self.assertEqual(len(comments), stats["frames"])
        self.assertTrue(all(re.fullmatch(r"request \S+", comment) for comment in comments))


if __name__ == "__main__":
    unittest.main()
