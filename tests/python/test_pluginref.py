"""--pluginref against ONNX's reference evaluator."""

import itertools
import json

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, reference

from script_case import ScriptCase

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def random(*shape, seed=3):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


class PluginCase(ScriptCase):
    def model(self, nodes, inputs, outputs, opset=22, constants=None):
        """Writes m.onnx; `inputs` are arrays by name, `outputs` names or (name, type)."""
        def info(name, array):
            code = helper.np_dtype_to_tensor_dtype(array.dtype)
            return helper.make_tensor_value_info(name, code, array.shape)
        outputs = [(out, FLOAT) if isinstance(out, str) else out for out in outputs]
        graph = helper.make_graph(
            nodes, "plugins", [info(*item) for item in inputs.items()],
            [helper.make_tensor_value_info(name, code, None) for name, code in outputs],
            [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)],
                                  ir_version=10)
        onnx.save(model, self.folder / "m.onnx")
        np.savez(self.folder / "in.npz", **inputs)
        return model

    def run_it(self, *words):
        return self.vernier("m.onnx", "--pluginref", "--load-inputs", "in.npz", "--save-outputs",
                            "out.npz", *words)

    def outputs(self):
        """Of the one iteration, by name."""
        done = self.run_it()
        self.assertEqual(done.code, 0, str(done))
        with np.load(self.folder / "out.npz") as saved:
            return {name.split("/")[-1]: saved[name] for name in saved.files}

    def agrees_with_onnx(self, nodes, inputs, outputs=("y",), opset=22, constants=None, **close):
        model = self.model(nodes, inputs, outputs, opset, constants)
        expected = reference.ReferenceEvaluator(model).run(None, inputs)
        actual = self.outputs()
        for name, value in zip(outputs, expected):
            name = name if isinstance(name, str) else name[0]
            value = np.asarray(value)
            self.assertEqual(actual[name].shape, value.shape)
            self.assertEqual(actual[name].dtype, value.dtype)
            np.testing.assert_allclose(actual[name].astype(np.float64), value.astype(np.float64),
                                       **{"rtol": 1e-5, "atol": 2e-5, **close})


