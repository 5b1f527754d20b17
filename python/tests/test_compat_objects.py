"""Objects that scripts hand over instead of paths: open files, sessions, graphs, tensors of torch."""

import os
import pathlib
import threading

import numpy as np
import pytest

import vernier

from scripts_of_both import PEER, run_ours, run_ours_with_onnx, run_theirs

SCRIPTS = {
    "open files": """
        import io
        import numpy as np
        from PREFIX.comparator import RunResults
        from PREFIX.logger import G_LOGGER
        G_LOGGER.module_severity = G_LOGGER.ERROR
        results = RunResults()
        results.add([{"y": np.arange(3, dtype=np.float32)}, {"y": np.ones(2)}], runner_name="r")
        with open("r.json", "w") as file:
            results.save(file)
        for mode in ("r", "rb"):
            with open("r.json", mode) as file:
                loaded = RunResults.load(file)
            print([(name, [it["y"].tolist() for it in its]) for name, its in loaded.items()])
        again = RunResults.from_json(results.to_json())
        print(again["r"][1]["y"].tolist())
        """,
    "sessions": """
        import numpy as np
        import onnxruntime
        from PREFIX.backend.onnxrt import OnnxrtRunner, SessionFromOnnx, session_from_onnx
        from PREFIX.comparator import Comparator, DataLoader
        opened = onnxruntime.InferenceSession("small.onnx", providers=["CPUExecutionProvider"])
        made = session_from_onnx("small.onnx", providers=["cpu"], graph_optimization_level=
                                 onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
        print([node.name for node in made.get_inputs()], made.get_providers())
        loader = SessionFromOnnx(lambda: open("small.onnx", "rb").read())
        print(loader().run(None, {"x": np.ones((2, 3), np.float32)})[0].tolist())
        for session in (opened, lambda: opened, made, loader):
            with OnnxrtRunner(session) as runner:
                print(list(runner.get_input_metadata()["x"].shape)[1:],
                      runner.infer({"x": np.ones((2, 3), np.float32)})["y"].tolist(),
                      runner.last_inference_time() > 0)
        runners = [OnnxrtRunner(s, name=n) for n, s in (("a", opened), ("b", loader))]
        results = Comparator.run(runners, data_loader=DataLoader(iterations=2))
        print(results["a"][1]["y"].tolist() == results["b"][1]["y"].tolist(),
              bool(Comparator.compare_accuracy(results)))
        """,
    "graphs": """
        import onnx
        import onnx_graphsurgeon as gs
        from PREFIX.backend.onnx import extract_subgraph, save_onnx
        from PREFIX.common import TensorMetadata
        from PREFIX.logger import G_LOGGER
        G_LOGGER.module_severity = G_LOGGER.ERROR
        graph = gs.import_onnx(onnx.load("small.onnx"))
        name = graph.nodes[0].outputs[0].name
        part = extract_subgraph(graph, None, TensorMetadata().add(name, "float32", None))
        print(len(part.nodes), [tensor.name for tensor in part.outputs] == [name])
        for _ in range(2):
            save_onnx(onnx.load("small.onnx"), "new/folder/m.onnx", external_data_path="w.bin",
                      size_threshold=0)
        print(len(onnx.load("new/folder/m.onnx").graph.initializer) > 0)
        """,
}


# Where the set-up has put it.
GRAPHSURGEON = list(pathlib.Path(__file__).parents[2].glob(
    ".deps/graphsurgeon/lib/python3*/site-packages"))


@pytest.mark.skipif(not PEER, reason="no Python with onnx and Polygraphy")
@pytest.mark.parametrize("name", SCRIPTS)
def test_script(name, tmp_path, monkeypatch):
    printed = run_ours_with_onnx(SCRIPTS[name], tmp_path / "ours", *GRAPHSURGEON)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, GRAPHSURGEON)))
    assert printed and printed == run_theirs(SCRIPTS[name], tmp_path / "theirs")


@pytest.mark.skipif(not PEER, reason="no Python with onnx and Polygraphy")
def test_what_cannot_be_saved_takes_nothing_away(tmp_path):
    printed = run_ours_with_onnx("""
        import os
        import onnx
        import vernier
        from PREFIX.backend.onnx import OnnxFromPath, save_onnx
        model = onnx.load("small.onnx")
        os.mkdir("in")
        for path in ("victim.bin", "in/w.bin"):
            with open(path, "w") as file:
                file.write("weights of another")
        for place in (os.path.abspath("victim.bin"), "../victim.bin"):
            try:
                save_onnx(model, "in/m.onnx", external_data_path=place)
            except vernier.InvalidArgument as error:
                print("a path within the model's folder" in str(error))
        save = onnx.save
        def full(model, path, **words):
            save(model, path, **words)
            raise OSError(28, "No space left on device")
        onnx.save = full
        try:
            save_onnx(model, "in/m.onnx", external_data_path="w.bin", size_threshold=0)
        except vernier.SaveError as error:
            print("No space left" in str(error))
        onnx.save, model = save, onnx.load("small.onnx")  # onnx takes the weights out
        print(open("victim.bin").read() == open("in/w.bin").read(), sorted(os.listdir("in")))
        save_onnx(model, "in/m.onnx", external_data_path="w.bin", size_threshold=0)
        print(open("in/w.bin", "rb").read(7) != b"weights", sorted(os.listdir("in")))
        try:
            save_onnx(OnnxFromPath("in/m.onnx", ignore_external_data=True), "in/m.onnx",
                      external_data_path="w.bin")
        except vernier.InvalidArgument as error:
            print("were not loaded" in str(error))
        """, tmp_path)
    assert printed == ["True"] * 3 + ["True ['w.bin']", "True ['m.onnx', 'w.bin']", "True"]


