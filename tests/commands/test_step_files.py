"""Saved outputs of steps that a run goes on with (--resume) or compares (--load-outputs), where the
run has other sequences or steps than the file."""

import json
import shutil
import sys
import unittest
import zipfile

import numpy as np

from steps_case import StepsCase

# As many sequences as the file COUNT says, which nobody knows before the last.
LOADER = """
import pathlib

import numpy as np

def load_data():
    random = np.random.default_rng(5)
    for _ in range(int(pathlib.Path("count").read_text())):
        yield {"x": random.normal(size=(1, 24)).astype("f4")}
"""

# A state inside: what it has of h, a tenth more in the network "late".
INSIDE = """
import numpy as np

h = np.zeros((1, 4), "f4")

def reset_states():
    global h
    h = np.zeros((1, 4), "f4")

def infer(feed):
    global h
    h = np.tanh({gain} * h + feed["x"])
    return {{"y": h}}
"""

# Kills the whole run at step 7 while there is a file called "fatal", when some steps have their
# files.
KILLED = """
import os, signal, time

calls = 0

def infer(feed):
    global calls
    calls += 1
    if os.path.exists("fatal") and calls == 8:
        end = time.monotonic() + 20
        while time.monotonic() < end and not os.path.exists("o/0000000004.json"):
            time.sleep(0.01)
        os.kill(os.getppid(), signal.SIGKILL)
    new = feed["x"] + feed["h"]
    return {"y": new, "hn": new}
"""


