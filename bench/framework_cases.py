"""What runners add to their frameworks, and how fast workers are: cases of the bench."""

import json
import pathlib
import statistics
import subprocess

from cases import Row, Section, verdict

ROOT = pathlib.Path(__file__).resolve().parent.parent

# The interpreter that has each, and what installs it.
FRAMEWORKS = {"tensorflow": (ROOT / ".deps/tensorflow/bin/python", "TensorFlow"),
              "torch": (pathlib.Path("/usr/bin/python3"), "PyTorch")}
GOAL = 5  # per cent


def _overhead_rows(setting):
    for name, (python, called) in FRAMEWORKS.items():
        words = [python, ROOT / "bench/framework_overhead.py", name, "--json", "--vernier",
                 setting.vernier, "--rounds", 100 if setting.quick else 300, "--turns",
                 3 if setting.quick else 15]
        try:
            done = subprocess.run([str(word) for word in words], env=setting.env,
                                  capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            lines = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
            yield Row(called, "–", f"not measured: {lines[-1]} (scripts/deps.sh --with {name})")
            continue
        for figures in map(json.loads, done.stdout.splitlines()):
            waiting = figures["waiting"]  # of short inferences
            what = f"{called}, {figures['size']}"
            if waiting:
                yield Row(f"{what}, the bare program, waiting between inferences",
                          f"{waiting * 1e6:.1f} µs", "")
            for command in ("profile", "run"):
                yield _overhead_row(f"{what}, `{command}`", figures["bare"], figures[command])


def _overhead_row(what, bare, measured):
    added = measured - bare
    share = 100 * added / bare
    return Row(what, f"{bare * 1e6:.1f} µs", f"{measured * 1e6:.1f} µs",
               f"{share:+.1f} %, {added * 1e6:+.1f} µs", f"≤ +{GOAL} %", verdict(share <= GOAL))


def overhead(setting):
    return Section("10. What runners add to their frameworks",
                   "A perceptron of 2, 6 and 12 layers (64, 512 and 1024 wide; 1, 32 and 64 "
                   "rows): the median inference of a bare program that calls the library and "
                   "nothing else, in the first column, and those that `profile` and `run` report, "
                   "in up to 15 turns, their median. A measurement takes about half a second, and "
                   "has at least 5 inferences. The goal holds for every size. One of less than "
                   "0.1 ms cannot meet it while the runner is a process of its own, which has to "
                   "wake for each feed: for these the bare program is also run with a pause "
                   "before each inference, which shows what waking costs the library itself. Both "
                   "use all processors: another job on the machine decides the figures.",
                   list(_overhead_rows(setting)), against="bare program", compared="Added")


def _met(values, goal):
    limit, middle = float(goal.split()[1]), statistics.median(values)
    return middle <= limit if goal.startswith("<=") else middle >= limit


def workers(setting):
    words = [setting.peer_python, ROOT / "bench/python_worker.py", "--json", "--vernier",
             setting.vernier]
    done = subprocess.run([str(word) for word in words], env=setting.env, capture_output=True,
                          text=True, check=True)
    rows = []
    for figure in map(json.loads, done.stdout.splitlines()):
        values, goal, unit = figure["values"], figure["goal"], figure["unit"]
        rows.append(Row(figure["what"], "–",
                        f"{statistics.median(values):.3g} [{min(values):.3g}–{max(values):.3g}] "
                        f"{unit}", "", goal.replace("<=", "≤").replace(">=", "≥"),
                        verdict(_met(values, goal)) if goal else ""))
    return Section("9. Workers",
                   "`bench/python_worker.py` in vernier's place: the Python worker with an "
                   "identity model that hands on what it is given, or returns a new array "
                   "each time; and `vernier worker` with the identity plug-in.", rows)


CASES = {"workers": workers, "frameworks": overhead}
