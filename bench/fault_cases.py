"""How soon the death of a framework is reported: a case of the bench."""

import os
import pathlib
import selectors
import signal
import subprocess
import time

import measure
from rows import Row, Section

GOAL_MS = 100
PATIENCE_S = 60
TITLE = "17. The death of a framework"
NOTE = ("A worker is sent SIGSEGV while it infers, in a run of one runner and many iterations "
        "(`run conv200.onnx`), after 0.2 s of inferences and more: the time from the signal to "
        "the line that names the runner and the signal, as a reader of the pipe gets it. The "
        "worst of the runs has to keep the goal. In Polygraphy the framework is part of the "
        "process, which dies with it and prints nothing.")
RUNNERS = {"ONNX Runtime": ("--onnxrt",), "ONNX's reference, in Python": ("--onnxref",)}


def _worker_of(parent):
    for child in measure.children(parent):
        words = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
        if any(b"worker" in word for word in words[1:4]):
            return child
    return None


class _Lines:
    """The lines of a process's standard output and error, as they come."""

    def __init__(self, process):
        self.selector = selectors.DefaultSelector()
        self.rest = {}
        for pipe in (process.stdout, process.stderr):
            self.selector.register(pipe, selectors.EVENT_READ)
            self.rest[pipe] = b""

    def until(self, *words):
        """The first line that has all the words; CommandFailed where none comes."""
        end, seen = time.monotonic() + PATIENCE_S, []
        while self.selector.get_map() and time.monotonic() < end:
            for key, _ in self.selector.select(1):
                data = os.read(key.fd, 1 << 16)
                if not data:
                    self.selector.unregister(key.fileobj)
                lines = (self.rest[key.fileobj] + data).split(b"\n")
                self.rest[key.fileobj] = lines.pop()
                for line in lines:
                    if all(word in line for word in words):
                        return line.decode(errors="replace")
                    seen.append(line)
        last = b"\n".join(seen[-5:]).decode(errors="replace")
        raise measure.CommandFailed(f"no line with {words}:\n{last}")


def _seconds_to_the_line(setting, options, delay):
    words = [setting.vernier, "run", str(setting.model("conv200")), *options, "--iterations",
             "1000000"]
    with subprocess.Popen(words, env=setting.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, preexec_fn=measure.without_core_dumps) as process:
        try:
            lines = _Lines(process)
            lines.until(b"Inference Output(s)")
            time.sleep(delay)
            worker = _worker_of(process.pid)
            if worker is None:
                raise measure.CommandFailed(f"{' '.join(words)}\nhas no worker")
            begin = time.monotonic()
            os.kill(worker, signal.SIGSEGV)
            lines.until(b"[!]", b"died of SIGSEGV", b"while running iteration")
            return time.monotonic() - begin
        finally:
            process.kill()


def deaths(setting):
    rows = []
    for name, options in RUNNERS.items():
        # At other moments of an inference each time.
        seconds = [_seconds_to_the_line(setting, options, 0.2 + 0.013 * turn)
                   for turn in range(setting.rounds * 4)]
        figure = measure.Figure.of(seconds)
        verdict = "met" if figure.high * 1e3 <= GOAL_MS else "missed"
        rows.append(Row(f"{name}: from the signal to the line", "–",
                        f"{figure.text(1e3, 1)} ms", "", f"≤ {GOAL_MS} ms", verdict))
    return Section(TITLE, NOTE, rows)


CASES = {"deaths": deaths}
