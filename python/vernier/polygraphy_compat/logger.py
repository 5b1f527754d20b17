"""G_LOGGER over Python's logger "vernier", whose lines go to standard output as Polygraphy's do."""

import contextlib
import enum
import logging
import sys
import time

from vernier import InvalidArgument, SaveError
from vernier._logging import LOWEST, logger

LETTERS = ((50, "!"), (40, "E"), (30, "W"), (20, "I"), (10, "V"), (LOWEST, "X"))
INDENT = " " * 4


class LogMode(enum.IntEnum):
    """How often a message is told."""

    EACH = 0
    ONCE = 1


class _Console(logging.Handler):
    """Writes lines in Polygraphy's layout, unless the program has set logging up itself."""

    def __init__(self):
        super().__init__()
        self.letter, self.timestamp = True, False
        self.file = None
        self.silent = False

    def _line(self, record):
        prefix = ""
        if self.letter:
            prefix += f"[{next(letter for least, letter in LETTERS if record.levelno >= least)}] "
        if self.timestamp:
            prefix += f"({time.strftime('%X', time.localtime(record.created))}) "
        return prefix + record.getMessage().replace("\n", "\n" + INDENT)

    def emit(self, record):
        line = self._line(record)
        if self.file is not None:
            print(line, file=self.file, flush=True)
        if self.silent or logging.getLogger().handlers:
            return
        print(line, file=sys.stderr if record.levelno >= logging.CRITICAL else sys.stdout,
              flush=True)


class Logger:
    """Polygraphy's methods and levels. What there is no word for here is an AttributeError."""

    ULTRA_VERBOSE, SUPER_VERBOSE, EXTRA_VERBOSE, VERBOSE = -20, -10, 0, 10
    INFO, START, FINISH, WARNING, ERROR, CRITICAL = 20, 22, 28, 30, 40, 50

    # colors and line_info make no difference here.
    __slots__ = ("colors", "line_info", "_console", "_indent", "_once", "_path")

    def __init__(self):
        self.colors, self.line_info = False, False
        self._console, self._indent, self._once, self._path = _Console(), 0, set(), None
        logger().addHandler(self._console)
        if logger().level == logging.NOTSET and not logging.getLogger().handlers:
            logger().setLevel(self.INFO)

    @property
    def module_severity(self):
        return logger().getEffectiveLevel()

    @module_severity.setter
    def module_severity(self, severity):
        if isinstance(severity, dict):  # by parts of Polygraphy, which are not here
            severity = severity.get("", self.INFO)
        logger().setLevel(max(severity, LOWEST))

    severity = module_severity  # its older name

    @property
    def letter(self):
        return self._console.letter

    @letter.setter
    def letter(self, wanted):
        self._console.letter = bool(wanted)

    @property
    def timestamp(self):
        return self._console.timestamp

    @timestamp.setter
    def timestamp(self, wanted):
        self._console.timestamp = bool(wanted)

    @property
    def log_file(self):
        return self._path

    @log_file.setter
    def log_file(self, path):
        try:
            file = open(path, "w", encoding="utf-8") if path else None  # closed by the next one
        except OSError as error:
            raise SaveError(f"log_file: '{path}' cannot be written: {error.strerror}") from error
        if self._console.file is not None:
            self._console.file.close()
        self._console.file, self._path = file, path

    @property
    def use_python_logging_system(self):
        return self._console.silent

    @use_python_logging_system.setter
    def use_python_logging_system(self, wanted):
        self._console.silent = bool(wanted)

    @contextlib.contextmanager
    def verbosity(self, severity=CRITICAL):
        """A level for a with statement."""
        before = logger().level
        logger().setLevel(max(severity, LOWEST))
        try:
            yield
        finally:
            logger().setLevel(before)

    @contextlib.contextmanager
    def indent(self, level=1):
        """Shifts lines to the right in a with statement."""
        self._indent += level
        try:
            yield
        finally:
            self._indent -= level

    def log(self, message, severity=INFO, mode=None, **_):
        if not logger().isEnabledFor(max(severity, LOWEST)):
            return
        text = str(message() if callable(message) else message)
        if str(getattr(mode, "name", mode)).upper() == "ONCE":
            if text in self._once:
                return
            self._once.add(text)
        indent = INDENT * self._indent
        logger().log(max(severity, LOWEST), "%s", indent + text.replace("\n", "\n" + indent))

    def critical(self, message, ExceptionType=None):  # noqa: N803, Polygraphy's name
        text = str(message() if callable(message) else message)
        self.log(text, self.CRITICAL)
        raise (ExceptionType or InvalidArgument)(text)

    def __getattr__(self, name):
        severity = getattr(type(self), name.upper(), None)
        if not isinstance(severity, int):
            raise AttributeError(f"G_LOGGER has no '{name}' in vernier")
        return lambda message, mode=None, **words: self.log(message, severity, mode, **words)


G_LOGGER = Logger()
