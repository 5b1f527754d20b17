"""What this package stands on: the program in a process of its own, and files of JSON.

vernier's Python package puts its own module in the place of this one (python/vernier/_host.py). It
has the same names over the libraries: tensors that NumPy need not know, files of every format that
are read an iteration at a time, comparisons in the process itself, and Python's logging.
"""

from . import process

# run(words) runs the program to its end; where that was no success, what it said is an exception.
# compare(a, b, functions, options) gives of two IterationResults the record of each output,
# Polygraphy's object of all metrics, which is {} where nothing was compared, and what is to be
# logged: pairs of a letter and a message.
run, compare = process.run, process.compare

TENSORS = ()  # classes of values that array_of() has to change


def array_of(tensor):
    """The array of an object of TENSORS."""
    return tensor


def tensor_of(value, where, copies=None):
    """What writers and comparisons take for an output."""
    import numpy as np
    return np.asarray(value)


def shared(tensor):
    """An object with __dlpack__ over a tensor's memory."""
    return tensor


def open_results(path, of_inputs=False):
    """A reader of one iteration at a time; None where the file is JSON to be read at once."""
    return None


def create_results(path, names):
    """A writer of one iteration at a time; None where all are saved as JSON at once."""
    return None


def create_feeds(path):
    """As create_results(), of inputs."""
    return None


def table(heads, rows, caption=""):
    """A table for notebooks, which workers have none of."""


def log_sink(printer):
    """Where lines of G_LOGGER go."""
    return printer
