"""Connects two far ends on libusrsctp over a Unix socket: tests the chip's test partner."""
import os
import subprocess
import tempfile
import time
import unittest

# The events of the listener and the connecting end, the output each must print, and their exit statuses.
CASES = {
    'writes, enhanced': ('', '', '16 rounds', '16 rounds', (0, 0)),
    'writes, plain': ('', 'plain=1', 'plain Initiate', '16 rounds', (0, 0)),
    'sends': ('', 'op=send stream=2', '16 rounds', '16 rounds', (0, 0)),
    'reads': ('', 'op=read', '16 rounds', '16 rounds', (0, 0)),
    'writes with invalidation': ('', 'op=write_invalidate', '16 rounds', '16 rounds', (0, 0)),
    'rping': ('tool=rping', 'tool=rping', '16 rounds', '16 rounds', (0, 0)),
    'private data': ('private=welcome', 'private=hello count=1', "'hello'", "'welcome'", (0, 0)),
    'IRD and ORD': ('ird=3 ord=2', 'count=1', 'IRD 3, ORD 2', 'IRD 3, ORD 2', (0, 0)),
    'ready to receive, Send': ('', 'rtr=send count=2', 'RTR 0x1', '2 rounds', (0, 0)),
    'ready to receive, Write': ('', 'rtr=write count=2', 'RTR 0x2', '2 rounds', (0, 0)),
    'ready to receive, Read': ('', 'rtr=read count=2', 'RTR 0x4', '2 rounds', (0, 0)),
    'writes with loss': ('lose=10000 seed=2', 'lose=10000 seed=3', '16 rounds', '16 rounds', (0, 0)),
    'sends with loss': ('lose=10000 seed=4', 'lose=10000 seed=5 op=send', '16 rounds', '16 rounds', (0, 0)),
    'reject': ('reject=busy', '', 'rejected', "rejected, private data 'busy'", (0, 1)),
    'reject, plain': ('reject=busy', 'plain=1', 'rejected', "rejected, private data 'busy'", (0, 1)),
    'Write to no STag': ('', 'bad_stag=1', 'received Terminate 1/1/00', 'sent Terminate 1/1/00', (1, 1)),
    'Read of no STag': ('tool=rping', 'tool=rping bad_stag=1', 'received Terminate 0/1/00', 'sent Terminate 0/1/00',
                        (1, 1)),
    'abort': ('', 'abort_after=3', 'the association is lost', 'we abort', (1, 0)),
    'restart': ('', 'restart_after=3', 'the peer has restarted', '16 rounds', (0, 0)),
    'wrong cookie': ('', 'spoil_cookies=2', '16 rounds', '16 rounds', (0, 0)),
    'no DDP': ('adaptation=2', '', 'the association is lost', 'the peer speaks no DDP', (1, 1)),
}


class FarEnds(unittest.TestCase):
    def run_case(self, listen, connect):
        with tempfile.TemporaryDirectory() as folder:
            wire = os.path.relpath(f'{folder}/wire')
            ends = (('listen', listen, 'wire_listen=1'), ('connect', connect, 'ip=10.0.0.1 peer=10.0.0.2 rto_ms=200'))
            processes = []
            for role, words, own in ends:
                command = [os.environ['SCTP_PEER'], 'usrsctp', role, f'wire={wire}', *own.split(), *words.split()]
                processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
                self.addCleanup(processes[-1].kill)
                while role == 'listen' and processes[-1].poll() is None and not os.path.exists(wire):
                    time.sleep(0.01)
            said = [process.communicate(timeout=100)[0] for process in processes]
            return said, tuple(process.returncode for process in processes)

    def test_cases(self):
        for name, (listen, connect, heard_there, heard_here, statuses) in CASES.items():
            with self.subTest(name):
                said, status = self.run_case(listen, connect)
                self.assertIn(heard_there, said[0])
                self.assertIn(heard_here, said[1])
                self.assertEqual(status, statuses, '\n'.join(said))

    def test_bad_words(self):
        for words in ('usrsctp', 'tcp listen', 'usrsctp listen', 'linux listen porrt=1', 'linux listen port=70000'):
            run = subprocess.run([os.environ['SCTP_PEER'], *words.split()], capture_output=True, text=True)
            self.assertEqual((run.returncode, 'usage' in run.stderr), (2, True), words)


if __name__ == '__main__':
    unittest.main()
