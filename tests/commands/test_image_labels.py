"""Labels of images: whichever way the images are fed, and where their sizes are not the labels'."""

import json
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from decision_case import Decisions, ImagesOfClasses
from test_images import png

SIDE = 16
FOLDERS = ("a_red", "b_green", "c_blue")


class FedImages(Decisions):
    """Images in folders of their class, for networks that name the brightest channel; and one of
    them is in the wrong folder."""

    def setUp(self):
        super().setUp()
        self.network("m.onnx", [1, 1, 1])
        self.network("flips.onnx", [1, 1, -1])
        for channel, folder in enumerate(FOLDERS):
            self.path(f"images/{folder}").mkdir(parents=True)
            for i in range(3):
                pixels = np.zeros((SIDE, SIDE, 3), int)
                pixels[..., channel] = 200 + i
                (self.path("images") / folder / f"{i}.png").write_bytes(png(pixels, 2))
        green = self.path("images") / "b_green" / "0.png"
        (self.path("images") / "c_blue" / "1.png").write_bytes(green.read_bytes())

    def network(self, name, signs, state=False):
        """The means of the channels times `signs`; with a state they add up from step to step."""
        shapes = {"x": [1, 3, SIDE, SIDE], "h": [1, 3], "y": [1, 3], "hn": [1, 3]}
        x, h, y, hn = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                       for name, shape in shapes.items())
        nodes = [helper.make_node("ReduceMean", ["x"], ["mean"], "n", axes=[2, 3], keepdims=0),
                 helper.make_node("Mul", ["mean", "signs"], ["own" if state else "y"], "m")]
        if state:
            nodes += [helper.make_node("Add", ["own", "h"], ["hn"], "a"),
                      helper.make_node("Identity", ["hn"], ["y"], "i")]
        graph = helper.make_graph(nodes, "g", [x, h] if state else [x], [y, hn] if state else [y],
                                  [numpy_helper.from_array(np.array([signs], "f4"), "signs")])
        onnx.save(helper.make_model(graph, ir_version=8,
                                    opset_imports=[helper.make_opsetid("", 17)]),
                  str(self.path(name)))

    def run_two(self, first, second, *words, code=None):
        self.ended = self.vernier("run", "--runner", f"a=onnxrt {first}", "--runner",
                                  f"b=onnxrt {second}", "--load-inputs", "images/*/*.png",
                                  "--save-record", "r.json", *words)
        if code is not None:
            self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
        return json.loads(self.path("r.json").read_text())

    def test_every_step_of_an_image_has_its_label(self):
        self.network("steps.onnx", [1, 1, 1], state=True)
        words = ["--feed-back", "hn:h", "--steps", "2", "--decision", "y:top1", "--labels",
                 "folder"]
        for more in ([], ["--sequential-runners"]):
            record = self.run_two("steps.onnx", "steps.onnx", *words, *more, code=0)
            labels = record["pairs"][0]["decisions"][0]["labels"]
            self.assertEqual((labels["samples"], labels["both_right"]), (18, 16), more)

    def test_lanes_give_what_one_worker_gives(self):
        """Rows, labels, flips and their pictures belong to the image that was fed."""
        found = []
        for workers in ("1", "2"):
            record = self.run_two("m.onnx", "flips.onnx", "--decision", "y:top1", "--labels",
                                  "folder", "--max-flip-rate", "0", "--workers-per-runner",
                                  workers, "--save-rows", f"rows{workers}.jsonl", "--save-flips",
                                  f"flips{workers}.json", code=1)
            rows = [json.loads(line)
                    for line in self.path(f"rows{workers}.jsonl").read_text().splitlines()]
            decided = [{key: row[key] for key in row if "y" in key.split("/") or key == "index"}
                       for row in rows]
            found.append((record["pairs"][0]["decisions"], record["pairs"][0]["decision_gates"],
                          record["flip_pictures"], decided,
                          self.path(f"flips{workers}.json").read_text()))
        labels = found[0][0][0]["labels"]
        self.assertEqual((labels["right_to_wrong"], labels["wrong_to_wrong"]), (2, 0))
        self.assertTrue(found[0][2])
        for one, two in zip(*found):
            self.assertEqual(one, two)


