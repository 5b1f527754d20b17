"""What scripts fetch: whether it is still whole, and what they say without a network."""

import unittest

from test_machine import Case


class Pieces(Case):
    """What was fetched, and has been cut short since."""

    def test_a_folder_that_is_sealed(self):
        words = "source scripts/pieces.sh; is_whole piece && echo whole || echo damaged"
        self.assertEqual(self.bash(words), "damaged\n")
        for name in ("a.h", "in/b c.h"):
            (self.project / "piece" / name).parent.mkdir(exist_ok=True)
            (self.project / "piece" / name).write_text("text", encoding="utf-8")
        self.assertEqual(self.bash(words), "whole\n")  # of an earlier version
        self.bash("source scripts/pieces.sh; seal piece")
        (self.project / "piece" / ".complete").touch()
        self.assertEqual(self.bash(words), "whole\n")
        (self.project / "piece" / "in" / "b c.h").write_text("tex", encoding="utf-8")
        self.assertEqual(self.bash(words), "damaged\n")
        (self.project / "piece" / "in" / "b c.h").unlink()
        self.assertEqual(self.bash(words), "damaged\n")

    def test_packages_that_are_not_whole_are_fetched_again(self):
        environment = self.project / ".deps" / "some"
        site = environment / "lib" / "python3.11" / "site-packages"
        for name in ("fine", "Cut.Short", "gone"):
            info = site / f"{name.replace('.', '_')}-1.0.dist-info"
            info.mkdir(parents=True)
            (site / f"{name}.py").write_text("x = 1\n", encoding="utf-8")
            (info / "RECORD").write_text(
                f"{name}.py,sha256=a,6\n{info.name}/RECORD,,\n__pycache__/x.pyc,,\n",
                encoding="utf-8")
        listed = ["fine==1.0", "cut-short==1.0", "gone==1.0", "never==1.0",
                  'other==1.0; platform_machine != "here"']
        installed = environment / ".installed"
        words = ("task=setup; source scripts/environments.sh; forget_damaged some")
        installed.write_text("\n".join(listed[:3]) + "\n", encoding="utf-8")
        self.assertEqual(self.bash(words), "")
        (site / "Cut.Short.py").write_text("x", encoding="utf-8")
        (site / "gone.py").unlink()
        installed.write_text("\n".join(listed) + "\n", encoding="utf-8")
        self.assertEqual(self.bash(words), "setup: some: files of cut-short==1.0, gone==1.0, "
                         "never==1.0 are missing or cut short: they are fetched again\n")
        self.assertEqual(installed.read_text(encoding="utf-8").splitlines(), [listed[0], listed[4]])
        installed.unlink()
        self.assertIn("type rm -r ", self.bash(words, code=1))


class NoNetwork(Case):
    def test_the_demo_stops_before_the_build(self):
        (self.project / "scripts" / "setup.sh").write_text("#!/bin/bash\n", encoding="utf-8")
        self.program("cmake", "echo BUILDS; exit 1\n")
        self.program("ldconfig", "")
        self.program("python3", "exit 1\n")
        printed = self.bash("scripts/demo.sh", code=1)
        self.assertIn("neither ONNX Runtime nor OpenVINO is here", printed)
        self.assertIn("type scripts/demo.sh again", printed)
        self.assertNotIn("BUILDS", printed)


class Network(Case):
    def test_a_server_that_cannot_be_reached_is_no_missing_version(self):
        log = self.root / "log"
        for last, reason, then in (
                ("WARNING: Retrying after connection broken by 'NewConnectionError'",
                 "its server cannot be reached",
                 "; when there is a network, type the same command again"),
                ("ERROR: wheel is not supported on this platform",
                 "ERROR: No matching distribution found for onnxruntime", f"; see {log}")):
            log.write_text(f"{last}\nERROR: No matching distribution found for onnxruntime\n")
            said = self.bash("task=setup; source scripts/environments.sh; "
                             f'echo "$(reason {log})$(what_to_type {log})"')
            self.assertEqual(said, reason + then + "\n")


if __name__ == "__main__":
    unittest.main()
