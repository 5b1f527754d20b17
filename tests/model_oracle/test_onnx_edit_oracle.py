"""Edited and saved ONNX models against onnx.checker, ONNX Runtime and Polygraphy's own edit.

See oracle_case.py for how to run it.
"""

import os
import shutil
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases
from oracle_case import OracleTest, model_paths, select_with_peer


def run_model(path, seed=0):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
    rng = np.random.default_rng(seed)
    types = {
        "tensor(float)": np.float32,
        "tensor(int64)": np.int64,
        "tensor(int32)": np.int32,
        "tensor(bool)": np.bool_,
        "tensor(float16)": np.float16,
        "tensor(double)": np.float64,
    }
    feeds = {}
    for value in session.get_inputs():
        shape = [d if isinstance(d, int) else 2 for d in value.shape]
        feeds[value.name] = rng.integers(0, 2, shape).astype(types[value.type])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))


def same(a, b):
    if isinstance(a, (list, dict)) or not isinstance(a, np.ndarray):
        return True
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def loads(path_or_bytes):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        return onnxruntime.InferenceSession(path_or_bytes, options, ["CPUExecutionProvider"])
    except Exception:
        return None


class Editing(OracleTest):
    def test_marked_models_differ_from_the_original_in_their_outputs_only(self):
        for path in model_paths():
            model = onnx.load(path, load_external_data=False)
            if any(o.external_data for o in model.graph.initializer):
                continue
            saved = self.path("marked.onnx")
            answer = self.driver(op="edit", path=path, outputs=["*"], save=saved)
            if "error" in answer:
                continue
            with self.subTest(path=path):
                edited = onnx.load(saved)
                self.assertEqual([o.name for o in edited.graph.output], answer["names"])
                del edited.graph.output[:]
                del model.graph.output[:]
                self.assertEqual(edited, model)

    def test_marked_models_load_and_have_the_types_that_onnx_runtime_infers(self):
        loaded = typed = total = 0
        for path in model_paths():
            if loads(path) is None:
                continue
            saved = self.path("marked.onnx")
            answer = self.driver(op="edit", path=path, outputs=["*"], save=saved)
            if "error" in answer:
                continue
            with self.subTest(path=path):
                declared = onnx.load(saved, load_external_data=False).graph.output
                session = loads(saved)
                # Broken before: ONNX Runtime may be unable to expose some tensor at all.
                bare = onnx.load(path)
                del bare.graph.output[:]
                bare.graph.output.extend(onnx.ValueInfoProto(name=n) for n in answer["names"])
                reference = loads(bare.SerializeToString())
                if reference is None:
                    continue
                self.assertIsNotNone(session)
                loaded += 1
                found = {o.name: (o.type, o.shape) for o in reference.get_outputs()}
                for output in session.get_outputs():
                    self.assertEqual(output.type, found[output.name][0], output.name)
                    if found[output.name][1]:  # [] is a scalar or an unknown rank
                        self.assertEqual(len(output.shape), len(found[output.name][1]), output.name)
                total += len(declared)
                typed += sum(o.type.tensor_type.HasField("shape") for o in declared)
        self.assertGreater(loaded, 20)
        print(f"{loaded} marked models load; {typed} of {total} outputs have type and rank")
        self.assertGreater(typed, 0.9 * total)

    def test_marked_models_pass_the_checker(self):
        passed = 0
        for path in model_paths():
            try:
                onnx.checker.check_model(path)
            except Exception:
                continue
            saved = self.path("checked.onnx")
            answer = self.driver(op="edit", path=path, outputs=["*"], save=saved)
            if "error" in answer:
                continue
            with self.subTest(path=path):
                if answer["untyped"] or answer["unranked"]:
                    with self.assertRaises(onnx.checker.ValidationError):
                        onnx.checker.check_model(saved)
                    continue
                onnx.checker.check_model(saved)
                passed += 1
        self.assertGreater(passed, 20)

    def test_results_are_those_of_the_peers_edited_model(self):
        compared = 0
        for path in model_paths():
            model = onnx.load(path, load_external_data=False)
            if os.path.getsize(path) > 1e6 or any(t.external_data for t in model.graph.initializer):
                continue
            saved, theirs = self.path("ours.onnx"), self.path("theirs.onnx")
            if "error" in self.driver(op="edit", path=path, outputs=["*"], save=saved):
                continue
            try:
                onnx.save(select_with_peer(model, ["*"], None, None), theirs)
                reference = run_model(theirs)
            except Exception:
                continue
            with self.subTest(path=path):
                ours = run_model(saved)
                self.assertEqual(list(ours), list(reference))
                if any("Random" in n.op_type or n.op_type in ("Bernoulli", "Multinomial", "Dropout")
                       for n in model.graph.node):  # fmt: skip
                    continue
                compared += 1
                declared = {o.name: o.type for o in onnx.load(saved).graph.output}
                for name, value in reference.items():
                    self.assertTrue(same(ours[name], value), name)
                    if declared[name].tensor_type.HasField("shape"):
                        self.assertEqual(
                            len(declared[name].tensor_type.shape.dim), value.ndim, name
                        )
        self.assertGreater(compared, 20)


