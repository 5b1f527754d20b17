#!/usr/bin/env python3
"""Files of saved tensors, read and written by both sides.

Needs polygraphy, numpy and ml_dtypes in the interpreter that runs it and the driver built from
io_driver.cc, whose path is $IO_DRIVER (default: ./io_driver).
"""

import base64
import io
import json
import os
import random
import subprocess
import tempfile
import unittest

import ml_dtypes
import numpy as np
from polygraphy.comparator import IterationResult, RunResults
from polygraphy.json import from_json, save_json, to_json

DRIVER = os.path.abspath(os.environ.get("IO_DRIVER", "io_driver"))

NUMPY_TYPES = "f4 u1 i1 u2 i2 i4 i8 ?  f2 f8 u4 u8 c8 c16 U".split()
OTHER_TYPES = (
    "bfloat16 float8_e4m3fn float8_e4m3fnuz float8_e5m2fnuz uint4 int4 float4_e2m1fn".split()
)
FORMATS = [".json", ".npz", ".safetensors"]


def sample(dtype, shape, seed=0):
    count = int(np.prod(shape, dtype=np.int64))
    if np.dtype(dtype).kind == "U":
        words = ["", "a", "héllo", "\U0001f600x", "\ud800y", "12345"]
        chosen = np.array([words[(i + seed) % len(words)] for i in range(count)], np.dtype(dtype).kind)
        return chosen.astype(chosen.dtype.newbyteorder(np.dtype(dtype).byteorder)).reshape(shape)
    values = np.random.RandomState(seed).randint(0, 7, size=count)
    return values.astype(dtype).reshape(shape)


def peer_results(runners=2, iterations=3, arrays=None):
    results = RunResults()
    for r in range(runners):
        name = f"runner-N{r}-11/21/26-00:02:18 ä\U0001f600\x7f\"\\\n"
        results.append(
            (
                name,
                [
                    IterationResult(
                        {k: v.copy() for k, v in (arrays or {"y": sample("f4", (2, 3), i)}).items()},
                        runtime=[0.00032329559326171875, 1e-05, None, float("nan")][(r + i) % 4],
                        runner_name=name if i else "another name",
                    )
                    for i in range(iterations)
                ],
            )
        )
    return results


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def drive(self, *args, ok=True):
        done = subprocess.run([DRIVER, *args], capture_output=True, text=True)
        if ok:
            self.assertEqual(done.returncode, 0, done.stderr)
        else:
            self.assertIn(done.returncode, range(11, 20), done.stderr)
        return done.stderr

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def write(self, name, text):
        with open(self.path(name), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())

    def rewritten(self, kind, source, *formats):
        """The bytes of `source` after a journey through other formats and back to JSON."""
        current = source
        for n, extension in enumerate([*formats, ".json"]):
            following = f"step{n}{extension}"
            self.drive(kind, self.path(following), self.path(current))
            current = following
        return self.read(current)

    def all_arrays(self):
        arrays = {}
        for t in NUMPY_TYPES + [np.dtype(getattr(ml_dtypes, t)) for t in OTHER_TYPES]:
            for shape in [(), (0, 3), (5,), (2, 1, 3)]:
                array = sample(t, shape)
                arrays[f"{array.dtype.name}/{shape} é"] = array
        return arrays


