#!/usr/bin/env python3
"""Prints the packages of a virtual environment that are not whole.

Usage: scripts/damaged-packages.py FOLDER

The lines of FOLDER/.installed ("numpy==1.26.4") of which a file is missing, or has another size
than pip wrote into the package's RECORD: the disk was full, somebody cleared a cache, or pip was
killed.
"""

import csv
import pathlib
import re
import sys


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def records(folder):
    """The RECORD of each package, by its plain name."""
    found = {}
    for site in folder.glob("lib/python3*/site-packages"):
        for info in site.glob("*.dist-info"):
            found[plain(info.name.split("-")[0])] = site, info / "RECORD"
    return found


def is_whole(site, record):
    try:
        with open(record, newline="", encoding="utf-8") as lines:
            files = [(row[0], int(row[2])) for row in csv.reader(lines) if len(row) > 2 and row[2]]
        return bool(files) and all((site / name).stat().st_size == size for name, size in files)
    except (OSError, ValueError):
        return False


def main():
    folder = pathlib.Path(sys.argv[1])
    found = records(folder)
    for requirement in (folder / ".installed").read_text(encoding="utf-8").splitlines():
        name = plain(re.split(r"[=<>!~;\[ ]", requirement)[0])
        if name in found and is_whole(*found[name]):
            continue
        # With a marker it may be for other machines.
        if name in found or ";" not in requirement:
            print(requirement)


if __name__ == "__main__":
    main()
