"""blame --on-flips: the layer that makes decisions flip, found with the inputs that flip."""

import json
import subprocess
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import VERNIER, Case, blame

RUNNERS = ["--runner", "gold=onnxrt good.onnx", "--runner", "new=onnxrt bad.onnx",
           "--reference", "gold"]
# Above 5 the wrong network doubles the second class; of the rest both compute the same.
FLIPPED = {4: 6.0, 9: 8.0, 17: 7.0}


def network(path, late=1.0, bias=0.0):
    """Three classes; the second one is multiplied by `late` where x is above 5."""
    nodes = [helper.make_node("Relu", ["x"], ["r"], name="relu"),
             helper.make_node("Greater", ["r", "five"], ["above"], name="above"),
             helper.make_node("Where", ["above", "late", "one"], ["gain"], name="choose"),
             helper.make_node("Mul", ["r", "gain"], ["g"], name="scale"),
             helper.make_node("Add", ["g", "lead"], ["y"], name="lead")]
    constants = {"five": np.float32([5]), "one": np.float32([1]),
                 "late": np.float32([1, late, 1]), "lead": np.float32([3 + bias, 0, 0])}
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3]) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y],
                              [numpy_helper.from_array(v, n) for n, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


def save_feeds(path="x.npz", flipped=FLIPPED):
    """24 iterations whose first class leads; in `flipped` it leads by 3 with values above 5."""
    rows = {}
    for i in range(24):
        value = flipped.get(i, 2.0)
        rows[f"{i:010}/x"] = np.float32([[value, value, 0]])
    np.savez(path, **rows)


class Flips(Case):
    def setUp(self):
        super().setUp()
        network("good.onnx")
        save_feeds()

    def search(self, *words, code):
        ended, found = blame(self.folder.name, *RUNNERS, "--load-inputs", "x.npz", *words)
        said = ended.stdout + ended.stderr
        self.assertEqual(ended.returncode, code, said)
        return said, found

    def test_the_layer_is_found_with_the_inputs_that_flip(self):
        network("bad.onnx", late=2.0)
        said, found = self.search("--on-flips", "--decision", "y:top1", code=1)
        self.assertIn(found["culprits"][0]["node"], ("choose", "scale"), said)
        flips = found["on_flips"]
        self.assertEqual(sorted(flips["iterations"]), sorted(FLIPPED))
        self.assertEqual(found["iterations"], len(FLIPPED))
        (decision,) = flips["decisions"]
        self.assertEqual((decision["samples"], decision["flips"]), (24, 3))
        self.assertIn("whose decisions flip: top1 of 'y': 21 of 24 samples agree", said)

    def test_the_margin_that_the_layer_eats(self):
        network("bad.onnx", late=2.0)
        said, found = self.search("--on-flips", "--decision", "y:top1", code=1)
        flips = found["on_flips"]
        of, first = flips["margin_of"], flips["margins"][0]
        self.assertEqual((of["output"], of["kind"], of["margin"]), ("y", "top1", 3), said)
        self.assertEqual(of["iteration"], flips["iterations"][0])
        self.assertEqual(first["node"], found["culprits"][0]["node"])
        # Doubled, the second class is ahead by x - 3.
        left = 3 - FLIPPED[of["iteration"]]
        self.assertAlmostEqual(first["margin"], left, places=5)
        self.assertAlmostEqual(first["eaten"], (3 - left) / 3, places=5)
        self.assertIn("Of the margin 3 of top1 of 'y' in iteration", said)
        self.assertRegex(said, r"\[\w+\] uses up 200 %, which leaves -3: another answer")

    def test_near_ties_are_those_of_the_run(self):
        network("bad.onnx", late=2.0)
        said, found = self.search("--on-flips", "--decision", "y:top1", code=1)
        (decision,) = found["on_flips"]["decisions"]
        self.assertEqual(decision["near_tie_rule"], "the error bound", said)
        said, found = self.search("--on-flips", "--decision", "y:top1", "--near-tie", "9", code=1)
        self.assertEqual(found["on_flips"]["decisions"][0]["near_tie_rule"], "--near-tie 9", said)

    def test_near_ties_that_rounding_does_not_explain_are_counted(self):
        np.savez("x.npz", **{"0000000000/x": np.float32([[5, 7.999999, 0]])})
        network("bad.onnx", late=1.00001)
        said, found = self.search("--on-flips", "--decision", "top1", code=1)
        self.assertEqual(found["on_flips"]["decisions"][0]["near_ties"], 1, said)
        self.assertIn("top1 of 'y': 1 of 1 flip may be clear: near ties by an error bound that the "
                      "output exceeds, which a wrong network could have too; to decide, give "
                      "--near-tie X",
                      "\n".join(found["notes"]))

    def test_a_layer_that_eats_part_of_a_margin(self):
        # The sample flips by two layers: each alone leaves the answer as it is.
        np.savez("x.npz", **{"0000000000/x": np.float32([[6, 5.5, 0]])})
        network("bad.onnx", late=1.4, bias=-2.0)
        said, found = self.search("--on-flips", "--decision", "top1", code=1)
        eaten = {one["node"]: one["margin"] for one in found["on_flips"]["margins"]}
        self.assertAlmostEqual(found["on_flips"]["margin_of"]["margin"], 3.5, places=5)
        self.assertAlmostEqual(eaten["choose"], 3.5 - 0.4 * 5.5, places=5, msg=said)
        self.assertAlmostEqual(eaten["lead"], 1.5, places=5, msg=said)

    def test_the_largest_margins_come_first_and_four_are_enough(self):
        save_feeds(flipped={i: 6.0 for i in range(10)})
        with np.load("x.npz") as file:
            rows = {name: file[name].copy() for name in file.files}
        rows["0000000007/x"][0, 0] = 7  # leads by 4 there
        np.savez("x.npz", **rows)
        network("bad.onnx", late=3.0)
        _, found = self.search("--on-flips", "--decision", "top1", code=1)
        iterations = found["on_flips"]["iterations"]
        self.assertEqual((len(iterations), iterations[0]), (4, 7))
        _, found = self.search("--on-flips", "--decision", "top1", "--worst-flips", "1", code=1)
        self.assertEqual(found["on_flips"]["iterations"], [7])

    def test_invalid_samples_push_no_clear_flip_out(self):
        network("bad.onnx", late=2.0)
        with np.load("x.npz") as file:
            rows = {name: file[name].copy() for name in file.files}
        broken = {f"{i:010}/x": np.float32([[np.nan] * 3]) for i in (0, 1, 2, 3, 4, 9)}
        np.savez("x.npz", **(rows | broken))  # of the flips 17 is left
        said, found = self.search("--on-flips", "--decision", "y:top1", code=1)
        self.assertEqual(found["on_flips"]["iterations"], [17], said)
        self.assertEqual(found["on_flips"]["decisions"][0]["invalid"], 6)
        self.assertIn(found["culprits"][0]["node"], ("choose", "scale"), said)
        self.assertIn("Of the margin 3 of top1 of 'y' in iteration 17", said)

    def test_invalid_samples_alone_are_no_pass(self):
        network("bad.onnx", late=2.0)
        np.savez("x.npz", **{"0000000000/x": np.float32([[np.nan] * 3])})
        said, found = self.search("--on-flips", "--decision", "y:top1", code=4)
        self.assertIn("the only samples that flip hold NaN on both sides", said)
        self.assertEqual(found["on_flips"]["iterations"], [])
        self.assertNotIn("Nothing is to blame", said)

    def test_nothing_is_to_blame_where_nothing_flips(self):
        network("bad.onnx", bias=0.5)  # wrong, but for no answer
        _, found = self.search(code=1)
        self.assertEqual([c["node"] for c in found["culprits"]], ["lead"])
        said, found = self.search("--on-flips", "--decision", "top1", code=0)
        self.assertEqual((found["culprits"], found["layers"]), ([], []))
        self.assertEqual(found["on_flips"]["iterations"], [])
        self.assertIn("No decision flips: top1 of 'y': 24 of 24 samples agree", said)
        self.assertIn("Nothing is to blame.", said)

    def test_what_cannot_be_decided_is_no_pass(self):
        network("bad.onnx")
        said, found = self.search("--on-flips", "--decision", "y:boxes:yolov8", code=4)
        self.assertIn("nothing was decided", said)
        self.assertNotIn("Nothing is to blame", said)
        self.assertIn("nothing was decided", found["error"])

    def test_near_ties_alone_blame_nobody(self):
        network("bad.onnx", bias=-3e-7)
        np.savez("x.npz", **{"0000000000/x": np.float32([[0, 3, 0]])})  # both lead
        said, found = self.search("--on-flips", "--decision", "top1", "--near-tie", "0.01", code=0)
        self.assertEqual(found["on_flips"]["decisions"][0]["near_ties"], 1, said)
        self.assertEqual(found["on_flips"]["iterations"], [0])
        self.assertIn("Nothing is to blame.", said)

    def test_the_margins_are_those_of_the_reference(self):
        network("bad.onnx", late=2.0)
        swapped = ["--runner", "new=onnxrt bad.onnx", "--runner", "gold=onnxrt good.onnx",
                   "--reference", "gold"]
        ended, found = blame(self.folder.name, *swapped, "--load-inputs", "x.npz", "--on-flips",
                             "--decision", "top1")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        worst = found["on_flips"]["decisions"][0]["worst"][0]
        self.assertEqual((worst["first"], worst["second"]), ("0", "1"))
        self.assertEqual(worst["first_margin"], 3)


class AfterARun(Case):
    def test_the_run_has_the_inputs_already(self):
        network("good.onnx")
        network("bad.onnx", late=2.0)
        save_feeds()
        words = ["--load-inputs", "x.npz", "--decision", "top1", "--blame", "--on-flips",
                 "--save-record", "r.json", "--report", "r.html", "-qq"]
        ended = subprocess.run([VERNIER, "run", *RUNNERS, *words], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        with open("r.json", encoding="utf-8") as file:
            record = json.load(file)
        self.assertIn(record["blame"]["culprits"][0]["node"], ("choose", "scale"))
        self.assertEqual(sorted(record["blame"]["on_flips"]["iterations"]), sorted(FLIPPED))
        with open("r.html", encoding="utf-8") as file:
            self.assertIn("whose decisions flip", file.read())


class Words(Case):
    def refused(self, *words, command="blame"):
        network("good.onnx")
        network("bad.onnx")
        ended = subprocess.run([VERNIER, command, *RUNNERS[:4], *words], capture_output=True,
                               text=True)
        self.assertEqual(ended.returncode, 2, ended.stdout + ended.stderr)
        return ended.stdout + ended.stderr

    def test_words_that_have_no_effect_alone(self):
        self.assertIn("--on-flips has no effect without --decision", self.refused("--on-flips"))
        self.assertIn("--on-flips has no effect without --decision",
                      self.refused("--blame", "--on-flips", command="run"))
        self.assertIn("--on-flips has no effect without --blame",
                      self.refused("--on-flips", "--decision", "top1", command="run"))
        self.assertIn("--decision has no effect without --on-flips",
                      self.refused("--decision", "top1"))
        self.assertIn("--near-tie has no effect without --decision",
                      self.refused("--near-tie", "1"))

    def test_what_keeps_no_inputs_is_refused(self):
        given = ["--on-flips", "--decision", "top1"]
        self.assertIn("leave out --sequential-runners",
                      self.refused("--blame", *given, "--sequential-runners", command="run"))
        self.assertIn("leave out --steps",
                      self.refused(*given, "--steps", "2", "--feed-back", "y:x"))


if __name__ == "__main__":
    unittest.main()
