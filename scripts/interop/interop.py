"""Runs the simulator against a live Linux peer: Soft-iWARP in a User-Mode Linux guest, with Debian's own tools.

Exit status: 0 all passed, 1 a case did not, 77 this machine cannot run them (which is not a pass)."""
import argparse
import pathlib
import sys

import guest
import kernel
from run_case import OURS, PEER, ROOT, Case, run, run_tap

SKIPPED = 77
TAP_CASE = 'tap'
SIZES = (64, 1000, 4096, 65536)


def client(count=5, size=64, seconds=20):
    return f'timeout {seconds} rping -c -v -C {count} -S {size} -a {OURS}'


def server(count=5, size=64, seconds=20):
    """Says by a ping when it listens."""
    return f'timeout {seconds} rping -s -v -C {count} -S {size} -a {PEER} & sleep 0.5; busybox ping -c 1 {OURS}; wait $!'


def last(count):
    return f'ping data: rdma-ping-{count - 1}:'


def cases():
    both = [('server', client), ('client', server)]
    for role, peer in both:
        for size in SIZES:
            yield Case(f'rping {role} {size}', role, peer(size=size), size=size, expect_peer=last(5))
    for role, peer in both:
        yield Case(f'rping {role} crc', role, peer(size=4096), size=4096, crc=True, variant='crc', expect_peer=last(5))
    yield Case('rping server p2p', 'server', client(), variant='p2p', expect_peer=last(5))
    for role, peer in both:
        yield Case(f'rping {role} loss reorder', role, peer(50, 4096), count=50, size=4096, expect_peer=last(50),
                   settings=('link.symmetric=true', 'link.forward.loss.ppm=10000', 'link.forward.reorder.ppm=10000'))
    yield Case('we reject', 'server', client(seconds=5), reject=True, expect_peer='REJECTED')
    yield Case('we do not listen', 'server', client(seconds=2), port=7175, expect_status=1, expect_peer='refused',
               expect_ours='the peer has left')
    yield Case('peer does not listen', 'client', f'busybox ping -c 1 {OURS}; sleep 1', expect_status=1,
               expect_ours='refused')
    yield Case('peer killed', 'server', f'rping -c -C 100000 -a {OURS} & sleep 0.002; kill -9 $!; wait; sleep 0.5',
               count=None, expect_ours=' done')
    # A bit of an FPDU flips on the way, and TCP's checksum hides it: whoever checks the CRC ends the stream.
    yield Case('our Terminate', 'server', client(100, 4096, seconds=5), count=None, crc=True, variant='crc',
               expect_status=1, expect_ours='sent Terminate 2/0/02', settings=('link.reverse.corrupt_repaired.frames=20-',))
    yield Case("the peer's Terminate", 'server', client(100, 4096, seconds=5), count=None, crc=True, variant='crc',
               expect_status=1, expect_ours='received Terminate', settings=('link.forward.corrupt_repaired.frames=20-',))
    for role, peer in both:  # simulated time goes on while a busy machine lets the guest wait
        yield Case(f'free clock {role}', role, peer(), owned=False, egress_ms=3, expect_peer=last(5),
                   settings=('sim.max_time_us=120000000', 'sim.watchdog_us=120000000'))


def attempt(case, options):
    folder = options.out / case.name.replace(' ', '_').replace("'", '')
    first = run(case, options.program, folder)
    faults = list(first.faults(case))
    if options.twice and case.owned:
        second = run(case, options.program, folder.with_name(folder.name + '_again'))
        faults += second.faults(case)
        if first.stats.get('sim_time_ps') != second.stats.get('sim_time_ps'):
            faults.append('the two runs end at different simulated times')
        if first.frames() != second.frames():
            faults.append('the two runs have different frames')
    return first, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', type=pathlib.Path, default=ROOT / 'build/release/bin/rnicsim')
    parser.add_argument('--out', type=pathlib.Path, default=ROOT / 'build/interop', help='folder for captures and logs')
    parser.add_argument('--owned', action='store_true', help='only rping in both roles under owned time')
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
    failed = 0
    print(f'{"case":<28} {"result":<7} {"simulated":>11} {"wall":>7}  frames')
    for case in cases():
        if options.only not in case.name or (options.owned and not case.name.startswith('rping')):
            continue
        result, faults = attempt(case, options)
        failed += bool(faults)
        print(f'{case.name:<28} {"FAILED" if faults else "passed":<7} {result.simulated_s():>9.6f} s {result.wall:>5.1f} s'
              f'  {result.stats.get("frames", 0)}', flush=True)
        for fault in faults:
            print(f'    {fault}; see {result.capture.parent}')
    if options.only in TAP_CASE and not options.owned:
        answered = run_tap(options.program, options.out / TAP_CASE)
        failed += answered is False
        print(f'{TAP_CASE:<28} {"passed" if answered else "skipped: no TAP device here" if answered is None else "FAILED"}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
