"""The cases of the bench. Each takes a Setting and gives rows of the report."""

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess

import blame_cases
import measure
from rows import Row, Section

MIB = 1 << 20
PASSED = ("PASSED",)


@dataclasses.dataclass
class Setting:
    vernier: str
    peer_python: str
    folder: pathlib.Path
    build_dir: pathlib.Path
    quick: bool
    full: bool
    rounds: int
    env: dict

    def ours(self, *words, expect=PASSED):
        return measure.run([self.vernier, "run", *map(str, words)], self.env,
                           self.folder / "vernier.log", expect)

    def peer(self, *words, expect=PASSED):
        program = pathlib.Path(self.peer_python).parent / "polygraphy"
        return measure.run([self.peer_python, str(program), "run", *map(str, words)], self.env,
                           self.folder / "peer.log", expect)

    def loop(self, *words):
        return self.loop_of(pathlib.Path(__file__).parent / "peer_loops.py", *words)

    def loop_of(self, script, *words):
        sample = measure.run([self.peer_python, str(script), *map(str, words)], self.env,
                             self.folder / "loop.log")
        return json.loads(sample.output.splitlines()[-1])

    def model(self, name):
        return self.folder / f"{name}.onnx"

    def both(self, *words, rounds=None):
        return measure.alternate({"peer": lambda: self.peer(*words),
                                  "ours": lambda: self.ours(*words)}, rounds or self.rounds)


def verdict(met):
    return "met" if met else "missed"


def time_row(what, peer, ours, share=None):
    """A row of two Figures in seconds; the goal is a share of Polygraphy's, 5 for 1/5."""
    ratio = ours.median / peer.median if peer.median > 0 else float("nan")
    return Row(what, f"{peer.text()} s", f"{ours.text()} s",
               f"1/{1 / ratio:.1f}" if ratio > 0 else "0",
               f"≤ 1/{share}" if share else "", verdict(ratio <= 1 / share) if share else "")


def memory_row(what, peer, ours, limit=None):
    """A row of two Figures in bytes (Polygraphy's may be None); the limit is in MiB."""
    ratio = f"{ours.median / peer.median:.2f}" if peer else ""
    return Row(what, f"{peer.text(1 / MIB, 1)} MiB" if peer else "–",
               f"{ours.text(1 / MIB, 1)} MiB", ratio, f"≤ {limit} MiB" if limit else "",
               verdict(ours.high <= limit * MIB) if limit else "")


def time_rows(samples, share=None, of=""):
    return [time_row(f"wall time{of}", measure.wall(samples["peer"]), measure.wall(samples["ours"]),
                     share),
            time_row(f"processor time{of}", measure.cpu(samples["peer"]),
                     measure.cpu(samples["ours"]))]


def start_to_end(setting):
    samples = setting.both(setting.model("identity"), "--onnxrt", "--onnxrt",
                           rounds=setting.rounds * 2)
    rows = time_rows(samples, share=5)
    rows.append(memory_row("memory, all processes", measure.tree_peak(samples["peer"]),
                           measure.tree_peak(samples["ours"])))
    rows.append(memory_row("memory, parent", measure.parent_peak(samples["peer"]),
                           measure.parent_peak(samples["ours"])))
    return Section("1. Start to end", "`run identity.onnx --onnxrt --onnxrt`", rows)


def iterations(setting):
    def words(count):
        return (setting.model("perceptron"), "--onnxrt", "--onnxrt", "--iterations", count)

    samples = setting.both(*words(1000), rounds=2 if setting.quick else setting.rounds)
    rows = time_rows(samples, share=10, of=", 1000 iterations")
    peers = {10: [setting.peer(*words(10))], 1000: samples["peer"]}
    ours = {10: [setting.ours(*words(10)) for _ in range(3)],
            100: [setting.ours(*words(100)) for _ in range(3)], 1000: samples["ours"],
            10000: [setting.ours(*words(10000)) for _ in range(3)]}
    for count, measured in ours.items():
        peer = measure.tree_peak(peers[count]) if count in peers else None
        rows.append(memory_row(f"memory, all processes, {count} iterations", peer,
                               measure.tree_peak(measured)))
    growth = measure.tree_peak(ours[10000]).median - measure.tree_peak(ours[10]).median
    rows.append(Row("memory at 10,000 less memory at 10", "–", f"{growth / MIB:.2f} MiB", "",
                    "≤ 1 MiB", verdict(growth <= MIB)))
    return Section("2. Many iterations of a small model",
                   "`run perceptron.onnx --onnxrt --onnxrt --iterations N`. "
                   "Growth of up to 1 MiB counts as none: the allocator's pages vary by that.",
                   rows)


