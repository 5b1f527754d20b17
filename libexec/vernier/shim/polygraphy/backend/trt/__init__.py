"""Networks and configurations of TensorRT, as `vernier template` writes them down.

The work is that of vernier's own runner for TensorRT in Python (libexec/vernier/runners).
"""

import os
import sys

from polygraphy import constants, exception
from vernier_worker import scripts

_RUNNERS = os.path.join(os.path.dirname(scripts.OWN_FOLDER), "runners")
if _RUNNERS not in sys.path:
    sys.path.insert(0, _RUNNERS)

import trt_config  # noqa: E402
import trt_network  # noqa: E402
from trt_options import of_keywords as _options, profile_lines  # noqa: E402

_kept = []  # what TensorRT holds on to without owning it

def _trt():
    import tensorrt
    return tensorrt


def _load(loader):
    """What a loader returns; anything else is that already."""
    return loader() if callable(loader) else loader


class Profile(dict):
    """Shapes of inputs by name: (min, opt, max)."""

    def add(self, name, min, opt, max):
        self[name] = (min, opt, max)
        return self


class CreateConfig:
    """Called with a builder and a network, it returns a configuration."""

    def __init__(self, profiles=None, calibrator=None, algorithm_selector=None, **keywords):
        for name, value in (("calibrator", calibrator), ("algorithm_selector", algorithm_selector)):
            if value is not None:
                raise exception.PolygraphyException(
                    f"CreateConfig: vernier's stand-in for Polygraphy has no {name}: "
                    "'pip install polygraphy' brings the real one")
        self.options = _options(**keywords)
        shapes = profile_lines(profiles or ())
        if shapes:
            self.options.lists["profile"] = shapes

    def __call__(self, builder, network):
        config, kept = trt_config.make(_trt(), builder, network, self.options)
        _kept.append(kept)
        return config


class PostprocessConfig:
    def __init__(self, config, func):
        self.config, self.func = config, func

    def __call__(self, builder, network):
        config = self.config(builder, network) if callable(self.config) else self.config
        self.func(builder=builder, network=network, config=config)
        return config


class CreateNetwork:
    """An empty network and its builder."""

    def __init__(self, strongly_typed=None, mark_unfused_tensors_as_debug_tensors=None):
        self.options = _options(
            strongly_typed=strongly_typed,
            mark_unfused_tensors_as_debug_tensors=mark_unfused_tensors_as_debug_tensors)

    def __call__(self):
        import tensorrt_model
        logger = tensorrt_model.make_logger(_trt())
        _kept.append(logger)
        builder = _trt().Builder(logger)
        return builder, trt_network.create(_trt(), builder, self.options)


class NetworkFromOnnxPath:
    """A network that is parsed from a file: builder, network and parser."""

    def __init__(self, path, flags=None, plugin_instancenorm=None, strongly_typed=None,
                 mark_unfused_tensors_as_debug_tensors=None):
        self.path = path
        self.network = CreateNetwork(strongly_typed, mark_unfused_tensors_as_debug_tensors)
        self.options = _options(onnx_flags=flags, plugin_instancenorm=plugin_instancenorm)

    def _parse(self, network, path, content):
        return trt_network.parse(_trt(), network, _kept[-1], path, content, self.options)

    def __call__(self):
        path = _load(self.path)
        builder, network = self.network()
        return builder, network, self._parse(network, path, None)


class NetworkFromOnnxBytes(NetworkFromOnnxPath):
    def __call__(self):
        content = _load(self.path)
        builder, network = self.network()
        return builder, network, self._parse(network, "the model", content)


class LoadPlugins:
    """Loads libraries before it returns `obj`."""

    def __init__(self, plugins=None, obj=None):
        self.plugins, self.obj = plugins or [], obj

    def __call__(self):
        import ctypes
        for path in self.plugins:
            _kept.append(ctypes.CDLL(path))
        return _load(self.obj)


class _Edit:
    """Changes the network that a loader makes."""

    def __init__(self, network, **keywords):
        self.network, self.options = network, _options(**keywords)

    def edit(self, network):
        trt_network.set_types(_trt(), network, self.options)

    def __call__(self):
        made = _load(self.network)
        self.edit(made[1])
        return made


class ModifyNetworkOutputs(_Edit):
    def __init__(self, network, outputs=None, exclude_outputs=None, mark_layer_types=None):
        if outputs == constants.MARK_ALL:
            outputs = ["*"]
        super().__init__(network, trt_outputs=outputs, trt_exclude_outputs=exclude_outputs,
                         trt_outputs_by_type=mark_layer_types)

    def edit(self, network):
        trt_network.mark_outputs(_trt(), network, self.options)


class SetLayerPrecisions(_Edit):
    def __init__(self, network, layer_precisions):
        super().__init__(network, layer_precisions=layer_precisions)


class SetTensorDatatypes(_Edit):
    def __init__(self, network, tensor_datatypes):
        super().__init__(network, tensor_dtypes=tensor_datatypes)


class SetTensorFormats(_Edit):
    def __init__(self, network, tensor_formats):
        super().__init__(network, tensor_formats=tensor_formats)


class PostprocessNetwork(_Edit):
    def __init__(self, network, func, name=None):
        super().__init__(network)
        self.func = func

    def edit(self, network):
        self.func(network=network)


__getattr__ = exception.missing("backend.trt")
