"""template shard-hints and multi-device shard against the peer's, with ONNX-GraphSurgeon."""

import json
import pathlib
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = map(str, (ROOT / "tests/commands", ROOT / "libexec/vernier",
                         ROOT / "libexec/vernier/tools"))
from program import Case  # noqa: E402
from vernier_worker import wire  # noqa: E402
from weight_split import Slice, WeightSplit  # noqa: E402

FLOAT = TensorProto.FLOAT
node = helper.make_node


def value(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def weight(name, *shape):
    random = np.random.default_rng(len(name))
    return numpy_helper.from_array(random.normal(size=shape).astype(np.float32), name)


def model(nodes, inputs, outputs, weights, values=(), opsets=(("", 17),)):
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights, value_info=list(values))
    return helper.make_model(graph, ir_version=8,
                             opset_imports=[helper.make_opsetid(*opset) for opset in opsets])


def attention(layer, x, y):
    def name(part):
        return f"{layer}{part}"

    return [node("MatMul", [x, name("wq")], [name("q")], name("mq")),
            node("MatMul", [x, name("wk")], [name("k0")], name("mk")),
            node("Transpose", [name("k0")], [name("k")], name("tk"), perm=[0, 2, 1]),
            node("MatMul", [x, name("wv")], [name("v")], name("mv")),
            node("MatMul", [name("q"), name("k")], [name("s")], name("qk")),
            node("Softmax", [name("s")], [name("p")], name("sm")),
            node("MatMul", [name("p"), name("v")], [y], name("pv"))]


def two_layers(shape, values=()):
    weights = [weight(layer + part, 8, 8) for layer in "ab" for part in ("wq", "wk", "wv")]
    return model(attention("a", "x", "h") + attention("b", "h", "y"), [value("x", shape)],
                 [value("y", shape)], weights, values)


def tensor_parallel():
    """An AttentionPlugin between projections, and a gated MLP."""
    past = [2, 2, 4, 8, 4]
    nodes = [node("MatMul", ["x", "wq"], ["q"], "mq"), node("MatMul", ["x", "wk"], ["k"], "mk"),
             node("MatMul", ["x", "wv"], ["v"], "mv"),
             node("AttentionPlugin", ["q", "k", "v", "past"], ["o", "present"], "att",
                  num_q_heads=4, num_kv_heads=4),
             node("MatMul", ["o", "wo"], ["h"], "mo"),
             node("MatMul", ["h", "wg"], ["g"], "mg"), node("Sigmoid", ["g"], ["gs"], "sig"),
             node("Mul", ["g", "gs"], ["act"], "swish"), node("MatMul", ["h", "wu"], ["u"], "mu"),
             node("Mul", ["act", "u"], ["m"], "gate"), node("MatMul", ["m", "wd"], ["y"], "md")]
    weights = [weight(name, 16, 16) for name in ("wq", "wk", "wv", "wo")]
    weights += [weight("wg", 16, 32), weight("wu", 16, 32), weight("wd", 32, 16)]
    return model(nodes, [value("x", [1, 6, 16]), value("past", past)],
                 [value("y", [1, 6, 16]), value("present", past)], weights)


