"""Whose log is whose: that of Polygraphy's API shows more than that of vernier's own functions."""

import subprocess
import sys

SCRIPT = """
import logging
import numpy as np
SETUP
import vernier
from vernier.polygraphy_compat import Comparator
from vernier.polygraphy_compat.logger import G_LOGGER

def run():
    vernier.run(None, {"a": lambda f: f, "b": lambda f: f}, {"x": np.ones(2)})
    vernier.compare({"y": np.ones(2)}, {"y": np.ones(2)})

run()
print("-- Polygraphy's")
results = vernier.RunResults([("a", [vernier.IterationResult({"y": np.ones(2)})])] * 2)
assert Comparator.compare_accuracy(results)
G_LOGGER.info("by hand")
with G_LOGGER.verbosity(G_LOGGER.EXTRA_VERBOSE):
    print("-- vernier's")
    run()
"""


def printed(setup=""):
    done = subprocess.run([sys.executable, "-c", SCRIPT.replace("SETUP", setup)], text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.replace("-- vernier's", "-- Polygraphy's").split("-- Polygraphy's\n")


def test_polygraphys_log_turns_nobody_elses_on():
    before, polygraphys, after = printed()
    assert before == after == ""
    assert "[I] by hand" in polygraphys and "Accuracy Comparison" in polygraphys


def test_vernier_has_its_own_level():
    before, polygraphys, after = printed(
        "logging.basicConfig(format='%(name)s %(message)s', stream=__import__('sys').stdout)\n"
        "logging.getLogger('vernier').setLevel(logging.INFO)")
    assert "vernier " in before and "vernier.polygraphy" not in before + after
    assert "vernier.polygraphy by hand" in polygraphys


def test_names_with_an_equals_sign_are_polygraphys(tmp_path):
    """A label of vernier.run has none; runners of Polygraphy's API may be called so."""
    script = SCRIPT.partition("def run")[0].replace("SETUP", "") + """
from vernier.polygraphy_compat.backend.base import BaseRunner
from vernier.polygraphy_compat.common import TensorMetadata

class Same(BaseRunner):
    def get_input_metadata_impl(self):
        return TensorMetadata().add("x", np.dtype(np.float32), (1,))

    def infer_impl(self, feed_dict):
        return {"y": feed_dict["x"]}

results = Comparator.run([Same("a=b"), Same("a=b"), Same("a:b")], save_outputs_path="o.json")
assert list(results.keys()) == ["a=b", "a=b", "a:b"], list(results.keys())
assert list(vernier.load_results("o.json").keys()) == ["a=b", "a=b", "a:b"]
"""
    done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True,
                          cwd=tmp_path, timeout=60)
    assert done.returncode == 0, done.stderr
