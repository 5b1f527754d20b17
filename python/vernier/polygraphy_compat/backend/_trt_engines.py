"""TensorRT's engines: built by vernier when they are opened, saved or wanted as bytes."""

import copy
import os
import shutil
import sys
import tempfile

import vernier
from vernier import InvalidArgument, _commands
from vernier._errors import SaveError
from vernier._polygraphy.arguments import kind_of
from vernier._polygraphy.backend.common import call
from vernier._polygraphy.backend.trt import in_python
from vernier._polygraphy.backend.trt.networks import CreateConfig, LoadPlugins, Network
from vernier._words import words

__all__ = ["BytesFromEngine", "Calibrator", "EngineBytesFromNetwork", "EngineFromBytes",
           "EngineFromNetwork", "EngineFromPath", "SaveEngine", "bytes_from_engine",
           "engine_bytes_from_network", "engine_from_bytes", "engine_from_network",
           "engine_from_path", "save_engine"]


class Engine:
    """What can be opened; called, it gives itself."""

    saved_at = None
    plugins = ()

    def __init__(self):
        self._folder = None

    def __call__(self):
        return self

    def model_and_options(self):
        """A path or bytes, and the options of the runner that opens them."""
        model, options = self._source()
        if self.plugins:
            options["plugins"] = [*options.get("plugins", ()), *self.plugins]
        if self.saved_at is not None and options.get("model_type") == "engine":
            _copy(model, self.saved_at)
        elif self.saved_at is not None:
            options["save_engine"] = self.saved_at
        return model, options

    def _source(self):
        raise NotImplementedError

    def create_execution_context(self):
        """For a TrtRunner: each has a context of its own."""
        return Context(self)

    def build(self, path, more=()):
        """Writes the engine now."""
        model, options = self._source()
        if options.get("model_type") == "engine":
            _copy(model, path)
            return
        if self.plugins:
            options["plugins"] = [*options.get("plugins", ()), *self.plugins]
        if not isinstance(model, str):
            model = self.scratch("model.onnx", model)
        _commands.run(["convert", model, "-o", path, "--python", sys.executable, *more,
                      *words("convert", options)])

    def scratch(self, name, content=None):
        """The path of a file that lives as long as this object."""
        self._folder = self._folder or tempfile.TemporaryDirectory(prefix="vernier-")
        path = os.path.join(self._folder.name, name)
        if content is not None:
            with open(path, "wb") as file:
                file.write(content)
        return path

    def serialize(self):
        """The engine's bytes."""
        path = self.scratch("serialized.engine")
        self.build(path)
        with open(path, "rb") as file:
            return file.read()


def _copy(engine, path):
    """An engine, in a file or as bytes, to a path."""
    try:
        if isinstance(engine, (bytes, bytearray)):
            with open(path, "wb") as file:
                file.write(engine)
        elif os.path.abspath(engine) != os.path.abspath(path):
            shutil.copyfile(engine, path)
    except OSError as error:
        raise SaveError(f"'{path}' cannot be written: {error.strerror}") from error


class Context:
    """A context of an engine, before a runner opens it."""

    def __init__(self, engine):
        self.engine = engine

    def model_and_options(self):
        return self.engine.model_and_options()


class Calibrator:
    """Feeds to calibrate int8 with, and the file that keeps what was found out.

    The program calibrates with them; TensorRT's own Python interface cannot take this object.
    batch_size is for networks with an implicit batch, which there are none of: it says nothing.
    """

    def __init__(self, data_loader, cache=None, BaseClass=None,  # noqa: N803  # Polygraphy's name
                 batch_size=None, quantile=None, regression_cutoff=None, algo=None):
        if algo is not None:
            raise vernier.Unimplemented("Calibrator: algo: TensorRT's class has one of its own")
        self.data_loader = data_loader
        self.options = {"calibration_cache": cache, "quantile": quantile,
                        "calibration_base_class": getattr(BaseClass, "__name__", BaseClass),
                        "regression_cutoff": regression_cutoff}

    def save_feeds(self, path):
        """Writes the feeds, unless the cache makes them needless; is there a file?"""
        cache = self.options["calibration_cache"]
        if cache is not None and os.path.exists(cache) and os.path.getsize(cache) > 0:
            return False
        feeds = list(call(self.data_loader))
        if not feeds:
            raise vernier.InvalidArgument("Calibrator: data_loader has no feeds to calibrate with")
        vernier.save_inputs(feeds, path)
        return True


