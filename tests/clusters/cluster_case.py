"""What the tests of launchers share: a folder with the examples, and the record of one process."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))
sys.path.insert(0, str(ROOT / "tests/docs"))
import pages  # noqa: E402
import run_commands  # noqa: E402

VERNIER = pathlib.Path(os.environ["VERNIER"]).resolve()
PAGE = "docs/how-to/launchers.md"
# How many samples are divided; more by hand.
SAMPLES = os.environ.get("SAMPLES", "2000")
RUN = ["run", "examples/digits.onnx", "--onnxrt", "--runner",
       "fp16=onnxrt examples/digits_fp16.onnx", "--iterations", SAMPLES, "-qqqq"]
DIFFERS = 1  # the exit code of RUN
SHARD = ["--shard", "auto", "--shard-exit", "done", "--save-record", "result.json"]


class ClusterCase(unittest.TestCase):
    """A folder of its own for each test, as all nodes of a cluster would see it."""

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="cluster-")
        cls.addClassCleanup(holder.cleanup)
        cls.top = pathlib.Path(holder.name)
        # Slurm copies no environment to where others could not read.
        cls.top.chmod(0o755)
        (cls.top / "bin").mkdir()
        (cls.top / "bin/vernier").symlink_to(VERNIER)
        cls.environment = {**os.environ, "PATH": f"{cls.top}/bin:{os.environ['PATH']}",
                           "LC_ALL": "C.UTF-8", "NO_COLOR": "1",
                           # As root, and with more processes than processors.
                           "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                           "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        cls.whole = cls.make_whole()

    @classmethod
    def make_whole(cls):
        folder = cls.new_folder("whole")
        done = subprocess.run(["vernier", *RUN, "--reproducible", "--save-record", "whole.json"],
                              cwd=folder, env=cls.environment, text=True, capture_output=True,
                              check=False, timeout=600)
        if done.returncode != DIFFERS:
            raise AssertionError(f"{done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return folder / "whole.json"

    @classmethod
    def new_folder(cls, name):
        folder = cls.top / name
        folder.mkdir()
        (folder / "examples").symlink_to(ROOT / "examples")
        return folder

    def setUp(self):
        self.folder = self.new_folder(self._testMethodName)

    def start(self, words, **settings):
        environment = {**self.environment, **settings.pop("env", {})}
        return subprocess.run([str(word) for word in words], cwd=self.folder, env=environment,
                              text=True, capture_output=True, check=False, timeout=600, **settings)

    def parts(self, count):
        return [f"result.shard-{number:04}-of-{count:04}.json" for number in range(1, count + 1)]

    def expect_done(self, ended, code=0):
        self.assertEqual(ended.returncode, code, ended.stdout[-3000:] + ended.stderr[-3000:])

    def merge(self, count):
        return self.start(["vernier", "merge", *self.parts(count), "-o", "merged.json",
                           "--reproducible", "-qqqq"])

    def expect_record_of_one_process(self, count):
        """That the parts of all shards are there, and merge into the record of one process."""
        self.expect_done(self.merge(count), DIFFERS)
        self.expect_same(self.folder / "merged.json")

    def expect_same(self, record):
        compared = self.start(["cmp", self.whole, record])
        self.assertEqual(compared.returncode, 0, compared.stdout + compared.stderr)
        if keep := os.environ.get("KEEP"):  # by hand: what all ways have made
            shutil.copy(record, f"{keep}/{self.id().split('.', 1)[1]}.json")

    def expect_commands_of_page(self, reason, environment):
        """Runs the blocks of the page that ordinary tests leave out for this reason."""
        blocks = [block for block in pages.Page(PAGE).blocks if block.not_run.startswith(reason)]
        self.assertTrue(blocks, f"{PAGE} has no block that is left out as it {reason}")
        home = self.folder / "shell"
        home.mkdir()
        before = dict(os.environ)
        os.environ.update({**environment, "VERNIER": str(VERNIER)})
        try:
            shell = run_commands.Shell(home)
        finally:
            os.environ.clear()
            os.environ.update(before)
        for block in blocks:
            for command in block.commands():
                problem = run_commands.check_command(shell, command)
                self.assertIsNone(problem, f"{PAGE}:{command.line}: {command.text}\n{problem}")
