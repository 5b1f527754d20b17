#!/usr/bin/env python3
"""Checks that the options which src/options and src/cli ask for by name are rows, and that the
lists of TensorRT's options agree.

Usage: check_option_names.py [ROOT]

ParsedArgs has nothing for a name that no row has, as for an option that was not given: a name that
is misspelt would be silent. Prints FILE:LINE of each and exits 1 if there is one.

TensorRT's options are named in the rows, in the plug-in, in the worker's configuration, in the
arguments of CreateConfig and in scripts that --gen-script writes. The last three must have the same
names, which the other two must know.
"""

import ast
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


PLUGIN = ("backends/tensorrt/option_list.cc", "backends/tensorrt/builder_flags.h")
WORKER = "libexec/vernier/runners/trt_config.py"
ARGUMENTS = "libexec/vernier/shim/polygraphy/backend/trt/networks.py"
SCRIPTS = "src/cli/script/python_templates.cc"
# What the program and its plug-in do for scripts, and what the worker reads by other means.
NOT_IN_SCRIPTS, NOT_IN_ARGUMENTS = {"load_timing_cache"}, {"engine_capability"}
READ_BY_HAND = {"allow_gpu_fallback", "precision_constraints", "preview_features",
                "profiling_verbosity", "quantization_flags", "tactic_sources", "use_dla"}


def lists_of(path, *names):
    """The option names in the lists of a Python source; of pairs the first."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and node.targets[0].id in names:
            found |= {entry.value for entry in ast.walk(node.value)
                      if isinstance(entry, ast.Constant) and str(entry.value).islower()}
    return found


def engine_faults(root, rows):
    """A sentence for each name of TensorRT's options that one list has and another lacks."""
    plugin = set()
    for path in PLUGIN:
        plugin |= set(WORD.findall((root / path).read_text(encoding="utf-8")))
    arrays = re.findall(r"string_view k(?:First|Second|Third|Last)\[\] = \{([^}]*)\}",
                        (root / SCRIPTS).read_text(encoding="utf-8"))
    scripts = set(WORD.findall(" ".join(arrays)))
    worker = lists_of(root / WORKER, "FLAGS", "NUMBERS", "WORDS")
    arguments = lists_of(root / ARGUMENTS, "SWITCHES", "VALUES")
    if not worker or not arguments or len(arrays) != 4:
        yield f"the lists of {WORKER}, {ARGUMENTS} or {SCRIPTS} were not found"
    for name in sorted((worker | arguments | scripts) - rows):
        yield f"TensorRT's option '{name}' has no row"
    for name in sorted((worker | arguments | scripts) - plugin):
        yield f"TensorRT's option '{name}' is not in {' or '.join(PLUGIN)}"
    for path, has, wanted in ((ARGUMENTS, arguments, scripts - NOT_IN_ARGUMENTS),
                              (SCRIPTS, scripts, arguments - NOT_IN_SCRIPTS),
                              (WORKER, worker, scripts - READ_BY_HAND)):
        for name in sorted(wanted - has):
            yield f"{path}: TensorRT's option '{name}' is missing"


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
    asked = unknown = 0
    for path, text in sources.items():
        for position, name in names_in(text):
            asked += 1
            if name not in rows:
                unknown += 1
                line = text.count("\n", 0, position) + 1
                print(f"{path.relative_to(root)}:{line}: no option has the dest '{name}'")
    for fault in engine_faults(root, rows):
        unknown += 1
        print(fault)
    print(f"{len(rows)} options, asked for in {asked} places, {unknown} unknown")
    return 1 if unknown or not rows or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
