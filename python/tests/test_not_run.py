"""What is not run, nor run again, because something is missing or raised."""

import numpy as np
import pytest

import vernier


@pytest.mark.parametrize("others", [[], ["onnxrt"]])
def test_callable_that_raises_is_called_once(model, others):
    """Other sizes of the model's free dimension are no cure for it."""
    calls = []

    def broken(feed):
        calls.append(feed["x"].shape)
        raise ValueError(f"call {len(calls)} failed")

    with pytest.raises(vernier.BackendError, match="call 1 failed") as caught:
        vernier.run(model, [*others, broken])
    assert calls == [(1, 3)]
    assert str(caught.value.__cause__) == "call 1 failed"


def test_missing_framework_is_found_before_anything_runs(model, tmp_path):
    calls = []

    def feeds():
        calls.append("feeds")
        yield {"x": np.ones((1, 3), np.float32)}

    def runner(feed):
        calls.append("runner")
        return {"y": feed["x"]}

    missing = vernier.OnnxReference(model)  # these tests' environment has no onnx
    for options in ({}, {"parallel": True}):
        with pytest.raises(vernier.Unavailable, match="pip install onnx") as caught:
            vernier.run(model, ["onnxrt", runner, missing], feeds, save_outputs=tmp_path / "o.npz",
                        **options)
        assert not calls and not list(tmp_path.glob("o.npz*"))
        assert [bool(found.get("failure")) for found in caught.value.record.runners] == [
            False, False, True]
