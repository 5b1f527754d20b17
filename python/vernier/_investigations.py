"""vernier.blame and vernier.profile, and what they share with the checks (_checks.py)."""

import contextlib
import os
import sys
import tempfile

from . import _native
from ._entries import Entry, entries, save_text
from ._errors import NotFound, of_exit
from ._feeds import Feeds, calls_of
from ._html import table
from ._logging import sink
from ._polygraphy.arguments import path_of
from ._record import Record
from ._results import save_inputs
from ._running import (FINDINGS, drawn_or_read, file_words, model_option, pair_words,
                       runner_options)
from ._runners import environment, served_here
from ._saving import UNSAVED, joined, unsaved
from ._sentences import answers, in_python, name_places
from ._words import chosen

NOTHING_COMPARED = 4


class _Investigation:
    """What an investigation found: `data` is what the program saves, its objects with attributes."""

    def __init__(self, text, exit_code, summary):
        self._text, self._summary = text, summary
        self.data = entries(text)
        self.exit_code = exit_code

    @property
    def passed(self):
        return self.exit_code == 0

    def __bool__(self):
        return self.passed

    def summary(self):
        """What the program prints at the end."""
        return in_python(self._summary)

    def __str__(self):
        return self.summary()

    def save(self, path):
        """As JSON, what the program saves."""
        save_text(self._text, path_of(path, "path"))

    def _unless_less(self, nothing):
        """What a record without findings says of itself: less can have been done than was asked for."""
        return f"{nothing}, but exit code {self.exit_code}" if self.exit_code else nothing


class BlameRecord(_Investigation):
    """Which layers make two runners differ. It is true where nothing is to blame.

    Errors are in multiples of --tolerance auto's error bound: above 1 a tensor differs by more than
    rounding explains.
    """

    @property
    def reference(self):
        """The name of the runner that is taken to be right."""
        return self.data.reference

    @property
    def candidate(self):
        return self.data.candidate

    @property
    def culprits(self):
        """Layers with an error of their own, the worst first: node, op_type, outputs, own_error, why."""
        return self.data.culprits

    @property
    def layers(self):
        """Every layer that both sides have, in topological order, with its outputs."""
        return self.data.layers

    @property
    def first_divergence(self):
        """The first node whose total error is above 1; None where there is none."""
        return self.data.first_divergence

    @property
    def first_nonfinite(self):
        """The first tensor that is not finite although all that its node reads is; or None."""
        return self.data.first_nonfinite

    @property
    def notes(self):
        return [in_python(note) for note in self.data.notes]

    def layer(self, name):
        """The layer of that node, or of the node that makes the tensor of that name."""
        for layer in self.layers:
            if name == layer.node or any(name == output.name for output in layer.outputs):
                return layer
        raise NotFound(f"no layer '{name}' was examined; there are: "
                       + ", ".join(layer.node for layer in self.layers))

    def __repr__(self):
        found = ", ".join(culprit.node for culprit in self.culprits)
        outcome = f"{found} to blame" if found else self._unless_less("nothing to blame")
        return f"<BlameRecord: {outcome}>"

    def _repr_html_(self):
        rows = [(c.node, c.op_type, _short(c.own_error), _short(c.total_error), c.why)
                for c in self.culprits]
        return table(("node", "operator", "own error", "total error", "why"), rows,
                     f"{self.candidate} against {self.reference}: "
                     + (f"{len(rows)} to blame" if rows else "nothing is to blame"))