class Results(Files):
    def test_json_is_the_peers_own(self):
        peer_results(3, 4).save(self.path("peer.json"))
        self.assertEqual(self.rewritten("results", "peer.json"), self.read("peer.json"))

    def test_every_numpy_type_survives_every_format(self):
        arrays = {k: v for k, v in self.all_arrays().items() if v.dtype.kind != "V"}
        arrays = {k: v for k, v in arrays.items() if not hasattr(ml_dtypes, v.dtype.name)}
        peer_results(2, 3, arrays).save(self.path("peer.json"))
        for extension in FORMATS:
            with self.subTest(extension):
                again = self.rewritten("results", "peer.json", extension)
                self.assertEqual(again, self.read("peer.json"))

    def test_types_that_numpy_lacks_keep_their_names(self):
        arrays = {k: v for k, v in self.all_arrays().items() if hasattr(ml_dtypes, v.dtype.name)}
        self.assertEqual(len(arrays), 4 * len(OTHER_TYPES))
        dumped = json.loads(peer_results(2, 3, arrays).to_json())
        for _, iterations in dumped["lst"]:
            for iteration in iterations:
                for name, lazy in iteration["outputs"].items():
                    array = lazy["values"]
                    lazy["values"] = {
                        "array": array["array"],
                        "dtype": name.split("/")[0],
                        "polygraphy_class": array["polygraphy_class"],
                    }
        text = json.dumps(dumped, indent=4).encode()
        self.write("typed.json", text)
        for extension in FORMATS:
            with self.subTest(extension):
                self.assertEqual(self.rewritten("results", "typed.json", extension), text)
        loaded = RunResults.load(self.path("typed.json"))  # the peer ignores the key
        self.assertEqual(len(loaded[0][1][0]), len(arrays))

    def test_empty_results(self):
        for results in [RunResults(), RunResults([("a", [])]), RunResults([("", [IterationResult()])])]:
            results.save(self.path("peer.json"))
            for extension in FORMATS:
                again = self.rewritten("results", "peer.json", extension)
                self.assertEqual(again, self.read("peer.json"))

    def test_duplicate_runner_names(self):
        results = RunResults()
        for i in range(3):
            results.append(("same", [IterationResult({"y": sample("f4", (3,), i)}, runner_name="x")]))
        results.save(self.path("peer.json"))
        for extension in FORMATS:
            again = self.rewritten("results", "peer.json", extension)
            self.assertEqual(again, self.read("peer.json"))

    def test_directories(self):
        results = peer_results(2, 12)
        results.save(self.path("peer.json"))
        self.drive("results", self.path("ours"), self.path("peer.json"))
        os.mkdir(self.path("peers"))
        for i, single in enumerate(results.split()):
            single.save(self.path(f"peers/{i:010d}.json"))
        self.assertEqual(sorted(os.listdir(self.path("ours"))), sorted(os.listdir(self.path("peers"))))
        for name in os.listdir(self.path("ours")):
            self.assertEqual(self.read(f"ours/{name}"), self.read(f"peers/{name}"))
        self.assertEqual(self.rewritten("results", "peers"), self.read("peer.json"))
        self.assertIn("is not empty", self.drive("results", self.path("ours"), self.path("peer.json"), ok=False))

    def test_ragged_results(self):
        results = peer_results(2, 4)
        del results[0][1][2:]
        results.save(self.path("peer.json"))
        for extension in ["", *FORMATS]:
            again = self.rewritten("results", "peer.json", extension)
            self.assertEqual(again, self.read("peer.json"), extension)

    def test_wrong_type(self):
        for value, words in [([], "<class 'list'>"), ({}, "OrderedDict"), (3, "<class 'int'>")]:
            save_json(value, self.path("wrong.json"))
            error = self.drive("results", self.path("out.json"), self.path("wrong.json"), ok=False)
            self.assertIn("Provided JSON cannot be decoded into a RunResults.", error)
            self.assertIn(words, error)
        self.assertFalse(os.path.exists(self.path("out.json")))


