#!/usr/bin/env python3
"""What vernier's TensorFlow runner adds to the library's own time.

    .deps/tensorflow/bin/python bench/tensorflow_overhead.py [--vernier FILE] [--rounds N]

Runs frozen graphs of several sizes in a bare C program (bench/tensorflow_bare.c) and in vernier, with
the same library, in turns, and compares the medians of an inference: of the program that of a whole
round, of vernier the time that it reports.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = pathlib.Path(tf.__file__).parent / "libtensorflow_cc.so.2"
# Width of the layers, how many, and rows of the input.
SIZES = {"small": (64, 2, 1), "medium": (512, 6, 32), "large": (1024, 12, 64)}


def write_graph(path, width, layers):
    random = np.random.default_rng(1)
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [None, width], name="x")
        for _ in range(layers):
            weights = random.standard_normal((width, width)).astype(np.float32) / width ** 0.5
            x = tf.nn.relu(x @ tf.constant(weights))
        tf.identity(x, name="y")
    path.write_bytes(graph.as_graph_def().SerializeToString())


def bare(program, graph, rounds, shape):
    words = [program, LIBRARY, graph, "x", "y", rounds, *shape]
    done = subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True)
    return float(done.stdout)


def in_vernier(vernier, graph, rounds, shape, folder):
    """The median of an inference, in seconds."""
    record = folder / "record.json"
    subprocess.run([vernier, "run", graph, "--tf", "--iterations", str(rounds), "--input-shapes",
                    f"x:0:{list(shape)}".replace(" ", ""), "--save-record", record, "-qqq"],
                   check=True, capture_output=True)
    runner = json.loads(record.read_text())["runners"][0]
    return runner["latency_seconds"]["median"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--vernier", default=ROOT / "build/release/bin/vernier")
    parser.add_argument("--rounds", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        program = folder / "bare"
        subprocess.run(["cc", "-O2", "-o", program, ROOT / "bench/tensorflow_bare.c", "-ldl"],
                       check=True)
        for name, (width, layers, rows) in SIZES.items():
            graph, shape = folder / f"{name}.pb", (rows, width)
            write_graph(graph, width, layers)
            pairs = []
            for _ in range(5):  # in turns: other work on the machine meets both
                own = bare(program, graph, options.rounds, shape)
                inference = in_vernier(options.vernier, graph, options.rounds, shape, folder)
                pairs.append((inference / own, own, inference))
            ratio, own, inference = sorted(pairs)[len(pairs) // 2]
            print(f"{name:8} bare {own * 1e6:9.1f} us   vernier {inference * 1e6:9.1f} us   "
                  f"{(ratio - 1) * 100:+.1f} % (goal: at most +5 %)")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
