"""Shards that were killed go on; what is kept for those that come later."""

import json
import sys
import time
import unittest

import numpy as np

from parts_case import PartsCase


class CountedFeeds(PartsCase):
    FILES = 70

    def setUp(self):
        super().setUp()
        self.variables = {"XDG_CACHE_HOME": str(self.path("cache"))}
        for i in range(self.FILES):
            feeds = [{"x": np.full(4, 10 * i + k, np.float32)} for k in range(1 + i % 3)]
            self.save_feeds(f"in/{i:03}.json", feeds)
        self.words = [*self.command, "--load-inputs", "in/[0-9]*.json"]

    def kept(self):
        return list(self.path("cache/vernier").glob("feeds-*"))

    def expect_whole(self):
        whole = self.vernier(*self.words, "--reproducible", "--save-record", "whole.json")
        self.assertEqual(whole.code, 0, whole.out + whole.err)
        parts = [self.shard(number, *self.words, count=3) for number in (3, 1, 2)]
        ended = self.vernier("merge", *parts, "-o", "merged.json", "--reproducible")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual(self.path("merged.json").read_text(), self.path("whole.json").read_text())
        return parts

    def test_how_many_feeds_files_hold_is_kept_until_one_changes(self):
        self.expect_whole()
        self.assertEqual(self.kept(), [])  # files that were written just now may change unseen
        time.sleep(4.5)
        self.expect_whole()
        one, = self.kept()
        number, text = one.stat().st_ino, one.read_text()
        self.assertEqual(len(text.splitlines()), self.FILES + 3)
        self.expect_whole()
        self.assertEqual(one.stat().st_ino, number)  # it was used, and not made again
        # What is damaged is not used.
        one.write_text(text.replace("\n1\n2\n", "\n2\n2\n", 1))
        self.expect_whole()
        self.assertEqual(one.read_text(), text)
        # Nor what is about other files than there are now.
        self.save_feeds("in/001.json", [{"x": np.full(4, 5, np.float32)}] * 7)
        parts = self.expect_whole()
        total = json.loads(self.path(parts[0]).read_text())["end"]["total"]
        self.assertEqual(total, sum(1 + i % 3 for i in range(self.FILES)) + 5)

    def test_a_folder_that_cannot_be_written_does_not_matter(self):
        time.sleep(4.5)
        self.path("cache").write_text("no folder")
        self.expect_whole()


