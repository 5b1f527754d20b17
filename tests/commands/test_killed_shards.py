"""Shards that were killed go on; what is kept for those that come later."""

import json
import shutil
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
            self.assertEqual(list(self.folder.glob("*.partial*")), [])
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

    def test_nothing_is_left_of_shards_that_were_killed_several_times(self):
        shard = [*self.WORDS, "--save-outputs", "o.npz", "--save-inputs", "i.json", "--save-rows",
                 "r.jsonl", "--save-record", "r.json", "--shard", "2/2"]
        for _ in range(3):
            self.path("deadly").touch()
            self.path("calls").write_text("")
            killed = self.vernier(*shard)
            self.assertNotIn(killed.code, range(8), killed.out + killed.err)
        self.assertGreater(len(list(self.folder.glob("o.*.partial*"))), 1)
        self.assertGreater(len(list(self.folder.glob("r.*.jsonl.partial*"))), 1)
        for name in ("o.shard-0001-of-0002.npz.partial", "r.shard-0001-of-0002.jsonl.partial"):
            self.path(name).write_text("another's")
        ended = self.vernier(*shard)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("which is removed once this shard has made all of it again",
                      ended.out + ended.err)
        self.assertEqual({path.name for path in self.folder.glob("*.partial*")},
                         {"o.shard-0001-of-0002.npz.partial", "r.shard-0001-of-0002.jsonl.partial"})

    def test_several_feeds_of_an_inference_go_on(self):
        for i in range(23):
            self.save_feeds(f"in/{i:02}.json", [{"x": np.full((1, 4), i, np.float32)}])
        words = ["run", "--model-runner", "kills.py", "--model-runner", "scales.py", "--python",
                 sys.executable, "--load-inputs", "in/[0-9]*.json", "--batch-feeds", "2"]
        whole = self.vernier(*words, "--reproducible", "--save-record", "whole.json")
        self.assertEqual(whole.code, 0, whole.out + whole.err)
        shard = [*words, "--save-outputs", "o.npz", "--save-record", "r.json"]
        self.path("deadly").touch()
        self.path("calls").write_text("")
        killed = self.vernier(*shard, "--shard", "2/2")
        self.assertNotIn(killed.code, range(8), killed.out + killed.err)
        for number in (1, 2):
            ended = self.vernier(*shard, "--shard", f"{number}/2", "--resume")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("saved iterations: ", ended.out + ended.err)
        parts = [f"r.shard-000{number}-of-0002.json" for number in (1, 2)]
        merged = self.vernier("merge", *parts, "-o", "m.json", "--reproducible")
        self.assertEqual(merged.code, 0, merged.out + merged.err)
        self.assertEqual(self.path("m.json").read_text(), self.path("whole.json").read_text())

    def test_outputs_that_were_saved_whole_go_on_with_their_part(self):
        words = ["run", "--model-runner", "kills.py", "--model-runner", "scales.py", "--python",
                 sys.executable, "--load-inputs", "in/[a-d].json", "--save-outputs", "o.npz",
                 "--shard", "1/1", "--save-record", "r.json"]
        self.assertEqual(self.vernier(*words).code, 0)
        part = self.path("r.shard-0001-of-0001.json")
        once = part.read_text()
        # The first and the last iteration are made again.
        self.path("calls").write_text("")
        ended = self.vernier(*words, "--resume", "--atol", "1e-3")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual(self.path("calls").read_text(), "xx")
        # As after a kill between the two files: nothing says what the outputs were computed with.
        part.unlink()
        self.path("calls").write_text("")
        ended = self.vernier(*words, "--resume")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual(self.path("calls").read_text(), "xxxx")
        self.assertIn("all iterations are made again", ended.out + ended.err)
        self.assertEqual(json.loads(part.read_text())["iterations"], json.loads(once)["iterations"])
        ended = self.vernier(*words, "--resume", "--env", "SCALE=2")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("was not saved by this command: --env ", ended.err)
        self.path("scales.py").write_text(
            "def load(path):\n    return lambda feed: {'y': feed['x'] * 2.0}\n")
        ended = self.vernier(*words, "--resume")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("was not saved by this command: 'scales.py' (runner 'scales", ended.err)


# Is killed once in its seventh inference. What it computes with lies in folders that it finds
# itself; one module is imported in the third inference, and needed by none of the others.
DRIFTS = """
import os, signal, sys, time
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "lib"), os.path.join(here, "env", "site-packages")]
import factor
import scaling

def load(path):
    def infer(feed):
        number = feed["x"][0]
        time.sleep(0.1)
        if number == 2:
            import rare
        if number == 6 and os.path.exists("deadly"):
            os.remove("deadly")
            os.kill(os.getppid(), signal.SIGKILL)
        return {"y": feed["x"] * (float(factor.FACTOR) if number == 1 else 1)}
    return infer
"""


