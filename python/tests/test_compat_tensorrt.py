"""Polygraphy's examples of TensorRT in our words, over a stand-in for TensorRT's Python module that
evaluates the models (tests/trt_python/fake), and a driver without a GPU."""

import os
import pathlib
import textwrap

import numpy as np
import pytest

import vernier
from vernier import _commands
from vernier.polygraphy_compat.backend import trt as ours

from scripts_of_both import PEER, run_ours_with_onnx

FAKE = pathlib.Path(__file__).parents[2] / "tests" / "trt_python" / "fake"
DRIVER = os.environ.get("VERNIER_FAKE_CUDA_DIR", "")
pytestmark = pytest.mark.skipif(not PEER or not DRIVER, reason="no onnx, or no stand-in driver")

# y = x of float32 (1, 1, 2, 2), and of (n, 3).
MODELS = """
    import numpy as np
    import onnx
    from onnx import TensorProto, helper

    def write(path, shape):
        info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy"]
        node = helper.make_node("Identity", ["x"], ["y"], name="only")
        graph = helper.make_graph([node], "g", info[:1], info[1:])
        onnx.save(helper.make_model(graph, ir_version=8,
                                    opset_imports=[helper.make_opsetid("", 17)]), path)

    write("identity.onnx", [1, 1, 2, 2])
    write("dynamic.onnx", ["n", 3])
    X = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    """


def example(text, folder):
    text = textwrap.dedent(MODELS) + textwrap.dedent(text)
    return run_ours_with_onnx(text, folder, FAKE, LD_LIBRARY_PATH=DRIVER)


def test_an_engine_is_built_saved_and_loaded(tmp_path):
    printed = example("""
        from PREFIX.backend.common import BytesFromPath
        from PREFIX.backend.trt import (CreateConfig, EngineFromBytes, EngineFromNetwork,
                                        NetworkFromOnnxPath, SaveEngine, TrtRunner)
        build = EngineFromNetwork(NetworkFromOnnxPath("identity.onnx"),
                                  config=CreateConfig(fp16=True))
        with TrtRunner(SaveEngine(build, path="identity.engine")) as runner:
            print(np.array_equal(runner.infer(feed_dict={"x": X})["y"], X))
        with TrtRunner(EngineFromBytes(BytesFromPath("identity.engine"))) as runner:
            print(np.array_equal(runner.infer(feed_dict={"x": X})["y"], X))
        """, tmp_path)
    assert printed == ["True", "True"]


def test_frameworks_are_compared(tmp_path):
    printed = example("""
        from PREFIX.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
        from PREFIX.backend.trt import EngineFromNetwork, NetworkFromOnnxPath, TrtRunner
        from PREFIX.comparator import Comparator, CompareFunc
        results = Comparator.run([TrtRunner(EngineFromNetwork(NetworkFromOnnxPath("identity.onnx"))),
                                  OnnxrtRunner(SessionFromOnnx("identity.onnx"))])
        for function in (CompareFunc.simple(atol=1e-8),
                         CompareFunc.distance_metrics(l2_tolerance=1e-5,
                                                      cosine_similarity_threshold=0.99),
                         CompareFunc.quality_metrics(psnr_tolerance=50.0, snr_tolerance=25.0)):
            print(bool(Comparator.compare_accuracy(results, compare_func=function)))
        """, tmp_path)
    assert printed == ["True"] * 3


def test_loaders_are_extended_with_tensorrts_own_calls(tmp_path):
    printed = example("""
        import tensorrt as trt
        from PREFIX import func
        from PREFIX.backend.trt import (CreateConfig, EngineFromNetwork, NetworkFromOnnxPath,
                                        TrtRunner)

        @func.extend(NetworkFromOnnxPath("identity.onnx"))
        def load_network(builder, network, parser):
            network.name = "MyIdentity"

        @func.extend(CreateConfig())
        def load_config(config):
            config.set_flag(trt.BuilderFlag.FP16)

        with TrtRunner(EngineFromNetwork(load_network, config=load_config)) as runner:
            print(np.array_equal(runner.infer({"x": X})["y"], X))
        import json, os
        built = json.loads(open(os.environ["FAKE_TENSORRT_JOURNAL"]).read())
        print(built["network"], built["flags"])
        """.replace("import tensorrt", "import os; os.environ['FAKE_TENSORRT_JOURNAL'] = 'journal'\n"
                    "        import tensorrt"), tmp_path)
    assert printed == ["True", "MyIdentity ['FP16']"]


