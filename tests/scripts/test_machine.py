"""scripts/machine.sh and what uses it: what is in the way is one sentence with what to type."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="vernier-scripts-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name).resolve()
        self.bin = self.root / "bin"
        self.bin.mkdir()
        self.project = self.root / "project"
        shutil.copytree(SCRIPTS, self.project / "scripts")
        self.environment = {"PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(self.root),
                            "LANG": "C.UTF-8"}

    def program(self, name, text):
        path = self.bin / name
        path.write_text("#!/bin/bash\n" + text, encoding="utf-8")
        path.chmod(0o755)

    def bash(self, words, code=0, **environment):
        done = subprocess.run(["bash", "-c", "set -euo pipefail; " + words], cwd=self.project,
                              env={**self.environment, **environment}, capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def one_line(self, words, **environment):
        printed = self.bash(words, code=1, **environment)
        self.assertEqual(len(printed.splitlines()), 1, printed)
        return printed


class Folders(Case):
    def test_a_checkout_that_cannot_be_written(self):
        self.root.chmod(0o755)
        self.project.chmod(0o555)
        self.addCleanup(self.project.chmod, 0o755)
        # Root may write anywhere.
        nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups " if os.geteuid() == 0 else ""
        printed = self.one_line(nobody + "bash -c 'source scripts/machine.sh; check_writable'")
        self.assertIn(f"{self.project} cannot be written by ", printed)
        self.assertIn("type cp -r ", printed)
        # The script that was typed, not the one that it has started.
        printed = self.one_line(nobody + "bash -c 'source scripts/usage.sh; "
                                "source scripts/machine.sh; check_writable'",
                                VERNIER_TYPED="./scripts/test.sh")
        self.assertTrue(printed.endswith(" && scripts/test.sh\n"), printed)
        printed = self.one_line(nobody + "env --unset=HOME bash -c 'source scripts/machine.sh; "
                                "check_writable'")
        self.assertIn(f"type cp -r {self.project} /tmp/vernier && cd /tmp/vernier && ", printed)
        self.project.chmod(0o755)
        self.assertEqual(self.bash("source scripts/machine.sh; check_writable"), "")


class Tools(Case):
    def test_one_that_does_not_run(self):
        for name, package in (("flock", "util-linux"), ("sha256sum", "coreutils"),
                              ("find", "findutils"), ("awk", "mawk"), ("head", "coreutils")):
            for text in ("exit 1\n", "exit 0\n", "kill -SEGV $$\n"):
                with self.subTest(name=name, text=text):
                    self.program(name, text)
                    self.assertEqual(
                        self.one_line("source scripts/machine.sh"),
                        f"{self.bin}/{name} does not run: type apt-get install --reinstall "
                        f"{package}, or take this one out of PATH, then type bash again\n")
            (self.bin / name).unlink()

    def test_df_is_not_needed(self):
        self.program("df", "exit 1\n")
        self.assertGreater(int(self.bash("source scripts/machine.sh; free_megabytes .")), 0)


class BareMachine(Case):
    def test_a_signal_leaves_no_partial_chroot(self):
        """With a debootstrap that is still at it, and without real name spaces, which need root."""
        self.program("id", "echo 0\n")
        self.program("unshare", "while [[ $1 == --* ]]; do shift; done\n\"$@\"\n")
        self.program("debootstrap", 'echo part >"$6/part"; touch "$TMPDIR/begun"; sleep 2\n')
        (self.root / "tmp").mkdir()
        started = subprocess.Popen(
            ["scripts/bare-machine.sh"], cwd=self.project, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
            env={**self.environment, "TMPDIR": str(self.root / "tmp"), "MIRROR": "mirror"})
        deadline = time.monotonic() + 20
        while not (self.root / "tmp" / "begun").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        started.send_signal(signal.SIGTERM)
        printed, _ = started.communicate(timeout=30)
        self.assertEqual(started.returncode, 128 + signal.SIGTERM, printed)
        self.assertEqual([each.name for each in (self.root / "tmp").iterdir()], ["begun"], printed)


class SourceFiles(Case):
    def test_an_archive_without_git(self):
        for name in ("a.py", "src/b.cc", "build/c.cc", ".deps/d.py", "src/__pycache__/e.py"):
            (self.project / name).parent.mkdir(parents=True, exist_ok=True)
            (self.project / name).write_text("", encoding="utf-8")
        shutil.rmtree(self.project / "scripts")
        (self.project / "scripts").mkdir()
        for name in ("source-files.sh", "usage.sh"):
            shutil.copy(SCRIPTS / name, self.project / "scripts")
        # Within somebody else's repository, too.
        for prepare in (":", f"git init -q {self.root}"):
            self.bash(prepare)
            self.assertEqual(self.bash("scripts/source-files.sh --how"), "find\n")
            self.assertEqual(self.bash("scripts/source-files.sh '*.py' '*.cc'"), "a.py\nsrc/b.cc\n")
        self.bash("git init -q . && echo a.py >.gitignore")
        self.assertEqual(self.bash("scripts/source-files.sh --how"), "git\n")
        self.assertEqual(self.bash("scripts/source-files.sh '*.py' '*.cc'").split(),
                         [".deps/d.py", "build/c.cc", "src/__pycache__/e.py", "src/b.cc"])


class Style(Case):
    def test_the_subject_of_a_commit(self):
        message = self.root / "message"
        for empty in ("", "\n# remark\n"):
            message.write_text(empty, encoding="utf-8")
            self.assertIn("this commit message is empty",
                          self.one_line(f"scripts/lint.sh --message {message}"))
        for rest, code in (("x" * 5, 0), ("x" * 66, 0), ("x" * 67, 1), ("ü×" + "x" * 64, 0),
                           ("x" * 66 + "\nmore", 1)):
            subject = "area: " + rest
            message.write_text(f"# remark\n\n{subject}\n\n{'y' * 90}\n", encoding="utf-8")
            printed = self.bash(f"scripts/lint.sh --message {message}", code=code)
            self.assertEqual("at most 72" in printed, code == 1, printed)

    def test_clang_tidy_says_what_it_lacks(self):
        self.assertIn("no git here", self.bash("scripts/lint.sh tidy"))
        (self.project / "src").mkdir()
        self.bash("git init -q -b main . && git add scripts && "
                  "git -c user.name=a -c user.email=b commit -qm one")
        self.assertIn("clang-tidy looked at NOTHING; LINT_BASE=HEAD~1 ",
                      self.bash("scripts/lint.sh tidy"))
        # A file that git does not know yet.
        (self.project / "src" / "a.cc").write_text("", encoding="utf-8")
        printed = self.bash("scripts/lint.sh tidy", code=1)
        self.assertIn("type cmake --preset release first", printed)

    def test_a_shallow_clone_has_some_subjects(self):
        self.bash("git init -q -b main . && git add scripts && "
                  "git -c user.name=a -c user.email=b commit -qm one && "
                  f"git -c user.name=a -c user.email=b commit -q --allow-empty -m {'x' * 80}")
        self.assertIn("subjects of commits are NOT looked at",
                      self.bash("scripts/lint.sh subjects"))
        self.bash(f"git clone -q --depth 1 file://{self.project} {self.root}/clone")
        printed = self.bash(f"cd {self.root}/clone && scripts/lint.sh subjects", code=1)
        self.assertIn("a shallow clone: only the subjects of its 1 commits are looked at", printed)
        self.assertIn("these subjects have more than 72 columns", printed)

    COMMIT = "git add {} && git -c user.name=a -c user.email=b commit -qm one"

    def write(self, *names):
        for name in names:
            (self.project / name).parent.mkdir(parents=True, exist_ok=True)
            (self.project / name).write_text("", encoding="utf-8")

    def test_clang_tidy_looks_at_all_that_changed(self):
        self.program("clang-tidy-14", 'echo "tidy ${*: -1}"\n')
        self.bash("git init -q -b main . && " + self.COMMIT.format("scripts"))
        self.bash("git checkout -q -b mine")
        self.write("src/a.cc", "src/a_test.cc", "backends/tensorrt/b.cc")
        self.bash(self.COMMIT.format("src backends"))
        self.write("src/new.cc", "build/release/compile_commands.json",
                   "build/release/CMakeCache.txt")
        looked = {"tidy src/a.cc", "tidy src/a_test.cc", "tidy src/new.cc"}
        self.assertEqual(set(self.bash("scripts/lint.sh tidy").splitlines()), looked | {
            "build/release is without TensorRT: clang-tidy did NOT look at backends/tensorrt"})
        (self.project / "build" / "release" / "CMakeCache.txt").write_text(
            f"TENSORRT_INCLUDE_DIR:PATH={self.root};{self.bin}\n", encoding="utf-8")
        looked.add("tidy backends/tensorrt/b.cc")
        self.assertEqual(set(self.bash("scripts/lint.sh tidy").splitlines()), looked)
        # No branch but this one, as where one commit was fetched.
        self.bash("git update-ref refs/remotes/origin/main main && git branch -q -D main")
        self.assertEqual(set(self.bash("scripts/lint.sh tidy").splitlines()), looked)
        self.bash("git update-ref -d refs/remotes/origin/main")
        self.assertEqual(self.bash("scripts/lint.sh tidy"),
                         "clang-tidy was NOT run: no 'main' to compare with\n")
        printed = self.bash("scripts/lint.sh tidy", code=1, LINT_BASE="other")
        self.assertIn("clang-tidy was NOT run: no 'other' to compare with", printed)


class Words(Case):
    TAKE_NONE = ("demo.sh", "test.sh", "wheel.sh", "static-libraries.sh", "onnxruntime-header.sh",
                 "tensorrt-headers.sh", "try-packages.sh")

    def test_help_is_the_head_of_the_script(self):
        # A Python that has no packages.
        self.program("python3", f'exec {sys.executable} -S "$@"\n')
        typed = [path for path in SCRIPTS.iterdir()
                 if path.is_file() and path.read_bytes().startswith(b"#!")]
        self.assertGreater(len(typed), 25)
        for path in typed:
            self.assertTrue(os.access(path, os.X_OK), path)
            for word in ("--help", "-h"):
                with self.subTest(name=path.name, word=word):
                    said = self.bash(f"scripts/{path.name} {word}")
                    text = path.read_text(encoding="utf-8")
                    if path.suffix == ".py":
                        self.assertIn(re.search('"""(.*)', text)[1], " ".join(said.split()))
                        continue
                    head, script = said.splitlines(), text.splitlines()
                    self.assertEqual(head, [line[2:] for line in script[1:len(head) + 1]])
                    self.assertNotEqual(script[len(head) + 1][:1], "#")
        self.assertEqual([path.name for path in self.project.iterdir()], ["scripts"])

    def test_a_python_that_lacks_a_module(self):
        self.program("python3", f'exec {sys.executable} -S "$@"\n')
        for name, module in (("operator-table", "onnx"), ("make-glyphs", "PIL"),
                             ("report-pictures", "onnx")):
            said = self.one_line(f"scripts/{name}.py --check")
            self.assertIn(f" has no {module}: type .deps/peer/bin/python scripts/{name}.py --check",
                          said)

    def test_what_is_no_word_of_a_script_starts_nothing(self):
        for name in (*self.TAKE_NONE, "pip-install.sh", "deep.sh", "bare-machine.sh"):
            with self.subTest(name):
                self.assertEqual(
                    self.bash(f"scripts/{name} --fast", code=2),
                    f"{name}: unknown argument '--fast'; scripts/{name} --help says what "
                    "there is\n")
        self.assertIn("unexpected argument 'again'", self.bash("scripts/demo.sh again", code=2))
        self.assertEqual([path.name for path in self.project.iterdir()], ["scripts"])

    def test_a_folder_with_other_files_is_left_alone(self):
        thesis = self.root / "home" / "thesis.txt"
        thesis.parent.mkdir()
        thesis.touch()
        said = self.bash(f"scripts/pip-install.sh {thesis.parent}", code=2)
        self.assertIn(f"'{thesis.parent}' is not empty: name a new folder", said)
        self.assertTrue(thesis.exists())


if __name__ == "__main__":
    unittest.main()
