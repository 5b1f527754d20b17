"""vernier.blame, vernier.profile and the checks."""

import json
import subprocess
import sys

import numpy as np
import pytest

import vernier
from models import layered_model

RIGHT = np.float32(0.5)
WRONG = np.float32(0.75)


@pytest.fixture
def models(tmp_path):
    """y = (relu(x) * scale) + 1 with two scales: the node 'scale' is to blame."""
    paths = []
    for name, scale in (("right", RIGHT), ("wrong", WRONG)):
        path = tmp_path / f"{name}.onnx"
        path.write_bytes(layered_model(scale))
        paths.append(path)
    return paths


def runners(models):
    right, wrong = models
    return {"right": vernier.OnnxRuntime(right), "wrong": vernier.OnnxRuntime(wrong)}


def test_blame_refuses_what_it_would_not_use(models):
    with pytest.raises(vernier.InvalidArgument, match="decision= has no effect without on_flips"):
        vernier.blame(None, runners(models), decision=["top1"])


def test_blame_names_the_layer(models):
    record = vernier.blame(None, runners(models))
    assert not record and not record.passed and record.exit_code == 1
    assert [culprit.node for culprit in record.culprits] == ["scale"]
    assert (record.reference, record.candidate) == ("right", "wrong")
    assert record.first_divergence == "scale" and record.first_nonfinite is None
    assert [layer.node for layer in record.layers] == ["relu", "scale", "shift"]
    assert record.layer("scale") is record.layer("scaled") is record.layers[1]
    assert record.layer("shift").own_error < 1 < record.layer("scale").own_error
    assert record.layers[1]["op_type"] == record.layers[1].op_type == "Mul"
    assert "scale" in record.summary() and "scale" in repr(record)
    assert "<td>scale</td>" in record._repr_html_()
    with pytest.raises(vernier.NotFound, match="no layer 'sale' was examined; there are: relu"):
        record.layer("sale")
    with pytest.raises(AttributeError, match="no 'nodes' here; there are: node"):
        record.layers[0].nodes


