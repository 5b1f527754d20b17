#!/usr/bin/env python3
"""Measures the comparison kernels alone against Polygraphy's own comparison and against the speed of
reading memory, in one run. See README.md, "The kernels alone"."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import machine

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What Polygraphy does to one pair of outputs: its `simple` comparison, which computes and logs the
# statistics of the differences, and then the statistics of both sides.
PEER = """
import sys, time
import numpy as np
from polygraphy.comparator import CompareFunc, IterationResult, util
from polygraphy.logger import G_LOGGER

G_LOGGER.module_severity = G_LOGGER.INFO
count, rounds = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
first = rng.standard_normal(count, dtype=np.float32)
second = first + np.float32(1e-6) * rng.standard_normal(count, dtype=np.float32)
a = IterationResult({"y": first}, runner_name="a")
b = IterationResult({"y": second}, runner_name="b")
compare = CompareFunc.simple()
best = float("inf")
for _ in range(rounds):
    start = time.perf_counter()
    matched = compare(a, b)
    util.log_compared_output_stats(a, b, [matched], "a", "b")
    best = min(best, time.perf_counter() - start)
    assert all(matched.values())
print("\\nseconds", best, file=sys.stderr)
"""

# What --compare logits says of 512 positions of 49,152 classes, in float64.
NUMPY_LOGITS = """
import sys, time
import numpy as np

rounds = int(sys.argv[1])
rng = np.random.default_rng(0)
first = rng.standard_normal((512, 49152), dtype=np.float32)
second = first + np.float32(1e-3) * rng.standard_normal(first.shape, dtype=np.float32)

def log_softmax(logits):
    rest = logits - logits.max(axis=1, keepdims=True)
    return rest - np.log(np.exp(rest).sum(axis=1, keepdims=True))

def table(a, b):
    a, b = a.astype(np.float64), b.astype(np.float64)
    log_p, log_q = log_softmax(a), log_softmax(b)
    p = np.exp(log_p)
    kl = (p * (log_p - log_q)).sum(axis=1)
    rows = np.arange(len(a))
    top_a, top_b = a.argmax(axis=1), b.argmax(axis=1)
    change = np.exp(log_q[rows, top_a]) - p[rows, top_a]
    sets = [np.sort(np.argpartition(side, -5, axis=1)[:, -5:]) for side in (a, b)]
    margins = a[rows, top_a] - a[rows, top_b]
    close = margins < np.abs(a - b).max(axis=1)
    return (kl.mean(), kl.std(ddof=1), np.percentile(kl, [1, 5, 50, 95, 99, 99.9, 100]),
            np.sqrt(np.mean(change ** 2)), (top_a == top_b).mean(),
            (sets[0] == sets[1]).all(axis=1).mean(), close.mean())

best = float("inf")
for _ in range(rounds):
    start = time.perf_counter()
    table(first, second)
    best = min(best, time.perf_counter() - start)
