"""DDP over SCTP: the chip, and before it the far ends among themselves (testbench/interop/README.md).

A far end is `sctp_peer` on libusrsctp, a process of its own with its own clock, or on Linux's SCTP in the guest, whose clock
the run owns. Its words are the keys that `sctp_peer` lists."""
import json
import os
import subprocess

from capture import bad_sctp_checksums
from run_case import OURS, PEER, Case, empty, scenario_of

MIB = 'count=16 size=65536'  # 1 MiB each way
RTO = tuple(f'rnic.sctp.{key}' for key in ('rto_initial_us=1000000', 'rto_min_us=200000', 'rto_max_us=60000000'))
LISTENS = 'until busybox grep -qs " 7174 " /proc/net/sctp/eps'
LOSS = ('link.symmetric=true', 'link.forward.loss.ppm=10000')


def guest_command(role, words, far_ip=OURS):
    """Of `sctp_peer` in the guest. A listener says by a ping when it listens."""
    command = f'/run/guest/sctp_peer linux {role} ip={PEER} peer={far_ip} {words}'
    if role == 'connect':
        return f'sleep 0.1; {command}'
    waits = f'{LISTENS} || ! kill -0 $!; do sleep 0.1; done'
    return f'{command} & {waits}; busybox ping -c 1 -W 1 {far_ip}; wait $!'


class Process:
    """`sctp_peer` on libusrsctp, with what a guest does for a case."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)

    def wait(self):
        said, _ = self.process.communicate()
        return self.process.returncode, said

    def kill(self):
        self.process.kill()


class SctpCase(Case):
    """`ours` is the role of the chip's echo; the peer has the other."""

    def __init__(self, name, ours, words='', transport='linux', settings=(), expect_peer='16 rounds', counters=(), **keys):
        program = dict(program='echo', port=7174, count=0 if ours == 'server' else 16, size=65536)
        role = 'connect' if ours == 'server' else 'listen'
        self.counters = dict(counters)
        self.transport, self.role, self.words = transport, role, f'{MIB} {words}'
        super().__init__(f'sctp {transport} {name}', f'rping_{ours}', guest_command(role, self.words),
                         settings=[*RTO, *settings],
                         expect_peer=expect_peer, owned=transport == 'linux', **{**program, **keys})

    def command(self, program, folder, settings):
        self.files = {'sctp_peer': peer_program(program).read_bytes()}
        scenario = scenario_of(self.ours, self.program, folder)
        plan = json.loads(scenario.read_text())
        plan['transport'] = 'sctp'
        del plan['config']  # timers of TCP
        scenario.write_text(json.dumps(plan, indent=2))
        return [program, 'run', scenario, '--out', folder, *(word for s in settings for word in ('--set', s))]

    def start_peer(self, program, card, clock):
        if self.transport == 'linux':
            return super().start_peer(program, card, clock)
        ready = 'ping=1' if self.role == 'listen' else 'probe=1 delay_ms=100'
        return Process([peer_program(program), 'usrsctp', self.role, f'wire={card}', f'ip={PEER}', f'peer={OURS}', 'rto_ms=300',
                        *ready.split(), *self.words.split()])

    def retransmission_faults(self, result):
        if bad_sctp_checksums(result.capture):
            yield 'tshark finds wrong SCTP checksums'
        engine = result.stats.get('stats', {}).get('a', {}).get('rnic', {}).get('sctp_association', {})
        for name, expected in self.counters.items():
            if engine.get(name, {}).get('value') != expected:
                yield f'{name} is not {expected}'


class EndsCase(Case):
    """The guest's Linux against libusrsctp: no chip."""

    def __init__(self, name, guest_role, guest_words, words, expect_ours, expect_peer, status=0):
        super().__init__(f'sctp ends {name}', None, guest_command(guest_role, guest_words), expect_status=status,
                         expect_ours=expect_ours, expect_peer=expect_peer, owned=False)
        self.role = 'listen' if guest_role == 'connect' else 'connect'
        self.words, self.counters = words, {}

    def command(self, program, folder, settings):
        peer = peer_program(program)
        self.files = {'sctp_peer': peer.read_bytes()}
        empty(folder)
        card = os.path.relpath(folder / 'card.sock')
        return [peer, 'usrsctp', self.role, f'wire={card}', 'wire_listen=1', f'pcap={folder / "wire.pcapng"}', f'ip={OURS}',
                f'peer={PEER}', 'rto_ms=300', 'ping=1', *self.words.split()]

    retransmission_faults = SctpCase.retransmission_faults


