"""What Polygraphy's RunResults.load and save read and write crosses over."""

import os
import subprocess
import textwrap

import numpy as np
import pytest

import vernier

PEER = os.environ.get("VERNIER_PEER", "")
pytestmark = pytest.mark.skipif(not PEER, reason="no Polygraphy to exchange files with")


def peer(folder, text):
    done = subprocess.run([PEER, "-c", textwrap.dedent(text)], cwd=folder, capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


MAKE = """
    import numpy as np
    from polygraphy.comparator import IterationResult, RunResults
    arrays = [np.arange(6).astype(t).reshape(2, 3) for t in
              ("float32", "float64", "float16", "int8", "uint8", "int32", "int64", "bool")]
    arrays += [np.array(1.5), np.zeros((0, 4), np.float32), np.array([np.nan, np.inf, -np.inf])]
    results = RunResults()
    outputs = {f"output {i}": array for i, array in enumerate(arrays)}
    results.add([outputs, outputs], runtime=0.125, runner_name="peer")
    results.add([{"y": np.ones(1)}], runner_name="other")
"""


def arrays():
    made = [np.arange(6).astype(t).reshape(2, 3) for t in
            ("float32", "float64", "float16", "int8", "uint8", "int32", "int64", "bool")]
    return made + [np.array(1.5), np.zeros((0, 4), np.float32),
                   np.array([np.nan, np.inf, -np.inf])]


def test_theirs_is_read(tmp_path):
    peer(tmp_path, MAKE + '    results.save("r.json")')
    loaded = vernier.load_results(tmp_path / "r.json")
    assert list(loaded.keys()) == ["peer", "other"]
    assert loaded["peer"][1].runtime == 0.125
    for index, array in enumerate(arrays()):
        read = loaded["peer"][1][f"output {index}"]
        assert read.dtype == array.dtype and read.shape == array.shape
        np.testing.assert_array_equal(read, array)


def test_ours_is_read(tmp_path):
    results = vernier.RunResults()
    outputs = {f"output {i}": array for i, array in enumerate(arrays())}
    results.add([outputs, outputs], runtime=0.125, runner_name="peer")
    results.add([{"y": np.ones(1)}], runner_name="other")
    results.save(tmp_path / "ours.json")
    answer = peer(tmp_path, MAKE + """
    loaded = RunResults.load("ours.json")
    for (_, x), (_, y) in zip(loaded.items(), results.items()):
        for a, b in zip(x, y):
            assert (a.runtime, a.runner_name) == (b.runtime, b.runner_name)
            for name in b.keys():
                np.testing.assert_array_equal(a[name], b[name])
    assert list(loaded.keys()) == ["peer", "other"]
    print(all(a[n].dtype == b[n].dtype and a[n].shape == b[n].shape
              for (_, x), (_, y) in zip(loaded.items(), results.items())
              for a, b in zip(x, y) for n in a.keys()))
""")
    assert answer.split()[-1] == "True"


def test_same_bytes_when_saved_again(tmp_path):
    peer(tmp_path, MAKE + '    results.save("r.json")')
    vernier.load_results(tmp_path / "r.json").save(tmp_path / "again.json")
    theirs, ours = ((tmp_path / name).read_text() for name in ("r.json", "again.json"))
    assert theirs.split() == ours.split()


def test_inputs_cross_over(tmp_path):
    vernier.save_inputs([{"x": np.arange(3, dtype=np.float32)}], tmp_path / "ours.json")
    answer = peer(tmp_path, """
        import numpy as np
        from polygraphy.json import load_json, save_json
        print(load_json("ours.json")[0]["x"].tolist())
        save_json([{"x": np.arange(3, dtype=np.int64)}], "theirs.json")
    """)
    assert answer.strip().endswith("[0.0, 1.0, 2.0]")
    loaded = vernier.load_inputs(tmp_path / "theirs.json")
    assert loaded[0]["x"].dtype == np.int64 and loaded[0]["x"].tolist() == [0, 1, 2]


def test_bare_numbers_of_the_peer_are_read(tmp_path):
    peer(tmp_path, """
        import numpy as np
        from polygraphy.comparator import RunResults
        results = RunResults()
        for index, value in enumerate((np.float64(2.5), 7, True, float("inf"))):
            results.add([{"loss": value, "y": np.ones(2)}], runner_name=f"r{index}")
        results.save("bare.json")
    """)
    found = [results[0]["loss"] for results in vernier.load_results(tmp_path / "bare.json").values()]
    assert [(a.dtype.name, a.shape, a.item()) for a in found] == [
        ("float64", (), 2.5), ("int64", (), 7), ("bool", (), True), ("float64", (), np.inf)]
