"""What calls are answered with: keywords of Python, never words of a command line."""

import numpy as np
import pytest

import vernier
from models import small_model
from vernier import _native
from vernier._keywords import COMMANDS, HELP, keywords, of_runners
from vernier._sentences import answers, in_python

X = np.ones((1, 3), np.float32)


def said(command, sentence, dests=lambda: None):
    return answers(command, dests)(lambda: in_python(sentence))()


def flags():
    """Every long flag of every command that a function stands for."""
    return sorted({flag for command in COMMANDS
                   for _, names, _, action, *_ in _native.option_rows(command) if action != HELP
                   for flag in names if flag.startswith("--")})


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("form", [
    "{}: expected a number", "argument {}/-x: invalid", "it is so; add {}", "a file (give {} it)",
    "use {} 3 to go on", "use {} FILE, or that", "'{}' applies to all", "it needs {}.",
    "{} 'a' {} 2 are given", "line\n{}: x", "say {} or {}"])
def test_no_option_of_any_row_is_said_as_a_flag(command, form):
    for flag in flags():
        sentence = said(command, form.replace("{}", flag))
        assert "--" not in sentence and sentence, f"{flag}: {sentence}"


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_advised_can_be_passed(command):
    for flag in flags():
        advice = said(command, f"it is so; pass {flag}")
        row = keywords(command).get(flag[2:].replace("-", "_"))
        if row is not None and row.elsewhere is None:
            keyword = advice.removeprefix("it is so; pass ").partition("=")[0]
            assert keywords(command)[keyword] == row
        else:  # advice that cannot be followed is left out, but for what other calls are for
            assert advice == "it is so" or "vernier.blame" in advice or '"' in advice or (
                flag.endswith("runner")), advice


@pytest.mark.parametrize("command, sentence, expected", [
    ("run", "convert, or pass --lenient to cast it", "convert, or pass lenient=True to cast it"),
    ("check extremes", "convert, or pass --lenient to cast it", "convert"),
    ("run", "use --atol 0.02 --rtol 1e-3", "use atol=0.02, rtol=1e-3"),
    ("run", "needs --tolerance auto", 'needs tolerance="auto"'),
    ("run", "it (x) has --run-file for that", "it (x) has run_file of the program for that"),
    ("run", "it ended, and --resume goes on; look", "it ended; look"),
    ("run", "<python 3>:load returned None", "load returned None"),
    ("run", "to find the layer: add --blame", "to find the layer: call vernier.blame"),
    ("blame", "with --onnx-outputs '*' it is", "with onnx_outputs='*' it is"),
    ("run", "--runner a: there is no backend 'x'", "runners[\"a\"]: there is no backend 'x'"),
    ("run", "give it with --input-shapes NAME:[1,3]", 'give it with input_shapes="NAME:[1,3]"'),
    ("run", "--onnxruntime.log: expected host", "--onnxruntime.log: expected host"),
    ("run", "a node called a--b and a file x--lenient", "a node called a--b and a file x--lenient"),
])
def test_sentences(command, sentence, expected):
    assert said(command, sentence) == expected


def test_a_runner_alone_is_told_of_its_own_options():
    assert said("run", "no file; name one with --onnxrt-lib", of_runners) == (
        "no file; name one with onnxrt_lib=")
    assert said("run", "it hangs; raise --timeout", of_runners) == "it hangs"


def test_keywords_are_said_as_they_were_written(model):
    for options, beginning in (
            ({"rel_tol": "x"}, "rel_tol: "), ({"rtol": "x"}, "rtol: "),
            ({"verbose": True}, "verbose: "), ({"gen_script": "f"}, "gen_script: "),
            ({"l2_tolerance": "x"}, "l2_tolerance: ")):
        with pytest.raises(vernier.InvalidArgument, match=f"^{beginning}") as caught:
            vernier.run(model, ["onnxrt", "onnxrt"], **options)
        assert "--" not in str(caught.value).replace("python -m vernier", "")


def call_of(name):
    def call(model, feeds, *more):
        if name == "infer":
            with vernier.OnnxRuntime(model) as runner:
                return runner.infer(feeds[-1])
        return getattr(vernier, name)(model, ["onnxrt", "onnxrt"], feeds)
    return call


@pytest.mark.parametrize("name", ["run", "blame", "profile", "check_consistency", "check_lint",
                                  "check_extremes", "infer"])
def test_feeds_that_do_not_fit_are_named(model, name):
    place = "feed" if name == "infer" else r"inputs\[1\]" if name == "run" else r"inputs\[0\]"
    count = 2 if name == "run" else 1
    for value, text in ((X.astype(np.float64), "float32 of .* found float64 of shape"),
                        (X[:, :2], r"\('n', 3\), found float32 of shape \(1, 2\); convert")):
        kind = vernier.BackendError if name == "check_extremes" else vernier.InvalidArgument
        with pytest.raises(kind, match=rf"{place}\['x'\]: expected .*{text}") as caught:
            call_of(name)(model, ([{"x": X}] * count + [{"x": value}])[-count:])
        assert ("lenient=True to cast" in str(caught.value)) == (name in ("run", "profile"))


