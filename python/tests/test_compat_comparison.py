"""Comparison functions, loaders and what scripts are built of: Polygraphy's names, held against
Polygraphy itself where the tests have one."""

import numpy as np
import pytest

import vernier
from vernier.polygraphy_compat.backend.onnx import (FoldConstants, GsFromOnnx, ModifyOutputs,
                                                    OnnxFromPath)
from vernier.polygraphy_compat.backend.pluginref import PluginRefRunner

from scripts_of_both import PEER, of_both, run_ours, run_ours_with_onnx

RESULTS = """
    import numpy as np
    from PREFIX.comparator import *

    rng = np.random.RandomState(3)
    first = rng.rand(40, 5).astype(np.float32)
    results = RunResults()
    results.add([{"y": first, "z": first * 2}], runner_name="a")
    results.add([{"y": first + rng.rand(40, 5).astype(np.float32) / 100, "z": first * 2}],
                runner_name="b")

    def show(function):
        pair = results["a"][0], results["b"][0]
        for name, verdict in function(*pair).items():
            measures = [] if isinstance(verdict, bool) else [
                (word, value if value is None else f"{value:.4g}")
                for word, value in sorted(vars(verdict).items())
                if isinstance(value, float) or value is None and "diff" in word]
            print(name, bool(verdict), type(verdict).__name__, measures)
    """
MEASURES = {
    "simple": "SimpleCompareFunc()",
    "median": "SimpleCompareFunc(check_error_stat='median', atol=1)",
    "quantile": "SimpleCompareFunc(check_error_stat='quantile', error_quantile=0.75)",
    "by name": "SimpleCompareFunc(atol={'y': 1.0, '': 0.0}, rtol=0.0)",
    "l2": "L2CompareFunc(l2_threshold=0.2)",
    "cosine": "CosineSimilarityCompareFunc(cosine_similarity_threshold=0.9)",
    "psnr": "PsnrCompareFunc(psnr_threshold=80)",
    "snr": "SnrCompareFunc()",
}
SCRIPTS = {
    "outputs found by a function": """
        def pairs(name, index, other):
            return {"y": ["nowhere", "z"]}.get(name)
        for function in (SimpleCompareFunc(find_output_func=pairs),
                         SimpleCompareFunc(find_output_func=pairs, atol=10.0)):
            print({name: bool(verdict) for name, verdict in
                   function(results["a"][0], results["b"][0]).items()})
        """,
    "classes of one's own": """
        class SameSign(BaseCompareFunc):
            def __call__(self, a, b):
                return {name: bool((np.sign(a[name]) == np.sign(b[name])).all()) for name in a}

        class Negative(BasePostprocessFunc):
            def __call__(self, result):
                for name in list(result):
                    result[name] = -result[name]
                return result

        print(bool(Comparator.compare_accuracy(results, compare_func=SameSign())))
        changed = Comparator.postprocess(results, Negative())
        print(bool(changed["a"][0]["y"].max() <= 0))
        """,
    "saved results and feeds, one at a time": """
        import os
        from PREFIX.json import save_json
        results["a"].append(results["a"][0])
        results["b"].append(results["b"][0])
        results.save("outputs.json")
        for single in RunResults.load_streaming("outputs.json"):
            print([(name, len(iterations)) for name, iterations in single.items()])
        save_json([{"x": np.full((1, 3), i, np.float32)} for i in range(3)], "inputs.json")
        for feed in StreamingDataLoader("inputs.json"):
            print({name: array.tolist() for name, array in feed.items()})
        """,
    "functions of loaders": """
        from PREFIX import mod
        from PREFIX.backend.base import BaseLoader

        @mod.export(funcify=True)
        class SumFromPath(BaseLoader):
            def __init__(self, first, scale=2, *rest, **named):
                self.given = [first, scale, *rest, *named.items()]

            def call_impl(self, second, more=0):
                return self.given, second, more

        @mod.export(funcify=True, func_name="at_once")
        class Nothing(BaseLoader):
            def call_impl(self):
                return "nothing"

        @mod.export()
        def plain():
            pass

        print(sum_from_path(1, 2), sum_from_path(1, 2, 3, 4, 5, six=6), at_once(), __all__)
        try:
            @mod.export(funcify=True)
            class Twice(BaseLoader):
                def __init__(self, same):
                    pass

                def call_impl(self, same):
                    pass
        except Exception as error:
            print("refused")
        """,
    "results without names": """
        first, second = results["a"][0], results["b"][0]
        for atol in (10.0, 0.0):
            print({name: bool(verdict) for name, verdict in SimpleCompareFunc(atol=atol, rtol=0.0)(
                IterationResult(dict(first)), IterationResult(dict(second))).items()})
        """,
    "functions that go on": """
        from PREFIX import func

        def x(a0, a1):
            return [a0, a1], None

        @func.extend(x)
        def y(rv0, rv1):
            rv0.append(-1)

        @func.extend(lambda given: given + 1)
        def with_arguments(given, returned):
            return given, returned

        print(y(1, 2), y.__name__, with_arguments(5))
        try:
            @func.extend(x)
            def wrong(one):
                pass
            wrong(1, 2)
        except Exception as error:
            print("accepts 1 parameter(s), but needs to accept 2" in str(error))
        """,
    "a message once": """
        from PREFIX.logger import G_LOGGER, LogMode
        for _ in range(2):
            G_LOGGER.info("once", mode=LogMode.ONCE)
        print(int(LogMode.EACH), LogMode.ONCE.name)
        """,
    "results that are copied and changed": """
        import copy
        import pickle
        from PREFIX.backend.onnxrt import OnnxrtRunner, SessionFromOnnx

        made = Comparator.run([OnnxrtRunner(SessionFromOnnx("small.onnx"), name="ort")],
                              data_loader=[{"x": np.ones((1, 3), np.float32)}])
        before = copy.deepcopy(made)
        made["ort"][0]["y"][0] = 7
        print(made["ort"][0]["y"].tolist(), before["ort"][0]["y"].tolist())
        again = pickle.loads(pickle.dumps(made))
        print(again == made, again == before, again["ort"][0].runner_name)
        """,
    "inputs that do not fit": """
        from PREFIX.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
        x = np.ones((1, 3), np.float32)
        with OnnxrtRunner(SessionFromOnnx("small.onnx")) as runner:
            for feed in ({"x": x, "q": x}, {}, {"x": x.astype(np.float64)}, {"x": x[0]}):
                try:
                    runner.infer(feed)
                except Exception as error:
                    words = str(error)
                    print([word for word in ("inputs", "'q'", "'x'", "unexpected dtype",
                                             "incompatible shape") if word in words])
            out = runner.infer({"x": x})["y"]
            out[0] = 1
        """,
    "a clock of one's own": """
        from PREFIX.backend.base import BaseRunner
        from PREFIX.common import TensorMetadata

        class Timed(BaseRunner):
            def get_input_metadata_impl(self):
                return TensorMetadata().add("x", np.dtype(np.float32), (1, 3))

            def infer_impl(self, feed_dict):
                self.inference_time = 0.25
                return dict(feed_dict)

        with Timed() as runner:
            runner.infer({"x": np.ones((1, 3), np.float32)})
            print(runner.last_inference_time())
        """,
    "functions of scripts": """
        from PREFIX.backend.common import InvokeFromScript
        open("own.py", "w").write("def f(a, b=2): return a + b")
        print(InvokeFromScript("own.py", "f")(1), InvokeFromScript("own.py", "f")(1, b=5))
        """,
}