class Inferring(OracleTest):
    def test_types_of_every_operator_test_of_the_onnx_package(self):
        typed = ranked = total = 0
        path, saved = self.path("case.onnx"), self.path("inferred.onnx")
        for case in collect_testcases(None):
            model = onnx.ModelProto()
            model.CopyFrom(case.model)
            declared = {o.name: o.type for o in model.graph.output}
            del model.graph.output[:]
            if len(model.graph.node) != 1 or model.functions:
                continue  # expanded functions: their parts have cases of their own
            with open(path, "wb") as file:
                file.write(model.SerializeToString())
            answer = self.driver(op="edit", path=path, outputs=["*"], save=saved)
            if model.graph.node[0].op_type == "Constant":
                continue
            with self.subTest(case=case.name):
                self.assertNotIn("error", answer)
                with open(saved, "rb") as file:
                    edited = onnx.load_from_string(file.read())
                for output in edited.graph.output:
                    expected = declared[output.name]
                    total += 1
                    kind = output.type.WhichOneof("value")
                    if kind is None:
                        continue
                    self.assertEqual(kind, expected.WhichOneof("value"), output.name)
                    typed += 1
                    ours, theirs = output.type.tensor_type, expected.tensor_type
                    self.assertEqual(ours.elem_type, theirs.elem_type, output.name)
                    if ours.HasField("shape"):
                        ranked += 1
                        self.assertEqual(len(ours.shape.dim), len(theirs.shape.dim), output.name)
        print(f"{total} outputs of operators: {typed} typed, {ranked} of them with rank")
        self.assertGreater(typed, 0.9 * total)


