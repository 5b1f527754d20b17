"""vernier.compare: arrays against arrays."""

from . import _native
from ._callables import Callables
from ._copies import Copies
from ._errors import InvalidArgument, of_exit
from ._labels import as_files
from ._logging import logger, sink
from ._polygraphy.arguments import kind_of, listed
from ._record import Record
from ._results import IterationResult, Iterations, RunResults, as_iteration, load_results
from ._saving import UNSAVED, joined, unsaved
from ._sentences import answers
from ._words import chosen

NAMES = ("a", "b", "c", "d", "e", "f", "g", "h")


@answers("compare")
def compare(a, b, *more, names=None, func=None, postprocess_func=None, **options):
    """Compares outputs as `vernier compare` does, and returns a Record.

    Each side is a mapping of names to arrays, a list of such mappings (iterations), an
    IterationResult, a RunResults or a file of saved outputs, each runner of which is a side. Arrays
    are NumPy's, torch's, or anything with __dlpack__; those on a GPU are copied to be compared, which
    a note of the record says. Neighbours are compared; `names` are the sides'.

    `func(a, b)` may judge instead: it gets two IterationResults and returns a mapping of output
    names to verdicts. decision=["top1", decide] counts the answers that change; `decide(outputs)`
    gets all outputs of a side; labels= takes arrays. Options are those of `vernier compare`, in
    Python: rtol=1e-3, rtol={"logits": 1e-2, "": 1e-4}, compare=["simple", "l2"], ... A file that
    cannot be saved is a SaveError with the record.
    """
    given = (("a", a), ("b", b), *((f"more[{i}]", value) for i, value in enumerate(more)))
    sides = [side for argument, value in given for side in _sides(value, argument)]
    labels = _names(sides, names)
    callables = Callables()
    if func is not None:
        callables.add_function("comparison", func, "func")
    if postprocess_func is not None:
        callables.add_function("postprocessing", postprocess_func, "postprocess_func")
    with as_files(callables.name_decisions(options)) as options, callables:
        write, level = sink()
        copies = Copies()
        run = _native.Comparison(chosen("compare", options), labels, callables.said(), write, level)
        try:
            for index in range(max((len(its) for _, its in sides), default=0)):
                if not run.add([_at(its, index, label, copies)
                                for (_, its), label in zip(sides, labels)]):
                    break
            if copies.notes():
                logger().info("%s", copies.notes()[0], extra={"area": "vernier"})
            text, code = run.finish([len(iterations) for _, iterations in sides], copies.notes())
        except Exception as error:
            raise callables.cause_of(error)
        finally:
            run.close()  # the threads that serve functions end with it
    for value in (a, b, *more):
        if isinstance(value, RunResults):
            value.check_intact()
    results = RunResults((label, [as_iteration(its[i]) for i in range(len(its))]
                          if not isinstance(its, Iterations) else its)
                         for (_, its), label in zip(sides, labels))
    return _saved(Record(text, code, results), options, write.critical)


def _saved(record, options, critical):
    """The record, where all that was asked for is saved; else an exception that has it."""
    lost = unsaved(options, record.exit_code, critical, record.faults)
    if not lost and record.exit_code != UNSAVED:
        return record
    error = of_exit(UNSAVED, joined("", lost) or "something could not be saved")
    error.record = record
    raise error


def _at(iterations, index, label, copies):
    if index >= len(iterations):
        return None
    fresh = iterations.fresh(index) if isinstance(iterations, Iterations) else iterations[index]
    if isinstance(fresh, IterationResult):
        return (label, fresh.runtime, fresh._tensors(copies))
    from ._arrays import to_pairs
    return (label, None, to_pairs(fresh, label, copies))


def _sides(value, argument):
    """(name or None, iterations) of each side that the value of an argument is."""
    if isinstance(value, (str, bytes)) or hasattr(value, "__fspath__"):
        value = load_results(value)
    if isinstance(value, RunResults):
        if not len(value):
            raise InvalidArgument(f"{argument}: the results have no runners to compare")
        return list(value.items())
    if isinstance(value, IterationResult):
        return [(value.runner_name, [value])]
    if isinstance(value, (Iterations, list, tuple)):
        return [(getattr(value, "_name", None), value)]
    if hasattr(value, "items"):
        return [(None, [value])]
    raise InvalidArgument(f"{argument}: expected a mapping of names to arrays, a list of them, "
                          f"RunResults, or a file, got {kind_of(value)}")


def _names(sides, names):
    if names is not None:
        names = listed(names, "names", "a name for each side")
        if len(names) != len(sides):
            raise InvalidArgument(f"names: expected {len(sides)}, got {len(names)}")
        if len(set(names)) < len(names):
            raise InvalidArgument(f"names: each side needs one of its own, got {names}")
        return names
    labels = []
    for index, (name, _) in enumerate(sides):
        label = name or (NAMES[index] if index < len(NAMES) else f"side {index}")
        while label in labels:
            label += "'"
        labels.append(label)
    return labels
