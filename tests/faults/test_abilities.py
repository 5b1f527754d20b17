"""What a plug-in says that it can do is used: by blame, --noise-floor, check consistency and
profile. An older plug-in, which says nothing, still loads."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

from fault_run import FAKE_DIR, FaultTest, PATIENCE_S, VERNIER

OLD = "lie=old_table stage=query"
OF_7 = "lie=table_of_7 stage=query"


class Abilities(FaultTest):
    def vernier(self, *words, behaviour=""):
        return subprocess.run(
            [VERNIER, *map(str, words), "--backend-dir", FAKE_DIR],
            env=dict(os.environ, VERNIER_FAKE=behaviour), capture_output=True, text=True,
            timeout=PATIENCE_S, check=False)

    def reference(self, behaviour, *more):
        """The label that blame takes for the reference, of identity and then fake."""
        record = self.folder / "blame.json"
        ended = self.vernier("blame", self.model, "--runner", "first=identity", "--runner",
                             "second=fake", "--save-blame", record, *more, behaviour=behaviour)
        self.assertTrue(record.exists(), ended.stdout + ended.stderr)
        found = json.loads(record.read_text())
        self.assertEqual({found["reference"], found["candidate"]}, {"first", "second"})
        return found["reference"]

    def test_the_runner_of_the_lower_rank_is_the_reference(self):
        self.assertEqual(self.reference("rank=15"), "second")
        self.assertEqual(self.reference(""), "first")
        self.assertEqual(self.reference(f"rank=15 {OLD}"), "first")
        self.assertEqual(self.reference("rank=15", "--reference", "first"), "first")

    def noise(self, behaviour):
        model = self.write_model("large.onnx", ["x"], [64, 32])
        return self.vernier("run", model, "--runner", "gold=fake", "--runner", "new=fake",
                            "--noise-floor", behaviour=behaviour)

    def test_noise_is_measured_with_neutral_settings(self):
        ended = self.noise("noise=1e-4 off=6e-4")
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertIn("measured, 8 times the noise 0.0001", ended.stdout)
        for behaviour in ("off=6e-4", f"noise=1e-4 {OLD}"):
            ended = self.noise(behaviour)
            self.assertNotEqual(ended.returncode, 0, ended.stdout + ended.stderr)
            self.assertIn("no settings are known that 'fake' could be measured with: its plug-in "
                          "declares none", ended.stderr)

    def other_settings(self, behaviour):
        record = self.folder / "consistency.json"
        ended = self.vernier("check", "consistency", self.model, "--runner", "own=fake", "--only",
                             "other-settings", "--save-record", record, behaviour=behaviour)
        found, = json.loads(record.read_text())["runners"][0]["properties"]
        return ended, found

    def test_neutral_settings_and_environments_are_tried(self):
        ended, found = self.other_settings("neutral=1")
        self.assertEqual(found["verdict"], "holds", ended.stdout + ended.stderr)
        self.assertIn("other-settings | 3 settings", ended.stdout)
        ended, found = self.other_settings("noise=0.5")
        self.assertEqual(found["verdict"], "broken", ended.stdout + ended.stderr)
        self.assertIn("order=2", found["smallest_case"])
        for behaviour in ("", f"neutral=1 {OLD}"):
            _, found = self.other_settings(behaviour)
            self.assertEqual(found["verdict"], "not applicable")

    def profile(self, behaviour):
        """The point that was measured, and what was logged."""
        record = self.folder / "profile.json"
        ended = self.vernier("profile", self.model, "--runner", "own=fake", "--runs", "3",
                             "--save-record", record, behaviour=behaviour)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        point, = json.loads(record.read_text())["profile"]["points"]
        return point, ended.stdout

    def test_layer_times_are_measured(self):
        point, _ = self.profile("layers=1")
        self.assertEqual([layer["name"] for layer in point["layers"]], ["third", "first + second"])
        for behaviour in ("", f"layers=1 {OLD}"):
            point, _ = self.profile(behaviour)
            self.assertEqual(point["layers"], [])
            self.assertIn("cannot get them from fake", point["layers_missing"])

    def test_a_session_that_is_alone_is_told(self):
        for behaviour, times in (("alone=1", 1), ("", 0), (f"alone=1 {OLD}", 0)):
            _, said = self.profile(behaviour)
            self.assertEqual(said.count("nobody else computes"), times, said)

    def seen(self, *words, behaviour="means=1"):
        """What the plug-in logs of the options that it is given, and all that is said."""
        ended = self.vernier("run", self.model, *words, behaviour=behaviour)
        said = ended.stdout + ended.stderr
        logged = re.sub("^repro: .*$", "", said, flags=re.MULTILINE)
        return sorted(set(re.findall(r"\b(?:workers|sizes|method|place|words)=\S+", logged))), said

    def test_options_that_mean_what_the_host_knows_are_given(self):
        two = ["--runner", "own=fake", "--workers-per-runner", "2", "--iterations", "4"]
        given, said = self.seen(*two, "--input-shapes", "x:[2,3]")
        self.assertEqual([word.split("=")[0] for word in given], ["sizes", "workers"], said)
        self.assertIn("sizes=x:[2,3]", given)
        # What the user has set stays.
        self.assertEqual(self.seen(*two, "--fake.workers=7")[0], ["workers=7"])
        self.assertEqual(self.seen("--runner", "own=fake")[0], [])
        for behaviour in ("", f"means=1 {OLD}", f"means=1 {OF_7}"):
            self.assertEqual(self.seen(*two, behaviour=behaviour)[0], [])

    def test_a_plug_in_takes_its_library_out_of_a_python(self):
        python = pathlib.Path(sys.executable)
        one = ["--runner", f"own=fake --python {python}"]
        self.assertEqual(self.seen(*one)[0], [f"place={python.parent.parent}"])
        for behaviour in ("", f"means=1 {OF_7}"):
            given, said = self.seen(*one, behaviour=behaviour)
            self.assertEqual(given, [])
            self.assertIn("--python: the backend 'fake' takes nothing of Python; leave it out",
                          said)

    def test_the_linter_is_told_warnings(self):
        for behaviour, times in (("means=1", 1), ("", 0), (f"means=1 {OF_7}", 0)):
            ended = self.vernier("check", "lint", self.model, "--runner", "own=fake",
                                 behaviour=behaviour)
            self.assertEqual((ended.stdout + ended.stderr).count("words=host"), times)

    def test_methods_that_reset_are_named(self):
        steps = ["--runner", "own=fake", "--steps", "2", "--feed-back", "x_out:x",
                 "--reset"]
        self.assertEqual(self.seen(*steps, "begin")[0], ["method=begin"])
        for behaviour in ("", f"means=1 {OF_7}"):
            given, said = self.seen(*steps, "begin", behaviour=behaviour)
            self.assertEqual(given, [])
            self.assertIn("--reset begin: the plug-in of 'own' has no option for a method", said)

    def refused(self, name, behaviour):
        (self.folder / name).write_bytes(b"x")
        ended = self.vernier("run", self.folder / name, "--runner", "own=fake",
                             behaviour=behaviour)
        said = ended.stdout + ended.stderr
        return "could not be converted" in said or "Could not automatically determine" in said

    def test_models_that_it_does_not_open_are_refused(self):
        listed = "formats=onnx,.own"
        for name, behaviour, expected in (
                ("m.own", listed, False), ("m.other", listed, True), ("m.engine", listed, True),
                ("m.other", "formats=*", False), ("m.other", "", True), ("m.engine", "", False),
                ("m.own", f"{listed} {OF_7}", True), ("m.engine", f"{listed} {OF_7}", False)):
            self.assertEqual(self.refused(name, behaviour), expected, (name, behaviour))

    def test_an_engine_is_built_once(self):
        two = ["--runner", "own=fake", "--workers-per-runner", "2", "--iterations", "4"]
        said = "runner 'own' would build an engine in every worker"
        self.assertIn(said, self.seen(*two, behaviour="traits=1")[1])
        for behaviour in ("", "traits=6", f"traits=1 {OF_7}"):
            self.assertNotIn(said, self.seen(*two, behaviour=behaviour)[1])

    def test_a_plug_in_of_the_version_before_loads(self):
        for behaviour in (OLD, OF_7):
            ended = self.vernier("run", self.model, "--runner", "own=fake", "--identity",
                                 behaviour=f"means=1 traits=15 formats=engine {behaviour}")
            self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)


if __name__ == "__main__":
    unittest.main()
