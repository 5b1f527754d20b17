"""Comparator, data loaders and comparison functions."""

import os
from collections import OrderedDict

import vernier
from vernier import InvalidArgument
from vernier._logging import logger
from vernier._results import IterationResult, RunResults

from ._accuracy import AVERAGE, PER_SAMPLE, AccuracyResult, AccuracyResults
from ._compare_funcs import (BaseCompareFunc, CompareFunc, CompareResult,
                             CosineSimilarityCompareFunc, CosineSimilarityResult,
                             CosineSimilarityThreshold, DistanceMetricsCompareFunc,
                             DistanceMetricsResult, IndicesCompareFunc, L2CompareFunc, L2Result,
                             L2Threshold, LpipsThreshold, OutputCompareResult,
                             PerceptualMetricsCompareFunc, PerceptualMetricsResult,
                             PsnrCompareFunc, PsnrResult, PsnrThreshold,
                             QualityMetricsCompareFunc, QualityMetricsResult, SimpleCompareFunc,
                             SimpleThreshold, SnrCompareFunc, SnrResult, SnrThreshold, Threshold)
from .backend.base import FrameworkRunner
from .logger import G_LOGGER
from .random_inputs import RandomInputs  # of libexec/vernier/shim/polygraphy/comparator

__all__ = ["AccuracyResult", "AccuracyResults", "BaseCompareFunc", "BasePostprocessFunc",
           "Comparator", "CompareFunc", "CompareResult", "CosineSimilarityCompareFunc",
           "CosineSimilarityResult", "CosineSimilarityThreshold", "DataLoader",
           "DistanceMetricsCompareFunc", "DistanceMetricsResult", "IndicesCompareFunc",
           "IterationResult", "L2CompareFunc", "L2Result", "L2Threshold", "LpipsThreshold",
           "OutputCompareResult", "PerceptualMetricsCompareFunc", "PerceptualMetricsResult",
           "PostprocessFunc", "PsnrCompareFunc", "PsnrResult", "PsnrThreshold",
           "QualityMetricsCompareFunc", "QualityMetricsResult", "RunResults",
           "SimpleCompareFunc", "SimpleThreshold", "SnrCompareFunc", "SnrResult", "SnrThreshold",
           "StreamingDataLoader", "Threshold", "TopKPostprocessFunc"]


class DataLoader(RandomInputs):
    """Random feeds of the same numbers as Polygraphy's.

    In a run the program draws them. Once it has metadata, given or set as `input_metadata`, it can
    be iterated and indexed.
    """

    def options(self):
        options = {"seed": self.seed, "iterations": self.iterations,
                   "data_loader_backend_module": self.data_loader_backend_module}
        if self.val_range is not None:
            ranges = self.val_range if hasattr(self.val_range, "items") else {"": self.val_range}
            options["val_range"] = {name: list(pair) for name, pair in ranges.items()}
        shapes = []
        for name, (_, shape) in self.user_input_metadata.items():
            if shape is not None:
                shape = getattr(shape, "min", None) or getattr(shape, "max", None) or shape
                shapes.append(f"{name}:{list(shape)}")
        if shapes:
            options["input_shapes"] = shapes
        return options

    def warn(self, text):
        from .logger import G_LOGGER
        G_LOGGER.warning(text)

    def fail(self, text):
        raise InvalidArgument(text)


class StreamingDataLoader:
    """Feeds that were saved, an iteration at a time: of one path or several."""

    def __init__(self, paths, allow_dirs=True):
        self.paths, self.allow_dirs = paths, allow_dirs

    def __iter__(self):
        paths = [self.paths] if isinstance(self.paths, (str, os.PathLike)) else self.paths
        for path in paths:
            if not self.allow_dirs and os.path.isdir(path):
                raise InvalidArgument(f"'{os.fspath(path)}' is a folder, and allow_dirs is False")
            for feed in vernier.load_inputs(path):
                yield OrderedDict(feed)


class BasePostprocessFunc:
    """A base for functions of one's own, which take an IterationResult and return one."""

    def __call__(self, iter_result):
        raise NotImplementedError


