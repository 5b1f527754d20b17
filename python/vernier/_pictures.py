"""Records in notebooks: a table, and heat maps of the worst outputs as the program draws them."""

import pathlib
import tempfile

from ._html import table

MOST = 2  # outputs with a picture
LARGEST = 1 << 20  # bytes of one picture


def record_html(record):
    """The outputs under the verdict, and where the worst of those that failed differ."""
    rows = []
    for first, second, output in record.outputs():
        verdict = "passed" if output["passed"] else "FAILED"
        rows.append((f"{first} vs. {second}", output["name"], verdict,
                     _number(output["max_absolute_error"]), _number(output["max_relative_error"]),
                     f"{output['mismatches']} of {output['elements']}"))
    heads = ("pair", "output", "verdict", "largest absolute", "largest relative", "out of tolerance")
    text = table(heads, rows, "PASSED" if record.passed else f"exit code {record.exit_code}")
    return text + "".join(_pictures(record))


def _number(value):
    return "" if value is None else f"{value:.4g}" if isinstance(value, (int, float)) else str(value)


def _badness(entry):
    value = entry[2]["times_over_tolerance"]
    return float("inf") if value is None or value != value else value


def _pictures(record):
    failed = [entry for entry in record.outputs() if not entry[2]["passed"]]
    for first, second, output in sorted(failed, key=_badness, reverse=True)[:MOST]:
        sides = _sides(record, first, second, output)
        if sides is None:
            continue
        with tempfile.TemporaryDirectory(prefix="vernier-") as folder:
            from . import Error, compare
            try:
                compare(*sides, names=(first, second), lenient=True, save_heatmaps=folder)
            except Error:
                continue  # strings, say; the table has the numbers
            for path in sorted(pathlib.Path(folder).glob("*.svg"))[:1]:
                svg = path.read_text(encoding="utf-8")
                if len(svg) <= LARGEST:
                    yield svg[svg.index("<svg"):]


def _sides(record, first, second, output):
    """The output's two arrays in its worst iteration; None where they were not kept."""
    index = output["worst_iteration"]["iteration"]
    sides = []
    for runner, name in ((first, output["name"]), (second, output["other_name"])):
        if record.results is None or runner not in record.results:
            return None
        iterations = record.results[runner]
        if index >= len(iterations) or name not in iterations[index]:
            return None
        sides.append({output["name"]: iterations[index][name]})
    return sides
