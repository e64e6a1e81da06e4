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
sys.path.insert(0, str(HERE.parent / "system"))
sys.dont_write_bytecode = True
import sctp_capture as sctp  # noqa: E402: where the path leads
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
    segment = b"\0\3" + sctp.untagged(3, 2, b"abcdef")
    pieces = (segment[:10], sctp.FIRST), (segment[10:], sctp.LAST)
    associated = sctp.worked() + [sctp.frame(True, sctp.packet(True, sctp.data(1005 + i, sctp.PPID_SEGMENT, octets, flags)))
                                  for i, (octets, flags) in enumerate(pieces)]
    write("capture", "sctp.pcapng", sctp.pcapng(associated))
    # A session from its Initiate to both Terminates, as a replay needs it.
    ends = (True, 1003, b"\0\3\0\4"), (False, 0, b"\0\1\0\4")
    session = sctp.worked()[:6] + [sctp.frame(client, sctp.packet(client, sctp.data(tsn, sctp.PPID_SESSION, octets)))
                                   for client, tsn, octets in ends]
    write("capture", "sctp_session.pcapng", sctp.pcapng(session))
    write("frame", "sctp", associated[0])
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


def replays():
    def record(what, octets):
        return bytes([what, len(octets)]) + octets

    def untagged(opcode, qn, msn, payload):
        return bytes([0x41, 0x40 | opcode]) + struct.pack(">IIII", 0, qn, msn, 0) + payload

    def tagged(opcode, stag, to, payload):
        return bytes([0xC1, 0x40 | opcode]) + struct.pack(">IQ", stag, to) + payload

    def read(msn, size, stag, to):
        return untagged(1, 1, msn, struct.pack(">IQIIQ", 7, 0x5000, size, stag, to))

    send = record(0, untagged(3, 0, 1, b"hello"))
    write("replay", "all", b"\4" + send + record(0, tagged(0, 0x100, 0x1000, b"abcd")) + record(0, read(1, 4, 0x100, 0x1000)) +
          record(1, tagged(2, 7, 0x5000, b"abcd")) + record(1, untagged(3, 0, 1, b"world")))
    terminate = bytes.fromhex("1101c0000012") + tagged(0, 0x100, 0x1000, b"")
    write("replay", "terminate", b"\6" + record(0, tagged(0, 0x100, 0x1000, b"abcd")) + record(1, untagged(7, 2, 1, terminate)))
    write("replay", "refused", b"\1")
    write("replay", "invalidate", b"\4" + record(0, tagged(0, 0x100, 0, b"abcd")) +
          record(0, bytes([0x41, 0x44]) + struct.pack(">IIII", 0x100, 0, 1, 0)) + record(0, tagged(0, 0x100, 64, b"ab")))


def scenarios():
    for name in ("quickstart", "loss-sweep", "read-knees", "churn", "interop/rping_server", "errors/ddp_mo", "errors/ddp_bounds",
                 "errors/mpa_closed"):
        text = json.dumps(json.loads((TRACES / f"{name}.json").read_text()))
        write("scenario", name.split("/")[-1], text.encode())
    sample = {"mode": "latin_hypercube", "points": 4, "seed": 9, "axes": [
        {"key": ["connections.c0.ord", "connections.c0.ird"], "values": [1, 2]},
        {"key": "link.delay_ns", "values": {"from": 1, "to": 9, "scale": "log"}}, {"key": "seed", "values": {"from": 1, "to": 3, "step": 1}}]}
    write("scenario", "sample", json.dumps({**json.loads((TRACES / "quickstart.json").read_text()), "sweep": sample}).encode())
    write("settings", "some", b"rnic.tcp.mtu=9000\nsim.seed=0x7\nrnic.fwcpu.crc=false\nlink.forward.loss.ppm=1000\n"
          b"rnic.tcp.congestion=cubic\nexternal.wire=stream")
    write("settings", "scenario", b"nodes.a.rnic.fwcpu.max_ord=4\nconnections.c0.from_side.ord=2\nwork.w.size.max=9\n"
          b"inject.i.value=\"0x7\"\nchecks.terminate 1/1/00 on c0.code=1/1/01")


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


