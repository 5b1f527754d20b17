"""Two models whose types, names or layers differ."""

import subprocess
import unittest
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import planted
from models import chain
from program import VERNIER, Case, blame, two_models

EXAMPLES = Path(__file__).parents[2] / "examples"


class TwoModels(Case):
    def test_models_whose_tensors_all_have_other_names(self):
        good, bad = chain(), chain(names="u")
        for model, path, last in ((good, "a.onnx", "t"), (bad, "b.onnx", "u")):
            more = onnx.ValueInfoProto()
            more.CopyFrom(model.graph.output[0])
            more.name = last + "4"
            model.graph.output.append(more)
            onnx.save(model, path)
        ended, found = blame(self.folder.name, "--runner", "gold=onnxrt a.onnx", "--runner",
                             "new=onnxrt b.onnx")
        self.assertEqual((ended.returncode, found["culprits"]), (0, []), ended.stdout)

    def compared(self, good, bad):
        """What blame says of two models in words, and what it saves."""
        onnx.save(good, "good.onnx")
        onnx.save(bad, "bad.onnx")
        words = ["--runner", "gold=onnxrt good.onnx", "--runner", "new=onnxrt bad.onnx",
                 "--reference", "gold"]
        ended = subprocess.run([VERNIER, "blame", *words], capture_output=True, text=True)
        return ended, blame(self.folder.name, *words)[1]

    def test_renamed_outputs_meet_as_in_run(self):
        def model(output, axis):
            nodes = [helper.make_node("Relu", ["x"], ["t"], name="re"),
                     helper.make_node("Softmax", ["t"], [output], name="sm", axis=axis)]
            x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 6, 6])
                    for n in ("x", output))
            return helper.make_model(helper.make_graph(nodes, "g", [x], [y]), ir_version=8,
                                     opset_imports=[helper.make_opsetid("", 17)])
        ended, found = self.compared(model("z", -1), model("totally_other", 1))
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertEqual([c["node"] for c in found["culprits"]], ["sm"])
        ended, found = self.compared(model("z", -1), model("totally_other", -1))
        self.assertEqual((ended.returncode, found["culprits"]), (0, []), ended.stdout)

    def test_an_output_that_one_side_lacks_is_no_pass(self):
        good, bad = chain(2), chain(2)
        for model, name in ((good, "here"), (bad, "there")):
            model.graph.node.append(helper.make_node("Relu", ["t0"], [name]))
            shape = [4, 16] if model is good else [4, 1]
            if model is bad:
                model.graph.node[-1].output[0] = "all"
                model.graph.node.append(helper.make_node("ReduceMax", ["all"], [name], axes=[1]))
            model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        ended, found = self.compared(good, bad)
        self.assertEqual((ended.returncode, found["culprits"]), (4, []), ended.stdout)
        self.assertIn("output 'here' was not examined: only the reference has it", ended.stdout)
        self.assertNotIn("Nothing is to blame", ended.stdout)

    def retyped(self, cast):
        """Relu and Neg, with a change of type between them; a constant as a second output."""
        kind = TensorProto.DOUBLE if cast else TensorProto.FLOAT
        nodes = [helper.make_node("Relu", ["x"], ["r"], name="re")]
        nodes += [helper.make_node("Cast", ["r"], ["t"], name="ca", to=kind)]
        nodes += [helper.make_node("Neg", ["t"], ["y"], name="ne")]
        k = numpy_helper.from_array(np.array([1, 2], np.float64 if cast else np.float32), "k")
        outputs = [helper.make_tensor_value_info(n, kind, shape)
                   for n, shape in (("y", [2, 3]), ("k", [2]))]
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
        return helper.make_model(helper.make_graph(nodes, "g", [x], outputs, [k]), ir_version=8,
                                 opset_imports=[helper.make_opsetid("", 17)])

    def test_types_that_differ_are_named(self):
        ended, found = self.compared(self.retyped(False), self.retyped(True))
        self.assertEqual((ended.returncode, found["culprits"]), (0, []), ended.stdout)
        self.assertIn("Types differ: 2 tensors, the first 't' of ca [Cast]: float64, and float32 "
                      "in the reference\n", ended.stdout)
        self.assertIn("note: types differ: output 'k' is float64, and float32 in the reference\n",
                      ended.stdout)
        self.assertIn("\nNothing is to blame, but types differ.\n", ended.stdout)
        ended = subprocess.run([VERNIER, "blame", "--runner", "gold=onnxrt good.onnx", "--runner",
                                "new=onnxrt bad.onnx", "--report", "r.md"], capture_output=True,
                               text=True)
        report = Path("r.md").read_text()
        self.assertIn("Nothing is to blame, but the types of 2 tensors differ.", report)
        self.assertIn("float32 against float64", report)
        ended = subprocess.run([VERNIER, "run", "--runner", "gold=onnxrt good.onnx", "--runner",
                                "new=onnxrt bad.onnx", "--same-type", "--blame"],
                               capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertIn("Types differ: 2 tensors, the first 't' of ca [Cast]", ended.stdout)

    def test_a_culprit_behind_outputs_that_match_is_the_reason(self):
        def model(factor):
            kept = [numpy_helper.from_array(np.float32(value), name)
                    for value, name in ((factor, "f"), (1e-12, "tiny"))]
            nodes = [helper.make_node("Mul", ["x", "f"], ["t"], name="wrong"),
                     helper.make_node("Mul", ["t", "tiny"], ["s"], name="shrink"),
                     helper.make_node("Add", ["x", "s"], ["y"], name="add")]
            x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 3]) for n in "xy")
            return helper.make_model(helper.make_graph(nodes, "g", [x], [y], kept), ir_version=8,
                                     opset_imports=[helper.make_opsetid("", 17)])
        onnx.save(model(1.5), "good.onnx")
        onnx.save(model(1), "bad.onnx")
        ended = subprocess.run([VERNIER, "run", "--runner", "gold=onnxrt good.onnx", "--runner",
                                "new=onnxrt bad.onnx", "--blame"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertIn("gold vs. new: PASSED", ended.stdout)
        self.assertIn("\nfailed: --blame: wrong (Mul) is over its error bound, although the "
                      "outputs match\n", ended.stdout)

    def test_constants_that_are_outputs(self):
        def model(kind, last, alone):
            values = numpy_helper.from_array(np.array([1, last], np.float32), "k")
            nodes = [helper.make_node("Relu", ["x"], ["r"], name="re")]
            if kind == "Constant":
                nodes.append(helper.make_node("Constant", [], ["k"], name="kc", value=values))
            x, r = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 2]) for n in "xr")
            k = helper.make_tensor_value_info("k", TensorProto.FLOAT, [2])
            graph = helper.make_graph(nodes, "g", [x], [k] if alone else [r, k],
                                      [values] if kind == "Initializer" else [])
            return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                     ir_version=8)
        for kind, node in (("Initializer", "k"), ("Constant", "kc")):
            for alone in (True, False):
                with self.subTest(kind, alone=alone):
                    ended, found = self.compared(model(kind, 2, alone), model(kind, 3, alone))
                    self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
                    self.assertEqual([(c["node"], c["op_type"]) for c in found["culprits"]],
                                     [(node, kind)])
                    self.assertIn("output 'k' is a constant of the model, and differs between the "
                                  "models", found["culprits"][0]["why"])
                    self.assertNotIn("Probing changed", ended.stdout)
                    self.assertNotIn("were not found in the model", ended.stdout)
                    ran = subprocess.run([VERNIER, "run", "--runner", "gold=onnxrt good.onnx",
                                          "--runner", "new=onnxrt bad.onnx", "--blame"],
                                         capture_output=True, text=True)
                    self.assertEqual(ran.returncode, 1)
                    self.assertNotIn("--tolerance auto", ran.stdout)
                    ended, found = self.compared(model(kind, 2, alone), model(kind, 2, alone))
                    self.assertEqual((ended.returncode, found["culprits"]), (0, []), ended.stdout)

    def test_a_constant_that_is_the_only_output(self):
        def model(last):
            k = helper.make_tensor_value_info("k", TensorProto.FLOAT, [2])
            x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
            values = numpy_helper.from_array(np.array([1, last], np.float32), "k")
            return helper.make_model(helper.make_graph([], "g", [x], [k], [values]), ir_version=8,
                                     opset_imports=[helper.make_opsetid("", 17)])
        ended, found = self.compared(model(2), model(3))
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertEqual([(c["node"], c["op_type"]) for c in found["culprits"]],
                         [("k", "Initializer")])
        self.assertNotIn("no layer computes", ended.stdout)
        self.assertEqual(self.compared(model(2), model(2))[0].returncode, 4)

    def test_shapes_that_differ_are_named(self):
        def model(shape):
            nodes = [helper.make_node("Relu", ["x"], ["r"], name="re")]
            nodes += [helper.make_node("Reshape", ["r", "s"], ["y"], name="sh")]
            x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
                    for n, s in (("x", [2, 4]), ("y", shape)))
            sizes = numpy_helper.from_array(np.array(shape), "s")
            return helper.make_model(helper.make_graph(nodes, "g", [x], [y], [sizes]),
                                     ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
        ended, found = self.compared(model([2, 4]), model([4, 2]))
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertEqual([c["node"] for c in found["culprits"]], ["sh"])
        self.assertIn("the shapes of 'y' differ: (4, 2), and (2, 4) in the reference",
                      found["culprits"][0]["why"])

    def test_an_output_that_is_no_tensor_is_no_pass(self):
        y = helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, None)
        x, z = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in "xz")
        nodes = [helper.make_node("SequenceConstruct", ["x", "x"], ["y"]),
                 helper.make_node("Relu", ["x"], ["z"])]
        model = helper.make_model(helper.make_graph(nodes, "g", [x], [y, z]), ir_version=8,
                                  opset_imports=[helper.make_opsetid("", 17)])
        ended, found = self.compared(model, model)
        self.assertEqual((ended.returncode, found["culprits"]), (4, []), ended.stdout)
        self.assertIn("output 'y' was not examined: it is a sequence", ended.stdout)
        self.assertNotIn("Nothing is to blame", ended.stdout)

    def test_a_sequence_that_fails_a_run_is_named(self):
        def model(order):
            x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
            y = helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, None)
            nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Neg", ["x"], ["b"]),
                     helper.make_node("SequenceConstruct", order, ["y"])]
            return helper.make_model(helper.make_graph(nodes, "g", [x], [y]), ir_version=8,
                                     opset_imports=[helper.make_opsetid("", 17)])
        onnx.save(model(["a", "b"]), "good.onnx")
        onnx.save(model(["b", "a"]), "bad.onnx")
        ended = subprocess.run([VERNIER, "run", "--runner", "gold=onnxrt good.onnx", "--runner",
                                "new=onnxrt bad.onnx", "--blame"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertIn("output 'y' was not examined: it is a sequence, a map or an absent "
                      "optional, not a tensor, so the layer that produces it may be to blame",
                      ended.stdout)
        self.assertNotIn("--tolerance auto", ended.stdout)

    def test_float32_against_float16(self):
        """One feed for both; own errors know of the shorter type."""
        good, half = chain(), onnx.ModelProto()
        half.CopyFrom(good)
        for weight in half.graph.initializer:
            values = numpy_helper.to_array(weight).astype(np.float16)
            weight.CopyFrom(numpy_helper.from_array(values, weight.name))
        for value in [*half.graph.input, *half.graph.output]:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16
        bad = onnx.ModelProto()
        bad.CopyFrom(half)
        weight = next(w for w in bad.graph.initializer if w.name == "w3")
        values = numpy_helper.to_array(weight) * np.float16(1.1)
        weight.CopyFrom(numpy_helper.from_array(values.astype(np.float16), "w3"))
        onnx.save(good, "good.onnx")
        for model, guilty in ((half, []), (bad, ["MatMul_3"])):
            onnx.save(model, "half.onnx")
            ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                                 "new=onnxrt half.onnx")
            over = [layer["node"] for layer in found["layers"] if layer["own_error"] > 1]
            self.assertEqual(over, guilty, ended.stdout + ended.stderr)
            self.assertEqual([c["node"] for c in found["culprits"]][:len(guilty)], guilty)

    def test_the_same_network_in_float16_is_nobodys_fault(self):
        """Its weights are rounded, and ONNX Runtime computes it in float32 all the same."""
        for candidate in ("onnxrt", "openvino"):
            ended, found = blame(self.folder.name, "--runner", f"gold=onnxrt {EXAMPLES}/digits.onnx",
                                 "--runner", f"new={candidate} {EXAMPLES}/digits_fp16.onnx",
                                 "--reference", "gold")
            self.assertEqual(found["culprits"], [], candidate)
            self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)

    def test_the_node_within_a_branch(self):
        network = planted.plant(7, "in_body")
        _, found = blame(self.folder.name, *two_models(network))
        self.assertEqual(found["culprits"][0]["node"], network.culprits[1])
        self.assertIn("then_branch", found["culprits"][0]["why"])

    def aliased(self, path, prefix, through, wrong=None):
        """A chain whose sums have other names, and the common ones behind an operator."""
        model = chain(3)
        for i, node in enumerate([n for n in model.graph.node if n.op_type == "Add"]):
            common, own = node.output[0], f"{prefix}{i}"
            node.output[0] = own
            place = list(model.graph.node).index(node) + 1
            if through == "quantised":
                model.graph.initializer.extend(
                    [numpy_helper.from_array(np.float32(0.02), f"s{i}"),
                     numpy_helper.from_array(np.int8(0), f"z{i}")])
                new = [helper.make_node("QuantizeLinear", [own, f"s{i}", f"z{i}"], [own + "_q"]),
                       helper.make_node("DequantizeLinear", [own + "_q", f"s{i}", f"z{i}"],
                                        [common])]
            elif through == "Cast":
                new = [helper.make_node("Cast", [own], [common], to=TensorProto.FLOAT)]
            else:
                new = [helper.make_node(through, [own], [common])]
            for offset, made in enumerate(new):
                model.graph.node.insert(place + offset, made)
        if wrong:
            weight = next(w for w in model.graph.initializer if w.name == wrong)
            weight.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weight) * np.float32(1.05),
                                                    wrong))
        onnx.save(model, path)

    def test_tensors_meet_through_what_hands_them_on(self):
        self.aliased("good.onnx", "a", "Identity")
        for through in ("Identity", "Cast", "quantised"):
            with self.subTest(through):
                self.aliased("bad.onnx", "u", through, wrong="w1")
                ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx",
                                     "--runner", "new=onnxrt bad.onnx")
                met = {tensor["name"]: tensor["candidate_name"]
                       for layer in found["layers"] for tensor in layer["outputs"]}
                self.assertEqual({name: met.get(name) for name in ("a0", "a1", "a2", "t1m")},
                                 {"a0": "u0", "a1": "u1", "a2": "u2", "t1m": None})
                self.assertEqual(ended.returncode, 1)
                guilty = [c["node"] for c in found["culprits"]]
                # Quantisers are further off than the weights, and may be named before them.
                if through != "quantised":
                    self.assertEqual(guilty[0], "MatMul_1")
                self.assertIn("MatMul_1", guilty)
                alone = {tensor["name"] for tensor in found["unexposed"]}
                self.assertEqual("u0_q" in alone, through == "quantised")

    def test_quantised_twins_meet(self):
        """The float model against the same with quantisers: names end differently."""
        good = chain(3)
        bad = onnx.ModelProto()
        bad.CopyFrom(good)
        for i, node in enumerate(list(bad.graph.node)):
            if node.op_type != "Add" or node.output[0] == bad.graph.output[0].name:
                continue
            name = node.output[0]
            node.output[0] = name + "_float"
            scale, zero = f"{name}_scale", f"{name}_zero"
            bad.graph.initializer.extend([numpy_helper.from_array(np.float32(0.05), scale),
                                          numpy_helper.from_array(np.int8(0), zero)])
            place = list(bad.graph.node).index(node) + 1
            bad.graph.node.insert(place, helper.make_node(
                "QuantizeLinear", [name + "_float", scale, zero], [name + "_q"]))
            bad.graph.node.insert(place + 1, helper.make_node(
                "DequantizeLinear", [name + "_q", scale, zero], [name]))
        onnx.save(good, "good.onnx")
        onnx.save(bad, "bad.onnx")
        ended, found = blame(self.folder.name, "--runner", "gold=onnxrt good.onnx", "--runner",
                             "new=onnxrt bad.onnx")
        # What quantisers of these scales may do is no fault.
        self.assertEqual((ended.returncode, found["culprits"]), (0, []),
                         ended.stdout + ended.stderr)
        self.assertGreaterEqual(found["compared"], 6)


if __name__ == "__main__":
    unittest.main()
