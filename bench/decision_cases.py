"""How fast decisions are made, and a million rows of them read again: cases of the bench."""

import os
import pathlib
import subprocess

import measure
from cases import MIB, verdict
from rows import Row, Section

ROOT = pathlib.Path(__file__).resolve().parent.parent
READ_GOAL = 0.5
NUMPY_GOAL = 20
SECONDS_GOAL = 2
MERGE_MEMORY_GOAL = 200 * MIB

# Kind, shape, how the outputs are made.
AGAINST_READING = (("top1", "8192,1000", "make"), ("threshold=0.5", "64,131072", "make"),
                   ("sign", "64,131072", "make"), ("argmax", "4,21,320,320", "make"),
                   ("ctc", "32,128,4096", "make"))
AGAINST_NUMPY = (("top5", "8192,1000", "make"), ("boxes:yolov8", "16,84,8400", "boxes"),
                 ("ctc", "64,500,32", "make"), ("ctc", "32,128,4096", "make"))


def _compile(setting, name):
    program = setting.folder / name
    archives = [setting.build_dir / "src" / folder / f"libvernier_{folder}.a"
                for folder in ("decide", "kernels", "io", "util", "core")]
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O3", f"-I{ROOT / 'include'}",
                    f"-I{ROOT / 'src'}", str(ROOT / "bench" / f"{name}.cc"),
                    *map(str, archives), "-lhwy", "-lz", "-lpthread", "-o", str(program)],
                   check=True)
    return program


def _numbers(setting, *words):
    sample = measure.run([str(word) for word in words], setting.env,
                         setting.folder / "decisions.log")
    return {name: float(value) for name, value in map(str.split, sample.output.splitlines())}


def _measure(setting, program, case, with_numpy):
    kind, dims, how = case
    paths = [setting.folder / f"decided-{side}.bin" for side in ("first", "second")]
    script = [setting.peer_python, ROOT / "bench/decision_numpy.py"]
    _numbers(setting, *script, how, dims, *paths)
    rounds = 5 if setting.quick else 15
    ours = _numbers(setting, program, kind, dims, *paths, rounds)
    numpy = _numbers(setting, *script, "time", kind, dims, *paths, 2) if with_numpy else None
    for path in paths:
        path.unlink()
    return ours, numpy


def decisions(setting):
    title = "19. Decisions"
    try:
        program = _compile(setting, "decision_speed")
    except (OSError, subprocess.CalledProcessError) as error:
        return Section(title, f"Not measured: {error}", [])
    rows = []
    for case in AGAINST_READING:
        ours, _ = _measure(setting, program, case, with_numpy=False)
        share = ours["read"] / ours["decide"]
        rows.append(Row(f"`{case[0]}` of {case[1].replace(',', ' × ')}, against reading",
                        f"{ours['read'] * 1e3:.2f} ms", f"{ours['decide'] * 1e3:.2f} ms",
                        f"{share:.0%}", f"≥ {READ_GOAL:.0%}", verdict(share >= READ_GOAL)))
    for case in AGAINST_NUMPY:
        ours, numpy = _measure(setting, program, case, with_numpy=True)
        # Other decisions would make the times incomparable.
        if ours["flips"] != numpy["flips"]:
            raise measure.CommandFailed(f"{case[0]}: {ours['flips']:.0f} flips, and NumPy finds "
                                        f"{numpy['flips']:.0f}")
        ratio = numpy["seconds"] / ours["decide"]
        rows.append(Row(f"`{case[0]}` of {case[1].replace(',', ' × ')}, against NumPy",
                        f"{numpy['seconds'] * 1e3:.1f} ms", f"{ours['decide'] * 1e3:.2f} ms",
                        f"{ratio:.1f}×", f"≥ {NUMPY_GOAL}×", verdict(ratio >= NUMPY_GOAL)))
    return Section(title,
                   "`bench/decision_speed.cc`, one thread: outputs of float32 against their "
                   "float16 copy, the error bound known. The first column is a loop that reads "
                   "both outputs from memory, or a plain program of NumPy "
                   "(`bench/decision_numpy.py`) that finds the same flips. The outputs of `ctc` "
                   "with 4,096 classes are 134 MB: reading them takes longer than a twentieth of "
                   "NumPy's time, so that no program could meet that goal.",
                   rows, against="Reading, or NumPy", compared="Speed")


def _against_pycocotools(what, theirs, ours):
    ratio = theirs / ours
    return Row(what, f"{theirs:.2f} s", f"{ours:.3f} s", f"{ratio:.1f}×", f"≥ {NUMPY_GOAL}×",
               verdict(ratio >= NUMPY_GOAL))


