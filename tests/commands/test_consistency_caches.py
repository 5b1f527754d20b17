"""vernier check consistency: models with caches, sound and with planted faults."""

import json
import pathlib
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import Case

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "data"))
from causal_models import (CACHED_HEADS, FAULTS, HEAD, LAYERS, causal_model,  # noqa: E402
                           decode)

PROPERTIES = ("prefill-decode", "padded-sequence", "fresh-sequence")
# What each fault breaks: the property, its smallest case and what the detail says. The other faults
# give the same however the model is fed.
SEEN = {
    "position-off-by-one": ("prefill-decode", "token 2 of 8, fed one by one", "output '"),
    "swapped-key-value": ("prefill-decode", "token 2 of 8, fed one by one", "output '"),
    "cache-not-reset": ("prefill-decode", "token 2 of 8, fed one by one", "output '"),
    "transposed-cache": ("prefill-decode", "token 1 of 8, fed one by one", "output 'present.1.key"),
    "padding-not-masked": ("padded-sequence", "8 tokens with 3 tokens of padding on the left",
                           "output '"),
}


def shapes_of(batch, tokens, past=4):
    """Words of --input-shapes."""
    shapes = [f"{name}:[{batch},{tokens}]" for name in ("input_ids", "position_ids")]
    shapes.append(f"attention_mask:[{batch},{past + tokens}]")
    return shapes + [f"past_key_values.{layer}.{part}:[{batch},{CACHED_HEADS},{past},{HEAD}]"
                     for layer in range(LAYERS) for part in ("key", "value")]


class States(Case):
    """A recurrent network whose states are [layers, batch, size]."""

    def check(self, mixes, *words, scaled=False):
        new = ["Add", ["h", "x"], ["hn"]]
        nodes = [helper.make_node(*new)]
        if scaled:
            nodes = [helper.make_node("DynamicQuantizeLinear", ["h"], ["q", "s", "z"]),
                     helper.make_node("DequantizeLinear", ["q", "s", "z"], ["hq"]),
                     helper.make_node("Add", ["hq", "x"], ["hn"])]
        if mixes:  # as if the batch were the first axis
            nodes = [helper.make_node("Shape", ["h"], ["shape"]),
                     helper.make_node("Reshape", ["h", "turned"], ["across"]),
                     helper.make_node("Transpose", ["across"], ["moved"], perm=[1, 0, 2]),
                     helper.make_node("Reshape", ["moved", "shape"], ["back"]),
                     helper.make_node("Add", ["back", "x"], ["hn"])]
        nodes.append(helper.make_node("ReduceSum", ["hn", "axes"], ["y"], keepdims=0))
        infos = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                 for name, shape in (("x", ["batch", 4]), ("h", [2, "batch", 4]),
                                     ("y", ["batch"]), ("hn", [2, "batch", 4]))}
        graph = helper.make_graph(
            nodes, "g", [infos["x"], infos["h"]], [infos["y"], infos["hn"]],
            [numpy_helper.from_array(np.array([0, 2], "i8"), "axes"),
             numpy_helper.from_array(np.array([-1, 2, 4], "i8"), "turned")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))
        ended = self.vernier("check", "consistency", "m.onnx", "--onnxrt", "--only",
                             "permuted-rows", "permuted-states", "--save-record", "record.json",
                             *words)
        record = json.loads(self.path("record.json").read_text())
        return ended, {p["name"]: p for p in record["runners"][0]["properties"]}

    def test_states_that_keep_sequences_apart_hold(self):
        ended, properties = self.check(mixes=False)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual(properties["permuted-rows"]["verdict"], "not applicable")
        self.assertEqual(properties["permuted-states"]["verdict"], "holds", ended.out)
        self.assertIn("4 batches", ended.out)

    def test_a_state_that_is_reshaped_across_the_batch_is_named(self):
        ended, properties = self.check(mixes=True)
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        found = properties["permuted-states"]
        self.assertEqual(found["verdict"], "broken")
        self.assertIn("of a batch of 3", found["smallest_case"])


    def test_a_batch_that_is_given_is_not_tried(self):
        ended, properties = self.check(False, "--dim", "batch=1")
        found = properties["permuted-states"]
        self.assertEqual(found["verdict"], "not applicable", ended.out + ended.err)
        self.assertIn("fewer than 3 sequences along axis", found["detail"])

    def test_sequences_that_share_a_dynamic_scale_are_not_tried(self):
        ended, properties = self.check(False, scaled=True)
        found = properties["permuted-states"]
        self.assertEqual(found["verdict"], "not applicable", ended.out + ended.err)
        self.assertIn("(DynamicQuantizeLinear) takes one scale for all rows", found["detail"])


