"""--decision: what outputs decide, gates, what the exit code rests on, rows, records, reports."""

import json
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from decision_case import CLASSES, Decisions, flipped, scores

class Agreement(Decisions):
    def test_equal_answers_agree_whatever_the_elements_do(self):
        a = scores(100)
        pair = self.compare([{"y": a}], [{"y": a + np.float32(0.1)}], "--decision", "top1", code=1)
        (decision,) = pair["decisions"]
        self.assertEqual((decision["output"], decision["kind"]), ("y", "top1"))
        self.assertEqual((decision["samples"], decision["agree"], decision["flips"]), (100, 100, 0))
        self.assertEqual(decision["agreement"], 1)
        self.assertAlmostEqual(decision["interval_low"], 0.963, delta=1e-3)
        self.assertEqual(pair["judged_by"], "elements")
        self.says("decision top1 of 'y': 100 of 100 samples agree, 100 %")

    def test_flips_near_ties_and_nan_are_counted_apart(self):
        a = scores(100)
        a[3, 4] = 2.999
        b = flipped(a, 7, by=1)
        b[3, 4] = 3.001
        b[9, 0] = np.nan
        pair = self.compare([{"y": a}], [{"y": b}], "--decision", "y:top1", "--near-tie", "0.01",
                            code=1)
        (decision,) = pair["decisions"]
        counts = {key: decision[key] for key in ("flips", "clear_flips", "near_ties", "invalid")}
        self.assertEqual(counts, {"flips": 3, "clear_flips": 2, "near_ties": 1, "invalid": 1})
        flips = {flip["row"]: flip for flip in decision["worst"]}
        self.assertEqual(sorted(flips), [3, 7, 9])
        self.assertEqual(flips[3]["flip"], "near tie")
        self.assertEqual((flips[7]["first"], flips[7]["second"]), ("7", "8"))
        self.assertAlmostEqual(flips[3]["first_margin"], 0.001, delta=1e-5)
        self.says("3 flips: 2 clear (1 with NaN), 1 near tie", "sample 7: '7' by ")

    def test_several_decisions_about_one_output(self):
        a = scores(10)
        pair = self.compare([{"y": a}], [{"y": a}], "--decision", "y:top1", "y:top5", "sign",
                            code=0)
        self.assertEqual([d["kind"] for d in pair["decisions"]], ["top1", "top5", "sign"])

    def test_an_output_without_a_name_is_decided(self):
        a = scores(10)
        pair = self.compare([{"": a}], [{"": flipped(a, 3)}], "--decision", "top1", code=1)
        (decision,) = pair["decisions"]
        self.assertEqual((decision["output"], decision["samples"], decision["flips"]), ("", 10, 1))

    def test_decisions_see_outputs_before_post_processing(self):
        a = scores(10)
        words = ["--postprocess", "top-1", "--decision", "y:top5"]
        pair = self.compare([{"y": a}], [{"y": a}], *words, code=0)
        self.assertEqual(pair["decisions"][0]["samples"], 10)
        self.assertEqual(pair["outputs"][0]["elements"], 10)

    def test_an_output_that_one_side_cannot_decide_is_missed(self):
        a = scores(10)
        for other in (np.zeros((10, 10), np.int32), np.zeros((10, 10), bool)):
            left, right = [{"y": a, "z": a}], [{"y": a, "z": other}]
            self.compare(left, right, "--decision", "top1", "--max-flip-rate", "0.1", "--judge",
                         "decisions", code=4)
            self.says("output 'z' is")
            self.compare([{"y": a, "z": other}], [{"y": a, "z": other}], "--decision", "top1",
                         "--max-flip-rate", "0.1", "--judge", "decisions", code=0)


