"""python -m vernier.ray with a stand-in for Ray; tests/clusters has the real one."""

import json
import os
import subprocess
import sys
import types

import pytest
from models import layered_model

import vernier.ray
from vernier import _places, _shipping

RUN = ["--iterations", "5", "--onnxrt", "--onnxrt", "-qqqq"]


class RayError(Exception):
    pass


class TaskError(RayError):
    def __init__(self, cause):
        super().__init__(str(cause))
        self.cause = cause


class StandIn(types.ModuleType):
    """Does each task when it is waited for, and tries lost ones again as often as it was told."""

    def __init__(self):
        super().__init__("ray")
        self.exceptions = types.ModuleType("ray.exceptions")
        self.exceptions.RayError = RayError
        self.resources = {"CPU": 2.0}
        self.seen, self.given, self.cancelled, self.lost = {}, {}, [], {}
        self.stored = {}
        self.node = None  # the folder that a node has in the place of the driver's

    def init(self, address, **_):
        if address == "ray://nowhere:1":
            raise ConnectionError("Could not connect to nowhere:1\nand much more")
        self.seen["address"] = address

    def cluster_resources(self):
        return self.resources

    def remote(self, function):
        self.function = function
        return self

    def options(self, **options):
        self.seen.update(options)
        return types.SimpleNamespace(remote=self._submit)

    def _submit(self, *arguments):
        name = f"task {len(self.given) + 1}"
        words, folder, *others = arguments
        self.given[name] = (words, self.node or folder, *others)
        return name

    def wait(self, tasks, num_returns=1, timeout=None):
        return tasks[-num_returns:], tasks[:-num_returns]  # in another order than they were given

    def put(self, data):
        self.stored[f"object {len(self.stored)}"] = data
        return f"object {len(self.stored) - 1}"

    def get(self, task):
        if task in self.stored:
            return self.stored[task]
        if task in self.lost:
            raise RayError(self.lost[task])
        tries = 1 + self.seen["max_retries"]
        for attempt in range(tries):
            try:
                return self.function(*self.given[task])
            except tuple(self.seen["retry_exceptions"]) as error:
                if attempt + 1 == tries:
                    raise TaskError(error) from None

    def cancel(self, task):
        self.cancelled.append(task)


@pytest.fixture
def ray(monkeypatch, tmp_path):
    stand_in = StandIn()
    monkeypatch.setitem(sys.modules, "ray", stand_in)
    monkeypatch.setitem(sys.modules, "ray.exceptions", stand_in.exceptions)
    monkeypatch.chdir(tmp_path)
    return stand_in


def drive(*words, shards=3):
    return vernier.ray.main([*map(str, words), "--shards", str(shards), "--save-record",
                             "result.json", "--reproducible"])


def program(*words):
    return subprocess.run([_places.program(), *map(str, words)], check=False, capture_output=True)


