"""Nodes that exchange tensors between devices, put behind a tensor of a graph."""

from tool_kit import graphsurgeon, refuse, say


class Names:
    """shard_0, shard_1, ...: names that nodes and tensors get."""

    def __init__(self):
        self.count = 0

    def next(self, prefix=""):
        name = f"{prefix}{'_' if prefix else ''}shard_{self.count}"
        self.count += 1
        return name


def attributes(collective, operation):
    reduce_op = {"all_gather": "none", "all_reduce": "sum",
                 "reduce_scatter": collective["reduce_op"]}[operation]
    return {"group_size": collective["group_size"], "root": collective["root"],
            "nb_rank": collective["nb_rank"], "reduce_op": reduce_op,
            "collective_operation": operation}


class Chain:
    """Nodes that follow each other behind a tensor; what read the tensor reads the last of them."""

    def __init__(self, tensor, graph, names, collective, axis=0, rank=None):
        self.graph, self.names, self.collective = graph, names, collective
        self.axis, self.rank = axis, rank
        self.tail = tensor

    def append(self, op, attrs):
        """The new tail."""
        gs = graphsurgeon("sharding")
        head = self.tail
        say(f"Inserting {op} for tensor: {head.name}")
        readers = [node for node in self.graph.nodes
                   for tensor in node.inputs if tensor is head or tensor == head]
        tail = gs.Variable(name=self.names.next(), shape=None, dtype=head.dtype)
        node = gs.Node(name=self.names.next(), op=op, inputs=[head], outputs=[tail], attrs=attrs)
        self.graph.nodes.append(node)
        for reader in readers:
            for place, tensor in enumerate(reader.inputs):
                if tensor == head:
                    reader.inputs[place] = tail
        head.outputs = [node]
        if head in self.graph.outputs:
            self.graph.outputs[self.graph.outputs.index(head)] = tail
        self.tail = tail
        return tail

    def transpose(self, order):
        return self.append("Transpose", {"perm": order})

    def exchange(self, operation):
        return self.append("DistCollective", attributes(self.collective, operation))

    def exchange_along_axis(self, operation):
        """Collectives work on the first axis: others are brought there and back."""
        if not self.axis:
            return self.exchange(operation)
        order = self._swap()
        self.transpose(order)
        self.exchange(operation)
        return self.transpose(order)

    def _swap(self):
        name = self.tail.name
        if self.rank is None and not self.tail.shape:
            refuse(f"Transpose for tensor {name} is missing rank information in tensor or "
                   "configuration")
        if self.rank is None:
            say(f"Specified rank for {name} was missing but shape was provided in model")
            self.rank = len(self.tail.shape)
        if self.axis >= self.rank:
            refuse(f"Transpose idx for tensor {name} is out of range for rank")
        order = list(range(self.rank))
        order[0], order[self.axis] = self.axis, 0
        return order
