"""Lines of Polygraphy's logger in Python's logger "vernier", and from there on standard output."""

import logging

from ._logging import LOWEST, logger


class LoggingSink(logging.Handler):
    """Writes in the layout of `printer`, unless the program has set logging up itself."""

    def __init__(self, printer):
        super().__init__()
        self.printer = printer
        logger().addHandler(self)
        if logger().level == logging.NOTSET and not logging.getLogger().handlers:
            self.severity = logging.INFO

    @property
    def severity(self):
        return logger().getEffectiveLevel()

    @severity.setter
    def severity(self, least):
        logger().setLevel(max(least, LOWEST))

    def shows(self, severity):
        return logger().isEnabledFor(max(severity, LOWEST))

    def write(self, severity, text):
        logger().log(max(severity, LOWEST), "%s", text)

    def emit(self, record):
        line = self.printer.line(record.levelno, record.getMessage(), record.created)
        self.printer.show(record.levelno, line, on_console=not logging.getLogger().handlers)
