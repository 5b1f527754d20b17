"""Runs vernier for the tests of this folder."""

import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest
import zipfile

VERNIER = os.path.abspath(os.environ.get("VERNIER", "vernier"))


def save_integers(path, **arrays):
    """An .npz of int64, without NumPy."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, values in arrays.items():
            header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({len(values)},), }}"
            header = header.ljust(117) + "\n"
            archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                             header.encode() + struct.pack(f"<{len(values)}q", *values))


class Case(unittest.TestCase):
    """A folder of its own for each test, and no traces of a workflow that the tests may run in."""

    maxDiff = None

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="vernier-reports-test-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def vernier(self, *words, **environment):
        outside = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
        return subprocess.run([VERNIER, *map(str, words)], cwd=self.folder, text=True,
                              capture_output=True, timeout=120,
                              env={**outside, "NO_COLOR": "1", "COLUMNS": "100", **environment})

    def path(self, name):
        return self.folder / name

    def save(self, record, name="record.json"):
        self.path(name).write_text(json.dumps(record))
        return name

    def report(self, record, name):
        """The text of one report of a record."""
        ended = self.vernier("report", self.save(record), "-o", name)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return self.path(name).read_text()
