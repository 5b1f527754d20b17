"""Arrays against arrays."""

import logging
import subprocess
import sys

import numpy as np
import pytest

import vernier


def outputs(**arrays):
    return {name: np.asarray(value, dtype=np.float32) for name, value in arrays.items()}


def test_equal_arrays_pass():
    record = vernier.compare(outputs(y=[1, 2, 3]), outputs(y=[1, 2, 3]))
    assert record and record.passed and record.exit_code == 0
    assert record.mismatched() == []
    assert record.output("y")["elements"] == 3


def test_mismatch_is_data():
    record = vernier.compare(outputs(y=[1, 2, 3], z=[0]), outputs(y=[1, 2, 4], z=[0]))
    assert not record and record.exit_code == 1
    assert record.mismatched() == ["y"]
    assert record.output("y")["mismatches"] == 1
    assert record.output("y")["max_absolute_error"] == 1.0
    assert "y" in record.summary()


def test_measures_that_are_not_finite_are_floats(tmp_path):
    record = vernier.compare(outputs(y=[1, 2, 3]), outputs(y=[1, np.nan, 3]), compare=["simple", "l2"])
    record.save(tmp_path / "record.json")
    for found in (record, vernier.load_record(tmp_path / "record.json")):
        output = found.output("y")
        assert np.isnan(output["max_absolute_error"]) and not output["max_absolute_error"] > 1e-3
        assert output["times_over_tolerance"] == float("inf")
        figures = output["worst_iteration"]
        assert np.isnan(figures["gates"][1]["value"]) and np.isnan(figures["second"]["max"])
        assert np.isnan(figures["worst_elements"][0]["second"])
        assert np.isnan(found.data["comparison_results"]["y"]["max_error"])


def test_words_stay_words():
    record = vernier.compare({"nan": np.array(["inf", "b"])}, {"nan": np.array(["inf", "nan"])},
                             lenient=True)
    output = record.output("nan")
    assert output["name"] == "nan" and output["times_over_tolerance"] == float("inf")
    assert output["worst_iteration"]["worst_elements"][0]["second"] == "nan"


@pytest.mark.parametrize("options, passes", [
    ({"atol": 0.5}, False), ({"atol": 1.0}, True), ({"rtol": 0.2}, False), ({"rtol": 0.25}, True),
    ({"atol": {"y": 1}}, True), ({"atol": {"": 1, "y": 0.1}}, False),
    ({"compare": ["simple", "l2"], "atol": 1}, False),
    ({"compare": ["simple", "l2"], "atol": 1, "l2_threshold": 2}, True),
    ({"check_error_stat": "mean", "atol": 0.4}, True),
])
def test_options_are_those_of_the_command(options, passes):
    record = vernier.compare(outputs(y=[1, 2, 3]), outputs(y=[1, 2, 4]), **options)
    assert record.passed == passes


def test_a_name_may_begin_with_a_dash():
    sides = [{"-y": np.ones(2) + more, "z": np.ones(2)} for more in (0, 0.5)]
    assert vernier.compare(*sides, atol={"-y": 1}) and not vernier.compare(*sides, atol={"-y": 0.1})
    for several in ({"-y": 1, "z": 1}, {"z": 1, "-y": 1}):  # which a command line cannot say
        assert vernier.compare(*sides, atol=several)
        assert not vernier.compare(*sides, atol={**several, "-y": 0.1})


def test_nan_never_passes():
    assert not vernier.compare(outputs(y=[np.nan]), outputs(y=[np.nan]), atol=1e9)


def test_nothing_in_common_is_no_pass():
    record = vernier.compare(outputs(y=[1], z=[2]), outputs(u=[[1]], v=[[2]]))
    assert record.exit_code == 4
    assert record.faults


def test_nothing_at_all_is_no_pass():
    for sides in (({}, {}), ([], [])):
        record = vernier.compare(*sides)
        assert record.exit_code == 4 and record.faults
    assert vernier.compare({}, {}, lenient=True).exit_code == 4


def test_fewer_iterations_are_no_pass():
    record = vernier.compare([outputs(y=[1])] * 3, [outputs(y=[1])] * 2)
    assert record.exit_code == 4
    assert "only 2 of 3 iterations" in record.faults[0]


def test_files_against_arrays(tmp_path):
    results = vernier.RunResults()
    results.add([outputs(y=[1, 2])], runner_name="saved")
    results.save(tmp_path / "r.npz")
    assert vernier.compare(tmp_path / "r.npz", outputs(y=[1, 2]))
    record = vernier.compare(str(tmp_path / "r.npz"), outputs(y=[1, 5]), names=["old", "new"])
    assert (record.pairs[0]["first"], record.pairs[0]["second"]) == ("old", "new")
    assert not record


