"""inspect model --display-as trt: the network that TensorRT's parser makes, in Polygraphy's lines."""

import ctypes
import os
import sys

from vernier_worker import scripts

from tool_kit import need, say

RUNNERS = os.path.join(os.path.dirname(scripts.OWN_FOLDER), "runners")
TAB = "    "
# Polygraphy's names of types, where they are not TensorRT's in small letters.
TYPES = {"FLOAT": "float32", "HALF": "float16", "BF16": "bfloat16", "FP8": "float8e4m3fn",
         "E8M0": "float8e8m0", "FP4": "float4"}
# Layers whose class is not called as their type is.
CLASSES = {"CONDITIONAL_INPUT": "IIfConditionalInputLayer",
           "CONDITIONAL_OUTPUT": "IIfConditionalOutputLayer"}
# Attributes that are not those of a layer as it is.
OF_TWO_DIMENSIONS = ("padding", "stride", "window_size")
WITH_INPUTS = {"RESIZE": ("scales",), "SLICE": ("shape", "start", "stride")}


def indent(text, levels=1):
    tab = TAB * levels
    return tab + ("\n" + tab).join(str(text).splitlines())


def type_of(dtype):
    return TYPES.get(dtype.name, dtype.name.lower())


def shape_of(tensor):
    """None where TensorRT does not know the rank: then it raises."""
    try:
        return tuple(tensor.shape)
    except ValueError:
        return None


def describe(tensors):
    words = []
    for tensor in tensors:
        shape = shape_of(tensor)
        details = f"dtype={type_of(tensor.dtype)}" + ("" if shape is None else f", shape={shape}")
        words.append(f"{tensor.name} [{details}]")
    return "{" + ",\n ".join(words) + "}"


def known(tensors):
    return [tensor for tensor in tensors if tensor is not None]


def inputs_of(layer):
    return known(layer.get_input(i) for i in range(layer.num_inputs))


def outputs_of(layer):
    return known(layer.get_output(i) for i in range(layer.num_outputs))


def narrow(trt, layer):
    """TensorRT hands out layers as ILayer; their class has the attributes."""
    kind = layer.type.name
    wanted = CLASSES.get(kind, "I" + kind.replace("_", "") + "Layer").lower()
    for name, found in vars(trt).items():
        if name.lower() == wanted:
            layer.__class__ = found
    return layer


def attributes_of(trt, layer):
    """Names and values of what is the layer's own."""
    hidden = set(WITH_INPUTS.get(layer.type.name, ()) if layer.num_inputs > 1 else ())
    if layer.type.name in ("POOLING", "CONVOLUTION", "DECONVOLUTION"):
        shape = shape_of(layer.get_input(0))
        hidden.update(OF_TWO_DIMENSIONS if shape is not None and len(shape) > 4 else ())
    for name in dir(layer):
        if name.startswith("__") or hasattr(trt.ILayer, name) or name in hidden:
            continue
        try:
            yield name, getattr(layer, name)
        except Exception as error:  # TensorRT's own, of settings that exclude each other
            yield name, f"<Error: could not retrieve attribute '{name}': {error}>"


def layer_text(index, layer):
    given, made = inputs_of(layer), outputs_of(layer)
    both = bool(given and made)
    outputs = indent(describe(made), int(both)).strip()
    return (f"Layer {index:<4} | {layer.name} [Op: {layer.type}]\n" + indent(describe(given))
            + ("\n" if both else "") + indent(f" -> {outputs}", int(both)) + "\n")


def attribute_lines(trt, layer, weights):
    attributes = list(attributes_of(trt, layer))
    lines = [indent("---- Attributes ----")] if attributes else []
    for name, value in attributes:
        if value is None or type(value).__name__ == "ndarray" and not weights:
            continue
        lines.append(indent(f"{layer.name}.{name} = {value}" if layer.name else f"{name} = {value}"))
    return "".join(line + "\n" for line in lines)


def section(what, tensors):
    return f"---- {len(tensors)} Network {what}(s) ----\n{describe(tensors)}\n\n"


def network_text(trt, network, show):
    flag = getattr(trt.NetworkDefinitionCreationFlag, "STRONGLY_TYPED", None)
    typed = flag is not None and hasattr(network, "get_flag") and network.get_flag(flag)
    batch = "Implicit" if getattr(network, "has_implicit_batch_dimension", False) else "Explicit"
    text = f"Name: {network.name} | {batch} Batch{' Strongly Typed' if typed else ''} Network\n\n"
    text += section("Input", [network.get_input(i) for i in range(network.num_inputs)])
    text += section("Output", [network.get_output(i) for i in range(network.num_outputs)])
    text += f"---- {network.num_layers} Layer(s) ----\n"
    for index in range(network.num_layers if "layers" in show else 0):
        layer = narrow(trt, network.get_layer(index))
        text += layer_text(index, layer)
        if "attrs" in show:
            text += attribute_lines(trt, layer, "weights" in show)
        text += "\n"
    return text.strip()


def script_of(path):
    """File and function ("" where none is named) of FILE.py[:FUNCTION]; None for other files."""
    script, dot, function = path.rpartition(".py:")
    if dot:
        return script + ".py", function
    return (path, "") if path.endswith(".py") else None


def load(trt, options):
    """Builder, network and parser, which have to live together."""
    import trt_network
    import trt_options
    from tensorrt_model import make_logger
    path = options.value("model_source") or options.value("model_file")
    lists = {key: ["\n".join(options.words(key)) or "1"] for key in options.keys()}
    script = script_of(path)
    if script is not None or options.value("model_type") == "trt-network-script":
        file, function = script or (path, "")
        if function:
            lists["model_extra"] = [function]
        made = trt_network.from_script(file, trt_options.Options(lists))
    else:
        logger = make_logger(trt)
        trt.init_libnvinfer_plugins(logger, "")
        builder = trt.Builder(logger)
        asked = trt_options.Options(lists)
        network = trt_network.create(trt, builder, asked)
        made = builder, network, trt_network.parse(trt, network, logger, path, None, asked), logger
    trt_network.edit(trt, made[1], trt_options.Options(lists))
    return made


def open_network(options, what):
    """TensorRT's module, and what load() gives."""
    if RUNNERS not in sys.path:
        sys.path.insert(0, RUNNERS)
    trt = need("tensorrt", "tensorrt", what)
    for path in options.words("plugins"):
        ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    return trt, load(trt, options)


def run(options):
    trt, made = open_network(options, "inspect model --display-as trt")
    say("==== TensorRT Network ====\n" + network_text(trt, made[1], options.words("show")))
