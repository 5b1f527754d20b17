"""Commands of the program that have no function: run to their end, or an exception with their words."""

import subprocess

from .__main__ import environment
from ._errors import of_exit
from ._places import program


def run(words):
    done = subprocess.run([program(), *words], capture_output=True, text=True, check=False,
                          env=environment())
    if done.returncode == 0:
        return
    said = done.stderr.strip() or done.stdout.strip()
    raise of_exit(done.returncode, said.removeprefix("[!] ") or f"it ended with {done.returncode}")
