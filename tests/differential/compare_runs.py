"""Two runs of one case, compared: exit code, events, files."""

import base64
import json
import math
import pathlib
import re

import peer_log

RELATIVE = 5e-4
ABSOLUTE = 1e-9
# Bin edges are printed with three digits, values with eight but relative to the largest.
EDGE_RELATIVE = 1.1e-2

# The first line decides; what Polygraphy adds as notes and hints is its own.
FIRST_LINE_KINDS = ("warning", "error", "critical")

# Where a file is wrong: ours says so before Polygraphy's words, which do not.
OUR_LOCATION = re.compile(r"^'[^']+\.json': (?:byte \d+: )?")


def close(a, b, relative=RELATIVE):
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if math.isinf(a) or math.isinf(b):
        return a == b
    return abs(a - b) <= max(ABSOLUTE, relative * max(abs(a), abs(b)))


def squeeze(text):
    return re.sub(r"[ \t]+", " ", text).strip()


def same_text(kind, a, b):
    """Equal up to the numbers' tolerance. Bars of a histogram follow from its counts."""
    if kind == "histogram":
        a, b = re.sub("#+", "", a), re.sub("#+", "", b)
    if kind in FIRST_LINE_KINDS:
        a, b = a.splitlines()[0], OUR_LOCATION.sub("", b.splitlines()[0], count=1)
        if kind != "warning" and b.startswith(a):
            return True
    text_a, numbers_a = peer_log.template(squeeze(a))
    text_b, numbers_b = peer_log.template(squeeze(b))
    if text_a != text_b or len(numbers_a) != len(numbers_b):
        return False
    relative = EDGE_RELATIVE if kind == "histogram" else RELATIVE
    return all(close(x, y, relative) for x, y in zip(numbers_a, numbers_b))


class Transcript:
    """What one step of a run printed, ready to compare."""

    def __init__(self, step, paths):
        out = peer_log.normalise(step["stdout"], paths)
        err = peer_log.normalise(step["stderr"], paths)
        self.exit = step["exit"]
        self.lines = peer_log.until_final(out)
        self.error_lines = err
        self.traceback = "TRACEBACK" in out + err
        self.entries = peer_log.entries(self.lines)
        self.criticals = [e for e in peer_log.entries(err) if e.level == "!"]

    def without_omitted(self):
        """The peer's side, less what we leave out on purpose."""
        dropped = [line for e in self.entries if e.omitted for line in e.lines]
        self.entries = [e for e in self.entries if not e.omitted]
        self.lines = [line for line in self.lines if line not in dropped]
        return self

    def events(self, every_line):
        chosen = [(e.kind, e.text) for e in self.entries if every_line or e.kind != "other"]
        return chosen + [("critical", e.text) for e in self.criticals]

    def count(self, *kinds):
        return sum(1 for e in self.entries if e.kind in kinds)

    def text(self):
        return self.lines + self.error_lines


def event_differences(theirs, ours, every_line):
    a, b = theirs.events(every_line), ours.events(every_line)
    problems = []
    for index, ((kind_a, text_a), (kind_b, text_b)) in enumerate(zip(a, b)):
        if kind_a != kind_b or not same_text(kind_a, text_a, text_b):
            problems.append(f"event {index}: peer {kind_a} '{text_a.splitlines()[0][:90]}', "
                            f"here {kind_b} '{text_b.splitlines()[0][:90]}'")
            break
    if not problems and len(a) != len(b):
        longer, side = (a, "missing here") if len(a) > len(b) else (b, "only here")
        kind, text = longer[min(len(a), len(b))]
        problems.append(f"{abs(len(a) - len(b))} event(s) {side}, first: {kind} "
                        f"'{text.splitlines()[0][:90]}'")
    return problems


def step_differences(theirs, ours, every_line=False):
    problems = []
    if theirs.exit != ours.exit:
        problems.append(f"exit code {theirs.exit} at the peer, {ours.exit} here")
    if ours.traceback and not theirs.traceback:
        problems.append("a traceback here")
    return problems + event_differences(theirs, ours, every_line)


def line_state(theirs, ours):
    """'=': the same lines. '~': the same up to the numbers. Else the count of other lines."""
    if theirs.lines == ours.lines:
        return "="
    first = [squeeze(line) for line in theirs.lines]
    second = [squeeze(line) for line in ours.lines]
    if len(first) == len(second) and all(same_text("other", a, b) for a, b in zip(first, second)):
        return "~"
    return str(len(set(theirs.lines) ^ set(ours.lines)))


