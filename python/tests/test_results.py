"""Saved results: every format, without copies, and what is wrong said in a sentence."""

import json

import numpy as np
import pytest

import vernier

FORMATS = ["r.json", "r.npz", "r.safetensors", "folder"]


def sample():
    results = vernier.RunResults()
    feeds = [{"y": np.arange(6, dtype=np.float32).reshape(2, 3) + i, "n": np.array([i, 2 * i])}
             for i in range(3)]
    results.add(feeds, runtime=0.25, runner_name="one")
    results["two"] = [vernier.IterationResult({"y": feed["y"] * 2}, runner_name="two")
                      for feed in feeds]
    return results


@pytest.mark.parametrize("name", FORMATS)
def test_results_come_back(tmp_path, name):
    sample().save(tmp_path / name)
    loaded = vernier.load_results(tmp_path / name)
    assert list(loaded.keys()) == ["one", "two"]
    assert loaded["one"][0].runtime == 0.25
    assert [len(iterations) for iterations in loaded.values()] == [3, 3]
    for (_, ours), (_, theirs) in zip(sample().items(), loaded.items()):
        for mine, read in zip(ours, theirs):
            assert list(mine) == list(read)
            for output in mine:
                np.testing.assert_array_equal(mine[output], read[output])
                assert mine[output].dtype == read[output].dtype


@pytest.mark.parametrize("name", ["r.npz", "r.safetensors"])
def test_arrays_are_maps_of_the_file(tmp_path, name):
    sample().save(tmp_path / name)
    array = vernier.load_results(tmp_path / name)["one"][1]["y"]
    assert not array.flags.writeable
    place = array.__array_interface__["data"][0]
    with open("/proc/self/maps") as maps:
        for line in maps:
            low, high = (int(word, 16) for word in line.split()[0].split("-"))
            if low <= place < high:
                assert line.rstrip().endswith(name)
                return
    raise AssertionError("the array lies nowhere")


def test_array_outlives_its_results(tmp_path):
    sample().save(tmp_path / "r.npz")
    array = vernier.load_results(tmp_path / "r.npz")["one"][2]["y"]
    np.testing.assert_array_equal(array, np.arange(6, dtype=np.float32).reshape(2, 3) + 2)


def test_file_that_shrinks_is_told_of(tmp_path):
    results = vernier.RunResults()
    results.add([{"y": np.ones(1 << 20, np.float32)}], runner_name="r")
    path = tmp_path / "r.safetensors"
    results.save(path)
    loaded = vernier.load_results(path)
    array = loaded["r"][0]["y"]
    with open(path, "r+b") as file:
        file.truncate(5000)
    assert array[-1] == 0  # and no crash
    with pytest.raises(vernier.Malformed, match="became shorter"):
        loaded.check_intact()
    with pytest.raises(vernier.Malformed, match="became shorter"):
        vernier.compare(loaded, {"y": np.zeros(1 << 20, np.float32)})


