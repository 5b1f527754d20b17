"""Trained networks are not accused of sizes that the linter chose."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import networks


class Lint(unittest.TestCase):
    def lint(self, network, *words):
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            done = subprocess.run([os.environ["VERNIER"], "check", "lint", str(network.path), "-o",
                                   str(report), *words], capture_output=True, text=True,
                                  check=False, env={**os.environ, "NO_COLOR": "1"})
            entries = json.loads(report.read_text())["lint_entries"] if report.exists() else []
        return done.returncode, entries, done.stdout + done.stderr

    def test_no_network_has_an_exception(self):
        for network in networks.NETWORKS:
            with self.subTest(network.name):
                code, entries, said = self.lint(network)
                wrong = [e for e in entries if e["level"] == "exception"]
                self.assertEqual((code, wrong), (0, []), said[-2000:])

    def test_given_sizes_need_no_warning(self):
        for network in networks.NETWORKS:
            with self.subTest(network.name):
                code, entries, said = self.lint(network, *network.words)
                rules = {e["rule"] for e in entries}
                self.assertEqual((code, "sizes-needed" in rules), (0, False), said[-2000:])


if __name__ == "__main__":
    unittest.main()