def test_unknown_option_and_output():
    with pytest.raises(vernier.InvalidArgument, match="no option 'rtoll'; did you mean 'rtol'"):
        vernier.compare(outputs(y=[1]), outputs(y=[1]), rtoll=1)
    for names in (["a"], ["a", "a"]):
        with pytest.raises(vernier.InvalidArgument, match="names:"):
            vernier.compare(outputs(y=[1]), outputs(y=[1]), names=names)
    with pytest.raises(vernier.InvalidArgument, match="-1"):
        vernier.compare(outputs(y=[1]), outputs(y=[1]), rtol=-1)
    with pytest.raises(vernier.NotFound, match="logits"):
        vernier.compare(outputs(y=[1]), outputs(y=[1]), rtol={"logits": 1})


@pytest.mark.parametrize("option", ["log_file", "verbose", "silent"])
def test_options_of_the_log_are_pythons(option):
    with pytest.raises(vernier.InvalidArgument, match="logger 'vernier'"):
        vernier.compare(outputs(y=[1]), outputs(y=[1]), **{option: True})


def test_keys_of_a_record_are_attributes():
    record = vernier.compare({"y": 1.0}, {"y": 2.0})
    assert record.data.pairs[0].outputs[0].name == "y"
    assert record.output("y").max_absolute_error == record.output("y")["max_absolute_error"] == 1


def test_what_is_no_array():
    with pytest.raises(vernier.InvalidArgument, match=r"a\['y'\] is of type object"):
        vernier.compare({"y": object()}, {"y": object()})
    with pytest.raises(vernier.InvalidArgument, match="^a: expected a mapping .* got an int"):
        vernier.compare(3, {"y": [1]})


def test_own_function_judges():
    seen = []

    def close_enough(a, b):
        seen.append((a.runner_name, b.runner_name, type(a).__name__))
        return {name: bool(np.abs(a[name] - b[name]).max() < 2) for name in a}

    record = vernier.compare(outputs(y=[1, 2, 3]), outputs(y=[1, 2, 4]), func=close_enough)
    assert record.passed
    assert seen == [("a", "b", "IterationResult")]
    assert not vernier.compare(outputs(y=[1]), outputs(y=[9]), func=close_enough)


def test_own_function_that_judges_nothing_or_a_part_is_seen():
    sides = outputs(y=[1], z=[1]), outputs(y=[1], z=[9])
    slip = vernier.compare(*sides, func=lambda a, b: {"tpyo": True})
    assert not slip
    assert slip.exit_code == 4
    part = vernier.compare(*sides, func=lambda a, b: {"y": True})
    assert part
    assert "compared 1 of 2 outputs" in part.summary()
    assert "no verdict on: z" in part.summary()
    assert vernier.compare(*sides, func=lambda a, b: {"y": True}, strict=True).exit_code == 4


def test_function_that_raises_keeps_its_traceback():
    def broken(a, b):
        raise ZeroDivisionError("on purpose")

    with pytest.raises(vernier.BackendError, match="on purpose") as caught:
        vernier.compare(outputs(y=[1]), outputs(y=[1]), func=broken)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    frames = []
    traceback = caught.value.__cause__.__traceback__
    while traceback:
        frames.append(traceback.tb_frame.f_code.co_name)
        traceback = traceback.tb_next
    assert "broken" in frames


def test_log_is_pythons(caplog):
    with caplog.at_level(logging.INFO, logger="vernier"):
        vernier.compare(outputs(y=[1, 2, 3]), outputs(y=[1, 2, 4]))
    text = "\n".join(entry.getMessage() for entry in caplog.records)
    assert "Comparing Output: 'y' (dtype=float32, shape=(3,))" in text
    assert "FAILED | Output: 'y'" in text
    assert {entry.name for entry in caplog.records} == {"vernier"}


