"""Slurm starts the shards: as tasks of an array, and as those of srun."""

import unittest

import one_host_slurm
from cluster_case import DIFFERS, RUN, SHARD, ClusterCase

EXAMPLES = "examples/clusters"


@unittest.skipIf(one_host_slurm.missing(), one_host_slurm.missing())
class Slurm(ClusterCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.slurm = one_host_slurm.OneHostSlurm(cls.top / "slurm")
        cls.slurm.__enter__()
        cls.addClassCleanup(cls.slurm.stop)
        cls.environment = {**cls.environment, **cls.slurm.variables}

    def test_array_of_seven_makes_the_record_of_one_process(self):
        self.expect_done(self.start(["sbatch", "--wait", "--array=1-7",
                                     f"{EXAMPLES}/array.sbatch", *RUN]))
        self.expect_record_of_one_process(7)

    def test_array_with_a_step(self):
        self.expect_done(self.start(["sbatch", "--wait", "--array=10-30:10",
                                     f"{EXAMPLES}/array.sbatch", *RUN]))
        self.expect_record_of_one_process(3)

    def test_tasks_of_srun(self):
        self.expect_done(self.start(["srun", "-n", "2", "vernier", *RUN, *SHARD]))
        self.expect_record_of_one_process(2)

    def test_one_job_with_all_shards_ends_with_the_verdict(self):
        ended = self.start(["sbatch", "--wait", "--ntasks=2", f"{EXAMPLES}/tasks.sbatch", *RUN])
        self.expect_done(ended, DIFFERS)
        self.assertTrue((self.folder / "result.json").exists())
        self.expect_record_of_one_process(2)

    def test_a_batch_script_is_no_task(self):
        """Without srun one process would do the first shard, and nobody the others."""
        ended = self.start(["sbatch", "--wait", "--ntasks=2", "-o", "log", "--wrap",
                            f"vernier run examples/digits.onnx --onnxrt {' '.join(SHARD)}"])
        self.expect_done(ended, 2)
        self.assertIn("start vernier with srun", (self.folder / "log").read_text())

    def test_a_task_that_was_killed_is_missing_until_it_is_done_again(self):
        script = self.folder / "killed.sbatch"
        script.write_text('#!/bin/bash\nif [ "$SLURM_ARRAY_TASK_ID" = 2 ]; then kill -9 $$; fi\n'
                          f'exec {EXAMPLES}/array.sbatch "$@"\n', encoding="utf-8")
        ended = self.start(["sbatch", "--wait", "--array=1-3", "killed.sbatch", *RUN])
        self.assertNotEqual(ended.returncode, 0)
        ended = self.start(["vernier", "merge", *self.parts(3)[::2], "-o", "merged.json"])
        self.expect_done(ended, 4)
        self.assertIn("shard 2/3 is missing", ended.stderr)
        self.assertIn("--shard 2/3", ended.stderr)
        self.expect_done(self.start(["srun", "vernier", *RUN, "--shard", "2/3", *SHARD[2:]]))
        self.expect_record_of_one_process(3)

    def test_commands_of_the_page(self):
        self.expect_commands_of_page("needs Slurm", self.environment)


if __name__ == "__main__":
    unittest.main()
