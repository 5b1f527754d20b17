"""IterationResult and RunResults: as mappings and lists, and what they are equal to."""
import copy

import numpy as np
from PREFIX.comparator import IterationResult, RunResults
from PREFIX.exception import PolygraphyException

one = IterationResult({"y": np.arange(3), "z": np.ones((2, 2), np.float32)}, runtime=0.5,
                      runner_name="a")
print(list(one), list(one.keys()), [v.tolist() for v in one.values()],
      [(k, v.shape) for k, v in one.items()], len(one), "y" in one, "x" in one)
print(one.runtime, one.runner_name, IterationResult().runner_name, IterationResult().runtime)
one["new"] = np.zeros(1)
one.update({"y": np.arange(2)})
print(list(one), one["y"].tolist(), isinstance(one, dict))
print(one == IterationResult(dict(one.items()), 0.5, "a"), one == IterationResult({}, 0.5, "b"))
try:
    one["absent"]
except KeyError:
    print("KeyError")
deep = copy.deepcopy(one)
deep["y"][0] = 9
print(one["y"][0], deep["y"][0], deep.runner_name)

results = RunResults()
results.add([{"y": np.ones(2)}, {"y": np.zeros(2)}], runtime=0.25, runner_name="a")
results.add([{"y": np.ones(2)}])
results.append(("a", [IterationResult({"y": np.ones(1)})]))
print(len(results), list(results.keys()), [len(its) for its in results.values()],
      [name for name, _ in results.items()], [name for name, _ in results])
print("a" in results, "b" in results, len(results["a"]), results[2][0], results["a"][0].runtime)
results["a"] = []
results["new"] = [IterationResult({"y": np.ones(1)})]
print([(name, len(its)) for name, its in results])
try:
    results["absent"]
except (PolygraphyException, KeyError) as error:
    print("absent" in str(error), "custom_runner" in str(error))
split = list(results.split())
print(len(split), [list(part.keys()) for part in split])
print(RunResults.concat(split)["new"][0]["y"].tolist(), RunResults() == RunResults())
results.extend([("more", [])])
print(list(results.keys()))
