"""`decode --list` against tshark, line by line: the captures of a Linux siw peer, and runs of the model."""
import collections
import json
import struct
import unittest

from capture_formats_test import ALL, LOSSY, Pcapng, frames_of, pcap
from rnicsim import TRACES, ProgramTest

RPING = TRACES / "siw/rping-64.pcap"
OPCODES = ("RDMA Write", "Read Request", "Read Response", "Send", "Send with Invalidate", "Send with SE",
           "Send with SE and Invalidate", "Terminate")
FIELDS = ("frame.number", "frame.time_relative", "frame.time_epoch", "tcp.srcport", "tcp.dstport", "tcp.checksum.status",
          "iwarp_mpa.ulpdulength", "iwarp_rdma.opcode", "iwarp_ddp.tagged_flag", "iwarp_ddp.last_flag", "iwarp_ddp.qn", "iwarp_ddp.msn",
          "iwarp_ddp.mo", "iwarp_ddp.stag", "iwarp_ddp.tagged_offset")
WRONG = "0"  # of tcp.checksum.status
CHECKED = "-o", "tcp.check_checksum:TRUE"
REORDERED = "-o", "tcp.reassemble_out_of_order:TRUE"


def nanoseconds(seconds):
    whole, part = seconds.split(".")
    return int(whole) * 10**9 + int(part)


def port(endpoint):
    return int(endpoint.rsplit(":", 1)[1])


def header(row):
    """What a row says of the segment, without when and where it was captured."""
    return {key: value for key, value in row.items() if key not in ("frame", "time", "epoch_ns")}


def counted(rows):
    return collections.Counter(json.dumps(header(row)) for row in rows)


class ListTest(ProgramTest):
    def by_tshark(self, capture, *options):
        """Rows in the form of ours. With CHECKED, those of frames with a wrong TCP checksum are left out, as a receiver drops them."""
        run = self.run_command("tshark", "-r", capture, "--disable-protocol", "rpcordma", *options, "-Y", "iwarp_mpa.ulpdulength",
                               "-T", "fields", *(w for field in FIELDS for w in ("-e", field)))
        self.assertEqual(run.returncode, 0, run.stderr)
        rows = []
        for line in run.stdout.splitlines():
            found = dict(zip(FIELDS, line.split("\t")))
            if found["tcp.checksum.status"] == WRONG:
                continue
            values = {key: iter(value.split(",")) for key, value in found.items() if value}
            frame = int(found["frame.number"])
            for length in values["iwarp_mpa.ulpdulength"]:
                rows.append({"frame": frame, "time": float(found["frame.time_relative"]), "epoch_ns": nanoseconds(found["frame.time_epoch"]),
                             "src": int(found["tcp.srcport"]), "dst": int(found["tcp.dstport"]), **self.segment(values, int(length))})
        return rows

    @staticmethod
    def segment(values, length):
        def number(field):
            return int(next(values[field]), 0)

        def flag(field):
            return next(values[field]) in ("1", "True")

        row = {"opcode": OPCODES[number("iwarp_rdma.opcode")], "last": int(flag("iwarp_ddp.last_flag"))}
        if flag("iwarp_ddp.tagged_flag"):
            tagged = {"stag": number("iwarp_ddp.stag"), "to": number("iwarp_ddp.tagged_offset")}
            return {**row, "qn": None, "msn": None, "mo": None, **tagged, "length": length - 14}
        untagged = {key: number(f"iwarp_ddp.{key}") for key in ("qn", "msn", "mo")}
        return {**row, **untagged, "stag": None, "to": None, "length": length - 18}

    def ours(self, capture, *options, status=0):
        """The list's rows with the keys that tshark has too, all rows, and what was not decoded."""
        run = self.run_program("decode", capture, "--list", "--json", *options)
        self.assertEqual(run.returncode, status, run.stderr)
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        rows = [line for line in lines if "undecoded" not in line]
        keys = ("frame", "time", "epoch_ns", "src", "dst", "opcode", "last", "qn", "msn", "mo", "stag", "to", "length")
        comparable = []
        for row in rows:
            same = {key: row[key] for key in keys}
            invalidated = "Invalidate" in row["opcode"]  # tshark has no such field
            comparable.append({**same, "src": port(row["src"]), "dst": port(row["dst"]), "stag": None if invalidated else row["stag"]})
        return comparable, rows, [line for line in lines if "undecoded" in line]


