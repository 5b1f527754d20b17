"""Networks and configurations of TensorRT's own Python module, for scripts that touch them.

The work is that of the program's runner for TensorRT in Python (libexec/vernier/runners).
"""

import contextlib
import functools
import importlib
import json
import os
import sys
import types

from ... import errors

# Of libexec/vernier/shim/polygraphy/backend/trt.
_LIBEXEC = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                         *[os.pardir] * 4))
_kept = []  # what TensorRT holds on to without owning it


@functools.lru_cache(maxsize=None)
def _own():
    """tensorrt, and the modules of the runner."""
    try:
        trt = importlib.import_module("tensorrt")
    except ImportError as error:
        raise errors.Unavailable(
            "a network or configuration that Python works on needs TensorRT's own "
            f"Python module: {error}") from error
    folders = [_LIBEXEC, os.path.join(_LIBEXEC, "runners")]
    sys.path[:0] = folders
    try:
        names = ("trt_config", "trt_network", "trt_options", "tensorrt_model")
        found = {name: importlib.import_module(name) for name in names}
        wire = importlib.import_module("vernier_worker.wire")
    finally:
        del sys.path[:len(folders)]
    return types.SimpleNamespace(trt=trt, wire=wire, **found)


@contextlib.contextmanager
def _runner():
    """The modules; what the runner refuses becomes an exception of this package."""
    own = _own()
    try:
        yield own
    except own.wire.Failure as failure:
        raise errors.of_failure(failure) from failure


@functools.lru_cache(maxsize=None)
def config_arguments():
    """The arguments of CreateConfig that are options of the program, by the same name."""
    with open(os.path.join(_LIBEXEC, "tensorrt_options.json"), encoding="utf-8") as file:
        return json.load(file)["arguments"]


def create_network(settings):
    """An empty network and its builder."""
    with _runner() as own:
        logger = own.tensorrt_model.make_logger(own.trt)
        own.trt.init_libnvinfer_plugins(logger, "")
        builder = own.trt.Builder(logger)
        _kept.append(logger)
        options = own.trt_options.of_keywords(**settings)
        return builder, own.trt_network.create(own.trt, builder, options)


def parse(model, settings):
    """Builder, network and parser of an ONNX file, or of its bytes."""
    builder, network = create_network(settings)
    with _runner() as own:
        is_bytes = isinstance(model, bytes)
        content, path = (model, "the model") if is_bytes else (None, os.fspath(model))
        parser = own.trt_network.parse(own.trt, network, _kept[-1], path, content,
                                       own.trt_options.of_keywords(**settings))
        return builder, network, parser


def edit(network, settings):
    """Marks outputs and sets types, as the program's options do."""
    with _runner() as own:
        own.trt_network.edit(own.trt, network, own.trt_options.of_keywords(**settings))


def make_config(builder, network, settings, profiles):
    with _runner() as own:
        options = own.trt_options.of_keywords(**settings)
        lines = own.trt_options.profile_lines(profiles)
        if lines:
            options.lists["profile"] = lines
        config, kept = own.trt_config.make(own.trt, builder, network, options)
        _kept.append(kept)
        return config


def build(builder, network, config, timing_cache):
    """The bytes of an engine."""
    with _runner() as own:
        plan = builder.build_serialized_network(network, config)
        if plan is None:
            reason = getattr(builder.logger, "why", str)() or "it gave no reason"
            own.trt_options.refuse(f"TensorRT could not build the engine: {reason}",
                                   own.wire.BACKEND)
        if timing_cache is not None:
            own.tensorrt_model.save_timing_cache(config, os.fspath(timing_cache))
        return bytes(plan)
