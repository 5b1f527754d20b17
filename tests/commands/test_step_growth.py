"""How an error goes on over steps: of caches, infinities, and steps that were not compared."""

import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from steps_case import StepsCase


class Growth(StepsCase):
    def cache(self, name, gain, slides=False):
        """present = past, without its first row where it `slides`, and x * gain behind it."""
        nodes = [helper.make_node("Mul", ["x", "gain"], ["k"]),
                 helper.make_node("Slice", ["past", "one", "end", "one"], ["kept"]),
                 helper.make_node("Concat", ["kept" if slides else "past", "k"], ["present"],
                                  axis=1)]
        graph = helper.make_graph(
            nodes if slides else [nodes[0], nodes[2]], "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 16]),
             helper.make_tensor_value_info("past", TensorProto.FLOAT, [1, "rows", 16])],
            [helper.make_tensor_value_info("present", TensorProto.FLOAT, [1, "more", 16])],
            [numpy_helper.from_array(np.float32(gain), "gain"),
             numpy_helper.from_array(np.array([1], "i8"), "one"),
             numpy_helper.from_array(np.array([2 ** 60], "i8"), "end")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def run_caches(self, rows, slides=False, steps=64):
        self.cache("a.onnx", 1, slides)
        self.cache("b.onnx", 1.01, slides)
        random = np.random.default_rng(3)
        self.save_feeds("feeds.json", [{"x": random.normal(size=(1, steps, 16)).astype("f4"),
                                        "past": random.normal(size=(1, rows, 16)).astype("f4")}])
        ended = self.vernier(
            "run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx", "--load-inputs",
            "feeds.json", "--feed-back", "present:past", "--step-slice", "x:axis=1,size=1",
            "--state", "reference", "--atol", "1", "--save-record", "r.json")
        said = ended.out + ended.err
        self.assertEqual(ended.code, 0, said)
        return said, self.times()["present"]

    def test_the_own_error_of_a_cache_that_gets_longer_is_that_of_what_is_new(self):
        for rows in (1, 40):
            with self.subTest(rows=rows):
                said, time = self.run_caches(rows)
                self.assertIn("each step's own error of what each step adds to output 'present' "
                              "neither grows nor dies out", said)
                self.assertTrue(time["of_new_elements"])
                self.assertEqual((time["steps"], time["fitted_steps"]), (64, 63))
                self.assertLess(abs(time["growth_per_step"]), time["growth_limit"])

    def test_a_cache_that_slides_is_judged_as_a_whole(self):
        said, time = self.run_caches(8, slides=True)
        self.assertIn("each step's own error of output 'present' neither grows nor dies out", said)
        self.assertFalse(time["of_new_elements"])
        self.assertEqual(time["fitted_steps"], 64)

    def test_the_same_infinity_is_no_error(self):
        """y = tanh(x) * gain beside 1e8 g, infinite from step 5 on."""
        for name, gain in (("a", 1), ("b", 1 + 2 ** -18)):
            self.path(name + ".py").write_text(
                "import numpy as np\n\ndef load(_path):\n    def infer(feed):\n"
                f"        y = np.tanh(feed['x']) * np.float32({gain})\n"
                "        with np.errstate(all='ignore'):\n"
                "            g = feed['g'] * np.float32(1e8)\n"
                "        return {'y': np.concatenate([y, g], axis=1), 'gn': g}\n"
                "    return infer\n", encoding="utf-8")
        x = np.random.default_rng(3).normal(size=(1, 16 * 20)).astype("f4")
        self.save_feeds("feeds.json", [{"x": x, "g": np.ones((1, 1), "f4")}])
        ended = self.vernier(
            "run", "--runner", "a=a.py", "--runner", "b=b.py", "--python", sys.executable,
            "--load-inputs", "feeds.json", "--feed-back", "gn:g", "--step-slice",
            "x:axis=1,size=16", "--infinities-compare-equal", "--atol", "1e-4", "--rtol", "1e-4",
            "--save-record", "r.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        time = self.times()["y"]
        self.assertEqual((time["steps"], time["measured_steps"]), (20, 20))
        self.assertTrue(0 < time["curve"][19]["rms_error"] < 1e-5, time["curve"][19])

    def test_steps_without_elements_have_no_error_of_0(self):
        self.path("empties.py").write_text(
            "import numpy as np\n\ndef load(_path):\n    def infer(feed):\n"
            "        late = feed['h'][0, 0] >= 2\n"
            "        return {'y': feed['x'][:, :0] if late else feed['x'], 'hn': feed['h'] + 1}\n"
            "    return infer\n", encoding="utf-8")
        self.save_feeds("feeds.json", [{"x": np.arange(1., 25.).reshape(1, 24),
                                        "h": np.zeros((1, 1))}])
        ended = self.vernier(
            "run", "--runner", "a=empties.py", "--runner", "b=empties.py", "--python",
            sys.executable, "--load-inputs", "feeds.json", "--feed-back", "hn:h", "--step-slice",
            "x:axis=1,size=4", "--save-record", "r.json")
        said = ended.out + ended.err
        self.assertEqual(ended.code, 4, said)
        self.assertEqual(self.times()["y"]["measured_steps"], 2)
        self.assertNotIn("is 0 at every step", said)
        self.assertIn("error of output 'y' is 0 wherever it was compared, at 2 of 6 steps", said)


if __name__ == "__main__":
    unittest.main()
