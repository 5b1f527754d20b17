"""A network of TensorRT's Python interface from an ONNX file, with what options change of it."""

from vernier_worker import scripts, wire

import trt_report
from trt_options import data_type, mask, member, missing, refuse, select, split_named


def major(trt):
    return int(trt.__version__.split(".")[0])


def user_function(word, name, option):
    """FILE[:FUNCTION], with the function that Polygraphy takes where none is named."""
    path, dot, rest = word.rpartition(".py")
    function = rest[1:] if dot and rest.startswith(":") else ""
    path = path + dot if dot else word
    found, symbol = scripts.find(path, [function or name], f"{option}: {path}")
    return scripts.instance(symbol), f"{path}:{found}"


def call(function, where, *arguments, **keywords):
    with scripts.guard(where):
        return function(*arguments, **keywords)


def create(trt, builder, options):
    flags = 0
    kinds = trt.NetworkDefinitionCreationFlag
    if major(trt) < 10:
        flags |= 1 << int(kinds.EXPLICIT_BATCH)
    if options.on("strongly_typed"):
        if not hasattr(kinds, "STRONGLY_TYPED"):
            missing("--strongly-typed", trt)
        flags |= 1 << int(kinds.STRONGLY_TYPED)
    network = builder.create_network(flags)
    if options.on("mark_unfused_tensors_as_debug_tensors"):
        if not hasattr(network, "mark_unfused_tensors_as_debug_tensors"):
            missing("--mark-unfused-tensors-as-debug-tensors", trt)
        network.mark_unfused_tensors_as_debug_tensors()
    return network


def set_parser_flags(trt, parser, options):
    words = options.words("onnx_flags")
    compatible = options.on("version_compatible") or options.on("hardware_compatibility_level")
    if not hasattr(trt, "OnnxParserFlag"):
        if words or options.on("plugin_instancenorm"):
            missing("--onnx-flags", trt)
        return
    if words is not None:
        parser.flags = mask(trt, "OnnxParserFlag", words, "--onnx-flags")
    if options.on("plugin_instancenorm"):
        parser.clear_flag(trt.OnnxParserFlag.NATIVE_INSTANCENORM)
    elif compatible:
        parser.set_flag(trt.OnnxParserFlag.NATIVE_INSTANCENORM)


def from_script(path, options):
    """Builder, network and, where it gives one, parser of a script's function."""
    name = options.value("model_extra", "load_network")
    function, where = user_function(f"{path}:{name}", "load_network", "--model-type")
    made = call(function, where)
    made = made if isinstance(made, (tuple, list)) else (made,)
    if len(made) not in (2, 3) or None in made[:2]:
        refuse(f"{where} must return (builder, network) or (builder, network, parser)",
               wire.BACKEND)
    return (*made, None)[:3]


def describe(error, path, model_bytes):
    """A parser's complaint, with the name and operator of its node where Python has onnx."""
    try:
        import onnx
        model = (onnx.load(path, load_external_data=False) if model_bytes is None else
                 onnx.load_from_string(model_bytes))
        node = model.graph.node[error.node()]
        return f"node '{node.name or node.output[0]}' ({node.op_type}): {error.desc()}"
    except Exception:  # what helps to read a message must not hide it
        return str(error)


def parse(trt, network, logger, path, model_bytes, options):
    """The parser, which owns the weights until the engine is built."""
    parser = trt.OnnxParser(network, logger)
    set_parser_flags(trt, parser, options)
    ok = parser.parse_from_file(path) if model_bytes is None else parser.parse(model_bytes, path)
    if not ok:
        errors = [describe(parser.get_error(i), path, model_bytes)
                  for i in range(parser.num_errors)]
        refuse(f"TensorRT cannot parse '{path}': {'; '.join(errors)}", wire.BACKEND)
    return parser


def layers_of(network):
    return [network.get_layer(i) for i in range(network.num_layers)]


def outputs_of(layer):
    tensors = [layer.get_output(i) for i in range(layer.num_outputs)]
    return [tensor for tensor in tensors if tensor is not None]


def marked(network):
    return [network.get_output(i) for i in range(network.num_outputs)]


def inputs_and_outputs(network):
    return [network.get_input(i) for i in range(network.num_inputs)] + marked(network)


def all_tensors(network):
    found = {t.name: t for layer in layers_of(network) for t in outputs_of(layer)}
    found.update((t.name, t) for t in inputs_and_outputs(network))
    return found


def replace_outputs(network, tensors):
    for tensor in marked(network):
        network.unmark_output(tensor)
    for tensor in tensors:
        network.mark_output(tensor)


