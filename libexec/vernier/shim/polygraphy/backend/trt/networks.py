"""TensorRT's networks and configurations: said to vernier, which builds them, or made by TensorRT's
Python module where a script wants its objects."""

import copy
import os

from ... import errors
from ...constants import MARK_ALL
from ..common import call
from . import in_python

# Those of the loaders of networks.
PARSER = {"flags": "onnx_flags", "plugin_instancenorm": "plugin_instancenorm",
          "strongly_typed": "strongly_typed",
          "mark_unfused_tensors_as_debug_tensors": "mark_unfused_tensors_as_debug_tensors"}
# TensorRT's names of types, and the program's.
TYPES = {"FLOAT": "float32", "HALF": "float16", "BF16": "bfloat16", "FP8": "float8"}


def options_of(who, settings, known):
    """The program's options of Polygraphy's arguments."""
    options = {}
    for name, value in settings.items():
        if value is None:
            continue
        if name not in known:
            raise errors.Unimplemented(f"{who}: vernier has no '{name}'")
        if value is not False:
            options[known[name]] = _plain(value)
    return options


def _plain(value):
    """Members of TensorRT's enumerations by their names."""
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(entry) for entry in value]
    name = getattr(value, "name", value)
    return TYPES.get(name, name) if isinstance(name, str) else name


class Profile(dict):
    """Shapes of inputs: names to (min, opt, max)."""

    def add(self, name, min, opt, max):  # noqa: A002  # Polygraphy's names
        self[name] = (tuple(min), tuple(opt), tuple(max))
        return self


class CreateConfig:
    """How an engine is built. What vernier has no option for is refused by its name."""

    def __init__(self, profiles=None, memory_pool_limits=None, calibrator=None, **settings):
        if calibrator is not None and not hasattr(calibrator, "save_feeds"):
            raise errors.Unimplemented("CreateConfig: calibrator: expected a Calibrator of this "
                                        "package: TensorRT's own are not taken")
        self.calibrator, self.profiles = calibrator, list(profiles or ())
        if len(self.profiles) > 1 and not all(self.profiles):
            raise errors.Unimplemented("CreateConfig: profiles: one of several is empty: add its "
                                        "shapes, as vernier cannot leave them to the network")
        known = {name: name for name in in_python.config_arguments()}
        self.settings = options_of("CreateConfig", settings, known)
        if calibrator is not None:
            self.settings.update((k, v) for k, v in calibrator.options.items() if v is not None)
        self.options = dict(self.settings)
        for index, shapes in enumerate(("trt_min_shapes", "trt_opt_shapes", "trt_max_shapes")):
            for profile in self.profiles:
                entry = {name: list(three[index]) for name, three in profile.items()}
                if entry:
                    self.options.setdefault(shapes, []).append(entry)
        if memory_pool_limits:
            limits = {getattr(pool, "name", str(pool)).lower(): limit
                      for pool, limit in memory_pool_limits.items()}
            self.options["pool_limit"] = self.settings["memory_pool_limit"] = limits

    def __call__(self, builder, network):
        """TensorRT's configuration, of its Python module."""
        return in_python.make_config(builder, network, self.settings, self.profiles)


def create_config(builder=None, network=None, **settings):
    """TensorRT's own object where the builder and the network are."""
    config = CreateConfig(**settings)
    return config if builder is None or isinstance(builder, Network) else config(builder, network)


class PostprocessConfig:
    """A configuration that a function of Python has changed."""

    def __init__(self, config, func):
        self.config, self.func = config, func

    def __call__(self, builder, network):
        config = self.config(builder, network) if callable(self.config) else self.config
        self.func(builder=builder, network=network, config=config)
        return config


class Network:
    """A network as it was asked for. Called, or unpacked, it becomes TensorRT's own objects, and an
    engine is then built of those."""

    def __init__(self, path, options):
        self.path, self.options = path, options
        self._made = None

    def __call__(self):
        self._made = None  # each call makes one, as Polygraphy's loaders do
        return self._objects()

    def _objects(self):
        if self._made is None:
            self._made = self._make()
        return self._made

    def _make(self):
        return in_python.parse(call(self.path), self.options)

    def __iter__(self):
        return iter(self._objects())

    def __getitem__(self, index):
        return self._objects()[index]

    def for_vernier(self):
        """Whether no script has TensorRT's objects, so that the program can do all of it."""
        return self._made is None and self.path is not None


