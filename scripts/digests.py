"""Digests of files, computed again only where size or time of change (ctime) are not as before."""

import base64
import hashlib
import os


class Digests:
    """Those of the files of a folder, kept in its file .digests."""

    def __init__(self, folder):
        self._file = os.path.join(folder, ".digests")
        self._before = self._read()
        self._now = {}

    def _read(self):
        try:
            with open(self._file, encoding="utf-8", newline="\n") as lines:
                rows = [line.rstrip("\n").split(" ", 3) for line in lines]
            return {path: (size, time, digest) for size, time, digest, path in rows}
        except (OSError, ValueError):
            return {}

    def known(self, path):
        """As it was at the last run, or None."""
        entry = self._before.get(path)
        return entry and entry[2]

    def of(self, path, algorithm="sha256"):
        """As wheels write it: "sha256=" and base64. OSError if there is no such file."""
        facts = os.stat(path)
        state = (str(facts.st_size), str(facts.st_ctime_ns))
        entry = self._before.get(path)
        if not entry or entry[:2] != state or not entry[2].startswith(algorithm + "="):
            entry = (*state, f"{algorithm}={computed(path, algorithm)}")
        self._now[path] = entry
        return entry[2]

    def forget(self, path):
        self._now.pop(path, None)

    def save(self):
        if self._now == self._before:
            return
        try:
            with open(self._file + ".new", "w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{' '.join(entry)} {path}\n" for path, entry in self._now.items())
            os.replace(self._file + ".new", self._file)
        except OSError:
            pass  # a read-only folder: the next run computes them again


def computed(path, algorithm):
    digest = hashlib.new(algorithm)
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()
