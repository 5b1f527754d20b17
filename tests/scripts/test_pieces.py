"""What scripts fetch: whether it is still whole, and what they say without a network."""

import base64
import hashlib
import os
import platform
import py_compile
import shutil
import sys
import unittest
import zipfile

from test_machine import Case

VERSION = f"python3.{sys.version_info[1]}"


class Pieces(Case):
    """What was fetched, and has been damaged since."""

    def is_whole(self, check=""):
        return self.bash("source scripts/pieces.sh; "
                         f"is_whole piece {check} && echo whole || echo damaged").strip()

    def write(self, name, text):
        path = self.project / "piece" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def test_a_folder_that_is_sealed(self):
        self.assertEqual(self.is_whole("true"), "damaged")
        self.write("a.h", "text")
        header = self.write("in/b c.h", "text")
        self.bash("source scripts/pieces.sh; seal piece")
        self.write(".complete", "")
        self.assertEqual(self.is_whole(), "whole")
        for text in ("tex", "texT"):
            header.write_text(text, encoding="utf-8")
            self.assertEqual(self.is_whole("true"), "damaged")
        header.unlink()
        self.assertEqual(self.is_whole("true"), "damaged")

    def test_what_an_earlier_version_left_is_sealed_once(self):
        header = self.write("a.h", "text")
        for check in ("", "false"):
            self.assertEqual(self.is_whole(check), "damaged")
        self.assertEqual(self.is_whole("test -s piece/a.h"), "whole")
        header.write_text("other", encoding="utf-8")
        self.assertEqual(self.is_whole("true"), "damaged")

    def test_a_header_without_a_seal(self):
        self.program("apt-get", "exit 1\n")
        whole = 'extern "C" {\nint* OrtGetApiBase();\n}\n'
        folder = self.project / ".deps" / "onnxruntime-headers"
        header = folder / "usr" / "include" / "onnxruntime" / "onnxruntime_c_api.h"
        for text, stays in (("", False), (whole[:-2], False), (whole, True), ("changed", False)):
            header.parent.mkdir(parents=True, exist_ok=True)
            header.write_text(text, encoding="utf-8")
            said = self.bash("scripts/onnxruntime-header.sh || true")
            self.assertEqual(folder.exists(), stays, text)
            # Nothing is lost before there is another one.
            aside = folder.with_name(folder.name + ".damaged") / header.relative_to(folder)
            if not stays:
                self.assertEqual(aside.read_text(encoding="utf-8"), text)
        self.assertIn("usr/include/onnxruntime/onnxruntime_c_api.h missing or changed", said)
        self.assertEqual(list((self.project / ".deps").glob("apt*")), [])

    def test_damaged_headers_of_tensorrt_are_named(self):
        folder = self.project / ".deps" / "tensorrt-headers" / "10.13.3"
        for name in ("NvInfer.h", "NvOnnxParser.h"):
            (folder / "include").mkdir(parents=True, exist_ok=True)
            (folder / "include" / name).write_text(name, encoding="utf-8")
        self.bash(f"source scripts/pieces.sh; seal {folder}")
        (folder / "include" / "NvInfer.h").write_text("changed", encoding="utf-8")
        said = self.bash("scripts/tensorrt-headers.sh", code=1, TENSORRT_REPOSITORY="/nonesuch")
        self.assertIn("10.13.3: include/NvInfer.h missing or changed", said)
        self.assertTrue((folder / "include" / "NvOnnxParser.h").exists())

    def test_what_a_killed_run_left_goes(self):
        trained = self.project / ".deps" / "trained"
        for name in (".partial-abc", "some-1.0"):
            (trained / name).mkdir(parents=True)
        self.bash("task=setup; source scripts/environments.sh; lock_deps")
        self.assertEqual([path.name for path in trained.iterdir()], ["some-1.0"])

    def test_a_seal_that_is_damaged_is_no_seal(self):
        self.write("a.h", "text")
        self.write("b.h", "text")
        self.bash("source scripts/pieces.sh; seal piece; sed -i '1s/^./z/' piece/.sums")
        self.assertEqual(self.is_whole("true"), "damaged")

    def test_damaged_wheels_stay_until_others_are_there(self):
        folder = self.project / ".deps" / "some"
        (folder / "bin").mkdir(parents=True)
        (folder / "wheels").mkdir()
        (self.project / "list").write_text("a\n", encoding="utf-8")
        for name in ("a.whl", "b.whl"):
            (folder / "wheels" / name).write_text("text", encoding="utf-8")
        self.bash("source scripts/pieces.sh; cd .deps/some; seal wheels; touch wheels/.complete")
        (folder / "wheels" / "a.whl").write_text("texT", encoding="utf-8")
        fetch = ("task=deps; source scripts/environments.sh; mkdir -p .deps/logs; "
                 "wheelhouse some list")
        program = folder / "bin" / "python"
        program.write_text("#!/bin/bash\nexit 1\n", encoding="utf-8")
        program.chmod(0o755)
        said = self.bash(fetch, code=1)
        self.assertIn("deps: some: a.whl missing or changed: all wheels are fetched again", said)
        self.assertIn("deps: error: some: it says nothing", said)
        self.assertEqual(sorted(os.listdir(folder / "wheels")), [".sums", "a.whl", "b.whl"])
        program.write_text('#!/bin/bash\nmkdir -p "${@: -3:1}"; echo >"${@: -3:1}/c.whl"\n',
                           encoding="utf-8")
        self.bash(fetch)
        self.assertEqual(sorted(os.listdir(folder / "wheels")), [".complete", ".sums", "c.whl"])
        self.assertEqual(self.bash(fetch), "")

    def test_wheels_without_a_seal(self):
        for name in ("a", "b"):
            path = self.write(f"wheels/{name}-1.whl", "")
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("m.py", "x = 12345")
        listed = self.project / "list.txt"
        words = ("source scripts/environments.sh; "
                 f"has_wheels piece {listed} && echo whole || echo no")
        for requirements, said in (("a\nb\n", "whole\n"), ("a\nb\nc\n", "no\n")):
            listed.write_text("# two\n" + requirements, encoding="utf-8")
            self.assertEqual(self.bash(words), said)
        listed.write_text("a\nb\n", encoding="utf-8")
        content = path.read_bytes()
        for damaged in (b"", content[:-1], content.replace(b"12345", b"12346")):
            path.write_bytes(damaged)
            self.assertEqual(self.bash(words), "no\n")


