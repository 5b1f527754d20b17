"""Models in Python as runners like any other."""

import json
import math
import os
import pathlib
import subprocess
import sys

import numpy as np

from script_case import VERNIER, ScriptCase

TWIN = """
    import numpy as np
    def load(model_path):
        assert model_path.endswith("m.onnx"), model_path
        def infer(feed):
            return {"y": np.maximum(feed["x"], 0) + feed["x"], "z": feed["x"]}
        return infer
    """


class ModelRunner(ScriptCase):
    def agree(self, script, *words, **options):
        self.write("model.py", script)
        done = self.vernier("m.onnx", "--onnxrt", "--model-runner", "model.py", *words, **options)
        self.assertEqual(done.code, 0, str(done))
        return done

    def test_a_function_that_load_returns(self):
        done = self.agree(TWIN, "--iterations", "3")
        self.assertIn("Passed: 3/3 iterations", done.out)
        # The tables show it as they show every runner.
        self.assertRegex(done.out, r"  model +python 3\.\d+\S* +CPU")

    def test_one_that_computes_something_else_fails(self):
        self.write("model.py", TWIN.replace("+ feed", "- feed"))
        done = self.vernier("m.onnx", "--onnxrt", "--model-runner", "model.py")
        self.assertEqual(done.code, 1, str(done))
        self.assertIn("Mismatched outputs: ['y']", done.out)

    def test_variables_are_set_for_workers_alone(self):
        self.write("model.py", """
            import os
            def infer(feed):
                assert os.environ["LEVEL"] == "a=3", os.environ["LEVEL"]
                return feed
            """)
        words = ("m.onnx", "--model-runner", "model.py")
        done = self.vernier(*words, "--env", "LEVEL=2", "--env", "LEVEL=a=3", env={"LEVEL": "1"})
        self.assertEqual(done.code, 0, str(done))
        self.assertNotEqual(self.vernier(*words, env={"LEVEL": "1"}).code, 0)
        for word in ("LEVEL", "=3", ""):
            done = self.vernier(*words, f"--env={word}")
            self.assert_fails(done, 2, f"--env: expected NAME=VALUE, got '{word}'")
        self.assertEqual(self.vernier(*words, "--env", "LEVEL=a=3", "--in-process").code, 2)

    def test_an_object_with_infer_and_metadata_of_its_own(self):
        self.write("model.py", """
            import numpy as np
            class Model:
                input_metadata = {"a": (np.int32, [2, None]), "b": ("float64", (3,))}
                device = "abacus"
                precision = "exact"
                def infer(self, feed):
                    assert feed["a"].dtype == np.int32 and feed["a"].shape == (2, 1), feed
                    assert feed["b"].dtype == np.float64
                    return {"sum": feed["a"].sum() + feed["b"].sum()}
            def load(model_path):
                return Model()
            """)
        done = self.vernier("--model-runner", "model.py", "--save-outputs", "out.json")
        self.assertEqual(done.code, 0, str(done))
        self.assertRegex(done.out, r"model +python \S+ +abacus +exact")
        again = self.vernier("--model-runner", "model.py", "--load-outputs", "out.json")
        self.assertEqual(again.code, 0, str(again))
        self.assertIn("compared 1 output", again.out)

    def test_a_script_that_is_the_model(self):
        self.agree("""
            import numpy as np
            def infer(feed):
                return [np.maximum(feed["x"], 0) + feed["x"], feed["x"]]
            """)

    def test_another_name_and_a_label(self):
        self.write("model.py", TWIN.replace("def load", "def mine"))
        done = self.vernier("m.onnx", "--onnxrt", "--runner", "twin=model.py:mine")
        self.assertEqual(done.code, 0, str(done))
        self.assertRegex(done.out, r"vs\. twin: PASSED, compared 2 outputs")

    def test_a_runner_written_for_polygraphy(self):
        self.agree("""
            import numpy as np
            from polygraphy.backend.base import BaseRunner
            from polygraphy.common import TensorMetadata
            class Twin(BaseRunner):
                def activate_impl(self):
                    self.factor = 1
                def get_input_metadata_impl(self):
                    return TensorMetadata().add("x", np.float32, (1, 3))
                def infer_impl(self, feed_dict):
                    x = feed_dict["x"] * self.factor
                    return {"y": np.maximum(x, 0) + x, "z": x}
                def deactivate_impl(self):
                    print("deactivated")
            def load(model_path):
                return Twin("twin")
            """)

    def test_a_model_may_tell_how_long_an_inference_took(self):
        """With a clock of its own; where that has nothing to say, or no number, ours counts."""
        self.write("model.py", """
            import numpy as np
            class Timed:
                inference_time = None
                def __init__(self, times):
                    self.times = times
                def infer(self, feed):
                    self.inference_time = self.times.pop(0)
                    return {"y": np.maximum(feed["x"], 0) + feed["x"], "z": feed["x"]}
            def load(model_path):
                return Timed([0.25, None, -1, "long", np.float32(0.5), float("inf"), True])
            """)
        done = self.vernier("m.onnx", "--model-runner", "model.py", "--iterations", "7",
                            "--save-outputs", "out.json")
        self.assertEqual(done.code, 0, str(done))
        (_, iterations), = json.loads((self.folder / "out.json").read_text())["lst"]
        times = [iteration["runtime"] for iteration in iterations]
        self.assertEqual([times[0], times[4]], [0.25, 0.5])
        for measured in (*times[1:4], *times[5:]):
            self.assertTrue(math.isfinite(measured) and measured >= 0, times)
            self.assertNotIn(measured, (0.25, 0.5, 1), times)

    def test_marked_tensors_are_asked_for(self):
        self.agree("""
            import numpy as np
            def load(model_path, outputs):
                assert sorted(outputs) == ["r", "y", "z"], outputs
                def infer(feed):
                    r = np.maximum(feed["x"], 0)
                    return {"r": r, "y": r + feed["x"], "z": feed["x"]}
                return infer
            """, "--onnx-outputs", "mark", "all")

    def test_shapes_say_what_it_takes_where_nothing_else_does(self):
        self.write("model.py", """
            def infer(feed):
                assert feed["q"].shape == (2, 5) and feed["q"].dtype == "float32"
                return {"out": feed["q"]}
            """)
        done = self.vernier("--model-runner", "model.py", "--input-shapes", "q:[2,5]")
        self.assertEqual(done.code, 0, str(done))
        done = self.vernier("--model-runner", "model.py")
        self.assert_fails(done, 2, "takes as inputs is not known", "--input-shapes",
                          "--data-loader-script")

    def test_a_model_file_of_any_kind(self):
        (self.folder / "weights.bin").write_bytes(np.float32([2]).tobytes())
        self.write("model.py", """
            import numpy as np
            def load(model_path):
                factor = np.fromfile(model_path, np.float32)[0]
                return lambda feed: {"y": feed["x"] * factor}
            """)
        done = self.vernier("weights.bin", "--model-runner", "model.py", "--input-shapes",
                            "x:[2,2]", "--save-outputs", "out.json")
        self.assertEqual(done.code, 0, str(done))

    def test_sequential_and_warm_up_and_subprocess(self):
        done = self.agree(TWIN, "--sequential-runners", "--warm-up", "2", "--use-subprocess")
        self.assertRegex(done.out, r"model-N0-\S+ +\| Completed 1 iteration")

    def test_in_process_leaves_python_in_a_process_of_its_own(self):
        self.agree(TWIN, "--in-process")

    def test_large_tensors_and_many_types(self):
        self.write("model.py", """
            def infer(feed):
                return dict(feed)
            """)
        self.write("loader.py", """
            import ml_dtypes
            import numpy as np
            def load_data():
                values = np.arange(-8, 8)
                feed = {str(np.dtype(t)): values.astype(t) for t in (
                    "int8", "int16", "int32", "int64", "float16", "float32", "float64",
                    "complex64", "complex128", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn,
                    ml_dtypes.float8_e5m2, ml_dtypes.int4)}
                for t in ("uint8", "uint16", "uint32", "uint64", ml_dtypes.uint4, bool):
                    feed[str(np.dtype(t))] = np.arange(15).astype(t)
                feed["text"] = np.array([["a", "\\u00fcber"], ["", "d"]])
                feed["empty"] = np.zeros((0, 3), np.float32)
                feed["scalar"] = np.float32(3)
                feed["large"] = np.arange(100_000, dtype=np.float32).reshape(100, 1000)
                yield feed
            def compare_outputs(a, b):
                assert list(a) == list(b)
                for name, expected in next(load_data()).items():
                    for side in (a, b):
                        assert side[name].shape == expected.shape, name
                        assert (side[name] == expected).all(), (name, side[name], expected)
                return {name: a[name].dtype == b[name].dtype for name in a}
            """)
        done = self.vernier("--model-runner", "model.py", "--model-runner", "model.py",
                            "--data-loader-script", "loader.py", "--compare-func-script",
                            "loader.py", "--no-shape-check")
        self.assertEqual(done.code, 0, str(done))
        self.assertIn("compared 23 outputs", done.out)

    def test_the_example_in_numpy(self):
        example = pathlib.Path(__file__).parents[2] / "examples/runners/numpy_model.py"
        done = self.vernier("m.onnx", "--onnxrt", "--onnx-outputs", "y", "--model-runner",
                            str(example))
        self.assertEqual(done.code, 0, str(done))
        self.assertIn("compared 1 output in 1 iteration", done.out)

    def test_large_outputs_stay_what_they_were(self):
        """Their memory is used again, but not while anything reads or saves them."""
        self.write("model.py", """
            import numpy as np
            def infer(feed):
                x = feed["x"]
                return {"y": np.maximum(x, 0) + x, "z": x + 0}
            """)
        for words in ([], ["--sequential-runners"], ["--parallel"]):
            with self.subTest(words=words):
                done = self.vernier("m.onnx", "--onnxrt", "--runner", "mine=model.py",
                                    "--iterations", "6", "--input-shapes", "x:[200000,3]",
                                    "--val-range", "[-1,1]", "--atol", "0", "--rtol", "0",
                                    "--save-outputs", "o.safetensors", *words)
                self.assertEqual(done.code, 0, str(done))
                self.assertIn("compared 2 outputs in 6 iterations", done.out)
                done = self.vernier("m.onnx", "--onnxrt", "--iterations", "6", "--input-shapes",
                                    "x:[200000,3]", "--val-range", "[-1,1]", "--atol", "0",
                                    "--rtol", "0", "--load-outputs", "o.safetensors")
                self.assertEqual(done.code, 0, str(done))

    def test_wrong_answers(self):
        for answer, code, words in (
                ("{'y': feed['x']}", 1, "1 output has no counterpart"),
                ("{}", 6, "returned no outputs"),
                ("{'y': 3, 'z': 4}", 6, "output 'y' of model.py:infer is an int"),
        ):
            with self.subTest(answer=answer):
                self.write("model.py", f"def infer(feed): return {answer}\n")
                done = self.vernier("m.onnx", "--onnxrt", "--model-runner", "model.py")
                self.assertEqual(done.code, code, str(done))
                self.assertRegex(done.out + done.err, words)
        self.write("model.py", "def infer(feed): return {k: feed['x'][:, :2] for k in 'yz'}\n")
        done = self.vernier("m.onnx", "--onnxrt", "--model-runner", "model.py")
        self.assertEqual(done.code, 1, str(done))
        self.write("model.py", "import numpy as np\ndef infer(feed):\n"
                   "    return {'z': feed['x'], 'y': np.maximum(feed['x'], 0) * 1.0 + feed['x']}\n")
        done = self.vernier("m.onnx", "--onnxrt", "--model-runner", "model.py")
        self.assertEqual(done.code, 0, str(done))

    def test_wrong_scripts(self):
        self.write("model.py", "def other(): pass\n")
        done = self.vernier("m.onnx", "--model-runner", "model.py:load")
        self.assert_fails(done, 6, "model.py: the script defines no 'load'; it has: other")
        self.write("model.py", "def load(path): return 3\n")
        done = self.vernier("m.onnx", "--model-runner", "model.py")
        self.assert_fails(done, 6, "returned an int; expected a function of one feed")
        self.write("model.py", "import no_such_framework\ndef load(path): pass\n")
        done = self.vernier("m.onnx", "--model-runner", "model.py")
        self.assert_fails(done, 5, "needs the Python module 'no_such_framework'", "--python")
        self.assert_fails(self.vernier("m.onnx", "--model-runner", "gone.py"), 3, "no file 'gone.py'")
        self.assert_fails(self.vernier("m.onnx", "--model-runner", "run.sh"), 3, "no file 'run.sh'")
        self.assert_fails(self.vernier("m.onnx", "--model-runner", ""), 2, "expected SCRIPT.py")


