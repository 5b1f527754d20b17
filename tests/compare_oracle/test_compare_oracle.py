"""Comparison logs against Polygraphy's own, on random outputs.

Needs Polygraphy 0.53.6, NumPy and ml_dtypes in the interpreter that runs it, and the driver built
from compare_driver.cc:

    VERNIER_COMPARE_DRIVER=build/.../compare_driver python -m unittest test_compare_oracle

VERNIER_ORACLE_CASES (default 300) is the number of random cases per test, VERNIER_ORACLE_SEED the
first seed. Text must be identical. Numbers must agree within 5e-4 (relative) or 1e-9; the named
exceptions are statistics that Polygraphy computes in float16 or float32.
"""

import contextlib
import io
import math
import os
import re
import subprocess
import tempfile
import unittest
import warnings

import ml_dtypes
import numpy as np
from polygraphy.comparator import Comparator, IterationResult, RunResults, TopKPostprocessFunc
from polygraphy.comparator import compare as peer
from polygraphy.logger import G_LOGGER

DRIVER = os.environ.get("VERNIER_COMPARE_DRIVER", "compare_driver")
CASES = int(os.environ.get("VERNIER_ORACLE_CASES", "300"))
SEED = int(os.environ.get("VERNIER_ORACLE_SEED", "0"))

RELATIVE = 5e-4
ABSOLUTE = 1e-9
SINGLE_EPSILON = 1.2e-7
HALF_EPSILON = 1e-3
HALF_DENORMAL = 6e-8
SINGLE_LARGE = 1e37

FLOATS = [np.float16, np.float32, np.float64]
# Without uint64, whose differences wrap around in Polygraphy.
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64]
SHAPES = [(), (1,), (3,), (4,), (7,), (2, 3), (2, 1, 2), (0,), (2, 0, 3), (10, 10), (101,), (3, 500)]
STATS = ["elemwise", "max", "mean", "median", "quantile"]
TOLERANCES = [0, 1e-5, 1e-3, 0.1, 0.5, 1, 2, 100]
SPECIALS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 6e-8, 1.0]
METRICS = {
    "l2": peer.L2CompareFunc,
    "cosine_similarity": peer.CosineSimilarityCompareFunc,
    "psnr": peer.PsnrCompareFunc,
    "snr": peer.SnrCompareFunc,
}


