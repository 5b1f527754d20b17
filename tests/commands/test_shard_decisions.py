"""--shard with decisions, labels and images: merged parts have the bytes of the whole run."""

import json
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

from decision_case import CLASSES, flipped, scores
from shard_case import WHOLE, ShardCase
from test_images import png

BROKEN = b"\x89PNG\r\n\x1a\nno more"


def iterations(sizes):
    """Two sides of logits: samples that agree, near ties, clear flips, and NaN."""
    left, right = [], []
    for i, size in enumerate(sizes):
        a = scores(size, i)
        b = flipped(a, i % size, by=1.0 + i)
        if i % 2 == 1:
            a[0, 7] = a[0].max() - np.float32(1e-6)
            b[0] = a[0] + np.float32(1e-7)
        if i % 3 == 2:
            b[size - 1, 3] = np.nan
        left.append({"y": a, "z": a[:, :5] * 2})
        right.append({"y": b, "z": a[:, :5] * 2 + np.float32(0.001 * (i == 4))})
    return left, right


class Sides(ShardCase):
    SIZES = [4, 4, 4, 4, 4, 4, 4, 2]

    def save_sides(self, sizes=None):
        left, right = iterations(sizes or self.SIZES)
        self.save_runs("a.json", [("A", left)])
        self.save_runs("b.json", [("B", right)])
        return ["compare", "a.json", "b.json"]