class Normalizations(PluginCase):
    def test_instance(self):
        for shape in [(2, 3, 4, 5), (1, 4, 7), (2, 2, 2, 3, 2)]:
            inputs = {"x": random(*shape) * 3 + 5, "s": random(shape[1]), "b": random(shape[1])}
            for attributes in ({}, {"epsilon": 0.1}):
                with self.subTest(shape=shape, **attributes):
                    node = helper.make_node("InstanceNormalization", list("xsb"), ["y"], **attributes)
                    self.agrees_with_onnx([node], inputs)

    def test_instance_as_polygraphys(self):
        # Its formula, in float64 so that only the formula is compared.
        x, s, b = random(2, 3, 4, 5).astype(np.float64), random(3), random(3)
        node = helper.make_node("InstanceNormalization", list("xsb"), ["y"])
        self.model([node], {"x": x.astype(np.float32), "s": s, "b": b}, ["y"])
        x = x.astype(np.float32).astype(np.float64)
        mean, var = x.mean((2, 3), keepdims=True), x.var((2, 3), keepdims=True)
        s, b = s.reshape(-1, 1, 1), b.reshape(-1, 1, 1)
        np.testing.assert_allclose(self.outputs()["y"], s * (x - mean) / np.sqrt(var + 1e-5) + b,
                                   rtol=1e-6, atol=1e-6)

    def test_mean_variance(self):
        for axes in (None, [0, 2, 3], [1], [-1, 0], [0, 1, 2, 3]):
            with self.subTest(axes=axes):
                attributes = {} if axes is None else {"axes": axes}
                node = helper.make_node("MeanVarianceNormalization", ["x"], ["y"], **attributes)
                self.agrees_with_onnx([node], {"x": random(2, 3, 4, 5)}, opset=13)

    def test_group(self):
        for opset, count in itertools.product((18, 21), (1, 2, 4)):
            with self.subTest(opset=opset, groups=count):
                size = 4 if opset == 21 else count
                inputs = {"x": random(2, 4, 3, 5), "s": random(size), "b": random(size)}
                node = helper.make_node("GroupNormalization", list("xsb"), ["y"], num_groups=count)
                self.agrees_with_onnx([node], inputs, opset=opset)

    def test_layer(self):
        for axis in (-1, 1, 2, -3):
            with self.subTest(axis=axis):
                tail = (2, 3, 4)[axis:]
                inputs = {"x": random(2, 3, 4), "s": random(*tail), "b": random(*tail)}
                node = helper.make_node("LayerNormalization", list("xsb"), ["y", "m", "i"], axis=axis)
                self.agrees_with_onnx([node], inputs, ["y", "m", "i"], opset=17)
        node = helper.make_node("LayerNormalization", ["x", "s"], ["y"])
        self.agrees_with_onnx([node], {"x": random(3, 5), "s": random(5)}, opset=17)

    def test_small_floats_are_rounded_once(self):
        # The two types that NumPy and the evaluator compute in with few digits.
        x = random(2, 2, 8)
        for dtype in (np.float16, np.float64):
            node = helper.make_node("MeanVarianceNormalization", ["x"], ["y"], axes=[2])
            typed = x.astype(dtype)
            code = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            self.model([node], {"x": typed}, [("y", code)], opset=13)
            wide = typed.astype(np.float64)
            exact = (wide - wide.mean(2, keepdims=True)) / (wide.std(2, keepdims=True) + 1e-9)
            if dtype == np.float16:
                np.testing.assert_array_equal(self.outputs()["y"], exact.astype(dtype))
            else:
                np.testing.assert_allclose(self.outputs()["y"], exact, rtol=1e-14, atol=1e-14)

    def test_bfloat16_comes_out_as_it_is(self):
        values = np.array([0, -0.0, 1.5, 3e38, -1e-40, np.inf, -np.inf], ml_dtypes.bfloat16)
        graph = helper.make_graph(
            [helper.make_node("ScatterND", ["d", "i", "u"], ["y"], reduction="max")], "g",
            [], [helper.make_tensor_value_info("y", TensorProto.BFLOAT16, [7])],
            [numpy_helper.from_array(values, "d"), numpy_helper.from_array(values[::-1], "u"),
             numpy_helper.from_array(np.arange(7)[:, None], "i")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)],
                                    ir_version=10), self.folder / "m.onnx")
        done = self.vernier("m.onnx", "--pluginref", "--save-outputs", "out.json")
        self.assertEqual(done.code, 0, str(done))
        self.assertIn("y [dtype=bfloat16", done.out)


class Indexing(PluginCase):
    def test_scatter(self):
        data = random(4, 5, 6)
        cases = [(np.array([[0], [3], [0]]), (3, 5, 6)), (np.array([[1, -1], [2, 0]]), (2, 6)),
                 (np.array([[[1, 2, 3]], [[-4, 4, -1]]]), (2, 1)), (np.zeros((0, 2), np.int64), (0, 6))]
        for (indices, shape), reduction in itertools.product(
                cases, ("none", "add", "mul", "max", "min")):
            with self.subTest(indices=indices.tolist(), reduction=reduction):
                inputs = {"d": data, "i": indices, "u": random(*shape, seed=7)}
                node = helper.make_node("ScatterND", list("diu"), ["y"], reduction=reduction)
                self.agrees_with_onnx([node], inputs, opset=18)

    def test_scatter_of_integers_beyond_float64(self):
        inputs = {"d": np.full(3, 2**62 + 1), "i": np.array([[1], [1]]), "u": np.array([5, 7])}
        node = helper.make_node("ScatterND", list("diu"), ["y"], reduction="add")
        self.model([node], inputs, [("y", INT64)], opset=18)
        np.testing.assert_array_equal(self.outputs()["y"], [2**62 + 1, 2**62 + 13, 2**62 + 1])

    def test_out_of_bounds(self):
        inputs = {"d": random(3), "i": np.array([[3]]), "u": random(1)}
        self.model([helper.make_node("ScatterND", list("diu"), ["y"], name="late")], inputs, ["y"])
        self.assert_fails(self.run_it(), 6, r"node 'late' \(ScatterND\): index 3 is outside")


