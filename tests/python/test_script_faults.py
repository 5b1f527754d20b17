"""Scripts that fail in every way: a verdict that names the script, a cause, and no orphan."""

import json
import textwrap

from script_case import ScriptCase

# Where in a run each function is called: the flag, and a script in which FAULT happens there.
STEPS = {
    "importing the loader": ("--data-loader-script", """
        FAULT
        def load_data(): return []
        """),
    "calling the loader": ("--data-loader-script", """
        def load_data():
            FAULT
            return []
        """),
    "the second feed": ("--data-loader-script", """
        import numpy as np
        def load_data():
            yield {"x": np.zeros((2, 3), np.float32)}
            FAULT
            yield {"x": np.zeros((2, 3), np.float32)}
        """),
    "comparing": ("--compare-func-script", """
        def compare_outputs(a, b):
            FAULT
            return {}
        """),
    "post-processing": ("--postprocess-func-script", """
        def postprocess_outputs(result):
            FAULT
            return result
        """),
}
# The same for a model in Python, whose death ends one runner.
MODEL_STEPS = {
    "importing the model's script": """
        FAULT
        def load(path): return lambda feed: {}
        """,
    "loading the model": """
        def load(path):
            FAULT
            return lambda feed: {}
        """,
    "inferring": """
        def infer(feed):
            FAULT
            return {"y": feed["x"] * 2, "z": feed["x"]}
        """,
}


def with_fault(script, fault):
    lines = textwrap.dedent(script).splitlines()
    out = []
    for line in lines:
        indent = line[:len(line) - len(line.lstrip())]
        out.append(textwrap.indent(textwrap.dedent(fault).strip(), indent)
                   if line.strip() == "FAULT" else line)
    return "\n".join(out) + "\n"


class FaultsOfScripts(ScriptCase):
    def at_every_step(self, fault, *words):
        for step, (flag, script) in STEPS.items():
            with self.subTest(step=step):
                (self.folder / "script.py").write_text(with_fault(script, fault))
                yield step, self.vernier("m.onnx", "--onnxrt", "--onnxrt", flag, "script.py",
                                         "--save-outputs", "out.json", *words)

    def test_killed(self):
        for step, done in self.at_every_step("import os; os.kill(os.getpid(), 9)"):
            self.assert_fails(done, 6, "died of SIGKILL", "script.py")
            if step == "the second feed":
                self.assertTrue((self.folder / "out.json").exists(), "what was done is saved")

    def test_segmentation_fault_shows_the_line_of_python(self):
        for _, done in self.at_every_step("import os; os.kill(os.getpid(), 11)"):
            self.assert_fails(done, 6, "died of SIGSEGV", "script.py")
            self.assertRegex(done.err, r'File ".*script.py", line \d+')

    def test_exit(self):
        for _, done in self.at_every_step("import sys; sys.exit(3)"):
            self.assertIn(done.code, (3, 6), str(done))
            self.assertRegex(done.critical(), r"the script called exit\(3\)")
            self.assertIn("script.py", done.critical())

    def test_hard_exit(self):
        for _, done in self.at_every_step("import os; os._exit(0)"):
            self.assert_fails(done, 6, "ended with exit status 0", "script.py")

    def test_infinite_loop(self):
        for _, done in self.at_every_step("while True: pass", "--timeout", "1"):
            self.assert_fails(done, 6, "hung while", "script.py", "--timeout")

    def test_exception_has_its_cause_first_and_then_the_traceback(self):
        fault = """
            def deep():
                raise ValueError("no picture 7\\nsecond line")
            deep()
            """
        for step, done in self.at_every_step(fault):
            self.assertEqual(done.code, 3 if "importing" in step else 6, str(done))
            lines = done.critical().splitlines()
            cause = next(i for i, line in enumerate(lines) if "ValueError: no picture 7" in line)
            self.assertLess(cause, 2)
            self.assertIn("script.py", "".join(lines[:2]))
            self.assertTrue(any("in deep" in line for line in lines[cause:]), done.critical())
            self.assertNotIn("vernier_worker", done.critical())


    def test_an_exception_names_what_it_was_raised_from(self):
        fault = """
            try:
                raise ValueError("shapes (3,) and (4,)")
            except ValueError as error:
                raise TypeError("Issues with Add") from error
            """
        for _, done in self.at_every_step(fault):
            self.assertIn("TypeError: Issues with Add; from ValueError: shapes (3,) and (4,)",
                          done.critical())