def test_record_is_saved_and_reported(tmp_path):
    record = vernier.compare(outputs(y=[1, 2, 3]), outputs(y=[1, 2, 4]))
    record.save(tmp_path / "record.json")
    again = vernier.load_record(tmp_path / "record.json")
    assert again.mismatched() == ["y"] and again.exit_code == 1
    for name in ("page.html", "junit.xml", "lines.jsonl", "page.md"):
        record.report(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 0
    with pytest.raises(vernier.InvalidArgument, match="page.pdf"):
        record.report(tmp_path / "page.pdf")


def test_options_save_the_record_and_reports(tmp_path):
    record = vernier.compare(outputs(y=[1, 2]), outputs(y=[1, 3]), save_record=tmp_path / "r.json",
                             report=[tmp_path / "r.html", tmp_path / "r.md"])
    assert vernier.load_record(tmp_path / "r.json").data == record.data
    assert {path.name for path in tmp_path.iterdir()} == {"r.json", "r.html", "r.md"}
    (tmp_path / "file").write_text("")
    with pytest.raises(vernier.SaveError, match="file' cannot be created") as caught:
        vernier.compare(outputs(y=[1, 2]), outputs(y=[1, 2]),
                        save_record=tmp_path / "file" / "r.json")
    assert caught.value.record.exit_code == 7


def test_records_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(vernier.Malformed, match="/nowhere/r.json"):
        vernier.load_record("/nowhere/r.json")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(vernier.Malformed, match="bytes"):
        vernier.load_record(tmp_path / "bytes")
    with pytest.raises(vernier.SaveError, match="bytes/r.json"):
        vernier.compare(outputs(y=[1, 2]), outputs(y=[1, 2])).save(tmp_path / "bytes" / "r.json")


def test_notebook_view():
    record = vernier.compare(outputs(y=[1, 2, 3]), outputs(y=[1, 2, 4]))
    html = record._repr_html_()
    assert "<table>" in html and "FAILED" in html
    assert html.count("<svg") == 1  # a heat map of what failed
    assert "<svg" not in vernier.compare(outputs(y=[1]), outputs(y=[1]))._repr_html_()


def test_arrays_in_any_layout():
    square = np.arange(16, dtype=np.float32).reshape(4, 4)
    assert vernier.compare({"y": square.T}, {"y": np.ascontiguousarray(square.T)})
    assert vernier.compare({"y": square[::2, ::-1]}, {"y": square[::2, ::-1].copy()})
    assert vernier.compare({"y": square.astype(">f4")}, {"y": square})
    assert not vernier.compare({"y": square.T}, {"y": square})


class OnDevice:
    """An array that says it lies on a GPU, and hands out its bytes only when asked for host memory."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return (2, 1)

    def __dlpack__(self, *, dl_device=None, **_):
        assert dl_device == (1, 0)
        return self.array.__dlpack__()


def test_arrays_of_a_device_are_copied_with_one_sentence(caplog):
    array = np.arange(8, dtype=np.float32)
    sides = [{"y": OnDevice(array), "z": OnDevice(array)}, {"y": array, "z": array}]
    with caplog.at_level(logging.INFO, logger="vernier"):
        record = vernier.compare(*sides)
    said = "copied to the host to be compared there: 2 arrays (6.1e-05 MiB) of cuda:1"
    assert record.passed and record.notes == [said]
    assert [entry.getMessage() for entry in caplog.records].count(said) == 1
    assert f"note: {said}" in record.summary()
    assert not vernier.compare({"y": OnDevice(array)}, {"y": array + 1})
    assert vernier.compare(sides[1], sides[1]).notes == []


def test_array_of_a_device_that_cannot_be_copied():
    class Stuck(OnDevice):
        def __dlpack__(self, **_):
            raise BufferError("no way to the host")

    with pytest.raises(vernier.InvalidArgument,
                       match=r"a\['y'\]: its __dlpack__ .* no way to the host"):
        vernier.compare({"y": Stuck(np.zeros(1))}, {"y": np.zeros(1)})


def test_interrupt_ends_within_an_iteration(tmp_path):
    """After the output at hand: the iteration has twenty, and one is measured in a fraction."""
    script = f"""
import os, signal, threading, time
import numpy as np
import vernier

values = np.arange(1_000_000, dtype=np.float32)
first = {{f"y{{i}}": values for i in range(20)}}
second = {{f"y{{i}}": values + 1 for i in range(20)}}

def spent(wait):
    start, interrupted = time.monotonic(), False
    if wait:
        threading.Timer(wait, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        vernier.compare(first, second, save_record={str(tmp_path / 'record.json')!r})
    except KeyboardInterrupt:
        interrupted = True
    assert interrupted == bool(wait)
    return time.monotonic() - start

spent(None)  # the first one is slower
whole = min(spent(None) for _ in range(3))
# A busy machine may be late many times; what is never early does not end within an iteration.
for _ in range(40):
    cut = spent(whole / 10)
    if cut < 0.5 * whole:
        break
print("early" if cut < 0.5 * whole else f"{{cut}} of {{whole}} s")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "early\n"), done.stderr
