"""Attention layers in a graph, and which inputs and outputs of the graph hang on them."""

from tool_kit import graphsurgeon, refuse, say


def _plain(pattern):
    """softmax(Q K) V."""
    q, k, v = (pattern.variable() for _ in range(3))
    scores = pattern.add("MatMul1", "MatMul", inputs=[q, k])
    weights = pattern.add("Softmax", "Softmax", inputs=[scores])
    return pattern.add("MatMul2", "MatMul", inputs=[weights, v])


def _scaled(pattern):
    """The same with Q and K scaled by a root of the head's size, which is taken from Q's shape."""
    q, k, v = (pattern.variable() for _ in range(3))
    starts, ends, one = (pattern.variable() for _ in range(3))
    size = pattern.add("shape", "Shape", inputs=[q])
    size = pattern.add("slice", "Slice", inputs=[size, starts, ends])
    size = pattern.add("cast_1", "Cast", inputs=[size])
    size = pattern.add("sqrt_1", "Sqrt", inputs=[size])
    size = pattern.add("cast_2", "Cast", inputs=[size])
    scale = pattern.add("div", "Div", inputs=[one, size])
    scale = pattern.add("cast_3", "Cast", inputs=[scale])
    scaled = []
    for number, tensor in (("1", q), ("2", k)):
        root = pattern.add("sqrt_" + str(int(number) + 1), "Sqrt", inputs=[scale])
        scaled.append(pattern.add("mul_" + number, "Mul", inputs=[tensor, root]))
    scores = pattern.add("MatMul1", "MatMul", inputs=scaled)
    weights = pattern.add("Softmax", "Softmax", inputs=[scores])
    return pattern.add("MatMul2", "MatMul", inputs=[weights, v])


def find_attention(graph, number):
    """The matches of pattern 0 (plain) or 1 (scaled)."""
    pattern = graphsurgeon("finding attention layers").GraphPattern()
    pattern.set_output_tensors([(_plain, _scaled)[number](pattern)])
    return pattern.match_all(graph)


class Dependencies:
    """Walks from attention layers to inputs and outputs of the graph; each is found once."""

    def __init__(self, graph):
        self.graph = graph
        self.nodes = {node.name: node for node in graph.nodes}
        if len(self.nodes) != len(graph.nodes):
            refuse("All nodes in graph need to have unique names")
        self.makers, self.readers = {}, {}
        for node in graph.nodes:
            for tensor in node.outputs:
                self.makers.setdefault(tensor.name, []).append(node)
            for tensor in node.inputs:
                self.readers.setdefault(tensor.name, []).append(node)
        self.found = set()
        self.seen = {"in": set(), "out": set()}

    def _walk(self, node, direction, ends, edges, neighbours):
        found, waiting, seen = [], [node], self.seen[direction]
        while waiting:
            current = waiting.pop()
            if current.name in seen:
                continue
            seen.add(current.name)
            for tensor in edges(current):
                if tensor.name in ends and tensor.name not in self.found:
                    say(f"Found dependent tensor {tensor.name}")
                    self.found.add(tensor.name)
                    found.append(ends[tensor.name])
                elif tensor.name in neighbours:
                    waiting += neighbours[tensor.name]
        return found

    def inputs_of(self, node):
        ends = {tensor.name: tensor for tensor in self.graph.inputs}
        return self._walk(node, "in", ends, lambda n: n.inputs, self.makers)

    def outputs_of(self, node):
        ends = {tensor.name: tensor for tensor in self.graph.outputs}
        return self._walk(node, "out", ends, lambda n: n.outputs, self.readers)
