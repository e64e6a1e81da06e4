"""One capture in every form that pcap and pcapng allow: `decode` finds the same as in the plain file, and as many FPDUs as tshark."""
import gzip
import json
import struct
import unittest
import zlib

from rnicsim import TRACES, ProgramTest

GSO = TRACES / "siw/gso-rping-2000.pcap"
OFFLOAD = TRACES / "siw/offload-ib_send_bw-20000.pcap"
IPV6 = TRACES / "siw/ipv6-rping-3000.pcap"
ALL = sorted([*(TRACES / "siw").glob("*.pcap"), *(TRACES / "siw-faults").glob("*.pcap")])
# With losses and damaged frames, tshark also counts retransmissions and segments that a receiver drops.
LOSSY = {"corrupt-mix-10.pcap", "crc-loss5-ib_write_bw-20000.pcap"}
ETHERNET, OTHER = 1, 147
LONG = 1000  # octets of a frame: longer ones are not padded


def frames_of(capture):
    """(seconds, microseconds, octets on the wire, octets) of a little-endian pcap file of nanoseconds."""
    data = capture.read_bytes()
    assert data[:4] == b"\x4d\x3c\xb2\xa1"
    at = 24
    while at < len(data):
        seconds, nanos, kept, wire = struct.unpack_from("<IIII", data, at)
        yield seconds, nanos // 1000, wire, data[at + 16:at + 16 + kept]
        at += 16 + kept


def pcap(frames, order="<", magic=0xa1b2c3d4, units=1, more=b"", link=ETHERNET, tail=b""):
    data = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, link)
    for seconds, micros, wire, octets in frames:
        data += struct.pack(order + "IIII", seconds, micros * units, len(octets) + len(tail), wire + len(tail)) + more + octets + tail
    return data


class Pcapng:
    def __init__(self, order="<"):
        self.order = order

    def block(self, kind, body):
        body += bytes(-len(body) % 4)
        size = struct.pack(self.order + "I", len(body) + 12)
        return struct.pack(self.order + "I", kind) + size + body + size

    def section(self, length=-1):
        return self.block(0x0a0d0d0a, struct.pack(self.order + "IHHq", 0x1a2b3c4d, 1, 0, length))

    def option(self, code, value):
        return struct.pack(self.order + "HH", code, len(value)) + value + bytes(-len(value) % 4)

    def interface(self, link=ETHERNET, snapshot=262144, options=b""):
        return self.block(1, struct.pack(self.order + "HHI", link, 0, snapshot) + options + (self.option(0, b"") if options else b""))

    def packet(self, frame, interface=0, ticks=lambda seconds, micros: seconds * 10**6 + micros, options=b"", tail=b""):
        seconds, micros, wire, octets = frame
        octets += tail
        time = ticks(seconds, micros)
        body = struct.pack(self.order + "IIIII", interface, time >> 32, time & 0xffffffff, len(octets), wire + len(tail)) + octets
        return self.block(6, body + bytes(-len(octets) % 4) + options)

    def simple(self, frame):
        return self.block(3, struct.pack(self.order + "I", frame[2]) + frame[3])

    def obsolete(self, frame):
        seconds, micros, wire, octets = frame
        time = seconds * 10**6 + micros
        return self.block(2, struct.pack(self.order + "HHIIII", 0, 0xffff, time >> 32, time & 0xffffffff, len(octets), wire) + octets)


