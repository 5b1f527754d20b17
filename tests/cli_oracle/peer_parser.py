"""The parser object of Polygraphy's `run`, tamed: it raises instead of printing and exiting."""

import argparse


class UsageError(Exception):
    """argparse would print this text and exit with 2."""


class HelpAsked(Exception):
    """argparse would print the help and exit with 0."""


def make_peer_parser():
    from polygraphy.tools.run.run import Run

    parser = Run().setup_parser()

    def error(message):
        raise UsageError(message)

    def print_help(file=None):
        raise HelpAsked()

    parser.error = error
    parser.print_help = print_help
    for action in parser._actions:
        # Polygraphy opens (and truncates) this file while it parses; ours opens nothing.
        if isinstance(action.type, argparse.FileType):
            action.type = None
    return parser


def parse_with_peer(parser, words):
    # Polygraphy's runner action appends to its own default list, so each run needs a new one.
    return parser.parse_known_args(list(words), argparse.Namespace(runners=[]))


_ACTIONS = {
    "_StoreAction": "store",
    "_StoreTrueAction": "store",
    "_StoreFalseAction": "store_false",
    "_AppendAction": "append",
    "_CountAction": "count",
    "_HelpAction": "help",
    "StoreRunnerOrdered": "runner",
}


def describe_row(action):
    """One line per flag: names, dest, arity, action, type, choices."""
    arity = {None: "1", 0: "0"}.get(action.nargs, action.nargs)
    value_type = {int: "int", float: "float"}.get(action.type, "string")
    return " | ".join(
        [
            " ".join(action.option_strings) or "positional",
            action.dest,
            arity,
            _ACTIONS[type(action).__name__],
            value_type,
            ",".join(action.choices or []) or "-",
        ]
    )


def describe_parser(parser):
    return [describe_row(action) for action in parser._actions]


if __name__ == "__main__":
    # Makes peer_flags.txt.
    print("\n".join(describe_parser(make_peer_parser())))
