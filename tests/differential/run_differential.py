#!/usr/bin/env python3
"""Run the same command lines through vernier and through Polygraphy, and compare.

    run_differential.py --vernier build/release/bin/vernier --peer VENV/bin/python --work DIR

Needs Python 3.11 and nothing else; the peer's interpreter makes the models. See README.md.
"""

import argparse
import concurrent.futures
import difflib
import pathlib
import re
import shlex
import shutil
import sys
import tomllib

import peer_log
from case_runner import Case, Workshop, without_flag
from compare_runs import (Transcript, content, distinct_problems, file_differences, files_under,
                          line_state, step_differences)

HERE = pathlib.Path(__file__).resolve().parent
PROCESSES = 2
MAX_DIFF_LINES = 80

# What the table has to hold at least; `same` and `crash` rows count.
WANTED = {"command lines": 240, "end in 1": 25, "end in an error": 10}


class Outcome:
    def __init__(self, case):
        self.case = case
        self.problems = []
        self.diff = []
        self.exits = ("-", "-")
        self.compared = "-"
        self.lines = "-"
        self.is_error = False
        self.effects = "-"

    def row(self):
        state = "FAIL" if self.problems else "ok"
        if self.case.pending:
            state = "pending" if self.problems else "STALE"
        exits = f"{self.exits[0]}/{self.exits[1]}"
        return (f"{state:8}{self.case.name:38}{self.case.relation:9}{exits:9}"
                f"{self.compared:10}{self.lines:7}{self.effects:8}")

    @property
    def failed(self):
        return bool(self.problems) != bool(self.case.pending)