class FaultsOfModels(ScriptCase):
    def at_every_step(self, fault, *words):
        for step, script in MODEL_STEPS.items():
            with self.subTest(step=step):
                (self.folder / "model.py").write_text(with_fault(script, fault))
                done = self.vernier("m.onnx", "--onnxrt", "--runner", "mine=model.py",
                                    "--iterations", "2", "--save-outputs", "out.json", *words)
                self.assertEqual(done.code, 6, str(done))
                self.assertRegex(done.err, r"\[!\] mine +\| FAILED: ", str(done))
                # The others went on.
                self.assertRegex(done.out, r"onnxrt +onnxruntime \S+ +CPU")
                yield step, done

    def test_killed(self):
        for _, done in self.at_every_step("import os; os.kill(os.getpid(), 9)"):
            self.assertRegex(done.err, "died of SIGKILL.* while (opening|running iteration 0)")

    def test_exit(self):
        for _, done in self.at_every_step("import sys; sys.exit('enough')"):
            self.assertIn("the script called exit('enough')", done.err)

    def test_infinite_loop(self):
        for _, done in self.at_every_step("while True: pass", "--timeout", "1"):
            self.assertRegex(done.err, "hung while (opening|running iteration 0)")

    def test_exception(self):
        for _, done in self.at_every_step("raise KeyError('weights')"):
            self.assertRegex(done.err, r"KeyError: 'weights' \(model.py, line \d+\)")
            # The tables at the end have the cause alone.
            self.assertRegex(done.out, r"mine: FAILED, .*KeyError: 'weights' \(model.py, line \d+\)\n")
            self.assertNotIn("Traceback", done.out.split("Runtime:")[1])


class FaultsAtTheEnd(ScriptCase):
    """When a model is told that it is no longer needed, everything has been compared."""

    def test_of_models(self):
        for fault, words in (("import os; os.kill(os.getpid(), 9)", "died of SIGKILL"),
                             ("import os; os.kill(os.getpid(), 11)", "died of SIGSEGV"),
                             ("raise KeyError('late')", r"KeyError: 'late' \(model.py, line \d+\)"),
                             ("import sys; sys.exit(2)", r"the script called exit\(2\)"),
                             ("while True: pass", "hung while")):
            with self.subTest(fault=fault):
                self.write("model.py", f"""
                    import numpy as np
                    class Model:
                        def infer(self, feed):
                            x = feed["x"]
                            return {{"y": np.maximum(x, 0) + x, "z": x}}
                        def deactivate(self):
                            {fault}
                    def load(path): return Model()
                    """)
                # Enough for the other runner to load its framework on a busy machine.
                limit = ["--timeout", "8"] if "while" in fault else []
                done = self.vernier("m.onnx", "--onnxrt", "--runner", "mine=model.py", *limit,
                                    "--save-outputs", "out.json")
                self.assertEqual(done.code, 6, str(done))
                self.assertRegex(done.err, r"\[!\] mine +\| FAILED: .*" + words)
                self.assertIn("compared 2 outputs in 1 iteration", done.out)
                self.assertTrue((self.folder / "out.json").exists(), "what was done is saved")


