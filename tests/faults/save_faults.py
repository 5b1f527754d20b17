"""What becomes of saved results when a system call of saving fails, or the run is killed there.

    VERNIER=path/to/vernier FAILING_CALLS=path/to/libfailing_calls.so save_faults.py [--kills N]

As a program it makes every call of saving fail in turn, in every way and every format, kills runs
at random moments, and prints a table of how many of these faults were survived.
"""

import argparse
import collections
import errno
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

from fault_run import PATIENCE_S, VERNIER, identity_model, is_sanitized

SHIM = os.environ.get("FAILING_CALLS", "")
ITERATIONS = 6
WAYS = {"ENOSPC": str(errno.ENOSPC), "EIO": str(errno.EIO), "EACCES": str(errno.EACCES),
        "ENOMEM": str(errno.ENOMEM), "half": "short", "SIGKILL": "kill"}


class Lost(Exception):
    """Something that was saved is gone, or is not what was saved."""


def tensors_of(path):
    """{name: bytes} of a safetensors file."""
    data = path.read_bytes()
    size, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + size])
    return {name: data[8 + size + e["data_offsets"][0]:8 + size + e["data_offsets"][1]]
            for name, e in header.items() if name != "__metadata__"}


class Scene:
    """A folder in which results are saved once, and again while something goes wrong."""

    SAVING = "--save-outputs"
    FORMATS = ("saved.json", "saved.npz", "saved.safetensors", "saved")
    WHAT = ""

    def __init__(self, folder):
        self.root = pathlib.Path(folder)
        self.model = self.root / "model.onnx"
        self.model.write_bytes(identity_model(["x", "y"], [5, 4]))
        self.place = self.root / "place"
        self.truth = self.load_after(self.run("truth.safetensors"), "truth.safetensors")
        self.older = self.load_after(self.run("older.safetensors", "--seed", "9"),
                                     "older.safetensors")

    def begin(self, target, *more, iterations=ITERATIONS, **options):
        return subprocess.Popen(
            [VERNIER, "run", self.model, "--runner", "a=identity", "--runner", "b=identity",
             "--iterations", str(iterations), self.SAVING, self.root / target, "-q", *more],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)

    def run(self, target, *more, **options):
        process = self.begin(target, *more, **options)
        _, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, err.decode(errors="replace")

    @staticmethod
    def tool(*words):
        ended = subprocess.run([VERNIER, *map(str, words)], stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        return ended.returncode, ended.stdout + ended.stderr

    def load_after(self, ended, target):
        if ended[0] != 0:
            raise Lost(f"an undisturbed run ended with {ended}")
        return tensors_of(self.root / target)

    def load(self, target):
        """Everything that stands at a path, through vernier itself."""
        out = self.root / "loaded.safetensors"
        out.unlink(missing_ok=True)
        code, text = self.tool("data", "convert", target, "-o", out)
        if code != 0:
            raise Lost(f"{target.name} does not load: {text}")
        return tensors_of(out)

    def prepare(self, name):
        """The folder as it is before: an older file, but no folder, which may not be there."""
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir()
        if pathlib.Path(name).suffix:
            code, err = self.run(f"place/{name}", "--seed", "9")
            if code != 0:
                raise Lost(f"the older file could not be saved: {err}")

    def disturb(self, name, number, how):
        """Saves with one call going wrong. (exit code, words on stderr, calls that were made)"""
        log, environment = self.environment(number, how)
        code, err = self.run(f"place/{name}", env=environment)
        return code, err, log.read_text().split()

    def environment(self, number, how):
        """Where the calls are written to, and what makes one go wrong."""
        log = self.root / "calls.log"
        environment = dict(os.environ, FAIL_UNDER=str(self.place), FAIL_AT=str(number),
                           FAIL_HOW=how, FAIL_LOG=str(log), LD_PRELOAD=SHIM)
        if is_sanitized():
            environment["ASAN_OPTIONS"] = (environment.get("ASAN_OPTIONS", "") +
                                           ":verify_asan_link_order=0")
        return log, environment

    def is_part_of_truth(self, tensors, what):
        """Iterations are whole and without gaps, and every byte is right."""
        for key, data in tensors.items():
            if self.truth.get(key) != data:
                raise Lost(f"{what}: {key} is not what was saved")
        counts = collections.Counter(key.rsplit("/", 1)[0] for key in tensors)
        if any(count != 2 for count in counts.values()):
            raise Lost(f"{what}: an iteration is not whole: {counts}")

    def check_target(self, name, code):
        """The old results or all of the new ones; never anything else."""
        target = self.place / name
        is_folder = not target.suffix
        if not target.exists() or (is_folder and not any(target.glob("*.json"))):
            if code == 0 or not is_folder:
                raise Lost(f"exit code {code}, and {name} is not there")
            return
        tensors = self.load(target)
        if tensors == self.truth or (code != 0 and tensors == self.older):
            return
        if code == 0 or not is_folder:
            raise Lost(f"exit code {code}, and {name} is neither the old nor the new results")
        self.is_part_of_truth(tensors, name)

    def check_parts(self, name):
        """Every iteration that the journal has can be had from the parts."""
        parts = self.place / (name + ".partial")
        journal = parts / "journal.jsonl"
        if not (parts / "manifest.json").exists() or not journal.exists():
            return
        promised = 0
        for line in journal.read_text(errors="replace").splitlines(keepends=True):
            promised += line.endswith("\n") and '"iteration"' in line
        kept = self.root / "parts.partial"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(parts, kept)
        if not pathlib.Path(name).suffix and (self.place / name).exists():
            shutil.copytree(self.place / name, self.root / "parts", dirs_exist_ok=True)
        out = self.root / "recovered.safetensors"
        out.unlink(missing_ok=True)
        code, text = self.tool("data", "recover", kept, "-o", out)
        shutil.rmtree(self.root / "parts", ignore_errors=True)
        if code != 0:
            if promised and "was saved whole" not in text:
                raise Lost(f"{promised} iterations are in the journal: {text}")
            return
        tensors = tensors_of(out)
        self.is_part_of_truth(tensors, "the parts")
        if len(tensors) != 2 * promised:
            raise Lost(f"{len(tensors) // 2} of {promised} iterations were recovered")

    def check_resume(self, name):
        """And the same command with --resume makes everything of it."""
        target = self.place / name
        if target.suffix and target.exists() and self.load(target) == self.older:
            target.unlink()  # of another seed, which --resume refuses
        code, err = self.run(f"place/{name}", "--resume")
        if code != 0 or self.load(target) != self.truth:
            raise Lost(f"--resume ended with {code}: {err}")
        # Without both files, on its way in or out, a folder holds nothing that could be read.
        left = [p.name for p in self.place.iterdir() if p != target and ".partial" in p.name and
                all((p / name).exists() for name in ("manifest.json", "journal.jsonl"))]
        if left:
            raise Lost(f"--resume left {left}")

    def check(self, name, code, err, killed=False):
        if killed:
            if code != -9:
                raise Lost(f"the run ended with {code} instead of being killed")
        elif code < 0 or (code != 0 and not err):
            raise Lost(f"the run ended with {code} and said '{err}'")
        self.check_target(name, code)
        self.check_parts(name)
        self.check_resume(name)

    def fail_recoveries(self, name):
        """Makes each call of recovering parts fail in turn; how many recoveries failed."""
        self.prepare(name)
        (self.place / name).unlink()
        process = self.begin(f"place/{name}", iterations=100_000)
        parts = self.place / (name + ".partial")
        journal = parts / "journal.jsonl"
        end = time.monotonic() + PATIENCE_S
        while not journal.exists() or journal.stat().st_size < 8000:
            if time.monotonic() > end or process.poll() is not None:
                raise Lost("no parts were made")
            time.sleep(0.01)
        process.kill()
        process.communicate(timeout=PATIENCE_S)
        lines = journal.read_text().splitlines(keepends=True)[:12]
        journal.write_text("".join(lines))
        # Parts that go on behind their journal are damage, and kept.
        ends = {}
        for entry in filter(lambda entry: "end" in entry, map(json.loads, lines)):
            part = parts / f"{entry['runner']}.json"
            part = part if part.exists() else parts / "tensors.part"
            ends[part] = max(ends.get(part, 0), entry["end"])
        for part, size in ends.items():
            os.truncate(part, size)
        kept = self.root / "kept"
        shutil.move(parts, kept)
        failed, number, calls = 0, 0, [""]
        while number < len(calls):
            shutil.rmtree(self.place)
            self.place.mkdir()
            shutil.copytree(kept, parts)
            number += 1
            ended, calls = self.disturbed([VERNIER, "data", "recover", parts, "-q"], number,
                                          WAYS["ENOSPC"])
            code, err = ended
            left = {path.name for path in self.place.iterdir()} - {name, parts.name}
            if code != 0 and (left or not journal.exists()):
                raise Lost(f"{name}: call {number} ({calls[number - 1]}) left {left}: {err}")
            failed += code != 0
        shutil.rmtree(kept)
        return failed

    def disturbed(self, words, number, how):
        """A command with one call going wrong. ((exit code, words on stderr), calls)"""
        log, environment = self.environment(number, how)
        ended = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, text=True,
                               capture_output=True, timeout=PATIENCE_S, check=False)
        return (ended.returncode, ended.stderr), log.read_text().split()

    def count_calls(self, name):
        self.prepare(name)
        code, err, calls = self.disturb(name, 0, "0")
        if code != 0 or not calls:
            raise Lost(f"counting calls: {code}, {err}")
        return len(calls)

    def fail_call(self, name, number, way):
        """One fault. Returns the name of the call; Lost when it was not survived."""
        self.prepare(name)
        code, err, calls = self.disturb(name, number, WAYS[way])
        if len(calls) < number:
            return None
        try:
            self.check(name, code, err, killed=way == "SIGKILL")
        except Lost as lost:
            raise Lost(f"{name}: call {number} ({calls[number - 1]}), {way}: {lost}") from None
        return calls[number - 1]

    def kill_at_random(self, name, chance, iterations=400):
        """A run that is killed at a moment that nobody chose."""
        self.prepare(name)
        process = self.begin(f"place/{name}", iterations=iterations)
        time.sleep(chance.uniform(0.0, 0.25))
        process.kill()
        process.communicate(timeout=PATIENCE_S)
        code = process.returncode
        truth, self.truth = self.truth, self.long_truth(iterations)
        try:
            self.check_target(name, code)
            self.check_parts(name)
        finally:
            self.truth = truth

    def long_truth(self, iterations):
        target = f"truth-{iterations}.safetensors"
        if not (self.root / target).exists():
            self.load_after(self.run(target, iterations=iterations), target)
        return tensors_of(self.root / target)


