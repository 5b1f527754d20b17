"""Labels and names of other classes than the output's: no figure of them passes without a word."""

import json
import unittest

import numpy as np

from decision_case import Decisions
from test_image_labels import FedImages

CLASSES = 3


class Boxes(Decisions):
    """A head of three classes on eight images, of which the candidate has one class wrong."""

    def setUp(self):
        super().setUp()
        heads = np.zeros((8, 1, 4 + CLASSES, CLASSES), np.float32)
        for box in range(CLASSES):
            heads[:, 0, :4, box] = (20 + 60 * box, 30, 40, 40)
            heads[:, 0, 4 + box, box] = 0.9
        moved = heads.copy()
        moved[:, 0, 4:, 2] = (0.9, 0, 0)
        self.sides = [[{"y": head} for head in side] for side in (heads, moved)]

    def score(self, categories, *words, code, names=None,
              decision=("--decision", "boxes:yolov8")):
        """`categories`: ids, with their names where they have any."""
        known = sorted(categories)
        own = [one for one in known if categories[one] != "background"][:CLASSES]
        annotations = [
            {"id": 1 + 3 * image + box, "image_id": image, "category_id": own[box], "iscrowd": 0,
             "bbox": [60 * box, 10, 40, 40], "area": 1600}
            for image in range(8) for box in range(len(own))]
        self.path("c.json").write_text(json.dumps({
            "images": [{"id": image, "width": 200, "height": 200} for image in range(8)],
            "categories": [{"id": one, "name": categories[one]} for one in known],
            "annotations": annotations}))
        if names:
            self.path("names.txt").write_text("\n".join(names))
            words = (*words, "--class-names", "names.txt")
        pair = self.compare(*self.sides, *decision, "--labels", "c.json", "--max-drop", "1",
                            *words, code=code)
        return pair["decisions"][0].get("precision")

    def test_as_many_categories_as_classes(self):
        precision = self.score({3: "a", 7: "b", 9: "c"}, "--strict", code=0)
        self.assertEqual(precision["first"]["ap"], 1)

    def test_a_category_too_many_is_no_pass(self):
        for extra in (1, 11):
            self.score({3: "a", 7: "b", 9: "c", extra: "background"}, code=4)
            self.says("--labels 'c.json' has 4 categories for 3 classes of the output, and one too "
                      "many with a low id shifts all others")

    def test_names_find_categories_wherever_they_are(self):
        categories = {1: "background", 3: "a", 7: "b", 9: "c"}
        # No image has a background, so that it needs no name.
        precision = self.score(categories, "--strict", code=0, names=["a", "b", "c"])
        self.assertEqual(precision["first"]["ap"], 1)
        precision = self.score({3: "c", 7: "b", 9: "a"}, "--strict", code=0,
                               names=["c", "b", "a"])
        self.assertEqual(precision["first"]["ap"], 1)
        self.score({3: "a", 7: "b", 9: "c"}, code=4, names=["a", "b", "c", "d"])
        self.says("classes are found by --class-names, which has 4 names for the 3 of the output")
        # Boxes of classes that are not labelled count for nothing, as in pycocotools.
        precision = self.score({3: "a", 9: "b"}, "--strict", code=0, names=["a", "b", "c"])
        self.assertEqual(precision["first"]["ap"], 1)

    def test_names_that_find_no_category_are_said(self):
        categories = {3: "a", 7: "b", 9: "c"}
        for names in (["A", "B", "C"], ["x", "y", "z"]):
            self.score(categories, code=0, names=names)
            self.says("--labels 'c.json': no category has a name of --class-names, so that the "
                      "order of the ids says which classes they are: 0 is 'a' (id 3)")
            self.score(categories, "--strict", code=4, names=names)

    def test_names_that_find_some_categories_are_refused(self):
        for names, lacking in ((["c", "b", "x"], "'a' (id 3)"), (["c", "a", "a"], "'a' (id 3)")):
            self.refused({3: "a", 7: "b", 9: "c"}, names)
            self.says(f"--labels 'c.json': category {lacking} has no line of its own in "
                      "--class-names, and others have")
        self.refused({3: "a", 7: "a", 9: "c"}, ["a", "b", "c"])
        self.says("category 'a' (id 7) has no line of its own")

    def refused(self, categories, names):
        self.score(categories, code=0)
        self.path("names.txt").write_text("\n".join(names))
        self.ended = self.vernier("compare", "a.json", "b.json", "--decision", "boxes:yolov8",
                                  "--labels", "c.json", "--class-names", "names.txt")
        self.assertEqual(self.ended.code, 3, self.ended.out + self.ended.err)

    def test_columns_of_which_no_box_has_the_last_category_are_said(self):
        for side in self.sides:
            for one in side:
                head = one["y"][0]
                x, y, w, h = head[:4]
                one["y"] = np.stack([x - w / 2, y - h / 2, x + w / 2, y + h / 2,
                                     head[4:].max(0), head[4:].argmax(0)], 1)[None]
        columns = ["--decision", "boxes:xyxy,score,class"]
        known = {3: "a", 7: "b", 9: "c"}
        precision = self.score(known, "--strict", code=0, decision=columns)
        self.assertEqual(precision["first"]["ap"], 1)
        background = known | {8: "background"}
        self.score(background, code=0, decision=columns)
        self.says("no box of either side is of a class beyond 2, and --labels 'c.json' has 4 "
                  "categories for 3 classes")
        self.score(background, "--strict", code=4, decision=columns)
        precision = self.score(background, "--strict", code=0, names=["a", "b", "c"],
                               decision=columns)
        self.assertEqual(precision["first"]["ap"], 1)

    def test_a_category_too_few_is_said(self):
        for side in self.sides:
            for head in side:
                head["y"][:, 4:, 2] = 0
        self.score({3: "a", 7: "b"}, code=0)
        self.says("--labels 'c.json' has 2 categories for 3 classes of the output: class 0 is "
                  "taken as the category with the lowest id")
        self.score({3: "a", 7: "b"}, "--strict", code=4)