class OtherSizes(Decisions):
    """A network whose only box covers the right half of what it is fed."""

    def setUp(self):
        super().setUp()
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 50, 50])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 6])
        values = {"zero": [0] * 6, "box": [25, 0, 50, 50, 0.875, 0]}
        nodes = [helper.make_node("ReduceMean", ["x"], ["mean"], "a", axes=[1, 2, 3], keepdims=0),
                 helper.make_node("Mul", ["mean", "zero"], ["none"], "b"),
                 helper.make_node("Add", ["none", "box"], ["y"], "c")]
        weights = [numpy_helper.from_array(np.array(value, np.float32).reshape(1, 1, 6), name)
                   for name, value in values.items()]
        graph = helper.make_graph(nodes, "g", [x], [y], weights)
        onnx.save(helper.make_model(graph, ir_version=8,
                                    opset_imports=[helper.make_opsetid("", 17)]),
                  str(self.path("m.onnx")))
        self.path("a.png").write_bytes(png(np.full((100, 200, 3), 7), 2))

    def score(self, code, **size):
        self.path("labels.json").write_text(json.dumps({
            "images": [{"id": 9, "file_name": "a.png", **size}], "categories": [{"id": 3}],
            "annotations": [{"id": 1, "image_id": 9, "category_id": 3,
                             "bbox": [100, 0, 100, 100]}]}))
        self.ended = self.vernier("run", "m.onnx", "--onnxrt", "--runner", "again=onnxrt m.onnx",
                                  "--load-inputs", "a.png", "--preprocess", "resize=50x50",
                                  "--decision", "y:boxes:xyxy,score,class", "--labels",
                                  "labels.json", "--save-record", "r.json")
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
        return json.loads(self.path("r.json").read_text())["pairs"][0]["decisions"][0]

    def test_labels_of_another_size_are_not_scored(self):
        self.assertAlmostEqual(self.score(0, width=200, height=100)["precision"]["first"]["ap"], 1)
        self.assertAlmostEqual(self.score(0)["precision"]["first"]["ap"], 1)
        self.assertNotIn("precision", self.score(4, width=100, height=200))
        self.says("image 'a.png' is 200 x 100 pixels (width x height), and 100 x 200 by the "
                  "labels, as if EXIF had turned it, which is ignored here")
        self.score(4, width=400, height=200)
        self.says("400 x 200 by the labels, as if it had been resized")


class FoldersOfClasses(ImagesOfClasses):
    def setUp(self):
        super().setUp()
        # A green one among the blue ones, and one that cannot be read.
        green = self.path("images") / "b_green" / "0.png"
        (self.path("images") / "c_blue" / "1.png").write_bytes(green.read_bytes())

    def run_images(self, *words, code):
        self.ended = self.vernier("run", "m.onnx", "--onnxrt", "--runner", "again=onnxrt m.onnx",
                                  "--load-inputs", "images/*/*.png", "--decision", "y:top1",
                                  "--labels", "folder", *words, "--save-record", "r.json")
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
        return json.loads(self.path("r.json").read_text())["pairs"][0]

    @staticmethod
    def of(pair):
        (decision,) = pair["decisions"]
        return decision["labels"]

    def test_the_folder_is_the_class(self):
        labels = self.of(self.run_images(code=0))
        self.assertEqual((labels["samples"], labels["both_right"]), (9, 8))
        self.says("--labels folder: 3 folders by name, as in torchvision's ImageFolder: 0 is "
                  "'a_red', 1 is 'b_green', 2 is 'c_blue'")

    def test_a_folder_without_images_is_a_class(self):
        self.path("images/bare").mkdir()
        self.run_images(code=4)
        self.says("4 folders for 3 classes of the output, so that folders would be other classes "
                  "than they are", "; 'bare' is a class, too, without an image that is fed")

    def test_a_skipped_image_does_not_shift_the_others(self):
        (self.path("images") / "a_red" / "1.png").write_bytes(b"\x89PNG\r\n\x1a\nno more")
        labels = self.of(self.run_images("--lenient", code=0))
        self.assertEqual((labels["samples"], labels["both_right"]), (8, 7))


if __name__ == "__main__":
    unittest.main()
