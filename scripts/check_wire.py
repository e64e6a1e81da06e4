#!/usr/bin/env python3
"""What tshark, an independent reader, says about a capture that rnicsim wrote.

usage: check_wire.py CAPTURE.pcapng

First tshark reads the capture as it is; it may find nothing malformed, no bad length and no TCP anomaly.

tshark 4.0 counts one marker too many in an FPDU that holds a marker and ends just before a marker position, reassembles
4 octets too many, and from there on sees nothing of that direction. So it reads a second time, without those frames:
then each remaining TCP segment must be one FPDU with a good CRC32c and the markers that RFC 5044 section 4.3 asks for.
Where they must be is computed here, from the TCP sequence numbers and the startup frames alone.

It also takes every Send for RPC over RDMA and calls those too short for that malformed; the second time it may not.

Of SCTP it must find every checksum good and no chunk malformed, and with our dissector show every DDP segment and every
session control message (wire_sctp.py).

Exit status 0 if tshark agrees, 1 if not (each disagreement is printed), 2 if the capture cannot be checked.
"""
import argparse
import collections
import concurrent.futures
import enum
import os
import re
import struct
import subprocess
import sys
import tempfile

import wire_sctp

SECTION_HEADER, INTERFACE, ENHANCED_PACKET = 0x0A0D0D0A, 1, 6
LEAST_BYTES = {SECTION_HEADER: 28, INTERFACE: 20, ENHANCED_PACKET: 32}
BYTE_ORDER_MAGIC, LINKTYPE_ETHERNET = 0x1A2B3C4D, 1
ETHERTYPE_LOST = 0x88B5  # before a frame that the cable has lost
ETHERNET_BYTES, IPV4_BYTES, ETHERTYPE_IPV4, PROTOCOL_TCP, FLAG_SYN = 14, 20, 0x0800, 6, 0x02
MARKER_SPACING, MARKER_BYTES, CRC_BYTES = 512, 4, 4
STARTUP_KEYS = {b"MPA ID Req Frame": "Request frame header", b"MPA ID Rep Frame": "Reply frame header"}
STARTUP_BYTES, FLAG_MARKERS, FLAG_CRC, RDMAC_REV = 20, 0x80, 0x40, 0
FLAG_TAGGED, UNTAGGED_BYTES, RPC_BYTES = 0x80, 18, 16
MOST_PRINTED = 20

SUSPECT = ("(_ws.malformed && !(iwarp_mpa.ulpdulength == 18)) || iwarp_mpa.bad_length"
           " || (tcp.analysis.flags && !tcp.analysis.window_update)")
# Frames that were set aside are gaps, and gaps that are acknowledged.
SUSPECT_WITH_GAPS = ("_ws.malformed || iwarp_mpa.bad_length || (tcp.analysis.flags && !(tcp.analysis.window_update"
                     " || tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment))")
GOOD_CRC = "Good CRC32"
WITHOUT_RPC = ("--disable-protocol", "rpcordma")

Packet = collections.namedtuple("Packet", "protocol src dst payload")
Segment = collections.namedtuple("Segment", "src dst seq syn payload")
Expected = collections.namedtuple("Expected", "startup ulpdu_lengths crcs pointers")


class Quirk(enum.Enum):
    """What tshark makes of an FPDU that is right."""
    NONE = enum.auto()
    SHORT_SEND = enum.auto()     # malformed RPC over RDMA
    MARKER_BEHIND = enum.auto()  # one marker too many


class Unreadable(Exception):
    """The capture or tshark cannot be used."""