class Sampling(PluginCase):
    def test_grid(self):
        grid = np.random.default_rng(5).uniform(-1.6, 1.6, (2, 4, 3, 2)).astype(np.float32)
        grid[0, 0] = [[-1, 1], [0, 0], [0.5, -0.5]]
        inputs = {"x": random(2, 3, 5, 4), "g": grid}
        for mode, padding, corners in itertools.product(
                ("linear", "nearest", "cubic"), ("zeros", "border", "reflection"), (0, 1)):
            with self.subTest(mode=mode, padding=padding, align_corners=corners):
                node = helper.make_node("GridSample", ["x", "g"], ["y"], mode=mode,
                                        padding_mode=padding, align_corners=corners)
                self.agrees_with_onnx([node], inputs, opset=20)

    def test_grid_in_three_dimensions(self):
        grid = np.random.default_rng(6).uniform(-1.3, 1.3, (1, 2, 2, 3, 3)).astype(np.float32)
        for mode, padding in itertools.product(("linear", "nearest"), ("zeros", "border")):
            with self.subTest(mode=mode, padding=padding):
                node = helper.make_node("GridSample", ["x", "g"], ["y"], mode=mode,
                                        padding_mode=padding)
                self.agrees_with_onnx([node], {"x": random(1, 2, 3, 4, 5), "g": grid}, opset=20)

    def test_grid_with_the_words_of_opset_16(self):
        x, grid = random(1, 1, 3, 3), np.zeros((1, 1, 1, 2), np.float32)
        for mode in ("bilinear", "bicubic"):
            self.model([helper.make_node("GridSample", ["x", "g"], ["y"], mode=mode)],
                       {"x": x, "g": grid}, ["y"], opset=16)
            np.testing.assert_allclose(self.outputs()["y"].ravel(), x[0, 0, 1, 1], rtol=1e-6)

    def test_regions(self):
        regions = np.array([[0, 0, 4, 5], [1.5, 2.25, 6, 7.75], [-1, -2, 3, 3], [2, 2, 2.5, 2.5],
                            [7, 7, 20, 30]], np.float32)
        inputs = {"x": random(2, 3, 8, 9), "r": regions, "i": np.array([0, 1, 0, 1, 1])}
        for mode, ratio, coordinates in itertools.product(
                ("avg", "max"), (0, 2), ("half_pixel", "output_half_pixel")):
            with self.subTest(mode=mode, ratio=ratio, coordinates=coordinates):
                node = helper.make_node(
                    "RoiAlign", list("xri"), ["y"], mode=mode, output_height=3, output_width=2,
                    sampling_ratio=ratio, spatial_scale=0.75,
                    coordinate_transformation_mode=coordinates)
                self.agrees_with_onnx([node], inputs, opset=16)

    def test_a_region_of_no_image(self):
        inputs = {"x": random(1, 1, 2, 2), "r": np.zeros((1, 4), np.float32), "i": np.array([4])}
        self.model([helper.make_node("RoiAlign", list("xri"), ["y"])], inputs, ["y"])
        self.assert_fails(self.run_it(), 6, "region 0 is of batch 4, and there are 1")


