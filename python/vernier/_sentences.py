"""The program's sentences in the words of Python: keywords for flags, functions for commands."""

import functools
import re
import threading

from ._keywords import NONE, owner_of, rows_of, runner_switches, spelled

_of_thread = threading.local()


def answers(command, dests=lambda: None):
    """A decorator of functions that stand for a command of the program: what they raise names
    keywords that they take, spelled as the caller spelled them. `dests` gives those of the
    command's options that they take; None: all."""
    def decorate(function):
        @functools.wraps(function)
        def answered(*args, **options):
            before = getattr(_of_thread, "call", None)
            _of_thread.call = _Call(command, frozenset(options), dests)
            try:
                return function(*args, **options)
            finally:
                _of_thread.call = before
        return answered
    return decorate


class _Call:
    """A call that is answered: which keywords it takes."""

    def __init__(self, command=None, written=frozenset(), dests=lambda: None):
        self.command, self.written, self.dests = command, written, dests
        self.places = None

    def row(self, flag):
        """The option of a flag, or None where the call does not take it."""
        if self.command is None:
            row, function = owner_of(flag)
            return row if function else None
        row, dests = rows_of(self.command).get(flag), self.dests()
        return row if row is None or dests is None or row.dest in dests else None

    def keyword(self, row):
        """As the caller wrote it, or else of the option's first long flag."""
        return next((name for name in row.names if name in self.written), row.names[0])


def name_places(places):
    """Has the messages of this thread's call name the arrays that Places of _feeds.py has."""
    call = getattr(_of_thread, "call", None)
    if call is not None:
        call.places = places


# A flag by itself, with its other names: not --BACKEND.OPTION, nor one with its value behind "=".
_NAME = r"--[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?![\w=-]|\.\w)"
# A value behind it: a number, a text in quotes, or what stands for one, such as FILE or NAME:[...].
_VALUE = (r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?!\w)|'[^']*'|(?:auto|fixed|simple|engine)\b"
          r"|[A-Z][A-Z0-9_]+(?![a-z])(?:\.py)?(?::\[[^\]]*\])?")
_FLAG = re.compile(rf"(?:\bargument )?(?<![\w-])(?P<flag>{_NAME})(?:/{_NAME}|/-\w+)*"
                   rf"(?P<end>:(?!\w)|'(?!\w)|)(?: (?P<value>{_VALUE})(?P<more>(?= --))?)?")
# What is said of runners, which are an argument here, and of other commands.
_PHRASES = tuple((re.compile(pattern), text) for pattern, text in (
    (r"(?:argument )?--runner ([^\s:=]+): ", r'runners["\1"]: '),
    (r"--runner: expected LABEL='[^']*'", "runners: expected a label and a runner"),
    (r"--runner ([A-Za-z]+)='[^']*'?", r'runners={"\1": vernier.Runner(...)}'),
    (r"give it outside of --runner", "give it to the function and not to the runner"),
    (r"(?:argument )?--(?:model-)?runner:", "runners:"),
    (r"--model-runner ([A-Z]+\.py)(?= --)", r'runners=["\1"],'),
    (r"--(?:model-)?runner\b(?:(?!-)| LABEL=)", "runners="),
    (r"--trt-min/opt/max-shapes", "trt_min_shapes=, trt_opt_shapes= and trt_max_shapes="),
    (r"(?:\b(?:add|give|use|pass) )?--blame\b(?!-)", "call vernier.blame"),
    (r"\bargument model_file\b", "model"),
    (r"One or more runners was specified, but no model file was provided\..*",
     "model: expected a model, for a runner that has none of its own"),
    (r"<python \d+>:(?=\S)", ""),  # where objects of the calling program are found
    # Arrays and lists, as _labels.py writes them.
    (r"(?:--labels:? )?(?:'[^'\n]*/|\S*/)vernier-[^/\s]+/\d+/labels\.(?:npy|npz|jsonl)'?",
     "labels"),
))
# Where advice begins that can be left out, what stands before it being true without it.
_ADVICE = re.compile(r"(?=; |, (?:or|and) | \([^()]*--)|(?<=\))")


def in_python(message):
    """The program's sentence as this thread's call is answered with it."""
    call = getattr(_of_thread, "call", None) or _Call()
    if call.places is not None:
        message = call.places.named(message)
    text = "\n".join(_without_idle_advice(line, call) for line in message.split("\n"))
    for pattern, said in _PHRASES:
        text = pattern.sub(said, text)
    return _FLAG.sub(lambda found: _said(found, call), text)


def _without_idle_advice(line, call):
    """Without the parts of a sentence that advise options which this call does not take."""
    return "".join(part for part in _ADVICE.split(line) if not (
        part.startswith(("; ", ", ", " (")) and any(
            _is_idle(found["flag"], call) for found in _FLAG.finditer(part))))


def _is_idle(flag, call):
    row, _ = owner_of(flag)
    return row is not None and not row.of_blame and call.row(flag) is None


def _said(found, call):
    flag, end, value = found["flag"], found["end"], found["value"]
    row = call.row(flag)
    if row is not None:
        keyword, whose = call.keyword(row), ""
    elif flag in runner_switches():
        return f'"{spelled(flag)}"{end}' + (f" {value}" if value else "")
    else:
        row, function = owner_of(flag)
        if row is None:
            return found[0]
        keyword, whose = row.names[0], f" of vernier.{function}" if function else " of the program"
    if end or whose.endswith("program"):  # it is named, not given
        return f"{keyword}{whose}{end}" + (f" {value}" if value else "")
    if row.arity == NONE:
        return f"{keyword}=True{whose}" + (f" {value}" if value else "")
    if value and value[0].isalpha():
        value = f'"{value}"'
    return f"{keyword}={value or ''}{whose}" + ("," if found["more"] is not None else "")