def ends_cases():
    both = '16 rounds'
    for what, words in (('writes', ''), ('sends', 'op=send'), ('reads', 'op=read'), ('plain', 'plain=1'),
                        ('ready to receive', 'rtr=write'), ('loss', 'lose=10000')):
        here = words if what == 'loss' else ''
        theirs = '' if what == 'loss' else words
        yield EndsCase(f'linux connects, {what}', 'connect', theirs, here, both, both)
        yield EndsCase(f'usrsctp connects, {what}', 'listen', '', words, both, both)
    # Not the other way round: Linux's socket may give a message of the new association before it tells of the restart.
    yield EndsCase('linux connects, restart', 'connect', 'restart_after=3', '', both, both)
    yield EndsCase('linux rejects', 'listen', 'reject=busy', '', "private data 'busy'", 'rejected', 1)
    yield EndsCase('usrsctp rejects', 'connect', '', 'reject=busy', 'rejected', "private data 'busy'")
    yield EndsCase('linux aborts', 'connect', 'abort_after=3', '', 'the association is lost', 'we abort', 1)
    yield EndsCase('usrsctp aborts', 'listen', '', 'abort_after=3', 'we abort', 'the association is lost')
    yield EndsCase('wrong cookie', 'listen', '', 'spoil_cookies=1', both, both)


def chip_cases():
    for transport in ('linux', 'usrsctp'):
        for ours in ('server', 'client'):
            def case(what, words='', **keys):
                return SctpCase(f'{ours} {what}', ours, words, transport=transport, **keys)
            operations = ('write', 'send', 'read', 'write_invalidate')
            for op in operations:
                chosen = dict(op=op.replace('invalidate', 'inv')) if ours == 'client' else {}
                yield case(op, f'op={op}', **chosen)
                if op in ('write', 'send'):
                    yield case(f'{op} loss', f'op={op}', settings=LOSS, **chosen)
        yield SctpCase('server plain', 'server', 'plain=1', transport=transport)
        for kind in ('write', 'read'):
            yield SctpCase(f'server rtr {kind}', 'server', f'rtr={kind}', transport=transport)
        # We take Writes only.
        yield SctpCase('server no common rtr', 'server', 'rtr=send', transport=transport, rtr=True, expect_status=1,
                       expect_peer='sent Terminate 2/0/07', expect_ours='received Terminate 2/0/07')
        yield SctpCase('client rtr', 'client', transport=transport, rtr=True)
        yield SctpCase('we reject', 'server', transport=transport, reject=True, expect_peer='rejected')
        yield SctpCase('peer rejects', 'client', 'reject=busy', transport=transport, expect_peer='rejected', expect_status=1,
                       expect_ours='the peer rejected the connection')
        # The run ends with our program: the far end may not come to say that it has the Terminate.
        yield SctpCase('our Terminate', 'server', 'bad_write=1 size=1000', transport=transport, expect_status=1,
                       expect_peer='accepted', expect_ours='sent Terminate 1/1/00')
        yield SctpCase('its Terminate', 'server', 'bad_stag=1 size=1000', transport=transport, expect_status=1,
                       expect_peer='sent Terminate 1/1/00', expect_ours='Terminate 1/1/00')
        yield SctpCase('peer aborts', 'server', 'abort_after=3', transport=transport, expect_status=1,
                       expect_peer='we abort', expect_ours='went to the error state')
        yield SctpCase('peer restarts', 'server', 'restart_after=3 seconds=10', transport=transport, expect_status=1,
                       expect_peer='we restart the association\nsctp_peer: association up', expect_ours='went to the error state')
        yield SctpCase('no DDP', 'server', 'adaptation=0 seconds=5', transport=transport, expect_status=(0, 1),
                       expect_peer='the association is lost')
    yield SctpCase('wrong cookie', 'server', 'spoil_cookies=1', transport='usrsctp', counters=dict(forged_cookies=1))


def peer_program(program):
    return program.with_name('sctp_peer')
