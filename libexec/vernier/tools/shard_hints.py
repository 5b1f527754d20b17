"""template shard-hints: where a model can be cut for several devices, as Polygraphy's JSON."""

import json

from vernier_worker import wire

from attention import Dependencies, find_attention
from tool_kit import graphsurgeon, load_model, refuse, say, write_text


def _sequence_axis(tensor, fallback):
    for axis, dim in enumerate(tensor.shape or []):
        if dim in ("sequence_length", "seq_len"):
            say(f"Found sequence_length index at {axis} for tensor {tensor.name}")
            return axis
    return fallback


def _rank(tensor, fallback):
    return len(tensor.shape) if tensor.shape else fallback


def _shard_tensors(tensors, axis, rank):
    return [{"name": tensor.name, "seq_len_idx": _sequence_axis(tensor, axis),
             "rank": _rank(tensor, rank), "polygraphy_class": "ShardTensor"} for tensor in tensors]


def _replacement(options):
    """What an attention layer becomes with --cp-type fused."""
    if options.value("cp_type", "native") != "fused":
        return None
    return {"is_causal": "is_causal" in options, "q_shuffle": options.numbers("q_shuffle"),
            "k_shuffle": options.numbers("k_shuffle"), "v_shuffle": options.numbers("v_shuffle"),
            "nb_rank": options.number("nb_rank", 1), "polygraphy_class": "FusedAttention"}


def build_hints(graph, options):
    """The document, from the model's attention layers and the options."""
    dependencies = Dependencies(graph)
    layers, inputs, outputs, kv_rank = [], [], [], None
    gathers = options.value("cp_type", "native") == "native"
    for match in find_attention(graph, options.number("attention_pattern", 0)):
        q, k, v = match.inputs[:3]
        say(f"Found attention layer with Q tensor {q.name}")
        if not kv_rank:
            say("Trying to find KV rank...")
            kv_rank = _rank(k if k.shape else v, options.number("kv_rank"))
            if kv_rank:
                say(f"KV has rank of {kv_rank}")
        if "no_suggest_io" not in options:
            inputs += dependencies.inputs_of(match["MatMul2"].onnx_node)
            outputs += dependencies.outputs_of(match["MatMul2"].onnx_node)
        layers.append({"q": q.name, "gather_kv": gathers, "gather_q": False,
                       "replace": _replacement(options), "polygraphy_class": "AttentionLayerHint"})
    return {
        "parallelism": options.value("parallelism", "CP"),
        "attention_layers": layers,
        "dist_collectives": {
            "group_size": options.number("gpus", 0), "root": options.number("root", -1),
            "nb_rank": options.number("nb_rank", 1),
            "reduce_op": options.value("reduce_op", "max"),
            "groups": options.numbers("groups") or [], "polygraphy_class": "DistCollective"},
        "inputs": _shard_tensors(inputs, options.number("i_idx", 0), options.number("i_rank")),
        "outputs": _shard_tensors(outputs, options.number("o_idx", 0), options.number("o_rank")),
        "k_seq_len_idx": options.number("k_idx", 0),
        "v_seq_len_idx": options.number("v_idx", 0),
        "kv_rank": kv_rank if kv_rank else options.number("kv_rank"),
        "polygraphy_class": "ShardHints",
    }


KEYS = ("parallelism", "attention_layers", "dist_collectives", "inputs", "outputs", "k_seq_len_idx",
        "v_seq_len_idx", "kv_rank")


def read_hints(path):
    try:
        with open(path, encoding="utf-8") as file:
            hints = json.load(file)
    except OSError as error:
        refuse(f"--hint: '{path}' cannot be read: {error.strerror}", wire.MALFORMED)
    except ValueError as error:
        refuse(f"--hint: '{path}' is not JSON: {error}", wire.MALFORMED)
    missing = [key for key in KEYS if not isinstance(hints, dict) or key not in hints]
    if missing:
        refuse(f"--hint: '{path}' holds no sharding hints: it lacks {', '.join(missing)}; `vernier "
               "template shard-hints` writes them", wire.MALFORMED)
    return hints


def run(options):
    gs = graphsurgeon("template shard-hints")
    graph = gs.import_onnx(load_model(options, weights=False))
    path = options.value("output")
    if not path.endswith(".json"):
        refuse("Output file must be a json")
    hints = build_hints(graph, options)
    if not hints["attention_layers"]:
        say("no attention layer was found: the hints name none; --attention-pattern 1 looks for "
            "the scaled form", "W")
    write_text(path, json.dumps(hints, indent=4))
    say(f"Saved sharding hints to {path}")
