"""The cases of the bench that are about `blame` and about reports."""

import json
import pathlib
import subprocess

import measure
from rows import Row, Section


def _models(setting):
    if not setting.model("resnet50").exists():
        script = pathlib.Path(__file__).with_name("blame_models.py")
        subprocess.run([setting.peer_python, str(script), str(setting.folder)], check=True)


def _program(setting, *words):
    return measure.run([setting.vernier, *map(str, words)], setting.env,
                       setting.folder / "vernier.log")


def _goal(what, value, goal, met):
    return Row(what, "–", value, "", goal, "met" if met else "missed")


def blame(setting):
    _models(setting)
    model = setting.model("resnet50")
    runners = ("--onnxrt", "--openvino")
    saved = setting.folder / "blame.json"
    samples = measure.alternate(
        {**{runner: lambda runner=runner: setting.ours(model, runner) for runner in runners},
         "blame": lambda: _program(setting, "blame", model, *runners, "--save-blame", saved)},
        setting.rounds)
    found = json.loads(saved.read_text())
    plain = [measure.wall(samples[runner]).median for runner in runners]
    whole = measure.wall(samples["blame"])
    times = whole.median / sum(plain)
    used = measure.tree_peak(samples["blame"]).median
    idle = sum(measure.tree_peak(samples[runner]).median for runner in runners)
    planned = found["planned_bytes"]
    rows = [Row("two plain runs, one of each runner", "–",
                " + ".join(f"{seconds:.3f}" for seconds in plain) + " s"),
            Row(f"blame, {found['compared']} tensors", "–", f"{whole.text()} s"),
            _goal("blame over two plain runs", f"{times:.2f}×", "≤ 5×", times <= 5),
            Row("memory, all processes, beyond two plain runs", "–",
                f"{(used - idle) / 2**20:.0f} MiB"),
            _goal("memory, all processes", f"{used / 2**20:.0f} MiB",
                  f"≤ {planned / 2**20:.0f} MiB, the plan", used <= planned)]
    _program(setting, "blame", setting.model("chain10000"), *runners, "--save-blame", saved)
    found = json.loads(saved.read_text())
    inside = found["timing_seconds"]["runtimes"]
    rows += [Row("10,000 layers, whole", "–", f"{found['seconds']:.1f} s"),
             _goal("10,000 layers, outside the runtimes, at least",
                   f"{found['seconds'] - inside:.1f} s", "≤ 60 s",
                   found["seconds"] - inside <= 60)]
    return Section("11. Which layer is to blame",
                   "`blame resnet50.onnx --onnxrt --openvino`, a network of that size with "
                   "random weights, and a chain of 10,000 small layers. Polygraphy has no "
                   "such command. What the runtimes take themselves is to load, to compile "
                   "and to infer, by blame's own clock. What blame does while one of them "
                   "is busy counts as theirs, so that the time outside of them is a lower "
                   "bound.", rows)


def report(setting):
    _models(setting)
    record, page = setting.folder / "record.json", setting.folder / "out.html"
    setting.ours(setting.model("chain1000"), "--onnxrt", "--onnxrt", "--onnx-outputs", "mark",
                 "all", "--save-record", record, "--report", page)
    samples = [_program(setting, "report", record, "-o", page) for _ in range(setting.rounds)]
    figure, size = measure.wall(samples), page.stat().st_size
    return Section("12. The report of 1,000 layers",
                   "`report record.json -o out.html` with the record of a run that compared 1,000 "
                   "tensors of 4,096 elements, and the page's size.",
                   [_goal("wall time", f"{figure.text()} s", "≤ 1 s", figure.median <= 1),
                    _goal("size of the page", f"{size / 1e6:.2f} MB", "< 3 MB", size < 3e6)])
