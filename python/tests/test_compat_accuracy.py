"""Verdicts that scripts make, average, save and re-evaluate with new thresholds."""

import os
import subprocess
import textwrap

import numpy as np
import pytest

import vernier
from vernier.polygraphy_compat import (AccuracyResult, AccuracyResults, Comparator,
                                       IndicesCompareFunc, L2CompareFunc, L2Result, L2Threshold,
                                       OutputCompareResult, RunResults, SimpleCompareFunc)
from vernier.polygraphy_compat.json import from_json, load_json, to_json

from scripts_of_both import PEER, run_ours, run_theirs
from test_polygraphy_compat import log_of

RESULTS = """
import numpy as np
from PREFIX.comparator import *

def made(*levels):
    results = RunResults()
    exact = np.arange(1, 7, dtype=np.float32)
    results.add([{"y": exact, "z": exact} for _ in levels], runner_name="a")
    results.add([{"y": exact + level, "z": exact} for level in levels], runner_name="b")
    return results

def show(accuracy):
    print(bool(accuracy), len(accuracy), accuracy.output_names())
    for result in accuracy:
        print(result.aggregation, bool(result), result.stats(), list(result), result.output_names())
        for iterations in result.values():
            for found in iterations:
                print([(name, bool(verdict), type(verdict).__name__,
                        [(word, value if value is None else f"{value:.5g}")
                         for word, value in verdict.metric_values().items()])
                       for name, verdict in found.items()])
"""