def test_blame_says_what_the_command_says(models, tmp_path):
    feed = {"x": np.array([[1, -2, 3]], np.float32)}
    record = vernier.blame(None, runners(models), [feed], save_blame=tmp_path / "own.json")
    vernier.save_inputs([feed], tmp_path / "x.npz")
    right, wrong = models
    done = subprocess.run(
        [sys.executable, "-m", "vernier", "blame", "--runner", f"right=onnxrt {right}", "--runner",
         f"wrong=onnxrt {wrong}", "--load-inputs", "x.npz", "--save-blame", "theirs.json"],
        capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 1, done.stdout + done.stderr
    own, theirs = (json.loads((tmp_path / name).read_text()) for name in ("own.json", "theirs.json"))
    for found in (own, theirs):
        for key in ("command", "timing_seconds", "seconds", "planned_bytes", "resume_key"):
            found.pop(key, None)
    assert own == theirs
    record.save(tmp_path / "saved.json")
    assert json.loads((tmp_path / "saved.json").read_text())["layers"] == theirs["layers"]


def test_nothing_to_blame(models):
    right, _ = models
    record = vernier.blame(right, {"a": "onnxrt", "b": vernier.OnnxRuntime(
        graph_optimization_level="ORT_DISABLE_ALL")})
    assert record and record.culprits == [] and "nothing to blame" in repr(record)


def test_difference_that_is_not_finite_is_a_number(models):
    right, wrong = models
    feed = {"x": np.array([[np.float32(3e38), 1, 1]], np.float32)}
    wrong.write_bytes(layered_model(np.float32(4)))
    record = vernier.blame(None, runners(models), feed)
    assert record.layer("scale").total_error == float("inf")
    assert record.first_nonfinite.node == "scale" and record.first_nonfinite.side == "candidate"


def test_profile_measures(models):
    right, wrong = models
    record = vernier.profile(right, ["onnxrt"], input_shapes="x:[{1,4},3]", runs=10)
    assert record and len(record.points) == 2
    assert [point.shapes for point in record.points] == ["x:[1,3]", "x:[4,3]"]
    point = record.point("onnxrt", "x:[4,3]")
    assert point.latency_seconds.count == 10 and point.latency_seconds.median > 0
    assert point.batch == 4
    assert record.data.profile.points[1].latency_seconds == point.latency_seconds
    assert record.data.runners[0].backend == "onnxruntime"
    assert "median" in record.summary() and "x:[4,3]" in record._repr_html_()
    with pytest.raises(vernier.NotFound, match="'trt' was not measured"):
        record.point("trt")


def test_profile_finds_what_is_fast_and_wrong(models, tmp_path):
    record = vernier.profile(None, runners(models), {"x": np.ones((2, 3), np.float32)}, runs=10,
                             report=tmp_path / "page.html")
    assert record.exit_code == 1 and not record
    assert not record.point("wrong").accuracy.passed
    assert (tmp_path / "page.html").stat().st_size > 0
    record.save(tmp_path / "p.json")
    assert vernier.load_record(tmp_path / "p.json").data["profile"]["points"]


def test_profile_rejects_what_run_rejects(models):
    right, _ = models
    pair, feed = {"a": "onnxrt", "b": "onnxrt"}, {"x": -np.ones((2, 3), np.float32)}
    assert vernier.profile(right, pair, feed, runs=10)
    record = vernier.profile(right, pair, feed, runs=10, strict=True)
    assert record.exit_code == 1 and not record
    assert "shows nothing: all elements are the same" in record.point("b").accuracy.why


def test_consistency(models):
    right, _ = models
    record = vernier.check_consistency(right, ["onnxrt"], only=["repeated-runs", "permuted-rows"])
    assert record and record.broken() == []
    runner, = record.runners
    assert [(p.name, p.verdict) for p in runner.properties] == [
        ("repeated-runs", "holds"), ("permuted-rows", "holds")]
    assert "repeated-runs" in record.summary() and "permuted-rows" in record._repr_html_()


def test_broken_property_is_a_finding(tmp_path):
    (tmp_path / "counter.py").write_text(
        "import numpy as np\n"
        "class Counter:\n"
        "    input_metadata = {'x': ('float32', (2, 3))}\n"
        "    count = 0\n"
        "    def infer(self, feed):\n"
        "        self.count += 1\n"
        "        return {'y': feed['x'] + np.float32(self.count)}\n"
        "def load(path):\n"
        "    return Counter()\n")
    record = vernier.check_consistency(None, [tmp_path / "counter.py"], only=["repeated-runs"])
    assert not record and record.exit_code == 1
    (name, broken), = record.broken()
    assert broken.name == "repeated-runs" and broken.smallest_case
    assert "repeated-runs" in repr(record)


def test_extremes(models, tmp_path):
    right, _ = models
    (tmp_path / "clipping.py").write_text(
        "import numpy as np\n"
        "class Clipping:\n"
        "    input_metadata = {'x': ('float32', (2, 3))}\n"
        "    def infer(self, feed):\n"
        "        return {'y': np.nan_to_num(np.maximum(feed['x'], 0) * np.float32(3) + 1)}\n"
        "def load(path):\n"
        "    return Clipping()\n")
    record = vernier.check_extremes(right, ["onnxrt", tmp_path / "clipping.py"],
                                    {"x": np.ones((2, 3), np.float32)}, sets=["inf"])
    assert not record and record.exit_code == 1
    answer, = record.disagreements()
    assert answer.set == "inf" and answer.only_here_finite > 0
    assert "inf" in record.summary() and "inf" in repr(record)
    assert [runner.failure for runner in record.runners] == [None, None]
    same = vernier.check_extremes(right, {"a": "onnxrt", "b": "onnxrt"}, sets=["inf"])
    assert same and same.disagreements() == [] and len(same.answers) == 2
    assert "differs" in record._repr_html_() and "differs" not in same._repr_html_()


def test_strict_extremes_tell_what_they_find(models, tmp_path):
    """Another finite value is a finding with strict=True alone, and is among what is told then."""
    right, _ = models
    (tmp_path / "doubled.py").write_text(
        "import numpy as np\n"
        "class Doubled:\n"
        "    input_metadata = {'x': ('float32', (2, 3))}\n"
        "    def infer(self, feed):\n"
        "        return {'y': np.maximum(feed['x'], 0) * np.float32(0.5) + 7}\n"
        "def load(path):\n"
        "    return Doubled()\n")
    found = [vernier.check_extremes(right, ["onnxrt", tmp_path / "doubled.py"],
                                    {"x": np.ones((2, 3), np.float32)}, sets=["denormals"],
                                    strict=strict) for strict in (False, True)]
    assert [bool(record) for record in found] == [True, False]
    assert [bool(record.disagreements()) for record in found] == [False, True]
    assert ["denormal" in repr(record) for record in found] == [False, True]
    assert ["differs" in record._repr_html_() for record in found] == [False, True]


def test_lint(models, tmp_path):
    right, _ = models
    record = vernier.check_lint(right)
    assert record and record.of_level("exception") == [] and record.failing == []
    assert sorted(record.passing) == ["relu", "scale", "shift"]
    assert any(runner.startswith("onnxruntime") for runner in record.data.vernier.runners)
    by_rules = vernier.check_lint(right, ())
    assert by_rules and by_rules.data.vernier.runners == []

    broken = tmp_path / "broken.onnx"
    broken.write_bytes(right.read_bytes().replace(b"Relu", b"Rulu"))
    record = vernier.check_lint(broken, output=tmp_path / "report.json")
    assert not record and record.exit_code == 1
    finding = record.of_level("exception")[0]
    assert "Rulu" in finding.message and finding.rule in record.summary()
    assert "relu" in record.failing and finding.rule in record._repr_html_()
    assert json.loads((tmp_path / "report.json").read_text())["summary"]["failing"] == ["relu"]
    skipped = vernier.check_lint(broken, (), skip=[f.rule for f in record.findings])
    assert skipped.findings == [] and skipped.summary() == "nothing was found"


def test_lint_of_what_cannot_be_checked(models, tmp_path):
    right, _ = models
    (tmp_path / "damaged.onnx").write_bytes(b"no model")
    record = vernier.check_lint(tmp_path / "damaged.onnx")
    assert not record and record.of_level("exception")
    with pytest.raises(vernier.Malformed, match="nowhere.onnx"):
        vernier.check_lint("nowhere.onnx")
    with pytest.raises(vernier.Unavailable, match="/nowhere") as caught:
        vernier.check_lint(right, ["onnxrt"], onnxrt_lib="/nowhere/libonnxruntime.so")
    assert caught.value.record.passing  # what the rules say is there all the same
    # Nobody asked for a runner: that there is none is no fault, and the record says so.
    record = vernier.check_lint(right, onnxrt_lib="/nowhere/libonnxruntime.so")
    assert record and record.data.vernier.runners == []


@pytest.mark.parametrize("call", [vernier.blame, vernier.profile, vernier.check_consistency,
                                  vernier.check_extremes])
def test_what_keeps_them_from_working(call, models, tmp_path):
    right, _ = models
    with pytest.raises(vernier.InvalidArgument, match="no option 'runz'"):
        call(right, ["onnxrt", "onnxrt"], runz=1)
    with pytest.raises(vernier.InvalidArgument, match="only vernier.run can run"):
        call(right, ["onnxrt", lambda feed: feed])
    with pytest.raises(vernier.InvalidArgument, match="inputs= is given, too"):
        call(right, ["onnxrt", "onnxrt"], {"x": np.ones((1, 3))}, load_inputs="x.npz")
    with pytest.raises(vernier.InvalidArgument, match="logger 'vernier'"):
        call(right, ["onnxrt", "onnxrt"], verbose=True)
    (tmp_path / "damaged.onnx").write_bytes(b"no model")
    with pytest.raises(vernier.Error) as caught:
        call(tmp_path / "damaged.onnx", ["onnxrt", "onnxrt"])
    assert caught.value.exit_code in (3, 6) and "damaged.onnx" in str(caught.value)
    with pytest.raises(vernier.Error) as caught:
        call(right, ["onnxrt", "onnxrt"], onnxrt_lib="/nowhere/libonnxruntime.so")
    assert caught.value.exit_code == 5 and "/nowhere" in str(caught.value)


def test_run_points_to_blame(models):
    right, _ = models
    with pytest.raises(vernier.InvalidArgument, match="^blame: vernier.blame does that"):
        vernier.run(right, ["onnxrt", "onnxrt"], blame=True)