class Sharding(Case):
    def save(self, made):
        onnx.save(made, str(self.path("m.onnx")))

    def hints(self, *words):
        """What both find, held against each other."""
        found = []
        for who in ("peer", "vernier"):
            ended = getattr(self, who)("template", "shard-hints", "m.onnx", "-o", who + ".json",
                                       *words)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            found.append(json.loads(self.path(who + ".json").read_text(encoding="utf-8")))
        self.assertEqual(found[1], found[0], words)
        self.assertEqual(list(found[1]), list(found[0]))
        return found[0]

    def shard(self, *words, output="{}.onnx", files=("{}.onnx",)):
        """The models that both write, held against each other."""
        made = []
        for who in ("peer", "vernier"):
            ended = getattr(self, who)("multi-device", "shard", "m.onnx", *words, "-o",
                                       output.format(who))
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            made.append([onnx.load(str(self.path(name.format(who)))) for name in files])
        for theirs, ours in zip(*made):
            self.assertEqual(ours, theirs, words)
        return made[0]

    def test_hints(self):
        self.save(two_layers(["batch", "sequence_length", 8]))
        found = self.hints()
        self.assertEqual([layer["q"] for layer in found["attention_layers"]], ["aq", "bq"])
        self.assertEqual(found["inputs"][0]["seq_len_idx"], 1)
        self.hints("--cp-type", "fused", "--k-shuffle", "0", "2", "1", "--is-causal",
                   "--nb-rank", "2")
        self.hints("--no-suggest-io", "--gpus", "2", "--groups", "1", "2", "--root", "0")
        self.hints("--i-idx", "2", "--o-idx", "2", "--k-idx", "1", "--v-idx", "2", "--kv-rank", "3",
                   "--i-rank", "4", "--o-rank", "5", "--reduce-op", "sum", "--parallelism", "TP")

    def test_hints_of_known_shapes(self):
        self.save(two_layers([1, 6, 8], [value("ak", [1, 8, 6]), value("av", [1, 6, 8])]))
        self.assertEqual(self.hints()["kv_rank"], 3)

    def test_attention_with_gathered_keys(self):
        self.save(two_layers(["batch", "sequence_length", 8]))
        self.hints("--k-idx", "2", "--v-idx", "1", "--kv-rank", "3")
        made = self.shard("-s", "peer.json")[0]
        operators = [n.op_type for n in made.graph.node]
        self.assertEqual(operators.count("DistCollective"), 6)
        self.shard("--one-shot", "--k-idx", "2", "--v-idx", "1", "--kv-rank", "3", "--gpus", "2",
                   "--groups", "1", "2")

    def test_fused_attention(self):
        self.save(two_layers(["batch", "sequence_length", 8]))
        made = self.shard("--one-shot", "--cp-type", "fused", "--k-shuffle", "0", "2", "1")[0]
        self.assertEqual([n.op_type for n in made.graph.node].count("Attention"), 2)

    def test_gathered_queries_leave_the_outputs(self):
        self.save(two_layers(["batch", "sequence_length", 8]))
        hints = self.hints()
        for layer in hints["attention_layers"]:
            layer["gather_q"] = True
        self.path("q.json").write_text(json.dumps(hints), encoding="utf-8")
        self.shard("--hint", "q.json")

    def test_nothing_to_shard_leaves_the_model(self):
        self.save_model("m.onnx")
        self.hints()
        self.shard("-s", "peer.json")

    def test_weights_over_ranks(self):
        self.save(tensor_parallel())
        files = ["{}_tp2_rank0.onnx", "{}_tp2_rank1.onnx"]
        ranks = self.shard("--one-shot", "--parallelism", "TP", "--nb-rank", "2", files=files)
        dims = {t.name: list(t.dims) for t in ranks[0].graph.initializer}
        self.assertEqual(dims["wq"], [16, 8])
        self.assertEqual(dims["wd"], [16, 16])

    def test_what_goes_wrong_is_said(self):
        self.save(two_layers(["batch", "sequence_length", 8]))
        cases = (
            (2, ("template", "shard-hints", "m.onnx", "-o", "x.txt")),
            (2, ("multi-device", "shard", "m.onnx", "-o", "x.onnx")),
            (2, ("multi-device", "shard", "m.onnx", "--one-shot", "-s", "h.json", "-o", "x.onnx")),
            (3, ("multi-device", "shard", "m.onnx", "-s", "nowhere.json", "-o", "x.onnx")),
            (3, ("multi-device", "shard", "nowhere.onnx", "--one-shot", "-o", "x.onnx")),
            (2, ("multi-device", "shard", "m.onnx", "--one-shot", "--k-idx", "1", "-o", "x.onnx")),
        )
        for code, words in cases:
            ended = self.vernier(*words)
            self.assertEqual(ended.code, code, (words, ended.out + ended.err))
            self.assertFalse(self.path("x.onnx").exists(), words)
        self.path("h.json").write_text("{}", encoding="utf-8")
        ended = self.vernier("multi-device", "shard", "m.onnx", "-s", "h.json", "-o", "x.onnx")
        self.assertEqual(ended.code, 3)
        self.assertIn("parallelism", ended.err)


class PackedWeights(unittest.TestCase):
    """float4: two elements a byte."""

    def parts(self, axis, rows, columns, typed=False):
        """The codes of each of two ranks, of a weight with the codes 0, 1, 2 ..."""
        codes = np.arange(rows * columns, dtype=np.uint8) % 16
        pairs = np.append(codes, [0] * (codes.size % 2)).astype(np.uint8)
        packed = pairs[::2] | pairs[1::2] << 4
        tensor = TensorProto(name="w", data_type=TensorProto.FLOAT4E2M1, dims=[rows, columns])
        if typed:
            tensor.int32_data.extend(packed.tolist())
        else:
            tensor.raw_data = packed.tobytes()
        split = WeightSplit.__new__(WeightSplit)
        entry = Slice.__new__(Slice)
        entry.name, entry.shape, entry.axis = "w", [rows, columns], axis
        split.ranks, split.slices = 2, [entry]
        whole = model([], [], [], [tensor])
        split._keep_packed(whole)
        found = []
        for rank in range(2):
            split.cut_packed(whole, rank)
            part = whole.graph.initializer[0]
            data = np.frombuffer(part.raw_data, np.uint8)
            self.assertFalse(part.int32_data)
            flat = np.stack([data & 15, data >> 4], 1).ravel()
            found.append(flat.reshape(tuple(part.dims)))
        return codes.reshape(rows, columns), found

    def test_each_rank_has_its_part(self):
        for axis, typed in ((0, False), (1, False), (0, True), (1, True)):
            with self.subTest(axis=axis, typed=typed):
                whole, parts = self.parts(axis, 4, 8, typed)
                np.testing.assert_array_equal(np.concatenate(parts, axis), whole)

    def test_parts_that_end_within_a_byte_are_refused(self):
        for axis, columns, row in ((1, 6, 3), (0, 5, 5)):
            with self.assertRaisesRegex(wire.Failure, f"rows of {row} elements would end within"):
                self.parts(axis, 4, columns)
