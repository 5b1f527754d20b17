"""Polygraphy's documented Python examples, in our words: each runs through Polygraphy itself, where
the tests have one, and through vernier with changed imports, and prints the same."""

import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import vernier

from models import expected, small_model
from scripts_of_both import PEER, run_ours, run_ours_with_onnx, run_theirs

# Each prints what it found; PREFIX is the package.
EXAMPLES = {
    "inference": """
        import numpy as np
        from PREFIX.backend.onnxrt import OnnxrtRunner, SessionFromOnnx

        with OnnxrtRunner(SessionFromOnnx("small.onnx")) as runner:
            print(list(runner.get_input_metadata()))
            for scale in (1, -1):
                feed = np.arange(6, dtype=np.float32).reshape(2, 3) * scale
                outputs = runner.infer(feed_dict={"x": feed})
                print(outputs["y"].tolist())
            print(runner.last_inference_time() > 0)
        """,
    "comparing two runners, saving and loading": """
        from PREFIX.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
        from PREFIX.comparator import Comparator, CompareFunc, DataLoader, RunResults

        build = SessionFromOnnx("small.onnx")
        runners = [OnnxrtRunner(build, name="first"), OnnxrtRunner(build, name="second")]
        loader = DataLoader(seed=5, iterations=2, val_range=(-2.0, 2.0))
        results = Comparator.run(runners, data_loader=loader)
        print([(name, len(iterations)) for name, iterations in results.items()])
        print(results["first"][1]["y"].tolist())
        accuracy = Comparator.compare_accuracy(results, compare_func=CompareFunc.simple(atol=1e-6))
        print(bool(accuracy))
        print(Comparator.validate(results, check_nan=True, check_inf=True))

        results.save("outputs.json")
        again = RunResults.load("outputs.json")
        print([(name, len(iterations)) for name, iterations in again.items()])
        print(again["second"][0]["y"].tolist())
        """,
    "a data set as a generator": """
        import numpy as np
        from PREFIX.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
        from PREFIX.comparator import Comparator

        def load_data():
            for level in range(3):
                yield {"x": np.full((1, 3), level, dtype=np.float32)}

        results = Comparator.run([OnnxrtRunner(SessionFromOnnx("small.onnx"), name="ort")],
                                 data_loader=load_data())
        print([iteration["y"].tolist() for iteration in results["ort"]])
        """,
    "custom results against a framework": """
        import numpy as np
        from PREFIX.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
        from PREFIX.comparator import Comparator, CompareFunc, RunResults

        feeds = [{"x": np.eye(3, dtype=np.float32)}]
        results = Comparator.run([OnnxrtRunner(SessionFromOnnx("small.onnx"), name="ort")],
                                 data_loader=feeds)
        custom = RunResults()
        custom.add([{"y": results["ort"][0]["y"] + 0.25}], runner_name="custom")
        results.append(("custom", custom["custom"]))
        for atol in (0.1, 0.5):
            found = Comparator.compare_accuracy(
                results, compare_func=CompareFunc.simple(atol=atol, rtol=0.0))
            print(atol, bool(found))
            for result in found:
                for pair, iterations in result.items():
                    print(pair, [{n: bool(v) for n, v in it.items()} for it in iterations])
        """,
    "a comparison of one's own": """
        import numpy as np
        from PREFIX.comparator import Comparator, IterationResult, RunResults

        results = RunResults()
        results.add([{"y": np.ones(3, dtype=np.float32)}], runner_name="a")
        results.add([{"y": np.zeros(3, dtype=np.float32)}], runner_name="b")

        def same_shape(a, b):
            return {name: a[name].shape == b[name].shape for name in a.keys()}

        print(bool(Comparator.compare_accuracy(results, compare_func=same_shape)))
        print(bool(Comparator.compare_accuracy(results)))
        """,
    "inputs and outputs by hand": """
        import numpy as np
        from PREFIX.comparator import IterationResult, RunResults
        from PREFIX.json import load_json, save_json

        save_json([{"x": np.arange(3, dtype=np.float32)}], "inputs.json")
        for feed in load_json("inputs.json"):
            print({name: array.tolist() for name, array in feed.items()})
        results = RunResults()
        results.append(("hand", [IterationResult({"y": np.zeros((2, 1))}, runner_name="hand")]))
        save_json(results, "hand.json")
        print([list(it.keys()) for it in load_json("hand.json")["hand"]])
        save_json({"scale": np.float32([1.5]), "names": ["a", "b"]}, "any.json")
        loaded = load_json("any.json")
        print(loaded["scale"].tolist(), loaded["names"])
        """,
    "feeds of a loader alone": """
        import numpy as np
        from PREFIX.common import TensorMetadata
        from PREFIX.comparator import DataLoader

        meta = TensorMetadata().add("x", np.float32, (2, 3)).add("i", np.int32, (2,))
        loader = DataLoader(seed=7, iterations=3, input_metadata=meta,
                            val_range={"x": (-1.0, 1.0), "i": (0, 9)})
        for feed in loader:
            print([(name, str(array.dtype), array.tolist()) for name, array in feed.items()])
        print(loader[2]["i"].tolist())
        try:
            loader[3]
        except IndexError:
            print("three of them")
        later = DataLoader()
        later.input_metadata = TensorMetadata().add("y", np.float64, (1,))
        print([feed["y"].tolist() for feed in later])
        """,
    "descriptions of inputs": """
        import numpy as np
        from PREFIX.common import TensorMetadata
        from PREFIX.comparator import DataLoader

        def show(user, model, **options):
            loader = DataLoader(seed=4, input_metadata=user, **options)
            loader.input_metadata = model
            for name, array in loader[0].items():
                print(name, str(array.dtype), array.shape, array.tolist())

        model = TensorMetadata().add("in_a", np.float32, (-1, 2)).add("in_b", np.float64, ("n", 2))
        model.add("size", np.int64, (3,)).add("flag", np.bool_, (4,)).add("one", np.int32, (1,))
        show(TensorMetadata().add("in_*", np.float32, (3, 2)), model)
        show(TensorMetadata().add("in_a", None, (3, 2)).add("size", np.int64, (1, 2, 3)), model)
        show(TensorMetadata().add("in_b", None, (2, 9)).add("absent", None, (2,)), model)
        bounds = TensorMetadata().add("x", np.float32, (-1, 2), min_shape=(2, 2), max_shape=(4, 2))
        show(None, bounds, val_range=(-3.0, 3.0))
        print(tuple(TensorMetadata.from_feed_dict({"x": np.zeros((2, 3))})["x"].shape))
        """,
    "tensors within a model": """
        import numpy as np
        from PREFIX import constants
        from PREFIX.backend.onnx import BytesFromOnnx, ModifyOutputs, OnnxFromPath
        from PREFIX.backend.onnxrt import OnnxrtRunner, SessionFromOnnx

        for outputs in (constants.MARK_ALL, ["y"]):
            marked = ModifyOutputs(OnnxFromPath("small.onnx"), outputs=outputs)
            with OnnxrtRunner(SessionFromOnnx(BytesFromOnnx(marked))) as runner:
                found = runner.infer({"x": np.ones((2, 3), dtype=np.float32)})
                print(sorted((name, array.tolist()) for name, array in found.items()))
                print(str(runner.get_input_metadata()))
        """,
    "results put together": """
        import numpy as np
        from PREFIX.comparator import IterationResult, RunResults

        parts = []
        for name in ("a", "b"):
            part = RunResults()
            part.append((name, [IterationResult({"y": np.ones(2)}, runner_name=name)]))
            parts.append(part)
        whole = RunResults()
        whole.extend(parts[0])
        whole.extend(parts[1].lst)
        print(list(whole.keys()), len(whole))
        """,
    "top k": """
        import numpy as np
        from PREFIX.comparator import Comparator, IterationResult, PostprocessFunc, RunResults

        results = RunResults()
        results.add([{"y": np.array([[0.1, 0.7, 0.2]], dtype=np.float32)}], runner_name="a")
        results = Comparator.postprocess(results, PostprocessFunc.top_k(k=2))
        print(results["a"][0]["y"].tolist())
        """,
    "a runner of one's own": """
        import numpy as np
        from PREFIX.backend.base import BaseRunner
        from PREFIX.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
        from PREFIX.common import TensorMetadata
        from PREFIX.comparator import Comparator, DataLoader

        class Doubled(BaseRunner):
            def activate_impl(self):
                self.scale = 2

            def get_input_metadata_impl(self):
                return TensorMetadata().add("x", np.dtype(np.float32), (1, 3))

            def infer_impl(self, feed_dict):
                self.inference_time = 0.001
                return {"y": feed_dict["x"][:, :2] * self.scale}

            def deactivate_impl(self):
                print("closed")

        results = Comparator.run([Doubled(name="doubled")], data_loader=DataLoader(seed=2))
        print(results["doubled"][0]["y"].tolist())
        """,
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, tmp_path):
    printed = run_ours(EXAMPLES[name], tmp_path / "ours")
    assert printed
    if not PEER:
        pytest.skip("no Polygraphy to compare with")
    assert printed == run_theirs(EXAMPLES[name], tmp_path / "theirs")


