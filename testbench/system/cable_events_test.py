"""What the cable does to frames, in log, database and capture: each fault is told of once, with its frame, and Wireshark's
analysis of the conversation is that of what arrived."""
import csv
import json
import sqlite3
import struct
import unittest

from rnicsim import TRACES, ProgramTest

KINDS = {"lost": ("lost", "lost_in_bursts", "lost_while_down", "too_long"), "queue_dropped": ("queue_drops",), "duplicated": ("duplicated",),
         "reordered": ("reordered",), "corrupted": ("corrupted", "corrupted_repaired"), "ce_marked": ("marked",)}
SWALLOWED = ("lost", "queue_dropped")
FAULTS = {"loss.ppm": 3000, "burst.enter_ppm": 500, "burst.leave_ppm": 400000, "duplicate.ppm": 5000, "reorder.ppm": 3000, "corrupt.ppm": 2000,
          "mark.ppm": 20000, "rate.mbps": 40000, "rate.queue_bytes": 16384, "down_us": "100-150"}
LOST_ETHERTYPE = 0x88b5


def link(faults, *more):
    settings = [f"link.forward.{key}={value}" for key, value in faults.items()] + list(more)
    return [word for setting in settings for word in ("--set", setting)]


def packets_of(file):
    """An independent reader of pcapng: (interface name, octets, comment) of each packet, in order."""
    data, at, names, packets = file.read_bytes(), 0, [], []
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        body = data[at + 8:at + size - 4]
        start = 8 if kind == 1 else 20
        if kind == 6:
            interface, _, _, captured, _ = struct.unpack_from("<IIIII", body)
            octets = body[20:20 + captured]
            start += (captured + 3) // 4 * 4
        options = {}
        while kind in (1, 6) and start < len(body):
            code, length = struct.unpack_from("<HH", body, start)
            options[code] = body[start + 4:start + 4 + length]
            start += 4 + (length + 3) // 4 * 4
        if kind == 1:
            names.append(options[2].decode())
        elif kind == 6:
            packets.append((names[interface], octets, options.get(1, b"").decode(), struct.unpack("<Q", options[5])[0] if 5 in options else None))
        at += size
    return packets


