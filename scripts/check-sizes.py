#!/usr/bin/env python3
"""Holds sources to the project's sizes: 400 lines a file, 40 lines a function, 100 columns.

Usage: check-sizes.py [--update]

What was larger when the limits came is in tests/size-budgets.txt with its size: it may shrink, and
not grow. --update writes these budgets anew, smaller ones only; a new excess is mended by hand.
"""

import argparse
import ast
import pathlib
import re
import subprocess
import sys

from function_lines import function_lines

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUDGETS = ROOT / "tests" / "size-budgets.txt"
HEAD = """\
# Sources beyond the limits, and how far they may be: RULE SIZE PATH. Written by
# scripts/check-sizes.py --update, which only takes away.
"""
LIMITS = {"lines": 400, "function": 40, "functions": 1, "columns": 0}
COLUMNS = 100
CPP = (".cc", ".h", ".hpp", ".c", ".cu", ".cuh")
KINDS = (*CPP, ".def", ".py", ".pyi", ".sh", ".cmake", ".js")

SHELL_OPENING = re.compile(r"^\w+\(\) [{(]$")


def shell_functions(lines):
    start = None
    for number, line in enumerate(lines):
        if start is None and SHELL_OPENING.match(line):
            start = number
        elif start is not None and line.startswith(("}", ")")):
            yield number - start + 1
            start = None


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.end_lineno - node.lineno + 1


def measured(path):
    """The sizes of a file by rule: lines, its longest function, how many are too long, columns."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    functions = ()
    if path.suffix in CPP:
        functions = function_lines(text)
    elif path.suffix == ".py":
        functions = python_functions(text)
    elif path.suffix == ".sh" or path.name == "run":
        functions = shell_functions(lines)
    lengths = list(functions)
    return {"lines": len(lines), "function": max(lengths, default=0),
            "functions": sum(length > LIMITS["function"] for length in lengths),
            "columns": sum(len(line) > COLUMNS for line in lines)}


def sources():
    listed = subprocess.run([ROOT / "scripts" / "source-files.sh"], cwd=ROOT, capture_output=True,
                            text=True, check=True)
    for name in listed.stdout.splitlines():
        path = ROOT / name
        known = path.suffix in KINDS or path.name == "CMakeLists.txt" or name == ".ci/run"
        if known and path.is_file():
            yield name, path


def excess():
    return {(rule, name): size for name, path in sources() for rule, size in measured(path).items()
            if size > LIMITS[rule]}


def budgets():
    if not BUDGETS.exists():
        return None
    rows = (line.split(None, 2) for line in BUDGETS.read_text(encoding="utf-8").splitlines()
            if line and not line.startswith("#"))
    return {(rule, name): int(size) for rule, size, name in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write smaller budgets")
    options = parser.parse_args()
    found, allowed = excess(), budgets()
    if options.update:
        kept = {key: size if allowed is None else min(size, allowed[key])
                for key, size in found.items() if allowed is None or key in allowed}
        BUDGETS.write_text(HEAD + "".join(f"{rule} {size} {name}\n" for (rule, name), size
                                          in sorted(kept.items())), encoding="utf-8")
        allowed = kept
    what = {"lines": "{} lines, at most {} are allowed",
            "function": "a function of {} lines, at most {} are allowed",
            "functions": "{} functions of more than 40 lines, at most {} are allowed",
            "columns": "{} lines of more than 100 columns, at most {} are allowed"}
    problems = []
    for (rule, name), size in sorted(found.items()):
        most = (allowed or {}).get((rule, name), LIMITS[rule])
        if size > most:
            problems.append(f"{name}: " + what[rule].format(size, most))
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
