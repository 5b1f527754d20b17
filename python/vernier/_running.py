"""vernier.run: a model under several runners, on the same inputs, compared."""

import contextlib
import os
import sys
import tempfile

from . import _native
from ._callables import Callables, check_function
from ._errors import InvalidArgument, of_exit
from ._feeds import calls_of
from ._labels import as_files
from ._logging import sink
from ._polygraphy.arguments import kind_of, listed
from ._record import Record
from ._results import IterationResult, RunResults
from ._runners import Runner, environment, label_of, served_here
from ._saving import UNSAVED, joined, unsaved
from ._sentences import answers
from ._words import chosen, texts

# Exit codes of runs that did what was asked and found something.
FINDINGS = (0, 1, 4)
# Names of runners, as people write them, with their flags.
SWITCHES = dict(_native.runner_flags())
LOADED = "--load-outputs"


@answers("run")
def run(model=None, runners=(), inputs=None, *, compare_func=None, postprocess_func=None,
        keep_outputs=True, progress=None, **options):
    """Runs, compares and returns a Record.

    model: a path, an onnx.ModelProto or its bytes. runners: names ("onnxrt"), Runner objects, paths
    of saved outputs, callables that take a feed and return outputs, or a dictionary of those by
    label (saved outputs without one keep the names that they were saved with). inputs: a feed (a
    mapping of input names to arrays, numbers or lists), an iterable of feeds, a function that
    returns either, or a file; else random numbers, as `vernier run` draws them (seed=, iterations=,
    val_range=, input_shapes=). With iterations=n a function that returns a feed is called n times.

    compare_func(a, b) and postprocess_func(result) take part as --compare-func-script and
    --postprocess-func-script do, decision=["top1", decide] takes functions as well, which are given
    all outputs of a side and return what it decides, and labels= arrays. Outputs of all iterations
    stay in the record's `results`; keep_outputs=False drops them as soon as they are compared.
    pairs=[("a", "b")] says which runners are compared (else each with the next), pairs=[] none.
    progress(done, total) is called after each iteration. All other options are those of the
    program: rtol=1e-3, tolerance="auto", iterations=10, save_outputs="o.npz", report="page.html", ...

    Mismatches are in the record. What kept the run from being done is an exception with the record:
    InvalidArgument, Malformed, Unavailable, BackendError, SaveError. Of a callable that raised, the
    exception is the cause. Ctrl-C ends a run cleanly.
    """
    callables = Callables()
    if progress is not None:
        check_function(progress, "progress")
    if progress is not None and isinstance(inputs, (list, tuple)):
        progress = _with_total(progress, len(inputs))
    with contextlib.ExitStack() as stack:
        said = model_option(model, stack)
        named = runner_options(runners, callables)
        if inputs is not None and not callables.runners and named and named[0][0] == LOADED:
            raise InvalidArgument("inputs: all runners are files of saved outputs, which take "
                                  "none; leave inputs= out, or add a runner")
        said += named
        options = _inputs(inputs, options, callables)
        if compare_func is not None:
            callables.add_function("comparison", compare_func, "compare_func")
        if postprocess_func is not None:
            callables.add_function("postprocessing", postprocess_func, "postprocess_func")
        options = stack.enter_context(as_files(callables.name_decisions(options)))
        compare = options.get("pairs") is None or pair_words(options)["pairs"] is not None
        said += chosen("run", pair_words(options))
        stack.enter_context(callables)
        stack.enter_context(served_here(options))
        write, level = sink()
        settings = {"keep": bool(keep_outputs), "environment": environment(),
                    "python": sys.executable, "compare": compare}
        try:
            answer = _native.run(said, callables.said(), settings, write, level, progress)
        except Exception as error:
            raise callables.cause_of(error)
        return _conclude(answer, callables, options, write.critical)


def _with_total(progress, total):
    """The program does not know how many feeds a list has."""
    return lambda done, known: progress(done, known or total)


def _conclude(answer, callables, options, critical):
    made = {}
    for iteration in answer.results:
        made.setdefault(iteration[0], []).append(IterationResult._of(iteration))
    results = RunResults(made.items())
    inputs = [IterationResult(dict(feed), None, "inputs") for feed in answer.feeds]
    record = Record(answer.record, answer.exit_code, results, inputs)
    if answer.exit_code > 128:
        raise KeyboardInterrupt(record.data["error"])
    failed = any(runner.get("failure") for runner in record.runners)
    code = answer.exit_code
    lost = unsaved(options, code, critical, record.faults)
    if code in FINDINGS:
        if not failed and not record.data["error"]:
            if not lost:
                return record
            code = UNSAVED
        else:
            code = 6 if failed else {4: 3}.get(code, 1)  # beside what was found
    error = of_exit(code, _reason(record, lost))
    error.record = record
    raise callables.cause_of(error)


