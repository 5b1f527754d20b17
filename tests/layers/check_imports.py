#!/usr/bin/env python3
"""Checks the imports of our Python: no circles, and nothing that only an installation would have.

Usage: check_imports.py [ROOT]

Imports within functions count, too: they hide a circle, they do not undo it. The package `vernier`
itself has none, as it looks its names up when they are asked for. Prints each circle with FILE:LINE
of its imports, each import of a module that the source tree lacks, and each file of FOLDERS that
no table here has; exits 1 if there is one.
"""

import ast
import sys
from pathlib import Path

SHIM = "libexec/vernier/shim/polygraphy"
# Names of packages and their folders, or of a module and its file, as the worker sees them, and as
# the wheel does.
WORKER = {"polygraphy": SHIM, "vernier_worker": "libexec/vernier/vernier_worker",
          "worker": "libexec/vernier/worker.py", "packages": "libexec/vernier/packages.py",
          "": "libexec/vernier/runners"}
TOOLS = {"vernier_worker": "libexec/vernier/vernier_worker", "": "libexec/vernier/tools"}
WHEEL = {"vernier": "python/vernier", "vernier._polygraphy": SHIM,
         "vernier._worker": "libexec/vernier/vernier_worker"}
# Modules that the wheel has its own of (python/vernier/_polygraphy.py).
INJECTED = {"vernier._polygraphy.errors": "vernier._errors",
            "vernier._polygraphy.host": "vernier._host"}
COMPILED = {"vernier._native"}
FOLDERS = ("libexec", "python/vernier")


def modules_of(root, packages):
    """Names of modules to their files."""
    found = {}
    for package, folder in packages.items():
        if (root / folder).is_file():
            found[package] = root / folder
            continue
        for path in sorted((root / folder).rglob("*.py")):
            parts = [*package.split("."), *path.relative_to(root / folder).with_suffix("").parts]
            name = ".".join(part for part in parts if part and part != "__init__")
            found.setdefault(name, path)  # python/vernier/_polygraphy.py stands for its package
    for name in INJECTED:
        if name.startswith(tuple(packages)) and INJECTED[name] in found:
            found.pop(name, None)
    return found


def imports_of(name, path, known):
    """Each import of our own: line, and the module that it names."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                folder = package.split(".")[:len(package.split(".")) - node.level + 1]
                base = ".".join([*folder, *filter(None, [node.module])])
            for alias in node.names:
                inner = INJECTED.get(f"{base}.{alias.name}", f"{base}.{alias.name}")
                yield node.lineno, inner if inner in known or inner in COMPILED else base


def graph_of(root, packages):
    """Each module with those that it imports and the lines; and imports of what is no file."""
    known = modules_of(root, packages)
    tops = {name.split(".")[0] for name in packages if name}
    graph, missing = {}, []
    for name, path in known.items():
        graph[name] = {}
        for line, target in imports_of(name, path, known):
            target = INJECTED.get(target, target)
            if target in known and target != name:
                graph[name].setdefault(target, f"{path.relative_to(root)}:{line}")
            elif target not in known and target not in COMPILED and target.split(".")[0] in tops:
                missing.append(f"{path.relative_to(root)}:{line}: there is no module {target}")
    return graph, missing


def circle_in(graph):
    """Modules of one circle, in order; empty where there is none."""
    done, way = set(), []

    def visit(name):
        if name in way:
            return way[way.index(name):]
        if name in done:
            return []
        way.append(name)
        for target in graph[name]:
            circle = visit(target)
            if circle:
                return circle
        done.add(way.pop())
        return []

    return next(filter(None, map(visit, graph)), [])


def left_out(root):
    """Our Python that no table has."""
    known = {path for packages in (WORKER, TOOLS, WHEEL)
             for path in modules_of(root, packages).values()}
    return [f"{path.relative_to(root)}: is in no table of modules" for folder in FOLDERS
            for path in sorted((root / folder).rglob("*.py")) if path not in known]


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2])
    found, files = left_out(root), 0
    for packages in (WORKER, TOOLS, WHEEL):
        graph, missing = graph_of(root, packages)
        files += len(graph)
        found += missing
        while circle := circle_in(graph):
            steps = list(zip(circle, [*circle[1:], circle[0]]))
            found.append("a circle of imports: " + ", ".join(
                f"{graph[name][target]} imports {target}" for name, target in steps))
            del graph[circle[0]][steps[0][1]]
    print(*found, f"{files} modules, {len(found)} violations", sep="\n")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
