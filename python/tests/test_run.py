"""vernier.run and runners alone, with ONNX Runtime and with callables."""

import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import vernier
from models import WEIGHTS, expected, small_model
from vernier import _native, _running


def reference(feed):
    return {"y": expected(feed["x"])}


def test_framework_against_a_callable(model):
    record = vernier.run(model, ["onnxrt", reference], iterations=3)
    assert record.passed
    assert [runner["name"] for runner in record.runners][1] == "reference"
    assert [len(its) for its in record.results.values()] == [3, 3]
    for (x, _), theirs, ours in zip(((f["x"], 0) for f in record.inputs),
                                    *record.results.values()):
        np.testing.assert_allclose(theirs["y"], ours["y"], rtol=1e-5)
        np.testing.assert_array_equal(ours["y"], expected(x))
    assert record.output("y")["compared_iterations"] == 3


def test_wrong_callable_is_a_mismatch(model):
    record = vernier.run(model, {"good": vernier.OnnxRuntime(),
                                 "bad": lambda feed: {"y": expected(feed["x"]) + 1}})
    assert record.exit_code == 1 and record.mismatched() == ["y"]
    assert list(record.results.keys()) == ["good", "bad"]


def test_names_of_runners_are_those_that_have_a_flag():
    flags = {row[1][0] for row in _native.option_rows("run") if row[0] == "runners"}
    assert set(_running.SWITCHES.values()) == flags - {"--model-runner", "--runner"}
    assert _running.SWITCHES["onnxruntime"] == _running.SWITCHES["onnxrt"] == "--onnxrt"


def test_variables_are_set_for_workers_alone(model, tmp_path):
    script = tmp_path / "level.py"
    script.write_text("import os\n\n\ndef infer(feed):\n"
                      "    assert os.environ['LEVEL'] == 'a=3', os.environ['LEVEL']\n"
                      "    return feed\n")
    for variables in ({"LEVEL": "a=3"}, ["LEVEL=2", "LEVEL=a=3"], "LEVEL=a=3"):
        assert vernier.run(model, [str(script)], env=variables).exit_code == 0
    assert "LEVEL" not in os.environ
    with pytest.raises(vernier.InvalidArgument, match="^env: expected NAME=VALUE, got '3'"):
        vernier.run(model, [str(script)], env="3")


def test_order_of_runners_is_kept(model):
    record = vernier.run(model, [reference, "onnxrt", reference])
    names = [runner["name"] for runner in record.runners]
    assert names[0] == "reference" and "onnxrt" in names[1] and names[2] == "reference-1"
    assert [(p["first"], p["second"]) for p in record.pairs] == list(zip(names, names[1:]))


def test_feeds_of_every_kind(model, tmp_path):
    x = np.array([[1, -2, 3]], dtype=np.float32)
    feeds = [{"x": x}, {"x": x * 2}]
    vernier.save_inputs(feeds, tmp_path / "feeds.npz")

    def generator():
        yield from feeds

    for inputs, count in ((feeds[0], 1), (feeds, 2), (generator(), 2), (generator, 2),
                          (iter(feeds), 2), (tmp_path / "feeds.npz", 2)):
        record = vernier.run(model, ["onnxrt"], inputs)
        iterations = record.results[0][1]
        assert len(iterations) == count
        np.testing.assert_allclose(iterations[-1]["y"], expected(feeds[count - 1]["x"]), rtol=1e-5)


def test_no_feeds_are_no_pass(model, tmp_path):
    for inputs in ([], iter(()), lambda: []):
        for runners in (["onnxrt"], ["onnxrt", "onnxrt"]):
            with pytest.raises(vernier.Malformed, match="the data loader gave no feed"):
                vernier.run(model, runners, inputs)
    vernier.save_inputs([], tmp_path / "none.npz")
    with pytest.raises(vernier.Malformed, match="loaded inputs hold no feed"):
        vernier.run(model, ["onnxrt"], tmp_path / "none.npz")


def test_ranges_of_numpys_numbers(model):
    low, high = np.float64(0.5), np.float32(0.75)
    for val_range in ({"x": (low, high)}, {"": [low, high]}):
        x = vernier.run(model, ["onnxrt"], val_range=val_range).inputs[0]["x"]
        assert 0.5 <= x.min() and x.max() <= 0.75