class Weights(OracleTest):
    """Saving elsewhere: embedded, moved out, one file a tensor."""

    def make(self, folder, count=3):
        folder = self.path(folder)
        os.makedirs(folder, exist_ok=True)
        rng = np.random.default_rng(1)
        weights = [
            numpy_helper.from_array(
                rng.standard_normal((4, 300 if i else 4)).astype(np.float32), f"w{i}"
            )
            for i in range(count)
        ]
        then = helper.make_graph(
            [helper.make_node("Identity", ["inner"], ["t"])], "then", [],
            [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)],
            [numpy_helper.from_array(rng.standard_normal((4, 500)).astype(np.float32), "inner")],
        )  # fmt: skip
        nodes = [helper.make_node("Identity", [w.name], [w.name + "_out"]) for w in weights]
        nodes.append(helper.make_node("If", ["c"], ["if_out"], then_branch=then, else_branch=then))
        outs = [
            helper.make_tensor_value_info(f"w{i}_out", TensorProto.FLOAT, None)
            for i in range(count)
        ]
        outs.append(helper.make_tensor_value_info("if_out", TensorProto.FLOAT, None))
        c = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
        graph = helper.make_graph(nodes, "g", [c], outs, weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        path = os.path.join(folder, "m.onnx")
        onnx.save(model, path)
        return path, model

    def check(self, path, model):
        """The file at `path` computes what `model` computes, and keeps its tensors' values."""
        reloaded = onnx.load(path)
        pairs = zip(model.graph.initializer, reloaded.graph.initializer)
        for before, after in pairs:
            np.testing.assert_array_equal(
                numpy_helper.to_array(before), numpy_helper.to_array(after)
            )
        inner = [m.graph.node[-1].attribute[0].g.initializer[0] for m in (model, reloaded)]
        np.testing.assert_array_equal(*(numpy_helper.to_array(t) for t in inner))
        for name, value in run_model(path).items():
            self.assertTrue(same(value, run_model(self.reference)[name]), name)

    def edit(self, path, saved, **more):
        answer = self.driver(op="edit", path=path, save=self.path(saved), **more)
        self.assertNotIn("error", answer)
        return self.path(saved)

    def test_moves_out_and_back_in(self):
        path, model = self.make("plain")
        self.reference = path
        out = self.edit(path, "moved/m.onnx", external_path="weights.bin")
        self.check(out, model)
        tensors = onnx.load(out, load_external_data=False).graph.initializer
        self.assertEqual([t.data_location for t in tensors], [0, 1, 1])  # as the peer: one is small
        self.assertTrue(os.path.exists(self.path("moved/weights.bin")))
        back = self.edit(out, "back/m.onnx")
        self.check(back, model)
        self.assertEqual(os.listdir(self.path("back")), ["m.onnx"])
        self.assertFalse(
            any(
                t.data_location for t in onnx.load(back, load_external_data=False).graph.initializer
            )
        )

    def test_default_name_and_one_file_a_tensor(self):
        path, model = self.make("plain2")
        self.reference = path
        self.check(self.edit(path, "named/m.onnx", external_path=""), model)
        self.assertEqual(sorted(os.listdir(self.path("named"))), ["m.onnx", "m.onnx.data"])
        self.check(self.edit(path, "many/m.onnx", external_path="", one_file=False), model)
        self.assertEqual(
            sorted(os.listdir(self.path("many"))), ["inner", "inner_1", "m.onnx", "w1", "w2"]
        )

    def test_threshold_counts_as_the_peers(self):
        path, model = self.make("plain3")
        self.reference = path
        for threshold in (0, 64, 97, 98, 4833, 4834, 100000):
            ours = self.edit(path, f"t{threshold}/m.onnx", external_path="w", threshold=threshold)
            self.check(ours, model)
            theirs = onnx.load(path)
            onnx.external_data_helper.convert_model_to_external_data(
                theirs, location="w", size_threshold=threshold
            )
            got = onnx.load(ours, load_external_data=False).graph.initializer
            self.assertEqual(
                [t.data_location for t in got], [t.data_location for t in theirs.graph.initializer]
            )

    def test_saving_over_itself(self):
        path, model = self.make("self")
        self.reference = self.path("reference.onnx")
        shutil.copy(path, self.reference)
        for more in ({"external_path": "w"}, {"external_path": "w"}, {}):
            self.check(self.edit(path, "self/m.onnx", **more), model)

    def test_outputs_and_weights_together(self):
        path, model = self.make("both")
        out = self.edit(path, "both2/m.onnx", external_path="w", outputs=["w1_out", "if_out"])
        self.assertEqual(list(run_model(out)), ["w1_out", "if_out"])

    def test_other_folder(self):
        path, model = self.make("apart")
        self.reference = path
        out = self.edit(path, "apart2/m.onnx", external_path="w")
        os.makedirs(self.path("weights"))
        os.rename(self.path("apart2/w"), self.path("weights/w"))
        answer = self.driver(op="external", path=out)
        self.assertIn("does not exist", answer["error"])
        self.assertNotIn("error", self.driver(op="external", path=out, dir=self.path("weights")))
        self.check(self.edit(out, "joined/m.onnx", dir=self.path("weights")), model)


if __name__ == "__main__":
    unittest.main()
