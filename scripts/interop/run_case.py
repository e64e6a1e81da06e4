"""One run of the simulator with a guest as its peer, and what it left behind."""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import time

from guest import Guest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS, PEER = '10.0.0.1', '10.0.0.2'
WAIT = 300  # seconds of wall time that anything may take


class Case:
    """`role` is our rping's; `guest` is a command for the peer. `expect` maps what must have come of it: our exit status
    (default 0), words in what we say, words in what the peer says."""

    def __init__(self, name, role, guest, count=5, size=64, crc=False, reject=False, port=None, variant='stock',
                 settings=(), expect_status=0, expect_ours='', expect_peer='', owned=True, egress_ms=None):
        self.name, self.role, self.guest, self.owned, self.variant = name, role, guest, owned, variant
        self.program = {'count': count, 'size': size, 'crc': crc}
        if role == 'server':
            self.program.update(count=0 if count is None else count, size=65536, reject=reject)
        if port:
            self.program['port'] = port
        self.settings, self.egress_ms = list(settings), egress_ms
        self.expect_status, self.expect_ours, self.expect_peer = expect_status, expect_ours, expect_peer


class Result:
    def __init__(self, folder, status, said, peer_status, peer_said, wall):
        self.capture, self.wall = folder / 'wire.pcapng', wall
        self.status, self.said, self.peer_status, self.peer_said = status, said, peer_status, peer_said
        stats = folder / 'stats.json'
        self.stats = json.loads(stats.read_text()) if stats.exists() else {}

    def simulated_s(self):
        return self.stats.get('sim_time_ps', 0) / 1e12

    def faults(self, case):
        """What is not as the case expects it."""
        if self.status != case.expect_status:
            yield f'our exit status is {self.status}, not {case.expect_status}'
        if case.expect_ours not in self.said:
            yield f'we do not say "{case.expect_ours}"'
        if case.expect_peer not in self.peer_said:
            yield f'the peer does not say "{case.expect_peer}"'
        if not self.capture.exists():
            yield 'there is no capture'
        elif malformed(self.capture):
            yield 'tshark finds malformed packets'

    def frames(self):
        """Time, direction and length of each: what must not differ between runs under owned time."""
        return list(frames_of(self.capture.read_bytes()))


def malformed(capture):
    tshark = shutil.which('tshark')
    if not tshark:
        return False
    run = subprocess.run([tshark, '-r', capture, '-Y', '_ws.malformed'], capture_output=True, text=True)
    return run.returncode != 0 or run.stdout != ''


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


def scenario_of(role, program, folder):
    """Writes the scenario of that role with the program's keys changed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    scenario = json.loads((ROOT / f'traces/interop/rping_{role}.json').read_text())
    scenario['programs'][0].update(program)
    (folder / 'scenario.json').write_text(json.dumps(scenario, indent=2))
    return folder / 'scenario.json'


def run(case, program, folder):
    """Runs the case; leaves its files in the folder."""
    scenario = scenario_of(case.role, case.program, folder)
    sockets = pathlib.Path(os.path.relpath(folder))  # a socket's path has at most 107 octets
    card, clock = sockets / 'card.sock', sockets / 'clock.sock'
    settings = [f'external.path={card}', f'external.patience_s={WAIT}', *case.settings]
    settings += [f'external.time_path={clock}'] if case.owned else ['external.wire=seqpacket']
    options = [word for s in settings for word in ('--set', s)]
    begin = time.monotonic()
    with open(folder / 'rnicsim.txt', 'w') as log:
        ours = subprocess.Popen([program, 'run', scenario, '--out', folder, *options],
                                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    try:
        while ours.poll() is None and not (card.exists() and (clock.exists() or not case.owned)):
            time.sleep(0.01)
        guest = Guest(case.guest, PEER, card, clock if case.owned else None, case.variant, egress_ms=case.egress_ms,
                      timeout=WAIT)
        peer_status, peer_said = guest.wait()
        ours.wait(WAIT)
    except subprocess.TimeoutExpired:
        pass
    finally:
        ours.kill()
        ours.wait()
    (folder / 'peer.txt').write_text(peer_said)
    for socket in (card, clock):
        socket.unlink(missing_ok=True)
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


def run_tap(program, folder):
    """This machine's own kernel as the peer, on a TAP device in a network namespace of its own. None if there can be none;
    then whether it was answered."""
    scenario = scenario_of('server', {}, folder)
    script = TAP.format(peer=PEER, ours=OURS, program=program, scenario=scenario, folder=folder)
    if subprocess.run(['unshare', '-rn', 'bash', '-c', script], timeout=WAIT, stderr=subprocess.DEVNULL).returncode == 77:
        return None
    return (folder / 'wire.pcapng').exists() and f'bytes from {OURS}' in (folder / 'peer.txt').read_text()