class Caches(Case):
    def check(self, fault, *words, runner="--onnxrt"):
        onnx.save(causal_model(fault), str(self.path("m.onnx")))
        ended = self.vernier("check", "consistency", "m.onnx", runner, "--only", *PROPERTIES,
                             "--save-record", "record.json", *words)
        record = json.loads(self.path("record.json").read_text())
        return ended, {p["name"]: p for p in record["runners"][0]["properties"]}

    def assert_holds(self, ended, properties):
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual({name: p["verdict"] for name, p in properties.items()},
                         dict.fromkeys(PROPERTIES, "holds"), ended.out)

    def test_a_sound_model_is_consistent(self):
        ended, properties = self.check(None)
        self.assert_holds(ended, properties)
        self.assertRegex(properties["prefill-decode"]["detail"], "^11 inferences, ")

    def test_each_fault_that_can_be_seen_is_named_by_its_property(self):
        for fault in FAULTS:
            with self.subTest(fault):
                ended, properties = self.check(fault)
                broken = [name for name, p in properties.items() if p["verdict"] == "broken"]
                if fault not in SEEN:
                    self.assertEqual((ended.code, broken), (0, []), ended.out + ended.err)
                    continue
                name, smallest, says = SEEN[fault]
                also = ["padded-sequence"] if fault == "transposed-cache" else []
                self.assertEqual((ended.code, broken), (1, [name, *also]), ended.out + ended.err)
                self.assertEqual(properties[name]["smallest_case"], smallest)
                self.assertIn(says, properties[name]["detail"])

    def handed_out(self, op, inputs, **attributes):
        """Properties of the model whose present.1.key is made by this node of its keys."""
        model = causal_model()
        for node in model.graph.node:
            for names in (node.input, node.output):
                names[:] = ["keys" if name == "present.1.key" else name for name in names]
        model.graph.node.append(helper.make_node(op, inputs, ["present.1.key"], **attributes))
        (output,) = [value for value in model.graph.output if value.name == "present.1.key"]
        for axis, dim in enumerate(output.type.tensor_type.shape.dim):
            dim.dim_param = f"key{axis}"
        onnx.save(model, str(self.path("m.onnx")))
        ended = self.vernier("check", "consistency", "m.onnx", "--onnxrt", "--only", *PROPERTIES,
                             "--save-record", "record.json", "--input-shapes", *shapes_of(1, 2))
        record = json.loads(self.path("record.json").read_text())
        return ended, {p["name"]: p for p in record["runners"][0]["properties"]}

    def test_a_cache_whose_axes_are_in_another_order_cannot_be_fed_back(self):
        for order, shape in (((0, 2, 1, 3), "(1, 6, 2, 8)"), ((0, 1, 3, 2), "(1, 2, 8, 6)")):
            with self.subTest(order):
                ended, properties = self.handed_out("Transpose", ["keys"], perm=order)
                self.assertEqual(ended.code, 1, ended.out + ended.err)
                verdicts = [properties[name]["verdict"] for name in PROPERTIES]
                self.assertEqual(verdicts, ["broken", "not applicable", "not applicable"])
                self.assertEqual(
                    properties["prefill-decode"]["detail"], "output 'present.1.key' cannot be fed "
                    f"back: its shape {shape} has the axes of input 'past_key_values.1.key' "
                    "(1, 2, 4, 8) in another order")

    def test_a_cache_of_other_sizes_is_not_tried(self):
        ended, properties = self.handed_out("Concat", ["keys", "keys"], axis=0)
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        for found in properties.values():
            self.assertEqual(found["verdict"], "not applicable")
            self.assertIn("'present.1.key' has the shape (2, 2, 6, 8) where the input",
                          found["detail"])

    def masked(self, fault, name, kind, *nodes):
        """The model with a mask of another type, of which `nodes` (operator, attributes) make the
        integers that it had."""
        model = causal_model(fault)
        (mask,) = [value for value in model.graph.input if value.name == "attention_mask"]
        mask.name, mask.type.tensor_type.elem_type = name, kind
        before = name
        for place, (op, attributes) in enumerate(nodes):
            after = "attention_mask" if place + 1 == len(nodes) else f"mask{place}"
            model.graph.node.insert(place, helper.make_node(op, [before], [after], **attributes))
            before = after
        onnx.checker.check_model(model)
        onnx.save(model, str(self.path("m.onnx")))
        ended = self.vernier("check", "consistency", "m.onnx", "--onnxrt", "--only", *PROPERTIES,
                             "--save-record", "record.json")
        record = json.loads(self.path("record.json").read_text())
        return ended, {p["name"]: p for p in record["runners"][0]["properties"]}

    def test_a_mask_that_is_1_at_padding_is_no_fault(self):
        nodes = ("Not", {}), ("Cast", {"to": TensorProto.INT64})
        words = "key_padding_mask", TensorProto.BOOL, *nodes
        ended, properties = self.masked(None, *words)
        self.assert_holds(ended, properties)
        for name in ("prefill-decode", "padded-sequence"):
            self.assertIn("; 0 in 'key_padding_mask' was taken for a real token, since tokens "
                          "where it is 1 change no others, as padding", properties[name]["detail"])
        for fault in ("position-off-by-one", "swapped-key-value", "cache-not-reset"):
            ended, properties = self.masked(fault, *words)
            self.assertEqual(ended.code, 1, ended.out + ended.err)
            found = properties["prefill-decode"]
            self.assertEqual(found["verdict"], "broken", fault)
            self.assertIn("; 0 in 'key_padding_mask' was taken for a real token", found["detail"])

    def test_what_was_assumed_of_a_mask_that_hides_nothing_is_named(self):
        ended, properties = self.check("padding-not-masked")
        self.assertIn("; 1 in 'attention_mask' was taken for a real token, although tokens where "
                      "it is 0 change others, and so do those where it is 1",
                      properties["padded-sequence"]["detail"])
        ended, properties = self.check("position-off-by-one")
        self.assertTrue(properties["prefill-decode"]["detail"].endswith(
            "; 1 in 'attention_mask' was taken for a real token"), properties)

    def test_a_mask_that_forgets_cached_padding_is_found(self):
        past = numpy_helper.from_array(np.array([0, 2], "i8"))
        nodes = [("Shape", ["past_key_values.0.key"], ["shape"], {}),
                 ("Constant", [], ["axes"], {"value": past}),
                 ("Gather", ["shape", "axes"], ["size"], {}),
                 ("ConstantOfShape", ["size"], ["seen"],
                  {"value": numpy_helper.from_array(np.array([1], "i8"))}),
                 ("Constant", [], ["second"],
                  {"value": numpy_helper.from_array(np.array([1], "i8"))}),
                 ("Gather", ["size", "second"], ["start"], {}),
                 ("Constant", [], ["end"],
                  {"value": numpy_helper.from_array(np.array([2 ** 31], "i8"))}),
                 ("Slice", ["given", "start", "end", "second"], ["own"], {}),
                 ("Concat", ["seen", "own"], ["attention_mask"], {"axis": 1})]
        model = causal_model()
        (mask,) = [value for value in model.graph.input if value.name == "attention_mask"]
        mask.name = "given_mask"
        nodes[7][1][0] = mask.name
        for place, (op, before, after, attributes) in enumerate(nodes):
            node = helper.make_node(op, before, after, **attributes)
            model.graph.node.insert(place, node)
        onnx.checker.check_model(model)
        onnx.save(model, str(self.path("m.onnx")))
        ended = self.vernier("check", "consistency", "m.onnx", "--onnxrt", "--only", *PROPERTIES,
                             "--save-record", "record.json")
        record = json.loads(self.path("record.json").read_text())
        found = {p["name"]: p for p in record["runners"][0]["properties"]}
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertEqual(found["prefill-decode"]["verdict"], "holds", ended.out)
        self.assertEqual(found["padded-sequence"]["smallest_case"], "token 7 of 8, fed after a "
                         "cache with 3 tokens of padding on the left")

    def test_padding_is_not_tried_with_a_mask_of_floats(self):
        ended, properties = self.masked(None, "attention_mask_f", TensorProto.FLOAT,
                                        ("Cast", {"to": TensorProto.INT64}))
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("NOT TRIED | padded-sequence | the mask 'attention_mask_f' holds floats, and "
                      "nothing says which of them exclude padding", ended.out)
        self.assertEqual(properties["prefill-decode"]["verdict"], "holds")

    def test_given_tokens_are_taken(self):
        for runner in ("--onnxrt", "--openvino"):
            with self.subTest(runner):
                ended, properties = self.check(None, "--input-shapes", *shapes_of(2, 5),
                                               runner=runner)
                self.assert_holds(ended, properties)
                self.assertIn("5 tokens at once", properties["prefill-decode"]["detail"])

    def test_sizes_that_do_not_fit_together_hide_no_caches(self):
        # Without inputs the mask is one column long. OpenVINO broadcasts it, whatever the past is.
        for fault in (None, "swapped-key-value", "position-off-by-one"):
            with self.subTest(fault):
                ended, properties = self.check(fault, runner="--openvino")
                if fault is None:
                    self.assert_holds(ended, properties)
                    continue
                self.assertEqual(ended.code, 1, ended.out + ended.err)
                found = properties["prefill-decode"]
                self.assertEqual(found["verdict"], "broken", found["detail"])
                self.assertEqual(found["smallest_case"], SEEN[fault][1])

    def sweep(self, keeps_names, refused=None):
        """shape-sweep of the sound model; it does not run with `refused` cached tokens."""
        model = causal_model()
        for value in [] if keeps_names else [*model.graph.input, *model.graph.output]:
            for dim in value.type.tensor_type.shape.dim:
                dim.ClearField("dim_param")
        if refused is not None:
            (logits,) = [node for node in model.graph.node if "logits" in node.output]
            logits.output[0] = "bare"
            model.graph.initializer.extend(
                [numpy_helper.from_array(np.array([refused], "i8"), "refused"),
                 numpy_helper.from_array(np.array([2], "i8"), "third"),
                 numpy_helper.from_array(np.array([0], "f4"), "room")])
            model.graph.node.extend(
                [helper.make_node("Shape", ["past_key_values.0.key"], ["cached_shape"]),
                 helper.make_node("Gather", ["cached_shape", "third"], ["cached"]),
                 helper.make_node("Equal", ["cached", "refused"], ["full"]),
                 helper.make_node("Cast", ["full"], ["place"], to=TensorProto.INT64),
                 helper.make_node("Gather", ["room", "place"], ["zero"], "no_room"),
                 helper.make_node("Add", ["bare", "zero"], ["logits"])])
        onnx.save(model, str(self.path("m.onnx")))
        ended = self.vernier("check", "consistency", "m.onnx", "--onnxrt", "--only", "shape-sweep",
                             "--save-record", "record.json")
        record = json.loads(self.path("record.json").read_text())
        return ended, record["runners"][0]["properties"][0]

    def test_sizes_follow_from_those_of_the_caches(self):
        for keeps_names, how in ((True, "'past + tokens' as large as 'tokens' and 'past' together"),
                                 (False, "20 shapes, the same bits; tokens behind cached ones")):
            with self.subTest(keeps_names=keeps_names):
                ended, found = self.sweep(keeps_names)
                self.assertEqual((ended.code, found["verdict"]), (0, "holds"), ended.out)
                self.assertIn(how, found["detail"])
        ended, found = self.sweep(False, 3)
        self.assertEqual(ended.code, 1, ended.out + ended.err)
        self.assertEqual(found["smallest_case"], "1 token behind 3 cached ones")

    def test_one_given_token_is_too_few(self):
        ended, properties = self.check(None, "--input-shapes", *shapes_of(1, 1))
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        for found in properties.values():
            self.assertEqual(found["verdict"], "not applicable")
            self.assertIn("the inputs have one token", found["detail"])

    def test_one_scale_for_all_tokens_is_no_fault(self):
        model = causal_model()
        model.graph.node.append(onnx.helper.make_node(
            "DynamicQuantizeLinear", ["logits"], ["q", "scale", "zero"], "quantise"))
        onnx.save(model, str(self.path("m.onnx")))
        ended = self.vernier("check", "consistency", "m.onnx", "--onnxrt", "--only", *PROPERTIES)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        for name in ("prefill-decode", "padded-sequence"):
            self.assertIn(f"NOT TRIED | {name} | node 'quantise' (DynamicQuantizeLinear) takes one "
                          "scale for all tokens at once", ended.out)
        self.assertIn("PASSED | fresh-sequence", ended.out)

    def test_a_model_without_caches_is_not_tried(self):
        self.save_model("m.onnx", "Identity", ["n", 3])
        ended = self.vernier("check", "consistency", "m.onnx", "--onnxrt", "--only",
                             "prefill-decode")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("NOT TRIED | prefill-decode | the model takes no caches: no output is called "
                      "like an input", ended.out)

    def test_a_runner_that_does_not_declare_its_outputs_may_have_caches(self):
        self.path("m.py").write_text(
            "import numpy as np\n\ndef infer(feed):\n"
            "    return {'y': feed['x'], 'present': np.append(feed['past'], feed['x'], 1)}\n")
        names = ("prefill-decode", "padded-sequence", "fresh-sequence")
        ended = self.vernier("check", "consistency", "--model-runner", "m.py", "--python",
                             sys.executable, "--input-shapes", "x:[1,2]", "past:[1,3]", "--only",
                             *names)
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        for name in names:
            self.assertIn(f"NOT TRIED | {name} | the runner does not declare its outputs, so "
                          "caches among them are not known: `vernier run --steps N --feed-back "
                          "OUTPUT:INPUT` compares them with another runner's", ended.out)

    def test_the_generated_model_itself_is_sound(self):
        import onnxruntime
        session = onnxruntime.InferenceSession(causal_model().SerializeToString(),
                                               providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]

        def infer(feed):
            return dict(zip(names, session.run(None, feed)))

        tokens = np.random.default_rng(7).integers(0, 64, (2, 8))
        whole, caches = decode(infer, tokens, 8)
        for chunk in (1, 3):
            logits, found = decode(infer, tokens, chunk)
            np.testing.assert_allclose(logits, whole, atol=1e-5)
            for name, cache in caches.items():
                np.testing.assert_allclose(found[name], cache, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
