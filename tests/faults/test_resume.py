"""--resume goes on where an earlier run ended, however it ended, and makes the same file."""

import json
import shutil
import signal
import subprocess
import unittest

from fault_run import FaultTest, PATIENCE_S, VERNIER, interrupt

FORMATS = ("saved.json", "saved.npz", "saved.safetensors", "saved")
TOTAL = 40


class Resume(FaultTest):
    def setUp(self):
        super().setUp()
        self.model = self.write_model("model.onnx", ["x"], [50, 30])

    def options(self, name, iterations=TOTAL, *more):
        return ["--runner", "good=identity", "--runner", "bad=fake", "--iterations",
                str(iterations), "--save-outputs", self.folder / name, *more]

    def run_whole(self, name, *more, behaviour="", iterations=TOTAL):
        return self.begin(*self.options(name, iterations, *more), behaviour=behaviour).end()

    def inferences(self):
        """Of the fake backend in the last run."""
        note = self.notes / "note"
        return len(note.read_text().splitlines()) if note.exists() else 0

    def begin_and_wait(self, name, count, *more):
        run = self.begin(*self.options(name, 10000, *more), behaviour="sleep=30")
        run.wait_for_stage(count)
        return run

    def kill_after(self, name, count, *more):
        run = self.begin_and_wait(name, count, *more)
        run.process.kill()
        self.assertEqual(run.end().code, -signal.SIGKILL)

    def assert_whole(self, name, iterations=TOTAL):
        """The file has everything, and that of a run that nothing happened to."""
        ended = self.run_whole("whole.safetensors", iterations=iterations)
        self.assertEqual(ended.code, 0, ended)
        for saved in (name, "whole.safetensors"):
            compared = subprocess.run(
                [VERNIER, "run", "--load-outputs", self.folder / saved,
                 self.folder / "whole.safetensors", "--pairs", "all", "--atol", "0", "--rtol", "0"],
                capture_output=True, text=True, timeout=PATIENCE_S, check=False)
            self.assertEqual(compared.returncode, 0, compared.stdout + compared.stderr)
            self.assertEqual(compared.stdout.count(f"{iterations}/{iterations} iterations"), 6,
                             compared.stdout)
        self.assert_nothing_beside(name)
        path = self.folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    def assert_nothing_beside(self, name):
        left = {p.name for p in self.folder.iterdir()} - {name, "whole.safetensors", "model.onnx",
                                                          "notes"}
        self.assertEqual(left, set())

    def test_after_kill_9(self):
        for name in FORMATS:
            with self.subTest(name=name):
                self.kill_after(name, 12)
                ended = self.run_whole(name, "--resume", behaviour="sleep=0")
                self.assertEqual(ended.code, 0, ended)
                self.assertIn("--resume: continuing from", ended.out)
                self.assertIn(f"Passed: {TOTAL}/{TOTAL} iterations", ended.out)
                # Twelve had begun, so eleven at least were there; two of them are made again.
                self.assertLessEqual(self.inferences(), TOTAL - 11 + 2)
                self.assert_whole(name)

    def test_after_ctrl_c(self):
        for name in FORMATS:
            with self.subTest(name=name):
                run = self.begin_and_wait(name, 12)
                interrupt(run)
                self.assertEqual(run.end().code, 130)
                ended = self.run_whole(name, "--resume", behaviour="sleep=0")
                self.assertEqual(ended.code, 0, ended)
                self.assertLessEqual(self.inferences(), TOTAL - 11 + 2)
                self.assert_whole(name)

    def test_killed_again_and_again(self):
        for name in FORMATS:
            with self.subTest(name=name):
                for count in (5, 7, 1, 9):
                    self.kill_after(name, count, "--resume")
                ended = self.run_whole(name, "--resume", behaviour="sleep=0")
                self.assertEqual(ended.code, 0, ended)
                self.assert_whole(name)

    def test_a_runner_after_the_other(self):
        for name in FORMATS:
            with self.subTest(name=name):
                self.kill_after(name, 5, "--sequential-runners", "--iterations", str(TOTAL))
                ended = self.run_whole(name, "--resume", "--sequential-runners",
                                       behaviour="sleep=0")
                self.assertEqual(ended.code, 0, ended)
                self.assertLessEqual(self.inferences(), TOTAL - 4 + 2)
                self.assert_whole(name)

    def test_side_by_side(self):
        self.kill_after("saved.npz", 12, "--parallel")
        ended = self.run_whole("saved.npz", "--resume", "--parallel", behaviour="sleep=0")
        self.assertEqual(ended.code, 0, ended)
        self.assertLessEqual(self.inferences(), TOTAL - 10 + 2)
        self.assert_whole("saved.npz")

    def test_a_runner_that_had_crashed_catches_up(self):
        ended = self.run_whole("saved.json", behaviour="crash=SIGSEGV iteration=7")
        self.assertEqual(ended.code, 6, ended)
        self.assertEqual(self.saved_iterations(self.folder / "saved.json"),
                         {"good": TOTAL, "bad": 7})
        ended = self.run_whole("saved.json", "--resume", behaviour="sleep=0")
        self.assertEqual(ended.code, 0, ended)
        self.assertEqual(self.inferences(), TOTAL - 7 + 2)
        self.assert_whole("saved.json")

    def test_inputs_are_whole_again_too(self):
        for inputs in ("inputs.json", "inputs"):
            with self.subTest(inputs=inputs):
                self.kill_after("saved.json", 8, "--save-inputs", self.folder / inputs)
                ended = self.run_whole("saved.json", "--resume", "--save-inputs",
                                       self.folder / inputs)
                self.assertEqual(ended.code, 0, ended)
                again = self.run_whole("again.json", "--load-inputs", self.folder / inputs,
                                       "--load-outputs", self.folder / "saved.json")
                self.assertEqual(again.code, 0, again)
                self.assertIn(f"Passed: {TOTAL}/{TOTAL} iterations", again.out)
                (self.folder / "saved.json").unlink()

    def test_everything_was_there(self):
        self.run_whole("saved.json")
        ended = self.run_whole("saved.json", "--resume", behaviour="sleep=0")
        self.assertEqual(ended.code, 0, ended)
        self.assertEqual(self.inferences(), 2)
        self.assert_whole("saved.json")

    def test_nothing_was_there(self):
        ended = self.run_whole("saved.json", "--resume")
        self.assertEqual(ended.code, 0, ended)
        self.assertIn("nothing was saved at", ended.out)
        self.assert_whole("saved.json")

    def everything(self):
        """All that is in the folder, but for what the fake backend notes."""
        return {str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else None
                for path in self.folder.rglob("*") if self.notes not in (path, path.parent)}

    def assert_refused(self, name, words, *more, iterations=TOTAL):
        """Exit code 3 and a sentence, and nothing is touched."""
        before = self.everything()
        ended = self.run_whole(name, "--resume", *more, iterations=iterations)
        self.assertEqual(ended.code, 3, ended)
        self.assertIn(words, ended.err)
        self.assertEqual(self.everything(), before)
        return ended

    def start_anew(self):
        for path in self.folder.iterdir():
            if path not in (self.notes, self.model):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def test_what_is_of_another_command_is_refused_and_stays(self):
        for name in FORMATS:
            with self.subTest(name=name):
                self.run_whole(name)
                self.assert_refused(name, "was not saved by this command", "--seed", "7")
                self.assert_refused(name, "was not saved by this command", "--seed", "7",
                                    "--parallel")
                self.assert_refused(name, "is of the runners 'good', 'bad'", "--runner",
                                    "third=identity")

    def test_what_cannot_be_read_is_refused_and_stays(self):
        (self.folder / "saved.json").write_text('{"a": 1')
        self.assert_refused("saved.json", "saved.json' away to start over")

    def test_damaged_iterations_of_parts_are_made_again(self):
        """A letter of base64 that became another, as a byte of a part without an end."""
        for name, part in (("saved.json", "0.json"), ("saved.npz", "tensors.part"),
                           ("saved.safetensors", "tensors.part")):
            with self.subTest(name=name):
                self.kill_after(name, 6)
                parts = self.folder / (name + ".partial")
                lines = map(json.loads, (parts / "journal.jsonl").read_text().splitlines()[:-1])
                entry, = (line for line in lines
                          if (line.get("runner"), line.get("iteration")) == (0, 2))
                data = bytearray((parts / part).read_bytes())
                place = (entry["begin"] + entry["end"]) // 2
                data[place] = ord("A") if data[place] != ord("A") else ord("B")
                (parts / part).write_bytes(data)
                ended = self.run_whole(name, "--resume", behaviour="sleep=0")
                self.assertEqual(ended.code, 0, ended)
                self.assertRegex(ended.out + ended.err, "iteration 2 of runner 'good': .*checksum")
                self.assertIn("good: 1 iteration in ", ended.out)
                self.assert_whole(name)

    def test_parts_of_another_command_are_refused_and_stay(self):
        for name in FORMATS:
            with self.subTest(name=name):
                # The first of both iterations is done, so it is the last as well.
                self.kill_after(name, 2)
                self.assert_refused(name, "its seed is 1, this run's is 7", "--seed", "7")
                self.assert_refused(name, "Give --batch-feeds 1, or move", "--batch-feeds", "4")
                self.assert_refused(name, "runners 'good', 'bad'", "--runner", "third=identity")
                self.start_anew()

    def save_inputs(self, name, *more, iterations):
        ended = self.begin("--runner", "good=identity", "--iterations", str(iterations),
                           "--save-inputs", self.folder / name, *more).end()
        self.assertEqual(ended.code, 0, ended)

    def feeds(self, *more, iterations=4):
        """Inputs as JSON values."""
        self.save_inputs("feeds.json", *more, iterations=iterations)
        return json.loads((self.folder / "feeds.json").read_text())

    def save_from(self, feeds, name, *more):
        """A run of one runner from these inputs."""
        (self.folder / "inputs.json").write_text(json.dumps(feeds))
        return self.begin("--runner", "good=identity", "--load-inputs",
                          self.folder / "inputs.json", "--save-outputs", self.folder / name,
                          *more).end()

    def test_an_input_that_is_another_is_refused_and_nothing_is_touched(self):
        ours, others = self.feeds(), self.feeds("--seed", "7")
        for name in FORMATS:
            ended = self.save_from(ours, name)
            self.assertEqual(ended.code, 0, ended)
            for changed in (1, 3):
                with self.subTest(name=name, changed=changed):
                    if changed == 1 and name in ("saved.json", "saved"):
                        continue  # the peer's format has no room for checksums of inputs
                    feeds = ours[:changed] + [others[changed]] + ours[changed + 1:]
                    before = self.everything()
                    ended = self.save_from(feeds, name, "--resume")
                    self.assertEqual(ended.code, 3, ended)
                    self.assertIn(f"was not saved by this command: iteration {changed} of good",
                                  ended.err)
                    before["inputs.json"] = (self.folder / "inputs.json").read_bytes()
                    self.assertEqual(self.everything(), before)

    def test_parts_know_their_inputs_in_every_format(self):
        ours = self.feeds(iterations=20)
        others = self.feeds("--seed", "7", iterations=20)
        changed = ours[:2] + others[2:3] + ours[3:]
        for name in FORMATS:
            with self.subTest(name=name):
                (self.folder / "inputs.json").write_text(json.dumps(ours))
                words = ["--runner", "bad=fake", "--load-inputs", self.folder / "inputs.json",
                         "--save-outputs", self.folder / name]
                run = self.begin(*words, behaviour="sleep=30")
                run.wait_for_stage(6)
                run.process.kill()
                run.end()
                (self.folder / "inputs.json").write_text(json.dumps(changed))
                before = self.everything()
                ended = self.begin(*words, "--resume").end()
                self.assertEqual(ended.code, 3, ended)
                self.assertIn("iteration 2 of bad was made from other inputs", ended.err)
                self.assertEqual(self.everything(), before)
                (self.folder / "inputs.json").write_text(json.dumps(ours))
                ended = self.begin(*words, "--resume").end()
                self.assertEqual(ended.code, 0, ended)
                self.assertLessEqual(self.inferences(), 20 - 5 + 2)

    def test_saved_inputs_are_never_another_commands(self):
        for inputs in ("inputs", "inputs.json"):
            with self.subTest(inputs=inputs):
                words = ["--save-inputs", self.folder / inputs]
                self.run_whole("saved.json", *words)
                self.assert_refused("saved.json", "holds other inputs", "--seed", "7", *words)
                # Of another command, though the outputs are of this one.
                self.start_anew()
                self.save_inputs(inputs, "--seed", "7", iterations=TOTAL)
                self.run_whole("saved.json")
                self.assert_refused("saved.json", "holds other inputs than iteration 0", *words)
                self.start_anew()

    def test_inputs_that_nothing_was_saved_from_are_not_mixed_with_new_ones(self):
        words = ["--save-inputs", self.folder / "inputs"]
        self.save_inputs("inputs", "--seed", "7", iterations=5)
        self.assert_refused("saved.json", "holds inputs of 5 iterations", *words, iterations=2)

    def test_new_inputs_of_a_refused_run_are_removed(self):
        self.run_whole("saved.json")
        self.assert_refused("saved.json", "was not saved by this command", "--seed", "7",
                            "--save-inputs", self.folder / "inputs")

    def test_raw_inputs_are_never_overwritten_by_others(self):
        words = ["--save-input-blob", self.folder / "blobs"]
        self.run_whole("saved.json", *words)
        self.assert_refused("saved.json", "holds other bytes", "--seed", "7", *words)
        ended = self.run_whole("saved.json", *words, "--resume")
        self.assertEqual(ended.code, 0, ended)

    def test_names_that_only_begin_alike_are_the_users(self):
        for name in FORMATS:
            with self.subTest(name=name):
                self.kill_after(name, 6)
                mine = [f"{name}.partial-backup", f"{name}.partial.mine", f"{name}.partial.2x",
                        f"{name}.resumed-too.partial", f"my{name}.partial"]
                for copy in mine:
                    shutil.copytree(self.folder / f"{name}.partial", self.folder / copy)
                ended = self.run_whole(name, "--resume")
                self.assertEqual(ended.code, 0, ended)
                self.assertEqual([c for c in mine if (self.folder / c / "journal.jsonl").exists()],
                                 mine)
                self.start_anew()

    def test_parts_of_another_command_beside_stay(self):
        for name in FORMATS[:3]:  # those of a folder are worth nothing without it
            with self.subTest(name=name):
                self.kill_after(name, 4, "--seed", "7")
                other = self.folder / f"{name}.partial.5"
                (self.folder / f"{name}.partial").rename(other)
                self.kill_after(name, 8)
                ended = self.run_whole(name, "--resume")
                self.assertEqual(ended.code, 0, ended)
                self.assertTrue((other / "journal.jsonl").exists())
                shutil.rmtree(other)
                self.assert_whole(name)

    def test_what_else_is_in_a_folder_stays_in_it(self):
        self.run_whole("saved", iterations=5)
        (self.folder / "saved" / "readme.txt").write_text("mine")
        ended = self.run_whole("saved", "--resume")
        self.assertEqual(ended.code, 0, ended)
        self.assertEqual((self.folder / "saved" / "readme.txt").read_text(), "mine")
        self.assertEqual(len(list((self.folder / "saved").glob("*.json"))), TOTAL)
        self.assert_nothing_beside("saved")

    def test_what_stands_there_stays_until_the_new_one_is_whole(self):
        for name in FORMATS:
            with self.subTest(name=name):
                self.run_whole(name, iterations=10)
                before = self.everything()
                self.kill_after(name, 6, "--resume")
                after = self.everything()
                self.assertEqual({path: after.get(path) for path in before}, before)
                ended = self.run_whole(name, "--resume")
                self.assertEqual(ended.code, 0, ended)
                self.assert_whole(name)

    def test_interrupted_while_it_catches_up_loses_nothing(self):
        ended = self.run_whole("saved.json", behaviour="crash=SIGSEGV iteration=7")
        self.assertEqual(self.saved_iterations(self.folder / "saved.json"),
                         {"good": TOTAL, "bad": 7})
        before = (self.folder / "saved.json").read_bytes()
        run = self.begin(*self.options("saved.json", TOTAL, "--resume", "--sequential-runners"),
                         behaviour="sleep=100")
        run.wait_for_stage(6)  # two are made again, four are new, of which three are done
        interrupt(run)
        ended = run.end()
        self.assertEqual(ended.code, 130, ended)
        self.assertIn("--resume continues from both", ended.out)
        self.assertEqual((self.folder / "saved.json").read_bytes(), before)
        ended = self.run_whole("saved.json", "--resume", behaviour="sleep=0")
        self.assertEqual(ended.code, 0, ended)
        self.assertLessEqual(self.inferences(), TOTAL - 10 + 2)
        self.assert_whole("saved.json")

    def damage(self, name):
        """A byte of the first runner's third iteration, in parts that have checksums."""
        parts = self.folder / f"{name}.partial"
        lines = [json.loads(line) for line in (parts / "journal.jsonl").read_text().splitlines()]
        begin, = (line["begin"] for line in lines
                  if line.get("runner") == 0 and line.get("iteration") == 2)
        content = bytearray((parts / "tensors.part").read_bytes())
        content[begin + 100] ^= 1
        (parts / "tensors.part").write_bytes(content)

    def test_a_damaged_iteration_is_made_again_however_runners_take_turns(self):
        for words in ((), ("--parallel",),
                      ("--sequential-runners", "--iterations", str(TOTAL))):
            with self.subTest(words=words):
                self.kill_after("saved.safetensors", 12, *words)
                self.damage("saved.safetensors")
                ended = self.run_whole("saved.safetensors", "--resume", *words, behaviour="sleep=0")
                self.assertEqual(ended.code, 0, ended)
                self.assertIn("what cannot be read is made again", ended.out + ended.err)
                self.assertNotIn("FAILED", ended.err)
                self.assert_whole("saved.safetensors")

    def test_only_what_is_inferred_was_received(self):
        for words in ((), ("--parallel",)):
            with self.subTest(words=words):
                self.run_whole("saved.npz", *words)
                ended = self.run_whole("saved.npz", "--resume", "-vvv", *words)
                self.assertEqual(ended.code, 0, ended)
                self.assertEqual(ended.out.count("Received bytes with XXH3"), 4, ended.out)

    def test_latencies_of_an_earlier_run_are_told(self):
        self.run_whole("saved.npz")
        ended = self.run_whole("saved.npz", "--resume", "--save-record",
                               self.folder / "record.json")
        note = f"{TOTAL - 2} iterations, and how long they took, are of an earlier run"
        self.assertEqual(ended.out.count(note), 2, ended.out)
        notes = json.loads((self.folder / "record.json").read_text())["notes"]
        self.assertEqual(sum(note in n for n in notes), 2, notes)

    def test_an_end_before_everything_is_taken_over_loses_nothing(self):
        self.run_whole("saved.json")
        before = (self.folder / "saved.json").read_bytes()
        ended = self.run_whole("saved.json", "--resume", behaviour="fail=6 iteration=0")
        self.assertEqual(ended.code, 6, ended)
        self.assertEqual((self.folder / "saved.json").read_bytes(), before)
        self.assert_nothing_beside("saved.json")

    def test_fewer_iterations_than_were_there_lose_nothing(self):
        for name in FORMATS:
            with self.subTest(name=name):
                self.run_whole(name)
                before = self.everything()
                ended = self.run_whole(name, "--resume", iterations=5)
                self.assertEqual(ended.code, 0, ended)
                self.assertIn("stays as it is", ended.out)
                self.assertEqual(self.everything(), before)

    def test_fewer_iterations_than_an_unfinished_file_has_make_no_file(self):
        self.kill_after("saved.json", 12)
        before = self.everything()
        ended = self.run_whole("saved.json", "--resume", iterations=2, behaviour="sleep=0")
        self.assertEqual(ended.code, 7, ended)
        self.assertIn("saved.json' of it", ended.err)
        self.assertEqual(self.everything(), before)
        self.run_whole("saved.json", "--resume", behaviour="sleep=0")
        self.assert_whole("saved.json")

    def test_two_at_once_are_refused(self):
        for name in FORMATS:
            with self.subTest(name=name):
                run = self.begin_and_wait(name, 3)
                ended = self.run_whole(name, "--resume")
                self.assertEqual(ended.code, 3, ended)
                self.assertIn("in use: a run is saving there", ended.err)
                self.assertNotIn("move", ended.err)
                self.assertTrue((self.folder / f"{name}.partial" / "journal.jsonl").exists())
                interrupt(run)
                self.assertEqual(run.end().code, 130)

    def test_words_that_make_no_sense(self):
        ended = self.begin("--runner", "good=identity", "--resume").end()
        self.assertEqual(ended.code, 2, ended)
        self.assertIn("--save-outputs", ended.err)


if __name__ == "__main__":
    unittest.main()
