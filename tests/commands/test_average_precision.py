"""--labels FILE.json: mean average precision of both sides, against pycocotools."""

import contextlib
import io
import json
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from decision_case import Decisions
from test_images import png

FIGURES = ["ap", "ap50", "ap75", "ap_small", "ap_medium", "ap_large", "ar1", "ar10", "ar100",
           "ar_small", "ar_medium", "ar_large"]
KIND = "y:boxes:xyxy,score,class,iou=1,score=0.01"
IDS = [31, 4, 15, 9, 26, 5, 35, 8]
CATEGORIES = [7, 1, 18]


def pycocotools(path, sides):
    """COCOeval's figures of a side, whose boxes are those of the images in the order of their ids,
    and whose classes are the categories in theirs."""
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO(str(path))
        rows = [{"image_id": image, "category_id": sorted(CATEGORIES)[int(label)],
                 "bbox": [x, y, right - x, bottom - y], "score": score}
                for image, boxes in zip(sorted(IDS), sides)
                for x, y, right, bottom, score, label in boxes.astype(float).tolist()]
        run = COCOeval(coco, coco.loadRes(rows), "bbox")
        run.evaluate()
        run.accumulate()
        run.summarize()
    return run.stats


class AveragePrecision(Decisions):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(25)
        self.annotations, self.a, self.b = [], [], []
        for image in sorted(IDS):
            boxes = []
            for _ in range(6):
                corner, size = rng.integers(0, 300, 2), rng.integers(10, 200, 2)
                label = int(rng.integers(3))
                self.annotations.append(
                    {"id": len(self.annotations) + 1, "image_id": image, "iscrowd": 0,
                     "category_id": sorted(CATEGORIES)[label], "area": int(size.prod()),
                     "bbox": [*corner.tolist(), *size.tolist()]})
                moved = corner + rng.integers(-3, 4, 2)
                boxes.append([*moved, *(moved + size), rng.integers(5, 100) / 100, label])
            self.a.append(np.array(boxes, np.float32))
            self.b.append(self.a[-1] + rng.integers(-12, 13, (6, 1)) * [1, 1, 1, 1, 0, 0])
        self.b = [side.astype(np.float32) for side in self.b]

    def labels(self, **more):
        text = {"images": [{"id": image, "width": 500, "height": 500} for image in IDS],
                "categories": [{"id": category} for category in CATEGORIES],
                "annotations": self.annotations} | more
        self.path("instances.json").write_text(json.dumps(text))
        return "instances.json"

    def score(self, a, b, *words, code, kind=KIND):
        pair = self.compare([{"y": side[None]} for side in a], [{"y": side[None]} for side in b],
                            "--decision", kind, "--labels", self.labels(), "--max-flip-rate", "1",
                            *words, code=code)
        decisions = (pair or {}).get("decisions")
        return decisions[0].get("precision") if decisions else None

    def test_both_sides_as_pycocotools_has_them(self):
        got = self.score(self.a, self.b, code=0)
        for side, boxes in (("first", self.a), ("second", self.b)):
            want = pycocotools(self.path("instances.json"), boxes)
            np.testing.assert_allclose([got[side][name] for name in FIGURES], want, 0, 1e-9)
        self.assertGreater(got["ap_drop"], 0.05)
        self.assertEqual((got["images"], got["listed"], got["units"]), (8, 8, "pixels"))
        self.says("labels: mAP@[.5:.95] ", " against ", ", a drop of ",
                  "8 of 8 labelled images, boxes taken as pixels")

    def test_fractions_of_the_image(self):
        scale = np.array([500, 500, 500, 500, 1, 1])
        got = self.score([side / scale for side in self.a], [side / scale for side in self.a],
                         code=0)
        want = pycocotools(self.path("instances.json"), self.a)
        self.assertEqual(got["units"], "fractions")
        self.assertAlmostEqual(got["first"]["ap50"], want[1], 9)

    def test_a_batch_and_an_image_without_labels_of_a_box(self):
        self.annotations = [one for one in self.annotations if one["image_id"] != sorted(IDS)[0]]
        pair = self.compare([{"y": np.stack(self.a)}], [{"y": np.stack(self.b)}], "--decision",
                            KIND, "--labels", self.labels(), code=1)
        got = pair["decisions"][0]["precision"]
        want = pycocotools(self.path("instances.json"), self.b)
        self.assertAlmostEqual(got["second"]["ap"], want[0], 9)

    def test_the_gate(self):
        self.score(self.a, self.b, "--max-drop", "0.001", code=1)
        self.says("--max-drop 0.001")
        self.score(self.a, self.b, "--max-drop", "0.9", code=0)
        self.score(self.a, self.b, "--max-drop", "0.01", "--drop-type", "relative", code=1)

    def test_few_images_leave_a_gate_undecided(self):
        got = self.score(self.a, self.b, code=0)
        intervals = got["intervals"]
        self.assertEqual(intervals["draws"], 10000)
        self.assertLess(intervals["drop_low"], got["ap_drop"])
        self.assertGreater(intervals["drop_high"], got["ap_drop"])
        self.says("(drop: 95 % interval ")
        near = str(got["ap_drop"] + 0.001)
        self.score(self.a, self.b, "--max-drop", near, code=0)
        self.says("passed but undecided: the 95 % interval contains the limit, and about ")
        self.score(self.a, self.b, "--max-drop", near, "--strict", code=4)
        again = self.score(self.a, self.b, code=0)["intervals"]
        self.assertEqual(again, intervals)

    def test_units_can_be_said(self):
        small = [side[:1] * [0.004, 0.004, 0.004, 0.004, 1, 1] for side in self.a]
        for units in ("pixels", "fractions"):
            got = self.score(small, small, code=0, kind=f"{KIND},units={units}")
            self.assertEqual(got["units"], units)
        mixed = [side if i % 2 else side * [0.002, 0.002, 0.002, 0.002, 1, 1]
                 for i, side in enumerate(self.a)]
        self.assertIsNone(self.score(mixed, mixed, code=4))
        self.says("boxes reach further than 2, so that they may be in pixels or fractions of the "
                  "image: add units=pixels or units=fractions to")

    def test_sizes_that_no_image_has(self):
        images = [{"id": image, "width": 500, "height": 500} for image in IDS]
        images[2]["width"] = 1e300
        self.compare([{"y": self.a[0]}], [{"y": self.a[0]}], "--decision", KIND, "--labels",
                     self.labels(images=images), code=3)
        self.says(f"--labels: 'instances.json': image id {IDS[2]}: width: expected a whole number "
                  "of pixels, at most 2147483648, got 1e+300")

    def test_what_does_not_fit_is_no_pass(self):
        self.score(self.a[:7], self.a[:7], code=4)
        self.says("instances.json' has 8 images for 7 samples")
        self.score([*self.a, self.a[0]], [*self.a, self.a[0]], code=4)
        self.says("1 of 9 samples could not be scored")
        beyond = [side.copy() for side in self.a]
        beyond[3][0, 5] = 3
        self.score(self.a, beyond, code=4)
        self.says("class 3 is beyond the categories of --labels 'instances.json', which are 3")

    def test_refused(self):
        words = ["--labels", self.labels(), "--decision", "y:top1"]
        self.compare([{"y": self.a[0]}], [{"y": self.a[0]}], *words, code=2)
        self.says("no --decision has boxes: add boxes:FORMAT")
        self.annotations[2]["bbox"][3] = -1
        self.score(self.a, self.a, code=3)
        self.says("--labels: 'instances.json': annotation 2: bbox: expected a width and a height "
                  ">= 0, got '-1'")

    def test_notes(self):
        self.annotations[0]["id"] = 0
        self.annotations[1]["image_id"] = 777
        self.score(self.a, self.b, code=0)
        self.says("1 annotation of images or categories that it does not list: left out",
                  "an annotation has the id 0: as in pycocotools, a detection of it counts as "
                  "wrong")


