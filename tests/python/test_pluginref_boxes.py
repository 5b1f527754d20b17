"""--pluginref's suppression of boxes against what is written here, and against ONNX's own."""

import itertools

import numpy as np
from onnx import TensorProto, helper, reference

from test_pluginref import FLOAT, INT64, PluginCase


def overlap(a, b, pixel=0.0):
    """Of two boxes of ordered corners, in float64."""
    width = min(a[2], b[2]) - max(a[0], b[0]) + pixel
    height = min(a[3], b[3]) - max(a[1], b[1]) + pixel
    if width <= 0 or height <= 0:
        return 0.0
    def area(box):
        return (box[2] - box[0] + pixel) * (box[3] - box[1] + pixel)
    return width * height / (area(a) + area(b) - width * height)


def ordered(box):
    return [min(box[0], box[2]), min(box[1], box[3]), max(box[0], box[2]), max(box[1], box[3])]


def greedy(candidates, loses):
    """(score, label, box) of those that lose against no better one."""
    kept = []
    for candidate in sorted(candidates, key=lambda c: -c[0]):
        if not any(loses(better, candidate) for better in kept):
            kept.append(candidate)
    return kept


def padded(images, most, label):
    """The four outputs of lists of (score, label, box)."""
    counts = np.array([[len(image)] for image in images], np.int32)
    boxes, scores = np.zeros((len(images), most, 4)), np.zeros((len(images), most))
    labels = np.full((len(images), most), label)
    for i, image in enumerate(images):
        for j, (score, found, box) in enumerate(image):
            boxes[i, j], scores[i, j], labels[i, j] = box, score, found
    return counts, boxes, scores, labels


def detections(batch=2, boxes=40, classes=3, seed=1, own=False):
    """Overlapping boxes and scores that are all different."""
    random_numbers = np.random.default_rng(seed)
    shape = (batch, boxes, classes, 4) if own else (batch, boxes, 4)
    corner = random_numbers.uniform(0, 0.6, (*shape[:-1], 2))
    size = random_numbers.uniform(0.1, 0.5, (*shape[:-1], 2))
    scores = random_numbers.permutation(batch * boxes * classes) / (batch * boxes * classes)
    return (np.concatenate([corner, corner + size], -1).astype(np.float32),
            scores.reshape(batch, boxes, classes).astype(np.float32))


