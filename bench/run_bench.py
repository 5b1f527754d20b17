#!/usr/bin/env python3
"""Measures vernier against Polygraphy 0.53.6, in turns, on this machine. See README.md."""

import argparse
import datetime
import hashlib
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

import cases
import framework_cases
import measure
import model_cases
import python_cases
import tool_cases

ROOT = pathlib.Path(__file__).resolve().parent.parent
CASES = {**cases.CASES, **framework_cases.CASES, **python_cases.CASES,
         **tool_cases.CASES, **model_cases.CASES}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vernier", default=ROOT / "build/release/bin/vernier", type=pathlib.Path,
                        help="the program to measure (default: the release build's)")
    parser.add_argument("--peer", default=ROOT / ".deps/peer", type=pathlib.Path,
                        help="virtual environment with Polygraphy 0.53.6, onnx and onnxruntime")
    parser.add_argument("--build-dir", default=ROOT / "build/release", type=pathlib.Path,
                        help="build folder whose libraries the case of the limits links")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller runs")
    parser.add_argument("--full", action="store_true",
                        help="also save 10,000 iterations: 28 GB of disk, minutes")
    parser.add_argument("--case", action="append", choices=CASES,
                        help="only this case; may be repeated")
    parser.add_argument("--rounds", type=int, help="runs of each command (default: 5; quick: 3)")
    parser.add_argument("--work-dir", type=pathlib.Path,
                        help="where models and results go (default: a temporary folder, removed)")
    parser.add_argument("--output", type=pathlib.Path, help="write the report to this file as well")
    return parser.parse_args()


def first_line(path, key):
    try:
        for line in pathlib.Path(path).read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith(key):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return "unknown"


def peer_versions(python):
    script = ("import importlib.metadata as m, platform; print(platform.python_version(), "
              "*(f'{p} {m.version(p)}' for p in ('polygraphy', 'onnxruntime', 'onnx', 'numpy')), "
              "sep=', ')")
    return subprocess.run([python, "-c", script], check=True, capture_output=True,
                          text=True).stdout.strip()


def source_state():
    """The checkout beside the bench; the program that is measured may be older."""
    state = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
                           capture_output=True, text=True, check=False)
    return state.stdout.strip() or "unknown"


def describe_machine(setting):
    memory = int(first_line("/proc/meminfo", "MemTotal").split()[0]) >> 20
    flags = first_line("/proc/cpuinfo", "flags").split()
    vectors = [flag for flag in ("avx2", "avx512f", "amx_tile") if flag in flags]
    backends = subprocess.run([setting.vernier, "backends"], env=setting.env, capture_output=True,
                              text=True, check=True).stdout
    found = ", ".join(" ".join(word for word in line.split() if not word.startswith("/"))
                      for line in backends.splitlines() if "not usable" not in line)
    return [f"Date: {datetime.date.today().isoformat()}",
            f"Processor: {first_line('/proc/cpuinfo', 'model name')}, {os.cpu_count()} cores, "
            f"{' '.join(vectors)}",
            f"Memory: {memory} GiB",
            f"System: {platform.freedesktop_os_release()['PRETTY_NAME']}, Linux "
            f"{platform.release()}",
            f"Load average at the start: {' '.join(f'{load:.2f}' for load in os.getloadavg())}",
            f"vernier: {found}; program's SHA-256 "
            f"{hashlib.sha256(pathlib.Path(setting.vernier).read_bytes()).hexdigest()[:16]}, "
            f"checkout {source_state()}",
            f"Peer: Python {peer_versions(setting.peer_python)}"]


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
    say("# Results of the bench\n")
    for line in describe_machine(setting):
        say(f"- {line}")
    say("\nMedians, with the smallest and the largest of the runs in brackets. A ratio is vernier's "
        "figure\nover Polygraphy's. \"All processes\" is the largest sum of resident sets seen, in "
        "which pages that\nprocesses share count once for each.\n")
    failed = False
    for name in names:
        try:
            say(as_markdown(CASES[name](setting)))
        except (measure.CommandFailed, subprocess.CalledProcessError) as error:
            failed = True
            say(f"## {name}: failed\n\n```\n{error}\n```\n")
    say(f"Load average at the end: {' '.join(f'{load:.2f}' for load in os.getloadavg())}")
    return failed


def main():
    options = parse_options()
    # Not resolved: the environment is found by the path of its python, which is a link.
    python = options.peer.absolute() / "bin/python"
    for path in (python, options.vernier):
        if not path.exists():
            sys.exit(f"{path} does not exist; see bench/README.md for the set-up")
    # Both tools use the ONNX Runtime of the peer's environment.
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
    if options.output:
        options.output.write_text("\n".join(report) + "\n", encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
