"""What case 22 of the bench needs Python for; run with that of Polygraphy's environment.

    python steps_peer.py make FOLDER STEPS TOKENS   samples of sound, and a network with caches
    python steps_peer.py time MODEL SAMPLES.f32 STEPS

`time` is a loop in Polygraphy's style that feeds the state back by itself. It prints the seconds of
the loop and the sum of what it kept, one JSON object.
"""

import json
import pathlib
import sys
import time

import numpy as np

HOP, WINDOW, PAD, RATE = 512, 576, 64, 16000
HEADS, WIDTH, LAYERS = 4, 128, 2


def save_samples(folder, name, values, **others):
    values.tofile(folder / f"{name}.f32")
    np.savez(folder / f"{name}.npz", **others)


def make_caches(path):
    """Two layers of attention over caches that grow by a token a step, 8 KiB in all."""
    from onnx import TensorProto, helper, numpy_helper

    def floats(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    nodes, inputs, outputs = [], [floats("x", [1, HEADS * WIDTH])], []
    weights = [numpy_helper.from_array(np.array(value), name) for name, value in
               (("split", [1, HEADS, 1, WIDTH]), ("joined", [1, HEADS * WIDTH]))]
    current = "x"
    for layer in range(LAYERS):
        nodes.append(helper.make_node("Reshape", [current, "split"], [f"new{layer}"]))
        for kind in ("key", "value"):
            past, present = f"past.{layer}.{kind}", f"present.{layer}.{kind}"
            inputs.append(floats(past, [1, HEADS, "past", WIDTH]))
            outputs.append(floats(present, [1, HEADS, "tokens", WIDTH]))
            nodes.append(helper.make_node("Concat", [past, f"new{layer}"], [present], axis=2))
        nodes += [helper.make_node("Transpose", [f"present.{layer}.key"], [f"turned{layer}"],
                                   perm=[0, 1, 3, 2]),
                  helper.make_node("MatMul", [f"new{layer}", f"turned{layer}"], [f"scores{layer}"]),
                  helper.make_node("Softmax", [f"scores{layer}"], [f"shares{layer}"]),
                  helper.make_node("MatMul", [f"shares{layer}", f"present.{layer}.value"],
                                   [f"mixed{layer}"]),
                  helper.make_node("Reshape", [f"mixed{layer}", "joined"], [f"out{layer}"])]
        current = f"out{layer}"
    nodes.append(helper.make_node("Identity", [current], ["output"]))
    graph = helper.make_graph(nodes, "caches", inputs, [floats("output", [1, HEADS * WIDTH]),
                                                        *outputs], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path.write_bytes(model.SerializeToString(deterministic=True))


def make(folder, steps, tokens):
    rng = np.random.default_rng(22)
    sound = (rng.standard_normal((1, steps * HOP)) * 0.05).astype(np.float32)
    save_samples(folder, "sound", sound, input=sound, sr=np.array(RATE))
    embedded = rng.standard_normal((1, tokens * HEADS * WIDTH)).astype(np.float32)
    save_samples(folder, "tokens", embedded, x=embedded)
    make_caches(folder / "caches.onnx")


def loop(model, samples, steps):
    import onnxruntime
    from polygraphy.backend.onnxrt import OnnxrtRunner
    from polygraphy.logger import G_LOGGER

    def session():
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    G_LOGGER.module_severity = G_LOGGER.CRITICAL
    sound = np.concatenate([np.zeros(PAD, np.float32), np.fromfile(samples, np.float32)])[None]
    state, kept = np.zeros((2, 1, 128), np.float32), []
    with OnnxrtRunner(session) as runner:
        start = time.perf_counter()
        for step in range(steps):
            given = runner.infer({"input": sound[:, step * HOP:step * HOP + WINDOW],
                                  "state": state, "sr": np.array(RATE)})
            state = given["stateN"]
            kept.append(given["output"])
        seconds = time.perf_counter() - start
    return {"seconds": seconds, "sum": float(np.sum(np.concatenate(kept), dtype=np.float64))}


def main():
    if sys.argv[1] == "make":
        make(pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    else:
        print(json.dumps(loop(sys.argv[2], sys.argv[3], int(sys.argv[4]))))


if __name__ == "__main__":
    main()
