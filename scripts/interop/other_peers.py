"""Peers that are no guests: QEMU's network stack, and this machine's own kernel."""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import time

from capture import malformed
from run_case import OURS, PEER, WAIT, scenario_of

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
    if subprocess.run(['unshare', '-rn', 'true'], stderr=subprocess.DEVNULL).returncode != 0:
        return None  # not in a chroot, for one
    scenario = scenario_of('rping_server', {}, folder)
    script = TAP.format(peer=PEER, ours=OURS, program=program, scenario=scenario, folder=folder)
    if subprocess.run(['unshare', '-rn', 'bash', '-c', script], timeout=WAIT, stderr=subprocess.DEVNULL).returncode == 77:
        return None
    return f'bytes from {OURS}' in (folder / 'peer.txt').read_text() and not malformed(folder / 'wire.pcapng')