def every_output(trt, network):
    """All that layers compute, but for shapes, constants and what lies within a loop."""
    kinds, chosen, in_loop = trt.LayerType, [], False
    starts = (kinds.TRIP_LIMIT, kinds.ITERATOR, kinds.RECURRENCE)
    for layer in layers_of(network):
        in_loop = in_loop or layer.type in starts
        if layer.type == kinds.LOOP_OUTPUT:
            in_loop = False
        if not in_loop and layer.type not in (kinds.SHAPE, kinds.CONSTANT):
            chosen += outputs_of(layer)
    return chosen


def mark_outputs(trt, network, options):
    words = options.words("trt_outputs")
    tensors = all_tensors(network)
    if words in (["*"], ["mark", "all"]):
        replace_outputs(network, every_output(trt, network))
    elif words is not None:
        names = select(list(tensors), words, "--trt-outputs")
        if not names:
            refuse("--trt-outputs: No outputs were selected.")
        replace_outputs(network, [tensors[name] for name in names])
    types = options.words("trt_outputs_by_type")
    if types is not None:
        kinds = [member(trt, "LayerType", word, "--trt-outputs-by-type") for word in types]
        chosen = [t for layer in layers_of(network) if layer.type in kinds
                  for t in outputs_of(layer)]
        if chosen:
            replace_outputs(network, chosen)
    for name in select([t.name for t in marked(network)],
                       options.words("trt_exclude_outputs") or [], "--trt-exclude-outputs"):
        network.unmark_output(tensors[name])


def set_node_precisions(trt, network, options):
    """Precisions of the layers that make these tensors: each is a node's of the model, and what lies
    between the layers of one node has a name of TensorRT's."""
    words = options.words("node_precisions") or []
    if not words:
        return
    makers = {layer.get_output(i).name: layer for layer in layers_of(network)
              for i in range(layer.num_outputs)}
    types = [getattr(trt.DataType, name) for name in ("FLOAT", "HALF", "INT8")]
    for word in words:
        name, kind = split_named(word, "node precisions")
        names = [name]
        for tensor in names:
            layer = makers.get(tensor)
            if layer is None:
                continue
            made = [layer.get_output(i) for i in range(layer.num_outputs)]
            if layer.type != trt.LayerType.CONSTANT and all(
                    t.dtype in types and t.is_execution_tensor for t in made):
                layer.precision = data_type(trt, kind, "node precisions")
            inputs = [layer.get_input(i) for i in range(layer.num_inputs)]
            names += [t.name for t in inputs if t is not None and t.name not in names
                      and t.name.startswith("(Unnamed Layer*")]


def asked_precisions(network):
    """Names of layers and what they were asked for."""
    return {layer.name: trt_report.type_name(layer.precision) for layer in layers_of(network)
            if getattr(layer, "precision_is_set", False)}


def set_types(trt, network, options):
    set_node_precisions(trt, network, options)
    layers = {layer.name: layer for layer in layers_of(network)}
    for word in options.words("layer_precisions") or []:
        name, kind = split_named(word, "--layer-precisions")
        if name in layers:
            layers[name].precision = data_type(trt, kind, "--layer-precisions")
        else:
            print(f"[W] --layer-precisions: the network has no layer '{name}'")
    tensors = {t.name: t for t in inputs_and_outputs(network)}
    every = options.value("all_tensor_dtypes")
    for tensor in tensors.values() if every else ():
        tensor.dtype = data_type(trt, every, "--all-tensor-dtypes")
    for word in () if every else options.words("tensor_dtypes") or ():
        pattern, kind = split_named(word, "--tensor-dtypes")
        for name in select(list(tensors), [pattern], "--tensor-dtypes"):
            tensors[name].dtype = data_type(trt, kind, "--tensor-dtypes")
    formats = options.words("all_tensor_formats")
    for tensor in tensors.values() if formats else ():
        tensor.allowed_formats = mask(trt, "TensorFormat", formats, "--all-tensor-formats")
    for word in () if formats else options.words("tensor_formats") or ():
        pattern, kinds = split_named(word, "--tensor-formats")
        names = [kind.strip() for kind in kinds.strip("[]").split(",") if kind.strip()]
        for name in select(list(tensors), [pattern], "--tensor-formats"):
            tensors[name].allowed_formats = mask(trt, "TensorFormat", names, "--tensor-formats")


def edit(trt, network, options):
    """In Polygraphy's order: scripts first."""
    for word in options.words("trt_network_postprocess_script") or []:
        option = "--trt-network-postprocess-script"
        function, where = user_function(word, "postprocess", option)
        call(function, where, network=network)
    mark_outputs(trt, network, options)
    set_types(trt, network, options)
    names = options.words("mark_debug")
    if names is None:
        return
    if not hasattr(network, "mark_debug"):
        missing("--mark-debug", trt)
    tensors = all_tensors(network)
    for name in select(list(tensors), names, "--mark-debug"):
        network.mark_debug(tensors[name])