class TopKPostprocessFunc(BasePostprocessFunc):
    """Outputs become the indices of their largest values: k, (k, axis), or those by output name."""

    def __init__(self, k=None):
        k = 10 if k is None else k
        self.k = k if hasattr(k, "items") else {"": k}

    def __call__(self, iter_result):
        words = []
        for name, value in self.k.items():
            count, axis = value if isinstance(value, (tuple, list)) else (value, None)
            words.append((f"{name}:" if name else "") + f"top-{count}"
                         + ("" if axis is None else f",axis={axis}"))
        from vernier import _native
        pairs = _native.postprocess(["--postprocess", *words], iter_result._tensors())
        return IterationResult(dict(pairs), iter_result.runtime, iter_result.runner_name)


class PostprocessFunc:
    top_k = TopKPostprocessFunc


def _runner_for_run(runner):
    """A runner of vernier's, closed, or an object that the run serves itself."""
    return runner.for_run() if isinstance(runner, FrameworkRunner) else runner


class Comparator:
    @staticmethod
    def run(runners, data_loader=None, warm_up=None, use_subprocess=None,
            subprocess_timeout=None, subprocess_polling_interval=None, save_inputs_path=None,
            save_outputs_path=None, save_input_blob_path=None, streaming=None):
        """The RunResults of all runners; with streaming=True a generator of single iterations.

        One runner after the other is activated, given all feeds and deactivated; streaming ones are
        active together, and each feed goes through all of them.
        """
        runners = [runner() if isinstance(runner, type) else runner for runner in runners]
        if not runners:
            G_LOGGER.warning("Comparator.run was given no runners, and has no results")
            return RunResults()
        loader = DataLoader() if data_loader is None else data_loader
        options = loader.options() if isinstance(loader, DataLoader) else {}
        labelled = OrderedDict()
        for runner in runners:
            labelled[getattr(runner, "name", None) or type(runner).__name__] = (
                _runner_for_run(runner))
        if len(labelled) != len(runners):
            raise InvalidArgument("runners: each needs a name of its own")
        record = vernier.run(
            None, labelled, None if options else loader, lenient=True, pairs=(),
            sequential_runners=not streaming, warm_up=warm_up, use_subprocess=use_subprocess,
            timeout=subprocess_timeout, save_inputs=save_inputs_path,
            save_outputs=save_outputs_path, save_input_blob=save_input_blob_path, **options)
        for _, iterations in record.results:
            for iteration in iterations:
                iteration._own()  # what scripts get is theirs to change
        G_LOGGER.verbose(f"Successfully ran: {list(labelled)}")
        return record.results.split() if streaming else record.results

    @staticmethod
    def compare_accuracy(run_results, fail_fast=False, comparisons=None, compare_func=None,
                         check_average=False):
        """Each runner against the next one, or the pairs of indices in `comparisons`.

        With check_average the averages of the measures over all iterations are held against the
        thresholds, and not those of each.
        """
        functions = [SimpleCompareFunc() if function is None else function for function in (
            compare_func if isinstance(compare_func, (list, tuple)) else [compare_func])]
        if check_average:
            if fail_fast:
                raise InvalidArgument("check_average: an average is known at the end: not together "
                                      "with fail_fast")
            for function in functions:
                _check_averageable(function)
        run_results = _joined(run_results)
        comparisons = comparisons or [(i, i + 1) for i in range(len(run_results) - 1)]
        if not comparisons:
            raise InvalidArgument("compare_accuracy: there is nothing to compare: the results are of "
                                  f"{len(run_results)} runner{'' if len(run_results) == 1 else 's'}")
        pairs = [(run_results[first], run_results[second]) for first, second in comparisons]
        results = AccuracyResults(AccuracyResult(aggregation=AVERAGE if check_average else PER_SAMPLE)
                                  for _ in functions)
        if not _compare_pairs(pairs, functions, results, fail_fast):
            return results
        for pair in pairs:
            _tell_summary(_names(pair), results)
        return results

    @staticmethod
    def postprocess(run_results, postprocess_func):
        if not isinstance(run_results, RunResults):
            return (Comparator.postprocess(single, postprocess_func) for single in run_results)
        for index, (name, iterations) in enumerate(run_results.lst):
            run_results.lst[index] = (name, [postprocess_func(it) for it in iterations])
        return run_results

    @staticmethod
    def validate(run_results, check_inf=None, check_nan=None, fail_fast=None):
        """Whether no output has a NaN (unless check_nan=False) or, if asked for, an infinity."""
        check_nan = True if check_nan is None else check_nan
        valid = True
        for name, iterations in run_results.items():
            for iteration in iterations:
                for output, array in iteration.items():
                    library = _library_of(array)
                    if library is None and not _has_nan(array.dtype, output):
                        continue
                    if library is None:
                        import numpy as library
                    bad = (check_nan and library.isnan(array).any()) or (
                        check_inf and library.isinf(array).any())
                    if bad:
                        logger().error(
                            "%s | Output '%s' has values that are not finite", name, output)
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


