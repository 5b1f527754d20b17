"""What outputs decide, by functions of the program."""

import collections
import os
import sys

import numpy as np
import pytest

import vernier

LEFT = {"y": np.array([[3, 1, 0], [0, 5, 1], [1, 2, 9]], dtype=np.float32)}
RIGHT = {"y": np.array([[3, 1, 0], [6, 5, 1], [1, 2, 9]], dtype=np.float32)}


def first(outputs):
    return ["abc"[i] for i in outputs["y"].argmax(-1)]


def decided(record):
    (pair,) = record.data["pairs"]
    return pair["decisions"]


def test_a_function_decides_beside_the_kinds():
    record = vernier.compare(LEFT, RIGHT, decision=["top1", first], max_flip_rate=0.2)
    top, script = decided(record)
    assert (top["kind"], top["output"], top["flips"]) == ("top1", "y", 1)
    assert (script["output"], script["samples"], script["flips"]) == ("first", 3, 1)
    assert script["kind"].startswith("script:<python ")
    (flip,) = script["worst"]
    assert (flip["row"], flip["first"], flip["second"]) == (1, "b", "a")
    assert record.exit_code == 1
    assert vernier.compare(LEFT, RIGHT, decision=first, max_flip_rate=0.5).exit_code == 0


def test_an_object_may_say_what_is_the_same():
    class Near:
        def __call__(self, outputs):
            return list(outputs["y"].max(-1))

        def same(self, a, b):
            return abs(a - b) < 2

    record = vernier.compare(LEFT, RIGHT, decisions=[Near()], max_flip_rate=0)
    assert record.exit_code == 0
    (decision,) = decided(record)
    assert (decision["samples"], decision["flips"]) == (3, 0)


def test_a_script_decides_in_the_package_as_well(tmp_path):
    script = tmp_path / "largest.py"
    script.write_text("def decide(outputs):\n    return outputs['y'].argmax(-1)\n")
    record = vernier.compare(LEFT, RIGHT, decision=f"script:{script}", python=sys.executable)
    (decision,) = decided(record)
    assert (decision["output"], decision["flips"]) == ("decide", 1)


def test_what_a_function_raises_is_the_cause():
    def broken(outputs):
        raise KeyError("no such output")

    with pytest.raises(vernier.BackendError) as raised:
        vernier.compare(LEFT, RIGHT, decision=broken)
    assert isinstance(raised.value.__cause__, KeyError)


def test_runs_take_them(model):
    def sign(outputs):
        return list(outputs["y"][:, 0] > 0)

    def negated(feed):
        return {"y": -np.ones((1, 2), np.float32)}

    def positive(feed):
        return {"y": np.ones((1, 2), np.float32)}

    record = vernier.run(model, [positive, negated], decision=sign, max_flip_rate="sign:0.5",
                         iterations=3)
    (decision,) = decided(record)
    assert (decision["samples"], decision["flips"], decision["clear_flips"]) == (3, 3, 3)
    assert record.exit_code == 1


def test_labels_are_read(tmp_path):
    path = str(tmp_path / "labels.npy")
    np.save(path, np.array([0, 1, 2]))
    words = {"decision": "y:top1", "labels": path}
    record = vernier.compare(LEFT, RIGHT, **words, max_drop=0.5)
    (decision,) = decided(record)
    assert (decision["labels"]["samples"], decision["labels"]["right_to_wrong"]) == (3, 1)
    assert record.exit_code == 0
    assert vernier.compare(LEFT, RIGHT, **words, max_drop=0.1).exit_code == 1
    with pytest.raises(vernier.Error):
        vernier.compare(LEFT, RIGHT, decision="y:top1", labels=path + "x", max_flip_rate=1)


@pytest.mark.parametrize("words", [
    {"max_drop": 0.9}, {"judge": "decisions"}, {"judge": "both"},
    {"labels": "loader", "max_drop": 0.9}])
def test_what_could_not_be_missed_is_no_gate(words):
    with pytest.raises(vernier.InvalidArgument):
        vernier.compare(LEFT, RIGHT, decision="y:top1", **words)


def test_functions_of_one_name_are_refused():
    def other(outputs):
        return first(outputs)

    other.__qualname__ = "first"
    for functions in ([first, first], [first, other]):
        with pytest.raises(vernier.InvalidArgument, match="first"):
            vernier.compare(LEFT, RIGHT, decision=functions, max_flip_rate=1)


@pytest.mark.parametrize("words", [{"save_rows": "rows.jsonl"}, {"shard": "1/2"}])
def test_what_only_runs_do_is_refused_by_comparisons(words):
    keyword, = words
    refused = f"^{keyword}: vernier.compare .* vernier.run"
    with pytest.raises(vernier.InvalidArgument, match=refused):
        vernier.compare(LEFT, LEFT, **words)