def every_tensor(setting):
    count = 1 if setting.quick else 3
    words = (setting.model("conv200"), "--onnxrt", "--onnxrt", "--onnx-outputs", "mark", "all",
             "--iterations", count)
    loops = []

    def loop():
        loops.append(setting.loop("inference", setting.model("conv200"), count))
        return loops[-1]

    samples = measure.alternate({"peer": lambda: setting.peer(*words), "loop": loop,
                                 "ours": lambda: setting.ours(*words)},
                                2 if setting.quick else 5)
    # Two runners: two sessions.
    frames = {clock: 2 * measure.Figure.of(loop[f"create_{clock}"] + loop[f"runs_{clock}"]
                                           for loop in loops).median
              for clock in ("wall", "cpu")}
    rows = time_rows(samples, of=", whole")
    for clock, name, share in (("wall", "wall time", 5), ("cpu", "processor time", None)):
        beyond = {side: measure.Figure.of(getattr(sample, clock) - frames[clock]
                                          for sample in samples[side])
                  for side in ("peer", "ours")}
        rows.append(time_row(f"{name} beyond inference ({frames[clock]:.2f} s)", beyond["peer"],
                             beyond["ours"], share))
    rows.append(memory_row("memory, all processes", measure.tree_peak(samples["peer"]),
                           measure.tree_peak(samples["ours"])))
    return Section("3. Every tensor of 200 convolutions",
                   f"`run conv200.onnx --onnxrt --onnxrt --onnx-outputs mark all --iterations "
                   f"{count}`: 400 outputs of 50,176 elements each. Inference is what a bare loop "
                   "over ONNX Runtime takes to create a session with the same outputs and run it "
                   "as often, twice over; the same figure is taken from both tools.", rows)


def load_and_compare(setting):
    samples = setting.both("--load-outputs", setting.folder / "first.json",
                           setting.folder / "second.json", rounds=2 if setting.quick else None)
    rows = time_rows(samples)
    rows.append(memory_row("memory, all processes", measure.tree_peak(samples["peer"]),
                           measure.tree_peak(samples["ours"])))
    raw = 2 * 64 * MIB / measure.wall(samples["ours"]).median / 1e9
    rows.append(Row("tensor bytes per second", "–", f"{raw:.2f} GB/s"))
    return Section("4. Loading and comparing two files",
                   "`run --load-outputs first.json second.json`: one float32 output of 64 MiB in "
                   "each file. The files are in the page cache.", rows)


def _save_and_load(setting, run, count):
    saved = setting.folder / "saved.json"
    saved.unlink(missing_ok=True)
    words = (setting.model("mebibyte"), "--onnxrt", "--onnxrt", "--iterations", count)
    save = run(*words, "--save-outputs", saved)
    load = run("--load-outputs", saved)
    size = saved.stat().st_size
    saved.unlink()
    return save, load, size


GOAL_ITERATIONS = 10000


def _not_run(count, why):
    goal = ("≤ 200 MiB", "not run") if count == GOAL_ITERATIONS else ()
    return Row(f"{count} iterations: memory, all processes", "–", f"not run: {why}", "", *goal)


def saving(setting):
    counts = [200] + ([] if setting.quick else [2000]) + [GOAL_ITERATIONS] * setting.full
    rows = []
    for count in counts:
        needed = 2 * count * MIB * 4 // 3 + (2 << 30)
        if shutil.disk_usage(setting.folder).free < needed:
            rows.append(_not_run(count, f"needs {needed >> 30} GiB of disk"))
            continue
        ours = _save_and_load(setting, setting.ours, count)
        peer = _save_and_load(setting, setting.peer, count) if count == 200 else None
        for step, name in ((0, "saving"), (1, "loading")):
            mine = [ours[step]]
            theirs = [peer[step]] if peer else None
            what = f"{name}, {count} iterations ({ours[2] / 1e9:.2f} GB)"
            if theirs:
                rows.append(time_row(f"{what}: wall time", measure.wall(theirs),
                                     measure.wall(mine)))
                rows.append(time_row(f"{what}: processor time", measure.cpu(theirs),
                                     measure.cpu(mine)))
            else:
                rows.append(Row(f"{what}: wall, processor time", "–",
                                f"{ours[step].wall:.2f} s, {ours[step].cpu:.2f} s"))
            row = memory_row(f"{what}: memory, all processes",
                             measure.tree_peak(theirs) if theirs else None,
                             measure.tree_peak(mine), 200)
            # Fewer iterations can show that the goal is missed, and not that it is met.
            if count < GOAL_ITERATIONS and row.verdict == "met":
                row.goal = row.verdict = ""
            rows.append(row)
    if GOAL_ITERATIONS not in counts:
        rows.append(_not_run(GOAL_ITERATIONS, "takes --full and 28 GB of disk"))
    return Section("5. Saving and loading many iterations",
                   "`run mebibyte.onnx --onnxrt --onnxrt --iterations N --save-outputs "
                   "saved.json`, then `run --load-outputs saved.json`: two runners, outputs "
                   "of 1 MiB, one run each. The goal is for 10,000 iterations, and no fewer "
                   "can meet it.", rows)


