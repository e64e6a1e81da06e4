"""Replay of captures with DDP over SCTP: libusrsctp's captures, and the model's own, which the model repeats in either role."""
import json
import os
import struct
import subprocess
import sys
import time
import unittest

import sctp_capture as sctp
from rnicsim import ROOT, TRACES, ProgramTest, needs_lua
from sctp_scenarios_test import over_sctp

sys.path.insert(0, str(ROOT / "testbench/interop/sctp_peer"))
from sctp_peer_test import CASES  # noqa: E402

ROLES = "server", "client"


class Replay(ProgramTest):
    def replay(self, role, *options, capture="out/wire.pcapng"):
        run = self.run_program("replay", capture, "--as", role, "--json", *options)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        report = json.loads(run.stdout)
        self.assertEqual([d for d in report["differences"] if d["explained_by"] is None], [])
        self.assertEqual(run.returncode, 0)
        return report

    def refusal(self, role="server"):
        run = self.run_program("replay", "c.pcapng", "--as", role)
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        return run.stderr


class Runs(Replay):
    def capture(self, name, *options, **work):
        scenario = over_sctp(json.loads((TRACES / f"{name}.json").read_text()))
        for item in scenario["work"] if work else ():
            item.update(work)
        (self.folder / "s.json").write_text(json.dumps(scenario))
        self.run_scenario("s.json", *options)

    def test_both_roles(self):
        for name in "churn", "qps16", "read_bw_ord16", "sctp_sessions", "send_pingpong", "write_bw":
            self.capture(name)
            for role in ROLES:
                with self.subTest(scenario=name, role=role):
                    report = self.replay(role)
                    self.assertGreater(report["matched"], 0)
                    self.assertEqual(report, {"messages": report["matched"], "matched": report["matched"], "differences": []})

    def test_nothing_is_left_out(self):
        self.capture("send_pingpong", size=1000)  # each in one segment
        (association,) = json.loads(self.run_program("decode", "out/wire.pcapng", "--json").stdout)["associations"]
        (session,) = association["sessions"]
        for role, direction in zip(("client", "server"), session["directions"]):
            self.assertEqual(self.replay(role)["matched"], 1 + sum(direction["segments"].values()))

    def test_a_capture_of_a_bad_cable(self):
        bad = "loss.ppm=10000", "reorder.ppm=20000", "delay.reorder_ns=20000", "duplicate.ppm=10000"
        self.capture("quickstart", "--set", "link.symmetric=true", *(w for s in bad for w in ("--set", f"link.forward.{s}")))
        alone = {role: self.replay(role) for role in ROLES}
        self.assertEqual(alone["server"]["differences"] + alone["client"]["differences"], [])
        lossy = "--set", "link.forward.loss.ppm=5000", "--set", "link.reverse.loss.ppm=5000"
        for role in ROLES:
            self.assertEqual(self.replay(role, *lossy), alone[role])
            self.assertEqual(self.replay(role, "--set", "sim.shuffle_seed=7"), alone[role])

    def test_terminates(self):
        for name in "ddp_bounds", "ddp_too_long", "ddp_untagged_version", "rdma_bounds", "rdma_not_associated":
            with self.subTest(name):
                self.capture(f"errors/{name}")
                self.assertEqual(self.replay("server")["differences"], [])

    @needs_lua
    def test_the_capture_of_a_replay(self):
        self.capture("send_pingpong")
        report = self.replay("client", "--out", "again")
        self.assertEqual(self.check_wire("again/wire.pcapng").returncode, 0)
        self.assertEqual(self.replay("client", capture="again/wire.pcapng"), report)


