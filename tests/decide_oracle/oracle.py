"""Plain NumPy versions of the decisions, in float64, and the driver's answers.

$DECIDE_DRIVER is the driver built from decide_driver.cc. VERNIER_ORACLE_CASES (default 40) is the
number of random tensors of a test, VERNIER_ORACLE_SEED the seed.
"""

import json
import math
import os
import pathlib
import subprocess
import tempfile

import numpy as np

DRIVER = os.path.abspath(os.environ.get("DECIDE_DRIVER", "decide_driver"))
CASES = int(os.environ.get("VERNIER_ORACLE_CASES", "40"))
SEED = int(os.environ.get("VERNIER_ORACLE_SEED", "0"))


def ask(requests):
    """The driver's answer to each request."""
    done = subprocess.run([DRIVER], input="".join(json.dumps(one) + "\n" for one in requests),
                          capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def decide(cases, **more):
    """The samples of each (decision, a, b)."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        requests = []
        for i, (decision, *arrays) in enumerate(cases):
            sides = []
            for array, side in zip(arrays, "ab"):
                file = folder / f"{i}{side}"
                file.write_bytes(np.ascontiguousarray(array).tobytes())
                sides.append([array.dtype.name, list(array.shape), str(file)])
            requests.append({"decision": decision, "sides": sides} | more)
        return ask(requests)


def gap(large, small):
    return 0.0 if large == small else float(large) - float(small)


def order(row):
    """The places in falling order of their values, ties in their own order."""
    return np.argsort(-row, kind="stable")


def wilson(successes, count):
    z2 = 1.959963984540054**2
    share = successes / count
    centre = share + z2 / (2 * count)
    half = math.sqrt(z2 * (share * (1 - share) + z2 / (4 * count)) / count)
    return (0.0 if successes <= 0 else (centre - half) / (1 + z2 / count),
            1.0 if successes >= count else (centre + half) / (1 + z2 / count))


def paired_drop(both, first, second, neither):
    """Newcombe's method 10 (1998) of the difference of two paired proportions."""
    count = both + first + second + neither
    shares = [(both + first) / count, (both + second) / count]
    ends = [wilson(both + first, count), wilson(both + second, count)]
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    product = both * neither - first * second
    if product > 0:
        product = max(product - count / 2, 0)
    phi = product / math.sqrt(margins) if margins else 0.0

    def reach(x, y):
        return math.sqrt(max(x * x - 2 * phi * x * y + y * y, 0))

    drop = shares[0] - shares[1]
    return (drop - reach(shares[0] - ends[0][0], ends[1][1] - shares[1]),
            drop + reach(ends[0][1] - shares[0], shares[1] - ends[1][0]))


class Want:
    """What a sample should be; the flip without near ties."""

    def __init__(self, first, second, margins, similarity=1.0, flip="none"):
        self.first, self.second = first, second
        self.margins, self.similarity, self.flip = margins, similarity, flip


INVALID = Want(None, None, None, 0.0, "invalid")


def words(places, most=64):
    """As the texts list them."""
    rest = f" +{len(places) - most} more" if len(places) > most else ""
    return (" ".join(map(str, places[:most])) or "none") + rest


def counts_text(labels, most=32):
    """How many boxes are of which class."""
    shown = [f"{label}:{labels.count(label)}" for label in sorted(set(labels))]
    return (" ".join(shown[:most]) or "none") + (" and more" if len(shown) > most else "")


def top(a, b, k):
    if np.isnan(a).any() or np.isnan(b).any():
        return INVALID
    orders = [order(side) for side in (a, b)]
    sets = [set(one[:k].tolist()) for one in orders]
    texts = [words(sorted(one)) for one in sets]
    if sets[0] == sets[1]:
        return Want(*texts, [gap(side[one[k - 1]], side[one[k]])
                             for side, one in zip((a, b), orders)])
    lost, gained = sorted(sets[0] - sets[1]), sorted(sets[1] - sets[0])
    margins = [gap(a[lost].max(), a[gained].min()), gap(b[gained].max(), b[lost].min())]
    return Want(*texts, margins, 1 - len(lost) / k, "clear")


def rank(a, b, k):
    if np.isnan(a).any() or np.isnan(b).any():
        return INVALID
    orders = [order(side)[:k].tolist() for side in (a, b)]
    texts = [words(one) for one in orders]
    if orders[0] == orders[1]:
        margins = []
        for side in (a, b):
            best = order(side)[:k + 1]
            gaps = [gap(side[x], side[y]) for x, y in zip(best, best[1:])]
            margins.append(min(gaps, default=math.inf))
        return Want(*texts, margins)
    margins = []
    for side, own, other in ((a, *orders), (b, *reversed(orders))):
        most = 0.0
        for x in own:
            for y in set(own + other) - {x}:
                later = y not in own or own.index(y) > own.index(x)
                turned = y in other and (x not in other or other.index(x) > other.index(y))
                if later and turned:
                    most = max(most, gap(side[x], side[y]))
        margins.append(most)
    moved = sum(x != y for x, y in zip(*orders))
    return Want(*texts, margins, 1 - moved / k, "clear")


def reaches(side, limit):
    """NumPy rounds the limit to the type of the array, but to float32 for bfloat16."""
    if side.dtype.name == "bfloat16":
        return side >= np.asarray(limit).astype(side.dtype)
    return side >= limit


def border(a, b, limit, sign):
    if np.isnan(a).any() or np.isnan(b).any():
        return INVALID
    inside = [side < 0 if sign else reaches(side, limit) for side in (a, b)]
    if len(a) == 1:
        texts = [("+-" if sign else ("no", "yes"))[int(one[0])] for one in inside]
    else:
        texts = [words(np.flatnonzero(one), 16) for one in inside]
    changed = inside[0] != inside[1]
    distances = [np.array([abs(gap(float(value), limit)) for value in side]) for side in (a, b)]
    if not changed.any():
        return Want(*texts, [one.min() for one in distances])
    return Want(*texts, [one[changed].max() for one in distances], 1 - changed.mean(), "clear")


def argmax(a, b):
    """Of one sample, [positions, classes]."""
    if np.isnan(a).any() or np.isnan(b).any():
        return INVALID
    best = [side.argmax(axis=1) for side in (a, b)]
    changed = best[0] != best[1]
    texts = []
    for one in best:
        classes, counts = np.unique(one, return_counts=True)
        texts.append(" ".join(f"{c}:{n}" for c, n in zip(classes, counts))
                     if len(one) > 1 else str(one[0]))
    if not changed.any():
        margins = [min(gap(*np.sort(row)[:-3:-1]) for row in side) for side in (a, b)]
        return Want(*texts, margins)
    places = np.flatnonzero(changed)
    margins = [max(gap(a[i, best[0][i]], a[i, best[1][i]]) for i in places),
               max(gap(b[i, best[1][i]], b[i, best[0][i]]) for i in places)]
    return Want(*texts, margins, 1 - changed.mean(), "clear")


def edits(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (x != y)))
    return row[-1]