def guest():
    def message(request, payload, odd=0):
        return bytes([request, odd, len(payload)]) + payload

    def words(*values):
        return struct.pack(f"<{len(values)}I", *values)

    def memory(*pieces):
        octets = bytearray(0x3100)
        for at, piece in pieces:
            octets[at - 0x1000:at - 0x1000 + len(piece)] = piece
        return bytes(octets).rstrip(b"\0")

    kick = memory((0x2000, struct.pack("<QIHH", 0x10000 + 0x3000, 64, 0, 0)), (0x2100, struct.pack("<HHH", 0, 1, 0)))
    write("vhost", "transmit", b"\1\3" + message(1, b"") + message(24, words(0, 8, 0)) + message(35, words(1, 0), 4) + kick)
    write("vhost", "cut", b"\3\1" + message(35, words(1, 0)) + kick)
    receive = memory((0x1000, struct.pack("<QIHH", 0x10000 + 0x3000, 200, 2, 0)), (0x1100, struct.pack("<HHH", 0, 1, 0)))
    write("vhost", "receive", b"\1\1" + message(15, b"", 2 | 4 | 8) + receive)
    circle = memory((0x2000, struct.pack("<QIHH", 0x10000, 0, 1, 0)), (0x2100, struct.pack("<HHH", 0, 1, 0)))
    write("vhost", "circle", b"\1\2" + message(8, words(1, 32768)) + message(35, words(1, 0)) + circle)
    write("vhost", "set-up", b"\0\5" + message(5, words(1, 0) + struct.pack("<QQQQ", 0x10000, 0x8000, 0, 0), 1) +
          message(8, words(1, 4)) + message(9, words(1, 0) + struct.pack("<QQQQ", 0x12000, 0x12200, 0x12100, 0)) +
          message(18, words(1, 1)) + message(35, words(1, 0)) + kick)
    write("guest_clock", "some", b"".join(struct.pack("<IIQ", *m) for m in ((1, 1, 1), (2, 2, 50), (3, 3, 0), (0, 1, 0), (4, 4, 0))))
    write("frame_port", "two", struct.pack(">I", 60) + bytes(60) + struct.pack(">I", 14) + bytes(14))


def associations():
    # Steps of sctp_target.cpp: a time, a kind, and its octets. Tags: 0 and 1 the association's, 2 none, 3 the peer's.
    def do(what, *takes):
        return struct.pack(">HB", 1, what) + bytes(takes)

    def packet(chunks, tag=0):
        octets = bytes.fromhex(chunks)
        return do(5 | tag << 6, len(octets)) + octets

    connect, shutdown, proceed, expired, echo = do(0), do(1 | 8, 1), do(2 | 8, 1), do(3 | 8), do(4)
    init = packet("0100001c 11223344 00020000 00100010 000003e8 c0060008 00000001", 2)
    init_ack = packet("02000026 11223344 00020000 00100010 000003e8 c0060008 00000001 0007000a 41424344 45460000")
    data = packet("00070014 000003e8 00000000 00000010 00010004 03000018 0000000c 00001234 00020000 00020003 00050005")
    heartbeat = packet("04000018 00010014 00010203 04050607 08090a0b 0c0d0e0f")
    peer_shutdown, cookie_ack = packet("07000008 ffffffff"), packet("0b000004")
    write("sctp_setup", "passive", init + echo + data + shutdown + peer_shutdown + packet("08000004"))
    write("sctp_setup", "active", connect + init_ack + cookie_ack + peer_shutdown + proceed + packet("0e000004"))
    write("sctp_setup", "restart", init + echo + init + echo + heartbeat + packet("06010004", 3))
    write("sctp_setup", "both_open", connect + init + echo + packet("c1000004 7f000005 77000000"))
    write("sctp_setup", "stale", connect + init_ack + packet("0900000c 00030008 000005dc") + init_ack + expired + cookie_ack)
    write("sctp_setup", "parameters", packet(
        "01000044 11223344 00020000 00100010 000003e8 00050008 0a000001 000c0006 00050000 80000004 80080006 c0820000 c0000004"
        "c0060008 00000001 00090008 00001000", 2) + echo)


