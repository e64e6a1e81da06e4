"""Runs the simulator against a live Linux peer: Soft-iWARP in a User-Mode Linux guest, with Debian's own tools.

Exit status: 0 all passed, 1 a case did not, 77 this machine cannot run them (which is not a pass)."""
import argparse
import concurrent.futures
import itertools
import os
import pathlib
import shutil
import sys

import guest
import kernel
from other_peers import QEMU_ENDS, run_qemu, run_tap
from run_case import OURS, PEER, ROOT, BulkCase, Case, run
import sctp_cases

SKIPPED = 77
TAP_CASE = 'tap'
OWNED = ('rping', 'sctp')  # what --owned chooses from
SIZES = (64, 1000, 4096, 65536)


def rping_client(count=5, size=64, seconds=20):
    return f'timeout {seconds} rping -c -v -C {count} -S {size} -a {OURS}'


def listening(command):
    """Says by a ping when it listens."""
    waits = 'until busybox grep -qs " 0A " /proc/net/tcp /proc/net/tcp6 || ! kill -0 $!; do sleep 0.1; done'
    return f'{command} & sleep 0.5; {waits}; busybox ping -c 1 {OURS}; wait $!'


def rping_server(count=5, size=64, seconds=20):
    return listening(f'timeout {seconds} rping -s -v -C {count} -S {size} -a {PEER}')


RPING = (('rping_server', rping_client), ('rping_client', rping_server))  # ours, the peer's
EXAMPLES = (('rdma_server', f'timeout 20 rdma_client -s {OURS}', 'rdma_client: end 0'),
            ('rdma_client', listening('timeout 20 rdma_server'), 'rdma_server: end 0'))
BOTH_WAYS = ('link.symmetric=true', 'link.forward.loss.ppm=10000', 'link.forward.reorder.ppm=10000')
NARROW = ('link.symmetric=true', 'link.forward.mtu.bytes=1000')  # behind a router that says so
# Simulated time goes on while a busy machine lets a guest with a clock of its own wait.
FREE_CLOCK = dict(owned=False, egress_ms=3, settings=('sim.max_time_us=120000000', 'sim.watchdog_us=120000000'))


def name_of(ours, *what):
    return ' '.join((ours.replace('rping_', 'rping '), *map(str, what)))


def last(count):
    return f'ping data: rdma-ping-{count - 1}:'


def working_cases():
    for ours, peer in RPING:
        for size in SIZES:
            yield Case(name_of(ours, size), ours, peer(size=size), count=5, size=size, expect_peer=last(5))
    for ours, peer in RPING:
        yield Case(name_of(ours, 'crc'), ours, peer(size=4096), count=5, size=4096, crc=True, variant='crc',
                   expect_peer=last(5))
    yield Case('rping server rtr', 'rping_server', rping_client(), count=5, variant='p2p', expect_peer=last(5))
    yield Case('rping client rtr', 'rping_client', rping_server(), rtr=True, expect_peer=last(5))
    for ours, peer in RPING:
        yield Case(name_of(ours, 'loss reorder'), ours, peer(50, 4096), count=50, size=4096, expect_peer=last(50),
                   settings=BOTH_WAYS)
    for ours, peer in RPING:
        yield Case(name_of(ours, 'narrow path'), ours, peer(50, 4096), count=50, size=4096, expect_peer=last(50),
                   settings=NARROW)
    for ours, peer, end in EXAMPLES:
        yield Case(ours, ours, peer, expect_peer=end)
    for ours, peer, end in EXAMPLES:
        yield Case(name_of(ours, 'crc'), ours, peer, crc=True, variant='crc', expect_peer=end)


def refused_cases():
    yield Case('we reject', 'rping_server', rping_client(seconds=5), reject=True, expect_peer='REJECTED')
    # siw takes no request for markers.
    yield Case('peer rejects', 'rping_client', rping_server(seconds=2), markers=True, expect_status=1,
               expect_ours='the peer rejected the connection')
    yield Case('we do not listen', 'rping_server', rping_client(seconds=2), port=7175, expect_status=1,
               expect_peer='refused', expect_ours='the peer has left')
    yield Case('peer does not listen', 'rping_client', f'busybox ping -c 1 {OURS}; sleep 1', expect_status=1,
               expect_ours='refused')


def broken_cases():
    """Connections that end in the middle of a transfer."""
    kill = 'kill -9 $!; wait; sleep 0.5'
    yield Case('peer killed, client', 'rping_server', f'rping -c -C 100000 -S 65536 -a {OURS} & sleep 0.0004; {kill}',
               count=0, expect_status=(0, 1), expect_ours=' rounds, ')
    yield Case('peer killed, server', 'rping_client',
               f'rping -s -S 65536 -a {PEER} & sleep 0.5; busybox ping -c 1 {OURS}; sleep 0.001; {kill}',
               count=1000, size=65536, expect_status=1, expect_ours='the peer left after')
    # A bit of an FPDU flips on the way, and TCP's checksum hides it: the side that checks the CRC ends the stream.
    said = '; wait $!; dmesg | grep -o "siw: got TERMINATE.*"'
    for ours, peer in RPING:
        many = dict(size=4096, crc=True, variant='crc', expect_status=1)
        count = 0 if ours == 'rping_server' else 100
        yield Case(name_of(ours, 'our Terminate'), ours, peer(100, 4096, 5) + said, count=count, **many,
                   expect_ours='sent Terminate 2/0/02', expect_peer='got TERMINATE. layer 0, type 2, code 2',
                   settings=('link.reverse.corrupt_repaired.frames=20-',))
        yield Case(name_of(ours, 'its Terminate'), ours, peer(100, 4096, 5), count=count, **many,
                   expect_ours='layer and type came exchanged', expect_peer='DISCONNECT EVENT',
                   settings=('link.forward.corrupt_repaired.frames=20-',))


