#!/usr/bin/env python3
"""Compare what vernier prints, line by line, with transcripts recorded from Polygraphy.

    check_golden.py --vernier PATH --data DIR       DIR holds models/ and fixtures/
    check_golden.py --update --peer PYTHON --data DIR

The folder DIR is the work folder of run_differential.py; with --peer it is made if need be.
The program is called as `polygraphy`. What follows the peer's last line is ours and not compared.

A transcript may end with a section `differs`: why, and then pairs of lines, `-` as the peer printed
it and `+` as ours reads instead. Both must occur.
"""

import argparse
import difflib
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "differential"))

import peer_log  # noqa: E402
from case_runner import Case, Workshop  # noqa: E402

SECTIONS = ("about", "command", "exit", "stdout", "stderr")
OPTIONAL = ("differs",)

# Python modules that Polygraphy reports having loaded: not a program's words about its work.
NOT_COMPARED = re.compile(r"\[V\] Loaded (Module|extension modules)")


def parse(text):
    """Sections `--- name` of a transcript file; `command` and `exit` are one line each."""
    parts = re.split(r"^--- (\w+)\n", text, flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2]))
    missing = [name for name in SECTIONS if name not in found]
    if missing:
        raise ValueError(f"a transcript lacks {missing}")
    return {name: text.rstrip("\n") for name, text in found.items()}


def write(path, sections):
    names = [name for name in SECTIONS + OPTIONAL if name in sections]
    path.write_text("".join(f"--- {name}\n{sections[name]}\n" if sections[name]
                            else f"--- {name}\n" for name in names))


def with_our_lines(sections):
    """What ours has to print: the recorded lines, but for those listed as different."""
    lines = sections["stdout"].splitlines()
    changes = [line for line in sections.get("differs", "").splitlines() if line[:1] in ("-", "+")]
    for theirs, ours in zip(changes[::2], changes[1::2], strict=True):
        if theirs[0] != "-" or ours[0] != "+" or theirs[1:] not in lines:
            raise ValueError(f"no such line to differ from: {theirs}")
        lines[lines.index(theirs[1:])] = ours[1:]
    return {**sections, "stdout": "\n".join(lines)}


def run(shop, program, sections):
    case = Case(name="golden", run=sections["command"].removeprefix("polygraphy "))
    with tempfile.TemporaryDirectory() as parent:
        folder = pathlib.Path(parent).resolve() / "run"
        shop.populate(folder, case)
        result = shop.execute(program, case.run[0], folder, {})
        paths = shop.paths_of(folder)
    stdout = [line for line in peer_log.until_final(peer_log.normalise(result["stdout"], paths))
              if not NOT_COMPARED.match(line)]
    stderr = []
    for entry in peer_log.entries(peer_log.normalise(result["stderr"], paths)):
        stderr += entry.lines
    return {"exit": str(result["exit"]), "stdout": "\n".join(stdout), "stderr": "\n".join(stderr)}


def check(path, printed):
    wanted = with_our_lines(parse(path.read_text()))
    problems = []
    for name in ("exit", "stdout", "stderr"):
        if wanted[name] != printed[name]:
            problems += difflib.unified_diff(wanted[name].splitlines(), printed[name].splitlines(),
                                             f"{path.name} {name}", "vernier", lineterm="", n=2)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--vernier")
    parser.add_argument("--peer", help="a Python that has polygraphy, onnx and numpy")
    parser.add_argument("--data", required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--update", action="store_true", help="record anew, from the peer")
    options = parser.parse_args()
    if options.update and not options.peer:
        parser.error("--update records from the peer: give --peer")

    shop = Workshop(options.data, options.peer or sys.executable)
    if options.peer:
        shop.make_data(HERE.parent, options.peer, light=False)
    link = shop.work / "golden-bin" / "polygraphy"
    if not options.update:
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(pathlib.Path(options.vernier).resolve())
    program = shop.peer if options.update else [str(link)]

    failed = 0
    paths = [p for p in sorted(HERE.glob("*.test")) if re.search(options.filter, p.stem)]
    for path in paths:
        sections = parse(path.read_text())
        printed = run(shop, program, sections)
        if options.update:
            write(path, {**sections, **printed})
            continue
        problems = check(path, printed)
        print(f"{'FAIL' if problems else 'ok':6}{path.stem:32}{sections['command']}")
        for line in problems:
            print(f"      {line}")
        failed += bool(problems)
    print(f"{len(paths) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
