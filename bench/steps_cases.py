"""Steps of a recurrent network and of caches that grow, against bare loops: a case of the bench."""

import os
import pathlib
import subprocess

import measure
from cases import MIB, verdict
from rows import Row, Section

ROOT = pathlib.Path(__file__).resolve().parent.parent
SILERO = ROOT / ".deps/trained/silero-vad-6.2.3/silero_vad/data/silero_vad_16k_op15.onnx"
BARE_GOAL, PEER_GOAL = 1.15, 20
CACHE_BYTES = 8 << 10  # of a token in all caches of caches.onnx
SOUND = ("input", 576, 512, 64, "output", "stateN:state")
CACHES = ("x", 512, 512, 0, "output", *(f"present.{layer}.{kind}:past.{layer}.{kind}"
                                         for layer in (0, 1) for kind in ("key", "value")))
OF_SOUND = ("--feed-back", "auto", "--step-slice", "input:axis=1,size=576,hop=512,pad=64")
OF_CACHES = ("--feed-back", "present.*:past.*", "--step-slice", "x:axis=1,size=512")


def _compile(setting):
    program = setting.folder / "steps_bare"
    header = subprocess.run([ROOT / "scripts/onnxruntime-header.sh"], check=True,
                            capture_output=True, text=True).stdout.split()[-1]
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O3", "-isystem",
                    str(pathlib.Path(header).parent), str(ROOT / "bench/steps_bare.cc"), "-ldl",
                    "-o", str(program)], check=True)
    return program


def _library(setting):
    script = "import onnxruntime as o, pathlib; print(pathlib.Path(o.__file__).parent / 'capi')"
    found = subprocess.run([setting.peer_python, "-c", script], check=True, capture_output=True,
                           text=True).stdout.strip()
    return next(pathlib.Path(found).glob("libonnxruntime.so.*"))


class _Loops:
    """The same steps by three programs; each gives a Sample."""

    def __init__(self, setting):
        self.setting = setting
        self.program, self.library = _compile(setting), _library(setting)
        self.script = ROOT / "bench/steps_peer.py"

    def bare(self, model, samples, steps, words):
        sample = measure.run([str(word) for word in (
            self.program, self.library, model, steps, self.setting.folder / f"{samples}.f32",
            *words)], self.setting.env, self.setting.folder / "bare.log")
        sample.said = dict(line.split() for line in sample.output.splitlines())
        return sample

    def peer(self, steps):
        return self.setting.loop_of(self.script, "time", SILERO,
                                    self.setting.folder / "sound.f32", steps)

    def ours(self, model, samples, steps, words):
        return self.setting.ours(model, "--onnxrt", "--intra-op-threads", 1, "--load-inputs",
                                 self.setting.folder / f"{samples}.npz", "--steps", steps, *words,
                                 "-q", "-q")


def _a_step(samples, few, many):
    """What a step takes once everything is open."""
    longer = measure.wall(samples[many]).median
    return (longer - measure.wall(samples[few]).median) / (many - few)


def _times(loops, few, many, fewer):
    """Rows of the recurrent network. Polygraphy's loop has fewer steps: it needs so much longer."""
    samples = measure.alternate({
        "bare": lambda: loops.bare(SILERO, "sound", many, SOUND),
        "peer": lambda: loops.peer(fewer),
        few: lambda: loops.ours(SILERO, "sound", few, OF_SOUND),
        many: lambda: loops.ours(SILERO, "sound", many, OF_SOUND)}, loops.setting.rounds)
    bare = measure.Figure.of(float(sample.said["seconds"]) for sample in samples["bare"]).median
    peer = measure.Figure.of(loop["seconds"] for loop in samples["peer"]).median
    bare, peer, ours = bare / many, peer / fewer, _a_step(samples, few, many)
    yield Row("a step, against a bare C++ loop", f"{bare * 1e6:.1f} µs", f"{ours * 1e6:.1f} µs",
              f"{ours / bare:.2f}×", f"≤ {BARE_GOAL}×", verdict(ours <= BARE_GOAL * bare))
    yield Row("a step, against a loop in Polygraphy's style", f"{peer * 1e6:.1f} µs",
              f"{ours * 1e6:.1f} µs", f"1/{peer / ours:.1f}", f"≤ 1/{PEER_GOAL}",
              verdict(peer >= PEER_GOAL * ours))
    beyond = ours - bare
    yield Row("the same beyond the bare C++ loop", f"{(peer - bare) * 1e6:.1f} µs",
              f"{beyond * 1e6:.1f} µs", f"1/{(peer - bare) / beyond:.1f}" if beyond > 0 else "0")


def _memory(loops, tokens):
    """Rows of the caches: memory beyond that with 8 tokens, in whole caches, and time."""
    model = loops.setting.folder / "caches.onnx"
    jobs = {}
    for steps in (8, tokens):
        jobs["bare", steps] = lambda steps=steps: loops.bare(model, "tokens", steps, CACHES)
        jobs["ours", steps] = lambda steps=steps: loops.ours(model, "tokens", steps, OF_CACHES)
    samples = measure.alternate(jobs, 2 if loops.setting.quick else 3)
    whole = tokens * CACHE_BYTES
    grown = {side: measure.tree_peak(samples[side, tokens]).median -
             measure.tree_peak(samples[side, 8]).median for side in ("bare", "ours")}
    texts = {side: f"{size / MIB:.1f} MiB, {size / whole:.1f} caches"
             for side, size in grown.items()}
    yield Row(f"{tokens:,} tokens, caches of {whole / MIB:.0f} MiB: memory of all processes "
              "beyond that with 8 tokens", texts["bare"], texts["ours"],
              f"{(grown['ours'] - grown['bare']) / whole:+.1f} caches", "≤ +0.5 caches",
              verdict(grown["ours"] - grown["bare"] <= whole / 2))
    bare, ours = (_a_step({steps: samples[side, steps] for steps in (8, tokens)}, 8, tokens)
                  for side in ("bare", "ours"))
    yield Row(f"{tokens:,} tokens: a step", f"{bare * 1e6:.0f} µs", f"{ours * 1e6:.0f} µs",
              f"{ours / bare:.2f}×")


def steps(setting):
    title = "23. Steps"
    if not SILERO.exists():
        return Section(title, "Not measured: scripts/deps.sh --tests fetches the network.", [])
    few, many, fewer = (200, 2000, 500) if setting.quick else (2000, 20000, 2000)
    tokens = 512 if setting.quick else 2048
    try:
        loops = _Loops(setting)
    except (OSError, subprocess.CalledProcessError) as error:
        return Section(title, f"Not measured: {error}", [])
    subprocess.run([setting.peer_python, loops.script, "make", setting.folder, str(many),
                    str(tokens)], check=True)
    rows = [*_times(loops, few, many, fewer), *_memory(loops, tokens)]
    return Section(title,
                   "`run silero_vad_16k_op15.onnx --onnxrt --intra-op-threads 1 --feed-back auto "
                   "--step-slice input:axis=1,size=576,hop=512,pad=64 --steps N`, one runner, "
                   f"nothing saved. A step is the difference between {many:,} and {few:,} steps. "
                   "The bare loop is `bench/steps_bare.cc`, Polygraphy's `OnnxrtRunner.infer` in "
                   "`bench/steps_peer.py`: both feed back by themselves, keep `output` of each "
                   "step, and are timed without the opening. An inference alone takes most of a "
                   "step, so no tool can be twenty times as fast as that loop: the time beyond the "
                   "bare loop is shown as well. Memory counts pages that two processes share once "
                   "for each.",
                   rows, against="Bare loop, or Polygraphy's")


CASES = {"steps": steps}