class OnnxReference(ScriptCase):
    def test_it_agrees_with_onnxruntime(self):
        done = self.vernier("m.onnx", "--onnxref", "--onnxrt", "--iterations", "2")
        self.assertEqual(done.code, 0, str(done))
        self.assertIn("Passed: 2/2 iterations", done.out)
        import onnx
        self.assertRegex(done.out, rf"onnxref +onnxref {onnx.__version__} +CPU +float32")

    def test_marked_outputs(self):
        done = self.vernier("m.onnx", "--onnx", "--onnxrt", "--onnx-outputs", "mark", "all")
        self.assertEqual(done.code, 0, str(done))
        self.assertIn("compared 3 outputs", done.out)

    def test_weights_in_a_file_beside_the_model(self):
        import onnx
        from onnx import numpy_helper
        model = onnx.load(self.folder / "m.onnx")
        model.graph.initializer.append(
            numpy_helper.from_array(np.full((400, 3), 2, np.float32), "w"))
        model.graph.node.append(onnx.helper.make_node("Add", ["w", "x"], ["v"]))
        model.graph.output.append(
            onnx.helper.make_tensor_value_info("v", onnx.TensorProto.FLOAT, ["n", 3]))
        onnx.save(model, self.folder / "big.onnx", save_as_external_data=True, location="big.data",
                  size_threshold=10)
        for words in ([], ["--onnx-outputs", "v", "r"]):
            done = self.vernier("big.onnx", "--onnxref", "--onnxrt", "--input-shapes", "x:[400,3]",
                                *words)
            self.assertEqual(done.code, 0, str(done))

    def test_without_the_package(self):
        self.write("python", f"#!/bin/sh\nexec {pathlib.Path(sys.executable).resolve()} -S \"$@\"\n")
        (self.folder / "python").chmod(0o755)
        packages = pathlib.Path(np.__file__).parent.parent
        (self.folder / "numpy").symlink_to(packages / "numpy")
        if (packages / "numpy.libs").exists():
            (self.folder / "numpy.libs").symlink_to(packages / "numpy.libs")
        done = self.vernier("m.onnx", "--onnxref", python="./python",
                            env={"PYTHONPATH": str(self.folder)})
        self.assert_fails(done, 5, "has no module 'onnx'", "-m pip install onnx", "--python")


class Backends(ScriptCase):
    def list(self, *words):
        done = subprocess.run([VERNIER, "backends", *words], capture_output=True, text=True,
                              timeout=60, check=False,
                              env={**os.environ, "VIRTUAL_ENV": sys.prefix})
        return done.returncode, done.stdout

    def test_python_is_in_the_list(self):
        code, out = self.list("--require", "python")
        self.assertEqual(code, 0, out)
        version = ".".join(map(str, sys.version_info[:3]))
        self.assertRegex(out, rf"(?m)^python +{version} numpy {np.__version__} +{sys.prefix}/")

    def test_why_it_cannot_be_used(self):
        code, out = self.list("--python", "no-such-python", "--require", "python")
        self.assertEqual(code, 5, out)
        self.assertRegex(out, r"(?m)^python +not usable: --python: there is no program 'no-such-")