class StepFiles(StepsCase):
    def steps(self, model, count, *words):
        self.path("loader.py").write_text(LOADER, encoding="utf-8")
        self.path("count").write_text(str(count), encoding="utf-8")
        ended = self.vernier("run", *model, "--python", sys.executable, "--data-loader-script",
                             "loader.py", "--step-slice", "x:axis=1,size=4", *words)
        return ended.code, ended.out + ended.err

    def check_other_network(self, model, make, other, *words):
        make()
        code, said = self.steps(model, 3, *words, "--save-outputs", "o.npz")
        self.assertEqual(code, 0, said)
        code, said = self.steps(model, 2, *words, "--save-outputs", "o.npz", "--resume")
        self.assertEqual(code, 0, said)
        other()
        for count in (1, 2, 3):
            with self.subTest(count=count):
                self.path("o.npz").unlink()
                make()
                self.assertEqual(self.steps(model, 3, *words, "--save-outputs", "o.npz")[0], 0)
                other()
                code, said = self.steps(model, count, *words, "--save-outputs", "o.npz",
                                        "--resume")
                self.assertEqual(code, 3, said)
                self.assertIn("was not saved by this command", said)

    def test_fewer_sequences_of_another_network_are_not_resumed(self):
        for more in ((), ("--sequential-runners",)):
            with self.subTest(more=more):
                self.check_other_network(("m.onnx", "--onnxrt"), lambda: self.recurrent("m.onnx"),
                                         lambda: self.late("m.onnx"), "--feed-back", "hn:h", *more)

    def test_nor_of_a_network_with_its_state_inside(self):
        def write(gain):
            self.path("m.py").write_text(INSIDE.format(gain=gain), encoding="utf-8")
        self.check_other_network(("--model-runner", "m.py"), lambda: write(1), lambda: write(1.1))

    def test_fewer_iterations_end_with_one_that_is_made_again(self):
        """Without steps, too: the first one alone may hide what is wrong."""
        self.path("m.py").write_text("def infer(feed):\n    return {'y': feed['x']}\n",
                                     encoding="utf-8")
        words = ("run", "--model-runner", "m.py", "--python", sys.executable, "--input-shapes",
                 "x:[4]", "--save-outputs", "o.npz")
        self.assertEqual(self.vernier(*words, "--iterations", "4").code, 0)
        self.path("m.py").write_text("calls = 0\n\ndef infer(feed):\n    global calls\n"
                                     "    calls += 1\n"
                                     "    return {'y': feed['x'] + calls - 1}\n",
                                     encoding="utf-8")
        ended = self.vernier(*words, "--iterations", "3", "--resume")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("iteration 2 of ", ended.out + ended.err)

    def test_a_step_that_a_file_lacks_is_no_fault_of_the_runner(self):
        """One output of it, that the next step is fed with, and all."""
        self.recurrent("m.onnx")
        model, words = ("m.onnx", "--onnxrt"), ("--feed-back", "hn:h", "--save-outputs", "o.npz")
        for lacking in (("/0000000002/hn.",), ("/0000000002/hn.", "/0000000002/y.")):
            with self.subTest(lacking):
                self.path("o.npz").unlink(missing_ok=True)
                self.assertEqual(self.steps(model, 2, *words)[0], 0)
                with zipfile.ZipFile(self.path("o.npz")) as whole, \
                        zipfile.ZipFile(self.path("cut.npz"), "w") as cut:
                    for entry in whole.infolist():
                        if not any(part in entry.filename for part in lacking):
                            cut.writestr(entry, whole.read(entry))
                saved = self.path("cut.npz").rename(self.path("o.npz")).read_bytes()
                code, said = self.steps(model, 2, *words, "--resume")
                self.assertEqual(code, 3, said)
                self.assertIn("--resume: iteration 2 of onnxrt", said.replace("onnxruntime",
                                                                              "onnxrt"))
                self.assertIn("in 'o.npz' gave no output 'hn' at step 2 of sequence 0", said)
                self.assertIn("move 'o.npz' away to start over", said)
                self.assertNotIn("FAILED: gave", said)
                self.assertEqual(self.path("o.npz").read_bytes(), saved)

    def test_json_does_not_say_its_steps_and_is_not_resumed(self):
        self.recurrent("m.onnx")
        model, words = ("m.onnx", "--onnxrt"), ("--feed-back", "hn:h", "--save-outputs", "o.json")
        self.assertEqual(self.steps(model, 3, *words)[0], 0)
        saved = self.path("o.json").read_bytes()
        for more in ((), ("--steps", "4"), ("--steps", "3")):
            code, said = self.steps(model, 3, *words, "--resume", *more)
            self.assertEqual(code, 3, said)
            self.assertIn("--resume: 'o.json' does not say which steps it holds", said)
            self.assertEqual(self.path("o.json").read_bytes(), saved)

    def test_a_folder_that_was_not_filled_is_resumed(self):
        """Its files do not say their steps; the parts beside it do."""
        self.path("sum.py").write_text(KILLED, encoding="utf-8")
        model = ("--runner", "a=sum.py")
        words = ("--feed-back", "hn:h", "--load-inputs", "x.npz", "--step-slice",
                 "x:axis=1,size=4", "--python", sys.executable)
        np.savez(self.path("x.npz"), x=np.ones((1, 48), "f4"), h=np.zeros((1, 4), "f4"))

        def run(*more):
            ended = self.vernier("run", *model, *words, "--save-outputs", *more)
            return ended.code, ended.out + ended.err

        self.assertEqual(run("whole")[0], 0)
        self.path("fatal").write_text("", encoding="utf-8")
        code, said = run("o")
        self.assertEqual(code, -9, said)
        self.path("fatal").unlink()
        shutil.copytree(self.path("o.partial"), self.path("parts"))
        code, said = run("o", "--resume")
        self.assertEqual(code, 0, said)
        self.assertIn("saved iterations: a: ", said)
        for step in range(12):
            name = f"{step:010}.json"
            made, whole = (json.loads((self.path(folder) / name).read_text(encoding="utf-8"))
                           ["lst"][0][1][0]["outputs"] for folder in ("o", "whole"))
            self.assertEqual(made, whole, step)
        # The folder of these parts is elsewhere.
        shutil.rmtree(self.path("o"))
        self.path("parts").rename(self.path("o.partial"))
        code, said = run("o", "--resume")
        self.assertEqual(code, 0, said)
        self.assertIn(".json' is missing, into which it may have been moved: put that back if it "
                      "is elsewhere", said)

    def test_json_of_another_number_of_steps_is_not_compared(self):
        self.recurrent("m.onnx")
        model, words = ("m.onnx", "--onnxrt"), ("--feed-back", "hn:h")
        self.assertEqual(self.steps(model, 3, *words, "--save-outputs", "o.json")[0], 0)
        load = (*words, "--load-outputs", "o.json")
        for more in ((), ("--sequential-runners",)):
            with self.subTest(more=more):
                code, said = self.steps(model, 3, *load, *more)
                self.assertEqual(code, 0, said)
                for count, here in ((2, "12 steps"), (4, "24 steps" if more else
                                                      "more than 18 steps")):
                    code, said = self.steps(model, count, *load, *more)
                    self.assertEqual(code, 3, said)
                    self.assertIn("'o.json' has 18 iterations of onnxrt", said.replace(
                        "onnxruntime", "onnxrt"))
                    self.assertIn(f"and this run {here} over all sequences", said)
                code, said = self.steps(model, 3, *load, "--steps", "4", *more)
                self.assertEqual(code, 3, said)

    def save_two(self, path, *words):
        self.recurrent("m.onnx")
        self.late("late.onnx")
        code, said = self.steps(("--runner", "a=onnxrt m.onnx", "--runner", "b=onnxrt late.onnx"),
                                2, "--atol", "9", "--save-outputs", path, *words)
        self.assertEqual(code, 0, said)

    def beside(self, path, pair, *words, model="m.onnx"):
        return self.steps(("--runner", f"x=onnxrt {model}"), 2, "--load-outputs", f"f={path}",
                          "--pairs", f"x:f: {pair}", *words)

    def test_outputs_saved_with_the_state_of_another_runner_are_not_compared(self):
        for path in ("r.npz", "r.safetensors"):
            with self.subTest(path):
                self.save_two(path, "--feed-back", "hn:h", "--state", "reference")
                code, said = self.beside(path, "b", "--feed-back", "hn:h", "--atol", "9")
                self.assertEqual(code, 4, said)
                self.assertIn("x vs. f: b: the steps of 'f: b' were fed with --state reference, "
                              "and those of 'x' with --state own: give both the same --state, or "
                              "save the outputs again", said)

    def test_outputs_whose_state_was_their_own_are_compared(self):
        """As was that of the first runner of a file, whatever --state said."""
        for state in ("own", "reference", "cross"):
            self.save_two("s.npz", "--feed-back", "hn:h", "--state", state)
            for runner, model in (("a", "m.onnx"), ("b", "late.onnx")):
                with self.subTest(state=state, runner=runner):
                    code, said = self.beside("s.npz", runner, "--feed-back", "hn:h", "--steps",
                                             "6", model=model)
                    alike = runner == "a" or state != "reference"
                    self.assertEqual(code, 0 if alike else 4, said)

    def test_outputs_of_one_reference_are_compared(self):
        words = ("--feed-back", "hn:h", "--state", "reference")
        self.save_two("s.npz", *words)
        code, said = self.steps(("--runner", "x=onnxrt m.onnx", "--runner", "y=onnxrt late.onnx"),
                                2, "--load-outputs", "f=s.npz", "--pairs", "y:f: b", *words)
        self.assertEqual(code, 0, said)

    def test_outputs_of_other_words_of_steps_are_not_compared(self):
        self.recurrent("m.onnx")
        self.recurrent("other.onnx", state="s")
        runs = {"auto": ("--feed-back", "auto"),
                "hop": ("--step-slice", "x:axis=1,size=4,hop=2", "--steps", "6"),
                "advance": ("--steps", "6", "--advance", "x:+0.5")}
        def run(model, words, *more):
            self.save_feeds("feeds.json", self.recordings(1 if "--advance" in words else 6))
            slices = () if len(words) > 2 else ("--step-slice", "x:axis=1,size=4")
            feeding = () if "auto" in words else ("--feed-back", "hn:h")
            return self.vernier("run", model, "--onnxrt", "--load-inputs", "feeds.json", "--atol",
                                "9", *slices, *feeding, *words, *more)
        for name, words in runs.items():
            self.assertEqual(run("m.onnx", words, "--save-outputs", f"{name}.npz").code, 0)
            for other, file in ((n, f"{n}.npz") for n in runs if self.path(f"{n}.npz").exists()):
                with self.subTest(saved=other, run=name):
                    ended = run("m.onnx", words, "--load-outputs", file)
                    self.assertEqual(ended.code, 0 if other == name else 4,
                                     ended.out + ended.err)
        # Nothing is known of a network whose inputs have other names.
        ended = run("other.onnx", runs["auto"], "--load-outputs", "auto.npz", "--map-outputs",
                    "sn=hn")
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_nor_those_without_steps(self):
        self.recurrent("m.onnx")
        words = ("run", "m.onnx", "--onnxrt", "--iterations", "4", "--atol", "9")
        steps = ("--steps", "2", "--feed-back", "hn:h")
        self.assertEqual(self.vernier(*words, "--save-outputs", "without.npz").code, 0)
        self.assertEqual(self.vernier(*words, *steps, "--save-outputs", "with.npz").code, 0)
        self.assertEqual(self.vernier(*words, "--iterations", "8", "--save-outputs",
                                      "without.npz").code, 0)
        fed = "has steps (--feed-back hn:h), and "
        for load in (("run", "m.onnx", "--onnxrt", "--iterations", "8", "--atol", "9",
                      "--load-outputs", "with.npz"),
                     (*words, *steps, "--load-outputs", "without.npz"),
                     ("compare", "with.npz", "without.npz", "--atol", "9")):
            with self.subTest(load):
                ended = self.vernier(*load)
                self.assertEqual(ended.code, 4, ended.out + ended.err)
                self.assertIn(fed, ended.out + ended.err)
                self.assertIn("has none: give the options that make steps to both",
                              ended.out + ended.err)

    def test_two_files_that_were_fed_otherwise_are_not_compared(self):
        self.save_two("own.npz", "--feed-back", "hn:h")
        self.save_two("other.npz", "--feed-back", "hn:h", "--state", "reference")
        for path in ("own.npz", "other.npz"):  # of b alone: what `data` makes of a file says it
            made = self.vernier("data", "convert", path, "--runner", "b", "-o", f"b_{path}")
            self.assertEqual(made.code, 0, made.out + made.err)
        for first, second in (("own", "other"), ("other", "own")):
            for make in (("data", "select", f"b_{second}.npz", "--iterations", "0-5", "-o",
                          "again.npz"),
                         ("data", "convert", f"b_{second}.npz", "-o", "again.safetensors"),
                         ("data", "concat", f"b_{second}.npz", "-o", "again.npz")):
                with self.subTest(first=first, make=make):
                    made = self.vernier(*make)
                    self.assertEqual(made.code, 0, made.out + made.err)
                    ended = self.vernier("compare", f"b_{first}.npz", make[-1], "--atol", "9")
                    self.assertEqual(ended.code, 4, ended.out + ended.err)
                    self.assertIn("were fed with --state ", ended.out + ended.err)

    def test_one_state_by_other_words_is_the_same(self):
        self.recurrent("m.onnx")
        model = ("m.onnx", "--onnxrt")
        self.assertEqual(self.steps(model, 2, "--feed-back", "auto", "--save-outputs",
                                    "auto.npz")[0], 0)
        code, said = self.steps(model, 2, "--feed-back", "hn:h", "--load-outputs", "auto.npz")
        self.assertEqual(code, 0, said)

    def test_another_initial_state_is_named(self):
        self.recurrent("m.onnx")
        model, words = ("m.onnx", "--onnxrt"), ("--feed-back", "hn:h", "--atol", "9")
        for name, value in (("one", 1), ("two", 2)):
            np.savez(self.path(f"{name}.npz"), h=np.full((1, 4), value, "f4"))
        begin = {"": (), "one": ("--initial-state", "one.npz"),
                 "two": ("--initial-state", "two.npz")}
        for name, state in begin.items():
            code, said = self.steps(model, 2, *words, *state, "--save-outputs", f"s{name}.npz")
            self.assertEqual(code, 0, said)
        for saved in begin:
            for name, state in begin.items():
                with self.subTest(saved=saved, run=name):
                    code, said = self.steps(model, 2, *words, *state, "--load-outputs",
                                            f"s{saved}.npz")
                    self.assertEqual(code, 0 if saved == name else 4, said)
                    self.assertEqual(saved != name, "give both the same --initial-state" in said,
                                     said)

    def test_another_method_that_resets_is_named(self):
        self.path("m.py").write_text(INSIDE.format(gain=1) + "\n\ndef clear():\n    pass\n",
                                     encoding="utf-8")
        words = ("--model-runner", "m.py")
        code, said = self.steps(words, 2, "--reset", "clear", "--save-outputs", "o.npz")
        self.assertEqual(code, 0, said)
        code, said = self.steps(words, 2, "--reset", "clear", "--load-outputs", "o.npz")
        self.assertEqual(code, 0, said)
        code, said = self.steps(words, 2, "--load-outputs", "o.npz", "--atol", "99")
        self.assertEqual(code, 4, said)
        self.assertIn("were fed with --reset clear, and those of", said)

    def test_a_file_that_does_not_say_how_it_was_fed_is_compared_with_a_warning(self):
        self.recurrent("m.onnx")
        model, words = ("m.onnx", "--onnxrt"), ("--feed-back", "hn:h")
        self.assertEqual(self.steps(model, 1, *words, "--save-outputs", "o.json")[0], 0)
        code, said = self.steps(model, 1, *words, "--load-outputs", "o.json")
        self.assertEqual(code, 0, said)
        self.assertEqual(said.count("'o.json' does not say how its steps were fed"), 1, said)
        self.assertEqual(self.steps(model, 1, *words, "--save-outputs", "o.npz")[0], 0)
        code, said = self.steps(model, 1, *words, "--load-outputs", "o.npz")
        self.assertEqual(code, 0, said)
        self.assertNotIn("does not say how", said)
        # One of another tool has the right format already.
        with np.load(self.path("o.npz")) as saved:
            np.savez(self.path("q.npz"), **{k: saved[k] for k in saved if not k.startswith("_")})
        code, said = self.steps(model, 1, *words, "--load-outputs", "q.npz")
        self.assertEqual(code, 0, said)
        self.assertIn("save it again with this version of vernier, which writes it into such files",
                      said)
        # Without steps nothing is asked.
        self.assertEqual(self.vernier("run", *model, "--save-outputs", "p.json").code, 0)
        ended = self.vernier("run", *model, "--load-outputs", "p.json")
        self.assertNotIn("does not say how", ended.out + ended.err)

    def test_a_runner_of_a_file_that_does_not_say_it_is_named_too(self):
        """Its marks of inputs may be there: those of an earlier version have no more."""
        words = ("--feed-back", "hn:h")
        self.save_two("all.npz", *words)
        with zipfile.ZipFile(self.path("all.npz")) as whole, \
                zipfile.ZipFile(self.path("s.npz"), "w") as cut:
            for entry in whole.infolist():
                content = whole.read(entry)
                if entry.filename == "__vernier__.json":
                    metadata = json.loads(content)
                    del metadata["runs"][0]["steps"]
                    content = json.dumps(metadata)
                cut.writestr(entry, content)
        said = [self.beside("s.npz", "a", *words), self.beside("s.npz", "b", *words, "--atol", "9")]
        ended = self.vernier("compare", "s.npz", "--atol", "9")
        said.append((ended.code, ended.out + ended.err))
        for (code, text), warnings in zip(said, (1, 0, 1), strict=True):
            self.assertEqual(code, 0, text)
            self.assertEqual(text.count("'s.npz' does not say how its steps were fed"), warnings,
                             text)


if __name__ == "__main__":
    unittest.main()
