#!/usr/bin/env python3
"""How often faults in trained and in made networks are named, and named first.

    bench/trained_faults.py --vernier build/release/bin/vernier [--faults 8] [--made 24]
        [--dtype float16] [--how blame] [--networks NAME ...] [--save-lines FILE]
    bench/trained_faults.py --merge FILE ...

Plants one fault at a time in the trained networks (tests/trained/networks.py), and in networks made
from the faults' seeds (tolerance_networks.py): weights 3 % larger, a channel that is zero, two
channels swapped, one weight negated. A fault counts when it moves the output of its own layer by
1e-4 of its scale (with --dtype float16, where both sides get copies by `convert`, by 1e-2), judged
by the same layer in float64 and not by error bounds. `--how run` marks every tensor: the first one
over its bound, in the order of the graph, has to be the faulty layer's. `--how blame` asks `vernier
blame`, whose first culprit it has to be.
Exits with 1 where fewer than --rate are named first. --save-lines appends a line of JSON for each
fault that counts, and --merge adds up the lines of several runs. The tests run the default seeds;
a figure for the documentation needs a --first-seed that was not used before.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "trained"))

import networks as trained  # noqa: E402  pylint: disable=wrong-import-position
import tolerance_networks as made  # noqa: E402  pylint: disable=wrong-import-position

COUNTS = {"float32": 1e-4, "float16": 1e-2}  # of the scale of the layer's output
LAYERS = ("Conv", "MatMul", "Gemm")
REFUSED = {"silero_vad"}  # by OpenVINO
# A sum within its float16 copy overflows: that is what is named first, rightly.
OVERFLOWS = {"float32": set(), "float16": {"magika"}}


def channels(node, weight: np.ndarray | onnx.TensorProto) -> int:
    """The axis of the outputs."""
    rank = len(weight.shape if isinstance(weight, np.ndarray) else weight.dims)
    first = node.op_type == "Conv" or (node.op_type == "Gemm" and number(node, "transB", 0))
    return 0 if first else rank - 1


def larger(weight, _axis, _random):
    return weight * np.float32(1.03)


def zeroed(weight, axis, random):
    changed = np.moveaxis(weight.copy(), axis, 0)
    changed[random.integers(len(changed))] = 0
    return np.moveaxis(changed, 0, axis)


def swapped(weight, axis, random):
    changed = np.moveaxis(weight.copy(), axis, 0)
    one, two = random.choice(len(changed), 2, replace=False)
    changed[[one, two]] = changed[[two, one]]
    return np.moveaxis(changed, 0, axis)


def negated(weight, _axis, random):
    changed = weight.copy()
    changed.flat[random.integers(changed.size)] *= -1
    return changed


FAULTS = {"weights 3 % larger": larger, "a channel zeroed": zeroed, "two channels swapped": swapped,
          "one weight negated": negated}


def ints(node, name, default):
    return next((list(a.ints) for a in node.attribute if a.name == name), default)


def number(node, name, default):
    return next((a.i for a in node.attribute if a.name == name), default)


def conv(node, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """In float64, without the bias."""
    rank = x.ndim - 2
    strides, dilations = ints(node, "strides", [1] * rank), ints(node, "dilations", [1] * rank)
    pads, groups = ints(node, "pads", [0] * 2 * rank), number(node, "group", 1)
    auto = next((a.s for a in node.attribute if a.name == "auto_pad"), b"NOTSET")
    if auto in (b"SAME_UPPER", b"SAME_LOWER"):
        totals = [max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0) for size, s, k, d in
                  zip(x.shape[2:], strides, w.shape[2:], dilations)]
        low = [total // 2 if auto == b"SAME_UPPER" else -(-total // 2) for total in totals]
        pads = low + [total - one for total, one in zip(totals, low)]
    x = np.pad(x, [(0, 0), (0, 0)] + [(pads[i], pads[rank + i]) for i in range(rank)])
    spans = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilations)]
    view = np.lib.stride_tricks.sliding_window_view(x, spans, tuple(range(2, 2 + rank)))
    every = [slice(None, None, s) for s in strides]
    view = view[(slice(None), slice(None), *every, *[slice(None, None, d) for d in dilations])]
    outputs = []
    for x_group, w_group in zip(np.split(view, groups, 1), np.split(w, groups, 0)):
        axes = [1, *range(2 + rank, 2 + 2 * rank)]
        made = np.tensordot(x_group, w_group, (axes, list(range(1, 2 + rank))))
        outputs.append(np.moveaxis(made, -1, 1))
    return np.concatenate(outputs, 1)


def layer(node, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    if node.op_type == "Conv":
        return conv(node, x, w)
    if node.op_type == "Gemm":
        x = x.T if number(node, "transA", 0) else x
        w = w.T if number(node, "transB", 0) else w
    return np.matmul(x, w)


def rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values)))) if values.size else 0.0


def float_weights(model) -> dict[str, onnx.TensorProto]:
    """Initializers, and what nodes hold as constants."""
    weights = {w.name: w for w in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            weights[node.output[0]] = node.attribute[0].t
    return {name: w for name, w in weights.items()
            if w.data_type == onnx.TensorProto.FLOAT and len(w.dims) > 1}


def places(model) -> list:
    """The layers of the main graph that have a float weight of their own."""
    weights = float_weights(model)
    readers = collections.Counter(name for n in model.graph.node for name in n.input)
    return [n for n in model.graph.node
            if n.op_type in LAYERS and n.input[1] in weights and readers[n.input[1]] == 1 and
            weights[n.input[1]].dims[channels(n, weights[n.input[1]])] > 1]


class Made(trained.Network):
    """A network of tolerance_networks.py in a file of its own."""

    @property
    def path(self):
        return pathlib.Path(self.file)


def make(seed: int, folder: str) -> Made:
    network = made.make_network(seed, "float32")
    low, high = (-1.5, 1.5) if seed % 2 else (0, 1)
    file = f"{folder}/made.onnx"
    onnx.save(made.write_models(network, seed, "float32", low, high)["good"], file)
    feed = trained.Input("x", tuple(network.input_shape), low=low, high=high)
    return Made(f"made, {network.family}", "", file, (feed,))


class Place:
    """A layer whose weight can be changed, and what it reads."""

    def __init__(self, model, random, inputs):
        nodes = places(model)
        self.node = nodes[random.integers(len(nodes))]
        self.weight = float_weights(model)[self.node.input[1]]
        self.values = numpy_helper.to_array(self.weight)
        self.inputs = inputs


def moves(model, place: Place, changed: np.ndarray) -> float:
    """By how much of its scale the layer's output moves, in float64."""
    source, output = place.node.input[0], place.node.output[0]
    probed = onnx.ModelProto()
    probed.CopyFrom(model)
    known = {o.name for o in probed.graph.output}
    wanted = [name for name in (source, output) if name not in place.inputs]
    for name in wanted:
        if name not in known:
            probed.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    session = onnxruntime.InferenceSession(probed.SerializeToString())
    made = dict(zip(wanted, session.run(wanted, place.inputs))) | place.inputs
    x = made[source].astype(np.float64)
    before = layer(place.node, x, place.values.astype(np.float64))
    after = layer(place.node, x, changed.astype(np.float64))
    scale = rms(made[output].astype(np.float64))
    return rms(after - before) / scale if scale else 0.0


