"""What a capture says: to tshark, and on its own."""
import shutil
import struct
import subprocess


def malformed(capture):
    tshark = shutil.which('tshark')
    if not tshark:
        return False
    run = subprocess.run([tshark, '-r', capture, '-Y', '_ws.malformed'], capture_output=True, text=True)
    return run.returncode != 0 or run.stdout != ''


def bad_sctp_checksums(capture):
    tshark = shutil.which('tshark')
    if not tshark:
        return False
    run = subprocess.run([tshark, '-r', capture, '-o', 'sctp.checksum:CRC 32c', '-Y', 'sctp.checksum.status == 0'],
                         capture_output=True, text=True)
    return run.returncode != 0 or run.stdout != ''


def retransmitted(capture, source):
    """How many segments with payload this address sent again, as tshark sees it; None without it."""
    tshark = shutil.which('tshark')
    if not tshark:
        return None
    kinds = ' || '.join(f'tcp.analysis.{kind}' for kind in ('retransmission', 'fast_retransmission', 'out_of_order'))
    run = subprocess.run([tshark, '-r', capture, '-Y', f'ip.src == {source} && tcp.len > 0 && ({kinds})'],
                         capture_output=True, text=True)
    return len(run.stdout.splitlines())


def frames_of(octets):
    """The Enhanced Packet Blocks of a little-endian pcapng file with nanoseconds."""
    enhanced, direction_option, at = 6, 2, 0
    while at < len(octets):
        kind, length = struct.unpack_from('<II', octets, at)
        if kind == enhanced:
            _, high, low, captured, _ = struct.unpack_from('<5I', octets, at + 8)
            option = at + 28 + (captured + 3) // 4 * 4
            code, _, flags = struct.unpack_from('<HHI', octets, option)
            yield high << 32 | low, flags & 3 if code == direction_option else 0, captured
        at += length