class Environment(Case):
    """A virtual environment with four packages."""

    FORGET = "task=setup; source scripts/environments.sh; mkdir -p .deps/logs; forget_damaged some"

    def setUp(self):
        super().setUp()
        self.environment_folder = self.project / ".deps" / "some"
        self.site = self.environment_folder / "lib" / VERSION / "site-packages"
        self.installed = self.environment_folder / ".installed"
        for name in ("fine", "Cut.Short", "gone", "pip"):
            self.install(name)

    def install(self, name):
        info = self.site / f"{name.replace('.', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        (self.site / f"{name}.py").write_text("x = 1\n", encoding="utf-8")
        digest = base64.urlsafe_b64encode(hashlib.sha256(b"x = 1\n").digest()).decode().strip("=")
        (info / "RECORD").write_text(
            f"{name}.py,sha256={digest},6\n{info.name}/RECORD,,\n__pycache__/x.pyc,,\n",
            encoding="utf-8")


class Packages(Environment):
    """Whether they are whole."""

    def forget(self, *listed):
        self.installed.write_text("\n".join(listed) + "\n", encoding="utf-8")
        return self.bash(self.FORGET)

    def test_those_that_are_not_whole_are_fetched_again(self):
        here, elsewhere = (f'other==1.0; platform_machine {sign} "{platform.machine()}"'
                           for sign in ("==", "!="))
        listed = ["fine==1.0", "cut-short==1.0", "gone==1.0", "never==1.0", here, elsewhere]
        self.assertEqual(self.forget(*listed[:3], elsewhere), "")
        (self.site / "Cut.Short.py").write_text("x", encoding="utf-8")
        (self.site / "gone.py").unlink()
        self.assertEqual(
            self.forget(*listed), "setup: some: files of cut-short==1.0, gone==1.0, never==1.0, "
            f"{here} are missing or changed: they are installed again\n")
        self.assertEqual(self.installed.read_text(encoding="utf-8").splitlines(),
                         [listed[0], elsewhere])

    def test_a_change_that_leaves_the_size(self):
        self.assertEqual(self.forget("fine==1.0"), "")
        file = self.site / "fine.py"
        before = file.stat()
        file.write_text("x = 2\n", encoding="utf-8")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.assertIn("files of fine==1.0 are missing or changed", self.forget("fine==1.0"))

    def test_files_are_read_once(self):
        self.assertEqual(self.forget("fine==1.0"), "")
        digests = self.environment_folder / ".digests"
        known = digests.read_text(encoding="utf-8")
        for line in known.splitlines():
            if line.endswith("/fine.py"):
                digests.write_text(known.replace(line, line.replace("=", "=_")), encoding="utf-8")
        self.assertIn("files of fine==1.0 are", self.forget("fine==1.0"))
        digests.write_text("no such line\n", encoding="utf-8")
        self.assertEqual(self.forget("fine==1.0"), "")
        self.assertEqual(digests.read_text(encoding="utf-8"), known)

    def test_pip_is_made_anew(self):
        self.program("fake-python", f"""[[ $2 == venv ]] || exec python3 "$@"
ls {self.site} | grep '^pip'; touch $3/made\n""")
        (self.site / "pip").mkdir()
        (self.site / "pip.py").write_text("damaged", encoding="utf-8")
        self.installed.write_text("fine==1.0\n", encoding="utf-8")
        words = self.FORGET.replace("forget_", "python=fake-python; forget_")
        self.assertIn("some: files of pip are missing or changed", self.bash(words))
        self.assertTrue((self.environment_folder / "made").exists())
        # What venv found of the damaged one: nothing that would keep it from installing its own.
        log = (self.project / ".deps" / "logs" / "some.log").read_text(encoding="utf-8")
        self.assertEqual(log, "pip.py\n")

    def test_a_folder_that_cannot_be_read_or_written(self):
        self.installed.mkdir()
        said = self.one_line(self.FORGET)
        self.assertIn("some cannot be read (IsADirectoryError: ", said)
        self.assertIn("type rm -r ", said)
        self.installed.rmdir()
        (self.environment_folder / ".installed.new").mkdir()  # root may write anywhere
        self.installed.write_text("never==1.0\n", encoding="utf-8")
        said = self.bash(self.FORGET, code=1).splitlines()
        self.assertEqual(len(said), 2, said)
        self.assertIn("some cannot be written: make it writable, then type the same command again",
                      said[1])

    def test_a_compiled_file_that_is_damaged_goes(self):
        name = f"__pycache__/fine.{sys.implementation.cache_tag}.pyc"
        compiled = self.site / name
        for damage in (lambda content: content[:-20], lambda content: b"",
                       lambda content: content[:-5] + b"~" + content[-4:]):
            py_compile.compile(str(self.site / "fine.py"), str(compiled))
            self.assertEqual(self.forget("fine==1.0"), "")
            compiled.write_bytes(damage(compiled.read_bytes()))
            self.assertEqual(self.forget("fine==1.0"), "setup: some: damaged and removed, Python "
                                                       f"makes it anew: {compiled}\n")
            self.assertFalse(compiled.exists())
        compiled.write_bytes(b"one that was never seen")
        self.assertIn(name, self.forget("fine==1.0"))


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

    def test_an_interpreter_that_nothing_mends(self):
        (self.site / "end.pth").write_text("import os; os._exit(0)\n", encoding="utf-8")
        self.assertEqual(self.venv(1), f"setup: error: {self.environment_folder}/bin/python does "
                         "not run as it should (it says nothing): type rm -r "
                         f"{self.environment_folder}, then the same command again\n")


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
    def test_a_server_that_cannot_be_reached_is_asked_once(self):
        self.program("apt-get", """case "$*" in
  indextargets*) echo Packages http://mirror/ bookworm main ;;
  *update) echo asked >>asked; echo "Temporary failure resolving 'mirror'" >&2; exit 1 ;;
esac\n""")
        said = self.bash("scripts/onnxruntime-header.sh || true")
        asked = self.project / "asked"
        if asked.exists():  # this machine has no header of its own
            self.assertEqual(asked.read_text(encoding="utf-8"), "asked\n")
            self.assertIn("its server http://mirror/ cannot be reached", said)

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
