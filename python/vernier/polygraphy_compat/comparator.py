"""Comparator, data loaders and comparison functions."""

import os
from collections import OrderedDict

import vernier
from vernier import InvalidArgument
from vernier._logging import as_polygraphy, logger_of_polygraphy
from vernier._polygraphy import comparator as shared
from vernier._polygraphy.arguments import kind_of
from vernier._polygraphy.comparator import *  # noqa: F401,F403
from vernier._polygraphy.comparator import (AccuracyResult, AccuracyResults, DataLoader,
                                            RunResults, SimpleCompareFunc)
from vernier._polygraphy.comparator.accuracy import AVERAGE, PER_SAMPLE
from vernier._polygraphy.logger import G_LOGGER

from . import _streams
from .backend.base import FrameworkRunner, label_of

__all__ = sorted([*shared.__all__, "Comparator"])


def _options_of(loader):
    """What the program needs to draw the feeds of a DataLoader itself."""
    options = {"seed": loader.seed, "iterations": loader.iterations,
               "data_loader_backend_module": loader.data_loader_backend_module}
    if loader.val_range is not None:
        ranges = loader.val_range if hasattr(loader.val_range, "items") else {"": loader.val_range}
        for pair in ranges.values():
            loader.check_range(pair)
        options["val_range"] = {name: list(pair) for name, pair in ranges.items()}
    shapes = []
    for name, (_, shape) in loader.user_input_metadata.items():
        if shape is not None:
            shape = getattr(shape, "min", None) or getattr(shape, "max", None) or shape
            shapes.append(f"{name}:{list(shape)}")
    if shapes:
        options["input_shapes"] = shapes
    return options


def _runner_for_run(runner):
    """A runner of vernier's, closed, or an object that the run serves itself."""
    return runner.for_run() if isinstance(runner, FrameworkRunner) else runner


def _labelled(runners):
    """Runners by labels of their own, and the names behind the labels, of which some may be equal."""
    labelled, names = OrderedDict(), {}
    for runner in runners:
        name = _streams.name_of(runner)
        plain = label = label_of(name)
        count = 0
        while label in labelled:
            count += 1
            label = f"{plain}-{count}"
        labelled[label], names[label] = _runner_for_run(runner), name
    return labelled, names


def _check_paths(*paths):
    places = [os.path.realpath(os.fsdecode(path)) for path in paths if path is not None]
    if len(set(places)) < len(places):
        raise InvalidArgument("save_inputs_path, save_outputs_path, save_input_blob_path: two of them "
                              "are the same path")


