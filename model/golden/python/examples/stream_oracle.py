#!/usr/bin/env python3
"""An MPA sender under test, checked octet by octet by the golden model: what a cocotb test bench does, without a simulator.

stream_oracle.py [--fpdus N] [--bug]

The device is Sender, a few lines of Python that know RFC 5044 and nothing of the model. In a test bench its octets come from the pins; the
rest is the same: tell the Oracle each ULPDU that the device has taken, give it the octets that the device has sent in pieces of any
size, and ask at the end whether anything is missing. --bug plants a mistake: the pointer of a marker inside of an FPDU is a word short.
Exit status 0; 1 where the device is wrong.
"""
import argparse
import random
import sys

import rnicsim

INTERVAL = 512  # of markers, in octets of the stream
TABLE = []
for octet in range(256):
    for _ in range(8):
        octet = octet >> 1 ^ (0x82f63b78 if octet & 1 else 0)
    TABLE.append(octet)


def crc_of(octets):
    """CRC32c by a table of 256 words (RFC 3385)."""
    crc = 0xffffffff
    for octet in octets:
        crc = crc >> 8 ^ TABLE[(crc ^ octet) & 0xff]
    return crc ^ 0xffffffff


class Sender:
    """The device: one direction of a connection, with or without markers, CRC on."""

    def __init__(self, markers, position=0, short=0):
        self.markers, self.position, self.short = markers, position, short

    def _marker(self, start):
        if not self.markers or self.position % INTERVAL:
            return b""
        pointer = self.position - start
        self.position += 4
        return bytes(2) + ((pointer - (self.short if pointer else 0)) % (1 << 16)).to_bytes(2, "big")  # of 16 bits

    def send(self, ulpdu):
        """The octets of the stream's next FPDU (RFC 5044 sections 4.1, 4.3, 4.4)."""
        plain = len(ulpdu).to_bytes(2, "big") + ulpdu
        plain += bytes(-len(plain) % 4)
        fpdu = self._marker(self.position)
        start = self.position
        for at in range(0, len(plain), 4):
            if at:
                fpdu += self._marker(start)
            fpdu += plain[at:at + 4]
            self.position += 4
        fpdu += self._marker(start)
        self.position += 4
        return fpdu + crc_of(fpdu).to_bytes(4, "little")


class Oracle:
    """What a device has to send for the ULPDUs that it has taken, by the model. `wrong` is the first difference, a sentence."""

    def __init__(self, markers, settings=None):
        self.stage = rnicsim.Stage("mpa_transmit", settings)
        self.markers, self.position = markers, 0  # in the stream
        self.expected, self.compared, self.wrong = [], 0, ""

    def taken(self, ulpdu):
        """The device has taken a ULPDU."""
        self.stage.push("in", octets=ulpdu, markers=self.markers, crc=1, position=self.position % INTERVAL)
        fpdu = self.stage.take("out").octets
        self.expected.append((fpdu, len(ulpdu)))
        self.position += len(fpdu)

    def sent(self, octets):
        """The device has sent octets, the next ones of the stream."""
        while octets and not self.wrong:
            if not self.expected:
                self.wrong = f"octet {self.compared} of the stream belongs to no ULPDU that was taken"
                return
            (fpdu, size), n = self.expected[0], min(len(octets), len(self.expected[0][0]))
            at = next((i for i in range(n) if octets[i] != fpdu[i]), None)
            if at is not None:
                self.wrong = (f"octet {self.compared + at} of the stream, in the FPDU of a ULPDU of {size}: "
                              f"expected {fpdu[at:at + 4].hex(' ')}, sent {octets[at:at + 4].hex(' ')}")
            self.compared += n
            self.expected[0] = (fpdu[n:], size)
            if n == len(fpdu):
                self.expected.pop(0)
            octets = octets[n:]

    def end(self):
        """All has been sent. The verdict as a sentence; `wrong` is empty if it is good."""
        left = sum(len(fpdu) for fpdu, _ in self.expected)
        if not self.wrong and (left or not self.compared):
            self.wrong = f"{left} octets were not sent" if left else "nothing was compared"
        self.stage.close()
        return self.wrong or f"{self.compared} octets are as they should be"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fpdus", type=int, default=200, metavar="N")
    parser.add_argument("--bug", action="store_true")
    options = parser.parse_args()
    rng, failed = random.Random(1), False
    for markers in (False, True):
        sender, oracle, stream = Sender(markers, short=4 if options.bug else 0), Oracle(markers), b""
        for _ in range(options.fpdus):
            ulpdu = rng.randbytes(rng.choice((1, 2, 18, 61, 62, 500, 508, 1442)))
            oracle.taken(ulpdu)
            stream += sender.send(ulpdu)
            piece = rng.randrange(len(stream) + 1)  # as it comes from the pins
            oracle.sent(stream[:piece])
            stream = stream[piece:]
        oracle.sent(stream)
        print(f"{'with' if markers else 'without'} markers: {oracle.end()}")
        failed |= bool(oracle.wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
