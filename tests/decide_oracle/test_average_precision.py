"""Average precision against pycocotools, on made and random detections.

    DECIDE_DRIVER=build/.../tests/decide_driver python -m unittest test_average_precision

The expected values come from COCOeval itself with its default parameters, for boxes.
"""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

import oracle

SIZES = [4, 31.9, 32, 32, 33, 60, 96, 96, 97, 200]


def labels(images, annotations, categories=(1, 2, 3), **more):
    """COCO's JSON. annotations: (image, category, box), and members to add or replace."""
    rows = []
    for number, (image, category, box, *extra) in enumerate(annotations, 1):
        rows.append({"id": number, "image_id": image, "category_id": category, "bbox": list(box),
                     "area": box[2] * box[3], "iscrowd": 0} | (extra[0] if extra else {}))
    return {"images": [{"id": image} for image in images], "annotations": rows,
            "categories": [{"id": category} for category in categories]} | more


def pycocotools(truth, detections):
    """The twelve figures; and of each category its AP, AP50 and number of objects that count."""
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = json.loads(json.dumps(truth))
        coco.createIndex()
        rows = [{"image_id": int(image), "category_id": int(category), "score": float(score),
                 "bbox": list(map(float, box))} for image, *box, score, category in detections]
        # loadRes cannot take an empty list.
        found = COCO()
        found.dataset = {"images": coco.dataset["images"], "categories": truth["categories"],
                         "annotations": []}
        if rows:
            found = coco.loadRes(rows)
        else:
            found.createIndex()
        run = COCOeval(coco, found, "bbox")
        run.evaluate()
        run.accumulate()
        run.summarize()
    categories = {}
    for place, category in enumerate(run.params.catIds):
        precision = run.eval["precision"][:, :, place, 0, 2]
        categories[int(category)] = (precision.mean(), precision[0].mean())
    return run.stats, categories


def ours(cases):
    """The driver's answer to each (truth, detections)."""
    with tempfile.TemporaryDirectory() as name:
        requests = []
        for i, (truth, detections) in enumerate(cases):
            file, found = pathlib.Path(name, f"{i}.json"), pathlib.Path(name, f"{i}.raw")
            file.write_text(truth if isinstance(truth, str) else json.dumps(truth))
            found.write_bytes(np.array(detections, np.float64).tobytes())
            requests.append({"average_precision": str(file), "detections": str(found)})
        return oracle.ask(requests)


def random_case(rng):
    """Objects of all size ranges, and detections that hit some of them more or less."""
    images = rng.permutation(1000)[:rng.integers(1, 8)].tolist()
    categories = rng.permutation(90)[:rng.integers(1, 5)].tolist()
    annotations, detections = [], []
    digits = int(rng.integers(1, 4))  # 1: many equal scores
    whole = rng.integers(2) == 0  # whole pixels: IoUs on the thresholds, and equal ones
    for image in images:
        for _ in range(rng.integers(0, 9)):
            category = int(rng.choice(categories))
            box = np.concatenate([rng.uniform(0, 100, 2), rng.choice(SIZES, 2)])
            box = np.round(box) if whole else box
            crowd = int(rng.integers(8) == 0)
            area = box[2] * box[3] * rng.choice([1, 1, 0.5])
            annotations.append((image, category, box.tolist(), {"iscrowd": crowd, "area": area}))
            for _ in range(rng.integers(0, 5)):
                moved = box + rng.normal(0, rng.choice([0, 0.02, 0.1, 0.5])) * box[[2, 3, 2, 3]]
                moved[2:] = np.abs(moved[2:])
                moved = np.round(moved) if whole else moved
                other = category if rng.integers(5) else int(rng.choice(categories))
                detections.append((image, *moved, np.round(rng.uniform(), digits), other))
        for _ in range(rng.integers(0, 6)):
            box = np.concatenate([rng.uniform(0, 100, 2), rng.choice([0, *SIZES], 2)])
            detections.append((image, *box, np.round(rng.uniform(), digits),
                               int(rng.choice(categories))))
    order = rng.permutation(len(detections))
    return labels(images, annotations, categories), [detections[i] for i in order]


