"""Models for the linter's tests: a faultless one, and for each rule one that breaks it alone."""

import json
import subprocess

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def value(name, shape=(2, 3), dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, None if shape is None else list(shape))


def sequence(name):
    return helper.make_tensor_sequence_value_info(name, FLOAT, None)


def node(op, inputs, outputs, name=None, **more):
    return helper.make_node(op, inputs, outputs, name=f"{op}_of_{outputs[0]}" if name is None else name,
                            **more)


def weight(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def model(nodes, inputs=None, outputs=None, weights=(), opset=17, ir=8, values=(), imports=(),
          functions=()):
    """x goes in and y comes out unless told otherwise."""
    graph = helper.make_graph(nodes, "g", [value("x")] if inputs is None else inputs,
                              [value("y")] if outputs is None else outputs, list(weights),
                              value_info=list(values))
    opsets = [helper.make_opsetid("", opset)] if opset else []
    opsets += [helper.make_opsetid(domain, version) for domain, version in imports]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=ir, functions=list(functions))
    return made


def relu():
    return node("Relu", ["x"], ["y"])


def good():
    return model([node("MatMul", ["x", "w"], ["h"]), node("Relu", ["h"], ["y"])],
                 weights=[weight("w", np.eye(3, dtype="f4"))])


def changed(change):
    """The faultless model with something done to its protobuf."""
    made = good()
    change(made)
    return made


def no_imports(made):
    del made.opset_import[:]


def import_twice(made):
    made.opset_import.append(helper.make_opsetid("", 16))


def metadata_twice(made):
    for text in "ab":
        entry = made.metadata_props.add()
        entry.key, entry.value = "author", text


def nameless_graph(made):
    made.graph.name = ""


def no_ir(made):
    made.ClearField("ir_version")


def future_ir(made):
    made.ir_version = 99


def no_outputs(made):
    del made.graph.output[:]


def untyped_input(made):
    made.graph.input[0].ClearField("type")


def unknown_type(made):
    made.graph.input[0].type.tensor_type.elem_type = 77


def short_weight(made):
    made.graph.initializer[0].raw_data = made.graph.initializer[0].raw_data[:-4]


def values_twice(made):
    made.graph.initializer[0].float_data.extend(range(9))


def beside_a_file(made):
    missing_file(made)
    made.graph.initializer[0].float_data.extend(range(9))


def unknown_weight_type(made):
    made.graph.initializer[0].data_type = 77


def negative_weight(made):
    made.graph.initializer[0].dims[0] = -3


def missing_file(made):
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, text in {"location": "nowhere.bin", "offset": "0", "length": "36"}.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, text


def nameless_input(made):
    made.graph.input.append(value(""))


def nameless_weight(made):
    made.graph.initializer.append(weight("", np.zeros(3, "f4")))


def same_node_name(made):
    for each in made.graph.node:
        each.name = "twin"


def nameless_nodes(made):
    for each in made.graph.node:
        each.name = ""


def no_operator(made):
    made.graph.node[1].op_type = ""


def body(nodes, outputs, name="body"):
    return helper.make_graph(nodes, name, [], outputs)


def branch_model(shadow):
    """An If whose branches use h; with `shadow`, one defines h again."""
    first = node("Identity", ["h"], ["t"])
    branch = [node("Neg", ["x"], ["h"], name="inner"), first] if shadow else [first]
    return model([node("Abs", ["x"], ["h"]),
                  node("If", ["c"], ["y"], then_branch=body(branch, [value("t")]),
                       else_branch=body([node("Neg", ["h"], ["e"])], [value("e")], "other"))],
                 inputs=[value("x"), value("c", (), TensorProto.BOOL)])


def loose_branch():
    made = branch_model(False)
    made.graph.node[1].attribute[0].g.node[0].input[0] = "nobody"
    return made


def idle_in_branch():
    made = branch_model(False)
    made.graph.node[1].attribute[0].g.node.append(node("Abs", ["h"], ["idle"]))
    return made


def weights_of(values):
    return lambda: model([node("Add", ["x", "w"], ["y"])], weights=[weight("w", np.array(values, "f4"))])


def constant(**attribute):
    return model([node("Constant", [], ["w"], **attribute), node("Add", ["x", "w"], ["y"])])


def filled(number):
    """The usual mask: as many values as a shape asks for."""
    return model([node("ConstantOfShape", ["s"], ["w"], value=weight("v", np.array([number], "f4"))),
                  node("Add", ["x", "w"], ["y"])], weights=[weight("s", np.array([2, 3]))])


def own_function():
    """A call of a function of the model, whose domain is not imported."""
    calls = [helper.make_node("Add", ["a", "a"], ["b"])]
    twice = helper.make_function("my.domain", "Twice", ["a"], ["b"], calls, [helper.make_opsetid("", 17)])
    return model([node("Twice", ["x"], ["y"], domain="my.domain")], functions=[twice])


