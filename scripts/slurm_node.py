#!/usr/bin/env python3
"""Runs a command beside a Slurm of one node on the loopback interface, which lives in a temporary folder and ends with it.

slurm_node.py [--cpus N] COMMAND…    sbatch, squeue, scancel and the like find it in that command's environment

For tests: nothing of an installed Slurm is read or changed, and no cgroups are needed. Needs root, as slurmd does, and Debian's
packages of PACKAGES, which scripts/setup.sh --cluster installs. Exit status: that of the command; 2 where Slurm does not start, with
the ends of its logs.
"""
import argparse
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

PACKAGES = ("munge", "slurmctld", "slurmd", "slurm-client")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel")
PATIENCE = 60  # seconds until it has started
CONFIGURATION = """\
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SchedulerParameters=sched_interval=2,batch_sched_delay=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
KillWait=5
NodeName=loopback NodeHostname={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=loopback Default=YES MaxTime=INFINITE State=UP
"""


class NotStarted(Exception):
    pass


def why_not():
    """What keeps it from running here; None if nothing does."""
    os.environ["PATH"] = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        return f"{missing[0]} is missing: scripts/setup.sh --cluster installs it"
    return None if os.geteuid() == 0 else "slurmd needs root"


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class SlurmNode:
    """With it: a Slurm that `environment` leads to."""

    def __init__(self, cpus=2):
        self.cpus = cpus
        self.daemons = []

    def __enter__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="slurm_node.")
        self.folder = pathlib.Path(self.temporary.name)
        self.folder.chmod(0o755)  # who asks munged need not be root
        for name in ("state", "spool"):
            (self.folder / name).mkdir(mode=0o755)
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *unused):
        self.stop()

    def start(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        host = socket.gethostname().split(".")[0]
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(host=host, folder=self.folder, cpus=self.cpus, ports=free_ports(2)))
        self.daemon("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                    f"--pid-file={self.folder}/munge.pid", f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munge.seed")
        self.wait_for("munged", lambda: (self.folder / "munge.socket").exists())
        self.daemon("slurmctld", "-D")
        self.daemon("slurmd", "-D")
        self.wait_for("slurmd", lambda: self.ask("sinfo", "--noheader", "--format=%T").strip() in ("idle", "mixed"))

    def daemon(self, program, *arguments):
        with (self.folder / f"{program}.out").open("wb") as out:
            self.daemons.append((program, subprocess.Popen([program, *arguments], env=self.environment, stdin=subprocess.DEVNULL,
                                                           stdout=out, stderr=subprocess.STDOUT, cwd=self.folder)))

    def wait_for(self, what, is_there):
        end = time.monotonic() + PATIENCE
        while not is_there():
            ended = [program for program, process in self.daemons if process.poll() is not None]
            if ended or time.monotonic() > end:
                raise NotStarted(f"{ended[0]} has ended" if ended else f"{what} has not started in {PATIENCE} s", self.logs())
            time.sleep(0.1)

    def ask(self, *command):
        """What it prints, or nothing where it fails."""
        done = subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        return done.stdout if done.returncode == 0 else ""

    def logs(self):
        texts = []
        for file in sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out")):
            texts += [f"{file.name}: {line}" for line in file.read_text(errors="replace").splitlines()[-15:]]
        return "\n".join(texts)

    def stop(self):
        if len(self.daemons) == 3:
            self.ask("scancel", "--me")
            end = time.monotonic() + 20
            while self.ask("squeue", "--noheader").strip() and time.monotonic() < end:
                time.sleep(0.2)
        for _, process in reversed(self.daemons):
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.temporary.cleanup()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not options.command:
        parser.error("which command?")
    if reason := why_not():
        sys.exit(f"slurm_node: {reason}")
    try:
        with SlurmNode(options.cpus) as slurm:
            return subprocess.run(options.command, env=slurm.environment).returncode
    except NotStarted as error:
        print(f"slurm_node: {error.args[0]}\n{error.args[1]}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