class ChangedMeanwhile(PartsCase):
    """What iterations that are there were computed with is no longer what it was. The first and the
    last of them come out as before."""
    SHARD = ("--shard", "1/1", "--save-record", "r.json")
    FILES = {"lib/factor.py": "FACTOR = 1", "lib/rare.py": "RARE = 1",
             "env/site-packages/scaling.py": "__version__ = '1.5'"}

    def setUp(self):
        super().setUp()
        self.path("drifts.py").write_text(DRIFTS, encoding="utf-8")
        for name in self.FILES:
            self.path(name).parent.mkdir(parents=True, exist_ok=True)
        for i in range(8):
            self.save_feeds(f"in/{i}.json", [{"x": np.full(4, i, np.float32)}])

    def run_again(self, *more):
        return self.vernier("run", "m.onnx", "--onnxrt", "--model-runner", "drifts.py", "--python",
                            sys.executable, "--load-inputs", "in/[0-9].json", "--save-outputs",
                            "o.npz", *more)

    def kill(self, *more):
        """Leaves six iterations."""
        for path in self.folder.glob("[or].*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for name, text in self.FILES.items():
            self.path(name).write_text(text + "\n", encoding="utf-8")
        self.variables = {"PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
        self.path("deadly").touch()
        killed = self.run_again(*more)
        self.assertNotIn(killed.code, range(8), killed.out + killed.err)

    def refused_to_go_on(self, said, *more):
        ended = self.run_again(*more, "--resume")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("was not saved by this command: " + said, ended.err)
        self.assertIn(". Move it away to start over", ended.err)

    def test_a_module_that_was_edited_is_no_module_of_what_is_there(self):
        for name, module in (("lib/factor.py", "factor"), ("lib/rare.py", "rare")):
            for more in (self.SHARD, ()):
                self.kill(*more)
                self.path(name).write_text("FACTOR = RARE = 7\n", encoding="utf-8")
                self.refused_to_go_on(
                    f"the Python module '{module}' ('{self.path(name)}'), which a script of its "
                    "runners had imported, has other content now", *more)
                self.path(name).write_text(self.FILES[name] + "\n", encoding="utf-8")
                ended = self.run_again(*more, "--resume")
                self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_a_shard_does_not_go_on_with_other_packages_and_threads(self):
        self.kill(*self.SHARD)
        scaling = self.path("env/site-packages/scaling.py")
        scaling.write_text("__version__ = '2.0'\n", encoding="utf-8")
        self.refused_to_go_on("the Python package 'scaling' was 1.5 there, and is 2.0 now",
                              *self.SHARD)
        scaling.write_text("__version__ = '1.5'\n", encoding="utf-8")
        self.variables["OMP_NUM_THREADS"] = "2"
        self.refused_to_go_on("runner 'drifts-N0' was ", *self.SHARD)
        self.variables["OMP_NUM_THREADS"] = "1"
        ended = self.run_again(*self.SHARD, "--resume")
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_other_settings_of_runners_are_another_command(self):
        for more in (self.SHARD, ()):
            self.kill(*more)
            ended = self.run_again(*more, "--resume", "--graph-optimization-level",
                                   "ORT_ENABLE_BASIC")
            self.assertEqual(ended.code, 3, ended.out + ended.err)
            self.assertIn("was not saved by this command: setting 'runners[0].session_options",
                          ended.err)
            ended = self.run_again(*more, "--resume")
            self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_an_undivided_run_goes_on_with_a_word(self):
        self.kill("--save-record", "r.json")
        self.path("env/site-packages/scaling.py").write_text("__version__ = '2.0'\n",
                                                             encoding="utf-8")
        ended = self.run_again("--save-record", "r.json", "--resume")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        said = "--resume: the Python package 'scaling' was 1.5 there, and is 2.0 now"
        self.assertIn(said, json.loads(self.path("r.json").read_text())["notes"])
        self.assertIn("results differ in what computed them", ended.out + ended.err)

    def test_the_part_has_what_an_earlier_process_had_imported(self):
        self.kill(*self.SHARD)
        ended = self.run_again(*self.SHARD, "--resume")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        part = json.loads(self.path("r.shard-0001-of-0001.json").read_text())
        made = {(one["kind"], one["name"]): one["value"] for one in part["end"]["made_with"]}
        self.assertIn(("module", "rare"), made)
        self.assertEqual(made[("package", "scaling")], "1.5")
        self.assertIn(("processor", ""), made)


if __name__ == "__main__":
    unittest.main()
