"""--compare-func-script and --postprocess-func-script."""

import json

from . import scripts, tensors, wire

DESCRIBED = 200  # characters of a result that is not True or False


def _mapping(value, where, meaning):
    try:
        return list(value.items())
    except Exception:
        raise wire.Failure(wire.BACKEND, f"{where} returned {wire.a(type(value))}; expected a "
                           f"mapping of output names to {meaning}") from None


def _function(path, name):
    """A function, an object that can be called, or a class of such objects."""
    found, symbol = scripts.find(path, [name], scripts.polygraphys_words(path, name))
    where = f"{path}:{found}"
    with scripts.guard(where):
        function = scripts.instance(symbol)
    if not callable(function):
        raise wire.Failure(wire.MALFORMED,
                           f"{where} is not a function but {wire.a(type(function))}")
    return where, function


class Comparison:
    """A function of two iterations that says for each output whether they agree."""

    def __init__(self, path, name):
        self.where, self.function = _function(path, name)
        self.warned = set()  # outputs without a verdict that were reported
        self.strange = set()  # and verdicts without an output

    def compare(self, a, b, out):
        with scripts.guard(self.where):
            matches = _mapping(self.function(a, b), self.where, "whether they match")
            verdicts = [(name, self._verdict(name, match), match) for name, match in matches]
        self._warn_of_missing(a, b, {str(name) for name, _ in matches})
        self._warn_of_strange(a, b, matches)
        out.u64(len(verdicts))
        for name, passed, match in verdicts:
            out.text(str(name))
            out.u8(passed)
            out.text(str(getattr(match, "output1_name", None) or name))
            out.text("" if _is_plain(match) else f"{match!s:.{DESCRIBED}}")
            out.text(_as_json(match, passed))
            out.text("" if _is_verdict(match) else wire.a(type(match)))  # the parent judges it

    def _warn_of_missing(self, a, b, judged):
        """The function decides what it looks at, but not unseen. None at all is the parent's."""
        missing = [name for name in a if name in b and name not in judged | self.warned]
        if missing and judged:
            self.warned.update(missing)
            print(f"[W] {self.where} gave no verdict on {', '.join(map(repr, missing))}")

    def _warn_of_strange(self, a, b, matches):
        """A slip in a name must not look like a comparison. What it counts for is the parent's."""
        for name, match in matches:
            names = {str(name), str(getattr(match, "output1_name", None) or name)}
            if names & {*a, *b} or name in self.strange:
                continue
            self.strange.add(name)
            known = ", ".join(map(repr, dict.fromkeys([*a, *b]))) or "none"
            print(f"[W] {self.where} gave a verdict on '{name}', which neither side has; outputs: "
                  f"{known}")

    def _verdict(self, name, match):
        neither = f"{self.where}: its result for output '{name}' is neither true nor false"
        try:
            is_nan, passed = bool(match != match), bool(match)
        except Exception as error:
            raise wire.Failure(wire.BACKEND,
                               f"{neither}: {error} (numpy.all() makes one of many)") from None
        if is_nan:  # which Python takes for true
            raise wire.Failure(wire.BACKEND, f"{neither}: it is NaN")
        return passed


def _is_plain(match):
    return type(match).__name__ in ("bool", "bool_")


def _is_verdict(match):
    """Python takes 'FAILED' and [False] for true: only what is made to be true or false is one."""
    if _is_plain(match) or _is_one_bool(match):
        return True
    return any("__bool__" in vars(kind) and kind.__module__ not in ("builtins", "numpy")
               and not kind.__module__.startswith("torch") for kind in type(match).__mro__)


def _is_one_bool(match):
    """An array or a tensor of a framework that holds a single truth value."""
    dtype = str(getattr(match, "dtype", "")).rpartition(".")[2]
    return dtype == "bool" and tuple(getattr(match, "shape", (0,))) == ()


def _as_json(match, passed):
    """As --save-accuracy-results writes it: Polygraphy's own results with their metrics."""
    if not type(match).__module__.startswith("polygraphy."):
        return json.dumps(passed)
    try:
        from polygraphy.json import to_json
        return to_json(match)
    except Exception:
        return json.dumps(passed)


class Postprocessing:
    """A function of one iteration that returns a changed one."""

    def __init__(self, path, name):
        self.where, self.function = _function(path, name)

    def apply(self, iteration):
        with scripts.guard(self.where):
            outputs = _mapping(self.function(iteration), self.where, "arrays")
            return tensors.encode(outputs, f"{self.where}: output")
