"""Models that torch wrote, in the user's Python and in the plug-in."""

import itertools
import json
import pathlib
import sys
import unittest

import numpy as np

from torch_case import CLEAN, PLACES, PLUGIN, PYTHON, VERNIER, TorchCase

SHAPES = ("--input-shapes", "x:[4,6]", "bias:[3]")


class Script(TorchCase):
    def test_it_computes_what_onnx_runtime_does(self):
        self.write_twin()
        for place in PLACES:
            for model in ("net.pt", "traced.pt"):
                with self.subTest(place=place, model=model):
                    done = self.passes(
                        "twin.onnx", "--onnxrt", "--runner", f"t=torch {model} --torch-outputs y p",
                        "--torch-in", place, "--iterations", "3", "--input-shapes", "x:[5,6]")
                    self.assertIn("compared 2 outputs in 3 iterations", done.out)

    def test_profiled_over_shapes_that_only_the_command_line_tells(self):
        for place in PLACES:
            done = self.start([VERNIER, "profile"],
                              ("net.pt", "--torch", "--torch-in", place, "--runs", "10",
                               "--input-shapes", "x:[{2,5},6]", "bias:[3]", "--save-profile",
                               "p.json"),
                              python=PYTHON, env=CLEAN)
            self.assertEqual(done.code, 0, str(done))
            points = json.loads((self.folder / "p.json").read_text())["profile"]["points"]
            self.assertEqual([point["shapes"].split()[0] for point in points],
                             ["x:[2,6]", "x:[5,6]"])
            self.assertEqual([point["latency_seconds"]["count"] for point in points], [10, 10])

    def test_in_both_places_bit_for_bit(self):
        if not PLUGIN:
            self.skipTest("the TorchScript plug-in is not built")
        self.write_twin()
        done = self.passes("--runner", "a=torch net.pt --torch-in plugin", "--runner",
                           "b=torch net.pt --torch-in python", *SHAPES, "--compare", "simple",
                           "--atol", "0", "--rtol", "0", "--iterations", "4")
        self.assertIn("compared 2 outputs in 4 iterations", done.out)

    def test_the_plug_in_is_preferred_where_it_fits(self):
        done = self.passes("net.pt", "--torch", *SHAPES, "-v")
        self.assertEqual("the plug-in is not used" in done.out, not PLUGIN, str(done))
        self.assertRegex(done.out, r"pytorch +torch \d+\.\d+\S* +CPU +float32")

    def test_what_the_plug_in_cannot_run_python_does(self):
        words = ("dict.pt", "--torch", "--input-shapes", "x:[2]", "-v")
        self.assertEqual(list(self.outputs(*words)), ["twice"])
        if PLUGIN:
            done = self.passes(*words)
            self.assertIn("the plug-in is not used: the module returns Dict(str, Tensor)", done.out)
            done = self.run_torch("dict.pt", "--torch", "--input-shapes", "x:[2]", "--torch-in",
                                  "plugin")
            self.assert_fails(done, 5, "whose number of tensors only a run shows")

    def test_types_shapes_and_nested_results(self):
        for place in PLACES:
            with self.subTest(place=place):
                outputs = self.outputs("several.pt", "--torch", "--torch-in", place,
                                       "--input-shapes", "ids:[2,3]:int64", "mask:[4]:bool",
                                       "--val-range", "ids:[5,9]")
                values = list(outputs.values())
                self.assertEqual(len(values), 4)
                self.assertEqual(values[0].dtype, np.int64)
                self.assertEqual(values[0].shape, (2, 3))
                self.assertTrue(((values[0] >= 10) & (values[0] <= 18)).all())

    def test_an_input_that_is_written_to(self):
        for place in PLACES:
            with self.subTest(place=place):
                # Large enough for shared memory, which nobody may write to.
                done = self.passes("--runner", f"a=torch inplace.pt --torch-in {place}", "--runner",
                                   f"b=torch inplace.pt --torch-in {place}", "--input-shapes",
                                   "x:[300,300]", "--iterations", "2")
                self.assertIn("compared 1 output in 2 iterations", done.out)

    def test_a_module_that_keeps_its_input(self):
        for place, model in itertools.product(PLACES, ("delay.pt", "record.pt")):
            with self.subTest(place=place, model=model):
                # Large enough for shared memory, which is lent for one run.
                self.passes(model, "--torch", "--torch-in", place, "--input-shapes",
                            "x:[300,900]", "--iterations", "2", "--steps", "3", "--step-slice",
                            "x:axis=1,size=300", "--save-inputs", "i.npz", "--save-outputs",
                            "o.npz")
                with np.load(self.folder / "i.npz") as i, np.load(self.folder / "o.npz") as o:
                    given = [i[name] for name in sorted(i) if not name.startswith("__")]
                    kept = [o[name] for name in sorted(o) if not name.startswith("__")]
                self.assertEqual((len(given), len(kept)), (2, 6))
                for sequence, whole in enumerate(given):
                    first, *later = kept[3 * sequence:3 * sequence + 3]
                    self.assertFalse(first.any(), "the state of another sequence")
                    for step, after in enumerate(later):
                        np.testing.assert_array_equal(after, whole[:, 300 * step:300 * step + 300])

    def test_precisions_are_those_of_the_weights(self):
        for place in PLACES:
            with self.subTest(place=place):
                done = self.passes("double.pt", "--torch", "--torch-in", place, "--input-shapes",
                                   "x:[4,6]:float64", "bias:[3]:float64")
                self.assertRegex(done.out, r"torch \S+ +CPU +float64")

    def test_names_of_inputs_come_from_the_file(self):
        for place in PLACES:
            with self.subTest(place=place):
                done = self.run_torch("net.pt", "--torch", "--torch-in", place, "--input-shapes",
                                      "x:[4,6]")
                self.assert_fails(done, 2, "the shape of input 'bias' of 'pytorch-runner",
                                  r"--input-shapes bias:\[...\]")
                done = self.run_torch("net.pt", "--torch", "--torch-in", place)
                self.assert_fails(done, 2, r"takes as inputs \(x, bias\) is not known")

    def test_too_few_or_too_many_names_of_outputs_are_told(self):
        for place in PLACES:
            for names in (["y"], ["y", "p", "z"]):
                with self.subTest(place=place, names=names):
                    done = self.run_torch("net.pt", "--torch", "--torch-in", place, *SHAPES,
                                          "--torch-outputs", *names)
                    self.assertIn(done.code, (2, 6), str(done))
                    self.assertIn("the model returns 2, and "
                                  f"{len(names)} are named ({', '.join(names)})", done.err)

    def test_one_name_for_two_outputs(self):
        done = self.run_torch("net.pt", "--torch", *SHAPES, "--torch-outputs", "y", "y")
        self.assert_fails(done, 2, "--torch-outputs: 'y' names two outputs")

    def test_names_for_the_outputs_of_a_dictionary(self):
        outputs = self.outputs("dict.pt", "--torch", "--input-shapes", "x:[2]", "--torch-outputs",
                               "double", "--torch-in", "python")
        self.assertEqual(list(outputs), ["double"])

    def test_a_runner_of_another_framework_says_who_reads_it(self):
        done = self.run_torch("net.pt", "--onnxrt", *SHAPES)
        self.assertEqual(done.code, 2, str(done))
        self.assertIn("PyTorch's files run under --torch alone", done.err)

    def test_wrong_inputs_and_errors_inside_are_sentences(self):
        for place in PLACES:
            with self.subTest(place=place):
                done = self.run_torch("net.pt", "--torch", "--torch-in", place, "--input-shapes",
                                      "x:[4,5]", "bias:[3]")
                # In the first line, and not behind what the interpreter says of any error.
                self.assertRegex(done.err, r"\| FAILED: (.*: )?RuntimeError: mat1 and mat2 shapes "
                                 r"cannot be multiplied", str(done))
                self.assertEqual(done.code, 6, str(done))

    def test_inputs_in_order_are_told(self):
        for place in PLACES:
            with self.subTest(place=place):
                done = self.passes("net.pt", "--torch", "--torch-in", place, "--input-shapes",
                                   "data:[4,6]", "bias:[3]", "--iterations", "3")
                pairs = "matched in order: 'x' is given 'data', 'bias' is given 'bias'"
                self.assertEqual((done.out + done.err).count(pairs), 1, str(done))
                done = self.passes("net.pt", "--torch", "--torch-in", place, *SHAPES)
                self.assertNotIn("matched in order", done.out + done.err)

    def test_no_tensor_among_the_arguments(self):
        done = self.run_torch("count.pt", "--torch", "--torch-in", PLACES[-1], "--input-shapes",
                              "x:[2]", "n:[]:int64")
        self.assertIn(done.code, (5, 6), str(done))

    def test_files_that_are_none(self):
        (self.folder / "junk.pt").write_bytes(b"\x00junk" * 50)
        whole = (self.models / "net.pt").read_bytes()
        (self.folder / "cut.pt").write_bytes(whole[:len(whole) // 2])
        for place in PLACES:
            for name in ("junk.pt", "cut.pt"):
                with self.subTest(place=place, name=name):
                    done = self.run_torch(name, "--torch", "--torch-in", place, *SHAPES)
                    self.assert_fails(done, 3, name)

    def test_saved_and_loaded_and_sequential(self):
        for place in PLACES:
            with self.subTest(place=place):
                words = ("net.pt", "--torch", "--torch-in", place, *SHAPES)
                self.passes(*words, "--save-outputs", "o.json", "--save-inputs", "i.json",
                            "--warm-up", "2", "--sequential-runners", "--iterations", "2")
                done = self.passes(*words[:4], "--load-inputs", "i.json", "--load-outputs", "o.json")
                self.assertIn("compared 2 outputs in 2 iterations", done.out)


class OneNetwork(TorchCase):
    """The same network in every form that is here, pair by pair in one command."""

    def test_all_pairs(self):
        self.write_twin()
        self.write("in_numpy.py", """
            import numpy as np
            def load(model_path):
                w = np.load("net.npz")
                def infer(feed):
                    h = np.maximum(feed["x"] @ w["fc1.weight"].T + w["fc1.bias"], 0)
                    y = h @ w["fc2.weight"].T + w["fc2.bias"] + feed["bias"]
                    e = np.exp(y - y.max(-1, keepdims=True))
                    return {"y": y, "p": e / e.sum(-1, keepdims=True)}
                return infer
            """)
        self.write("program.py", """
            import json, sys
            import numpy as np
            import in_numpy
            feed = json.load(sys.stdin)
            feed = {k: np.array(v["values"], v["dtype"]) for k, v in feed.items()}
            outputs = in_numpy.load(None)(feed)
            json.dump({k: v.tolist() for k, v in outputs.items()}, sys.stdout)
            """)
        runners = {"ort": "onnxrt", "openvino": "openvino", "numpy": "in_numpy.py",
                   "json": "program.py", "script": "torch net.pt --torch-outputs y p",
                   "traced": "torch traced.pt --torch-outputs y p --torch-in python"}
        words = [w for label, text in runners.items() for w in ("--runner", f"{label}={text}")]
        done = self.passes("twin.onnx", *words, "--pairs", "all", "--iterations", "2",
                           "--input-shapes", "x:[4,6]", "--compare", "simple", "--atol", "1e-5")
        pairs = len(runners) * (len(runners) - 1) // 2
        self.assertEqual(done.out.count("PASSED, compared 2 outputs in 2 iterations"), pairs)


class Plugin(TorchCase):
    """The library, and its version."""

    def test_another_version_is_named_and_not_loaded(self):
        package = self.folder / "torch"
        (package / "lib").mkdir(parents=True)
        (package / "lib" / "libtorch.so").write_bytes(b"never opened")
        (package / "version.py").write_text("__version__ = '9.8.7+cpu'\n")
        done = self.run_torch("net.pt", "--torch", *SHAPES, "--torch-lib", "torch/lib/libtorch.so")
        if not PLUGIN:
            self.assert_fails(done, 5, "no backend 'torch'")
            self.skipTest("the TorchScript plug-in is not built")
        self.assert_fails(done, 5, r"is PyTorch 9\.8\.7\+cpu, and this plug-in was built against \d+\.")
        # Left to itself, the user's Python runs the model.
        done = self.passes("net.pt", "--torch", *SHAPES, "-v",
                           env={"TORCH_ROOT": str(package)})
        self.assertIn("is PyTorch 9.8.7+cpu, and this plug-in was built against", done.out)

    def test_a_package_may_lead_to_the_systems_library(self):
        """As Debian's does, whose version.py says something else."""
        package = self.folder / "torch"
        (package / "lib").mkdir(parents=True)
        (self.folder / "libtorch.so.9.8.7").write_bytes(b"never opened")
        (package / "lib" / "libtorch.so").symlink_to(self.folder / "libtorch.so.9.8.7")
        (package / "version.py").write_text("__version__ = '9.8.7a0'\n")
        done = self.run_torch("net.pt", "--torch", *SHAPES, "--torch-lib", "torch/lib/libtorch.so")
        expected = r"is PyTorch 9\.8\.7, and" if PLUGIN else "no backend 'torch'"
        self.assert_fails(done, 5, expected)

    def test_a_library_that_is_not_there(self):
        done = self.run_torch("net.pt", "--torch", *SHAPES, "--torch-lib", "/nonexistent")
        self.assert_fails(done, 5, "/nonexistent|no backend 'torch'")


class Pickles(TorchCase):
    def test_they_are_refused_unopened(self):
        (self.folder / "evil.pt").write_bytes(
            b"\x80\x02cos\nsystem\nU\x0etouch pickled!\n\x85R.")
        for name in ("weights.pt", "module.pt", "legacy.pt", "evil.pt"):
            with self.subTest(name):
                done = self.run_torch(name, "--torch", "--input-shapes", "input:[2,6]")
                self.assert_fails(done, 3, f"{name}' is a pickle", "--allow-pickle")
        self.assertFalse((self.folder / "pickled!").exists())

    def test_allowed(self):
        done = self.passes("--runner", "a=torch module.pt --allow-pickle", "--runner",
                           "b=torch module_script.pt", "--runner",
                           "c=torch legacy.pt --allow-pickle", "--input-shapes", "input:[2,6]")
        self.assertIn("b vs. c: PASSED", done.out)

    def test_sub_modules_on_request(self):
        outputs = self.outputs("module.pt", "--torch", "--allow-pickle", "--input-shapes",
                               "input:[2,6]", "--onnx-outputs", "mark", "all")
        self.assertEqual(sorted(outputs), ["0", "1", "2", "output_0"])
        np.testing.assert_array_equal(outputs["1"], np.maximum(outputs["0"], 0))

    def test_names_of_the_runs_model_are_not_the_runners(self):
        self.write_twin()
        self.write("loader.py", """
            import numpy as np
            def load_data():
                yield {"x": np.ones((2, 6), np.float32), "bias": np.zeros(3, np.float32)}
            """)
        done = self.passes("twin.onnx", "--onnxrt", "--onnx-outputs", "y", "--runner",
                           "t=torch net.pt --torch-outputs y p --torch-in python",
                           "--data-loader-script", "loader.py", "--lenient")
        self.assertIn("compared 1 of 2 outputs", done.out)

    def test_a_class_that_is_not_there(self):
        for name, code in (("main.pt", 3), ("elsewhere.pt", 5)):
            done = self.run_torch(name, "--torch", "--allow-pickle", "--input-shapes", "x:[2]")
            self.assert_fails(done, code, f"{name}' needs Python code that is not found here",
                              "PYTHONPATH", "--model-runner")

    def test_weights_are_no_module(self):
        done = self.run_torch("weights.pt", "--torch", "--allow-pickle", "--input-shapes", "x:[2]")
        self.assert_fails(done, 3, "holds an OrderedDict and no module", "--model-runner")


class Eager(TorchCase):
    def test_the_example_with_sub_modules(self):
        self.write("eager.py", """
            import numpy as np
            import torch
            from pytorch_eager import Eager
            def load(model_path, marked):
                net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU())
                return Eager(net, {"x": (torch.float32, (2, 6))}, ["y"], marked)
            """)
        import pathlib
        example = pathlib.Path(__file__).parents[2] / "examples/runners/pytorch_eager.py"
        (self.folder / "pytorch_eager.py").write_text(example.read_text())
        outputs = self.outputs("--model-runner", "eager.py", "--mark-all")
        self.assertEqual(sorted(outputs), ["0", "1", "y"])
        outputs = self.outputs("--model-runner", "eager.py", "--onnx-outputs", "1")
        self.assertEqual(sorted(outputs), ["1", "y"])
        done = self.run_torch("--model-runner", "eager.py", "--onnx-outputs", "conv")
        self.assert_fails(done, 6, "nothing is called 'conv'; there are: 0, 1")


class Trained(TorchCase):
    def test_a_script_that_keeps_what_the_onnx_file_is_given(self):
        """silero's TorchScript keeps its state and the last 64 samples itself."""
        sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "trained"))
        import networks
        network = next(n for n in networks.NETWORKS if n.name == "silero_vad_16k_op15")
        feed = networks.feed(network)
        feed["input"][:, :64] = 0
        feed["state"][...] = 0
        np.savez(self.folder / "feed.npz", **feed)
        words = ("--runner", f"ort=onnxrt {network.path}", "--runner",
                 f"jit=torch {network.path.with_name('silero_vad.jit')}", "--load-inputs",
                 "feed.npz", "--atol", "1e-4", "--save-record", "record.json")
        done = self.passes(*words, "--map-inputs", "jit:x=input[:,64:]", "jit:state=",
                           "--map-outputs", "jit:stateN=")
        self.assertIn("left out by --map-outputs: stateN", done.out)
        record = json.loads((self.folder / "record.json").read_text(encoding="utf-8"))
        self.assertEqual(record["runners"][1]["mapped_inputs"],
                         [{"input": "x", "from": "input[:,64:]"}])
        self.assertEqual(record["runners"][1]["left_out_inputs"], ["state"])
        # Without the words the error names them.
        self.assertIn("--map-inputs", self.run_torch(*words).err)


if __name__ == "__main__":
    unittest.main()
