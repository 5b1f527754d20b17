"""How long debugging takes: cases of the bench."""

import dataclasses
import pathlib
import shutil
import subprocess

import measure
from cases import time_rows
from rows import Row, Section

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLANTED = "Softsign"  # the operator that make_models.py plants
# How each of the tools says that one node is left.
ONE_LEFT = {"peer": "---- 1 Node(s) ----", "ours": f"1 of 400 nodes still fails: {PLANTED}"}


def with_graphsurgeon(setting):
    """The setting in which Polygraphy finds what scripts/deps.sh --with graphsurgeon fetched."""
    folders = map(str, ROOT.glob(".deps/graphsurgeon/lib/python3*/site-packages"))
    paths = [*folders, *filter(None, [setting.env.get("PYTHONPATH")])]
    return dataclasses.replace(setting, env={**setting.env, "PYTHONPATH": ":".join(paths)})


def has_graphsurgeon(setting):
    return subprocess.run([setting.peer_python, "-c", "import onnx_graphsurgeon"], env=setting.env,
                          capture_output=True).returncode == 0


def reduced(setting, side, check):
    """A whole session in a folder of its own; it has to end with the planted node."""
    peer = [setting.peer_python, pathlib.Path(setting.peer_python).parent / "polygraphy"]
    folder = setting.folder / "debug"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    # Polygraphy leaves files of shape inference where it runs.
    words = ["env", "-C", folder, *({"peer": peer, "ours": [setting.vernier]}[side]), "debug", "reduce",
             setting.model("planted"), "-o", folder / "reduced.onnx", "--iter-artifact",
             folder / "part.onnx", "--save-debug-replay", folder / "replay.json", "--check", *check]
    return measure.run([str(word) for word in words], setting.env, setting.folder / "debug.log",
                       ("PASSED", ONE_LEFT[side]))


def debugging(setting):
    setting = with_graphsurgeon(setting)
    if not has_graphsurgeon(setting):
        why = "not run: Polygraphy needs onnx_graphsurgeon (scripts/deps.sh --with graphsurgeon)"
        return Section("14. Debugging", "",
                       [Row("`debug reduce`", "–", why, "", "≤ 1/3", "not run")])
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
                   "`debug reduce` of 200 convolutions, in which one Relu became Softsign, "
                   "which the check takes for the fault; the session ends when that node is "
                   "alone. Both tools run the same check as a command; shapes are inferred "
                   "by both.", rows)


# How many checks Polygraphy's search takes: its own markers, asked about layers of which one is needed.
PEER_SEARCH = """
import sys
from polygraphy.tools.debug.subtool.precision import BisectMarker, LinearMarker
layers, needed = int(sys.argv[1]), int(sys.argv[2])
for marker, direction in ((BisectMarker, "forward"), (BisectMarker, "reverse"),
                          (LinearMarker, "forward")):
    search, checks, done = marker(layers, direction), 0, False
    while not done:
        checks, done = checks + 1, search.step(needed in search.select_layers())
    print("checks:", checks, "layers:", search.good)
"""


def precision(setting):
    model, layers, needed = setting.model("overflowing"), 401, 300
    peer = subprocess.run([setting.peer_python, "-c", PEER_SEARCH, str(layers), str(needed)],
                          check=True, capture_output=True, text=True, env=setting.env).stdout
    found = [line.split() for line in peer.splitlines() if line.startswith("checks:")]
    folder = setting.folder / "precision"
    folder.mkdir(exist_ok=True)
    part = folder / "part.onnx"
    # The constant of the node that overflows is float32 where that node is.
    check = (f"'{setting.vernier}' inspect model {part} --show weights | "
             "grep -q 'overflowing .dtype=float32'")
    rows = []
    for words in ((), ("--mode", "linear")):
        ours = measure.run([setting.vernier, "debug", "precision", str(model), *words,
                            "--iter-artifact", str(part), "--save-debug-replay",
                            str(folder / "replay.json"), "--check", "sh", "-c", check], setting.env,
                           setting.folder / "precision.log",
                           ("PASSED", f"this 1 of {layers} nodes"))
        count = ours.output.count("RUNNING | Iteration")
        rows.append((" ".join(words) or "by operators", count))
    peers = {"bisect": found[0], "bisect, reverse": found[1], "linear": found[2]}
    return Section("15. The nodes that need float32",
                   f"`debug precision` of {layers} nodes, one of which overflows in float16. "
                   "Polygraphy's search needs TensorRT, so its markers are asked alone; it ends "
                   "with a number of first or last layers, ours with the node's name. The check "
                   "of both is one question, which no run answers: is that node float32? Numbers "
                   "of checks are no times, and have no goal; the goal of 1/3 of Polygraphy's "
                   "time is set for TensorRT, in [BY_HAND.md](BY_HAND.md#debug-precision).",
                   [Row(f"checks, Polygraphy's {mode}", f"{words[1]} (keeps {words[3]} layers)", "–")
                    for mode, words in peers.items()] +
                   [Row(f"checks, {name}", "–", f"{count} (keeps 1 node)") for name, count in rows])


CASES = {"debug": debugging, "precision": precision}
