"""Scripts of Polygraphy's API, run by Polygraphy or, with changed imports, by vernier."""

import os
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest

import vernier
from models import small_model

PEER = os.environ.get("VERNIER_PEER", "")
LOG = re.compile(r"\[[A-Z!]\] |    ")
OURS = "vernier.polygraphy_compat"


def run(python, prefix, text, folder, **environment):
    """The lines that a script printed; PREFIX in it is the package."""
    folder.mkdir(exist_ok=True)
    (folder / "small.onnx").write_bytes(small_model())
    script = folder / "example.py"
    script.write_text(textwrap.dedent(text).replace("PREFIX", prefix))
    done = subprocess.run(
        [python, script.name], cwd=folder, capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONWARNINGS": "ignore", **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    # Polygraphy's log is on standard output, too.
    return [line for line in done.stdout.splitlines() if not LOG.match(line)]


def run_ours(text, folder, **environment):
    return run(sys.executable, OURS, text, folder, **environment)


def run_ours_with_onnx(text, folder, *first, **environment):
    """In the tests' other Python, which has onnx; `first` are folders of modules before all others."""
    path = os.pathsep.join([*map(str, first), str(pathlib.Path(vernier.__file__).parents[1])])
    return run(PEER, OURS, text, folder, PYTHONPATH=path, **environment)


def run_theirs(text, folder):
    return run(PEER, "polygraphy", text, folder)


def of_both(text, folder):
    """Both print the same; without Polygraphy, ours runs."""
    ours = run_ours(text, folder / "ours")
    assert ours
    if not PEER:
        pytest.skip("no Polygraphy to compare with")
    assert ours == run_theirs(text, folder / "theirs")
