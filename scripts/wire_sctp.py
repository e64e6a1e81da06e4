"""What tshark must show of SCTP packets, for check_wire.py: computed here from the octets, and compared with what it shows.

Every checksum is good, no chunk malformed; each DDP segment and each session control message is dissected, those in
fragments in the frame of the last piece to come.
"""
import collections
import pathlib
import struct

PROTOCOL_SCTP = 132
HEADER_BYTES, CHUNK_BYTES, DATA_BYTES, SSN_BYTES = 12, 4, 16, 2
DATA, UNORDERED, BEGIN, END = 0, 4, 2, 1
PPID_SEGMENT, PPID_SESSION = 16, 17
GOOD_CHECKSUM = "1"
DISSECTOR = pathlib.Path(__file__).resolve().parent / "wireshark" / "rnicsim.lua"
# Both take short Sends for their own and call them malformed.
OPTIONS = ("-X", f"lua_script:{DISSECTOR}", "-o", "sctp.checksum:CRC 32c", "--disable-protocol", "rpcordma",
           "--disable-protocol", "smb_direct")
FIELDS = ("frame.number", "sctp.checksum.status", "_ws.malformed", "_ws.expert.message", "sctp.chunk_type", "ddp_sctp.ssn",
          "iwarp_rdma.opcode", "ddp_session.code")

Shown = collections.namedtuple("Shown", "chunks ssns opcodes codes")


class Packets:
    """The SCTP packets of a capture."""

    def __init__(self):
        self.expected = {}  # by frame number
        self.segments = self.sessions = 0
        self._pieces = {}   # by direction, and then by TSN: flags, PPID and octets of what is not whole yet
        self._seen = set()  # direction and TSN: tshark does not dissect a retransmission

    def take(self, number, src, dst, octets):
        """A packet with its IP addresses. ValueError if it is malformed."""
        if len(octets) < HEADER_BYTES:
            raise ValueError("SCTP packet shorter than its header")
        ports_and_tag = octets[:8]
        shown = Shown([], [], [], [])
        self.expected[number] = shown
        at = HEADER_BYTES
        while at < len(octets):
            kind, flags, size = struct.unpack_from(">BBH", octets.ljust(at + CHUNK_BYTES, b"\0"), at)
            if size < CHUNK_BYTES or at + size > len(octets):
                raise ValueError(f"SCTP chunk of type {kind} with a length of {size}, {len(octets) - at} octets before the end")
            shown.chunks.append(kind)
            if kind == DATA:
                self._data(shown, (src, dst, ports_and_tag), flags, octets[at:at + size])
            at += -(-size // 4) * 4

    def _data(self, shown, direction, flags, chunk):
        if len(chunk) <= DATA_BYTES:
            raise ValueError("DATA without user data")
        if not flags & UNORDERED:
            raise ValueError("DATA of DDP without U")
        tsn, _, _, ppid = struct.unpack_from(">IHHI", chunk, CHUNK_BYTES)
        if (direction, tsn) in self._seen:
            return
        self._seen.add((direction, tsn))
        octets = chunk[DATA_BYTES:]
        if flags & (BEGIN | END) != BEGIN | END:
            octets = self._joined(direction, tsn, flags, ppid, octets)
        if octets is not None:
            self._message(shown, ppid, octets)

    def _joined(self, direction, tsn, flags, ppid, octets):
        pieces = self._pieces.setdefault(direction, {})
        pieces[tsn] = (flags, ppid, octets)
        first = last = tsn
        while not pieces[first][0] & BEGIN:
            first = (first - 1) % 2**32
            if first not in pieces:
                return None
        while not pieces[last][0] & END:
            last = (last + 1) % 2**32
            if last not in pieces:
                return None
        return b"".join(pieces.pop((first + i) % 2**32)[2] for i in range((last - first) % 2**32 + 1))

    def _message(self, shown, ppid, octets):
        if ppid == PPID_SEGMENT and len(octets) >= SSN_BYTES + 2:
            self.segments += 1
            shown.ssns.append(struct.unpack_from(">H", octets)[0])
            shown.opcodes.append(octets[SSN_BYTES + 1] & 0x0F)
        elif ppid == PPID_SESSION and len(octets) >= 4:
            self.sessions += 1
            shown.codes.append(struct.unpack_from(">H", octets, 2)[0])
        else:
            raise ValueError(f"message of {len(octets)} octets with PPID {ppid}, which is no DDP")

    def problems(self, name, tshark):
        """Yields what tshark shows otherwise; `tshark` runs it and returns its output."""
        fields = [word for field in FIELDS for word in ("-e", field)]
        shown = {}
        for line in tshark("-r", name, "-Y", "sctp", *OPTIONS, "-T", "fields", *fields).splitlines():
            number, status, malformed, message, *found = line.split("\t")
            number = int(number)
            if status != GOOD_CHECKSUM:
                yield f"frame {number}: tshark finds the checksum wrong"
            if malformed:
                yield f"frame {number}: tshark finds it malformed: {message}"
            shown[number] = Shown(*([int(value, 0) for value in field.split(",") if value] for field in found))
        for number in sorted(self.expected.keys() | shown.keys()):
            want, have = self.expected.get(number), shown.get(number)
            if want != have:
                yield f"frame {number}: expected {text(want)}; tshark shows {text(have)}"


def text(shown):
    if shown is None:
        return "no SCTP"
    return f"chunks {shown.chunks}, DDP-SSNs {shown.ssns}, RDMAP opcodes {shown.opcodes}, session codes {shown.codes}"
