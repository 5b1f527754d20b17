#!/usr/bin/env python3
"""Whether `--compare perceptual_metrics` gives what lpips itself and Polygraphy give.

    PYTHON bench/lpips_check.py --vernier build/release/bin/vernier

PYTHON is an interpreter that has torch, torchvision, lpips, numpy and polygraphy. Nothing is
downloaded: the network gets random convolutions from a seed, which all three then use, and lpips
brings its own weights for what comes after. Takes about half a minute a case; exits with 1 when a
distance differs by more than 1e-4 of itself, or when something that cannot be verified passes.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

ALEXNET_FILE = "alexnet-owt-7be5be79.pth"  # as torchvision calls what it would download
NOT_VERIFIED = 4  # docs/exit-codes.md
SHAPES = [("channels first", (1, 3, 64, 64)), ("batch", (2, 3, 64, 64)), ("grey", (1, 1, 64, 64)),
          ("channels last", (1, 64, 64, 3)), ("no batch", (3, 64, 64)), ("picture", (64, 64, 3)),
          ("two channels", (1, 2, 64, 64)), ("five channels", (1, 5, 64, 64))]
DTYPES = ["float16", "float64", "uint8", "int32"]
NO_IMAGES = [("matrix", (64, 64)), ("rank 5", (1, 1, 3, 64, 64)), ("too small", (1, 3, 8, 8))]


def make_network(folder: pathlib.Path) -> None:
    import torch
    import torchvision

    torch.manual_seed(5)
    network = torchvision.models.alexnet(weights=None)
    checkpoints = folder / "hub" / "checkpoints"
    checkpoints.mkdir(parents=True)
    torch.save(network.state_dict(), checkpoints / ALEXNET_FILE)


def make_pair(shape: tuple[int, ...], dtype: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    largest = 255 if np.dtype(dtype).kind in "iu" else 1
    first = rng.random(shape) * largest
    second = np.clip(first + rng.normal(0, 0.1 * largest, shape), 0, largest)
    return first.astype(dtype), second.astype(dtype)


def directly(first: np.ndarray, second: np.ndarray) -> float:
    """lpips called on images of three channels, channels first, from -1 to 1."""
    import lpips
    import torch

    with contextlib.redirect_stdout(io.StringIO()), torch.no_grad():
        network = lpips.LPIPS(net="alex", version="0.1").eval()
        images = [torch.from_numpy(side.astype(np.float32)) * 2 - 1 for side in (first, second)]
        return float(network(*images).mean())


def measured(words: list[str], pattern: str) -> tuple[int, float | None]:
    """The exit status, and the distance that is printed."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    found = re.search(pattern, done.stdout + done.stderr)
    return done.returncode, float(found[1]) if found else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vernier", required=True, help="the program")
    args = parser.parse_args()
    cases = [(name, shape, "float32") for name, shape in SHAPES + NO_IMAGES]
    cases += [(dtype, (1, 3, 64, 64), dtype) for dtype in DTYPES]
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["TORCH_HOME"] = name
        make_network(folder)
        print("| outputs | lpips | Polygraphy | vernier |\n|---|---|---|---|")
        for title, shape, dtype in cases:
            good &= compare(args.vernier, folder, title, make_pair(shape, dtype))
    print("enough" if good else "NOT ENOUGH")
    return 0 if good else 1


def compare(vernier: str, folder: pathlib.Path, title: str,
            pair: tuple[np.ndarray, np.ndarray]) -> bool:
    from polygraphy.comparator import RunResults
    from polygraphy.comparator.struct import IterationResult
    from polygraphy.json import save_json

    files = []
    for name, array in zip("ab", pair):
        results = RunResults()
        results.append((name, [IterationResult({"image": array}, runner_name=name)]))
        files.append(str(folder / f"{name}.json"))
        save_json(results, files[-1])
    words = ["--load-outputs", *files, "--compare", "perceptual_metrics", "--lpips-threshold", "9"]
    peer = pathlib.Path(sys.executable).parent / "polygraphy"
    pattern = r"LPIPS: ([-+.\deinf]+|nan) \(tolerance"
    _, theirs = measured([str(peer), "run", *words], pattern)
    code, ours = measured([vernier, "run", *words, "--python", sys.executable], pattern)
    plain = pair[0].dtype == np.float32 and pair[0].ndim == 4 and pair[0].shape[1] == 3
    own = directly(*pair) if plain and ours is not None else None
    if theirs is None:
        agrees = ours is None and code == NOT_VERIFIED
    else:
        agrees = ours is not None and np.isclose(ours, theirs, rtol=1e-4)
        agrees &= own is None or np.isclose(ours, own, rtol=1e-4)
    shown = ["" if own is None else f"{own:.5g}", "none, a pass" if theirs is None else f"{theirs:g}",
             "not verified" if ours is None else f"{ours:g}"]
    print(f"| {title} | " + " | ".join(shown) + ("" if agrees else " DIFFERENT") + " |", flush=True)
    return bool(agrees)


if __name__ == "__main__":
    sys.exit(main())
