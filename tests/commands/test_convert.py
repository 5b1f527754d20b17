"""vernier convert: the same files as the peer's, as far as runtimes can tell."""

import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from program import Case


def chain(large=64):
    """x -> h -> y, with a weight that may go to another file."""
    weight = np.linspace(-1, 1, large * large, dtype=np.float32).reshape(large, large)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", large])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", large])
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["h"], "multiply"),
         helper.make_node("Relu", ["h"], ["y"], "cut")],
        "chain", [x], [y], [numpy_helper.from_array(weight, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run(path, feed):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, feed)))


class Convert(Case):
    def setUp(self):
        super().setUp()
        onnx.save(chain(), str(self.path("m.onnx")))
        self.feed = {"x": np.linspace(0, 1, 128, dtype=np.float32).reshape(2, 64)}

    def converts(self, *words):
        ended = self.vernier("convert", *words)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        return ended

    def both(self, *words):
        """The peer's and our file for the same command, loaded."""
        for program, name in ((self.peer, "theirs.onnx"), (self.lenient, "ours.onnx")):
            ended = program("convert", "m.onnx", "-o", name, *words)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
        onnx.checker.check_model(str(self.path("ours.onnx")), full_check=True)
        return [onnx.load(str(self.path(f"{who}.onnx"))) for who in ("theirs", "ours")]

    def test_the_same_file(self):
        theirs, ours = self.both()
        self.assertEqual(ours, theirs)

    def test_marked_outputs(self):
        for words in (["--onnx-outputs", "*"], ["--onnx-outputs", "h"],
                      ["--onnx-outputs", "*", "--onnx-exclude-outputs", "y"],
                      ["--onnx-outputs-by-type", "MatMul"]):
            theirs, ours = self.both(*words)
            self.assertEqual([o.name for o in ours.graph.output],
                             [o.name for o in theirs.graph.output])
            for name, value in run(self.path("theirs.onnx"), self.feed).items():
                np.testing.assert_array_equal(run(self.path("ours.onnx"), self.feed)[name], value)

    def test_a_weight_that_a_body_reads_stays_as_it_is_where_the_node_does(self):
        value = numpy_helper.from_array(np.float32(90000), "k")
        x, y, o = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [4]) for n in "xyo")
        then, other = (helper.make_graph([helper.make_node(op, ["x", "k"], ["o"], op)], op, [], [o])
                       for op in ("Mul", "Sub"))
        graph = helper.make_graph(
            [helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0),
             helper.make_node("Cast", ["m"], ["c"], to=TensorProto.BOOL),
             helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)],
            "g", [x], [y], [value])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("if.onnx")))
        ended = self.converts("if.onnx", "-o", "half.onnx", "--fp-to-fp16")
        self.assertIn("2 nodes stay (", ended.out + ended.err)
        self.assertNotIn("became 65504", ended.out + ended.err)
        feed = {"x": np.array([0, 0.25, 0.5, -0.125], np.float32)}
        self.assertTrue(np.allclose(run(self.path("half.onnx"), feed)["y"], feed["x"] * 90000,
                                    rtol=1e-3))

    def test_operators_that_are_not_there(self):
        said = "No ONNX nodes of op type 'Nosuch' were found in the model."
        for words in (["convert", "m.onnx", "-o", "o.onnx"], ["run", "m.onnx", "--onnxrt"]):
            words += ["--onnx-outputs-by-type", "MatMul", "Nosuch"]
            ended = self.vernier(*words)
            self.assertEqual(ended.code, 1, ended.out + ended.err)
            self.assertIn(said, ended.out + ended.err)
            self.assertFalse(self.path("o.onnx").exists())
            for done in (self.vernier(*words, "--lenient"), self.lenient(*words)):
                self.assertEqual(done.code, 0, done.out + done.err)
                self.assertIn("[E] " + said, done.out + done.err)
            self.path("o.onnx").unlink(missing_ok=True)

    def test_weights_in_another_file(self):
        theirs, ours = self.both("--save-external-data", "weights.bin")
        self.assertEqual(numpy_helper.to_array(ours.graph.initializer[0]).tobytes(),
                         numpy_helper.to_array(theirs.graph.initializer[0]).tobytes())
        bare = onnx.load(str(self.path("ours.onnx")), load_external_data=False)
        self.assertEqual(bare.graph.initializer[0].data_location, TensorProto.EXTERNAL)
        self.assertEqual(self.path("weights.bin").stat().st_size, 64 * 64 * 4)

    def test_a_threshold_without_external_data_is_told(self):
        for program in (self.peer, self.lenient):
            ended = program("convert", "m.onnx", "-o", "o.onnx",
                            "--external-data-size-threshold", "10")
            self.assertIn("[W] size_threshold is set, but external data path has not been set.",
                          ended.out)

    def test_uff_and_caffe_are_answered_with_what_can_be_done(self):
        for name, words in (("m.uff", ["tf2onnx", "TensorRT 8 is installed"]),
                            ("m.prototxt", ["caffe2onnx", "TensorRT 8 is installed"])):
            self.path(name).write_bytes(b"whatever")
            # TensorRT itself is asked, which is not here.
            ended = self.vernier("convert", name, "-o", "o.engine")
            self.assertEqual(ended.code, 5, ended.out + ended.err)
            for command in (["convert", name, "-o", "o.onnx"], ["run", name, "--onnxrt"],
                            ["run", name, "--tf"], ["run", "m.onnx", "--onnxrt", "--model-type",
                             "uff" if name == "m.uff" else "caffe"]):
                ended = self.vernier(*command)
                self.assertEqual(ended.code, 2, ended.out + ended.err)
                for word in ["could not be converted", *words]:
                    self.assertIn(word, ended.err)
            self.assertFalse(self.path("o.onnx").exists())

    def test_the_target(self):
        ended = self.vernier("convert", "m.onnx", "-o", "o.bin")
        self.assertEqual(ended.code, 2)
        self.assertIn("Could not automatically determine model type based on output path: o.bin",
                      ended.err)
        self.converts("m.onnx", "-o", "o.bin", "--convert-to", "onnx")
        self.assertEqual(onnx.load(str(self.path("o.bin"))), chain())
        ended = self.vernier("convert", "m.onnx", "-o", "o.graphdef")
        self.assertEqual((ended.code, ended.err), (2, "[!] Cannot convert to model type: frozen\n"))

    def test_over_itself(self):
        self.converts("m.onnx", "-o", "m.onnx", "--onnx-outputs", "*")
        self.assertEqual([o.name for o in onnx.load(str(self.path("m.onnx"))).graph.output],
                         ["h", "y"])

    def test_a_model_of_another_name_is_known_by_its_content(self):
        self.path("m.onnx").rename(self.path("m.pb"))
        self.converts("m.pb", "-o", "o.onnx")
        self.assertEqual(onnx.load(str(self.path("o.onnx"))), chain())

    def test_nothing_is_left_where_it_fails(self):
        self.path("bad.onnx").write_bytes(b"\x08\x08\x3a\x05ab")
        ended = self.vernier("convert", "bad.onnx", "-o", "o.onnx")
        self.assertEqual(ended.code, 3)
        ended = self.vernier("convert", "m.onnx", "-o", "o.onnx", "--onnx-outputs", "nosuch")
        self.assertEqual(ended.code, 1)
        self.assertFalse(self.path("o.onnx").exists())

    def test_an_engines_option_does_not_pass_in_silence(self):
        ended = self.converts("m.onnx", "-o", "o.onnx", "--fp16")
        self.assertIn("[W] --fp16 has no effect on an ONNX file: --fp-to-fp16 converts its tensors",
                      ended.out)

    def test_idle_options_of_inputs_and_tensorflow_are_named(self):
        ended = self.converts("m.onnx", "-o", "o.onnx", "--seed", "1", "--opset", "13")
        for said in ("--seed has no effect on an ONNX file",
                     "--opset has no effect on a model that is not TensorFlow's"):
            self.assertIn(f"[W] {said}", ended.out)

    def test_sizes_for_an_onnx_file_are_refused(self):
        for given in (("--dim", "nosuch=4"), ("--input-shapes", "x:[1]", "x:[2]")):
            ended = self.vernier("convert", "m.onnx", "-o", "c.onnx", *given)
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn(f"{given[0]} has no effect on an ONNX file", ended.out + ended.err)
            self.assertFalse(self.path("c.onnx").exists())
        ended = self.converts("m.onnx", "-o", "c.onnx", "--input-shapes", "x:[1]", "--lenient")
        self.assertIn("[W] --input-shapes has no effect on an ONNX file", ended.out)

    def test_an_engine_that_cannot_be_built_is_one_sentence(self):
        ended = self.vernier("convert", "m.onnx", "-o", "o.engine", "--trt-lib", "/nonexistent")
        self.assertEqual(ended.code, 5, ended.err)
        self.assertEqual(ended.err.count("[!]"), 1, ended.err)
        self.assertFalse(self.path("o.engine").exists())

    def test_weights_that_do_not_fit_their_shape(self):
        def damaged(dims, **values):
            tensor = TensorProto(name="damaged", data_type=TensorProto.FLOAT, dims=dims)
            for field, data in values.items():
                if field == "raw_data":
                    tensor.raw_data = data
                else:
                    getattr(tensor, field).extend(data)
            return tensor

        for tensor, said in (
                (damaged([3], raw_data=bytes(5)),
                 "its values are 5 bytes, but float32 (3,) needs 12"),
                (damaged([3], float_data=[1, 2]), "needs 12 bytes, but has 8"),
                (damaged([-3], raw_data=bytes(12)), "its shape (-3,) is impossible"),
                (damaged([2**40, 2**40], raw_data=bytes(12)), "is impossible")):
            made = chain()
            made.graph.initializer.append(tensor)
            inner = chain()
            inner.graph.node.insert(0, helper.make_node("Constant", [], ["k"], "k", value=tensor))
            for broken in (made, inner):
                onnx.save(broken, str(self.path("m.onnx")))
                for words in (["surgeon", "sanitize"], ["surgeon", "extract"],
                              ["surgeon", "insert", "--inputs", "h", "--outputs",
                               "y", "--op", "Neg"],
                              ["convert", "--fp-to-fp16"],
                              ["debug", "precision", "--check", "true"]):
                    split = 2 if words[0] != "convert" else 1
                    ended = self.vernier(*words[:split], "m.onnx", *words[split:], "-o", "o.onnx")
                    with self.subTest(words=words, said=said):
                        self.assertEqual(ended.code, 3, ended.out + ended.err)
                        self.assertIn("'damaged'", ended.err)
                        self.assertIn(said, ended.err)
                        self.assertFalse(self.path("o.onnx").exists())


if __name__ == "__main__":
    unittest.main()
