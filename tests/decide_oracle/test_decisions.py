"""Each decision against a plain NumPy version, on random tensors with ties, NaN and infinities.

    DECIDE_DRIVER=build/.../tests/decide_driver python -m unittest test_decisions
"""

import unittest

import numpy as np
from ml_dtypes import bfloat16

import oracle

TYPES = [np.float16, np.float32, np.float32, np.float64, np.int8, np.int32, np.int64, np.uint64]


def random_pair(rng, shape, special=True):
    """Two arrays that agree more or less, of one type or two."""
    a = rng.standard_normal(shape) * 3
    b = a + rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 1)
    if rng.integers(3) == 0:  # ties
        a, b = np.round(a), np.round(b)
    kinds = [np.dtype(TYPES[i]) for i in rng.integers(len(TYPES), size=2)]
    if rng.integers(2) == 0:
        kinds[1] = kinds[0]
    if any(kind.kind == "u" for kind in kinds):
        a, b = np.abs(a), np.abs(b)
    a, b = a.astype(kinds[0]), b.astype(kinds[1])
    if special:
        for side in (a, b):
            if side.dtype.kind == "f" and rng.integers(2) == 0:
                side.flat[rng.integers(side.size)] = rng.choice([np.nan, np.nan, np.inf, -np.inf])
    return a, b


def wide(array):
    return array.astype(np.float64)


