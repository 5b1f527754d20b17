"""Inputs against Polygraphy 0.53.6, NumPy and ml_dtypes.

    INPUTS_DRIVER=build/inputs_driver python -m unittest tests/inputs_oracle/test_inputs_oracle.py

Needs a Python with polygraphy, numpy and ml_dtypes. INPUTS_ROUNDS scales the number of random
cases (default 1).
"""

import contextlib
import json
import os
import random
import subprocess
import unittest
import warnings

import ml_dtypes
import numpy as np
from polygraphy import util
from polygraphy.common import TensorMetadata
from polygraphy.comparator import DataLoader
from polygraphy.comparator.data_loader import coerce_feed_dict
from polygraphy.exception import PolygraphyException
from polygraphy.logger import G_LOGGER, LogMode
from polygraphy.tools.args.util import util as args_util

ROUNDS = float(os.environ.get("INPUTS_ROUNDS", "1"))

INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
FLOATS = ["float16", "float32", "float64"]
NUMPY_TYPES = FLOATS + INTEGERS + ["bool"]
NARROW = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float4_e2m1fn": ml_dtypes.float4_e2m1fn,
}


class Driver:
    def __init__(self):
        self.process = subprocess.Popen(
            [os.environ["INPUTS_DRIVER"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the driver died of {request}")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        if self.process.wait() != 0:
            raise RuntimeError("the driver failed")


@contextlib.contextmanager
def recorded_log():
    """The peer's messages as [severity, text, once], instead of its output."""
    lines = []

    def record(message, severity, mode=LogMode.EACH, **_):
        text = str(message() if callable(message) else message)
        if not text.startswith("Loaded Module"):
            lines.append([severity, text, mode == LogMode.ONCE])

    original = G_LOGGER.log
    G_LOGGER.log = record
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield lines
    finally:
        G_LOGGER.log = original


def raw_hex(array):
    return np.ascontiguousarray(array).tobytes().hex()


def pack_nibbles(codes):
    codes = np.append(codes.reshape(-1), np.zeros(codes.size % 2, np.uint8)) & 0xF
    return (codes[0::2] | codes[1::2] << 4).astype(np.uint8).tobytes().hex()


def within_128_bits(value):
    """Python's integers have no limit; ours become floats beyond 128 bits."""
    if isinstance(value, list):
        return [within_128_bits(item) for item in value]
    return float(value) if isinstance(value, int) and not -2**127 <= value < 2**127 else value


def tensor_json(name, array):
    return {
        "name": name,
        "dtype": array.dtype.name,
        "dims": list(array.shape),
        "hex": raw_hex(array),
    }


def metadata(inputs):
    meta = TensorMetadata()
    for entry in inputs:
        meta.add(entry["name"], np.dtype(entry["dtype"]), entry["shape"])
    return meta


def visible(log):
    """Without the severities below the peer's verbose, which say nothing about the result."""
    return [line for line in log if line[0] >= G_LOGGER.EXTRA_VERBOSE]


class OracleTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.driver = Driver()

    @classmethod
    def tearDownClass(cls):
        cls.driver.close()

    def rounds(self, count):
        self.rng = random.Random(self.id())
        return range(int(count * ROUNDS))


class GrammarTest(OracleTest):
    PIECES = ["[", "]", ",", ":", "1", "-2", "+3", "0.5", "1e-3", "inf", "-inf", "nan", "x", "_",
              "'", '"', " ", "K", "M", "g", "auto", "batch", "1_000", ".", "e5", "007", "-", "é",
              "99999999999999999999", "1e400"]

    def word(self, most=6):
        return "".join(self.rng.choices(self.PIECES, k=self.rng.randint(0, most)))

    def test_cast(self):
        for _ in self.rounds(20000):
            word = self.word()
            expected = repr(within_128_bits(args_util.cast(word)))
            with self.subTest(word=word):
                self.assertEqual(self.driver.ask(op="cast", word=word)["repr"], expected)

    def test_arglist(self):
        for _ in self.rounds(5000):
            words = [self.word() for _ in range(self.rng.randint(0, 4))]
            allow_empty, is_value = self.rng.random() < 0.7, self.rng.random() < 0.7
            with recorded_log():
                try:
                    parsed = args_util.parse_arglist_to_dict(
                        words, allow_empty_key=allow_empty, treat_missing_sep_as_val=is_value)
                    expected = [[key, repr(within_128_bits(value))]
                                for key, value in parsed.items()]
                except PolygraphyException:
                    expected = None
            answer = self.driver.ask(op="arglist", words=words, allow_empty_key=allow_empty,
                                     bare_word_is_value=is_value)
            self.assertEqual(answer.get("items"), expected, words)

    def test_byte_counts(self):
        pieces = ["1", "23", ".", "5", "e", "9", "-", "+", "K", "k", "M", "m", "G", "g", " ", "_"]
        for _ in self.rounds(20000):
            word = "".join(self.rng.choices(pieces, k=self.rng.randint(0, 5)))
            with recorded_log():
                try:
                    expected = args_util.parse_num_bytes(word)
                except PolygraphyException:
                    expected = None
            if expected is not None and abs(expected) >= 2**63:
                expected = None  # ours ends at 64 bits
            self.assertEqual(self.driver.ask(op="bytes", word=word).get("count"), expected, word)

    def test_shapes(self):
        for _ in self.rounds(10000):
            words = [self.rng.choice(["x:", "y:0:", "", "in*:"]) +
                     self.rng.choice(["[", "[", ""]) + self.word(8) + self.rng.choice(["]", ""])
                     for _ in range(self.rng.randint(1, 3))]
            with recorded_log():
                try:
                    parsed = args_util.parse_meta(words, includes_dtype=False)
                    dims = [dim for _, shape in parsed.values() for dim in shape or []]
                    if any(isinstance(dim, (list, float)) for dim in dims):
                        continue  # dynamic for both, but printed without quotes there
                    if any("9999" in word for word in words):
                        continue  # dimensions beyond 64 bits are errors here
                    expected = str(parsed)
                except TypeError:
                    expected = None
            answer = self.driver.ask(op="shapes", words=words)
            self.assertEqual(answer.get("text"), expected, words)

    def test_numpy_prints_integers(self):
        for _ in self.rounds(300):
            count = self.rng.choice([0, 1, 5, 20, 60, 1000, 1001])
            values = [self.rng.randrange(10 ** self.rng.randint(1, 9)) for _ in range(count)]
            with np.printoptions(threshold=1000, linewidth=75):
                expected = str(np.array(values, np.int64))
            self.assertEqual(self.driver.ask(op="numpy_ints", values=values)["text"], expected)


class DrawTest(OracleTest):
    """The generator, through the peer's own sampler where it knows the type."""

    def dims(self):
        return [self.rng.randint(0, 7) if self.rng.random() < 0.1 else self.rng.randint(1, 9)
                for _ in range(self.rng.randint(0, 3))]

    def seed(self):
        return self.rng.choice([0, 1, 2, 2**31, 2**32 - 1, self.rng.randrange(2**32)])

    def integer_range(self, dtype):
        info = np.iinfo(dtype) if dtype != "bool" else None
        low, high = (0, 1) if info is None else (int(info.min), int(info.max))
        ends = [low, high, 0, 1, low + 1, high - 1, high // 2, 127, 255, 2**16, 2**31 - 1,
                2**32 - 2, 2**32 - 1, 2**32, 2**32 + 1, self.rng.randint(low, high),
                self.rng.randint(low, high)]
        ends = [end for end in ends if low <= end <= high]
        return sorted(self.rng.choices(ends, k=2))

    def float_range(self):
        ends = [0, 1, -1, 0.5, 1e-3, 1e5, -7e4, 65504, 65520, 1e-7, 3.4e38, 1e308, -1e308,
                float("inf"), float("-inf"), float("nan"), self.rng.uniform(-10, 10)]
        return self.rng.choices(ends, k=2)

    @staticmethod
    def word(bounds):
        return f"[{bounds[0]!r},{bounds[1]!r}]"

    def test_numpy_types(self):
        # Two tensors from one generator: what a draw leaves behind matters too.
        for _ in self.rounds(6000):
            dtype, other = self.rng.choices(NUMPY_TYPES, k=2)
            if dtype in FLOATS:
                bounds, other = self.float_range(), self.rng.choice(FLOATS)
            else:
                bounds = self.integer_range(dtype)
                other = self.rng.choice([dtype, "float32"])
            seed, shapes = self.seed(), [self.dims(), self.dims()]
            loader = DataLoader(seed=seed, val_range=tuple(bounds))
            loader.input_metadata = (TensorMetadata()
                                     .add("a", np.dtype(dtype), shapes[0])
                                     .add("b", np.dtype(other), shapes[1]))
            with recorded_log():
                feed = loader[0]
            answer = self.driver.ask(op="draw", seed=seed, ranges=[self.word(bounds)],
                                     tensors=[[dtype, shapes[0]], [other, shapes[1]]])
            with self.subTest(seed=seed, dtypes=(dtype, other), bounds=bounds, shapes=shapes):
                self.assertEqual(answer.get("hex"), [raw_hex(feed["a"]), raw_hex(feed["b"])])

    def test_long_tensors(self):
        for dtype in NUMPY_TYPES:
            bounds = (-1.5, 70000.0) if dtype in FLOATS else (0, 1 if dtype == "bool" else 100)
            loader = DataLoader(seed=11, val_range=bounds)
            loader.input_metadata = TensorMetadata().add("a", np.dtype(dtype), [100003])
            with recorded_log():
                expected = raw_hex(loader[0]["a"])
            answer = self.driver.ask(op="draw", seed=11, ranges=[self.word(bounds)],
                                     tensors=[[dtype, [100003]]])
            self.assertEqual(answer["hex"], [expected], dtype)

    def test_types_without_numpy(self):
        for _ in self.rounds(1500):
            name, dtype = self.rng.choice(list(NARROW.items()))
            bounds, seed, dims = self.float_range(), self.seed(), self.dims()
            loader = DataLoader(seed=seed, val_range=tuple(bounds))
            loader.input_metadata = TensorMetadata().add("a", np.dtype("float32"), dims)
            with recorded_log():
                drawn = loader[0]["a"].astype(dtype)
            if name == "float4_e2m1fn":
                expected = pack_nibbles(drawn.view(np.uint8))
            else:
                expected = raw_hex(drawn)
            answer = self.driver.ask(op="draw", seed=seed, ranges=[self.word(bounds)],
                                     tensors=[[name, dims]])
            with self.subTest(seed=seed, dtype=name, bounds=bounds, dims=dims):
                self.assertEqual(answer.get("hex"), [expected])

    def test_four_bit_integers(self):
        for _ in self.rounds(300):
            name, wide, low, high = self.rng.choice([("int4", np.int8, -8, 7),
                                                     ("uint4", np.uint8, 0, 15)])
            bounds = sorted(self.rng.choices(range(low, high + 1), k=2))
            seed, dims = self.seed(), self.dims()
            generator = np.random.RandomState(seed)
            drawn = np.array(generator.randint(bounds[0], bounds[1] + 1, dims, wide))
            answer = self.driver.ask(op="draw", seed=seed, ranges=[self.word(bounds)],
                                     tensors=[[name, dims]])
            self.assertEqual(answer["hex"], [pack_nibbles(drawn.view(np.uint8))])

    def test_unusable_integer_ranges(self):
        for _ in self.rounds(1000):
            dtype = self.rng.choice(INTEGERS + ["bool"])
            ends = [0, 1, -1, 0.5, 300, -300, 2**31, 2**32, 2**63, 2**64 - 1, 2**64, 1e30, -1e30,
                    float("inf"), float("nan")]
            bounds = self.rng.choices(ends, k=2)
            loader = DataLoader(val_range=tuple(bounds))
            loader.input_metadata = TensorMetadata().add("a", np.dtype(dtype), [3])
            with recorded_log():
                try:
                    expected = [raw_hex(loader[0]["a"])]
                except (ValueError, OverflowError):
                    expected = None
            answer = self.driver.ask(op="draw", seed=1, ranges=[self.word(bounds)],
                                     tensors=[[dtype, [3]]])
            self.assertEqual(answer.get("hex"), expected, (dtype, bounds))


class FeedTest(OracleTest):
    """Whole feeds with their log, in the peer's mode."""

    NAMES = ["x", "input", "inp_1", "inp_2", "Mask", "in:0"]
    KEYS = NAMES + ["inp_*", "*", "inp_?", "inp_[!1]", "INPUT", "nosuch", "zz*", ""]

    def make_inputs(self):
        inputs = []
        for name in self.rng.sample(self.NAMES, self.rng.randint(1, 3)):
            shape = [self.rng.choice([1, 2, 3, 4, None, "batch", "n"])
                     for _ in range(self.rng.randint(0, 3))]
            dtype = self.rng.choice(["float32", "int64", "int8", "bool"])
            inputs.append({"name": name, "dtype": dtype, "shape": shape})
        return inputs

    def test_feeds_and_their_log(self):
        for _ in self.rounds(3000):
            inputs = self.make_inputs()
            shapes = [f"{self.rng.choice(self.KEYS)}:["
                      + ",".join(str(self.rng.choice([1, 2, 3, 4, -1, "n"]))
                                 for _ in range(self.rng.randint(0, 3))) + "]"
                      for _ in range(self.rng.randint(0, 3))]
            # One name at most that is no input: Python prints sets in any order.
            keys = self.rng.sample(self.NAMES[:3] + [""], self.rng.randint(0, 2))
            ranges = [f"{key}:[0,1]" for key in keys]
            extra = set(keys) - {entry["name"] for entry in inputs} - {""}
            seed, iterations = self.rng.randrange(1000), self.rng.randint(1, 2)

            user = args_util.parse_meta(shapes, includes_dtype=False)
            taken, _ = util.match_keys(list(user), [entry["name"] for entry in inputs])
            if any(len(entry["shape"]) == 1 and entry["name"] in user
                   and taken.get(entry["name"]) != entry["name"] for entry in inputs):
                # A pattern after the exact name wins, and yet Polygraphy looks at the shape of the
                # exact name to see whether it is a list of values. Ours does not.
                continue
            val_range = args_util.parse_arglist_to_dict(
                ranges, cast_to=lambda x: tuple(args_util.cast(x))) if ranges else None
            with recorded_log() as log:
                loader = DataLoader(seed=seed, iterations=iterations, input_metadata=user,
                                    val_range=val_range)
                loader.input_metadata = metadata(inputs)
                expected = [[tensor_json(name, array) for name, array in loader[i].items()]
                            for i in range(iterations)]
            answer = self.driver.ask(op="feeds", inputs=inputs, shapes=shapes, ranges=ranges,
                                     seed=seed, iterations=iterations)
            with self.subTest(inputs=inputs, shapes=shapes, ranges=ranges):
                self.assertEqual(answer.get("feeds"), expected)
                self.assertEqual(len(answer["log"]), len(log))
                for ours, theirs in zip(answer["log"], log):
                    if theirs[1].startswith("Extra items"):
                        self.assertEqual(ours[1].split("\n")[0].count("'"), 2 * len(extra))
                        if len(extra) == 1:
                            self.assertEqual(ours[1].split("\n")[0], theirs[1].split("\n")[0])
                    else:
                        self.assertEqual(ours, theirs)


class CoerceTest(OracleTest):
    VALUES = [0, 1, -1, 1.5, -1.5, 127, 128, 255.9, 256, 300.7, -129, 32768, -40000, 65504, 65520,
              70000, 2**31 - 1, 2.0**31, -2.0**31 - 1, 3e9, 2.0**32, 5e9, 2.0**53, 9.2e18, 2.0**63,
              1.8e19, 2.0**64, 1e20, -1e20, 1e-8, 6e-5, 1e38, 1e39, float("inf"), float("-inf"),
              float("nan"), 2049, 4097.5]

    def array(self, dtype, count):
        values = np.array(self.rng.choices(self.VALUES, k=count), np.float64)
        if dtype in INTEGERS:
            info = np.iinfo(dtype)
            limited = [min(max(int(v), int(info.min)), int(info.max)) if np.isfinite(v) else
                       int(info.max) for v in values]
            return np.array(limited, dtype)
        with np.errstate(all="ignore"):
            return values.astype(dtype)

    def check(self, feed, inputs):
        with recorded_log() as log:
            try:
                coerced = coerce_feed_dict(feed, metadata(inputs))
                expected = [tensor_json(name, array) for name, array in coerced.items()]
                error = None
            except PolygraphyException as problem:
                expected, error = None, str(problem)
                log.pop()  # the critical line; ours is the returned error
            except (TypeError, OverflowError):
                # Tracebacks there: several symbolic dimensions and another rank; bool to uint64.
                return
        answer = self.driver.ask(op="coerce", inputs=inputs,
                                 feed=[tensor_json(*item) for item in feed.items()])
        with self.subTest(feed=feed, inputs=inputs):
            self.assertEqual(answer.get("error"), error)
            self.assertEqual(answer.get("tensors"), expected)
            self.assertEqual(visible(answer["log"]), visible(log))

    def test_casts(self):
        for _ in self.rounds(4000):
            source, target = self.rng.choices(NUMPY_TYPES, k=2)
            # One element: NumPy's vector code wraps float to uint32 differently (cast_tensor.h).
            count = 1 if target == "uint32" and source in FLOATS else self.rng.randint(0, 5)
            self.check({"x": self.array(source, count)},
                       [{"name": "x", "dtype": target, "shape": [count]}])

    def test_narrow_casts(self):
        for _ in self.rounds(2000):
            source = self.rng.choice(FLOATS + INTEGERS)
            target, dtype = self.rng.choice(list(NARROW.items()))
            array = self.array(source, 4)
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                codes = array.astype(np.float32).astype(dtype)
            expected = pack_nibbles(codes.view(np.uint8)) if "4_" in target[:7] else raw_hex(codes)
            answer = self.driver.ask(op="coerce", feed=[tensor_json("x", array)],
                                     inputs=[{"name": "x", "dtype": target, "shape": [4]}])
            self.assertEqual(answer["tensors"][0]["hex"], expected, (array, target))

    def test_shapes(self):
        for _ in self.rounds(5000):
            dims = [self.rng.choice([0, 1, 2, 2, 3, 4, 6]) if self.rng.random() < 0.2 else
                    self.rng.choice([1, 2, 3, 4]) for _ in range(self.rng.randint(0, 4))]
            wanted = list(dims)
            self.rng.shuffle(wanted)
            if self.rng.random() < 0.4:
                wanted = [self.rng.choice([1, 2, 3, 4, 6, 12])
                          for _ in range(self.rng.randint(0, 3))]
            wanted = [self.rng.choice([None, "n"]) if self.rng.random() < 0.3 else dim
                      for dim in wanted]
            dtype = self.rng.choice(["float32", "int8", "int64"])
            array = np.arange(int(np.prod(dims)), dtype=dtype).reshape(dims)
            self.check({"x": array}, [{"name": "x", "dtype": dtype, "shape": wanted}])

    def test_names(self):
        names = ["x", "X", "x_1", "input", "input_ids", "INPUT", "y", "mask:0"]
        for _ in self.rounds(3000):
            feed = {name: np.full([2], index, np.float32) for index, name in
                    enumerate(self.rng.sample(names, self.rng.randint(0, 4)))}
            inputs = [{"name": name, "dtype": "float32", "shape": [2]}
                      for name in self.rng.sample(names, self.rng.randint(1, 4))]
            self.check(feed, inputs)


if __name__ == "__main__":
    unittest.main()