class Decided(Sides):
    def test_decisions_of_every_kind(self):
        words = self.save_sides()
        for decision in (["y:top1"], ["top5"], ["y:rank=3"], ["y:argmax"], ["z:threshold=0.5"],
                         ["y:sign"], ["y:embedding"], ["y:regression=0.1"], ["y:top1", "z:top1"]):
            self.divide([*words, "--decision", *decision], (3, "contiguous"), (5, "stride"),
                        code=1)

    def test_gates_are_judged_where_all_samples_are(self):
        words = [*self.save_sides(), "--decision", "y:top1", "--atol", "100"]
        for gate, code in ((["--max-flip-rate", "0.9"], 0), (["--max-flip-rate", "0.01"], 1),
                           (["--max-clear-flips", "3"], 1), (["--max-clear-flips", "30"], 0),
                           (["--max-flip-rate", "y:0.4", "--strict"], 4)):
            self.divide([*words, "--judge", "decisions", *gate], (3, "stride"), code=code)
        # One flip in the two samples of the last shard is no verdict.
        ended = self.vernier(*words, "--judge", "decisions", "--max-flip-rate", "0.45", "--shard",
                             "8/8", "--save-record", "r.json")
        self.assertNotIn("--max-flip-rate 0.45:", ended.out + ended.err)
        self.assertIn("`vernier merge` judges them", ended.out + ended.err)

    def test_a_shard_leaves_elements_to_what_merge_judges(self):
        a = [{"y": scores(4, i), "z": np.ones(3, np.float32)} for i in range(4)]
        self.save_runs("a.json", [("A", a)])
        for z, code in ((1, 0), (2, 1)):
            # Out of tolerance everywhere, and no class changes.
            b = [{"y": one["y"] + np.float32(0.01), "z": one["z"] * np.float32(z)} for one in a]
            self.save_runs("b.json", [("B", b)])
            words = ["compare", "a.json", "b.json", "--decision", "y:top1", "--max-flip-rate",
                     "0.9"]
            whole = self.vernier(*words, *WHOLE)
            self.assertEqual(whole.code, code, whole.out + whole.err)
            parts = []
            for number in (1, 2):
                ended = self.vernier(*words, "--shard", f"{number}/2", "--save-record",
                                     "part.json")
                self.assertEqual(ended.code, code, ended.out + ended.err)
                self.assertNotIn("next: ", ended.out)
                self.assertIn("A vs. B: " + ("FAILED," if code else "left to merge,"), ended.out)
                self.assertTrue(ended.out.splitlines()[-1].startswith("`vernier merge` judges by "
                                                                      "decisions"), ended.out)
                parts.append(self.part(number, 2))
            self.expect_whole(whole, parts)

    def test_flips_of_saved_outputs_are_the_worst_of_all_shards(self):
        words = [*self.save_sides(), "--decision", "y:top1", "--worst-flips", "3", "--save-flips",
                 "f.npz"]
        for rule in ("contiguous", "stride"):
            whole = self.vernier(*words, *WHOLE)
            self.assertEqual(whole.code, 1, whole.out + whole.err)
            with np.load(self.path("f.npz")) as file:
                flips = {name: file[name] for name in file.files if name.endswith(("/y", "/z"))}
            self.assertEqual(len(flips), 12)
            self.path("f.npz").unlink()
            self.expect_whole(whole, self.shards(words, 3, rule))
            with np.load(self.path("f.npz")) as file:
                for name, value in flips.items():
                    np.testing.assert_array_equal(file[name], value, name)

    def test_names_of_classes_must_be_the_same(self):
        words = [*self.save_sides(), "--decision", "y:top1", "--class-names", "names.txt"]
        for letter in "ab":
            self.path("names.txt").write_text("".join(f"{letter}{i}\n" for i in range(CLASSES)))
            for number in (1, 2):
                ended = self.vernier(*words, "--shard", f"{number}/2", "--shard-exit", "done",
                                     "--save-record", f"of_{letter}.json")
                self.assertEqual(ended.code, 0, ended.out + ended.err)
        a, b = ([f"of_{letter}.shard-000{number}-of-0002.json" for number in (1, 2)]
                for letter in "ab")
        ended = self.merge([a[0], b[1]])
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("'names.txt' (--class-names) has other content in", ended.err)
        ended = self.merge(a)
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("--class-names 'names.txt': the file has changed since the shards read it",
                      ended.err)
        self.assertEqual(self.merge(b).code, 1)

    def test_fail_fast_ends_where_the_whole_does(self):
        words = [*self.save_sides(), "--decision", "z:top1", "--fail-fast"]
        self.divide(words, (3, "stride"), (4, "contiguous"), code=1)
        self.divide([*words, "--max-flip-rate", "0.5"], (3, "stride"), code=1)

    def test_an_output_that_comes_and_goes(self):
        left, right = iterations(self.SIZES)
        del left[0]["z"], right[0]["z"]
        del left[5]["y"], right[5]["y"]
        self.save_runs("a.json", [("A", left)])
        self.save_runs("b.json", [("B", right)])
        words = ["compare", "a.json", "b.json", "--decision", "top1", "--max-flip-rate", "1"]
        whole = self.divide(words, (3, "stride"), (8, "contiguous"), code=4)
        self.assertIn("not everything was decided", whole.out + whole.err)

    def test_merges_of_merges(self):
        words = [*self.save_sides(), "--decision", "y:top1", "--worst-flips", "3"]
        whole = self.divide(words, (4, "stride"), code=1)
        parts = self.shards(words, 4)
        for name, group in (("one.json", parts[2:]), ("two.json", parts[:2])):
            ended = self.vernier("merge", *group, "--partial", "-o", name)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.expect_whole(whole, ["one.json", "two.json", parts[1]])

    def test_scripts_decide_in_their_shards(self):
        self.path("words.py").write_text(
            "def decide(outputs):\n    return [str(i) for i in outputs['y'].argmax(-1)]\n")
        words = [*self.save_sides(), "--decision", "script:words.py", "--max-flip-rate", "0.01"]
        self.divide(words, (3, "stride"), code=1)


class Beyond(Sides):
    """What samples have that rows do not."""

    def test_every_value_is_above_a_threshold(self):
        words = [*self.save_sides(), "--decision", "z:threshold=-1000"]
        whole = self.divide(words, (3, "stride"), (8, "contiguous"), code=1)
        self.assertIn("shows nothing", whole.out + whole.err)

    def test_numbers_are_labels(self):
        words = self.save_sides()
        right = np.concatenate([one["y"] for one in iterations(self.SIZES)[0]]).astype(np.float64)
        np.save(self.path("numbers.npy"), np.nan_to_num(right) + 0.25)
        whole = self.divide([*words, "--decision", "y:regression=0.1", "--labels", "numbers.npy",
                             "--max-drop", "0.000001"], (4, "contiguous"), code=1)
        self.assertIn("mean absolute error", whole.out + whole.err)


