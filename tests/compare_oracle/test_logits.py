"""--compare logits against NumPy in float64: what the record has, and the lines of the log to the
digits that they show.

    VERNIER=build/.../bin/vernier python -m unittest test_logits

Needs NumPy. random_outputs.py has what may be set.
"""

import math
import pathlib
import re
import tempfile
import unittest

import numpy as np

from random_outputs import CASES, SEED, compare, draw

SHAPES = [(7, 5), (1, 9, 2), (3, 1, 1000), (40, 31), (2, 3, 2500), (17,)]
FLOATS = [np.float16, np.float32, np.float64]
TOP_K, KL_THRESHOLD, TOP1_THRESHOLD = 3, 1e-3, 0.9
PERCENTS = {"kl_p1": 1, "kl_p5": 5, "kl_median": 50, "kl_p95": 95, "kl_p99": 99, "kl_p99_9": 99.9}
NUMBER = re.compile(r"(?<![\w.])(?:\d+(?:\.\d+)?(?:e[-+]\d+)?|inf|nan)")


def random_pair(rng):
    """Two arrays of logits that agree more or less."""
    shape = SHAPES[rng.integers(len(SHAPES))]
    a = rng.standard_normal(shape) * 3
    b = a + rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 1)
    if rng.integers(4) == 0:  # equal logits
        a, b = np.round(a), np.round(b)
    if rng.integers(4) == 0:
        a[..., 1] = b[..., 1] = -np.inf
    types = [np.dtype(FLOATS[i]) for i in rng.integers(len(FLOATS), size=2)]
    a, b = a.astype(types[0]), b.astype(types[1])
    if rng.integers(6) == 0:
        place = rng.integers(a.size)
        a.flat[place], b.flat[place] = rng.choice([np.nan, np.inf, -np.inf]), 0
    return a, b


def log_softmax(logits):
    rest = logits - logits.max(axis=1, keepdims=True)
    return rest - np.log(np.exp(rest).sum(axis=1, keepdims=True))


def noise_of(a, differences, rows, tops):
    """RMS of the classes that neither side has first, and that are not masked; 0 where that is more
    than a quarter of the spread of A's logits: it is no rounding then."""
    masked = np.isneginf(a)
    others = ~masked
    for top in tops:
        others[rows, top] = False
    noise = np.sqrt((differences ** 2 * others).sum(axis=1) / np.maximum(others.sum(axis=1), 1))
    spread = np.array([row[finite].std() for row, finite in zip(a, ~masked)])
    return np.where(noise <= spread / 4, noise, 0)


def expected(a, b):
    """The numbers of the record, of arrays whose last axis has the classes."""
    a, b = (side.astype(np.float64).reshape(-1, side.shape[-1]) for side in (a, b))
    nan = (np.isnan(a) | np.isnan(b)).any(axis=1)
    infinite = ((a == np.inf) | (b == np.inf)).any(axis=1) & ~nan
    torn = ((a == -np.inf) != (b == -np.inf)).any(axis=1) & ~nan & ~infinite
    used = ~(nan | infinite | torn)
    a, b, places = a[used], b[used], np.arange(len(a))[used]
    rows, k = np.arange(len(a)), min(TOP_K, a.shape[1])
    with np.errstate(all="ignore"):
        log_p, log_q = log_softmax(a), log_softmax(b)
        terms = np.where(np.isneginf(a), 0, np.exp(log_p) * (log_p - log_q))
        differences = np.where(a == b, 0, a - b)
    divergences = np.full(len(used), np.nan)
    divergences[places] = terms.sum(axis=1)
    divergences[torn] = np.inf
    top_a, top_b = a.argmax(axis=1), b.argmax(axis=1)
    change = np.exp(log_q[rows, top_a]) - np.exp(log_p[rows, top_a])
    sets = [np.sort(np.argsort(-side, axis=1, kind="stable")[:, :k]) for side in (a, b)]
    flips = top_a != top_b
    margins = a[rows, top_a] - a[rows, top_b]
    noise = noise_of(a, differences, rows, (top_a, top_b))
    larger = np.maximum(margins, b[rows, top_b] - b[rows, top_a])
    close = flips & ((margins == 0) | (larger < 6 * noise))
    known = divergences[~np.isnan(divergences)]
    want = {
        "positions": len(used), "compared_positions": int(used.sum()),
        "nan_positions": int(nan.sum()), "infinite_positions": int(infinite.sum()),
        "torn_positions": int(torn.sum()), "flips": int(flips.sum()),
        "close_flips": int(close.sum()), "top_k": k,
        "kl_mean": known.mean() if len(known) else math.nan,
        "kl_standard_error": math.nan, "kl_max": known.max() if len(known) else math.nan,
        "top_probability_rms": math.nan, "top1_share": math.nan, "top1_judged": math.nan,
        "top_k_share": math.nan, "flip_margin_mean": math.nan, "flip_margin_max": math.nan}
    for key, percent in PERCENTS.items():
        finite = len(known) and not torn.any()
        want[key] = float(np.percentile(known, percent)) if finite else None
    if len(known) > 1 and not torn.any():
        want["kl_standard_error"] = known.std(ddof=1) / math.sqrt(len(known))
    if len(a):
        want |= {"top_probability_rms": math.sqrt(np.mean(change ** 2)),
                 "top1_share": np.mean(~flips), "top1_judged": np.mean(~flips | close),
                 "top_k_share": np.mean((sets[0] == sets[1]).all(axis=1))}
    if flips.any():
        want |= {"flip_margin_mean": margins[flips].mean(), "flip_margin_max": margins[flips].max()}
    want["passed"] = bool(used.all() and want["kl_mean"] <= KL_THRESHOLD
                          and want["top1_judged"] >= TOP1_THRESHOLD)
    return want


class LogitsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pairs = draw(random_pair)
        cls.outputs, printed = compare(
            cls.pairs, "--compare", "logits", "--logits-top-k", TOP_K, "--logits-kl-threshold",
            KL_THRESHOLD, "--logits-top1-threshold", TOP1_THRESHOLD)
        cls.lines = {}
        for line in printed.splitlines():
            if "Comparing Output: " in line:
                name = line.split("Comparing Output: '")[1].split("'")[0]
            elif "KL divergence: mean" in line:
                cls.lines[name] = line

    def close(self, got, want):
        """Rounding in the sum over the classes is about 1e-15, whatever it comes to."""
        got = float(got)
        if math.isfinite(want):
            self.assertLessEqual(abs(got - want), 1e-9 * abs(want) + 4e-15)
        else:
            self.assertEqual(repr(got), repr(float(want)))

    def test_record(self):
        self.assertEqual(set(self.outputs), set(self.pairs))
        for name, (a, b) in self.pairs.items():
            got, want = self.outputs[name]["logits"], expected(a, b)
            self.assertEqual(self.outputs[name]["passed"], want["passed"], name)
            for key, value in want.items():
                with self.subTest(f"{key} of {name}, {a.dtype} and {b.dtype}{list(a.shape)}, seed "
                                  f"{SEED}"):
                    if value is None:
                        continue
                    if isinstance(value, int):
                        self.assertEqual(got[key], value)
                    else:
                        self.close(got[key], value)

    def test_the_log_shows_the_same_to_its_digits(self):
        compared = 0
        for name, (a, b) in self.pairs.items():
            want = expected(a, b)
            values = [want[key] for key in ("kl_mean", "kl_standard_error", "kl_median", "kl_p1",
                                            "kl_p5", "kl_p95", "kl_p99", "kl_p99_9", "kl_max")]
            # Below that, the last digit shown may be rounding.
            if None in values or not all(value > 1e-6 for value in values):
                continue
            shown = self.lines[name].split("KL divergence: ")[1].split(" (at ")[0]
            shown = re.sub(r"\b(?:1|5|95|99|99\.9) %", "", shown)
            self.assertEqual(NUMBER.findall(shown), [f"{value:.5g}" for value in values], shown)
            compared += 1
        self.assertGreater(compared, CASES // 10)


class TokensTest(unittest.TestCase):
    """Perplexity of tokens from a file."""

    @classmethod
    def setUpClass(cls):
        def pair(rng):
            shape = (2, 9, int(rng.integers(5, 2500)))
            a = rng.standard_normal(shape) * 3
            b = a + rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 1)
            types = rng.integers(len(FLOATS), size=2)
            return a.astype(FLOATS[types[0]]), b.astype(FLOATS[types[1]])

        cls.pairs = draw(pair)
        cls.tokens = np.random.default_rng(SEED).integers(0, 5, (2, 10))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "tokens.npy"
            np.save(path, cls.tokens)
            cls.outputs, cls.printed = compare(cls.pairs, "--compare", "logits", "--tokens", path)

    def expected(self, a, b):
        a, b = (side.astype(np.float64).reshape(18, -1) for side in (a, b))
        next_tokens = self.tokens[:, 1:].reshape(-1, 1)
        losses, others = (-np.take_along_axis(log_softmax(side), next_tokens, 1)[:, 0]
                          for side in (a, b))
        more = others - losses
        ratio = math.exp(more.mean())
        return {"first_perplexity": math.exp(losses.mean()),
                "second_perplexity": math.exp(others.mean()), "perplexity_ratio": ratio,
                "ratio_standard_error": ratio * more.std(ddof=1) / math.sqrt(len(more)),
                "token_probability_rms":
                    math.sqrt(np.mean((np.exp(-others) - np.exp(-losses)) ** 2))}

    def test_record_and_log(self):
        for name, (a, b) in self.pairs.items():
            with self.subTest(f"{name}, {a.dtype} and {b.dtype}{list(a.shape)}, seed {SEED}"):
                got, want = self.outputs[name]["tokens"], self.expected(a, b)
                self.assertEqual((got["tokens"], got["positions"]), (18, 18))
                for key, value in want.items():
                    self.assertLessEqual(abs(got[key] - value), 1e-9 * value + 4e-15, key)
                self.assertIn(
                    f"output '{name}': perplexity {want['first_perplexity']:.5g} and "
                    f"{want['second_perplexity']:.5g} over 18 tokens of ", self.printed)
                self.assertIn(f", ratio {want['perplexity_ratio']:.8g} ± "
                              f"{want['ratio_standard_error']:.3g}, ", self.printed)


if __name__ == "__main__":
    unittest.main()
