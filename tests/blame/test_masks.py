"""Positions that a mask among the inputs excludes: no layer is to blame for what it makes there."""

import subprocess
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import VERNIER, Case, blame

SIZE = 8
WEIGHTS = [np.random.default_rng(seed).normal(0, 0.3, (SIZE, SIZE)).astype("f4")
           for seed in range(4)]
TABLE = np.random.default_rng(9).normal(size=(20, SIZE)).astype("f4")
FEED = {"input_ids": np.random.default_rng(1).integers(0, 20, (2, 6)),
        "attention_mask": np.array([[0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]], "i8")}


def network(padding=0.0, nudged=None, names=("b", "t"), mixes=False):
    """Vectors of tokens, `padding` where the mask is 0, then four layers. `nudged`: this layer has
    another weight. `mixes`: the second layer adds the mean of all positions."""
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["g"], name="gather"),
             helper.make_node("Equal", ["attention_mask", "none"], ["e"], name="equal"),
             helper.make_node("Unsqueeze", ["e", "last"], ["column"], name="column"),
             helper.make_node("Where", ["column", "padding", "g"], ["h0"], name="pad")]
    constants = {"table": TABLE, "none": np.int64(0), "last": np.array([2], "i8"),
                 "padding": np.float32(padding)}
    for i, weight in enumerate(WEIGHTS):
        weight = weight.copy()
        weight[0, 0] += 0.5 if i == nudged else 0
        constants[f"w{i}"] = weight
        source = f"h{i}"
        if mixes and i == 1:
            nodes += [helper.make_node("ReduceMean", [source], ["mean"], name="mean", axes=[1]),
                      helper.make_node("Add", [source, "mean"], ["mixed"], name="mix")]
            source = "mixed"
        nodes += [helper.make_node("MatMul", [source, f"w{i}"], [f"m{i}"], name=f"mul{i}"),
                  helper.make_node("Tanh", [f"m{i}"], [f"h{i + 1}" if i < 3 else "y"],
                                   name=f"tanh{i}")]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(name, TensorProto.INT64, list(names))
                     for name in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [*names, SIZE])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Masks(Case):
    LEFT_OUT = ("positions where 'attention_mask' is 0 are excluded from tensors with an axis "
                "named like the mask's; all other tensors include them; "
                "--mask attention_mask excludes them from all outputs")

    SIDES = ("--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx", "--load-inputs",
             "feed.npz")

    def search(self, good, bad, *words):
        onnx.save(good, "a.onnx")
        onnx.save(bad, "b.onnx")
        np.savez("feed.npz", **FEED)
        self.ended, found = blame(self.folder.name, *self.SIDES, *words)
        return [culprit["node"] for culprit in found["culprits"]], found

    def test_what_differs_at_padding_alone_is_no_fault(self):
        culprits, found = self.search(network(), network(padding=3.0))
        self.assertEqual((self.ended.returncode, culprits), (0, []), self.ended.stdout)
        self.assertIn(self.LEFT_OUT, found["notes"])
        self.assertEqual(max(layer["total_error"] for layer in found["layers"]), 0)

    def test_a_fault_elsewhere_is_the_one_that_is_named(self):
        culprits, _ = self.search(network(), network(padding=3.0, nudged=2))
        self.assertEqual((self.ended.returncode, culprits), (1, ["mul2"]), self.ended.stdout)

    def test_padding_that_the_rest_is_made_from_counts(self):
        culprits, _ = self.search(network(mixes=True), network(padding=3.0, mixes=True))
        self.assertEqual((self.ended.returncode, culprits), (1, ["pad"]), self.ended.stdout)

    def test_all_count_where_nothing_is_certain(self):
        culprits, found = self.search(network(names=(2, 6)), network(padding=3.0, names=(2, 6)))
        self.assertEqual((self.ended.returncode, culprits), (1, ["pad"]), self.ended.stdout)
        self.assertIn("positions where 'attention_mask' is 0 are compared in this search; --mask "
                      "attention_mask excludes them", found["notes"])

    def test_a_mask_that_is_named_leaves_out_where_nothing_is_certain(self):
        for nudged, culprits in ((None, []), (2, ["mul2"])):
            good = network(names=(2, 6))
            bad = network(padding=3.0, nudged=nudged, names=(2, 6))
            found, _ = self.search(good, bad, "--mask", "attention_mask")
            self.assertEqual((self.ended.returncode, found), (len(culprits), culprits),
                             self.ended.stdout)
            run = subprocess.run([VERNIER, "run", *self.SIDES, "--mask", "attention_mask",
                                  "--blame"], capture_output=True, text=True)
            self.assertEqual(run.returncode, len(culprits), run.stdout + run.stderr)

    def test_masks_that_are_drawn_leave_out_nothing_as_in_a_run(self):
        onnx.save(network(), "a.onnx")
        onnx.save(network(padding=3.0), "b.onnx")
        words = [*self.SIDES[:4], "--input-shapes", "input_ids:[2,6]", "attention_mask:[2,6]",
                 "--val-range", "input_ids:[0,19]", "attention_mask:[0,1]"]
        self.ended, found = blame(self.folder.name, *words)
        self.assertEqual((self.ended.returncode, found["culprits"][0]["node"]), (1, "pad"),
                         self.ended.stdout)
        self.assertFalse([note for note in found["notes"] if "attention_mask" in note])
        run = subprocess.run([VERNIER, "run", *words], capture_output=True, text=True)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)

    def test_masks_of_an_encoder_and_a_decoder_are_each_about_their_tensors(self):
        def both(padding):
            """Two such networks, one with its inputs called as a decoder's."""
            halves = []
            for prefix, names in (("", ("b", "s")), ("decoder_", ("b", "t"))):
                half = network(padding=padding, names=names).graph
                called = {name: prefix + name for name in ("input_ids", "attention_mask")}
                for value in half.input:
                    value.name = called[value.name]
                rest = {part.name for part in half.initializer} | {
                    name for node in half.node for name in node.output}
                called.update({name: prefix + name for name in rest})
                for node in half.node:
                    node.input[:] = [called[name] for name in node.input]
                    node.output[:] = [called[name] for name in node.output]
                    node.name = prefix + node.name
                for part in [*half.initializer, *half.output]:
                    part.name = called[part.name]
                halves.append(half)
            graph = helper.make_graph(
                [node for half in halves for node in half.node], "g",
                [value for half in halves for value in half.input],
                [value for half in halves for value in half.output],
                [part for half in halves for part in half.initializer])
            return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                     ir_version=8)

        onnx.save(both(0.0), "a.onnx")
        onnx.save(both(3.0), "b.onnx")
        masks = np.array([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0]], "i8")
        np.savez("feed.npz", **FEED, decoder_input_ids=FEED["input_ids"][:, :5],
                 decoder_attention_mask=masks)
        self.ended, found = blame(self.folder.name, *self.SIDES)
        self.assertEqual((self.ended.returncode, found["culprits"]), (0, []), self.ended.stdout)

    def test_no_mask_compares_all(self):
        culprits, _ = self.search(network(), network(padding=3.0), "--mask", "none")
        self.assertEqual((self.ended.returncode, culprits), (1, ["pad"]), self.ended.stdout)

    def test_what_is_no_mask_is_refused(self):
        for mask, code, why in (
                ("mask", 2, "--mask mask: there is no input 'mask', but 'input_ids', "
                            "'attention_mask'"),
                ("input_ids", 3, "--mask input_ids: expected integers, 1 at positions that count "
                                 "and 0 at the others, got ")):
            self.search(network(), network(), "--mask", mask)
            self.assertEqual(self.ended.returncode, code, self.ended.stdout + self.ended.stderr)
            self.assertIn(why, self.ended.stdout + self.ended.stderr)


if __name__ == "__main__":
    unittest.main()
