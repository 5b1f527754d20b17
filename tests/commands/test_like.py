"""--like: inputs are drawn like those of a sample."""

import unittest

import numpy as np
import onnx
from polygraphy.json import load_json

from index_models import ids, table
from lint_models import model, node, value
from program import Case


class Like(Case):
    def setUp(self):
        super().setUp()
        onnx.save(model([node("Gather", ["table", "ids"], ["g"]),
                         node("Add", ["g", "x"], ["y"])],
                        inputs=[ids(shape=("n",)), value("x", ("n", 2))],
                        outputs=[value("y", None)], weights=[table()]), str(self.path("m.onnx")))
        self.sample = {"ids": np.array([7, 7, 49, 3] * 100),
                       "x": np.concatenate([np.zeros(400), np.linspace(5, 9, 400)])
                       .astype("f4").reshape(400, 2)}

    def run_like(self, name, *words):
        return self.vernier("run", "m.onnx", "--onnxrt", "--like", name, "--save-inputs", "in.json",
                            *words)

    def test_values_are_spread_like_those_of_the_sample(self):
        np.savez(self.path("s.npz"), **self.sample)
        self.save_feeds("s.json", [self.sample])
        for name in ("s.npz", "s.json"):
            ended = self.run_like(name)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            feed = load_json(str(self.path("in.json")))[0]
            drawn, x = np.asarray(feed["ids"]), np.asarray(feed["x"])
            self.assertEqual((drawn.shape, x.shape), ((400,), (400, 2)))
            self.assertEqual(set(drawn), {3, 7, 49})
            self.assertAlmostEqual((drawn == 7).mean(), 0.5, delta=0.12)
            self.assertAlmostEqual((x == 0).mean(), 0.5, delta=0.12)
            self.assertGreater(np.median(x[x > 0]), 6)
            self.assertLessEqual(x.max(), 9)
            self.assertIn("Input tensor: x | Drawn like 800 values from 0 to 9", ended.out)
            self.assertFalse((x == self.sample["x"]).all())

    def test_a_range_by_name_wins(self):
        np.savez(self.path("s.npz"), **self.sample)
        ended = self.run_like("s.npz", "--val-range", "x:[-3,-2]")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        feed = load_json(str(self.path("in.json")))[0]
        drawn, x = np.asarray(feed["ids"]), np.asarray(feed["x"])
        self.assertEqual((drawn.shape, x.shape), ((400,), (400, 2)))
        self.assertEqual(set(drawn), {3, 7, 49})
        self.assertTrue(-3 <= x.min() and x.max() <= -2, (x.min(), x.max()))
        self.assertIn("Input tensor: x | Drawn from [-3, -2]: --val-range wins over --like",
                      ended.out)

    def test_a_range_without_a_name_is_for_inputs_that_are_not_in_the_sample(self):
        np.savez(self.path("s.npz"), **self.sample)
        ended = self.run_like("s.npz", "--val-range", "[-3,-2]")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        x = np.asarray(load_json(str(self.path("in.json")))[0]["x"])
        self.assertGreaterEqual(x.min(), 0)
        self.assertRegex(ended.out,
                         r"x \| Drawn like .*: --like wins over --val-range without a name")

    def test_an_input_with_a_range_may_be_missing_from_the_sample(self):
        np.savez(self.path("half.npz"), x=self.sample["x"])
        ended = self.run_like("half.npz", "--val-range", "ids:[0,9]", "--input-shapes", "ids:[400]")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertLessEqual(np.asarray(load_json(str(self.path("in.json")))[0]["ids"]).max(), 9)
        self.assertIn("has no input 'ids'; --val-range says how it is drawn", ended.out)

    def test_the_sample_wins_over_the_graph(self):
        np.savez(self.path("s.npz"), **self.sample)
        ended = self.run_like("s.npz", "--inputs-from-graph")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("Input tensor: ids | --like wins over [0, 49] of the graph", ended.out)
        self.assertNotIn("ids | Drawn from", ended.out)

    def test_the_seed_holds(self):
        np.savez(self.path("s.npz"), **self.sample)
        feeds = []
        for words in ((), (), ("--seed", "2")):
            self.assertEqual(self.run_like("s.npz", *words).code, 0)
            feeds.append(np.asarray(load_json(str(self.path("in.json")))[0]["x"]))
        self.assertTrue((feeds[0] == feeds[1]).all())
        self.assertFalse((feeds[0] == feeds[2]).all())

    def test_integers_are_those_of_a_sample_of_floats(self):
        np.savez(self.path("s.npz"), **{**self.sample, "ids": self.sample["ids"].astype("f4")})
        self.assertEqual(self.run_like("s.npz").code, 0)
        drawn = load_json(str(self.path("in.json")))[0]["ids"]
        self.assertEqual(set(np.asarray(drawn)), {3, 7, 49})

    def test_a_sample_of_another_rank_is_to_blame_itself(self):
        np.savez(self.path("s.npz"), **{**self.sample, "x": self.sample["x"].ravel()})
        ended = self.run_like("s.npz")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("--like: input 'x' has the shape", ended.out + ended.err)
        self.assertNotIn("--input-shapes", ended.out + ended.err)

    def test_a_sample_of_another_rank_gives_no_shape_where_that_is_allowed(self):
        np.savez(self.path("s.npz"), ids=self.sample["ids"][:1], x=self.sample["x"].ravel())
        ended = self.run_like("s.npz", "--lenient")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("Will use default shape instead", ended.out + ended.err)
        self.assertEqual(np.asarray(load_json(str(self.path("in.json")))[0]["x"]).shape, (1, 2))

    def test_sizes_of_one_dimension_that_differ_are_told(self):
        np.savez(self.path("s.npz"), **{**self.sample, "x": self.sample["x"][:1]})
        ended = self.run_like("s.npz")
        self.assertIn("--like: the sample gives dimension 'n' the size 400 in 'ids' and 1 in 'x'",
                      ended.out + ended.err)

    def test_what_cannot_be_imitated_is_a_sentence(self):
        np.savez(self.path("half.npz"), x=self.sample["x"])
        np.savez(self.path("nan.npz"), ids=self.sample["ids"], x=np.full((4, 2), np.nan, "f4"))
        for name, says in {"half.npz": "has no input 'ids'", "nan.npz": "no finite values",
                           "nowhere.npz": "nowhere.npz"}.items():
            ended = self.run_like(name)
            self.assertEqual(ended.code, 3, ended.out + ended.err)
            self.assertIn(says, ended.out + ended.err)


if __name__ == "__main__":
    unittest.main()
