"""Virtual environments of the set-up: what is kept, mended and made anew."""

import os
import shutil
import sys
import unittest

from test_pieces import Environment


class Marks(Environment):
    """Of a virtual environment, and what venv has put there."""

    # lock_deps restores at the end what was set aside.
    VENV = ("task=setup; source scripts/environments.sh; lock_deps; python=fake-python; "
            "{} some list{}")
    LISTED = ["fine==1.0", "cut-short==1.0", "gone==1.0"]

    def setUp(self):
        super().setUp()
        self.program("fake-python", f"""[[ $2 == venv ]] || exec {sys.executable} "$@"
exec {sys.executable} -m venv --without-pip "${{@: -1}}"\n""")
        (self.project / "list").write_text("# three\n" + "\n".join(self.LISTED), encoding="utf-8")
        self.venv()
        self.assertEqual(self.venv(), "")

    def venv(self, code=0):
        return self.bash(self.VENV.format("venv", ""), code=code)

    def test_damaged_marks_are_made_anew(self):
        stamp = self.environment_folder / ".stamp"
        before = stamp.read_text(encoding="utf-8")
        for damage in ("rm .stamp", "echo x >.stamp", "rm .installed", ": >.installed",
                       "sed -i s/fine/finer/ .installed", "rm .installed; mkdir .installed"):
            with self.subTest(damage):
                said = self.bash(f"cd .deps/some; {damage}; cd ../..; " +
                                 self.VENV.format("venv", ""))
                self.assertIn(".stamp or .installed does not fit what is there: each file", said)
                self.assertEqual(self.installed.read_text(encoding="utf-8").splitlines(),
                                 self.LISTED)
                self.assertEqual(stamp.read_text(encoding="utf-8"), before)
                self.assertTrue((self.site / "fine.py").exists())
        stamp.unlink()
        (self.site / "gone.py").unlink()
        self.assertIn("files of gone==1.0 are missing or changed", self.venv())
        self.assertEqual(self.installed.read_text(encoding="utf-8").splitlines(), self.LISTED[:2])

    def test_the_former_one_stays_until_its_replacement_is_complete(self):
        (self.project / "list").write_text("fine==2.0\n", encoding="utf-8")
        said = self.bash(self.VENV.format("environment", " Name"), code=1)
        self.assertIn("some: is of another list, Python or folder: made anew", said)
        self.assertIn("some: the former one stays", said)
        self.assertTrue((self.site / "fine.py").exists())
        self.bash(self.VENV.format("pip() { :; }; environment", " Name"))
        self.assertFalse((self.site / "fine.py").exists())
        self.assertEqual(list(self.environment_folder.parent.glob("*.former")), [])

    def test_of_another_folder(self):
        (self.environment_folder / ".stamp").unlink()
        (self.environment_folder / "bin" / "pip").write_text("#!/other/bin/python\n",
                                                             encoding="utf-8")
        self.assertIn("some: is of another list, Python or folder", self.venv())

    def test_what_venv_has_made_is_made_anew(self):
        script = self.environment_folder / "bin" / "script"
        shutil.copy("/bin/true", script)
        for damage, what in (("rm pyvenv.cfg", "pyvenv.cfg"), (": >pyvenv.cfg", "pyvenv.cfg"),
                             ("sed -i s/home/hame/ pyvenv.cfg", "pyvenv.cfg"),
                             ("ln -sfn nonesuch lib64", "lib64"),
                             ("echo >>bin/activate", "bin/activate"),
                             ("ln -sfn /bin/false bin/python", "bin/python"),
                             ("rm bin/python; mkdir bin/python", "bin/python"),
                             ("chmod 644 bin/script", "bin/script")):
            with self.subTest(damage):
                said = self.bash(f"cd .deps/some; {damage}; cd ../..; " +
                                 self.VENV.format("venv", ""))
                self.assertEqual(said, f"setup: some: {what} missing or changed: made anew\n")
                self.assertEqual(self.venv(), "")
                self.assertTrue(os.access(script, os.X_OK))
                self.assertTrue((self.site / "fine.py").exists())

    def test_an_interruption_while_the_former_one_is_removed(self):
        (self.project / "list").write_text("fine==1.0\n", encoding="utf-8")
        fetched = self.root / "fetched"
        shutil.copytree(self.site, fetched, ignore=shutil.ignore_patterns("gone*", "Cut*"))
        install = (f'pip() {{ cp -r {fetched}/. "$(echo .deps/$1/lib/python3*/site-packages)"; '
                   'echo "$2" >>".deps/$1/.installed"; }; environment')
        # Half of it, and then Ctrl-C.
        self.program("rm", """last=${@: -1}
if [[ $last != *.former || ! -e $last ]]; then exec /bin/rm "$@"; fi
/bin/rm -r "$last"/{bin,pyvenv.cfg}; kill -INT $PPID\n""")
        said = self.bash(self.VENV.format(install, " Name"), code=130)
        self.assertNotIn("some: the former one stays", said)
        (self.bin / "rm").unlink()
        self.assertEqual(self.bash(self.VENV.format(install, " Name")), "setup: Name: all there\n")
        self.assertEqual(self.installed.read_text(encoding="utf-8"), "fine==1.0\n")
        self.assertEqual({path.name for path in self.site.iterdir()},
                         {path.name for path in fetched.iterdir()})
        self.assertEqual(list(self.environment_folder.parent.glob("*.former")), [])
        self.assertEqual(list((self.project / ".deps" / "tmp").iterdir()), [])

    def test_the_former_one_of_a_whole_one_goes(self):
        former = self.environment_folder.with_name("some.former")
        for replacement, stays in (("", False), ("fine==1.0\n", False), ("fine==2.0\n", True)):
            (former / "bin").mkdir(parents=True)
            if replacement:
                (former / ".replacement").write_text(replacement, encoding="utf-8")
            said = self.bash("task=setup; source scripts/environments.sh; lock_deps")
            self.assertEqual("the former one stays" in said, stays, replacement)
            self.assertFalse(former.exists())
            self.assertEqual((self.site / "fine.py").exists(), not stays)

    def test_words_on_stderr_condemn_nothing(self):
        for name in ("PYTHONWARNINGS", "PYTHONVERBOSE", "PYTHONHOME"):
            with self.subTest(name):
                self.assertEqual(self.bash(self.VENV.format("venv", ""), **{name: "1"}), "")
        (self.site / "odd.pth").write_text("import nonesuch\n", encoding="utf-8")
        self.assertEqual(self.venv(), "")

    def test_setuptools_is_made_anew(self):
        self.install("setuptools")
        self.assertEqual(self.venv(), "")
        (self.site / "setuptools.py").unlink()
        for name in ("_distutils_hack", "pkg_resources"):
            (self.site / name).mkdir()
        # The environment's venv leaves packages out.
        self.assertEqual(self.venv(), "setup: some: files of setuptools are missing or changed: "
                         "they are installed again\n")
        left = {path.name for path in self.site.iterdir()}
        self.assertFalse(left & {"setuptools-1.0.dist-info", "_distutils_hack", "pkg_resources"})

    def test_what_ends_the_interpreter_is_set_aside(self):
        (self.site / "end.pth").write_text("import os; os._exit(0)\n", encoding="utf-8")
        said = self.venv()
        self.assertIn("some: of no package, and set aside in ", said)
        self.assertIn("end.pth", said)
        self.assertEqual(self.venv(), "")

    def test_an_interpreter_that_nothing_mends(self):
        (self.site / "end.pth").write_text("import os; os._exit(0)\n", encoding="utf-8")
        with open(self.site / "fine-1.0.dist-info" / "RECORD", "a", encoding="utf-8") as record:
            record.write("end.pth,,\n")
        (self.environment_folder / ".digests").unlink()
        self.assertEqual(self.venv(1), f"setup: error: {self.environment_folder}/bin/python does "
                         "not run as it should (it says nothing): type rm -r "
                         f"{self.environment_folder}, then type bash again\n")


if __name__ == "__main__":
    unittest.main()