class OldForms(Files):
    def payload(self, array, save=np.save):
        stream = io.BytesIO()
        save(stream, array)
        return stream.getvalue()

    def feeds_from(self, value):
        self.write("old.json", json.dumps([{"x": value}], indent=4))
        again = self.rewritten("feeds", "old.json")
        return from_json(again.decode())[0]["x"]

    def test_payloads(self):
        array = sample("f4", (2, 3))
        plain = base64.b64encode(self.payload(array)).decode()
        for value in [
            {"array": plain, "polygraphy_class": "ndarray"},
            {"array": plain, "__polygraphy_encoded_ndarray": "polygraphy_serialized_json_type"},
            {"array": self.payload(array).decode("latin-1"), "polygraphy_class": "ndarray"},
            {"array": self.payload(array, np.savez).decode("latin-1"), "polygraphy_class": "ndarray"},
            {"array": base64.b64encode(self.payload(array, np.savez)).decode(), "polygraphy_class": "ndarray"},
            {"array": base64.b64encode(self.payload(array, np.savez_compressed)).decode(), "polygraphy_class": "ndarray"},
            {"values": {"array": plain, "polygraphy_class": "ndarray"}, "polygraphy_class": "LazyArray"},
            {"values": {"array": plain, "polygraphy_class": "ndarray"}, "polygraphy_class": "LazyNumpyArray"},
        ]:
            np.testing.assert_array_equal(self.feeds_from(value), array)

    def test_orders(self):
        for array in [
            np.asfortranarray(sample("i4", (3, 4, 5))),
            sample(">f4", (2, 3)),
            np.asfortranarray(sample(">c16", (2, 3))),
            np.asfortranarray(sample(">U5", (2, 3))),
            np.array([b"ab", b"c"]),
        ]:
            value = json.loads(to_json(array))
            got = self.feeds_from(value)
            np.testing.assert_array_equal(got, array.astype(str) if array.dtype.kind == "S" else array)

    def test_escaped_slashes_in_base64(self):
        array = np.full((64,), 255, np.uint8)
        text = json.dumps([{"x": json.loads(to_json(array))}]).replace("/", "\\/")
        self.assertIn("\\/", text)
        self.write("old.json", text)
        self.assertEqual(from_json(self.rewritten("feeds", "old.json").decode())[0]["x"].tolist(), array.tolist())

    def test_torch_is_refused_with_advice(self):
        self.write("t.json", '[{"x": {"tensor": "AAAA", "polygraphy_class": "Tensor"}}]')
        self.assertIn("NumPy", self.drive("feeds", self.path("o.json"), self.path("t.json"), ok=False))


class Feeds(Files):
    def test_json_is_the_peers_own(self):
        feeds = [{"x": sample("f4", (2, 3), i), "é\ud800": sample("U5", (4,), i)} for i in range(3)]
        for value in [feeds, [], [{}], [{}, feeds[0], {}]]:
            save_json(value, self.path("peer.json"))
            for extension in FORMATS:
                again = self.rewritten("feeds", "peer.json", extension)
                self.assertEqual(again, self.read("peer.json"))

    def test_directories_and_chains(self):
        feeds = [{"x": sample("f4", (2, 3), i)} for i in range(12)]
        save_json(feeds, self.path("peer.json"))
        self.drive("feeds", self.path("dir"), self.path("peer.json"))
        for i, feed in enumerate(feeds):
            self.assertEqual(self.read(f"dir/{i:010d}.json").decode(), to_json(feed))
        self.drive("feeds", self.path("two.json"), self.path("dir"), self.path("peer.json"))
        self.assertEqual(self.read("two.json").decode(), to_json(feeds + feeds))

    def test_results_are_told_from_inputs(self):
        peer_results().save(self.path("results.json"))
        self.drive("results", self.path("results.npz"), self.path("results.json"))
        for name in ["results.json", "results.npz"]:
            error = self.drive("feeds", self.path("o.json"), self.path(name), ok=False)
            self.assertIn("`data merge`", error)

    def test_plain_numpy_files(self):
        a, b = sample("f4", (300, 4)), sample("i8", (5,), 1)
        np.save(self.path("x.npy"), a)
        np.savez(self.path("n.npz"), x=a, y=b)
        np.savez_compressed(self.path("c.npz"), x=a, y=b)
        for name, expected in [("x.npy", {"x": a}), ("n.npz", {"x": a, "y": b}), ("c.npz", {"x": a, "y": b})]:
            self.assertEqual(self.rewritten("feeds", name).decode(), to_json([expected]))

    def test_npz_loads_in_numpy(self):
        feeds = [{"a/b%": sample("f4", (2, 3), i)} for i in range(2)]
        save_json(feeds, self.path("peer.json"))
        self.drive("feeds", self.path("o.npz"), self.path("peer.json"))
        loaded = np.load(self.path("o.npz"))
        self.assertEqual(loaded.files, ["0000000000/a%2Fb%25", "0000000001/a%2Fb%25"])
        for i, name in enumerate(loaded.files):
            np.testing.assert_array_equal(loaded[name], feeds[i]["a/b%"])
        peer_results().save(self.path("r.json"))
        self.drive("results", self.path("r.npz"), self.path("r.json"))
        loaded = np.load(self.path("r.npz"))
        self.assertEqual(len(loaded.files), 7)
        self.assertEqual(len([loaded[name] for name in loaded.files]), 7)

    def test_onnx_test_data(self):
        import onnx
        from onnx import numpy_helper

        feeds = [{f"in{k}": sample("f4", (k + 1,), i) for k in range(11)} for i in range(11)]
        for i, feed in enumerate(feeds):
            folder = self.path(f"m/test_data_set_{i}")
            os.makedirs(folder)
            for k, (name, array) in enumerate(feed.items()):
                with open(f"{folder}/input_{k}.pb", "wb") as f:
                    f.write(numpy_helper.from_array(array, name).SerializeToString())
        self.assertEqual(self.rewritten("feeds", "m").decode(), to_json(feeds))
        self.assertEqual(self.rewritten("feeds", "m/test_data_set_3").decode(), to_json([feeds[3]]))
        for number, values in [(1, [1.5, -2]), (7, [3, 4]), (11, [1.25]), (12, [7]), (13, [8]), (2, [255]), (9, [1, 0]), (10, [1.5]), (14, [1 + 2j])]:
            tensor = onnx.helper.make_tensor("t", number, [len(values)], values)
            self.write("t.pb", tensor.SerializeToString())
            got = from_json(self.rewritten("feeds", "t.pb").decode())[0]["t"]
            np.testing.assert_array_equal(got, numpy_helper.to_array(tensor))


