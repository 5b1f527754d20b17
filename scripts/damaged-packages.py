#!/usr/bin/env python3
"""Prints the packages of a virtual environment that are not whole.

The lines of FOLDER/.installed ("numpy==1.26.4"), "pip" and "setuptools", of which a file is
missing or is not what the package's RECORD says: the disk was full, somebody cleared a cache, or
pip was killed.
A RECORD must be what it was at the last run. Files that Python has compiled (.pyc) and that have
changed since then, or that cannot be loaded, are removed and printed: Python makes them anew.
"""

import argparse
import csv
import marshal
import os
import pathlib
import platform
import re
import sys

from digests import Digests


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def name_of(requirement):
    return plain(re.split(r"[=<>!~;\[ ]", requirement)[0])


def packages(folder):
    """The name, version, site-packages and dist-info of each package."""
    for site in folder.glob("lib/python3*/site-packages"):
        for info in site.glob("*.dist-info"):
            name, _, version = info.name.removesuffix(".dist-info").partition("-")
            yield plain(name), version, site, info


def is_whole(site, record, digests):
    try:
        with open(record, newline="", encoding="utf-8") as lines:
            files = [row[:2] for row in csv.reader(lines) if len(row) > 1 and row[1]]
        before, now = digests.known(str(record)), digests.of(str(record))
        return bool(files) and now == (before or now) and all(
            digests.of(f"{site}/{name}", digest.split("=")[0]) == digest for name, digest in files)
    except (OSError, ValueError):
        return False


def is_for_this_machine(requirement):
    marker = re.search(r"; *platform_machine *([!=]=) *[\"'](.*)[\"']", requirement)
    return not marker or (platform.machine() == marker[2]) == (marker[1] == "==")


def entries(listed):
    lines = listed.read_text(encoding="utf-8").splitlines()
    return [line for line in (line.split("#")[0].rstrip() for line in lines) if line]


def is_of(folder, listed):
    """Whether it has no other packages or versions than LIST, and was made here by this Python."""
    wanted = {name_of(line): re.search(r"==([^;\s]*)|$", line)[1] for line in listed}
    wanted.update({"pip": None, "setuptools": None})
    program = folder / "bin" / "pip"
    return (all(path.name == f"python3.{sys.version_info[1]}"
                for path in folder.glob("lib/python3*")) and
            all(name in wanted and wanted[name] in (None, version)
                for name, version, *_ in packages(folder)) and
            (not program.exists() or f"{folder}/bin/python".encode() in program.read_bytes()))


def print_present(folder, listed):
    found = {name for name, *_ in packages(folder)}
    for line in listed:
        if name_of(line) in found or not is_for_this_machine(line):
            print(line)


def loads(path):
    try:
        marshal.loads(path.read_bytes()[16:])  # behind the head: pyc files, PEP 552
    except (OSError, EOFError, ValueError, TypeError, MemoryError):
        return False
    return True


def remove_damaged_pyc(folder, digests):
    for path in folder.glob(f"lib/python3*/site-packages/**/*.{sys.implementation.cache_tag}.pyc"):
        before, now = digests.known(str(path)), digests.of(str(path))
        if now != before if before else not loads(path):
            path.unlink()
            digests.forget(str(path))
            print(path)


def print_foreign(folder):
    """Files that are of no package, relative to the folder, but for what Python has compiled."""
    listed = set()
    for *_, site, info in packages(folder):
        with open(info / "RECORD", newline="", encoding="utf-8") as lines:
            listed.update(f"{site}/{row[0]}" for row in csv.reader(lines) if row)
    for site in folder.glob("lib/python3*/site-packages"):
        for place, folders, files in os.walk(site):
            folders[:] = [name for name in folders if name != "__pycache__"]
            links = [name for name in folders if os.path.islink(f"{place}/{name}")]
            for path in sorted(f"{place}/{name}" for name in files + links):
                if path not in listed:
                    print(os.path.relpath(path, folder))


def print_damaged(folder):
    found = {name: (site, info / "RECORD") for name, _, site, info in packages(folder)}
    digests = Digests(folder)
    listed = (folder / ".installed").read_text(encoding="utf-8").splitlines()
    of_venv = ["pip"]
    if "setuptools" in found.keys() - {name_of(line) for line in listed}:
        of_venv.append("setuptools")
    for requirement in [*of_venv, *listed]:
        name = name_of(requirement)
        if name in found:
            whole = is_whole(*found[name], digests)
        else:
            whole = not is_for_this_machine(requirement)
        if not whole:
            print(requirement)
    remove_damaged_pyc(folder, digests)
    digests.save()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("--of", metavar="LIST", type=pathlib.Path,
                        help="print those lines of LIST that are there, whole or not; exit code 1 "
                             "if others are there too, or the environment was made in another "
                             "place or by another Python")
    parser.add_argument("--foreign", action="store_true",
                        help="print the files that are of no package instead")
    options = parser.parse_args()
    if options.foreign:
        print_foreign(options.folder)
        return 0
    if options.of:
        listed = entries(options.of)
        print_present(options.folder, listed)
        return 0 if is_of(options.folder, listed) else 1
    print_damaged(options.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
