"""Scripts as Polygraphy's documentation writes them, through Polygraphy and through vernier."""

import json
import pathlib
import re
import sys
import tempfile

import numpy as np

from script_case import ScriptCase

GENERATOR = """
    import numpy as np
    def load_data():
        for value in range(3):
            yield {"x": np.full((2, 3), value - 1, dtype=np.float32)}
    """
LIST_AND_FILE = """
    import numpy as np
    from polygraphy.json import save_json
    def custom():
        return [{"x": np.ones((1, 3), dtype=np.float32)} for _ in range(2)]
    save_json(custom(), "by_script.json", description="custom input data")
    """
INDEXED_CLASS = """
    import numpy as np
    class load_data:
        def __getitem__(self, index):
            if index >= 2:
                raise IndexError()
            return {"x": np.full((4, 3), index, dtype=np.float32)}
    """
METADATA = """
    import numpy as np
    class Loader:
        input_metadata = None
        def __iter__(self):
            for name, (dtype, shape) in self.input_metadata.items():
                assert name == "x" and len(shape) == 2, shape
                yield {name: np.zeros((1, shape[1]), dtype=np.float32)}
    def load_data():
        return Loader()
    """
TORCH_LIKE = """
    import numpy as np
    def load_data():
        data = np.arange(12, dtype=np.float32).reshape(3, 4)
        yield {"x": data.T[:2]}          # not contiguous
        yield {"x": data[::-1, :3].astype(">f4").astype("<f4")}
    """


class DataLoaders(ScriptCase):
    def both(self, script, *words, name="loader.py"):
        self.write("loader.py", script)
        words = ["m.onnx", "--onnxrt", "--onnxrt", "--data-loader-script", name, *words]
        sides = []
        for run in (self.peer, self.as_peer):
            done = run(*words, "--save-inputs", "in.json")
            self.assertEqual(done.code, 0, str(done))
            sides.append((done.verdicts(), self.saved_inputs()))
            (self.folder / "in.json").unlink()
        (peer_verdicts, peer_feeds), (verdicts, feeds) = sides
        self.assertEqual(peer_verdicts, verdicts)
        self.assertEqual(len(peer_feeds), len(feeds))
        for expected, found in zip(peer_feeds, feeds):
            self.assertEqual(list(expected), list(found))
            for key in expected:
                self.assertEqual(expected[key].dtype, found[key].dtype)
                np.testing.assert_array_equal(expected[key], found[key])
        return feeds

    def test_generator(self):
        feeds = self.both(GENERATOR)
        self.assertEqual([feed["x"][0, 0] for feed in feeds], [-1, 0, 1])

    def test_generator_in_sequential_runs(self):
        self.assertEqual(len(self.both(GENERATOR, "--sequential-runners")), 3)

    def test_list_under_another_name_that_also_writes_a_file(self):
        self.assertEqual(len(self.both(LIST_AND_FILE, name="loader.py:custom")), 2)

    def test_class_with_an_index(self):
        self.assertEqual(self.both(INDEXED_CLASS)[1]["x"].shape, (4, 3))

    def test_metadata_of_the_first_runner(self):
        self.assertEqual(self.both(METADATA)[0]["x"].shape, (1, 3))

    def test_strides(self):
        np.testing.assert_array_equal(self.both(TORCH_LIKE)[0]["x"], [[0, 4, 8], [1, 5, 9]])


class OneShotLoaders(ScriptCase):
    def test_every_runner_of_a_sequential_run_gets_the_same_feeds(self):
        # The function gives other data each time: called twice, the runners would seem to differ.
        self.write("loader.py", """
            import numpy as np
            generator = np.random.default_rng()
            def load_data():
                for _ in range(3):
                    yield {"x": generator.random((2, 3)).astype(np.float32)}
            """)
        for words in (["--sequential-runners"], ["--warm-up", "2"],
                      ["--sequential-runners", "--warm-up", "1"]):
            done = self.vernier("m.onnx", "--onnxrt", "--onnxrt", "--data-loader-script",
                                "loader.py", *words)
            self.assertEqual(done.code, 0, str(done))
            self.assertIn("Passed: 3/3 iterations", done.out)


