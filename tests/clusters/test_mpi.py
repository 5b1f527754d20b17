"""mpirun starts the shards: Open MPI says which each of them is."""

import shutil
import unittest

from cluster_case import RUN, SHARD, ClusterCase


@unittest.skipUnless(shutil.which("mpirun"), "no mpirun: scripts/deps.sh --with clusters")
class Mpi(ClusterCase):
    def test_five_processes_make_the_record_of_one(self):
        self.expect_done(self.start(["mpirun", "-n", "5", "vernier", *RUN, *SHARD]))
        self.expect_record_of_one_process(5)

    def test_in_a_batch_script_of_slurm(self):
        """Its variables are those of the script, not of the processes that mpirun starts."""
        self.expect_done(self.start(["mpirun", "-n", "3", "vernier", *RUN, *SHARD],
                                    env={"SLURM_PROCID": "0", "SLURM_NTASKS": "3"}))
        self.expect_record_of_one_process(3)

    def test_commands_of_the_page(self):
        self.expect_commands_of_page("needs MPI", self.environment)


if __name__ == "__main__":
    unittest.main()
