"""What goes wrong, by kinds. vernier's Python package puts its own module in the place of this one,
whose exceptions have these names, too."""


class PolygraphyException(Exception):
    """What G_LOGGER.critical() raises."""


class PolygraphyInternalException(Exception):
    """What G_LOGGER.internal_error() raises."""


class Malformed(PolygraphyException, ValueError):
    """A file or a text that cannot be read."""


class NotFound(PolygraphyException, KeyError):
    """A name that results do not have."""

    __str__ = Exception.__str__  # KeyError would quote the sentence


Error, InternalError = PolygraphyException, PolygraphyInternalException
InvalidArgument = SaveError = Unavailable = Unimplemented = PolygraphyException


def of_exit(code, message):
    """The exception of a program that ended with an exit code."""
    return PolygraphyException(message or f"vernier ended with exit code {code}")


def of_failure(failure):
    """That of a wire.Failure: scripts of a worker raise it as it is."""
    return failure
