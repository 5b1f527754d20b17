#!/usr/bin/env python3
"""Checks that src/ does not ask a backend for its name: what a backend can do it says itself,
across the C boundary and in its abilities.def (docs/architecture.md, "Adding a built-in backend").

Usage: check_backend_names.py [--quiet] [ROOT]

A file of src/ may have the name of a backend, or the word of its flag, between quotes only where
ALLOWED has it, with the reason. Unit tests and comments may name what they like.
The options that an abilities.def says its plug-in has are those that the plug-in lists.
Prints FILE:LINE of every violation, and every row of ALLOWED that no file needs, and exits 1 if
there is one. --quiet prints nothing else.
"""

import re
import sys
from pathlib import Path

# Words of flags, and names of runners that are no folder of backends/.
MORE_NAMES = ("onnxrt", "trt", "tf", "onnxref", "keras", "tf2onnx")

# Each file or folder, and why names stand there.
ALLOWED = {
    "src/backend/known/python_program.cc": "the runners of libexec/vernier/runners, one row each",
    "src/run/runner/runner_kinds.cc": "Polygraphy's words of flags and names of runners",
    "src/run/runner/resolve_runner.cc": "Keras models of --tf go to their runner in Python",
    "src/run/runner/model_conversion.cc": "the runner in Python that converts TensorFlow's models",
    "src/options/rows": "flags and their words, which are Polygraphy's",
    "src/options/bind/bind_runners.cc": "--trt's, --tf's and --torch's own flags",
    "src/options/bind/runner_words.cc":
        "the way back from what bind_runners.cc and resolve_runner.cc do by name",
    "src/options/bind/bind_run.cc": "--save-engine alone: an engine is TensorRT's",
    "src/doctor/known_parts.cc": "what pip installs, and help texts",
    "src/session/library/library_debug.cc":
        "node errors are measured under ONNX Runtime by definition",
    "src/inference/constant_worker.cc": "ONNX Runtime computes constants by definition",
    "src/blame/sides/foreign_reference.cc": "models of TensorFlow and PyTorch in their own formats",
    "src/debug/engine_precisions.h": "debug precision marks layers of TensorRT's engines",
    "src/cli/script": "scripts for Polygraphy's API, which has these runners",
    "src/cli/commands/backends.cc": "the row tensorrt_python of the list",
    "src/cli/commands/bind_inference.cc": "one inference of ONNX Runtime, by definition",
    "src/cli/commands/debug_precision.cc": "debug precision is about TensorRT's engines",
    "src/cli/commands/documentation.cc": "the name of a page: TensorRT's options",
    "src/cli/commands/inspect_model.cc": "engines are TensorRT's, and so are flags about them",
    "src/lint/finding.h": "Polygraphy's linter says so of what a runtime finds",
    "src/model/onnx/model_type.cc": "words of --model-type, which are Polygraphy's",
    "src/run/feeds/torch_draws.cc": "the module of Python that draws random numbers",
    "src/io/polygraphy/polygraphy_type.cc": "the module of a class in Polygraphy's JSON",
}


def names_of_backends(root):
    folders = {path.parent.name for path in (root / "backends").glob("*/abilities.def")}
    return sorted(folders | set(MORE_NAMES))


# Meanings of options that are asked for before a plug-in is loaded.
MEANINGS = re.compile(r"\bVN_MEANS_(?:LIBRARY|RESET_METHOD)\b")


def differing_options(root):
    """Where abilities.def and the list of a plug-in's options differ, a line for each."""
    for declared in sorted((root / "backends").glob("*/abilities.def")):
        said = set(MEANINGS.findall(declared.read_text(encoding="utf-8")))
        listed = {meaning for path in declared.parent.glob("*.cc")
                  for meaning in MEANINGS.findall(path.read_text(encoding="utf-8"))}
        for meaning in sorted(said ^ listed):
            where = "the plug-in lists no such option" if meaning in said else "it is not there"
            yield f"{declared.relative_to(root)}: {meaning}: {where}"


def without_comments(text):
    """The same lines; strings stay as they are."""
    token = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
    return token.sub(lambda match: match.group() if match.group().startswith('"') else
                     "\n" * match.group().count("\n"), text)


def reason(name):
    """The row of ALLOWED for a file; None: there is none."""
    return next((row for row in ALLOWED if name == row or name.startswith(row + "/")), None)


def main():
    arguments = [word for word in sys.argv[1:] if word != "--quiet"]
    root = Path(arguments[0] if arguments else Path(__file__).parents[2])
    names = names_of_backends(root)
    named = re.compile(rf'"({"|".join(names)})(_\d*)?"')
    files = violations = 0
    needed = set()
    for path in sorted((root / "src").glob("**/*")):
        if path.suffix not in (".h", ".cc") or re.search(r"_test$|_for_test$", path.stem):
            continue
        files += 1
        name = path.relative_to(root).as_posix()
        for number, line in enumerate(
                without_comments(path.read_text(encoding="utf-8")).splitlines(), 1):
            found = named.search(line)
            if not found:
                continue
            if reason(name):
                needed.add(reason(name))
                continue
            violations += 1
            print(f"{name}:{number}: names the backend {found.group()}: what it can do is to be an "
                  "ability, of backend_abi.h, which it declares")
    for line in differing_options(root):
        violations += 1
        print(line)
    for row in sorted(set(ALLOWED) - needed):
        violations += 1
        print(f"tests/layers/check_backend_names.py: {row}: no backend is named there any more")
    if violations or "--quiet" not in sys.argv:
        print(f"{files} files, {len(names)} names, {violations} violations")
    return 1 if violations or not files or not names else 0


if __name__ == "__main__":
    sys.exit(main())
