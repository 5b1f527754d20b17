"""What `inputs` may be in every function, and what is said of what it may not be."""

import numpy as np
import pytest

import vernier
from models import expected

X = np.array([[1, -2, 3]], dtype=np.float32)


def run_alone(model, feed):
    with vernier.OnnxRuntime(model) as runner:
        return runner.infer(feed)


def test_numbers_and_lists_are_feeds_everywhere(model):
    def given(feed):
        return {"sr": feed["sr"], "rows": feed["rows"], "y": 2, "z": [1.5, 2]}

    feed = {"sr": 16000, "rows": [[1.0, 2.0]]}
    for inputs in (feed, [feed], lambda: feed, iter([feed])):
        record = vernier.run(None, {"a": given, "b": given}, inputs)
        assert record.passed
        outputs = record.results["b"][0]
        assert outputs["sr"] == 16000 and outputs["sr"].dtype == np.int64
        assert outputs["rows"].shape == (1, 2) and outputs["z"].tolist() == [1.5, 2]
        assert vernier.compare(feed, [record.inputs[0]]).passed


@pytest.mark.parametrize("call", [
    lambda model, feeds: vernier.run(model, ["onnxrt"], feeds),
    lambda model, feeds: vernier.run(model, ["onnxrt"], lambda: feeds),
    lambda model, feeds: vernier.run(model, ["onnxrt"], iter(feeds)),
    lambda model, feeds: vernier.blame(model, ["onnxrt", "onnxrt"], feeds),
    lambda model, feeds: vernier.profile(model, ["onnxrt"], feeds),
    lambda model, feeds: vernier.check_consistency(model, ["onnxrt"], feeds),
    lambda model, feeds: vernier.save_inputs(feeds, "feeds.npz"),
], ids=["run", "run a function", "run an iterator", "blame", "profile", "check", "save"])
@pytest.mark.parametrize("value, text", [
    (object(), "of type object; expected a number, a list, a NumPy array"),
    ([[1.0], [2.0, 3.0]], "not an array"),
    (np.array(["2020-01-01"], "datetime64[D]"), "has NumPy's type datetime64"),
    (np.array([{}]), "holds an element of type dict"),
    (np.ma.array(X, mask=X > 0), "has masked values, which a tensor cannot hold"),
    ([np.ma.array([1.0], mask=[1])], "has masked values"),
])
def test_what_is_no_array_is_named(model, tmp_path, monkeypatch, call, value, text):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(vernier.InvalidArgument, match=r"^inputs\[1\]\['x'\].*" + text) as caught:
        call(model, [{"x": X}, {"x": value}])
    assert caught.value.exit_code == 2


def test_a_data_set_ends_at_its_length_and_not_before(model):
    class Data:
        def __init__(self, length):
            self.length = length

        def __len__(self):
            return self.length

        def __getitem__(self, index):
            return {"x": [X, X, X][index]}

    assert len(vernier.run(model, ["onnxrt"], Data(2)).inputs) == 2
    with pytest.raises(vernier.InvalidArgument, match="of the length 5 has no feed 3"):
        vernier.run(model, ["onnxrt"], Data(5))


def test_what_is_no_feed_is_named(model):
    for inputs, text in (([X], r"^inputs\[0\] is of type ndarray"),
                         (lambda: 7, "^inputs: .* got an int"),
                         ([{3: X}], r"^inputs\[0\] has the name 3")):
        with pytest.raises(vernier.InvalidArgument, match=text):
            vernier.run(model, ["onnxrt"], inputs)
    with pytest.raises(vernier.InvalidArgument, match=r"^feed\['x'\] is of type object"):
        run_alone(model, {"x": object()})
    with pytest.raises(vernier.InvalidArgument, match=r"^b\['y'\] is of type object"):
        vernier.compare({"y": X}, {"y": object()})


def test_a_function_is_called_for_each_iteration(model):
    for call in (vernier.run, vernier.blame):
        calls = []

        def draw():
            calls.append(len(calls))
            return {"x": X * len(calls)}

        record = call(model, ["onnxrt", "onnxrt"], draw, iterations=3)
        assert calls == [0, 1, 2]
        if call is vernier.run:
            last = record.results[0][1]
            assert len(last) == 3
            np.testing.assert_allclose(last[2]["y"], expected(X * 3), rtol=1e-5)


@pytest.mark.parametrize("call", [vernier.run, vernier.blame, vernier.profile])
def test_iterations_beside_feeds_are_refused(model, call):
    for inputs in ({"x": X}, [{"x": X}], iter([{"x": X}])):
        with pytest.raises(vernier.InvalidArgument, match="^iterations=3: there are as many"):
            call(model, ["onnxrt", "onnxrt"], inputs, iterations=3)
    with pytest.raises(vernier.InvalidArgument, match="returned all feeds at once"):
        call(model, ["onnxrt", "onnxrt"], lambda: [{"x": X}], iterations=3)
    with pytest.raises(vernier.InvalidArgument, match="whole number > 0, got 0"):
        call(model, ["onnxrt", "onnxrt"], lambda: {"x": X}, iterations=0)


@pytest.mark.parametrize("option", [{"val_range": [0, 1]}, {"load_inputs": "f.npz"},
                                    {"data_loader_script": "s.py"}])
def test_other_sources_beside_feeds_are_refused(model, option):
    name, = option
    with pytest.raises(vernier.InvalidArgument, match=f"^{name}: inputs= is given, too"):
        vernier.run(model, ["onnxrt"], {"x": X}, **option)


@pytest.mark.parametrize("call", [vernier.run, vernier.blame, vernier.profile])
@pytest.mark.parametrize("feeds", [{"x": X}, [{"x": [[1.0, 2.0, 3.0]]}]])
def test_feeds_in_place_of_a_file_are_named(model, call, feeds):
    with pytest.raises(vernier.InvalidArgument, match="^load_inputs: expected a file, got a dict"):
        call(model, ["onnxrt", "onnxrt"], load_inputs=feeds)


@pytest.mark.parametrize("words, text", [
    ({"inputs": {"x": X.astype(np.float64)}}, "pass lenient=True to cast"),
    ({"rtol": "abc"}, "^rtol: expected a number >= 0, got 'abc'"),
    ({"iterations": "many"}, "^iterations: invalid int value: 'many'"),
    ({"strict": 3}, "^strict: expected True or False"),
    ({"tolerance": "auto", "atol": 3}, "^atol: .* tolerance="),
])
def test_exceptions_speak_python(model, words, text):
    with pytest.raises(vernier.Error, match=text) as caught:
        vernier.run(model, ["onnxrt", "onnxrt"], **words)
    assert "--" not in str(caught.value)
