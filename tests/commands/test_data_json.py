"""vernier data show --format json: whole numbers; files that hold no JSON."""

import json
import unittest

import numpy as np

from test_data import DataCase


class ShowIntegers(DataCase):
    def test_integers_are_integers(self):
        large = 2**62 + 1
        self.save_feeds("feeds.json", [{"i": np.array([3, large], np.int64),
                                        "u": np.array([2**64 - 1], np.uint64)}])
        ended = self.vernier("data", "show", "feeds.json", "--format", "json")
        tensors = {t["name"]: t for t in json.loads(ended.out)[0]["iterations"][0]}
        self.assertEqual((tensors["i"]["min"], tensors["i"]["max"]), (3, large))
        self.assertEqual(tensors["u"]["max"], 2**64 - 1)
        self.assertNotIn('"min": 3.0', ended.out)

    def test_another_format_is_told_what_is_read(self):
        self.path("in.csv").write_text("1,2,3\n")
        said = self.does("show", "in.csv", code=3)
        self.assertIn("'in.csv': not valid JSON: byte 1: ", said)
        self.assertIn("are read from .json, .npz, .npy, .safetensors or ONNX test data", said)
        self.path("in.json").write_text("1,2,3\n")
        self.assertNotIn(".npz", self.does("show", "in.json", code=3))


if __name__ == "__main__":
    unittest.main()
