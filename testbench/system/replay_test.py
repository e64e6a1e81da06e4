"""The model in place of either side in the captures of a real peer."""
import json
import os
import signal
import struct
import subprocess
import time
import unittest

from rnicsim import RUN_FILES, RUN_KEYS, TRACES, ProgramTest

FAULTS = TRACES / "siw-faults"
CAPTURES = sorted([*(TRACES / "siw").glob("*.pcap"), *FAULTS.glob("*.pcap")])
RECORD = 16  # octets of a pcap record's header; the file's has 24


class Replay(ProgramTest):
    def replay(self, capture, role, *options):
        run = self.run_program("replay", capture, "--as", role, "--json", *options)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        report = json.loads(run.stdout)
        self.assertEqual(set(report) - {"capture_ends_at"}, {"messages", "matched", "differences"})
        unexplained = [d for d in report["differences"] if d["explained_by"] is None]
        self.assertEqual(run.returncode, 1 if unexplained else 0)
        return report, unexplained

    def real_messages(self, capture, role):
        """Startup frames and, if they are one FPDU each, messages of the side that the model plays."""
        found = json.loads(self.run_program("decode", capture, "--json").stdout)
        side = {"client": 0, "server": 1}[role]
        return sum((c["mpa"]["req" if side == 0 else "rep"] is not None)
                   + sum(c["directions"][side]["fpdus"].values()) for c in found["connections"])


class Captures(Replay):
    def test_every_capture_in_both_roles(self):
        for capture in CAPTURES:
            for role in "server", "client":
                with self.subTest(capture=capture.stem, role=role):
                    report, unexplained = self.replay(capture, role)
                    self.assertEqual(unexplained, [])
                    self.assertGreater(report["messages"], 0)

    def test_nothing_is_left_out(self):
        for role in "server", "client":
            capture = TRACES / "siw/rping-64.pcap"
            report, _ = self.replay(capture, role)
            self.assertEqual(report, {"messages": self.real_messages(capture, role),
                                      "matched": self.real_messages(capture, role), "differences": []})

    def test_deviations_of_siw_are_explained(self):
        report, _ = self.replay(TRACES / "siw/gso-rping-2000.pcap", "server")
        (difference,) = report["differences"]
        self.assertIn("startup frame, reserved flags", difference["what"])
        self.assertEqual((difference["expected"], difference["got"]), ("0x8", "0x0"))
        self.assertIn("MPA-7.1.1-09", difference["explained_by"])
        self.assertEqual(report["matched"], report["messages"] - 1)

    def test_what_siw_refuses_the_model_refuses_too(self):
        """The expected differences of each side that offends, or is offended, beyond the layout and length of Terminates."""
        for name, role, matched, explained in (
                ("read-sink-unknown", "client", -1, []),
                ("read-sink-short", "client", -1, ["RDMAP-5.2-07"]),
                ("read-sink-ended", "client", -1, []),
                ("read-source-ended", "server", -1, ["DDP-7.1-12"]),
                ("read-wraps", "server", -1, ["RDMAP-9.2-10"]),
                ("write-wraps", "server", -1, ["DDP-7.1-10"]),
                ("crc-write-wraps", "server", -1, ["DDP-7.1-10"]),
                ("send-too-long-middle", "server", -1, ["RDMAP-7.3-04"]),
                ("server-killed", "server", -2, ["RDMAP-7.2.2-07"] * 2),
                ("server-killed", "client", -1, ["MPA-8-01"]),
                ("two-clients-one-short", "server", -1, ["RDMAP-5.2-07"]),
                ("two-clients-one-too-long", "server", -1, ["RDMAP-7.3-04"])):
            with self.subTest(capture=name, role=role):
                report, unexplained = self.replay(FAULTS / f"{name}.pcap", role)
                self.assertEqual(unexplained, [])
                self.assertEqual(report["matched"] - report["messages"], matched)
                other = [d["explained_by"] for d in report["differences"]
                         if "layout" not in d["what"] and "segment length" not in d["what"]]
                self.assertEqual([why.split(":")[0].split(",")[0] for why in other], explained)

    def test_the_result_does_not_depend_on_the_order_of_stages(self):
        capture = TRACES / "siw/crc-rping-2000.pcap"
        self.assertEqual(self.replay(capture, "server"),
                         self.replay(capture, "server", "--set", "sim.shuffle_seed=7"))

    def test_text(self):
        run = self.run_program("replay", TRACES / "siw/mpa1-reject.pcap", "--as", "server")
        self.assertEqual((run.returncode, run.stdout), (0, "1 messages, 1 matched, 0 differences, 0 unexplained\n"))