def _compile_files(setting):
    root = pathlib.Path(__file__).parent.parent
    program = setting.folder / "file_speed"
    archives = [setting.build_dir / "src" / name / f"libvernier_{name}.a"
                for name in ("io", "util", "core")]
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O3", f"-I{root / 'include'}",
                    f"-I{root / 'src'}", str(root / "bench" / "file_speed.cc"),
                    *map(str, archives), "-lhwy", "-lz", "-lpthread", "-o", str(program)],
                   check=True)
    return program


def _faster_row(what, peer, ours, times, size):
    """Seconds of both; the goal is to be so many times as fast."""
    ratio = peer / ours
    return Row(what, f"{peer:.3f} s, {size / peer / 1e9:.2f} GB/s",
               f"{ours:.3f} s, {size / ours / 1e9:.2f} GB/s", f"{ratio:.1f}×",
               f"≥ {times}×" if times else "", verdict(ratio >= times) if times else "")


def file_speed(setting):
    """Loading and saving alone, and one large run that saves."""
    title = "8. Files"
    try:
        program = _compile_files(setting)
    except (OSError, subprocess.CalledProcessError) as error:
        return Section(title, f"Not measured: {error}", [])

    def ours(*words):
        sample = measure.run([str(program), *map(str, words)], setting.env,
                             setting.folder / "files.log")
        return {words[0]: float(words[1]) for words in map(str.split, sample.output.splitlines())}

    rows = []
    times = {".json": (10, 8), ".npz": (None, None), ".safetensors": (None, None)}
    peer = None
    for suffix, (load_goal, save_goal) in times.items():
        path = setting.folder / f"speed{suffix}"
        saved = ours("save", path, 75, 5)
        loaded = ours("load", path, 7)
        if peer is None:
            peer = setting.loop("files", path, 3)
            (setting.folder / f"speed{suffix}.saved.json").unlink()
        size = saved["tensor_bytes"]
        rows.append(_faster_row(f"load {suffix}, 75 MiB of float32", peer["load"],
                                loaded["seconds"], load_goal, size))
        rows.append(_faster_row(f"save {suffix}, 75 MiB of float32, synced", peer["save"],
                                saved["seconds"], save_goal, size))
        path.unlink()
    rows += _run_and_save(setting, ours)
    return Section(title,
                   "Loading and saving outputs alone, best of several, by the library and by "
                   "Polygraphy's RunResults (whose JSON is its only format: the same figure stands "
                   "beside all of ours). Ours are synced to the disk, Polygraphy's are not. Then "
                   "`run large.onnx --onnxrt --onnxrt --save-outputs large.safetensors` "
                   "(Polygraphy: `.json`), one run of Polygraphy and the median of three of ours: "
                   "two outputs of 384 MiB. In memory means that the file lies in /dev/shm. The "
                   "machine's share is measured by loops: ONNX Runtime makes a session, runs it "
                   "twice, new memory is filled with the input and both outputs, and a file is "
                   "written and synced. These loops overlap in the program and not here, so they "
                   "may add up to more than its wall time: what is ours alone is not separable.",
                   rows)


# Polygraphy once, ours before, between and after.
def _run_and_save(setting, program):
    words = (setting.model("large"), "--onnxrt", "--onnxrt", "--save-outputs")
    memory = pathlib.Path("/dev/shm")
    places = {"disk": setting.folder / "large.safetensors"}
    if memory.is_dir() and shutil.disk_usage(memory).free > 1 << 30:
        places["memory"] = memory / f"vernier-bench-{os.getpid()}.safetensors"
    samples = {place: [] for place in places}

    def run_ours():
        for place, path in places.items():
            samples[place].append(setting.ours(*words, path))
            path.unlink()

    run_ours()
    theirs = setting.peer(*words, setting.folder / "large.json")
    (setting.folder / "large.json").unlink()
    run_ours()
    run_ours()
    frame = min(loop["create_wall"] + loop["runs_wall"] for loop in
                (setting.loop("inference", setting.model("large"), 2) for _ in range(2)))
    limit = program("limit", setting.folder / "limit.bin", 384, 2)
    wall = {place: measure.wall(samples[place]).median for place in places}
    size = 768 * MIB
    rows = [_faster_row("run, compare and save 0.75 GiB of outputs", theirs.wall, wall["disk"], 30,
                        size)]
    if "memory" in places:
        rows.append(_faster_row("the same, saved in memory", theirs.wall, wall["memory"], 30, size))
    rows += [Row("of that, ONNX Runtime itself", f"{frame:.3f} s", f"{frame:.3f} s"),
             Row("of that, filling new memory once", "–", f"{limit['memory']:.3f} s"),
             Row("of that, writing the file and syncing it", "–",
                 f"{limit['written']:.3f} s and {limit['synced'] - limit['written']:.3f} s"),
             Row("the machine's share of the wall time", "–",
                 f"{100 * (frame + limit['memory'] + limit['synced']) / wall['disk']:.0f} %")]
    both = samples["disk"] + samples.get("memory", [])
    ours_cpu, theirs_cpu = measure.cpu(both), measure.cpu([theirs])
    rows.append(Row("processor time", f"{theirs_cpu.text()} s", f"{ours_cpu.text()} s",
                    f"{theirs_cpu.median / ours_cpu.median:.1f}×"))
    # The input is one of the iteration's tensors.
    rows.append(memory_row("memory, all processes", measure.tree_peak([theirs]),
                           measure.tree_peak(both), 3 * 384 + 64))
    return rows