SCRIPTS = {
    "results of one's own": """
        for error, atol, rtol in ((0.5, 1.0, 0.0), (0.5, 0.1, 0.9), (0.5, 0.1, 0.1), (np.nan, 1, 1)):
            for statistic in ("max", "mean", "median", "quantile"):
                result = OutputCompareResult(error, 0.5, error, 0.5, error, 0.5, error, 0.5,
                                             SimpleThreshold(statistic, atol, rtol))
                print(bool(result), str(result), result.metric_fields(), type(result.max_absdiff).__name__)
        result = OutputCompareResult(np.float32(1), 1, 1, 1, 1, 1, None, None, thresholds=
                                     SimpleThreshold("elemwise", 0.0, 0.0), passed=True)
        print(bool(result), result.quantile_absdiff, result.describe(), result.output0_name)
        result.set_thresholds(SimpleThreshold("max", 0.5, 0.5))
        print(bool(result))
        for made, threshold in (
                (L2Result(0.25), L2Threshold(0.25)), (L2Result(l2_norm=0.3), L2Threshold(0.25)),
                (L2Result(np.nan), L2Threshold(1)), (CosineSimilarityResult(0.99), CosineSimilarityThreshold(0.9)),
                (PsnrResult(20.0), PsnrThreshold(30)), (SnrResult(snr=30.0), SnrThreshold(20.0)),
                (PerceptualMetricsResult(0.1), LpipsThreshold(0.05)),
                (L2Result(0.2500001), L2Threshold(0.25)), (L2Result(0.12345678), L2Threshold(1e-5))):
            made.thresholds = threshold
            print(type(made).__name__, bool(made), dict(made.metric_values()), made.describe())
        nothing = PerceptualMetricsResult(thresholds=LpipsThreshold(0.1))
        print(bool(nothing), nothing.describe())
        for wrong in (lambda: SimpleThreshold("elemwise", 1, 1).passed({}),
                      lambda: SimpleThreshold("max", 1, 1).passed({"mean_absdiff": 0, "mean_reldiff": 0})):
            try:
                wrong()
            except Exception as error:
                print("refused")
        """,
    "averages": """
        for functions in ([SimpleCompareFunc(check_error_stat="mean", atol=0.06, rtol=0.0),
                           L2CompareFunc(l2_threshold=0.1)],
                          SimpleCompareFunc(check_error_stat={"y": "max", "": "median"}, atol=0.01),
                          [CosineSimilarityCompareFunc(), PsnrCompareFunc(), SnrCompareFunc()]):
            accuracy = Comparator.compare_accuracy(made(0.1, 0.01, 0.0), compare_func=functions,
                                                   check_average=True)
            show(accuracy)
            for result in accuracy:
                print([(name, bool(verdict), [None if v is None else f"{v:.5g}" for v in
                                              verdict.metric_values().values()])
                       for name, verdict in result.average_results().items()])
                print(dict(result.describe_average(("a", "b"))))
        for wrong in (SimpleCompareFunc(), IndicesCompareFunc(), lambda a, b: {"y": True}):
            try:
                Comparator.compare_accuracy(made(0.1), compare_func=wrong, check_average=True)
            except Exception:
                print("refused")
        try:
            Comparator.compare_accuracy(made(0.1), compare_func=L2CompareFunc(), check_average=True,
                                        fail_fast=True)
        except Exception:
            print("refused")
        """,
    "other thresholds": """
        functions = [SimpleCompareFunc(), L2CompareFunc(l2_threshold=0.1), SnrCompareFunc()]
        accuracy = Comparator.compare_accuracy(made(0.1, 0.0), compare_func=functions)
        show(accuracy)
        show(accuracy.reevaluate([L2Threshold(0.3), SimpleThreshold("max", 0.05, 0.0)]))
        show(accuracy.reevaluate({"y": SimpleThreshold("max", 0.2, 0.0), "": SimpleThreshold("mean", 0, 0)}))
        show(accuracy.reevaluate(SimpleThreshold("max", 0.06, 0.0), aggregation="average"))
        for wrong in ([PsnrThreshold(3)], {"y": SimpleThreshold("max", 1, 1)}):
            try:
                accuracy.reevaluate(wrong)
            except Exception:
                print("refused")
        """,
    "thresholds of functions": """
        for function in (SimpleCompareFunc(atol={"y": 1.0, "": 2.0}, rtol={"y": 3.0}), L2CompareFunc(),
                         CosineSimilarityCompareFunc(), PsnrCompareFunc({"y": 1.0}), SnrCompareFunc(),
                         PerceptualMetricsCompareFunc(), L2CompareFunc(0.5, False, True)):
            for name in ("y", "z"):
                print(type(function.thresholds_for(name)).__name__, vars(function.thresholds_for(name)))
        """,
    "made by hand": """
        accuracy = AccuracyResults()
        accuracy.append(AccuracyResult({("a", "b"): [{"y": True}, {"y": False}]}))
        accuracy.append(AccuracyResult(aggregation="average"))
        print(bool(accuracy), len(accuracy), bool(accuracy[1]), accuracy[0].stats(), ("a", "b") in accuracy[0])
        accuracy[0].update({("a", "c"): [{"z": True}]})
        print(accuracy[0].stats(("a", "c")), accuracy.output_names(), list(accuracy[0].keys()))
        again = AccuracyResults.from_json(accuracy.to_json())
        print(list(again[0]), again[0].stats(), again[1].aggregation)
        import copy
        print(copy.deepcopy(accuracy)[0].stats(), list(copy.copy(accuracy[0])))
        """,
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_script(name, tmp_path):
    text = RESULTS + textwrap.dedent(SCRIPTS[name])
    ours = run_ours(text, tmp_path / "ours")
    assert ours
    if not PEER:
        pytest.skip("no Polygraphy to compare with")
    assert ours == run_theirs(text, tmp_path / "theirs")


def results(*levels):
    both = RunResults()
    exact = np.arange(1, 7, dtype=np.float32)
    both.add([{"y": exact} for _ in levels], runner_name="a")
    both.add([{"y": exact + level} for level in levels], runner_name="b")
    return both


def test_summaries_look_like_polygraphys(tmp_path):
    text = RESULTS + textwrap.dedent("""
        functions = [SimpleCompareFunc(check_error_stat="mean", atol=0.06, rtol=0.0),
                     L2CompareFunc(l2_threshold=0.1)]
        for average in (False, True):
            Comparator.compare_accuracy(made(0.1, 0.01), compare_func=functions, check_average=average)
        Comparator.compare_accuracy(made(0.1, 0.01), compare_func=functions, fail_fast=True)
        """)

    def seen(python, prefix, folder):
        kept, averages = [], False
        for line in log_of(python, prefix, text, folder):
            averages = line[4:].startswith("    ") and averages or "Accuracy Summary" in line
            if averages or "Accuracy Comparison" in line or line.startswith("[I] Iteration: "):
                kept.append(line)
        return kept

    ours = seen(os.sys.executable, "vernier.polygraphy_compat", tmp_path / "ours")
    assert sum("Accuracy Summary" in line for line in ours) == 2
    assert any("Passed: 1/2 iterations | Pass Rate: 50.00%" in line for line in ours)
    assert any("Passed: 1/2 outputs" in line for line in ours)
    if not PEER:
        pytest.skip("no Polygraphy to compare with")
    assert ours == seen(PEER, "polygraphy", tmp_path / "theirs")


FUNCTIONS = ("[SimpleCompareFunc(), SimpleCompareFunc(check_error_stat='quantile', error_quantile=0.5),"
             "L2CompareFunc(l2_threshold=0.1), CosineSimilarityCompareFunc(), PsnrCompareFunc(),"
             "SnrCompareFunc(), IndicesCompareFunc(index_tolerance=2)]")


def test_files_cross_over(tmp_path):
    if not PEER:
        pytest.skip("no Polygraphy to exchange files with")
    text = RESULTS + textwrap.dedent(f"""
        import os
        there = [name for name in ("theirs.json", "ours.json") if os.path.exists(name)]
        accuracy = Comparator.compare_accuracy(made(0.1, 0.0), compare_func={FUNCTIONS})
        accuracy.save("NAME.json")
        for name in there:
            for loaded in (AccuracyResults.load(name), AccuracyResults.load(open(name))):
                print(loaded.to_json() == open(name).read(), loaded[0].stats() == accuracy[0].stats())
                assert loaded[2].average_results()["y"].l2_norm > 0
        """)
    run_theirs(text.replace("NAME", "theirs"), tmp_path)
    ours = run_ours(text.replace("NAME", "ours"), tmp_path)
    assert ours == ["True True"] * 2
    assert run_theirs(text.replace("NAME", "theirs"), tmp_path) == ["True True"] * 4


def test_files_of_the_program_are_read(tmp_path):
    path = tmp_path / "accuracy.json"
    vernier.compare({"y": np.ones(3)}, {"y": np.ones(3) * 1.5}, names=("a", "b"),
                    compare=["simple", "l2", "rmse"], save_accuracy_results=str(path))
    loaded = AccuracyResults.load(path)
    assert [type(loaded[i][("a", "b")][0]["y"]).__name__ for i in range(2)] == [
        "OutputCompareResult", "L2Result"]
    assert not loaded and loaded[1][("a", "b")][0]["y"].l2_norm == pytest.approx(np.sqrt(0.75))
    with pytest.raises(vernier.Malformed, match="not AccuracyResults"):
        AccuracyResults.from_json("[]")


def test_objects_of_verdicts_are_saved_alone():
    for made in (L2Result(0.5, L2Threshold(1.0)), L2Threshold(0.25),
                 OutputCompareResult(1, 2, 3, 4, 5, 6, None, None, passed=False)):
        again = from_json(to_json(made))
        assert type(again) is type(made) and to_json(again) == to_json(made)

    class Own(L2Result):
        pass

    with pytest.raises(vernier.InvalidArgument, match="a Own cannot be saved"):
        to_json(Own(0.5, L2Threshold(1.0)))


def test_what_has_no_verdict_or_average_says_so():
    with pytest.raises(vernier.InvalidArgument, match="without thresholds"):
        bool(L2Result(0.5))
    both = results(0.0)
    both["b"][0]["y"] = np.zeros((2, 2), np.float32)
    # Shapes differ: an average over the other iterations would hide it.
    with pytest.raises(vernier.InvalidArgument, match="'y' was not measured in every iteration"):
        Comparator.compare_accuracy(both, compare_func=L2CompareFunc(), check_average=True)
    for function, said in ((IndicesCompareFunc(), "IndicesCompareFunc gives verdicts without"),
                           (SimpleCompareFunc(), "looks at each element")):
        with pytest.raises(vernier.InvalidArgument, match=said):
            Comparator.compare_accuracy(results(0.0), compare_func=function, check_average=True)
    accuracy = Comparator.compare_accuracy(results(0.5), compare_func=L2CompareFunc())
    with pytest.raises(vernier.InvalidArgument, match="none for output 'y'"):
        accuracy[0].reevaluate({"other": L2Threshold(1)})
    assert not accuracy  # as it was
    for wrong in ({}, "l2", {"y": "l2"}, L2Threshold, 1e-3):
        for result in (accuracy, accuracy[0]):
            with pytest.raises(vernier.InvalidArgument, match="thresholds"):
                result.reevaluate(wrong)
    assert not accuracy and len(accuracy) == 1
    with pytest.raises(vernier.InvalidArgument, match="no runners"):
        AccuracyResult().stats()


def test_pictures_of_a_function(tmp_path):
    function = SimpleCompareFunc(save_heatmaps=str(tmp_path / "maps"),
                                 save_error_metrics_plot=str(tmp_path / "plots"))
    both = RunResults()
    grid = np.arange(12, dtype=np.float32).reshape(3, 4)
    both.add([{"y": grid}], runner_name="a")
    both.add([{"y": grid + np.eye(3, 4, dtype=np.float32)}], runner_name="b")
    assert not Comparator.compare_accuracy(both, compare_func=function)
    for folder in ("maps", "plots"):
        assert [path for path in (tmp_path / folder).rglob("*.png") if path.stat().st_size]


def test_values_by_place():
    """Those behind the threshold, too."""
    both = results(0.5)
    both["b"][0]["y"] = both["b"][0]["y"].reshape(2, 3)
    assert not Comparator.compare_accuracy(both, compare_func=L2CompareFunc(1e9))
    assert Comparator.compare_accuracy(both, compare_func=L2CompareFunc(1e9, False))
    with pytest.raises(ValueError, match="at most 4 values"):
        L2CompareFunc(1, True, True, None, 5)


def test_loaded_results_are_told_from_runs(tmp_path):
    results(0.0).save(tmp_path / "runs.json")
    Comparator.compare_accuracy(results(0.0)).save(tmp_path / "accuracy.json")
    assert isinstance(load_json(tmp_path / "runs.json"), RunResults)
    assert isinstance(load_json(tmp_path / "accuracy.json"), AccuracyResults)
    done = subprocess.run(
        [os.sys.executable, "-c", "from vernier.polygraphy_compat.json import load_json; import sys;"
         "print(type(load_json(sys.argv[1])).__name__)", tmp_path / "accuracy.json"],
        capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["AccuracyResults"]
