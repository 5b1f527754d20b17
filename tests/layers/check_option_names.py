#!/usr/bin/env python3
"""Checks that the options which src/cli asks for by name are rows of its tables.

Usage: check_option_names.py [ROOT]

ParsedArgs has nothing for a name that no row has, as for an option that was not given: a name that
is misspelt would be silent. Prints FILE:LINE of each and exits 1 if there is one.
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
               for path in sorted(root.glob("src/cli/**/*"))
               if path.suffix in (".cc", ".h") and not path.name.endswith("_test.cc")}
    rows = {name for text in sources.values() for name in ROW.findall(text)}
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
