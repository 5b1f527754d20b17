"""Options that Polygraphy's tools take in front of their sub-tools: `polygraphy surgeon -v extract`."""

import argparse
import subprocess
import tempfile
import unittest

from program import VERNIER

VALUES = {"--verbosity": "INFO", "--log-format": "no-colors"}


def tools():
    """(tool, flags that take no value, flags that do, names of sub-tools)"""
    from polygraphy.tools.registry import TOOL_REGISTRY
    parser = argparse.ArgumentParser()
    choices = parser.add_subparsers()
    for tool in TOOL_REGISTRY:
        tool.setup_parser(choices)
    for name, below in choices.choices.items():
        actions = below._actions
        found = [a for a in actions if isinstance(a, argparse._SubParsersAction)]
        if not found:
            continue
        flags = [(flag, action.nargs != 0) for action in actions for flag in action.option_strings
                 if action.dest != "help"]
        yield name, flags, list(found[0].choices)


class InFrontOfTheCommand(unittest.TestCase):
    def test_every_option_of_every_tool(self):
        tried = 0
        with tempfile.TemporaryDirectory() as folder:
            for tool, flags, commands in tools():
                for flag, has_value in flags:
                    value = [VALUES.get(flag, f"{folder}/log.txt")] if has_value else []
                    for command in commands:
                        done = subprocess.run(
                            [VERNIER, tool, flag, *value, command, "--help"], text=True,
                            capture_output=True, timeout=60)
                        self.assertEqual((done.returncode, done.stderr), (0, ""), (tool, flag, command))
                        self.assertIn(f"vernier {tool} ", done.stdout)
                        tried += 1
        self.assertGreater(tried, 100)

    def test_they_do_their_work(self):
        with tempfile.TemporaryDirectory() as folder:
            line = [VERNIER, "inspect", "--log-file", f"{folder}/log.txt", "--silent", "model", "none"]
            done = subprocess.run(line, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.stdout, "")
            with open(f"{folder}/log.txt", encoding="utf-8") as log:
                self.assertIn("none", log.read())


if __name__ == "__main__":
    unittest.main()