class EngineFromNetwork(Engine):
    """An engine that is built when a runner opens it, or when it is saved.

    Where the network or the configuration is TensorRT's own, its Python module builds, once.
    """

    def __init__(self, network, config=None, save_timing_cache=None):
        super().__init__()
        self.network, self.config, self.save_timing_cache = network, config, save_timing_cache
        self._plan = None

    def _source(self):
        if self._plan is not None:
            return self._plan, {"model_type": "engine"}
        network, options = self.network, {}
        if isinstance(network, LoadPlugins):
            network, options = network.obj, {"plugins": network.plugins}
        if callable(network) and not isinstance(network, Network):
            network = call(network)
        config = self.config
        if not (isinstance(network, Network) and network.for_vernier()
                and (config is None or isinstance(config, CreateConfig))):
            self._plan = self._built_in_python(network, config)
            return self._plan, {"model_type": "engine"}
        options.update(network.options)
        options.update(config.options if config is not None else {})
        if self.save_timing_cache is not None:
            options["save_timing_cache"] = self.save_timing_cache
        model = call(network.path)
        model = bytes(model) if isinstance(model, (bytes, bytearray)) else os.fspath(model)
        if config is None or config.calibrator is None:
            return model, options
        return self._calibrated(model, options, config.calibrator), {"model_type": "engine"}

    def _calibrated(self, model, options, calibrator):
        """The path of an engine: runners alone have no feeds to calibrate with."""
        path, feeds = self.scratch("calibrated.engine"), self.scratch("feeds.npz")
        more = ["--load-inputs", feeds] if calibrator.save_feeds(feeds) else []
        plain = _Plain(model, options)
        plain.plugins = self.plugins
        plain.build(path, more)
        self._plan = path
        return path

    def _built_in_python(self, network, config):
        made = tuple(network)
        if len(made) < 2:
            raise InvalidArgument("EngineFromNetwork: network: expected a builder and a network")
        builder, network = made[:2]
        config = CreateConfig() if config is None else config
        if callable(config):
            config = config(builder, network)
        return in_python.build(builder, network, config, self.save_timing_cache)


class _Plain(Engine):
    """A model and options, as the program has them."""

    def __init__(self, model, options):
        super().__init__()
        self.model, self.options = model, options

    def _source(self):
        return self.model, dict(self.options)


class EngineBytesFromNetwork:
    """Called, it builds; what it gives is bytes."""

    def __init__(self, network, config=None, save_timing_cache=None):
        self.engine = EngineFromNetwork(network, config, save_timing_cache)

    def __call__(self):
        return self.engine.serialize()


class EngineFromPath(Engine):
    def __init__(self, path, runtime=None):  # runners bring their own
        super().__init__()
        self.path = path

    def _source(self):
        return os.fspath(call(self.path)), {"model_type": "engine"}


class EngineFromBytes(Engine):
    def __init__(self, serialized_engine, runtime=None):
        super().__init__()
        self.source = serialized_engine

    def _source(self):
        return call(self.source), {"model_type": "engine"}


class SaveEngine:
    """Saves the engine of a loader when it has been built."""

    def __init__(self, engine, path):
        self.engine = copy.copy(_engine(engine))
        self.engine.saved_at = os.fspath(path)

    def __call__(self):
        return self.engine

    def model_and_options(self):
        return self.engine.model_and_options()


class BytesFromEngine:
    def __init__(self, engine):
        self.engine = engine

    def __call__(self):
        return _engine(self.engine).serialize()


def _engine(engine):
    engine = call(engine)
    if not isinstance(engine, Engine):
        raise vernier.Unimplemented(f"{kind_of(engine)} is no engine of this package: save "
                                    "it to a file, and load that with EngineFromPath")
    return engine


def engine_from_network(network, config=None, **settings):
    return EngineFromNetwork(network, config, **settings)


def engine_bytes_from_network(network, config=None, **settings):
    return EngineBytesFromNetwork(network, config, **settings)()


def engine_from_bytes(serialized_engine, runtime=None):
    return EngineFromBytes(serialized_engine, runtime)


def engine_from_path(path, runtime=None):
    return EngineFromPath(path, runtime)


def bytes_from_engine(engine):
    return BytesFromEngine(engine)()


def save_engine(engine, path):
    """Builds the engine now, and writes it; it is opened from that file from now on."""
    made, path = _engine(engine), os.fspath(path)
    made.build(path)
    if isinstance(made, EngineFromNetwork):
        made._plan = os.path.abspath(path)
    return made