def normalized(op, opset):
    return model([node(op, ["x", "w"], ["y"])], weights=[weight("w", np.ones(3, "f4"))], opset=opset)


def weights_as(dtype, values):
    return model([node("Cast", ["w"], ["c"], to=FLOAT), node("Add", ["x", "c"], ["y"])],
                 weights=[helper.make_tensor("w", dtype, [len(values)], values)])


def factor(op, **attribute):
    return model([node(op, ["x"], ["y"], **attribute)])


# rule -> models that break it and nothing else that is an error.
BROKEN = {
    "opset-import": [lambda: changed(no_imports)],
    "import-twice": [lambda: changed(import_twice)],
    "newer-opset": [lambda: model([relu()], opset=99)],
    "ir-version": [lambda: changed(no_ir), lambda: changed(future_ir)],
    "duplicate-metadata": [lambda: changed(metadata_twice)],
    "graph-name": [lambda: changed(nameless_graph)],
    "no-nodes": [lambda: model([], outputs=[value("x")])],
    "no-outputs": [lambda: changed(no_outputs)],
    "empty-name": [lambda: changed(nameless_input)],
    "unnamed-weight": [lambda: changed(nameless_weight)],
    "unnamed-node": [lambda: changed(nameless_nodes)],
    "duplicate-node-name": [lambda: changed(same_node_name)],
    "duplicate-value": [
        lambda: model([node("Abs", ["x"], ["h"]), node("Neg", ["x"], ["h"]),
                       node("Relu", ["h"], ["y"])]),
        lambda: model([relu()], inputs=[value("x"), value("x")]),
        lambda: model([node("Abs", ["x"], ["x"]), relu()]),
    ],
    "duplicate-weight": [lambda: model([node("Add", ["x", "w"], ["y"])],
                                       weights=[weight("w", np.ones(3, "f4"))] * 2)],
    "duplicate-output": [lambda: model([relu()], outputs=[value("y"), value("y")])],
    "shadowed-name": [lambda: branch_model(True)],
    "dangling-input": [lambda: model([node("Add", ["x", "nobody"], ["y"])]), loose_branch],
    "dangling-output": [lambda: model([relu()], outputs=[value("y"), value("z")])],
    "not-sorted": [lambda: model([node("Relu", ["h"], ["y"]), node("Abs", ["x"], ["h"])])],
    "cycle": [lambda: model([node("Add", ["x", "b"], ["a"]), node("Neg", ["a"], ["b"]),
                             node("Relu", ["b"], ["y"])])],
    "missing-import": [lambda: model([node("Own", ["x"], ["y"], domain="my.domain")]), own_function],
    "unknown-operator": [lambda: model([node("Relux", ["x"], ["y"])]),
                         lambda: changed(no_operator)],
    "custom-operator": [lambda: model([node("Own", ["x"], ["y"], domain="my.domain")],
                                      imports=[("my.domain", 1)])],
    "runtime-operator": [
        lambda: normalized("LayerNormalization", 13), lambda: normalized("SimplifiedLayerNormalization", 17),
        lambda: model([node("ScaledTanh", ["x"], ["y"], alpha=1.0, beta=1.0)], opset=9)],
    "operator-version": [lambda: model([node("Gelu", ["x"], ["y"])]),
                         lambda: model([node("Upsample", ["x", "s"], ["y"])], outputs=[value("y", None)],
                                       weights=[weight("s", np.ones(2, "f4"))])],
    "operator-inputs": [lambda: model([node("Add", ["x"], ["y"])]),
                        lambda: model([node("Relu", ["x", "x"], ["y"])])],
    "operator-outputs": [lambda: model([node("Relu", ["x"], ["y", "z"])])],
    "attribute": [lambda: model([node("Concat", ["x", "x"], ["y"])], outputs=[value("y", None)]),
                  lambda: model([node("Relu", ["x"], ["y"], speed=3)]),
                  lambda: model([node("Softmax", ["x"], ["y"], axis=1.5)])],
    "type-mismatch": [
        lambda: model([node("Add", ["x", "i"], ["y"])],
                      inputs=[value("x"), value("i", dtype=INT64)]),
        lambda: model([node("Not", ["x"], ["y"])], outputs=[value("y", dtype=TensorProto.BOOL)]),
    ],
    "declared-type": [lambda: model([relu()], outputs=[value("y", dtype=INT64)])],
    "shape-mismatch": [
        lambda: model([node("MatMul", ["x", "x"], ["y"])], outputs=[value("y", None)]),
        lambda: model([node("Add", ["x", "w"], ["y"])], weights=[weight("w", np.ones(4, "f4"))]),
        lambda: model([node("Reshape", ["x", "s"], ["y"])], outputs=[value("y", None)],
                      weights=[weight("s", np.array([4, 2]))]),
        lambda: model([node("Concat", ["x", "w"], ["y"], axis=0)], outputs=[value("y", None)],
                      weights=[weight("w", np.ones((2, 4), "f4"))]),
        lambda: model([node("Gemm", ["x", "x"], ["y"])], outputs=[value("y", None)]),
        lambda: model([node("Conv", ["x", "w"], ["y"])], inputs=[value("x", (1, 3, 8, 8))],
                      outputs=[value("y", None)], weights=[weight("w", np.ones((4, 2, 3, 3), "f4"))]),
        lambda: model([node("Transpose", ["x"], ["y"], perm=[0, 1, 2])], outputs=[value("y", None)]),
        lambda: model([node("Softmax", ["x"], ["y"], axis=5)]),
    ],
    "declared-shape": [lambda: model([relu()], outputs=[value("y", (2, 4))]),
                       lambda: model([node("Abs", ["x"], ["h"]), node("Relu", ["h"], ["y"])],
                                     values=[value("h", (3, 2))])],
    "unknown-type": [lambda: changed(untyped_input), lambda: changed(unknown_type),
                     lambda: changed(unknown_weight_type)],
    "input-shape": [lambda: model([relu()], inputs=[value("x", None)])],
    "non-tensor-input": [lambda: model([node("SequenceLength", ["s"], ["y"])], inputs=[sequence("s")],
                                       outputs=[value("y", (), INT64)])],
    "bad-dimension": [lambda: changed(negative_weight)],
    "weight-size": [lambda: changed(short_weight)],
    "weight-fields": [lambda: changed(values_twice), lambda: changed(beside_a_file)],
    "external-data": [lambda: changed(missing_file)],
    "weight-not-input": [lambda: model([node("Add", ["x", "w"], ["y"])], ir=3,
                                       weights=[weight("w", np.ones(3, "f4"))])],
    "unused-node": [lambda: model([relu(), node("Abs", ["x"], ["idle"])]), idle_in_branch],
    "unused-input": [lambda: model([relu()], inputs=[value("x"), value("idle")])],
    "unused-weight": [lambda: model([relu()], weights=[weight("idle", np.ones(3, "f4"))])],
    "unused-import": [lambda: model([relu()], imports=[("com.microsoft", 1)])],
    "float16-overflow": [weights_of([1, 7e4, 3]), lambda: constant(value_float=1e6),
                         lambda: constant(value_floats=[1, -1e6, 1]), lambda: filled(-3.4e38),
                         lambda: weights_as(TensorProto.DOUBLE, [1, 1e300, 1]),
                         lambda: weights_as(TensorProto.BFLOAT16, [1, 1e30, 1]),
                         lambda: factor("LeakyRelu", alpha=1e6), lambda: factor("Selu", gamma=-1e6)],
    "float16-underflow": [weights_of([1, 1e-9, 3]), lambda: constant(value_float=1e-9),
                          lambda: factor("Elu", alpha=1e-9)],
    "non-finite-weight": [weights_of([1, np.nan, np.inf]), lambda: constant(value_float=np.nan),
                          lambda: filled(-np.inf), lambda: factor("LeakyRelu", alpha=np.nan)],
}