def test_every_name_is_there():
    import vernier.polygraphy_compat as compat
    for name in compat.__all__:
        assert getattr(compat, name) is not None
    with pytest.raises(AttributeError, match="NoSuchName"):
        compat.NoSuchName


def test_tensorrt_is_asked_for_what_was_said():
    from vernier.polygraphy_compat import (CreateConfig, EngineFromNetwork, NetworkFromOnnxPath,
                                           Profile, SaveEngine, TrtRunner)
    profile = Profile().add("x", min=(1, 3), opt=(2, 3), max=(8, 3))
    engine = SaveEngine(EngineFromNetwork(NetworkFromOnnxPath("small.onnx"),
                                          config=CreateConfig(fp16=True, profiles=[profile])),
                        path="small.engine")
    words = TrtRunner(engine, name="engine").vernier_runner()._words()
    for word in ("--fp16", "x:[1, 3]", "x:[8, 3]", "small.engine"):
        assert word in words[1]


def test_what_there_is_no_option_for_is_refused():
    from vernier import Unimplemented
    from vernier.polygraphy_compat import CreateConfig, NetworkFromOnnxPath, TrtRunner
    with pytest.raises(Unimplemented, match="no_such_setting"):
        CreateConfig(no_such_setting=True)
    for make in (TrtRunner, NetworkFromOnnxPath):
        with pytest.raises(Unimplemented, match="no_such_setting"):
            make("m", no_such_setting=1)


