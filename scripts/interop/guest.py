"""One Linux guest: a User-Mode Linux process whose network card is a Unix socket, with Soft-iWARP on it and the host's
own programs to run. Unprivileged, and gone without a trace at its end."""
import os
import shutil
import signal
import subprocess
import tempfile
import time

from kernel import image

HERE = os.path.dirname(os.path.realpath(__file__))
TOOLS = ('busybox', 'ethtool', 'ip', 'rdma', 'tc', 'rping', 'rdma_client', 'rdma_server')
KILLED = 124


class Guest:
    """Runs `command` (text for bash) at `ip`; then halts. Its frames go to the socket `card`: SOCK_SEQPACKET with an
    ordinary clock, or vhost-user where `clock` names the socket that owns the guest's time. `files` (name: octets; programs
    too) are in the guest's folder /run/guest."""

    def __init__(self, command, ip, card, clock=None, variant='stock', mtu=1500, egress_ms=None, timeout=60,
                 files=None):
        self.folder = tempfile.mkdtemp(prefix='rnicsim-guest.')
        mac = '02:57:' + ':'.join(f'{int(octet):02x}' for octet in ip.split('.'))
        self.write('command', command + '\n')
        self.write('settings', f'IP={ip}\nMAC={mac}\nMTU={mtu}\nEGRESS_MS={egress_ms or ""}\n')
        for name, octets in (files or {}).items():
            with open(self.path(name), 'wb') as f:
                f.write(octets)
            os.chmod(self.path(name), 0o755)
        shutil.copy(os.path.join(HERE, 'guest_init.sh'), self.path('init'))
        os.chmod(self.path('init'), 0o755)
        # The kernel takes neither commas nor long paths.
        for name, target in (('card', card), ('clock', clock)):
            if target:
                os.symlink(os.path.realpath(target), self.path(name))
        arguments = ['mem=192M', 'root=/dev/root', 'rootfstype=hostfs', 'rootflags=/', 'ro', f'init={self.path("init")}',
                     f'GUEST_DIR={self.folder}', 'quiet', f'uml_dir={self.path("uml")}', 'umid=guest',
                     'con=null', 'con0=null,fd:2', 'ssl=null']
        if clock:
            arguments += [f'time-travel=ext:1:{self.path("clock")}', f'virtio_uml.device={self.path("card")}:1']
        else:
            arguments += [f'vec0:transport=bess,dst={self.path("card")},mac={mac},mtu={mtu}']
        with open(self.path('console'), 'wb') as console:
            self.process = subprocess.Popen([image(variant)] + arguments, stdin=subprocess.DEVNULL, stdout=console,
                                            stderr=console, start_new_session=True, cwd=self.folder,
                                            env={'PATH': os.environ['PATH'], 'HOME': '/tmp', 'TMPDIR': self.folder})
        self.deadline = time.monotonic() + timeout

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), 'w') as f:
            f.write(text)

    def read(self, name):
        try:
            with open(self.path(name), errors='replace') as f:
                return f.read()
        except FileNotFoundError:
            return ''

    def wait(self):
        """Its command's exit status (124: it was killed, 125: it did not come up) and what it printed."""
        try:
            self.process.wait(max(0.1, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return self.kill()
        status = self.read('status').strip()
        output = self.read('output') + self.read('errors') + ('' if status else self.read('console'))
        self.close()
        return int(status or 125), output

    def kill(self):
        """As if its plug were pulled."""
        output = self.read('output') + self.read('errors') + self.read('console')
        self.close()
        return KILLED, output

    def close(self):
        """A guest is a group of processes."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'


def missing_tools():
    return [tool for tool in TOOLS if not shutil.which(tool, path=PATH)]


def boots():
    """Whether a guest comes so far as to miss the other end of its network card."""
    guest = Guest('true', '10.0.0.2', '/nowhere', timeout=60)
    status, said = guest.wait()
    return status == 125 and 'does not come up' in said
