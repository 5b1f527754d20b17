"""vernier.check_consistency, vernier.check_extremes and vernier.check_lint."""

from ._errors import InvalidArgument
from ._html import table
from ._investigations import _conclude, _Investigation, _investigate
from ._running import FINDINGS
from ._sentences import answers


class ConsistencyRecord(_Investigation):
    """What must hold of each runner by itself. It is true where nothing is broken."""

    @property
    def runners(self):
        """name, backend, failure, and properties, each with name, verdict, detail."""
        return self.data.runners

    def broken(self):
        """(runner, property) of each that is broken; its smallest_case breaks it."""
        return [(runner.name, found) for runner in self.runners for found in runner.properties
                if found.verdict == "broken"]

    def summary(self):
        """A line for each property."""
        lines = []
        for runner in self.runners:
            lines.append(f"{runner.name}, {runner.backend} {runner.framework_version}")
            lines += [f"  {found.verdict:14}  {found.name}: {found.detail}"
                      for found in runner.properties]
        return "\n".join(lines)

    def __repr__(self):
        found = ", ".join(found.name for _, found in self.broken())
        outcome = f"{found} broken" if found else self._unless_less("nothing is broken")
        return f"<ConsistencyRecord: {outcome}>"

    def _repr_html_(self):
        rows = [(runner.name, found.name, found.verdict, found.detail)
                for runner in self.runners for found in runner.properties]
        return table(("runner", "property", "verdict", "what was tried"), rows)


class ExtremesRecord(_Investigation):
    """What runners make of extreme inputs. It is true where they agree in what is finite (with
    strict=True also in denormals and values)."""

    def __init__(self, text, exit_code, summary, strict=False):
        super().__init__(text, exit_code, summary)
        self._strict = strict

    @property
    def runners(self):
        """name, backend, framework_version, failure."""
        return self.data.runners

    @property
    def answers(self):
        """For each set of values and runner: counts of NaN, infinities, denormals and zeros, and how
        they differ from those of the runner that `beside` names."""
        return self.data.answers

    def disagreements(self):
        """The answers that differ in what is finite, or that a runner failed to give; with
        strict=True also those with NaN for infinity, with denormals flushed on one side, and with
        another value."""
        return [answer for answer in self.answers if self._differs(answer) or answer.failure]

    def _differs(self, answer):
        differ = answer.only_here_not_finite + answer.only_here_finite
        if self._strict:
            differ += (answer.other_kind + answer.flushed + answer.kept + answer.other_value
                       + answer.other_exact)
        return differ > 0

    def __repr__(self):
        found = ", ".join(dict.fromkeys(answer.set for answer in self.disagreements()))
        outcome = f"runners differ with {found}" if found else self._unless_less("no difference")
        return f"<ExtremesRecord: {outcome}>"

    def _repr_html_(self):
        rows = [(answer.set, answer.runner, answer.nan, answer.infinite, answer.denormal,
                 answer.zero, answer.failure or ("differs" if self._differs(answer) else ""))
                for answer in self.answers]
        return table(("set", "runner", "NaN", "infinite", "denormal", "zero", ""), rows)


class LintRecord(_Investigation):
    """The faults of a model by itself. It is true where there is no exception (strict=True: and no
    warning)."""

    @property
    def findings(self):
        """Each with level ("exception", "warning" or "info"), rule, source, message, and nodes."""
        return self.data.lint_entries

    @property
    def passing(self):
        """Names of nodes."""
        return self.data.summary.passing

    @property
    def failing(self):
        return self.data.summary.failing

    def of_level(self, level):
        """The findings of one level."""
        if level not in ("exception", "warning", "info"):
            raise InvalidArgument(f"level: expected exception, warning or info, got {level!r}")
        return [finding for finding in self.findings if finding.level == level]

    def summary(self):
        """A line for each finding."""
        return "\n".join(f"{f.level}: " + _where(f) + f"{f.message} [{f.rule}]"
                         for f in self.findings) or "nothing was found"

    def __repr__(self):
        counts = [f"{len(self.of_level(level))} {level}s" for level in ("exception", "warning")]
        return f"<LintRecord: {', '.join(counts)}>"

    def _repr_html_(self):
        rows = [(f.level, f.rule, ", ".join(f.get("nodes") or ()), f.message)
                for f in self.findings]
        return table(("level", "rule", "nodes", "message"), rows)


def _where(finding):
    nodes = finding.get("nodes") or ()
    return f"{', '.join(nodes)}: " if nodes else ""


@answers("check consistency")
def check_consistency(model, runners, inputs=None, **options):
    """Tries what must hold of each runner by itself, as `vernier check consistency` does.

    Returns a ConsistencyRecord. model, runners and inputs are those of vernier.run, but for
    callables as runners. Options are those of `vernier check consistency`: only=["repeated-runs"],
    skip=[...], repeats=10, rows=8, ...
    """
    text, summary, error, code, lost = _investigate("check consistency", model, runners, inputs,
                                                    options)
    if error and code in FINDINGS:
        code = 6
    return _conclude(ConsistencyRecord(text, code, summary), error, lost)


@answers("check extremes")
def check_extremes(model, runners, inputs=None, **options):
    """Puts extreme values into the float inputs, as `vernier check extremes` does.

    Returns an ExtremesRecord. model, runners and inputs are those of vernier.run, but for callables
    as runners. Options are those of `vernier check extremes`: sets=["nan", "inf"], strict=True, ...
    """
    text, summary, error, code, lost = _investigate("check extremes", model, runners, inputs,
                                                    options)
    if error and code in FINDINGS:
        code = 6
    record = ExtremesRecord(text, code, summary, bool(options.get("strict")))
    if code == 6 and not error:
        error = "\n".join(dict.fromkeys(f"{answer.runner}: {answer.failure}"
                                        for answer in record.answers if answer.failure))
    return _conclude(record, error, lost)


@answers("check lint")
def check_lint(model, runners=None, inputs=None, **options):
    """Checks a model by itself, as `vernier check lint` does: a LintRecord.

    model is that of vernier.run. runners run it, or its nodes: by default ONNX Runtime where it is
    installed; () uses none. Options are those of `vernier check lint`: strict=True, skip=["no-shape"],
    output="report.json", ...
    """
    if runners is not None and not runners:
        options = {**options, "no_run": True}
    runs = not options.get("no_run")
    chosen = (["onnxrt"] if runs else ()) if runners is None else runners
    text, summary, error, code, lost = _investigate("check lint", model, chosen, inputs, options,
                                                    default_runner=runners is None)
    if error and code in FINDINGS:
        code = 6
    return _conclude(LintRecord(text, code, summary), error, lost)