class Comparisons(ScriptCase):
    def both(self, script, *words):
        self.write("script.py", script)
        words = ["m.onnx", "--onnxrt", "--onnxrt", "--iterations", "2", *words]
        peer, ours = self.peer(*words), self.as_peer(*words)
        self.assertEqual(peer.code, ours.code, f"{peer}\n{ours}")
        self.assertEqual(peer.verdicts(), ours.verdicts())
        strict = self.vernier(*words)
        self.assertEqual(peer.code, strict.code, str(strict))
        return ours

    def test_all_match(self):
        self.both("""
            import numpy as np
            def compare_outputs(iter_result0, iter_result1):
                assert iter_result0.runner_name.startswith("onnxrt-runner-N0")
                assert iter_result0.runtime > 0
                return {name: np.allclose(out, iter_result1[name])
                        for name, out in iter_result0.items()}
            """, "--compare-func-script", "script.py")

    def test_one_output_differs(self):
        done = self.both("""
            from collections import OrderedDict
            def mine(a, b):
                return OrderedDict([("y", True), ("z", False)])
            """, "--compare-func-script", "script.py:mine")
        self.assertEqual(done.code, 1)

    def test_a_class_is_instantiated(self):
        self.both("""
            class compare_outputs:
                def __init__(self):
                    self.limit = 1
                def __call__(self, a, b):
                    return {name: abs(a[name] - b[name]).max() < self.limit for name in a}
            """, "--compare-func-script", "script.py")

    def test_polygraphys_own_comparison_in_a_script(self):
        done = self.both("""
            from polygraphy.comparator import CompareFunc
            compare_outputs = CompareFunc.simple(atol=1e-3)
            """, "--compare-func-script", "script.py")
        self.assertIn("Tolerance: [abs=0.001, rel=1e-05]", done.out)

    def test_saved_accuracy_is_polygraphys(self):
        self.write("script.py", """
            from polygraphy.comparator import CompareFunc, L2CompareFunc
            compare_outputs = L2CompareFunc()
            """)
        words = ["m.onnx", "--onnxrt", "--onnxrt", "--compare-func-script", "script.py",
                 "--save-accuracy-results"]
        for run, name in ((self.peer, "peer.json"), (self.as_peer, "ours.json")):
            self.assertEqual(run(*words, name).code, 0)
        import json
        peer, ours = (json.loads((self.folder / n).read_text()) for n in ("peer.json", "ours.json"))
        self.assertEqual(peer["lst"][0]["lst"][0][1], ours["lst"][0]["lst"][0][1])

    def test_postprocessing_changes_what_is_compared(self):
        done = self.both("""
            def postprocess_outputs(iter_result):
                shift = 0 if "N0" in iter_result.runner_name else 1
                for name, output in iter_result.items():
                    iter_result[name] = output + shift
                return iter_result
            """, "--postprocess-func-script", "script.py")
        self.assertEqual(done.code, 1)

    def test_postprocessing_may_return_other_outputs(self):
        self.both("""
            from polygraphy.comparator import IterationResult
            def top(result):
                return IterationResult({"best": result["y"].argmax(axis=1)}, runtime=result.runtime,
                                       runner_name=result.runner_name)
            """, "--postprocess-func-script", "script.py:top")

    def test_postprocessing_may_write_into_large_outputs(self):
        self.write("script.py", """
            def postprocess_outputs(result):
                for output in result.values():
                    output[output > 0.5] = 0
                return result
            """)
        done = self.vernier("m.onnx", "--onnxrt", "--onnxrt", "--input-shapes", "x:[20000,3]",
                            "--postprocess-func-script", "script.py", "--save-outputs", "out.json")
        self.assertEqual(done.code, 0, str(done))
        # Saved are the outputs as the runner gave them.
        saved = self.vernier("--load-outputs", "out.json", "--validate")
        self.assertRegex(saved.out, r"max=2 ", str(saved))