def ctc(a, b, blank):
    """Of one sample, [steps, classes]."""
    if np.isnan(a).any() or np.isnan(b).any():
        return INVALID
    paths = [side.argmax(axis=1) for side in (a, b)]
    texts = [[int(c) for i, c in enumerate(path)
              if c != blank and (i == 0 or c != path[i - 1])] for path in paths]
    if texts[0] == texts[1]:
        margins = [min(gap(*np.sort(row)[:-3:-1]) for row in side) for side in (a, b)]
        return Want(*map(words, texts), margins)
    places = np.flatnonzero(paths[0] != paths[1])
    margins = [max(gap(a[i, paths[0][i]], a[i, paths[1][i]]) for i in places),
               max(gap(b[i, paths[1][i]], b[i, paths[0][i]]) for i in places)]
    return Want(*map(words, texts), margins, 1 - edits(*texts) / max(map(len, texts)), "clear")


def overlap(x, y):
    corners = np.maximum(x[:2], y[:2]), np.minimum(x[2:], y[2:])
    both = np.prod(np.maximum(corners[1] - corners[0], 0))
    either = sum(np.prod(np.maximum(box[2:] - box[:2], 0)) for box in (x, y)) - both
    if either > 0:
        return both / either
    return float(np.array_equal(x, y))


def detect(rows, iou, least):
    """(corners, score, class) of rows of cx, cy, w, h and scores of classes, surest first."""
    scores = rows[:, 4:].max(axis=1)
    kept = []
    for i in order(scores):
        if scores[i] < least:
            break
        x, y, w, h = rows[i, :4]
        box = np.array([x - w / 2, y - h / 2, x + w / 2, y + h / 2])
        label = int(rows[i, 4:].argmax())
        if not any(other == label and overlap(corners, box) > iou for corners, _, other in kept):
            kept.append((box, float(scores[i]), label))
    return kept


def boxes(a, b, iou, least):
    """The counts of one sample: matched, lost, invented, class changed; and the similarity."""
    found = [detect(side, iou, least) for side in (a, b)]
    pairs = {}
    total = 0.0
    counts = [0, 0]
    for same in (True, False):
        for j, (box, _, label) in enumerate(found[1]):
            if j in pairs.values():
                continue
            best, most = None, 0.0
            for i, (other, _, its) in enumerate(found[0]):
                value = overlap(other, box)
                if i not in pairs and (not same or its == label) and value >= iou and value > most:
                    best, most = i, value
            if best is not None:
                pairs[best] = j
                counts[0 if same else 1] += 1
                total += most if same else 0
    lost, invented = (len(one) - len(pairs) for one in found)
    everything = counts[0] + counts[1] + lost + invented
    texts = [counts_text([label for *_, label in one]) for one in found]
    return Want(*texts, None, total / everything if everything else 1.0,
                "clear" if lost + invented + counts[1] else "none")
