"""Sequences, maps and optionals: compared, saved, loaded and fed in parts."""

import json
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case

FLOAT = TensorProto.FLOAT
LABELS = ("cat", "dog", "bird")


def tensor(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def sequence(name, kind=FLOAT):
    return helper.make_tensor_sequence_value_info(name, kind, None)


class NestedValues(Case):
    def save(self, name, nodes, inputs, outputs, weights=()):
        graph = helper.make_graph(nodes, "g", inputs, outputs, list(weights))
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8),
                  str(self.path(name)))
        return name

    def save_split(self, name, rows=1):
        """Splits x into pieces of so many rows."""
        size = helper.make_tensor("size", TensorProto.INT64, [], [rows])
        return self.save(name, [helper.make_node("SplitToSequence", ["x", "size"], ["out"]),
                                helper.make_node("Relu", ["x"], ["y"])],
                         [tensor("x", [4, 2])], [sequence("out"), tensor("y", [4, 2])], [size])

    def save_classifier(self, name, scale=1.0, keys=None):
        """As scikit-learn's classifiers are exported: the last node is a ZipMap."""
        labels = {"classlabels_ints": keys} if keys else {"classlabels_strings": LABELS}
        mapped = {"classlabels_int64s": keys} if keys else labels
        kind = TensorProto.INT64 if keys else TensorProto.STRING
        nodes = [helper.make_node("LinearClassifier", ["x"], ["label", "p"], domain="ai.onnx.ml",
                                  coefficients=[0.5 * scale, 1, -0.3, 0.2, -0.7, 0.1],
                                  intercepts=[0.0, 0.1, 0.2], multi_class=1,
                                  post_transform="SOFTMAX", **labels),
                 helper.make_node("ZipMap", ["p"], ["probabilities"], domain="ai.onnx.ml",
                                  **mapped)]
        maps = helper.make_map_type_proto(kind, helper.make_tensor_type_proto(FLOAT, []))
        return self.save(name, nodes, [tensor("x", [2, 2])], [
            tensor("label", [2], kind),
            helper.make_value_info("probabilities", helper.make_sequence_type_proto(maps))])

    def save_optional(self, name, is_there):
        held = helper.make_tensor_type_proto(FLOAT, [2])
        node = (helper.make_node("Optional", ["x"], ["out"]) if is_there else
                helper.make_node("Optional", [], ["out"], type=held))
        return self.save(name, [node, helper.make_node("Relu", ["x"], ["y"])], [tensor("x", [2])],
                         [helper.make_value_info("out", helper.make_optional_type_proto(held)),
                          tensor("y", [2])])

    def save_insert(self, name="insert.onnx"):
        """Appends x to the sequence s."""
        return self.save(name, [helper.make_node("SequenceInsert", ["s", "x"], ["out"])],
                         [sequence("s"), tensor("x", [2])], [sequence("out")])

    def run_it(self, *words, code=0):
        ended = self.vernier("run", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended.out + ended.err

    def compared_names(self, model):
        self.run_it(model, "--onnxrt", "--onnxrt", "--save-record", "r.json")
        (pair,) = json.loads(self.path("r.json").read_text())["pairs"]
        return [output["name"] for output in pair["outputs"]]

    def against(self, reference, candidate, *words, code=1):
        """Runs the candidate against saved outputs of the reference."""
        self.run_it(reference, "--onnxrt", "--save-outputs", "reference.json")
        return self.run_it(candidate, "--onnxrt", "--load-outputs", "reference.json", *words,
                           code=code)

    def test_every_element_of_a_sequence_is_compared(self):
        said = self.run_it(self.save_split("m.onnx"), "--onnxrt", "--onnxrt")
        self.assertIn("PASSED, compared 6 outputs in 1 iteration, 17 elements", said)
        self.assertNotIn("was not compared", said)
        self.assertEqual(self.compared_names("m.onnx"),
                         ["out[]", "out[0]", "out[1]", "out[2]", "out[3]", "y"])

    def test_a_check_counts_outputs_and_not_their_parts(self):
        self.save_classifier("c.onnx")
        self.save_optional("o.onnx", True)
        for model in (self.save_split("m.onnx"), "c.onnx", "o.onnx"):
            ended = self.vernier("check", "consistency", model, "--onnxrt", "--only",
                                 "repeated-runs")
            self.assertIn("; compared 2 outputs, ", ended.out + ended.err)

    def test_the_key_that_differs_is_named(self):
        said = self.against(self.save_classifier("good.onnx"),
                            self.save_classifier("bad.onnx", 1.5))
        self.assertIn("output 'probabilities[0]{cat}'", said)
        self.assertIn("output 'probabilities[0]{dog}'", said)
        self.against("good.onnx", "bad.onnx", "--atol", "1", "label:0", "--rtol", "0", code=0)
        self.against("good.onnx", "bad.onnx", "--atol", "0", "probabilities:1", code=0)
        self.against("good.onnx", "bad.onnx", "--atol", "0", "probabilities:1",
                     "probabilities[0]{cat}:0", "--rtol", "0")
        self.assertIn("there is no output 'probability'",
                      self.run_it("good.onnx", "--onnxrt", "--onnxrt", "--atol", "probability:1",
                                  code=1))

    def test_the_reference_evaluator_has_the_same_parts(self):
        said = self.run_it(self.save_split("m.onnx"), "--onnxref", "--onnxrt", "--python",
                           sys.executable)
        self.assertIn("PASSED, compared 6 outputs", said)
        self.save_insert()
        self.save_feeds("in.json", [{"s[0]": np.float32([1, 2]), "x": np.float32([6, 7])}])
        said = self.run_it("insert.onnx", "--onnxref", "--onnxrt", "--python", sys.executable,
                           "--load-inputs", "in.json")
        self.assertIn("PASSED, compared 3 outputs", said)
        for is_there in (True, False):
            self.save_optional("maybe.onnx", is_there)
            said = self.run_it("maybe.onnx", "--onnxrt", "--onnxref", "--python", sys.executable)
            self.assertIn("PASSED", said)
            self.assertNotIn("out[", said)

    def test_keys_may_be_numbers(self):
        self.save_classifier("m.onnx", keys=[-1, 0, 7])
        names = self.compared_names("m.onnx")
        for name in ("probabilities[]", "probabilities[1]{}", "probabilities[1]{-1}",
                     "probabilities[0]{7}"):
            self.assertIn(name, names)

    def test_auto_bounds_hold(self):
        self.save_classifier("m.onnx")
        said = self.run_it("m.onnx", "--onnxrt", "--onnxrt", "--tolerance", "auto")
        self.assertIn("PASSED, compared 10 outputs", said)

    def test_lengths_differ(self):
        said = self.against(self.save_split("a.onnx"), self.save_split("b.onnx", rows=2))
        self.assertIn("output 'out[]'", said)
        self.assertIn("out[2], out[3]", said)

    def test_two_empty_sequences_show_nothing(self):
        self.save("m.onnx", [helper.make_node("SequenceEmpty", [], ["out"]),
                             helper.make_node("Relu", ["x"], ["y"])],
                  [tensor("x", [2])], [sequence("out"), tensor("y", [2])])
        self.assertIn("shows nothing: out[] (no elements)",
                      self.run_it("m.onnx", "--onnxrt", "--onnxrt"))

    def test_absent_against_present_is_a_mismatch(self):
        self.save_optional("there.onnx", True)
        self.save_optional("absent.onnx", False)
        self.assertIn("output 'out?'", self.against("there.onnx", "absent.onnx"))
        self.assertIn("output 'out?'", self.against("absent.onnx", "there.onnx"))
        self.assertIn("PASSED, compared 3 outputs",
                      self.run_it("there.onnx", "--onnxrt", "--onnxrt"))
        self.assertIn("out? (absent on both sides)",
                      self.run_it("absent.onnx", "--onnxrt", "--onnxrt"))

    def test_an_optional_meets_a_tensor(self):
        self.save_optional("there.onnx", True)
        self.save("plain.onnx", [helper.make_node("Identity", ["x"], ["out"]),
                                 helper.make_node("Relu", ["x"], ["y"])], [tensor("x", [2])],
                  [tensor("out", [2]), tensor("y", [2])])
        self.assertIn("compared 2 outputs", self.against("plain.onnx", "there.onnx", code=0))
        self.assertIn("compared 2 outputs", self.against("there.onnx", "plain.onnx", code=0))

    def test_every_format_keeps_the_parts(self):
        self.save_classifier("m.onnx")
        for name in ("o.json", "o.npz", "o.safetensors"):
            self.run_it("m.onnx", "--onnxrt", "--save-outputs", name)
            said = self.run_it("m.onnx", "--onnxrt", "--load-outputs", name)
            self.assertIn("PASSED, compared 10 outputs", said, name)

    def test_lengths_may_change_from_iteration_to_iteration(self):
        self.save("m.onnx", [helper.make_node("SplitToSequence", ["x"], ["out"])],
                  [tensor("x", ["n", 2])], [sequence("out")])
        feeds = [{"x": np.arange(2 * rows, dtype="f4").reshape(rows, 2)} for rows in (2, 3, 1)]
        self.save_feeds("in.json", feeds)
        said = self.run_it("m.onnx", "--onnxrt", "--onnxrt", "--load-inputs", "in.json")
        self.assertIn("PASSED, compared 4 outputs in 3 iterations", said)

    def test_sequences_are_fed_in_parts(self):
        self.save_insert()
        feed = {"s[0]": np.float32([1, 2]), "s[1]": np.float32([3, 4, 5]), "x": np.float32([6, 7])}
        self.save_feeds("in.json", [feed])
        self.run_it("insert.onnx", "--onnxrt", "--load-inputs", "in.json", "--save-outputs",
                    "out.json", "--save-inputs", "again.npz")
        wanted = {"out[]": np.asarray(3), "out[0]": feed["s[0]"], "out[1]": feed["s[1]"],
                  "out[2]": feed["x"]}
        self.save_runs("wanted.json", [("w", [wanted])])
        said = self.run_it("--load-outputs", "out.json", "wanted.json", "--atol", "0", "--rtol",
                           "0")
        self.assertIn("PASSED, compared 4 outputs", said)
        self.run_it("insert.onnx", "--onnxrt", "--load-inputs", "again.npz", "--load-outputs",
                    "out.json")

    def test_empty_sequences_are_fed(self):
        self.save_insert()
        self.save_feeds("in.json", [{"s[]": np.asarray(0), "x": np.float32([6, 7])}])
        self.save_runs("wanted.json", [("w", [{"out[]": np.asarray(1),
                                              "out[0]": np.float32([6, 7])}])])
        self.run_it("insert.onnx", "--onnxrt", "--load-inputs", "in.json", "--load-outputs",
                    "wanted.json")

    def test_maps_are_fed_in_parts(self):
        maps = helper.make_map_type_proto(TensorProto.STRING,
                                          helper.make_tensor_type_proto(FLOAT, []))
        self.save("m.onnx", [helper.make_node("DictVectorizer", ["m"], ["y"], domain="ai.onnx.ml",
                                              string_vocabulary=LABELS)],
                  [helper.make_value_info("m", maps)], [tensor("y", [1, 3])])
        feed = {"m{bird}": np.asarray(3, "f4"), "m{cat}": np.asarray(1, "f4")}
        self.save_feeds("in.json", [feed])
        self.save_runs("wanted.json", [("w", [{"y": np.float32([[1, 0, 3]])}])])
        self.run_it("m.onnx", "--onnxrt", "--load-inputs", "in.json", "--load-outputs",
                    "wanted.json")

    def test_what_is_missing_is_named(self):
        self.save_insert()
        said = self.run_it("insert.onnx", "--onnxrt", code=3)
        self.assertIn("input 's' is a sequence, a map or optional, for which nothing is drawn: "
                      "load its parts with --load-inputs, as 's[0]'", said)
        self.save_feeds("in.json", [{"s[]": np.asarray(2), "s[0]": np.float32([1]),
                                     "x": np.float32([6, 7])}])
        ended = self.vernier("run", "insert.onnx", "--onnxrt", "--load-inputs", "in.json")
        self.assertNotEqual(ended.code, 0)
        self.assertIn("input 's' has 1 elements, but its length 's[]' is 2", ended.out + ended.err)

    def test_onnx_test_data_hold_sequences(self):
        self.save_insert()
        folder = self.path("set/test_data_set_0")
        folder.mkdir(parents=True)
        pieces = [np.float32([1, 2]), np.float32([3, 4, 5])]
        added = np.float32([6, 7])
        for name, value in (("input_0", numpy_helper.from_list(pieces, "s")),
                            ("input_1", numpy_helper.from_array(added, "x")),
                            ("output_0", numpy_helper.from_list([*pieces, added], "out"))):
            (folder / f"{name}.pb").write_bytes(value.SerializeToString())
        words = ["insert.onnx", "--onnxrt", "--load-inputs", "set", "--load-outputs", "set"]
        self.assertIn("PASSED, compared 4 outputs", self.run_it(*words))
        (folder / "output_0.pb").write_bytes(
            numpy_helper.from_list([*pieces, added + 1], "out").SerializeToString())
        self.assertIn("output 'out[2]'", self.run_it(*words, code=1))

    def check(self, model, *words, code=0):
        ended = self.vernier("check", "consistency", model, "--onnxrt", "--save-record", "c.json",
                             *words)
        said = ended.out + ended.err
        self.assertEqual(ended.code, code, said)
        record = json.loads(self.path("c.json").read_text())
        return said, {p["name"]: p for p in record["runners"][0]["properties"]}

    def test_consistency_holds_maps_and_the_rows_of_tensors_beside_them(self):
        model = onnx.load(str(self.path(self.save_classifier("m.onnx", keys=[0, 1, 2]))))
        for value in (*model.graph.input, model.graph.output[0]):
            value.type.tensor_type.shape.dim[0].dim_param = "N"
        model.graph.output.append(tensor("p", ["N", 3]))
        onnx.save(model, str(self.path("m.onnx")))
        said, properties = self.check("m.onnx")
        for name in ("repeated-runs", "identical-rows", "permuted-rows", "batch-of-one",
                     "shape-sweep", "other-settings", "uninitialised-memory"):
            self.assertEqual(properties[name]["verdict"], "holds", properties[name])
        self.assertIn("left out where rows are held: probabilities (a sequence, a map", said)
        said, _ = self.check("m.onnx", "--lenient")
        self.assertIn("that could not be compared: probabilities (", said)

    def test_consistency_names_the_part_that_changes(self):
        self.save("noise.onnx", [helper.make_node("RandomUniformLike", ["x"], ["noise"]),
                                 helper.make_node("SequenceConstruct", ["x", "noise"], ["s"])],
                  [tensor("x", [3])], [sequence("s")])
        _, properties = self.check("noise.onnx", "--only", "repeated-runs", code=1)
        self.assertIn("output 's[1]' at ", properties["repeated-runs"]["detail"])

    def test_the_peer_has_no_parts(self):
        self.save_split("m.onnx")
        said = self.run_it("m.onnx", "--onnxrt", "--onnxrt", "--lenient")
        self.assertIn("output 'out' was not compared: a sequence", said)
        self.assertIn("PASSED, compared 1 output in", said)
        ended = self.lenient("run", "m.onnx", "--onnxrt", "--onnxrt")
        self.assertNotIn("out[0]", ended.out)


if __name__ == "__main__":
    unittest.main()
