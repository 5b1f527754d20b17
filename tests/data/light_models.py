"""The `light` topologies of the onnx package with weights worth comparing.

As shipped, every weight is the same constant and every output a single value. Here each weight is
drawn from a seeded normal distribution with He's variance, so that signals keep their size through
the depth, and an output has hundreds of distinct values. Nets whose first dense layer would take
hundreds of megabytes get a smaller picture; their layers are otherwise untouched.
"""

import pathlib

import numpy as np
import onnx
from onnx import numpy_helper, shape_inference

from make_models import IR_VERSION, random_for

# Pixels a side for nets without a pooling window that needs the full map of 224.
REDUCED_SIDE = {"light_bvlc_alexnet": 96, "light_vgg19": 64, "light_zfnet512": 96}


def source_folder():
    return pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"


def constant_shapes(graph):
    """Name of each constant tensor -> its shape: initializers, and ConstantOfShape of one."""
    arrays = {entry.name: numpy_helper.to_array(entry) for entry in graph.initializer}
    shapes = {name: array.shape for name, array in arrays.items()}
    for item in graph.node:
        if item.op_type == "ConstantOfShape":
            shapes[item.output[0]] = tuple(int(d) for d in arrays[item.input[0]])
    return shapes


def reduce_picture(graph, side):
    """Give the network a smaller input: Reshape nodes flatten, dense layers take what comes."""
    data_input(graph).type.tensor_type.shape.dim[2].dim_value = side
    data_input(graph).type.tensor_type.shape.dim[3].dim_value = side
    targets = {item.input[1] for item in graph.node if item.op_type == "Reshape"}
    for entry in graph.initializer:
        if entry.name in targets:
            entry.CopyFrom(numpy_helper.from_array(np.array([1, -1], np.int64), entry.name))


def data_input(graph):
    constants = {entry.name for entry in graph.initializer}
    inputs = [entry for entry in graph.input if entry.name not in constants]
    assert len(inputs) == 1, "a light model has one input that is not a weight"
    return inputs[0]


def flattened_size(model, name):
    inferred = shape_inference.infer_shapes(model, data_prop=True)
    for entry in inferred.graph.value_info:
        if entry.name == name:
            return entry.type.tensor_type.shape.dim[-1].dim_value
    raise ValueError(f"no shape was inferred for '{name}'")


class WeightMaker:
    """Random values for one constant, by the part that it plays for its consumer."""

    def __init__(self, name):
        self.random = random_for(name)

    def normal(self, shape, deviation):
        values = self.random.standard_normal(shape)
        return (values * deviation).astype(np.float32)

    def near_one(self, shape):
        return self.random.uniform(0.8, 1.2, shape).astype(np.float32)

    def make(self, shape, op, index):
        if op == "Conv" and index == 1:
            return self.normal(shape, np.sqrt(2 / np.prod(shape[1:])))
        if op == "Gemm" and index == 1:
            return self.normal(shape, np.sqrt(2 / shape[-1]))
        if op == "BatchNormalization" and index in (1, 4):
            return self.near_one(shape)
        if op in ("Mul", "Unsqueeze to Mul"):
            return self.near_one(shape)
        return self.normal(shape, 0.1)


def role_of(graph, name):
    """(operator, position) of the first consumer; Unsqueeze and Reshape are looked through."""
    for item in graph.node:
        for index, source in enumerate(item.input):
            if source != name:
                continue
            if item.op_type == "Unsqueeze":
                return f"Unsqueeze to {role_of(graph, item.output[0])[0]}", index
            if item.op_type == "Reshape" and index == 0:
                return role_of(graph, item.output[0])
            return item.op_type, index
    return "", 0


def has_weights(op):
    return op in ("Conv", "Gemm", "BatchNormalization", "Mul", "Add") or op.startswith("Unsqueeze")


def dense_shape(model, weight, shape):
    for item in model.graph.node:
        if item.op_type == "Gemm" and item.input[1] == weight:
            return (shape[0], flattened_size(model, item.input[0]))
    return shape


def make_light(path):
    name = path.stem
    model = onnx.load(str(path))
    graph = model.graph
    if name in REDUCED_SIDE:
        reduce_picture(graph, REDUCED_SIDE[name])

    shapes = constant_shapes(graph)
    weights = {}
    maker = WeightMaker(name)
    first_dense = name in REDUCED_SIDE
    for constant, shape in shapes.items():
        op, index = role_of(graph, constant)
        if not has_weights(op):
            continue
        if op == "Gemm" and index == 1 and first_dense and is_first_dense(graph, constant):
            shape = dense_shape(model, constant, shape)
        weights[constant] = maker.make(shape, op, index)
    calm_residual_branches(graph, weights)
    calm_last_layer(graph, weights)

    replace_constants(graph, weights)
    model.ir_version = IR_VERSION
    return model


def is_first_dense(graph, constant):
    return next(item for item in graph.node if item.op_type == "Gemm").input[1] == constant


def calm_last_layer(graph, weights):
    """Keep the last scores small: a saturated softmax would say nothing about what came before."""
    last = next(item for item in reversed(graph.node) if item.op_type in ("Gemm", "Conv"))
    weight = last.input[1]
    for item in graph.node:
        if item.op_type == "Reshape" and item.output[0] == weight:
            weight = item.input[0]
    weights[weight] *= np.float32(0.3)


def calm_residual_branches(graph, weights):
    """Damp what is added to a shortcut: sixteen additions at full size would overflow softmax."""
    added = {source for item in graph.node if item.op_type == "Sum" for source in item.input}
    for item in graph.node:
        if item.op_type == "BatchNormalization" and item.output[0] in added:
            weights[item.input[1]] *= np.float32(0.25)


def replace_constants(graph, weights):
    nodes = [item for item in graph.node if item.output[0] not in weights]
    used = {source for item in nodes for source in item.input}
    kept = [entry for entry in graph.initializer
            if entry.name in used and entry.name not in weights]
    picture = data_input(graph)
    picture_copy = onnx.ValueInfoProto()
    picture_copy.CopyFrom(picture)
    for field, items in (("node", nodes), ("initializer", kept)):
        copies = [type(item).FromString(item.SerializeToString()) for item in items]
        graph.ClearField(field)
        getattr(graph, field).extend(copies)
    graph.initializer.extend(numpy_helper.from_array(array, name)
                             for name, array in weights.items() if name in used)
    graph.ClearField("input")
    graph.input.append(picture_copy)
    graph.ClearField("value_info")


def write_light(folder):
    names = []
    for path in sorted(source_folder().glob("*.onnx")):
        model = make_light(path)
        onnx.checker.check_model(model)
        onnx.save(model, str(pathlib.Path(folder) / path.name))
        names.append(path.stem)
    return names