def detections(setting):
    """Both make figures of the same boxes, which have to be equal."""
    title = "22. Mean average precision"
    try:
        program = _compile(setting, "precision_speed")
    except (OSError, subprocess.CalledProcessError) as error:
        return Section(title, f"Not measured: {error}", [])
    count = 500 if setting.quick else 5000
    paths = [setting.folder / f"boxes-{name}.bin" for name in ("labels", "first", "second")]
    theirs = _numbers(setting, setting.peer_python, ROOT / "bench/precision_pycoco.py", count,
                      *paths)
    ours = _numbers(setting, program, *paths)
    for path in paths:
        path.unlink()
    if abs(theirs["ap"] - ours["ap"]) > 1e-9:
        raise measure.CommandFailed(f"mAP of {ours['ap']}, and pycocotools finds {theirs['ap']}")
    rows = [_against_pycocotools(f"mAP of {count:,} images", theirs["seconds"], ours["precision"]),
            _against_pycocotools(f"mAP of both sides, and {ours['draws']:,.0f} draws of the "
                                 "bootstrap", 2 * theirs["seconds"], ours["bootstrap"])]
    return Section(title,
                   "`bench/precision_speed.cc` against `loadRes`, `evaluate`, `accumulate` and "
                   "`summarize` of pycocotools, which has no bootstrap: seven objects and 40 "
                   "detections an image, 80 categories. Draws are made on all processors.",
                   rows, against="pycocotools", compared="Speed")


def _some_rows(setting):
    """Rows of a short run with a decision, by JSON lines and as arrays."""
    paths = {suffix: setting.folder / f"few{suffix}" for suffix in (".jsonl", ".npz")}
    for path in paths.values():
        setting.ours(setting.model("identity"), "--identity", "--identity", "--iterations", 1000,
                     "--decision", "threshold=0.5", "--save-rows", path)
    return paths


# NumPy is in Polygraphy's environment alone.
REPEAT = """
import sys
import numpy as np
source, target, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
columns = {name: np.concatenate([column] * times) for name, column in np.load(source).items()}
columns["index"] = np.arange(len(columns["index"]))
np.savez(target, **columns)
"""


def _repeat(setting, few, times):
    """The same rows again and again, with indices of their own."""
    many = {suffix: setting.folder / f"many{suffix}" for suffix in few}
    subprocess.run([setting.peer_python, "-c", REPEAT, few[".npz"], many[".npz"], str(times)],
                   check=True)
    lines = few[".jsonl"].read_text(encoding="utf-8").splitlines()
    rests = [line[line.index(","):] for line in lines]
    with open(many[".jsonl"], "w", encoding="utf-8") as file:
        for index in range(times * len(lines)):
            file.write(f'{{"index":{index}{rests[index % len(lines)]}\n')
    return many


def _timed_row(setting, what, words, memory_goal=None):
    """Fewer rows than the goals are for have no verdict."""
    judged = not setting.quick
    samples = [measure.run([setting.vernier, *map(str, words)], setting.env,
                           setting.folder / "rows.log", ("PASSED",))
               for _ in range(2 if setting.quick else 3)]
    seconds, peak = measure.wall(samples).median, measure.parent_peak(samples).median
    rows = [Row(what, "–", f"{seconds:.2f} s", "", f"≤ {SECONDS_GOAL} s",
                verdict(seconds <= SECONDS_GOAL) if judged else "not run")]
    if memory_goal is None:
        return [*rows, Row(f"{what}: memory", "–", f"{peak / MIB:.1f} MiB")]
    met = verdict(peak <= memory_goal) if judged else "not run"
    return [*rows, Row(f"{what}: memory", "–", f"{peak / MIB:.1f} MiB", "",
                       f"≤ {memory_goal // MIB} MiB", met)]


def million_rows(setting):
    count = 10**5 if setting.quick else 10**6
    rows = []
    many = _repeat(setting, _some_rows(setting), count // 1000)
    for suffix, path in many.items():
        rows += _timed_row(setting, f"`check accuracy rows{suffix}`",
                           ("check", "accuracy", path, "--max-flip-rate", 0.01))
        path.unlink()
    record = setting.folder / "many.json"
    setting.ours(setting.model("identity"), "--identity", "--identity", "--iterations", count,
                 "--shard", "1/1", "--save-record", record, "-q", "-q")
    [part] = setting.folder.glob("many.shard-*.json")
    rows += _timed_row(setting, "`merge` of one part", ("merge", part, "-o", record),
                       MERGE_MEMORY_GOAL)
    part.unlink()
    record.unlink()
    return Section("20. Rows of a long run",
                   f"{count:,} rows. `check accuracy` judges the decisions of saved rows; `merge` "
                   "makes the record of the parts of shards, here of the identity runner. The "
                   "goals are for a million rows.", rows, against="–", compared="")


CASES = {"decisions": decisions, "rows": million_rows, "detections": detections}
