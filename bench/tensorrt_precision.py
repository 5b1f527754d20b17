#!/usr/bin/env python3
"""`debug precision` with TensorRT beside Polygraphy's, on a machine with a GPU.

    tensorrt_precision.py --vernier PROGRAM --peer PROGRAM [--rounds 2] [--work-dir FOLDER] [CASE...]

Convolutions with a Relu each, of which two have to stay float32: one makes values of 10^5, the next one
brings them back. Those of conv16 and conv8 are alike, so that TensorRT times few kernels; those of
varied8 all differ, as those of most networks do. Both tools get the model, golden outputs of 16
inputs by ONNX Runtime, and the same tolerance, and run in turns. TensorRT has to be where both find it
(LD_LIBRARY_PATH), this Python needs NumPy and onnx.

The goal is held against the same check for both: a command that runs the engine, in vernier
(`vernier`) or in Polygraphy (`polygraphy`). `own` lets each tool use its own, ours in its process and
Polygraphy's as a new one each time: unlike work, without a verdict. Prints rows for BY_HAND.md.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CHANNELS, EDGE = 32, 64
TOLERANCE = ["--atol", "1e-1", "--rtol", "1e-1"]
BUILD = ["--fp16", "--precision-constraints", "obey", "--tactic-sources"]
SAVED = ["--load-inputs", "in.json", "--load-outputs", "gold.json"]
ENGINE = ["run", "polygraphy_debug.engine", "--trt", *SAVED, *TOLERANCE]
# Model: convolutions, the one that makes large values, channels that each has more than the one
# before.
MODELS = {"conv16": (16, 9, 0), "conv8": (8, 4, 0), "varied8": (8, 4, 8)}
CHECKS = {"vernier": "`vernier run` of the engine as the check of both",
          "polygraphy": "`polygraphy run` of the engine as the check of both",
          "own": "each its own check: unlike work"}
CASES = [f"{model}-{check}" for model in MODELS for check in CHECKS]


def write_model(path, count, large, growth):
    random = np.random.default_rng(0)
    nodes, weights, reads = [], [], ("x", 3)
    for i in range(1, count + 1):
        name, channels = reads
        scale = {large: 1e5, large + 1: 1e-5}.get(i, 1) * np.sqrt(2 / (9 * channels))
        made_channels = CHANNELS + growth * i
        kernel = random.standard_normal((made_channels, channels, 3, 3)) * scale
        weights.append(numpy_helper.from_array(kernel.astype(np.float32), f"w{i}"))
        made = "y" if i == count else f"r{i}"
        nodes += [helper.make_node("Conv", [name, f"w{i}"], [f"c{i}"], name=f"conv{i}",
                                   pads=[1, 1, 1, 1]),
                  helper.make_node("Relu", [f"c{i}"], [made], name=f"relu{i}")]
        reads = made, made_channels
    info = lambda name, channels: helper.make_tensor_value_info(
        name, TensorProto.FLOAT, [1, channels, EDGE, EDGE])
    graph = helper.make_graph(nodes, "g", [info("x", 3)], [info("y", reads[1])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8),
              path)


def checks_of(kind, vernier, peer):
    """The words behind the options of each tool, ours first."""
    if kind == "own":
        return [["--", "--trt", *SAVED, *TOLERANCE], ["--check", peer, *ENGINE]]
    return [["--check", vernier if kind == "vernier" else peer, *ENGINE]] * 2


def commands(name, vernier, peer):
    model, check = name.split("-")
    ours, peers = checks_of(check, vernier, peer)
    model += ".onnx"
    return {"vernier": [vernier, "debug", "precision", model, "-o", "mixed.onnx", *BUILD, *ours],
            "peer": [peer, "debug", "precision", model, *BUILD, *peers]}


def timed(words, folder, log):
    """Seconds; the log has each line with the seconds that had passed when it was printed."""
    begin = time.monotonic()
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}) as running:
        lines = []
        with open(log, "w", encoding="utf-8") as kept:
            for line in running.stdout:
                lines.append(line)
                print(f"{time.monotonic() - begin:8.3f} {line}", end="", file=kept)
    seconds = time.monotonic() - begin
    if running.returncode != 0:
        raise RuntimeError(f"{words} ended with {running.returncode}: {''.join(lines[-15:])}")
    return seconds, "".join(lines)


def answer(printed):
    """What a tool found, and after how many checks."""
    kept = re.findall(r"keep (?:these|this) (\d+ of \d+ nodes)|running the (\w+ \d+ layer\(s\))",
                      printed)
    checks = len(re.findall(r"(?:PASSED|FAILED) \| Iteration", printed))
    return f"{''.join(kept[-1]) if kept else 'no answer'}, {checks} checks"


def measure(name, words, rounds, folder):
    made, check = name.split("-")
    model = folder / f"{made}.onnx"
    write_model(model, *MODELS[made])
    golden = [words.vernier, "run", model.name, "--onnxrt", "--iterations", "16", "--save-inputs",
              "in.json", "--save-outputs", "gold.json"]
    timed(golden, folder, folder / f"{name}.golden.log")
    seconds, found = {"vernier": [], "peer": []}, {}
    for turn in range(rounds):
        for tool, line in commands(name, words.vernier, words.peer).items():
            took, printed = timed(line, folder, folder / f"{name}.{tool}.{turn}.log")
            seconds[tool].append(took)
            found[tool] = answer(printed)
            print(f"{name} {tool} {took:.2f} s: {found[tool]}", flush=True)
    peer, ours = (statistics.mean(seconds[tool]) for tool in ("peer", "vernier"))
    show = lambda tool: " and ".join(f"{s:.1f}" for s in seconds[tool]) + f" s ({found[tool]})"
    verdict = "|" if check == "own" else f"≤ 1/3 | {'met' if ours <= peer / 3 else 'missed'}"
    return (f"| {made}, {CHECKS[check]} | {show('peer')} | {show('vernier')} | "
            f"1/{peer / ours:.1f} | {verdict} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vernier", required=True)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--work-dir", type=pathlib.Path)
    parser.add_argument("cases", nargs="*", default=CASES, metavar="CASE",
                        help=f"one of {', '.join(CASES)}; default: all")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = words.work_dir or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        rows = [measure(name, words, words.rounds, folder) for name in words.cases]
    print("\n".join(rows))


if __name__ == "__main__":
    main()