def test_no_setting_is_dropped():
    from vernier.polygraphy_compat import (EngineFromNetwork, NetworkFromOnnxPath, OnnxFromPath,
                                           OnnxrtRunner, SessionFromOnnx, TrtRunner)
    engine = EngineFromNetwork(NetworkFromOnnxPath("small.onnx", strongly_typed=True))
    words = TrtRunner(engine, weight_streaming_budget=7).vernier_runner()._words()[1]
    assert "--strongly-typed" in words and "--weight-streaming-budget=7" in words
    model = OnnxFromPath("small.onnx", external_data_dir="weights")
    words = OnnxrtRunner(SessionFromOnnx(model)).vernier_runner()._words()[1]
    assert "--external-data-dir=weights" in words


def test_external_weights_lie_where_the_loader_says(model, tmp_path):
    from vernier.polygraphy_compat import OnnxFromPath, OnnxrtRunner, SessionFromOnnx
    loader = OnnxFromPath(model, external_data_dir=tmp_path)
    with OnnxrtRunner(SessionFromOnnx(loader)) as runner:
        outputs = runner.infer({"x": np.ones((1, 3), np.float32)})
    np.testing.assert_allclose(outputs["y"], expected(np.ones((1, 3))), rtol=1e-5)


def test_nan_is_seen_in_every_float_type():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    from vernier.polygraphy_compat import Comparator, RunResults
    for dtype in (np.float16, np.float32, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2):
        for value, finite in ((np.nan, False), (1, True)):
            results = RunResults()
            results.add([{"y": np.array([value]).astype(dtype), "n": np.array([1])}])
            assert Comparator.validate(results) == finite


def test_comparing_no_iterations_is_no_pass():
    from vernier import InvalidArgument
    from vernier.polygraphy_compat import Comparator, RunResults
    results = RunResults()
    results.add([], runner_name="a")
    results.add([], runner_name="b")
    with pytest.raises(InvalidArgument, match="no iterations"):
        Comparator.compare_accuracy(results)


LOGGING = """
    from PREFIX.logger import G_LOGGER

    G_LOGGER.info("a line")
    G_LOGGER.verbose("not wanted")
    G_LOGGER.warning(lambda: "made when it is wanted\\nin two lines")
    with G_LOGGER.verbosity(G_LOGGER.VERBOSE):
        G_LOGGER.verbose("wanted")
    with G_LOGGER.indent():
        G_LOGGER.start("shifted\\nboth")
    G_LOGGER.module_severity = {"": G_LOGGER.ERROR}
    G_LOGGER.warning("not wanted")
    G_LOGGER.error("at last")
    G_LOGGER.letter = False
    G_LOGGER.log_file = "log.txt"
    G_LOGGER.finish("not wanted")
    G_LOGGER.error("without a letter")
    try:
        G_LOGGER.critical("the end", ExceptionType=KeyError)
    except KeyError:
        print("raised")
    """