@pytest.mark.parametrize("option", ["gen_script", "resume", "run_file", "save_run_file"])
def test_what_only_the_program_does_is_refused(model, option):
    with pytest.raises(vernier.InvalidArgument, match="python -m vernier"):
        vernier.run(model, ["onnxrt"], **{option: "x"})


def test_model_as_bytes():
    record = vernier.run(small_model(), ["onnxrt"], {"x": np.ones((2, 3), np.float32)})
    np.testing.assert_allclose(record.results[0][1][0]["y"], expected(np.ones((2, 3))), rtol=1e-5)


def test_callables_without_a_model():
    record = vernier.run(None, [reference, lambda feed: {"y": feed["x"] @ WEIGHTS}],
                         {"x": np.ones((1, 3), np.float32)})
    assert record.passed


def test_own_comparison_and_postprocessing(model):
    def halve(result):
        return {name: value / 2 for name, value in result.items()}

    record = vernier.run(model, [reference, lambda feed: {"y": expected(feed["x"]) + 1}],
                         postprocess_func=halve, atol=0.5)
    assert record.passed
    record = vernier.run(model, [reference, lambda feed: {"y": expected(feed["x"]) + 1}],
                         compare_func=lambda a, b: {"y": np.allclose(a["y"] + 1, b["y"])})
    assert record.passed


def test_outputs_need_not_be_kept(model):
    record = vernier.run(model, ["onnxrt", reference], iterations=2, keep_outputs=False)
    assert record.passed and len(record.results) == 0 and record.inputs == []


def test_progress_of_a_list_of_feeds_has_its_length(model):
    seen = []
    feeds = [{"x": np.ones((1, 3), np.float32)}] * 2
    vernier.run(model, ["onnxrt"], feeds, progress=lambda *now: seen.append(now))
    assert seen == [(1, 2), (2, 2)]


def test_progress(model):
    seen = []
    vernier.run(model, ["onnxrt"], iterations=3, progress=lambda *now: seen.append(now))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_saved_outputs_as_a_runner(model, tmp_path):
    path = tmp_path / "o.npz"
    vernier.run(model, {"old": "onnxrt"}, seed=3, save_outputs=path)
    assert vernier.run(model, ["onnxrt", path], seed=3).passed
    assert not vernier.run(model, ["onnxrt", path], seed=4).passed
    labelled = vernier.run(model, {"new": "onnxrt", "golden": path}, seed=3)
    assert labelled.passed and labelled.pairs[0]["second"] == "golden"
    for inputs in ([{"x": [[1.0, 2.0, 3.0]]}], {"x": 1}, "feeds.npz"):
        with pytest.raises(vernier.InvalidArgument, match="^inputs: all runners are files"):
            vernier.run(None, [str(path)], inputs)


def test_callable_that_raises_keeps_its_traceback(model):
    def broken(feed):
        return feed["no such input"]

    with pytest.raises(vernier.BackendError, match="no such input") as caught:
        vernier.run(model, ["onnxrt", broken])
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.exit_code == 6
    # What the other runner did is still there.
    assert len(caught.value.record.results[0][1]) == 1


def test_loader_that_raises(model):
    def feeds():
        yield {"x": np.ones((1, 3), np.float32)}
        raise OSError("the disk is gone")

    with pytest.raises(vernier.Error, match="the disk is gone") as caught:
        vernier.run(model, ["onnxrt"], feeds())
    assert isinstance(caught.value.__cause__, OSError)


@pytest.mark.parametrize("words, error, text", [
    ({"model": "/nowhere/m.onnx", "runners": ["onnxrt"]}, vernier.Malformed, "m.onnx"),
    ({"runners": []}, vernier.InvalidArgument, "runner"),
    ({"runners": ["no such runner"]}, vernier.InvalidArgument, "no such runner"),
    ({"runners": [3]}, vernier.InvalidArgument, "int"),
    ({"runners": ["onnxrt"], "iterationz": 3}, vernier.InvalidArgument, "iterations"),
    ({"runners": [vernier.Runner(backend="nonsense")]}, vernier.InvalidArgument, "nonsense"),
])
def test_bad_input(model, words, error, text):
    with pytest.raises(error, match=text):
        vernier.run(**{"model": model, **words})