class Gates(Decisions):
    A = scores(1000)

    def test_the_exit_code_rests_on_decisions_once_there_is_a_gate(self):
        shifted = [{"y": self.A + np.float32(0.1)}]
        pair = self.compare([{"y": self.A}], shifted, "--decision", "top1", "--max-flip-rate",
                            "0.01", code=0)
        self.assertEqual(pair["judged_by"], "decisions")
        (gate,) = pair["decision_gates"]
        self.assertEqual((gate["gate"], gate["verdict"]), ("--max-flip-rate", "passed"))
        self.assertFalse(gate["undecided"])
        self.says("a vs. b: PASSED by decisions, compared 1 output")
        self.assertNotIn("[E]", self.ended.out)
        self.says("[W]         FAILED | Output: 'y'")
        self.assertEqual(self.last_line(), "judged by decisions: 1 output out of tolerance by "
                         "elements, which is reported only (--judge both judges them as well)")

    def test_a_missed_gate_fails_with_a_sentence(self):
        far = [{"y": flipped(self.A, *range(100))}]
        pair = self.compare([{"y": self.A}], far, "--decision", "top1", "--max-flip-rate", "y:0.01",
                            code=1)
        self.assertEqual(pair["decision_gates"][0]["verdict"], "failed")
        self.says("failed: a vs. b: --max-flip-rate 0.01: top1 of 'y' differs in 10 % "
                  "(1 % allowed), failed",
                  "a vs. b: FAILED by decisions")

    def test_outputs_whose_decision_has_no_gate_are_judged_by_their_elements(self):
        left = [{"y": self.A[:20], "z": self.A[:20]}]
        right = [{"y": self.A[:20], "z": -self.A[:20]}]
        for words in (["top1", "--max-flip-rate", "y:0.1"],
                      ["y:top1", "z:top1", "--max-flip-rate", "y:top1:0.1"]):
            pair = self.compare(left, right, "--decision", *words, code=1)
            self.assertEqual(pair["undecided_outputs"], ["z"])
            self.says("output 'z' does not match, and no gate of a decision is about it")
        self.compare(left, right, "--decision", "top1", "--max-flip-rate", "y:0.1", "z:1", code=0)

    def test_strict_fails_what_shows_nothing_and_differs_in_its_elements(self):
        zeros = np.zeros((5, 8), np.float32)
        words = ["--decision", "top1", "--max-flip-rate", "0"]
        for other in (zeros, zeros + 2):
            self.compare([{"y": zeros}], [{"y": other}], *words, code=0)
            self.compare([{"y": zeros}], [{"y": other}], *words, "--strict", code=1)
            self.says("a vs. b: FAILED by --strict")

    def test_outputs_without_a_decision_are_judged_by_their_elements(self):
        words = ["--decision", "top1", "--max-flip-rate", "0", "--report", "r.md", "--report",
                 "r.xml"]
        value = np.zeros((4, 1), np.float32)
        left = [{"y": self.A[:4], "value": value}]
        for other in (value + 1, np.zeros((5, 1), np.float32)):
            right = [{"y": self.A[:4] + np.float32(0.1), "value": other}]
            pair = self.compare(left, right, *words, code=1)
            self.assertEqual((pair["judged_by"], pair["undecided_outputs"]),
                             ("decisions", ["value"]))
            self.says("a vs. b: FAILED, compared", "failed: a vs. b: output 'value' does not match,"
                      " and no gate of a decision is about it (--judge decisions only reports it)")
            self.assertEqual(self.last_line(), "judged by decisions, and outputs without a gate by "
                             "elements ('value'); for the others, 1 output out of tolerance by "
                             "elements, which is only reported (--judge both judges them as well)")
            self.assertIn("does not match, and no gate",
                          self.path("r.md").read_text())
            self.assertIn('failures="2"', self.path("r.xml").read_text().splitlines()[1])
            self.compare(left, right, *words, "--judge", "decisions", code=0)
        right = [{"y": self.A[:4] + np.float32(0.1), "value": value}]
        self.compare(left, right, *words, code=0)
        self.says("a vs. b: PASSED by decisions")

    def test_clear_flips_have_a_gate(self):
        far = [{"y": flipped(self.A, 1, 2, 3)}]
        words = ["--decision", "top1", "--near-tie", "0", "--max-clear-flips"]
        self.compare([{"y": self.A}], far, *words, "2", code=1)
        self.says("--max-clear-flips 2: top1 of 'y' has 3 clear flips, failed")
        self.compare([{"y": self.A}], far, *words, "3", code=0)

    def test_both_are_judged_where_a_tolerance_is_typed(self):
        near = [{"y": self.A + np.float32(0.1)}]
        words = ["--decision", "top1", "--max-flip-rate", "0.01"]
        pair = self.compare([{"y": self.A}], near, *words, "--atol", "1e-3", code=1)
        self.assertEqual(pair["judged_by"], "both")
        self.compare([{"y": self.A}], near, *words, "--atol", "0.2", code=0)
        self.compare([{"y": self.A}], near, *words, "--compare", "simple", code=1)
        words += ["--judge", "decisions"]
        self.compare([{"y": self.A}], near, *words, "--atol", "1e-3", code=0)

    def test_both_are_judged_where_elements_have_a_rule_of_their_own(self):
        near = [{"y": self.A + np.float32(0.1)}]
        words = ["--decision", "top1", "--max-flip-rate", "0.01"]
        self.path("s.py").write_text("def compare_outputs(a, b): return {'y': False}\n")
        self.compare([{"y": self.A}], near, *words, "--compare-func-script", "s.py", code=1)
        self.says("a vs. b: FAILED")
        for rule in (["--check-error-stat", "mean"],
                     ["--check-error-stat", "max", "--check-average"]):
            pair = self.compare([{"y": self.A}], near, *words, *rule, code=1)
            self.assertEqual(pair["judged_by"], "both")

    def test_elements_alone_are_judged_where_that_is_asked(self):
        far = [{"y": flipped(self.A, *range(100))}]
        words = ["--decision", "top1", "--max-flip-rate", "0.01", "--judge", "elements"]
        self.compare([{"y": self.A}], far, *words, "--atol", "10", code=0)
        self.says("reported only (--judge elements)")

    def test_too_few_samples_leave_a_gate_undecided(self):
        few = self.A[:50]
        words = ["--decision", "top1", "--max-flip-rate", "0.01"]
        pair = self.compare([{"y": few}], [{"y": few}], *words, code=0)
        (gate,) = pair["decision_gates"]
        self.assertTrue(gate["undecided"])
        self.assertGreater(gate["samples_to_decide"], 50)
        self.says(f"and about {gate['samples_to_decide']} samples would decide")
        self.compare([{"y": few}], [{"y": few}], *words, "--strict", code=4)
        self.says("not done: a vs. b: --strict: --max-flip-rate 0.01")

    def test_nothing_decided_is_no_pass(self):
        one = [{"y": np.array(1, np.float32)}]
        self.compare(one, one, "--decision", "top1", code=4)
        self.says("--decision top1: nothing was decided: output 'y' is a scalar")
        a, b = self.A[:4], self.A[:5]
        self.compare([{"y": a}], [{"y": b}], "--decision", "y:top1", "--max-flip-rate", "0.5",
                     code=4)
        self.says("--decision y:top1: nothing was decided", "(4, 20)", "(5, 20)")
        empty = [{"y": np.zeros((0, CLASSES), np.float32)}]
        self.compare(empty, empty, "--decision", "top1", "--max-flip-rate", "0.5", code=4)

    def test_nothing_found_anywhere_shows_nothing(self):
        low = [{"y": np.linspace(0, 0.2, 12, dtype=np.float32).reshape(1, 6, 2)}]
        words = ["--decision", "y:boxes:yolov8", "--max-flip-rate", "1"]
        pair = self.compare(low, low, *words, code=0)
        why = "no sample of either side has a detection"
        self.assertEqual(pair["decisions"][0]["vacuous"], why)
        self.says(f"a vs. b: boxes:yolov8 of 'y' shows nothing: {why}")
        self.compare(low, low, *words, "--strict", code=4)
        self.says("--strict: boxes:yolov8 of 'y' shows nothing")

    def test_a_threshold_outside_the_outputs_range_shows_nothing(self):
        shares = [{"y": np.linspace(0.1, 0.9, 12, dtype=np.float32).reshape(3, 4)}]
        for limit, why in (("5", "no sample of either side has a label"),
                           ("-5", "every value of both sides is at or above the threshold")):
            words = ["--decision", f"y:threshold={limit}", "--max-flip-rate", "1"]
            pair = self.compare(shares, shares, *words, code=0)
            self.assertEqual(pair["decisions"][0]["vacuous"], why)
            self.says(f"a vs. b: threshold={limit} of 'y' shows nothing: {why}")
            self.compare(shares, shares, *words, "--strict", code=4)
        pair = self.compare(shares, shares, "--decision", "y:threshold=0.2", code=0)
        self.assertNotIn("vacuous", pair["decisions"][0])

    def test_what_is_no_box_is_said(self):
        rows = np.array([[[0, 0, 10, 10, 0.9, 1], [20, 20, 30, 30, 0.8, 2]]], np.float32)
        words = ["--decision", "y:boxes:xyxy,score,class", "--max-flip-rate", "0"]
        self.compare([{"y": rows}], [{"y": rows}], *words, code=0)
        self.assertNotIn("negative", self.ended.out)
        sizes = rows.copy()
        sizes[0, 1, 2:4] = 10  # as xywh would have it
        pair = self.compare([{"y": sizes}], [{"y": sizes}], *words, code=0)
        self.assertEqual(pair["decisions"][0]["negative_boxes"], 2)
        self.says("a vs. b: boxes:xyxy,score,class of 'y' has 2 boxes of both sides with a "
                  "negative width or height, which overlap nothing: are the columns in another "
                  "order, or is xywh read as xyxy?")
        self.compare([{"y": sizes}], [{"y": sizes}], *words, "--strict", code=4)
        between = rows.copy()
        between[0, 1, 5] = 2.75
        self.compare([{"y": rows}], [{"y": between}], *words, code=1)
        self.says("against 'invalid', invalid: box 1 has the class 2.75, and classes are whole "
                  "numbers")

    def test_what_was_decided_in_some_iterations_only_is_no_pass(self):
        a = self.A[:4]
        pair = self.compare([{"y": a}, {"y": a}], [{"y": a}, {"y": a[:2]}], "--decision", "y:top1",
                            "--max-flip-rate", "0.9", code=4)
        self.assertEqual(pair["decisions"][0]["samples"], 4)
        self.says("not everything was decided in 1 of 2 iterations")

    def test_an_output_that_fits_only_later_was_not_decided_before(self):
        a = self.A[:4]
        sides = [{"y": a, "z": np.array(1, np.float32)}, {"y": a, "z": a}]
        self.compare(sides, sides, "--decision", "top1", "--max-flip-rate", "0.9", code=4)
        self.says("not everything was decided in 1 of 2 iterations: an output fits from iteration 1"
                  " on")


