#!/usr/bin/env python3
"""What Polygraphy itself makes of the models of test_check_lint and test_surgeon, which hold ours
against lint_peer.json and surgeon_peer.json.

    recordings.py POLYGRAPHY [--update]

Asks it again, a minute and more of processor time, and fails where it says anything else than was
recorded; --update records it. Needs onnx_graphsurgeon (scripts/deps.sh --with graphsurgeon) in
PYTHONPATH. scripts/deep.sh runs this.
"""

import argparse
import json
import pathlib
import sys
import tempfile

import lint_models
import surgeon_models

HERE = pathlib.Path(__file__).parent
RECORDINGS = {"lint_peer.json": lint_models.record, "surgeon_peer.json": surgeon_models.record}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("polygraphy")
    parser.add_argument("--update", action="store_true", help="write what it says now")
    options = parser.parse_args()
    changed = 0
    for name, record in RECORDINGS.items():
        with tempfile.TemporaryDirectory() as scratch:
            said = json.loads(json.dumps(record(options.polygraphy, pathlib.Path(scratch))))
        recorded = json.loads((HERE / name).read_text())
        for case in sorted(said.keys() | recorded.keys()):
            if said.get(case) != recorded.get(case):
                changed += 1
                print(f"{name}: {case}: recorded {recorded.get(case)}, now {said.get(case)}")
        print(f"{name}: {len(said)} models asked")
        if options.update:
            lines = [f" {json.dumps(case)}: {json.dumps(seen)}" for case, seen in said.items()]
            (HERE / name).write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return 1 if changed and not options.update else 0


if __name__ == "__main__":
    sys.exit(main())
