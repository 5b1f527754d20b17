#!/usr/bin/env python3
"""Counts the tests of ctest's JUnit file. Usage: test-counts.py TITLE RESULTS.xml

Prints a row of a Markdown table: title, tests, passed, skipped, failed with their names. Ends with 1
when one failed, or when there is none.
"""

import sys
import xml.etree.ElementTree as ElementTree

from command_line import begin


def main():
    begin(__doc__)
    if len(sys.argv) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    title, path = sys.argv[1:]
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        print(f"test-counts: no test results: {error}", file=sys.stderr)
        return 1
    failed = sorted(case.get("name") for case in cases if case.get("status") == "fail")
    passed = sum(case.get("status") == "run" for case in cases)
    names = f": {', '.join(f'`{name}`' for name in failed)}" if failed else ""
    print(f"| {title} | {len(cases)} | {passed} | {len(cases) - passed - len(failed)} | "
          f"{len(failed)}{names} |")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
