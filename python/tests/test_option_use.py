"""Options of a call that nothing would use: said of functions in the sentences of the program."""

import logging

import numpy as np
import pytest

import vernier

X = {"x": np.array([[1, -2, 3]], np.float32)}


@pytest.mark.parametrize("call", [vernier.run, vernier.profile])
@pytest.mark.parametrize("option, missing", [
    ("save_engine", "trt"), ("save_tactics", "trt"), ("save_timing_cache", "trt"),
    ("save_pb", "tf"), ("save_tensorboard", "tf"), ("save_timeline", "tf"),
    ("torch_lib", "torch"), ("tf_lib", "tf")])
def test_what_is_for_another_runner(model, tmp_path, call, option, missing):
    with pytest.raises(vernier.InvalidArgument,
                       match=f'^{option}= has no effect without "{missing}": add that'):
        call(model, ["onnxrt"], X, **{option: str(tmp_path / "x")})
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("option", [{"strict": True}, {"pairs": "all"}, {"worst": 3},
                                    {"same_type": True}, {"tolerance": "auto"}])
def test_one_side(model, option):
    with pytest.raises(vernier.InvalidArgument,
                       match="has no effect without two sides to compare"):
        vernier.run(model, ["onnxrt"], X, **option)


def test_callables_are_sides_and_of_no_kind(model, tmp_path):
    def same(feed):
        return {"y": feed["x"]}
    assert vernier.run(None, [same, same], X, worst=3, pairs="all", same_type=True).passed
    assert vernier.run(None, [same], X, save_outputs=tmp_path / "o.npz").passed
    with pytest.raises(vernier.InvalidArgument, match='save_engine= has no effect without "trt"'):
        vernier.run(None, [same], X, save_engine=tmp_path / "e")
    with pytest.raises(vernier.InvalidArgument, match="two sides"):
        vernier.run(None, [same], X, strict=True)


@pytest.mark.parametrize("option, said", [
    ({"input_shapes": "x:[4,3]"}, "input_shapes"), ({"dim": "n=4"}, "dim"), ({"seed": 3}, "seed"),
    ({"rtol": 1e-3}, "two sides")])
def test_settings_without_effect_are_in_the_log(model, caplog, option, said):
    with caplog.at_level(logging.WARNING, logger="vernier"):
        assert vernier.run(model, ["onnxrt"], X, **option).passed
    assert [entry for entry in caplog.records if said in entry.getMessage().replace("-", "_")
            or said in entry.getMessage()]


def test_reference_is_blames(model):
    with pytest.raises(vernier.InvalidArgument, match="^reference: vernier.blame does that"):
        vernier.run(model, ["onnxrt", "onnxrt"], X, reference="onnxrt")
