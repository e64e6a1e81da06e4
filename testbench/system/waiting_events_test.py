"""What says why work does not go on: waits and windows of queue pairs and flows, work of cores and of the firmware, what programs see,
and which part of its message a segment is."""
import json
import sqlite3
import unittest

from rnicsim import TRACES, ProgramTest

WRITES = ("--set", "work.writes.depth=4", "--set", "work.writes.count=20", "--set", "work.writes.size=16384")


def settings(*assignments):
    return [word for setting in assignments for word in ("--set", setting)]


class WaitingEvents(ProgramTest):
    def run_with(self, scenario, *options, codes=(0, 1)):
        stats = self.run_scenario(scenario if "/" in str(scenario) else TRACES / f"{scenario}.json", "--db", "run.sqlite", *options, codes=codes)
        database = sqlite3.connect(self.folder / "run.sqlite")
        self.addCleanup(database.close)
        database.row_factory = sqlite3.Row
        self.database = database
        return stats

    def events(self, kind, more="1", *values):
        return self.database.execute(f"SELECT * FROM events WHERE kind = ? AND {more} ORDER BY id", (kind, *values)).fetchall()

    def waits(self, node):
        """(reason, ps) of each wait of the node's queue pair 0."""
        changes = [(event["time_ps"], event["words"]) for event in self.events("waits", "node = ? AND qpn = 0", node)]
        return [(why, until - since) for (since, why), (until, _) in zip(changes, changes[1:])]

    def test_a_window_that_is_small_is_what_a_writer_waits_for(self):
        self.run_with("write_bw", *WRITES, *settings("rnic.tcp.window_bytes=8192"))
        self.assertEqual({why for why, _ in self.waits("a")}, {"credit", "nothing"})
        bound = [event["words"] for event in self.events("window", "node = 'a'")]
        self.assertTrue(all(words.startswith("peer's window") for words in bound), bound)
        used_up = [words for words in bound if words.startswith("peer's window used up")]
        self.assertGreater(len(used_up), 20)
        for words in used_up:  # no other FPDU of 1,460 octets fits behind those in flight and the one that is queued
            in_flight, window = int(words.split()[4]), int(words.split()[-1])
            self.assertLess(window - in_flight, 3 * 1460)
        self.assertEqual(self.events("reduced"), [])

    def test_a_loss_reduces_the_congestion_window_once(self):
        self.run_with("write_bw", *WRITES, *settings("link.forward.loss.frames=100"))
        reduced = self.events("reduced")
        self.assertEqual([(event["node"], event["words"].split(":")[0]) for event in reduced], [("a", "loss")])
        again = self.events("retransmitted", "node = 'a'")
        self.assertLessEqual(reduced[0]["time_ps"], again[0]["time_ps"])
        self.assertEqual(len(again), 1)
        bounds = self.events("window", "node = 'a' AND time_ps >= ?", reduced[0]["time_ps"])
        self.assertTrue(bounds[0]["words"].startswith("congestion window"), bounds[0]["words"])

    def test_a_timeout_reduces_it_to_a_segment(self):
        self.run_with("write_bw", *settings("work.writes.depth=1", "work.writes.count=20", "work.writes.size=4096", "link.forward.loss.frames=20"))
        reduced = [event["words"] for event in self.events("reduced")]
        self.assertEqual([words.split(":")[0] for words in reduced], ["timeout"])
        self.assertEqual(int(reduced[0].split()[-1]), 1460)
        self.assertEqual({event["words"] for event in self.events("retransmitted")}, {"timeout"})

    def test_a_mark_reduces_it_by_its_echo(self):
        self.run_with("write_bw", *WRITES, *settings("link.forward.mark.frames=100", "rnic.tcp.ecn=true"))
        self.assertEqual([event["words"].split(":")[0] for event in self.events("reduced")], ["congestion echo"])

    def sctp_writes(self, *assignments):
        """Two queue pairs of one association, whose windows they share."""
        scenario = {"name": "sctp", "transport": "sctp", "nodes": [{"name": "a"}, {"name": "b"}],
                    "connections": [{"name": "c0", "from": "a", "to": "b", "qps": 2}],
                    "work": [{"name": "writes", "op": "write", "size": 16384, "count": 20, "depth": 4}], "checks": [{"check": "data"}]}
        (self.folder / "sctp.json").write_text(json.dumps(scenario))
        return self.run_with(self.folder / "sctp.json", *settings(*assignments), codes=(0,))

    def test_windows_of_sctp(self):
        """A small a_rwnd is what both queue pairs wait for; what is in flight never exceeds it."""
        self.sctp_writes("nodes.b.rnic.sctp.receive_buffer=16384")
        self.assertEqual({why for why, _ in self.waits("a")}, {"sctp_credit", "nothing"})
        bound = self.events("window", "node = 'a'")
        self.assertEqual({event["qpn"] for event in bound}, {0, 1})
        self.assertLessEqual({event["words"].split(":")[0] for event in bound}, {"a_rwnd", "a_rwnd used up"})
        used_up = [event["words"] for event in bound if event["words"].startswith("a_rwnd used up")]
        self.assertGreater(len(used_up), 10)
        for words in used_up:
            in_flight, a_rwnd = int(words.split(": ")[1].split()[0]), int(words.split()[-1])
            self.assertLessEqual(a_rwnd, 16384)
            self.assertLess(a_rwnd - in_flight, 2 * 1480 + 8 * 1480, words)  # eight chunks wait beside what may be in flight
        for qpn in (0, 1):  # each event is a change
            texts = [event["words"].split(":")[0] for event in bound if event["qpn"] == qpn]
            self.assertTrue(all(one != other for one, other in zip(texts, texts[1:])))

    def test_a_loss_reduces_the_window_of_an_association_once(self):
        stats = self.sctp_writes("link.forward.loss.frames=60")
        reduced = self.events("reduced", "node = 'a'")
        self.assertEqual([(event["qpn"], event["words"].split(":")[0]) for event in reduced], [(0, "loss"), (1, "loss")])  # of each queue pair
        self.assertEqual(stats["stats"]["a"]["rnic"]["sctp_association"]["fast_retransmits"]["value"], 1)
        before, after = map(int, reduced[0]["words"].split("congestion window ")[1].split(" to "))
        self.assertEqual(after, before // 2)
        again = self.events("retransmitted", "node = 'a'")
        self.assertLessEqual(reduced[0]["time_ps"], again[0]["time_ps"])

    def test_a_timeout_reduces_the_window_of_an_association_to_a_packet(self):
        self.sctp_writes("work.writes.depth=1", "work.writes.count=1")
        last = self.database.execute("SELECT max(serial) FROM frames JOIN requests ON requests.id = request WHERE sender = 'a' AND text GLOB 'a.?.?'").fetchone()[0]
        stats = self.sctp_writes("work.writes.depth=1", "work.writes.count=1", f"link.forward.loss.frames={last}")
        self.assertGreater(stats["stats"]["a"]["rnic"]["sctp_association"]["timeouts"]["value"], 0)
        reduced = [event["words"] for event in self.events("reduced", "node = 'a'")]
        self.assertEqual({words.split(":")[0] for words in reduced}, {"timeout"})
        self.assertEqual({int(words.split()[-1]) for words in reduced}, {1468})  # a packet of 1,500 octets without the headers of IP and SCTP

    def test_reads_wait_for_a_place_of_ord(self):
        self.run_with("read_bw_ord16", *settings("connections.c0.ord=1"))
        of_ord = [ps for why, ps in self.waits("a") if why == "ord"]
        reads = self.database.execute("SELECT count(*) FROM requests WHERE text GLOB 'a.0.*' AND polled_ps").fetchone()[0]
        self.assertLessEqual(len(of_ord), 2 * reads)
        self.assertGreaterEqual(len(of_ord), reads - 40)  # the first waits for nobody, the last leave nobody behind
        run = self.database.execute("SELECT max(polled_ps) - min(posted_ps) FROM requests WHERE text GLOB 'a.0.*'").fetchone()[0]
        self.assertGreater(sum(of_ord), 0.9 * run)

    def test_the_segments_of_a_message_are_told_apart(self):
        self.run_with("write_bw", *WRITES, *settings("link.forward.loss.ppm=20000"))
        for kind in ("segmented", "fpdu_received"):
            parts = {}
            for event in self.events(kind, "offset IS NOT NULL AND request IN (SELECT id FROM requests WHERE text GLOB 'a.0.*')"):
                parts.setdefault(event["request"], []).append(event["offset"])
            writes = [offsets for offsets in parts.values() if max(offsets) > 0]
            self.assertEqual(len(writes), 20, kind)
            for offsets in writes:
                self.assertEqual(len(offsets), len(set(offsets)))
                self.assertEqual(sorted(offsets)[0], 0)
                ends = sorted(offsets)[1:] + [16384]
                self.assertLessEqual(max(end - begin for begin, end in zip(sorted(offsets), ends)), 1460)
        for frame in self.database.execute("SELECT offset, swallowed, sender FROM frames WHERE payload > 1000 AND sender = 'a'"):
            self.assertIsNotNone(frame["offset"])
        lost = self.database.execute("SELECT request, offset FROM frames WHERE swallowed IS NOT NULL AND sender = 'a' AND payload > 1000").fetchall()
        self.assertGreater(len(lost), 0)
        for frame in lost:  # what was sent again is that segment
            again = self.events("retransmitted", "request = ? AND offset = ?", frame["request"], frame["offset"])
            self.assertGreaterEqual(len(again), 1)

    def test_what_the_firmware_does_is_told(self):
        stats = self.run_with("quickstart")
        for node in ("a", "b"):
            busy = 0
            for event in self.events("handled", "node = ?", node):
                busy += int(event["words"].split(", ")[1].split()[0])
            counters = stats["stats"][node]["rnic"]["fwcpu"]
            self.assertEqual(busy, counters["busy_cycles"]["value"])
            self.assertEqual(len(self.events("handled", "node = ?", node)), counters["events"]["value"])
        self.assertEqual(len(self.events("handled", "node = 'a' AND words GLOB 'host_command create_qp,*'")),
                         len(self.events("command", "node = 'a' AND words GLOB 'create_qp,*'")))

    def test_whom_the_firmware_works_for(self):
        """Each command, connection and queue pair is an owner; a timer has none."""
        stats = self.run_with("quickstart")
        handled = self.database.execute("SELECT node, words, text FROM events LEFT JOIN requests ON requests.id = request WHERE kind = 'handled'"
                                        " ORDER BY events.id").fetchall()
        for node in ("a", "b"):
            commands = [event["text"] for event in handled if event["node"] == node and event["words"].startswith("host_command")]
            self.assertEqual(commands, [f"{node}.cmd0.{number}" for number in range(len(commands))])
            self.assertEqual(len(commands), stats["stats"][node]["rnic"]["command_fetch"]["commands"]["value"])
            owners = {event["words"].split(",")[0]: event["text"] for event in handled if event["node"] == node}
            for words, owner in owners.items():
                if words.startswith(("tcp_", "sctp_")):
                    self.assertRegex(owner, rf"^{node}\.flow\d+\.0$")
                elif words.startswith("qp_"):
                    self.assertRegex(owner, rf"^{node}\.")
                elif words == "timer_expired":
                    self.assertIsNone(owner)
            self.assertIn("tcp_connected" if node == "a" else "tcp_accepted", owners)

    def test_the_owner_of_a_handler_is_in_its_present_life(self):
        """A flow's number that was used before has its uses in the name, as in its frames."""
        self.run_with("churn", *settings("rnic.tcp.max_flows=8"), codes=(0,))
        of_handlers, of_frames = ({row[0] for row in self.database.execute(query)} for query in (
            "SELECT text FROM events JOIN requests ON requests.id = request WHERE kind = 'handled' AND words GLOB 'tcp_[ac]*'",
            "SELECT text FROM frames JOIN requests ON requests.id = request WHERE text GLOB '*.flow*'"))
        self.assertGreater(len({owner for owner in of_handlers if "#" in owner}), 10)
        self.assertLessEqual(of_handlers, of_frames)

    def test_a_call_may_take_longer_than_32_bits_of_ps(self):
        self.run_with("write_bw", *settings("nodes.a.host.cpu.post_ns=1000000", "work.writes.depth=8", "work.writes.count=16"))
        longest = max(int(event["words"].split()[0]) for event in self.events("worked", "node = 'a'"))
        self.assertGreaterEqual(longest, 8_000_000_000)

    def test_cores_work_one_call_at_a_time(self):
        self.run_with("quickstart", *settings("nodes.a.host.cpu.post_ns=3000"))
        ends = {}
        for event in self.events("worked"):
            core = (event["node"], event["place"])
            self.assertGreaterEqual(event["time_ps"], ends.get(core, 0))
            ends[core] = event["time_ps"] + int(event["words"].split()[0])
        self.assertIn(("a", "host.core1"), ends)
        longest = max(int(event["words"].split()[0]) for event in self.events("worked", "node = 'a'"))
        self.assertGreaterEqual(longest, 3_000_000)

    def test_both_programs_of_a_ping_pong_see_each_message(self):
        for scenario in ("send_pingpong", "write_pingpong"):
            stats = self.run_with(scenario)
            count = sum(item["count"] for item in json.loads((TRACES / f"{scenario}.json").read_text())["work"])
            self.assertEqual(stats["errors"], [])
            for node in ("a", "b"):
                seen = [event["words"] for event in self.events("seen", "node = ?", node)]
                self.assertEqual(len(seen), count)
                self.assertEqual(seen[:3], ["message 0", "message 1", "message 2"])

    def test_a_wrong_octet_is_told_with_its_message(self):
        scenario = json.loads((TRACES / "quickstart.json").read_text())
        scenario["connections"][0]["crc"] = False
        for node in scenario["nodes"]:
            node.setdefault("config", {})["rnic.fwcpu.crc"] = False
        (self.folder / "plain.json").write_text(json.dumps(scenario))
        stats = self.run_with(self.folder / "plain.json", *settings("link.forward.corrupt_repaired.frames=60"), codes=(1,))
        failed = self.events("check_failed")
        self.assertEqual(len(failed), 1)
        message, octet = failed[0]["words"].split(":")[0].split(", ")
        text = next(error for error in stats["errors"] if "differs first" in error)
        self.assertIn(f"{message} of", text)
        self.assertIn(f"first at {octet}:", text)

    def test_no_result_depends_on_being_told(self):
        plain = self.run_scenario(TRACES / "quickstart.json")["digest"]
        self.assertEqual(self.run_with("quickstart")["digest"], plain)


if __name__ == "__main__":
    unittest.main()