@pytest.mark.parametrize("content, words", [
    (b'{"lst": 3', "this is not JSON of Polygraphy"),
    (b"[1, 2]", "the JSON holds a list, not a RunResults"),
    (b"\xff\xfe", "this is not JSON of Polygraphy")])
def test_files_that_hold_something_else(content, words, tmp_path):
    (tmp_path / "r").write_bytes(content)
    with open(tmp_path / "r", "rb") as file, pytest.raises(vernier.Malformed, match=words):
        vernier.load_results(file)


@pytest.mark.skipif(not PEER, reason="no Python with onnx and Polygraphy")
def test_providers_that_are_not_there(tmp_path):
    printed = run_ours_with_onnx("""
        import vernier
        from PREFIX.backend.onnxrt import SessionFromOnnx
        try:
            SessionFromOnnx("small.onnx", providers=["nope"])()
        except vernier.InvalidArgument as error:
            print(error)
        """, tmp_path)
    assert len(printed) == 1
    assert printed[0].startswith("there is no execution provider 'nope'; this onnxruntime has: ")
    assert "CPUExecutionProvider" in printed[0]


TORCH = """
import numpy as np

class Tensor:
    dtype = "torch.bfloat16"
    def __init__(self, values):
        self.values = np.array(values)

def isnan(tensor):
    return np.isnan(tensor.values)

def isfinite(tensor):
    return np.isfinite(tensor.values)
"""


def test_tensors_of_torch_are_validated(tmp_path):
    (tmp_path / "torch.py").write_text(TORCH)
    printed = run_ours("""
        import torch
        from PREFIX.comparator import Comparator, RunResults
        for values in ([1, float("nan")], [1, float("inf")], [1, 2]):
            results = RunResults()
            results.add([{"y": torch.Tensor(values)}])
            print(Comparator.validate(results), Comparator.validate(results, check_inf=True))
        """, tmp_path)
    assert printed == ["False False", "True False", "True True"]


def results_of(**runners):
    from vernier.polygraphy_compat import RunResults
    results = RunResults()
    for name, iterations in runners.items():
        results.add([{"y": np.array([value], np.float32)} for value in iterations], runner_name=name)
    return results


@pytest.mark.parametrize("a, b, share", [([1, 1], [1, 1], 1), ([1, 1], [1, 5], 0.5), ([1], [5], 0)])
def test_percentage_is_of_iterations(a, b, share):
    from vernier.polygraphy_compat import Comparator
    results = Comparator.compare_accuracy(results_of(a=a, b=b))
    assert (results[0].percentage(), bool(results)) == (share, share == 1)


def test_a_single_runner_is_compared_with_nothing(caplog):
    from vernier.polygraphy_compat import Comparator
    with caplog.at_level("WARNING", logger="vernier"):
        results = Comparator.compare_accuracy(results_of(a=[1]))
    assert results and list(results[0]) == []
    assert "nothing to compare: the results are of 1 runner" in caplog.text
    with pytest.raises(vernier.InvalidArgument, match="nothing to compare.* of 0 runners$"):
        Comparator.compare_accuracy(iter([results_of()]))


def test_a_function_without_verdicts_is_told():
    from vernier.polygraphy_compat import Comparator
    with pytest.raises(vernier.InvalidArgument, match="expected a mapping .* got None"):
        Comparator.compare_accuracy(results_of(a=[1], b=[1]), compare_func=lambda a, b: None)


def test_files_within_modules():
    from vernier.polygraphy_compat import backend
    from vernier.polygraphy_compat.backend.onnx.loader import fold_constants
    from vernier.polygraphy_compat.comparator.struct import RunResults
    from vernier.polygraphy_compat.logger.logger import G_LOGGER
    assert fold_constants is backend.onnx.fold_constants
    assert RunResults is vernier.RunResults and G_LOGGER.INFO == 20
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from vernier.polygraphy_compat.backend.trt.loader import nothing  # noqa: F401


def test_loader_of_a_session_is_called_once():
    from vernier.polygraphy_compat import Comparator, OnnxrtRunner
    calls = []

    class Session:
        def get_inputs(self):
            return [Node("x", "tensor(float)", ["n", 2])]

        def get_outputs(self):
            return [Node("y", "tensor(float)", ["n", 2])]

        def run(self, names, feed):
            return [feed["x"]]

    def load():
        calls.append(1)
        return Session()

    results = Comparator.run([OnnxrtRunner(load, name="a"), OnnxrtRunner(load, name="b")])
    assert len(results) == 2 and results["a"][0]["y"].shape == (1, 2) and len(calls) == 2


class Node:
    def __init__(self, name, dtype, shape):
        self.name, self.type, self.shape = name, dtype, shape


def test_functions_are_let_go_when_all_is_compared():
    def judge(a, b):
        return {"y": True}

    def raises(a, b):
        raise KeyError("y")

    sides = {"y": np.ones(2, np.float32)}, {"y": np.ones(2, np.float32)}
    vernier.compare(*sides, func=judge)
    with pytest.raises(vernier.BackendError):
        vernier.compare(*sides, func=raises)
    assert not [thread.name for thread in threading.enumerate() if thread.name == "vernier objects"]