class ProfileRecord(Record):
    """How fast runners are. It is true where their outputs agree, too."""

    def __init__(self, text, exit_code, summary):
        super().__init__(text, exit_code)
        self._summary = summary
        found = entries(text).get("profile")
        if found is not None:
            self.data["profile"] = found  # with numbers
        self._profile = found or Entry(runners=[], points=[])

    @property
    def runners(self):
        return self._profile.runners

    @property
    def points(self):
        """For each set of shapes and runner: runner, shapes, latency_seconds, layers, accuracy."""
        return self._profile.points

    def point(self, runner, shapes=None):
        """The measurements of a runner, by the beginning of its name; shapes as they are shown."""
        for point in self.points:
            if point.runner.startswith(runner) and shapes in (None, point.shapes):
                return point
        known = ", ".join(f"{point.runner} {point.shapes}" for point in self.points)
        raise NotFound(f"'{runner}' was not measured; there are: {known}")

    def summary(self):
        """The table that the program prints."""
        return in_python(self._summary)

    __str__ = summary

    def __repr__(self):
        found = ", ".join(f"{p.runner} {p.latency_seconds.median * 1e3:.3g} ms"
                          for p in self.points if not p.failure)
        return f"<ProfileRecord: {found or 'nothing was measured'}>"

    def _repr_html_(self):
        rows = [(p.runner, p.shapes, f"{p.latency_seconds.median * 1e3:.4g} ms",
                 f"{p.latency_seconds.p95 * 1e3:.4g} ms", p.failure or "") for p in self.points]
        return table(("runner", "shapes", "median", "p95", ""), rows)


def _short(number):
    return "" if number is None else f"{number:.4g}"


def _inputs(inputs, options, stack):
    """Feeds of Python become a file: the program draws or reads its own."""
    if inputs is None:
        return drawn_or_read(options)
    if isinstance(inputs, (str, os.PathLike)):
        return file_words(inputs, options)
    calls, options = calls_of(inputs, options)
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="vernier-"))
    path = os.path.join(folder, "inputs.npz")
    feeds = Feeds(inputs, calls)
    name_places(feeds.places)
    save_inputs(feeds, path)
    return {"load_inputs": path, **options}


def _investigate(command, model, runners, inputs, options, default_runner=False):
    """The record's text, the summary, why it was given up, the exit code, what was not saved."""
    with contextlib.ExitStack() as stack:
        said = model_option(model, stack) + runner_options(runners, None)
        options = _inputs(inputs, options, stack)
        said += chosen(command, pair_words(options))
        stack.enter_context(served_here(options))
        write, level = sink()
        settings = {"environment": environment(), "python": sys.executable,
                    "default_runner": default_runner}
        *found, code = _native.investigate(command, said, settings, write, level)
        return *found, code, unsaved(options, code, write.critical)


def _conclude(record, error, lost):
    """The record, or the exception of what kept it from being made."""
    code = record.exit_code
    if code > 128:
        raise KeyboardInterrupt(error)
    if code == NOTHING_COMPARED or (code in FINDINGS and not error):
        if not lost:
            return record
        code, error = UNSAVED, ""
    raised = of_exit(code or 6, joined(error, lost) or f"it ended with {code}")
    raised.record = record
    raise raised


@answers("blame")
def blame(model, runners, inputs=None, **options):
    """Finds the layer that makes two runners differ, as `vernier blame` does: a BlameRecord.

    model, runners and inputs are those of vernier.run, but for callables as runners, whose layers
    cannot be examined. Options are those of `vernier blame`: reference="onnxrt", iterations=2,
    bundle="folder", save_blame="blame.json", report="page.html", ...
    """
    text, summary, error, code, lost = _investigate("blame", model, runners, inputs, options)
    return _conclude(BlameRecord(text, code, summary), error, lost)


@answers("profile")
def profile(model, runners, inputs=None, **options):
    """Measures runners one at a time, as `vernier profile` does: a ProfileRecord.

    model, runners and inputs are those of vernier.run, but for callables as runners. Options are
    those of `vernier profile`: input_shapes="X:[{1,8},3,224,224]", runs=100, duration=1.5,
    no_layer_times=True, report="page.html", ...
    """
    text, summary, error, code, lost = _investigate("profile", model, runners, inputs, options)
    if error and code in FINDINGS:
        code = 6  # beside outputs that differ, a runner failed
    return _conclude(ProfileRecord(text, code, summary), error, lost)
