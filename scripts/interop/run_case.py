"""One run of the simulator with a guest as its peer, and what it left behind."""
import hashlib
import json
import os
import pathlib
import random
import shutil
import socket
import struct
import subprocess
import time

from guest import Guest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS, PEER = '10.0.0.1', '10.0.0.2'
WAIT = 300  # seconds of wall time that anything may take
TCP_SETTINGS = ('tcp.rto_initial_us=1000000', 'tcp.rto_min_us=200000', 'tcp.rto_max_us=60000000')  # as on a real network


class Case:
    """`ours` is a scenario of traces/interop, whose program gets the keys in `program`; `guest` is a command for the peer.
    `expect_*` is what must have come of it: our exit status (or those that may be), words in what we say, words in what
    the peer says."""

    def __init__(self, name, ours, guest, variant='stock', settings=(), expect_status=0, expect_ours='', expect_peer='',
                 owned=True, egress_ms=None, **program):
        self.name, self.ours, self.guest, self.owned, self.variant = name, ours, guest, owned, variant
        self.program, self.settings, self.egress_ms = program, list(settings), egress_ms
        self.expect_status = expect_status if isinstance(expect_status, tuple) else (expect_status,)
        self.expect_ours, self.expect_peer = expect_ours, expect_peer
        self.files = {}

    def command(self, program, folder, settings):
        scenario = scenario_of(self.ours, self.program, folder)
        return [program, 'run', scenario, '--out', folder, *(word for s in settings for word in ('--set', s))]

    def faults(self, result):
        """What is not as it is expected."""
        if result.status not in self.expect_status:
            yield f'our exit status is {result.status}, not {" or ".join(map(str, self.expect_status))}'
        if self.expect_ours not in result.said:
            yield f'we do not say "{self.expect_ours}"'
        if self.expect_peer not in result.peer_said:
            yield f'the peer does not say "{self.expect_peer}"'
        if not result.capture.exists():
            yield 'there is no capture'
        elif malformed(result.capture):
            yield 'tshark finds malformed packets'
        else:
            yield from self.retransmission_faults(result)

    @staticmethod
    def retransmission_faults(result):
        """What our TCP says that it sent again is what tshark's analysis says, which takes frames that the cable
        reordered for such as well; it cannot see one behind which nothing else had been seen."""
        stats = result.stats.get('stats', {})
        faults = stats.get('link', {}).get('forward')
        found = retransmitted(result.capture)
        if faults is None or found is None:
            return
        reported, reordered = stats['a']['rnic']['tcp_tx']['retransmissions']['value'], faults['reordered']['value']
        if found > reported + reordered or (found == 0 and reported > 0):
            yield f'tshark finds {found} retransmissions, we report {reported} and {reordered} reordered frames'