@pytest.mark.parametrize("name", MEASURES)
def test_measures_are_polygraphys(name, tmp_path):
    of_both(f"{RESULTS}\n    show({MEASURES[name]})\n", tmp_path)


@pytest.mark.parametrize("name", SCRIPTS)
def test_script(name, tmp_path):
    of_both(RESULTS + SCRIPTS[name].replace("\n    ", "\n"), tmp_path)


def test_older_functions_measure_two_things():
    from vernier.polygraphy_compat import CompareFunc, IterationResult
    a, b = (IterationResult({"y": np.array([3.0, 4.0]) + shift}, runner_name=str(shift))
            for shift in (0, 0.3))
    verdict = CompareFunc.distance_metrics(l2_tolerance=1)(a, b)["y"]
    assert verdict and verdict.l2_norm == pytest.approx(np.sqrt(0.18))
    assert verdict.cosine_similarity == pytest.approx(a["y"] @ b["y"] / (
        np.linalg.norm(a["y"]) * np.linalg.norm(b["y"])))
    # Either threshold fails the output.
    assert not CompareFunc.distance_metrics(l2_tolerance=0.1)(a, b)["y"]
    assert not CompareFunc.distance_metrics(l2_tolerance=1, cosine_similarity_threshold=1.0)(a, b)["y"]
    verdict = CompareFunc.quality_metrics(psnr_tolerance=10, snr_tolerance=50)(a, b)["y"]
    assert not verdict and 10 < verdict.psnr and verdict.snr < 50
    with pytest.raises(ValueError, match="no_such"):
        CompareFunc.distance_metrics(no_such=1)


# A class and functions of torch's names; arrays of NumPy are behind them.
FAKE_TORCH = """
import numpy as np

class Tensor:
    def __init__(self, array):
        self.array = array
    def __dlpack__(self, **words):
        return self.array.__dlpack__()
    def __dlpack_device__(self):
        return self.array.__dlpack_device__()
    def clone(self):
        return Tensor(self.array.copy())

def from_dlpack(source):
    return Tensor(np.from_dlpack(source))
"""


