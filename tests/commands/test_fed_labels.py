"""--labels loader: labels that come with the inputs, from files and from loader scripts."""

import json
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from decision_case import CLASSES, flipped, scores
from shard_case import ShardCase

LOADER = """
import numpy as np


def load_data():
    with np.load("feeds.npz") as feeds:
        for i in range(6):
            yield {"x": feeds[f"{i:010}/x"], "target": feeds[f"{i:010}/target"]}
"""


class FedLabels(ShardCase):
    """Networks whose input is what they decide by; the second one turns some answers."""

    def setUp(self):
        super().setUp()
        for name, shift in (("m.onnx", 0), ("shifted.onnx", 2.5)):
            bias = np.zeros(CLASSES, np.float32)
            bias[1] = shift  # a class that led by less than that does so no more
            x, y = (helper.make_tensor_value_info(one, TensorProto.FLOAT, ["n", CLASSES])
                    for one in "xy")
            graph = helper.make_graph([helper.make_node("Add", ["x", "b"], ["y"], "n")], "g", [x],
                                      [y], [numpy_helper.from_array(bias, "b")])
            onnx.save(helper.make_model(graph, ir_version=8,
                                        opset_imports=[helper.make_opsetid("", 17)]),
                      str(self.path(name)))
        self.x = [flipped(scores(20, i), 5) for i in range(6)]
        self.right = [np.arange(20) % CLASSES for _ in self.x]
        self.right[2][7] = 8
        self.save()

    def save(self, **more):
        feeds = {f"{i:010}/x": one for i, one in enumerate(self.x)}
        feeds |= {f"{i:010}/target": one for i, one in enumerate(self.right)}
        np.savez(self.path("feeds.npz"), **feeds, **more)

    def words(self, *more, labels="loader=target", source=("--load-inputs", "feeds.npz")):
        return ["run", "--runner", "a=onnxrt m.onnx", "--runner", "b=onnxrt shifted.onnx", *source,
                "--decision", "y:top1", "--labels", labels, *more]

    def labels(self, *words, code=1):
        self.ended = self.vernier(*words, "--save-record", "r.json")
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
        return json.loads(self.path("r.json").read_text())["pairs"][0]["decisions"][0].get("labels")

    def says(self, sentence):
        self.assertIn(sentence, self.ended.out + self.ended.err)

    def test_they_are_those_of_a_file(self):
        np.save(self.path("right.npy"), np.concatenate(self.right))
        wanted = self.labels(*self.words(labels="right.npy"))
        self.assertEqual(wanted["samples"], 120)
        self.assertGreater(wanted["right_to_wrong"], 0)
        self.assertEqual(self.labels(*self.words()), wanted)
        self.assertNotIn("no input of the model", self.ended.out + self.ended.err)
        self.assertEqual(self.labels(*self.words(labels="y:loader=target")), wanted)
        self.path("loader.py").write_text(LOADER)
        script = ("--data-loader-script", "loader.py", "--python", sys.executable)
        self.assertEqual(self.labels(*self.words(source=script)), wanted)
        for more in (["--sequential-runners"], ["--workers-per-runner", "2"],
                     ["--save-inputs", "saved.npz"]):
            self.assertEqual(self.labels(*self.words(*more)), wanted, more)
        saved = ("--load-inputs", "saved.npz")
        self.assertEqual(self.labels(*self.words(source=saved)), wanted)

    def test_gates_and_rows_have_them(self):
        self.labels(*self.words("--max-drop", "0.01", "--save-rows", "rows.jsonl"))
        self.says("--max-drop 0.01: top1 of 'y' drops by")
        row = json.loads(self.path("rows.jsonl").read_text().splitlines()[2])
        self.assertEqual(row["label"][7], "8")
        ended = self.vernier("check", "accuracy", "rows.jsonl", "--max-drop", "0.5")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        ended = self.vernier("check", "accuracy", "rows.jsonl", "--max-drop", "0.5", "--labels",
                             "loader")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("--labels loader: rows hold no inputs", ended.out + ended.err)

    def test_shards_have_them(self):
        self.divide(self.words("--max-drop", "0.01"), (3, "stride"), (2, "contiguous"), code=1)

    def rows_of_shards(self, words, count=3):
        """The rows of all shards, in their order, and what the shards said."""
        lines, said = [], ""
        for number in range(1, count + 1):
            ended = self.vernier(*words, "--shard", f"{number}/{count}", "--shard-exit", "done",
                                 "--save-record", "p.json", "--save-rows", "p.jsonl")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            path = self.path(f"p.shard-{number:04}-of-{count:04}.jsonl")
            lines += path.read_text().splitlines(keepends=True)
            said += ended.out + ended.err
        self.path("joined.jsonl").write_text("".join(lines))
        return [json.loads(line) for line in lines], said

    def test_rows_of_shards_have_them(self):
        self.labels(*self.words("--save-rows", "rows.jsonl"))
        whole = [json.loads(line) for line in self.path("rows.jsonl").read_text().splitlines()]
        rows, said = self.rows_of_shards(self.words())
        self.assertNotIn("do not have the labels", said)
        for row, other in zip(rows, whole, strict=True):
            for column in ("label", "a/y/score", "b/y/score"):
                self.assertEqual(row[column], other[column])

    def test_rows_of_shards_have_none_of_files(self):
        np.save(self.path("right.npy"), np.concatenate(self.right))
        wanted = self.labels(*self.words(labels="right.npy"))
        rows, said = self.rows_of_shards(self.words(labels="right.npy"))
        self.assertIn("--save-rows: rows of a shard do not have the labels of 'right.npy'", said)
        self.assertFalse([name for row in rows for name in row if "label" in name])
        check = ["check", "accuracy", "joined.jsonl", "--max-drop", "0.5"]
        ended = self.vernier(*check)
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("'joined.jsonl' has no labels: add --labels", ended.out + ended.err)
        ended = self.vernier(*check, "--labels", "right.npy")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn(f"top-1 accuracy {100 * wanted['first']:.3g} %", ended.out)

    def test_what_is_not_there_is_no_pass(self):
        gate = ("--max-drop", "1")
        self.labels(*self.words(*gate, labels="loader"), code=4)
        self.says("--labels loader: iteration 0 was fed no 'label'")
        self.right[3] = np.arange(19)
        self.save()
        self.labels(*self.words(*gate), code=4)
        self.says("--labels loader=target: iteration 3 has 19 labels for 20 samples")
        self.right[3] = np.array(["cat"] * 20)
        self.save()
        self.labels(*self.words(*gate), code=4)
        self.says("iteration 3: 'target' holds")
        for labels, sentence in (("loader=", "expected [OUTPUT:]FILE, folder, loader or"),
                                 ("loader", "no inputs are loaded that could hold labels")):
            ended = self.vernier(*self.words(labels=labels, source=()))
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn(sentence, ended.out + ended.err)


if __name__ == "__main__":
    unittest.main()
