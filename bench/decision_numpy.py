"""Outputs for the case `decisions`, and how long NumPy takes for the decisions that loop.

decision_numpy.py make DIMS FIRST SECOND       normal values, and their float16 copy
decision_numpy.py boxes DIMS FIRST SECOND      the same of a YOLOv8 head
decision_numpy.py time KIND DIMS FIRST SECOND ROUNDS    prints the seconds and the flips
"""

import sys
import time

import numpy as np


def save(first, paths):
    first = first.astype(np.float32)
    for values, path in zip((first, first.astype(np.float16).astype(np.float32)), paths):
        values.tofile(path)


def make(dims, *paths):
    save(np.random.default_rng(0).standard_normal(dims, dtype=np.float32), paths)


def boxes(dims, *paths):
    """Some 200 boxes of a sample have a score that counts."""
    rng = np.random.default_rng(0)
    first = rng.random(dims) * 0.2
    first[:, :2] = rng.random((dims[0], 2, dims[2])) * 640
    first[:, 2:4] = 20 + rng.random((dims[0], 2, dims[2])) * 80
    for sample in first:
        places = rng.choice(dims[2], 200, replace=False)
        sample[rng.integers(4, dims[1], 200), places] = 0.3 + rng.random(200) * 0.7
    save(first, paths)


def top5(x):
    """Ties go to the lowest index."""
    return [frozenset(row) for row in np.argsort(-x, axis=1, kind="stable")[:, :5]]


def ctc(x):
    texts = []
    for row in x.argmax(axis=2):
        kept = row[np.append(True, row[1:] != row[:-1])]
        texts.append(tuple(kept[kept != 0]))
    return texts


def edits(first, second):
    """Levenshtein's distance, a row of the table at a time."""
    places = np.arange(len(second) + 1)
    second, row = np.array(second), places
    for i, symbol in enumerate(first):
        row = np.append(i + 1, np.minimum(row[:-1] + (second != symbol), row[1:] + 1))
        row = np.minimum.accumulate(row - places) + places
    return row[-1]


def areas_shared(box, others):
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    shared = np.clip(high - low, 0, None).prod(axis=1)
    return shared / ((box[2:] - box[:2]).prod() +
                     (others[:, 2:] - others[:, :2]).prod(axis=1) - shared)


def detections(sample):
    best = sample[4:].max(axis=0)
    kept = np.flatnonzero(best >= 0.25)
    kept = kept[np.argsort(-best[kept], kind="stable")]
    labels = sample[4:, kept].argmax(axis=0)
    centre, size = sample[:2, kept].T, sample[2:4, kept].T
    corners = np.hstack([centre - size / 2, centre + size / 2]).astype(np.float64)
    found, left = [], np.ones(len(kept), bool)
    for i in range(len(kept)):
        if not left[i]:
            continue
        found.append((labels[i], corners[i]))
        left &= (labels != labels[i]) | (areas_shared(corners[i], corners) < 0.5)
    return found


def same_detections(first, second):
    free = list(range(len(second)))
    for label, box in first:
        if not free:
            return False
        shared = areas_shared(box, np.array([second[i][1] for i in free]))
        best = int(shared.argmax())
        if shared[best] < 0.5 or second[free.pop(best)][0] != label:
            return False
    return not free


def flips_of(kind, first, second):
    if kind.startswith("boxes"):
        return sum(not same_detections(detections(a), detections(b))
                   for a, b in zip(first, second))
    if kind == "ctc":
        return sum(a != b and edits(a, b) > 0 for a, b in zip(ctc(first), ctc(second)))
    return sum(a != b for a, b in zip(top5(first), top5(second)))


def main():
    task, *words = sys.argv[1:]
    kind, rounds = (words.pop(0), int(words.pop())) if task == "time" else ("", 0)
    dims, *paths = words
    dims = tuple(map(int, dims.split(",")))
    if task != "time":
        {"make": make, "boxes": boxes}[task](dims, *paths)
        return
    first, second = (np.fromfile(path, np.float32).reshape(dims) for path in paths)
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        flips = flips_of(kind, first, second)
        best = min(best, time.perf_counter() - start)
    print("seconds", best)
    print("flips", flips)


main()