def test_torch_tensors_come_back_where_they_went_in(tmp_path):
    tmp_path.joinpath("torch.py").write_text(FAKE_TORCH)
    printed = run_ours("""
        import numpy as np
        import torch
        from PREFIX.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
        feed = np.ones((1, 3), np.float32)
        with OnnxrtRunner(SessionFromOnnx("small.onnx")) as runner:
            plain = runner.infer({"x": feed})["y"]
            made = runner.infer({"x": torch.Tensor(feed)})["y"]
        print(type(plain).__name__, type(made).__name__, np.array_equal(plain, made.array))
        """, tmp_path)
    assert printed == ["ndarray Tensor True"]


def test_changed_models(tmp_path):
    """Constants folded, parts taken out, types lowered: by the program, whatever gives the model."""
    if not PEER:
        pytest.skip("no Python with onnx")
    printed = run_ours_with_onnx("""
        import numpy as np
        import onnx
        from onnx import TensorProto, helper, numpy_helper
        from PREFIX.backend.onnx import (ConvertToFp16, ExtractSubgraph, FoldConstants, InferShapes,
                                         OnnxFromBytes, OnnxFromPath, bytes_from_onnx, infer_shapes)
        from PREFIX.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
        from PREFIX.common import TensorMetadata

        info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 3]) for n in "xy"]
        nodes = [helper.make_node("Add", ["a", "b"], ["c"]), helper.make_node("Relu", ["x"], ["r"]),
                 helper.make_node("Add", ["r", "c"], ["y"])]
        weights = [numpy_helper.from_array(np.ones(3, np.float32), n) for n in "ab"]
        model = helper.make_model(helper.make_graph(nodes, "g", info[:1], info[1:], weights),
                                  ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
        onnx.save(model, "adds.onnx")

        def nodes_of(loader):
            return [node.op_type for node in loader().graph.node]

        for source in (OnnxFromPath("adds.onnx"), model, lambda: model,
                       OnnxFromBytes(model.SerializeToString())):
            print(nodes_of(FoldConstants(source)), nodes_of(FoldConstants(source, num_passes=1)))
        print([(v.name, len(v.type.tensor_type.shape.dim))
               for v in InferShapes(OnnxFromPath("adds.onnx"))().graph.value_info])
        print(len(infer_shapes("adds.onnx").graph.value_info) > 0)
        part = ExtractSubgraph(model, TensorMetadata().add("r", np.float32, None),
                               TensorMetadata().add("y", np.dtype("float32"), None))
        print(nodes_of(part), [i.name for i in part().graph.input])
        half = ConvertToFp16("adds.onnx")()
        print({w.data_type for w in half.graph.initializer} == {TensorProto.FLOAT16})

        feed = {"x": np.full((2, 3), 3, np.float32)}
        for loader in (FoldConstants(model), InferShapes(OnnxFromPath("adds.onnx")),
                       InferShapes(FoldConstants("adds.onnx"))):
            with OnnxrtRunner(SessionFromOnnx(loader)) as runner:
                print(runner.infer(feed)["y"].tolist())
        """, tmp_path)
    assert printed[:4] == ["['Relu', 'Add'] ['Relu', 'Add']"] * 4
    assert printed[4:] == ["[('c', 1), ('r', 2), ('y', 2)]", "True", "['Add', 'Add'] ['r']", "True",
                           *[str([[5.0] * 3] * 2)] * 3]


def test_a_partner_that_matches_does_not_undo_one_that_does_not(tmp_path):
    """Polygraphy keeps the verdict on the last of them."""
    printed = run_ours("""
        from PREFIX.comparator import IterationResult, SimpleCompareFunc

        a = IterationResult({"y": np.ones(3, np.float32)}, runner_name="a")
        b = IterationResult({"far": np.zeros(3, np.float32), "same": np.ones(3, np.float32)},
                            runner_name="b")
        for partners in (["far", "same"], ["same", "far"], ["same", "same"]):
            function = SimpleCompareFunc(find_output_func=lambda *_: partners)
            print({name: bool(verdict) for name, verdict in function(a, b).items()})
        """.replace("from PREFIX", "import numpy as np\n        from PREFIX", 1), tmp_path)
    assert printed == ["{'y': False}", "{'y': False}", "{'y': True}"]


def test_what_folding_has_no_choice_of_is_refused():
    for words in ({"error_ok": False}, {"allow_onnxruntime_shape_inference": False}):
        with pytest.raises(vernier.Unimplemented, match=f"FoldConstants: {next(iter(words))}: "):
            FoldConstants("m.onnx", **words)
    FoldConstants("m.onnx", error_ok=True, allow_onnxruntime_shape_inference=True)


def test_plugin_references_run_the_changed_model(model):
    marked = ModifyOutputs(OnnxFromPath(str(model)), outputs=["y"])
    for graph in (marked, GsFromOnnx(marked), ModifyOutputs(model, outputs=["y"])):
        words = PluginRefRunner(graph).vernier_runner()._words()[1]
        assert "--onnx-outputs y" in words