def test_networks_are_made_by_tensorrts_own_calls(tmp_path):
    printed = example("""
        import tensorrt as trt
        from PREFIX import func
        from PREFIX.backend.trt import CreateNetwork, EngineFromNetwork, TrtRunner

        @func.extend(CreateNetwork())
        def create_network(builder, network):
            given = network.add_input(name="input", shape=(4, 4), dtype=trt.float32)
            ones = network.add_constant(shape=(4, 4), weights=np.ones((4, 4), np.float32))
            add = network.add_elementwise(given, ones.get_output(0),
                                          op=trt.ElementWiseOperation.SUM).get_output(0)
            add.name = "output"
            network.mark_output(add)

        feed = {"input": np.random.random_sample((4, 4)).astype(np.float32)}
        with TrtRunner(EngineFromNetwork(create_network)) as runner:
            print(np.array_equal(runner.infer(feed)["output"], feed["input"] + 1))
        """, tmp_path)
    assert printed == ["True"]


def test_functions_work_at_once(tmp_path):
    printed = example("""
        from PREFIX.backend.common import bytes_from_path
        from PREFIX.backend.trt import (TrtRunner, create_config, engine_from_bytes,
                                        engine_from_network, network_from_onnx_path, save_engine)
        builder, network, parser = network_from_onnx_path("identity.onnx")
        before = network.get_output(0)
        network.unmark_output(before)
        output = network.add_identity(before).get_output(0)
        output.name = "output"
        network.mark_output(output)
        config = create_config(builder, network, fp16=True)
        engine = engine_from_network((builder, network), config)
        save_engine(engine, path="identity.engine")
        for engine in (engine, engine_from_bytes(bytes_from_path("identity.engine"))):
            with TrtRunner(engine) as runner:
                print(np.array_equal(runner.infer(feed_dict={"x": X})["output"], X))
        """, tmp_path)
    assert printed == ["True", "True"]


def test_an_engine_has_many_contexts(tmp_path):
    printed = example("""
        from PREFIX.backend.trt import (CreateConfig, Profile, TrtRunner, engine_from_network,
                                        network_from_onnx_path, save_engine)
        from PREFIX.logger import G_LOGGER
        profiles = [Profile().add("x", min=(1, 3), opt=(1, 3), max=(1, 3)),
                    Profile().add("x", min=(1, 3), opt=(4, 3), max=(32, 3))]
        engine = engine_from_network(network_from_onnx_path("dynamic.onnx"),
                                     config=CreateConfig(profiles=profiles))
        save_engine(engine, "dynamic.engine")
        first = TrtRunner(engine.create_execution_context())
        with G_LOGGER.verbosity(G_LOGGER.CRITICAL):
            second = TrtRunner(engine.create_execution_context())
        feed = np.ones((1, 3), np.float32)
        with first:
            print(np.array_equal(first.infer({"x": feed})["y"], feed))
            with second:
                second.set_profile(0)
                batch = np.repeat(feed, 4, axis=0)
                print(np.array_equal(second.infer({"x": batch})["y"], batch))
        try:
            second.set_profile(1)
        except ValueError as error:
            print(str(error).split("|")[1].strip())
        print(second.vernier_runner()._words()[1].split()[1].endswith("dynamic.engine"))
        """, tmp_path)
    assert printed == ["True", "True", "Must be activated prior to calling set_profile()", "True"]