class KilledShards(PartsCase):
    WORDS = ["run", "m.onnx", "--onnxrt", "--model-runner", "kills.py", "--iterations", "23",
             "--python", sys.executable]

    def test_a_shard_that_was_killed_goes_on(self):
        whole = self.vernier(*self.WORDS, "--reproducible", "--save-record", "whole.json",
                             "--save-rows", "whole.jsonl")
        self.assertEqual(whole.code, 0, whole.out + whole.err)
        for more in ((), ("--workers-per-runner", "2"), ("--shard-by", "stride")):
            shard = [*self.WORDS, *more, "--save-outputs", "o.npz", "--save-rows", "r.jsonl",
                     "--save-record", "r.json"]
            self.path("deadly").touch()
            self.path("calls").write_text("")
            killed = self.vernier(*shard, "--shard", "2/2")
            self.assertNotIn(killed.code, range(8), killed.out + killed.err)
            self.assertFalse(self.path("r.shard-0002-of-0002.json").exists())
            self.path("calls").write_text("")
            for number in (1, 2):
                ended = self.vernier(*shard, "--shard", f"{number}/2", "--resume")
                self.assertEqual(ended.code, 0, ended.out + ended.err)
            # Its eleven but those that were saved; the first and the last of these are samples.
            self.assertLess(len(self.path("calls").read_text()), 12 + 11)
            parts = [f"r.shard-000{number}-of-0002.json" for number in (1, 2)]
            merged = self.vernier("merge", *parts, "-o", "m.json", "--reproducible",
                                  "--save-rows", "m.jsonl")
            self.assertEqual(merged.code, 0, merged.out + merged.err)
            for kind in ("json", "jsonl"):
                self.assertEqual(self.path(f"m.{kind}").read_bytes(),
                                 self.path(f"whole.{kind}").read_bytes(), (kind, more))
            # Nothing is left of the process that was killed, but for its rows.
            left = {path.name for path in self.folder.glob("*.partial*")}
            self.assertEqual({name for name in left if "jsonl" not in name}, set())
            for path in self.folder.glob("*.shard-*"):
                path.unlink()

    def test_what_another_model_gave_is_not_taken_over(self):
        """It differs in the middle alone: the first and the last iteration are as they were."""
        limited = "lambda feed: {'y': feed['x'] * (1 if feed['x'][0] in (0, 3) else FACTOR)}"
        self.path("kills.py").write_text(
            "import os, signal\nfrom factor import FACTOR\ncompute = " + limited + "\n"
            "def load(path):\n    def infer(feed):\n        if os.path.exists('deadly'):\n"
            "            if feed['x'][0] == 4:\n                os.remove('deadly')\n"
            "                os.kill(os.getppid(), signal.SIGKILL)\n"
            "        return compute(feed)\n    return infer\n", encoding="utf-8")
        for i in range(8):
            self.save_feeds(f"in/{i}.json", [{"x": np.full(4, i, np.float32)}])
        self.variables = {"PYTHONDONTWRITEBYTECODE": "1"}
        words = ["run", "m.onnx", "--onnxrt", "--model-runner", "kills.py", "--python",
                 sys.executable, "--load-inputs", "in/[0-9].json", "--save-outputs", "o.npz"]
        for more in (("--shard", "1/1", "--save-record", "r.json"), ()):
            self.path("factor.py").write_text("FACTOR = 1\n")
            self.path("deadly").touch()
            killed = self.vernier(*words, *more)
            self.assertNotIn(killed.code, range(8), killed.out + killed.err)
            self.path("factor.py").write_text("FACTOR = 2\n")
            ended = self.vernier(*words, *more, "--resume")
            self.assertEqual(ended.code, 3, ended.out + ended.err)
            self.assertIn("a model or a script of its runners has other content now", ended.err)
            self.path("factor.py").write_text("FACTOR = 1\n")
            ended = self.vernier(*words, *more, "--resume")
            self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_what_a_shard_left_that_failed_is_no_file_of_a_shard(self):
        words = ["run", "m.onnx", "--onnxrt", "--model-runner", "fails.py", "--iterations", "9",
                 "--python", sys.executable, "--save-outputs", "o.npz", "--save-inputs", "i.json",
                 "--save-record", "r.json", "--shard", "1/2"]
        self.path("ill").touch()
        ended = self.vernier(*words)
        self.assertEqual(ended.code, 6, ended.out + ended.err)
        self.assertIn("This shard is not whole", ended.out + ended.err)
        self.assertFalse(self.path("o.shard-0001-of-0002.npz").exists())
        self.assertFalse(self.path("i.shard-0001-of-0002.json").exists())
        self.assertTrue(self.path("o.shard-0001-of-0002.npz.partial").exists())
        recover = ["data", "recover", "o.shard-0001-of-0002.npz.partial"]
        refused = self.vernier(*recover)
        self.assertEqual(refused.code, 2, refused.out + refused.err)
        self.assertIn("'o.shard-0001-of-0002.npz' is the name of a whole shard", refused.err)
        self.assertFalse(self.path("o.shard-0001-of-0002.npz").exists())
        self.assertEqual(self.vernier(*recover, "-o", "some.npz").code, 0)
        self.path("ill").unlink()
        ended = self.vernier(*words, "--resume")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertTrue(self.path("o.shard-0001-of-0002.npz").exists())

    def test_several_feeds_of_an_inference_are_not_resumed(self):
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--iterations", "4", "--batch-feeds", "2",
                             "--save-outputs", "o.npz", "--save-record", "r.json", "--shard", "1/2",
                             "--resume")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("--shard cannot go with --resume and --batch-feeds", ended.err)


if __name__ == "__main__":
    unittest.main()
