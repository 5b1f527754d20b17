#!/usr/bin/env python3
"""Measures vernier against Polygraphy 0.53.6, in turns, on this machine. See README.md."""

import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import cases
import decision_cases
import fault_cases
import framework_cases
import machine
import model_cases
import python_cases
import replica_cases
import steps_cases
import tool_cases

ROOT = pathlib.Path(__file__).resolve().parent.parent
_MADE = {**cases.CASES, **framework_cases.CASES, **python_cases.CASES, **tool_cases.CASES,
         **model_cases.CASES, **fault_cases.CASES, **replica_cases.CASES,
         **decision_cases.CASES, **steps_cases.CASES}
# By the number of their section.
ORDER = ("start", "iterations", "tensors", "load", "save", "limits", "external", "files", "workers",
         "frameworks", "blame", "report", "python", "debug", "precision", "models", "deaths",
         "replicas", "decisions", "rows", "batches", "detections", "steps")
CASES = {name: _MADE[name] for name in ORDER}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vernier", default=ROOT / "build/release/bin/vernier", type=pathlib.Path,
                        help="the program to measure (default: the release build's)")
    parser.add_argument("--peer", default=ROOT / ".deps/peer", type=pathlib.Path,
                        help="virtual environment with Polygraphy 0.53.6, onnx and onnxruntime")
    parser.add_argument("--build-dir", default=ROOT / "build/release", type=pathlib.Path,
                        help="build folder whose libraries the case of the limits links")
    parser.add_argument("--all", action="store_true",
                        help="write RESULTS.md and KERNELS.md anew: every case, --full, from a "
                             "checkout without changes")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller runs")
    parser.add_argument("--full", action="store_true",
                        help="also save 10,000 iterations: 28 GB of disk, minutes")
    parser.add_argument("--case", action="append", choices=CASES,
                        help="only this case; may be repeated")
    parser.add_argument("--rounds", type=int, help="runs of each command (default: 5; quick: 3)")
    parser.add_argument("--work-dir", type=pathlib.Path,
                        help="where models and results go (default: a temporary folder, removed)")
    parser.add_argument("--output", type=pathlib.Path, help="write the report to this file as well")
    options = parser.parse_args()
    if options.all:
        if options.case or options.quick:
            parser.error("--all runs every case, and not quickly")
        if machine.checkout().endswith(("-dirty", "unknown")):
            parser.error(f"--all names the checkout that it measures, and {ROOT} has changes: "
                         "commit them first")
        options.full = True
        options.output = options.output or ROOT / "bench/RESULTS.md"
    return options


def peer_versions(python):
    script = ("import importlib.metadata as m, platform; print(platform.python_version(), "
              "*(f'{p} {m.version(p)}' for p in ('polygraphy', 'onnxruntime', 'onnx', 'numpy')), "
              "sep=', ')")
    return subprocess.run([python, "-c", script], check=True, capture_output=True,
                          text=True).stdout.strip()


def describe(setting):
    backends = subprocess.run([setting.vernier, "backends"], env=setting.env, capture_output=True,
                              text=True, check=True).stdout
    found = ", ".join(" ".join(word for word in line.split() if not word.startswith("/"))
                      for line in backends.splitlines() if "not usable" not in line)
    digest = hashlib.sha256(pathlib.Path(setting.vernier).read_bytes()).hexdigest()[:16]
    return [*machine.facts(), f"vernier: {found}; program's SHA-256 {digest}",
            f"Polygraphy: Python {peer_versions(setting.peer_python)}"]


def as_markdown(section):
    lines = [f"## {section.title}", "", section.note, ""]
    if section.rows:
        lines += [f"| Measure | {section.against} | vernier | {section.compared} | Goal | |",
                  "|---|---|---|---|---|---|"]
        lines += [f"| {row.what} | {row.peer} | {row.ours} | {row.ratio} | {row.goal} | "
                  f"{row.verdict} |" for row in section.rows]
        lines.append("")
    return "\n".join(lines)


def make_models(setting, names):
    large = ["--large"] if {"load", "external"} & set(names) else []
    subprocess.run([setting.peer_python, str(ROOT / "bench/make_models.py"), str(setting.folder),
                    *large], check=True, stdout=subprocess.DEVNULL)


def bench(setting, names, say):
    make_models(setting, names)
    say("# Results of the bench\n\nWritten by `bench/run_bench.py`, whole and in one go. "
        "[BY_HAND.md](BY_HAND.md) has what was measured\nby hand, on machines with a GPU.\n")
    for line in describe(setting):
        say(f"- {line}")
    say("\nMedians, with the smallest and the largest of the runs in brackets. A ratio is vernier's "
        "figure\nover Polygraphy's. \"All processes\" is the largest sum of resident sets seen, in "
        "which pages that\nprocesses share count once for each.\n")
    failed = False
    for name in names:
        try:
            say(as_markdown(CASES[name](setting)))
        except Exception as error:  # one case must not hide the others
            failed = True
            say(f"## `{name}`: not run\n\n```\n{type(error).__name__}: {error}\n```\n")
    for name in [name for name in CASES if name not in names]:
        say(f"Not run: `{name}`.")
    say(f"Load average at the end: {machine.load()}")
    return failed


def bench_kernels(options):
    return subprocess.run([sys.executable, str(ROOT / "bench/run_kernels.py"), "--build-dir",
                           str(options.build_dir), "--peer", str(options.peer), "--output",
                           str(ROOT / "bench/KERNELS.md")], check=False).returncode != 0


def main():
    options = parse_options()
    # Not resolved: the environment is found by the path of its python, which is a link.
    python = options.peer.absolute() / "bin/python"
    for path in (python, options.vernier):
        if not path.exists():
            sys.exit(f"{path} does not exist; see bench/README.md for the set-up")
    # Both tools use the ONNX Runtime of Polygraphy's environment.
    env = {**os.environ, "VIRTUAL_ENV": str(options.peer.absolute()), "NO_COLOR": "1"}
    env.pop("ONNXRUNTIME_ROOT", None)
    folder = options.work_dir or pathlib.Path(tempfile.mkdtemp(prefix="vernier-bench-"))
    folder.mkdir(parents=True, exist_ok=True)
    setting = cases.Setting(
        vernier=str(options.vernier.absolute()), peer_python=str(python), folder=folder.absolute(),
        build_dir=options.build_dir.absolute(), quick=options.quick, full=options.full,
        rounds=options.rounds or (3 if options.quick else 5), env=env)
    report = []

    def say(text):
        print(text, flush=True)
        report.append(text)

    try:
        failed = bench(setting, options.case or list(CASES), say)
    finally:
        if options.work_dir is None:
            shutil.rmtree(folder, ignore_errors=True)
    if options.all:  # before a file of the checkout is written, so that it names a clean one, too
        failed = bench_kernels(options) or failed
    if options.output:
        options.output.write_text("\n".join(report) + "\n", encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