class NetworkFromOnnxPath(Network):
    def __init__(self, path, **settings):
        super().__init__(path, options_of("NetworkFromOnnxPath", settings, PARSER))


class NetworkFromOnnxBytes(Network):
    def __init__(self, model_bytes, **settings):
        super().__init__(model_bytes, options_of("NetworkFromOnnxBytes", settings, PARSER))


class CreateNetwork(Network):
    """An empty network, which only TensorRT's Python module can fill."""

    def __init__(self, explicit_batch=None, **settings):
        known = {name: name for name in PARSER if name not in ("flags", "plugin_instancenorm")}
        super().__init__(None, options_of("CreateNetwork", settings, known))

    def _make(self):
        return in_python.create_network(self.options)


def _merged(options, change):
    """What is set by name adds to what was set before; everything else replaces it."""
    made = dict(options)
    for key, value in change.items():
        made[key] = {**made.get(key, {}), **value} if isinstance(value, dict) else value
    return made


class _Edited(Network):
    """A network with a change: one that the program makes, where it can make the network."""

    def __init__(self, network, options):
        base = network if isinstance(network, Network) and network.for_vernier() else None
        super().__init__(base and base.path, _merged(base.options if base else {}, options))
        self.network, self.change = network, options

    def _make(self):
        made = tuple(call(self.network))
        in_python.edit(made[1], self.change)
        return made


class ModifyNetworkOutputs(_Edited):
    def __init__(self, network, outputs=None, exclude_outputs=None, mark_layer_types=None):
        options = {}
        if outputs is not None:
            options["trt_outputs"] = ["mark", "all"] if outputs == MARK_ALL else list(outputs)
        if exclude_outputs:
            options["trt_exclude_outputs"] = list(exclude_outputs)
        if mark_layer_types:
            options["trt_outputs_by_type"] = _plain(list(mark_layer_types))
        super().__init__(network, options)
        earlier = network.options if isinstance(network, Network) and network.for_vernier() else {}
        for key in ("trt_exclude_outputs", "trt_outputs_by_type"):
            # On top of the outputs that were chosen before; other ones begin anew.
            kept = earlier.get(key, []) if outputs is None else []
            own = options.get(key, [])
            self.options[key] = [*kept, *(name for name in own if name not in kept)]
            if not self.options[key]:
                del self.options[key]


class SetLayerPrecisions(_Edited):
    def __init__(self, network, layer_precisions):
        super().__init__(network, {"layer_precisions": _plain(layer_precisions)})


class SetTensorDatatypes(_Edited):
    def __init__(self, network, tensor_datatypes):
        super().__init__(network, {"tensor_dtypes": _plain(tensor_datatypes)})


class SetTensorFormats(_Edited):
    def __init__(self, network, tensor_formats):
        super().__init__(network, {"tensor_formats": _plain(tensor_formats)})


class PostprocessNetwork(Network):
    """A network that a function of Python has changed."""

    def __init__(self, network, func, name=None):
        super().__init__(None, {})
        self.network, self.func = network, func

    def _make(self):
        made = tuple(call(self.network))
        self.func(network=made[1])
        return made


class LoadPlugins:
    """Libraries that are loaded before a network is made, or an engine is opened."""

    def __init__(self, plugins=None, obj=None):
        self.plugins, self.obj = [os.fspath(path) for path in plugins or ()], obj

    def __call__(self):
        made = None if isinstance(self.obj, Network) else call(self.obj)
        if hasattr(made, "model_and_options"):  # opened in a process of its own
            made = copy.copy(made)
            made.plugins = [*made.plugins, *self.plugins]
            return made
        import ctypes
        for path in self.plugins:
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        return call(self.obj) if isinstance(self.obj, Network) else made


def _described(loader):
    """Polygraphy's function of a loader that describes a network."""
    def function(*args, **settings):
        return loader(*args, **settings)
    return function


create_network = _described(CreateNetwork)
network_from_onnx_bytes = _described(NetworkFromOnnxBytes)
network_from_onnx_path = _described(NetworkFromOnnxPath)
modify_network_outputs = _described(ModifyNetworkOutputs)
postprocess_network = _described(PostprocessNetwork)
set_layer_precisions = _described(SetLayerPrecisions)
set_tensor_datatypes = _described(SetTensorDatatypes)
set_tensor_formats = _described(SetTensorFormats)


def load_plugins(plugins=None, obj=None):
    return LoadPlugins(plugins, obj)()
