"""The program that this stand-in belongs to."""

import os
import subprocess

from polygraphy import exception


def path():
    """Who started this worker; the Python package, which is no program, has one in its folder."""
    try:
        parent = os.readlink(f"/proc/{os.getppid()}/exe")
    except OSError:
        parent = ""
    if os.path.basename(parent) == "vernier":
        return parent
    # bin/ beside libexec/vernier/shim/polygraphy.
    here = os.path.dirname(os.path.abspath(__file__))
    return os.path.normpath(os.path.join(here, *[os.pardir] * 4, "bin", "vernier"))


def run(words):
    """How the program ended, with what it said."""
    return subprocess.run([path(), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


def fail(done):
    """Raises what the program said when it failed."""
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    told = [line[4:] for line in lines if line.startswith("[!]")] or lines[-1:]
    raise exception.PolygraphyException(
        told[0] if told else f"vernier ended with exit code {done.returncode}")