class BulkCase(Case):
    """The chip's TCP without RDMA, against the peer's: a stream each way at once. `guest` connects it to its standard input
    and output."""
    SEGMENTS, SEGMENT_BYTES, PEER_BYTES = 500, 1448, 700_000

    def __init__(self, name, guest, settings=(), **keys):
        received = f'{guest} </run/guest/stream >/tmp/received; sha256sum </tmp/received'
        bulk = {'segments': self.SEGMENTS, 'segment_bytes': self.SEGMENT_BYTES, 'expected_bytes': self.PEER_BYTES, **keys}
        sent = bytes((7 * i + i // 251) & 0xFF for i in range(self.SEGMENTS * self.SEGMENT_BYTES))
        super().__init__(name, 'tcp', received, settings=[*(f'bulk.{k}={v}' for k, v in bulk.items()), *settings],
                         expect_peer=hashlib.sha256(sent).hexdigest())
        self.files = {'stream': random.Random(1).randbytes(self.PEER_BYTES)}

    def command(self, program, folder, settings):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return [program.with_name('tcp_bulk'), folder, *TCP_SETTINGS, *settings]

    def faults(self, result):
        yield from super().faults(result)
        if (result.capture.parent / 'received.bin').read_bytes() != self.files['stream']:
            yield 'what came is not what the peer sent'


class Result:
    def __init__(self, folder, status, said, peer_status, peer_said, wall):
        self.capture, self.wall = folder / 'wire.pcapng', wall
        self.status, self.said, self.peer_status, self.peer_said = status, said, peer_status, peer_said
        stats = folder / 'stats.json'
        self.stats = json.loads(stats.read_text()) if stats.exists() else {}

    def simulated_s(self):
        return self.stats.get('sim_time_ps', 0) / 1e12

    def frames(self):
        """Time, direction and length of each: what must not differ between runs under owned time."""
        return list(frames_of(self.capture.read_bytes()))


def malformed(capture):
    tshark = shutil.which('tshark')
    if not tshark:
        return False
    run = subprocess.run([tshark, '-r', capture, '-Y', '_ws.malformed'], capture_output=True, text=True)
    return run.returncode != 0 or run.stdout != ''


def retransmitted(capture):
    """How many segments with payload we sent again, as tshark sees it; None without it."""
    tshark = shutil.which('tshark')
    if not tshark:
        return None
    kinds = ' || '.join(f'tcp.analysis.{kind}' for kind in ('retransmission', 'fast_retransmission', 'out_of_order'))
    run = subprocess.run([tshark, '-r', capture, '-Y', f'ip.src == {OURS} && tcp.len > 0 && ({kinds})'],
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


def scenario_of(name, program, folder):
    """Writes that scenario with the program's keys changed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    scenario = json.loads((ROOT / f'traces/interop/{name}.json').read_text())
    scenario['programs'][0].update(program)
    (folder / 'scenario.json').write_text(json.dumps(scenario, indent=2))
    return folder / 'scenario.json'


def run(case, program, folder):
    """Runs the case; leaves its files in the folder."""
    sockets = pathlib.Path(os.path.relpath(folder))  # a socket's path has at most 107 octets
    card, clock = sockets / 'card.sock', sockets / 'clock.sock'
    settings = [f'external.path={card}', f'external.patience_s={WAIT}', *case.settings]
    settings += [f'external.time_path={clock}'] if case.owned else ['external.wire=seqpacket']
    command = case.command(program, folder, settings)
    begin = time.monotonic()
    with open(folder / 'rnicsim.txt', 'w') as log:
        ours = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    try:
        while ours.poll() is None and not (card.exists() and (clock.exists() or not case.owned)):
            time.sleep(0.01)
        guest = Guest(case.guest, PEER, card, clock if case.owned else None, case.variant, egress_ms=case.egress_ms,
                      timeout=WAIT, files=case.files)
        peer_status, peer_said = guest.wait()
        ours.wait(WAIT)
    except subprocess.TimeoutExpired:
        pass
    finally:
        ours.kill()
        ours.wait()
    (folder / 'peer.txt').write_text(peer_said)
    for path in (card, clock):
        path.unlink(missing_ok=True)
    return Result(folder, ours.returncode, (folder / 'rnicsim.txt').read_text(), peer_status, peer_said,
                  time.monotonic() - begin)


TAP = """
ip tuntap add dev card mode tap && ip addr add {peer}/24 dev card && ip link set card up || exit 77
{program} run {scenario} --out {folder} --set external.wire=tap --set external.path=card \
  --set sim.max_time_us=3000000 >{folder}/rnicsim.txt 2>&1 &
sleep 0.5
busybox ping -c 3 {ours} >{folder}/peer.txt
wait
"""


QEMU_ENDS = {
    'stream': 'stream,id=end,server=off,addr.type=unix,addr.path={card}',
    'dgram': 'dgram,id=end,local.type=unix,local.path={peer},remote.type=unix,remote.path={card}',
}


def run_qemu(program, folder, wire):
    """QEMU behind its own framing: no machine, but a hub with the network stack that answers for 10.0.2.2. It has to be
    found by ARP, and it passes a connection on to this machine's loopback, where nobody listens on that port. None
    where there is no QEMU; then whether all that came to pass."""
    qemu = shutil.which('qemu-system-x86_64')
    if qemu is None:
        return None
    scenario = scenario_of('rping_client', {'start_on_ping': False, 'port': unused_port()}, folder)
    network = json.loads(scenario.read_text())
    network['nodes'][0]['ip'], network['nodes'][1]['ip'] = '10.0.2.15', '10.0.2.2'
    scenario.write_text(json.dumps(network, indent=2))
    sockets = pathlib.Path(os.path.relpath(folder))
    card, peer = sockets / 'card.sock', sockets / 'qemu.sock'
    settings = [f'external.wire={wire}', f'external.path={card}', f'external.peer_path={peer}',
                'sim.max_time_us=60000000']
    with open(folder / 'rnicsim.txt', 'w') as log:
        ours = subprocess.Popen([program, 'run', scenario, '--out', folder, *(w for s in settings for w in ('--set', s))],
                                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    while ours.poll() is None and not card.exists():
        time.sleep(0.01)
    ends = ('user,id=stack', 'hubport,id=a,hubid=0,netdev=stack',
            QEMU_ENDS[wire].format(card=card, peer=peer), 'hubport,id=b,hubid=0,netdev=end')
    with open(folder / 'peer.txt', 'w') as log:
        emulator = subprocess.Popen([qemu, '-machine', 'none', '-nodefaults', '-display', 'none',
                                     *(w for e in ends for w in ('-netdev', e))],
                                    stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    try:
        status = ours.wait(WAIT)
    finally:
        for process in (ours, emulator):
            process.kill()
            process.wait()
    said = (folder / 'rnicsim.txt').read_text()
    return status == 1 and 'refused' in said and not malformed(folder / 'wire.pcapng')


def unused_port():
    with socket.create_server(('127.0.0.1', 0)) as s:
        return s.getsockname()[1]


def run_tap(program, folder):
    """This machine's own kernel as the peer, on a TAP device in a network namespace of its own. None if there can be none;
    then whether it was answered."""
    scenario = scenario_of('rping_server', {}, folder)
    script = TAP.format(peer=PEER, ours=OURS, program=program, scenario=scenario, folder=folder)
    if subprocess.run(['unshare', '-rn', 'bash', '-c', script], timeout=WAIT, stderr=subprocess.DEVNULL).returncode == 77:
        return None
    return (folder / 'wire.pcapng').exists() and f'bytes from {OURS}' in (folder / 'peer.txt').read_text()