def test_a_feed_without_the_input_is_named(model):
    with pytest.raises(vernier.InvalidArgument, match=r"^inputs\[0\]: expected an array called 'x',"
                                                      r" found \['q'\]; rename it"):
        vernier.run(model, ["onnxrt"], [{"q": X}])


def test_records_speak_python():
    record = vernier.compare({"y": X}, {})
    assert "lenient=True pairs by position" in record.summary() and "--" not in record.summary()
    assert "lenient=True" in record.faults[0] and "--lenient" in record.data["faults"][0]


@pytest.mark.parametrize("call, expected", [
    (lambda m: vernier.run(5, ["onnxrt"]), "model: expected a path, .* got an int"),
    (lambda m: vernier.blame(5, ["onnxrt"]), "model: expected a path, .* got an int"),
    (lambda m: vernier.OnnxRuntime(5), "model: expected a path, got an int"),
    (lambda m: vernier.run(m, 5), "runners: expected a list of runners, .* got an int"),
    (lambda m: vernier.run(None, ["onnxrt"]), "model: expected a model, for a runner that has no"),
    (lambda m: vernier.run(m, None), "runners: .* got None"),
    (lambda m: vernier.run(m, ["onnxrt", None]), r"runners\[1\]: .* got None"),
    (lambda m: vernier.run(m, ["onnxrt"], 5), "inputs: expected a feed .* got an int"),
    (lambda m: vernier.blame(m, ["onnxrt"] * 2, 5), "inputs: expected a feed .* got an int"),
    (lambda m: vernier.run(m, ["onnxrt"], {"x": 2**70}), r"inputs\[0\]\['x'\] holds 11805916207174"
                                                         "11303424, which fits no type of 64 bits"),
    (lambda m: vernier.run(m, ["onnxrt"], {"x": None}), r"inputs\[0\]\['x'\] is None; expected"),
    (lambda m: vernier.run(m, ["onnxrt"], pairs=5), r"pairs: .* got 5"),
    (lambda m: vernier.run(m, ["onnxrt"], pairs=["a"]), r"pairs: .* got \['a'\]"),
    (lambda m: vernier.run(m, ["onnxrt"], progress=5), "progress: expected a function, got an int"),
    (lambda m: vernier.run(m, ["onnxrt"], compare_func=5), "compare_func: expected a function"),
    (lambda m: vernier.run(m, ["onnxrt"] * 2, compare_func=lambda a, b: {}, rtol=1e-3),
     "rtol=? has no effect beside compare_func"),
    (lambda m: vernier.compare({}, {}, func=5), "func: expected a function, got an int"),
    (lambda m: vernier.compare({}, {}, postprocess_func=[]), "postprocess_func: .* got a list"),
    (lambda m: vernier.compare({}, 5), "b: expected a mapping .* got an int"),
    (lambda m: vernier.compare({}, {}, 5), r"more\[0\]: expected a mapping .* got an int"),
    (lambda m: vernier.compare({}, {}, names=5), "names: expected a name for each .* got an int"),
    (lambda m: vernier.load_results(5), "path: expected a path, got an int"),
    (lambda m: vernier.load_inputs(None), "path: expected a path, got None"),
    (lambda m: vernier.load_record(5), "path: expected a path, got an int"),
    (lambda m: vernier.save_inputs({"x": X}, 5), "path: expected a path, got an int"),
    (lambda m: vernier.save_inputs(5, "f.npz"), "feeds: expected mappings .* got an int"),
    (lambda m: vernier.RunResults(5), "lst: .* got an int"),
    (lambda m: vernier.IterationResult(5), "outputs: .* got an int"),
    (lambda m: vernier.compare({"y": X}, {"y": X}).save(5), "path: expected a path, got an int"),
    (lambda m: vernier.run(m, ["onnxrt"], trt=True), r"no option 'trt': .* runners=\[\"trt\"\]"),
    (lambda m: vernier.run(m, ["onnxrt"], model_runner="s.py"), r"runners=\[\"script.py\"\]"),
    (lambda m: vernier.run(m, ["onnxrt"], run_file="f.json"), "run_file: .*python -m vernier run"),
    (lambda m: vernier.compare({}, {}, run_file="f.json"), "run_file: .*python -m vernier run"),
    (lambda m: vernier.blame(m, ["onnxrt"], save_run_file="f"), "^save_run_file: .*-m vernier"),
])
def test_arguments_of_no_use_are_named(model, call, expected):
    with pytest.raises(vernier.InvalidArgument, match=expected):
        call(model)


@pytest.mark.parametrize("label", ["a=b", "", 3])
def test_labels_that_cannot_be_are_refused_before_anything_starts(label):
    ran = []

    def runs(feed):
        ran.append(1)
        return feed

    for runner in ("onnxrt", vernier.OnnxRuntime(), "script.py", runs):
        with pytest.raises(vernier.InvalidArgument, match="^runners: a label is a text") as caught:
            vernier.run(small_model(), {"first": runs, label: runner})
        assert repr(label) in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(vernier.InvalidArgument, match="^name: a label is"):
        vernier.OnnxRuntime(name=label)
    assert ran == []