def _reason(record, lost):
    """Why a run was not done: its own error, or what its runners said; and what was not saved."""
    if record.data["error"]:
        return joined(record.data["error"], lost)
    failures = [f"{r['name']}: {r['failure']}" for r in record.runners if r.get("failure")]
    if failures or lost:
        return joined("\n".join(failures), lost)
    return "\n".join(record.faults or [f"the run ended with {record.exit_code}"])


def model_option(model, stack):
    if model is None:
        return []
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if isinstance(model, (bytes, bytearray, memoryview)):
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="vernier-"))
        path = os.path.join(folder, "model.onnx")
        with open(path, "wb") as file:
            file.write(model)
        return [texts("model_file", path)]
    try:
        return [texts("model_file", os.fspath(model))]
    except TypeError:
        raise InvalidArgument("model: expected a path, an onnx.ModelProto or its bytes, got "
                              + kind_of(model)) from None


def runner_options(runners, callables):
    """The options of the runners. Callables take the places between them; with None there are none."""
    if isinstance(runners, (str, Runner)) or callable(runners):
        runners = [runners]
    found, loaded, position = [], [], 0
    for place, label, runner in _labelled(runners):
        if isinstance(runner, Runner):
            found.append(texts(*runner._words(label)))
        elif isinstance(runner, str) and runner in SWITCHES:
            found.append(texts("--runner", f"{label}={runner}") if label
                         else texts(SWITCHES[runner]))
        elif isinstance(runner, (str, os.PathLike)):
            path = os.fspath(runner)
            if path.endswith(".py") or ".py:" in path:
                found.append(texts("--runner", f"{label}={path}") if label
                             else texts("--model-runner", path))
            elif os.path.exists(path):
                loaded.append(f"{label}={path}" if label else path)
                continue
            else:
                raise InvalidArgument(f"{place}: '{path}' is neither a runner ({', '.join(SWITCHES)})"
                                      " nor a file of saved outputs")
        elif callable(runner) or callable(getattr(runner, "infer", None)):
            if callables is None:
                raise InvalidArgument(f"{place}: {runner!r} is an object of Python, which only "
                                      "vernier.run can run; put it into a script: 'script.py:load'")
            callables.add_runner(position, label, runner)
        else:
            raise InvalidArgument(f"{place}: expected a name, a Runner, a file of saved outputs, or "
                                  f"a callable, got {kind_of(runner)}")
        position += 1
    return found + ([texts(LOADED, *loaded)] if loaded else [])


def _labelled(runners):
    """(what messages call it, label or None, runner) of each."""
    if hasattr(runners, "items"):
        return [(f"runners[{label!r}]", label_of(label, "runners"), runner)
                for label, runner in runners.items()]
    return [(f"runners[{index}]", None, runner) for index, runner in enumerate(listed(
        runners, "runners", "a list of runners, or a dictionary of them by label"))]


def pair_words(options):
    """`pairs` may be a list of two names each; an empty one is for the libraries to know."""
    pairs = options.get("pairs")
    if pairs is None or isinstance(pairs, str):
        return options
    try:
        text = ",".join(f"{first}:{second}" for first, second in pairs)
    except (TypeError, ValueError):
        raise InvalidArgument("pairs: expected pairs of the names of runners, as in "
                              f"[(\"a\", \"b\")], got {pairs!r}") from None
    return {**options, "pairs": text or None}


def file_words(inputs, options):
    """The options, with a file of feeds."""
    if "load_inputs" in options:
        raise InvalidArgument("load_inputs: inputs= is given, too; one of them is enough")
    return drawn_or_read({"load_inputs": os.fspath(inputs), **options})


def drawn_or_read(options):
    """The options, where `iterations` is said only of inputs that are drawn."""
    for name in ("load_inputs", "load_input_data", "load_inputs_paths", "data_loader_script"):
        given = options.get(name) or None
        for value in given if isinstance(given, (list, tuple)) else [given]:
            if value is not None and not isinstance(value, (str, bytes, os.PathLike)):
                raise InvalidArgument(f"{name}: expected a file, got {kind_of(value)}; feeds are "
                                      "given as inputs=")
        if given and options.get("iterations") is not None:
            raise InvalidArgument(f"iterations={options['iterations']!r}: there are as many "
                                  f"iterations as {name}= has feeds; leave one of the two out")
    return options


def _inputs(inputs, options, callables):
    """Adds where feeds come from; returns the options."""
    if inputs is None:
        return drawn_or_read(options)
    if isinstance(inputs, (str, os.PathLike)):
        return file_words(inputs, options)
    calls, options = calls_of(inputs, options)
    callables.add_feeds(inputs, calls)
    return options
