#!/usr/bin/env python3
"""Checks the direction of #include lines, as docs/architecture.md draws it.

Usage: check_includes.py [--quiet] [ROOT]

A folder of src/ may include itself, the folders that the DEPS of its CMakeLists.txt reach, and
include/vernier. A backend may include itself, the plug-in headers and its framework. python/src may
include itself and the folders that its library reaches, which are not those of the command line.
include/vernier includes nothing but itself. Other people's headers appear only where THIRD_PARTY
allows them. The table of folders in docs/architecture.md has to name the same DEPS. A sub-folder of
a folder of src/ may include those that its README.md lists below it, and no file of the folder
itself; tests may include any. No files include each other in a circle.
Prints FILE:LINE of every violation and exits 1 if there is one. --quiet prints nothing else.
"""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)
DEPS = re.compile(r"vernier_library\((\w+)[^)]*?\bDEPS\s+([\w\s]*)[^)]*\)")
KEYWORDS = {"SOURCES", "DEPS", "LINK", "OPTIONS"}

PLUGIN_HEADER = re.compile(
    r"vernier/(backend_\w+\.h(pp)?|framework_library\.hpp|layer_times\.hpp|part_names\.h|"
    r"status\.h|dtype\.h)")
LINKED = re.compile(r"target_link_libraries\(vernier_python PRIVATE vernier_(\w+)\)")
# What a header's name starts with, and the folders that may include it.
THIRD_PARTY = {
    "hwy/": "src/kernels src/io",
    "nlohmann/": "src/record",
    "onnxruntime": "backends/onnxruntime",
    "openvino/": "backends/openvino",
    "protozero/": "src/model backends/pluginref",
    "png.h": "src/picture src/images",
    "jpeglib.h": "src/images",
    "jerror.h": "src/images",
    "xxhash.h": "src/io",
    "torch/": "backends/torch",
    "ATen/": "backends/torch",
    "zlib.h": "src/io",
    "nanobind/": "python/src",
}
SYSTEM_FOLDERS = ("sys", "linux", "gtest", "gmock")
TOPS = ("src", "backends", "include", "python/src")
SUFFIXES = (".h", ".hpp", ".cc", ".c", ".cuh", ".cu")


# A row of the table in a folder's README.md: a sub-folder.
ROOM = re.compile(r"^\| `(\w+)/` \|", re.MULTILINE)

# A row of the table in docs/architecture.md: a folder, and the folders that it uses.
ROW = re.compile(r"^\| (\w+) \| ([\w, ]+) \|$", re.MULTILINE)


def dependencies(src):
    """Each folder of src/ with the folders that its DEPS name."""
    direct = {}
    for cmake in sorted(src.glob("*/CMakeLists.txt")):
        text = re.sub(r"#.*", "", cmake.read_text(encoding="utf-8"))
        match = DEPS.search(text)
        words = match.group(2).split() if match else []
        end = next((i for i, word in enumerate(words) if word in KEYWORDS), len(words))
        direct[cmake.parent.name] = set(words[:end])
    return direct


def undocumented(table, direct):
    """What the table says otherwise than CMake, a line for each folder."""
    rows = {folder: set() if uses == "nothing" else set(uses.split(", "))
            for folder, uses in ROW.findall(table) if folder in direct}
    for folder, named in direct.items():
        if rows.get(folder) != named:
            yield f"{folder}: DEPS are {', '.join(sorted(named))}"


def everything_reached(direct):
    """Each folder of src/ with every folder that its DEPS reach."""
    def reach(folder, seen):
        for dep in direct.get(folder, set()) - seen:
            seen |= {dep} | reach(dep, seen | {dep})
        return seen

    return {folder: reach(folder, set()) for folder in direct}


def refusal(area, folder, quote, name, reachable):
    """Why the file of `area`/`folder` must not include `name`, or None."""
    for prefix, owner in THIRD_PARTY.items():
        if name.startswith(prefix):
            return None if f"{area}/{folder}" in owner.split() else f"only {owner} may include it"
    if quote == "<":
        known = "/" not in name or name.split("/")[0] in SYSTEM_FOLDERS
        return None if known else "not one of the libraries in docs/dependencies.md"
    if area == "backends":
        own = "/" not in name or name.split("/")[0] == folder
        return None if own or PLUGIN_HEADER.fullmatch(name) else "not a plug-in header"
    if name.startswith("vernier/"):
        return None
    if area == "include":
        return "a public header may include public headers only"
    target = name.split("/")[0] if "/" in name else None
    if target is None:
        return None if area == "python" else "paths are relative to src/"
    return None if target in reachable | {folder} else f"{folder} does not depend on {target}"