@unittest.skipUnless("SCTP_PEER" in os.environ, "sctp_peer is not built: libusrsctp-dev is missing")
class FarEnds(Replay):
    """Exchanges between two far ends on libusrsctp: the chip replaces either of them."""
    # A rejection that names other depths, and a zero-length Read as ready-to-receive message with its own sink.
    EXPLAINED = {("reject", "server"): "MPA-ENH-9.1-07", ("ready to receive, Read", "client"): "choices.md 20"}

    def capture(self, listen, connect):
        ends = ("listen", listen, "wire_listen=1 pcap=c.pcapng"), ("connect", connect, "ip=10.0.0.1 peer=10.0.0.2 rto_ms=200")
        processes = []
        for role, words, own in ends:
            command = [os.environ["SCTP_PEER"], "usrsctp", role, "wire=wire", *own.split(), *words.split()]
            processes.append(subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL))
            self.addCleanup(processes[-1].kill)
            while role == "listen" and processes[-1].poll() is None and not (self.folder / "wire").exists():
                time.sleep(0.01)
        for process in processes:
            process.wait(100)
        (self.folder / "wire").unlink(missing_ok=True)

    def test_every_case_in_both_roles(self):
        for name, (listen, connect, *_) in CASES.items():
            if name == "no DDP":
                continue
            self.capture(listen, connect)
            for role in ROLES:
                with self.subTest(case=name, role=role):
                    report = self.replay(role, capture="c.pcapng")
                    self.assertGreater(report["messages"], 0)
                    why = self.EXPLAINED.get((name, role))
                    self.assertEqual([d["explained_by"].split(":")[0] for d in report["differences"]], [why] if why else [])

    def test_an_association_without_ddp(self):
        self.capture(*CASES["no DDP"][:2])
        self.assertIn("no DDP stream session", self.refusal())


class ByHand(Replay):
    """The set-up, a Send and a Write of the worked examples, ended by both sides."""
    TERMINATE = b"\0\4"

    def write(self, frames):
        (self.folder / "c.pcapng").write_bytes(sctp.pcapng(frames))

    @staticmethod
    def control(from_client, tsn, ssn, message):
        return sctp.frame(from_client, sctp.packet(from_client, sctp.data(tsn, sctp.PPID_SESSION, struct.pack(">H", ssn) + message)))

    def frames(self):
        return sctp.worked()[:6] + [self.control(True, 1003, 3, self.TERMINATE), self.control(False, 0, 1, self.TERMINATE)]

    def test_the_server(self):
        """The client of the examples begins without the agreed ready-to-receive message."""
        self.write(self.frames())
        self.assertEqual(self.replay("server", capture="c.pcapng"), {"messages": 1, "matched": 1, "differences": []})

    def test_missing_messages(self):
        frames = self.frames()
        for n in range(2, len(frames) - 2):
            self.write(frames[:n] + frames[n + 1:])
            self.assertRegex(self.refusal(), r"c\.pcapng: cannot be replayed: .* stream 0: messages are missing")

    def test_what_comes_before_a_missing_message_is_replayed_in_part(self):
        frames = self.frames()
        self.write(frames[:5] + frames[6:])
        run = self.run_program("replay", "c.pcapng", "--as", "server", "--partial", "--json")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        report = json.loads(run.stdout)
        self.assertEqual((report["messages"], report["matched"]), (1, 1))
        self.assertRegex(report["capture_ends_at"], " stream 0: messages are missing$")

    def test_a_session_that_nobody_took(self):
        """The server has no listener: it ends the session without ever accepting it."""
        self.write(sctp.worked()[:3] + [self.control(False, 0xFFFFFFFF, 0, self.TERMINATE), self.control(True, 1001, 1, self.TERMINATE)])
        for role, messages in ("server", 0), ("client", 1):
            self.assertEqual(self.replay(role, capture="c.pcapng"), {"messages": messages, "matched": messages, "differences": []})

    def test_a_session_of_two_initiates(self):
        self.write(sctp.worked()[:3] + [self.control(False, 0xFFFFFFFF, 0, b"\0\1")])
        self.assertIn("both sides initiated it", self.refusal())

    def test_no_association(self):
        self.write([])
        self.assertIn("cannot be replayed: no TCP connection from its SYN on, and no DDP stream session", self.refusal("client"))


if __name__ == "__main__":
    unittest.main()
