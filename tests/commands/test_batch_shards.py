"""batch --shard: every model is run by one shard, under the names of the undivided batch."""

import re
import unittest
from xml.etree import ElementTree

from program import Case

NAMES = "abcde"


class BatchShards(Case):
    def setUp(self):
        super().setUp()
        self.path("models").mkdir()
        for name in NAMES:
            self.save_model(f"models/{name}.onnx", shape=(2, 3))

    def batch(self, *words, options=("--onnxrt", "--onnxrt")):
        return self.vernier("batch", "models/*.onnx", *words, "--", *options)

    def ran(self, ended):
        return re.findall(r"^models/(\S+)\.onnx +[a-z]", ended.out, re.MULTILINE)

    def test_every_model_is_in_one_shard(self):
        for rule, expected in (("contiguous", ["ab", "cd", "e"]), ("stride", ["ad", "be", "c"])):
            for number, names in enumerate(expected, 1):
                ended = self.batch("--shard", f"{number}/3", "--shard-by", rule)
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                self.assertEqual(self.ran(ended), list(names))
                self.assertIn(f"--shard {number}/3: {len(names)} of 5 models", ended.out)
                self.assertIn(f"{len(names)} of {len(names)} passed", ended.out)

    def test_reports_have_the_shard_in_their_names(self):
        cases = []
        for number in (1, 2):
            ended = self.batch("--shard", f"{number}/2", "--report", "all.xml")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            report = ElementTree.parse(self.path(f"all.shard-000{number}-of-0002.xml"))
            cases.append(len(list(report.getroot().iter("testcase"))))
        self.assertFalse(self.path("all.xml").exists())
        whole = self.batch("--report", "all.xml")
        self.assertEqual(whole.code, 0, whole.out + whole.err)
        report = ElementTree.parse(self.path("all.xml"))
        self.assertEqual(sum(cases), len(list(report.getroot().iter("testcase"))))

    def test_files_are_called_as_in_the_undivided_batch(self):
        for folder in ("x", "y"):
            self.path(folder).mkdir()
            self.save_model(f"{folder}/same.onnx", shape=(2, 3))
        for number, name in ((1, "x__same"), (2, "y__same")):
            ended = self.vernier("batch", "x/same.onnx", "y/same.onnx", "--shard", f"{number}/2",
                                 "--", "--onnxrt", "--save-outputs", "{stem}.npz")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertTrue(self.path(f"{name}.npz").exists(), ended.out)

    def test_a_fault_is_that_of_its_shard(self):
        self.path("models/e.onnx").write_bytes(b"no model")
        self.assertEqual(self.batch("--shard", "1/2").code, 0)
        self.assertEqual(self.batch("--shard", "2/2").code, 3)

    def test_a_shard_that_is_done_need_not_be_started_again(self):
        self.save_model("models/e.onnx", shape=(2, 4))
        options = ("--onnxrt", "--load-outputs", "gold.npz", "--iterations", "1")
        self.assertEqual(self.vernier("run", "models/d.onnx", "--onnxrt", "--iterations", "1",
                                      "--save-outputs", "gold.npz").code, 0)
        for word, number, code in (("verdict", 2, 4), ("done", 2, 0), ("done", 1, 0)):
            ended = self.batch("--shard", f"{number}/2", "--shard-exit", word, options=options)
            self.assertEqual(ended.code, code, (word, number, ended.out + ended.err))
        self.path("models/e.onnx").write_bytes(b"no model")
        ended = self.batch("--shard", "2/2", "--shard-exit", "done", options=options)
        self.assertEqual(ended.code, 3, ended.out + ended.err)

    def test_more_shards_than_models(self):
        for number, name in ((5, ["e"]), (6, [])):
            ended = self.batch("--shard", f"{number}/6", "--report", "all.xml")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertEqual(self.ran(ended), name)
        self.assertIn("--shard 6/6: 0 of 5 models", ended.out)
        ElementTree.parse(self.path("all.shard-0006-of-0006.xml"))

    def test_launchers_say_which(self):
        self.variables = {"RANK": "1", "WORLD_SIZE": "5"}
        ended = self.batch("--shard", "auto")
        self.assertEqual(self.ran(ended), ["b"], ended.out + ended.err)
        self.assertIn("--shard 2/5: 1 of 5 models, from torchrun", ended.out)

    def test_shards_that_cannot_be_are_refused(self):
        for word, said in (("0/2", "expected K/N"), ("3/2", "expected K/N"), ("x", "expected K/N")):
            ended = self.batch("--shard", word)
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn(said, ended.err)
            self.assertEqual(self.ran(ended), [])
        self.assertEqual(self.batch("--shard-by", "stride").code, 2)
        self.assertEqual(self.batch("--shard-exit", "done").code, 2)
        ended = self.vernier("batch", "models/*.onnx", "--", "--onnxrt", "--onnxrt", "--shard",
                             "1/2")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("--shard after --: a batch does not merge", ended.err)


if __name__ == "__main__":
    unittest.main()
