"""A stand-in for the `tensorrt` module, as far as vernier's Python runner calls it, of release 8.5.
Engines are the ONNX model itself, evaluated by onnx's reference; where $FAKE_TENSORRT_HALF is set, with
FP16 in float16 but for layers whose precision was set. What a build was given is written to
$FAKE_TENSORRT_JOURNAL as JSON. With $FAKE_TENSORRT_FUSES a Relu is part of the layer whose output it reads. Of the layer that $FAKE_TENSORRT_DISOBEYS names the inspector says that it
computes in float16.
"""

import base64
import ctypes
import enum
import json
import math
import os

import numpy as np
import onnx
from onnx import reference

__version__ = "8.5.3.1"


def _enumeration(name, words):
    return enum.IntEnum(name, words.split(), start=0)


BuilderFlag = _enumeration(
    "BuilderFlag", "FP16 INT8 DEBUG GPU_FALLBACK STRICT_TYPES REFIT DISABLE_TIMING_CACHE TF32 "
    "SPARSE_WEIGHTS SAFETY_SCOPE OBEY_PRECISION_CONSTRAINTS PREFER_PRECISION_CONSTRAINTS DIRECT_IO")
DataType = _enumeration("DataType", "FLOAT HALF INT8 INT32 BOOL UINT8")
float32, float16, int8, int32 = list(DataType)[:4]
ElementWiseOperation = _enumeration("ElementWiseOperation", "SUM PROD")
setattr(ElementWiseOperation, "__entries", {})  # as those of TensorRT have it
LayerType = _enumeration(
    "LayerType", "CONVOLUTION ACTIVATION ELEMENTWISE IDENTITY SHAPE CONSTANT LOOP_OUTPUT TRIP_LIMIT "
    "ITERATOR RECURRENCE QUANTIZE DEQUANTIZE")
LayerInformationFormat = _enumeration("LayerInformationFormat", "ONELINE JSON")
MemoryPoolType = _enumeration("MemoryPoolType", "WORKSPACE DLA_MANAGED_SRAM")
NetworkDefinitionCreationFlag = _enumeration("NetworkDefinitionCreationFlag", "EXPLICIT_BATCH")
PreviewFeature = _enumeration("PreviewFeature", "FASTER_DYNAMIC_SHAPES_0805")
ProfilingVerbosity = _enumeration("ProfilingVerbosity", "LAYER_NAMES_ONLY NONE DETAILED")
TacticSource = _enumeration("TacticSource", "CUBLAS CUBLAS_LT CUDNN EDGE_MASK_CONVOLUTIONS")
TensorFormat = _enumeration("TensorFormat", "LINEAR CHW2 HWC8 CHW4 HWC")
TensorIOMode = _enumeration("TensorIOMode", "NONE INPUT OUTPUT")

_TYPES = {np.dtype(np.float32): DataType.FLOAT, np.dtype(np.float16): DataType.HALF,
          np.dtype(np.int64): DataType.INT32, np.dtype(np.int32): DataType.INT32}
_LAYERS = {"Relu": LayerType.ACTIVATION, "Add": LayerType.ELEMENTWISE,
           "Mul": LayerType.ELEMENTWISE, "Neg": LayerType.ELEMENTWISE,
           "Gemm": LayerType.CONVOLUTION, "Identity": LayerType.IDENTITY, "Constant": LayerType.CONSTANT}


class ILogger:
    Severity = _enumeration("Severity", "INTERNAL_ERROR ERROR WARNING INFO VERBOSE")


class IOutputAllocator:
    pass


class IInt8EntropyCalibrator2:
    pass


def init_libnvinfer_plugins(logger, namespace):
    return True


class _Tensor:
    def __init__(self, name, shape, dtype):
        self.name, self.shape, self.dtype = name, shape, dtype
        self.is_shape_tensor, self.is_execution_tensor = False, True
        self.allowed_formats = 0


class Dims(tuple):
    pass


class Permutation(tuple):
    pass


class ILoop:
    name = "loop of it"

    def __repr__(self):
        return "<the loop>"