def files_of_rooms(root):
    """The sources in sub-folders of src/'s and backends/'s folders, but for tests."""
    for top in ("src", "backends"):
        for path in sorted((root / top).glob("*/*/**/*")):
            if path.suffix in SUFFIXES and not re.search(r"_test$|_for_test$", path.stem):
                yield top, path


def room_arrows(root):
    """For each such folder: the sub-folders, and which others their files include."""
    arrows = {}
    for top, path in files_of_rooms(root):
        folder, room = path.relative_to(root / top).parts[:2]
        names = (name.split("/") for _, name in
                 INCLUDE.findall(path.read_text(encoding="utf-8")))
        uses = {parts[1] for parts in names if parts[0] == folder and len(parts) > 2}
        arrows.setdefault(f"{top}/{folder}", {}).setdefault(room, set()).update(uses - {room})
    return arrows


def out_of_order(root):
    """What sub-folders include against the order of their folder's README.md."""
    for folder, arrows in sorted(room_arrows(root).items()):
        readme = root / folder / "README.md"
        rooms = ROOM.findall(readme.read_text(encoding="utf-8")) if readme.exists() else []
        for room, used in sorted(arrows.items()):
            below = rooms[rooms.index(room) + 1:] if room in rooms else []
            if room not in rooms:
                yield f"{folder}/README.md: does not list {room}/"
            for other in sorted(used - set(below)):
                yield f"{folder}/{room}: includes {other}/, which is not below it in README.md"


def climbs_out(root):
    """Files of sub-folders that include one of the folder itself, which is above all of them.

    Lists of a folder (.def) are for all of its files.
    """
    for top, path in files_of_rooms(root):
        folder = path.relative_to(root / top).parts[0]
        for _, name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            if name.endswith(".def"):
                continue
            if name.split("/")[0] == folder and name.count("/") == 1:
                yield f"{path.relative_to(root)}: includes {name}, which is above all sub-folders"


def listed_twice(root):
    """Sub-folders with two rows in a README.md: all between them could include both ways."""
    for readme in sorted([*root.glob("src/*/README.md"), *root.glob("backends/*/README.md")]):
        rooms = ROOM.findall(readme.read_text(encoding="utf-8"))
        for room in sorted({room for room in rooms if rooms.count(room) > 1}):
            yield f"{readme.relative_to(root)}: lists {room}/ twice"


def sources(root):
    return [path for top in TOPS for path in sorted(root.glob(f"{top}/**/*"))
            if path.suffix in SUFFIXES]


def included_files(root, path):
    """The files of ours that `path` includes, each with the line."""
    text = path.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        name = match.group(2)
        for folder in (path.parent, root / "src", root / "include", root / "backends"):
            if (folder / name).is_file():
                yield (folder / name).resolve(), text.count("\n", 0, match.start(2)) + 1
                break


def circles(root):
    """Each circle of files that include each other, found once."""
    graph = {path.resolve(): dict(included_files(root, path)) for path in sources(root)}
    done, way = set(), []

    def visit(path):
        if path in way:
            yield way[way.index(path):]
        elif path not in done:
            way.append(path)
            for target in graph.get(path, ()):
                yield from visit(target)
            done.add(way.pop())

    for start in graph:
        for circle in visit(start):
            steps = zip(circle, [*circle[1:], circle[0]])
            yield "a circle of includes: " + ", ".join(
                f"{path.relative_to(root.resolve())}:{graph[path][target]} includes "
                f"{target.relative_to(root.resolve())}" for path, target in steps)


def main():
    arguments = [word for word in sys.argv[1:] if word != "--quiet"]
    root = Path(arguments[0] if arguments else Path(__file__).parents[2])
    direct = dependencies(root / "src")
    reachable = everything_reached(direct)
    linked = LINKED.search((root / "python/CMakeLists.txt").read_text(encoding="utf-8")).group(1)
    of_python = reachable[linked] | {linked}
    files = violations = 0
    table = (root / "docs/architecture.md").read_text(encoding="utf-8")
    for line in undocumented(table, direct):
        violations += 1
        print(f"docs/architecture.md: the table of folders differs: {line}")
    for line in [*out_of_order(root), *climbs_out(root), *listed_twice(root), *circles(root)]:
        violations += 1
        print(line)
    for path in sources(root):
        files += 1
        text = path.read_text(encoding="utf-8")
        area, folder = path.relative_to(root).parts[:2]
        for match in INCLUDE.finditer(text):
            quote, name = match.groups()
            below = of_python if area == "python" else reachable.get(folder, set())
            why = refusal(area, folder, quote, name, below)
            if why:
                violations += 1
                line = text.count("\n", 0, match.start(2)) + 1
                print(f"{path.relative_to(root)}:{line}: includes {name}: {why}")
    if violations or "--quiet" not in sys.argv:
        print(f"{files} files, {violations} violations")
    return 1 if violations or not files else 0


if __name__ == "__main__":
    sys.exit(main())
