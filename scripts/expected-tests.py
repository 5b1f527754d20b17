#!/usr/bin/env python3
"""Holds the tests of a build against the committed list: what is not there cannot be green.

Usage: expected-tests.py [--build FOLDER] [--configured | --update | --ran RESULTS.xml]

tests/expected-tests.txt has each suite (a test program, a Python module, an entry of CTest) with
the number of its tests. A suite that is missing or has another number fails; so does a test that is
skipped, and a suite of which fewer tests ran than the list has. tests/expected-skips.txt says what
may be missing, where and why.

  (nothing)      after the build
  --configured   after CMake, before anything is built: test programs are there, with any number
  --ran          after the tests: what ran, by CTest's JUnit file with all output of every test
  --update       write the list anew; what may be missing on this machine and is, stays
"""

import argparse
import fnmatch
import functools
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import python_test_count

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIST = ROOT / "tests" / "expected-tests.txt"
EXCUSES = ROOT / "tests" / "expected-skips.txt"
HEAD = """\
# The suites of tests and the number of tests in each, compared with every build by
# scripts/expected-tests.py, which writes this file: scripts/expected-tests.py --update
"""
UPDATE = "where that is meant: scripts/expected-tests.py --update, and commit the list"

# The closing line of a test program that skipped something; the one group is how many tests.
SKIPPED = (
    re.compile(r"^\[  SKIPPED \] (\d+) tests?, listed below", re.MULTILINE),
    re.compile(r"^(?:OK|FAILED) \(.*?skipped=(\d+)", re.MULTILINE),
    re.compile(r"^=+.*?\b(\d+) skipped\b.* in [\d.]+s.*=+$", re.MULTILINE),
)
# The same with how many ran.
RAN = (
    re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE),
    re.compile(r"^=+.*?\b(\d+) passed\b.* in [\d.]+s.*=+$", re.MULTILINE),
    re.compile(r"^(\d+) passed, \d+ failed$", re.MULTILINE),
)