class Comparator:
    @staticmethod
    def run(runners, data_loader=None, warm_up=None, use_subprocess=None,
            subprocess_timeout=None, subprocess_polling_interval=None, save_inputs_path=None,
            save_outputs_path=None, save_input_blob_path=None, streaming=None):
        """The RunResults of all runners; with streaming=True a generator of single iterations.

        One runner after the other is activated, given all feeds and deactivated; streaming ones are
        active together, and each feed goes through all of them when the generator is asked for it.
        """
        _check_paths(save_inputs_path, save_outputs_path, save_input_blob_path)
        runners = [runner() if isinstance(runner, type) else runner for runner in runners]
        if streaming and (warm_up or use_subprocess):
            raise InvalidArgument("streaming: not together with warm_up or use_subprocess")
        if not runners:
            G_LOGGER.warning("Comparator.run was given no runners, and has no results")
            return iter(()) if streaming else RunResults()
        loader = DataLoader() if data_loader is None else data_loader
        if streaming:
            return _streams.run(runners, loader, save_inputs_path, save_outputs_path,
                                save_input_blob_path)
        options = _options_of(loader) if isinstance(loader, DataLoader) else {}
        labelled, names = _labelled(runners)
        renamed = any(label != name for label, name in names.items())
        with as_polygraphy():
            record = vernier.run(
                None, labelled, None if options else loader, lenient=True, pairs=(),
                sequential_runners=True, warm_up=warm_up, use_subprocess=use_subprocess,
                timeout=subprocess_timeout, save_inputs=save_inputs_path,
                save_outputs=None if renamed else save_outputs_path,
                save_input_blob=save_input_blob_path, **options)
        results = RunResults((names[label], iterations) for label, iterations in record.results)
        for name, iterations in results:
            for iteration in iterations:
                iteration._own().runner_name = name  # what scripts get is theirs to change
        if renamed and save_outputs_path is not None:
            results.save(save_outputs_path)
        G_LOGGER.verbose(f"Successfully ran: {list(results.keys())}")
        return results

    @staticmethod
    def default_comparisons(run_results):
        """Each runner with the next one, by their indices."""
        return [(index, index + 1) for index in range(len(run_results) - 1)]

    @staticmethod
    def compare_accuracy(run_results, fail_fast=False, comparisons=None, compare_func=None,
                         check_average=False):
        """Each runner against the next one, or the pairs of indices in `comparisons`.

        Of a RunResults, a stream of single iterations, or a list of either, whose runners are then
        compared side by side. With check_average the averages of the metrics over all iterations are
        compared with the thresholds, and not those of each.
        """
        functions = [SimpleCompareFunc() if function is None else function for function in (
            compare_func if isinstance(compare_func, (list, tuple)) else [compare_func])]
        if check_average:
            if fail_fast:
                raise InvalidArgument("check_average: an average is known at the end: not together "
                                      "with fail_fast")
            for function in functions:
                _check_averageable(function)
        results = AccuracyResults(AccuracyResult(aggregation=AVERAGE if check_average else PER_SAMPLE)
                                  for _ in functions)
        stream = _streams.side_by_side(run_results)
        try:
            pairs = _compare(stream, functions, comparisons, results, fail_fast)
        finally:
            stream.close()
        for pair in pairs:
            _tell_summary(pair, results)
        return results

    @staticmethod
    def postprocess(run_results, postprocess_func):
        """Changes a RunResults; of a stream it gives a stream, of a list of either a list."""
        def apply(_, results):
            for index, (name, iterations) in enumerate(results.lst):
                changed = [postprocess_func(it) for it in iterations]
                if isinstance(iterations, list):
                    iterations[:] = changed  # which others may hold
                else:
                    results.lst[index] = (name, changed)
            return results

        if isinstance(run_results, (list, tuple)):
            return [Comparator.postprocess(one, postprocess_func) for one in run_results]
        if isinstance(run_results, RunResults):
            return apply(0, run_results)
        return _streams.changed(run_results, apply)

    @staticmethod
    def validate(run_results, check_inf=None, check_nan=None, fail_fast=None):
        """Whether no output has a NaN (unless check_nan=False) or, with check_inf, what is not finite.

        Of a list a list of verdicts; of a stream the same stream, which raises at the first output
        that is not valid.
        """
        check_nan = True if check_nan is None else check_nan

        def checked(index, single):
            if not _valid(single, check_inf, check_nan, True):
                raise InvalidArgument(f"validate: iteration {index} has values that are not finite")
            return single

        if isinstance(run_results, (list, tuple)):
            return [Comparator.validate(one, check_inf, check_nan, fail_fast) for one in run_results]
        if isinstance(run_results, RunResults):
            return _valid(run_results, check_inf, check_nan, fail_fast)
        return _streams.changed(run_results, checked)


def _valid(run_results, check_inf, check_nan, fail_fast):
    valid = True
    for name, iterations in run_results.items():
        for iteration in iterations:
            for output, array in iteration.items():
                library = _library_of(array)
                if library is None and not _has_nan(array.dtype, output):
                    continue
                if library is None:
                    import numpy as library
                if (check_nan and library.isnan(array).any()) or (
                        check_inf and not library.isfinite(array).all()):
                    G_LOGGER.error(f"{name} | Output '{output}' has values that are not finite")
                    valid = False
                    if fail_fast:
                        return False
    return valid


def _library_of(array):
    """torch, whose functions know all of its types; None for NumPy."""
    if type(array).__module__.split(".")[0] != "torch":
        return None
    import torch
    return torch


def _has_nan(dtype, output):
    """Can an array of the type hold NaN or infinities? Types of ml_dtypes are of the kind "V"."""
    if dtype.kind != "V":
        return dtype.kind in "fc"
    if dtype.name.startswith("void"):
        raise vernier.Unavailable(f"output '{output}' has a type that NumPy lacks: "
                                  "'pip install ml_dtypes' adds it")
    return not dtype.name.startswith(("int", "uint"))


