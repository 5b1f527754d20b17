"""A JAX function, compiled on its first call.

    vernier run model.onnx --onnxrt --model-runner jax_function.py

Change `model`: it takes the feed's arrays by name and returns a mapping.
"""

import jax
import jax.numpy as jnp


@jax.jit
def model(x):
    """relu(x) + x, for a start."""
    return {"y": jnp.maximum(x, 0) + x}


def infer(feed):
    return jax.block_until_ready(model(**feed))
