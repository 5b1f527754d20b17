"""G_LOGGER: lines with Polygraphy's letters, to where the host has them go.

In a worker that is standard output, whose lines vernier puts into its own log by their letters.
"""

import contextlib
import enum
import sys
import time

from . import errors, exception, host

INDENT = " " * 4


SEVERITIES = {"U": -20, "S": -10, "X": 0, "V": 10, "I": 20, "W": 30, "E": 40, "!": 50}


class LogMode(enum.IntEnum):
    """How often a message is logged."""

    EACH = 0
    ONCE = 1


class Severity(int):
    """A level; as Polygraphy's levels by parts of its package, which are not here, it has get()."""

    def get(self, path=None):
        return int(self)


class Printer:
    """Writes lines in Polygraphy's layout, to a file, too, where there is one."""

    def __init__(self):
        self.severity = -20  # whoever reads the lines selects
        self.letter, self.timestamp, self.silent = True, False, False
        self.path = self._file = None

    def shows(self, severity):
        return severity >= self.severity

    def write(self, severity, text):
        self.show(severity, self.line(severity, text, time.time()))

    def show(self, severity, line, on_console=True):
        """A whole line, on the console unless that is not wanted, and in the file."""
        if self._file is not None:
            print(line, file=self._file, flush=True)
        if on_console and not self.silent:
            print(line, file=sys.stderr if severity >= Logger.CRITICAL else sys.stdout, flush=True)

    def line(self, severity, text, seconds):
        letter = next((letter for letter, least in reversed(SEVERITIES.items())
                       if severity >= least), "U")
        return ((f"[{letter}] " if self.letter else "")
                + (f"({time.strftime('%X', time.localtime(seconds))}) " if self.timestamp else "")
                + text.replace("\n", "\n" + INDENT))

    def open(self, path):
        try:
            file = open(path, "w", encoding="utf-8") if path else None  # closed by the next one
        except OSError as error:
            raise errors.SaveError(
                f"log_file: '{path}' cannot be written: {error.strerror}") from error
        if self._file is not None:
            self._file.close()
        self._file, self.path = file, path


def _of_printer(name):
    """A setting that is true or false."""
    return property(lambda self: getattr(self._printer, name),
                    lambda self, wanted: setattr(self._printer, name, bool(wanted)))


class Logger:
    """Polygraphy's methods and levels. What there is no word for here is an AttributeError."""

    ULTRA_VERBOSE, SUPER_VERBOSE, EXTRA_VERBOSE, VERBOSE = -20, -10, 0, 10
    INFO, START, FINISH, WARNING, ERROR, CRITICAL = 20, 22, 28, 30, 40, 50

    # colors and line_info make no difference here.
    __slots__ = ("colors", "line_info", "_printer", "_sink", "_indent", "_once")

    def __init__(self):
        self.colors, self.line_info = False, False
        self._printer, self._indent, self._once = Printer(), 0, set()
        self._sink = host.log_sink(self._printer)

    letter, timestamp = _of_printer("letter"), _of_printer("timestamp")
    use_python_logging_system = _of_printer("silent")
    log_file = property(lambda self: self._printer.path,
                        lambda self, path: self._printer.open(path))

    @property
    def module_severity(self):
        return Severity(self._sink.severity)

    @module_severity.setter
    def module_severity(self, severity):
        if isinstance(severity, dict):
            severity = severity.get("", self.INFO)
        self._sink.severity = severity

    severity = module_severity  # its older name

    @contextlib.contextmanager
    def verbosity(self, severity=CRITICAL):
        """A level for a with statement."""
        before, self.module_severity = self.module_severity, severity
        try:
            yield
        finally:
            self.module_severity = before

    @contextlib.contextmanager
    def indent(self, level=1):
        """Shifts lines to the right in a with statement."""
        self._indent += level
        try:
            yield
        finally:
            self._indent -= level

    def log(self, message, severity=INFO, mode=LogMode.EACH, **_):
        if not self._sink.shows(severity):
            return
        text = str(message() if callable(message) else message)
        if str(getattr(mode, "name", mode)).upper() == "ONCE":
            if text in self._once:
                return
            self._once.add(text)
        indent = INDENT * self._indent
        self._sink.write(severity, indent + text.replace("\n", "\n" + indent))

    def critical(self, message, ExceptionType=None):  # noqa: N803, Polygraphy's name
        text = str(message() if callable(message) else message)
        self.log(text, self.CRITICAL)
        raise (ExceptionType or errors.InvalidArgument)(text)

    def internal_error(self, message):
        self.critical(message, errors.InternalError)

    def __getattr__(self, name):
        severity = getattr(type(self), name.upper(), None)
        if not isinstance(severity, int):
            raise AttributeError(f"G_LOGGER has no '{name}' in vernier")
        return lambda message, mode=None, **words: self.log(message, severity, mode, **words)


G_LOGGER = Logger()

__all__ = ["G_LOGGER", "LogMode", "Logger"]
__getattr__ = exception.missing(__name__)