class Suite:
    def __init__(self, options):
        self.options = options
        self.shop = Workshop(options.work, options.peer, options.packages)
        self.programs = self.make_programs()

    def make_programs(self):
        """Two names for one binary: the name decides between lenient and strict."""
        folder = self.shop.work / "bin"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name in ("vernier", "polygraphy"):
            (folder / name).symlink_to(pathlib.Path(self.options.vernier).resolve())
        return {"native": folder / "vernier", "lenient": folder / "polygraphy"}

    def judge(self, case):
        outcome = Outcome(case)
        if case.packages and not self.shop.packages:
            outcome.problems.append("no --packages: scripts/deps.sh --with graphsurgeon gets them")
            return outcome
        try:
            if case.relation == "native":
                self.judge_native(case, outcome)
            else:
                self.judge_against_peer(case, outcome)
                self.judge_effects(case, outcome)
        except Exception as error:  # one broken case must not hide the others
            outcome.problems.append(f"{type(error).__name__}: {error}")
        return outcome

    def judge_native(self, case, outcome):
        if case.distinct:
            outcome.problems += distinct_problems(self.shop.prepared(case) / case.distinct)
        if self.options.self_check:
            self.shop.prepared(case)
            return
        result, folder = self.shop.run_ours(case, self.programs["native"])
        self.check_expectations(case, result["steps"][len(case.run) - 1], folder, outcome)

    def check_expectations(self, case, step, folder, outcome):
        ours = Transcript(step, self.shop.paths_of(folder))
        outcome.exits = (outcome.exits[0], ours.exit)
        if case.exit is not None and ours.exit != case.exit:
            outcome.problems.append(f"exit code {ours.exit}, expected {case.exit}")
        if ours.traceback:
            outcome.problems.append("a traceback")
        self.check_patterns(case, step, folder, outcome)
        if outcome.problems:
            outcome.diff += (step["stdout"] + step["stderr"]).splitlines()[-25:]

    def check_patterns(self, case, step, folder, outcome):
        """In everything that was printed, our closing tables included."""
        texts = {key: "\n".join(peer_log.normalise(step[key], self.shop.paths_of(folder)))
                 for key in ("stdout", "stderr")}
        for stream in ("stdout", "stderr"):
            for pattern in getattr(case, stream):
                if not re.search(pattern, texts[stream], re.MULTILINE):
                    outcome.problems.append(f"{stream} lacks /{pattern}/")
        for pattern in case.absent:
            if re.search(pattern, texts["stdout"] + "\n" + texts["stderr"], re.MULTILINE):
                outcome.problems.append(f"output has /{pattern}/")

    def judge_against_peer(self, case, outcome):
        peer, peer_folder = self.shop.run_peer(case)
        theirs = [Transcript(s, self.shop.paths_of(peer_folder)).without_omitted()
                  for s in peer["steps"]]
        last = theirs[len(case.run) - 1]
        outcome.exits = (last.exit, "-")
        outcome.is_error = bool(last.criticals) or last.exit == 2 or last.traceback
        outcome.compared = str(last.count("output verdict", "metric"))
        if case.peer_exit is not None and last.exit != case.peer_exit:
            outcome.problems.append(f"the peer's exit code is {last.exit}, not {case.peer_exit}")
        if last.traceback != (case.relation == "crash") and case.relation != "differs":
            outcome.problems.append(f"peer's traceback: {last.traceback}, relation {case.relation}")
        if self.options.self_check and case.relation != "same":
            return

        result, folder = self.shop.run_ours(case, self.programs["lenient"])
        ours = [Transcript(s, self.shop.paths_of(folder)) for s in result["steps"]]
        if self.options.self_check:
            ours = [transcript.without_omitted() for transcript in ours]
        outcome.exits = (last.exit, ours[len(case.run) - 1].exit)
        if case.relation == "differs":
            self.check_expectations(case, result["steps"][len(case.run) - 1], folder, outcome)
            return
        if case.relation == "crash":
            outcome.problems += crash_differences(last, ours[len(case.run) - 1])
        else:
            self.check_patterns(case, result["steps"][len(case.run) - 1], folder, outcome)
            for a, b in zip(theirs, ours):
                outcome.problems += step_differences(a, b, case.every_line)
            new_here = [name for name in result["new_files"]
                        if not case.more_files or name in peer["new_files"]]
            if peer["new_files"] != new_here:
                outcome.problems.append(f"new files {peer['new_files']} at the peer, "
                                        f"{result['new_files']} here")
            outcome.problems += file_differences(case.saved, peer_folder, folder)
            outcome.lines = " ".join(line_state(a, b) for a, b in zip(theirs, ours))
        if outcome.problems:
            outcome.diff = unified(theirs, ours)

    def judge_effects(self, case, outcome):
        """Each flag that the case is there for must change what either program does."""
        if not case.effect:
            return
        sides = {"the peer": lambda *steps: self.shop.run_peer(case, *steps)}
        if case.relation == "same" and not (case.unchanged_here or self.options.self_check):
            sides["vernier"] = lambda *steps: self.shop.run_ours(case, self.programs["lenient"],
                                                                 *steps)
        for side, run in sides.items():
            whole = self.signature(*run())
            for flag in case.effect:
                steps = [without_flag(step, flag) for step in case.run]
                if steps == case.run:
                    outcome.problems.append(f"effect: {flag} does not occur")
                elif self.signature(*run(steps)) == whole:
                    outcome.problems.append(f"effect: without {flag} {side} does the same")
        outcome.effects = str(len(case.effect))

    def signature(self, result, folder):
        """All that a run did: codes, lines without the echoed command, and files left."""
        parts = []
        for step in result["steps"]:
            lines = Transcript(step, self.shop.paths_of(folder)).text()
            parts.append((step["exit"], [re.sub(r"Command: .*", "", line) for line in lines
                                         if not line.startswith("usage:")]))
        for name in result["new_files"]:
            for path in files_under(folder / name):
                parts.append((str(path.relative_to(folder)), repr(content(path))))
        return parts


def crash_differences(theirs, ours):
    """Where the peer ends in a traceback: the same code, and one clear sentence instead."""
    problems = []
    if ours.exit != theirs.exit:
        problems.append(f"exit code {theirs.exit} at the peer, {ours.exit} here")
    if ours.traceback:
        problems.append("a traceback here")
    if len(ours.criticals) != 1:
        problems.append(f"{len(ours.criticals)} [!] messages on stderr, expected one")
    return problems


def unified(theirs, ours):
    lines = []
    for a, b in zip(theirs, ours):
        lines += difflib.unified_diff(a.text(), b.text(), "peer", "vernier", lineterm="", n=2)
    if len(lines) > MAX_DIFF_LINES:
        lines = lines[:MAX_DIFF_LINES] + [f"... {len(lines) - MAX_DIFF_LINES} more lines"]
    return lines


