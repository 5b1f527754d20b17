#!/usr/bin/env python3
"""Removes every plug-in and every suite in turn, and shows that scripts/test.sh notices.

Usage: try-removals.py [--build FOLDER] [--ran RESULTS.xml]

A plug-in is switched off in a configuration of its own, of which nothing is built. A suite is left
out of what CTest lists, and with --ran out of CTest's results. Suites that
tests/expected-skips.txt lets this machine leave out are named. Fails if a removal stays unnoticed.
"""

import argparse
import contextlib
import importlib.util
import io
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
PLUGINS = ("IDENTITY", "PLUGINREF", "ONNXRUNTIME", "OPENVINO", "TENSORFLOW", "TENSORRT",
           "TORCH")


def gate():
    """scripts/expected-tests.py as a module."""
    path = ROOT / "scripts" / "expected-tests.py"
    spec = importlib.util.spec_from_file_location("expected_tests", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def quietly(function, *arguments):
    with contextlib.redirect_stdout(io.StringIO()):
        return function(*arguments)


def notices_plugin(build, plugin):
    """Whether the stage behind CMake fails without a plug-in."""
    # A copy of the configuration, so that it differs in nothing else.
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    setting = r"^((?:VERNIER|TENSORRT|CMAKE_BUILD)_\w+:(?!INTERNAL|FILEPATH|STATIC).*)$"
    settings = re.findall(setting, cache, re.MULTILINE)
    kept = [f"-D{each}" for each in settings if "-NOTFOUND" not in each]
    with tempfile.TemporaryDirectory(prefix="vernier-removal-") as folder:
        configured = subprocess.run(
            ["cmake", "--preset", "release", "-B", folder, *kept,
             f"-DVERNIER_BACKEND_{plugin}=OFF"],
            cwd=ROOT, capture_output=True, text=True, check=False)
        # Some tests name a plug-in, and cannot be configured without it.
        if configured.returncode != 0:
            if f"vernier_backend_{plugin.lower()}" in configured.stderr:
                return True
            sys.exit(f"try-removals: {configured.stderr.strip()}")
        checked = subprocess.run(
            [sys.executable, ROOT / "scripts" / "expected-tests.py", "--configured", "--build",
             folder], capture_output=True, text=True, check=False)
    # By its name: another difference of this build would fail as well.
    return checked.returncode != 0 and f"plugin.{plugin.lower()}" in checked.stderr


def results_without(results, suite, programs, folder):
    """CTest's results without the tests of a suite."""
    tree = ElementTree.parse(results)
    for parent in tree.getroot().iter():
        for case in [each for each in parent if each.tag == "testcase"]:
            name = case.get("name")
            program = name.partition(".")[0]
            if suite == name or (program == suite and program in programs):
                parent.remove(case)
    path = pathlib.Path(folder) / "results.xml"
    tree.write(path)
    return path


def unnoticed_suites(build, results):
    tests = gate()
    expected, found, excused = tests.committed(), tests.there(build), tests.excuses()
    programs = {name for name in expected if "." not in name}
    before = set(quietly(tests.differences, expected, found, excused, False))
    ran_before = set()
    if results:
        ran_before = set(quietly(tests.after_the_run, results, expected, found, excused))
    missed = []
    with tempfile.TemporaryDirectory(prefix="vernier-removal-") as folder:
        for suite in sorted(expected):
            if reason := tests.excuse_of(suite, excused):
                print(f"may be missing here: {suite}: {reason}")
                continue
            less = {name: number for name, number in found.items() if name != suite}
            if not set(quietly(tests.differences, expected, less, excused, False)) - before:
                missed.append(f"suite {suite}")
            if results:
                path = results_without(results, suite, programs, folder)
                problems = quietly(tests.after_the_run, path, expected, found, excused)
                if not set(problems) - ran_before:
                    missed.append(f"results of {suite}")
    print(f"{len(expected)} suites removed in turn")
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--ran", type=pathlib.Path, metavar="RESULTS.xml")
    options = parser.parse_args()
    missed = unnoticed_suites(options.build, options.ran)
    for plugin in PLUGINS:
        noticed = notices_plugin(options.build, plugin)
        print(f"without the plug-in of {plugin}: {'noticed' if noticed else 'NOT noticed'}")
        if not noticed:
            missed.append(f"plug-in {plugin}")
    for each in missed:
        print(f"try-removals: no test fails without this: {each}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