class Labelled(Sides):
    def setUp(self):
        super().setUp()
        count = sum(self.SIZES)
        self.right = np.random.default_rng(3).integers(0, CLASSES, count)
        self.right[::2] = np.concatenate([np.arange(size) for size in self.SIZES])[::2]
        np.save(self.path("labels.npy"), self.right)
        ends = np.cumsum(self.SIZES)[:-1]
        np.savez(self.path("labels.npz"), *np.split(self.right, ends))
        self.path("labels.txt").write_text("".join(f"{label}\n" for label in self.right))

    def test_files_of_labels(self):
        words = [*self.save_sides(), "--decision", "y:top1", "y:top5", "--labels"]
        for name in ("labels.npy", "labels.npz", "labels.txt"):
            self.divide([*words, name, "--max-drop", "0.02"], (3, "stride"), (8, "contiguous"),
                        code=1)
        self.divide([*words, "labels.npy", "--max-drop", "0.9", "--judge", "decisions"],
                    (2, "contiguous"), code=0)
        decisions = json.loads(self.path("whole.json").read_text())["pairs"][0]["decisions"]
        self.assertEqual(decisions[0]["labels"]["samples"], sum(self.SIZES))
        first = json.loads(self.path("merged.jsonl").read_text().splitlines()[0])
        self.assertTrue(any(column.endswith("label") for column in first), first)

    def test_labels_that_do_not_fit(self):
        words = [*self.save_sides(), "--decision", "y:top1", "--max-flip-rate", "1", "--judge",
                 "decisions", "--labels", "labels.npy"]
        for labels in (self.right[:-1], np.append(self.right, 1), np.where(
                np.arange(self.right.size) == 9, CLASSES, self.right), self.right + 0.5):
            np.save(self.path("labels.npy"), labels)
            self.divide(words, (3, "stride"), (4, "contiguous"), code=4)

    def test_files_that_have_changed_since(self):
        words = [*self.save_sides(), "--decision", "y:top1", "--labels", "labels.npy"]
        first, second = self.shards(words, 2)
        np.save(self.path("labels.npy"), self.right + 1)
        ended = self.merge([first, second])
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("--labels 'labels.npy': the file has changed since the shards read it",
                      ended.err)
        self.shards(words, 2)
        self.path("late").mkdir()
        self.path(second).rename(self.path("late") / second)
        np.save(self.path("labels.npy"), self.right)
        self.shards(words, 2)
        ended = self.merge([first, f"late/{second}"])
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("the content of --labels 'labels.npy' differs", ended.err)
        self.assertFalse(self.path("merged.json").exists())

    def save_maps(self, sizes):
        rng = np.random.default_rng(5)
        left = [{"y": rng.uniform(-1, 1, (size, 3, 4, 5)).astype(np.float32)} for size in sizes]
        right = [{"y": side["y"].copy()} for side in left]
        for side in right[::2]:
            side["y"][0, 0, 0] = 9
        labels = np.concatenate([side["y"].argmax(1) for side in left])
        labels[:, 1, 1] = (labels[:, 1, 1] + 1) % 3
        np.save(self.path("maps.npy"), labels)
        np.savez(self.path("maps.npz"), *np.split(labels, np.cumsum(sizes)[:-1]))
        self.save_runs("a.json", [("A", left)])
        self.save_runs("b.json", [("B", right)])
        return ["compare", "a.json", "b.json", "--decision", "argmax", "--max-drop", "0.001",
                "--labels"]

    def test_maps_of_classes(self):
        words = self.save_maps([2] * 6)
        for name in ("maps.npy", "maps.npz"):
            self.divide([*words, name], (3, "stride"), (6, "contiguous"), code=1)
        (decision,) = json.loads(self.path("merged.json").read_text())["pairs"][0]["decisions"]
        self.assertEqual(decision["labels"]["metric"], "mean IoU")
        self.assertEqual([one["class"] for one in decision["class_ious"]], [0, 1, 2])
        # A last batch that is short shifts no labels, one before others does.
        self.divide([*self.save_maps([2, 2, 2, 1]), "maps.npy"], (2, "contiguous"), code=1)
        words = [*self.save_maps([1, 2, 2, 2]), "maps.npy"]
        ended = self.merge(self.shards(words, 2))
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn("iterations differ in their number of samples", ended.err)

    def test_boxes_with_average_precision(self):
        rng = np.random.default_rng(25)
        annotations, left, right = [], [], []
        for image in range(1, 7):
            boxes = []
            for _ in range(4):
                corner, size = rng.integers(0, 300, 2), rng.integers(10, 200, 2)
                annotations.append({"id": len(annotations) + 1, "image_id": image, "iscrowd": 0,
                                    "category_id": 1, "area": int(size.prod()),
                                    "bbox": [*corner.tolist(), *size.tolist()]})
                boxes.append([*corner, *(corner + size), rng.integers(5, 100) / 100, 0])
            left.append({"y": np.array([boxes], np.float32)})
            right.append({"y": left[-1]["y"] + np.float32([7, 0, 7, 0, 0, 0])})
        self.path("boxes.json").write_text(json.dumps({
            "images": [{"id": image, "width": 500, "height": 500} for image in range(1, 7)],
            "categories": [{"id": 1}], "annotations": annotations}))
        self.save_runs("a.json", [("A", left)])
        self.save_runs("b.json", [("B", right)])
        words = ["compare", "a.json", "b.json", "--decision", "y:boxes:xyxy,score,class",
                 "--labels", "boxes.json"]
        self.divide([*words, "--max-drop", "0.001"], (3, "stride"), (6, "contiguous"), code=1)
        decision, = json.loads(self.path("merged.json").read_text())["pairs"][0]["decisions"]
        self.assertEqual(decision["precision"]["images"], 6)
        boxes = decision["boxes"]
        self.assertGreater(boxes["matched"], 0)
        self.assertTrue(0.5 < boxes["mean_iou"] < 1, boxes)