@pytest.mark.parametrize("labels", [
    np.array([0, 1, 2]), np.ma.array([0, 1, 2]), [0, 1, 2], {"y": (0, 1, 2)}, [[0], [1], [2]],
    range(3), {"y": range(3)}, collections.UserList([0, 1, 2]),
    [np.array([0, 1]), np.array([2])]])
def test_labels_are_arrays_or_lists(labels):
    left, right = LEFT, RIGHT
    if isinstance(labels, list) and isinstance(labels[0], np.ndarray):  # one for each iteration
        left, right = ([{"y": side["y"][:2]}, {"y": side["y"][2:]}] for side in (LEFT, RIGHT))
    record = vernier.compare(left, right, decision="y:top1", labels=labels, max_drop=0.1)
    (decision,) = decided(record)
    assert (decision["labels"]["samples"], decision["labels"]["right_to_wrong"]) == (3, 1)
    assert record.exit_code == 1


def test_labels_that_are_none_are_refused():
    with pytest.raises(vernier.InvalidArgument, match="^labels: expected an array of numbers"):
        vernier.compare(LEFT, RIGHT, decision="y:top1", labels=[object()], max_drop=0.1)
    with pytest.raises(vernier.InvalidArgument, match="array of numbers"):
        vernier.compare(LEFT, RIGHT, decision="y:top1", labels=[{"label": 1}], max_drop=0.1)


@pytest.mark.parametrize(("labels", "got"), [
    ([4, None], "got None at 1"), ([{"label": 1}], "got a dict at 0"),
    (["4", "2", "3"], "labels: expected classes as numbers, or names of files, got '4', '2', '3'"),
    (np.ma.array([0, 1, 2], mask=[0, 1, 0]), "labels: expected arrays without a mask"),
    ([np.ma.array([0], mask=True), np.array([1])], "labels: expected arrays without a mask")])
def test_labels_that_are_no_classes_are_quoted(labels, got):
    with pytest.raises(vernier.InvalidArgument, match=got):
        vernier.compare(LEFT, RIGHT, decision="y:top1", labels=labels, max_drop=0.1)


@pytest.mark.parametrize("labels", [np.arange(5), [[0], [1]], {"y": [0, 1]}, [0, 1, 9],
                                    [np.arange(3), np.arange(3)]])
def test_labels_that_do_not_fit_are_named_by_their_keyword(labels):
    record = vernier.compare(LEFT, RIGHT, decision="y:top1", labels=labels, max_drop=0.9)
    assert record.exit_code == 4
    assert record.faults and not [fault for fault in record.faults if "labels." in fault]


def test_a_fork_of_the_program_answers_nothing():
    sides = [[{"y": side["y"][i:i + 1]} for i in range(3)] for side in (LEFT, RIGHT)]

    def forked(outputs):
        os.fork()
        return first(outputs)

    (decision,) = decided(vernier.compare(*sides, decision=forked))
    assert (decision["samples"], decision["flips"]) == (3, 1)


def test_runs_take_labels_and_keep_the_inputs_of_flips(model, tmp_path):
    feeds = [{"x": np.full((1, 2), i, np.float32)} for i in range(4)]

    def right(feed):
        return {"y": np.float32([[1, 0]])}

    def late(feed):
        return {"y": np.float32([[1, 0]]) * (1 if feed["x"][0, 0] < 3 else -1)}

    path = str(tmp_path / "flips.npz")
    record = vernier.run(None, {"right": right, "late": late}, inputs=feeds, decision="top1",
                         labels=np.zeros(4, int), max_drop=0.1, save_flips=path)
    assert record.exit_code == 1
    assert decided(record)[0]["labels"]["right_to_wrong"] == 1
    with np.load(path) as kept:
        assert kept["0000000000/x"].tolist() == [[3, 3]]


def test_comparisons_keep_the_outputs_of_flips(tmp_path):
    path = str(tmp_path / "flips.npz")
    left = [{"y": LEFT["y"]}, {"y": LEFT["y"]}]
    record = vernier.compare(left, [left[0], {"y": RIGHT["y"]}], decision="y:top1",
                             max_flip_rate=0.9, save_flips=path)
    assert record.data["saved"] == [{"what": "outputs of flips", "where": path}]
    kept = vernier.load_results(path)
    (a,), (b,) = (list(iterations) for iterations in kept.values())
    np.testing.assert_array_equal(a["y"], LEFT["y"])
    np.testing.assert_array_equal(b["y"], RIGHT["y"])
    (tmp_path / "file").touch()
    with pytest.raises(vernier.SaveError):
        vernier.compare(LEFT, RIGHT, decision="y:top1", save_flips=str(tmp_path / "file/f.npz"))
