"""G_LOGGER: lines with Polygraphy's letters, on standard output."""

from polygraphy import exception


class Logger:
    """Prints; vernier puts the lines into its own log by their letters."""

    ULTRA_VERBOSE, SUPER_VERBOSE, EXTRA_VERBOSE, VERBOSE = -20, -10, 0, 10
    INFO, START, FINISH, WARNING, ERROR, CRITICAL = 20, 22, 28, 30, 40, 50

    def __init__(self):
        self.module_severity = {"": self.INFO}

    def _print(self, letter, message):
        print(f"[{letter}] {message() if callable(message) else message}")

    def log(self, message, severity=INFO, **_kwargs):
        letters = {-20: "U", -10: "S", 0: "X", 10: "V", 30: "W", 40: "E", 50: "!"}
        self._print(letters.get(severity, "I"), message)

    def critical(self, message):
        self._print("!", message)
        raise exception.PolygraphyException(message)

    internal_error = critical

    def ultra_verbose(self, message, **kwargs):
        self.log(message, self.ULTRA_VERBOSE, **kwargs)

    def super_verbose(self, message, **kwargs):
        self.log(message, self.SUPER_VERBOSE, **kwargs)

    def extra_verbose(self, message, **kwargs):
        self.log(message, self.EXTRA_VERBOSE, **kwargs)

    def verbose(self, message, **kwargs):
        self.log(message, self.VERBOSE, **kwargs)

    def info(self, message, **kwargs):
        self.log(message, self.INFO, **kwargs)

    def start(self, message, **kwargs):
        self.log(message, self.START, **kwargs)

    def finish(self, message, **kwargs):
        self.log(message, self.FINISH, **kwargs)

    def warning(self, message, **kwargs):
        self.log(message, self.WARNING, **kwargs)

    def error(self, message, **kwargs):
        self.log(message, self.ERROR, **kwargs)


class LogMode:
    """How often a line is shown; here always."""

    EACH, ONCE = 0, 1


G_LOGGER = Logger()

__getattr__ = exception.missing("logger")
