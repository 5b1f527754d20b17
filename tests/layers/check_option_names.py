#!/usr/bin/env python3
"""Checks that the options which src/options and src/cli ask for by name are rows.

Usage: check_option_names.py [ROOT]

ParsedArgs has nothing for a name that no row has, as for an option that was not given: a name that
is misspelt would be silent. Prints FILE:LINE of each and exits 1 if there is one. Rows stand in
src/, or in lists that the program and a plug-in share: backends/*/options.def.
"""

import re
import sys
from pathlib import Path

ROW = re.compile(r'\.dest = "(\w+)"')
ASKED = re.compile(
    r'\b(?:Has|Value|List|Occurrences|Int|Float|Flag|IsBare|Count|FindDest)\(\s*"(\w+)"\)'
    r'|\b(?:TextOf|ListOf|AllWordsOf)\([\w.]+,\s*"(\w+)"\)'
    r'|\bdest == "(\w+)"')
# for (const std::string_view dest : {"seed", "val_range"})
LISTED = re.compile(r"\bdest : \{([^}]*)\}")
WORD = re.compile(r'"(\w+)"')
# VERNIER_TRT_FLAG(Config, fp16, ...
LISTED_ROW = re.compile(r"^VERNIER_\w+\(\w+, (\w+),", re.MULTILINE)


def names_in(text):
    """The names that a source asks for, each with where it stands."""
    for match in ASKED.finditer(text):
        yield match.start(), next(filter(None, match.groups()))
    for match in LISTED.finditer(text):
        for word in WORD.finditer(match.group(1)):
            yield match.start(1) + word.start(), word.group(1)


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2])
    sources = {path: path.read_text(encoding="utf-8")
               for folder in ("options", "cli") for path in sorted(root.glob(f"src/{folder}/**/*"))
               if path.suffix in (".cc", ".h") and not path.name.endswith("_test.cc")}
    rows = {name for text in sources.values() for name in ROW.findall(text)}
    for path in root.glob("backends/*/options.def"):
        rows |= set(LISTED_ROW.findall(path.read_text(encoding="utf-8")))
    asked = unknown = 0
    for path, text in sources.items():
        for position, name in names_in(text):
            asked += 1
            if name not in rows:
                unknown += 1
                line = text.count("\n", 0, position) + 1
                print(f"{path.relative_to(root)}:{line}: no option has the dest '{name}'")
    print(f"{len(rows)} options, asked for in {asked} places, {unknown} unknown")
    return 1 if unknown or not rows or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
