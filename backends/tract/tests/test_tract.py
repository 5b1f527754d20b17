"""--tract through the program: what it computes, what it refuses, and how it says so."""

import json
import pathlib
import re
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import Case

ROOT = pathlib.Path(__file__).resolve().parents[3]
DIGITS = ROOT / "examples" / "digits.onnx"


def value(name, dtype=TensorProto.FLOAT, shape=(4,)):
    return helper.make_tensor_value_info(name, dtype, shape)


class TractCase(Case):
    def save(self, name, nodes, inputs, outputs, weights=(), **settings):
        graph = helper.make_graph(nodes, "g", inputs, outputs, list(weights))
        domains = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
        model = helper.make_model(graph, opset_imports=domains, ir_version=8)
        onnx.save(model, str(self.path(name)), **settings)
        return name

    def run_both(self, model, *words, code=0):
        ended = self.vernier("run", model, "--onnxrt", "--tract", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended

    def refusal(self, *words, code):
        """The one line about the runner."""
        ended = self.vernier("run", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        lines = [line for line in (ended.out + ended.err).splitlines() if "| FAILED: " in line]
        self.assertEqual(len(lines), 1, ended.out + ended.err)
        self.assertNotIn("Stack backtrace", ended.out + ended.err)
        return lines[0].split("| FAILED: ")[1]


class Computing(TractCase):
    def test_a_network_and_all_of_its_tensors(self):
        ended = self.run_both(DIGITS, "--onnx-outputs", "mark", "all")
        self.assertIn("PASSED, compared 9 outputs in 1 iteration", ended.out)

    def test_compiles_again_for_feeds_of_other_shapes(self):
        rows = [{"image": np.full((batch, 1, 8, 8), 0.1 * batch, np.float32)}
                for batch in (1, 3, 3, 1, 0)]
        ended = self.run_both(DIGITS, "--load-inputs", self.save_feeds("f.json", rows))
        self.assertIn("in 5 iterations", ended.out)

    def test_shapes_that_the_model_notes_by_name_do_not_clash_with_those_of_a_feed(self):
        add = helper.make_node("Add", ["x", "w"], ["sum"])
        relu = helper.make_node("Relu", ["sum"], ["y"])
        weights = [numpy_helper.from_array(np.ones(4, np.float32), "w")]
        graph = helper.make_graph([add, relu], "g", [value("x", shape=("n", 4))],
                                  [value("y", shape=("m", 4))], weights,
                                  value_info=[value("sum", shape=("another", 4))])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))
        self.run_both("m.onnx", "--input-shapes", "x:[3,4]")

    def test_sizes_are_int64(self):
        self.save("m.onnx", [helper.make_node("Shape", ["x"], ["y"])],
                  [value("x", shape=("n", 3))], [value("y", TensorProto.INT64, (2,))])
        ended = self.run_both("m.onnx", "--input-shapes", "x:[5,3]")
        self.assertIn("y [dtype=int64, shape=(2,)]", ended.out)

    def test_strings_are_no_numbers(self):
        self.save("m.onnx", [helper.make_node("Cast", ["x"], ["text"], to=TensorProto.STRING),
                             helper.make_node("Neg", ["x"], ["y"])],
                  [value("x", TensorProto.INT64)],
                  [value("text", TensorProto.STRING), value("y", TensorProto.INT64)])
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--tract")
        self.assertIn("of a type that tract's C interface does not have", ended.out + ended.err)
        self.assertEqual(ended.code, 4, ended.out + ended.err)

    def test_types(self):
        types = {"float16": TensorProto.FLOAT16, "float64": TensorProto.DOUBLE,
                 "int8": TensorProto.INT8, "int32": TensorProto.INT32, "bool": TensorProto.BOOL}
        inputs = [value(f"in_{name}", dtype, (2, 3)) for name, dtype in types.items()]
        outputs = [value(f"out_{name}", dtype, (3, 2)) for name, dtype in types.items()]
        nodes = [helper.make_node("Transpose", [f"in_{name}"], [f"out_{name}"]) for name in types]
        self.save("m.onnx", nodes, inputs, outputs)
        ended = self.run_both("m.onnx")
        self.assertIn("compared 5 outputs", ended.out)
        for name in types:
            self.assertIn(f"out_{name} [dtype={name}, shape=(3, 2)]", ended.out)

    def test_float16_on_request_keeps_the_types_of_outputs(self):
        ended = self.vernier("run", DIGITS, "--tract", "--runner",
                             "half=tract --tract.precision=f16", "--atol", "0.02", "--rtol", "0.02",
                             "--save-record", "r.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("logits [dtype=float32", ended.out)
        runners = json.loads(self.path("r.json").read_text(encoding="utf-8"))["runners"]
        self.assertEqual([runner["precision"] for runner in runners], ["float32", "float16"])
        exact = self.vernier("run", DIGITS, "--tract", "--runner",
                             "half=tract --tract.precision=f16")
        self.assertEqual(exact.code, 1, exact.out)
        self.assertIn("tract computes in float32, half in float16", exact.out)


class ExternalWeights(TractCase):
    def setUp(self):
        super().setUp()
        self.weights = np.arange(4, dtype=np.float32)
        self.save("m.onnx", [helper.make_node("Add", ["x", "w"], ["sum"]),
                             helper.make_node("Relu", ["sum"], ["y"])],
                  [value("x")], [value("y")], [numpy_helper.from_array(self.weights, "w")],
                  save_as_external_data=True, location="weights.bin", size_threshold=0)
        self.assertTrue(self.path("weights.bin").exists())

    def test_beside_the_model(self):
        self.run_both("m.onnx")

    def test_of_a_model_with_marked_outputs(self):
        ended = self.run_both("m.onnx", "--onnx-outputs", "mark", "all")
        self.assertIn("compared 2 outputs", ended.out)

    def test_in_another_folder(self):
        self.path("elsewhere").mkdir()
        self.path("weights.bin").rename(self.path("elsewhere") / "weights.bin")
        self.run_both("m.onnx", "--external-data-dir", "elsewhere")

    def test_of_a_node_are_read_too(self):
        self.save("c.onnx", [helper.make_node("Constant", [], ["w"], value=numpy_helper.from_array(
            self.weights, "w")), helper.make_node("Add", ["x", "w"], ["y"])],
                  [value("x")], [value("y")], save_as_external_data=True, location="c.bin",
                  size_threshold=0, convert_attribute=True)
        self.run_both("c.onnx", "--onnx-outputs", "mark", "all")

    def test_that_are_cut_short(self):
        self.path("weights.bin").write_bytes(b"\0" * 7)
        for words in ((), ("--onnx-outputs", "mark", "all")):
            ended = self.vernier("run", "m.onnx", "--tract", *words)
            self.assertIn(ended.code, (3, 6), ended.out)
            self.assertIn("weights.bin", ended.out + ended.err)


class Refusals(TractCase):
    def test_a_library_that_is_not_there(self):
        self.assertIn("tract is not at '/nosuch/tract.so' (--tract.lib)",
                      self.refusal(DIGITS, "--tract", "--tract.lib=/nosuch/tract.so", code=5))

    def test_an_environment_without_it_is_told_how_to_install_it(self):
        self.path("env/bin").mkdir(parents=True)
        self.path("env/bin/python3").symlink_to("/usr/bin/python3")
        said = self.refusal(DIGITS, "--runner", "t=tract --python env/bin/python3", code=5)
        self.assertIn("`pip install tract` there adds it", said)

    def test_another_library(self):
        maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
        other = re.search(r"/\S*/libc\.so\.6", maps)[0]
        said = self.refusal(DIGITS, "--tract", f"--tract.lib={other}", code=5)
        self.assertIn("has no function tract_get_last_error: this tract is too old", said)

    def test_an_operator_that_it_lacks(self):
        self.save("m.onnx", [helper.make_node("Fancy", ["x"], ["y"], "fancy", domain="mine")],
                  [value("x")], [value("y")])
        self.assertEqual(self.refusal("m.onnx", "--tract", code=6),
                         'compiling the model: Translating node #1 "fancy" Unimplemented(Fancy) '
                         "ToTypedTranslator: Operator can not be made a TypedOp.")

    def test_a_type_that_it_lacks(self):
        self.save("m.onnx", [helper.make_node("Identity", ["x"], ["y"])],
                  [value("x", TensorProto.BFLOAT16)], [value("y", TensorProto.BFLOAT16)])
        self.assertEqual(self.refusal("m.onnx", "--tract", code=6),
                         "reading the model: translating to fact: Tensor {...}: Unknown DatumType "
                         "Bfloat16")

    def test_a_precision_that_it_lacks(self):
        ended = self.vernier("run", DIGITS, "--tract", "--tract.precision=f8")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("--tract.precision: expected one of f32, f16, got 'f8'", ended.err)

    def test_a_file_that_is_no_model(self):
        self.path("m.onnx").write_bytes(b"\xff" * 100)
        ended = self.vernier("run", "m.onnx", "--tract")
        self.assertEqual(ended.code, 3, ended.out + ended.err)

    def test_a_panic_ends_its_worker_alone(self):
        strings = TensorProto(name="w", data_type=TensorProto.STRING, dims=[1], raw_data=b"word")
        self.save("m.onnx", [helper.make_node("Identity", ["x"], ["y"]),
                             helper.make_node("Identity", ["w"], ["unused"])],
                  [value("x")], [value("y")], [strings])
        ended = self.vernier("run", "m.onnx", "--identity", "--tract")
        self.assertEqual(ended.code, 6, ended.out + ended.err)
        self.assertRegex(ended.out, "tract: FAILED, died of SIGABRT, an abort while opening")
        self.assertIn("x [dtype=float32, shape=(4,)]", ended.out)


class Abilities(TractCase):
    def test_is_listed(self):
        self.assertRegex(self.vernier("backends").out, r"\ntract +\d+\.\d+\.\d+ +/.*\btract")
        self.assertRegex(self.vernier("doctor").out, r"\n  tract +usable +\d+\.\d+\.\d+")

    def test_is_a_set_of_packages(self):
        ended = self.start("bash", [ROOT / "scripts" / "deps.sh", "--list"])
        self.assertRegex(ended.out, r"(?m)^tract +\d+ MB +--tract: ")

    def test_blame_finds_a_layer_that_float16_moves(self):
        ended = self.vernier("blame", DIGITS, "--onnxrt", "--runner",
                             "half=tract --tract.precision=f16")
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertIn("To blame:", ended.out)
        self.assertIn("conv", ended.out)

    def test_profile_has_layers(self):
        ended = self.vernier("profile", DIGITS, "--tract", "--save-record", "p.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        record = json.loads(self.path("p.json").read_text(encoding="utf-8"))
        layers = record["profile"]["points"][0]["layers"]
        self.assertIn("OptMatMul", {layer["type"] for layer in layers})
        self.assertIn("softmax", {layer["name"] for layer in layers})
        self.assertTrue(all(0 < layer["seconds"] < 1 for layer in layers), layers)

    def test_is_consistent(self):
        ended = self.vernier("check", "consistency", DIGITS, "--tract")
        self.assertEqual(ended.code, 0, ended.out + ended.err)


if __name__ == "__main__":
    unittest.main()