class Suppression(PluginCase):
    def check(self, node, inputs, label_type, expected):
        self.model([node], inputs, [("n", TensorProto.INT32), "b", "s", ("c", label_type)])
        actual = self.outputs()
        for name, value in zip("nbsc", expected):
            self.assertEqual(actual[name].shape, value.shape, name)
            np.testing.assert_allclose(actual[name], value, rtol=1e-5, atol=1e-6, err_msg=name)

    def efficient(self, boxes, scores, threshold=0.4, iou=0.35, most=9, background=-1,
                  agnostic=False):
        images = []
        for image in range(scores.shape[0]):
            candidates = []
            for box, label in np.ndindex(*scores.shape[1:]):
                found = boxes[image, box] if boxes.ndim == 3 else boxes[image, box, label]
                if scores[image, box, label] >= threshold and label != background:
                    candidates.append((scores[image, box, label], label, found.tolist()))
            images.append(greedy(candidates, lambda better, other: (
                (agnostic or better[1] == other[1])
                and overlap(ordered(better[2]), ordered(other[2])) >= iou))[:most])
        return padded(images, most, 0)

    def efficient_node(self, inputs=("boxes", "scores"), **attributes):
        attributes = {"score_threshold": 0.4, "iou_threshold": 0.35, "max_output_boxes": 9,
                      "background_class": -1, "score_activation": 0, "class_agnostic": 0,
                      "box_coding": 0, **attributes}
        return helper.make_node("EfficientNMS_TRT", list(inputs), list("nbsc"), **attributes)

    def test_efficient(self):
        for own, background, agnostic in itertools.product((False, True), (-1, 1), (0, 1)):
            with self.subTest(own=own, background=background, agnostic=agnostic):
                boxes, scores = detections(own=own)
                node = self.efficient_node(background_class=background, class_agnostic=agnostic)
                self.check(node, {"boxes": boxes, "scores": scores}, TensorProto.INT32,
                           self.efficient(boxes, scores, background=background, agnostic=agnostic))

    def test_efficient_with_fewer_than_asked_for(self):
        boxes, scores = detections(boxes=4)
        expected = self.efficient(boxes, scores, threshold=0.9)
        self.assertLess(expected[0].max(), 9)
        self.check(self.efficient_node(score_threshold=0.9), {"boxes": boxes, "scores": scores},
                   TensorProto.INT32, expected)

    def test_efficient_decodes_and_activates(self):
        raw, scores = detections(boxes=30, seed=4)
        anchors = np.random.default_rng(9).uniform(0.2, 0.9, (1, 30, 4)).astype(np.float32)
        logits = np.log(np.clip(scores, 1e-3, 1 - 1e-3) / (1 - np.clip(scores, 1e-3, 1 - 1e-3)))
        sigmoid = 1 / (1 + np.exp(-logits.astype(np.float64)))
        wide, base = raw.astype(np.float64), anchors.astype(np.float64)
        centre = wide[..., :2] * base[..., 2:] + base[..., :2]
        half = base[..., 2:] * np.exp(wide[..., 2:]) / 2
        for coding, boxes in ((0, wide + np.sort(base.reshape(1, 30, 2, 2), 2).reshape(1, 30, 4)),
                              (1, np.concatenate([centre - half, centre + half], -1))):
            with self.subTest(coding=coding):
                node = self.efficient_node(("boxes", "scores", "anchors"), box_coding=coding,
                                           score_activation=1)
                self.check(node, {"boxes": raw, "scores": logits, "anchors": anchors},
                           TensorProto.INT32, self.efficient(boxes, sigmoid))

    def batched(self, boxes, scores, top, keep, normalized, clip, background):
        images = []
        for image in range(scores.shape[0]):
            best = []
            for label in range(scores.shape[2]):
                candidates = [(scores[image, i, label], label, boxes[
                    image, i, 0 if boxes.shape[2] == 1 else label].astype(np.float64).tolist())
                    for i in range(scores.shape[1]) if scores[image, i, label] > np.float32(0.3)]
                candidates = sorted(candidates, key=lambda c: -c[0])[:top]
                if label != background:
                    best += greedy(candidates, lambda a, b: overlap(
                        a[2], b[2], 0.0 if normalized else 1.0) > 0.4)
            best = sorted(best, key=lambda c: -c[0])[:keep]
            images.append([(s, c, np.clip(b, 0, 1) if clip else b) for s, c, b in best])
        return padded(images, keep, -1)

    def test_batched(self):
        for own, normalized, clip, top in itertools.product((0, 1), (0, 1), (0, 1), (8, 100)):
            with self.subTest(own=own, normalized=normalized, clip=clip, top=top):
                boxes, scores = detections(own=bool(own), seed=2)
                boxes = boxes if own else boxes[:, :, None]
                boxes = boxes * np.float32(1 if normalized else 40)
                node = helper.make_node(
                    "BatchedNMSDynamic_TRT" if own else "BatchedNMS_TRT", ["boxes", "scores"],
                    list("nbsc"), shareLocation=1 - own, backgroundLabelId=0, numClasses=3,
                    topK=top, keepTopK=7, scoreThreshold=0.3, iouThreshold=0.4,
                    isNormalized=normalized, clipBoxes=clip)
                self.check(node, {"boxes": boxes, "scores": scores}, FLOAT,
                           self.batched(boxes, scores, top, 7, normalized, clip, 0))

    def test_batched_chooses_as_onnx_does(self):
        """ONNX's own NonMaxSuppression, by ONNX's reference: not written by the authors of this."""
        boxes, scores = detections(seed=2)
        model = self.model(
            [helper.make_node("NonMaxSuppression", ["boxes", "scores", "m", "i", "s"], ["chosen"])],
            {"boxes": boxes, "scores": scores.transpose(0, 2, 1)}, [("chosen", INT64)],
            constants={"m": np.array([100]), "i": np.array([0.4], np.float32),
                       "s": np.array([0.3], np.float32)})
        chosen = reference.ReferenceEvaluator(model).run(
            None, {"boxes": boxes, "scores": scores.transpose(0, 2, 1)})[0]
        images = [sorted(((scores[n, box, label], label, boxes[n, box]) for n, label, box in chosen
                          if n == image), key=lambda c: -c[0]) for image in range(len(boxes))]
        self.assertLess(len(chosen), np.count_nonzero(scores > 0.3), "nothing was suppressed")
        node = helper.make_node(
            "BatchedNMS_TRT", ["boxes", "scores"], list("nbsc"), shareLocation=1,
            backgroundLabelId=-1, numClasses=scores.shape[2], topK=100, keepTopK=100,
            scoreThreshold=0.3, iouThreshold=0.4, isNormalized=1, clipBoxes=0)
        self.check(node, {"boxes": boxes[:, :, None], "scores": scores}, FLOAT,
                   padded(images, 100, -1))

    def test_inputs_that_do_not_fit(self):
        boxes, scores = detections(boxes=4)
        self.model([self.efficient_node()], {"boxes": boxes[:, :3], "scores": scores},
                   [("n", TensorProto.INT32), "b", "s", ("c", TensorProto.INT32)])
        self.assert_fails(self.run_it(), 6, r"boxes of shape \(2, 3, 4\) do not fit scores")
