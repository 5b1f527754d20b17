"""Exit code 70: what should never happen, and what the system cannot give, end in a sentence, and
nothing that was saved is lost."""

import json
import os
import resource
import subprocess
import unittest

from fault_run import FAKE_DIR, FaultTest, PATIENCE_S, VERNIER, is_sanitized

PRELOADED = os.environ.get("THROWING_RENAME", "")
SAVED = "`vernier data recover` recovers what was saved before"

# What is thrown, and what is said of it.
THROWN = {
    "error": "[!] a defect of vernier, please report it: the seventh bit is loose; " + SAVED,
    "foreign": "[!] a defect of vernier, please report it: an exception; " + SAVED,
    "memory": "[!] out of memory; " + SAVED,
}


@unittest.skipIf(is_sanitized(), "a sanitizer comes before what is preloaded")
class Defects(FaultTest):
    def vernier(self, *words, **options):
        return subprocess.run([VERNIER, *map(str, words)], cwd=self.folder, capture_output=True,
                              text=True, timeout=PATIENCE_S, check=False, **options)

    def run_three(self, name, *words, **options):
        return self.vernier("run", self.model, "--runner", "a=identity", "--runner", "b=identity",
                            "--iterations", "3", "--save-outputs", name, *words, **options)

    def outputs(self, name):
        document = json.loads((self.folder / name).read_text())
        return [[i["outputs"] for i in iterations] for _, iterations in document["lst"]]

    def test_an_exception_while_results_are_published(self):
        self.assertEqual(self.run_three("expected.json").returncode, 0)
        for thrown, sentence in THROWN.items():
            with self.subTest(thrown=thrown):
                name = f"{thrown}.json"
                environment = dict(os.environ, LD_PRELOAD=PRELOADED, THROW=thrown)
                ended = self.run_three(name, env=environment)
                self.assertEqual(ended.returncode, 70, ended.stdout + ended.stderr)
                self.assertIn(sentence, ended.stderr)
                self.assertFalse((self.folder / name).exists())
                # Both ways that the sentence names.
                recovered = self.vernier("data", "recover", f"{name}.partial", "-o", f"got-{name}")
                self.assertEqual(recovered.returncode, 0, recovered.stdout + recovered.stderr)
                self.assertEqual(self.outputs(f"got-{name}"), self.outputs("expected.json"))
                ended = self.run_three(name, env=environment)
                self.assertEqual(ended.returncode, 70, ended.stdout + ended.stderr)
                ended = self.run_three(name, "--resume")
                self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
                self.assertEqual(self.outputs(name), self.outputs("expected.json"))

    def test_it_comes_before_a_mismatch(self):
        """A run that ends so has told nothing that could be relied on."""
        words = ("run", self.model, "--runner", "good=identity", "--runner", "bad=fake",
                 "--backend-dir", FAKE_DIR, "--save-outputs", "out.json")
        lying = dict(os.environ, VERNIER_FAKE="lie=wrong")
        self.assertEqual(self.vernier(*words, env=lying).returncode, 1)
        ended = self.vernier(*words, env=dict(lying, LD_PRELOAD=PRELOADED))
        self.assertEqual(ended.returncode, 70, ended.stdout + ended.stderr)

    def test_no_descriptors_left(self):
        self.assertEqual(self.run_three("out.json").returncode, 0)
        old = (self.folder / "out.json").read_bytes()
        for limit in (5, 6):
            with self.subTest(limit=limit):
                ended = self.run_three(
                    "out.json", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE,
                                                                      (limit, limit)))
                self.assertEqual(ended.returncode, 70, ended.stdout + ended.stderr)
                self.assertIn("no descriptors left: Too many open files", ended.stderr)
                self.assertIn("ulimit -n", ended.stderr)
                self.assertEqual((self.folder / "out.json").read_bytes(), old)


if __name__ == "__main__":
    unittest.main()
