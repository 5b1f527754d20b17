"""Slurm on one host, while a test needs it: munged, slurmctld and slurmd in a scratch folder.

    with OneHostSlurm(folder) as slurm:
        slurm.run(["sbatch", "--wait", "job.sbatch"])

Needs neither root, systemd nor cgroups: all run as this user, processes are found in /proc, and
tasks are not confined. Nothing outside of the folder is read or written, and no port has a fixed
number, so that a Slurm of the machine itself is not disturbed.
"""

import getpass
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

DAEMONS = ("munged", "slurmctld", "slurmd")
PROCESSORS = 2  # what slurm.conf says, whatever the machine has
SETTINGS = """\
ClusterName=vernier
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
ReturnToService=2
MinJobAge=300
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} RealMemory=512 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=10:00 State=UP OverSubscribe=NO
"""


def missing():
    """What keeps Slurm from running here, in a sentence; empty if nothing does."""
    absent = ", ".join(name for name in (*DAEMONS, "sbatch", "srun") if not find(name))
    return f"Slurm is not installed ({absent}): scripts/deps.sh --with clusters" if absent else ""


def find(name):
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def free_port():
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        return holder.getsockname()[1]


class OneHostSlurm:
    """A context: Slurm runs within it, and has stopped after it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.running = []
        self.variables = {"SLURM_CONF": str(self.folder / "slurm.conf")}  # for Slurm's commands
        self.environment = {**os.environ, **self.variables}

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def run(self, words, **settings):
        """A command of Slurm's, or one that calls them."""
        return subprocess.run([str(word) for word in words], text=True, capture_output=True,
                              check=False, timeout=300,
                              env={**self.environment, **settings.pop("env", {})}, **settings)

    def stop(self):
        while self.running:
            process = self.running.pop()
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _start(self):
        host = socket.gethostname().split(".")[0]
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True)
        # munged refuses folders that others can write to.
        self.folder.chmod(0o755)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        (self.folder / "slurm.conf").write_text(SETTINGS.format(
            folder=self.folder, host=host, user=getpass.getuser(), processors=PROCESSORS,
            controller_port=free_port(), node_port=free_port()), encoding="utf-8")
        # --force: it would rather not run as root, nor below /tmp.
        self._daemon("munged", "--foreground", "--force", "--num-threads=2", f"--key-file={key}",
                     f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munge.pid",
                     f"--log-file={self.folder}/munge.log", f"--seed-file={self.folder}/munge.seed")
        self._wait(lambda: (self.folder / "munge.socket").exists(), "munged has no socket")
        self._daemon("slurmctld", "-D", "-c")
        self._daemon("slurmd", "-D", "-c", "-N", host)
        self._wait(lambda: self.run(["sinfo", "-h", "-o", "%t"]).stdout.strip() == "idle",
                   "the node is not idle")

    def _daemon(self, name, *words):
        with open(self.folder / f"{name}.out", "wb") as out:
            self.running.append(subprocess.Popen(
                [find(name), *words], env=self.environment, stdin=subprocess.DEVNULL, stdout=out,
                stderr=subprocess.STDOUT, start_new_session=True))

    def _wait(self, there, problem):
        end = time.monotonic() + 60
        while not there():
            dead = [process.args[0] for process in self.running if process.poll() is not None]
            if dead or time.monotonic() > end:
                logs = "\n".join(f"== {log.name}\n{log.read_text(errors='replace')[-2000:]}"
                                 for log in sorted(self.folder.glob("*.log"))
                                 + sorted(self.folder.glob("*.out")))
                raise RuntimeError(f"Slurm: {problem}; ended: {dead}\n{logs}")
            time.sleep(0.2)
