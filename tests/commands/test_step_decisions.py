"""Decisions of runs with steps: where they differ first."""

import unittest

from steps_case import StepsCase


class StepDecisions(StepsCase):
    def test_the_first_step_at_which_a_decision_differs(self):
        self.recurrent("a.onnx")
        self.late("b.onnx")
        self.save_feeds("feeds.json", self.recordings(steps=8))
        ended = self.vernier("run", "--runner", "a=onnxrt a.onnx", "--runner", "b=onnxrt b.onnx",
                             "--load-inputs", "feeds.json", "--feed-back", "hn:h", "--step-slice",
                             "x:axis=1", "--decision", "y:regression=1e-3", "--save-record",
                             "r.json", "--save-rows", "rows.jsonl", "--judge", "decisions",
                             "--max-flip-rate", "1", "-qqq", "--report", "r.md")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        said = "first at step 1 of sequence 0"
        self.assertIn(said, ended.out + ended.err)
        self.assertIn(said, self.path("r.md").read_text(encoding="utf-8"))
        (decision,) = self.record()["pairs"][0]["decisions"]
        self.assertEqual(decision["first_flip"],
                         {"iteration": 1, "step": 1, "sequence": 0, "row": 0})
        self.assertEqual({(flip["iteration"] // 8, flip["iteration"] % 8)
                          for flip in decision["worst"]},
                         {(flip["sequence"], flip["step"]) for flip in decision["worst"]})


if __name__ == "__main__":
    unittest.main()