def blocks(file):
    """Yields (type, whole block) of a little-endian pcapng file with one section and Ethernet interfaces."""
    while head := file.read(8):
        if len(head) < 8:
            raise Unreadable("ends within a block")
        kind, size = struct.unpack("<II", head)
        if size < LEAST_BYTES.get(kind, 12) or size % 4:
            raise Unreadable(f"block of {size} octets: not a little-endian pcapng file")
        block = head + file.read(size - 8)
        if len(block) < size or block[-4:] != head[4:]:
            raise Unreadable("ends within a block")
        if kind == SECTION_HEADER:
            if block[8:12] != struct.pack("<I", BYTE_ORDER_MAGIC):
                raise Unreadable("not a little-endian pcapng file")
        elif kind == INTERFACE:
            if struct.unpack_from("<H", block, 8)[0] != LINKTYPE_ETHERNET:
                raise Unreadable("another link type than Ethernet")
        elif kind != ENHANCED_PACKET:
            raise Unreadable(f"block type {kind:#x}, which rnicsim does not write")
        yield kind, block


def never_arrived(block):
    """Of an Enhanced Packet Block: what the cable has lost is there for who looks for it (model/cable/link.md)."""
    return block[40:42] == struct.pack(">H", ETHERTYPE_LOST)


def packet_of(block):
    """The whole IPv4 packet in an Enhanced Packet Block, or None if it holds something else."""
    captured, original = struct.unpack_from("<II", block, 20)
    frame = block[28:28 + captured]
    ip = ETHERNET_BYTES
    if captured != original or captured < ip + IPV4_BYTES or struct.unpack_from(">H", frame, 12)[0] != ETHERTYPE_IPV4:
        return None
    length, fragment = struct.unpack_from(">HxxH", frame, ip + 2)
    header = 4 * (frame[ip] & 0x0F)
    if fragment & 0x3FFF or ip + length > captured or header > length:
        return None
    return Packet(frame[ip + 9], frame[ip + 12:ip + 16], frame[ip + 16:ip + 20], frame[ip + header:ip + length])


def segment_of(packet):
    """The TCP segment of a packet, or None if it holds something else."""
    if packet is None or packet.protocol != PROTOCOL_TCP or len(packet.payload) < 20:
        return None
    src_port, dst_port, seq, _, offset, flags = struct.unpack_from(">HHIIBB", packet.payload)
    return Segment((packet.src, src_port), (packet.dst, dst_port), seq, bool(flags & FLAG_SYN), packet.payload[4 * (offset >> 4):])


