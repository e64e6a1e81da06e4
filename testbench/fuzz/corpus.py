#!/usr/bin/env python3
"""Writes the seeds of the corpora: small valid inputs for each parser, from the captures in traces/siw, the scenarios in
traces/, and the worked vectors of a folder.

usage: corpus.py VECTORS

Seeds are files called seed-…; other files of a corpus, findings above all, are left alone.
"""
import json
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
TRACES = HERE.parent.parent / "traces"
REQUEST, REPLY = b"MPA ID Req Frame", b"MPA ID Rep Frame"


def write(target, name, octets):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"seed-{name}").write_bytes(octets)


def frames_of(capture):
    octets = capture.read_bytes()
    order = "<" if octets[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at = 24
    while at + 16 <= len(octets):
        _, _, kept, _ = struct.unpack_from(order + "IIII", octets, at)
        yield octets[at:at + 16], octets[at + 16:at + 16 + kept]
        at += 16 + kept


def pcap(frames):
    return struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + b"".join(
        struct.pack("<IIII", i, 0, len(f), len(f)) + f for i, f in enumerate(frames))


def pcapng(frames):
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    interface = block(1, struct.pack("<HHI", 1, 0, 0))
    return section + interface + b"".join(block(6, struct.pack("<IIIII", 0, 0, i, len(f), len(f)) + f)
                                          for i, f in enumerate(frames))


def captures():
    for name in ("err-read-oob", "err-write-badkey", "mpa1-reject"):
        frames = [f for _, f in frames_of(TRACES / "siw" / f"{name}.pcap")]
        write("capture", f"{name}.pcap", pcap(frames))
    write("capture", "mpa1-reject.pcapng", pcapng(frames))
    write("frame", "syn", frames[0])
    write("frame", "request", max(frames, key=len))
    ipv6 = [f for _, f in frames_of(TRACES / "siw" / "ipv6-rping-3000.pcap")]
    write("frame", "ipv6-syn", ipv6[0])
    write("frame", "arp", bytes.fromhex("ffffffffffff02000000000108060001080006040001020000000001" "0a000001"
                                        "000000000000" "0a000002"))
    quoted = frames[0][14:14 + 28]
    icmp = bytearray(b"\x03\x04\0\0\0\0\x02\x40" + quoted)
    total = sum(struct.unpack(f">{len(icmp) // 2}H", icmp))
    struct.pack_into(">H", icmp, 2, ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF)
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(icmp), 0, 0, 64, 1, 0, 0x0A000001, 0x0A000002)
    write("frame", "fragmentation-needed", frames[0][:12] + b"\x08\0" + ip + bytes(icmp))


def from_vectors(folder):
    def vectors(kind):
        return json.loads((folder / f"{kind}.json").read_text())["vectors"]

    for v in vectors("mpa_frame")[:6]:
        kind = 1 if v["frame"] == "req" else 0
        write("mpa", v["name"], bytes([kind | 2, 0, 0x17, 1, 1, 4, 0]) + bytes.fromhex(v["hex"]))
    streams = sorted(vectors("marker_stream"), key=lambda v: len(v["stream_hex"]))
    plain = [v for v in vectors("fpdu") if v["marker_pos"] is None and v["expect"] == "ok"][:2]
    start = REQUEST + b"\x40\x01\0\0"
    for v in plain:
        write("stream", v["name"], bytes([5 if v["crc"] else 1, 6]) + start + bytes.fromhex(v["fpdu_hex"]))
    v = next(v for v in streams if v["pos"] == 0)
    write("stream", v["name"], bytes([3 | (4 if v["crc"] else 0), 99]) + REQUEST + b"\xc0\x01\0\0" +
          bytes.fromhex(v["stream_hex"]))
    segments = [bytes.fromhex(v["ulpdu_hex"]) for v in vectors("messages")]
    segments = [s for s in segments if len(s) < 128]
    write("ddp", "messages", b"\0" + b"".join(bytes([len(s)]) + s for s in segments))
    write("ddp", "messages-marked", b"\3" + b"".join(bytes([len(s)]) + s for s in segments[:6]))
    for i, s in enumerate(s for s in segments if s[1] & 15 == 7):
        write("terminate", str(i), s[18:])
    for file in sorted(folder.glob("*.json")):
        kind = json.loads(file.read_text())
        if not kind["kind"].startswith("sctp"):
            kept = min(kind["vectors"], key=lambda v: len(json.dumps(v)))
            write("vectors", kind["kind"], json.dumps({"kind": kind["kind"], "vectors": [kept]}).encode())


def scenarios():
    for name in ("quickstart", "loss-sweep", "churn", "interop/rping_server"):
        text = json.dumps(json.loads((TRACES / f"{name}.json").read_text()))
        write("scenario", name.split("/")[-1], text.encode())
    write("settings", "some", b"rnic.tcp.mtu=9000\nsim.seed=0x7\nrnic.fwcpu.crc=false\nlink.forward.loss.ppm=1000\n"
          b"rnic.tcp.congestion=cubic\nexternal.wire=stream")


def program():
    text = bytes.fromhex("73001050")
    names = b"\0rnic_mailbox\0main\0"
    head = 52 + 32
    symbols = bytes(16) + struct.pack("<IIIBBH", 1, 0x80000000, 4, 1, 0, 1) + struct.pack("<IIIBBH", 14, 0x80000000, 4, 2, 0, 1)
    sections = head + len(text) + len(names) + len(symbols)
    at = head + len(text)

    def section(kind, offset, octets, link=0):
        return struct.pack("<10I", 0, kind, 0, 0, offset, len(octets), link, 0, 0, 16)

    write("elf", "program", b"\x7fELF\x01\x01\x01" + bytes(9) +
          struct.pack("<HHIIIIIHHHHHH", 2, 243, 1, 0x80000000, 52, sections, 0, 52, 32, 1, 40, 3, 0) +
          struct.pack("<8I", 1, head, 0x80000000, 0x80000000, len(text), 64, 5, 4) + text + names + symbols +
          bytes(40) + section(3, at, names) + section(2, at + len(names), symbols, 1))


def debugger():
    write("gdb", "packets", b"\1qSupported:multiprocess+\nvMustReplyEmpty\nQStartNoAckMode\n?\nHg1\ng\np20\nP20=00000080\n"
          b"m1000,8\nM1000,2:0102\nX1000,1:z\nqXfer:features:read:target.xml:0,fff\nqfThreadInfo\nZ0,80000004,2\nvCont;s:1\n"
          b"vCont;c\nz0,80000004,2\nc\nD")
    write("gdb", "octets", b"\0+$g#67\n$m1000,4#25\n-\n\x03\n$vCont;c#a8\n$k#6b")


captures()
from_vectors(pathlib.Path(sys.argv[1]))
scenarios()
program()
debugger()