def log_of(python, prefix, text, folder):
    folder.mkdir()
    (folder / "log.py").write_text(textwrap.dedent(text).replace("PREFIX", prefix))
    done = subprocess.run([python, "log.py"], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [line for line in (done.stdout + done.stderr).splitlines() if "'colored'" not in line]


def test_log_looks_like_polygraphys(tmp_path):
    printed = log_of(sys.executable, "vernier.polygraphy_compat", LOGGING, tmp_path / "ours")
    assert printed[:2] == ["[I] a line", "[W] made when it is wanted"] and "raised" in printed
    if not PEER:
        pytest.skip("no Polygraphy to compare with")
    assert sorted(printed) == sorted(log_of(PEER, "polygraphy", LOGGING, tmp_path / "theirs"))
    ours, theirs = ((tmp_path / side / "log.txt").read_text() for side in ("ours", "theirs"))
    assert ours.split() == theirs.split() == "without a letter the end".split()


def test_runs_are_told_unless_logging_is_set_up(tmp_path):
    text = """
        import logging
        SETUP
        from PREFIX.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
        from PREFIX.comparator import Comparator
        Comparator.run([OnnxrtRunner(SessionFromOnnx("../small.onnx"), name="told")])
        """
    (tmp_path / "small.onnx").write_bytes(small_model())
    prefix = "vernier.polygraphy_compat"
    printed = log_of(sys.executable, prefix, text.replace("SETUP", ""), tmp_path / "plain")
    assert any(re.match(r"\[I\] told +\| Activating and starting inference$", p) for p in printed)
    setup = 'logging.basicConfig(format="own: %(message)s", level=logging.INFO)'
    printed = log_of(sys.executable, prefix, text.replace("SETUP", setup), tmp_path / "set-up")
    assert not [line for line in printed if line.startswith("[")]
    assert any(line.startswith("own: told") for line in printed)


RUNS = """
    import numpy as np
    from PREFIX.backend.base import BaseRunner
    from PREFIX.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
    from PREFIX.common import TensorMetadata
    from PREFIX.comparator import Comparator

    class Told(BaseRunner):
        def activate_impl(self):
            print(self.label, "activate", flush=True)

        def get_input_metadata_impl(self):
            return TensorMetadata().add("x", np.dtype(np.float32), (1, 3))

        def infer_impl(self, feed_dict):
            print(self.label, "infer", feed_dict["x"].tolist(), flush=True)
            self.inference_time = 0.25
            return {"y": feed_dict["x"]}

        def deactivate_impl(self):
            print(self.label, "deactivate", flush=True)

    def named(label, **words):
        runner = Told(**words)
        runner.label = label
        return runner

    def feeds():
        for level in range(2):
            yield {"x": np.full((1, 3), level, dtype=np.float32)}

    both = Comparator.run([named("first", name="a"), named("second", name="b")], feeds(), warm_up=1)
    print(both["b"][1].runtime, both["b"][1]["y"].tolist())
    Comparator.run([OnnxrtRunner(SessionFromOnnx("../small.onnx"), name="told")], feeds())
    print(len(Comparator.run([], feeds())))
    twice = [named("unnamed"), named("unnamed"), named("prefixed", prefix="p")]
    print([runner.name.rsplit("-", 2)[0] for runner in twice])
    print(list(Comparator.run(twice, feeds()).keys()) == [runner.name for runner in twice])
    """


def test_runners_run_one_after_the_other(tmp_path):
    """Who is active when, and what is told of it; the time of an inference is the runner's own word."""
    (tmp_path / "small.onnx").write_bytes(small_model())

    def seen(python, prefix, folder):
        lines = log_of(python, prefix, RUNS, folder)
        # Frameworks have clocks of their own.
        lines = [re.sub(r"in [\d.]+ ms \| Average inference time: [\d.]+ ms", "in ...", line)
                 if "told" in line else re.sub(r"\d\d/\d\d/\d\d-[\d:]+", "NOW", line)
                 for line in lines]
        return [line for line in lines if "no runners" not in line.lower()]

    ours = seen(sys.executable, "vernier.polygraphy_compat", tmp_path / "ours")
    deeds = [line.split()[:2] for line in ours if line.startswith(("first", "second"))]
    assert deeds == [[label, deed] for label in ("first", "second") for deed in
                     ("activate", "infer", "infer", "infer", "deactivate")]
    assert any("Completed 2 iteration(s) in 500 ms | Average inference time: 250 ms." in line
               for line in ours)
    if not PEER:
        pytest.skip("no Polygraphy to compare with")
    assert ours == seen(PEER, "polygraphy", tmp_path / "theirs")


def test_a_loader_that_knows_no_inputs_says_so():
    from vernier.polygraphy_compat.comparator import DataLoader
    with pytest.raises(vernier.InvalidArgument, match="input_metadata"):
        list(DataLoader())


def test_tensors_that_are_not_there_are_named(tmp_path):
    if not PEER:
        pytest.skip("no Python with onnx")
    printed = run_ours_with_onnx("""
        from vernier import NotFound, SaveError
        from PREFIX.backend.onnx import OnnxFromPath, modify_outputs, save_onnx
        try:
            modify_outputs(OnnxFromPath("small.onnx"), outputs=["nope"])
        except NotFound as error:
            print(error)
        try:
            save_onnx(OnnxFromPath("small.onnx"), "small.onnx/all.onnx")
        except SaveError as error:
            print(error)
        """, tmp_path)
    assert len(printed) == 2
    assert "'nope'" in printed[0] and "cannot be written" in printed[1]