class Direction:
    """One direction of a TCP connection, from its SYN on."""

    def __init__(self, first_seq):
        self.first_seq = first_seq
        self.seq_start = None  # of the first octet after the startup frame
        self.flags = 0
        self.rev = None

    def take_startup(self, segment):
        """The startup frame, which a conforming sender's first segment holds as a whole."""
        data = segment.payload
        if segment.seq != self.first_seq or data[:16] not in STARTUP_KEYS:
            raise ValueError("data before an MPA startup frame")
        private_data = struct.unpack_from(">H", data, 18)[0] if len(data) >= STARTUP_BYTES else 0
        if len(data) != STARTUP_BYTES + private_data:
            raise ValueError("startup frame and segment differ in length")
        self.seq_start = (segment.seq + len(data)) % 2**32
        self.flags, self.rev = data[16], data[17]
        return Expected(STARTUP_KEYS[data[:16]], [], [], [])

    def take_fpdu(self, segment, peer):
        """What tshark must show of a segment that is one FPDU, and what it makes of it."""
        begin = (segment.seq - self.seq_start) % 2**32
        end = begin + len(segment.payload)
        markers = range(-(-begin // MARKER_SPACING) * MARKER_SPACING, end, MARKER_SPACING)
        if not peer.flags & FLAG_MARKERS:
            markers = range(0)
        header = begin + MARKER_BYTES if begin in markers else begin
        if end < header + 2 + CRC_BYTES:
            raise ValueError("segment without a whole FPDU")
        ulpdu_length = struct.unpack_from(">H", segment.payload, header - begin)[0]
        size = -(-(2 + ulpdu_length) // 4) * 4 + CRC_BYTES + MARKER_BYTES * len(markers)
        if size != end - begin:
            raise ValueError(f"segment of {end - begin} octets with an FPDU of {size}")
        crc = (self.flags | peer.flags) & FLAG_CRC
        expected = Expected(None, [ulpdu_length], [GOOD_CRC] if crc else [], [max(m - header, 0) for m in markers])
        if markers and end % MARKER_SPACING == 0:
            return expected, Quirk.MARKER_BEHIND
        tagged = segment.payload[header - begin + 2] & FLAG_TAGGED
        return expected, Quirk.NONE if tagged or ulpdu_length >= UNTAGGED_BYTES + RPC_BYTES else Quirk.SHORT_SEND


class Capture:
    """The frames of a file: what tshark must show of those that it reads rightly, and which it does not."""

    def __init__(self, name, kept):
        """Reads the file `name` and copies all but the frames to set aside to the open file `kept`."""
        self.frames = self.fpdus = self.set_aside = 0
        self.expected = {}    # by frame number in `kept`
        self.misread = set()  # frame numbers in the capture
        self.problems = []
        self.sctp = wire_sctp.Packets()
        self._directions = {}
        self._time = 0
        with open(name, "rb") as file:
            for kind, block in blocks(file):
                if kind != ENHANCED_PACKET or self._keep(block):
                    kept.write(block)
        if not self.fpdus and not self.sctp.segments:
            self.problems.append("no FPDU and no DDP segment over SCTP in the capture")

    def _keep(self, block):
        self.frames += 1
        high, low = struct.unpack_from("<II", block, 12)
        before, self._time = self._time, high << 32 | low
        if self._time < before:
            self.problems.append(f"frame {self.frames}: earlier than the frame before it")
        if never_arrived(block):
            return True
        try:
            packet = packet_of(block)
            if packet is not None and packet.protocol == wire_sctp.PROTOCOL_SCTP:
                self.sctp.take(self.frames, packet.src, packet.dst, packet.payload)
                return True
            expected, quirk = self._read(segment_of(packet))
        except ValueError as error:
            self.problems.append(f"frame {self.frames}: {error}")
            return True
        if quirk is not Quirk.NONE:
            self.misread.add(self.frames)
        if quirk is Quirk.MARKER_BEHIND:
            self.set_aside += 1
            return False
        if expected:
            self.expected[self.frames - self.set_aside] = expected
        return True

    def _read(self, segment):
        if segment is None:
            raise ValueError("not one whole TCP segment or SCTP packet in IPv4")
        if segment.syn:
            self._directions[segment.src, segment.dst] = Direction((segment.seq + 1) % 2**32)
        if not segment.payload:
            return None, Quirk.NONE
        own = self._directions.get((segment.src, segment.dst))
        peer = self._directions.get((segment.dst, segment.src))
        if own is None or peer is None:
            raise ValueError("data on a connection whose SYNs are not in the capture")
        if own.seq_start is None:
            return own.take_startup(segment), Quirk.NONE
        if peer.seq_start is None:
            raise ValueError("FPDU before the other side's startup frame")
        if RDMAC_REV in (own.rev, peer.rev):  # then both are on both ways, whatever the other frame says
            own.flags = peer.flags = FLAG_MARKERS | FLAG_CRC
        if (own.flags ^ peer.flags) & FLAG_MARKERS:
            raise Unreadable("markers in one direction only: tshark looks for them in both")
        self.fpdus += 1
        return own.take_fpdu(segment, peer)


def tshark(*arguments):
    try:
        run = subprocess.run(["tshark", *arguments], capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise Unreadable(f"tshark: {error.strerror}") from error
    if run.returncode:
        for_root = "; since version 4.4 it loads no Lua script for root" if os.geteuid() == 0 and "ddp_s" in run.stderr else ""
        raise Unreadable(f"tshark: {run.stderr.strip()}{for_root}")
    return run.stdout


def suspects(name, display_filter, *options):
    """Frame number and summary line of every frame that the filter finds."""
    lines = tshark("-r", name, "-Y", display_filter, *options).splitlines()
    return [(int(line.split()[0]), line.strip()) for line in lines]


def dissection(name):
    """What tshark shows of MPA in each frame with data, by frame number."""
    line_of = re.compile(r"Frame (?P<frame>\d+):|    (?P<startup>Re\w+ frame header)|        (?:"
                         r"ULPDU length: (?P<ulpdu>\d+)|CRC check: \S+ \((?P<crc>[^)]*)\)"
                         r"|FPDU back pointer: (?P<pointer>\d+))")
    shown, now = {}, None
    for line in tshark("-r", name, "-Y", "tcp.len > 0", "-O", "iwarp_mpa", *WITHOUT_RPC).splitlines():
        match = line_of.match(line)
        if match is None:
            continue
        if match["frame"]:
            now = shown[int(match["frame"])] = Expected(None, [], [], [])
        elif match["startup"]:
            now = shown[max(shown)] = now._replace(startup=match["startup"])
        elif match["ulpdu"]:
            now.ulpdu_lengths.append(int(match["ulpdu"]))
        elif match["crc"]:
            now.crcs.append(match["crc"])
        else:
            now.pointers.append(int(match["pointer"]))
    return shown


def text(view):
    """An Expected for people."""
    if view is None:
        return "nothing"
    if view.startup:
        return view.startup
    return f"ULPDU lengths {view.ulpdu_lengths}, CRCs {view.crcs}, FPDUPTRs {view.pointers}"


def check(name):
    """Prints every disagreement and a summary; returns whether there is none."""
    with tempfile.NamedTemporaryFile(suffix=".pcapng") as kept, concurrent.futures.ThreadPoolExecutor(2) as pool:
        as_it_is = pool.submit(suspects, name, SUSPECT)
        capture = Capture(name, kept)
        kept.flush()
        again = []  # for TCP's sake
        if capture.expected or not capture.sctp.expected:
            again = [pool.submit(dissection, kept.name), pool.submit(suspects, kept.name, SUSPECT_WITH_GAPS, *WITHOUT_RPC)]
        problems = capture.problems
        if capture.sctp.expected:
            problems += capture.sctp.problems(name, tshark)
        # tshark keeps octets of a frame with a marker too many, and reads a later one together with them.
        # The frames that are left are judged without those.
        problems += [line for number, line in as_it_is.result()
                     if number not in capture.misread and not (capture.set_aside and "[Malformed Packet" in line)]
        shown, without = (future.result() for future in again) if again else ({}, [])
        problems += [f"with frames set aside: {line}" for _, line in without]
    for number in sorted(capture.expected.keys() | shown.keys()):
        want, have = capture.expected.get(number), shown.get(number)
        if want != have:
            problems.append(f"with frames set aside, frame {number}: expected {text(want)}; tshark shows {text(have)}")
    for problem in problems[:MOST_PRINTED]:
        print(f"{name}: {problem}")
    if len(problems) > MOST_PRINTED:
        print(f"{name}: and {len(problems) - MOST_PRINTED} more")
    lengths, good, markers = (sum(map(count, shown.values())) for count in (
        lambda view: len(view.ulpdu_lengths), lambda view: view.crcs.count(GOOD_CRC), lambda view: len(view.pointers)))
    print(f"{name}: {capture.frames} frames, {capture.fpdus} FPDUs, {capture.set_aside} of them set aside; tshark shows"
          f" {lengths} FPDUs, {good} good CRCs, {markers} markers, {len(problems)} problems")
    if capture.sctp.expected:
        print(f"{name}: {len(capture.sctp.expected)} SCTP packets with {capture.sctp.segments} DDP segments and"
              f" {capture.sctp.sessions} session control messages")
    return not problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("capture")
    name = parser.parse_args().capture
    try:
        return 0 if check(name) else 1
    except (OSError, Unreadable) as error:
        print(f"{name}: {getattr(error, 'strerror', None) or error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