class WithoutPolygraphy(ScriptCase):
    """In an interpreter that has NumPy alone."""

    def setUp(self):
        super().setUp()
        lone = tempfile.TemporaryDirectory(prefix="vernier-numpy-")
        self.addCleanup(lone.cleanup)
        packages = pathlib.Path(np.__file__).parent.parent
        for name in ("numpy", "numpy.libs"):
            if (packages / name).exists():
                (pathlib.Path(lone.name) / name).symlink_to(packages / name)
        self.python = pathlib.Path(lone.name) / "python"
        self.python.write_text(f"#!/bin/sh\nPYTHONPATH={lone.name} exec "
                               f"{pathlib.Path(sys.executable).resolve()} -S \"$@\"\n")
        self.python.chmod(0o755)

    def test_its_types_and_files_are_there(self):
        self.write("all.py", """
            import importlib.util
            import numpy as np
            import polygraphy
            from polygraphy import mod
            from polygraphy.comparator import IterationResult, RunResults
            from polygraphy.common import TensorMetadata
            from polygraphy.json import load_json, save_json
            from polygraphy.logger import G_LOGGER
            assert polygraphy.IS_VERNIER_STAND_IN
            assert importlib.util.find_spec("onnx") is None
            lazy = mod.lazy_import("numpy>=1.0")
            def load_data():
                feeds = [{"x": lazy.ones((2, 3), dtype=lazy.float32)}]
                save_json(feeds, "feeds.json")
                return load_json("feeds.json")
            def postprocess_outputs(result):
                assert isinstance(result, IterationResult)
                results = RunResults()
                results.add([result], runner_name="mine")
                results.save("results.json")
                again = RunResults.load("results.json")["mine"][0]
                return IterationResult({"y": again["y"]}, result.runtime, result.runner_name)
            def compare_outputs(a, b):
                G_LOGGER.warning("comparing " + a.runner_name)
                return {name: np.array_equal(a[name], b[name]) for name in a}
            """)
        done = self.vernier("m.onnx", "--onnxrt", "--onnxrt", "--data-loader-script", "all.py",
                            "--postprocess-func-script", "all.py", "--compare-func-script",
                            "all.py", "--save-inputs", "in.json", python=str(self.python))
        self.assertEqual(done.code, 0, str(done))
        self.assertRegex(done.out, r"\[W\] comparing onnxrt-runner-N0")
        self.assertIn("compared 1 of 2 outputs in 1 iteration, 6 elements; dropped by "
                      "post-processing: z", done.out)
        np.testing.assert_array_equal(self.saved_inputs("feeds.json")[0]["x"], np.ones((2, 3)))
        # Polygraphy reads what its stand-in wrote.
        loaded = self.peer("--load-outputs", "results.json")
        self.assertEqual(loaded.code, 0, str(loaded))

    def both(self, script, *words):
        """Each side's log of the comparison, and what it saved: through Polygraphy, and through
        vernier where nobody has it."""
        self.write("script.py", script)
        words = ["m.onnx", "--onnxrt", "--onnxrt", *words, "--save-accuracy-results", "found.json"]
        sides = []
        for run, options in ((self.peer, {}), (self.vernier, {"python": str(self.python)})):
            done = run(*words, **options)
            self.assertIn(done.code, (0, 1), str(done))
            saved = re.sub(r"onnxrt-runner-N(\d)-[\d/:-]+", r"runner \1",
                           (self.folder / "found.json").read_text())
            # Sums in another order.
            saved = json.loads(saved, parse_float=lambda number: float(f"{float(number):.6g}"))
            log = re.search(r"Iteration: 0\n((?s:.*?))^\[I\]     onnxrt", done.out, re.MULTILINE)
            # Of differences of 1e-8 in float64 here.
            log = re.sub(r"std-dev=\S+ var=\S+ ", "", log[1])
            lines = [re.sub(r"^(\[.\])? *", "", line) for line in log.splitlines()]
            sides.append((done.code, saved, lines))
        return sides

    def test_functions_compare_as_polygraphys(self):
        for function, words in (
                ("SimpleCompareFunc(atol=1e-2, check_error_stat='max')", []),
                ("CompareFunc.simple(atol={'y': 0.5, '': 0}, rtol=0)", ["Tolerance: [abs=0.5"]),
                ("L2CompareFunc(l2_threshold={'y': 1e-3})", ["L2 Norm | Comparing Output: 'y'"]),
                ("PsnrCompareFunc(100)", ["PSNR"])):
            with self.subTest(function):
                peer, own = self.both(f"""
                    from polygraphy.comparator import *
                    def postprocess_outputs(result):
                        if "N1" in result.runner_name:
                            result["y"] = result["y"] + result["y"] * 0.125
                        return result
                    def compare_outputs(a, b):
                        return {function}(a, b)
                    """, "--postprocess-func-script", "script.py", "--compare-func-script",
                    "script.py", "--seed", "7")
                self.assertEqual(own[0], peer[0])
                self.assertEqual(own[1], peer[1])
                # A line of our own says which output failed.
                self.assertEqual([line for line in own[2] if "Result(" not in line
                                  and "script |" not in line and "| Output: 'y' | (" not in line],
                                 peer[2])
                for word in words:
                    self.assertIn(word, "\n".join(own[2]))

    def test_files_of_a_comparison_lie_in_memory_where_there_is_room(self):
        """On a disk they would be most of the time of an iteration."""
        self.write("script.py", """
            import os
            import tempfile
            from types import SimpleNamespace
            from polygraphy.comparator import SimpleCompareFunc
            made = tempfile.TemporaryDirectory
            places = []
            def told(*words, dir=None, **named):
                places.append(dir)
                return made(*words, **named)
            tempfile.TemporaryDirectory = told
            access = os.access  # whatever /dev/shm this machine has
            os.access = lambda path, *mode: path == "/dev/shm" or access(path, *mode)
            os.statvfs = lambda _: SimpleNamespace(f_bavail=1 << 40, f_frsize=1)
            def compare_outputs(a, b):
                found = SimpleCompareFunc()(a, b)
                size = sum(array.nbytes for result in (a, b) for array in result.values())
                for free in (4 * size, 4 * size + 1):
                    os.statvfs = lambda _: SimpleNamespace(f_bavail=free, f_frsize=1)
                    SimpleCompareFunc()(a, b)
                assert places == ["/dev/shm", None, "/dev/shm"], places
                return found
            """)
        done = self.vernier("m.onnx", "--onnxrt", "--onnxrt", "--compare-func-script", "script.py",
                            python=str(self.python))
        self.assertEqual(done.code, 0, str(done))

    def test_results_of_a_scripts_own_are_saved_as_polygraphys(self):
        self.write("script.py", """
            from polygraphy.comparator import L2Result, L2Threshold
            def compare_outputs(a, b):
                return {name: L2Result(0.25, thresholds=L2Threshold(bar))
                        for name, bar in (("y", 0.5), ("z", 0.125))}
            """)
        sides = []
        for run, options in ((self.peer, {}), (self.vernier, {"python": str(self.python)})):
            done = run("m.onnx", "--onnxrt", "--onnxrt", "--compare-func-script", "script.py",
                       "--save-accuracy-results", "found.json", **options)
            self.assertEqual(done.code, 1, str(done))
            (_, iterations), = json.loads((self.folder / "found.json").read_text())["lst"][0]["lst"]
            sides.append(iterations)
        self.assertEqual(sides[0], sides[1])
        self.assertEqual(sides[1][0]["z"]["polygraphy_class"], "L2Result")

    def test_each_output_with_its_partner(self):
        self.write("script.py", """
            from polygraphy.comparator import SimpleCompareFunc
            other = {"y": ["z"], "z": ["nowhere"]}
            def compare_outputs(a, b):
                find = lambda name, index, result: other[name]
                found = SimpleCompareFunc(atol=100, find_output_func=find)(a, b)
                assert list(found) == ["y"] and found["y"].max_absdiff > 0, found
                return found
            """)
        done = self.vernier("m.onnx", "--onnxrt", "--onnxrt", "--compare-func-script", "script.py",
                            python=str(self.python))
        self.assertEqual(done.code, 0, str(done))
        self.assertRegex(done.out, r"\[W\] .*skipping corresponding output: 'nowhere'")

    def test_names_of_outputs_and_switches_that_are_off(self):
        """Names that a function of NumPy has for itself, and paths."""
        self.write("script.py", """
            import numpy as np
            from polygraphy.comparator import IterationResult, SimpleCompareFunc
            names = ["file", "allow_pickle", "/a/b:0", "..", "ö"]
            def postprocess_outputs(result):
                return IterationResult({name: result["y"] for name in names}, result.runtime,
                                       result.runner_name)
            def compare_outputs(a, b):
                found = SimpleCompareFunc(atol=1e-5, fail_fast=False,
                                          infinities_compare_equal=False)(a, b)
                assert list(found) == names, found
                b["file"] = b["file"] + 1
                assert not SimpleCompareFunc()(a, b)["file"]
                return found
            """)
        done = self.vernier("m.onnx", "--onnxrt", "--onnxrt", "--compare-func-script", "script.py",
                            "--postprocess-func-script", "script.py", python=str(self.python))
        self.assertEqual(done.code, 0, str(done))
        self.assertIn("compared 5 outputs", done.out)

    def test_outputs_of_other_names_are_those_of_the_runners(self):
        self.write("script.py", """
            from polygraphy.comparator import IterationResult, SimpleCompareFunc
            def postprocess_outputs(result):
                name = "p-1" if "N0" in result.runner_name else "q-1"
                return IterationResult({name: result["y"]}, result.runtime, result.runner_name)
            def compare_outputs(a, b):
                return SimpleCompareFunc(atol={"-p": 1e-3})(a, b)
            """)
        done = self.vernier("m.onnx", "--onnxrt", "--onnxrt", "--compare-func-script", "script.py",
                            "--postprocess-func-script", "script.py", python=str(self.python))
        self.assertEqual(done.code, 0, str(done))
        self.assertRegex(done.out, r"\[W\] .*Assuming onnxrt-runner-N1\S+ output: q-1 corresponds")
        self.assertNotIn("/vernier-", done.out.split("Iteration: 0")[1].split("Accuracy Summary")[0])

    def test_what_cannot_be_measured_is_no_mismatch(self):
        self.write("script.py", """
            from polygraphy.comparator import PerceptualMetricsCompareFunc
            compare_outputs = PerceptualMetricsCompareFunc(lpips_threshold=0.01)
            """)
        done = self.vernier("m.onnx", "--onnxrt", "--onnxrt", "--compare-func-script", "script.py",
                            python=str(self.python))
        self.assert_fails(done, 6, "output 'y' was not verified: LPIPS needs the packages")

    def test_what_a_function_cannot_do_is_told(self):
        self.write("script.py", """
            from polygraphy.comparator import SimpleCompareFunc
            compare_outputs = SimpleCompareFunc(rtol="much")
            """)
        done = self.vernier("m.onnx", "--onnxrt", "--onnxrt", "--compare-func-script", "script.py",
                            python=str(self.python))
        self.assert_fails(done, 6, "--rtol", "much")

    def test_random_inputs_are_polygraphys(self):
        script = """
            import numpy as np
            from polygraphy import util
            from polygraphy.common import TensorMetadata
            from polygraphy.comparator import DataLoader, TopKPostprocessFunc
            from polygraphy.datatype import DataType
            assert DataType.to_dtype(DataType.FLOAT16, "numpy") == np.float16
            assert util.volume((2, 3)) == 6 and util.default(None, 1) == 1
            def load_data():
                inputs = TensorMetadata().add("x", np.float32, (-1, 3)).add("i", np.int8, (4,))
                inputs.add("b", np.bool_, (2,))
                drawn = DataLoader(seed=3, iterations=2, input_metadata=inputs,
                                   val_range={"x": (-2, 3), "i": (-5, 5)})
                for feed in drawn:
                    top = TopKPostprocessFunc({"i": 3, "x": (1, 0)})(dict(feed))
                    text = [(key, value.dtype.name, value.tolist()) for key, value in top.items()]
                    print("[I] drew", text)
                    yield {"x": feed["x"]}
            """
        self.write("script.py", script)
        words = ["m.onnx", "--onnxrt", "--data-loader-script", "script.py"]
        drawn = [re.findall(r"drew (.*)", done.out) for done in (
            self.peer(*words), self.vernier(*words, python=str(self.python)))]
        self.assertEqual(len(drawn[0]), 2)
        self.assertEqual(drawn[1], drawn[0])

    def test_what_it_lacks_is_named(self):
        for name in ("backend.onnxrt.OnnxrtRunner", "comparator.Comparator", "cuda.DeviceArray",
                     "util.make_repr"):
            module, _, symbol = name.rpartition(".")
            self.write("script.py", f"from polygraphy.{module} import {symbol}\n")
            done = self.vernier("m.onnx", "--onnxrt", "--data-loader-script", "script.py",
                                python=str(self.python))
            self.assert_fails(done, 3, f"stand-in for Polygraphy has no {name}",
                              "pip install polygraphy")

    def test_without_numpy_it_says_how_to_install_it(self):
        self.python.write_text(f"#!/bin/sh\nexec {pathlib.Path(sys.executable).resolve()} -S \"$@\"\n")
        self.write("loader.py", "def load_data(): return []\n")
        done = self.vernier("m.onnx", "--onnxrt", "--data-loader-script", "loader.py",
                            python=str(self.python))
        self.assert_fails(done, 5, "has no NumPy", "-m pip install numpy", "--python")
