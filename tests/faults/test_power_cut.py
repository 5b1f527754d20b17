"""What a power cut leaves of a journal and of parts: nothing wrong is saved as whole, a damaged
line costs what it describes, and --resume makes again what cannot be read."""

import json
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import unittest

from fault_run import FaultTest, PATIENCE_S, VERNIER

FORMATS = ("saved.json", "saved.npz", "saved.safetensors", "saved")
TOTAL = 20


def first_part(parts):
    """Of the first runner, or of all."""
    archive = parts / "tensors.part"
    return archive if archive.exists() else parts / "0.json"


def line_of(parts, runner, iteration):
    """Where the line begins and ends in the journal."""
    journal = (parts / "journal.jsonl").read_bytes()
    begin = journal.index(b'{"runner":%d,"iteration":%d,' % (runner, iteration))
    return begin, journal.index(b"\n", begin)


def entry_of(parts, runner, iteration):
    begin, end = line_of(parts, runner, iteration)
    return json.loads((parts / "journal.jsonl").read_bytes()[begin:end])


def overwrite(path, begin, data):
    with open(path, "r+b") as file:
        file.seek(begin)
        file.write(data)


def shorten(path, count):
    with open(path, "r+b") as file:
        file.truncate(max(0, path.stat().st_size - count))


def zero_end(path, count):
    overwrite(path, path.stat().st_size - count, bytes(count))


def damage_line(parts, runner=0, iteration=5):
    """A digit of another place in the part becomes another."""
    begin, end = line_of(parts, runner, iteration)
    journal = parts / "journal.jsonl"
    line = journal.read_bytes()[begin:end]
    place = begin + line.index(b'"end":') + len(b'"end":')
    digit = journal.read_bytes()[place:place + 1]
    overwrite(journal, place, b"9" if digit != b"9" else b"8")


def damage_runtime(parts):
    """What no other checksum covers, where it is in the journal at all."""
    begin, end = line_of(parts, 0, 5)
    journal = parts / "journal.jsonl"
    line = journal.read_bytes()[begin:end]
    key = b'"runtime":' if b'"runtime":' in line else b'"iteration":'
    place = begin + line.index(key) + len(key)
    overwrite(journal, place, b"7" if line[place - begin:place - begin + 1] != b"7" else b"3")


def zero_block_of_journal(parts):
    begin, _ = line_of(parts, 0, 4)
    overwrite(parts / "journal.jsonl", begin + 30, bytes(512))


def zero_block_of_part(parts):
    entry = entry_of(parts, 0, 5)
    overwrite(first_part(parts), entry["begin"] + 60, bytes(100))


def cut_part(parts):
    entry = entry_of(parts, 0, 8)
    shorten(first_part(parts), first_part(parts).stat().st_size - entry["begin"] - 40)


def zero_end_of_part(parts):
    entry = entry_of(parts, 0, 8)
    part = first_part(parts)
    zero_end(part, part.stat().st_size - entry["begin"])


# How parts are damaged, how many iterations of a runner that may cost at most when they are
# recovered, and what is said of it.
DAMAGES = {
    "a line in the middle": (damage_line, 1, "is damaged in line"),
    "a number in the middle": (damage_runtime, 1, "is damaged in line"),
    "the first line": (lambda p: overwrite(p / "journal.jsonl", 0, b"?"), 1,
                       "is damaged in line 1"),
    "a block of the journal": (zero_block_of_journal, 5, "is damaged in line"),
    "the journal's end of zeros": (lambda p: zero_end(p / "journal.jsonl", 300), 3,
                                   "is damaged in line"),
    "the journal's end cut off": (lambda p: shorten(p / "journal.jsonl", 300), 3, None),
    "a block of a part": (zero_block_of_part, 1, "iteration 5 of runner 'good'"),
    "a part cut off": (cut_part, 12, "the part ends before the iteration does"),
    "a part's end of zeros": (zero_end_of_part, 12, "of runner '"),
    "a part that is gone": (lambda p: first_part(p).unlink(), 12, "the part is missing"),
}


