"""Loops in Polygraphy's own Python, measured without Polygraphy: what its frameworks alone cost.

    python peer_loops.py inference MODEL ITERATIONS   every tensor an output, one session
    python peer_loops.py statistics MEBIPAIRS         NumPy's share of a comparison
    python peer_loops.py files PATH ROUNDS            Polygraphy's own loading and saving of outputs

Prints one JSON object.
"""

import json
import sys
import time


def inference(path, iterations):
    import numpy as np
    import onnx
    import onnxruntime

    model = onnx.load(path)
    del model.graph.output[:]
    for node in model.graph.node:
        for name in node.output:
            model.graph.output.add(name=name).type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    data = model.SerializeToString()

    def clocks():
        return time.perf_counter(), time.process_time()

    before = clocks()
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    created = clocks()
    shape = session.get_inputs()[0].shape
    feed = {session.get_inputs()[0].name: np.random.default_rng(0).random(shape, dtype=np.float32)}
    for _ in range(iterations):
        session.run(None, feed)
    done = clocks()
    return {"create_wall": created[0] - before[0], "create_cpu": created[1] - before[1],
            "runs_wall": done[0] - created[0], "runs_cpu": done[1] - created[1]}


def statistics(mebipairs):
    """The NumPy calls that the statistics of one pair need, on float32."""
    import numpy as np

    rng = np.random.default_rng(0)
    first = rng.standard_normal(mebipairs << 20, dtype=np.float32)
    second = first + np.float32(1e-6)
    best = float("inf")
    for _ in range(5):  # the best, as the kernels' figure is
        start = time.perf_counter()
        absolute = np.abs(first - second)
        relative = absolute / np.maximum(np.abs(second), np.float32(2**-52))
        for values in (absolute, relative, first, second):
            for function in (np.mean, np.std, np.var, np.median, np.min, np.max, np.argmin, np.argmax):
                function(values)
            np.mean(np.abs(values))
            for quantile in (0.9, 0.95, 0.99):
                np.quantile(values, quantile)
        best = min(best, time.perf_counter() - start)
    return {"seconds": best, "pairs": mebipairs << 20}


def files(path, rounds):
    from polygraphy.comparator import RunResults
    from polygraphy.logger import G_LOGGER

    G_LOGGER.module_severity = G_LOGGER.CRITICAL
    load = save = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        results = RunResults.load(path)
        for _, iterations in results.items():
            for iteration in iterations:
                for array in iteration.values():
                    array.nbytes  # an array is decoded when it is looked at
        loaded = time.perf_counter()
        results.save(path + ".saved.json")
        done = time.perf_counter()
        load, save = min(load, loaded - start), min(save, done - loaded)
    return {"load": load, "save": save}


def main():
    if sys.argv[1] == "files":
        result = files(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1] == "inference":
        result = inference(sys.argv[2], int(sys.argv[3]))
    else:
        result = statistics(int(sys.argv[2]))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
