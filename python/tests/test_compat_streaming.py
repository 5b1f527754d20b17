"""Results an iteration at a time, and what goes through all of them: as Polygraphy's."""

import gc
import itertools
import os

import numpy as np
import pytest

import vernier
from vernier.polygraphy_compat import Comparator, RunResults, SimpleCompareFunc
from vernier.polygraphy_compat.backend.base import BaseRunner, numpy_type
from vernier.polygraphy_compat.common import TensorMetadata

from scripts_of_both import of_both

BASE = """
    import itertools
    import os
    import numpy as np
    from PREFIX.backend.base import BaseRunner
    from PREFIX.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
    from PREFIX.common import TensorMetadata
    from PREFIX.comparator import *

    def feeds(count=3):
        for level in itertools.islice(itertools.count(), count):
            yield {"x": np.full((1, 3), level, np.float32)}

    def runners(*names):
        return [OnnxrtRunner(SessionFromOnnx("small.onnx"), name=name) for name in names]

    def made(*levels):
        results = RunResults()
        results.add([{"y": np.full(3, level, np.float32)} for level in levels], runner_name="made")
        return results

    def show(accuracy):
        for result in accuracy:
            for pair, iterations in result.items():
                print(pair, [{n: bool(v) for n, v in it.items()} for it in iterations])

    def refused(call):
        try:
            call()
            print("taken")
        except Exception as error:
            print("refused")
    """