def test_damaged_model(tmp_path):
    (tmp_path / "m.onnx").write_bytes(b"\xff" * 100)
    with pytest.raises(vernier.Malformed, match="m.onnx"):
        vernier.run(tmp_path / "m.onnx", ["onnxrt"])


def test_runner_alone(model):
    with vernier.OnnxRuntime(model, intra_op_threads=1) as runner:
        assert runner.inputs == {"x": ("float32", ("n", 3))}
        for batch in (1, 4):
            x = np.arange(3 * batch, dtype=np.float32).reshape(batch, 3) - 4
            result = runner.infer({"x": x})
            np.testing.assert_allclose(result["y"], expected(x), rtol=1e-5)
            assert result.runtime > 0
    np.testing.assert_allclose(result["y"], expected(x), rtol=1e-5)  # outlives its runner
    with pytest.raises(vernier.InvalidArgument, match="not open"):
        runner.infer({"x": x})


def test_runner_refuses_wrong_feeds(model):
    with vernier.OnnxRuntime(model) as runner:
        with pytest.raises(vernier.InvalidArgument, match=r"^feed\['x'\]: expected"):
            runner.infer({"x": np.ones((1, 3), np.int64)})
        assert runner.infer({"x": np.ones((1, 3), np.float32)})["y"].shape == (1, 2)


def test_runner_outlives_the_thread_that_opened_it(model):
    runner = vernier.OnnxRuntime(model)
    thread = threading.Thread(target=runner.activate)
    thread.start()
    thread.join()
    assert runner.infer({"x": np.ones((1, 3), np.float32)})["y"].shape == (1, 2)
    runner.deactivate()


def test_missing_model_and_framework():
    with pytest.raises(vernier.Malformed, match="/nowhere/m.onnx"):
        vernier.OnnxRuntime("/nowhere/m.onnx").activate()
    with pytest.raises(vernier.InvalidArgument, match="model"):
        vernier.OnnxRuntime().activate()


def test_other_threads_run_meanwhile(model):
    asked, answered = threading.Event(), threading.Event()

    def other():
        assert asked.wait(60)
        answered.set()

    def slow(feed):  # ends when another thread has had its turn
        asked.set()
        assert answered.wait(60)
        return reference(feed)

    thread = threading.Thread(target=other)
    thread.start()
    assert len(vernier.run(model, [slow]).results) == 1
    thread.join()


def test_interrupt_ends_a_run(model):
    script = textwrap.dedent("""
        import sys, time
        import vernier

        def slow(feed):
            print("running", flush=True)
            time.sleep(0.05)
            return {"y": feed["x"]}

        try:
            vernier.run(sys.argv[1], [slow], iterations=10000)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            sys.exit(9)
    """)
    with subprocess.Popen([sys.executable, "-c", script, str(model)], stdout=subprocess.PIPE,
                          text=True, start_new_session=True) as child:
        assert child.stdout.readline() == "running\n"
        os.kill(child.pid, signal.SIGINT)
        rest = child.stdout.read()
        assert child.wait(timeout=30) == 9
    assert rest.endswith("interrupted\n")


def test_inputs_that_the_model_lacks_are_refused(model):
    x = np.ones((1, 3), np.float32)
    with vernier.OnnxRuntime(model) as runner:
        with pytest.raises(vernier.InvalidArgument, match="inputs that the model lacks: q; it has: x"):
            runner.infer({"x": x, "q": x})


def test_a_function_may_return_one_feed(model):
    x = np.ones((2, 3), np.float32)
    record = vernier.run(model, ["onnxrt"], lambda: {"x": x})
    np.testing.assert_allclose(record.results[0][1][0]["y"], expected(x), rtol=1e-5)


def test_a_range_may_be_two_numbers(model):
    for given in ((5, 6), [5.0, 6.0], {"x": (5, 6)}):
        feed, = vernier.run(model, ["onnxrt"], val_range=given).inputs
        assert 5 <= feed["x"].min() <= feed["x"].max() <= 6