def test_calibration_feeds_go_to_the_program(tmp_path):
    """The plug-in calibrates with them; TensorRT's Python module takes a cache that is there."""
    printed = example("""
        from vernier import InvalidArgument, Unavailable
        from PREFIX.backend.trt import (Calibrator, CreateConfig, EngineFromNetwork,
                                        NetworkFromOnnxPath, TrtRunner)

        def feeds():
            for _ in range(4):
                print("asked")
                yield {"x": X}

        def runner(loader, **words):
            config = CreateConfig(int8=True, calibrator=Calibrator(loader, **words))
            return TrtRunner(EngineFromNetwork(NetworkFromOnnxPath("identity.onnx"), config=config))

        try:
            runner(feeds()).activate()
        except Unavailable as error:
            print("calibration_cache=" in str(error))
        try:
            runner([]).activate()
        except InvalidArgument as error:
            print(error)
        open("there.cache", "w").write("cache")
        with runner(feeds, cache="there.cache") as opened:
            print(np.array_equal(opened.infer({"x": X})["y"], X))
        """, tmp_path)
    assert printed == ["asked"] * 4 + [
        "True", "Calibrator: data_loader has no feeds to calibrate with", "True"]


def test_networks_are_edited(tmp_path):
    printed = example("""
        from PREFIX.backend.trt import (EngineFromNetwork, ModifyNetworkOutputs,
                                        NetworkFromOnnxPath, PostprocessNetwork,
                                        SetTensorDatatypes, TrtRunner)
        from PREFIX import constants

        network = NetworkFromOnnxPath("identity.onnx")
        marked = ModifyNetworkOutputs(network, outputs=constants.MARK_ALL)
        typed = SetTensorDatatypes(marked, {"y": "float32"})
        words = TrtRunner(EngineFromNetwork(typed)).vernier_runner()._words()[1]
        print("--trt-outputs mark all" in words, "--tensor-dtypes y:float32" in words)

        def rename(network):
            network.name = "renamed"

        for loader in (PostprocessNetwork(network, rename),
                       ModifyNetworkOutputs(PostprocessNetwork(network, rename), outputs=["y"])):
            print(loader()[1].name, loader()[1].num_outputs)
            with TrtRunner(EngineFromNetwork(loader)) as runner:
                print(list(runner.infer({"x": X})))
        """, tmp_path)
    assert printed == ["True True"] + ["renamed 1", "['y']"] * 2


def test_what_the_builder_says_is_told(tmp_path):
    printed = example("""
        from vernier import BackendError
        from PREFIX import func
        from PREFIX.backend.trt import EngineFromNetwork, NetworkFromOnnxPath, TrtRunner

        @func.extend(NetworkFromOnnxPath("identity.onnx"))
        def load_network(builder, network, parser):
            network.name = "impossible"
        try:
            TrtRunner(EngineFromNetwork(load_network)).activate()
        except BackendError as error:
            print(error)
        """, tmp_path)
    assert printed == ["TensorRT could not build the engine: no implementation for this network"]


def test_edits_add_up():
    network = ours.NetworkFromOnnxPath("identity.onnx")
    for edit, option in ((ours.SetLayerPrecisions, "--layer-precisions"),
                         (ours.SetTensorDatatypes, "--tensor-dtypes")):
        twice = edit(edit(network, {"a": "float16", "b": "float16"}), {"b": "float32"})
        words = ours.TrtRunner(ours.EngineFromNetwork(twice)).vernier_runner()._words()[1]
        assert f"{option} a:float16 b:float32" in words


def test_an_empty_profile_among_others_is_refused():
    shapes = ours.Profile().add("x", min=(1, 3), opt=(4, 3), max=(8, 3))
    with pytest.raises(vernier.Unimplemented, match="CreateConfig: profiles: one of several"):
        ours.CreateConfig(profiles=[ours.Profile(), shapes])
    ours.CreateConfig(profiles=[ours.Profile()])
    ours.CreateConfig(profiles=[shapes])


def test_plugins_are_loaded_for_a_calibration(monkeypatch, tmp_path):
    commands = []

    def run(words):
        commands.append(words)
        pathlib.Path(words[words.index("-o") + 1]).write_bytes(b"engine")

    monkeypatch.setattr(_commands, "run", run)
    calibrator = ours.Calibrator([{"x": np.zeros((1, 1, 2, 2), np.float32)}])
    engine = ours.EngineFromNetwork(ours.NetworkFromOnnxPath("identity.onnx"),
                                    ours.CreateConfig(int8=True, calibrator=calibrator))
    ours.LoadPlugins(["plugin.so"], engine)().build(str(tmp_path / "saved.engine"))
    command, = commands
    assert command[command.index("--plugins") + 1] == "plugin.so"