class Images(Decisions):
    def test_an_image_that_is_listed_twice_has_no_labels(self):
        head = np.zeros((1, 4 + CLASSES, 1), np.float32)
        head[0, :, 0] = (20, 30, 40, 40, 0.9, 0, 0)
        for names, why in ((["0.png", "0.png"], "is in --labels 'c.json' twice, with the ids 4 "
                            "and 5"), ([None, None], "whose images have no file_name")):
            self.path("c.json").write_text(json.dumps({
                "images": [{"id": 4 + i, "width": 200, "height": 200} |
                           ({"file_name": name} if name else {}) for i, name in enumerate(names)],
                "categories": [{"id": one} for one in range(CLASSES)], "annotations": []}))
            self.run_head(head)
            self.says(why)

    def run_head(self, head):
        """A network that says the same of every image."""
        import onnx
        from onnx import TensorProto, helper, numpy_helper
        from test_images import png
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 4, 4])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, list(head.shape))
        nodes = [helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0),
                 helper.make_node("Mul", ["s", "none"], ["n"]),
                 helper.make_node("Add", ["n", "head"], ["y"])]
        graph = helper.make_graph(nodes, "g", [x], [y], [
            numpy_helper.from_array(np.zeros((), np.float32), "none"),
            numpy_helper.from_array(head, "head")])
        onnx.save(helper.make_model(graph, ir_version=8,
                                    opset_imports=[helper.make_opsetid("", 17)]),
                  str(self.path("m.onnx")))
        self.path("images").mkdir(exist_ok=True)
        (self.path("images") / "0.png").write_bytes(png(np.full((4, 4, 3), 9), 2))
        self.ended = self.vernier("run", "m.onnx", "--onnxrt", "--runner", "b=onnxrt m.onnx",
                                  "--load-inputs", "images", "--decision", "boxes:yolov8",
                                  "--labels", "c.json", "--max-drop", "1")
        self.assertEqual(self.ended.code, 4, self.ended.out + self.ended.err)


