"""convert --convert-to onnx-like-trt-network: the network that TensorRT's parser makes, for viewers of
ONNX files. The nodes are TensorRT's layers, which no runtime knows."""

import network_text
from network_text import attributes_of, inputs_of, narrow, outputs_of, shape_of
from tool_kit import need, save_model

WHAT = "convert --convert-to onnx-like-trt-network"
OPSET = 11  # as Polygraphy has it; the operators are of none
# ONNX's names of types, where they are not TensorRT's.
TYPES = {"HALF": "FLOAT16", "BF16": "BFLOAT16", "FP8": "FLOAT8E4M3FN", "E8M0": "FLOAT8E8M0",
         "FP4": "FLOAT4E2M1"}
NOTHING = "None"


def plain(trt, value):
    """What an attribute of ONNX can be, of what a layer's can be."""
    import numpy as np
    if isinstance(value, np.ndarray):
        value = value.ravel().tolist()
    if isinstance(value, (list, tuple, trt.Dims, trt.Permutation)):
        try:
            value = list(value)
        except ValueError:  # dimensions that are not known
            value = []
        return value or NOTHING
    if hasattr(value, "__entries") or isinstance(value, trt.ILoop):  # TensorRT's enumerations
        return value.name
    if value is None:
        return NOTHING
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def attribute_of(helper, name, value):
    try:
        return helper.make_attribute(name, value)
    except (TypeError, ValueError):  # a list of what ONNX has no list of
        return helper.make_attribute(name, str(value))


def info_of(onnx, tensor):
    kind = TYPES.get(tensor.dtype.name, tensor.dtype.name)
    number = getattr(onnx.TensorProto, kind, onnx.TensorProto.UNDEFINED)
    return onnx.helper.make_tensor_value_info(tensor.name, number, shape_of(tensor))


def model_of(trt, network):
    import onnx
    infos, nodes = {}, []

    def names_of(tensors):
        for tensor in tensors:
            if tensor.name not in infos:
                infos[tensor.name] = info_of(onnx, tensor)
        return [tensor.name for tensor in tensors]

    inputs = names_of([network.get_input(i) for i in range(network.num_inputs)])
    outputs = names_of([network.get_output(i) for i in range(network.num_outputs)])
    for index in range(network.num_layers):
        layer = narrow(trt, network.get_layer(index))
        node = onnx.helper.make_node(layer.type.name, names_of(inputs_of(layer)),
                                     names_of(outputs_of(layer)), layer.name or None)
        node.attribute.extend(attribute_of(onnx.helper, name, plain(trt, value))
                              for name, value in attributes_of(trt, layer))
        nodes.append(node)
    inner = [info for name, info in infos.items() if name not in {*inputs, *outputs}]
    graph = onnx.helper.make_graph(nodes, network.name or "network",
                                   [infos[name] for name in inputs],
                                   [infos[name] for name in outputs], value_info=inner)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", OPSET)])


def run(options):
    need("onnx", "onnx", WHAT)
    trt, made = network_text.open_network(options, WHAT)
    save_model(model_of(trt, made[1]), options.value("output"), options)
