#!/usr/bin/env python3
"""The worked vectors of SCTP packets through the stage sctp_packet: those with DATA are sent and received, others are answers."""
import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "model/golden/python"))

from rnicsim import RnicError, Stage  # noqa: E402

VECTORS = {v["name"]: v for v in json.loads((ROOT / "testbench/vectors/sctp_packet.json").read_text(encoding="utf-8"))["vectors"]}
TAGS = {41000: 287454020, 41001: 723270990}  # of the two ends, by their ports
PIECE, MESSAGE = 7, 9                        # fates of DATA


def end_of(port, tsn=1, peer_tsn=1, **settings):
    """The end at this port; the other one is the peer."""
    peer = 41000 + 41001 - port
    stage = Stage("sctp_packet", settings)
    stage.row("association", 0, port=port, peer_port=peer, tag=TAGS[port], peer_tag=TAGS[peer], tsn=tsn, peer_tsn=peer_tsn,
              peer_window=131072, outbound=16, inbound=16)
    return stage


def packets_of(stage):
    return [packet.octets.hex() for packet in stage.take_all("to_peer")]


def data_of(vector):
    return [chunk for chunk in vector["chunks"] if chunk["type"] == "data"]


class Vectors(unittest.TestCase):
    def test_user_data_is_sent_as_it_is_in_the_vectors(self):
        tried = 0
        for vector in VECTORS.values():
            chunk = vector["chunks"][0]
            if vector["expect"] != "ok" or len(vector["chunks"]) > 1 or chunk["type"] != "data":
                continue
            tried += 1
            with self.subTest(vector["name"]), end_of(vector["sport"], tsn=chunk["tsn"]) as end:
                end.push("send", stream=chunk["sid"], ppid=chunk["ppid"], octets=bytes.fromhex(chunk["user_hex"]), unordered=1)
                self.assertEqual(packets_of(end), [vector["packet_hex"]])
        self.assertGreaterEqual(tried, 5)

    def test_data_is_received_as_it_is_in_the_vectors(self):
        tried = 0
        for vector in VECTORS.values():
            chunks = data_of(vector)
            if not chunks or vector["chunks"][0]["type"] == "cookie_echo":
                continue
            tried += 1
            # A SACK of the vector is of the last TSN before the first one, so that it is of what was sent.
            acknowledged = [chunk["cum_tsn"] for chunk in vector["chunks"] if chunk["type"] == "sack"]
            tsn = (acknowledged[0] + 1) % 2**32 if acknowledged else 1
            with self.subTest(vector["name"]), end_of(vector["dport"], tsn=tsn, peer_tsn=chunks[0]["tsn"]) as end:
                end.push("peer", octets=bytes.fromhex(vector["received_hex"]))
                received = list(end.take_all("data"))
                if vector["expect"] != "ok":
                    self.assertEqual((received, end.counter("bad_checksum")), ([], 1))
                    continue
                self.assertEqual([(d.tsn, d.stream, d.ssn, d.ppid, d.flags) for d in received],
                                 [(c["tsn"], c["sid"], c["ssn"], c["ppid"], 8 * c["i"] + 4 * c["u"] + 2 * c["b"] + c["e"]) for c in chunks])
                whole = "".join(c["user_hex"] for c in chunks) if len(chunks) == 3 else None  # one message in pieces
                self.assertEqual([(d.fate, d.octets.hex()) for d in received],
                                 [(PIECE, ""), (PIECE, ""), (MESSAGE, whole)] if whole else [(MESSAGE, c["user_hex"]) for c in chunks])
        self.assertGreaterEqual(tried, 12)

    def test_answers_are_those_of_the_vectors(self):
        def answers(question, port=41001, **row):
            with end_of(port, **row) as end:
                end.push("peer", octets=bytes.fromhex(VECTORS[question]["packet_hex"]))
                return packets_of(end)
        self.assertEqual(answers("heartbeat"), [VECTORS["heartbeat_ack"]["packet_hex"]])
        self.assertEqual(answers("shutdown", tsn=0), [VECTORS["shutdown_ack"]["packet_hex"]])
        # Of an association that is not there.
        with Stage("sctp_packet") as nobody:
            nobody.push("peer", octets=bytes.fromhex(VECTORS["send_4_octets"]["packet_hex"]))
            self.assertEqual(packets_of(nobody), [VECTORS["abort_reflected_tag"]["packet_hex"]])

    def test_the_sack_of_rfc_9260_section_3_3_4(self):
        """TSN 13 and 16 are missing after 12; 4,660 octets are free. The peer is the port 41001 here."""
        user = {tsn: bytes(100) for tsn in (12, 14, 15, 17)}
        vector = VECTORS["sack_rfc9260_example"]
        with end_of(41001, peer_tsn=12, receive_buffer=4660 + 400) as end, end_of(41000, tsn=12) as peer:
            for tsn in range(12, 18):
                peer.push("send", octets=user.get(tsn, bytes(100)), ppid=16, unordered=1)
            for tsn, packet in zip(range(12, 18), list(peer.take_all("to_peer"))):
                if tsn in user:
                    end.push("peer", octets=packet.octets)
            self.assertEqual(packets_of(end)[-1], vector["packet_hex"])
            peer.push("peer", octets=bytes.fromhex(vector["packet_hex"]))
            self.assertEqual([m.stream for m in peer.take_all("acknowledged")], [0])

    def test_set_up_is_refused_by_a_sentence(self):
        for name in ("init_ddp", "cookie_echo_with_initiate"):
            with end_of(VECTORS[name]["dport"]) as end, self.assertRaisesRegex(RnicError, "predicts no set-up"):
                end.push("peer", octets=bytes.fromhex(VECTORS[name]["packet_hex"]))


if __name__ == "__main__":
    unittest.main()
