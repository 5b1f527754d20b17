"""Lines of Polygraphy's logger in Python's "vernier.polygraphy", and on standard output."""

import logging

from ._logging import LOWEST, POLYGRAPHY, logger_of_polygraphy


class LoggingSink(logging.Handler):
    """Writes in the layout of `printer`, unless the program has set logging up itself."""

    def __init__(self, printer):
        super().__init__()
        self.printer = printer
        logger_of_polygraphy().addHandler(self)
        levels = {logging.getLogger(name).level for name in ("vernier", POLYGRAPHY)}
        if levels == {logging.NOTSET} and not logging.getLogger().handlers:
            self.severity = logging.INFO

    @property
    def severity(self):
        return logger_of_polygraphy().getEffectiveLevel()

    @severity.setter
    def severity(self, least):
        logger_of_polygraphy().setLevel(max(least, LOWEST))

    def shows(self, severity):
        return logger_of_polygraphy().isEnabledFor(max(severity, LOWEST))

    def write(self, severity, text):
        logger_of_polygraphy().log(max(severity, LOWEST), "%s", text)

    def emit(self, record):
        line = self.printer.line(record.levelno, record.getMessage(), record.created)
        self.printer.show(record.levelno, line, on_console=not logging.getLogger().handlers)
