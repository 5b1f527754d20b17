"""vernier data show --format json: whole numbers."""

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


if __name__ == "__main__":
    unittest.main()