print("\\nseconds", best, file=sys.stderr)
"""


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", default=ROOT / "build/release", type=pathlib.Path)
    parser.add_argument("--peer", default=ROOT / ".deps/peer", type=pathlib.Path)
    parser.add_argument("--elements", default=20_000_000, type=int)
    parser.add_argument("--rounds", default=9, type=int,
                        help="the best of so many counts, for both tools")
    parser.add_argument("--threads", default=len(os.sched_getaffinity(0)), type=int)
    parser.add_argument("--largest", type=int,
                        help="where the curve ends (default: what half the free memory holds, at "
                             "most 10^9 elements)")
    parser.add_argument("--output", type=pathlib.Path, help="write the report to this file as well")
    return parser.parse_args()


def compile_bench(build_dir, folder):
    program = pathlib.Path(folder) / "kernel_speed"
    archives = [str(build_dir / "src" / name / f"libvernier_{name}.a")
                for name in ("kernels", "util", "core")]
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O3", "-ffp-contract=off",
                    f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}",
                    str(ROOT / "bench/kernel_speed.cc"), *archives, "-lhwy", "-lpthread",
                    "-o", str(program)], check=True)
    return program


def measure(program, options, elements, rounds, work):
    command = [str(program), str(elements), str(rounds), str(options.threads), *work]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: float(value) for name, value, _ in map(str.split, lines)}


def seconds_in_python(options, script, *numbers):
    python = options.peer / "bin/python"
    done = subprocess.run([str(python), "-c", script, *map(str, numbers)], check=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return float(done.stderr.split("seconds")[-1])


def free_bytes():
    for line in pathlib.Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def met(ratio, goal):
    return "met" if ratio >= goal else "missed"


# What does less than Polygraphy's comparison, or has other values to compare: no ratio, but for the
# one that has a goal.
UNLIKE = {"no_ranks": "no ranks (less work: Polygraphy has them)",
          "verdict": "verdict (less work: no statistics)",
          "verdict_of_many_mismatches": "verdict of many mismatches (other values)",
          "everything_of_equal": "everything of equal (other values)",
          "products": "products (other work)",
          "everything_of_sorted": "everything of sorted (other values)"}


def float32_table(values, peer):
    read = values["read"]
    yield f"Polygraphy: {peer:.3f} s. Reading both arrays: {read:.2f} ms, " \
          f"{values['read_bandwidth']:.1f} GB/s."
    yield ""
    yield "| Work | Time | Times Polygraphy | Share of the read loop | Goal | |"
    yield "|---|---|---|---|---|---|"
    goals = {"everything": 60, "no_ranks": 250}
    for name in [n for n in values if n + "_per_element" in values]:
        ratio = peer * 1e3 / values[name]
        share = read / values[name]
        goal, judged = "", ""
        if name in goals:
            goal, judged = f"≥ {goals[name]} ×", met(ratio, goals[name])
        elif name == "verdict":
            goal, judged = "≥ 60 % of reading", met(share, 0.6)
        text = UNLIKE.get(name, name.replace("_", " "))
        times = f"{ratio:.0f}" if name in goals or name not in UNLIKE else "–"
        yield (f"| {text} | {values[name]:.2f} ms | {times} | {100 * share:.0f} % | {goal} | "
               f"{judged} |")


def types_table(values):
    yield "Nanoseconds an element; the goal for float16, bfloat16 and int8 is float32's figure."
    yield ""
    yield "| Type | everything | no ranks | verdict |"
    yield "|---|---|---|---|"
    for name in [n[:-len("_verdict")] for n in values if n.endswith("_verdict")]:
        cells = [values[name + kind + "_per_element"] for kind in ("", "_no_ranks", "_verdict")]
        yield f"| {name} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |"


def curve_table(values):
    yield "| Elements | everything | an element | extra memory | verdict | an element |"
    yield "|---|---|---|---|---|---|"
    for name in [n for n in values if n.startswith("curve_") and n.count("_") == 1]:
        verdict = name + "_verdict"
        yield (f"| {int(name[6:]):,} | {values[name]:.4g} ms | {values[name + '_per_element']:.2f} ns "
               f"| {values[name + '_memory']:.0f} MiB "
               f"| {values[verdict]:.4g} ms | {values[verdict + '_per_element']:.2f} ns |")


def logits_table(values, numpy_seconds):
    ratio = numpy_seconds * 1e3 / values["logits"]
    rows = values["logits_three_rows"]
    yield "512 positions of 49,152 classes in float32: everything that `--compare logits` says."
    yield ""
    yield "| NumPy, float64 | Time | Times NumPy | Goal | | Extra memory | 3 rows |"
    yield "|---|---|---|---|---|---|---|"
    yield (f"| {numpy_seconds:.3f} s | {values['logits']:.2f} ms | {ratio:.0f} | ≥ 50 × | "
           f"{met(ratio, 50)} | {values['logits_memory']:.3g} MiB | {rows:.3g} MiB a thread |")


def report(options, program):
    largest = options.largest or min(1_000_000_000, free_bytes() // 16)
    yield "# The comparison kernels alone"
    yield ""
    yield from (f"- {line}" for line in machine.facts())
    yield ""
    yield f"{options.threads} threads. Best of {options.rounds}, for Polygraphy too. " \
          f"{options.elements:,} pairs of float32 where nothing else is said."
    yield ""
    yield "## float32"
    yield ""
    values = measure(program, options, options.elements, options.rounds, ["float32"])
    yield from float32_table(values,
                             seconds_in_python(options, PEER, options.elements, options.rounds))
    yield ""
    yield "## Types"
    yield ""
    yield from types_table(measure(program, options, options.elements, options.rounds, ["types"]))
    yield ""
    yield "## From small to large"
    yield ""
    yield f"Both arrays in memory, {largest:,} elements each at most."
    yield ""
    yield from curve_table(measure(program, options, largest, 3, ["curve"]))
    yield ""
    yield "## Logits"
    yield ""
    yield from logits_table(measure(program, options, 1, options.rounds, ["logits"]),
                            seconds_in_python(options, NUMPY_LOGITS, 3))


def main():
    options = parse_options()
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = compile_bench(options.build_dir, folder)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"cannot build the bench: {error}")
        lines = []
        for line in report(options, program):
            print(line, flush=True)
            lines.append(line)
    if options.output:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