def random_array(rng, dtype, shape):
    """Values for which integers neither wrap around nor lose digits in Polygraphy."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    if dtype.kind == "b":
        return rng.integers(0, 2, count).astype(bool).reshape(shape)
    if dtype.kind in "iu":
        high = {1: 60, 2: 16000}.get(dtype.itemsize, 100000)
        if rng.integers(2):
            high = 5
        low = 0 if dtype.kind == "u" else -high
        return rng.integers(low, high, count).astype(dtype).reshape(shape)
    values = rng.standard_normal(count)
    mode = rng.integers(6)
    if mode == 1:
        values = values * 10.0 ** rng.integers(-9, 5)
    elif mode == 2:
        values = np.round(values, 1)
    elif mode == 3:
        values = np.round(values * 4) / 4
    elif mode == 4:
        values = np.abs(values) * 10.0 ** rng.integers(-6, 6, count)
    elif mode == 5:
        values = np.full(count, np.round(rng.standard_normal(), 2))
    with np.errstate(over="ignore"):
        return values.astype(dtype).reshape(shape)


def perturbed(rng, array):
    """Something that resembles the array."""
    mode = rng.integers(5)
    out = array.copy()
    if array.size == 0 or mode == 0:
        return out
    flat = out.reshape(-1)
    if mode == 1:
        other = random_array(rng, array.dtype, array.shape)
        return other
    if array.dtype.kind == "f":
        noise = rng.standard_normal(flat.size) * 10.0 ** rng.integers(-7, 0)
        if mode == 2:
            flat[:] = (flat.astype(np.float64) * (1 + noise)).astype(array.dtype)
        elif mode == 3:
            flat[:] = (flat.astype(np.float64) + noise).astype(array.dtype)
        else:
            flat[rng.integers(0, flat.size)] += array.dtype.type(1)
    elif array.dtype.kind == "b":
        flat[rng.integers(0, flat.size)] ^= True
    else:
        flat[rng.integers(0, flat.size)] += array.dtype.type(1)
    return out


def add_specials(rng, *arrays, specials=SPECIALS):
    for array in arrays:
        if array.dtype.kind != "f" or array.size == 0:
            continue
        flat = array.reshape(-1)
        for _ in range(rng.integers(1, 4)):
            place = rng.integers(0, flat.size)
            value = array.dtype.type(rng.choice(specials))
            for target in arrays if rng.integers(2) else [array]:
                if target.dtype.kind == "f" and target.size == array.size:
                    target.reshape(-1)[place] = value


class Case:
    """Two runners' outputs over some iterations, the options, and both logs."""

    def __init__(self, rng):
        self.rng = rng
        self.words = []
        self.functions = []
        self.iterations = []  # of (outputs of A, outputs of B)
        self.fail_fast = False
        self.check_average = False
        self.severity = int(rng.choice([10, 20, 20, 0, -10]))
        self.topk = None

    def has_halves(self):
        return any(array.dtype == np.float16 for sides in self.iterations for outputs in sides
                   for array in outputs.values())

    def options(self, *words):
        self.words += [str(word) for word in words]

    def driver_line(self, folder, index):
        words = ["severity", str(self.severity), "lenient"] + self.words
        for side, runner in enumerate(("onnxrt-A", "a-runner-with-quite-a-long-name-N1-11/21/26")):
            words += ["runner", runner]
            for number, iteration in enumerate(self.iterations):
                if number > 0:
                    words.append("iteration")
                for name, array in iteration[side].items():
                    path = os.path.join(folder, f"{index}.{side}.{number}.{len(words)}")
                    np.ascontiguousarray(array).tofile(path)
                    dims = ",".join(str(dim) for dim in array.shape)
                    words += ["output", name, array.dtype.name, dims, path]
        return "\t".join(words)

    def peer_log(self):
        runs = RunResults()
        for side, runner in enumerate(("onnxrt-A", "a-runner-with-quite-a-long-name-N1-11/21/26")):
            runs.append((runner, [
                IterationResult(dict(iteration[side]), runtime=0.1, runner_name=runner)
                for iteration in self.iterations]))

        if self.topk is not None:
            processed = []
            logged(
                lambda: processed.append(
                    Comparator.postprocess(runs, TopKPostprocessFunc(self.topk))
                ),
                G_LOGGER.CRITICAL,
            )
            runs = processed[0]

        def run():
            Comparator.compare_accuracy(
                runs,
                fail_fast=self.fail_fast,
                compare_func=self.functions,
                check_average=self.check_average,
            )

        return logged(run, self.severity)


MODULE_LINE = re.compile(r"\[W\] 'colored' module|\[V\] *Loaded Module")


def logged(function, severity):
    G_LOGGER.module_severity = severity
    G_LOGGER.once_logged = set()
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(io.StringIO()) as critical:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                function()
            except Exception as error:  # what the peer cannot do is not compared
                if "PolygraphyException" not in type(error).__name__:
                    return None
    lines = [line for line in text.getvalue().splitlines() if not MODULE_LINE.match(line)]
    return "".join(line + "\n" for line in lines + critical.getvalue().splitlines())


def driver_logs(lines):
    done = subprocess.run(
        [DRIVER], input="\n".join(lines) + "\n", capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise AssertionError(f"the driver failed: {done.stderr}")
    return done.stdout.split("%%%%\n")[:-1]


NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan)(?![\w.])")
NEGATIVE_ZERO = re.compile(r"-0(?=[ ,)])")
FIELD = re.compile(
    r"(mean|std-dev|var|median|min|max|avg-magnitude|p90|p95|p99)=(-?(?:inf|nan|[\d.]+(?:e[+-]\d+)?))"
)


def close(want, got, slack=0.0):
    if math.isnan(want) or math.isnan(got):
        return math.isnan(want) and math.isnan(got)
    if want == got:
        return True
    if math.isinf(want) or math.isinf(got):
        # A float32 sum that overflowed.
        return math.isinf(want) and abs(got) > SINGLE_LARGE
    return abs(want - got) <= max(RELATIVE * abs(want), ABSOLUTE, slack)