class _Held:
    """What Polygraphy opens in a with statement."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class ILayer:
    """What all layers have; the attributes are there for those that ask the class."""

    name = type = precision = num_inputs = num_outputs = None
    node = inputs = weights = _outputs = None

    def get_input(self, index):
        return self._network.tensor(self.node.input[index])

    def get_output(self, index):
        return self._outputs[index]


for _attribute in ("precision_is_set", "_network"):
    setattr(ILayer, _attribute, None)


class IElementWiseLayer(ILayer):
    op = property(lambda self: "ElementWiseOperation.SUM")
    broadcast = property(lambda self: 1 / 0)
    factors = property(lambda self: np.ones(2))


class IPoolingLayer(ILayer):
    pass


IConvolutionLayer = IDeconvolutionLayer = IResizeLayer = ISliceLayer = IPoolingLayer


class IIdentityLayer(ILayer):
    weights_of_it = property(lambda self: np.ones(2))


class IActivationLayer(ILayer):
    alpha = property(lambda self: 0.5)
    beta = property(lambda self: 0.25)
    dims, no_dims = Dims((1, 2)), Dims()
    order, kind = Permutation((1, 0)), ElementWiseOperation.PROD
    loop, unset, typed, text = ILoop(), None, True, "relu"


class _Layer(ILayer):
    def __init__(self, node):
        self.name = node.name
        self.type = _LAYERS[node.op_type]
        self._precision, self.precision_is_set = DataType.FLOAT, False
        self._outputs = [_Tensor(name, (-1, 3), DataType.FLOAT) for name in node.output]
        self.node, self.inputs, self.weights = node, None, None
        self.num_outputs = len(self._outputs)
        self.num_inputs = len(node.input)

    @property
    def precision(self):
        return self._precision

    @precision.setter
    def precision(self, kind):
        self._precision, self.precision_is_set = kind, True


class _Network(_Held):
    has_implicit_batch_dimension = False
    def __init__(self):
        self.name = "network"
        self.model, self.inputs, self.layers, self.outputs = None, [], [], []
        self.constants = []

    num_layers = property(lambda self: len(self.layers))
    num_inputs = property(lambda self: len(self.inputs))
    num_outputs = property(lambda self: len(self.outputs))

    def get_layer(self, index):
        return self.layers[index]

    __getitem__ = get_layer

    def tensor(self, name):
        made = [t for layer in self.layers for t in layer._outputs]
        return next((t for t in self.inputs + made if t.name == name), None)

    def get_input(self, index):
        return self.inputs[index]

    def get_output(self, index):
        return self.outputs[index]

    def mark_output(self, tensor):
        self.outputs.append(tensor)

    def unmark_output(self, tensor):
        self.outputs = [t for t in self.outputs if t.name != tensor.name]

    def add_input(self, name, dtype, shape):
        self.inputs.append(_Tensor(name, tuple(shape), dtype))
        return self.inputs[-1]

    def _add(self, op, inputs):
        node = onnx.helper.make_node(op, [t.name for t in inputs], [f"layer-{self.num_layers}"])
        self.layers.append(_Layer(node))
        self.layers[-1].node, self.layers[-1].inputs = node, inputs
        self.layers[-1]._network = self
        return self.layers[-1]

    def add_constant(self, shape, weights):
        layer = self._add("Constant", [])
        layer.weights = np.asarray(weights).reshape(shape)
        return layer

    def add_identity(self, tensor):
        return self._add("Identity", [tensor])

    def add_elementwise(self, a, b, op):
        assert op == ElementWiseOperation.SUM
        return self._add("Add", [a, b])

    def as_model(self):
        """The ONNX model that does what the layers do, under the names of now."""
        nodes, weights = [], []
        for layer in self.layers:
            node = layer.node
            made = onnx.NodeProto()
            made.CopyFrom(node)
            if layer.inputs is not None:
                made.input[:] = [t.name for t in layer.inputs]
                made.output[:] = [t.name for t in layer._outputs]
            if layer.weights is not None:
                weights.append(onnx.numpy_helper.from_array(layer.weights, made.output[0]))
            else:
                nodes.append(made)
        kinds = {kind: onnx.helper.np_dtype_to_tensor_dtype(dtype) for dtype, kind in _TYPES.items()}
        inputs = [onnx.helper.make_tensor_value_info(
            t.name, kinds[t.dtype], [None if d < 0 else d for d in t.shape]) for t in self.inputs]
        outputs = [onnx.helper.make_empty_tensor_value_info(t.name) for t in self.outputs]
        known = list(self.model.graph.initializer) if self.model is not None else []
        graph = onnx.helper.make_graph(nodes, self.name, inputs, outputs, known + weights)
        return onnx.helper.make_model(graph, ir_version=8,
                                      opset_imports=[onnx.helper.make_opsetid("", 17)])

    def fill(self, model):
        self.model = model
        for info in model.graph.input:
            kind = info.type.tensor_type
            dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
            shape = tuple(d.dim_value or -1 for d in kind.shape.dim)
            self.inputs.append(_Tensor(info.name, shape, _TYPES[dtype]))
        self.layers = [_Layer(node) for node in model.graph.node]
        for layer in self.layers:
            layer._network = self
        tensors = {t.name: t for layer in self.layers for t in layer._outputs}
        self.outputs = [tensors[info.name] for info in model.graph.output]


class OnnxParser(_Held):
    def __init__(self, network, logger):
        self.network, self.errors = network, []

    num_errors = property(lambda self: len(self.errors))

    def get_error(self, index):
        return self.errors[index]

    def parse_from_file(self, path):
        with open(path, "rb") as file:
            return self.parse(file.read(), path)

    def parse(self, content, path):
        try:
            self.network.fill(onnx.load_from_string(content))
        except KeyError as error:
            self.errors.append(f"In node 0: no importer registered for op {error}")
        return not self.errors


class _Profile:
    def __init__(self):
        self.shapes = {}

    def set_shape(self, name, smallest, best, largest):
        self.shapes[name] = [list(smallest), list(best), list(largest)]

    def __bool__(self):
        return all(a <= b <= c for three in self.shapes.values() for a, b, c in zip(*three))


class _TimingCache:
    def __init__(self, content):
        self.content = content

    def combine(self, other, ignore_mismatch):
        self.content += other.content

    def serialize(self):
        return self.content + b"timed;"


class _Config:
    def __init__(self):
        self.flags, self.profiles, self.pools, self.features = {BuilderFlag.TF32}, [], {}, {}
        self.sources, self.cache = None, None

    def set_flag(self, flag):
        self.flags.add(flag)

    def clear_flag(self, flag):
        self.flags.discard(flag)

    def add_optimization_profile(self, profile):
        self.profiles.append(profile)

    def set_memory_pool_limit(self, pool, size):
        self.pools[pool.name] = size

    def set_tactic_sources(self, sources):
        self.sources = sources

    def set_preview_feature(self, feature, on):
        self.features[feature.name] = on

    def create_timing_cache(self, content):
        return _TimingCache(content)

    def set_timing_cache(self, cache, ignore_mismatch):
        self.cache = cache
        return True

    def get_timing_cache(self):
        return self.cache


class Builder(_Held):
    def __init__(self, logger):
        self.logger = logger

    def create_network(self, flags):
        assert flags == 1, "networks have explicit batch dimensions"
        return _Network()

    def create_builder_config(self):
        return _Config()

    def create_optimization_profile(self):
        return _Profile()

    def build_serialized_network(self, network, config):
        if network.name == "impossible":
            self.logger.log(ILogger.Severity.ERROR, "no implementation for this network")
            return None
        outputs = [tensor.name for tensor in network.outputs]
        journal = {
            "flags": sorted(flag.name for flag in config.flags), "outputs": outputs,
            "network": network.name, "pools": config.pools, "sources": config.sources,
            "features": config.features, "profiles": [p.shapes for p in config.profiles],
            "precisions": {layer.name: layer.precision.name for layer in network.layers},
            "formats": {t.name: t.allowed_formats for t in network.inputs + network.outputs}}
        if "FAKE_TENSORRT_JOURNAL" in os.environ:
            with open(os.environ["FAKE_TENSORRT_JOURNAL"], "a", encoding="utf-8") as file:
                file.write(json.dumps(journal) + "\n")
        model = base64.b64encode(network.as_model().SerializeToString()).decode()
        held = [layer.name for layer in network.layers
                if layer.precision_is_set and layer.precision == DataType.FLOAT]
        if "FAKE_TENSORRT_FUSES" in os.environ:
            made = {name for layer in network.layers if layer.name in held
                    for name in layer.node.output}
            held += [layer.name for layer in network.layers
                     if layer.node.op_type == "Relu" and layer.node.input[0] in made]
        half = BuilderFlag.FP16 in config.flags and "FAKE_TENSORRT_HALF" in os.environ
        return json.dumps({"model": model, "outputs": outputs, "half": half,
                           "held": held}).encode()


class Runtime:
    def __init__(self, logger):
        self.logger = logger

    def deserialize_cuda_engine(self, plan):
        try:
            return _Engine(json.loads(plan))
        except ValueError:
            self.logger.log(ILogger.Severity.ERROR, "the magic tag does not match")
            return None


class _Inspector:
    def __init__(self, engine):
        self.layers, self.execution_context, self.engine = engine.network.layers, None, engine

    def get_layer_information(self, index, form):
        assert form == LayerInformationFormat.JSON and self.execution_context is not None
        layer = self.layers[index]
        info = {"Name": layer.name, "LayerType": layer.type.name, "TacticValue": "0x2"}
        lies = layer.name == os.environ.get("FAKE_TENSORRT_DISOBEYS")
        kind = "FP16" if lies or self.engine.in_half(layer.name) else "FP32"
        for key, names in (("Inputs", layer.node.input), ("Outputs", layer.node.output)):
            info[key] = [{"Name": name, "Dimensions": [-1, 3],
                          "Format/Datatype": f"Row major linear {kind}"} for name in names]
        return json.dumps(info)


class _Engine(_Held):
    name, refittable, device_memory_size, num_optimization_profiles = "fake", False, 512, 1
    profiling_verbosity = ProfilingVerbosity.DETAILED

    def __init__(self, plan):
        model = onnx.load_from_string(base64.b64decode(plan["model"]))
        own = {info.name for info in model.graph.output}
        for name in plan["outputs"]:
            if name not in own:
                model.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
        self.evaluator = reference.ReferenceEvaluator(model)
        self.plan, self.model = plan, model
        self.network = _Network()
        self.network.fill(onnx.load_from_string(base64.b64decode(plan["model"])))
        self.inputs = {t.name: t for t in self.network.inputs}
        self.outputs = plan["outputs"]
        self.names = [*self.inputs, *self.outputs]
        self.num_io_tensors, self.num_layers = len(self.names), self.network.num_layers

    def get_tensor_name(self, index):
        return self.names[index]

    def get_tensor_mode(self, name):
        return TensorIOMode.INPUT if name in self.inputs else TensorIOMode.OUTPUT

    def get_tensor_dtype(self, name):
        return self.inputs[name].dtype if name in self.inputs else DataType.FLOAT

    def get_tensor_shape(self, name):
        return self.inputs[name].shape if name in self.inputs else (-1, 3)

    def get_tensor_profile_shape(self, name, profile):
        assert profile == 0
        return [(1, 3), (2, 3), (4, 3)]

    def in_half(self, layer):
        return self.plan.get("half", False) and layer not in self.plan["held"]

    def run(self, wanted, feed):
        """Each node by itself, in the type that its layer has."""
        if not self.plan.get("half", False):
            return self.evaluator.run(wanted, feed)
        values = {t.name: onnx.numpy_helper.to_array(t) for t in self.model.graph.initializer}
        values.update(feed)
        for node in self.model.graph.node:
            kind = np.float16 if self.in_half(node.name) else np.float32
            with np.errstate(over="ignore"):
                given = {name: values[name].astype(kind) for name in node.input}
                made = reference.ReferenceEvaluator(node).run(None, given)
            values.update({name: np.asarray(value, np.float32)
                           for name, value in zip(node.output, made)})
        return [values[name] for name in wanted]

    def create_engine_inspector(self):
        return _Inspector(self)

    def get_tensor_format(self, name, profile=0):
        return TensorFormat.LINEAR

    def is_shape_inference_io(self, name):
        return False

    def create_execution_context(self):
        return _Context(self)


class _Context(_Held):
    active_optimization_profile = 0

    def __init__(self, engine):
        self.engine, self.shapes, self.addresses, self.allocators = engine, {}, {}, {}

    def set_optimization_profile_async(self, profile, stream):
        return profile == 0

    def set_output_allocator(self, name, allocator):
        self.allocators[name] = allocator

    def set_input_shape(self, name, shape):
        self.shapes[name] = tuple(shape)
        return len(shape) == len(self.engine.inputs[name].shape)

    def set_tensor_address(self, name, address):
        self.addresses[name] = address

    def execute_async_v3(self, stream):
        feed = {}
        for name, shape in self.shapes.items():
            content = ctypes.string_at(self.addresses[name], 4 * math.prod(shape))
            feed[name] = np.frombuffer(content, np.float32).reshape(shape)
        wanted = self.engine.outputs
        for name, array in zip(wanted, self.engine.run(wanted, feed)):
            allocator = self.allocators[name]
            address = allocator.reallocate_output(name, 0, array.nbytes, 256)
            content = np.ascontiguousarray(array)
            ctypes.memmove(address, content.ctypes.data, array.nbytes)
            allocator.notify_shape(name, array.shape)
        return True