class WrongAnswers(ScriptCase):
    def test_of_models_in_types_and_shapes(self):
        for answer, code, words in (
                ("{'y': x.astype('float64'), 'z': x}", 1, "FAILED"),
                ("{'y': x[0], 'z': x}", 1, "the shapes are|shape"),
                ("{'y': x[:, :0], 'z': x}", 1, "shape"),
                ("{'y': x.astype('M8[s]'), 'z': x}", 6, "output 'y' has NumPy's type datetime64"),
                ("{'y': np.array([object()]), 'z': x}", 6, "output 'y' holds an object"),
                ("{'y': [[1.0]], 'z': x}", 6, "output 'y' .*is a list; expected a NumPy array"),
                ("{'y': np.ma.array(x, mask=x > 0), 'z': x}", 6,
                 "output 'y' .*has masked values, which a tensor cannot hold"),
                ("7", 6, "is an int; expected a NumPy array")):
            with self.subTest(answer=answer):
                self.write("model.py", f"""
                    import numpy as np
                    def infer(feed):
                        x = feed["x"]
                        return {answer}
                    """)
                done = self.vernier("m.onnx", "--onnxrt", "--model-runner", "model.py")
                self.assertEqual(done.code, code, str(done))
                self.assertRegex(done.out + done.err, words)

    def expect(self, flag, script, code, *words):
        with self.subTest(script=script):
            self.write("script.py", script)
            done = self.vernier("m.onnx", "--onnxrt", "--onnxrt", flag, "script.py")
            self.assert_fails(done, code, *words)

    def test_a_loader_with_a_length_ends_there_and_not_before(self):
        sequence = "__import__('collections').abc.Sequence"
        for base, stop in (("object", 9), ("object", 2), (sequence, 3), (sequence, 2)):
            with self.subTest(base=base, stop=stop):
                self.write("script.py", f"""
                    import numpy as np
                    import collections.abc
                    class Loader({base}):
                        def __len__(self): return 3
                        def __getitem__(self, index):
                            if index >= {stop}: raise IndexError("none there")
                            return {{"x": np.arange(6, dtype=np.float32).reshape(2, 3)}}
                    def load_data(): return Loader()
                    """)
                done = self.vernier("m.onnx", "--onnxrt", "--onnxrt", "--data-loader-script",
                                    "script.py")
                if stop < 3:
                    self.assert_fails(done, 3, "script.py:load_data returned a Loader with the "
                                      "length 3, which has no feed 2")
                else:
                    self.assertEqual(done.code, 0, str(done))
                    self.assertIn("compared 2 outputs in 3 iterations", done.out)

    def test_of_loaders(self):
        flag = "--data-loader-script"
        self.expect(flag, "def load_data(): return 5", 3, "returned an int; expected a generator")
        self.expect(flag, "def load_data(): return [[1]]", 3,
                    "feed 0 of .*script.py:load_data is a list; expected a mapping of input names")
        self.expect(flag, "def load_data(): return [{1: 2}]", 3, "is a dict; expected a mapping")
        self.expect(flag, "def load_data(): return [{'x': [1.0]}]", 3, "'x'.*float64")
        self.expect(flag, "def load_data(): return [{'x': [[1.0], [2.0, 3.0]]}]", 6,
                    "input 'x' is not an array: ")
        self.expect(flag, "def load_data(): return [{'x': None}]", 6,
                    "input 'x' is .*None.*; expected a NumPy array")
        self.expect(flag, "import numpy as np\ndef load_data():\n"
                    "    return [{'x': np.zeros((2, 3), 'M8[s]')}]", 6, "datetime64.*astype")
        self.expect(flag, "import numpy as np\ndef load_data():\n"
                    "    return [{'x': np.zeros((2, 3), np.float64)}]", 3, "'x'.*float64")
        self.expect(flag, "import numpy as np\ndef load_data():\n"
                    "    return [{'x': np.zeros((2, 4), np.float32)}]", 3, "x.*\\(2, 4\\)")
        self.expect(flag, "load_data = 3", 3, "is not a function but an int")
        self.expect(flag, "def other(): pass", 3, "Could not import symbol: load_data",
                    "defines no 'load_data'; it has: other")
        self.expect(flag, "def load_data(:", 3, "SyntaxError")
        self.expect(flag, "import no_such_module_here", 5, "needs the Python module "
                    "'no_such_module_here'", "--python")

    def test_no_feeds_are_no_pass(self):
        self.write("script.py", "def load_data(): return []")
        done = self.vernier("m.onnx", "--onnxrt", "--onnxrt", "--data-loader-script", "script.py")
        self.assert_fails(done, 3, "the data loader gave no feed")
        for more, code in (((), 3), (("--lenient",), 0)):
            done = self.vernier("m.onnx", "--onnxrt", "--data-loader-script", "script.py", *more)
            self.assertEqual(done.code, code, str(done))
            self.assertEqual("the data loader gave no feed" in done.err, code == 3, str(done))

    def test_of_comparisons(self):
        flag = "--compare-func-script"
        self.expect(flag, "def compare_outputs(a, b): return True", 6,
                    "returned a bool; expected a mapping of output names")
        self.expect(flag, "def compare_outputs(a, b): return {'y': a['y'] == b['y']}", 6,
                    "output 'y' is neither true nor false")
        for value, what in (("float('nan')", "NaN"), ("a['y'].mean() * float('nan')", "NaN"),
                            ("'FAILED'", "a str"), ("[False]", "a list"), ("None", "None")):
            self.expect(flag, f"def compare_outputs(a, b): return {{'y': {value}}}", 6,
                        f"output 'y' is neither true nor false: it is {what}")
        self.expect(flag, "def compare_outputs(a): return {}", 6, "TypeError")

    def test_outputs_without_a_verdict_are_told_once(self):
        words = ["m.onnx", "--onnxrt", "--onnxrt", "--compare-func-script", "script.py",
                 "--iterations", "2"]
        self.write("script.py", "def compare_outputs(a, b): return {'y': True, 'z': True}")
        done = self.vernier(*words)
        self.assertNotIn("no verdict", done.out, str(done))
        self.write("script.py", "def compare_outputs(a, b): return {'y': True}")
        done = self.vernier(*words)
        self.assertEqual(done.code, 0, str(done))
        self.assertEqual(done.out.count("[W] script.py:compare_outputs gave no verdict on 'z'"), 1,
                         str(done))

    def test_a_verdict_on_a_name_that_neither_side_has_counts_for_nothing(self):
        words = ["m.onnx", "--onnxrt", "--onnxrt", "--compare-func-script", "script.py",
                 "--save-record", "record.json"]
        warning = "[W] script.py:compare_outputs gave a verdict on 'tpyo', which neither side has"
        self.write("script.py", "def compare_outputs(a, b): return {'tpyo': True}")
        done = self.vernier(*words, "--iterations", "2")
        self.assertEqual(done.code, 4, str(done))
        self.assertEqual(done.out.count(warning + "; outputs: 'y', 'z'"), 1, str(done))
        self.assertIn("NOTHING COMPARED, compared 0 of 2 outputs", done.out)
        self.assertEqual(self.pair_of("record.json")["without_verdict"], ["y", "z"])
        lenient = self.vernier(*words, "--lenient")  # as Polygraphy, but told
        self.assertEqual(lenient.code, 0, str(lenient))
        self.assertIn(warning, lenient.out)
        self.write("script.py", "def compare_outputs(a, b):\n"
                   "    return {'y': True, 'z': True, 'tpyo': True}")
        done = self.vernier(*words, "--strict")
        self.assertEqual(done.code, 0, str(done))
        self.assertIn("compared 2 outputs in 1 iteration", done.out)
        # A failure is never lost.
        self.write("script.py", "def compare_outputs(a, b): return {'y': True, 'all': False}")
        self.assertEqual(self.vernier(*words).code, 1)

    def pair_of(self, record):
        return json.loads((self.folder / record).read_text())["pairs"][0]

    def test_what_scripts_leave_out_is_in_every_summary(self):
        words = ["m.onnx", "--onnxrt", "--onnxrt", "--save-record", "record.json",
                 "--report", "report.xml"]
        for flag, script, summary, key in (
                ("--compare-func-script", "def compare_outputs(a, b): return {'y': True}",
                 "no verdict on: z", "without_verdict"),
                ("--postprocess-func-script", "def postprocess_outputs(r): return {'y': r['y']}",
                 "dropped by post-processing: z", "dropped")):
            with self.subTest(flag=flag):
                self.write("script.py", script)
                done = self.vernier(*words, flag, "script.py")
                self.assertEqual(done.code, 0, str(done))
                self.assertRegex(done.out, f"PASSED, compared 1 of 2 outputs in .*; {summary}")
                pair = self.pair_of("record.json")
                self.assertEqual(pair[key], ["z"])
                self.assertEqual(pair["coverage"][f"outputs_{key}"], 1)
                self.assertIn('name="z"', (self.folder / "report.xml").read_text())
                done = self.vernier(*words, flag, "script.py", "--strict")
                self.assertEqual(done.code, 4, str(done))
                self.assertRegex(done.out + done.err, "--strict: 'script.py:.*: 'z'")
        # One in the place of another is no output less.
        self.write("script.py", "def postprocess_outputs(r): return {'y': r['y'], 'zz': r['z']}")
        done = self.vernier(*words, "--postprocess-func-script", "script.py", "--strict")
        self.assertEqual(done.code, 0, str(done))

    def test_a_comparison_of_nothing_is_no_pass(self):
        self.write("script.py", "def compare_outputs(a, b): return {}")
        words = ["m.onnx", "--onnxrt", "--onnxrt", "--compare-func-script", "script.py"]
        done = self.vernier(*words)
        self.assertEqual(done.code, 4, str(done))
        self.assertIn("'script.py:compare_outputs' gave no verdict on any output", done.out)

    def test_of_post_processing(self):
        flag = "--postprocess-func-script"
        self.expect(flag, "def postprocess_outputs(r): pass", 6,
                    "returned None; expected a mapping of output names")
        self.expect(flag, "def postprocess_outputs(r): return {'y': 3}", 6,
                    "output 'y' is an int; expected a NumPy array")

    def test_of_command_lines(self):
        self.write("script.py", "def load_data(): return []")
        done = self.vernier("m.onnx", "--onnxrt", "--data-loader-script", "gone.py")
        self.assert_fails(done, 3, "gone.py", "no such file")
        done = self.vernier("m.onnx", "--onnxrt", "--data-loader-func-name", "f")
        self.assert_fails(done, 2, "has no effect without --data-loader-script")
        done = self.vernier("m.onnx", "--onnxrt", "--data-loader-script", "script.py",
                            python="/no/such/python")
        self.assert_fails(done, 5, "--python: there is no program '/no/such/python'")
        done = self.vernier("m.onnx", "--onnxrt", "--data-loader-script", "script.py",
                            env={"VIRTUAL_ENV": "/no/such/place"}, python="/bin/true")
        self.assert_fails(done, 6, "ended with exit status 0 while loading the framework")


