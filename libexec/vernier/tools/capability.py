"""inspect capability: which parts of an ONNX model TensorRT's parser takes."""

import os
import tempfile

from vernier_worker import wire

from tool_kit import graphsurgeon, load_model, need, refuse, save_model, say, write_text


class Parser:
    """TensorRT's ONNX parser; a new one for each question, as its errors add up."""

    def __init__(self):
        self.trt = need("tensorrt", "tensorrt", "inspect capability")
        if not hasattr(self.trt, "OnnxParser"):
            refuse(f"TensorRT {getattr(self.trt, '__version__', '')} has no OnnxParser",
                   wire.UNAVAILABLE)
        self.logger = self.trt.Logger(self.trt.Logger.ERROR)
        self.builder = self.trt.Builder(self.logger)

    def _new(self):
        flags = 0
        explicit = getattr(self.trt.NetworkDefinitionCreationFlag, "EXPLICIT_BATCH", None)
        if explicit is not None:
            flags = 1 << int(explicit)
        # The network has to live as long as the parser.
        self.network = self.builder.create_network(flags)
        return self.trt.OnnxParser(self.network, self.logger)

    @staticmethod
    def _bytes(path):
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            refuse(f"'{path}' cannot be read: {error.strerror}", wire.MALFORMED)

    def parse(self, path):
        """Whether the whole model is taken, and the parser with its errors."""
        parser = self._new()
        return parser.parse(self._bytes(path), path), parser

    def support(self, path):
        """Whether all is taken, a list of (numbers of nodes, taken), and the parser."""
        parser = self._new()
        if hasattr(parser, "supports_model_v2"):  # from TensorRT 11 on, or 10.x beside the old one
            taken = parser.supports_model_v2(self._bytes(path), path)
            parts = [(parser.get_subgraph_nodes(i), parser.is_subgraph_supported(i))
                     for i in range(parser.num_subgraphs)]
        elif hasattr(parser, "supports_model"):
            taken, parts = parser.supports_model(self._bytes(path), path)
        else:
            refuse(f"TensorRT {self.trt.__version__} cannot tell which parts of a model it takes: "
                   "its OnnxParser has no supports_model", wire.UNAVAILABLE)
        return taken, parts, parser


def errors_of(parser):
    return [parser.get_error(i) for i in range(parser.num_errors)]


def _table(columns, rows, widths):
    """Cells padded to their column; the last one is as long as it is."""
    header = " | ".join(f"{name:{width}}" for name, width in zip(columns, widths)) + "\n"
    lines = ["===== Summary =====\n", header, "-" * len(header) + "\n"]
    for row in rows:
        lines.append(" | ".join(f"{cell:{width}}" for cell, width in zip(row, widths)) + "\n")
    return "".join(lines)


def _node_of(error, options):
    """Operator and name. Older releases tell the node's number alone."""
    if hasattr(error, "node_operator"):
        return error.node_operator(), error.node_name()
    nodes = load_model(options, weights=False).graph.node
    number = error.node()
    known = 0 <= number < len(nodes)
    return (nodes[number].op_type, nodes[number].name) if known else ("", str(number))


def error_table(errors, options):
    """Errors of the parser, those of one local function together."""
    by_stack = {}
    for error in errors:
        stack = ""
        if hasattr(error, "local_function_stack") and error.local_function_stack_size() > 0:
            stack = " -> ".join(error.local_function_stack())
        by_stack.setdefault(stack, []).append((*_node_of(error, options), str(error)))
    rows = [(stack, *row) for stack, listed in by_stack.items() for row in listed]
    columns = ("Stack trace", "Operator", "Node", "Reason")
    # As Polygraphy has it: the reason's heading makes its column no wider.
    least = (len("Stack trace "), len("Operator "), len("Node "), 0)
    widths = [max([least[i]] + [len(row[i]) for row in rows]) for i in range(4)]
    return _table(columns, rows, widths)