class Watched(Replay):
    CAPTURE = TRACES / "siw/crc-rping-2000.pcap"
    WATCHING = ("--trace", "log.tsv", "--wave", "w.vcd", "--wave-from", "10us", "--wave-to", "20us")

    def stats(self, folder="out"):
        return json.loads((self.folder / folder / "stats.json").read_text())

    def test_nothing_changes_by_watching(self):
        for role in "server", "client":
            with self.subTest(role):
                alone = self.replay(self.CAPTURE, role)
                self.assertEqual(self.replay(self.CAPTURE, role, "--out", "plain"), alone)
                self.assertEqual(self.replay(self.CAPTURE, role, "--out", "out", *self.WATCHING), alone)
                plain, watched = self.stats("plain"), self.stats()
                for stats in plain, watched:  # entries into the kernel, which a waveform's window increases
                    del stats["stats"]["model"]["core_clk"], stats["stats"]["model"]["host_clk"]
                    del stats["wall_s"], stats["cpu_s"], stats["frames_per_cpu_s"]
                self.assertGreater(watched.pop("wave_changes"), 0)
                self.assertEqual(plain, watched)
                self.assertEqual(watched["comparison"], alone[0])
                self.assertEqual((watched["end"], watched["complete"], watched["as"]), ("done", True, role))
                self.assertGreater(watched["stats"]["model"]["rnic"]["mac_tx"]["frames"]["value"], 0)

    def test_the_files_show_the_replay(self):
        run = self.run_program("replay", self.CAPTURE, "--as", "server", "--out", "out", *self.WATCHING)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        files = "out/wire.pcapng, log.tsv, w.vcd, w.gtkw, w.sucl, out/fw_log.txt, out/stats.txt, out/stats.json"
        self.assertTrue(run.stdout.endswith(f"files: {files}\n"), run.stdout)
        self.assertEqual(self.files(), sorted(["log.tsv", "w.vcd", "w.gtkw", "w.sucl", *(f"out/{name}" for name in RUN_FILES)]))
        self.assertEqual(set(self.stats()), RUN_KEYS | {"capture", "as", "comparison", "wave_changes"})
        self.assertIn(" 0 unexplained\n", (self.folder / "out/stats.txt").read_text())
        found = json.loads(self.run_program("decode", "out/wire.pcapng", "--json").stdout)
        real = json.loads(self.run_program("decode", self.CAPTURE, "--json").stdout)
        self.assertEqual([c["directions"][1]["fpdus"] for c in found["connections"]],
                         [c["directions"][1]["fpdus"] for c in real["connections"]])
        events = [line.split("\t") for line in (self.folder / "log.tsv").read_text().splitlines()]
        self.assertGreater(len(events), 100)
        self.assertEqual({len(e) for e in events}, {11})
        times = [int(line[1:]) for line in (self.folder / "w.vcd").read_text().splitlines() if line.startswith("#")]
        self.assertLessEqual(max(times), 20_000_000)
        self.assertGreaterEqual(min(t for t in times if t), 10_000_000)

    def test_without_a_folder_only_what_is_asked_for_is_written(self):
        self.replay(self.CAPTURE, "server", "--trace", "log.tsv")
        self.assertEqual(self.files(), ["log.tsv"])

    def test_a_full_disk(self):
        run = self.run_command("bash", "-c", 'ulimit -f 8; exec "$0" "$@"', os.environ["RNICSIM"], "replay", self.CAPTURE,
                               "--as", "server", "--out", "out", "--trace", "log.tsv")
        self.assertEqual(run.returncode, 5, run.stdout + run.stderr)
        self.assertIn("log.tsv: ", run.stderr)
        self.assertIn(" 0 unexplained\n", run.stdout)
        self.assertNotIn("log.tsv", self.files())

    def test_a_window_without_a_waveform_is_a_mistake(self):
        run = self.run_program("replay", self.CAPTURE, "--as", "server", "--wave-from", "10us")
        self.assertEqual(run.returncode, 2)
        self.assertIn("replay: --wave-from needs --wave FILE", run.stderr)

    def test_a_signal_leaves_what_there_is(self):
        process = subprocess.Popen([os.environ["RNICSIM"], "replay", str(self.CAPTURE), "--as", "client", "--out", "out",
                                    "--set", "sim.run_ahead=false"], cwd=self.folder, stdout=subprocess.PIPE, text=True)
        while not (self.folder / "out/wire.pcapng.part").exists():
            if process.poll() is not None:
                break  # on a busy machine; skipped below
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=1200)
        if process.returncode in (0, 1):
            self.skipTest("the replay was over before the signal came")
        self.assertEqual(process.returncode, 130)
        self.assertTrue(out.startswith("incomplete: SIGINT has stopped the replay\n"), out)
        self.assertEqual((self.stats()["end"], self.stats()["complete"]), ("interrupted", False))

    def test_a_firmware_that_fails(self):
        run = self.run_program("replay", self.CAPTURE, "--as", "server", "--out", "out",
                               "--set", "rnic.fwcpu.fault=panic", "--set", "rnic.fwcpu.fault_event=7")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertRegex(run.stderr, r"(?m)^rnicsim: the firmware of model stopped: .*; see out/firmware-model.txt$")
        self.assertEqual((self.stats()["end"], self.stats()["complete"]), ("failed", False))
        self.assertIn("cause panic\n", (self.folder / "out/firmware-model.txt").read_text())


