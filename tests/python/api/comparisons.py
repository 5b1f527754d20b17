"""Comparison functions: verdicts, metrics and thresholds."""
import numpy as np
from PREFIX.comparator import (CompareFunc, CosineSimilarityCompareFunc, IndicesCompareFunc,
                               IterationResult, L2CompareFunc, L2Threshold, PsnrCompareFunc,
                               SimpleCompareFunc, SimpleThreshold, SnrCompareFunc)
from PREFIX.logger import G_LOGGER

G_LOGGER.module_severity = G_LOGGER.CRITICAL
base = np.linspace(-3, 5, 24, dtype=np.float32).reshape(4, 6)
first = IterationResult({"y": base, "z": base * 2}, runner_name="a")
second = IterationResult({"y": base + 0.125, "z": base * 2}, runner_name="b")


def show(found):
    print([(name, bool(verdict)) for name, verdict in found.items()])
    for name, verdict in found.items():
        print(name, {field: None if value is None else f"{value:.5g}"
                     for field, value in verdict.metric_values().items()})


for make in (SimpleCompareFunc, lambda: SimpleCompareFunc(atol=0.2),
             lambda: SimpleCompareFunc(atol={"y": 0.2, "": 0}, rtol=0),
             lambda: SimpleCompareFunc(check_error_stat="mean", atol=0.13),
             lambda: SimpleCompareFunc(check_error_stat={"y": "max", "": "median"}),
             L2CompareFunc, lambda: L2CompareFunc(l2_threshold=1),
             CosineSimilarityCompareFunc, PsnrCompareFunc, lambda: PsnrCompareFunc(20),
             SnrCompareFunc, lambda: CompareFunc.simple(atol=1)):
    show(make()(first, second))
print([(name, bool(v)) for name, v in IndicesCompareFunc(index_tolerance=0)(
    IterationResult({"i": np.array([[1, 2, 3]])}), IterationResult({"i": np.array([[1, 3, 2]])})
).items()])
for threshold, metrics in ((L2Threshold(0.5), {"l2_norm": 0.25}),
                           (L2Threshold(0.1), {"l2_norm": 1}),
                           (SimpleThreshold("max", 0.5, 0), {"max_absdiff": 0.25,
                                                             "max_reldiff": 9})):
    print(threshold.passed(metrics), threshold.metric_fields())
show(SimpleCompareFunc(find_output_func=lambda name, index, result: ["z"] if name == "y" else [])(
    first, second))