def part_table(unsupported):
    """By operator and reason the parts that begin with it."""
    operator = max([len(op) for op, _ in unsupported] + [len("Operator ")])
    reason = max(len(reason) for _, reason in unsupported)
    header = f"{'Operator':{operator}}| {'Count':7} | {'Reason':{reason}} | Nodes\n"
    lines = ["===== Summary =====\n", header, "-" * len(header) + "\n"]
    for (op, why), ranges in unsupported.items():
        lines.append(f"{op:{operator}}| {len(ranges):7} | {why:{reason}} | {ranges}\n")
    return "".join(lines)


class Partition:
    """Cuts what is not taken until its parts are, and saves both."""

    def __init__(self, parser, options):
        gs = graphsurgeon("inspect capability --with-partitioning")
        self.parser, self.options = parser, options
        self.export = gs.export_onnx
        self.graph = gs.import_onnx(self._with_types(load_model(options)))
        self.folder = options.value("output") or "polygraphy_capability_dumps"
        self.unsupported = {}

    @staticmethod
    def _with_types(model):
        """Ends of parts need a type, which a model does not have to give to what lies within."""
        import onnx
        graph = model.graph
        known = {info.name for infos in (graph.value_info, graph.output) for info in infos}
        made = {name for node in graph.node for name in node.output if name}
        return model if made <= known else onnx.shape_inference.infer_shapes(model)

    def _cut(self, start, end):
        """The nodes from start up to end, exclusive, as a model of their own."""
        graph = self.graph.copy()
        nodes = graph.nodes[start:end]
        made = {tensor.name: tensor for node in nodes for tensor in node.outputs}
        read = {tensor.name: tensor for node in nodes for tensor in node.inputs}
        inputs = [tensor for name, tensor in read.items() if name not in made]
        outputs = [tensor for name, tensor in made.items() if name not in read]
        for tensor in inputs:
            tensor.inputs.clear()
        graph.inputs, graph.outputs = inputs, outputs
        return self.export(graph.cleanup())

    def _save(self, start, end, kind):
        path = os.path.join(self.folder, f"{kind}_subgraph-nodes-{start}-{end - 1}.onnx")
        save_model(self._cut(start, end), path, self.options)
        return path

    def _supported(self, parts, offset):
        found = []
        for nodes, taken in parts:
            if taken:
                found.append([index + offset for index in nodes])
                continue
            start, end = nodes[0] + offset, nodes[-1] + offset + 1
            if (offset, len(parts)) == (start, 1) and end - start == self.last_size:
                continue  # it came back whole: it cannot be cut further
            self.last_size = end - start
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "part.onnx")
                import onnx
                onnx.save(self._cut(start, end), path)
                found += self._supported(self.parser.support(path)[1], start)
        return found

    def _save_unsupported(self, start, end):
        path = self._save(start, end, "unsupported")
        why = " | ".join(map(str, errors_of(self.parser.support(path)[2]))) or "UNKNOWN ERROR"
        self.unsupported.setdefault((self.graph.nodes[start].op, why), []).append([start, end])

    def run(self, parts):
        self.last_size = -1
        supported = self._supported(parts, 0)
        edge = 0
        for nodes in supported:
            self._save(nodes[0], nodes[-1] + 1, "supported")
            if nodes[0] > edge:
                self._save_unsupported(edge, nodes[0])
            edge = nodes[-1] + 1
        if edge < len(self.graph.nodes):
            self._save_unsupported(edge, len(self.graph.nodes))
        return part_table(self.unsupported)


def _report(summary, options):
    say(summary)
    folder = options.value("output") or "polygraphy_capability_dumps"
    path = os.path.join(folder, "results.txt")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        refuse(f"'{folder}' cannot be made: {error.strerror}", wire.IO)
    write_text(path, summary)
    say(f"Saving results to {path}")


def run(options):
    parser = Parser()
    path = options.value("model_source") or options.value("model_file")
    if "with_partitioning" not in options:
        taken, parsed = parser.parse(path)
        if taken:
            say("Graph is fully supported by TensorRT; Will not report errors.")
        else:
            _report(error_table(errors_of(parsed), options), options)
        return
    taken, parts, _ = parser.support(path)
    if taken:
        say("Graph is fully supported by TensorRT; Will not generate subgraphs.")
    else:
        _report(Partition(parser, options).run(parts), options)