class InputScene(Scene):
    """The same for inputs, which are drawn again by the next run."""

    SAVING = "--save-inputs"
    FORMATS = ("saved.json", "saved.npz", "saved.safetensors")
    WHAT = "inputs "

    def check_resume(self, name):
        """The same command makes all of them."""
        code, err = self.run(f"place/{name}")
        if code != 0 or self.load(self.place / name) != self.truth:
            raise Lost(f"the same command ended with {code}: {err}")


class Tally:
    """How many faults of each kind there were, and which were not survived."""

    def __init__(self):
        self.faults = collections.Counter()
        self.survived = collections.Counter()
        self.lost = []

    def add(self, kind, attempt):
        try:
            if attempt() is False:
                return
            self.survived[kind] += 1
        except Lost as lost:
            self.lost.append(str(lost))
            print(f"LOST: {lost}", file=sys.stderr, flush=True)
        self.faults[kind] += 1

    def table(self):
        """Markdown: a row for each format, a column for each way."""
        ways = list(dict.fromkeys(way for _, way in self.faults))
        lines = ["| Saved as | " + " | ".join(ways) + " |", "|---" * (len(ways) + 1) + "|"]
        for form in dict.fromkeys(form for form, _ in self.faults):
            cells = [f"{self.survived[form, way]} of {self.faults[form, way]}"
                     if self.faults[form, way] else "" for way in ways]
            lines.append(f"| {form} | " + " | ".join(cells) + " |")
        total, survived = sum(self.faults.values()), sum(self.survived.values())
        return "\n".join(lines) + f"\n\nTogether: {survived} of {total} survived.\n"


def every_call(scene, tally, step):
    for name in scene.FORMATS:
        total = scene.count_calls(name)
        for way in WAYS:
            for number in range(1, total + 1, step):
                tally.add((scene.WHAT + (pathlib.Path(name).suffix or "folder"), way),
                          lambda: scene.fail_call(name, number, way) is not None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--step", type=int, default=1, help="only every so manieth call")
    parser.add_argument("--table", type=pathlib.Path, help="write the table here as well")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tally = Tally()
    for kind in (Scene, InputScene):
        with tempfile.TemporaryDirectory(prefix="vernier-saving-") as folder:
            scene = kind(folder)
            every_call(scene, tally, options.step)
            chance = random.Random(options.seed)
            for kill in range(options.kills):
                name = kind.FORMATS[kill % len(kind.FORMATS)]
                tally.add((kind.WHAT + "all", "killed at random"),
                          lambda: scene.kill_at_random(name, chance))
    table = tally.table()
    print(table, end="")
    if options.table:
        options.table.write_text(table)
    return 1 if tally.lost else 0


if __name__ == "__main__":
    sys.exit(main())
