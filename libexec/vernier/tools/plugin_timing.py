"""How fast a network is under TensorRT: for plugin autotune."""

import dataclasses
import os
import sys
import time

import numpy as np

from vernier_worker import scripts, wire

from tool_kit import need, refuse, say

RUNNERS = os.path.join(os.path.dirname(scripts.OWN_FOLDER), "runners")
WORKSPACE = 1 << 32
WARM_UP, RUNS = 2, 10


@dataclasses.dataclass
class Speed:
    latency: float  # milliseconds
    memory: float  # MiB of inputs and outputs

    def better_than(self, other):
        return (self.latency, self.memory) < (other.latency, other.memory)

    def __str__(self):
        rate = 1000 / self.latency if self.latency > 0 else 0
        return (f"Latency: {self.latency:.2f}ms, Throughput: {rate:.2f}fps, "
                f"Memory: {self.memory:.2f}MB")


class Timing:
    """Builds engines of ONNX files and measures them."""

    def __init__(self, options):
        if RUNNERS not in sys.path:
            sys.path.insert(0, RUNNERS)
        import cuda_driver
        import trt_config
        import trt_options
        self.trt = need("tensorrt", "tensorrt", "plugin autotune")
        self.driver = cuda_driver.Driver()
        self.buffer = cuda_driver.Buffer
        self.logger = self.trt.Logger(self.trt.Logger.WARNING)
        self.builder = self.trt.Builder(self.logger)
        self.config = self.builder.create_builder_config()
        # cuBLAS and cuDNN, where they are missing, would fail the build deep inside.
        trt_config.set_tactic_sources(self.trt, self.config, trt_options.Options({}))
        self.builds, self.build_seconds = 0, 0.0
        self.cache_path = options.value("timing_cache")
        if "no_timing_cache" not in options:
            self._load_cache()

    def _load_cache(self):
        content = b""
        if self.cache_path and os.path.exists(self.cache_path):
            with open(self.cache_path, "rb") as file:
                content = file.read()
        self.config.set_timing_cache(self.config.create_timing_cache(content), False)

    def save_cache(self):
        cache = self.config.get_timing_cache() if self.cache_path else None
        if cache is None:
            return
        os.makedirs(os.path.dirname(os.path.abspath(self.cache_path)), exist_ok=True)
        with open(self.cache_path, "wb") as file:
            file.write(bytes(cache.serialize()))

    def _network(self, path):
        explicit = getattr(self.trt.NetworkDefinitionCreationFlag, "EXPLICIT_BATCH", None)
        network = self.builder.create_network(0 if explicit is None else 1 << int(explicit))
        parser = self.trt.OnnxParser(network, self.logger)
        with open(path, "rb") as file:
            if parser.parse(file.read(), path):
                return network, parser
        errors = "\n".join(f"ONNX parser error {i}: {parser.get_error(i)}"
                           for i in range(parser.num_errors))
        raise RuntimeError("Failed to parse ONNX model:\n" + errors)

    def measure(self, path):
        """Raises RuntimeError for a model that TensorRT does not take."""
        network, _parser = self._network(path)
        start = time.perf_counter()
        self.config.set_memory_pool_limit(self.trt.MemoryPoolType.WORKSPACE, WORKSPACE)
        plan = self.builder.build_serialized_network(network, self.config)
        self.builds += 1
        self.build_seconds += time.perf_counter() - start
        if plan is None:
            raise RuntimeError("Failed to build TensorRT engine")
        engine = self.trt.Runtime(self.logger).deserialize_cuda_engine(plan)
        return self._run(engine)

    def _bind(self, engine, context):
        """Device memory for every tensor, and how many bytes that is."""
        import tensorrt_model
        random, buffers, total = np.random.default_rng(0), [], 0
        for i in range(engine.num_io_tensors):
            name = engine.get_tensor_name(i)
            shape = tuple(engine.get_tensor_shape(name))
            if any(dim < 0 for dim in shape):
                raise RuntimeError(f"tensor '{name}' has the shape {shape}: autotune needs a model "
                                   "with static shapes")
            array = random.random(shape).astype(tensorrt_model.numpy_type(
                engine.get_tensor_dtype(name)))
            buffer = self.buffer(self.driver)
            buffer.write(array)
            context.set_tensor_address(name, buffer.address)
            buffers.append(buffer)
            total += array.nbytes
        return buffers, total

    def _run(self, engine):
        context = engine.create_execution_context()
        buffers, total = self._bind(engine, context)
        seconds = []
        try:
            for number in range(WARM_UP + RUNS):
                start = time.perf_counter()
                if not context.execute_async_v3(self.driver.stream):
                    raise RuntimeError("TensorRT execute_async_v3 returned False")
                self.driver.synchronize()
                if number >= WARM_UP:
                    seconds.append(time.perf_counter() - start)
        finally:
            for buffer in buffers:
                buffer.free()
        return Speed(1000 * sum(seconds) / len(seconds), total / 2**20)


def load_extensions(options):
    """Plugins in Python and in libraries. One that cannot be loaded is a warning."""
    import ctypes
    import importlib.util
    for key, what in (("python_plugins", "Plugin file"), ("plugin_libraries", "Library")):
        if options.words(key):
            say("Importing Python plugin modules..." if key == "python_plugins"
                else "Loading plugin libraries...")
        for path in options.words(key):
            if not os.path.isfile(path):
                say(f"  {what} not found: {path}", "W")
                continue
            try:
                if key == "plugin_libraries":
                    ctypes.CDLL(path)
                else:
                    spec = importlib.util.spec_from_file_location(
                        "vernier_plugin_" + os.path.splitext(os.path.basename(path))[0], path)
                    spec.loader.exec_module(importlib.util.module_from_spec(spec))
            except Exception as error:
                say(f"  Failed to load {path}: {error}", "W")
                continue
            say(f"  Loaded: {os.path.basename(path)}")


def check_model(path):
    if not path.endswith(".onnx"):
        refuse("Input must be an ONNX file")
    if not os.path.exists(path):
        refuse(f"'{path}' cannot be read: No such file or directory", wire.MALFORMED)
