"""Many random outputs of two sides, compared in one run of the program.

VERNIER_ORACLE_CASES (default 60 here) is the number of outputs, VERNIER_ORACLE_SEED the first seed.
"""

import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

VERNIER = os.environ.get("VERNIER", "vernier")
CASES = int(os.environ.get("VERNIER_ORACLE_CASES", "60"))
SEED = int(os.environ.get("VERNIER_ORACLE_SEED", "0"))


def draw(pair):
    """`pair(rng)` makes an output of both sides: {name: (a, b)}."""
    rng = np.random.default_rng(SEED)
    return {f"y{i:03}": pair(rng) for i in range(CASES)}


def compare(pairs, *words):
    """What the record has of each output, by name, and what was printed. Some have to differ."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for side, file in enumerate(("a.npz", "b.npz")):
            np.savez(folder / file, **{key: pair[side] for key, pair in pairs.items()})
        done = subprocess.run([VERNIER, "compare", "a.npz", "b.npz", "--save-record", "record.json",
                               *map(str, words)], cwd=folder, capture_output=True, text=True,
                              check=False, env={**os.environ, "NO_COLOR": "1"})
        if done.returncode != 1:
            raise AssertionError(done.stdout + done.stderr)
        record = json.loads((folder / "record.json").read_text())
    return {output["name"]: output for output in record["pairs"][0]["outputs"]}, done.stdout