def variants(frames):
    """Names and files that contain these frames."""
    for name, order in ("little_endian", "<"), ("big_endian", ">"):
        yield f"pcap_{name}", pcap(frames, order)
        yield f"pcap_nanoseconds_{name}", pcap(frames, order, 0xa1b23c4d, 1000)
        yield f"pcap_kuznetsov_{name}", pcap(frames, order, 0xa1b2cd34, more=struct.pack(order + "IHBB", 1, 0x0800, 0, 0))
        yield f"pcap_fcs_{name}", pcap(frames, order, link=ETHERNET | 2 << 28 | 1 << 26, tail=b"\1\2\3\4")
        ng = Pcapng(order)
        yield f"pcapng_{name}", ng.section() + ng.interface() + b"".join(map(ng.packet, frames))
        yield f"pcapng_simple_{name}", ng.section() + ng.interface(snapshot=0) + b"".join(map(ng.simple, frames))
        yield f"pcapng_obsolete_{name}", ng.section() + ng.interface() + b"".join(map(ng.obsolete, frames))
        for resolution, ticks in ((9, lambda s, us: (s * 10**6 + us) * 1000), (0, lambda s, us: s),
                                  (0x80 | 20, lambda s, us: s << 20 | (us << 20) // 10**6)):
            options = ng.option(2, b"eth0") + ng.option(9, bytes([resolution]))
            yield f"pcapng_resolution_{resolution}_{name}", ng.section() + ng.interface(options=options) + b"".join(
                ng.packet(frame, ticks=ticks) for frame in frames)
        # Interfaces with other snapshot lengths, one of them between the packets, and one of another link type; unknown blocks.
        parts = [ng.section(), ng.interface(snapshot=1000000), ng.interface(OTHER), ng.interface(snapshot=0)]
        for i, frame in enumerate(frames):
            parts += [ng.packet(frame, (0, 2, 3)[i % 3] if i >= 10 else 0, options=ng.option(1, b"a comment"))]
            if i == 5:
                parts += [ng.interface(snapshot=65535, options=ng.option(9, b"\6")), ng.block(0x0bad, b"what is this"), ng.block(5, bytes(12))]
            if i == 7:
                parts += [ng.packet((0, 0, 60, bytes(60)), 1)]
        yield f"pcapng_interfaces_{name}", b"".join(parts)
    half = len(frames) // 2
    sections = b""
    for order, part in ("<", frames[:half]), (">", frames[half:]):
        ng = Pcapng(order)
        sections += ng.section() + ng.interface() + b"".join(map(ng.packet, part))
    yield "pcapng_two_sections", sections
    yield "pcap_gzip", gzip.compress(pcap(frames))
    yield "pcapng_gzip", gzip.compress(sections)


class Formats(ProgramTest):
    def decode(self, name):
        run = self.run_program("decode", name, "--json")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return json.loads(run.stdout)

    def by_tshark(self, name):
        run = self.run_command("tshark", "-r", name, "-T", "fields", "-e", "iwarp_mpa.ulpdulength", "-Y", "iwarp_mpa.ulpdulength")
        self.assertEqual(run.returncode, 0, run.stderr)
        return sum(len(line.split(",")) for line in run.stdout.split())

    @staticmethod
    def fpdus(found):
        return sum(sum(d["fpdus"].values()) for c in found["connections"] for d in c["directions"] if c["mpa"])

    def check(self, name, data, connections):
        (self.folder / name).write_bytes(data)
        found = self.decode(name)
        self.assertEqual(found["connections"], connections)
        self.assertEqual(found["undecoded"], [])
        self.assertEqual(found["skipped_packets"], 1 if "interfaces" in name else 0)
        self.assertEqual(self.by_tshark(name), self.fpdus(found))

    def test_every_form_has_the_same_connections(self):
        frames = list(frames_of(GSO))
        connections = self.decode(GSO)["connections"]
        for name, data in variants(frames):
            with self.subTest(name):
                self.check(name, data, connections)

    def test_tshark_counts_the_same_in_every_capture(self):
        for capture in ALL:
            if capture.name in LOSSY:
                continue
            with self.subTest(capture.name):
                found = json.loads(self.run_program("decode", capture, "--json").stdout)
                self.assertEqual(self.by_tshark(capture), self.fpdus(found))

    # A host that leaves segmentation to its NIC may leave the length to it, too; IPv4's checksum is then computed with a length of 0.
    def test_frames_from_before_segmentation_offload(self):
        for capture, at, size in (OFFLOAD, 14 + 2, 20), (IPV6, 14 + 4, 40):
            with self.subTest(capture.name):
                frames = []
                for seconds, micros, wire, octets in frames_of(capture):
                    if len(octets) > LONG:
                        octets = bytearray(octets)
                        octets[at:at + 2] = bytes(2)
                        if size == 20:
                            octets[24:26] = bytes(2)
                            total = sum(struct.unpack(">10H", octets[14:34]))
                            octets[24:26] = struct.pack(">H", ~(total + (total >> 16) & 0xffff) & 0xffff)
                    frames.append((seconds, micros, wire, bytes(octets)))
                self.assertTrue(any(len(f[3]) > LONG for f in frames))
                (self.folder / "offload.pcap").write_bytes(pcap(frames))
                found = self.decode("offload.pcap")
                self.assertEqual(found["connections"], self.decode(capture)["connections"])
                if capture == OFFLOAD:  # tshark 4.0 takes such packets of IPv6 to be empty
                    self.assertEqual(self.by_tshark("offload.pcap"), self.fpdus(found))

    # Nothing else gives their length.
    def test_frames_without_a_length_that_the_capture_cuts(self):
        frames = [(s, us, wire, octets[:16] + bytes(2) + octets[18:400] if wire > LONG else octets)
                  for s, us, wire, octets in frames_of(OFFLOAD)]
        (self.folder / "cut.pcap").write_bytes(pcap(frames))
        run = self.run_program("decode", "cut.pcap", "--json", "--ignore-checksums")
        self.assertEqual(run.returncode, 1)
        cut = [u for u in json.loads(run.stdout)["undecoded"] if u["reason"].startswith("the capture kept 400 of")]
        self.assertEqual(len(cut), sum(f[2] > LONG for f in frames))


class Damaged(ProgramTest):
    def refused(self, data, name="damaged"):
        (self.folder / name).write_bytes(data)
        run = self.run_program("decode", name)
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        return run.stderr

    def ends(self, data):
        """Where decode says that reading ends, and the reason."""
        (self.folder / "damaged").write_bytes(data)
        run = self.run_program("decode", "damaged", "--json")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        last = json.loads(run.stdout)["undecoded"][-1]
        self.assertTrue(last["reason"].startswith("the rest of the file: "), last)
        return last["offset"], last["reason"].removeprefix("the rest of the file: ")

    def setUp(self):
        super().setUp()
        self.frames = list(frames_of(GSO))[:4]

    def test_what_is_no_capture_of_ethernet(self):
        no_capture = "decode: damaged: not a capture: neither pcap nor pcapng, as it is or compressed by gzip\n"
        for data in b"", b"\x0a", b"no capture at all", gzip.compress(b"nor this"), b"\x28\xb5\x2f\xfd zstd":
            self.assertEqual(self.refused(data), no_capture)
        self.assertEqual(self.refused(pcap(self.frames)[:20]), "decode: damaged: not a capture: its header is truncated\n")
        self.assertEqual(self.refused(pcap(self.frames, link=OTHER)),
                         "decode: damaged: the link type of the capture is 147, which is not Ethernet\n")
        ng = Pcapng()
        self.assertEqual(self.refused(ng.section() + ng.interface(OTHER) + ng.packet(self.frames[0])),
                         "decode: damaged: no interface of the capture is Ethernet\n")

    def test_every_place_where_a_pcap_file_may_end(self):
        whole = pcap(self.frames)
        places = [24]
        for frame in self.frames:
            places.append(places[-1] + 16 + len(frame[3]))
        for n in {*range(24, 60), *range(len(whole) - 40, len(whole))} - set(places):
            at, why = self.ends(whole[:n])
            self.assertEqual(at, max(p for p in places if p <= n))
            self.assertTrue(why.startswith("truncated"), why)

    def test_damaged_blocks(self):
        ng = Pcapng()
        head = ng.section() + ng.interface()
        good = ng.packet(self.frames[0])
        at = len(head) + len(good)
        for bad, why in (
                (good[:-4] + bytes(4), f"a block has two lengths, {len(good)} and 0"),
                (good[:4] + struct.pack("<I", 13) + good[8:], "a block of 13 octets"),
                (good[:4] + struct.pack("<I", 8) + good[8:], "a block of 8 octets"),
                (good[:4] + struct.pack("<I", 1 << 31) + good[8:], "a block of 2147483648 octets"),
                (good[:7], "truncated in the header of a block"),
                (good[:-1], f"truncated: of a block of {len(good)} octets {len(good) - 1} are there"),
                (ng.packet(self.frames[0], 1), "a packet of interface 1, which the section does not have"),
                (good[:20] + struct.pack("<I", 5000) + good[24:], f"a packet of 5000 octets in a block with {len(good) - 32}"),
                (ng.block(6, bytes(8)), "a packet's block is too short"),
                (ng.section() + good, "a packet of interface 0, which the section does not have"),
                (b"\x0a\x0d\x0d\x0a" + struct.pack("<II", 28, 7) + bytes(16), "a section without an order of octets")):
            with self.subTest(why):
                where, reason = self.ends(head + good + bad + (b"" if why.startswith("truncated") else good))
                self.assertEqual(reason, why)
                self.assertEqual(where, at + (28 if bad.startswith(ng.section()) else 0))

    def test_a_compressed_file_that_is_cut(self):
        packed = gzip.compress(pcap(list(frames_of(GSO))))
        _, why = self.ends(packed[:len(packed) // 2])
        self.assertTrue(why.startswith("truncated"), why)
        # Cut exactly between two packets, and with a wrong checksum at the end as the only error.
        whole = pcap(self.frames)
        packer = zlib.compressobj(wbits=31)
        self.assertEqual(self.ends(packer.compress(whole) + packer.flush(zlib.Z_SYNC_FLUSH)), (len(whole), "truncated where it is compressed"))
        packed = bytearray(gzip.compress(whole))
        packed[-6] ^= 1
        self.assertEqual(self.refused(bytes(packed)), "decode: damaged: not a capture: it cannot be read, or not uncompressed\n")


if __name__ == "__main__":
    unittest.main()
