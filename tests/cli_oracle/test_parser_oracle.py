"""Our parser against the peer's own parser object, on generated command lines.

Environment: VERNIER_ARG_DRIVER names the arg_driver program; VERNIER_ORACLE_LINES (100000),
VERNIER_ORACLE_SEED (1) and VERNIER_ORACLE_JOBS (2) change the amount of work.

Left out, because ours does more there on purpose:
* words that only our own flags explain: their exact names, and abbreviations that the peer does not
  know (never generated);
* --save-inputs and --save-outputs without a value, an error for the peer (skipped and counted);
* integers in digits outside ASCII (never generated);
* --gen opens its file while the peer parses; here it is a plain word.
"""

import collections
import importlib.util
import json
import math
import multiprocessing
import os
import random
import subprocess
import sys
import time
import unittest
from pathlib import Path

from command_lines import Generator
from peer_parser import HelpAsked, UsageError, describe_parser, make_peer_parser, parse_with_peer

HERE = Path(__file__).resolve().parent
LINES = int(os.environ.get("VERNIER_ORACLE_LINES", "100000"))
SEED = int(os.environ.get("VERNIER_ORACLE_SEED", "1"))
JOBS = int(os.environ.get("VERNIER_ORACLE_JOBS", "2"))
BATCH = 2500
MOST_SHOWN = 10

# Errors of Polygraphy on forms that ours takes.
EXTENDED_ERRORS = {
    "argument --save-inputs/--save-input-data: expected one argument",
    "argument --save-outputs/--save-results: expected one argument",
}
EXTENDED_DESTS = {"save_inputs_path", "save_outputs_path"}


def driver_path():
    path = os.environ.get("VERNIER_ARG_DRIVER")
    if not path or not Path(path).is_file():
        raise AssertionError("set VERNIER_ARG_DRIVER to the arg_driver program")
    return path


def ask_driver(lines):
    text = "".join(json.dumps(words) + "\n" for words in lines)
    done = subprocess.run([driver_path()], input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def our_flags():
    """Flag names that the peer does not have."""
    done = subprocess.run([driver_path(), "--flags"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["ours"]


def make_is_ours(parser):
    peers = [name for action in parser._actions for name in action.option_strings]
    ours = our_flags()

    def is_ours(word):
        head = word.split("=", 1)[0]
        if not head.startswith("--") or head == "--":
            return False
        if head in ours:
            return True
        known_to_peer = any(name.startswith(head) for name in peers)
        return not known_to_peer and any(name.startswith(head) for name in ours)

    return is_ours


def decode(answer):
    """A value of the driver as the peer's parser would hold it."""
    if isinstance(answer, list):
        return [decode(item) for item in answer]
    if not isinstance(answer, dict):
        return answer
    (kind, value), = answer.items()
    if kind == "f":
        return float.fromhex(value)
    return int(value) if kind in ("i", "big") else value


def same(a, b):
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b):
        return True
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def differences(parser, words, answer, tally):
    """What differs for one command line, as text; None when nothing does."""
    try:
        values, unknown = parse_with_peer(parser, words)
    except HelpAsked:
        tally["help"] += 1
        return None if answer.get("help") else "the peer prints its help"
    except UsageError as error:
        if str(error) in EXTENDED_ERRORS:
            tally["extended"] += 1
            return None
        kind = "ambiguous" if str(error).startswith("ambiguous") else str(error).split(": ", 1)[1]
        tally["error " + kind.split(":")[0].split(" '")[0].split(" --")[0]] += 1
        # Behind Polygraphy's words about a choice come our own choices and the nearest one.
        said = answer.get("error", "")
        if str(error).endswith(")"):
            said = said[:len(str(error))]
        return None if said == str(error) else f"peer's error: {error}"
    tally["parsed"] += 1
    tally["unknown"] += bool(unknown)
    if "values" not in answer:
        return "the peer parses it"
    if answer["unknown"] != unknown:
        return f"peer's unknown words: {unknown}"
    return different_value(parser, values, answer["values"], tally)


def different_value(parser, values, ours, tally):
    for action in parser._actions:
        if action.dest == "help":
            continue
        expected = getattr(values, action.dest)
        if action.dest not in ours:
            if not same(expected, action.default):
                return f"{action.dest}: peer has {expected!r}"
            continue
        tally["dest " + action.dest] += 1
        if action.dest in EXTENDED_DESTS and expected == []:
            tally["extended"] += 1
            continue
        if not same(decode(ours[action.dest]), expected):
            return f"{action.dest}: peer has {expected!r}"
    return None


# From 3.12.3 on, argparse takes "-qx" for -q and leaves "-x" over, and the value of "--flag=--" is
# "--", where 3.11, which the parser follows, refuses the one and drops the other.
FOLLOWS_OLDER_PYTHON = sys.version_info >= (3, 12)


def interpreter_differs(words, answer):
    return FOLLOWS_OLDER_PYTHON and (
        "ignored explicit argument" in answer.get("error", "")
        or any(word.endswith("=--") for word in words)
    )


def check_batch(index):
    parser = make_peer_parser()
    rng = random.Random(SEED * 1_000_003 + index)
    generator = Generator(rng, parser, make_is_ours(parser))
    lines = [generator.line() for _ in range(min(BATCH, LINES - index * BATCH))]
    tally = collections.Counter(lines=len(lines))
    failures = []
    for words, answer in zip(lines, ask_driver(lines), strict=True):
        why = differences(parser, words, answer, tally)
        if why and interpreter_differs(words, answer):
            tally["argparse of this Python differs"] += 1
        elif why:
            failures.append(f"{words!r}\n    {why}\n    ours: {json.dumps(answer)}")
    return tally, failures


def setUpModule():
    if importlib.util.find_spec("polygraphy") is None:
        raise unittest.SkipTest("Polygraphy is not installed")


class ParserOracle(unittest.TestCase):
    def test_generated_command_lines_parse_as_the_peer_parses_them(self):
        started = time.monotonic()
        tally = collections.Counter()
        failures = []
        with multiprocessing.Pool(JOBS) as pool:
            for counts, failed in pool.imap_unordered(check_batch, range(-(-LINES // BATCH))):
                tally += counts
                failures += failed
        seconds = time.monotonic() - started
        print(f"\n{len(failures)} differences in {tally['lines']} lines, {seconds:.1f} s")
        for name, count in sorted(tally.items()):
            if not name.startswith("dest "):
                print(f"  {name}: {count}")
        self.assertEqual(tally["lines"], LINES)
        if failures:
            self.fail("for example\n" + "\n".join(failures[:MOST_SHOWN]))
        self.check_coverage(tally)

    def check_coverage(self, tally):
        """The lines must have exercised what they are there for."""
        self.assertGreater(tally["parsed"], LINES // 4)
        kinds = ["ambiguous", "expected one argument", "expected at least one argument",
                 "ignored explicit argument", "invalid int value", "invalid float value",
                 "invalid choice", "not allowed with argument"]  # fmt: skip
        for kind in kinds:
            self.assertGreater(tally["error " + kind], LINES // 2000, kind)
        for action in make_peer_parser()._actions:
            if action.dest != "help":
                self.assertGreater(tally["dest " + action.dest], LINES // 2000, action.dest)

    def test_committed_list_of_the_peers_flags_is_the_peers(self):
        committed = (HERE / "peer_flags.txt").read_text().splitlines()
        self.assertEqual(committed, describe_parser(make_peer_parser()))


if __name__ == "__main__":
    unittest.main()