class AveragePrecisionTest(unittest.TestCase):
    def check(self, cases):
        """All twelve figures, and those of each category, to 1e-9; pycocotools' twelve."""
        figures = []
        for i, (case, got) in enumerate(zip(cases, ours(cases), strict=True)):
            name = f"case {i}, seed {oracle.SEED}"
            self.assertNotIn("error", got, name)
            stats, categories = pycocotools(*case)
            np.testing.assert_allclose(np.array(got["stats"], float), stats, 0, 1e-9, err_msg=name)
            for category, want in categories.items():
                own = got["categories"].get(str(category), ("-1", "-1", 0))
                np.testing.assert_allclose(np.array(own[:2], float), want, 0, 1e-9,
                                           err_msg=f"{name}, category {category}")
            figures.append(stats)
        return figures

    def test_random(self):
        rng = np.random.default_rng([oracle.SEED, 25])
        stats = np.array(self.check([random_case(rng) for _ in range(5 * oracle.CASES)]))
        # The cases say something: not all figures are 0 or absent.
        for figure in stats.T:
            self.assertGreater(np.count_nonzero((figure > 0) & (figure < 1)), oracle.CASES / 2)

    def test_many_detections_of_an_image(self):
        rng = np.random.default_rng([oracle.SEED, 26])
        boxes = [(float(x), float(y), 9.0, 9.0) for x in range(0, 130, 10)
                 for y in range(0, 130, 10)]
        truth = labels([7, 8], [(image, 1, box) for image in (7, 8) for box in boxes])
        # 169 detections of an image with few different scores: which 100 count hangs on the order.
        detections = [(image, *box, rng.integers(4) / 4, 1) for image in (8, 7) for box in boxes]
        stats = self.check([(truth, detections)])[0]
        self.assertAlmostEqual(stats[8], 100 / 169)

    def test_made(self):
        box, far = (10, 10, 40, 40), (500, 500, 40, 40)
        crowd = {"iscrowd": 1}
        nan = float("nan")
        one = labels([1], [(1, 1, box)])
        self.check([
            (one, [(1, *box, 0.9, 1)]),
            (one, []),
            (one, [(1, *far, 0.9, 1)]),
            # equal scores, the wrong one first and last
            (one, [(1, *far, 0.5, 1), (1, *box, 0.5, 1)]),
            (one, [(1, *box, 0.5, 1), (1, *far, 0.5, 1)]),
            # equal scores in two images, given in the reverse order of their ids
            (labels([1, 2], [(1, 1, box)]), [(2, *box, 0.5, 1), (1, *box, 0.5, 1)]),
            # no objects at all, no images, a detection of a category without objects
            (labels([1, 2], []), [(1, *box, 0.5, 1)]),
            (labels([], []), []),
            (one, [(1, *box, 0.9, 1), (1, *box, 0.95, 2)]),
            # a crowd takes what the object leaves; a crowd alone is no object
            (labels([1], [(1, 1, (0, 0, 200, 200), crowd), (1, 1, box)]),
             [(1, *box, 0.9, 1), (1, *box, 0.8, 1), (1, *far, 0.7, 1), (1, 0, 0, 90, 90, 0.6, 1)]),
            (labels([1], [(1, 1, (0, 0, 200, 200), crowd)]), [(1, *box, 0.9, 1)]),
            # boxes and objects without area, and a box of negative size
            (labels([1], [(1, 1, (5, 5, 0, 0)), (1, 1, box)]),
             [(1, 5, 5, 0, 0, 0.9, 1), (1, 10, 10, 40, 0, 0.8, 1), (1, 50, 50, -40, -40, 0.7, 1)]),
            # two objects that one box overlaps equally, and two equal boxes
            (labels([1], [(1, 1, box), (1, 1, box)]), [(1, *box, 0.9, 1), (1, *box, 0.9, 1)]),
            # NaN: a score, and each number of a box
            (one, [(1, *box, nan, 1), (1, *far, 0.1, 1)]),
            (one, [(1, *box, nan, 1), (1, *box, nan, 1)]),
            *[(one, [(1, *(nan if i == at else x for i, x in enumerate(box)), 0.9, 1),
                     (1, *box, 0.5, 1)]) for at in range(4)],
            # what lies on the ends of two size ranges
            (labels([1], [(1, 1, (0, 0, 32, 32)), (1, 1, (100, 100, 96, 96))]),
             [(1, 0, 0, 32, 32, 0.9, 1), (1, 100, 100, 96, 96, 0.8, 1), (1, *far, 0.95, 1)]),
            # the first annotation has the id 0
            (labels([1], [(1, 1, box, {"id": 0}), (1, 1, far)]),
             [(1, *box, 0.9, 1), (1, *far, 0.8, 1), (1, *box, 0.7, 1)]),
            # annotations of an image and of a category that are not listed
            (labels([1], [(1, 1, box), (9, 1, box), (1, 9, far)]), [(1, *box, 0.9, 1)]),
        ])

    def test_what_was_read_is_said(self):
        box = (10, 10, 40, 40)
        got = ours([(labels([1], [(1, 1, box, {"id": 0}), (9, 1, box), (1, 9, box)]), []),
                    (labels([1], [(1, 1, box)]), [])])
        self.assertEqual([(one["has_id_zero"], one["left_out"]) for one in got],
                         [(True, 2), (False, 0)])

    def test_members_that_pycocotools_needs_and_this_does_not(self):
        box = (10, 10, 40, 40)
        truth = labels([1], [(1, 1, box)])
        full = ours([(truth, [(1, *box, 0.9, 1)])])
        del truth["annotations"][0]["area"], truth["annotations"][0]["iscrowd"]
        self.assertEqual(ours([(truth, [(1, *box, 0.9, 1)])]), full)

    def test_refused(self):
        box = [1, 2, 3, 4]
        for truth, sentence in [
            (labels([1], [(1, 1, [1, 2, 3, -4])]),
             "annotation 0: bbox: expected a width and a height >= 0, got '-4'"),
            (labels([1], [(1, 1, box), (1, 1, [float("nan"), 2, 3, 4])]),
             "annotation 1: bbox: expected four numbers, got 'NaN'"),
            (labels([1], [(1, 1, box, {"bbox": [1, 2, 3]})]),
             "annotation 0: bbox: expected [x, y, width, height], got 3 numbers"),
            (labels([1], [(1, 1, box, {"bbox": "x"})]),
             "annotation 0: bbox: expected [x, y, width, height], got 'x'"),
            (labels([1], [(1, 1, box, {"area": -1})]),
             "annotation 0: area: expected a number >= 0, got '-1'"),
            (labels([1], [(1, 1, box, {"iscrowd": 2})]),
             "annotation 0: iscrowd: expected 0 or 1, got '2'"),
            (labels([1], [("one", 1, box)]),
             "annotation 0: image_id: expected an integer, got 'one'"),
            (labels([1, 1], []), "image id 1 is there twice"),
            (labels([1], [], categories=(4, 4)), "category id 4 is there twice"),
            (labels([1], [(1, 1, box, {"id": 5}), (1, 1, box, {"id": 5})]),
             "annotation id 5 is there twice"),
            ({"images": [], "annotations": []}, "there is no list 'categories'"),
            ({"images": [{}], "annotations": [], "categories": []}, "image 0 has no id"),
            ({"images": [], "annotations": [{"id": 1}], "categories": []},
             "annotation 0 has no image_id"),
            ([], "expected an object with images, annotations and categories"),
            ('{"images": [', "JSON: byte 12: expected a value, found the end of the text"),
        ]:
            with self.subTest(sentence):
                self.assertTrue(ours([(truth, [])])[0]["error"].endswith(f".json': {sentence}"),
                                ours([(truth, [])])[0]["error"])


if __name__ == "__main__":
    unittest.main()
