#!/usr/bin/env python3
"""Runs every command that the documentation shows, and compares what it shows of their output.

Usage: run_commands.py [PAGE...]
Environment: VERNIER, the program.

The console blocks of a page run in their order, in a fresh folder of its own which holds links to
`examples` and to the program as `vernier` on PATH and as build/release/bin/vernier; $DOCS is this
folder. A command has to
end with 0, or with what `# exit code N` behind it says. Remarks in front of a block:

  <!-- prepare: COMMAND -->   run before the block; readers do not see it
  <!-- not run: REASON -->    the block cannot be run here; it is counted and listed

Exits 1 when a command ended or printed otherwise.
"""

import concurrent.futures
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "docs/site"))
import pages  # noqa: E402
from shown_output import first_difference  # noqa: E402

SECONDS = 60  # for one command
SHELLS = ("console", "shell", "bash", "sh")
# Why a block may be left out. What can be run has to be.
REASONS = ("needs an NVIDIA GPU", "needs TensorRT", "needs TensorFlow", "needs PyTorch",
           "needs Slurm", "needs MPI", "needs Ray", "needs Kubernetes",
           "installs packages", "builds ", "needs the network", "takes minutes")


class Shell:
    """Commands of one page: each in a bash of its own that takes over folder and variables."""

    def __init__(self, folder):
        self.folder = folder
        self.state = folder / ".state"
        self.state.write_text(f"cd {folder}/page\n", encoding="utf-8")
        page = folder / "page"
        (page / "build/release/bin").mkdir(parents=True)
        program = pathlib.Path(os.environ["VERNIER"]).resolve()
        (page / "build/release/bin/vernier").symlink_to(program)
        (page / "examples").symlink_to(pages.ROOT / "examples")
        self.environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "LC_ALL": "C.UTF-8",
                            "PYTHONDONTWRITEBYTECODE": "1",
                            "DOCS": str(pathlib.Path(__file__).parent),
                            "PATH": f"{page}/build/release/bin:{os.environ['PATH']}"}

    def run(self, command):
        """The exit code and the lines printed, errors among them."""
        script = (f". {self.state}\n{command}\nstatus=$?\n"
                  f"{{ export -p; echo \"cd '$PWD'\"; }} >{self.state}\nexit $status\n")
        with subprocess.Popen(["bash", "-c", script], env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, errors="replace",
                              start_new_session=True) as process:
            try:
                printed, _ = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # with all that it started
                raise
        return process.returncode, [line.rstrip() for line in printed.splitlines()]


def check_command(shell, command):
    """None, or what is wrong."""
    try:
        code, lines = shell.run(command.text)
    except subprocess.TimeoutExpired:
        return f"did not end within {SECONDS} s"
    problem = None
    if code != command.exit_code:
        problem = f"exit code {code} instead of {command.exit_code}"
    elif command.shown:
        problem = first_difference(command.shown, lines)
    if problem is None:
        return None
    return "\n      ".join([problem, "it printed:"] + lines[:40])


class Outcome:
    def __init__(self, name):
        self.name = name
        self.commands = self.compared = 0
        self.wrong, self.left_out = [], []
        self.seconds = 0.0


def run_block(shell, block, outcome):
    for preparation in block.prepare:
        code, lines = shell.run(preparation)
        if code:
            outcome.wrong.append((block.line, preparation, "\n      ".join(
                [f"the preparation ended with {code}"] + lines)))
    for command in block.commands():
        outcome.commands += 1
        outcome.compared += bool(command.shown)
        problem = check_command(shell, command)
        if problem:
            outcome.wrong.append((command.line, command.text, problem))


def run_page(name):
    outcome = Outcome(name)
    start = time.monotonic()
    blocks = [block for block in pages.Page(name).blocks if block.language in SHELLS]
    with tempfile.TemporaryDirectory(prefix="docs-") as folder:
        shell = Shell(pathlib.Path(folder))
        for block in blocks:
            if not block.not_run:
                run_block(shell, block, outcome)
                continue
            outcome.left_out.append((block.line, len(block.commands()), block.not_run))
            if not block.not_run.startswith(REASONS):
                outcome.wrong.append((block.line, "not run: " + block.not_run,
                                      "no reason that counts; those are: " + ", ".join(REASONS)))
    outcome.seconds = time.monotonic() - start
    return outcome


def main(given):
    names = given or pages.all_pages()
    # The longest first.
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        outcomes = list(pool.map(run_page, names))
    for outcome in outcomes:
        for line, command, problem in outcome.wrong:
            print(f"{outcome.name}:{line}: $ {command}\n    {problem}")
    if any(outcome.wrong for outcome in outcomes):
        print("\nA block that cannot be run here gets a line `<!-- not run: REASON -->` in front of it;"
              " files that it\ntakes for granted come from `<!-- prepare: COMMAND -->`. See"
              " CONTRIBUTING.md, Documentation.")
    left_out = [(outcome.name, *entry) for outcome in outcomes for entry in outcome.left_out]
    count = sum(entry[2] for entry in left_out)
    print(f"\nNot run: {len(left_out)} blocks with {count} commands")
    for name, line, count, reason in left_out:
        print(f"  {name}:{line}: {count} command{'s' if count > 1 else ''}: {reason}")
    commands = sum(outcome.commands for outcome in outcomes)
    wrong = sum(len(outcome.wrong) for outcome in outcomes)
    slowest = max(outcomes, key=lambda outcome: outcome.seconds)
    print(f"\nRan {commands} commands of {sum(o.commands > 0 for o in outcomes)} pages, compared the"
          f" output of {sum(o.compared for o in outcomes)}; {wrong} wrong; slowest page:"
          f" {slowest.name}, {slowest.seconds:.1f} s")
    if not given and commands < 170:
        print("too few commands: were the blocks found?")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
