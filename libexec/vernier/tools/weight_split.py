"""Tensor parallelism: each rank gets a slice of the weights of attention layers and MLPs."""

import numpy as np

from collectives import Chain
from tool_kit import graphsurgeon, refuse, say

DEPTH = 20  # how far a projection may be from its layer


def _search(graph, tensor, op, upwards, depth=DEPTH):
    """The first node of that operator above or below a tensor, depth first."""
    if depth == 0:
        return None
    for node in graph.nodes:
        if not any(tensor == near for near in (node.outputs if upwards else node.inputs)):
            continue
        if node.op == op:
            say(f"Found node {node.name}")
            return node
        for far in node.inputs if upwards else node.outputs:
            found = _search(graph, far, op, upwards, depth - 1)
            if found is not None:
                return found
    return None


def _above(graph, tensor, op, depth=DEPTH):
    return _search(graph, tensor, op, True, depth)


def _below(graph, tensor, op):
    return _search(graph, tensor, op, False)


def packed_bytes(tensor):
    """Of elements that share bytes, as ONNX keeps them: in raw_data, or a byte in each int32."""
    return bytes(tensor.raw_data) or np.array(tensor.int32_data).astype(np.uint8).tobytes()


class Slice:
    """A weight and the axis along which it is cut."""

    def __init__(self, tensor, axis):
        if tensor.shape is None:
            refuse(f"Weights need defined shape for TP sharding. {tensor.name} is missing shape")
        if not isinstance(tensor.shape[axis], int):
            refuse(f"Weight {tensor.name} shard dimension should be int, got "
                   f"{type(tensor.shape[axis])}")
        self.name, self.shape, self.axis = tensor.name, list(tensor.shape), axis

    def width(self, ranks):
        if self.shape[self.axis] % ranks:
            refuse(f"{self.name} cannot be TP sharded on {ranks} ranks with shape {self.shape}")
        return self.shape[self.axis] // ranks

    def check_bytes(self, ranks):
        """float4 has two elements a byte: neither a row nor a rank's part of it may end within."""
        row = self.width(ranks) if self.axis in (-1, len(self.shape) - 1) else self.shape[-1]
        if row % 2:
            refuse(f"{self.name} cannot be TP sharded on {ranks} ranks with shape {self.shape}: "
                   f"float4 has two elements a byte, and rows of {row} elements would end within "
                   "one")

    def of(self, array, rank, ranks, scale=1):
        """`scale`: elements that share one of the array's along the last axis."""
        start = rank * self.width(ranks)
        end = start + self.width(ranks)
        if self.axis == 0:
            return array[start:end, :].copy()
        return array[:, start // scale:end // scale].copy()

    def new_shape(self, ranks):
        shape = list(self.shape)
        shape[self.axis] = self.width(ranks)
        return shape


class WeightSplit:
    def __init__(self, graph, model, ranks):
        self.gs = graphsurgeon("sharding")
        self.graph, self.ranks = graph, ranks
        self.outputs = []  # where the ranks' parts are summed
        self.slices = []
        self.attentions = []
        for node in [node for node in graph.nodes if node.op == "AttentionPlugin"]:
            self._take_attention(node)
        for node in [node for node in graph.nodes if node.op == "Sigmoid"]:
            self._take_mlp(node)
        if not self.slices:
            say("no AttentionPlugin node and no Sigmoid of a gated MLP was found: every rank gets "
                "the whole model", "W")
        self._keep_packed(model)
        self.values = {entry.name: graph.tensors()[entry.name].values for entry in self.slices
                       if entry.name not in self.packed}

    def _weights(self, projection, what):
        """The constants behind a projection, and whether they are quantised."""
        if isinstance(projection, self.gs.Constant):
            return [projection], False
        if not any(node.op == "DequantizeLinear" for node in self.graph.nodes):
            refuse(f"Graph is missing TP-shardable {what}")
        outer = _above(self.graph, projection, "DequantizeLinear")
        inner = outer and _above(self.graph, outer.inputs[1], "DequantizeLinear")
        if not inner:
            refuse(f"Graph is missing TP-shardable {what}")
        return [outer.inputs[0], inner.inputs[0]], True

    def _cut(self, projections, what):
        """(tensor of a MatMul's weights, is it the last of its block) in the order of the ranks'
        slices: the last is cut across its inputs, the others across their outputs."""
        for projection, last in projections:
            weights, quantised = self._weights(projection, what)
            axis = (1 if last else 0) if quantised else (0 if last else 1)
            self.slices += [Slice(weight, axis) for weight in weights]

    @staticmethod
    def _found(node, what):
        if node is None:
            refuse(f"Graph is missing TP-shardable {what}")
        return node

    def _take_attention(self, node):
        what = "attentions"
        start = _above(self.graph, node.inputs[0], "Concat", 2) or node
        parts = [self._found(_above(self.graph, start.inputs[i], "MatMul"), what) for i in range(3)]
        last = self._found(_below(self.graph, node.outputs[0], "MatMul"), what)
        self._cut([(part.inputs[1], False) for part in parts] + [(last.inputs[1], True)], what)
        self.outputs.append(last.outputs[0])
        # Past keys follow stacked QKV, or each of them.
        past = node.inputs[1 if len(node.inputs) == 6 else 3]
        self.attentions.append((node, past, node.outputs[1]))

    def _take_mlp(self, sigmoid):
        what = "MLPs"
        gate = self._found(_above(self.graph, sigmoid.inputs[0], "MatMul"), what)
        swish = self._found(_below(self.graph, sigmoid.outputs[0], "Mul"), what)
        product = self._found(_below(self.graph, swish.outputs[0], "Mul"), what)
        up = self._found(_above(self.graph, product.inputs[1], "MatMul"), what)
        down = self._found(_below(self.graph, product.outputs[0], "MatMul"), what)
        self._cut([(up.inputs[1], False), (down.inputs[1], True), (gate.inputs[1], False)], what)
        self.outputs.append(down.outputs[0])

    def _keep_packed(self, model):
        """float4 weights: GraphSurgeon widens them; their bytes are cut in the finished model."""
        import onnx
        float4 = getattr(onnx.TensorProto, "FLOAT4E2M1", None)
        wanted = {entry.name: entry for entry in self.slices}
        self.packed = {}
        for tensor in model.graph.initializer:
            if tensor.name in wanted and tensor.data_type == float4:
                wanted[tensor.name].check_bytes(self.ranks)
                self.packed[tensor.name] = packed_bytes(tensor)

    def insert_reductions(self, collective, names):
        for entry in self.slices:
            if entry.name not in self.packed:
                part = entry.of(self.values[entry.name], 0, self.ranks)
                say(f"{entry.name} going from {self.values[entry.name].shape} -> {part.shape}")
        for tensor in self.outputs:
            Chain(tensor, self.graph, names, collective).exchange("all_reduce")
        for node, past, present in self.attentions:
            self._share_heads(node, past, present)

    def _share_heads(self, node, past, present):
        heads = {key: int(node.attrs[key]) for key in ("num_q_heads", "num_kv_heads")}
        if any(count % self.ranks for count in heads.values()):
            refuse(f"Q heads or KV heads are not evenly divisible by {self.ranks}")
        for key, count in heads.items():
            node.attrs[key] = count // self.ranks
        for tensor in (past, present):
            if isinstance(tensor.shape[2], int):
                tensor.shape[2] = tensor.shape[2] // self.ranks

    def graph_of(self, rank):
        tensors = self.graph.tensors()
        for entry in self.slices:
            if entry.name not in self.packed:
                tensors[entry.name].values = entry.of(self.values[entry.name], rank, self.ranks)
        return self.graph

    def cut_packed(self, model, rank):
        for entry in self.slices:
            if entry.name not in self.packed:
                continue
            tensor = next(t for t in model.graph.initializer if t.name == entry.name)
            shape = list(entry.shape)
            shape[-1] //= 2  # two elements a byte
            whole = np.frombuffer(self.packed[entry.name], np.uint8).reshape(shape)
            part = entry.of(whole, rank, self.ranks, scale=2)
            tensor.ClearField("int32_data")
            tensor.raw_data = np.ascontiguousarray(part).tobytes()
            del tensor.dims[:]
            tensor.dims.extend(entry.new_shape(self.ranks))