class AgainstTshark(ListTest):
    def test_every_line_of_every_capture(self):
        for capture in ALL:
            if capture.name in LOSSY:
                continue
            with self.subTest(capture.name):
                status = 1 if capture.name == "server-killed.pcap" else 0
                self.assertEqual(self.ours(capture, status=status)[0], self.by_tshark(capture))

    # tshark shows an FPDU after a hole either where it came, or not at all, or (reassemble_out_of_order) where the hole is filled.
    def test_losses_and_damage(self):
        for capture in ALL:
            if capture.name not in LOSSY:
                continue
            with self.subTest(capture.name):
                ours = self.ours(capture)[0]
                for row in self.by_tshark(capture, *CHECKED):
                    self.assertIn(row, ours)
                if "corrupt" not in capture.name:  # tshark reassembles damaged segments, too
                    self.assertEqual(counted(ours), counted(self.by_tshark(capture, *REORDERED)))

    def test_a_run(self):
        self.run_scenario(self.small_scenario(markers=False))
        comparable, rows, _ = self.ours("out/wire.pcapng")
        self.assertEqual(comparable, self.by_tshark("out/wire.pcapng"))
        self.assertEqual({(row["crc"], row["markers"]) for row in rows}, {("right", None)})

    # tshark 4.0 loses FPDUs of streams with markers (scripts/check_wire.py).
    def test_a_run_with_markers(self):
        stats = self.run_scenario(self.small_scenario())["stats"]
        comparable, rows, _ = self.ours("out/wire.pcapng")
        for row in self.by_tshark("out/wire.pcapng")[:100]:
            self.assertIn(row, comparable)
        for node, side in ("a", "initiator"), ("b", "responder"):
            inserter = stats[node]["rnic"]["marker_inserter"]
            self.assertEqual(sum(row["markers"] for row in rows if row["side"] == side), inserter["markers"]["value"])
        self.assertEqual({row["crc"] for row in rows}, {"right"})

    # Packets of the other interface count in Wireshark, and time begins with the first of them.
    def test_a_run_with_tlps(self):
        self.run_scenario(self.small_scenario(markers=False), "--capture-tlps")
        comparable, _, _ = self.ours("out/wire.pcapng")
        self.assertEqual(comparable, self.by_tshark("out/wire.pcapng"))
        self.assertGreater(comparable[0]["frame"], 100)


def records(capture):
    """The file's header, and the header and octets of each record."""
    data, at = capture.read_bytes(), 24
    found = []
    while at < len(data):
        kept = struct.unpack_from("<I", data, at + 8)[0]
        found.append((data[at:at + 16], data[at + 16:at + 16 + kept]))
        at += 16 + kept
    return data[:24], found


class Cut(ListTest):
    # 14 + 20 + 32 octets of headers, a start-up frame or length field, and the longer DDP header.
    def test_the_headers_of_a_cut_capture_are_those_of_the_whole(self):
        for capture in ALL:
            if "corrupt" in capture.name or "ipv6" in capture.name:  # nothing tells damage; longer headers
                continue
            for snapshot in 90, 128:
                with self.subTest(capture=capture.name, snapshot=snapshot):
                    head, found = records(capture)
                    cut = (record[:8] + struct.pack("<I", min(snapshot, len(octets))) + record[12:] + octets[:snapshot] for record, octets in found)
                    (self.folder / "cut.pcap").write_bytes(head + b"".join(cut))
                    first = next((i for i, (_, octets) in enumerate(found, 1) if len(octets) > snapshot), None)
                    whole = self.ours(capture, status=1 if capture.name == "server-killed.pcap" else 0)[0]
                    cut, rows, undecoded = self.ours("cut.pcap", status=0 if first is None else 1)
                    self.assertEqual(cut[:len(whole)], whole)
                    if first is not None:
                        self.assertEqual(undecoded[0]["frame"], first)
                        self.assertIn(f"from here on payload is missing: the capture kept {snapshot} of", undecoded[0]["undecoded"])
                    crc = collections.Counter(row["crc"] for row in rows)
                    self.assertEqual(crc["wrong"], 0)

    def test_a_cut_file_says_after_which_frame(self):
        frames = list(frames_of(RPING))
        (self.folder / "cut.pcap").write_bytes(pcap(frames[:20])[:-1])
        rows, _, undecoded = self.ours("cut.pcap", status=1)
        self.assertEqual([header(row) for row in rows], [header(row) for row in self.ours(RPING)[0] if row["frame"] < 20])
        self.assertEqual(undecoded[-1]["frame"], 19)
        self.assertTrue(undecoded[-1]["undecoded"].startswith("the rest of the file: truncated"))