SCRIPTS = {
    "a data set that is streamed": """
        for single in Comparator.run(runners("golden"), data_loader=feeds(), streaming=True,
                                     save_outputs_path="golden"):
            print([(name, [it["y"].tolist() for it in its]) for name, its in single.items()])
        print(sorted(os.listdir("golden")))
        show(Comparator.compare_accuracy(
            [Comparator.run(runners("a", "b"), data_loader=feeds(), streaming=True)]))
        show(Comparator.compare_accuracy(
            Comparator.run(runners("a", "b"), data_loader=feeds(), streaming=True)))
        show(Comparator.compare_accuracy(
            [Comparator.run(runners("a"), data_loader=feeds(), streaming=True),
             RunResults.load_streaming("golden")]))
        show(Comparator.compare_accuracy(
            [RunResults.load_streaming("golden"), Comparator.run(runners("a"), data_loader=feeds())]))
        """,
    "an endless one": """
        stream = Comparator.run(runners("a"), data_loader=feeds(None), streaming=True,
                                save_inputs_path="inputs.json", save_outputs_path="outputs")
        for index, single in enumerate(stream):
            print(index, single["a"][0]["y"].tolist(), len(os.listdir("outputs")))
            if index == 3:
                break
        stream.close()
        print(len(list(RunResults.load_streaming("outputs"))),
              [feed["x"].tolist() for feed in StreamingDataLoader("inputs.json")])
        """,
    "drawn feeds": """
        loader = DataLoader(seed=4, iterations=2, val_range=(1, 2))
        for single in Comparator.run(runners("a"), data_loader=loader, streaming=True,
                                     save_input_blob_path="blobs"):
            print([f"{value:.5f}" for value in single["a"][0]["y"].ravel()])
        print(sorted(os.listdir("blobs")), os.listdir("blobs/0000000001"),
              np.fromfile("blobs/0000000001/x.bin", np.float32).shape)
        """,
    "what streams do not take": """
        for words in ({"warm_up": 1}, {"use_subprocess": True},
                      {"save_inputs_path": "p", "save_outputs_path": "p"}):
            refused(lambda: list(Comparator.run(runners("a"), data_loader=feeds(), streaming=True,
                                                **words)))
        refused(lambda: list(Comparator.run(runners("a"), data_loader=[3], streaming=True)))
        refused(lambda: list(Comparator.run(runners("a"), data_loader=[{"q": np.ones(3)}] * 2,
                                            streaming=True)) and {}["q"])
        refused(lambda: Comparator.compare_accuracy([made(1), iter([made(1), made(1, 2)])]) and 0)
        """,
    "a runner of one's own, in types of its own": """
        class Twice(BaseRunner):
            def get_input_metadata_impl(self):
                return TensorMetadata().add("x", np.dtype(np.float64), (1, 3))

            def infer_impl(self, feed_dict):
                print(sorted(feed_dict), feed_dict["x"].dtype)
                self.inference_time = 0.5
                return {"y": feed_dict["x"] * 2}

        more = [{"x": np.ones((1, 3), np.float32), "unused": np.ones(1)}]
        for single in Comparator.run([Twice(name="twice")], data_loader=more, streaming=True):
            print(single["twice"][0].runtime, single["twice"][0]["y"].tolist(),
                  single["twice"][0].runner_name)
        """,
    "post-processing": """
        def negated(result):
            for name in list(result):
                result[name] = -result[name]
            return result

        changed = Comparator.postprocess([made(1), made(2)], negated)
        print(type(changed).__name__, [run["made"][0]["y"].tolist() for run in changed])
        stream = Comparator.postprocess(made(1, 2).split(), negated)
        print([single["made"][0]["y"].tolist() for single in stream])
        show(Comparator.compare_accuracy([Comparator.postprocess(made(1, 2).split(), negated),
                                          made(-1, -2)]))
        """,
    "validation": """
        nan, inf = float("nan"), float("inf")
        for words in ({}, {"check_inf": True}, {"check_inf": True, "check_nan": False},
                      {"check_nan": False}):
            print([Comparator.validate(made(level), **words) for level in (1, nan, inf)],
                  Comparator.validate([made(1), made(nan)], **words))
            for level in (nan, inf):
                stream = Comparator.validate(made(1, level).split(), **words)
                print(next(stream)["made"][0]["y"].tolist())
                refused(lambda: next(stream))
        """,
    "different numbers of iterations": """
        show(Comparator.compare_accuracy([made(1, 2, 3), made(1, 5)]))
        show(Comparator.compare_accuracy([made(1).split(), made(1, 2)]))
        """,
    "runners of one name": """
        results = Comparator.run(runners("same", "same"), data_loader=feeds(2),
                                 save_outputs_path="outputs.json")
        print([(name, len(its), its[0].runner_name) for name, its in results.items()])
        print([(name, len(its)) for name, its in RunResults.load("outputs.json").items()])
        show(Comparator.compare_accuracy(results))
        print(Comparator.default_comparisons(results), len(Comparator.run([])))
        """,
    "shapes of a loader's inputs": """
        class Loader:
            input_metadata = None

            def __iter__(self):
                for name, entry in self.input_metadata.items():
                    print(name, entry.dtype, entry.shape)
                    yield {name: np.ones((2, 3), np.float32)}

        for streaming in (False, True):
            for single in list(Comparator.run(runners("a"), data_loader=Loader(),
                                              streaming=streaming)):
                pass
        """,
    "loaded results that are changed": """
        results = made(1.26, 2.51)
        results.save("outputs.json")
        loaded = RunResults.load("outputs.json")
        for name, iterations in loaded.items():
            for iteration in iterations:
                for array in iteration.values():
                    array[...] = np.round(array, 1)
        print([it["y"].round(3).tolist() for it in loaded["made"]])
        loaded.save("rounded.json")
        print([it["y"].round(3).tolist() for it in RunResults.load("rounded.json")["made"]])
        """,
    "numbers that are outputs": """
        results = RunResults()
        results.add([{"loss": np.ones(3).sum(), "y": np.ones(2)}], runner_name="m")
        results.save("outputs.json")
        loaded = RunResults.load("outputs.json")
        print(float(loaded["m"][0]["loss"]), loaded["m"][0]["y"].tolist())
        """,
    "nothing in common": """
        from PREFIX.exception import PolygraphyException
        for a, b in (({"p": 1}, {}), ({}, {"p": 1}), ({"p": 1, "q": 1}, {"r": 1})):
            first, second = (IterationResult({n: np.ones(v) for n, v in side.items()})
                             for side in (a, b))
            for function in (SimpleCompareFunc(), L2CompareFunc(),
                             SimpleCompareFunc(find_output_func=lambda *_: [])):
                try:
                    print({n: bool(v) for n, v in function(first, second).items()})
                except PolygraphyException as error:
                    print("All outputs were skipped" in str(error))
        """,
    "metadata that is compared": """
        def meta(dtype, shape):
            return TensorMetadata().add("x", dtype, shape)

        first = meta(np.float32, (1, 2))
        print(first == meta(np.float32, (1, 2)), first == meta(np.dtype("float32"), [1, 2]),
              first == meta(np.float64, (1, 2)), first == meta(np.float32, (2, 2)),
              first == meta(None, None), meta(None, None) == meta(None, None), first != first,
              first["x"].shape == [1, 2], first["x"].shape)
        """,
    "ranges of three values": """
        refused(lambda: list(DataLoader(val_range=(0, 1, 2),
                                        input_metadata=TensorMetadata().add("x", np.float32, (1,)))))
        """,
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_script(name, tmp_path):
    of_both(BASE + SCRIPTS[name].replace("\n    ", "\n"), tmp_path)


class Counted(BaseRunner):
    """Counts what is alive of it."""

    active = 0

    def activate_impl(self):
        Counted.active += 1

    def deactivate_impl(self):
        Counted.active -= 1

    def get_input_metadata_impl(self):
        return TensorMetadata().add("x", np.dtype(np.float32), (1,))

    def infer_impl(self, feed_dict):
        return {"y": feed_dict["x"] + (feed_dict["x"] > 1 if self.name == "b" else 0)}


class Texts(BaseRunner):
    def get_input_metadata_impl(self):
        return TensorMetadata().add("x", numpy_type("string"), (1,)).add("z", None, None)

    def infer_impl(self, feed_dict):
        return {"y": feed_dict["x"], "z": feed_dict["z"]}


def test_texts_are_fed_as_they_are():
    feed = {"x": np.array(["abc"]), "z": np.ones(2, np.int8)}
    single, = Comparator.run([Texts("a")], data_loader=[feed], streaming=True)
    assert single["a"][0]["y"].tolist() == ["abc"] and single["a"][0]["z"].dtype == np.int8


def test_what_cannot_be_streamed_is_refused():
    with pytest.raises(vernier.InvalidArgument, match="with statement"):
        next(Comparator.run([lambda feed: feed], data_loader=[{"x": np.ones(1)}], streaming=True))


def test_streams_end_where_nobody_goes_on():
    fed = []

    def feeds():
        for level in itertools.count():
            fed.append(level)
            yield {"x": np.full(1, level, np.float32)}

    stream = Comparator.run([Counted("a"), Counted("b")], data_loader=feeds(), streaming=True)
    assert fed == [] and Counted.active == 0
    assert not Comparator.compare_accuracy(Comparator.validate(stream), fail_fast=True)
    assert fed == [0, 1, 2] and Counted.active == 0
    with pytest.raises(vernier.InvalidArgument, match="not finite"):
        bad = [{"x": np.full(1, np.nan, np.float32)}]
        list(Comparator.validate(Comparator.run([Counted("a")], data_loader=bad, streaming=True)))
    gc.collect()
    assert Counted.active == 0


def test_a_file_of_streamed_results_is_whole_where_the_stream_ends(tmp_path):
    feeds = [{"x": np.full(1, level, np.float32)} for level in range(9)]
    for name in ("outputs.json", "outputs.npz", "outputs.safetensors"):
        stream = Comparator.run([Counted("a")], data_loader=feeds, streaming=True,
                                save_outputs_path=tmp_path / name)
        next(stream), next(stream)
        stream.close()
        loaded = vernier.load_results(tmp_path / name)
        assert [it["y"].tolist() for it in loaded["a"]] == [[0.0], [1.0]]


def test_results_that_are_played_back(tmp_path):
    """Those of a file are read when they are looked at."""
    feeds = [{"x": np.full(1, level, np.float32)} for level in (0, 3)]
    Comparator.run([Counted("a")], data_loader=feeds).save(tmp_path / "outputs.json")

    class Replay:
        name = "replay"

        def __enter__(self):
            self.iterations = iter(RunResults.load(tmp_path / "outputs.json")["a"])
            return self

        def __exit__(self, *_):
            pass

        def infer(self, feed):
            return next(self.iterations)

    singles = list(Comparator.run([Replay()], data_loader=feeds, streaming=True))
    assert [single["replay"][0]["y"].tolist() for single in singles] == [[0.0], [3.0]]
    assert all(single["replay"][0].runtime is not None for single in singles)


@pytest.mark.parametrize("extension", ["", ".json", ".npz", ".safetensors"])
def test_what_is_saved_of_no_feeds_is_what_a_run_saves_that_is_not_streamed(extension, tmp_path):
    saved = []
    for streaming in (False, True):
        paths = [tmp_path / f"{what}-{streaming}{extension}" for what in ("outputs", "inputs")]
        assert all(len(its) == 0 for _, its in Comparator.run(
            [Counted("a")], data_loader=[], streaming=streaming, save_outputs_path=paths[0],
            save_inputs_path=paths[1]))
        saved.append([path.read_bytes() if path.is_file() else path.exists() for path in paths])
    assert saved[0] == saved[1]

    class Fails(Counted):
        def infer_impl(self, feed_dict):
            raise ValueError("as asked")

    with pytest.raises(ValueError, match="as asked"):
        list(Comparator.run([Fails("a")], data_loader=[{"x": np.ones(1, np.float32)}], streaming=True,
                            save_outputs_path=tmp_path / f"failed{extension}"))
    failed = tmp_path / f"failed{extension}"
    assert not failed.is_file() and not list(failed.glob("*")) and Counted.active == 0


@pytest.mark.parametrize("streaming", [False, True])
def test_paths_of_bytes(streaming, tmp_path):
    inputs, outputs, blobs = (tmp_path / name for name in ("i.json", "o.json", "blobs"))
    list(Comparator.run([Counted("a")], data_loader=[{"x": np.ones(1, np.float32)}],
                        streaming=streaming, save_inputs_path=os.fsencode(inputs),
                        save_outputs_path=os.fsencode(outputs),
                        save_input_blob_path=os.fsencode(blobs)))
    assert RunResults.load(outputs)["a"][0]["y"].tolist() == [1.0]
    assert len(vernier.load_inputs(inputs)) == 1 and len(list(blobs.rglob("x.bin"))) == 1
    with pytest.raises(vernier.InvalidArgument, match="the same path"):
        Comparator.run([Counted("a")], save_inputs_path=os.fsencode(inputs),
                       save_outputs_path=inputs, streaming=streaming)


def test_postprocessing_changes_the_lists_themselves():
    results = RunResults()
    results.add([{"y": np.ones(1)}, {"y": np.zeros(1)}], runner_name="a")
    held = results["a"]
    Comparator.postprocess(results, lambda result: vernier.IterationResult({"y": result["y"] + 2}))
    assert [it["y"].tolist() for it in held] == [[3.0], [2.0]] and results["a"] is held


def test_nothing_to_compare_is_refused():
    one = RunResults()
    one.add([{"y": np.ones(1)}], runner_name="a")
    empty = RunResults([("a", [])])
    for results in (iter([]), [iter([]), one], [one, empty], []):
        with pytest.raises(vernier.InvalidArgument):
            Comparator.compare_accuracy(results)
    for wrong in (3, {"a": 1}):
        with pytest.raises(vernier.InvalidArgument, match="no results"):
            Comparator.compare_accuracy(wrong)
    with pytest.raises(vernier.InvalidArgument, match="one iteration at a time"):
        Comparator.compare_accuracy(iter([RunResults([("a", one["a"] * 2), ("b", one["a"])])]))
    for wrong in (None, 3, {"y": 1}):
        for results in ([iter([one]), iter([wrong])], iter([wrong])):
            with pytest.raises(vernier.InvalidArgument, match="expected RunResults"):
                Comparator.compare_accuracy(results)
        with pytest.raises(vernier.InvalidArgument, match="expected RunResults"):
            next(Comparator.validate(iter([wrong])))
    with pytest.raises(vernier.InvalidArgument, match="neither side has an output"):
        SimpleCompareFunc()(vernier.IterationResult({}), vernier.IterationResult({}))


def test_ranges_of_three_values_are_refused_in_a_run(model):
    from vernier.polygraphy_compat import DataLoader, OnnxrtRunner
    with pytest.raises(vernier.InvalidArgument, match="val_range"):
        Comparator.run([OnnxrtRunner(str(model))], data_loader=DataLoader(val_range=(0, 1, 2)))


def test_a_mapped_file_stays_as_it_is(tmp_path):
    results = RunResults()
    results.add([{"y": np.ones(3)}], runner_name="a")
    results.save(tmp_path / "o.npz")
    with pytest.raises(ValueError, match="read-only"):
        RunResults.load(tmp_path / "o.npz")["a"][0]["y"][0] = 2


def test_inputs_have_types_and_shapes_without_polygraphys_names(model):
    class Loader:
        input_metadata = None

        def __iter__(self):
            entry = self.input_metadata["x"]
            dtype, shape = entry
            assert (dtype, shape) == (entry.dtype, entry.shape) == tuple(entry)
            yield {"x": np.ones((1, shape[1]), dtype)}

    record = vernier.run(model, ["onnxrt"], inputs=Loader())
    assert record.results[0][1][0]["y"].shape == (1, 2)
