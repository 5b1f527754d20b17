"""Runs a command and measures it: wall time, processor time, and memory of all its processes."""

import dataclasses
import os
import resource
import select
import statistics
import subprocess
import time

PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclasses.dataclass
class Sample:
    wall: float  # seconds
    cpu: float  # seconds, user and system, of every process that ended and was waited for
    tree_peak: int  # bytes: the largest sum of the processes' resident sets that was seen
    parent_peak: int  # bytes: the kernel's high-water mark of the first process
    output: str


class CommandFailed(Exception):
    """The command did not do the work, so its time means nothing."""


def children(pid):
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    found = []
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
        except OSError:
            pass
    return found


def without_core_dumps():
    """For a child that is made to die: the kernel writes no dump of it first."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _tree(pid):
    """The process and its descendants. One that loses its parent drops out of sight."""
    processes = [pid]
    for process in processes:
        processes += children(process)
    return processes


def _resident(pid):
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def _high_water(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def run(command, env, log_path, expect=()):
    """Runs to the end. CommandFailed on any exit code but 0, or when the output lacks a word.

    The parent's peak is read from /proc while it lives and not from wait4: Linux carries the
    resident set of the process that forked over into ru_maxrss.
    """
    with open(log_path, "wb") as log:
        start = time.monotonic()
        process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=subprocess.STDOUT)
        watched = os.pidfd_open(process.pid)
        poller = select.poll()
        poller.register(watched, select.POLLIN)
        tree_peak = parent_peak = 0
        # Short runs are looked at often; long ones seldom, so that looking costs them nothing.
        while not poller.poll(2 if time.monotonic() - start < 0.5 else 20):
            parent_peak = max(parent_peak, _high_water(process.pid))
            tree_peak = max(tree_peak, sum(map(_resident, _tree(process.pid))))
        wall = time.monotonic() - start
        os.close(watched)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    with open(log_path, encoding="utf-8", errors="replace") as log:
        output = log.read()
    if process.returncode != 0:
        raise CommandFailed(f"{' '.join(command)}\nended with {process.returncode}:\n"
                            f"{output[-2000:]}")
    for word in expect:
        if word not in output:
            raise CommandFailed(f"{' '.join(command)}\ndid not print {word!r}:\n{output[-2000:]}")
    return Sample(wall, usage.ru_utime + usage.ru_stime, max(tree_peak, parent_peak), parent_peak,
                  output)


def alternate(jobs, rounds):
    """Samples of several jobs, taken in turns so that a busy spell of the machine hits them all.

    jobs: name -> function without arguments that gives a Sample.
    """
    samples = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            samples[name].append(job())
    return samples


@dataclasses.dataclass
class Figure:
    """A median with its spread."""
    median: float
    low: float
    high: float
    count: int

    @staticmethod
    def of(values):
        values = list(values)
        return Figure(statistics.median(values), min(values), max(values), len(values))

    def text(self, scale=1.0, digits=3):
        def show(value):
            return f"{value * scale:.{digits}f}"
        if self.count == 1:
            return show(self.median)
        return f"{show(self.median)} [{show(self.low)}–{show(self.high)}]"


def wall(samples):
    return Figure.of(sample.wall for sample in samples)


def cpu(samples):
    return Figure.of(sample.cpu for sample in samples)


def tree_peak(samples):
    return Figure.of(sample.tree_peak for sample in samples)


def parent_peak(samples):
    return Figure.of(sample.parent_peak for sample in samples)
