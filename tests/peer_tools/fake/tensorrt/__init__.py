"""As much of TensorRT as asking its ONNX parser needs. It takes every operator but Exp and Tan."""

import enum
import os
import time

import onnx

__version__ = "10.9.0"
REFUSED = ("Exp", "Tan")


class ILogger:
    class Severity(enum.Enum):
        INTERNAL_ERROR, ERROR, WARNING, INFO, VERBOSE = range(5)

    INTERNAL_ERROR, ERROR, WARNING, INFO, VERBOSE = Severity

    def __init__(self, *_):
        pass


class Logger(ILogger):
    pass


class NetworkDefinitionCreationFlag(enum.IntEnum):
    EXPLICIT_BATCH, STRONGLY_TYPED = range(2)


class OnnxParserFlag(enum.IntEnum):
    NATIVE_INSTANCENORM = 0


class Builder:
    def __init__(self, logger):
        self.logger = logger

    def create_network(self, flags=0):
        return Network()

    def create_builder_config(self):
        return Config()

    def build_serialized_network(self, network, config):
        return network.content


class Network:
    content = None


def init_libnvinfer_plugins(*_):
    return True


class ParserError:
    def __init__(self, index, node):
        self.index, self.node = index, node

    def __str__(self):
        return f"In node {self.index} with name: {self.node.name} and operator: " \
               f"{self.node.op_type}: UNSUPPORTED_NODE"

    def node_operator(self):
        return self.node.op_type

    def node_name(self):
        return self.node.name

    def local_function_stack_size(self):
        return 2 if self.node.op_type == "Tan" else 0

    def local_function_stack(self):
        return ["outer", "inner"] if self.node.op_type == "Tan" else []


class OldParserError:
    """As TensorRT 8.5 has it: the node's number, and no more of it."""

    def __init__(self, index, node):
        self.index, self.op_type = index, node.op_type

    def __str__(self):
        return f"In node {self.index} ({self.op_type}): UNSUPPORTED_NODE"

    def node(self):
        return self.index


class OnnxParser:
    def __init__(self, network, logger):
        self.network, self.errors = network, []

    @property
    def num_errors(self):
        return len(self.errors)

    def get_error(self, index):
        return self.errors[index]

    def clear_errors(self):
        self.errors = []

    def set_flag(self, flag):
        pass

    def get_flag(self, flag):
        return False

    def parse(self, content, path=None):
        nodes = onnx.load_model_from_string(content).graph.node
        if hasattr(self.network, "content"):  # the peer wraps it
            self.network.content = content
        kind = OldParserError if "FAKE_TENSORRT_OLD" in os.environ else ParserError
        self.errors = [kind(i, node) for i, node in enumerate(nodes)
                       if node.op_type in REFUSED]
        return not self.errors

    def supports_model(self, content, path=None):
        """At first a part that is not taken has a neighbour in it, as with the real parser; asked
        about that part alone it is exact."""
        nodes = onnx.load_model_from_string(content).graph.node
        taken = self.parse(content)
        bad = [node.op_type in REFUSED for node in nodes]
        if len(nodes) > 2:
            bad = [bad[i] or (i > 0 and bad[i - 1]) for i in range(len(nodes))]
        parts = []
        for index, refused in enumerate(bad):
            if parts and parts[-1][1] is not refused:
                parts[-1][0].append(index)
            else:
                parts.append(([index], not refused))
        if len(nodes) <= 2:
            parts = [part for part in parts if part[1]]
        return taken, parts


# Engines: by a clock of our own a node takes two milliseconds, so that fewer nodes are faster.
_now = 0.0
time.perf_counter = lambda: _now

class DataType(enum.Enum):
    FLOAT = 0


class MemoryPoolType(enum.Enum):
    WORKSPACE = 0


class TensorIOMode(enum.Enum):
    INPUT, OUTPUT = range(2)


class TimingCache:
    def __init__(self, content):
        self.content = content or b"cache"

    def serialize(self):
        return self.content


class Config:
    cache = None

    def create_timing_cache(self, content):
        return TimingCache(content)

    def set_timing_cache(self, cache, ignore_mismatch):
        self.cache = cache

    def get_timing_cache(self):
        return self.cache

    def set_memory_pool_limit(self, pool, size):
        assert size == 1 << 32


class Context:
    def __init__(self, nodes):
        self.nodes, self.addresses = nodes, {}

    def set_tensor_address(self, name, address):
        self.addresses[name] = address

    def execute_async_v3(self, stream):
        assert len(self.addresses) == 2
        global _now
        _now += 0.002 * self.nodes
        return True


class Engine:
    num_io_tensors = 2

    def __init__(self, content):
        self.model = onnx.load_model_from_string(content)

    def get_tensor_name(self, index):
        graph = self.model.graph
        return [graph.input[0].name, graph.output[0].name][index]

    def get_tensor_mode(self, name):
        return TensorIOMode.INPUT if name == "x" else TensorIOMode.OUTPUT

    def get_tensor_shape(self, name):
        return (2, 3)

    def get_tensor_dtype(self, name):
        return DataType.FLOAT

    def create_execution_context(self):
        return Context(len(self.model.graph.node))


class Runtime:
    def __init__(self, logger):
        pass

    def deserialize_cuda_engine(self, plan):
        return Engine(plan)
