"""python -m vernier.ray over a cluster of three nodes, of which workers and nodes are lost."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from cluster_case import DIFFERS, ROOT, RUN, VERNIER, ClusterCase

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
from ray.cluster_utils import Cluster  # noqa: E402

MERGED = ["--save-record", "result.json", "--reproducible"]


def processes():
    """The command line and the parent of every process that can be seen."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        found[int(folder.name)] = (words, parent)
    return found


class Ray(ClusterCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        package = cls.top / "python/vernier"
        (package / "_program").mkdir(parents=True)
        for path in (ROOT / "python/vernier").glob("*.py"):
            (package / path.name).symlink_to(path)
        for name in ("bin", "lib", "libexec"):
            (package / "_program" / name).symlink_to(VERNIER.parents[1] / name)
        cls.environment = {**cls.environment, "PYTHONPATH": str(package.parent)}
        # Nodes have the package, too.
        os.environ["PYTHONPATH"] = str(package.parent)
        cls.addClassCleanup(os.environ.pop, "PYTHONPATH")
        cls.cluster = Cluster(initialize_head=True,
                              head_node_args={"num_cpus": 1, "include_dashboard": False})
        cls.addClassCleanup(cls.cluster.shutdown)
        for _ in range(2):
            cls.cluster.add_node(num_cpus=1)

    def words(self, *words, shards=7):
        return [sys.executable, "-B", "-m", "vernier.ray", *words, "--shards", str(shards),
                "--address", self.cluster.address]

    def begin(self, *words, shards=7):
        driver = subprocess.Popen(self.words(*words, shards=shards), cwd=self.folder, text=True,
                                  env=self.environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        self.addCleanup(driver.communicate)
        self.addCleanup(driver.kill)
        return driver

    def end(self, driver):
        out, err = driver.communicate(timeout=120)
        return subprocess.CompletedProcess(driver.args, driver.returncode, out, err)

    def wait_for(self, what, find):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if found := find():
                return found
            time.sleep(0.002)
        self.fail(f"no {what} within 60 s")

    def shards_running(self):
        """Processes of this test's shards, each with the worker of Ray that started it."""
        here = str(self.folder)
        found = []
        for process, (words, parent) in processes().items():
            try:
                inside = os.readlink(f"/proc/{process}/cwd") == here
            except OSError:
                continue
            if inside and "--shard" in words:
                found.append((process, parent))
        return found

    def test_three_nodes_make_the_record_of_one_process(self):
        ended = self.start(self.words(*RUN, *MERGED))
        self.expect_done(ended, DIFFERS)
        self.assertIn("7 of 7 shards are done", ended.stderr)
        self.expect_same(self.folder / "result.json")
        self.expect_record_of_one_process(7)

    def test_a_killed_worker_is_replaced(self):
        driver = self.begin(*RUN, *MERGED)
        shard, worker = self.wait_for("shard", self.shards_running)[0]
        self.assertTrue(processes()[worker][0][0].startswith("ray::"))
        os.kill(worker, signal.SIGKILL)
        self.wait_for("end of its shard", lambda: shard not in processes())
        ended = self.end(driver)
        self.expect_done(ended, DIFFERS)
        self.expect_same(self.folder / "result.json")

    def test_a_lost_node_is_replaced(self):
        more = self.cluster.add_node(num_cpus=1)
        driver = self.begin(*RUN, *MERGED)
        self.wait_for("part", lambda: list(self.folder.glob("*.shard-*.json")))
        self.cluster.remove_node(more, allow_graceful=False)
        ended = self.end(driver)
        self.expect_done(ended, DIFFERS)
        self.expect_same(self.folder / "result.json")

    def test_a_shard_that_cannot_be_done_ends_it(self):
        ended = self.start(self.words("run", "nowhere.onnx", "--onnxrt", *MERGED))
        self.expect_done(ended, 3)
        self.assertIn("nowhere.onnx", ended.stderr)
        self.assertFalse((self.folder / "result.json").exists())

    def test_words_that_a_shard_does_not_know_are_named(self):
        done = subprocess.run(self.words(*RUN, "--nonsense", *MERGED), cwd=self.folder, check=False,
                              env=self.environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("Unrecognized Options: ['--nonsense']", done.stderr)

    def test_ctrl_c_cancels_the_shards(self):
        driver = self.begin("run", "examples/digits.onnx", "--onnxrt", "--onnxrt", "--iterations",
                            "2000000", "-qqqq", *MERGED, shards=3)
        self.wait_for("three shards", lambda: len(self.shards_running()) == 3)
        driver.send_signal(signal.SIGINT)
        ended = self.end(driver)
        self.expect_done(ended, 130)
        self.assertIn("cancelled", ended.stderr)
        self.wait_for("end of shards", lambda: not self.shards_running())
        self.assertFalse((self.folder / "result.json").exists())

    def test_commands_of_the_page(self):
        self.expect_commands_of_page("needs Ray", {
            **self.environment, "RAY_ADDRESS": self.cluster.address,
            "PATH": f"{pathlib.Path(sys.executable).parent}:{self.environment['PATH']}"})
        record = json.loads((self.folder / "shell/page/result.json").read_text())
        self.assertEqual(record["runners"][0]["received"]["iterations"], 2000)


if __name__ == "__main__":
    unittest.main()