class Usage(Decisions):
    def refuses(self, *words):
        a = [{"y": scores(2)}]
        self.compare(a, a, *words, code=2)

    def test_what_makes_no_sense_is_refused(self):
        self.refuses("--max-flip-rate", "0.1")
        self.says("--max-flip-rate has no effect without --decision")
        self.refuses("--judge", "both")
        self.refuses("--decision", "top1", "--pairs", "")
        self.refuses("--decision", "top1", "--judge", "decisions")
        self.says("--judge decisions: there is no gate that decisions could miss")
        self.refuses("--decision", "top1", "--max-flip-rate", "2")
        self.says("--max-flip-rate: expected a number from 0 to 1")
        self.refuses("--decision", "y:top1", "y:top1")
        self.says("--decision: top1 is given twice for output 'y'")
        self.refuses("--decision", "y:boxes:yolov8,iou=0.6", "y:boxes:yolov8,iou=0.6")
        self.says("--decision: boxes:yolov8,iou=0.6 is given twice for output 'y'")
        self.refuses("--decision", "topp1")
        self.refuses("--decision", "z:top1")
        self.says("--decision: there is no output 'z'")


class Reports(Decisions):
    A, B = [{"y": scores(100)}], [{"y": flipped(scores(100), 5)}]

    def test_every_report_has_them(self):
        words = ["--decision", "top1", "--max-flip-rate", "0.001", "--near-tie", "0"]
        for name in ("r.xml", "r.md", "r.html", "r.jsonl"):
            words += ["--report", name]
        self.compare(self.A, self.B, *words, code=1)
        self.assertIn("decision top1 of 'y', --max-flip-rate", self.path("r.xml").read_text()
                      .replace("&apos;", "'").replace("&#39;", "'"))
        self.assertIn("99 of 100 samples agree", self.path("r.md").read_text())
        self.assertIn("margin_counts", self.path("r.html").read_text())
        lines = [json.loads(line) for line in self.path("r.jsonl").read_text().splitlines()]
        of_kind = {line["kind"]: line for line in lines}
        self.assertIn("decision", of_kind)
        gate = of_kind["decision_gate"]
        self.assertEqual((gate["gate"], gate["decide"], gate["verdict"]),
                         ("--max-flip-rate", "top1", "failed"))
        self.assertEqual(of_kind["pair"]["judged_by"], "decisions")
        self.vernier("report", "r.json", "-o", "again.md")
        self.assertEqual(self.path("again.md").read_text(), self.path("r.md").read_text())

    def test_elements_that_do_not_count_are_no_failures(self):
        words = ["--decision", "top1", "--max-flip-rate", "0.5", "--report", "r.xml"]
        self.compare(self.A, self.B, *words, code=0)
        self.assertIn('failures="0"', self.path("r.xml").read_text().splitlines()[1])