class CableEvents(ProgramTest):
    def run_with(self, *options, scenario="write_bw", codes=(0, 1)):
        stats = self.run_scenario(TRACES / f"{scenario}.json", "--trace", "run.tsv", "--db", "run.sqlite", *options, codes=codes)
        with (self.folder / "run.tsv").open() as log:
            self.log = list(csv.DictReader(log, delimiter="\t", quoting=csv.QUOTE_NONE))
        self.events = [row for row in self.log if row["where"].startswith("cable.")]
        with sqlite3.connect(self.folder / "run.sqlite") as database:
            database.row_factory = sqlite3.Row
            self.frames = database.execute("SELECT * FROM frames ORDER BY number").fetchall()
            self.in_database = database.execute("SELECT kind, words, request FROM events WHERE place GLOB 'cable.*' ORDER BY id").fetchall()
        return stats

    def tshark(self, *options, capture="out/wire.pcapng"):
        run = self.run_command("tshark", "-r", self.folder / capture, *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout.splitlines()

    def test_each_fault_is_told_of_once(self):
        stats = self.run_with(*link(FAULTS, "link.symmetric=true", "rnic.tcp.ecn=true"), "--set", "work.writes.count=800")
        for place, direction in (("cable.a_to_b", "forward"), ("cable.b_to_a", "reverse")):
            counters = {name: counter["value"] for name, counter in stats["stats"]["link"][direction].items()}
            for kind, counted in KINDS.items():
                told = [event for event in self.events if event["where"] == place and event["kind"] == kind]
                self.assertEqual(len(told), sum(counters[name] for name in counted), (place, kind))
                self.assertEqual({event["node"] for event in told} - {place[6]}, set())
        self.assertEqual({event["kind"] for event in self.events}, set(KINDS))
        self.assertEqual([(row["kind"], row["words"]) for row in self.in_database], [(event["kind"], event["words"]) for event in self.events])

    def test_the_capture_has_what_never_arrived_and_says_what_happened_to_the_others(self):
        self.run_with(*link(FAULTS, "link.symmetric=true", "rnic.tcp.ecn=true"), "--set", "work.writes.count=800")
        packets = packets_of(self.folder / "out/wire.pcapng")
        self.assertEqual(len(packets), len(self.frames))
        told = {}
        for event in self.events:
            told.setdefault((event["node"], int(event["words"].split()[1].rstrip(","))), []).append(event)
        for number, ((interface, octets, comment, packet_id), frame) in enumerate(zip(packets, self.frames), 1):
            self.assertEqual(frame["number"], number)
            happened = told.get((frame["sender"], frame["serial"]), [])
            self.assertEqual(sorted(comment.split("; ")), sorted(f"{event['kind']}: {event['words']}" for event in happened) or [""])
            lost = any(event["kind"] in SWALLOWED for event in happened)
            self.assertEqual(interface == "cable.lost", lost)
            self.assertEqual(frame["swallowed"], comment if lost else None)
            if lost:
                self.assertEqual(struct.unpack_from(">H", octets, 12)[0], LOST_ETHERTYPE)
                self.assertEqual(octets[:12], octets[14:26], "the addresses of the frame inside")
                self.assertEqual(len(octets), 14 + frame["bytes"])
                self.assertEqual(packet_id, ("a", "b").index(frame["sender"]) << 32 | frame["serial"])
        for sender in "ab":
            serials = sorted({frame["serial"] for frame in self.frames if frame["sender"] == sender})
            self.assertEqual(serials, list(range(1, len(serials) + 1)), "each frame of a port is here")

    def test_wireshark_sees_the_conversation_as_it_arrived(self):
        options = ("--set", "work.writes.depth=4", "--set", "work.writes.count=20", "--set", "work.writes.size=16384")
        self.run_with(*options, *link({"loss.frames": "100,150-152"}))
        numbers = [int(line) for line in self.tshark("-Y", 'frame.interface_name == "cable.lost"', "-T", "fields", "-e", "frame.number")]
        self.assertEqual(numbers, [frame["number"] for frame in self.frames if frame["swallowed"]])
        self.assertEqual([frame["serial"] for frame in self.frames if frame["swallowed"]], [100, 150, 151, 152])
        self.tshark("-Y", 'frame.interface_name != "cable.lost"', "-w", self.folder / "arrived.pcapng")
        fields = ("-T", "fields", "-e", "tcp.seq", "-e", "tcp.ack", "-e", "tcp.analysis.flags", "-e", "tcp.analysis.lost_segment",
                  "-e", "tcp.analysis.fast_retransmission", "-e", "iwarp_mpa.ulpdulength")
        self.assertEqual(self.tshark("-Y", "tcp", *fields), self.tshark("-Y", "tcp", *fields, capture="arrived.pcapng"))
        self.assertGreater(len(self.tshark("-Y", "tcp.analysis.fast_retransmission")), 0)

    def test_a_mark_is_on_that_frame_and_the_receiver_echoes_it(self):
        options = ("--set", "work.writes.count=60", "--set", "rnic.tcp.ecn=true")
        self.run_with(*options, *link({"mark.frames": 100}))
        marked = [int(n) for n in self.tshark("-Y", "ip.dsfield.ecn == 3", "-T", "fields", "-e", "frame.number")]
        self.assertEqual(marked, [frame["number"] for frame in self.frames if frame["sender"] == "a" and frame["serial"] == 100])
        echo = [int(n) for n in self.tshark("-Y", "tcp.flags.ece == 1 && tcp.flags.syn == 0", "-T", "fields", "-e", "frame.number")]
        self.assertGreater(min(echo), marked[0])
        self.assertEqual([event["words"] for event in self.events], ["frame 100, mark"])

    def test_a_retransmission_says_why(self):
        for faults, work, why in (({"loss.frames": 100}, "depth=4 count=20 size=16384", {"fast"}), ({"loss.frames": 20}, "depth=1 count=20 size=4096", {"timeout"}),
                                  ({"mtu.bytes": 1000, "mtu.at_us": "40-"}, "depth=4 count=20 size=16384", {"path MTU"})):
            with self.subTest(why):
                self.run_with(*link(faults, *(f"work.writes.{setting}" for setting in work.split())))
                self.assertEqual({row["words"] for row in self.log if row["kind"] == "retransmitted"}, why)
        self.run_with(*link({"loss.frames": 60}), scenario="sctp_quickstart")
        self.assertEqual({row["words"] for row in self.log if row["kind"] == "retransmitted"}, {"fast"})

    def test_without_faults_the_capture_is_as_without_events(self):
        self.run_with("--set", "work.writes.count=20")
        self.assertEqual(self.events, [])
        self.assertEqual({(interface, comment) for interface, _, comment, _ in packets_of(self.folder / "out/wire.pcapng")}, {("a", "")})

    def test_numbers_do_not_depend_on_the_file(self):
        options = ("--set", "work.writes.count=100", *link({"loss.every": 50}))
        self.run_with(*options)
        with_file = [tuple(frame) for frame in self.frames]
        self.run_with(*options, "--no-capture")
        self.assertEqual([tuple(frame) for frame in self.frames], with_file)

    def test_each_injected_error_names_its_frame_and_each_terminate_its_code(self):
        for file in sorted((TRACES / "errors").glob("*.json")):
            scenario = json.loads(file.read_text())
            injections = scenario.get("inject", [])
            wire = [injection for injection in injections if "work" not in injection]
            with self.subTest(file.stem):
                self.run_with(scenario=f"errors/{file.stem}")
                told = [event for event in self.events if event["kind"] == "injected"]
                self.assertEqual(len(told), len(wire))
                for event, injection in zip(told, wire):
                    self.assertEqual(event["node"], injection["sender"])
                    self.assertIn(injection.get("field", ""), event["words"])
                    serial = int(event["words"].split()[1].rstrip(","))
                    noted = [frame["number"] for frame in self.frames if frame["sender"] == event["node"] and frame["serial"] == serial]
                    comments = [number for number, packet in enumerate(packets_of(self.folder / "out/wire.pcapng"), 1) if "injected" in packet[2]]
                    self.assertEqual(comments, noted)
                for check in scenario["checks"]:
                    if check["check"] == "terminate" and file.stem != "mpa_startup":  # without a Terminate on the wire
                        self.check_terminate(check["sender"], check["code"])

    def test_a_refused_start_up_frame_is_told_without_the_firmware_s_log(self):
        self.run_with("--set", "rnic.fwcpu.log_level=0", scenario="errors/mpa_startup")
        refused = [event for event in self.log if event["kind"] == "refused"]
        self.assertEqual([(event["node"], event["words"].partition(" (")[0], event["request"], event["flow"]) for event in refused],
                         [("a", "2/0/04", "a.flow0.0", "0")])
        self.assertTrue(refused[0]["words"].endswith(": bad_rev"), refused[0]["words"])
        self.assertEqual([event for event in self.log if event["kind"] == "firmware_log"], [])

    def check_terminate(self, sender, code):
        """The stage that found the error, then the Terminate at both ends; the firmware has told of some itself."""
        told = [(event["node"], event["kind"], event["words"].partition(" (")[0]) for event in self.log if event["kind"] in ("refused", "terminated")]
        self.assertIn(told[0], ((sender, "refused", code), (sender, "terminated", f"ordered {code}")))
        if told[0][1] == "refused":
            self.assertEqual(told[1], (sender, "terminated", f"sent {code}"))
        self.assertIn(("b" if sender == "a" else "a", "terminated", f"received {code}"), told)


if __name__ == "__main__":
    unittest.main()