def peer_flags(shop):
    """Groups of equal names, from the peer's own help text."""
    result = shop.execute(shop.peer, ["run", "--help"], shop.work, {"COLUMNS": "1000"})
    groups = []
    for line in result["stdout"].splitlines():
        if re.match(r"  -", line):
            names = re.findall(r"(?<![\w-])--[a-z0-9][a-z0-9-]*", line.strip().split("  ")[0])
            if names:
                groups.append(names)
    return groups


def coverage_problems(shop, cases, exempt):
    covered = {flag for case in cases for flag in case.effect}
    problems = []
    groups = peer_flags(shop)
    for names in groups:
        reasons = [exempt[name] for name in names if name in exempt]
        if not covered & set(names) and not reasons:
            problems.append(f"{'/'.join(names)} has no case that shows its effect")
    known = {name for names in groups for name in names}
    problems += [f"{name} is exempt but is no flag of the peer" for name in exempt
                 if name not in known]
    return problems


def load_cases(path):
    table = tomllib.loads(path.read_text())
    cases = [Case(**row) for row in table["case"]]
    names = [case.name for case in cases]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"case names occur twice: {sorted(twice)}")
    exempt = {flag: row["reason"] for row in table["exempt"] for flag in row["flags"]}
    return cases, exempt


def count_problems(outcomes):
    counted = [o for o in outcomes if o.case.relation in ("same", "crash")]
    have = {"command lines": len(counted),
            "end in 1": sum(o.exits[0] == 1 for o in counted),
            "end in an error": sum(o.is_error for o in counted)}
    print("\n" + ", ".join(f"{have[key]} {key} (at least {WANTED[key]})" for key in WANTED))
    return [f"only {have[key]} {key}" for key in WANTED if have[key] < WANTED[key]]


def print_failures(outcomes):
    for outcome in outcomes:
        if not outcome.failed:
            continue
        case = outcome.case
        print(f"\n--- {case.name}: {'; '.join(shlex.join(step) for step in case.run)}")
        for problem in outcome.problems or [f"passes, but is marked pending: {case.pending}"]:
            print(f"    {problem}")
        for line in outcome.diff:
            print(f"    {line}")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--vernier", help="the program under test")
    parser.add_argument("--peer", required=True, help="a Python that has polygraphy and onnx")
    parser.add_argument("--work", required=True, help="folder for models, runs and cached results")
    parser.add_argument("--packages", type=pathlib.Path,
                        help="folder of packages for those rows in which the peer has more of them")
    parser.add_argument("--filter", default="", help="regular expression on case names")
    parser.add_argument("--light", action="store_true", help="also the cases with full-size nets")
    parser.add_argument("--self-check", action="store_true",
                        help="the peer on both sides: is the table itself right?")
    options = parser.parse_args()
    if options.packages and not (options.packages / "matplotlib").is_dir():
        options.packages = None
    if options.self_check:
        options.vernier = str(pathlib.Path(options.peer).parent / "polygraphy")
    if not options.vernier or not pathlib.Path(options.vernier).exists():
        parser.error(f"no program at '{options.vernier}'")
    return options


def main():
    options = parse_options()
    suite = Suite(options)
    suite.shop.make_data(HERE.parent, options.peer, options.light)
    cases, exempt = load_cases(HERE / "cases.toml")
    chosen = [case for case in cases if re.search(options.filter, case.name)
              and (options.light or case.needs != "light")]
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        outcomes = list(pool.map(suite.judge, chosen))

    print(f"{'result':8}{'case':38}{'relation':9}{'exit':9}{'compared':10}{'lines':7}{'effects':8}")
    for outcome in outcomes:
        print(outcome.row())
    print_failures(outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    table_problems = []
    if not options.filter:
        table_problems = count_problems(outcomes) + coverage_problems(suite.shop, cases, exempt)
        for problem in table_problems:
            print(f"table: {problem}")
    pending = sum(bool(o.case.pending) and not o.failed for o in outcomes)
    if pending:
        print(f"{pending} pending")
    print(f"{len(outcomes) - failed - pending} passed, {failed + len(table_problems)} failed")
    return 1 if failed or table_problems else 0


if __name__ == "__main__":
    sys.exit(main())
