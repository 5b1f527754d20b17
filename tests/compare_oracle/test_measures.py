"""The figures of --save-record against NumPy in float64, on random outputs.

    VERNIER=build/.../bin/vernier python -m unittest test_measures

Needs NumPy. random_outputs.py has what may be set.
"""

import math
import unittest

import numpy as np

from random_outputs import SEED, compare, draw

ATOL, RTOL, WORST = 1e-3, 1e-3, 4
SHAPES = [(7,), (3, 5), (2, 3, 4), (1,), (40, 31), (2, 1, 700)]
FLOATS = [np.float16, np.float32, np.float64]
INTEGERS = [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64]


def random_pair(rng):
    """Two arrays of one type that agree more or less."""
    shape = SHAPES[rng.integers(len(SHAPES))]
    if rng.integers(4) == 0:
        dtype = np.dtype(INTEGERS[rng.integers(len(INTEGERS))])
        a = rng.integers(0, 50, shape).astype(dtype)
        return a, np.where(rng.random(shape) < 0.2, a + 1, a).astype(dtype)
    dtype = np.dtype(FLOATS[rng.integers(len(FLOATS))])
    a = rng.standard_normal(shape)
    mode = rng.integers(5)
    if mode == 0:
        a = np.abs(a)
    b = a + rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 0)
    if mode == 0:
        b = np.abs(b)
    a, b = a.astype(dtype), b.astype(dtype)
    if mode == 1:
        b = a.copy()
    if mode == 2:
        a.flat[rng.integers(a.size)] = np.nan
        b.flat[rng.integers(b.size)] = rng.choice([np.nan, np.inf, -np.inf])
    return a, b


def differences(a, b):
    """Absolute and relative differences with the peer's operations."""
    with np.errstate(all="ignore"):
        if a.dtype.kind in "iu":
            absolute = np.abs(a.astype(object) - b.astype(object)).astype(np.float64)
            return absolute, absolute / np.abs(b.astype(np.float64))
        kind = np.float64 if a.dtype == np.float64 else np.float32
        up_a, up_b = a.astype(kind), b.astype(kind)
        absolute = np.abs(up_a - up_b)
        divisor = np.where(up_b == 0, up_b + kind(np.finfo(np.float64).eps), up_b)
        return absolute.astype(np.float64), (absolute / np.abs(divisor)).astype(np.float64)


def times_over(absolute, relative):
    ratio = np.minimum(absolute / ATOL, relative / RTOL)
    return np.where(np.isnan(absolute), np.inf, np.where(np.isnan(ratio), absolute / ATOL, ratio))


def linear(array):
    """Floats as integers, neighbours one apart."""
    bits = array.view({2: np.int16, 4: np.int32, 8: np.int64}[array.dtype.itemsize]).astype(object)
    low = -(1 << (8 * array.dtype.itemsize - 1))
    return np.array([low - v if v < 0 else v for v in bits.flat], object)


def number(value):
    return float(value) if isinstance(value, str) else value


class MeasuresTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pairs = draw(random_pair)
        cls.outputs, _ = compare(cls.pairs, "-q", "--atol", ATOL, "--rtol", RTOL, "--worst", WORST)

    def each(self):
        self.assertEqual(set(self.outputs), set(self.pairs))
        for name, (a, b) in self.pairs.items():
            self.case = f"output {name}, {a.dtype}{list(a.shape)}, seed {SEED}"
            yield a, b, self.outputs[name], self.outputs[name]["worst_iteration"]

    def close(self, got, want, relative=1e-9):
        got = number(got)
        if math.isnan(want) or math.isinf(want):
            self.assertEqual(repr(float(got)), repr(float(want)), self.case)
        else:
            self.assertLessEqual(abs(got - want), relative * max(abs(want), 1e-300), self.case)

    def test_elements_out_of_tolerance(self):
        for a, b, output, _ in self.each():
            absolute, relative = differences(a, b)
            out = ~((absolute <= ATOL) | (relative <= RTOL))
            self.assertEqual(output["mismatches"], int(out.sum()))
            self.assertEqual(output["elements"], a.size)
            self.assertEqual(output["passed"], not out.any())

    def test_worst_elements(self):
        for a, b, output, figures in self.each():
            absolute, relative = differences(a, b)
            ratio = times_over(absolute, relative)
            key = [(not math.isnan(absolute.flat[i]), -ratio.flat[i],
                    0 if math.isnan(absolute.flat[i]) else -absolute.flat[i], i)
                   for i in range(a.size)]
            want = sorted(range(a.size), key=lambda i: key[i])[:min(WORST, output["mismatches"])]
            got = [int(np.ravel_multi_index(e["index"], a.shape))
                   for e in figures["worst_elements"]]
            self.assertEqual(got, want)
            for place, element in zip(want, figures["worst_elements"], strict=True):
                self.close(element["first"], float(a.flat[place]))
                self.close(element["second"], float(b.flat[place]))
                self.close(element["absolute_error"], float(absolute.flat[place]))
                self.close(element["times_over_tolerance"], float(ratio.flat[place]))

    def test_distances(self):
        for a, b, _, figures in self.each():
            got = figures["distances"]
            wide_a, wide_b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
            absolute, _ = differences(a, b)
            with np.errstate(all="ignore"):
                square = float(np.sum(absolute.ravel() ** 2))
                self.close(got["l2"], math.sqrt(square))
                self.close(got["rmse"], math.sqrt(square / a.size))
                relative = math.sqrt(square) / np.linalg.norm(wide_b) if square != 0 else 0.0
                self.close(got["relative_l2"], float(relative))
                cosine = wide_a @ wide_b / (np.linalg.norm(wide_a) * np.linalg.norm(wide_b))
                if not math.isnan(cosine):
                    self.close(got["cosine_similarity"], min(1.0, float(cosine)), 1e-12)
                if math.isnan(square) or math.isinf(square):
                    continue
                mean = square / a.size
                peak = max(float(wide_a.max()), 0.0) or 1.0
                self.close(got["psnr"], math.inf if mean == 0 else
                           20 * math.log10(peak) - 10 * math.log10(mean))
                self.close(got["snr"], math.inf if mean == 0 else
                           10 * math.log10(float(np.mean(wide_a ** 2)) / mean))

    def test_ulp(self):
        for a, b, _, figures in self.each():
            got = figures["distances"]
            if a.dtype.kind != "f":
                self.assertIsNone(got["max_ulp"])
                continue
            usable = ~(np.isnan(a) | np.isnan(b)).ravel()
            apart = np.abs(linear(a.ravel()) - linear(b.ravel()))[usable]
            if not usable.any():
                self.assertIsNone(got["max_ulp"])
                continue
            self.assertEqual(got["max_ulp"], max(apart))
            self.assertEqual(got["ulp_different"], sum(d != 0 for d in apart))
            first = np.flatnonzero(usable)[int(np.argmax(apart))]
            self.assertEqual(np.ravel_multi_index(got["max_ulp_index"], a.shape), first)

    def test_kl_divergence(self):
        applied = 0
        for a, b, _, figures in self.each():
            p, q = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
            usable = (a.dtype.kind == "f" and np.isfinite(p).all() and np.isfinite(q).all()
                      and p.min() >= 0 and q.min() >= 0 and p.sum() > 0 and q.sum() > 0)
            got = figures["distances"]["kl_divergence"]
            if not usable:
                self.assertIsNone(got)
                continue
            applied += 1
            p, q = p / p.sum(), q / q.sum()
            with np.errstate(divide="ignore"):
                want = float(np.sum(np.where(p > 0, p * np.log(p / q), 0)))
            self.assertAlmostEqual(number(got), max(0.0, want), delta=1e-12)
        self.assertGreater(applied, 0)

    def test_sides(self):
        for a, b, _, figures in self.each():
            for array, side in ((a, figures["first"]), (b, figures["second"])):
                wide = array.astype(np.float64)
                with np.errstate(all="ignore"):
                    self.close(side["min"], float(wide.min()))
                    self.close(side["max"], float(wide.max()))
                    self.close(side["mean"], float(wide.mean()), 1e-6)
                for test, count, first in ((np.isnan, "nan", "first_nan"),
                                           (np.isinf, "infinite", "first_infinite")):
                    places = np.argwhere(test(wide))
                    self.assertEqual(side[count], len(places))
                    self.assertEqual(side[first], places[0].tolist() if len(places) else None)


if __name__ == "__main__":
    unittest.main()