def sessions():
    # A session of chip_target.cpp: how to connect, bends of request and SYN, then steps: kind, bend, and their octets.
    straight = b"\0"
    begin = b"\xc0" + straight + straight
    w = b"\0" + straight + b"\0\0\0\0\x40\7"            # Write of 64 octets to the first grant
    send = b"\2" + straight + b"\0" + b"\0\x20\1"
    read = b"\4" + straight + b"\0\0\0" + b"\1\0" + b"\0"
    atomic = b"\6" + straight + b"\0\0\0" + b"\0"
    immediate = b"\7" + straight + bytes(8)
    answers, pause = b"\x10" + straight, b"\x0d" + straight + b"\x14"
    write("chip", "all", begin + w + send + read + atomic + immediate + pause + answers + b"\1")
    write("chip", "writes", begin + w * 4 + b"\1")
    write("chip", "ahead", begin + b"\x0b" + straight + b"\0\0\0\0\x20\1" + b"\0\x20\2" + b"\1")
    write("chip", "beyond", begin + b"\0" + straight + b"\x80\xff\xff\0\x40\7" + pause + answers)
    write("chip", "read-beyond", begin + b"\4" + straight + b"\0\3\0" + b"\2\0" + b"\0" + pause + answers)
    write("chip", "bent", begin + w + b"\0" + b"\xa1\0\x10\7" + b"\0\0\0\0\x40\7" + pause + answers)
    post = b"".join(b"\x0e" + straight + bytes([op]) + (b"" if op == 3 else b"\x20") for op in range(4))
    write("chip", "posts", begin + post + pause + answers + straight * 12 + pause + b"\1")
    write("chip", "called", b"\x81" + straight + post + pause + answers + b"\1")
    enhanced = b"\xc2" + straight + straight + b"\x40\x10\0\x10"
    write("chip", "enhanced", enhanced + w + send + b"\1")
    write("chip", "terminate", begin + b"\x08" + straight + b"\4" + b"\x11\0\x40\0" + pause)
    write("chip", "fin", begin + w + b"\x31" + straight + pause)
    write("chip", "disconnect", begin + w + b"\x0f" + straight + b"\0" + pause + b"\1")


def association():
    """Steps of association_target.cpp. The first octet: which side opens; the host's answer to a request follows the step it arrives in."""
    def data(size, bend=0, rest=b""):
        return bytes([bend << 3, 0, size]) + rest

    def control(code, word=b"", bend=0, stream=0):
        octets = next(o for o in range(len(word) << 4, 256) if o % 9 == code)
        return bytes([1 | bend << 3, stream, octets]) + word

    def wait(length=6):
        return bytes([6 | length << 3])

    word, yes, sack, send = b"\0\x10\0\x10", b"\0", b"\2\xff", b"\x7d\0"
    initiate, accept, terminate = control(5, word), control(6, b"\0\x08\0\x08"), control(4)
    passive, active = b"\0" + initiate + wait() + yes, b"\1" + wait() + accept + wait()
    write("association", "passive", passive + data(3) + data(90) + wait() + send * 3 + wait() + sack + wait() + terminate + wait() + sack + wait(12))
    write("association", "active", active + data(3) * 5 + wait() + sack + send + wait(13) + sack + terminate + wait())
    write("association", "plain", b"\0" + control(1) + wait() + yes + data(20) * 3 + wait())
    ahead = data(60, 2, b"\x82") + data(60, 2, b"\x81") + data(60)
    write("association", "ahead", passive + ahead + wait() + data(60) * 2 + wait())
    write("association", "again", passive + data(60, 1, b"\xff") + wait() + terminate + wait() + sack + wait() + initiate + wait() + yes)
    write("association", "beyond", passive + data(60, 1, b"\x7f") + data(60, 2, b"\xff") + data(60, 4, b"\x12") + data(60, 8, b"\3") + wait())
    write("association", "pieces", passive + data(200, 8, b"\6") + data(100, 10, b"\x80\4") + data(9, 10, b"\x80\5") + wait())
    write("association", "rejected", b"\0" + initiate + wait() + b"\2" + sack + wait() + initiate + wait() + yes)
    write("association", "two_streams", passive + control(5, word, stream=2) + wait() + yes + data(50) + send + wait() + sack + wait())
    write("association", "shutdown", passive + send * 2 + b"\x24\7" + b"\0\0\0\1" + wait(14))
    write("association", "silence", passive + send * 3 + wait(15) * 3)