def free_clock_cases():
    for ours, peer in RPING:
        yield Case(name_of(ours, 'free clock'), ours, peer(), count=5, expect_peer=last(5), **FREE_CLOCK)
    for ours, peer, end in EXAMPLES:
        yield Case(name_of(ours, 'free clock'), ours, peer, expect_peer=end, **FREE_CLOCK)
    # Without the delay siw may overlook our first FPDU, and its rping gives up: then we say so.
    yield Case('rping client no delay', 'rping_client', rping_server(seconds=3), count=5, expect_status=(0, 1),
               expect_ours='rping0: ', **{**FREE_CLOCK, 'egress_ms': None})


def tcp_cases():
    """Both kernels' TCP without RDMA on it: 0.7 MB each way at once."""
    for what, settings in (('', ()), (' loss reorder', BOTH_WAYS), (' narrow path', NARROW)):
        yield BulkCase(f'tcp we connect{what}', 'busybox nc -l -p 5001', settings, start_us=500_000)
        yield BulkCase(f'tcp peer connects{what}', f'sleep 0.1; busybox nc {OURS} 5001', settings, listen='true')


def cases():
    return itertools.chain(working_cases(), refused_cases(), broken_cases(), free_clock_cases(), tcp_cases(),
                           sctp_cases.ends_cases(), sctp_cases.chip_cases())


def attempt(case, options):
    folder = options.out / case.name.replace(' ', '_').replace(',', '')
    first = run(case, options.program, folder)
    faults = list(case.faults(first))
    if options.twice and case.owned:
        second = run(case, options.program, folder.with_name(folder.name + '_again'))
        faults += list(case.faults(second))
        if first.stats.get('sim_time_ps') != second.stats.get('sim_time_ps'):
            faults.append('the two runs end at different simulated times')
        if first.frames() != second.frames():
            faults.append('the two runs have different frames')
    return first, faults


def outcomes(options):
    """Of each case that is wanted, and of those under owned time several at once: no clock but theirs runs there."""
    wanted = [c for c in cases() if options.only in c.name and (not options.owned or c.owned and c.name.startswith(OWNED))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        owned = [c for c in wanted if c.owned]
        yield from zip(owned, pool.map(lambda case: attempt(case, options), owned))
    for case in wanted:
        if not case.owned:
            yield case, attempt(case, options)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', type=pathlib.Path, default=ROOT / 'build/release/bin/rnicsim')
    parser.add_argument('--out', type=pathlib.Path, default=ROOT / 'build/interop', help='folder for captures and logs')
    parser.add_argument('--owned', action='store_true', help='only rping and DDP over SCTP under owned time')
    parser.add_argument('--twice', action='store_true', help='owned time: run twice and compare time and frames')
    parser.add_argument('--only', metavar='TEXT', default='', help='cases whose names contain it')
    parser.add_argument('--prepare', action='store_true', help='build the guest kernels and do no more')
    parser.add_argument('--no-build', action='store_true', help='skip where the guest kernels are not there')
    options = parser.parse_args()
    if not options.prepare and not options.program.exists():
        sys.exit(f'interop: {options.program} is not there; build it first')
    try:
        if guest.missing_tools():
            raise kernel.Unable(f'the guest has no {", ".join(guest.missing_tools())}')
        kernel.build(list(kernel.VARIANTS), allowed=not options.no_build)
        if not guest.boots():
            raise kernel.Unable('the guest kernel does not boot on this machine')
    except kernel.Unable as reason:
        print(f'interop: skipped: {reason}')
        return SKIPPED
    if options.prepare:
        return 0
    if not shutil.which('tshark'):
        print('interop: there is no tshark here: NO capture is checked for malformed packets')
    failed = 0
    print(f'{"case":<31} {"result":<7} {"simulated":>11} {"wall":>7}  frames')
    for case, (result, faults) in outcomes(options):
        failed += bool(faults)
        print(f'{case.name:<31} {"FAILED" if faults else "passed":<7} {result.simulated_s():>9.6f} s {result.wall:>5.1f} s'
              f'  {result.stats.get("frames", 0)}', flush=True)
        for fault in faults:
            print(f'    {fault}; see {result.capture.parent}')
    others = [(TAP_CASE, run_tap, (), 'no TAP device here')]
    others += [(f'qemu {wire}', run_qemu, (wire,), 'no qemu-system-x86_64 here') for wire in QEMU_ENDS]
    for name, meet, arguments, missing in others:
        if options.only not in name or options.owned:
            continue
        answered = meet(options.program, options.out / name.replace(' ', '_'), *arguments)
        failed += answered is False
        print(f'{name:<31} {"passed" if answered else f"SKIPPED: {missing}" if answered is None else "FAILED"}', flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
