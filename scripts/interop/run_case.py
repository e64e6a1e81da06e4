"""One run of the simulator with a guest as its peer, and what it left behind."""
import hashlib
import json
import os
import pathlib
import random
import shutil
import subprocess
import time

from capture import frames_of, malformed, retransmitted
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

    def start_peer(self, program, card, clock):
        return Guest(self.guest, PEER, card, clock, self.variant, egress_ms=self.egress_ms, timeout=WAIT, files=self.files)

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
        """The frames that our TCP reports as retransmitted are those of tshark's analysis, which also counts frames that
        the cable reordered; it cannot see one after which no other had been seen."""
        stats = result.stats.get('stats', {})
        faults = stats.get('link', {}).get('forward')
        found = retransmitted(result.capture, OURS)
        if faults is None or found is None:
            return
        reported, reordered = stats['a']['rnic']['tcp_tx']['retransmissions']['value'], faults['reordered']['value']
        unseen = faults['too_long']['value'] > 0  # all that was sent until the router's word came
        if found > reported + reordered or (found == 0 and reported > 0 and not unseen):
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
        empty(folder)
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


def empty(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def scenario_of(name, program, folder):
    """Writes that scenario with the program's keys changed."""
    empty(folder)
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
        peer = case.start_peer(program, card, clock if case.owned else None)
        peer_status, peer_said = peer.wait()
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
