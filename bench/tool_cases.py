"""How long debugging takes: cases of the bench."""

import pathlib
import shutil
import subprocess

import measure
from cases import time_rows
from rows import Row, Section

PLANTED = "Softsign"  # the operator that make_models.py plants
# How each of the tools says that one node is left.
ONE_LEFT = {"peer": "---- 1 Node(s) ----", "ours": f"1 of 400 nodes still fail: {PLANTED}"}


def has_graphsurgeon(setting):
    return subprocess.run([setting.peer_python, "-c", "import onnx_graphsurgeon"], env=setting.env,
                          capture_output=True).returncode == 0


def reduced(setting, side, check):
    """A whole session in a folder of its own; it has to end with the planted node."""
    peer = [setting.peer_python, pathlib.Path(setting.peer_python).parent / "polygraphy"]
    folder = setting.folder / "debug"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    # The peer leaves files of shape inference where it runs.
    words = ["env", "-C", folder, *({"peer": peer, "ours": [setting.vernier]}[side]), "debug", "reduce",
             setting.model("planted"), "-o", folder / "reduced.onnx", "--iter-artifact",
             folder / "part.onnx", "--save-debug-replay", folder / "replay.json", "--check", *check]
    return measure.run([str(word) for word in words], setting.env, setting.folder / "debug.log",
                       ("PASSED", ONE_LEFT[side]))


def debugging(setting):
    if not has_graphsurgeon(setting):
        return Section("14. Debugging", "", [Row("`debug reduce`", "–", "not measured: Polygraphy needs "
                                             "onnx_graphsurgeon (its folder in PYTHONPATH)")])
    part = setting.folder / "debug/part.onnx"
    search = f"! grep -q {PLANTED} {part}"
    checks = {"a check that searches the file": ["sh", "-c", search],
              "a check that also runs the model": [
                  "sh", "-c", f"'{setting.vernier}' run {part} --onnxrt && {search}"]}
    rows = []
    for name, check in checks.items():
        samples = measure.alternate(
            {"peer": lambda check=check: reduced(setting, "peer", check),
             "ours": lambda check=check: reduced(setting, "ours", check)},
            setting.rounds)
        counts = {side: samples[side][0].output.count("RUNNING | Iteration")
                  for side in ("peer", "ours")}
        rows += time_rows(samples, share=3, of=f", {name}")
        rows.append(Row(f"checks, {name}", str(counts["peer"]), str(counts["ours"]), ""))
    return Section("14. Debugging",
                   "`debug reduce` of 200 convolutions, in which one Relu became Softsign, which the "
                   "check takes for the fault; the session ends when that node is alone. Both tools "
                   "run the same check as a command; shapes are inferred by both.", rows)


CASES = {"debug": debugging}