class Graphs(PluginCase):
    def test_a_chain_of_several(self):
        nodes = [
            helper.make_node("Constant", [], ["i"], value_ints=[0, 1]),
            helper.make_node("InstanceNormalization", ["x", "s", "b"], ["t1"]),
            helper.make_node("MeanVarianceNormalization", ["t1"], ["t2"], axes=[1]),
            helper.make_node("RoiAlign", ["t2", "r", "i"], ["t3"], output_height=2, output_width=2),
            helper.make_node("LayerNormalization", ["t3", "s2"], ["t4"]),
            helper.make_node("Identity", ["t4"], ["y"]),
        ]
        constants = {"s": random(3), "b": random(3), "s2": random(2),
                     "r": np.array([[0, 0, 3, 3], [1, 1, 4, 4]], np.float32)}
        self.agrees_with_onnx(nodes, {"x": random(2, 3, 6, 6)}, constants=constants, rtol=1e-4,
                              atol=1e-4)

    def test_against_other_runners_in_one_command(self):
        node = helper.make_node("InstanceNormalization", list("xsb"), ["t"])
        self.model([node, helper.make_node("Identity", ["t"], ["y"])],
                   {"x": random(1, 3, 4, 4), "s": random(3), "b": random(3)}, ["y"], opset=17)
        done = self.vernier("m.onnx", "--pluginref", "--onnxrt", "--onnxref", "--onnx-outputs",
                            "mark", "all", "--iterations", "3")
        self.assertEqual(done.code, 0, str(done))
        self.assertIn("compared 2 outputs in 3 iterations", done.out)
        self.assertRegex(done.out, r"pluginref +pluginref built in +CPU +float32")

    def test_weights_in_a_file_beside_the_model(self):
        node = helper.make_node("InstanceNormalization", list("xsb"), ["y"])
        x, s, b = random(1, 600, 4), random(600), random(600)
        model = self.model([node], {"x": x}, ["y"], constants={"s": s, "b": b})
        expected = reference.ReferenceEvaluator(model).run(None, {"x": x})[0]
        onnx.save(model, self.folder / "m.onnx", save_as_external_data=True, location="w.bin",
                  size_threshold=0)
        np.testing.assert_allclose(self.outputs()["y"], expected, rtol=1e-4, atol=1e-5)

    def test_an_operator_without_a_reference(self):
        self.model([helper.make_node("Relu", ["x"], ["y"], name="act")], {"x": random(2)}, ["y"])
        done = self.run_it()
        self.assert_fails(done, 5, r"node 'act' \(Relu\): operator 'Relu' has no reference here; "
                          "there are BatchedNMSDynamic_TRT, BatchedNMS_TRT, Constant, "
                          "EfficientNMS_TRT, GridSample, GroupNormalization, Identity, "
                          "InstanceNormalization, LayerNormalization, MeanVarianceNormalization, "
                          "RoiAlign, ScatterND")

    def test_wrong_nodes(self):
        x = random(2, 4, 3)
        for node, words in (
                (helper.make_node("GroupNormalization", list("xsb"), ["y"], num_groups=3),
                 "num_groups is 3, which does not divide the 4 channels"),
                (helper.make_node("InstanceNormalization", ["x", "s"], ["y"]),
                 "has 2 inputs; expected 3"),
                (helper.make_node("LayerNormalization", ["x", "s"], ["y"], axis=5),
                 "axis 5 is outside of the input's 3 dimensions"),
                (helper.make_node("InstanceNormalization", list("xtb"), ["y"]),
                 r"input 't' has shape \(3,\); expected \(4,\), one a channel"),
                (helper.make_node("Identity", ["x"], ["y", "z"]), "names 2 outputs"),
                (helper.make_node("Identity", ["later"], ["y"]), "made by no earlier node")):
            with self.subTest(op=node.op_type, words=words):
                self.model([node], {"x": x}, ["y"],
                           constants={"s": random(4), "b": random(4), "t": random(3)})
                self.assert_fails(self.run_it(), 6, words)

    def test_fields_of_another_wire_type_are_refused(self):
        """Read as what they should be, most of these are a harmless zero."""
        def typed(graph):
            return graph.input[0].type.tensor_type

        varint, fixed64, text = 0, 1, 2
        cases = {  # where, and the field that is added there
            "graph of the model": (lambda g: None, 7, varint, 0),
            "name of a node": (lambda g: g.node[0], 3, varint, 0),
            "attribute of a node": (lambda g: g.node[0], 5, varint, 0),
            "number of an attribute": (lambda g: g.node[0].attribute[0], 2, fixed64, *bytes(8)),
            "integer of an attribute": (lambda g: g.node[0].attribute[0], 3, text, 0),
            "integers of an attribute": (lambda g: g.node[0].attribute[0], 8, fixed64, *bytes(8)),
            "type of a weight": (lambda g: g.initializer[0], 2, text, 0),
            "name of a weight": (lambda g: g.initializer[0], 8, varint, 0),
            "doubles of a weight": (lambda g: g.initializer[0], 10, varint, 0),
            "shape of an input": (typed, 2, varint, 0),
            "size of an input": (lambda g: typed(g).shape.dim[0], 1, text, 0),
        }
        node = helper.make_node("LayerNormalization", ["x", "s"], ["y"], epsilon=0.1)
        for name, (place, field, kind, *content) in cases.items():
            with self.subTest(name):
                model = self.model([node], {"x": random(2)}, ["y"], 17, {"s": random(2)})
                (place(model.graph) or model).MergeFromString(bytes([field << 3 | kind, *content]))
                onnx.save(model, self.folder / "m.onnx")
                self.assert_fails(self.run_it(), 3, f"field {field} of a message cannot have wire "
                                                    f"type {kind}")

    def test_what_the_record_says(self):
        self.model([helper.make_node("Identity", ["x"], ["y"])], {"x": random(2)}, ["y"])
        done = self.run_it("--save-record", "r.json")
        self.assertEqual(done.code, 0, str(done))
        record = json.loads((self.folder / "r.json").read_text())
        self.assertIn("pluginref", json.dumps(record))
