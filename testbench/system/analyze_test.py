"""`analyze` against the database and the settings of the same run, against tshark, with captures of a real peer, and with bad input."""
import json
import shutil
import sqlite3
import statistics
import struct
import unittest

from rnicsim import TRACES, ProgramTest

LOSSY = ("work.writes.depth=4", "work.writes.count=20", "work.writes.size=16384")
PREAMBLE_AND_FCS, LEAST, PS_AN_OCTET, CABLE_PS = 12, 60, 80, 500_000


def path_ps(frame_bytes):
    return CABLE_PS + (max(frame_bytes, LEAST) + PREAMBLE_AND_FCS) * PS_AN_OCTET


class Analyze(ProgramTest):
    def run_writes(self, *settings):
        words = [word for s in settings for word in ("--set", s)]
        run = self.run_program("run", TRACES / "write_bw.json", "--db", self.folder / "out/run.sqlite", "-o", self.folder / "out", *words)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        self.database = sqlite3.connect(self.folder / "out/run.sqlite")
        return json.loads((self.folder / "out/stats.json").read_text())

    def analyze(self, name="out", *options, code=0):
        run = self.run_program("analyze", self.folder / name, "--json", *options)
        self.assertEqual(run.returncode, code, run.stderr)
        return json.loads(run.stdout)

    @staticmethod
    def figure(direction, name):
        return next((f for f in direction["figures"] if f["name"] == name), None)

    def frame(self, where):
        """Time in ps, octets, and number of the only frame."""
        rows = self.database.execute(f"SELECT time_ps, bytes, number FROM frames WHERE {where}").fetchall()
        self.assertTrue(rows, where)
        return rows[0]

    def by_tshark(self, name, figure, condition=""):
        """Frame and nanoseconds of each of tshark's."""
        field = f"tcp.analysis.{figure}"
        run = self.run_command("tshark", "-n", "-r", self.folder / name, "-Y", field + condition, "-T", "fields", "-e", "frame.number",
                               "-e", field)
        self.assertEqual(run.returncode, 0, run.stderr)
        lines = [line.split() for line in run.stdout.splitlines()]
        return [(int(frame), round(float(seconds) * 1e9)) for frame, seconds in lines]

    def refused(self, name, *options):
        run = self.run_program("analyze", self.folder / name, *options)
        self.assertEqual(run.returncode, 2, run.stdout)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        return run.stderr