class PowerCut(FaultTest):
    def setUp(self):
        super().setUp()
        self.model = self.write_model("model.onnx", ["x"], [3, 30])
        kept = tempfile.TemporaryDirectory(prefix="vernier-kept-")
        self.addCleanup(kept.cleanup)
        self.kept = pathlib.Path(kept.name)
        self.truth = None

    def options(self, name, iterations):
        return ["--runner", "good=identity", "--runner", "bad=fake", "--iterations",
                str(iterations), "--save-outputs", self.folder / name]

    def outputs_of(self, path):
        """By runner: the arrays of its iterations, as JSON has them."""
        if path.suffix != ".json":
            seen = self.kept / "told.json"
            seen.unlink(missing_ok=True)
            ended = self.tool("data", "convert", path, "-o", seen, "-q")
            self.assertEqual(ended.returncode, 0, ended)
            path = seen
        document = json.loads(path.read_text())
        return {name: [i["outputs"] for i in iterations] for name, iterations in document["lst"]}

    def whole_run(self):
        if self.truth is None:
            ended = self.begin(*self.options("whole.json", TOTAL)).end()
            self.assertEqual(ended.code, 0, ended)
            self.truth = self.outputs_of(self.folder / "whole.json")
            (self.folder / "whole.json").unlink()
        return self.truth

    def tool(self, *words):
        return subprocess.run([VERNIER, *map(str, words)], capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False)

    def leave(self, name):
        """The parts of a run that was killed, twelve iterations or so."""
        self.clear()
        run = self.begin(*self.options(name, TOTAL), behaviour="sleep=30")
        run.wait_for_stage(12)
        run.process.kill()
        self.assertEqual(run.end().code, -signal.SIGKILL)
        kept = self.kept / name
        kept.mkdir()
        for path in self.folder.glob("saved*"):
            shutil.move(path, kept / path.name)

    def clear(self):
        for path in self.folder.glob("saved*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def put_back(self, name, damage):
        self.clear()
        for path in (self.kept / name).iterdir():
            shutil.copytree(path, self.folder / path.name)
        damage(self.folder / (name + ".partial"))

    def assert_part_of_truth(self, outputs, counts, most):
        """Whole iterations in their order, of each runner but for `most`."""
        for runner, iterations in outputs.items():
            rest = iter(self.whole_run()[runner])
            for iteration in iterations:
                self.assertTrue(any(iteration == true for true in rest), f"{runner}: not the truth")
            self.assertGreaterEqual(len(iterations), counts[runner] - most, runner)

    def recover(self, name, most, words):
        parts = self.folder / (name + ".partial")
        lines = (self.kept / name / parts.name / "journal.jsonl").read_text().splitlines()
        counts = {runner: sum(f'"runner":{i},"iteration"' in line for line in lines)
                  for i, runner in enumerate(("good", "bad"))}
        rescued = self.kept / "rescued.json"
        rescued.unlink(missing_ok=True)
        ended = self.tool("data", "recover", parts, "-o", rescued)
        text = ended.stdout + ended.stderr
        if not rescued.exists():
            self.assertEqual(ended.returncode, 3, text)
            self.assertGreaterEqual(most, min(counts.values()), text)
            self.assertTrue(parts.exists())
            self.assertIn(words, text)
            return
        outputs = self.outputs_of(rescued)
        self.assert_part_of_truth(outputs, counts, most)
        all_there = all(len(outputs[runner]) == count for runner, count in counts.items())
        if words is None or (name == "saved" and words not in text and all_there):
            self.assertEqual(ended.returncode, 0, text)
            return
        self.assertEqual(ended.returncode, 7, text)
        self.assertIn(words, text)
        self.assertTrue(parts.exists(), "parts that have more stay")

    def resume(self, name, *more):
        ended = self.begin(*self.options(name, TOTAL), "--resume", *more, behaviour="sleep=0").end()
        self.assertEqual(ended.code, 0, ended)
        self.assertEqual(self.outputs_of(self.folder / name), self.whole_run())
        return ended

    def test_recovered(self):
        for name in FORMATS:
            self.leave(name)
            for what, (damage, most, words) in DAMAGES.items():
                with self.subTest(name=name, what=what):
                    self.put_back(name, damage)
                    # The parts go on behind the journal's end; --resume computes the rest anew.
                    cut = words is None and name != "saved"
                    self.recover(name, most, "ends too early" if cut else words)

    def test_resumed(self):
        for name in FORMATS:
            self.leave(name)
            for what, (damage, _, words) in DAMAGES.items():
                with self.subTest(name=name, what=what):
                    self.put_back(name, damage)
                    ended = self.resume(name)
                    if words is not None and name != "saved":
                        said = [line for line in (ended.out + ended.err).splitlines()
                                if "--resume: '" in line and words in line]
                        self.assertEqual(len(said), 1, ended)

    def test_resumed_side_by_side_and_one_after_the_other(self):
        for name in FORMATS[:3]:
            self.leave(name)
            for more in (("--parallel",), ("--sequential-runners",)):
                with self.subTest(name=name, more=more):
                    self.put_back(name, damage_line)
                    self.resume(name, *more)
                    self.put_back(name, zero_block_of_part)
                    self.resume(name, *more)

    def test_what_cannot_be_read_at_all_is_kept_and_said(self):
        """And the run starts anew, where it is known whose parts they are."""
        for name in FORMATS[:3]:
            self.leave(name)
            for words, damage in (
                    ("has lost its journal.jsonl", lambda p: (p / "journal.jsonl").unlink()),
                    ("is damaged in line 1", lambda p: zero_end(p / "journal.jsonl", (
                        p / "journal.jsonl").stat().st_size))):
                with self.subTest(name=name, words=words):
                    self.put_back(name, damage)
                    before = first_part(self.folder / (name + ".partial")).read_bytes()
                    ended = self.tool("data", "recover", self.folder / name)
                    self.assertEqual(ended.returncode, 3, ended)
                    self.assertIn(words, ended.stderr)
                    ended = self.resume(name)
                    self.assertIn(words, ended.out + ended.err)
                    left = [first_part(p) for p in self.folder.glob(name + ".partial*")]
                    self.assertEqual([p.read_bytes() for p in left], [before])

    def test_a_manifest_of_zeros_is_refused_and_stays(self):
        for name in FORMATS[:3]:
            self.leave(name)
            self.put_back(name, lambda p: zero_end(p / "manifest.json", 40))
            before = sorted(p.name for p in (self.folder / (name + ".partial")).iterdir())
            ended = self.begin(*self.options(name, TOTAL), "--resume").end()
            self.assertEqual(ended.code, 3, ended)
            self.assertIn("manifest.json", ended.err)
            self.assertEqual(sorted(p.name for p in (self.folder / (name + ".partial")).iterdir()),
                             before)

    def test_inputs(self):
        feeds = None
        for name in ("in.json", "in.npz", "in.safetensors"):
            with self.subTest(name=name):
                words = ["--runner", "bad=fake", "--iterations", str(TOTAL), "--save-inputs"]
                if feeds is None:
                    self.assertEqual(self.begin(*words, self.folder / "all.json").end().code, 0)
                    feeds = json.loads((self.folder / "all.json").read_text())
                run = self.begin(*words, self.folder / name, behaviour="sleep=30")
                run.wait_for_stage(12)
                run.process.kill()
                run.end()
                parts = self.folder / (name + ".partial")
                count = (parts / "journal.jsonl").read_bytes().count(b'"iteration":')
                damage_line(parts)
                ended = self.tool("data", "recover", parts, "-o", self.folder / (name + ".json"))
                self.assertEqual(ended.returncode, 7, ended)
                self.assertRegex(ended.stderr, r"left out: iteration\(s\) 5 of inputs .*is damaged "
                                               r"in line \d+; the parts stay")
                saved = json.loads((self.folder / (name + ".json")).read_text())
                self.assertEqual(saved, feeds[:5] + feeds[6:count])

    def test_what_is_said_is_one_sentence(self):
        self.leave("saved.npz")
        self.put_back("saved.npz", damage_line)
        ended = self.tool("data", "recover", self.folder / "saved.npz.partial", "-o",
                          self.folder / "x.npz")
        self.assertTrue(re.search(
            r"left out: iteration\(s\) 5 of runner 'good', 5 of runner 'bad' "
            r"\('.*tensors\.part': iteration 5 of runner 'good': its line in journal\.jsonl is "
            r"damaged\), later ones have moved up; '.*journal\.jsonl' is damaged in line \d+; the "
            r"parts stay in '.*saved\.npz\.partial'$", ended.stderr, re.M), ended.stderr)


if __name__ == "__main__":
    unittest.main()