def _check_averageable(function):
    """Raises where a function gives no metric whose average could be compared with a threshold."""
    thresholds_for = getattr(function, "thresholds_for", None)
    try:
        threshold = thresholds_for("") if thresholds_for else None
    except NotImplementedError:
        threshold = None
    name = getattr(function, "__name__", type(function).__name__)
    if threshold is None or not threshold.metric_fields():
        raise InvalidArgument(f"check_average: {name} gives verdicts without metrics (a function of "
                              "one's own needs thresholds_for, and results with those thresholds)")
    if getattr(threshold, "check_error_stat", None) == "elemwise":
        raise InvalidArgument(f"check_average: {name} looks at each element; check_error_stat= names "
                              "a statistic")


def _compare(stream, functions, comparisons, results, fail_fast):
    """Fills the results in; gives the pairs' names, of which there are none after fail_fast."""
    names = None
    for index, single in enumerate(stream):
        sides = [_only(name, iterations) for name, iterations in single.items()]
        if names is None:
            names = list(single.keys())
            comparisons = comparisons or Comparator.default_comparisons(single)
            pairs = _begin(names, comparisons, results)
        elif list(single.keys()) != names:
            raise InvalidArgument(f"iteration {index} is of the runners {list(single.keys())}, and the "
                                  f"first one of {names}")
        logger_of_polygraphy().info("Iteration: %d", index)
        for pair, (first, second) in zip(pairs, comparisons):
            judged = [_judged(function, pair, sides[first], sides[second])
                      for function in functions]
            for result, verdicts in zip(results, judged):
                result[pair].append(verdicts)
            if fail_fast and not all(bool(v) for verdicts in judged for v in verdicts.values()):
                return []
    if names is None:
        raise InvalidArgument("compare_accuracy: there are no iterations to compare")
    return list(dict.fromkeys(pairs))


def _only(name, iterations):
    if len(iterations) != 1:
        raise InvalidArgument(f"a stream gives one iteration at a time, and of '{name}' there are "
                              f"{len(iterations)}")
    return iterations[0]


def _begin(names, comparisons, results):
    if not comparisons and len(names) != 1:
        raise InvalidArgument("compare_accuracy: there is nothing to compare: the results are of "
                              f"{len(names)} runners")
    if not comparisons:  # a script of one runner ends well, as in Polygraphy
        G_LOGGER.warning("compare_accuracy: there is nothing to compare: the results are of "
                         "1 runner")
    pairs = [(names[first], names[second]) for first, second in comparisons]
    for pair in pairs:
        for result in results:
            result[pair] = []
        logger_of_polygraphy().log(G_LOGGER.START, "Accuracy Comparison | %s vs. %s", *pair)
    return pairs


def _judged(function, pair, a, b):
    judged = function(a, b)
    if not hasattr(judged, "items"):
        raise InvalidArgument("compare_func: expected a mapping of output names to verdicts, got "
                              f"{kind_of(judged)}")
    if not judged:
        raise InvalidArgument("'{}' and '{}' have no outputs in common to compare".format(*pair))
    return OrderedDict(judged)


def _tell_summary(names, results):
    """In Polygraphy's words: of all functions together."""
    prefix = f"Accuracy Summary | {names[0]} vs. {names[1]} | Passed: "
    if results[0].aggregation == AVERAGE:
        return _tell_averages(names, prefix, results)
    iterations = [[bool(v) for found in of_all for v in found.values()]
                  for of_all in zip(*(result[names] for result in results))]
    passed, total = sum(map(all, iterations)), len(iterations)
    _log_line(passed == total, f"{prefix}{passed}/{total} iterations | Pass Rate: "
                           f"{100 * passed / total:.2f}%")


def _tell_averages(names, prefix, results):
    averages = [result.average_results(names) for result in results]
    outputs = list(dict.fromkeys(name for found in averages for name in found))
    passed = {name: all(bool(found.get(name, True)) for found in averages) for name in outputs}
    _log_line(all(passed.values()), f"{prefix}{sum(passed.values())}/{len(outputs)} outputs")
    for name in outputs:
        _log_line(passed[name], f"    {name} | {'PASSED' if passed[name] else 'FAILED'}:")
        for found in averages:
            described = found[name].describe() if name in found else None
            if described is not None:
                _log_line(described[1], f"        {described[0]}")


def _log_line(passed, line):
    logger_of_polygraphy().log(G_LOGGER.FINISH if passed else G_LOGGER.ERROR, "%s", line)