class Oracles(Analyze):
    def test_a_lost_frame_is_that_of_the_database(self):
        self.run_writes(*LOSSY, "link.forward.loss.frames=100")
        sender = self.analyze()["connections"][0]["directions"][0]
        _, _, lost = self.frame("swallowed LIKE 'lost%'")
        sequence = self.database.execute(f"SELECT seq FROM frames WHERE number = {lost}").fetchone()[0]
        again_ps, again_bytes, again = self.frame(f"sender = 'a' AND seq = {sequence} AND swallowed IS NULL")
        beyond_ps, _, _ = self.frame(f"sender = 'a' AND number > {lost} AND payload > 0")
        news = self.database.execute("SELECT time_ps, bytes, number FROM frames WHERE sender = 'b' AND bytes = 66 AND number > ? "
                                     "ORDER BY number LIMIT 3", (lost,)).fetchall()
        third = self.figure(sender, "third_news_to_retransmission")
        self.assertAlmostEqual(third["max"], (again_ps - path_ps(again_bytes) - news[2][0]) / 1000, delta=1)
        self.assertEqual(third["slowest_frame"], again)
        gap = self.figure(sender, "gap_to_duplicate_ack")
        self.assertAlmostEqual(gap["max"], (news[0][0] - path_ps(news[0][1]) - beyond_ps) / 1000, delta=1)
        self.assertEqual(gap["slowest_frame"], news[0][2])
        loss = self.figure(sender, "loss_to_fast_retransmission")
        self.assertAlmostEqual(loss["max"], (again_ps - beyond_ps) / 1000, delta=1)
        self.assertEqual(self.database.execute("SELECT words FROM events WHERE kind = 'retransmitted'").fetchall(), [("fast",)])
        self.assertEqual(sender["retransmissions"]["fast"], 1)

    def test_acknowledgements_follow_the_settings(self):
        """An ACK leaves a few cycles after its timer expires, or waits for a frame that mac_tx is sending."""
        for delay, every in (500, 2), (2000, 8):
            with self.subTest(delay=delay, every=every):
                self.run_writes(*LOSSY, f"rnic.tcp.ack_delay_ns={delay}", f"rnic.tcp.ack_every={every}")
                sender = self.analyze()["connections"][0]["directions"][0]
                wait = self.figure(sender, "ack_wait")
                self.assertGreaterEqual(wait["max"], delay)
                self.assertLessEqual(wait["max"], delay + 200)
                self.assertEqual(self.figure(sender, "segments_per_ack")["max"], every)

    def test_a_timeout_follows_the_setting(self):
        """An ACK is lost: the sender repeats what its peer has."""
        for least_us in 200, 400:
            with self.subTest(least_us=least_us):
                self.run_writes("work.writes.depth=1", "work.writes.count=20", "work.writes.size=1024", "link.reverse.loss.frames=10",
                                f"rnic.tcp.rto_min_us={least_us}")
                sender = self.analyze()["connections"][0]["directions"][0]
                rto = self.figure(sender, "rto")
                self.assertEqual(rto["count"], 1)
                self.assertGreaterEqual(rto["max"], least_us * 1000)
                self.assertLessEqual(rto["max"], least_us * 1000 + 200)
                self.assertEqual(sender["retransmissions"]["needless"], {"sure": 1, "possibly": 0})
                self.assertEqual(self.by_tshark("out/wire.pcapng", "rto"), [(rto["slowest_frame"], rto["max"])])

    def test_what_is_reordered_is_late_and_not_lost(self):
        self.run_writes(*LOSSY, "link.forward.reorder.frames=100")
        sender = self.analyze()["connections"][0]["directions"][0]
        self.assertEqual((sender["late"], sender["retransmissions"]["needless"]["sure"]), (1, 1))

    def test_a_mark_is_answered(self):
        self.run_writes(*LOSSY, "link.forward.mark.frames=100", "rnic.tcp.ecn=true")
        sender = self.analyze()["connections"][0]["directions"][0]
        self.assertEqual(sender["ce_marked"], 1)
        for name in "ce_to_ece", "ece_to_cwr", "reduction":
            self.assertEqual(self.figure(sender, name)["count"], 1, name)

    def test_each_read_has_its_response(self):
        run = self.run_program("run", TRACES / "read_bw_ord16.json", "--db", self.folder / "out/run.sqlite", "-o", self.folder / "out")
        self.assertEqual(run.returncode, 0, run.stderr)
        results = json.loads((self.folder / "out/stats.json").read_text())["results"]
        requester = self.analyze()["connections"][0]["directions"][0]
        first, last = (self.figure(requester, f"read_to_{which}_response") for which in ("first", "last"))
        self.assertEqual(first["count"], sum(r["count"] for r in results))
        self.assertEqual(last["count"], first["count"])
        self.assertLess(first["median"], last["median"])
        self.assertLess(last["max"], max(r["latency_ns"]["max"] for r in results))
        rows = [json.loads(line) for line in self.run_program("decode", self.folder / "out/wire.pcapng", "--list", "--json").stdout.splitlines()]
        asked = [r for r in rows if r.get("opcode") == "Read Request"]
        ends = [r for r in rows if r.get("opcode") == "Read Response" and r["last"]]
        octets = dict(sqlite3.connect(self.folder / "out/run.sqlite").execute("SELECT number, bytes FROM frames"))
        times = [e["epoch_ns"] - round(path_ps(octets[e["frame"]]) / 1000) - a["epoch_ns"] for a, e in zip(asked, ends)]
        self.assertAlmostEqual(last["min"], min(times), delta=1)
        self.assertAlmostEqual(last["max"], max(times), delta=1)

    def test_acknowledgement_times_are_those_of_tshark(self):
        """As the same capture would be if it was made at one place: no path is subtracted. tshark takes the segment whose end is acknowledged; ours is the
        newest one that is acknowledged, which is the same where nothing is lost."""
        self.run_writes(*LOSSY)
        shutil.copy(self.folder / "out/wire.pcapng", self.folder / "foreign.pcapng")
        sender = self.analyze("foreign.pcapng")["connections"][0]["directions"][0]
        # The first one is the SYN's, the last one the FIN's.
        found = [ns for _, ns in self.by_tshark("foreign.pcapng", "ack_rtt", " && ip.src == 10.0.0.2")][1:-1]
        ours = self.figure(sender, "ack_delay")
        self.assertEqual((ours["count"], ours["min"], ours["max"]), (len(found), min(found), max(found)))
        self.assertEqual(ours["median"], statistics.median_low(found))


