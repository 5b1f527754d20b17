"""What a run or a comparison found."""

import json

from . import _native
from ._entries import Entry, save_text, with_numbers
from ._errors import Malformed, NotFound
from ._polygraphy.arguments import path_of
from ._sentences import in_python


class Record:
    """Verdicts, numbers and, of a run, tensors.

    `data` is what --save-record saves, as lists and dictionaries whose keys are attributes, too;
    numbers that are not finite, there the words "nan", "inf" and "-inf", are floats. `results` are
    the outputs
    (RunResults), `inputs` the feeds; both are empty where they were not kept. A record is true where
    everything that was asked for was compared and agreed.
    """

    def __init__(self, text, exit_code=None, results=None, inputs=None):
        self._text = text
        self.data = json.loads(text, object_pairs_hook=Entry)
        for _, _, output in self.outputs():
            with_numbers(output)
        with_numbers(self.data.get("comparison_results", {}))
        self.exit_code = self.data["exit_code"] if exit_code is None else exit_code
        self.results = results
        self.inputs = inputs if inputs is not None else []

    @property
    def passed(self):
        return self.exit_code == 0

    def __bool__(self):
        return self.passed

    @property
    def pairs(self):
        return self.data["pairs"]

    @property
    def runners(self):
        return self.data["runners"]

    @property
    def faults(self):
        """What was asked for and not done, one sentence each."""
        return [in_python(fault) for fault in self.data["faults"]]

    @property
    def notes(self):
        return [in_python(note) for note in self.data["notes"]]

    def outputs(self):
        """Every compared output: (first runner, second runner, its dictionary)."""
        for pair in self.pairs:
            for output in pair["outputs"]:
                yield pair["first"], pair["second"], output

    def output(self, name):
        """The dictionary of an output in the first pair that has it."""
        for _, _, output in self.outputs():
            if name in (output["name"], output.get("other_name")):
                return output
        known = ", ".join(dict.fromkeys(o["name"] for _, _, o in self.outputs()))
        raise NotFound(f"no output '{name}' was compared; there are: {known}")

    def mismatched(self):
        """Names of the outputs that did not match, in order and once each."""
        return list(dict.fromkeys(o["name"] for _, _, o in self.outputs() if not o["passed"]))

    def summary(self):
        """The lines that every run of the program ends with."""
        return in_python(_native.summary(self._text, len(self.runners) > 1))

    __str__ = summary

    def save(self, path):
        """As --save-record, for `vernier report`."""
        save_text(self._text, path_of(path, "path"))

    def report(self, path):
        """As --report: .html, .xml (JUnit), .jsonl or .md."""
        _native.report(self._text, path_of(path, "path"))

    def __repr__(self):
        bad = self.mismatched()
        found = "passed" if self.passed else f"exit code {self.exit_code}"
        return f"<Record: {found}" + (f"; mismatched: {', '.join(bad)}" if bad else "") + ">"

    def _repr_html_(self):
        from ._pictures import record_html
        return record_html(self)


def load_record(path):
    """What --save-record or Record.save saved."""
    path = path_of(path, "path")
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise Malformed(f"'{path}' cannot be read: {why}") from error
    _native.summary(text, False)  # says what is wrong with it
    return Record(text)
