"""What the Polygraphy package stands on here: the libraries, in the place of its own module `host`
(libexec/vernier/shim/polygraphy/host.py says what each name is)."""

import json
import os
import tempfile

from . import _commands, _console, _html, _native
from ._arrays import DlpackView, to_array, to_pairs, to_tensor
from ._logging import as_polygraphy, without

TENSORS = _native.Tensor
array_of, tensor_of, shared = to_array, to_tensor, DlpackView
create_results = _native.create_results
run, table, log_sink = _commands.run, _html.table, _console.LoggingSink

# A file of a moment: on a disk the time to make it safe would be the most of a call.
SHARED_MEMORY = "/dev/shm"

# Lines that are not about one iteration: Comparator.compare_accuracy logs them.
OF_ALL_ITERATIONS = ("Accuracy Comparison |", "Iteration: ", "Accuracy Summary |",
                     "Saving accuracy results to")


def open_results(path, of_inputs=False):
    return _native.open_results(path, of_inputs)


class Feeds:
    """Writes mappings of names to arrays."""

    def __init__(self, path):
        self._writer, self._count = _native.create_feeds(path), 0

    def append(self, feed):
        self._writer.append(to_pairs(feed, f"inputs[{self._count}]"))
        self._count += 1

    def finish(self):
        self._writer.finish()


create_feeds = Feeds


def compare(a, b, functions, options):
    import vernier
    names = (a.runner_name, b.runner_name)
    if names[0] == names[1]:
        names = tuple(f"{name}-{index}" for index, name in enumerate(names))
    with as_polygraphy(), without(*OF_ALL_ITERATIONS), _folder() as folder:
        path = os.path.join(folder, "accuracy.json")
        record = vernier.compare([a], [b], names=names, lenient=True, compare=list(functions),
                                 save_accuracy_results=path, **options)
        metrics = {}
        if os.path.exists(path):  # else nothing was compared
            with open(path, encoding="utf-8") as file:
                metrics = json.load(file)
    return [output for _, _, output in record.outputs()], metrics, ()  # it has been logged


def _folder():
    there = os.access(SHARED_MEMORY, os.W_OK | os.X_OK)
    return tempfile.TemporaryDirectory(prefix="vernier-", dir=SHARED_MEMORY if there else None)
