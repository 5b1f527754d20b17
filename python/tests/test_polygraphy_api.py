"""Scripts of Polygraphy's API print the same with Polygraphy and with polygraphy_compat.

They are those of tests/python/api, where the stand-in of workers runs them, too.
"""

import pathlib

import pytest

from scripts_of_both import PEER, run_ours_with_onnx, run_theirs

SCRIPTS = sorted((pathlib.Path(__file__).parents[2] / "tests" / "python" / "api").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script(script, tmp_path):
    if not PEER:
        pytest.skip("no Polygraphy to compare with")
    text = script.read_text()
    ours = run_ours_with_onnx(text, tmp_path / "ours")
    assert ours
    assert ours == run_theirs(text, tmp_path / "theirs")