# Models that break several rules by nature: what else is told of them.
BESIDE = {
    "missing-import": {"custom-operator"},  # nobody but the model has it
    "no-nodes": {"unused-input"},
    "no-outputs": {"unused-node", "unused-input"},
    "empty-name": {"unused-input"},
    "unnamed-weight": {"unused-weight"},
    "duplicate-value": {"unused-node"},
    "shadowed-name": {"duplicate-value"},
}


def all_models():
    """(name, bytes), the faultless one first."""
    yield "good", good().SerializeToString()
    for rule, makers in BROKEN.items():
        for i, make in enumerate(makers):
            yield f"{rule}-{i}", make().SerializeToString()


def record(program, folder):
    """What Polygraphy's own linter says, which needs onnx_graphsurgeon."""
    described = {}
    for name, raw in all_models():
        model, report = folder / f"{name}.onnx", folder / f"{name}.json"
        model.write_bytes(raw)
        ended = subprocess.run([program, "check", "lint", model, "-o", report], capture_output=True)
        described[name] = {"code": ended.returncode}
        if report.exists():
            said = json.loads(report.read_text())
            described[name] |= {key: sorted(names) for key, names in said["summary"].items()}
            described[name]["entries"] = [[entry["level"], entry["source"], entry.get("nodes", [])]
                                     for entry in said["lint_entries"]]
    return described
