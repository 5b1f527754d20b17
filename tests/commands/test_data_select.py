"""vernier data select: iterations, tensors and runners of a saved file."""

import sys
import unittest

import numpy as np

from program import ramp, same_tensors
from test_data import ARRAYS, DataCase, load_feeds, load_runs

# Counts up; behind a 4 the next two tokens are as good as equal, and b.py takes the other one.
DECODES = """
import numpy as np

def infer(feed):
    ids = feed["ids"]
    logits = np.eye(8, dtype="f4")[(ids + 1) % 8]
    if ids[0, -1] == 4:
        logits[0, -1, 6] = 1.05 if __file__.endswith("b.py") else 0.95
    return {"logits": logits, "present": np.concatenate([feed["past"], ids.astype("f4")], axis=1)}
"""


class Select(DataCase):
    def test_iterations_are_kept_in_order_and_numbered_anew(self):
        self.save_feeds("a.json", ramp(5))
        self.does("select", "a.json", "--iterations", "4", "1-2", "-o", "some.npz")
        self.does("convert", "some.npz", "-o", "some.json")
        feeds = ramp(5)
        self.same_feeds(load_feeds(self.path("some.json")), [feeds[1], feeds[2], feeds[4]])

    def test_tensors_and_runners_by_name_and_by_pattern(self):
        self.save_runs("a.json", [("A", [ARRAYS, ARRAYS]), ("B", [ARRAYS, ARRAYS]),
                                  ("other", [ARRAYS])])
        self.does("select", "a.json", "--runners", "[AB]", "--tensors", "f32", "fl*",
                  "--iterations", "1", "-o", "some.json")
        runs = load_runs(self.path("some.json"))
        self.assertEqual(list(runs.keys()), ["A", "B"])
        for name in "AB":
            self.assertEqual(len(runs[name]), 1)
            same_tensors(self, dict(runs[name][0].items()),
                         {key: ARRAYS[key] for key in ("f32", "flag")})

    def test_the_short_names_of_summaries_where_they_are_unique(self):
        timed = "{}-runner-N{}-11/23/26-12:00:00"
        self.save_runs("a.json", [(timed.format("onnxrt", 0), ramp(1)),
                                  (timed.format("openvino", 0), ramp(1, 1)),
                                  (timed.format("trt", 0), ramp(1)),
                                  (timed.format("trt", 1), ramp(1))])
        self.does("select", "a.json", "--runners", "openvino", "-o", "some.json")
        self.assertEqual(list(load_runs(self.path("some.json")).keys()),
                         [timed.format("openvino", 0)])
        self.does("convert", "a.json", "--runner", "openvino", "-o", "other.json")
        self.assertEqual(list(load_runs(self.path("other.json")).keys()),
                         [timed.format("openvino", 0)])
        self.refuses(2, "has no runner 'trt'; there are ['onnxrt', 'openvino', 'trt-runner-N0",
                     "select", "a.json", "-o", "x.json", "--runners", "trt")

    def test_of_a_decoding_the_logits_are_kept_too(self):
        """Behind the step at which its tokens diverge nothing is compared."""
        for name in ("a", "b"):
            self.path(name + ".py").write_text(DECODES, encoding="utf-8")
        np.savez(self.path("x.npz"), ids=np.array([[1, 2]], "i8"), past=np.zeros((1, 0), "f4"))
        for name in ("a", "b"):
            ended = self.vernier("run", "--runner", f"{name}={name}.py", "--python",
                                 sys.executable, "--load-inputs", "x.npz", "--feed-back",
                                 "present:past", "--decode", "greedy:logits=ids", "--steps", "5",
                                 "--save-outputs", f"{name}.npz")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.does("select", f"{name}.npz", "--tensors", "present", "-o", f"{name}s.npz")
        said = self.does("select", "a.npz", "--tensors", "present", "-o", "again.npz")
        self.assertIn("'logits' is kept, too: it shows where tokens diverge", said)
        codes = [self.vernier("compare", *files, "--atol", "0.2").code
                 for files in (("a.npz", "b.npz"), ("as.npz", "bs.npz"))]
        self.assertEqual(codes, [0, 0])

    def test_what_is_not_there_is_an_error_and_leaves_no_file(self):
        self.save_feeds("a.json", ramp(3))
        self.save_runs("b.json", [("A", ramp(3)), ("B", ramp(2))])
        select = ("select", "a.json", "-o", "x.json")
        self.refuses(2, "nothing is selected", *select)
        self.refuses(2, "has no iteration 3; it has 3, counted from 0", *select, "--iterations",
                     "0-3")
        for word in ("x", "2-1", "1-", "1.5"):
            self.refuses(2, f"got '{word}'", *select, "--iterations", word)
        self.refuses(2, "has no tensor 'nosuch*'", *select, "--tensors", "count", "nosuch*")
        self.refuses(2, "inputs, which have no runner", *select, "--runners", "A")
        for name in ("x.npy", "x.xyz"):
            self.refuses(2, f"-o: '{name}' has no extension of a format that can be written: "
                            "expected .json, .npz or .safetensors", "select", "a.json", "-o",
                         name, "--iterations", "0")
        self.refuses(2, "expected .json, .npz, .safetensors or .npy", "convert", "a.json", "-o",
                     "x.xyz")
        self.does("convert", "a.json", "-o", "x.xyz", "--format", "npz")
        self.path("x.xyz").unlink()
        select = ("select", "b.json", "-o", "x.json")
        self.refuses(2, "there are ['A', 'B']", *select, "--runners", "A", "C")
        self.refuses(2, "has no iteration 2; it has 2", *select, "--iterations", "2")
        self.refuses(2, "name another file", "select", "a.json", "-o", "a.json", "--iterations",
                     "0")


if __name__ == "__main__":
    unittest.main()