class LostByTheCable(ListTest):
    """Frames with EtherType 0x88b5 on an interface of their own, as a run will write them."""

    def capture(self):
        """The frames of a capture, and behind every third one a copy that the cable lost. Returns the numbers of the others."""
        ng, numbers, parts, number = Pcapng(), [], [], 0
        for i, frame in enumerate(frames_of(RPING)):
            seconds, micros, wire, octets = frame
            number += 1
            numbers.append(number)
            parts.append(ng.packet(frame))
            if i % 3 == 0:
                number += 1
                lost = octets[:12] + struct.pack(">H", 0x88b5) + octets[12:]
                parts.append(ng.packet((seconds, micros, wire + 2, lost), 1, options=ng.option(1, b"lost by link.forward.loss")))
        head = ng.section() + ng.interface() + ng.interface(options=ng.option(2, b"cable.lost"))
        (self.folder / "lost.pcapng").write_bytes(head + b"".join(parts))
        return numbers

    def test_they_count_as_packets_and_are_skipped(self):
        numbers = self.capture()
        rows = self.ours("lost.pcapng")[0]
        self.assertEqual(rows, self.by_tshark("lost.pcapng"))
        self.assertEqual([header(row) for row in rows], [header(row) for row in self.ours(RPING)[0]])
        self.assertEqual([row["frame"] for row in rows], [numbers[row["frame"] - 1] for row in self.ours(RPING)[0]])
        found = json.loads(self.run_program("decode", "lost.pcapng", "--json").stdout)
        self.assertEqual(found["lost_packets"], (len(numbers) + 2) // 3)
        self.assertEqual(found["connections"], json.loads(self.run_program("decode", RPING, "--json").stdout)["connections"])

    def test_a_replay_is_the_same(self):
        self.capture()
        for role in "server", "client":
            with self.subTest(role):
                run = self.run_program("replay", "lost.pcapng", "--as", role)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual(run.stdout, self.run_program("replay", RPING, "--as", role).stdout)


class CommandLine(ProgramTest):
    def test_bad_files_are_one_line(self):
        (self.folder / "foreign").write_bytes(b"no capture at all")
        (self.folder / "short").write_bytes(RPING.read_bytes()[:20])
        (self.folder / "raw").write_bytes(pcap([], link=101))
        for name, why in (("foreign", "not a capture: neither pcap nor pcapng, as it is or compressed by gzip"),
                          ("short", "not a capture: its header is truncated"), ("none", "cannot be opened: No such file or directory"),
                          ("raw", "the link type of the capture is 101, which is not Ethernet")):
            with self.subTest(name):
                run = self.run_program("decode", name, "--list")
                self.assertEqual((run.returncode, run.stdout, run.stderr), (2, "", f"decode: {name}: {why}\n"))

    def test_nothing_of_iwarp_is_one_line(self):
        frame = bytes.fromhex("020000000001020000000002") + b"\x08\x06" + bytes(46)
        (self.folder / "arp.pcap").write_bytes(pcap([(1, 0, len(frame), frame)]))
        run = self.run_program("decode", "arp.pcap", "--list", "--json")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", "decode: arp.pcap: no DDP segment in 1 packets\n"))

    def test_the_list_of_a_capture(self):
        run = self.run_program("decode", RPING, "--list")
        lines = run.stdout.splitlines()
        self.assertEqual(run.returncode, 0)
        self.assertEqual(len({len(line) for line in lines[1:-2]}), 1)
        self.assertEqual(lines[-2], "35 of 35 segments are listed")
        filtered = self.run_program("decode", RPING, "--list", "--filter", "opcode=Read Request", "--filter", "side=responder").stdout.splitlines()
        self.assertEqual(filtered[2:-2], [line for line in lines if "Read Request" in line])


if __name__ == "__main__":
    unittest.main()
