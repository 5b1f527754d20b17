"""G_LOGGER over Python's logger "vernier"."""

import contextlib
import logging

from vernier import InvalidArgument
from vernier._logging import LOWEST, logger


class Logger:
    """Polygraphy's methods and levels. Lines are seen once logging is set up or a level is set."""

    ULTRA_VERBOSE, SUPER_VERBOSE, EXTRA_VERBOSE, VERBOSE = -20, -10, 0, 10
    INFO, START, FINISH, WARNING, ERROR, CRITICAL = 20, 22, 28, 30, 40, 50

    @property
    def module_severity(self):
        return logger().getEffectiveLevel()

    @module_severity.setter
    def module_severity(self, severity):
        if isinstance(severity, dict):
            severity = severity.get("", self.INFO)
        logger().setLevel(max(severity, LOWEST))
        own = [h for h in logger().handlers if not isinstance(h, logging.NullHandler)]
        if not logging.getLogger().handlers and not own:
            handler = logging.StreamHandler()
            handler.setFormatter(logging.Formatter("[%(levelname).1s] %(message)s"))
            logger().addHandler(handler)

    @contextlib.contextmanager
    def verbosity(self, severity=CRITICAL):
        """A level for a with statement."""
        before = logger().level
        logger().setLevel(max(severity, LOWEST))
        try:
            yield
        finally:
            logger().setLevel(before)

    def log(self, message, severity=INFO, **_):
        logger().log(max(severity, LOWEST), "%s", message() if callable(message) else message)

    def critical(self, message):
        self.log(message, self.CRITICAL)
        raise InvalidArgument(message() if callable(message) else str(message))

    def __getattr__(self, name):
        severity = getattr(type(self), name.upper(), None)
        if severity is None:
            raise AttributeError(name)
        return lambda message, **words: self.log(message, severity, **words)


G_LOGGER = Logger()
