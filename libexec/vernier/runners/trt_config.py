"""A builder configuration of TensorRT's Python interface, from options or a user's script."""

import ctypes
import json
import os

from vernier_worker import wire

from trt_network import call, layers_of, major, user_function
from trt_options import flag_of, mask, member, missing, refuse, split_named

# Keys of options by how a configuration has them: "flags" with the member of BuilderFlag, "numbers"
# and "words", of which each is a member of the enumeration of its name (EngineCapability); and what
# the plug-in alone does.
OPTIONS_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir,
                            "tensorrt_options.json")
with open(OPTIONS_FILE, encoding="utf-8") as options_file:
    OPTIONS = json.load(options_file)
# Of TensorRT 8, for CUDA 11 and for CUDA 12; a library that is there may be an empty one.
SOURCE_LIBRARIES = [("CUBLAS", "libcublas.so.11", "libcublas.so.12", "cublasCreate_v2"),
                    ("CUBLAS_LT", "libcublasLt.so.11", "libcublasLt.so.12", "cublasLtCreate"),
                    ("CUDNN", "libcudnn.so.8", "libcudnn.so.8", "cudnnCreate")]


def bytes_of(text, option):
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    factor = units.get(text[-1:].upper(), 1)
    try:
        return int(float(text[:-1] if factor > 1 else text) * factor)
    except ValueError:
        refuse(f"{option}: expected a size such as 1G, got '{text}'")


def profiles_of(options):
    """By profile, by input: shapes by "min", "opt" and "max"."""
    profiles = {}
    for text in options.lists.get("profile", ()):
        index, which, name, dims = text.split("\t")
        shape = [int(dim) for dim in dims.split(",") if dim]
        profiles.setdefault(int(index), {}).setdefault(name, {})[which] = shape
    return [profiles[index] for index in sorted(profiles)]


def shape_of(tensor):
    """Of a rank that is not known, TensorRT raises."""
    try:
        return tuple(tensor.shape)
    except ValueError:
        return (-1,)


def default_shape(tensor):
    if tensor.is_shape_tensor:
        return [1] * (tensor.shape[0] if len(tensor.shape) else 1)
    return [1 if size < 0 else size for size in tensor.shape]


def add_profiles(builder, network, config, options):
    inputs = [network.get_input(i) for i in range(network.num_inputs)]
    dynamic = [t for t in inputs if t.is_shape_tensor or any(size < 0 for size in t.shape)]
    # Shapes inside that follow from data, as of NonZero, want a profile as well.
    inside = any(size < 0 for layer in layers_of(network) for i in range(layer.num_outputs)
                 if layer.get_output(i) is not None for size in shape_of(layer.get_output(i)))
    for wanted in profiles_of(options) or ([{}] if dynamic or inside else []):
        unknown = set(wanted) - {t.name for t in inputs}
        if unknown:
            refuse(f"an optimization profile names the input '{sorted(unknown)[0]}', which the "
                   f"network does not have; its inputs are {', '.join(t.name for t in inputs)}")
        profile = builder.create_optimization_profile()
        for tensor in inputs:
            shapes = wanted.get(tensor.name, {})
            three = [shapes.get(which, default_shape(tensor)) for which in ("min", "opt", "max")]
            setter = profile.set_shape_input if tensor.is_shape_tensor else profile.set_shape
            setter(tensor.name, *three)
        if not profile:
            refuse("an optimization profile is not valid: min <= opt <= max must hold")
        config.add_optimization_profile(profile)


def set_flags(trt, config, options):
    constraint = options.value("precision_constraints", "none")
    if constraint != "none":
        config.set_flag(member(trt, "BuilderFlag", constraint + "_PRECISION_CONSTRAINTS",
                               "--precision-constraints"))
    for key, name in OPTIONS["flags"].items():
        flag = getattr(trt.BuilderFlag, name, None)
        if options.on(key):
            if flag is None:
                missing(flag_of(key), trt)
            config.set_flag(flag)
        elif key == "tf32" and flag is not None:
            config.clear_flag(flag)  # TensorRT's default is on, Polygraphy's off


def is_loaded(library):
    """As what TensorRT's plug-in layers are linked with is, once the module was imported."""
    try:
        ctypes.CDLL(library, mode=os.RTLD_NOLOAD)
    except OSError:
        return False
    return True


