"""What went wrong, with the sentences of the program and its exit codes (docs/exit-codes.md)."""

import re


class Error(Exception):
    """Base class. `exit_code` is what the program would have ended with.

    Where a whole run ended with it, `record` is the run's Record.
    """

    exit_code = 70
    record = None


class InvalidArgument(Error, ValueError):
    """An option's value, or a combination, that cannot be used."""

    exit_code = 2


class NotFound(Error, KeyError):
    """A name that the model or the results do not have."""

    exit_code = 1
    __str__ = Exception.__str__  # KeyError would quote the sentence


class Malformed(Error, ValueError):
    """A model, input or result file is missing or damaged."""

    exit_code = 3


class Unavailable(Error, RuntimeError):
    """A backend is not installed, or cannot be used here."""

    exit_code = 5


class Unimplemented(Error, NotImplementedError):
    """Understood, but not possible here."""

    exit_code = 5


class BackendError(Error, RuntimeError):
    """A framework or a callable failed, crashed or hung."""

    exit_code = 6


class SaveError(Error, OSError):
    """Something that was to be saved could not be."""

    exit_code = 7


class InternalError(Error, RuntimeError):
    """A defect of vernier."""


# By the numbers of include/vernier/status.h.
_CLASSES = {1: InvalidArgument, 2: NotFound, 3: Malformed, 4: Unavailable, 5: Unimplemented,
            6: BackendError, 7: SaveError}
# By the exit codes of a run.
_OF_EXIT = {1: NotFound, 2: InvalidArgument, 3: Malformed, 5: Unavailable, 6: BackendError, 7: SaveError}
_CANCELLED = 8
# A sentence about arrays that the calling program gave, which are no file.
_OF_FEEDS = re.compile(r"(?:[^\n]*: )?(?:inputs\[\d+\]|feed)(?:\[['\"]|: )")


def _in_python(message):
    from ._sentences import in_python  # which stands on the libraries, and they on this
    return in_python(message)


def make(code, message):
    """The exception of a code of the libraries."""
    if code == _CANCELLED:
        return KeyboardInterrupt(message)
    return _exception(_CLASSES.get(code, InternalError), message)


def of_failure(failure):
    """The exception of a Failure of the Python worker's modules."""
    return make(failure.code, failure.message)


def of_exit(code, message):
    """The exception of an exit code."""
    return _exception(_OF_EXIT.get(code, InternalError), message)


def _exception(kind, message):
    text = _in_python(message)
    return (InvalidArgument if kind is Malformed and _OF_FEEDS.match(text) else kind)(text)