def _compile_limits(setting):
    root = pathlib.Path(__file__).parent.parent
    program = setting.folder / "physical_limits"
    archives = [setting.build_dir / "src" / name / f"libvernier_{name}.a"
                for name in ("compare", "kernels", "util", "core")]
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O3",
                    "-ffp-contract=off", f"-I{root / 'include'}", f"-I{root / 'src'}",
                    str(root / "bench" / "physical_limits.cc"), *map(str, archives), "-lhwy",
                    "-lpthread",
                    "-o", str(program)], check=True)
    return program


def limits(setting):
    title = "6. Against the machine's limits"
    try:
        program = _compile_limits(setting)
    except (OSError, subprocess.CalledProcessError) as error:
        return Section(title, f"Not measured: {error}", [])
    mebipairs = 4 if setting.quick else 16
    sample = measure.run([str(program), str(mebipairs), "5"], setting.env,
                         setting.folder / "limits.log")
    values = {words[0]: float(words[1]) for words in map(str.split, sample.output.splitlines())}
    numpy = setting.loop("statistics", mebipairs)
    one, every = values.pop("read_1_thread"), values.pop("read_all_threads")
    rows = [Row("memory read, one thread", "–", f"{one / 1e9:.2f} GB/s"),
            Row("memory read, all cores", "–", f"{every / 1e9:.2f} GB/s")]
    for name in [name for name in values if f"{name}_bytes" in values]:
        peer = numpy["pairs"] / numpy["seconds"] if name == "float32" else None
        rows.append(Row(f"{name}: differences and their statistics",
                        "–", f"{values[name] / 1e6:.1f} M pairs/s, "
                        f"{values[name + '_bytes'] / 1e9:.2f} GB/s, "
                        f"{100 * values[name + '_bytes'] / one:.1f} % of one thread's reading"))
        rows.append(Row(f"{name}: statistics of one array", "–",
                        f"{values[name + '_statistics'] / 1e6:.1f} M elements/s"))
        if peer:
            # What simple does for one output: the differences, and each side's own statistics.
            ours = 1 / (1 / values[name] + 2 / values[f"{name}_statistics"])
            rows.append(Row(f"{name}: both of these, as for one output",
                            f"{peer / 1e6:.2f} M pairs/s",
                            f"{ours / 1e6:.2f} M pairs/s", f"{ours / peer:.1f}×"))
    return Section(title,
                   f"The kernels alone, without the tool: {mebipairs} Mi pairs (float64 and int32: "
                   "half as many; layer: 50,176; small: 40), best of several. The other column is "
                   "a loop over NumPy's functions for the same statistics of float32, and not "
                   "Polygraphy, which also logs them.", rows, against="NumPy loop")


def external_weights(setting):
    model = setting.model("external")
    runners = ("--identity", "--identity")
    saved = setting.folder / "saved.onnx"
    runs = [setting.ours(model, *runners) for _ in range(setting.rounds)]
    marked = [setting.ours(model, *runners, "--onnx-outputs", "mark", "all", "--save-onnx", saved)
              for _ in range(setting.rounds)]
    saved.unlink(missing_ok=True)
    rows = []
    for what, samples in (("", runs), (", every tensor marked, model saved", marked)):
        rows.append(memory_row(f"memory, parent{what}", None, measure.parent_peak(samples), 64))
        rows.append(Row(f"wall time{what}", "–", f"{measure.wall(samples).text()} s"))
    return Section("7. A model with 6 GiB of external weights",
                   "`run external.onnx --identity --identity`: no framework reads the weights, so "
                   "the parent is what is measured. The weights are a sparse file. Polygraphy has "
                   "no such runner.", rows)


CASES = {"start": start_to_end, "iterations": iterations, "tensors": every_tensor,
         "load": load_and_compare, "save": saving, "limits": limits, "external": external_weights,
         "files": file_speed, "blame": blame_cases.blame, "report": blame_cases.report}
