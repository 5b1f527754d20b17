"""multi-device shard: puts collectives around attention layers, or splits weights over ranks."""

import os

from vernier_worker import wire

from attention import find_attention
from collectives import Chain, Names
from shard_hints import build_hints, read_hints
from tool_kit import graphsurgeon, load_model, refuse, save_model, say
from weight_split import WeightSplit


class ContextParallel:
    """Every device has a part of the sequence: K and V are gathered, inputs scattered."""

    def __init__(self, graph, hints, names):
        self.graph, self.hints, self.names = graph, hints, names

    def _chain(self, tensor, axis=0, rank=None):
        return Chain(tensor, self.graph, self.names, self.hints["dist_collectives"], axis, rank)

    def _tensor(self, known, name):
        if name not in known:
            refuse(f"the hints name the tensor '{name}', which the model does not have",
                   wire.NOT_FOUND)
        return known[name]

    def _scatter_inputs(self):
        """What each tensor is called from now on."""
        known = self.graph.tensors()
        called = {name: name for name in known}
        for entry in self.hints["inputs"]:
            chain = self._chain(self._tensor(known, entry["name"]), entry["seq_len_idx"],
                                entry.get("rank"))
            called[entry["name"]] = chain.exchange_along_axis("reduce_scatter").name
        return called

    def _gather_outputs(self):
        known = self.graph.tensors()
        for entry in self.hints["outputs"]:
            self._chain(self._tensor(known, entry["name"]), entry["seq_len_idx"],
                        entry.get("rank")).exchange_along_axis("all_gather")

    def _gather_around(self, match, layer):
        """True where what is gathered is Q as well."""
        first, second = match["MatMul1"].onnx_node, match["MatMul2"].onnx_node
        q, k, v = first.inputs[0], first.inputs[1], second.inputs[1]
        rank = self.hints["kv_rank"]
        wanted = [(q, layer["gather_q"], None, None),
                  (k, layer["gather_kv"], self.hints["k_seq_len_idx"], rank),
                  (v, layer["gather_kv"], self.hints["v_seq_len_idx"], rank)]
        done = set()
        for tensor, gathers, axis, tensor_rank in wanted:
            if gathers and tensor.name not in done:
                self._chain(tensor, axis, tensor_rank).exchange_along_axis("all_gather")
                done.add(tensor.name)
        return layer["gather_kv"] and (q == k or q == v)

    def _fuse(self, match, replacement):
        """One Attention node in place of the layer."""
        gs = graphsurgeon("sharding")
        first, second = match["MatMul1"].onnx_node, match["MatMul2"].onnx_node
        tensors = match.inputs[:3]
        for tensor, reader in zip(tensors, (first, first, second)):
            tensor.outputs.remove(reader)
        output = match.outputs[0]
        output.inputs.remove(second)
        read = []
        for tensor, key in zip(tensors, ("q_shuffle", "k_shuffle", "v_shuffle")):
            chain = self._chain(tensor)
            if replacement.get(key):
                chain.transpose(replacement[key])
            read.append(chain.tail)
        attrs = {"is_causal": int(replacement["is_causal"]), "scale": 1.0, "TRT_decomposable": 0,
                 "nb_rank": int(replacement.get("nb_rank") or 1)}
        node = gs.Node(op="Attention", name=self.names.next(), inputs=read, outputs=[output],
                       attrs=attrs)
        self.graph.nodes.insert(0, node)

    def shard(self, pattern):
        layers = self.hints["attention_layers"]
        gathered = any(layer["gather_q"] for layer in layers)
        called = self._scatter_inputs()
        matches = list(find_attention(self.graph, pattern))
        say(f"Found {len(matches)} attention pattern matches in the graph.")
        pairs = [(layer, match) for layer in layers for match in matches
                 if match.inputs[0].name == called.get(layer["q"])]
        paired = {layer["q"] for layer, _ in pairs}
        for layer in layers:
            if layer["q"] not in paired:
                say(f"no attention layer has the Q tensor '{layer['q']}' that the hints name", "W")
        for layer, match in pairs:
            say(f"Processing attention layer: q={layer['q']}, gather_q={layer['gather_q']}, "
                f"gather_kv={layer['gather_kv']}")
            if layer.get("replace"):
                self._fuse(match, layer["replace"])
            else:
                gathered |= self._gather_around(match, layer)
        if not gathered:
            self._gather_outputs()


def _name_nodes(graph, names):
    seen = set()
    for node in graph.nodes:
        if node.name in seen:
            name = names.next(node.name)
            say(f"Duplicate node name '{node.name}' renamed to '{name}' (op={node.op})", "W")
            node.name = name
        seen.add(node.name)


def _add_groups(model, groups):
    """GraphSurgeon cannot tell the type of an empty list."""
    from onnx import AttributeProto, helper
    for node in model.graph.node:
        if node.op_type == "DistCollective":
            node.attribute.append(helper.make_attribute("groups", groups,
                                                        attr_type=AttributeProto.INTS))


def _hints(options, graph):
    if "one_shot" in options:
        say("Building sharding hints in one-shot from model (no JSON).")
        hints = build_hints(graph, options)
    else:
        say(f"Loading sharding hints from: {options.value('hint_file')}")
        hints = read_hints(options.value("hint_file"))
    collective = hints["dist_collectives"]
    say(f"Loaded hints: parallelism={hints['parallelism']}, group_size={collective['group_size']}, "
        f"root={collective['root']}, groups={collective['groups']}")
    return hints


def _save_ranks(split, hints, options):
    """A file for each rank, with its weights beside it."""
    gs = graphsurgeon("sharding")
    ranks = hints["dist_collectives"]["nb_rank"]
    path = options.value("output")
    stem = os.path.splitext(os.path.basename(path))[0]
    for rank in range(ranks):
        say(f"Saving rank {rank} graph")
        model = gs.export_onnx(split.graph_of(rank))
        split.cut_packed(model, rank)
        _add_groups(model, hints["dist_collectives"]["groups"])
        name = f"{stem}_tp{ranks}_rank{rank}.onnx"
        save_model(model, os.path.join(os.path.dirname(path), name),
                   options.with_words("external_data_path", [name + ".data"]))


def run(options):
    gs = graphsurgeon("multi-device shard")
    model = load_model(options)
    graph = gs.import_onnx(model)
    names = Names()
    _name_nodes(graph, names)
    hints = _hints(options, graph)
    collective = hints["dist_collectives"]
    if hints["parallelism"] == "CP":
        ContextParallel(graph, hints, names).shard(options.number("attention_pattern", 0))
        made = gs.export_onnx(graph)
        _add_groups(made, collective["groups"])
        save_model(made, options.value("output"), options)
    elif hints["parallelism"] == "TP":
        if "all_tensors_to_one_file" in options:
            refuse("All tensors must be saved to one file if TP is used. Please omit the "
                   "`--no-save-all-tensors-to-one-file` option.")
        split = WeightSplit(graph, model, collective["nb_rank"])
        split.insert_reductions(collective, names)
        _save_ranks(split, hints, options)
    else:
        refuse("Unsupported parallelism type")
