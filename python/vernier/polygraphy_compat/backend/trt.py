"""TensorRT: loaders say what is to be built, and TrtRunner has vernier build it."""

import copy
import os
import subprocess

import vernier
from vernier.__main__ import program
from vernier._words import words

from .base import FrameworkRunner
from .common import call

# Arguments of CreateConfig that are options of the program.
SWITCHES = ("tf32", "fp16", "int8", "bf16", "fp8", "refittable", "strip_plan",
            "version_compatible", "direct_io", "use_dla", "allow_gpu_fallback",
            "disable_compilation_cache", "weight_streaming", "sparse_weights")
VALUES = ("profiling_verbosity", "builder_optimization_level", "max_aux_streams",
          "precision_constraints", "load_timing_cache", "hardware_compatibility_level",
          "runtime_platform", "quantization_flags", "error_on_timing_cache_miss")


# Those of NetworkFromOnnxPath and of TrtRunner.
NETWORK = {"plugin_instance_norm": "plugin_instancenorm", "strongly_typed": "strongly_typed",
           "mark_unfused_tensors_as_debug_tensors": "mark_unfused_tensors_as_debug_tensors"}
RUNNER = {"optimization_profile": "optimization_profile",
          "allocation_strategy": "allocation_strategy",
          "weight_streaming_budget": "weight_streaming_budget"}


def _options(who, settings, known):
    """The program's options of Polygraphy's arguments."""
    options = {}
    for name, value in settings.items():
        if name not in known:
            raise vernier.Unimplemented(f"{who}: vernier has no '{name}'")
        if value is not None and value is not False:
            options[known[name]] = getattr(value, "name", value)
    return options


class Profile(dict):
    """Shapes of inputs: names to (min, opt, max)."""

    def add(self, name, min, opt, max):  # noqa: A002  # Polygraphy's names
        self[name] = (tuple(min), tuple(opt), tuple(max))
        return self


class CreateConfig:
    """How an engine is built. What vernier has no option for is refused by its name."""

    def __init__(self, profiles=None, memory_pool_limits=None, calibrator=None, **settings):
        self.options = {}
        if calibrator is not None:
            raise vernier.Unimplemented(
                "CreateConfig: calibrator: calibrators in Python are not taken; give vernier.run or "
                "the program int8=True and feeds to calibrate with")
        self.options.update(_options("CreateConfig", settings, {n: n for n in SWITCHES + VALUES}))
        for index, shapes in enumerate(("trt_min_shapes", "trt_opt_shapes", "trt_max_shapes")):
            for profile in profiles or []:
                entry = {name: list(three[index]) for name, three in profile.items()}
                if entry:
                    self.options.setdefault(shapes, []).append(entry)
        if memory_pool_limits:
            self.options["pool_limit"] = {getattr(pool, "name", str(pool)).lower(): limit
                                          for pool, limit in memory_pool_limits.items()}

    def __call__(self, *_):
        return self


class NetworkFromOnnxPath:
    def __init__(self, path, **settings):
        self.path = path
        self.options = _options("NetworkFromOnnxPath", settings, NETWORK)

    def __call__(self):
        return self


class EngineFromNetwork:
    """An engine that is built when a runner opens it, or when it is saved."""

    def __init__(self, network, config=None, save_timing_cache=None):
        self.network, self.config, self.save_timing_cache = network, config, save_timing_cache
        self.saved_at = None

    def __call__(self):
        return self

    def model_and_options(self):
        network = call(self.network)
        network = network[0] if isinstance(network, tuple) else network
        config = call(self.config)
        options = dict(network.options)
        if config is not None:
            options.update(config.options)
        if self.save_timing_cache is not None:
            options["save_timing_cache"] = self.save_timing_cache
        if self.saved_at is not None:
            options["save_engine"] = self.saved_at
        return os.fspath(network.path), options


class EngineBytesFromNetwork(EngineFromNetwork):
    pass


class EngineFromPath:
    def __init__(self, path, runtime=None):  # runners bring their own
        self.path = path

    def __call__(self):
        return self

    def model_and_options(self):
        return os.fspath(self.path), {"model_type": "engine"}


class EngineFromBytes:
    def __init__(self, serialized_engine, runtime=None):
        self.source = serialized_engine

    def __call__(self):
        return self

    def model_and_options(self):
        return self.source, {"model_type": "engine"}


class SaveEngine:
    """Saves the engine of a loader when it has been built."""

    def __init__(self, engine, path):
        self.engine = copy.copy(call(engine))
        self.engine.saved_at = os.fspath(path)

    def __call__(self):
        return self.engine

    def model_and_options(self):
        return self.engine.model_and_options()


class TrtRunner(FrameworkRunner):
    def __init__(self, engine, name=None, **settings):
        super().__init__(name, "trt-runner")
        self.engine = engine
        self.options = _options("TrtRunner", settings, RUNNER)

    def vernier_runner(self):
        model, options = call(self.engine).model_and_options()
        return vernier.TensorRt(self.path_of(model), name=self.name, **{**options, **self.options})


def create_config(builder=None, network=None, **settings):
    return CreateConfig(**settings)


def network_from_onnx_path(path, **settings):
    return NetworkFromOnnxPath(path, **settings)


def engine_from_network(network, config=None, **settings):
    return EngineFromNetwork(network, config, **settings)


def engine_from_bytes(serialized_engine, runtime=None):
    return EngineFromBytes(serialized_engine, runtime)


def engine_from_path(path, runtime=None):
    return EngineFromPath(path, runtime)


def save_engine(engine, path):
    """Builds the engine now, and writes it."""
    model, options = SaveEngine(engine, path).model_and_options()
    options.pop("save_engine", None)
    done = subprocess.run([program(), "convert", model, "-o", os.fspath(path),
                           *words("convert", options)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        from vernier._errors import of_exit
        reason = done.stderr.strip().removeprefix("[!] ") or done.stdout.strip()
        raise of_exit(done.returncode, reason)
    return EngineFromPath(path)
