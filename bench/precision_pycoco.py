"""Boxes as a detector has them on COCO, in the files of precision_speed.cc, and what pycocotools
takes for the mean average precision of one side.

    precision_pycoco.py IMAGES LABELS FIRST SECOND    writes the files and prints lines "name value"
"""

import contextlib
import io
import sys
import time

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

CATEGORIES, OBJECTS, DETECTIONS = 80, 7, 40


def _boxes(images):
    """Seven columns: image, corner, size, area or score, category."""
    random = np.random.default_rng(0)
    size = random.uniform(20, 200, (images, OBJECTS, 2))
    corner = random.uniform(0, 400, (images, OBJECTS, 2))
    category = random.integers(CATEGORIES, size=(images, OBJECTS))
    ids = np.broadcast_to(np.arange(1, images + 1)[:, None], (images, OBJECTS))
    labels = np.dstack([ids, corner, size, size.prod(2), category])
    seen = labels[np.arange(images)[:, None], random.integers(OBJECTS, size=(images, DETECTIONS))]
    first = seen.copy()
    first[..., 1:3] += random.normal(size=first[..., 1:3].shape) * 0.1 * seen[..., 3:5]
    first[..., 5] = random.random(first.shape[:2])
    second = first.copy()
    second[..., 1:3] += random.normal(size=first[..., 1:3].shape)
    return [boxes.reshape(-1, 7).astype(float) for boxes in (labels, first, second)]


def _entries(boxes, name):
    return [{"image_id": int(row[0]), "category_id": int(row[6]) + 1, "bbox": row[1:5].tolist(),
             name: float(row[5])} for row in boxes]


def _time(labels, detections, images):
    truth = COCO()
    truth.dataset = {
        "images": [{"id": i + 1} for i in range(images)],
        "categories": [{"id": i + 1, "name": str(i)} for i in range(CATEGORIES)],
        "annotations": [{**entry, "id": i + 1, "iscrowd": 0}
                        for i, entry in enumerate(_entries(labels, "area"))]}
    with contextlib.redirect_stdout(io.StringIO()):
        truth.createIndex()
        entries = _entries(detections, "score")
        start = time.perf_counter()
        evaluation = COCOeval(truth, truth.loadRes(entries), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        return time.perf_counter() - start, evaluation.stats[0]


def main(images, *paths):
    boxes = _boxes(int(images))
    for rows, path in zip(boxes, paths):
        rows.tofile(path)
    seconds, precision = _time(boxes[0], boxes[1], int(images))
    print(f"seconds {seconds:.9f}\nap {precision:.15f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