def statistics_close(want, got, halves):
    """Two lines of statistics. Polygraphy's moments are float32, its quantiles of the arrays' type:
    halves says whether any of these is float16."""
    want_fields = {key: float(value) for key, value in FIELD.findall(want)}
    got_fields = {key: float(value) for key, value in FIELD.findall(got)}
    if list(want_fields) != list(got_fields) or FIELD.sub("", want) != FIELD.sub("", got):
        return False
    largest = max(abs(got_fields["min"]), abs(got_fields["max"]))
    for key, wanted in want_fields.items():
        value = got_fields[key]
        slack = 0.0
        if key in ("mean", "avg-magnitude", "std-dev"):
            slack = 10 * SINGLE_EPSILON * largest
        elif key == "var":
            slack = 10 * SINGLE_EPSILON * largest * max(largest * 10 * SINGLE_EPSILON, got_fields["std-dev"])
        elif key.startswith("p9"):
            slack = HALF_EPSILON * largest + HALF_DENORMAL if halves else SINGLE_EPSILON * largest
        # Sums of squares overflow float32 above 1.8e19, quantiles of float16 above 65504.
        overflow = not math.isfinite(wanted) and (
            largest > 1e18 or (halves and key.startswith("p9") and largest > 3e4)
        )
        if not overflow and not close(wanted, value, slack):
            return False
    return True


def lines_agree(want, got, halves):
    if want == got:
        return True
    if "mean=" in want and "avg-magnitude=" in want:
        return statistics_close(want, got, halves)
    if want.lstrip().startswith("("):
        # Which zero is the largest of 0.0 and -0.0 depends on NumPy's vector width.
        want, got = (NEGATIVE_ZERO.sub("0 ", line) for line in (want, got))
    if NUMBER.sub("#", want) != NUMBER.sub("#", got):
        return False
    # A metric in decibels is a logarithm: its relative error is the argument's absolute one.
    # Products of small float32 numbers underflow.
    slack = 5e-3 if " dB" in want else 1e-6 if "Cosine" in want else 0.0
    pairs = zip(NUMBER.findall(want), NUMBER.findall(got))
    return all(close(float(x), float(y), slack) for x, y in pairs)


