#!/usr/bin/env python3
"""Compares the number of skipped tests with the committed one.

Usage: check-skips.py RESULTS.xml EXPECTED.txt

RESULTS.xml is ctest's JUnit file with the whole output of every test. A test program may hold many
tests and skip some of them: those are counted from what GoogleTest, unittest and pytest print.
EXPECTED.txt holds one number, and comments after '#'.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree

# The closing line of a test program that skipped something; the one group is how many tests.
SUMMARIES = (
    re.compile(r"^\[  SKIPPED \] (\d+) tests?, listed below", re.MULTILINE),
    re.compile(r"^(?:OK|FAILED) \(.*?skipped=(\d+)", re.MULTILINE),
    re.compile(r"^=+.*?\b(\d+) skipped\b.* in [\d.]+s.*=+$", re.MULTILINE),
)


def skips_within(output):
    return sum(int(number) for summary in SUMMARIES for number in summary.findall(output))


def count(path):
    """Names of the tests with skips, each with how many."""
    skips = {}
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        number = skips_within(case.findtext("system-out") or "")
        # ctest itself skips by a test's exit code, and leaves disabled tests out.
        if number == 0 and case.get("status") not in ("run", "fail"):
            number = 1
        if number:
            skips[case.get("name")] = number
    return skips


def main():
    if len(sys.argv) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    results, expected_path = sys.argv[1:]
    with open(expected_path, encoding="utf-8") as file:
        expected = int(re.sub(r"#.*", "", file.read()))
    try:
        skips = count(results)
    except (OSError, ElementTree.ParseError) as error:
        print(f"check-skips: no test results: {error}", file=sys.stderr)
        return 1
    for name, number in skips.items():
        print(f"skipped: {name}" + (f" ({number})" if number > 1 else ""))
    total = sum(skips.values())
    print(f"{total} skipped, {expected} expected")
    return 0 if total == expected else 1


if __name__ == "__main__":
    sys.exit(main())
