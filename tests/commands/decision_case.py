"""What the tests of --decision share: logits whose classes lead clearly, and two saved sides."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper

from program import Case
from test_images import png

CLASSES = 20


def scores(count, seed=0):
    """Logits of `count` samples whose best class leads by 1 or more."""
    rows = np.random.default_rng(seed).uniform(-1, 1, (count, CLASSES)).astype(np.float32)
    rows[np.arange(count), np.arange(count) % CLASSES] = 3
    return rows


def flipped(rows, *which, by=1.0):
    """The same, where the class after the best one of these samples leads by `by`."""
    rows = rows.copy()
    for row in which:
        rows[row, (row + 1) % CLASSES] = rows[row].max() + np.float32(by)
    return rows


class Decisions(Case):
    def compare(self, left, right, *words, code):
        """The record of a comparison; each side is a list of iterations, maps of arrays."""
        self.save_runs("a.json", [("a", left)])
        self.save_runs("b.json", [("b", right)])
        self.ended = self.vernier("compare", "a.json", "b.json", *words, "--save-record", "r.json")
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
        path = self.path("r.json")
        pairs = json.loads(path.read_text())["pairs"] if path.exists() else []
        return pairs[0] if pairs else None

    def says(self, *sentences):
        for sentence in sentences:
            self.assertIn(sentence, self.ended.out + self.ended.err)

    def last_line(self):
        return self.ended.out.rstrip().splitlines()[-1]


class ImagesOfClasses(Decisions):
    """Images in folders of their class, for a network that names the brightest channel."""

    def setUp(self):
        super().setUp()
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 4, 4])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])
        node = helper.make_node("ReduceMean", ["x"], ["y"], "n", axes=[2, 3], keepdims=0)
        onnx.save(helper.make_model(helper.make_graph([node], "g", [x], [y]), ir_version=8,
                                    opset_imports=[helper.make_opsetid("", 17)]),
                  str(self.path("m.onnx")))
        for channel, folder in enumerate(("a_red", "b_green", "c_blue")):
            self.path(f"images/{folder}").mkdir(parents=True)
            for i in range(3):
                pixels = np.zeros((4, 4, 3), int)
                pixels[..., channel] = 200
                (self.path("images") / folder / f"{i}.png").write_bytes(png(pixels, 2))
