"""Commands of the program that have no function: run to their end, or an exception with their words."""

import subprocess

from .__main__ import environment
from ._errors import of_exit
from ._places import program
from ._sentences import answers


def run(words):
    done = subprocess.run([program(), *words], capture_output=True, text=True, check=False,
                          env=environment())
    if done.returncode == 0:
        return
    said = (done.stderr.strip() or done.stdout.strip()).removeprefix("[!] ")
    command = " ".join(words[:1] if words[0] in ("compare", "convert") else words[:2])
    raise answers(command)(of_exit)(done.returncode, said or f"it ended with {done.returncode}")
