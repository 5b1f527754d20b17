"""Scripts of Polygraphy's API (api/*.py) print the same with Polygraphy and with the stand-in.

The wheel's test of the same scripts is python/tests/test_polygraphy_api.py.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from script_case import VERNIER

SCRIPTS = pathlib.Path(__file__).parent / "api"
STAND_IN = pathlib.Path(VERNIER).parent.parent / "libexec" / "vernier" / "shim"
LOG = re.compile(r"\[[A-Z!]\] |    ")  # what each of the two says of its own work


def printed(script, folder, **environment):
    """The lines that a script printed. Of the log, only that of the script on the logger."""
    folder.mkdir()
    (folder / "example.py").write_text(script.read_text().replace("PREFIX", "polygraphy"))
    ended = subprocess.run(
        [sys.executable, "example.py"], cwd=folder, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONWARNINGS": "ignore", **environment}, check=False)
    if ended.returncode != 0:
        raise AssertionError(ended.stdout + ended.stderr)
    return [line for line in ended.stdout.splitlines()
            if script.stem == "logger" or not LOG.match(line)]


class Api(unittest.TestCase):
    maxDiff = None

    def test_scripts_print_what_they_print_with_polygraphy(self):
        for script in sorted(SCRIPTS.glob("*.py")):
            with self.subTest(script.stem), tempfile.TemporaryDirectory() as scratch:
                folder = pathlib.Path(scratch)
                theirs = printed(script, folder / "theirs")
                self.assertTrue(theirs)
                self.assertEqual(
                    printed(script, folder / "ours", PYTHONPATH=str(STAND_IN)), theirs)

    def test_it_is_the_stand_in_that_was_tried(self):
        with tempfile.TemporaryDirectory() as scratch:
            script = pathlib.Path(scratch) / "script.py"
            script.write_text("import PREFIX\nprint(PREFIX.IS_VERNIER_STAND_IN)\n")
            self.assertEqual(printed(script, pathlib.Path(scratch) / "ours",
                                     PYTHONPATH=str(STAND_IN)), ["True"])


if __name__ == "__main__":
    unittest.main()
