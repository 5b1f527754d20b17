"""What the parent learns of a framework that this interpreter serves: plug-ins say the same
through reference_rank, neutral_environment_at, model_formats and traits of
include/vernier/backend_abi.h."""

# By the module that is loaded for a runner; a user's own script has none.
_RANKS = {"onnx": 10, "torch": 40, "keras": 50, "tensorrt": 60}

# What a script calls is its own: the thread pools that are common are all given the number.
_POOLS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TF_NUM_INTRAOP_THREADS")
_THREADS = [" ".join(f"{name}={count}" for name in _POOLS) for count in (1, 2)]
_ENVIRONMENTS = {
    # Kernels without the vector instructions of this machine; without oneDNN.
    "torch": [*_THREADS, "ATEN_CPU_CAPABILITY=default"],
    "keras": [*_THREADS, "TF_ENABLE_ONEDNN_OPTS=0"],
    # An engine is what it was built as.
    "tensorrt": [],
}


# Modules whose models have methods that --reset names, as those of scripts do.
_WITH_METHODS = (None, "torch")
_MEANS_RESET_METHOD = 5  # VN_MEANS_RESET_METHOD

# VN_TRAIT_BUILDS_ENGINES.
_TRAITS = {"tensorrt": 1}


def _describe_options(module, out):
    if module not in _WITH_METHODS:
        out.u64(0)
        return
    out.u64(1)
    for text in ("reset", "name", "reset_states", "method that resets the model's state"):
        out.text(text)
    out.u64(0)  # all its values
    out.u64(0)  # neutral ones
    out.u32(0)  # no role
    out.u32(_MEANS_RESET_METHOD)


def describe(module, out):
    """Appends them for a runner of that module, which may be None."""
    _describe_options(module, out)
    out.u32(_RANKS.get(module, 0))
    environments = _ENVIRONMENTS.get(module, _THREADS)
    out.u64(len(environments))
    for variables in environments:
        out.text(variables)
    out.u64(0)  # the formats of models that it opens: src/backend/known/python_program.cc has them
    out.u32(_TRAITS.get(module, 0))
