"""JSON: objects there and back, and what is refused."""
import json

import numpy as np
from PREFIX.comparator import IterationResult, L2Result, L2Threshold, RunResults
from PREFIX.comparator import AccuracyResult, AccuracyResults
from PREFIX.json import from_json, load_json, save_json, to_json

array = np.arange(6, dtype=np.float16).reshape(2, 3)
print(json.loads(to_json(array)).keys(), from_json(to_json(array)).dtype)
print(from_json(to_json({"a": [1, 2.5, None, True, "t"], "b": {"c": array}}))["b"]["c"].tolist())
for scalar in (array, np.array(3), np.zeros((0, 2)), np.array([True]), np.array([1 + 2j])):
    again = from_json(to_json(scalar))
    print(again.dtype, again.shape, again.tolist())
results = RunResults()
results.add([{"y": array}, {"y": array + 1}], runtime=0.5, runner_name="a")
text = to_json(results)
print(text)
print(results.to_json() == text, from_json(text) == results)
for place in ("results.json",):
    results.save(place)
    print(open(place).read() == text, RunResults.load(place) == results,
          load_json(place) == results, type(load_json(place)).__name__)
single = IterationResult({"y": array}, 0.5, "a")
print(to_json(single), from_json(to_json(single)) == single)
save_json([{"x": array}], "feeds.json")
print([feed["x"].tolist() for feed in load_json("feeds.json")])
with open("open.json", "w") as file:
    save_json({"x": array}, file)
with open("open.json") as file:
    print(load_json(file)["x"].tolist())
print(from_json('{"x": {"values": {"array": "%s", "polygraphy_class": "ndarray"}, '
                '"polygraphy_class": "LazyNumpyArray"}}'
                % json.loads(to_json(array))["array"])["x"] is not None)
accuracy = AccuracyResults([AccuracyResult({("a", "b"): [
    {"y": L2Result(0.25, thresholds=L2Threshold(0.5))}]})])
print(accuracy.to_json())
again = AccuracyResults.from_json(accuracy.to_json())
print(bool(again), again[0].stats(), type(again[0]["a", "b"][0]["y"]).__name__)
for bad in (object(), {"a": {1, 2}}):
    try:
        to_json(bad)
    except TypeError:
        print("TypeError")
try:
    from_json('{"polygraphy_class": "NoSuchClass"}')
except Exception as error:
    print("NoSuchClass" in str(error))
try:
    from_json("{")
except ValueError:
    print("ValueError")