# --- files ---------------------------------------------------------------------------------------

def readable(document):
    """A saved document without what differs from run to run; arrays as the bytes they hold."""
    if isinstance(document, list):
        return [readable(item) for item in document]
    if not isinstance(document, dict):
        return peer_log.RUNNER_TIME.sub(rf"-runner-N\1-{peer_log.NEUTRAL_TIME}", document) \
            if isinstance(document, str) else document
    kind = document.get("polygraphy_class")
    if kind == "ndarray":
        return npy_content(base64.b64decode(document["array"]))
    if kind in ("LazyArray", "LazyNumpyArray"):
        return readable(document["values"])
    return {key: readable(value) for key, value in document.items() if key != "runtime"}


def npy_content(data):
    """Header fields and element bytes: padding of the header is the writer's own affair."""
    version = data[6]
    width = 2 if version == 1 else 4
    length = int.from_bytes(data[8:8 + width], "little")
    start = 8 + width + length
    header = re.sub(r"\s", "", data[8 + width:start].decode("latin1"))
    return ("npy", header.rstrip(",}"), data[start:].hex())


# Pictures of two programs are never the same bytes: that there is one is what counts.
PICTURES = (".png", ".svg")


def model_content(data):
    """What a model says, less who wrote it: nodes, weights, and tensors in any order."""
    import onnx  # of the peer's environment, in which the tests run

    try:
        model = onnx.load_from_string(data)
    except Exception:  # whatever the file is, it is no model
        return data
    graph = model.graph
    return {"opsets": sorted((entry.domain, entry.version) for entry in model.opset_import),
            "nodes": [wire_format(node) for node in graph.node],
            "inputs": [wire_format(value) for value in graph.input],
            "outputs": [wire_format(value) for value in graph.output],
            "tensors": sorted(wire_format(value) for value in graph.value_info),
            "weights": sorted(wire_format(weight) for weight in graph.initializer)}


def wire_format(message):
    return message.SerializeToString(deterministic=True).hex()


def files_under(path):
    path = pathlib.Path(path)
    if path.is_dir():
        return sorted(p for p in path.rglob("*") if p.is_file())
    return [path] if path.is_file() else []


def content(path):
    data = path.read_bytes()
    if path.suffix == ".onnx":
        return model_content(data)
    if path.suffix in PICTURES:
        return "a picture"
    try:
        return readable(json.loads(data))
    except ValueError:
        return data


def same_content(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return close(a, b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same_content(x, y) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return sorted(a) == sorted(b) and all(same_content(a[key], b[key]) for key in a)
    return a == b


def output_order(document):
    """Names of outputs in file order, which is what a dict comparison would not see."""
    if isinstance(document, dict):
        here = [list(document["outputs"])] if "outputs" in document else []
        return here + [n for value in document.values() for n in output_order(value)]
    if isinstance(document, list):
        return [n for value in document for n in output_order(value)]
    return []


def file_differences(saved, theirs, ours):
    """Saved files and folders, array by array and bit by bit."""
    problems = []
    for name in saved:
        first, second = (files_under(pathlib.Path(side) / name) for side in (theirs, ours))
        relative = [[str(p.relative_to(side)) for p in found]
                    for side, found in ((theirs, first), (ours, second))]
        if relative[0] != relative[1] or not first:
            problems.append(f"files of {name}: {relative[0]} at the peer, {relative[1]} here")
            continue
        for a, b in zip(first, second):
            one, two = content(a), content(b)
            if not same_content(one, two) or output_order(one) != output_order(two):
                problems.append(f"content of {a.relative_to(theirs)} differs")
    return problems


# --- informative outputs -------------------------------------------------------------------------

DISTINCT_WANTED = 100


def saved_arrays(document, name=""):
    if isinstance(document, tuple):
        yield name, document
    elif isinstance(document, dict):
        for key, value in document.items():
            yield from saved_arrays(value, key)
    elif isinstance(document, list):
        for value in document:
            yield from saved_arrays(value, name)


def distinct_problems(path):
    """A saved output of few distinct values would agree by accident."""
    problems = []
    for name, (_, header, data) in saved_arrays(content(path)):
        width = 2 * int(re.search(r"'descr':'.[a-z](\d+)'", header)[1])
        values = {data[i:i + width] for i in range(0, len(data), width)}
        if len(values) <= DISTINCT_WANTED < len(data) // width:
            problems.append(f"output {name} has only {len(values)} distinct values")
    return problems