def first_over(model, outputs: list[dict]) -> str | None:
    """The first node, in the graph's order, with a tensor over its bound."""
    failed = {output["name"] for output in outputs if not output["passed"]}
    for node in model.graph.node:
        if failed & set(node.output):
            return node.output[0]
    return None


def ask(args, folder, network, model, order) -> str | None:
    """The first output of the layer that is named first."""
    record = pathlib.Path(folder) / "record.json"
    record.unlink(missing_ok=True)
    runners = ["--runner", f"good={order[0]} {folder}/good.onnx",
               "--runner", f"bad={order[1]} {folder}/bad.onnx"]
    common = ["-q", "--seed", "77", *network.words, *runners]
    run = ["run", "--tolerance", "auto", "--onnx-outputs", "mark", "all", "--save-record"]
    how = ["blame", "--reference", "good", "--save-blame"] if args.how == "blame" else run
    done = subprocess.run([args.vernier, *how, str(record), *common], capture_output=True,
                          text=True, timeout=600, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{network.name}: exit status {done.returncode}\n{done.stdout[-1500:]}"
                 f"{done.stderr[-1500:]}")
    found = json.loads(record.read_text())
    if args.how == "run":
        return first_over(model, found["pairs"][0]["outputs"])
    return found["culprits"][0]["node"] if found["culprits"] else None


