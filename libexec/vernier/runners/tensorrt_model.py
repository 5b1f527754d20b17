"""--trt by the `tensorrt` module of the user's Python: for scripts that touch the builder, and where
no plug-in of vernier fits the TensorRT that is installed.
"""

import ctypes
import fcntl
import os
import sys

import numpy as np

from vernier_worker import tensors, wire

import cuda_driver
import trt_config
import trt_network
import trt_report
from trt_options import Options, refuse
from trt_report import describe_plan, type_name

def make_logger(trt):
    letters = {"INTERNAL_ERROR": "E", "ERROR": "E", "WARNING": "W", "INFO": "V"}

    class Logger(trt.ILogger):
        def __init__(self):
            trt.ILogger.__init__(self)
            self.errors = []

        def log(self, severity, text):
            letter = letters.get(severity.name, "X")
            if letter == "E":
                self.errors.append(text)
            print(f"[{letter}] {text}")

        def why(self):
            errors, self.errors = self.errors, []
            return "; ".join(errors) or "it gave no reason"
    return Logger()


def numpy_type(dtype):
    name = type_name(dtype)
    extra = tensors.EXTRA_CODES.get(name)
    return np.dtype(name) if extra is None else tensors.dtype_of(extra)


def write_file(path, content):
    """A file that appears whole or not at all."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def save_timing_cache(config, path):
    """With what the file holds already, under the lock that Polygraphy takes."""
    with open(path + ".lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cache = config.get_timing_cache()
        if cache is None:
            refuse("--save-timing-cache: the configuration has no timing cache", wire.BACKEND)
        if os.path.exists(path) and os.path.getsize(path) > 0:
            with open(path, "rb") as file:
                cache.combine(config.create_timing_cache(file.read()), ignore_mismatch=True)
        print(f"[I] Saving timing cache to {path}")
        write_file(path, bytes(cache.serialize()))


def build(trt, logger, path, model_bytes, options):
    """A serialized engine, and the precisions that its layers were given."""
    if options.value("model_type") == "trt-network-script":
        builder, network, parser = trt_network.from_script(path, options)
    else:
        builder = trt.Builder(logger)
        network = trt_network.create(trt, builder, options)
        parser = trt_network.parse(trt, network, logger, path, model_bytes, options)
    trt_network.edit(trt, network, options)
    config, kept = trt_config.make(trt, builder, network, options)
    print("[I] Building the engine")
    plan = builder.build_serialized_network(network, config)
    del parser, kept
    if plan is None:
        refuse(f"TensorRT could not build the engine: {logger.why()}", wire.BACKEND)
    if options.on("save_timing_cache"):
        save_timing_cache(config, options.value("save_timing_cache"))
    content = bytes(plan)
    if options.on("save_engine"):
        print(f"[I] Saving engine to {options.value('save_engine')}")
        write_file(options.value("save_engine"), content)
    return content, trt_network.asked_precisions(network)


def make_allocator(trt, driver):
    """Memory for outputs, and the shapes that they got."""
    class Allocator(trt.IOutputAllocator):
        def __init__(self):
            trt.IOutputAllocator.__init__(self)
            self.buffer = cuda_driver.Buffer(driver)
            self.shape = ()

        def reallocate_output(self, name, memory, size, alignment):
            return self.buffer.resize(size)

        def reallocate_output_async(self, name, memory, size, alignment, stream):
            return self.buffer.resize(size)

        def notify_shape(self, name, shape):
            self.shape = tuple(shape)
    return Allocator()


class Engine:
    """An engine, ready to run."""

    def __init__(self, trt, logger, plan, options, declared):
        self.trt, self.logger = trt, logger
        self.driver = cuda_driver.Driver()
        self.runtime = trt.Runtime(logger)
        if hasattr(self.runtime, "engine_host_code_allowed"):
            allowed = options.value("model_type") != "engine" or options.on("allow_engine_code")
            self.runtime.engine_host_code_allowed = allowed
        self.engine = self.runtime.deserialize_cuda_engine(plan)
        if self.engine is None:
            refuse(f"{describe_plan(plan)} cannot be used by TensorRT {trt.__version__} on this "
                   f"{self.driver.name}: {logger.why()}", wire.MALFORMED)
        self.context = self.engine.create_execution_context()
        if self.context is None:
            refuse(f"TensorRT made no execution context: {logger.why()}", wire.BACKEND)
        profile = options.number("optimization_profile", "--optimization-profile")
        if profile is not None and not self.context.set_optimization_profile_async(
                profile, self.driver.stream):
            refuse(f"--optimization-profile: Failed to set optimization profile to: {profile}")
        self.driver.synchronize()
        self.buffers, self.allocators, self.kept = {}, {}, {}
        names = [self.engine.get_tensor_name(i) for i in range(self.engine.num_io_tensors)]
        inputs = [n for n in names if self.engine.get_tensor_mode(n) == trt.TensorIOMode.INPUT]
        self.input_metadata = {n: (self._type_of(n, declared.get(n)),
                                   list(self.engine.get_tensor_shape(n))) for n in inputs}
        for name in names:
            if name not in inputs:
                self.allocators[name] = make_allocator(trt, self.driver)
                self.context.set_output_allocator(name, self.allocators[name])
        self.device, self.precision = self.driver.name, "not reported by the engine"

    def _type_of(self, name, declared):
        """Of what is fed: an int64 of the model stays one, see _array_for."""
        own = type_name(self.engine.get_tensor_dtype(name))
        return "int64" if own == "int32" and declared == np.int64 else own

    def _array_for(self, name, array):
        """As the engine takes it: TensorRT before 10 makes int32 of a model's int64."""
        wanted = numpy_type(self.engine.get_tensor_dtype(name))
        array = np.ascontiguousarray(array)
        if array.dtype == wanted:
            return array
        if array.dtype == np.int64 and wanted == np.int32:
            narrow = array.astype(np.int32)
            if np.array_equal(narrow, array):
                return narrow
            refuse(f"input '{name}' holds numbers beyond int32, as which this TensorRT computes")
        refuse(f"input '{name}' is {array.dtype}, and the engine takes {wanted}")

    def infer(self, feed):
        for name in self.input_metadata:
            if name not in feed:
                refuse(f"input '{name}' was not supplied")
            array = self.kept[name] = self._array_for(name, feed[name])
            if not self.context.set_input_shape(name, array.shape):
                refuse(f"input '{name}': the engine does not take this shape: {self.logger.why()}")
            if self.engine.is_shape_inference_io(name):
                address = array.ctypes.data  # read on the host
            else:
                buffer = self.buffers.setdefault(name, cuda_driver.Buffer(self.driver))
                buffer.write(array)
                address = buffer.address
            self.context.set_tensor_address(name, address)
        if not self.context.execute_async_v3(self.driver.stream):
            refuse(f"TensorRT could not run the engine: {self.logger.why()}", wire.BACKEND)
        self.driver.synchronize()
        return {name: self._output(name) for name in self.allocators}

    def _output(self, name):
        if self.engine.get_tensor_format(name) != self.trt.TensorFormat.LINEAR:
            refuse(f"output '{name}' has a format that is not read where TensorRT runs in Python",
                   wire.UNIMPLEMENTED)
        allocator = self.allocators[name]
        array = np.empty(allocator.shape, numpy_type(self.engine.get_tensor_dtype(name)))
        allocator.buffer.read_into(array)
        return array

    def close(self):
        self.context = self.engine = self.runtime = None
        for buffer in [*self.buffers.values(), *(a.buffer for a in self.allocators.values())]:
            buffer.free()


def load(model_path, lists, model_bytes=None, declared=None):
    """An ONNX model that is built, or an engine file. `declared` has the types of its inputs."""
    import tensorrt as trt
    options = Options(lists)
    trt_config.refuse_what_the_plugin_does(options)
    if options.value("model_type") in ("uff", "caffe"):
        refuse(f"{options.value('model_type')} models are not read where TensorRT runs in Python: "
               "convert them to ONNX", wire.UNAVAILABLE)
    print(f"[I] TensorRT {trt.__version__} runs in Python ({sys.executable})")
    for path in options.words("plugins") or []:
        ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    logger = make_logger(trt)
    trt.init_libnvinfer_plugins(logger, "")
    if options.value("model_type") == "engine":
        with open(model_path, "rb") as file:
            plan, asked = file.read(), None
    else:
        plan, asked = build(trt, logger, model_path, model_bytes, options)
    engine = Engine(trt, logger, plan, options, declared or {})
    wanted = options.value("model_type") == "engine" or options.on("node_precisions")
    if wanted and options.on("engine_report"):
        trt_report.write(options.value("engine_report"), trt, engine.engine, engine.context, asked)
    return engine
