"""Captures of SCTP built by hand: octets of worked examples, or chunks with a checksum computed here, bit by bit."""
import struct

CLIENT, SERVER = 0x0A000002, 0x0A000001
CLIENT_PORT, SERVER_PORT = 41000, 41001
CLIENT_TAG, SERVER_TAG = 0x11223344, 0x2B1C3D4E
PPID_SEGMENT, PPID_SESSION = 16, 17
WHOLE, FIRST, LAST = 7, 6, 5  # U with B and E

# Worked examples, checksums included: the set-up with an Enhanced Initiate and Accept, a Send of four octets, a Write of one,
# RDMAP's and the session's Terminate in one packet.
WORKED = (
    (True, "a028a02900000000346efc0a0100001c112233440002000000100010000003e8c006000800000001"),
    (False, "a029a028112233449d61d05a020000462b1c3d4e0002000000100010ffffffffc0060008000000010007002a404142434445464748494a4b4c4d4e4f"
            "505152535455565758595a5b5c5d5e5f6061626364650000"),
    (True, "a028a0292b1c3d4e940f44ab0a00002a404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f60616263646500000007001d"
           "000003e80000000000000011000000058010c02068656c6c6f000000"),
    (False, "a029a02811223344ea7dd8a20b00000403000010000003e8000200000000000000070018ffffffff00000000000000110000000680208010"),
    (True, "a028a0292b1c3d4ec4fe4d6e00070028000003e900000000000000100001414300000000000000000000000100000000deadbeef"),
    (True, "a028a0292b1c3d4e83080db400070021000003ea00000000000000100002c14012345678000000000000100055000000"),
    (True, "a028a0292b1c3d4e3a1151a200070028000003f20000000000000010000a4147000000000000000200000001000000002006000000070014"
           "000003f30000000000000011000b0004"),
)


def crc32c(octets):
    crc = 0xFFFFFFFF
    for octet in octets:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def packet(from_client, chunks, wrong=0):
    """Whole chunks under a common header; `wrong` is added to the checksum."""
    ports = (CLIENT_PORT, SERVER_PORT) if from_client else (SERVER_PORT, CLIENT_PORT)
    head = struct.pack(">HHI", *ports, SERVER_TAG if from_client else CLIENT_TAG)
    return head + struct.pack("<I", crc32c(head + bytes(4) + chunks) ^ wrong) + chunks


def data(tsn, ppid, user_data, flags=WHOLE, stream=0):
    chunk = struct.pack(">BBHIHHI", 0, flags, 16 + len(user_data), tsn, stream, 0, ppid) + user_data
    return chunk + bytes(-len(chunk) % 4)


def untagged(opcode, msn, payload, queue=0):
    return bytes([0x41, 0x40 | opcode]) + struct.pack(">IIII", 0, queue, msn, 0) + payload


def frame(from_client, octets):
    src, dst = (CLIENT, SERVER) if from_client else (SERVER, CLIENT)
    ip = bytearray(struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(octets), 0, 0x4000, 64, 132, 0, src, dst))
    total = sum(struct.unpack(">10H", ip))
    struct.pack_into(">H", ip, 10, ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF)
    return bytes.fromhex("020000000001020000000002") + b"\x08\0" + bytes(ip) + octets


def pcapng(frames, snapshot=None):
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    return section + block(1, struct.pack("<HHI", 1, 0, 0)) + b"".join(
        block(6, struct.pack("<IIIII", 0, 0, i, len(f[:snapshot]), len(f)) + f[:snapshot]) for i, f in enumerate(frames))


def worked():
    return [frame(from_client, bytes.fromhex(octets)) for from_client, octets in WORKED]
