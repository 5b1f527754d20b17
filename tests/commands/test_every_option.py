"""Every option of every command of Polygraphy is one that the same command here lists in its --help.
What the options do is tested where the commands are."""

import argparse
import re
import subprocess
import unittest

from program import VERNIER


def options_of(parser, path=()):
    """(command, flags of one option) of every command below a parser."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from options_of(below, (*path, name))
            return
    for action in parser._actions:
        if action.option_strings:
            yield " ".join(path), action.option_strings


class EveryOption(unittest.TestCase):
    def test_is_known_under_all_its_names(self):
        from polygraphy.tools.registry import TOOL_REGISTRY
        parser = argparse.ArgumentParser()
        tools = parser.add_subparsers()
        for tool in TOOL_REGISTRY:
            tool.setup_parser(tools)
        helps, unknown = {}, []
        for command, flags in options_of(parser):
            if command not in helps:
                seen = subprocess.run([VERNIER, *command.split(), "--help"], capture_output=True,
                                      text=True, check=True, timeout=60).stdout
                helps[command] = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", seen))
            unknown += [f"{command} {flag}" for flag in flags if flag not in helps[command]]
        self.assertGreater(len(helps), 25)
        self.assertEqual(unknown, [])


if __name__ == "__main__":
    unittest.main()
