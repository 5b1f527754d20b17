"""plugin replace: each subgraph that config.yaml lists becomes one node."""

import os

from vernier_worker import scripts, wire

from plugin_patterns import beside_model, pattern_of
from tool_kit import graphsurgeon, load_model, need, refuse, save_model, say


def _replace_by_node(graph, input_tensors, output_tensors, attrs=None, op=None):
    """What a plugin without `replace_with_plugin` gets."""
    for tensor in input_tensors:
        # Readers of nothing but these inputs go: they begin the subgraph.
        begun = [node for node in tensor.outputs
                 if all(any(read is known for known in input_tensors) for read in node.inputs)]
        for node in begun:
            tensor.outputs.remove(node)
    for tensor in output_tensors:
        tensor.inputs.clear()
    made = graph.layer(op=op, inputs=input_tensors, outputs=output_tensors, attrs=attrs)
    graph.cleanup().toposort()
    return made[0].inputs[0]


def _replacement(path):
    """The plugin's own function, or ours."""
    if not os.path.exists(path):
        return _replace_by_node
    try:
        return scripts.find(path, ["replace_with_plugin"], f"'{path}'")[1]
    except wire.Failure as failure:
        if "defines no" not in failure.message:
            say(f"{failure.message}\nIts subgraphs become single nodes.", "W")
        return _replace_by_node


def _tensors(known, names, plugin):
    for name in names:
        if name not in known:
            refuse(f"config.yaml: plugin '{plugin}' names the tensor '{name}', which the model "
                   "does not have", wire.NOT_FOUND)
    return [known[name] for name in names]


def read_config(path):
    yaml = need("yaml", "PyYAML", "reading config.yaml")
    try:
        with open(path, encoding="utf-8") as file:
            plugins = [entry for entry in yaml.safe_load_all(file) if entry is not None]
    except OSError as error:
        refuse(f"'{path}' cannot be read: {error.strerror}; `vernier plugin match` writes it",
               wire.MALFORMED)
    except yaml.YAMLError as error:
        refuse(f"'{path}' is no YAML: {error}", wire.MALFORMED)
    for entry in plugins:
        if not isinstance(entry, dict) or not {"name", "op", "instances"} <= set(entry):
            refuse(f"'{path}': expected name, op and instances in each document, got {entry!r}",
                   wire.MALFORMED)
    return plugins


def replace(graph, plugins, folder):
    """Changes the graph; says how many instances of each plugin were replaced."""
    known = graph.tensors()
    for plugin in plugins:
        function = _replacement(pattern_of(folder, plugin["name"]))
        count = 0
        for instance in plugin["instances"]:
            with scripts.guard(f"replacing by '{plugin['name']}'"):
                count += bool(function(
                    graph=graph, input_tensors=_tensors(known, instance["inputs"], plugin["name"]),
                    output_tensors=_tensors(known, instance["outputs"], plugin["name"]),
                    attrs=instance.get("attributes"), op=plugin["op"]))
        say(f"replaced {count} instances of {plugin['name']} plugin")
        if count != len(plugin["instances"]):
            say(f"Warning: not all instances of {plugin['name']} were replaced!", "W")


def run(options):
    gs = graphsurgeon("replacing subgraphs by plugins")
    graph = gs.import_onnx(load_model(options))
    config = options.value("config") or beside_model(options, "config.yaml")
    replace(graph, read_config(config), os.path.abspath(options.value("plugin_dir")))
    save_model(gs.export_onnx(graph), options.value("output") or
               beside_model(options, "replaced.onnx"), options)
