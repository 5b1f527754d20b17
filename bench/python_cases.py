"""The Python package: what importing it costs, and what a comparison costs beside the command's."""

import argparse
import pathlib
import subprocess
import sys

import measure
from rows import Row, Section

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = pathlib.Path(__file__).with_name("python_package.py")
IMPORT_MS, SHARE = 30, 5  # goals: milliseconds, per cent over the command
TITLE = "13. The Python package"
NOTE = ("The wheel of the build in an environment of its own. `import vernier` as often as other "
        "commands; and two arrays of 1 GiB of float32 (with `--quick` 256 MiB): `vernier compare "
        "a.npz b.npz` and a Python script that calls `vernier.compare` of the same files, both "
        "from the start of the process to its end, in turns, with the log at the same level: "
        "these have the goal. The figures of a call alone, in a Python that has started and "
        "imported, are less work than the command does, with arrays in memory less still; they "
        "stand here without a ratio.")


def _environment(setting):
    """A Python with the wheel of the build folder; SystemExit says what is missing."""
    sys.path.insert(0, str(ROOT / "python" / "tests"))
    import run_in_fresh_environment as fresh
    deps = ROOT / ".deps" / "wheel"
    work = setting.folder / "python"
    work.mkdir()
    asked = argparse.Namespace(source=ROOT, build=setting.build_dir, tools=deps / "bin/python",
                               wheels=deps / "wheels", work=work)
    return str(fresh.new_environment(asked, fresh.make_wheel(asked)))


def _figures(setting, python, folder):
    def inside(what, *more):
        done = subprocess.run([python, str(SCRIPT), what, *map(str, more)], check=True,
                              capture_output=True, text=True, env=setting.env)
        return float(done.stdout)

    def whole(*words):
        return measure.run(list(map(str, words)), setting.env, folder / "compare.log").wall

    def command(*words):
        return whole(setting.vernier, "compare", folder / "a.npz", folder / "b.npz", *words)

    def script(level):
        return whole(python, SCRIPT, "files", folder, level)

    jobs = {"import": lambda: inside("import"), "names": lambda: inside("names"),
            "command": command, "script": lambda: script("INFO"),
            "arrays": lambda: inside("arrays", folder, "INFO"),
            "files": lambda: inside("files", folder, "INFO"),
            "silent command": lambda: command("--silent"),
            "silent script": lambda: script("CRITICAL"),
            "silent arrays": lambda: inside("arrays", folder, "CRITICAL")}
    for job in jobs.values():  # the files are read once, and Python's own caches written
        job()
    return {name: measure.Figure.of(values)
            for name, values in measure.alternate(jobs, setting.rounds).items()}


def _rows(found):
    loading = found["import"]
    yield Row("`import vernier`", "–", f"{loading.text(1e3, 1)} ms", "", f"≤ {IMPORT_MS} ms",
              "met" if loading.median * 1e3 <= IMPORT_MS else "missed")
    yield Row("the same with all of its names, which are loaded when first used", "–",
              f"{found['names'].text(1e3, 1)} ms")
    for kind, what in (("", ""), ("silent ", ", without a log")):
        command, script = found[f"{kind}command"], found[f"{kind}script"]
        added = 100 * (script.median / command.median - 1)
        yield Row(f"`vernier compare`, the command{what}", "–", f"{command.text()} s")
        yield Row(f"a script with `vernier.compare` of the same files{what}", "–",
                  f"{script.text()} s", f"{added:+.1f} %", f"≤ +{SHARE} %",
                  "met" if added <= SHARE else "missed")
    for name, what in (("files", "the same files"), ("arrays", "arrays in memory"),
                       ("silent arrays", "arrays in memory, without a log")):
        yield Row(f"the call alone, {what}: less work than the command's", "–",
                  f"{found[name].text()} s")


def package(setting):
    try:
        python = _environment(setting)
    except (SystemExit, OSError) as error:
        why = str(error).strip().splitlines()[-1]
        return Section(TITLE, NOTE, [Row("the wheel", "–", f"not measured: {why} (scripts/deps.sh "
                                         "--with wheel)", verdict="not run")])
    folder = setting.folder / "python"
    mib = 256 if setting.quick else 1024
    subprocess.run([python, str(SCRIPT), "make", str(folder), str(mib)], check=True, env=setting.env)
    found = _figures(setting, python, folder)
    for name in ("a", "b"):
        (folder / f"{name}.npz").unlink()
    return Section(TITLE, NOTE, list(_rows(found)), compared="Added")


CASES = {"python": package}
