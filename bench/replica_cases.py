"""--workers-per-runner against one worker, and --batch-feeds against single feeds, both ours:
Polygraphy has one process and single feeds."""

import os
import pathlib

import measure
from cases import MIB, verdict
from rows import Row, Section

GOAL = 1.8
DIGITS = pathlib.Path(__file__).resolve().parent.parent / "examples" / "digits.onnx"


def _seconds_an_iteration(samples, few, many):
    """What an iteration takes once everything is open."""
    longer = measure.wall(samples[many]).median
    return (longer - measure.wall(samples[few]).median) / (many - few)


def several_workers(setting):
    title = "18. Several workers for each runner"
    if len(os.sched_getaffinity(0)) < 2:
        return Section(title, "Not measured: it takes two processors.", [])
    few, many = (5, 25) if setting.quick else (10, 60)
    rows = []
    for what, runners in (("one runner", ("--onnxrt",)), ("two runners", ("--onnxrt", "--onnxrt"))):
        def run(workers, count):
            return setting.ours(setting.model("conv200"), *runners, "--intra-op-threads", 1,
                                "--iterations", count, "--workers-per-runner", workers)

        samples = measure.alternate({
            (workers, count): lambda workers=workers, count=count: run(workers, count)
            for workers in (1, 2) for count in (few, many)}, setting.rounds)
        of = {workers: {count: samples[workers, count] for count in (few, many)}
              for workers in (1, 2)}
        one, two = (_seconds_an_iteration(of[workers], few, many) for workers in (1, 2))
        rows.append(Row(f"{what}: an iteration, with 1 and with 2 workers", f"{one * 1e3:.2f} ms",
                        f"{two * 1e3:.2f} ms", f"{one / two:.2f}×", f"≥ {GOAL}×",
                        verdict(one >= GOAL * two)))
        memory = [measure.tree_peak(of[workers][many]).median / MIB for workers in (1, 2)]
        rows.append(Row(f"{what}: memory, all processes", f"{memory[0]:.1f} MiB",
                        f"{memory[1]:.1f} MiB", f"{memory[1] / memory[0]:.2f}"))
    return Section(title,
                   f"`run conv200.onnx --onnxrt [--onnxrt] --intra-op-threads 1 --iterations N "
                   f"--workers-per-runner W`: W is 1 in the first column and 2 in the second. "
                   f"The time of an iteration is the difference "
                   f"between {many} and {few} iterations.", rows, against="one worker")


def batched_feeds(setting):
    few, many = (100, 2000) if setting.quick else (200, 20000)

    def run(feeds, count):
        return setting.ours(DIGITS, "--onnxrt", "--intra-op-threads", 1, "--input-shapes",
                            "image:[1,1,8,8]", "--iterations", count, "--batch-feeds", feeds)

    samples = measure.alternate({
        (feeds, count): lambda feeds=feeds, count=count: run(feeds, count)
        for feeds in (1, 32) for count in (few, many)}, setting.rounds)
    single, batched = (
        _seconds_an_iteration({count: samples[feeds, count] for count in (few, many)}, few, many)
        for feeds in (1, 32))
    rows = [Row("an iteration, with single feeds and with 32 in one inference",
                f"{single * 1e6:.1f} µs", f"{batched * 1e6:.1f} µs", f"{single / batched:.2f}×")]
    return Section("21. Several feeds in one inference",
                   f"`run examples/digits.onnx --onnxrt --intra-op-threads 1 --input-shapes "
                   f"image:[1,1,8,8] --iterations N --batch-feeds B` on the CPU: B is 1 in the "
                   f"first column and 32 in the second. The time of an iteration, drawing of its "
                   f"input included, is the difference between {many} and {few} iterations.", rows,
                   against="single feeds")


CASES = {"replicas": several_workers, "batches": batched_feeds}
