#!/usr/bin/env python3
"""Makes the wheel of a build folder, installs it into a new environment and runs the tests there.

Usage: run_in_fresh_environment.py --source ROOT --build FOLDER --tools PYTHON --wheels FOLDER
           --work FOLDER [--peer PYTHON] [--runtimes FOLDER] [PYTEST ARGUMENTS]

--tools is a Python with scikit-build-core, --wheels holds the files of everything that the package
and its tests need: nothing is downloaded.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import venv
import zipfile


def run(words, **settings):
    done = subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **settings)
    if done.returncode != 0:
        sys.exit(f"'{' '.join(map(str, words))}' ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def make_wheel(asked):
    folder = asked.work / "dist"
    run([asked.tools, "-m", "pip", "wheel", asked.source, "--no-build-isolation", "--no-deps",
         "--wheel-dir", folder, "--config-settings", f"build-dir={asked.work / 'wheel'}",
         "--config-settings", f"cmake.define.VERNIER_PREBUILT={asked.build}"], cwd=asked.work)
    wheel, = folder.iterdir()
    # One file for every Python from 3.10 on.
    if not re.fullmatch(r"vernier-[\d.]+-cp310-abi3-linux_\w+\.whl", wheel.name):
        sys.exit(f"the wheel is called {wheel.name}")
    missing = wanted_files(asked) - {re.sub(r"^vernier-[^/]*\.data/data/", "", name)
                                     for name in zipfile.ZipFile(wheel).namelist()}
    if missing:
        sys.exit(f"the wheel lacks {', '.join(sorted(missing))}")
    return wheel


def wanted_files(asked):
    """What has to be in the wheel, whoever adds a file: packages, workers, plug-ins and the manual."""
    def below(folder, place, pattern):
        return {f"{place}/{path.relative_to(folder)}" for path in folder.rglob(pattern)
                if path.is_file() and "__pycache__" not in path.parts}

    # Those of vendors' libraries are made for one build of them.
    plugins = {name for name in below(asked.build / "lib/vernier/backends",
                                      "vernier/_program/lib/vernier/backends", "*.so")
               if not re.search("tensorrt|torch|_fake|_fault", name)}
    return ({"vernier/_native.abi3.so", "vernier/_program/bin/vernier",
             "share/man/man1/vernier-run.1"} | plugins
            | below(asked.source / "python/vernier", "vernier", "*")
            | below(asked.source / "libexec/vernier", "vernier/_program/libexec/vernier", "*")
            | below(asked.build / "share/man/man1", "share/man/man1", "*.1"))


def refuse_other_builds(asked):
    """No wheel is made of a build that lacks the Python module, or of what is no build at all."""
    for name, option in (("without-module", "-DVERNIER_PYTHON=ON"),
                         ("no-build", "no build folder")):
        folder = asked.work / name
        folder.mkdir()
        if name == "without-module":
            (folder / "CMakeCache.txt").touch()
        done = subprocess.run(
            [asked.tools, "-m", "pip", "wheel", asked.source, "--no-build-isolation", "--no-deps",
             "--wheel-dir", folder, "--config-settings", f"build-dir={folder / 'wheel'}",
             "--config-settings", f"cmake.define.VERNIER_PREBUILT={folder}"],
            cwd=asked.work, text=True, capture_output=True, check=False)
        said = " ".join((done.stdout + done.stderr).split())  # CMake breaks lines
        if done.returncode == 0 or option not in said:
            sys.exit(f"a wheel of '{folder}' was not refused with '{option}':\n{said}")


def new_environment(asked, wheel):
    folder = asked.work / "environment"
    venv.create(folder, with_pip=True, symlinks=True)
    python = folder / "bin" / "python"
    run([python, "-m", "pip", "install", "--no-index", "--find-links", asked.wheels, wheel,
         "pytest", "ml_dtypes", "mypy"])
    run([python, "-m", "pip", "check"])
    return python


def main():
    parser = argparse.ArgumentParser()
    for name in ("source", "build", "tools", "wheels", "work"):
        parser.add_argument("--" + name, required=True, type=pathlib.Path)
    parser.add_argument("--peer", default="")
    parser.add_argument("--runtimes", default="")
    parser.add_argument("--driver", default="")  # the folder of tests/fake_cuda
    asked, more = parser.parse_known_args()
    shutil.rmtree(asked.work, ignore_errors=True)
    asked.work.mkdir(parents=True)
    refuse_other_builds(asked)
    python = new_environment(asked, make_wheel(asked))
    settings = {name: value for name, value in os.environ.items()
                if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "VERNIER_BACKEND_PATH")}
    settings.update(VERNIER_PEER=asked.peer, ONNXRUNTIME_ROOT=asked.runtimes,
                    VERNIER_FAKE_CUDA_DIR=asked.driver,
                    PYTHONDONTWRITEBYTECODE="1")
    tests = asked.source / "python" / "tests"
    done = subprocess.run([python, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir",
                           asked.work, tests, *more], env=settings, cwd=asked.work, check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