def in_float16(args, folder: str) -> onnx.ModelProto:
    """Both models become copies in float16; the faultless one."""
    for name in ("good", "bad"):
        subprocess.run([args.vernier, "convert", f"{folder}/{name}.onnx", "--fp-to-fp16", "-o",
                        f"{folder}/copy.onnx", "-qq"], check=True, capture_output=True)
        pathlib.Path(folder, "copy.onnx").replace(f"{folder}/{name}.onnx")
    return onnx.load(f"{folder}/good.onnx")


def plant(args, network, seed: int) -> tuple[str, bool] | None:
    """The kind of fault and whether it was named first; None where it does not count."""
    random = np.random.default_rng(seed)
    model = onnx.load(network.path)
    place = Place(model, random, trained.feed(network, seed=77))
    kind = list(FAULTS)[seed % len(FAULTS)]
    axis = channels(place.node, place.values)
    changed = FAULTS[kind](place.values, axis, random)
    if moves(model, place, changed) < COUNTS[args.dtype]:
        return None
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model, f"{folder}/good.onnx")
        place.weight.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(changed),
                                                      place.weight.name))
        onnx.save(model, f"{folder}/bad.onnx")
        if args.dtype == "float16":
            model = in_float16(args, folder)
        order = ("onnxrt", "openvino") if seed % 2 else ("openvino", "onnxrt")
        named = ask(args, folder, network, model, order)
    # The copy of a layer that makes an output of the graph has a name of its own there.
    names = {place.node.output[0], place.node.output[0] + "_float16", place.node.name} - {""}
    if named not in names:
        print(f"    {network.name}, seed {seed}, {kind} in '{place.node.output[0]}': "
              f"{named or 'nothing'} named", flush=True)
    return kind, named in names


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vernier", help="the program")
    parser.add_argument("--merge", nargs="+", type=pathlib.Path, metavar="FILE",
                        help="plant nothing, and add up what --save-lines wrote")
    parser.add_argument("--save-lines", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--dtype", choices=tuple(COUNTS), default="float32")
    parser.add_argument("--faults", type=int, default=8, help="in each trained network")
    parser.add_argument("--made", type=int, default=0, help="made networks, one fault in each")
    parser.add_argument("--first-seed", type=int, default=5000)
    parser.add_argument("--how", choices=("run", "blame"), default="run")
    parser.add_argument("--networks", nargs="+")
    parser.add_argument("--rate", type=float, default=0.98)
    args = parser.parse_args()
    if not args.vernier and not args.merge:
        parser.error("--vernier PROGRAM is missing")
    return args


def planted(args):
    """(network's name, seed, kind, named first) of each fault that counts."""
    for network in trained.NETWORKS:
        wanted = not args.networks or network.name in args.networks
        left_out = REFUSED | OVERFLOWS[args.dtype]
        if not wanted or network.name in left_out or not places(onnx.load(network.path)):
            continue  # layers in the branches of an If, or weights that nodes make
        for seed in range(args.first_seed, args.first_seed + args.faults):
            result = plant(args, network, seed)
            if result:
                yield network.name, seed, *result
    for seed in range(args.first_seed, args.first_seed + args.made):
        with tempfile.TemporaryDirectory() as folder:
            network = make(seed, folder)
            result = plant(args, network, seed) if places(onnx.load(network.path)) else None
        if result:
            yield network.name, seed, *result


def show(named: dict[str, list[bool]]) -> None:
    print("| fault | named first |\n|---|---|")
    for kind, results in named.items():
        print(f"| {kind} | {sum(results)} of {len(results)} |")
    every = [result for results in named.values() for result in results]
    print(f"| all | {sum(every)} of {len(every)} |")


def main() -> int:
    args = parse()
    onnxruntime.set_default_logger_severity(4)
    named: dict[str, list[bool]] = {kind: [] for kind in FAULTS}
    if args.merge:
        lines = [json.loads(line) for path in args.merge
                 for line in path.read_text(encoding="utf-8").splitlines()]
    else:
        lines = planted(args)
    for line in lines:
        named[line[2]].append(line[3])
        if args.save_lines and not args.merge:
            with args.save_lines.open("a", encoding="utf-8") as saved:
                saved.write(json.dumps(line) + "\n")
    show(named)
    every = [result for results in named.values() for result in results]
    return 0 if every and sum(every) >= args.rate * len(every) else 1


if __name__ == "__main__":
    sys.exit(main())
