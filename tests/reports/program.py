"""Runs vernier for the tests of this folder."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

VERNIER = os.path.abspath(os.environ.get("VERNIER", "vernier"))


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