class Images(Decisions):
    """A network whose only box is further to the right the brighter the image."""

    def test_names_and_sizes_of_images(self):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 50, 50])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 6])
        nodes = [helper.make_node("ReduceMean", ["x"], ["mean"], "a", axes=[1, 2, 3], keepdims=0),
                 helper.make_node("Mul", ["mean", "by"], ["shift"], "b"),
                 helper.make_node("Add", ["shift", "box"], ["y"], "c")]
        values = {"by": [0.25, 0, 0.25, 0, 0, 0], "box": [5, 5, 15, 25, 0.875, 0]}
        weights = [numpy_helper.from_array(np.array(value, np.float32).reshape(1, 1, 6), name)
                   for name, value in values.items()]
        graph = helper.make_graph(nodes, "g", [x], [y], weights)
        onnx.save(helper.make_model(graph, ir_version=8,
                                    opset_imports=[helper.make_opsetid("", 17)]),
                  str(self.path("m.onnx")))
        self.path("val").mkdir()
        for name, value in (("a", 0), ("b", 100)):
            self.path(f"val/{name}.png").write_bytes(png(np.full((100, 200, 3), value), 2))
        size = {"width": 200, "height": 100}
        # The images by id are in the other order than by name.
        self.path("labels.json").write_text(json.dumps({
            "images": [{"id": 9, "file_name": "a.png", **size},
                       {"id": 2, "file_name": "val/b.png", **size},
                       {"id": 5, "file_name": "c.png", **size}],
            "categories": [{"id": 3, "name": "cat"}],
            "annotations": [{"id": 1, "image_id": 9, "category_id": 3, "bbox": [20, 10, 40, 40]},
                            {"id": 2, "image_id": 2, "category_id": 3, "bbox": [120, 10, 40, 40]},
                            {"id": 3, "image_id": 5, "category_id": 3, "bbox": [0, 0, 9, 9]}]}))
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--runner", "again=onnxrt m.onnx",
                             "--load-inputs", "val/*.png", "--preprocess", "resize=50x50",
                             "--decision", "y:boxes:xyxy,score,class", "--labels", "labels.json",
                             "--save-record", "r.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        got = json.loads(self.path("r.json").read_text())["pairs"][0]["decisions"][0]["precision"]
        self.assertAlmostEqual(got["first"]["ap"], 1, 9)
        self.assertEqual((got["images"], got["listed"], got["ap_drop"]), (2, 3, 0))


if __name__ == "__main__":
    unittest.main()