class Agreement(Files):
    """What the peer's JSON parser takes and refuses."""

    SEEDS = [
        '{"a": [1, -0.5e+3, "x\\u00e9\\ud800", true, false, null, NaN, -Infinity, Infinity]}',
        '[{"k": {}}, [], "", "\\"\\\\\\/\\b\\f\\n\\r\\t", 0, -1, 1E5, 0.25]',
        '{"": {"": [[[{}]]]}, "": 1}',
    ]
    PIECES = list('[]{}:,"\\0123456789.eE+-tfnNIu \n\t\r\x00\x1f\x7f') + [
        "NaN", "Infinity", "-Infinity", "true", "null", "01", ".5", "1.", "1e", "\\u12", "\\ud83d\\ude00",
        "é", "\ufeff", '"a"', '"\\x"', "/*", "'", "1_0", "0x1", "-", "--1", "+1",
    ]

    def test_accept_and_refuse_alike(self):
        rng = random.Random(7)
        batch = []
        for _ in range(int(os.environ.get("JSON_CASES", "400"))):
            text = rng.choice(self.SEEDS)
            for _ in range(rng.randint(0, 2)):
                at = rng.randint(0, len(text))
                text = text[:at] + rng.choice(self.PIECES) + text[at + rng.randint(0, 2):]
            data = text.encode("utf-8", "surrogatepass")
            if rng.random() < 0.1:
                at = rng.randint(0, len(data))
                data = data[:at] + bytes([rng.randint(128, 255)]) + data[at:]
            batch.append(data)
        for data in batch:
            try:
                json.loads(data.decode())
                expected = True
            except ValueError:
                expected = False
            self.write("case.json", data)
            done = subprocess.run([DRIVER, "feeds", self.path("o.json"), self.path("case.json")], capture_output=True, text=True)
            self.assertEqual("not valid JSON" not in done.stderr, expected, (data, done.stderr))


if __name__ == "__main__":
    unittest.main()