class Images(ShardCase):
    """Images in folders of their class, for networks of which one names the brightest channel and
    the other the darkest where the image is light."""

    def setUp(self):
        super().setUp()
        for name, sign in (("right.onnx", 1), ("wrong.onnx", -1)):
            x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16])
            y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])
            nodes = [helper.make_node("ReduceMean", ["x"], ["m"], "n", axes=[2, 3], keepdims=0),
                     helper.make_node("Mul", ["m", "s"], ["y"], "s")]
            scale = helper.make_tensor("s", TensorProto.FLOAT, [1, 3], [1.0, 1.0, float(sign)])
            onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], [y], [scale]),
                                        ir_version=8,
                                        opset_imports=[helper.make_opsetid("", 17)]),
                      str(self.path(name)))
        self.files = []
        for channel, folder in enumerate(("a_red", "b_green", "c_blue")):
            self.path(f"images/{folder}").mkdir(parents=True)
            for i in range(3):
                pixels = np.full((16, 16, 3), 10 * i)
                pixels[..., channel] = 200 - 20 * i
                self.files.append(self.path("images") / folder / f"{i}.png")
                self.files[-1].write_bytes(png(pixels, 2))
        self.words = ["run", "--runner", "right=onnxrt right.onnx", "--runner",
                      "wrong=onnxrt wrong.onnx", "--load-inputs", "images/*/*.png",
                      "--preprocess", "scale=1/255", "--decision", "y:top1"]

    def test_images_are_read_by_their_shards(self):
        self.divide([*self.words, "--labels", "folder", "--max-drop", "0.1"], code=1)
        record = json.loads(self.path("merged.json").read_text())
        self.assertEqual(record["samples"], [str(path.relative_to(self.folder))
                                             for path in self.files])
        self.assertEqual(record["pairs"][0]["decisions"][0]["flips"], 3)
        self.assertEqual(len(record["flip_pictures"]), 3)
        self.divide([*self.words, "--max-flip-rate", "0.9", "--workers-per-runner", "2",
                     "--intra-op-threads", "1"], (2, "stride"), code=0)

    def test_images_that_were_skipped_are_no_iterations(self):
        for broken in (0, 3, 4, 8):
            self.files[broken].write_bytes(BROKEN)
        words = [*self.words, "--labels", "folder", "--max-flip-rate", "1"]
        # Of nine shards some have no image at all.
        whole = self.divide(words, (2, "contiguous"), (3, "stride"), (9, "contiguous"), code=4)
        self.assertIn("4 of 9 images could not be read and were skipped", whole.out + whole.err)
        record = json.loads(self.path("merged.json").read_text())
        self.assertEqual(len(record["samples"]), 5)
        ended = self.vernier("merge", "--status", self.part(1, 9), self.part(2, 9))
        self.assertIn("1 iterations so far", ended.out)

    def test_images_read_ahead_of_a_turn_that_never_comes(self):
        for broken in (2, 3, 5):
            self.files[broken].write_bytes(BROKEN)
        records = []
        for workers in (1, 3):
            ended = self.vernier(*self.words, "--fail-fast", "--workers-per-runner", workers,
                                 "--intra-op-threads", "1", "--reproducible", "--save-record",
                                 "r.json")
            self.assertEqual(ended.code, 1, ended.out + ended.err)
            records.append(self.path("r.json").read_text())
        self.assertEqual(*records)
        self.assertNotIn("skipped: ", records[0])
        self.files[0].write_bytes(BROKEN)  # before the iteration that the run ends in
        whole = self.divide([*self.words, "--fail-fast"], (1, "contiguous"), (3, "contiguous"),
                            (2, "stride"), code=1)
        self.assertIn("1 of 9 images could not be read", whole.out + whole.err)

    def test_not_one_image_can_be_read(self):
        for path in self.files:
            path.write_bytes(BROKEN)
        whole = self.vernier(*self.words, "--save-record", "whole.json")
        ended = self.merge(self.shards(self.words, 2))
        self.assertEqual(ended.code, whole.code, ended.out + ended.err)
        said = "none of the 9 image(s) can be read, the first is 'images/a_red/0.png'"
        for end in (whole, ended):
            self.assertIn(said, end.err)

    def test_flips_are_the_worst_of_all_shards(self):
        words = [*self.words, "--save-flips", "flips.npz", "--worst-flips", "2"]
        self.files[2].write_bytes(BROKEN)
        whole = self.vernier(*words, *WHOLE)
        self.assertEqual(whole.code, 1, whole.out + whole.err)
        expected = {name: dict(np.load(self.path(name)))
                    for name in ("flips.npz", "flips.outputs.npz")}
        self.assertGreater(len(expected["flips.npz"]), 1)
        for count, rule in ((1, "contiguous"), (3, "contiguous"), (3, "stride")):
            parts = self.shards(words, count, rule)
            for name in expected:
                self.path(name).unlink()
            self.expect_whole(whole, parts)
            for name, arrays in expected.items():
                found = np.load(self.path(name))
                arrays = {key: array for key, array in arrays.items() if key[0] != "_"}
                self.assertEqual({key for key in found.files if key[0] != "_"}, set(arrays))
                for key, array in arrays.items():
                    np.testing.assert_array_equal(found[key], array, (name, key))
        saved = sorted(self.folder.glob("flips.shard-*-of-0003.npz"))
        saved[0].write_bytes(saved[0].read_bytes() + b"x")
        ended = self.merge(parts)
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        self.assertIn(f"'{saved[0].name}' is not what its shard has written", ended.err)

    def test_saved_outputs_of_images(self):
        made = self.vernier("run", "right.onnx", "--onnxrt", "--load-inputs", "images/*/*.png",
                            "--preprocess", "scale=1/255", "--save-outputs", "golden.npz")
        self.assertEqual(made.code, 0, made.err)
        words = ["run", "wrong.onnx", "--onnxrt", "--load-inputs", "images/*/*.png",
                 "--preprocess", "scale=1/255", "--load-outputs", "golden.npz", "--decision",
                 "y:top1"]
        self.divide(words, (2, "stride"), code=1)
        self.files[4].write_bytes(BROKEN)
        ended = self.vernier(*words, "--shard", "1/2", "--shard-exit", "done", "--save-record",
                             "lost.json")
        self.assertNotEqual(ended.code, 0)
        self.assertIn("'images/b_green/1.png' was skipped", ended.out + ended.err)
        self.assertFalse(list(self.folder.glob("lost*")))


if __name__ == "__main__":
    unittest.main()
