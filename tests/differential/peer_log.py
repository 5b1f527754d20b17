"""Reading what a run prints: normalised text, entries, and the events that are compared."""

import dataclasses
import re

# As wide as a real name, so that columns padded to a fixed width keep their padding.
NEUTRAL_TIME = "MM/DD/YY-HH:MM:SS"

RUNNER_TIME = re.compile(r"-runner-N(\d+)-\d\d/\d\d/\d\d-\d\d:\d\d:\d\d")
ENTRY = re.compile(r"^\[([USXVIWE!])\] ?(.*)$")
CLOCK = re.compile(r"^\(\d\d:\d\d:\d\d\) ?")
SOURCE = re.compile(r"^\[[\w./-]+:\d+\] ?")
FINAL = re.compile(r"^\[[IE]\].*\b(PASSED|FAILED) \| Runtime: ")
NUMBER = re.compile(r"(?<![A-Za-z_0-9.])[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|inf|nan)\b\.?")

# Applied in order to every line of both programs.
REPLACEMENTS = [
    (RUNNER_TIME, rf"-runner-N\1-{NEUTRAL_TIME}"),
    (re.compile(r"Runtime: [\d.e+-]+ ?s"), "Runtime: TIME"),
    (re.compile(r"in [\d.e+-]+ ms \| Average inference time: [\d.e+-]+ ms"),
     "in TIME | Average inference time: TIME"),
    (re.compile(r"Inference Time: [\d.e+-]+ ms"), "Inference Time: TIME"),
    (re.compile(r"Command: .*?(?=run(?: |$))"), "Command: polygraphy "),
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
]

# The event kinds, each with the pattern that an entry's text starts with. The first match wins;
# what matches nothing is kind "other" and compared only where a case asks for every line.
KINDS = [
    ("banner", r"(PASSED|FAILED) \| Runtime: "),
    ("running", r"RUNNING \| Command"),
    ("pair", r"Accuracy Comparison \| "),
    ("summary", r"Accuracy Summary \| "),
    ("iteration", r"Iteration: \d+"),
    ("compare", r"[\w ]+ \| Comparing Output: "),
    ("tolerance", r"Tolerance: \["),
    ("metrics of", r"Error Metrics: "),
    ("required", r"Minimum Required Tolerance: "),
    ("difference", r"(Absolute|Relative) Difference \| Stats: "),
    ("values", r"---- Values ----"),
    ("histogram", r"---- Histogram ----"),
    ("output verdict", r"(PASSED|FAILED) \| (Output: |Difference|Value: )"),
    ("verdict", r"(PASSED|FAILED) \| "),
    ("metric", r"(L2 Norm|Cosine Similarity|PSNR|SNR|LPIPS): "),
    ("average", r".* \| (PASSED|FAILED):"),
    ("validating", r".* \| Validating output: "),
    ("validation", r"(Output Validation \| |(NaN|Inf) Detected \| )"),
    ("statistics", r"(.* \| Stats: )?mean="),
    ("streaming", r"Streaming iteration "),
    ("tensors", r".*---- Inference (Input|Output)\(s\) ----"),
    ("count", r".* \| Completed \d+ iteration"),
]
KINDS = [(kind, re.compile(pattern, re.DOTALL)) for kind, pattern in KINDS]
LEVEL_KINDS = {"W": "warning", "E": "error", "!": "critical"}

# What Python or NumPy print by themselves; none of it is Polygraphy's own log.
NOISE = re.compile(r"RuntimeWarning|^\s+(x = |ret = |return |diff_b_a|lerp_|var = |arr)|"
                   r"onnxruntime:|'colored' module is not installed|UserWarning|warnings\.warn")


# What Polygraphy prints and we leave out on purpose: entries of this level whose text starts so.
OMITTED = [
    ("W", "Saving streamed results to a single file accumulates every iteration in memory",
     "ours are written iteration by iteration"),
    ("W", "'mark all' is deprecated and will be removed", "it is not deprecated here"),
    ("W", "Input tensor: {} | For TensorRT profile, overriding dynamic shape",
     "said although no TensorRT runs"),
]
OMITTED = [(level, re.compile(re.escape(text).replace(re.escape("{}"), ".*")))
           for level, text, _ in OMITTED]


@dataclasses.dataclass
class Entry:
    level: str
    text: str          # continuation lines joined with newlines, indentation of all removed
    indent: int
    lines: list        # as printed, normalised

    @property
    def omitted(self):
        return any(self.level == level and pattern.match(self.text) for level, pattern in OMITTED)

    @property
    def kind(self):
        for kind, pattern in KINDS:
            if pattern.match(self.text):
                return kind
        return LEVEL_KINDS.get(self.level, "other")


def normalise_line(line, paths):
    for path, name in paths:
        line = line.replace(path, name)
    for pattern, replacement in REPLACEMENTS:
        line = pattern.sub(replacement, line)
    match = ENTRY.match(line)
    if match:
        rest = CLOCK.sub("(TIME) ", match[2])
        clock = "(TIME) " if rest.startswith("(TIME) ") else ""
        rest = SOURCE.sub("[SOURCE] ", rest.removeprefix(clock))
        line = f"[{match[1]}] {clock}{rest}"
    return line.rstrip()


def normalise(text, paths=()):
    """Lines without times, machine paths and library noise; a traceback becomes one line."""
    lines = []
    in_traceback = False
    for raw in text.splitlines():
        line = normalise_line(raw, paths)
        if in_traceback:
            in_traceback = bool(re.match(r"\s|$|During handling|The above exc|Traceback", line)) \
                and not ENTRY.match(line)
            continue
        if line.startswith("Traceback (most recent"):
            lines.append("TRACEBACK")
            in_traceback = True
        elif line and not NOISE.search(line):
            lines.append(line)
    return lines


def until_final(lines):
    """The lines up to the peer's last one: what follows it is ours alone."""
    for index, line in enumerate(lines):
        if FINAL.match(line):
            return lines[:index + 1]
    return lines


def entries(lines):
    found = []
    for line in lines:
        match = ENTRY.match(line)
        if match:
            rest = match[2].removeprefix("(TIME) ").removeprefix("[SOURCE] ")
            found.append(Entry(match[1], rest.strip(), len(rest) - len(rest.lstrip()), [line]))
        elif found:
            found[-1].text += "\n" + line.strip()
            found[-1].lines.append(line)
    return found


def template(text):
    """The text with every number replaced, and the numbers."""
    numbers = [float(match.group().rstrip(".")) for match in NUMBER.finditer(text)]
    return NUMBER.sub("#", text), numbers