class OracleTest(unittest.TestCase):
    def check(self, cases):
        with tempfile.TemporaryDirectory() as folder:
            lines = [case.driver_line(folder, i) for i, case in enumerate(cases)]
            logs = driver_logs(lines)
            self.assertEqual(len(logs), len(cases))
            compared = 0
            for case, got, line in zip(cases, logs, lines):
                want = case.peer_log()
                if want is None:
                    continue
                compared += 1
                self.compare(want, got, line, case.has_halves())
        self.assertGreater(compared, len(cases) // 2)

    def compare(self, want, got, line, halves):
        want_lines = want.splitlines()
        got_lines = got.splitlines()
        for number, (x, y) in enumerate(zip(want_lines, got_lines)):
            if not lines_agree(x, y, halves):
                self.fail(
                    f"line {number} differs\nwant: {x}\ngot:  {y}\ncase: {line}\n"
                    f"--- peer\n{want}--- ours\n{got}"
                )
        if len(want_lines) != len(got_lines):
            self.fail(f"different length\ncase: {line}\n--- peer\n{want}--- ours\n{got}")

    def test_simple(self):
        cases = []
        for seed in range(CASES):
            rng = np.random.default_rng(SEED * 100003 + seed)
            case = Case(rng)
            outputs_a, outputs_b = {}, {}
            for name in ["y", "prob", "z:0"][: rng.integers(1, 4)]:
                kind = rng.integers(8)
                dtype = rng.choice(FLOATS + [np.float32] * 4 + INTEGERS + [bool])
                shape = SHAPES[rng.integers(len(SHAPES))]
                a = random_array(rng, dtype, shape)
                b = perturbed(rng, a)
                # Mixed types; NumPy has no histogram over a range that is two bools.
                if kind == 0 and a.dtype != bool:
                    b = random_array(rng, rng.choice(FLOATS + INTEGERS), shape)
                if kind < 4:
                    add_specials(rng, a, b)
                outputs_a[name], outputs_b[name] = a, b
            case.iterations.append((outputs_a, outputs_b))
            rtol, atol = rng.choice(TOLERANCES, 2)
            rtol = int(rtol) if rtol == int(rtol) else float(rtol)
            atol = int(atol) if atol == int(atol) else float(atol)
            stat = str(rng.choice(STATS + ["elemwise"] * 4))
            quantile = float(rng.choice([0.0, 0.25, 0.5, 0.9, 0.99, 1.0]))
            infinities = bool(rng.integers(4) == 0)
            case.options("rtol", rtol, "atol", f"y:{atol}", "stat", stat, "quantile", quantile)
            if infinities:
                case.options("infinities_equal")
            case.functions = [
                peer.SimpleCompareFunc(
                    rtol=rtol,
                    atol={"y": atol},
                    check_error_stat=stat,
                    error_quantile=quantile,
                    infinities_compare_equal=infinities,
                )
            ]
            cases.append(case)
        self.check(cases)

    def test_metrics(self):
        cases = []
        for seed in range(CASES):
            rng = np.random.default_rng(SEED * 100003 + 50000 + seed)
            case = Case(rng)
            dtype = rng.choice(FLOATS + [np.float32] * 3 + INTEGERS)
            shape = SHAPES[rng.integers(len(SHAPES))]
            names = list(rng.permutation(list(METRICS)))[: rng.integers(1, 5)]
            for _ in range(rng.integers(1, 3)):
                a = random_array(rng, dtype, shape)
                if a.dtype.kind in "iu":  # squares of int32 overflow in the peer
                    a = (a % 5).astype(a.dtype)
                b = perturbed(rng, a)
                if a.dtype.kind in "iu":
                    b = (b % 5).astype(a.dtype)
                if rng.integers(5) == 0:
                    add_specials(rng, a, b, specials=[np.nan, np.inf, -np.inf, 0.0, 1.0])
                case.iterations.append(({"out": a}, {"out": b}))
            case.check_average = bool(rng.integers(3) == 0)
            case.fail_fast = not case.check_average and bool(rng.integers(3) == 0)
            case.options("functions", ",".join(names), "l2", "0.5")
            if case.check_average:
                case.options("check_average")
            if case.fail_fast:
                case.options("fail_fast")
            for name in names:
                arguments = {"fail_fast": case.fail_fast}
                if name == "l2":
                    arguments["l2_threshold"] = 0.5
                case.functions.append(METRICS[name](**arguments))
            cases.append(case)
        self.check(cases)

    def test_names_shapes_and_functions(self):
        cases = []
        names = ["out", "OUT", "out_2", "y", "relu_out", "logits:0", "Logits"]
        shapes = [(2, 3), (3, 2), (6,), (1, 6), (2, 2), (2, 3, 1), (4,)]
        for seed in range(CASES):
            rng = np.random.default_rng(SEED * 100003 + 70000 + seed)
            case = Case(rng)
            sides = []
            for _ in range(2):
                chosen = rng.permutation(names)[: rng.integers(0, 4)]
                loose = rng.integers(2)
                sides.append(
                    {
                        str(name): random_array(
                            rng, np.float32, shapes[rng.integers(len(shapes)) if loose else 0]
                        )
                        for name in chosen
                    }
                )
            if rng.integers(2):
                sides[1] = {
                    name: perturbed(rng, array) if rng.integers(2) else array
                    for name, array in sides[0].items()
                }
            case.iterations.append(tuple(sides))
            no_shape_check = bool(rng.integers(2))
            case.fail_fast = bool(rng.integers(4) == 0)
            case.options("functions", "simple,indices,l2", "index_tolerance", "y:1")
            if no_shape_check:
                case.options("no_shape_check")
            if case.fail_fast:
                case.options("fail_fast")
            common = {"check_shapes": not no_shape_check, "fail_fast": case.fail_fast}
            case.functions = [
                peer.SimpleCompareFunc(**common),
                peer.IndicesCompareFunc({"y": 1}, fail_fast=case.fail_fast),
                peer.L2CompareFunc(**common),
            ]
            cases.append(case)
        self.check([case for case in cases if any(case.iterations[0])])  # else it never passes here

    def test_indices_and_top_k(self):
        cases = []
        for seed in range(CASES):
            rng = np.random.default_rng(SEED * 100003 + 80000 + seed)
            case = Case(rng)
            shape = [(10,), (2, 5), (2, 2, 6), (1, 1), (0, 3), (3, 0)][rng.integers(6)]
            dtype = rng.choice([np.float32, np.float16, np.int32, np.int64])
            a = random_array(rng, dtype, shape)
            b = perturbed(rng, a)
            if rng.integers(3) == 0:
                add_specials(rng, a, b)
            tolerance = int(rng.integers(0, 4))
            case.options("functions", "indices", "index_tolerance", tolerance)
            case.functions = [peer.IndicesCompareFunc(tolerance)]
            if rng.integers(3):
                k, axis = int(rng.integers(1, 7)), int(rng.integers(-1, len(shape)))
                case.topk = {"": (k, axis)}
                case.options("topk", f"top-{k},axis={axis}")
            case.iterations.append(({"k": a}, {"k": b}))
            cases.append(case)
        self.check(cases)

    def test_validation(self):
        lines, wants, halves = [], [], []
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(CASES):
                rng = np.random.default_rng(SEED * 100003 + 90000 + seed)
                case = Case(rng)
                dtype = rng.choice(FLOATS + [np.int32, np.int8, np.uint8, bool])
                array = random_array(rng, dtype, SHAPES[rng.integers(len(SHAPES))])
                if rng.integers(2):
                    add_specials(rng, array)
                case.options("validate")
                case.iterations = [({"y": array}, {"y": perturbed(rng, array)})]
                runs = RunResults()
                for side, runner in enumerate(("r", "s")):
                    result = IterationResult(dict(case.iterations[0][side]), runner_name=runner)
                    runs.append((runner, [result]))
                line = case.driver_line(folder, seed)
                line = line.replace("onnxrt-A", "r")
                line = line.replace("a-runner-with-quite-a-long-name-N1-11/21/26", "s")
                lines.append(line)
                halves.append(case.has_halves())
                wants.append(
                    logged(
                        lambda: Comparator.validate(runs, check_inf=True, check_nan=True),
                        case.severity,
                    )
                )
            for line, want, got, half in zip(lines, wants, driver_logs(lines), halves):
                self.assertIsNotNone(want)
                self.compare(want, got, line, half)


class FormatTest(unittest.TestCase):
    """Conversions and array printing, where nothing but identity will do."""

    def test_every_small_float(self):
        lines, wants = [], []
        with tempfile.TemporaryDirectory() as folder:
            for name, count in (
                ("float16", 65536),
                ("bfloat16", 65536),
                ("float8_e4m3fn", 256),
                ("float8_e4m3fnuz", 256),
                ("float8_e5m2", 256),
                ("float8_e5m2fnuz", 256),
            ):
                raw = np.arange(count, dtype=np.uint16 if count > 256 else np.uint8)
                dtype = np.float16 if name == "float16" else getattr(ml_dtypes, name)
                path = os.path.join(folder, name)
                raw.tofile(path)
                lines.append(f"convert\t{name}\t{count}\t{path}")
                with np.errstate(all="ignore"):
                    wants.append(raw.view(dtype).astype(np.float64))
            path = os.path.join(folder, "float4")
            np.array([16 * (2 * i + 1) + 2 * i for i in range(8)], np.uint8).tofile(path)
            lines.append(f"convert\tfloat4_e2m1fn\t16\t{path}")
            pattern = np.arange(16, dtype=np.uint8)
            wants.append(pattern.view(ml_dtypes.float4_e2m1fn).astype(np.float64))
            logs = driver_logs(lines)
        for line, want, log in zip(lines, wants, logs):
            got = np.array([float(word) for word in log.split()])
            self.assertTrue(np.array_equal(got, want, equal_nan=True), line)
            self.assertTrue(np.array_equal(np.signbit(got), np.signbit(want)), line)

    def test_printed_arrays(self):
        lines, wants = [], []
        shapes = SHAPES + [(1200,), (40, 40), (2, 3, 4, 50), (7, 200), (100,), (4, 25)]
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(4 * CASES):
                rng = np.random.default_rng(SEED * 100003 + 95000 + seed)
                dtype = np.dtype(rng.choice(FLOATS + INTEGERS + [np.uint64, bool, np.complex64]))
                shape = shapes[rng.integers(len(shapes))]
                if dtype.kind == "c":
                    part = random_array(rng, np.float32, shape)
                    array = (part + 1j * rng.permutation(part) if shape else part).astype(dtype)
                else:
                    array = random_array(rng, dtype, shape)
                    if rng.integers(3) == 0:
                        add_specials(rng, array)
                path = os.path.join(folder, str(seed))
                np.ascontiguousarray(array).tofile(path)
                dims = ",".join(str(dim) for dim in array.shape)
                lines.append(f"print\t{dtype.name}\t{dims}\t{path}")
                wants.append(str(array) + "\n")
            for line, want, got in zip(lines, wants, driver_logs(lines)):
                self.assertEqual(want, got, line)


if __name__ == "__main__":
    unittest.main()