def test_dlpack_both_ways(tmp_path):
    class Foreign:
        """Another library's array: it has DLPack and nothing else."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **words):
            return self.array.__dlpack__(**words)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    values = np.arange(12, dtype=np.int16).reshape(3, 4)
    result = vernier.IterationResult({"y": Foreign(values)})
    back = np.from_dlpack(result.dlpack("y"))
    np.testing.assert_array_equal(back, values)
    assert np.shares_memory(back, values)


def test_types_that_numpy_lacks(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = np.arange(8).astype(ml_dtypes.bfloat16)
    results = vernier.RunResults()
    results.add([{"y": values}], runner_name="r")
    results.save(tmp_path / "r.npz")
    np.testing.assert_array_equal(vernier.load_results(tmp_path / "r.npz")["r"][0]["y"], values)


def test_texts(tmp_path):
    results = vernier.RunResults()
    results.add([{"y": np.array(["one", "zwölf"])}], runner_name="r")
    results.save(tmp_path / "r.safetensors")
    loaded = vernier.load_results(tmp_path / "r.safetensors")
    assert loaded["r"][0]["y"].tolist() == ["one", "zwölf"]


def test_texts_that_are_not_utf8(tmp_path):
    results = vernier.RunResults()
    results.add([{"y": np.array([b"\xff", b"ok"])}], runner_name="r")
    results.save(tmp_path / "r.safetensors")
    loaded = vernier.load_results(tmp_path / "r.safetensors")
    assert [text.encode("utf-8", "surrogateescape") for text in loaded["r"][0]["y"]] == [
        b"\xff", b"ok"]
    for other, equal in ((b"\xff", True), (b"\xfe", False)):
        assert vernier.compare(loaded, {"y": np.array([other, b"ok"])}).passed == equal
        assert vernier.compare({"y": loaded["r"][0]["y"]},
                               {"y": np.array([other, b"ok"])}).passed == equal


def test_results_as_a_list_and_by_name():
    results = sample()
    assert len(results) == 2 and "two" in results and "three" not in results
    assert results[0][0] == "one"
    assert results["two"][1].runner_name == "two"
    assert vernier.RunResults.concat(results.split()) == results
    with pytest.raises(vernier.NotFound, match="no runner 'three'; there are: one, two"):
        results["three"]
    with pytest.raises(KeyError, match="^there is no output 'z'; there are: y, n$"):
        results["one"][0]["z"]
    assert results["one"][0].get("z") is None
    with pytest.raises(vernier.InvalidArgument, match="a list of mappings, one for each iteration"):
        results.add({"y": np.ones(2)}, runner_name="three")


def test_paths_may_be_bytes(tmp_path):
    path = bytes(tmp_path / "r.npz")
    sample().save(path)
    assert len(vernier.load_results(path)["one"]) == 3
    assert len(vernier.compare(path, path).pairs) == 3
    vernier.save_inputs([{"x": np.ones(2)}], bytes(tmp_path / "i.json"))
    assert len(vernier.load_inputs(bytes(tmp_path / "i.json"))) == 1


@pytest.mark.parametrize("name", ["r.json", "folder"])
def test_arrays_of_json_can_be_changed(tmp_path, name):
    sample().save(tmp_path / name)
    loaded = vernier.load_results(tmp_path / name)
    loaded["one"][1]["y"][0, 0] = 7
    assert loaded["one"][1]["y"][0, 0] == 7 and loaded["two"][1]["y"][0, 0] == 2
    loaded.save(tmp_path / "again.npz")
    assert vernier.load_results(tmp_path / "again.npz")["one"][1]["y"][0, 0] == 7


def test_inputs_come_back(tmp_path):
    feeds = [{"x": np.full((2, 2), i, np.float32)} for i in range(2)]
    for name in ("i.json", "i.npz", "i.safetensors"):
        vernier.save_inputs(feeds, tmp_path / name)
        loaded = vernier.load_inputs(tmp_path / name)
        assert [feed["x"][0, 0] for feed in loaded] == [0, 1]


@pytest.mark.parametrize("content, words", [
    (b"", "r.json"), (b"{}", "r.json"), (b'{"lst": [["a"', "r.json"),
])
def test_damaged_files(tmp_path, content, words):
    (tmp_path / "r.json").write_bytes(content)
    with pytest.raises(vernier.Malformed, match=words) as caught:
        results = vernier.load_results(tmp_path / "r.json")
        results[0][1][0].items()
    assert caught.value.exit_code == 3


def test_missing_file():
    with pytest.raises(vernier.Malformed, match="/nowhere/r.json"):
        vernier.load_results("/nowhere/r.json")


def test_nothing_is_half_written(tmp_path):
    sample().save(tmp_path / "r.npz")
    before = (tmp_path / "r.npz").read_bytes()
    bad = vernier.RunResults()
    bad.add([{"y": np.ones(3)}, {"y": object()}], runner_name="r")
    with pytest.raises(vernier.InvalidArgument, match="output 'y' is of type object"):
        bad.save(tmp_path / "r.npz")
    assert (tmp_path / "r.npz").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["r.npz"]


def test_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(vernier.SaveError) as caught:
        sample().save(tmp_path / "file" / "r.json")
    assert caught.value.exit_code == 7


def test_json_is_the_peers(tmp_path):
    sample().save(tmp_path / "r.json")
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["polygraphy_class"] == "RunResults"
    assert sorted(document) == ["lst", "polygraphy_class"]
    assert [name for name, _ in document["lst"]] == ["one", "two"]
    for _, iterations in document["lst"]:
        for iteration in iterations:
            assert iteration["polygraphy_class"] == "IterationResult"
            assert set(iteration) == {"outputs", "runtime", "runner_name", "polygraphy_class"}


def test_notebook_view(tmp_path):
    assert "<td>two</td>" in sample()._repr_html_()
    assert "float32" in sample()["one"][0]._repr_html_()


def test_texts_of_a_record_stay_texts():
    from vernier._entries import with_numbers
    made = with_numbers({"missing": ["inf", {"max": "inf"}], "name": "nan", "max": "-inf", "bins": ["inf"]})
    assert made == {"missing": ["inf", {"max": np.inf}], "name": "nan", "max": -np.inf, "bins": [np.inf]}


def test_lines_that_are_left_out_within_others():
    from vernier._logging import _of_thread, without
    with without("a"):
        with without("b"):
            assert _of_thread.dropped == ("a", "b")
        assert _of_thread.dropped == ("a",)
    assert _of_thread.dropped == ()


TIME = "-11/22/26-14:05:09"


def test_runners_that_nobody_named_are_found_by_their_kind():
    results = vernier.RunResults([
        ("onnxrt-runner-N0" + TIME, ["a"]), ("openvino-runner-N0" + TIME, ["b"]),
        ("openvino-runner-N1" + TIME, ["c"]), ("script-N0" + TIME, ["d"]), ("my-N1", ["e"]),
        ("tf-runner-N0-2026. 11. 22. 14:05:09", ["f"])])
    for word, found in (("onnxrt", "a"), ("onnxrt-runner-N0", "a"), ("openvino-runner-N1", "c"),
                        ("script", "d"), ("my-N1", "e"), ("tf", "f"), ("script-N0" + TIME, "d")):
        assert results[word] == [found] and word in results
    for word in ("my", "onnxrt-runner", "", "onnx"):
        assert word not in results
        with pytest.raises(vernier.NotFound, match=f"^there is no runner '{word}'; there are: o"):
            results[word]
    with pytest.raises(vernier.NotFound, match="^'openvino' stands for 2 runners: openvino-runner"):
        results["openvino"]
    results["onnxrt"] = ["own"]  # a name of one's own comes first
    assert results["onnxrt"] == ["own"] and len(results) == 7


def test_concat_keeps_names_apart():
    runs = [vernier.RunResults([("onnxrt-runner-N0" + TIME, [1]), ("onnxrt", [2])])] * 2
    assert vernier.RunResults.concat(runs).lst == [("onnxrt-runner-N0" + TIME, [1, 1]),
                                                   ("onnxrt", [2, 2])]
