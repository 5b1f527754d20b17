#!/usr/bin/env python3
"""What vernier's TensorFlow and TorchScript runners add to their library's own time.

    .deps/tensorflow/bin/python bench/framework_overhead.py tensorflow [--vernier FILE] [--rounds N]
    /usr/bin/python3 bench/framework_overhead.py torch

Runs perceptrons of several sizes in a bare program that calls the library and nothing else
(bench/tensorflow_bare.c, bench/torch_bare.cc), and in vernier, with the same library, in turns, and
compares the medians of an inference: of the program that of handing over the input, running and
taking the result; of `vernier profile` and `vernier run` the time that they report. Each figure is
the median of all turns: the best one is luck where two threads meet at the right time. The bare program
fills its input with other numbers each time, and reads its output, as anything that runs a
model does. A runner is a process that waits for its next feed, and has to wake: for inferences that
are as short as that, the bare program is also measured with a pause before each.

A measurement has as many inferences as fit in --seconds, but no fewer than 5 and no more than
--rounds: a median of five knows nothing of the first one, which is slow. There are --turns turns for a
size, fewer where they take long.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import numpy as np  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Width of the layers, how many, and rows of the input.
SIZES = {"small": (64, 2, 1), "medium": (512, 6, 32), "large": (1024, 12, 64)}
FEWEST_ROUNDS = 5
# Inferences below that many seconds are measured with a pause of that many microseconds as well.
SHORT = 1e-4
PAUSE = 30
# A size that has taken this long gets no further turn once it has had the fewest.
SECONDS_OF_A_SIZE = 17
FEWEST_TURNS = 3


def weights(width, layers):
    random = np.random.default_rng(1)
    return [random.standard_normal((width, width)).astype(np.float32) / np.float32(width ** 0.5)
            for _ in range(layers)]


class TensorFlow:
    suffix = "pb"
    input_name = "x:0"

    def __init__(self, folder):
        import tensorflow as tf
        self.tf = tf
        self.library = pathlib.Path(tf.__file__).parent / "libtensorflow_cc.so.2"
        self.words = ("--tf", "--tf-lib", self.library)
        self.program = folder / "bare"
        subprocess.run(["cc", "-O2", "-o", self.program, ROOT / "bench/tensorflow_bare.c", "-ldl"],
                       check=True)

    def write(self, path, width, layers):
        tf = self.tf
        with tf.Graph().as_default() as graph:
            x = tf.compat.v1.placeholder(tf.float32, [None, width], name="x")
            for w in weights(width, layers):
                x = tf.nn.relu(x @ tf.constant(w))
            tf.identity(x, name="y")
        path.write_bytes(graph.as_graph_def().SerializeToString())

    def bare(self, model, rounds, pause, shape):
        return [self.program, self.library, model, "x", "y", rounds, pause, *shape]


class Torch:
    suffix = "pt"
    words = ("--torch", "--torch-in", "plugin")
    input_name = "input"

    def __init__(self, folder):
        import torch
        self.torch = torch
        self.program = folder / "bare"
        words = [os.environ.get("CXX", "g++"), "-O2", "-std=c++20", "-w", "-o", self.program,
                 ROOT / "bench/torch_bare.cc"]
        package = pathlib.Path(torch.__file__).parent
        if (package / "include").is_dir():  # of a wheel; those of a distribution are found anyway
            words += [f"-I{package}/include", f"-I{package}/include/torch/csrc/api/include",
                      f"-L{package}/lib", f"-Wl,-rpath,{package}/lib"]
        subprocess.run([*words, "-Wl,--no-as-needed", "-ltorch", "-ltorch_cpu", "-lc10"], check=True)

    def write(self, path, width, layers):
        torch = self.torch
        modules = []
        for w in weights(width, layers):
            modules.append(torch.nn.Linear(width, width, bias=False))
            modules[-1].weight = torch.nn.Parameter(torch.from_numpy(w.T.copy()))
            modules.append(torch.nn.ReLU())
        torch.jit.save(torch.jit.script(torch.nn.Sequential(*modules).eval()), str(path))

    def bare(self, model, rounds, pause, shape):
        return [self.program, model, rounds, pause, *shape]


FRAMEWORKS = {"tensorflow": TensorFlow, "torch": Torch}


def in_bare_program(framework, model, rounds, shape, pause=0):
    """The median of an inference, in seconds."""
    words = map(str, framework.bare(model, rounds, pause, shape))
    done = subprocess.run(list(words), check=True, capture_output=True, text=True)
    return float(done.stdout)


def in_vernier(command, framework, options, model, rounds, shape):
    """The median of an inference, in seconds, by `profile` or by `run`."""
    record = model.with_suffix(".json")
    shapes = f"{framework.input_name}:{list(shape)}".replace(" ", "")
    words = {"profile": ("--warm-up", "1", "--no-layer-times", "--save-profile", record, "--runs"),
             "run": ("--save-record", record, "--iterations")}[command]
    subprocess.run([options.vernier, command, model, *framework.words, "--input-shapes", shapes,
                    "-qqq", *words, str(rounds)], check=True, capture_output=True)
    saved = json.loads(record.read_text())
    measured = saved["profile"]["points"][0] if command == "profile" else saved["runners"][0]
    return measured["latency_seconds"]["median"]


def measure(framework, options, folder):
    """For each size its name, and the seconds of an inference: bare, by `profile`, by `run`, and
    where they are short in the bare program with pauses, else None."""
    for name, (width, layers, rows) in SIZES.items():
        model, shape = folder / f"{name}.{framework.suffix}", (rows, width)
        framework.write(model, width, layers)
        once = in_bare_program(framework, model, FEWEST_ROUNDS, shape)
        rounds = max(FEWEST_ROUNDS, min(options.rounds, int(options.seconds / once)))
        turns, start = [], time.monotonic()
        while len(turns) < options.turns:  # in turns: other work on the machine meets all three
            if len(turns) >= FEWEST_TURNS and time.monotonic() - start > SECONDS_OF_A_SIZE:
                break
            turns.append([in_bare_program(framework, model, rounds, shape), *(
                in_vernier(command, framework, options, model, rounds, shape)
                for command in ("profile", "run"))])
            if turns[0][0] < SHORT:
                turns[-1].append(in_bare_program(framework, model, rounds, shape, PAUSE))
        medians = [statistics.median(column) for column in zip(*turns)]
        yield name, *medians, *[None] * (4 - len(medians))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("framework", choices=FRAMEWORKS)
    parser.add_argument("--vernier", default=ROOT / "build/release/bin/vernier")
    parser.add_argument("--rounds", type=int, default=300,
                        help="the most inferences of one measurement")
    parser.add_argument("--seconds", type=float, default=0.5,
                        help="about as long as the inferences of one measurement may take")
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--json", action="store_true", help="one object for each size, in seconds")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        framework = FRAMEWORKS[options.framework](folder)
        for name, bare, profile, run, waiting in measure(framework, options, folder):
            if options.json:
                print(json.dumps({"size": name, "bare": bare, "profile": profile, "run": run,
                                  "waiting": waiting}), flush=True)
                continue
            others = {"profile": profile, "run": run, "with pauses": waiting}
            print(f"{name:8} bare {bare * 1e6:9.1f} us", *(
                f"{what} {seconds * 1e6:9.1f} us, {(seconds / bare - 1) * 100:+.1f} %"
                for what, seconds in others.items() if seconds), sep="   ", flush=True)


if __name__ == "__main__":
    main()
