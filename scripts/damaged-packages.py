#!/usr/bin/env python3
"""Prints the packages of a virtual environment that are not whole.

Usage: scripts/damaged-packages.py FOLDER

The lines of FOLDER/.installed ("numpy==1.26.4"), and "pip", of which a file is missing or is not
what the package's RECORD says: the disk was full, somebody cleared a cache, or pip was killed.
"""

import csv
import pathlib
import platform
import re
import sys

from digests import Digests


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def records(folder):
    """The RECORD of each package, by its plain name."""
    found = {}
    for site in folder.glob("lib/python3*/site-packages"):
        for info in site.glob("*.dist-info"):
            found[plain(info.name.split("-")[0])] = site, info / "RECORD"
    return found


def is_whole(site, record, digests):
    try:
        with open(record, newline="", encoding="utf-8") as lines:
            files = [row[:2] for row in csv.reader(lines) if len(row) > 1 and row[1]]
        return bool(files) and all(digests.of(f"{site}/{name}", digest.split("=")[0]) == digest
                                   for name, digest in files)
    except (OSError, ValueError):
        return False


def is_for_this_machine(requirement):
    marker = re.search(r"; *platform_machine *([!=]=) *[\"'](.*)[\"']", requirement)
    return not marker or (platform.machine() == marker[2]) == (marker[1] == "==")


def main():
    folder = pathlib.Path(sys.argv[1])
    found = records(folder)
    digests = Digests(folder)
    for requirement in ["pip", *(folder / ".installed").read_text(encoding="utf-8").splitlines()]:
        name = plain(re.split(r"[=<>!~;\[ ]", requirement)[0])
        if name in found:
            whole = is_whole(*found[name], digests)
        else:
            whole = not is_for_this_machine(requirement)
        if not whole:
            print(requirement)
    digests.save()


if __name__ == "__main__":
    main()