def _joined(run_results):
    """One RunResults of a stream or a list of them."""
    if isinstance(run_results, RunResults):
        return run_results
    runs = list(run_results)
    if all(isinstance(run, RunResults) for run in runs) and isinstance(run_results, (list, tuple)):
        return RunResults(entry for run in runs for entry in run)
    return RunResults.concat(runs)


def _check_averageable(function):
    """Raises where a function makes no measure whose average could be held against a threshold."""
    thresholds_for = getattr(function, "thresholds_for", None)
    try:
        threshold = thresholds_for("") if thresholds_for else None
    except NotImplementedError:
        threshold = None
    name = getattr(function, "__name__", type(function).__name__)
    if threshold is None or not threshold.metric_fields():
        raise InvalidArgument(f"check_average: {name} gives verdicts without measures (a function of "
                              "one's own needs thresholds_for, and results with those thresholds)")
    if getattr(threshold, "check_error_stat", None) == "elemwise":
        raise InvalidArgument(f"check_average: {name} looks at each element; check_error_stat= names "
                              "a statistic")


def _names(pair):
    return pair[0][0], pair[1][0]


def _compare_pairs(pairs, functions, results, fail_fast):
    """Fills the results in; false where a mismatch has ended it."""
    for pair in pairs:
        _check_iterations(*pair)
        for result in results:
            result[_names(pair)] = []
        logger().log(G_LOGGER.START, "Accuracy Comparison | %s vs. %s", *_names(pair))
    for index in range(max(len(first) for (_, first), _ in pairs)):
        logger().info("Iteration: %d", index)
        for pair in pairs:
            if index >= len(pair[0][1]):
                continue
            judged = [_judged(function, pair, index) for function in functions]
            for result, verdicts in zip(results, judged):
                result[_names(pair)].append(verdicts)
            if fail_fast and not all(bool(v) for verdicts in judged for v in verdicts.values()):
                return False
    return True


def _check_iterations(a, b):
    if len(a[1]) != len(b[1]):
        raise InvalidArgument(f"'{a[0]}' has {len(a[1])} iterations and '{b[0]}' {len(b[1])}")
    if not len(a[1]):
        raise InvalidArgument(f"'{a[0]}' and '{b[0]}' have no iterations to compare")


def _judged(function, pair, index):
    (first, a), (second, b) = pair
    judged = function(a[index], b[index])
    if not hasattr(judged, "items"):
        raise InvalidArgument("compare_func: expected a mapping of output names to verdicts, got "
                              f"a {type(judged).__name__}")
    if not judged:
        raise InvalidArgument(f"'{first}' and '{second}' have no outputs in common to compare")
    return OrderedDict(judged)


def _tell_summary(names, results):
    """In Polygraphy's words: of all functions together."""
    prefix = f"Accuracy Summary | {names[0]} vs. {names[1]} | Passed: "
    if results[0].aggregation == AVERAGE:
        return _tell_averages(names, prefix, results)
    iterations = [[bool(v) for found in of_all for v in found.values()]
                  for of_all in zip(*(result[names] for result in results))]
    passed, total = sum(map(all, iterations)), len(iterations)
    _tell(passed == total, f"{prefix}{passed}/{total} iterations | Pass Rate: "
                           f"{100 * passed / total:.2f}%")


def _tell_averages(names, prefix, results):
    averages = [result.average_results(names) for result in results]
    outputs = list(dict.fromkeys(name for found in averages for name in found))
    passed = {name: all(bool(found.get(name, True)) for found in averages) for name in outputs}
    _tell(all(passed.values()), f"{prefix}{sum(passed.values())}/{len(outputs)} outputs")
    for name in outputs:
        _tell(passed[name], f"    {name} | {'PASSED' if passed[name] else 'FAILED'}:")
        for found in averages:
            told = found[name].describe() if name in found else None
            if told is not None:
                _tell(told[1], f"        {told[0]}")


def _tell(passed, line):
    logger().log(G_LOGGER.FINISH if passed else G_LOGGER.ERROR, "%s", line)
