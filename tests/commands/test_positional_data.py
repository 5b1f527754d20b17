"""ONNX test data: files are told by their position, whatever name is inside."""

import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import Case


class PositionalData(Case):
    def setUp(self):
        super().setUp()
        self.a, self.b = np.float32([1, 2, 3]), np.float32([5, 7, 11])
        values = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [3]) for n in "abde"}
        nodes = [helper.make_node("Sub", ["a", "b"], ["d"]),
                 helper.make_node("Mul", ["a", "b"], ["e"])]
        graph = helper.make_graph(nodes, "g", [values["a"], values["b"]],
                                  [values["d"], values["e"]])
        self.save(graph, "m.onnx")

    def save(self, graph, name):
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path(name)))

    def data(self, part, *named):
        folder = self.path("set/test_data_set_0")
        folder.mkdir(parents=True, exist_ok=True)
        for index, (name, array) in enumerate(named):
            tensor = numpy_helper.from_array(array, name)
            (folder / f"{part}_{index}.pb").write_bytes(tensor.SerializeToString())

    def run_it(self, model="m.onnx", code=0):
        ended = self.vernier("run", model, "--onnxrt", "--load-inputs", "set", "--load-outputs",
                             "set")
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended.out + ended.err

    def test_names_inside_do_not_matter(self):
        for names in (("", ""), ("x", "y"), ("a", "b"), ("x", "x")):
            with self.subTest(names):
                self.data("input", *zip(names, (self.a, self.b)))
                self.data("output", *zip(names, (self.a - self.b, self.a * self.b)))
                self.assertNotIn("matched by position", self.run_it())

    def test_names_in_another_order_are_warned_of(self):
        self.data("input", ("b", self.a), ("a", self.b))
        self.data("output", ("e", self.a - self.b), ("d", self.a * self.b))
        said = self.run_it()
        for flag, own, inside in (("--load-inputs", "a", "b"), ("--load-outputs", "d", "e")):
            self.assertIn(f"[W] {flag}: ONNX test data are matched by position: file 0 is '{own}', "
                          f"though it is called '{inside}' inside", said)

    def test_a_wrong_output_is_still_one(self):
        self.data("input", ("", self.a), ("", self.b))
        self.data("output", ("", self.a * self.b), ("", self.a - self.b))
        self.run_it(code=1)

    def test_where_there_are_fewer_files_names_decide(self):
        self.data("input", ("b", self.b))
        self.assertIn("input 'a': expected a tensor of that name", self.run_it(code=3))

    def test_a_set_of_a_model_without_inputs(self):
        constant = helper.make_node("Constant", [], ["d"], value=numpy_helper.from_array(self.a))
        out = helper.make_tensor_value_info("d", TensorProto.FLOAT, [3])
        self.save(helper.make_graph([constant], "g", [], [out]), "constant.onnx")
        self.data("output", ("", self.a))
        self.assertIn("compared 1 output in 1 iteration", self.run_it("constant.onnx"))

    def test_a_sample_is_told_by_position_too(self):
        self.data("input", ("", self.a), ("", self.b))
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--like", "set")
        self.assertEqual(ended.code, 0, ended.out + ended.err)


if __name__ == "__main__":
    unittest.main()
