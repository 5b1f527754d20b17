"""Whether a command printed what a page shows.

A line `...` on the page stands for any lines, `…` or `...` within a line for any text. Numbers of
time, dates and folders differ from run to run and count as equal; numbers with a decimal point or
an exponent, and distances in ULP, may differ by a twentieth, since processors round differently.
The width of columns follows from what is in them and does not count.
"""

import re

SKIP = "..."
MASKS = (
    (re.compile(r"\d\d/\d\d/\d\d-\d\d:\d\d:\d\d"), "DATE"),
    (re.compile(r"\b\d+(\.\d+)?(e[+-]\d+)? ?(ns|us|ms|s|min)\b"), "TIME"),
    (re.compile(r"\bcd \S+ &&"), "cd FOLDER &&"),
)
NUMBER = re.compile(r"([+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)")
ULP = re.compile(r"\b(\d+) ULP\b")


def _masked(line):
    for pattern, word in MASKS:
        line = pattern.sub(word, line)
    line = ULP.sub(r"\1.0 ULP", line)
    return re.sub(r"\s+", " ", line).strip()


def _pieces(text):
    """Text and numbers in turn; numbers at the odd places."""
    return NUMBER.split(text)


def _same_number(shown, said):
    if shown == said:
        return True
    if not re.search(r"[.e]", shown + said):
        return False
    a, b = float(shown), float(said)
    return abs(a - b) <= 0.05 * max(abs(a), abs(b))


def _same_text(shown, said):
    a, b = _pieces(shown), _pieces(said)
    if len(a) != len(b):
        return False
    return all(x == y if i % 2 == 0 else _same_number(x, y) for i, (x, y) in enumerate(zip(a, b)))


def same_line(shown, said):
    shown, said = _masked(shown), _masked(said)
    if "…" not in shown and "..." not in shown:
        return _same_text(shown, said)
    literal = [re.escape(part) for part in re.split(r"…|\.\.\.", shown)]
    # Numbers around what is left out have to be the same.
    return re.fullmatch(".*".join(literal), said) is not None


def first_difference(shown, said):
    """None, or a sentence about the first line that is not there."""
    return _match(shown, said)


def _match(shown, said):
    """Greedy, with going back at each `...`."""
    if not shown:
        return None if not said else f"more was printed: {said[0]!r}"
    if shown[0].strip() == SKIP:
        rest = shown[1:]
        if not rest:
            return None
        best = f"nothing like {rest[0]!r} was printed"
        for start in range(len(said)):
            if not same_line(rest[0], said[start]):
                continue
            answer = _match(rest, said[start:])
            if answer is None:
                return None
            best = answer
        return best
    if not said:
        return f"{shown[0]!r} was not printed"
    if not same_line(shown[0], said[0]):
        return f"the page shows {shown[0]!r}, printed was {said[0]!r}"
    return _match(shown[1:], said[1:])
