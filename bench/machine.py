"""What a report of the bench says about where and from what it was made."""

import datetime
import os
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def first_line(path, key):
    try:
        for line in pathlib.Path(path).read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith(key):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return "unknown"


def checkout():
    """The commit beside the bench, "-dirty" behind it where a tracked file was changed."""
    state = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
                           capture_output=True, text=True, check=False)
    return state.stdout.strip() or "unknown"


def load():
    return " ".join(f"{load:.2f}" for load in os.getloadavg())


def facts():
    """Lines of a list: day, checkout, machine and load."""
    memory = int(first_line("/proc/meminfo", "MemTotal").split()[0]) >> 20
    flags = first_line("/proc/cpuinfo", "flags").split()
    vectors = [flag for flag in ("avx2", "avx512f", "amx_tile") if flag in flags]
    return [f"Date: {datetime.date.today().isoformat()}",
            f"Checkout: {checkout()}",
            f"Processor: {first_line('/proc/cpuinfo', 'model name')}, {os.cpu_count()} cores, "
            f"{' '.join(vectors)}",
            f"Memory: {memory} GiB",
            f"System: {platform.freedesktop_os_release()['PRETTY_NAME']}, Linux "
            f"{platform.release()}",
            f"Load average at the start: {load()}"]