class DecisionsTest(unittest.TestCase):
    def check(self, got, want, name):
        self.assertEqual(got["flip"], want.flip, name)
        self.assertAlmostEqual(float(got["similarity"]), want.similarity, 12, name)
        if want.first is None:
            return
        self.assertEqual((got["first"], got["second"]), (want.first, want.second), name)
        for side, margin in zip(("first_margin", "second_margin"), want.margins or ()):
            self.assertEqual(float(got[side]), float(margin), f"{side} of {name}")

    def check_all(self, cases, expected):
        """`expected(decision, a, b)` lists what is wanted of each sample."""
        answers = oracle.decide(cases, near_tie=0)
        flips = set()
        for i, (case, samples) in enumerate(zip(cases, answers, strict=True)):
            wanted = expected(*case)
            decision, a, b = case
            name = f"case {i}: {decision} of {a.dtype} and {b.dtype}{list(a.shape)}"
            self.assertIsInstance(samples, list, f"{name}: {samples}")
            self.assertEqual(len(samples), len(wanted), name)
            for row, (got, want) in enumerate(zip(samples, wanted)):
                # A margin of 0 on both sides is a near tie.
                if got["flip"] == "near":
                    self.assertEqual((float(got["first_margin"]), float(got["second_margin"])),
                                     (0, 0))
                    got["flip"] = "clear"
                self.check(got, want, f"{name}, sample {row}, seed {oracle.SEED}")
                flips.add(want.flip)
        self.assertEqual(flips, {"none", "clear", "invalid"})

    def draw(self, decisions, shapes, more=""):
        rng = np.random.default_rng([oracle.SEED, len(decisions[0])])
        return [(decisions[i % len(decisions)] + more,
                 *random_pair(rng, shapes[i // len(decisions) % len(shapes)]))
                for i in range(max(oracle.CASES, 3 * len(decisions) * len(shapes)))]

    def test_top(self):
        def expected(decision, a, b):
            k = int(decision.removeprefix("y:top"))
            return [oracle.top(x, y, k) for x, y in zip(self.rows(a), self.rows(b))]

        self.check_all(self.draw(["y:top1", "y:top3", "y:top5", "y:top80"],
                                 [(7, 90), (1, 2, 131), (3, 1000)]), expected)

    def rows(self, array):
        return wide(array).reshape(-1, array.shape[-1])

    def test_rank(self):
        def expected(decision, a, b):
            k = int(decision.removeprefix("y:rank="))
            return [oracle.rank(x, y, k) for x, y in zip(self.rows(a), self.rows(b))]

        self.check_all(self.draw(["y:rank=1", "y:rank=4", "y:rank=20"], [(5, 20), (2, 3, 200)]),
                       expected)

    def test_threshold_and_sign(self):
        def expected(decision, a, b):
            sign = decision == "y:sign"
            limit = 0.0 if sign else float(decision.removeprefix("y:threshold="))
            sides = [side.reshape(len(side), -1) for side in (a, b)]
            return [oracle.border(x, y, limit, sign) for x, y in zip(*sides)]

        self.check_all(self.draw(["y:threshold=0.5", "y:threshold=-1.1", "y:sign"],
                                 [(20,), (9, 1), (6, 41), (4, 3, 5), (2, 9001)]), expected)

    def test_values_on_the_border(self):
        """They are what NumPy's `y >= X` says of them, whatever the type makes of X."""
        rng = np.random.default_rng(oracle.SEED)
        kinds = [np.dtype(kind) for kind in (np.float16, np.float32, np.float64, bfloat16)]
        cases, limits = [], [0.7, 0.1, -1.1, 1 / 3, 1 + 2.0**-9, 1e-7, 70000.0]
        for limit in limits:
            for first in kinds:
                for second in kinds:
                    sides = []
                    for kind in (first, second):
                        near = np.full((6, 41), limit).astype(kind)
                        steps = rng.integers(-1, 2, near.shape)
                        with np.errstate(over="ignore"):
                            far = [np.nextafter(near, kind.type(way * np.inf)) for way in (-1, 1)]
                        sides.append(np.where(steps == 0, near,
                                              np.where(steps < 0, far[0], far[1])))
                    cases.append((f"y:threshold={limit!r}", *sides))
        answers = oracle.decide(cases, near_tie=0)
        for (decision, a, b), samples in zip(cases, answers, strict=True):
            limit = float(decision.removeprefix("y:threshold="))
            for x, y, got in zip(a, b, samples, strict=True):
                want = oracle.border(x, y, limit, False)
                got["flip"] = got["flip"].replace("near", "clear")
                self.check(got, want, f"{decision} of {a.dtype} and {b.dtype}")

    def test_argmax(self):
        def expected(decision, a, b):
            axis = int(decision.partition("=")[2] or 1)
            sides = []
            for side in (a, b):
                moved = np.moveaxis(wide(side), axis, -1)
                sides.append(moved.reshape(len(side), -1, moved.shape[-1]))
            return [oracle.argmax(x, y) for x, y in zip(*sides)]

        self.check_all(self.draw(["y:argmax", "y:argmax=-1"],
                                 [(3, 4, 5, 6), (2, 21, 700), (4, 2, 3), (1, 3, 2600)]), expected)

    def test_ctc(self):
        def expected(decision, a, b):
            blank = int(decision.partition("=")[2].partition(",")[0] or 0) % a.shape[-1]
            time = 0 if decision.endswith("time=0") else 1
            sides = [np.moveaxis(wide(side), time, 1) for side in (a, b)]
            return [oracle.ctc(x, y, blank) for x, y in zip(*sides)]

        self.check_all(self.draw(["y:ctc", "y:ctc=-1", "y:ctc=2,time=0"],
                                 [(3, 9, 5), (2, 20, 97), (6, 4, 4)]), expected)

    def test_embedding(self):
        def expected(_, a, b):
            wanted = []
            for x, y in zip(self.rows(a), self.rows(b)):
                if not (np.isfinite(x).all() and np.isfinite(y).all()):
                    wanted.append(oracle.INVALID)
                    continue
                norms = np.linalg.norm(x), np.linalg.norm(y)
                cosine = float(norms[0] == norms[1])
                if all(norms):
                    cosine = float(x @ y / np.prod(norms))
                flip = "none" if cosine >= 0.99 else "clear"
                wanted.append(oracle.Want("1", f"{min(cosine, 1):.6g}", None, max(cosine, 0), flip))
            return wanted

        self.check_all(self.draw(["y:embedding"], [(7, 90), (2, 3, 16)]), expected)

    def test_regression(self):
        def expected(decision, a, b):
            limit = float(decision.partition("=")[2])
            wanted = []
            for x, y in zip(wide(a).reshape(len(a), -1), wide(b).reshape(len(b), -1)):
                if np.isnan(x).any() or np.isnan(y).any():
                    wanted.append(oracle.INVALID)
                    continue
                with np.errstate(invalid="ignore"):
                    within = np.where(x == y, 0, np.abs(x - y)) <= limit
                wanted.append(oracle.Want(None, None, None, within.mean(),
                                          "none" if within.all() else "clear"))
            return wanted

        self.check_all(self.draw(["y:regression=0.1"], [(20,), (6, 4)]), expected)


def random_heads(rng, count=50, classes=4):
    """[boxes, 4 + classes] of both sides: clusters of boxes, some scores equal."""
    centres = rng.integers(10, 90, (8, 2))[rng.integers(8, size=count)]
    rows = np.concatenate([centres + rng.normal(0, 2, (count, 2)),
                           rng.uniform(8, 20, (count, 2)),
                           rng.uniform(0, 1, (count, classes)) ** 3], axis=1)
    other = rows + rng.normal(0, 10.0 ** rng.integers(-4, 0), rows.shape)
    rows[:, 4:], other[:, 4:] = np.round(rows[:, 4:], 2), np.round(other[:, 4:], 2)
    return rows.astype(np.float32), np.abs(other).astype(np.float32)


class BoxesTest(unittest.TestCase):
    def test_heads(self):
        rng = np.random.default_rng(oracle.SEED)
        pairs = [[np.stack(side) for side in zip(random_heads(rng), random_heads(rng))]
                 for _ in range(oracle.CASES // 4)]
        ones = [np.concatenate([side[..., :4], np.ones_like(side[..., :1]), side[..., 4:]], -1)
                for side in pairs[0]]
        formats = {"yolov8": [[side.transpose(0, 2, 1) for side in pair] for pair in pairs],
                   "cxcywh,scores": pairs, "yolov5": [ones]}
        flips = set()
        for name, sides in formats.items():
            answers = oracle.decide([(f"y:boxes:{name},iou=0.6,score=0.3", *pair)
                                     for pair in sides], near_tie=0)
            for pair, samples in zip(pairs, answers):
                for a, b, got in zip(*map(np.float64, pair), samples, strict=True):
                    want = oracle.boxes(a, b, 0.6, 0.3)
                    flip = "clear" if got["flip"] == "near" else got["flip"]
                    self.assertEqual((got["first"], got["second"], flip),
                                     (want.first, want.second, want.flip), name)
                    self.assertAlmostEqual(float(got["similarity"]), want.similarity, 9, name)
                    flips.add(flip)
        self.assertIn("clear", flips)

    def test_no_boxes_and_nan(self):
        none = np.zeros((1, 6, 8), np.float32)
        broken = none.copy()
        broken[0, 4, 2] = np.nan
        same, invalid = oracle.decide([("boxes:yolov8", none, none),
                                       ("boxes:yolov8", none, broken)])
        self.assertEqual((same[0]["flip"], same[0]["first"], same[0]["similarity"]),
                         ("none", "none", "1"))
        self.assertEqual((invalid[0]["flip"], invalid[0]["second"]), ("invalid", "invalid"))


class NearTieTest(unittest.TestCase):
    def limit(self, differences):
        """Two standard deviations of a difference of two values."""
        return 2 * np.sqrt(2) * 1.4826 * np.median(differences) * (1 + 3 / differences.size)

    def test_twice_the_noise_of_a_difference_of_other_values(self):
        rng = np.random.default_rng(oracle.SEED)
        a = rng.standard_normal((4000, 10))
        b = a + rng.standard_normal(a.shape) * 0.2
        near = clear = 0
        for x, y, got in zip(a, b, oracle.decide([("top1", a, b)])[0], strict=True):
            i, j = x.argmax(), y.argmax()
            if i == j:
                self.assertEqual((got["flip"], got["near_tie"]), ("none", "0"))
                continue
            rest = np.delete(x - y, [i, j])
            limit = self.limit(np.abs(rest))
            self.assertAlmostEqual(float(got["near_tie"]), limit, 12)
            self.assertEqual(got["flip"], "near" if x[i] - x[j] < limit else "clear")
            near, clear = near + (got["flip"] == "near"), clear + (got["flip"] == "clear")
        self.assertGreater(near, 10)
        self.assertGreater(clear, 0)

    def test_bound_and_given(self):
        a = np.array([[1, 0.5]], np.float32)
        b = a[:, ::-1]
        for more, limit, flip in (({"bound": [0.2, 0]}, 0.4, "clear"),
                                  ({"bound": [0.3, 0.1]}, 0.6, "near"),
                                  ({"bound": [0.1, 0.2]}, 0.4, "clear"),
                                  ({"bound": [9, 0], "near_tie": 0.25}, 0.25, "clear")):
            got = oracle.decide([("top1", a, b)], **more)[0][0]
            self.assertEqual((float(got["near_tie"]), got["flip"]), (limit, flip))


    def flipped(self, outliers):
        """1000 logits of which two change places by 0.5, and other classes differ greatly."""
        rng = np.random.default_rng(oracle.SEED)
        a = rng.uniform(-1, 0, (1, 1000)).astype(np.float32)
        b = a + rng.standard_normal(a.shape).astype(np.float32) * np.float32(1e-3)
        a[0, :2], b[0, :2] = (1.5, 1), (1, 1.5)
        for place, (x, y) in enumerate(outliers, start=500):
            a[0, place], b[0, place] = x, y
        return a, b

    def test_outliers_excuse_no_flip(self):
        masks = [(-3.4e38, -65504)] * 300
        for outliers in ([], masks, [(-1, -201)]):
            got = oracle.decide([("top1", *self.flipped(outliers))])[0][0]
            self.assertEqual(got["flip"], "clear", got)
            self.assertLess(float(got["near_tie"]), 0.01)

    def test_masks_do_not_widen_the_bound(self):
        a, b = self.flipped([(-1e9, -1e9)] * 10)
        got = oracle.decide([("top1", a, b)], bound=[0, 1e-3])[0][0]
        self.assertEqual((got["flip"], float(got["near_tie"])), ("clear", 3e-3))

    def test_without_other_values_the_other_samples_say(self):
        rng = np.random.default_rng(oracle.SEED)
        for count in (2, 5, 40):
            a = rng.standard_normal((count, 2))
            b = a + np.round(rng.standard_normal(a.shape), 1)
            for row, got in enumerate(oracle.decide([("top1", a, b)])[0]):
                if got["flip"] == "none":
                    continue
                rest = np.abs(np.delete(a - b, row, axis=0))
                limit = self.limit(rest)
                self.assertAlmostEqual(float(got["near_tie"]), limit, 12)


class StatisticsTest(unittest.TestCase):
    """Values of SciPy 1.17 and statsmodels 0.15, by the calls that stand beside them."""

    def close(self, got, want):
        self.assertLessEqual(abs(float(got) - want), 1e-12 * abs(want))

    def test_values(self):
        for request, want in VALUES:
            got = oracle.ask([request])[0]
            for one, wanted in zip(got if isinstance(got, list) else [got],
                                   want if isinstance(want, tuple) else (want,), strict=True):
                with self.subTest(str(request)):
                    self.close(one, wanted)


class LabelsTest(unittest.TestCase):
    """Intervals of drops, and the bootstrap, against NumPy."""

    def counts(self):
        rng = np.random.default_rng([oracle.SEED, 25])
        return [[0, 0, 0, 5], [5, 0, 0, 0], [90, 0, 0, 10], [3, 20, 20, 3], [0, 4, 0, 0],
                *(rng.multinomial(rng.integers(1, 3000), rng.dirichlet([3, 0.3, 0.3, 1])).tolist()
                  for _ in range(oracle.CASES))]

    def test_paired_drops(self):
        counts = self.counts()
        for four, got in zip(counts, oracle.ask([{"drop": four} for four in counts]), strict=True):
            for one, want in zip(got, oracle.paired_drop(*four), strict=True):
                self.assertAlmostEqual(float(one), want, delta=1e-12, msg=str(four))

    def test_a_published_interval(self):
        # Fagerland, Lydersen and Laake (2014), Statistics in Medicine 33, 2850: Newcombe's interval
        # of the airway hyper-responsiveness of 21 children
        low, high = oracle.ask([{"drop": [1, 1, 7, 12]}])[0]
        self.assertEqual((f"{float(low):.3f}", f"{float(high):.3f}"), ("-0.507", "-0.026"))

    def test_samples_that_decide(self):
        for four, limit in (([100, 0, 0, 0], 0.01), ([900, 30, 5, 65], 0.02),
                            ([53, 16, 8, 9], 0.2)):
            (more,) = oracle.ask([{"drop": four, "limit": limit}])
            self.assertGreater(more, sum(four))
            for samples, decides in ((more, True), (more - 1, False)):
                scaled = [count * samples / sum(four) for count in four]
                low, high = oracle.paired_drop(*scaled)
                self.assertEqual(not low < limit < high, decides, f"{four}, {samples}")
        self.assertEqual(oracle.ask([{"drop": [9, 1, 0, 0], "limit": 0.1}]), [0])

    def test_bootstrap(self):
        rng = np.random.default_rng([oracle.SEED, 26])
        for seed, count in ((0, 1), (1, 2), (1, 7), (12345, 50), (2**40, 300)):
            first, second = rng.uniform(0, 1, (2, count))
            request = {"bootstrap": [first.tolist(), second.tolist()], "seed": seed}
            draws = np.random.default_rng(seed).integers(0, count, (10000, count))
            want = [end for scores in (first, second, first - second)
                    for end in np.quantile(scores[draws].mean(1), [0.025, 0.975])]
            for one, wanted in zip(oracle.ask([request])[0], want, strict=True):
                self.assertAlmostEqual(float(one), wanted, delta=1e-12)


VALUES = [
    # statsmodels: proportion_confint(successes, trials, method="wilson"), cut to [0, 1]
    ({"wilson": [3, 10]}, (0.10779126740630104, 0.6032218525388546)),
    ({"wilson": [1, 3]}, (0.06149194472039626, 0.7923403991979523)),
    ({"wilson": [9973, 10000]}, (0.9960744058463006, 0.9981436693742244)),
    ({"wilson": [999999, 1000000]}, (0.9999943350881957, 0.9999998234754233)),
    # SciPy: binomtest(b, b + c, 0.5).pvalue, or exact fractions where that has fewer digits
    ({"mcnemar": [1, 7]}, 0.0703125),
    ({"mcnemar": [10, 10]}, 1.0),
    ({"mcnemar": [0, 40]}, 1.8189894035458565e-12),
    ({"mcnemar": [12, 31]}, 0.005401572654591291),
    ({"mcnemar": [450, 520]}, 0.026677702766761235),
    ({"mcnemar": [5000, 5300]}, 0.003215819673645239),
    ({"mcnemar": [0, 1000]}, 1.8665272370064378e-301),
    ({"mcnemar": [99500, 100500]}, 0.025493890666946916),
    # Connor's formula with SciPy's norm.isf
    ({"power": [0.01, 0.05]}, 3923),
    ({"power": [0.01, 0.01]}, 783),
    ({"power": [0.1, 0.3]}, 234),
    ({"power": [0.001, 0.2]}, 1569774),
    # the least n whose score interval excludes the limit; 0: none does
    ({"decide": [0.1, 0.2]}, 62),
    ({"decide": [0.003, 0.001]}, 960),
    ({"decide": [0.5, 0.5]}, 0),
    ({"decide": [0.01, 0]}, 1),
]


if __name__ == "__main__":
    unittest.main()