class Folders(FedImages):
    def label(self, *words, code, images="images/*/*.png"):
        self.ended = self.vernier("run", "--runner", "a=onnxrt m.onnx", "--runner",
                                  "b=onnxrt m.onnx", "--load-inputs", images, "--decision", "top1",
                                  "--labels", "folder", "--max-drop", "1", *words,
                                  "--save-record", "r.json")
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
        decision = json.loads(self.path("r.json").read_text())["pairs"][0]["decisions"][0]
        return decision.get("labels")

    def without_green(self):
        self.path("images/b_green").rename(self.path("green"))

    def test_a_folder_too_few_shifts_no_class_unseen(self):
        self.without_green()
        self.label(code=4)
        self.says("2 folders for 3 classes of the output, so that folders would be other classes")
        self.path("images/b_green").mkdir()
        self.assertAlmostEqual(self.label("--strict", code=0)["first"], 5 / 6)

    def test_names_say_which_class_a_folder_is(self):
        self.without_green()
        self.path("names.txt").write_text("a_red\nb_green\nc_blue\n")
        labels = self.label("--class-names", "names.txt", "--strict", code=0)
        self.assertAlmostEqual(labels["first"], 5 / 6)
        self.says("--labels folder: 2 folders by --class-names: 0 is 'a_red', 2 is 'c_blue'")
        self.path("names.txt").write_text("background\na_red\nb_green\nc_blue\n")
        self.label("--class-names", "names.txt", code=4)
        self.says("--labels folder: classes are found by --class-names, which has 4 names for the "
                  "3 of the output")
        self.path("names.txt").write_text("a_red\nb_green\nblue\n")
        refused = self.vernier("run", "m.onnx", "--onnxrt", "--runner", "b=onnxrt m.onnx",
                               "--load-inputs", "images/*/*.png", "--decision", "top1", "--labels",
                               "folder", "--class-names", "names.txt")
        self.assertEqual(refused.code, 3, refused.out + refused.err)
        self.assertIn("folder 'c_blue' is not a class of --class-names, and others are",
                      refused.out + refused.err)

    def test_a_folder_of_two_classes_is_refused(self):
        self.path("names.txt").write_text("a_red\nb_green\na_red\n")
        refused = self.vernier("run", "m.onnx", "--onnxrt", "--runner", "b=onnxrt m.onnx",
                               "--load-inputs", "images/*/*.png", "--decision", "top1", "--labels",
                               "folder", "--class-names", "names.txt")
        self.assertEqual(refused.code, 3, refused.out + refused.err)
        self.assertIn("2 lines of --class-names are 'a_red', so that the folder of that name could "
                      "be any of these classes", refused.out + refused.err)

    def test_names_of_something_else_leave_the_order_and_that_is_said(self):
        self.path("names.txt").write_text("red\ngreen\nblue\n")
        self.assertAlmostEqual(self.label("--class-names", "names.txt", code=0)["first"], 8 / 9)
        self.says("--labels folder: no folder has a name of --class-names, so that the order of "
                  "the folders says which classes they are: 0 is 'a_red'")
        self.label("--class-names", "names.txt", "--strict", code=4)

    def check(self, *words, code):
        self.ended = self.vernier("check", "accuracy", "rows.jsonl", *words)
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)

    def test_rows_take_the_names_that_their_run_had(self):
        self.path("names.txt").write_text("c_blue\nb_green\na_red\n")
        self.label("--class-names", "names.txt", "--save-rows", "rows.jsonl", code=0)
        drop = ["--max-drop", "1"]
        self.check(*drop, code=0)
        own = next(line for line in (self.ended.out + self.ended.err).splitlines()
                   if "labels: top-1 accuracy" in line)
        named = ["--labels", "folder", "--class-names", "names.txt"]
        self.check(*drop, *named, "--strict", code=0)
        self.says(own.split("] ", 1)[1], "3 folders by --class-names: 2 is 'a_red', 1 is "
                  "'b_green', 0 is 'c_blue'")
        self.check(*drop, "--labels", "folder", code=0)
        self.says("3 folders by name, as in torchvision's ImageFolder: 0 is 'a_red'",
                  "6 samples had another label in the run than by the order or the names of the "
                  "folders: give the --class-names of the run")
        self.check(*drop, "--labels", "folder", "--strict", code=4)
        self.check(*drop, "--class-names", "names.txt", code=2)
        self.says("--class-names has no effect without --labels folder")

    def test_numbers_that_are_not_the_classes_are_said(self):
        for old, new in (("a_red", "10"), ("b_green", "2"), ("c_blue", "9")):
            self.path(f"images/{old}").rename(self.path(f"images/{new}"))
        self.label(code=0)
        self.says("all folders are named by numbers, and sorted as text, as in torchvision's "
                  "ImageFolder: '2' is class 1")
        self.label("--strict", code=4)
        self.path("images/10").rename(self.path("images/1"))
        self.label("--strict", code=0)

    def test_an_image_that_is_named_twice_is_one_sample(self):
        self.ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "images/*/*.png",
                                  "./images/a_red/*.png", "--save-record", "r.json")
        self.assertEqual(self.ended.code, 0, self.ended.out + self.ended.err)
        self.says("Gets 9 image(s)")

    def test_a_loose_image_hides_no_folders(self):
        image = self.path("images") / "a_red" / "1.png"
        (self.path("images") / "loose.png").write_bytes(image.read_bytes())
        words = ["run", "m.onnx", "--onnxrt", "--runner", "b=onnxrt m.onnx", "--load-inputs",
                 "images"]
        self.ended = self.vernier(*words)
        self.assertEqual(self.ended.code, 0, self.ended.out + self.ended.err)
        self.says("the images in 3 folders, as 'images/a_red', are left out, since 'images' holds "
                  "images itself: give 'images/*/' for them")
        self.assertEqual(self.vernier(*words, "--strict").code, 4)
        both = self.vernier(*words, "images/*/", "--strict")
        self.assertEqual(both.code, 0, both.out + both.err)

    def test_files_that_are_passed_over_are_counted(self):
        folder = self.path("images") / "a_red"
        for name in ("labels.txt", ".DS_Store", "._1.png"):
            (folder / name).write_bytes(b"")
        words = ["run", "m.onnx", "--onnxrt", "--runner", "b=onnxrt m.onnx", "--load-inputs",
                 "images/a_red"]
        self.ended = self.vernier(*words, "--strict")
        self.assertEqual(self.ended.code, 0, self.ended.out + self.ended.err)
        self.assertNotIn("passed over", self.ended.out + self.ended.err)
        for name in ("x.webp", "y.WEBP", "scan", ".1.png"):
            (folder / name).write_bytes(b"")
        self.ended = self.vernier(*words)
        self.assertEqual(self.ended.code, 0, self.ended.out + self.ended.err)
        self.says("5 files beside the images were passed over, as only .png, .jpg and .jpeg are "
                  "read: 1 '.txt', 2 '.webp', 1 hidden '.png', 1 without an ending; images as "
                  "'images/a_red/.1.png' have to be converted or renamed")
        self.assertEqual(self.vernier(*words, "--strict").code, 4)
        self.assertEqual((self.ended.out + self.ended.err).count("passed over"), 1)
        # Rows know it as well.
        for rows in ("rows.jsonl", "rows.npz"):
            made = self.vernier(*words, "--decision", "top1", "--save-rows", rows)
            self.assertEqual(made.code, 0, made.out + made.err)
            check = ["check", "accuracy", rows, "--max-flip-rate", "1"]
            self.ended = self.vernier(*check)
            self.assertEqual(self.ended.code, 0, self.ended.out + self.ended.err)
            self.says("5 files beside the images were passed over")
            self.assertEqual(self.vernier(*check, "--strict").code, 4)

    def test_merged_rows_know_what_was_passed_over(self):
        (self.path("images") / "a_red" / "x.webp").write_bytes(b"")
        words = ["run", "m.onnx", "--onnxrt", "--runner", "b=onnxrt m.onnx", "--load-inputs",
                 "images/a_red", "--decision", "top1", "--save-rows"]
        self.vernier(*words, "whole.jsonl")
        for k in (1, 2):
            made = self.vernier(*words, "p.jsonl", "--save-record", "p.json", "--shard", f"{k}/2",
                                "--shard-exit", "done")
            self.assertEqual(made.code, 0, made.out + made.err)
        parts = sorted(path.name for path in self.folder.glob("p.shard-*.json"))
        made = self.vernier("merge", *parts, "-o", "m.json", "--save-rows", "merged.jsonl")
        self.assertEqual(made.code, 0, made.out + made.err)
        for rows in ("whole.jsonl", "merged.jsonl"):
            lines = self.path(rows).read_text(encoding="utf-8").splitlines()
            self.assertIn("passed_over", json.loads(lines[-1]), rows)
            check = ["check", "accuracy", rows, "--max-flip-rate", "1"]
            self.ended = self.vernier(*check)
            self.assertEqual(self.ended.code, 0, self.ended.out + self.ended.err)
            self.says("1 file beside the images was passed over")
            self.assertEqual(self.vernier(*check, "--strict").code, 4)

    def test_a_folder_that_is_called_like_an_image_is_none(self):
        (self.path("images") / "a_red" / "x.png").mkdir()
        self.ended = self.vernier("run", "m.onnx", "--onnxrt", "--runner", "b=onnxrt m.onnx",
                                  "--load-inputs", "images/a_red", "--strict")
        self.assertEqual(self.ended.code, 0, self.ended.out + self.ended.err)

    def test_a_folder_of_other_images_is_refused(self):
        folder = self.path("photos")
        folder.mkdir()
        for name in ("a.webp", "b.gif"):
            (folder / name).write_bytes(b"")
        for words in ([], ["--preprocess", "scale=1/255"]):
            self.ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "photos",
                                      *words)
            self.assertEqual(self.ended.code, 3, self.ended.out + self.ended.err)
            self.says("--load-inputs: 'photos' holds no image that can be read (.png, .jpg, "
                      ".jpeg), but 1 '.gif', 1 '.webp', as 'photos/a.webp': convert or rename them")

    def test_a_folder_of_a_pattern_may_have_no_image(self):
        self.path("images/d_bare").mkdir()
        self.path("images/e_text").mkdir()
        self.path("images/e_text/readme.txt").write_text("None yet.")
        run = ["run", "m.onnx", "--onnxrt", "--runner", "b=onnxrt m.onnx", "--load-inputs"]
        self.ended = self.vernier(*run, "images/*/", "--strict")
        self.assertEqual(self.ended.code, 0, self.ended.out + self.ended.err)
        self.ended = self.vernier(*run, "images/a_red", "images/d_bare")
        self.assertEqual(self.ended.code, 2, self.ended.out + self.ended.err)
        self.says("'images/d_bare' is a folder without images, and 'images/a_red/",
                  "' is an image: leave the folder out, or name it in another run")

    def test_a_folder_with_the_name_of_an_image(self):
        self.path("images/a_red/dir.png").mkdir()
        self.ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "images/*/*")
        self.says("'images/a_red/dir.png' is a folder without images")