def replace_program(monkeypatch, folder, script):
    """Another program, which has the real one's path in $REAL."""
    program = folder / "program"
    program.write_text(f"#!/bin/sh\nREAL='{_places.program()}'\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(_places, "program", lambda: str(program))


def test_record_is_that_of_one_process(ray, model, tmp_path, capfd):
    words = ["run", str(model), *RUN]
    done = program(*words, "--reproducible", "--save-record", "whole.json")
    assert done.returncode == 0, done.stderr
    assert drive(*words, "--gpus-per-shard", "0.5", "--address", "auto", "--retries=7") == 0
    assert (tmp_path / "result.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert ray.seen["max_retries"] == 7 and ray.seen["num_gpus"] == 0.5
    assert ray.seen["address"] == "auto"
    err = capfd.readouterr().err
    assert "1 of 3 shards are done; about " in err and "3 of 3 shards are done\n" in err
    assert "a shard needs 0.5 GPU, and the cluster has 0" in err


def test_verdict_is_that_of_the_merge(ray, tmp_path):
    for scale in (1, 2):
        (tmp_path / f"{scale}.onnx").write_bytes(layered_model(scale))
        done = program("run", f"{scale}.onnx", "--onnxrt", "--iterations", 5, "--save-outputs",
                       f"{scale}.npz")
        assert done.returncode == 0, done.stderr
    assert drive("compare", "1.npz", "2.npz") == 1
    assert json.loads((tmp_path / "result.json").read_text())["pairs"]


def test_a_shard_that_was_killed_is_tried_again(ray, model, tmp_path, monkeypatch, capfd):
    replace_program(monkeypatch, tmp_path, 'case "$*" in *--shard\\ 2/3*) if [ ! -e tried ]; then'
                    ' touch tried; kill -9 $$; fi;; esac; exec "$REAL" "$@"')
    assert drive("run", model, *RUN) == 0
    assert (tmp_path / "tried").exists() and (tmp_path / "result.json").exists()


def test_a_shard_that_is_always_killed_ends_it(ray, model, tmp_path, monkeypatch, capfd):
    replace_program(monkeypatch, tmp_path, "echo x >> tries; kill -9 $$")
    assert drive("run", model, *RUN, "--retries", 2) == 128 + 9
    assert (tmp_path / "tries").read_text() == "x\n" * 3
    assert "shard 3/3 ended with 137, also when tried again" in capfd.readouterr().err
    assert ray.cancelled == ["task 1", "task 2"]


def test_a_shard_that_cannot_be_done_is_not_tried_again(ray, model, tmp_path, monkeypatch, capfd):
    replace_program(monkeypatch, tmp_path, 'echo x >> tries; exec "$REAL" "$@"')
    assert drive("run", "nowhere.onnx", *RUN) == 3
    assert (tmp_path / "tries").read_text() == "x\n"
    assert "nowhere.onnx" in capfd.readouterr().err
    assert not (tmp_path / "result.json").exists()


def test_shipped_files_are_all_that_a_node_sees(ray, tmp_path, capfd):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/m.onnx").write_bytes(layered_model(1))
    words = ["run", "in/m.onnx", *RUN]
    assert program(*words, "--reproducible", "--save-record", "whole.json").returncode == 0
    ray.node = str(tmp_path / "node/here")
    words += ["--save-outputs", "out/o.npz", "--ship"]
    assert drive(*words, "auto") == 0
    assert (tmp_path / "result.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert (tmp_path / "out/o.shard-0003-of-0003.npz").exists()
    assert (tmp_path / "node/here/in/m.onnx").exists() and len(ray.stored) == 1
    assert "1 file(s) go to nodes that do not see this folder" in capfd.readouterr().err
    assert not list(tmp_path.glob(".vernier-ray-*"))
    # What is there already is used, if it is the same.
    assert drive(*words, "in") == 0
    (tmp_path / "node/here/in/m.onnx").write_bytes(layered_model(2))
    assert drive(*words, "in") == 3
    assert "there is another file '" in capfd.readouterr().err


def test_a_node_that_sees_the_folder_needs_no_files(ray, tmp_path):
    (tmp_path / "m.onnx").write_bytes(layered_model(1))
    assert drive("run", "m.onnx", *RUN, "--ship", "auto") == 0
    assert (tmp_path / "result.json").exists()
    ray.node = str(tmp_path / "nowhere")
    assert drive("run", "m.onnx", *RUN) == 3


def test_files_that_are_shipped(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("m.onnx", "m.onnx.data", "images/a.png", "images/b.png", "labels.npy", "other"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    words = ["--runner", "a=onnxrt m.onnx", "--load-inputs", "images/*.png", "--labels",
             "y:labels.npy", "--atol", ".", "--python", sys.executable]
    named = ["images/a.png", "images/b.png", "labels.npy", "m.onnx", "m.onnx.data"]
    assert _shipping.files_to_ship(["auto"], words) == named
    assert _shipping.files_to_ship(["auto", "oth*"], words) == sorted([*named, "other"])
    assert _shipping.files_to_ship(["images"], words) == named[:2]


def test_a_folder_that_a_shard_saves_comes_back(tmp_path, monkeypatch):
    shard = "shard-0001-of-0002"
    saved = [f"out.{shard}/0.json", f"out.{shard}/1.json", f"sub/o.{shard}.npz"]
    for name in (*saved, f"out.{shard}/2.json.partial", "out.shard-0002-of-0002/0.json", "m.onnx"):
        (tmp_path / "node" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "node" / name).write_bytes(name.encode())
    found = _shipping.written(str(tmp_path / "node"), shard)
    assert sorted(found) == [(name, name.encode()) for name in saved]
    monkeypatch.chdir(tmp_path)
    _shipping.take_back(found)
    assert (tmp_path / saved[1]).read_bytes() == saved[1].encode()


@pytest.mark.parametrize("wanted, sentence", [
    ("nowhere", "--ship: there is no file 'nowhere'"),
    ("..", "'..' is not in the folder in which this is started"),
    ("auto", "--ship auto: no word names a file in this folder")])
def test_what_cannot_be_shipped(ray, tmp_path, monkeypatch, wanted, sentence, capfd):
    (tmp_path / "inside").mkdir()
    (tmp_path / "outside.onnx").write_bytes(b"x")
    monkeypatch.chdir(tmp_path / "inside")
    assert drive("run", "m.onnx", *RUN, "--ship", wanted) == 3
    assert sentence in capfd.readouterr().err


def test_a_lost_node_is_said(ray, model, tmp_path, capfd):
    ray.lost["task 3"] = "The node died"
    assert drive("run", model, *RUN) == 6
    assert "shard 3/3 was lost, also when tried again: The node died" in capfd.readouterr().err


def test_ctrl_c_cancels(ray, model, monkeypatch, capfd):
    def interrupted(*_, timeout=None, **__):
        if timeout is None:
            raise KeyboardInterrupt

    monkeypatch.setattr(ray, "wait", interrupted)
    assert drive("run", model, *RUN) == 130
    assert ray.cancelled == ["task 1", "task 2", "task 3"]
    assert "cancelled" in capfd.readouterr().err


def test_a_part_that_is_elsewhere_is_said(ray, model, tmp_path, monkeypatch, capfd):
    replace_program(monkeypatch, tmp_path, "exit 0")
    assert drive("run", model, *RUN) == 3
    assert "'result.shard-0001-of-0003.json' is done and not here" in capfd.readouterr().err


@pytest.mark.parametrize("words, sentence", [
    (["run", "m.onnx"], "give --shards N"),
    (["run", "m.onnx", "--shards", "2"], "give --save-record FILE"),
    (["run", "m.onnx", "--shards", "0", "--save-record", "r.json"],
     "--shards: expected a whole number from 1 to 1000000, got '0'"),
    (["run", "m.onnx", "--shards", "x", "--save-record", "r.json"], "got 'x'"),
    (["run", "m.onnx", "--shards"], "--shards: expected a value"),
    (["run", "m.onnx", "--shards", "2", "--save-record", "r.json", "--gpus-per-shard", "-1"],
     "--gpus-per-shard: expected a number >= 0, got '-1'"),
    (["run", "m.onnx", "--shards", "2", "--save-record", "r.json", "--gpus-per-shard", "nan"],
     "got 'nan'"),
    (["run", "m.onnx", "--shard", "1/2", "--shards", "2"], "--shard: every shard is given its own"),
    (["blame", "m.onnx", "--shards", "2", "--save-record", "r.json"],
     "expected 'run' or 'compare' first, got 'blame'"),
])
def test_words_that_are_refused(ray, words, sentence, capfd):
    assert vernier.ray.main(words) == 2
    assert sentence in capfd.readouterr().err


@pytest.mark.parametrize("address, why", [
    ("127.0.0.1:1", "Connection refused"), ("ray://nowhere:1", "Could not connect to nowhere:1")])
def test_no_cluster(ray, address, why, capfd):
    assert drive("run", "m.onnx", "--address", address) == 5
    assert capfd.readouterr().err == f"[!] vernier.ray: no cluster of Ray at '{address}': {why}\n"


def test_no_ray(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['ray'] = None\n")
    done = subprocess.run([sys.executable, "-m", "vernier.ray", "run", "m.onnx", "--shards", "2",
                           "--save-record", "r.json"], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(
                              [str(tmp_path), os.environ.get("PYTHONPATH", "")])})
    assert done.returncode == 5
    assert done.stderr == ("[!] vernier.ray: Ray is not installed: type pip install "
                           "'vernier[ray]'\n")