class Runs(Decisions):
    """A classifier of 20 classes against its float16 copy."""

    def setUp(self):
        super().setUp()
        # float16 rounds these weights to 1, whether the runtime computes in it or not.
        weights = np.diag(np.full(CLASSES, 1.0001, np.float32))
        weights[4, 4] = 1
        for name, dtype in (("full.onnx", np.float32), ("half.onnx", np.float16)):
            kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            nodes = [helper.make_node("Cast", ["x"], ["c"], to=kind),
                     helper.make_node("MatMul", ["c", "w"], ["m"]),
                     helper.make_node("Cast", ["m"], ["logits"], to=TensorProto.FLOAT)]
            graph = helper.make_graph(
                nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", CLASSES])],
                [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", CLASSES])],
                [numpy_helper.from_array(weights.astype(dtype), "w")])
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                        ir_version=8), str(self.path(name)))
        rows = scores(40)
        rows[5] *= np.float32(0.9)
        rows[5, 5] = 1  # of two classes that float16 makes equal the lower one counts
        rows[5, 4] = 1.00005
        self.save_feeds("feeds.json", [{"x": rows[start:start + 10]} for start in range(0, 40, 10)])

    def run_both(self, *words, inputs=("--load-inputs", "feeds.json"), code):
        self.ended = self.vernier("run", "full.onnx", "--onnxrt", "--runner",
                                  "half=onnxrt half.onnx", *inputs, *words,
                                  "--save-record", "r.json")
        self.assertEqual(self.ended.code, code, self.ended.out + self.ended.err)
        return json.loads(self.path("r.json").read_text())

    def test_a_near_tie_flips_and_its_inputs_run_again(self):
        words = ["--decision", "top1", "--max-clear-flips", "0", "--save-flips", "flips.npz"]
        record = self.run_both(*words, code=0)
        (decision,) = record["pairs"][0]["decisions"]
        self.assertEqual((decision["samples"], decision["near_ties"]), (40, 1))
        self.assertEqual(decision["worst"][0]["iteration"], 0)
        self.assertIn({"what": "inputs of flips", "where": "flips.npz"}, record["saved"])
        again = self.run_both("--decision", "top1", inputs=("--load-inputs", "flips.npz"), code=1)
        (repeated,) = again["pairs"][0]["decisions"]
        self.assertEqual((repeated["samples"], repeated["near_ties"]), (10, 1))

    def test_flips_are_saved_where_there_are_inputs_and_flips(self):
        words = ["--decision", "logits:sign", "--max-flip-rate", "0.5", "--save-flips",
                 "flips.npz"]
        self.run_both(*words, code=0)
        self.says("--save-flips: no decision differs, and 'flips.npz' was not written")
        self.assertNotIn("earlier run", self.ended.out + self.ended.err)
        self.path("flips.npz").write_bytes(b"")
        self.run_both(*words, code=0)
        self.says("'flips.npz' was not written; what it holds is of an earlier run")
        refused = self.vernier("run", "--load-outputs", "a.json", "b.json", "--decision", "top1",
                               "--save-flips", "flips.txt")
        self.assertEqual(refused.code, 2, refused.out + refused.err)
        self.assertIn("--save-flips: expected FILE.npz", refused.out + refused.err)

    def test_auto_tolerance_gives_the_near_tie(self):
        record = self.run_both("--decision", "top1", "--tolerance", "auto", code=0)
        (decision,) = record["pairs"][0]["decisions"]
        self.assertTrue(decision["near_tie_from_bound"])
        self.assertEqual((decision["flips"], decision["near_ties"]), (1, 1))
        self.says("near tie by the error bound")

    def test_random_inputs_prove_nothing(self):
        words = ["--decision", "top1", "--max-flip-rate", "1"]
        self.run_both(*words, inputs=("--iterations", "2"), code=0)
        self.says("the inputs are random, and decisions that agree on noise prove nothing about "
                  "real data")
        self.run_both(*words, code=0)
        self.assertNotIn("inputs are random", self.ended.out)

    def test_a_run_file_has_them(self):
        self.run_both("--decision", "logits:top1", "logits:top5", "--max-flip-rate", "logits:0.5",
                      "--save-run-file", "run.json", code=0)
        plan = json.loads(self.path("run.json").read_text())["decisions"]
        self.assertEqual(plan, {"decisions": [{"output": "logits", "decide": "top1"},
                                              {"output": "logits", "decide": "top5"}],
                                "max_flip_rate": {"logits": 0.5}})
        again = self.vernier("run", "--run-file", "run.json")
        self.assertEqual(again.code, 0, again.out + again.err)
        self.assertIn("judged by decisions", again.out)


if __name__ == "__main__":
    unittest.main()
