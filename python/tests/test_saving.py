"""What could not be saved is a SaveError with the record, whatever else was found."""

import os
import stat

import numpy as np
import pytest

import vernier
from models import layered_model

X = np.ones((1, 3), np.float32)


@pytest.fixture
def models(tmp_path):
    for name, scale in (("right", 0.5), ("wrong", 0.75)):
        (tmp_path / f"{name}.onnx").write_bytes(layered_model(np.float32(scale)))
    return {name: vernier.OnnxRuntime(tmp_path / f"{name}.onnx") for name in ("right", "wrong")}


@pytest.fixture
def read_only(tmp_path):
    """A folder that nobody can write to: for root, who may write anywhere, one that is a file."""
    folder = tmp_path / "read-only"
    if os.geteuid() == 0:
        folder.touch()
    else:
        folder.mkdir(mode=stat.S_IRUSR | stat.S_IXUSR)
    return folder


CALLS = {
    "blame": (lambda m, **o: vernier.blame(None, m, {"x": X}, **o), ("save_blame", "report")),
    "profile": (lambda m, **o: vernier.profile(None, m, {"x": X}, runs=9, no_layer_times=True, **o),
                ("save_record", "report")),
    "consistency": (lambda m, **o: vernier.check_consistency(
        None, {"right": m["right"]}, {"x": X}, only=["repeated-runs"], **o), ("save_record",)),
    "extremes": (lambda m, **o: vernier.check_extremes(None, m, {"x": X}, sets=["inf"], **o),
                 ("save_record",)),
    "lint": (lambda m, **o: vernier.check_lint(m["right"].model, (), **o), ("output",)),
}
OPTIONS = [(name, option) for name, (_, options) in CALLS.items() for option in options]


@pytest.mark.parametrize("name, option", OPTIONS)
def test_what_an_investigation_could_not_save(models, read_only, name, option):
    path = f"{read_only}/x.html" if option == "report" else f"{read_only}/x.json"
    with pytest.raises(vernier.SaveError, match="read-only") as caught:
        CALLS[name][0](models, **{option: path})
    assert caught.value.exit_code == 7 and caught.value.record is not None


@pytest.mark.parametrize("name", CALLS)
def test_what_a_record_could_not_save(models, read_only, name):
    record = CALLS[name][0](models)
    for path in (read_only / "x.json", "/dev/full/x.json"):
        with pytest.raises(vernier.SaveError, match=f"^'{path}' cannot be written: "):
            record.save(path)


@pytest.mark.parametrize("name, option", [entry for entry in OPTIONS if entry[1] != "report"])
def test_a_full_disk(models, name, option, tmp_path):
    link = tmp_path / "full.json"
    link.symlink_to("/dev/full")
    try:
        CALLS[name][0](models, **{option: link})
    except vernier.SaveError as error:
        assert "full" in str(error)
    else:  # a file took the place of the link, and is whole
        assert not link.is_symlink() and link.stat().st_size > 0


@pytest.mark.parametrize("spelled", ["{parent}/read-only//x", "{parent}/read-only/./x",
                                     "{parent}//read-only/../read-only/x", "./read-only//x",
                                     "read-only/x"])
@pytest.mark.parametrize("option", ["save_record", "report", "save_outputs"])
def test_a_failed_save_is_recognised_however_its_path_is_spelled(
        models, read_only, monkeypatch, spelled, option):
    monkeypatch.chdir(read_only.parent)
    path = spelled.format(parent=read_only.parent) + (".html" if option == "report" else ".json")
    with pytest.raises(vernier.Error) as caught:
        vernier.run(None, models, {"x": X}, **{option: path})
    assert isinstance(caught.value, vernier.SaveError), caught.value
    assert option == "save_outputs" or caught.value.record.mismatched() == ["y"]


def test_a_file_in_the_way_of_another_is_not_meant(tmp_path):
    """Sentences about other files are no failure to save."""
    from vernier._saving import unsaved
    options = {"save_record": f"{tmp_path}//a.json", "load_inputs": f"{tmp_path}/b.json"}
    assert unsaved(options, 1, [f"'{tmp_path}/b.json' cannot be written"]) == []
    assert unsaved(options, 1, [f"'{tmp_path}/a.jsonl' cannot be written"]) == []
    assert len(unsaved(options, 1, [f"'{tmp_path}/a.json' cannot be written"])) == 1
