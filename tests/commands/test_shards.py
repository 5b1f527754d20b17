"""--shard and merge: however a run is divided, the merged record has the bytes of the whole one."""

import itertools
import json
import random
import sys
import unittest

import numpy as np

from program import Case, ramp

WHOLE = ["--reproducible", "--save-record", "whole.json", "--save-rows", "whole.jsonl"]


def uneven(iterations, shift):
    """Iterations that agree, differ, and hold NaN and infinity."""
    made = ramp(iterations)
    for i, outputs in enumerate(made):
        y = outputs["y"].copy()
        if i % 3 == 1:
            y.flat[i % 12] += 0.01 * i * shift
        if i % 5 == 2:
            y.flat[3] = np.nan if shift else 1
        if i % 5 == 4:
            y.flat[5] = np.inf
        outputs["y"] = y
        outputs["flat"] = np.zeros(4, np.float64) + (i == 6) * shift * 1e-300
    return made


class Shards(Case):
    def part(self, number, count):
        return f"part.shard-{number:04}-of-{count:04}.json"

    def shards(self, words, count, rule="contiguous", numbers=None):
        """The parts of all shards; each must end as a comparison does."""
        for number in numbers or range(1, count + 1):
            ended = self.vernier(*words, "--shard", f"{number}/{count}", "--shard-by", rule,
                                 "--save-record", "part.json")
            self.assertIn(ended.code, (0, 1, 4), ended.out + ended.err)
            self.assertTrue(self.path(self.part(number, count)).exists(), ended.out + ended.err)
        return [self.part(number, count) for number in numbers or range(1, count + 1)]

    def merge(self, parts, *words):
        return self.vernier("merge", *parts, "-o", "merged.json", *words)

    def expect_whole(self, parts, code, what):
        ended = self.merge(parts, "--reproducible", "--save-rows", "merged.jsonl")
        self.assertEqual(ended.code, code, f"{what}: {ended.out}{ended.err}")
        for kind in ("json", "jsonl"):
            self.assertEqual(self.path(f"merged.{kind}").read_text(),
                             self.path(f"whole.{kind}").read_text(), what)

    def save_sides(self, iterations=11):
        self.save_runs("a.json", [("A", uneven(iterations, 0.0))])
        self.save_runs("b.json", [("B", uneven(iterations, 1.0))])
        return ["compare", "a.json", "b.json"]

    def test_any_division_gives_the_bytes_of_the_whole(self):
        words = self.save_sides()
        everything = ["--compare", "simple", "l2", "cosine_similarity", "psnr", "snr", "rmse",
                      "ulp", "relative_l2"]
        order = random.Random(1)
        for options in ([], everything, ["--check-average", "--check-error-stat", "max"],
                        ["--strict"], ["--fail-fast"],
                        ["--check-error-stat", "quantile", "mean"]):
            whole = self.vernier(*words, *options, *WHOLE)
            self.assertEqual(whole.code, 1, whole.out + whole.err)
            for count, rule in ((1, "stride"), (2, "contiguous"), (3, "stride"),
                                (13, "contiguous")):
                parts = self.shards([*words, *options], count, rule)
                order.shuffle(parts)
                self.expect_whole(parts, whole.code, (options, count, rule))

    def test_parts_merge_in_any_grouping(self):
        words = self.save_sides()
        self.assertEqual(self.vernier(*words, *WHOLE).code, 1)
        for rule in ("contiguous", "stride"):
            parts = self.shards(words, 4, rule)
            for first in itertools.combinations(parts, 2):
                rest = [part for part in parts if part not in first]
                for name, group in (("one.json", first), ("two.json", rest)):
                    ended = self.vernier("merge", *group, "--partial", "-o", name)
                    self.assertEqual(ended.code, 0, ended.out + ended.err)
                self.expect_whole(["two.json", "one.json"], 1, (rule, first))
            # What several parts hold is taken once.
            self.expect_whole([*parts, "one.json", parts[2]], 1, rule)

    def test_live_runners_have_their_inputs_by_index(self):
        self.save_model("m.onnx")
        run = ["run", "m.onnx", "--onnxrt", "--onnxrt"]
        feeds = [{"x": np.arange(4, dtype=np.float32) + i} for i in range(7)]
        self.save_feeds("inputs.json", feeds)
        for options in (["--iterations", "7"], ["--load-inputs", "inputs.json"]):
            whole = self.vernier(*run, *options, *WHOLE)
            self.assertEqual(whole.code, 0, whole.out + whole.err)
            for rule in ("contiguous", "stride"):
                self.expect_whole(self.shards([*run, *options], 3, rule), 0, (options, rule))
        received = json.loads(self.path("merged.json").read_text())["runners"][0]["received"]
        self.assertEqual(received["iterations"], 7)
        # More shards than iterations: what has nothing to do has nothing to save.
        ended = self.vernier(*run, "--shard", "9/9", "--save-record", "part.json",
                             "--save-outputs", "out.npz")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertTrue(self.path(self.part(9, 9)).exists())

    def test_sizes_that_are_guessed_cost_no_shard_its_first_feed(self):
        """They are tried with the first feed of the whole run, which is one shard's alone."""
        self.save_model("m.onnx", shape=("n", 4))
        run = ["run", "m.onnx", "--onnxrt", "--onnxrt", "--iterations", "7"]
        whole = self.vernier(*run, *WHOLE, "--save-outputs", "whole.npz")
        self.assertEqual(whole.code, 0, whole.out + whole.err)
        for rule in ("contiguous", "stride"):
            self.expect_whole(self.shards(run, 3, rule), 0, rule)
        ended = self.vernier(*run, "--shard", "2/2", "--save-record", "r.json", "--save-outputs",
                             "last.npz")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        with np.load(self.path("whole.npz")) as all_of_them, \
                np.load(self.path("last.shard-0002-of-0002.npz")) as last:
            first, = [name for name in last.files if "N0" in name and name.endswith("000000/y")]
            fifth, = [name for name in all_of_them.files
                      if "N0" in name and name.endswith("000004/y")]
            np.testing.assert_array_equal(last[first], all_of_them[fifth])

    def test_fail_fast_acts_at_the_merge_whatever_inputs_are_made_from(self):
        for i, name in enumerate("abc"):
            feeds = [{"x": np.full(4, 10 * i + k, np.float32)} for k in range(3)]
            self.save_feeds(f"in/{name}.json", feeds)
        self.path("loader.py").write_text(
            "import numpy as np\nload_data = lambda: [{'x': np.full(4, 10 * i + k, np.float32)}\n"
            "                      for i in range(3) for k in range(3)]\n", encoding="utf-8")
        for bad in (0, 11, 21, 22):
            for name, added in (("good", "0"), ("bad", f"(feed['x'] == {bad})")):
                self.path(f"{name}.py").write_text(
                    f"load = lambda path: lambda feed: {{'y': feed['x'] + {added}}}\n")
            run = ["run", "--model-runner", "good.py", "--model-runner", "bad.py", "--fail-fast",
                   "--python", sys.executable]
            for inputs in (["--load-inputs", "in/*.json"], ["--load-inputs", "in/a.json"],
                           ["--data-loader-script", "loader.py"]):
                whole = self.vernier(*run, *inputs, *WHOLE)
                self.assertIn(whole.code, (0, 1), whole.out + whole.err)
                once = self.path("whole.json").read_text()
                for count, rule in ((1, "contiguous"), (2, "contiguous"), (3, "stride")):
                    parts = self.shards([*run, *inputs], count, rule)
                    self.expect_whole(parts, whole.code, (bad, inputs, count))
                # What was read ahead when the run ended does not show.
                self.vernier(*run, *inputs, *WHOLE, "--workers-per-runner", "2")
                self.assertEqual(self.path("whole.json").read_text(), once)

    def test_a_data_loader_script_is_gone_through(self):
        self.save_model("m.onnx")
        self.path("loader.py").write_text(
            "import numpy as np\n\n\ndef load_data():\n    for i in range(5):\n"
            "        yield {'x': np.arange(4, dtype=np.float32) + i}\n", encoding="utf-8")
        run = ["run", "m.onnx", "--onnxrt", "--onnxrt", "--data-loader-script", "loader.py"]
        self.assertEqual(self.vernier(*run, *WHOLE).code, 0)
        self.expect_whole(self.shards(run, 3, "stride"), 0, "script")
        ended = self.vernier(*run, "--shard", "1/3", "--save-record", "r.json")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("give it with --iterations, or --shard-by stride", ended.err)

    def test_a_data_loader_with_a_length_is_asked_for_its_own_indices(self):
        self.save_model("m.onnx")
        self.path("loader.py").write_text(
            "import numpy as np\n\n\nclass Samples:\n    def __len__(self):\n        return 5\n\n"
            "    def __getitem__(self, index):\n        with open('asked', 'a') as file:\n"
            "            file.write(f'{index} ')\n        if index == int(open('bad').read()):\n"
            "            raise IndexError(index)\n"
            "        return {'x': np.arange(4, dtype=np.float32) + index}\n\n\n"
            "def load_data():\n    return Samples()\n", encoding="utf-8")
        self.path("bad").write_text("-1")
        run = ["run", "m.onnx", "--onnxrt", "--onnxrt", "--data-loader-script", "loader.py"]
        self.assertEqual(self.vernier(*run, *WHOLE).code, 0)
        for count, rule in ((2, "contiguous"), (3, "stride"), (7, "contiguous")):
            self.path("asked").write_text("")
            parts = self.shards(run, count, rule)
            self.assertEqual(sorted(self.path("asked").read_text().split()), list("01234"))
            self.expect_whole(parts, 0, (count, rule))
        # A warm-up does not use a feed up.
        warm = [*run, "--warm-up", "2"]
        self.assertEqual(self.vernier(*warm, *WHOLE).code, 0)
        self.expect_whole(self.shards(warm, 2), 0, "warm-up")
        self.path("bad").write_text("3")
        ended = self.vernier(*run, "--shard", "2/2", "--save-record", "r.json")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("with the length 5, which has no feed 3", ended.err)
        self.assertFalse(self.path("r.shard-0002-of-0002.json").exists())

    def test_a_data_loader_with_an_order_of_its_own_is_not_asked_by_index(self):
        self.save_model("m.onnx")
        self.path("loader.py").write_text(
            "import numpy as np\n\n\nclass Frame:\n    def __len__(self):\n        return 5\n\n"
            "    def __getitem__(self, key):\n        raise KeyError(key)\n\n"
            "    def __iter__(self):\n        for i in range(5):\n"
            "            yield {'x': np.arange(4, dtype=np.float32) + i}\n\n\n"
            "def load_data():\n    return Frame()\n", encoding="utf-8")
        run = ["run", "m.onnx", "--onnxrt", "--onnxrt", "--data-loader-script", "loader.py"]
        self.assertEqual(self.vernier(*run, *WHOLE).code, 0)
        self.expect_whole(self.shards(run, 2, "stride"), 0, "iterable")
        ended = self.vernier(*run, "--shard", "1/2", "--save-record", "r.json")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("returns nothing that has feeds by index", ended.err)

    def test_a_data_set_without_samples_is_an_error_in_every_shard(self):
        self.save_model("m.onnx")
        self.path("empty.py").write_text("""
class Empty:
    def __len__(self): return 0
    def __getitem__(self, index): raise IndexError
def load_data(): return Empty()
""", encoding="utf-8")
        words = ["run", "m.onnx", "--onnxrt", "--onnxrt", "--data-loader-script", "empty.py",
                 "--python", sys.executable]
        for shard in ([], ["--shard", "1/2", "--shard-exit", "done", "--save-record", "r.json"],
                      ["--shard", "2/2", "--shard-exit", "done", "--save-record", "r.json"]):
            ended = self.vernier(*words, *shard)
            self.assertEqual(ended.code, 3, ended.out + ended.err)
            self.assertIn("the data loader gave no feed", ended.err)
        self.assertEqual(list(self.folder.glob("r.*")), [])

    def test_older_abbreviations_stay(self):
        words = self.save_sides(3)
        ended = self.vernier(*words, "--rep", "r.html")
        self.assertTrue(self.path("r.html").exists(), ended.out + ended.err)

    def test_saved_outputs_against_a_runner(self):
        self.save_model("m.onnx")
        made = self.vernier("run", "m.onnx", "--onnxrt", "--iterations", "5", "--save-outputs",
                            "golden.npz", "--save-inputs", "inputs.npz")
        self.assertEqual(made.code, 0, made.err)
        run = ["run", "m.onnx", "--onnxrt", "--load-inputs", "inputs.npz", "--load-outputs",
               "golden.npz"]
        whole = self.vernier(*run, *WHOLE)
        self.assertEqual(whole.code, 0, whole.out + whole.err)
        self.expect_whole(self.shards(run, 2), 0, "saved outputs")

    def test_a_missing_shard_is_named_with_its_command(self):
        words = self.save_sides()
        self.shards(words, 3, numbers=[1, 3])
        parts = [self.part(1, 3), self.part(3, 3)]
        ended = self.merge(parts)
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("shard 2/3 is missing: iterations 4 to 7", ended.err)
        self.assertIn("--shard 2/3", ended.err)
        self.assertFalse(self.path("merged.json").exists())
        ended = self.vernier("merge", "--status", *parts)
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("2 of 3 shards of 11 iterations are done; missing: 2", ended.out)
        for more in (["-o", "x.json"], ["--report", "x.html"], ["--save-rows", "x.jsonl"]):
            ended = self.vernier("merge", "--status", *parts, *more)
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn("--status: it only looks at the parts", ended.err)

    def test_a_line_for_each_missing_shard_but_not_for_thousands(self):
        words = self.save_sides()
        self.shards(words, 5000, numbers=[1, 5])
        ended = self.merge([self.part(1, 5000), self.part(5, 5000)])
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertEqual(ended.err.count("is missing"), 10, ended.err)
        self.assertIn("shard 2/5000 is missing: iteration 1;", ended.err)
        self.assertIn("and 4988 more shards are missing", ended.err)

    def test_rows_of_parts_without_pairs_are_refused(self):
        self.save_model("m.onnx")
        self.shards(["run", "m.onnx", "--onnxrt", "--iterations", "4"], 2)
        parts = [self.part(1, 2), self.part(2, 2)]
        ended = self.merge(parts, "--save-rows", "rows.jsonl")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("rows describe pairs", ended.err)
        self.assertFalse(self.path("rows.jsonl").exists())
        ended = self.vernier("merge", "--status", *parts)
        self.assertIn("0 agree, 0 do not, 4 not compared", ended.out)

    def test_rows_of_no_iterations_are_noted_as_by_the_whole(self):
        self.save_model("m.onnx")
        run = ["run", "m.onnx", "--onnxrt", "--onnxrt", "--iterations", "0"]
        whole = self.vernier(*run, "--reproducible", "--save-record", "whole.json", "--save-rows",
                             "rows.jsonl")
        for number in (1, 2):
            ended = self.vernier(*run, "--shard", f"{number}/2", "--save-record", "part.json")
            self.assertEqual(ended.code, whole.code, ended.out + ended.err)
        ended = self.merge([self.part(1, 2), self.part(2, 2)], "--reproducible", "--save-rows",
                           "rows.jsonl")
        self.assertEqual(ended.code, whole.code, ended.out + ended.err)
        self.assertIn("no iteration was compared, and 'rows.jsonl' was not written",
                      self.path("merged.json").read_text())
        self.assertEqual(self.path("merged.json").read_text(), self.path("whole.json").read_text())

    def test_what_was_not_compared_is_no_part(self):
        self.save_model("m.onnx")
        for seed in (1, 2):
            made = self.vernier("run", "m.onnx", "--onnxrt", "--iterations", "5", "--seed", seed,
                                "--save-outputs", f"{seed}.npz")
            self.assertEqual(made.code, 0, made.err)
        ended = self.vernier("compare", "1.npz", "2.npz", "--shard", "1/2", "--shard-exit", "done",
                             "--save-record", "part.json")
        self.assertEqual(ended.code, 4, ended.out + ended.err)
        self.assertIn("made from other inputs", ended.out + ended.err)
        self.assertIn("not every iteration was compared in every pair", ended.out + ended.err)
        self.assertFalse(self.path(self.part(1, 2)).exists())

    def test_status_of_shards_that_have_begun(self):
        words = self.save_sides()
        self.assertEqual(self.vernier(*words, "--save-rows", "rows.jsonl").code, 1)
        rows = [json.loads(line) for line in self.path("rows.jsonl").read_text().splitlines()]
        passed = [all(value == "passed" for key, value in row.items() if key.endswith("/verdict"))
                  for row in rows]
        self.shards(words, 3)
        # What a shard leaves that was killed within its third line.
        lines = self.path(self.part(2, 3)).read_text().splitlines(keepends=True)
        self.path(self.part(2, 3) + ".partial").write_text("".join(lines[:3]) + lines[3][:50])
        self.path(self.part(2, 3)).unlink()
        self.path(self.part(3, 3)).unlink()
        agreeing = sum(passed[:6])
        self.assertNotIn(agreeing, (0, 6))
        for given in ([self.part(1, 3)], [self.part(1, 3), self.part(2, 3) + ".partial"]):
            ended = self.vernier("merge", "--status", *given)
            self.assertEqual(ended.code, 4, ended.out + ended.err)
            self.assertRegex(ended.out, r"1 of 3 shards of 11 iterations are done; "
                             r"begun: 2 \(2 iterations, \d+ s ago\); missing: 3\n")
            self.assertIn(f"6 iterations so far: {agreeing} agree, {6 - agreeing} do not",
                          ended.out)

    def test_parts_that_do_not_belong_together(self):
        words = self.save_sides()
        self.shards(words, 2)
        for options in (["--atol", "0.5"], ["--compare", "l2"]):
            self.path("other").mkdir(exist_ok=True)
            ended = self.vernier(*words, *options, "--shard", "2/2", "--save-record",
                                 "other/part.json")
            self.assertIn(ended.code, (0, 1), ended.err)
            ended = self.merge([self.part(1, 2), "other/" + self.part(2, 2)])
            self.assertEqual(ended.code, 3, ended.out + ended.err)
            self.assertIn("do not belong together", ended.err)
        self.shards(words, 3, numbers=[2])
        ended = self.merge([self.part(1, 2), self.part(2, 3)])
        self.assertEqual(ended.code, 3)
        self.assertIn(f"the number of shards is 2 in '{self.part(1, 2)}' and 3 in", ended.err)
        # The same command on files that have changed.
        self.save_runs("b.json", [("B", uneven(11, 2.0))])
        self.shards(words, 2, numbers=[2])
        ended = self.merge([self.part(1, 2), self.part(2, 2)])
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("do not belong together: 'b.json' (saved outputs) has", ended.err)

    def test_a_part_is_whole_or_refused(self):
        words = self.save_sides()
        first, second = self.shards(words, 2)
        text = self.path(first).read_bytes()
        for damaged, said in ((text[:-40], "truncated"), (text[:200], "truncated"),
                              (text.replace(b'"index":3', b'"index":9'), "checksum"),
                              (b"{}\n", "not the part"), (b"", "")):
            self.path("damaged.json").write_bytes(damaged)
            ended = self.merge(["damaged.json", second])
            self.assertEqual(ended.code, 3, (said, ended.out + ended.err))
            self.assertIn(said, ended.err)
        self.assertFalse(self.path("merged.json").exists())
        json.loads(text)  # a part is one JSON object

    def test_what_cannot_be_divided_is_refused(self):
        words = self.save_sides(3)
        for options, said in ((["--shard", "0/0"], "expected K/N"),
                              (["--shard", "9/8"], "expected K/N"),
                              (["--shard", "1/2"], "--save-record"),
                              (["--shard", "auto"], "give --shard K/N"),
                              (["--shard", "1/2", "--validate"], "--validate"),
                              (["--shard", "1/2", "--tolerance", "auto"],
                               "of saved outputs nothing can be measured again"),
                              (["--shard-by", "stride"], "--shard-by")):
            record = [] if said == "--save-record" else ["--save-record", "r.json"]
            ended = self.vernier(*words, *options, *record)
            self.assertEqual(ended.code, 2, (options, ended.out + ended.err))
            self.assertIn(said, ended.out + ended.err)
        self.save_runs("b.json", [("B", uneven(2, 0.0))])
        for number in (1, 3):
            ended = self.vernier(*words, "--shard", f"{number}/3", "--save-record", "r.json")
            self.assertEqual(ended.code, 3, ended.out + ended.err)
            self.assertIn("shards need the same number on every side", ended.err)
            self.assertNotIn("PASSED", ended.out)
        self.assertFalse(list(self.folder.glob("r.*")))

    def test_launchers_say_which_shard_and_may_see_success(self):
        words = self.save_sides()
        self.variables = {"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_MIN": "1",
                          "SLURM_ARRAY_TASK_MAX": "4"}
        ended = self.vernier(*words, "--shard", "auto", "--shard-exit", "done", "--save-record",
                             "part.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("--shard auto: 2/4, from the Slurm array", ended.out)
        self.assertTrue(self.path(self.part(2, 4)).exists())


if __name__ == "__main__":
    unittest.main()