def lines_of(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line


def committed():
    return {name: int(number) for name, number in map(str.split, lines_of(LIST))}


def distribution_has(package, version=""):
    """Whether the distribution has a package, in a version that begins so. Where apt cannot say, it
    counts as there: nothing is excused by not knowing."""
    if not shutil.which("apt-cache"):
        return False
    policy = subprocess.run(["apt-cache", "policy", package], capture_output=True, text=True,
                            check=False)
    found = re.search(r"^ *Candidate: (.*)", policy.stdout, re.MULTILINE)
    if found and found[1] != "(none)":
        return found[1].startswith(version)
    return policy.returncode != 0


def holds(condition):
    """Whether a line of tests/expected-skips.txt counts on this machine; the file explains them."""
    kind, _, value = condition.partition(":")
    if kind == "always":
        return True
    if kind == "no-package":
        return not distribution_has(*value.split("="))
    if kind == "no-file":
        return not any(glob.glob(path) for path in value.split(","))
    if kind == "file":
        return bool(glob.glob(value))
    sys.exit(f"expected-tests: {EXCUSES.name}: unknown condition '{condition}', expected always, "
             "no-package:NAME[=VERSION], no-file:PATH[,PATH...] or file:PATH")


def excuses():
    """Patterns of suites that may be missing or skipped here, each with the reason."""
    found = []
    for line in lines_of(EXCUSES):
        words = line.split(None, 2)
        if len(words) < 3:
            sys.exit(f"expected-tests: {EXCUSES.name}: '{line}': expected SUITE CONDITION REASON")
        if holds(words[1]):
            found.append((words[0], words[2]))
    return found


def excuse_of(name, excused):
    return next((reason for pattern, reason in excused if fnmatch.fnmatchcase(name, pattern)), None)


def property_of(test, name):
    properties = test.get("properties", ())
    return next((each["value"] for each in properties if each["name"] == name), None)


def python_path(test):
    words = property_of(test, "ENVIRONMENT") or ()
    paths = next((word for word in words if word.startswith("PYTHONPATH=")), "=")
    return tuple(pathlib.Path(each) for each in paths.partition("=")[2].split(":") if each)


def suite_of(test):
    """The suite that an entry of CTest belongs to: cases of GoogleTest to their program's."""
    command = test.get("command", [""])
    if any(word.startswith("--gtest_filter=") for word in command):
        return pathlib.Path(command[0]).name
    return test["name"]


@functools.cache
def entries(build):
    """What CTest lists."""
    listing = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"],
                             capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        sys.exit(f"expected-tests: ctest cannot list the tests of {build}: "
                 f"{listing.stderr.strip()}")
    return json.loads(listing.stdout)["tests"]


def not_built(build):
    """Sentences on programs and plug-ins of the build that tests start or name."""
    folders = tuple(str(build.resolve() / each) + "/" for each in ("bin", "lib"))
    users = {}
    for test in entries(build):
        words = [*test.get("command", ()), *(property_of(test, "ENVIRONMENT") or ())]
        # Words such as VERNIER=/path/to/program.
        paths = {word for each in words for word in (each, each.partition("=")[2])}
        for path in paths:
            if path.startswith(folders) and not os.path.exists(path):
                users.setdefault(path, []).append(test["name"])
    return [f"{path} is not built, which {tests(len(names))} would use, {min(names)} for one"
            for path, names in sorted(users.items())]


def there(build):
    """The suites of a build folder, with their numbers; None for programs that are not built."""
    suites = {}
    for test in entries(build):
        if test["name"].endswith("_NOT_BUILT"):
            suites[test["name"].removesuffix("_NOT_BUILT")] = None
            continue
        if property_of(test, "DISABLED"):
            continue
        name = suite_of(test)
        number = 1
        if name == test["name"]:
            folder = pathlib.Path(property_of(test, "WORKING_DIRECTORY") or build)
            number = python_test_count.tests_of(test.get("command", []), folder, python_path(test))
        suites[name] = suites.get(name, 0) + number
    return suites


def tests(number):
    return f"{number} test{'' if number == 1 else 's'}"


def differences(expected, found, excused, configured):
    """Sentences on suites that are not as the list has them; prints what is excused."""
    problems = []
    for name in sorted(expected | found.keys()):
        wanted, number = expected.get(name), found.get(name, 0)
        if number is None:  # not built
            if wanted is None:
                problems.append(f"{name}: not in the list")
            elif not configured:
                problems.append(f"{name}: not built, {tests(wanted)} expected")
        elif wanted is None:
            problems.append(f"{name}: {tests(number)}, and not in the list")
        elif number > wanted:
            problems.append(f"{name}: {tests(number)}, the list has {wanted}")
        elif number < wanted:
            reason = excuse_of(name, excused)
            what = f"{number} of {tests(wanted)}" if number else f"{tests(wanted)}, missing here"
            if reason:
                print(f"left out: {name}: {what}: {reason}")
            else:
                problems.append(f"{name}: {what}")
        if number == 0 and name in found:
            problems.append(f"{name}: has no tests")
    return problems


def count(patterns, output):
    return sum(int(number) for pattern in patterns for number in pattern.findall(output))


def of_results(path, expected, programs):
    """For each suite how many tests ran, and how many of them were skipped."""
    ran, skipped = {}, {}
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        output = case.findtext("system-out") or ""
        name = case.get("name")
        program = name.partition(".")[0]
        suite = name if name in expected or program not in programs else program
        skips = count(SKIPPED, output)
        # CTest itself skips by a test's exit code, and leaves disabled tests out.
        if skips == 0 and case.get("status") not in ("run", "fail"):
            skips = 1
        counted = suite == name and any(pattern.search(output) for pattern in RAN)
        number = count(RAN, output) if counted else int(suite != name or expected.get(name, 1) == 1)
        # A list that ended early says nothing: it has failed, and is CTest's to report.
        if number == 0 and case.get("status") == "fail":
            number = expected.get(name, 1)
        ran[suite] = ran.get(suite, 0) + number
        skipped[suite] = skipped.get(suite, 0) + skips
    return ran, skipped


def after_the_run(path, expected, found, excused):
    programs = {name for name in expected if "." not in name}
    try:
        ran, skipped = of_results(path, expected, programs)
    except (OSError, ElementTree.ParseError) as error:
        return [f"no test results: {error}"]
    problems = []
    for name, number in sorted(skipped.items()):
        reason = excuse_of(name, excused)
        if number and reason:
            print(f"skipped: {name} ({number}): {reason}")
        elif number:
            problems.append(f"{name}: {number} skipped")
    for name, wanted in sorted(expected.items()):
        number = ran.get(name, 0)
        if number < min(wanted, found.get(name) or wanted) and not excuse_of(name, excused):
            problems.append(f"{name}: {number} of {tests(wanted)} ran")
    total = sum(ran.values()) - sum(skipped.values())
    print(f"{tests(total)} of {len(ran)} suites ran, {sum(skipped.values())} were skipped")
    return problems


def update(found, excused):
    if unbuilt := sorted(name for name, number in found.items() if number is None):
        sys.exit(f"expected-tests: build first: {', '.join(unbuilt)}")
    old = committed() if LIST.exists() else {}
    kept = {name: number for name, number in old.items()
            if number > found.get(name, 0) and excuse_of(name, excused)}
    lines = [f"{name} {number}\n" for name, number in sorted({**found, **kept}.items())]
    LIST.write_text(HEAD + "".join(lines), encoding="utf-8")
    print(f"{len(lines)} suites, {tests(sum({**found, **kept}.values()))}")
    for name in kept:
        print(f"kept: {name}: {excuse_of(name, excused)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--configured", action="store_true", help="before anything is built")
    how.add_argument("--ran", type=pathlib.Path, metavar="RESULTS.xml", help="after the tests")
    how.add_argument("--update", action="store_true", help="write the list")
    options = parser.parse_args()
    found, excused = there(options.build), excuses()
    if options.update:
        return update(found, excused)
    expected = committed()
    if options.ran:
        problems = after_the_run(options.ran, expected, found, excused)
    else:
        problems = differences(expected, found, excused, options.configured)
        problems += [] if options.configured else not_built(options.build)
        print(f"{len(found)} suites, {len(expected)} expected")
    for problem in problems:
        print(f"expected-tests: {problem}", file=sys.stderr)
    if problems and not options.ran:
        print(f"expected-tests: {UPDATE}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
