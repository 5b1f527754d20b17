"""Generated scripts with changed imports, where the package onnx is not installed."""

import pytest

from scripts_of_both import run_ours

SCRIPT = """
    import os
    from PREFIX.backend.onnx import BytesFromOnnx, ModifyOutputs, OnnxFromPath, SaveOnnx
    from PREFIX.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
    from PREFIX.comparator import Comparator, SimpleCompareFunc
    from PREFIX.exception import PolygraphyException

    model = OnnxFromPath("small.onnx")
    MODEL
    session = SessionFromOnnx(BytesFromOnnx(model))
    results = Comparator.run([OnnxrtRunner(session)], streaming=True)
    accuracy = Comparator.compare_accuracy([results], compare_func=[SimpleCompareFunc()])
    if not bool(accuracy):
        raise PolygraphyException("FAILED")
    for _, iterations in Comparator.run([OnnxrtRunner(session)]):
        print(sorted(iterations[0]), os.path.exists("so.onnx"))
"""


@pytest.mark.parametrize("line, printed", [
    ("", "['y'] False"),
    ("model = ModifyOutputs(model, mark_types=['relu', 'MatMul'])", "['h', 'y'] False"),
    ("model = SaveOnnx(model, path='so.onnx')", "['y'] True"),
    ("model = SaveOnnx(ModifyOutputs(model, mark_types=['Relu']), path='so.onnx')", "['h'] True")])
def test_a_single_runner(tmp_path, line, printed):
    assert run_ours(SCRIPT.replace("MODEL", line), tmp_path) == [printed]


def test_weights_of_a_saved_model_lie_outside(tmp_path):
    line = "model = SaveOnnx(model, 'so.onnx', external_data_path='w.bin', size_threshold=0)"
    assert run_ours(SCRIPT.replace("MODEL", line), tmp_path) == ["['y'] True"]
    assert (tmp_path / "w.bin").exists()