class WrongCaptures(Replay):
    def changed(self, change, capture="rping-64"):
        octets = bytearray((TRACES / f"siw/{capture}.pcap").read_bytes())
        (self.folder / "changed.pcap").write_bytes(change(octets))
        return "changed.pcap"

    def test_a_real_side_that_breaks_the_rules(self):
        """The server's first Send has MSN 3: a model cannot send that, whatever its program asks for."""
        def skip_msn(octets):
            head = bytes.fromhex("0022 4143 00000000 00000000 00000001 00000000")
            at = octets.index(head, octets.index(head) + 1)  # the client's Send comes first
            words = list(struct.unpack_from(">18H", octets, at))
            words[7] += 2  # the MSN
            words[10] = (words[10] - 2) % 0xffff  # in the payload, to keep TCP's checksum
            struct.pack_into(">18H", octets, at, *words)
            return octets

        report, unexplained = self.replay(self.changed(skip_msn), "server")
        self.assertEqual(report["matched"], report["messages"] - 1)
        (difference,) = unexplained
        self.assertIn("message 2", difference["what"])
        self.assertIn("MSN 3", difference["expected"])
        self.assertIn("MSN 1", difference["got"])

    def test_a_message_that_the_model_never_sends(self):
        """The server's first Write becomes an unsolicited Read Response; the replay continues without it."""
        def answer_unasked(octets):
            at = octets.index(bytes.fromhex("004e c140"))
            words = list(struct.unpack_from(">40H", octets, at))
            words[1] += 2  # the opcode
            words[10] = (words[10] - 2) % 0xffff
            struct.pack_into(">40H", octets, at, *words)
            return octets

        report, unexplained = self.replay(self.changed(answer_unasked), "server")
        self.assertEqual(report["matched"], report["messages"] - 1)
        (difference,) = unexplained
        self.assertEqual(difference["got"], "nothing")
        self.assertIn("Read Response of 64 octets", difference["expected"])

    @staticmethod
    def without_a_data_segment(octets):
        at, seen = 24, 0
        while True:
            size = struct.unpack_from("<I", octets, at + 8)[0]
            seen += size > 100
            if seen == 5:
                return octets[:at] + octets[at + RECORD + size:]
            at += RECORD + size

    def test_missing_octets(self):
        self.assertRegex(self.refuse(self.changed(self.without_a_data_segment), "--as", "server"),
                         r"cannot be replayed: .*octets are missing")

    # Octets missing at the end of a stream leave no hole.
    def test_a_capture_that_is_not_whole(self):
        def cut_a_frame(octets):
            at = 24
            while (size := struct.unpack_from("<I", octets, at + 8)[0]) < 110:
                at += RECORD + size
            return octets[:at + 8] + struct.pack("<I", 90) + octets[at + 12:at + RECORD + 90] + octets[at + RECORD + size:]

        self.assertRegex(self.refuse(self.changed(lambda octets: octets[:-100]), "--as", "server"),
                         r"cannot be replayed: it is not whole: frame \d+, offset \d+: the rest of the file: truncated: of a packet of")
        self.assertRegex(self.refuse(self.changed(cut_a_frame), "--as", "client"),
                         r"cannot be replayed: it is not whole: frame \d+, offset \d+: the capture kept 90 of the frame's \d+ octets")

    def test_what_there_is_of_a_cut_file_is_replayed_in_part(self):
        for capture in "rping-64", "crc-rping-2000", "p2p-rping-2000", "err-write-badkey":
            size = (TRACES / f"siw/{capture}.pcap").stat().st_size
            for share in 3, 5, 7, 9:
                name = self.changed(lambda octets, end=size * share // 10: octets[:end], capture)
                for role in "server", "client":
                    with self.subTest(capture=capture, share=share, role=role):
                        run = self.run_program("replay", name, "--as", role, "--partial")
                        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
                        self.assertRegex(run.stdout.splitlines()[0],
                                         r"^partial: frame \d+, offset \d+: the rest of the file: truncated")
                        report, _ = self.replay(name, role, "--partial")
                        self.assertTrue(report["capture_ends_at"].startswith("frame "))

    def test_what_comes_before_a_hole_is_replayed_in_part(self):
        report, unexplained = self.replay(self.changed(self.without_a_data_segment), "server", "--partial")
        self.assertEqual(unexplained, [])
        self.assertRegex(report["capture_ends_at"], r"^10\.0\.0\.2:\d+ > 10\.0\.0\.1:7174: \d+ octets are missing$")
        whole, _ = self.replay(TRACES / "siw/rping-64.pcap", "server", "--partial")
        self.assertNotIn("capture_ends_at", whole)
        self.assertLess(report["messages"], whole["messages"])

    def refuse(self, *arguments):
        run = self.run_program("replay", *arguments)
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        return run.stderr

    def test_no_connection(self):
        self.assertRegex(self.refuse(self.changed(lambda octets: octets[:24]), "--as", "client"),
                         "cannot be replayed: no TCP connection")

    def test_no_capture(self):
        self.assertEqual(self.refuse("none.pcap", "--as", "client"), "rnicsim: none.pcap: cannot be opened: No such file or directory\n")

    def test_command_line(self):
        capture = TRACES / "siw/rping-64.pcap"
        self.assertIn("--as server|client", self.refuse(capture))
        self.assertIn("'router'", self.refuse(capture, "--as", "router"))
        self.assertIn("nearest", self.refuse(capture, "--as", "server", "--set", "rnic.tcp.mtuu=1500"))


if __name__ == "__main__":
    unittest.main()
