"""examples/language_models/compare_tokens.py: what its lines say."""

import contextlib
import importlib.util
import io
import pathlib
import unittest

import numpy as np

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/language_models"


class ComparedTokens(unittest.TestCase):
    def test_only_lines_that_fail_are_errors(self):
        spec = importlib.util.spec_from_file_location("compare_tokens",
                                                      f"{EXAMPLES}/compare_tokens.py")
        script = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(script)
        logits = np.random.default_rng(1).normal(size=(1, 6, 16)) * 3
        turned = np.roll(logits, 1, axis=-1)
        for other, wrong in ((logits, []), (logits * 1.5, ["KL divergence"]),
                             (turned, ["KL divergence", "Best token"])):
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                script.compare_outputs({"logits": logits}, {"logits": other})
            errors = [line for line in said.getvalue().splitlines() if line.startswith("[E]")]
            self.assertEqual(len(errors), len(wrong), said.getvalue())
            for line, words in zip(errors, wrong):
                self.assertIn(words, line)


if __name__ == "__main__":
    unittest.main()
