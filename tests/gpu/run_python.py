#!/usr/bin/env python3
"""CUDA arrays and the Python package, on a machine with a GPU.

Usage: PYTHONPATH=SITE tests/gpu/run_python.py

SITE has the package vernier; this Python has torch with CUDA, and perhaps CuPy and JAX: what is absent
is named. Prints a line for each check; exit code 1 when one failed.
"""

import logging
import pathlib
import sys
import tempfile
import traceback

import numpy as np
import torch

import vernier

COPIED = "copied to the host to be compared there"


def small(dtype=torch.float32):
    return torch.arange(1000, device="cuda").reshape(10, 100).to(dtype) / 7


def compared_on_cuda():
    x = small()
    record = vernier.compare({"y": x, "z": x * 2}, {"y": x.clone(), "z": (x * 2).cpu().numpy()})
    assert record.passed, record.summary()
    note, = record.notes
    assert note.startswith(COPIED) and "3 arrays" in note and "cuda:0" in note, note
    record = vernier.compare({"y": x}, {"y": x + 1})
    assert record.exit_code == 1 and record.output("y")["mismatches"] == 1000, record.summary()


def of_every_type():
    for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.uint8, torch.bool,
                  torch.complex64, torch.float8_e4m3fn):
        x = small(torch.float32).to(dtype)
        record = vernier.compare({"y": x}, {"y": x.clone()})
        assert record.passed, (dtype, record.summary())
        other = x.clone()
        other[3, 7] = 0
        record = vernier.compare({"y": x}, {"y": other})
        assert record.output("y")["mismatches"] == 1, (dtype, record.summary())
    x = small().requires_grad_()
    assert vernier.compare({"y": x.T[::3]}, {"y": x.detach().T[::3].clone()}).passed


def work_that_is_still_queued():
    a = torch.randn(4096, 4096, device="cuda")
    for _ in range(20):
        b = a @ a  # not waited for
    assert vernier.compare({"y": b}, {"y": (a @ a).cpu()}, atol=1e-2, rtol=1e-2).passed


def through_dlpack_alone():
    class OfTorch:
        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self, **words):
            return self.tensor.__dlpack__(**words)

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    x = small()
    try:
        record = vernier.compare({"y": OfTorch(x)}, {"y": x})
    except vernier.InvalidArgument as error:  # a library that does not copy says so in its own words
        assert "__dlpack__ could not be used" in str(error), error
        print("    torch does not copy through DLPack:", error)
        return
    assert record.passed and COPIED in record.notes[0]


def of_other_libraries():
    for name in ("cupy", "jax.numpy"):
        try:
            library = __import__(name, fromlist=["arange"])
        except ImportError:
            print(f"    {name} is not here")
            continue
        x = library.arange(1000, dtype="float32")
        record = vernier.compare({"y": x}, {"y": np.arange(1000, dtype=np.float32)})
        assert record.passed, (name, record.summary())
        print(f"    {name}: {record.notes}")


def results_saved_and_given_back():
    x = small(torch.bfloat16)
    with tempfile.TemporaryDirectory() as folder:
        results = vernier.RunResults()
        results.add([{"y": x}], runner_name="cuda")
        results.save(pathlib.Path(folder) / "r.safetensors")
        again = vernier.load_results(pathlib.Path(folder) / "r.safetensors")["cuda"][0]
        back = torch.from_dlpack(again.dlpack("y")).cuda()
        assert back.dtype == torch.bfloat16 and torch.equal(back, x)


def runners_that_compute_on_cuda():
    weights = torch.randn(3, 2, device="cuda")

    def on_cuda(feed):
        return {"y": torch.from_numpy(feed["x"].copy()).cuda() @ weights}

    def on_host(feed):
        return {"y": feed["x"] @ weights.cpu().numpy()}

    feeds = [{"x": np.random.rand(4, 3).astype(np.float32)} for _ in range(3)]
    record = vernier.run(None, [on_cuda, on_host], feeds, atol=1e-2, rtol=1e-2)
    assert record.passed, record.summary()
    cuda_feeds = [{"x": torch.from_numpy(feed["x"]).cuda()} for feed in feeds]
    assert vernier.run(None, [on_host, on_cuda], cuda_feeds, atol=1e-2, rtol=1e-2).passed


CHECKS = (compared_on_cuda, of_every_type, work_that_is_still_queued, through_dlpack_alone,
          of_other_libraries, results_saved_and_given_back, runners_that_compute_on_cuda)


def main():
    logging.basicConfig(level=logging.WARNING)
    print("torch", torch.__version__, torch.cuda.get_device_name(), "vernier", vernier.__version__)
    failed = 0
    for check in CHECKS:
        try:
            check()
        except Exception:
            failed += 1
            print(f"{check.__name__:32} FAILED\n{traceback.format_exc()}")
        else:
            print(f"{check.__name__:32} ok", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