class Captures(Analyze):
    def test_a_real_peer(self):
        for capture in sorted((TRACES / "siw").glob("*.pcap")):
            with self.subTest(capture=capture.name):
                run = self.run_program("analyze", capture, "--json")
                self.assertEqual(run.returncode, 0, run.stderr)
                found = json.loads(run.stdout)
                self.assertTrue(found["connections"])
                for direction in (d for c in found["connections"] for d in c["directions"]):
                    for f in direction["figures"]:
                        self.assertTrue(0 <= f["min"] <= f["median"] <= f["p99"] <= f["max"], f)
                        self.assertTrue(0 < f["slowest_frame"] <= found["integrity"]["packets"], f)
                self.assertEqual(self.run_program("analyze", capture).returncode, 0)

    def test_offload_leaves_figures_out_by_name(self):
        found = json.loads(self.run_program("analyze", TRACES / "siw/gso-rping-2000.pcap", "--json").stdout)
        above = [d for c in found["connections"] for d in c["directions"] if d["above_mss"]]
        for direction in above:
            self.assertIsNone(self.figure(direction, "segments_per_ack"))

    def test_where_it_was_made(self):
        rping = TRACES / "siw/rping-64.pcap"
        for tap, name in ("middle", "between both sides"), ("sender", "beside the"), ("receiver", "beside the"):
            found = json.loads(self.run_program("analyze", rping, "--json", "--tap", tap).stdout)
            self.assertIn(name, found["connections"][0]["tap"])


class BadInput(Analyze):
    HEADER = struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)

    def write(self, data, name="bad"):
        (self.folder / name).write_bytes(data)

    def test_files_that_are_no_captures(self):
        self.write(b"")
        self.assertIn("not a capture", self.refused("bad"))
        self.write(b"text\n" * 9)
        self.assertIn("not a capture", self.refused("bad"))
        self.assertIn("cannot be opened", self.refused("nothing"))
        self.write(self.HEADER)
        self.assertIn("no TCP in 0 packets", self.refused("bad"))

    def test_packets_that_are_not_tcp(self):
        arp = bytes(12) + b"\x08\x06" + bytes(46)
        self.write(self.HEADER + struct.pack("<IIII", 0, 0, len(arp), len(arp)) + arp)
        self.assertIn("no TCP in 1 packets", self.refused("bad"))
        run = self.run_program("run", TRACES / "sctp_quickstart.json", "-o", self.folder / "sctp")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("only TCP is analysed", self.refused("sctp"))

    def test_a_file_that_is_cut_is_analysed_as_far_as_it_goes(self):
        whole = (TRACES / "siw/rping-64.pcap").read_bytes()
        self.write(whole[:-7])
        run = self.run_program("analyze", self.folder / "bad")
        self.assertEqual(run.returncode, 1)
        self.assertIn("truncated", run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1)
        self.assertIn("ack_delay", run.stdout)

    def test_folders(self):
        (self.folder / "empty").mkdir()
        self.assertIn("--no-capture", self.refused("empty"))
        run = self.run_program("run", TRACES / "quickstart.json", "-o", self.folder / "out")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("--tap is for captures that are not of a run", self.refused("out", "--tap", "middle"))
        (self.folder / "out/stats.json").write_text("[]")
        self.assertIn("stats.json", self.refused("out"))
        (self.folder / "out/stats.json").unlink()
        self.assertIsNone(self.analyze("out")["path"])

    def test_options(self):
        self.assertIn("sender, receiver or middle?", self.refused("bad", "--tap", "above"))
        run = self.run_program("analyze")
        self.assertEqual((run.returncode, len(run.stderr.splitlines())), (2, 1))


if __name__ == "__main__":
    unittest.main()
