"""What a command and all its workers hold in memory while it runs."""

import os
import subprocess
import time


def _children(pid):
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
    except OSError:
        pass
    return found


def tree(pid):
    processes = [pid]
    for process in processes:
        processes += _children(process)
    return processes


def held(pid):
    """Bytes; of what processes share, each has its part. Pages of files are not held: the system
    takes them when it wants them."""
    parts = {}
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            for line in file:
                words = line.split()
                if words[-1] == "kB":
                    parts[words[0]] = int(words[1]) * 1024
    except (OSError, IndexError):
        return 0
    return parts.get("Pss:", 0) - parts.get("Pss_File:", 0)


def peak_of(command):
    """The exit code, and the most that was seen."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(held(pid) for pid in tree(process.pid)))
        time.sleep(0.005)
    return process.returncode, peak