class Names(Decisions):
    def setUp(self):
        super().setUp()
        rows = np.eye(CLASSES, dtype=np.float32)
        self.a = [{"y": row[None]} for row in rows]
        self.b = [{"y": row[None]} for row in np.roll(rows, 1, 0)]

    def name(self, count, *words, code):
        self.path("names.txt").write_text("\n".join(f"name {i}" for i in range(count)))
        return self.compare(self.a, self.b, "--decision", "top1", "--max-flip-rate", "1",
                            "--class-names", "names.txt", *words, code=code)

    def test_another_number_of_names_names_nothing(self):
        first = self.name(CLASSES, "--strict", code=0)["decisions"][0]["worst"][0]["first"]
        self.assertEqual(first, "name 0 (0)")
        for count in (CLASSES - 1, CLASSES + 1):
            first = self.name(count, code=0)["decisions"][0]["worst"][0]["first"]
            self.assertEqual(first, "0")
            self.says(f"--class-names 'names.txt' has {count} names for the 3 classes of top1 of "
                      "'y', which stay numbers")
            self.name(count, "--strict", code=4)

    def test_truths_are_no_classes_of_three(self):
        np.save(self.path("l.npy"), np.array([0, 1, 2]) > 0)
        self.path("l.jsonl").write_text('{"label": true}\n1\n2\n')
        for labels, which in (("l.npy", "sample 0 of iteration 0"),
                              ("l.jsonl", "sample 0 of iteration 0 (line 1)")):
            self.compare(self.a, self.b, "--decision", "top1", "--labels", labels, "--max-drop",
                         "1", code=4)
            self.says(f"the label of {which} is true or false, which names none of the 3 classes")
        two = [[{"y": one["y"][:, :2]} for one in side] for side in (self.a, self.b)]
        self.path("l.jsonl").write_text("true\nfalse\nfalse\n")
        pair = self.compare(*two, "--decision", "top1", "--labels", "l.jsonl", "--max-drop", "1",
                            code=0)
        self.assertEqual(pair["decisions"][0]["labels"]["samples"], 3)
        self.path("l.jsonl").write_text("[true, false]\n1\n0\n")
        self.compare(*two, "--decision", "threshold=0.5", "--labels", "l.jsonl", code=3)


if __name__ == "__main__":
    unittest.main()