def golden():
    """Handles of librnic_golden, and calls of them (golden_target.cpp)."""
    record = json.loads((HERE.parent.parent / "model/golden/abi/abi.json").read_text(encoding="utf-8"))
    kinds = {name: n for n, name in enumerate(record["ports"])}
    sizes = {16: 2, 32: 4, 48: 5, 56: 7}

    def structure(size, members=(), octets=b""):
        body = bytearray(size)
        for at, value in members:
            body[at:at + len(value)] = value
        head = bytes([sizes[size] + 20]) + bytes(body)  # its flags are flags (Structure of golden_target.cpp)
        return head if size < 24 else head + struct.pack(">H", len(octets)) + octets[:64]

    def push(port, *of, **how):
        return bytes([8 * port + 5]) + structure(*of, **how)

    def take(port, size, room=300):
        return bytes([8 * port + 3]) + structure(size)[:1 + size] + (struct.pack(">H", room) if size >= 24 else b"") + bytes(64)

    def counter(name):
        return bytes([1, len(name)]) + name.encode()

    ulpdu = push(0, 32, [(25, b"\1"), (26, b"\1")], bytes(range(60)))
    write("golden", "transmit", bytes([kinds["mpa_transmit"]]) + ulpdu * 2 + take(1, 56) * 3 + counter("mpa_framer.fpdus") + b"\0" + ulpdu)
    write("golden", "framer", bytes([kinds["mpa_framer"] | 32]) + ulpdu + take(1, 56, 3) + take(1, 56))
    fpdu = b"\0\5rnic!\0" + bytes.fromhex("7171e65f")
    write("golden", "crc_check", bytes([kinds["crc_check"]]) + push(0, 56, [(50, b"\1")], fpdu) + take(1, 56) + counter("good") + counter("god"))
    marked = push(0, 56, [(45, b"\1")], fpdu)
    write("golden", "marker", bytes([kinds["marker_inserter"] | 32]) + marked + take(1, 56) + marked * 2)
    write("golden", "receive", bytes([kinds["mpa_receive"]]) + bytes([10]) + structure(16)[:17] + b"\0" + push(0, 48, [(41, b"\0"), (42, b"\1")], fpdu)
          + take(1, 56) + take(2, 16))
    judged = [(50, b"\1"), (51, b"\1")]
    write("golden", "board", bytes([126, kinds["crc_check"]]) + (b"\x46" + push(0, 56, [(50, b"\1")], fpdu)[1:] + b"\x2c" + push(1, 56, judged, fpdu)[1:]) * 2
          + b"\x3b" + b"\x29\0\1" + b"\x20" + b"\xec" + bytes(7) + b"\1" + push(1, 56, judged, fpdu)[1:])
    write("golden", "settings", bytes([128 | 4, 18]) + b'{"beat_bytes": 32}' + push(0, 56, octets=fpdu) + take(1, 56))
    # As a kind wants them: each member by its name, the others 0.
    def typed(message, octets=b"", **values):
        told = b""
        for name, (_, width, count) in record["messages"][message]["members"].items():
            octets_of = next(n for n in (1, 2, 4, 8) if width <= 8 * n)
            of = values.get(name, 0)
            for value in ([of] if isinstance(of, int) else of) + [0] * (min(count, 8) - (1 if isinstance(of, int) else len(of))):
                if value < 8:
                    told += bytes([value])
                elif value < 2048 and value % 256 == 0x5a:
                    told += bytes([192 + value // 256])
                else:
                    told += b"\xfd" + value.to_bytes(octets_of, "big")
        if record["messages"][message]["octets"]:
            told += bytes([len(octets)]) + octets[:64]
        return told

    def seed(name, kind, *calls):
        ports, tables = record["ports"][kind], record["tables"][kind]
        told = bytes([kinds[kind]])
        for what, index, octets, values in calls:
            row = next((n for n, table in enumerate(tables) if table.split()[0] == what), None)
            if row is not None:
                told += bytes([4, row]) + typed(tables[row].split()[1], **values) + bytes([index])
                continue
            port = next(n for n, text in enumerate(ports) if text.split()[0] == what)
            told += bytes([6, port]) + typed(ports[port].split()[2], octets, **values)
        write("golden", name, told)

    def call(what, index=0, octets=b"", **values):
        return what, index, octets, values

    qp = call("qp", 1, state=1, valid=1, version=1, extensions=1, mulpdu=1442, ird=2, ord=2, pd=1, flow=3, log_sq=3, log_rq=3, epoch=1, first_msn=1)
    flat = call("stag", 1, valid=1, key=0x5a, access=15, pd=1, address=0x1000, length=64, bus=0x1000)
    paged = call("stag", 2, valid=1, key=0x5a, access=15, pd=1, length=64, bus=4080, log_page=12, first_page=1, pages=2, zero_based=1)
    pages = (call("page", 1, address=0x4000), call("page", 2, address=0x7000))
    atomic = {"qpn": 1, "epoch": 1, "pd": 1, "request_data": 7}
    seed("atomics", "atomic_alu", qp, flat, paged, *pages, call("in", request_stag=0x15a, request_to=0x1008, **atomic), call("read", octets=bytes(8)),
         call("read_done", octets=bytes(8), ok=1), call("write", octets=bytes(8)), call("written", ok=1), call("out"),
         call("in", request_stag=0x25a, request_to=8, request_operation=2, **atomic), call("others", address=0x7000, bytes=7))
    seed("irrq", "irrq", qp, *[call("in", qpn=1, epoch=1, is_atomic=n % 2, segment_ddp_bytes=18, segment_request_bytes=28) for n in range(4)],
         call("out"), call("atomic"), call("sent", qpn=1, epoch=1), call("event"))
    issued = call("issued", qpn=1, epoch=1, request_id=5, sink_address=0x1000, sink_length=8, sink_lkey=0x15a)
    response = call("in", qpn=1, epoch=1, pd=1, response_request_id=5, response_original=9)
    seed("responses", "response_queue", qp, flat, issued, issued, response, call("dma", octets=bytes(8)), call("written", ok=1), call("done"), response)
    error = call("in", kind=2, qpn=1, cause_etype=1, cause_code=3, failed_length=46, failed_ddp_bytes=18, failed_request_bytes=28)
    seed("terminate", "terminate_generator", qp, error, call("out", octets=bytes(60)), error, call("event"))
    fpdu = {"qpn": 1, "flow": 3, "life": 1, "crc_ok": 1, "marker_ok": 1}
    written = bytes([0, 22, 0xc1, 0x40]) + struct.pack(">IQ", 0x15a, 0x1008) + bytes(8 + 4 + 0)
    sent = bytes([0, 22, 0x41, 0x43]) + struct.pack(">IIIII", 0, 0, 1, 0, 0)[:16] + bytes(4 + 4)
    srq = call("srq", 1, valid=1, log_entries=2, pd=1, epoch=1)
    seed("placement", "placement", qp, flat, paged, *pages, srq, call("in", octets=written, **fpdu), call("dma", octets=bytes(64)),
         call("posted", rqn_number=1, producer=1), call("rqe", rqn_number=1, ok=1, epoch=1, wqe_num_sge=1, wqe_sge_address=[0x1000], wqe_sge_length=[64],
                                                        wqe_sge_lkey=[0x15a]),
         call("in", octets=sent, **fpdu), call("out"), call("read_issued", qpn=1, epoch=1, sink_stag=0x15a, sink_to=0x1000, bytes=7),
         call("answered", qpn=1, epoch=1), call("in", octets=bytes(8), **fpdu), call("terminate", octets=bytes(60)), call("flush", qpn=1, epoch=1))
    def packet(chunks):
        return struct.pack(">HHII", 2, 1, 3, 0) + chunks
    data, numbers = struct.pack(">BBHIHHI", 0, 7, 21, 5, 0, 0, 16) + b"rnic!" + bytes(3), struct.pack(">II", 6, 9999)
    sent = call("send", octets=b"rnic?", unordered=1, ppid=16)
    seed("sctp_packet", "sctp_packet", call("association", port=1, peer_port=2, tag=3, peer_tag=4, tsn=6, peer_tsn=5, peer_window=2000, outbound=2, inbound=2),
         sent, sent, call("to_peer", octets=bytes(64)), call("peer", octets=packet(data)), call("data", octets=bytes(64)), call("command", consumed=5),
         call("peer", octets=packet(struct.pack(">BBH", 3, 0, 16) + numbers + bytes(4))), call("acknowledged"), call("command", op=2),
         call("peer", octets=packet(data.replace(b"\7\0\25\0\0\0\5", b"\6\0\25\0\0\0\6"))), call("command", op=1),
         call("peer", octets=packet(struct.pack(">BBH", 7, 0, 8) + numbers[:4])), call("event", octets=bytes(64)))


captures()
from_vectors(pathlib.Path(sys.argv[1]))
replays()
scenarios()
program()
association()
debugger()
guest()
associations()
sessions()
golden()
