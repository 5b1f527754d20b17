"""What Polygraphy's examples of its command line do, through Polygraphy and through vernier.

The scripts say in our own words what the examples' scripts do: data of one's own as a loader and as a
file, outputs of one's own as a file, results across runs, infinities, saved results read by hand.
"""

import sys

from script_case import ScriptCase

LOADER = """
    import numpy as np
    from polygraphy.json import save_json

    def load_data():
        for index in range(4):
            yield {"x": np.full((2, 3), index - 1.5, dtype=np.float32)}

    if __name__ == "__main__":
        save_json(list(load_data()), "custom_inputs.json", description="custom input data")
    """
OUTPUTS = """
    import numpy as np
    import sys
    from polygraphy.comparator import IterationResult, RunResults
    from polygraphy.json import save_json

    feeds = [{"x": np.full((2, 3), value, dtype=np.float32)} for value in (-1, 0, 2)]
    save_json(feeds, "custom_inputs.json", description="custom input data")
    shift = float(sys.argv[1])
    outputs = [{"y": np.maximum(feed["x"], 0) + feed["x"] + np.float32(shift), "z": feed["x"]}
               for feed in feeds]
    results = RunResults()
    results.add(outputs, runner_name="custom_runner")
    results.save("custom_outputs.json")
    """
BY_HAND = """
    import sys
    import numpy as np
    from polygraphy.comparator import RunResults
    from polygraphy.json import load_json

    inputs = load_json("inputs.json", description="input data")
    runs = RunResults.load("outputs.json")
    assert len(inputs) == 2 and len(runs) == 2, (inputs, runs)
    for runner_name, iterations in runs.items():
        assert runner_name.startswith("onnxrt-runner-N"), runner_name
        for feed, outputs in zip(inputs, iterations):
            assert outputs.runner_name == runner_name and outputs.runtime > 0
            np.testing.assert_array_equal(outputs["y"], np.maximum(feed["x"], 0) + feed["x"])
    """


class Examples(ScriptCase):
    def both(self, *words, code):
        """The same end and verdicts, twice; ours is returned."""
        peer, ours = self.peer(*words), self.as_peer(*words)
        self.assertEqual(peer.code, code, str(peer))
        self.assertEqual(ours.code, code, str(ours))
        self.assertEqual(peer.verdicts(), ours.verdicts())
        self.assertEqual(self.vernier(*words).code, code)
        return ours

    def script(self, name, text, *words):
        self.write(name, text)
        done = self.start([sys.executable], [name, *words])
        self.assertEqual(done.code, 0, str(done))

    def test_comparing_runners(self):
        self.both("m.onnx", "--onnxrt", "--onnxrt", "--input-shapes", "x:[4,3]", code=0)
        self.both("m.onnx", "--onnxrt", "--onnxrt", "--onnx-outputs", "mark", "all", code=0)

    def test_comparing_across_runs(self):
        # What one tool saved the other compares with, both ways round.
        for first, second in ((self.peer, self.as_peer), (self.as_peer, self.peer)):
            saved = first("m.onnx", "--onnxrt", "--save-inputs", "inputs.json", "--save-outputs",
                          "run_0.json")
            self.assertEqual(saved.code, 0, str(saved))
            words = ["m.onnx", "--onnxrt", "--load-inputs", "inputs.json", "--load-outputs",
                     "run_0.json"]
            for tool in (first, second):
                done = tool(*words)
                self.assertEqual(done.code, 0, str(done))
                self.assertIn("Passed: 1/1 iterations", done.out)

    def test_input_data_of_ones_own(self):
        self.script("data_loader.py", LOADER)
        ours = self.both("m.onnx", "--onnxrt", "--onnxrt", "--data-loader-script",
                         "data_loader.py", code=0)
        self.assertIn("Passed: 4/4 iterations", ours.out)
        ours = self.both("m.onnx", "--onnxrt", "--onnxrt", "--load-inputs", "custom_inputs.json",
                         code=0)
        self.assertIn("Passed: 4/4 iterations", ours.out)

    def test_output_data_of_ones_own(self):
        words = ["m.onnx", "--onnxrt", "--load-inputs", "custom_inputs.json", "--load-outputs",
                 "custom_outputs.json"]
        self.script("generate_data.py", OUTPUTS, "0")
        self.assertIn("custom_runner", self.both(*words, code=0).out)
        self.script("generate_data.py", OUTPUTS, "0.5")
        self.assertIn("FAILED | Output: 'y'", self.both(*words, code=1).out)

    def test_checking_for_nan_and_infinity(self):
        self.write("loader.py", """
            import numpy as np
            def load_data():
                yield {"x": np.array([[1, 3e38, 2]], dtype=np.float32)}
            """)
        words = ["m.onnx", "--onnxrt", "--data-loader-script", "loader.py", "--validate"]
        self.assertIn("inf", self.both(*words, code=1).out.lower())
        self.both("m.onnx", "--onnxrt", "--validate", code=0)

    def test_results_read_by_hand(self):
        for tool in (self.peer, self.as_peer):
            done = tool("m.onnx", "--onnxrt", "--onnxrt", "--iterations", "2", "--save-inputs",
                        "inputs.json", "--save-outputs", "outputs.json")
            self.assertEqual(done.code, 0, str(done))
            self.script("by_hand.py", BY_HAND)

    def test_a_dataset_with_labels(self):
        """Post-processing to classes, and a comparison of them of one's own."""
        self.write("functions.py", """
            import numpy as np
            def postprocess_outputs(result):
                for name, output in result.items():
                    result[name] = np.argsort(output, axis=1)[:, ::-1][:, :1]
                return result
            def compare_outputs(a, b):
                return {name: bool(np.array_equal(a[name], b[name])) for name in a}
            """)
        self.both("m.onnx", "--onnxrt", "--onnxrt", "--iterations", "3",
                  "--postprocess-func-script", "functions.py", "--compare-func-script",
                  "functions.py", code=0)