def test_a_runner_does_not_serve_a_forked_process(model):
    """Its worker is the parent's; the child neither hangs nor ends it."""
    text = f"""
import os
import numpy as np
import vernier
feed = {{"x": np.ones((1, 3), np.float32)}}
with vernier.OnnxRuntime({str(model)!r}) as runner:
    child = os.fork()
    if child == 0:
        try:
            runner.infer(feed)
        except vernier.InvalidArgument as error:
            print("before this process was forked" in str(error), flush=True)
        runner.deactivate()
        os._exit(0)
    os.waitpid(child, 0)
    print(runner.infer(feed)["y"].shape)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["True", "(1, 2)"], done.stdout + done.stderr


@pytest.mark.parametrize("option", ["save_record", "report", "save_accuracy_results",
                                    "save_heatmaps"])
def test_what_was_not_saved_is_an_error_beside_a_mismatch(model, tmp_path, option):
    (tmp_path / "file").touch()
    path = str(tmp_path / "file" / "x.html")
    with pytest.raises(vernier.SaveError, match="file.* cannot be") as caught:
        vernier.run(model, {"a": reference, "b": lambda feed: {"y": feed["x"][:, :2]}},
                    **{option: path})
    assert caught.value.record.exit_code == 1
    with pytest.raises(vernier.SaveError, match="file.* cannot be") as caught:
        vernier.compare({"y": np.ones(2)}, {"y": np.ones(2)}, **{option: path})
    assert caught.value.record.mismatched() == []


@pytest.mark.parametrize("option", ["load_inputs", "data_loader_script"])
def test_iterations_beside_a_file_of_feeds_are_refused(model, option):
    with pytest.raises(vernier.InvalidArgument, match=f"^iterations=3: .* {option}= "):
        vernier.run(model, ["onnxrt"], iterations=3, **{option: "file"})


def test_extremes_name_the_cause(model):
    with pytest.raises(vernier.BackendError, match="expected float32 .* found float64"):
        vernier.check_extremes(model, ["onnxrt"], inputs=[{"x": np.ones((1, 3))}])


def test_results_of_a_run_are_found_by_the_runners_kind(model):
    results = vernier.run(model, ["onnxrt", "identity"], iterations=2).results
    assert len(results["onnxrt"]) == len(results["identity"]) == 2


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_interrupts_of_callables_stay_what_they_are(model, raised):
    def feeds():
        yield {"x": np.ones((1, 3), np.float32)}
        raise raised("enough")

    def runner(feed):
        raise raised("enough")

    for call in (lambda: vernier.run(model, ["onnxrt"], feeds()),
                 lambda: vernier.run(model, ["onnxrt", runner]),
                 lambda: vernier.blame(model, ["onnxrt", "onnxrt"], feeds()),
                 lambda: vernier.compare({"y": 1}, {"y": 1}, func=lambda a, b: runner(a))):
        with pytest.raises(raised, match="enough"):
            call()


def test_a_process_that_serves_finds_frameworks_as_workers_do(model, tmp_path):
    """With in_process=True, too: in the environment of this Python."""
    text = f'''
import os
import vernier
from vernier import _runners
_runners.environment = lambda: ["VIRTUAL_ENV={tmp_path}"]
try:
    vernier.run({str(model)!r}, ["onnxrt"], in_process=True)
except vernier.Unavailable as error:
    print(error)
print("VIRTUAL_ENV" in os.environ)
'''
    site = tmp_path / "lib" / "python3.11" / "site-packages" / "onnxruntime" / "capi"
    site.mkdir(parents=True)
    (site / "libonnxruntime.so.1.99").write_bytes(b"not a library")
    settings = {name: value for name, value in os.environ.items()
                if name not in ("ONNXRUNTIME_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX")}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60,
                          env={**settings, "HOME": str(tmp_path), "PATH": str(tmp_path)})
    assert f"{site}/libonnxruntime.so.1.99" in done.stdout, done.stdout + done.stderr
    assert done.stdout.endswith("False\n")
