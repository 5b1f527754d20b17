#!/usr/bin/env python3
"""How often faults in the weights of 8-bit LSTMs are named, and named first.

    bench/lstm_faults.py --vernier build/release/bin/vernier [--faults 8] [--how blame]
        [--networks NAME ...] [--save-lines FILE]

Plants one fault at a time in a `DynamicQuantizeLSTM` of networks.LSTM_NETWORKS, with trained
weights (tests/trained/networks.py): codes of the input's or of the state's weights 3 % larger, a
column that is zero, two columns swapped, one code negated. A fault counts when it moves the output
of its layer by 1e-2 of its scale, judged by the same layer in float64, which rounds neither input
nor state. What the rounding of ONNX Runtime does to that output of the layer alone is shown beside
each fault that was not named. Options and exit status are those of
trained_faults.py; one side is OpenVINO, which computes such a layer in floats.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

import trained_faults as faults

trained = faults.trained
COUNTS = 1e-2  # of the scale of the layer's output
WEIGHTS = {1: (8, 9), 2: (10, 11)}  # inputs of the operator: codes; their scale and zero point


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def one_direction(x, weight, recurrent, bias, state):
    """The outputs of all steps; gates are in ONNX's order: input, output, forget, cell."""
    hidden, cell = state
    made = []
    for step in x:
        gates = step @ weight + hidden @ recurrent + bias
        i, o, f, c = np.split(gates, 4, axis=-1)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(c)
        hidden = sigmoid(o) * np.tanh(cell)
        made.append(hidden)
    return np.stack(made)


class Place:
    """An LSTM of 8 bits whose codes can be changed, and what it reads."""

    def __init__(self, model, random, inputs):
        self.codes = {w.name: w for w in model.graph.initializer}
        nodes = [n for n in model.graph.node
                 if n.op_type == "DynamicQuantizeLSTM" and n.input[1] in self.codes and
                 n.input[2] in self.codes]
        self.node = nodes[random.integers(len(nodes))]
        self.changed = int(random.integers(1, 3))  # weights of the input, or of the state
        self.values = self.read(model, inputs)

    def read(self, model, inputs):
        """What the node reads and makes, as ONNX Runtime has it."""
        probed = onnx.ModelProto()
        probed.CopyFrom(model)
        known = {o.name for o in probed.graph.output}
        names = [*self.node.input, self.node.output[0]]
        wanted = [n for n in dict.fromkeys(names) if n and n not in self.codes and n not in inputs]
        for name in wanted:
            if name not in known:
                probed.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
        session = onnxruntime.InferenceSession(probed.SerializeToString())
        values = dict(zip(wanted, session.run(wanted, inputs))) | inputs
        return values | {name: numpy_helper.to_array(w) for name, w in self.codes.items()}

    def value(self, index):
        name = self.node.input[index] if index < len(self.node.input) else ""
        return self.values[name] if name else None

    def zero(self, index):
        """The zero point of codes, one for each direction or column."""
        point = self.value(WEIGHTS[index][1])
        return spread(0 if point is None else point.astype(np.float64), self.value(index))

    def floats(self, index, codes):
        return (codes - self.zero(index)) * spread(self.value(WEIGHTS[index][0]), codes)

    def run(self, codes: dict[int, np.ndarray]) -> np.ndarray:
        """Y in float64."""
        x = self.value(0).astype(np.float64)
        weight = self.floats(1, codes.get(1, self.value(1)).astype(np.float64))
        recurrent = self.floats(2, codes.get(2, self.value(2)).astype(np.float64))
        count, size = recurrent.shape[0], recurrent.shape[1]
        bias = self.value(3)
        bias = np.zeros((count, 8 * size)) if bias is None else bias.astype(np.float64)
        zeros = np.zeros((count, x.shape[1], size))
        first = [zeros if self.value(i) is None else self.value(i).astype(np.float64)
                 for i in (5, 6)]
        made = []
        for d in range(count):
            backwards = d == 1 or self.direction() == "reverse"
            steps = one_direction(x[::-1] if backwards else x, weight[d], recurrent[d],
                                  bias[d, :4 * size] + bias[d, 4 * size:],
                                  (first[0][d], first[1][d]))
            made.append(steps[::-1] if backwards else steps)
        return np.stack(made, axis=1)

    def direction(self):
        return next((a.s.decode() for a in self.node.attribute if a.name == "direction"), "forward")

    def plant(self, kind, random) -> np.ndarray:
        """The codes with the fault."""
        codes = self.value(self.changed)
        around = codes.astype(np.float64) - self.zero(self.changed)
        bad = faults.FAULTS[kind](around, codes.ndim - 1, random) + self.zero(self.changed)
        limits = np.iinfo(codes.dtype)
        return np.clip(np.rint(bad), limits.min, limits.max).astype(codes.dtype)


def spread(parameter, codes) -> np.ndarray:
    """Of each direction, or of each direction's columns, along all of them."""
    parameter = np.asarray(parameter, np.float64)
    if parameter.ndim == 0:
        return parameter
    return parameter.reshape(codes.shape[0], 1, -1)


def plant(args, network, seed: int) -> tuple[str, bool] | None:
    """The kind of fault and whether it was named first; None where it does not count."""
    random = np.random.default_rng(seed)
    model = onnx.load(network.path)
    place = Place(model, random, trained.feed(network, seed=77))
    kind = list(faults.FAULTS)[seed % len(faults.FAULTS)]
    bad = place.plant(kind, random)
    before = place.run({})
    scale = faults.rms(before)
    moved = faults.rms(place.run({place.changed: bad}) - before) / scale
    if moved < COUNTS:
        return None
    rounded = faults.rms(place.values[place.node.output[0]].astype(np.float64) - before) / scale
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model, f"{folder}/good.onnx")
        weight = place.codes[place.node.input[place.changed]]
        weight.CopyFrom(numpy_helper.from_array(bad, weight.name))
        onnx.save(model, f"{folder}/bad.onnx")
        order = ("onnxrt", "openvino") if seed % 2 else ("openvino", "onnxrt")
        named = faults.ask(args, folder, network, model, order)
    names = {*place.node.output, place.node.name} - {""}
    if named not in names:
        print(f"    {network.name}, seed {seed}, {kind} in '{place.node.output[0]}': "
              f"{named or 'nothing'} named; it moves the layer by {moved:.2g}, rounding by "
              f"{rounded:.2g}", flush=True)
    return kind, named in names


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vernier", required=True, help="the program")
    parser.add_argument("--save-lines", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--faults", type=int, default=8, help="in each network")
    parser.add_argument("--first-seed", type=int, default=5000)
    parser.add_argument("--how", choices=("run", "blame"), default="run")
    parser.add_argument("--networks", nargs="+")
    parser.add_argument("--rate", type=float, default=0.98)
    return parser.parse_args()


def main() -> int:
    args = parse()
    onnxruntime.set_default_logger_severity(4)
    named: dict[str, list[bool]] = collections.defaultdict(list)
    for network in trained.LSTM_NETWORKS:
        if args.networks and network.name not in args.networks:
            continue
        for seed in range(args.first_seed, args.first_seed + args.faults):
            result = plant(args, network, seed)
            if not result:
                continue
            named[result[0]].append(result[1])
            if args.save_lines:
                with args.save_lines.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps([network.name, seed, *result]) + "\n")
    faults.show(named)
    every = [result for results in named.values() for result in results]
    return 0 if every and sum(every) >= args.rate * len(every) else 1


if __name__ == "__main__":
    sys.exit(main())
