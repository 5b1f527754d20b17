"""Saved tensors of shards are those of the whole run: joined, or read as one folder."""

import unittest

import numpy as np

from parts_case import PartsCase


class JoinedOutputs(PartsCase):
    def setUp(self):
        super().setUp()
        words = [*self.command, "--iterations", "7"]
        self.outputs = [f"o.shard-000{i}-of-0003.npz" for i in (1, 2, 3)]
        for number in (1, 2, 3):
            self.shard(number, *words, "--save-outputs", "o.npz", count=3)
        self.words = words

    def join(self, *files):
        return self.vernier("data", "concat", *files, "-o", "joined.npz")

    def test_joined_outputs_are_those_of_one_process(self):
        whole = self.vernier(*self.words, "--save-outputs", "whole.npz")
        self.assertEqual(whole.code, 0, whole.out + whole.err)
        other = self.vernier(*self.words, "--seed", "5", "--save-outputs", "other.npz")
        self.assertEqual(other.code, 0, other.out + other.err)
        ended = self.join(*self.outputs)
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        with np.load(self.path("whole.npz")) as expected, \
                np.load(self.path("joined.npz")) as joined:
            ours = [joined[name] for name in sorted(joined.files) if name.endswith("/y")]
            theirs = [expected[name] for name in sorted(expected.files) if name.endswith("/y")]
            self.assertEqual(len(ours), 14)
            for a, b in zip(ours, theirs):
                np.testing.assert_array_equal(a, b)
        # They still know what they were made from.
        ended = self.vernier("compare", "joined.npz", "other.npz")
        self.assertIn("made from other inputs", ended.out + ended.err)

    def test_what_is_missing_double_or_in_disorder_is_refused(self):
        one, two, three = self.outputs
        for files, said in (((one, three), "shard 2 of 3 of 'o.npz' is missing before"),
                            ((one, two), "shard 3 of 3 of 'o.npz' is missing"),
                            ((one, two, two, three), "is shard 2 of 3 again"),
                            ((two, one, three), "is shard 2 of 3 and comes before shard 1")):
            ended = self.join(*files)
            self.assertEqual(ended.code, 2, (files, ended.out + ended.err))
            self.assertIn(said, ended.err)
            self.assertFalse(self.path("joined.npz").exists())

    def test_shards_without_iterations_and_of_batches_are_joined(self):
        self.save_model("free.onnx", shape=("n", 4))
        run = ["run", "free.onnx", "--onnxrt", "--onnxrt", "--input-shapes", "x:[1,4]",
               "--iterations", "7"]
        for more, count, form in (((), 9, "npz"), ((), 9, "json"), ((), 9, "safetensors"),
                                  (("--batch-feeds", "3"), 4, "npz"), ((), 9, "")):
            stem = f"w{form}{len(more)}"
            dot = f".{form}" if form else ""
            self.assertEqual(self.vernier(*run, *more, "--save-outputs", f"{stem}.npz",
                                          "--save-inputs", f"{stem}-in.npz").code, 0)
            for number in range(1, count + 1):
                ended = self.vernier(*run, *more, "--shard", f"{number}/{count}", "--shard-exit",
                                     "done", "--save-record", "r.json", "--save-outputs",
                                     f"{stem}o{dot}", "--save-inputs", f"{stem}i{dot}")
                self.assertEqual(ended.code, 0, ended.out + ended.err)
            for kind, whole in (("o", f"{stem}.npz"), ("i", f"{stem}-in.npz")):
                files = [f"{stem}{kind}.shard-{number:04}-of-{count:04}{dot or '.json'}"
                         for number in range(1, count + 1)]
                ended = self.join(*files)
                self.assertEqual(ended.code, 0, (more, form, ended.out + ended.err))
                with np.load(self.path(whole)) as expected, \
                        np.load(self.path("joined.npz")) as joined:
                    self.assertEqual(len(joined.files), len(expected.files), (kind, form))
                    names = [[name for name in sorted(file.files) if name.endswith(("/x", "/y"))]
                             for file in (joined, expected)]
                    self.assertEqual(len(names[0]), 14 if kind == "o" else 7)
                    for ours, theirs in zip(*names):
                        np.testing.assert_array_equal(joined[ours], expected[theirs])
                # The last file is not there: that it would have been empty is not known.
                ended = self.join(*files[:-1])
                self.assertEqual(ended.code, 2, ended.out + ended.err)
                self.assertIn(f"shard {count} of {count} of '{stem}{kind}{dot or '.json'}' is "
                              "missing", ended.err)

    def test_a_folder_of_shards_is_read_if_it_is_whole_and_in_order(self):
        self.assertEqual(self.vernier(*self.words, "--save-outputs", "whole.json").code, 0)
        for form in ("json", "npz", "safetensors"):
            with self.subTest(form=form):
                self.read_folders(form)

    def read_folders(self, form):
        for rule, mark in (("contiguous", ""), ("stride", "-stride")):
            for number in (1, 2, 3):
                self.shard(number, *self.words, "--shard-by", rule, "--save-outputs", f"p.{form}",
                           "--save-inputs", f"i.{form}", count=3, record=f"{rule}.json")
            for kind in "pi":
                self.path(f"{form}/{rule}-{kind}").mkdir(parents=True)
                for number in (1, 2, 3):
                    name = f"{kind}.shard-000{number}-of-0003{mark}.{form}"
                    self.path(name).rename(self.path(f"{form}/{rule}-{kind}/{name}"))
        load = [*self.command, "--load-outputs", "whole.json", "--load-inputs"]
        joined = ["data", "concat", f"{form}/stride-i", "-o", f"{form}-i.{form}"]
        for words, said in ((["compare", f"{form}/contiguous-p", "whole.json"], "in 7 iterations"),
                            (["compare", f"{form}/stride-p", "whole.json"], "in 7 iterations"),
                            ([*load, f"{form}/contiguous-i"], "in 7 iterations"),
                            (joined, ""), ([*load, f"{form}-i.{form}"], "in 7 iterations")):
            ended = self.vernier(*words)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertIn(said, ended.out)
        ended = self.vernier(*load, f"{form}/stride-i")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("join them with `vernier data concat` first", ended.err)
        for kind in "pi":
            self.path(f"{form}/contiguous-{kind}/{kind}.shard-0002-of-0003.{form}").unlink()
        folder = f"{form}/contiguous-p"
        for words in (["compare", folder, folder], ["data", "concat", folder, "-o", f"j.{form}"],
                      [*self.command, "--load-inputs", f"{form}/contiguous-i"]):
            ended = self.vernier(*words)
            self.assertEqual(ended.code, 2, (words, ended.out + ended.err))
            self.assertIn("shard 2 of 3 of ", ended.err)
            self.assertIn("is missing before", ended.err)

    def test_shards_by_their_names_are_read_as_their_folder_is(self):
        whole = self.vernier(*self.words, "--save-outputs", "whole.npz", "--save-inputs", "in.npz")
        self.assertEqual(whole.code, 0, whole.out + whole.err)
        for rule in ("contiguous", "stride"):
            for number in (1, 2, 3):
                self.shard(number, *self.words, "--shard-by", rule, "--save-inputs",
                           f"{rule}/i.npz", count=3, record="r.json")
        load = [*self.command, "--load-inputs"]
        files = [f"contiguous/i.shard-000{number}-of-0003.npz" for number in (1, 2, 3)]
        for listed in (["contiguous/*"], files):
            ended = self.vernier(*load, *listed, "--load-outputs", "whole.npz")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertIn("in 7 iterations", ended.out)
        ended = self.vernier(*load, files[1])  # a shard alone is meant
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        for listed, said in ((["stride/*"], "join them with `vernier data concat` first"),
                             (files[:2], "shard 3 of 3 of 'contiguous/i.npz' is missing"),
                             ([files[1], files[0], files[2]], "and comes before shard 1")):
            ended = self.vernier(*load, *listed)
            self.assertEqual(ended.code, 2, (listed, ended.out + ended.err))
            self.assertIn(said, ended.err)
        ended = self.vernier("compare", *self.outputs[:2])
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("are shards of one run, and would be compared with each other", ended.err)
        self.path(files[1]).unlink()
        ended = self.vernier(*load, "contiguous/*")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("shard 2 of 3 of 'contiguous/i.npz' is missing before", ended.err)
        ended = self.vernier("data", "show", "contiguous")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("shard 2 of 3 of 'contiguous/i.npz' is missing before", ended.out + ended.err)

    def test_a_folder_with_the_whole_beside_its_shards_is_not_read(self):
        whole = self.vernier(*self.words, "--save-outputs", "all/whole.npz")
        self.assertEqual(whole.code, 0, whole.out + whole.err)
        for name in self.outputs:
            self.path(name).rename(self.path(f"all/{name}"))
        said = "'all' has 'all/whole.npz' beside files of shards, which would be read with them"
        for words in (["data", "concat", "all", "-o", "j.npz"], ["compare", "all", "all"]):
            ended = self.vernier(*words)
            self.assertEqual(ended.code, 2, (words, ended.out + ended.err))
            self.assertIn(said, ended.err)
        ended = self.vernier("data", "show", "all")
        self.assertIn(said, ended.out + ended.err)

    def test_a_folder_of_two_forms_is_no_folder_of_shards(self):
        self.path("both").mkdir()
        for name in ("a.npz", "b.safetensors"):
            self.assertEqual(self.vernier(*self.words, "--save-outputs", f"both/{name}").code, 0)
        ended = self.vernier("compare", "both", "both")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("directory 'both' has both '*.npz' and '*.safetensors' files", ended.err)

    def test_shards_by_stride_are_joined_to_the_tensors_of_the_whole(self):
        self.save_model("free.onnx", shape=("n", 4))
        run = ["run", "free.onnx", "--onnxrt", "--onnxrt", "--input-shapes", "x:[1,4]",
               "--iterations", "7"]
        for form in ("npz", "json", "safetensors", ""):
            dot = f".{form}" if form else ""
            for more, count, mark in (((), 3, "-stride"), ((), 9, "-stride"),
                                      (("--batch-feeds", "2"), 2, "-stride-2")):
                stem = f"{form}{count}{len(more)}"
                ended = self.vernier(*run, *more, "--reproducible", "--save-outputs", "o.npz",
                                     "--save-inputs", "i.npz")
                self.assertEqual(ended.code, 0, ended.out + ended.err)
                for number in range(1, count + 1):
                    self.shard(number, *run, *more, "--shard-exit", "done", "--shard-by", "stride",
                               "--save-outputs", f"po{stem}{dot}",
                               "--save-inputs", f"pi{stem}{dot}", count=count, record="r.json")
                for kind in "oi":
                    files = [f"p{kind}{stem}.shard-{number:04}-of-{count:04}{mark}{dot or '.json'}"
                             for number in range(1, count + 1)]
                    ended = self.join(*files)
                    self.assertEqual(ended.code, 0, ended.out + ended.err)
                    self.same_tensors("joined.npz", f"{kind}.npz")

    def same_tensors(self, joined, whole):
        with np.load(self.path(joined)) as ours, np.load(self.path(whole)) as theirs:
            names = [name for name in theirs.files if name.endswith(("/x", "/y"))]
            self.assertEqual(len(names), 14 if whole == "o.npz" else 7)
            self.assertEqual(sorted(ours.files), sorted(theirs.files))
            for name in names:
                self.assertEqual(ours[name].tobytes(), theirs[name].tobytes(), name)

    def test_a_shard_by_stride_that_is_short_is_no_part_of_the_whole(self):
        for number in (1, 2):
            self.shard(number, *self.words, "--shard-by", "stride", "--save-outputs", "s.npz",
                       record="s.json")
        one, two = "s.shard-0001-of-0002-stride.npz", "s.shard-0002-of-0002-stride.npz"
        ended = self.vernier("data", "select", two, "--iterations", "0-1", "-o", "short.npz")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.path("short.npz").rename(self.path(two))
        ended = self.join(one, two)
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn(f"'{one}' has 4 iterations, and shard 1 of 2 by stride has 3 of 6", ended.err)
        self.path("alone").mkdir()
        self.path(one).rename(self.path(f"alone/{one}"))
        self.path(two).rename(self.path(f"alone/{two}"))
        ended = self.vernier("compare", "alone", "alone")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("a shard has not saved all of its share", ended.err)


if __name__ == "__main__":
    unittest.main()
