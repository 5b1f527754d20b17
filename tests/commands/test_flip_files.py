"""What is kept of flips: inputs and outputs in files that run again, and images on the page."""

import base64
import json
import pathlib
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from polygraphy.comparator import RunResults
from polygraphy.json import load_json

from decision_case import Decisions
from test_images import png

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "pictures"))

from files import Png

SIDE = 16


def light_model(path, sign):
    """Two classes: light and dark images, or the other way round, and the images as they are."""
    weights = np.repeat(np.array([[sign, -sign]], np.float32), SIDE * SIDE, 0)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 1, SIDE, SIDE])
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 2]),
               helper.make_tensor_value_info("same", TensorProto.FLOAT, ["n", 1, SIDE, SIDE])]
    nodes = [helper.make_node("Flatten", ["x"], ["flat"]),
             helper.make_node("MatMul", ["flat", "w"], ["logits"]),
             helper.make_node("Identity", ["x"], ["same"])]
    graph = helper.make_graph(nodes, "g", [x], outputs, [numpy_helper.from_array(weights, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              str(path))


class FlipFiles(Decisions):
    """Every sample flips; the lightest has the largest margin."""

    def setUp(self):
        super().setUp()
        light_model(self.path("right.onnx"), 1)
        light_model(self.path("wrong.onnx"), -1)
        ramp = np.linspace(0, 1, SIDE * SIDE, dtype=np.float32).reshape(1, SIDE, SIDE)
        self.images = np.stack([ramp * np.float32(0.5 + 0.1 * i) for i in range(6)])
        self.save_feeds("feeds.json", [{"x": self.images[i:i + 2]} for i in (0, 2, 4)])

    def run_both(self, *words, inputs="feeds.json", code=1):
        self.ended = self.vernier("run", "--runner", "right=onnxrt right.onnx", "--runner",
                                  "wrong=onnxrt wrong.onnx", "--load-inputs", inputs, "--decision",
                                  "logits:top1", *words, "--save-record", "r.json")
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
        return json.loads(self.path("r.json").read_text()) if code != 2 else None

    def test_saved_sides_keep_their_outputs(self):
        self.run_both("--save-outputs", "all.npz")
        for flips in ("flips.npz", "flips.json"):
            self.ended = self.vernier("compare", "all.npz", "--decision", "logits:top1",
                                      "--worst-flips", "2", "--save-flips", flips, "--save-record",
                                      "r.json")
            self.assertEqual(self.ended.code, 1, self.ended.out + self.ended.err)
            saved = json.loads(self.path("r.json").read_text())["saved"]
            self.assertEqual(saved, [{"what": "outputs of flips", "where": flips}])
            again = self.vernier("compare", flips, "--decision", "logits:top1", "--save-record",
                                 "again.json")
            self.assertEqual(again.code, 1, again.out + again.err)
            (pair,) = json.loads(self.path("again.json").read_text())["pairs"]
            self.assertEqual(pair["decisions"][0]["flips"], 2)
            self.assertEqual(pair["decisions"][0]["worst"][0]["first_margin"],
                             json.loads(self.path("r.json").read_text())
                             ["pairs"][0]["decisions"][0]["worst"][0]["first_margin"])

    def pixels(self, picture):
        self.path("shown.png").write_bytes(base64.b64decode(picture["png"], validate=True))
        return np.array(Png(self.path("shown.png")).rows)

    def test_outputs_of_both_sides_lie_beside_the_inputs(self):
        record = self.run_both("--worst-flips", "2", "--save-flips", "flips.json",
                               "--save-outputs", "all.json")
        self.assertEqual(record["saved"][-2:],
                         [{"what": "inputs of flips", "where": "flips.json"},
                          {"what": "outputs of flips", "where": "flips.outputs.json"}])
        # Polygraphy reads both: the last iteration has the two lightest images.
        feeds = load_json(str(self.path("flips.json")))
        self.assertEqual(len(feeds), 1)
        self.assertEqual(feeds[0]["x"].tobytes(), self.images[4:].tobytes())
        kept = RunResults.load(str(self.path("flips.outputs.json")))
        all_of_them = RunResults.load(str(self.path("all.json")))
        self.assertEqual(list(kept.keys()), ["right", "wrong"])
        for name in kept.keys():
            self.assertEqual(len(kept[name]), 1)
            self.assertEqual(list(kept[name][0]), ["logits", "same"])
            for output in ("logits", "same"):
                self.assertEqual(kept[name][0][output].tobytes(),
                                 all_of_them[name][2][output].tobytes())

    def test_the_worst_come_first(self):
        record = self.run_both("--save-flips", "flips.json", "--save-outputs", "all.json")
        worst = [flip["iteration"] for flip in record["pairs"][0]["decisions"][0]["worst"]]
        order = list(dict.fromkeys(worst))
        self.assertEqual(order, [2, 1, 0])  # the lightest are last, and have the largest margins
        self.assertIn("--save-flips: 'flips.json' has the iterations 2, 1, 0, the worst first",
                      record["notes"])
        feeds = load_json(str(self.path("flips.json")))
        self.assertEqual([feed["x"].tobytes() for feed in feeds],
                         [self.images[2 * i:2 * i + 2].tobytes() for i in order])
        kept = RunResults.load(str(self.path("flips.outputs.json")))["right"]
        everything = RunResults.load(str(self.path("all.json")))["right"]
        self.assertEqual([one["logits"].tobytes() for one in kept],
                         [everything[i]["logits"].tobytes() for i in order])
        again = self.run_both(inputs="flips.json")
        self.assertEqual(again["pairs"][0]["decisions"][0]["worst"][0]["iteration"], 0)

    def test_an_npz_is_run_and_compared_again(self):
        record = self.run_both("--worst-flips", "4", "--save-flips", "flips.npz")
        self.assertEqual(record["saved"][-1],
                         {"what": "outputs of flips", "where": "flips.outputs.npz"})
        again = self.run_both(inputs="flips.npz")
        flips = record["pairs"][0]["decisions"][0]["worst"]
        repeated = again["pairs"][0]["decisions"][0]["worst"]
        self.assertEqual([flip["first_margin"] for flip in repeated],
                         [flip["first_margin"] for flip in flips])
        ended = self.vernier("compare", "flips.outputs.npz", "--decision", "logits:top1",
                             "--max-flip-rate", "1", "--save-record", "c.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        (pair,) = json.loads(self.path("c.json").read_text())["pairs"]
        self.assertEqual((pair["first"], pair["second"]), ("right", "wrong"))
        self.assertEqual(pair["decisions"][0]["flips"], 4)

    def test_outputs_are_those_before_postprocessing(self):
        self.run_both("--save-flips", "flips.npz", "--postprocess", "top-1")
        with np.load(self.path("flips.npz")) as feeds:
            count = len(feeds.files)
        self.assertEqual(count, 3)
        ended = self.vernier("data", "convert", "flips.outputs.npz", "-o", "o.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        kept = RunResults.load(str(self.path("o.json")))
        self.assertEqual(kept["right"][0]["logits"].shape, (2, 2))
        self.assertEqual(kept["right"][0]["logits"].dtype, np.float32)

    def test_names_that_make_no_sense_are_refused(self):
        self.run_both("--save-flips", "flips.txt", code=2)
        self.says("--save-flips: expected FILE.npz, FILE.safetensors or FILE.json, got 'flips.txt'")
        self.run_both("--save-flips", "flips.npz", "--save-outputs", "flips.outputs.npz", code=2)
        self.says("--save-outputs and --save-flips would both write 'flips.outputs.npz'")

    def test_the_worst_flips_are_shown_as_pictures(self):
        record = self.run_both("--report", "r.html", "--report", "r.jsonl")
        worst = record["pairs"][0]["decisions"][0]["worst"]
        pictures = record["flip_pictures"]
        self.assertEqual(len(pictures), 6)
        self.assertEqual([(flip["iteration"], flip["row"], flip["rows"]) for flip in worst],
                         [(i, row, 2) for i in (2, 1, 0) for row in (1, 0)])
        for flip in worst:
            (place,) = flip["pictures"]
            picture = pictures[place]
            self.assertEqual((picture["iteration"], picture["image"], picture["input"]),
                             (flip["iteration"], flip["row"], "x"))
            self.assertEqual(picture["how"],
                             "float32, NCHW, gray, guessed: values are 0 to 1")
            image = self.images[flip["iteration"] * 2 + flip["row"], 0]
            expected = np.rint(image.astype(np.float64) * 255)
            for channel in range(3):
                np.testing.assert_array_equal(self.pixels(picture)[:, :, channel], expected)
            self.assertIn(picture["png"], self.path("r.html").read_text())
        self.assertNotIn("pictures", self.path("r.jsonl").read_text())
        ended = self.vernier("report", "r.json", "-o", "again.html")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn(pictures[0]["png"], self.path("again.html").read_text())

    def test_there_are_no_more_pictures_than_worst_flips(self):
        record = self.run_both("logits:sign", "--worst-flips", "3")
        self.assertEqual(len(record["flip_pictures"]), 3)
        # Both decisions flip on the same images, which are there once.
        first, second = record["pairs"][0]["decisions"]
        self.assertEqual([flip.get("pictures") for flip in first["worst"]], [[0], [1], [2]])
        self.assertEqual([flip.get("pictures") for flip in second["worst"]], [[0], [1], [2]])

    def test_what_is_no_image_or_flips_nowhere_has_none(self):
        self.ended = self.vernier("run", "--runner", "a=onnxrt right.onnx", "--runner",
                                  "b=onnxrt right.onnx", "--load-inputs", "feeds.json",
                                  "--decision", "logits:top1", "--save-record", "r.json")
        self.assertEqual(self.ended.code, 0, self.ended.out + self.ended.err)
        self.assertNotIn("flip_pictures", json.loads(self.path("r.json").read_text()))
        self.assertNotIn("flip_pictures", self.run_both("--sequential-runners"))

    def test_files_of_images_are_shown_as_they_are(self):
        self.path("images").mkdir()
        gray = np.random.default_rng(3).integers(0, 256, (SIDE, SIDE, 1))
        gray[0, 0] = 255
        (self.path("images") / "a.png").write_bytes(png(gray, 0))
        record = self.run_both("--preprocess", "scale=1/255,mean=0.5,std=0.2",
                               inputs="images")
        (picture,) = record["flip_pictures"]
        self.assertEqual(picture["how"],
                         "float32, NCHW, gray, values as --preprocess made them")
        np.testing.assert_array_equal(self.pixels(picture)[:, :, 0], gray[:, :, 0])


if __name__ == "__main__":
    unittest.main()
