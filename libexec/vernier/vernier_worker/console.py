"""What scripts print goes to vernier's log, a line at a time."""

import contextlib
import io

from . import wire

# Polygraphy's letters, which its logger puts in front of a line, and their severities.
SEVERITIES = {"U": -20, "S": -10, "X": 0, "V": 10, "I": 20, "W": 30, "E": 40, "!": 50}
INFO = 20
WARNING = 30


class Console(io.TextIOBase):
    """Stands in for sys.stdout."""

    encoding = "utf-8"

    def __init__(self, channel):
        super().__init__()
        self.channel = channel
        self.rest = ""

    def writable(self):
        return True

    def write(self, text):
        lines = (self.rest + text).split("\n")
        self.rest = lines.pop()
        for line in lines:
            self._send(line)
        return len(text)

    def finish_line(self):
        """A line without its end, before an answer follows."""
        if self.rest:
            self._send(self.rest)
            self.rest = ""

    def warn(self, text):
        self.log(WARNING, text)

    def _send(self, line):
        severity = INFO
        if len(line) > 3 and line[0] == "[" and line[2:4] == "] " and line[1] in SEVERITIES:
            severity, line = SEVERITIES[line[1]], line[4:]
        self.log(severity, line)

    def log(self, severity, text):
        out = wire.Writer()
        out.i32(severity)
        out.text(text)
        with contextlib.suppress(ConnectionError):  # the next answer notices
            self.channel.send(wire.LOG, out.finish())