def set_tactic_sources(trt, config, options):
    """Those asked for, or TensorRT's own choice, without those whose libraries are not there."""
    words = options.words("tactic_sources")
    if words is None and not hasattr(config, "get_tactic_sources"):
        return
    sources = (config.get_tactic_sources() if words is None else
               mask(trt, "TacticSource", words, "--tactic-sources"))
    for word, library, newer, symbol in SOURCE_LIBRARIES if major(trt) <= 8 else ():
        bit = 1 << int(trt.TacticSource.__members__.get(word, 31))
        if not sources & bit:
            continue
        try:
            getattr(ctypes.CDLL(newer if is_loaded(newer) else library), symbol)
        except (OSError, AttributeError) as error:
            print(f"[W] Tactic source left out, its library cannot be used: {word} ({error})")
            sources &= ~bit
    config.set_tactic_sources(sources)


def set_values(trt, config, options):
    for word in options.words("preview_features") or []:
        member(trt, "PreviewFeature", word, "--preview-features")
    if options.on("preview_features"):
        wanted = {word.upper() for word in options.words("preview_features")}
        for name, feature in trt.PreviewFeature.__members__.items():
            config.set_preview_feature(feature, name in wanted)
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED  # Polygraphy's default
    limits = options.words("memory_pool_limit") or []
    if options.on("workspace"):
        limits = ["workspace:" + options.value("workspace"), *limits]
    for limit in limits:
        pool, size = split_named(limit, "--pool-limit")
        config.set_memory_pool_limit(member(trt, "MemoryPoolType", pool, "--pool-limit"),
                                     bytes_of(size, "--pool-limit"))
    set_tactic_sources(trt, config, options)
    flags = options.words("quantization_flags")
    if flags is not None:
        config.quantization_flags = mask(trt, "QuantizationFlag", flags, "--quantization-flags")
    for key in OPTIONS["numbers"]:
        if options.on(key):
            if not hasattr(config, key):
                missing(flag_of(key), trt)
            setattr(config, key, options.number(key, flag_of(key)))
    for key in OPTIONS["words"]:
        if options.on(key):
            enumeration = key.title().replace("_", "")
            setattr(config, key, member(trt, enumeration, options.value(key), flag_of(key)))


def set_timing_cache(config, options):
    path, content = options.value("load_timing_cache"), b""
    if path and os.path.exists(path):
        with open(path, "rb") as file:
            content = file.read()
    elif path:
        print(f"[W] Timing cache file {path} not found, falling back to empty timing cache.")
    cache = config.create_timing_cache(content)
    if not config.set_timing_cache(cache, ignore_mismatch=False):
        refuse(f"--load-timing-cache: TensorRT cannot use '{path}'", wire.MALFORMED)


def set_calibrator(trt, network, config, options):
    """From a cache alone; feeds are the plug-in's."""
    quantised = any(layer.type in (trt.LayerType.QUANTIZE, trt.LayerType.DEQUANTIZE)
                    for layer in layers_of(network))
    if not options.on("int8") or quantised:
        return None
    path = options.value("calibration_cache")
    if not path or not os.path.exists(path) or os.path.getsize(path) == 0:
        refuse("--int8: with TensorRT in Python a model is calibrated by a --calibration-cache "
               "that is there already, or by what --trt-config-script sets", wire.UNIMPLEMENTED)
    base = getattr(trt, options.value("calibration_base_class", "IInt8EntropyCalibrator2"))

    class Calibrator(base):
        def __init__(self):
            base.__init__(self)

        def get_batch_size(self):
            return 1

        def get_batch(self, names):
            return None

        def read_calibration_cache(self):
            with open(path, "rb") as file:
                return file.read()

        def write_calibration_cache(self, cache):
            pass
    config.int8_calibrator = Calibrator()
    return config.int8_calibrator


def refuse_what_the_plugin_does(options):
    for key in OPTIONS["plugin_only"]:
        if options.on(key):
            refuse(f"{flag_of(key)} is not offered where TensorRT runs in Python",
                   wire.UNIMPLEMENTED)


def make(trt, builder, network, options):
    """The configuration, and what must live as long as it does."""
    kept = None
    script = options.value("trt_config_script")
    if script is not None:
        function, where = user_function(script, "load_config", "--trt-config-script")
        config = call(function, where, builder, network)
        if config is None:
            refuse(f"--trt-config-script: {where} returned no configuration", wire.BACKEND)
    else:
        config = builder.create_builder_config()
        add_profiles(builder, network, config, options)
        set_values(trt, config, options)
        set_timing_cache(config, options)
        set_flags(trt, config, options)
        kept = set_calibrator(trt, network, config, options)
    script = options.value("trt_config_postprocess_script")
    if script is not None:
        function, where = user_function(script, "postprocess_config",
                                        "--trt-config-postprocess-script")
        call(function, where, builder, network, config)
    return config, kept
