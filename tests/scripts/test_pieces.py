"""What scripts fetch: whether it is still whole, and what they say without a network."""

import base64
import hashlib
import os
import platform
import py_compile
import sys
import unittest

from test_machine import Case

VERSION = f"python3.{sys.version_info[1]}"


class Pieces(Case):
    """What was fetched, and has been damaged since."""

    def is_whole(self):
        return self.bash("source scripts/pieces.sh; "
                         "is_whole piece && echo whole || echo damaged").strip()

    def write(self, name, text):
        path = self.project / "piece" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def test_a_folder_that_is_sealed(self):
        self.assertEqual(self.is_whole(), "damaged")
        self.write("a.h", "text")
        header = self.write("in/b c.h", "text")
        self.bash("source scripts/pieces.sh; seal piece")
        self.write(".complete", "")
        self.assertEqual(self.is_whole(), "whole")
        for text in ("tex", "texT"):
            header.write_text(text, encoding="utf-8")
            self.assertEqual(self.is_whole(), "damaged")
        header.unlink()
        self.assertEqual(self.is_whole(), "damaged")

    def test_headers_without_a_seal_are_fetched_again(self):
        self.program("apt-get", "exit 1\n")
        folder = self.project / ".deps" / "onnxruntime-headers"
        header = folder / "usr" / "include" / "onnxruntime" / "onnxruntime_c_api.h"
        header.parent.mkdir(parents=True)
        header.write_text('extern "C" {\nint* OrtGetApiBase();\n}\n', encoding="utf-8")
        said = self.bash("scripts/onnxruntime-header.sh || true")
        self.assertIn("onnxruntime-headers: .sums missing or changed: all are fetched again", said)
        self.assertFalse(folder.exists())
        # Nothing is lost before there is another one.
        self.assertTrue((folder.with_name(folder.name + ".damaged") /
                         header.relative_to(folder)).exists())
        self.assertEqual(list((self.project / ".deps").glob("apt*")), [])

    def test_headers_that_are_sealed(self):
        header = self.project / ".deps/onnxruntime-headers/usr/include/onnxruntime_c_api.h"
        header.parent.mkdir(parents=True)
        header.write_text("text", encoding="utf-8")
        self.bash("source scripts/pieces.sh; seal .deps/onnxruntime-headers")
        self.assertRegex(self.bash("scripts/onnxruntime-header.sh"), r"^/\S*onnxruntime_c_api.h\n$")
        self.program("apt-get", "exit 1\n")
        header.write_text("changed", encoding="utf-8")
        self.assertIn("usr/include/onnxruntime_c_api.h missing or changed",
                      self.bash("scripts/onnxruntime-header.sh || true"))

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
        # What has lost its seal is no longer trusted, what somebody has put there is.
        (folder / ".sums").unlink()
        (folder / "LICENSE").touch()
        self.program("git", "echo \"fatal: Could not resolve host: a\"; exit 128\n")
        said = self.bash("scripts/tensorrt-headers.sh", code=1)
        self.assertIn("10.13.3: .sums missing or changed", said)
        self.assertRegex(said, "git ls-remote of https:\\S*: its server cannot be reached; when "
                               "there is a network, type scripts/tensorrt-headers.sh again; or ")
        (folder / "LICENSE").unlink()
        self.assertIn(f"{folder}/include\n", self.bash("scripts/tensorrt-headers.sh", code=1))

    def test_what_a_killed_run_left_goes(self):
        trained = self.project / ".deps" / "trained"
        for name in (".partial-abc", "some-1.0"):
            (trained / name).mkdir(parents=True)
        self.bash("task=setup; source scripts/environments.sh; lock_deps")
        self.assertEqual([path.name for path in trained.iterdir()], ["some-1.0"])

    def test_a_seal_that_is_damaged_is_no_seal(self):
        self.write("a.h", "text")
        self.write("b.h", "text")
        seal = "source scripts/pieces.sh; seal piece; "
        for damage in ("sed -i '2s/^./z/' piece/.sums", "sed -i '$d' piece/.sums",
                       "sed -i 1d piece/.sums", ": >piece/.sums", "rm piece/.sums",
                       "sed -i '$d' piece/.sums; rm piece/b.h"):
            self.write("b.h", "text")
            self.bash(seal + damage)
            self.assertEqual(self.is_whole(), "damaged", damage)
            self.assertEqual(self.bash("source scripts/pieces.sh; damaged_files piece; "
                                       "whole_files piece"), ".sums missing or changed\n")

    def test_a_file_that_was_not_there(self):
        self.write("a.h", "text")
        self.write("b.h", "text")
        self.bash("source scripts/pieces.sh; seal piece")
        self.write("in/more.h", "text")
        self.assertEqual(self.is_whole(), "damaged")
        self.write("a.h", "changed")
        self.assertEqual(self.bash("source scripts/pieces.sh; damaged_files piece; "
                                   "whole_files piece"),
                         "a.h missing or changed, in/more.h foreign\nb.h\n")

    def test_damaged_wheels_alone_are_fetched_again(self):
        folder = self.project / ".deps" / "some"
        wheels = folder / "wheels"
        (folder / "bin").mkdir(parents=True)
        wheels.mkdir()
        names = ["A.b==1.0", "a_b_c==2.0", "new==1"]
        (self.project / "list").write_text("# three\n" + "\n".join(names), encoding="utf-8")
        for name in ("a_b-1.0-py3-none-any.whl", "a_b_c-2.0-py3-none-any.whl"):
            (wheels / name).write_text("text", encoding="utf-8")
        self.bash("source scripts/pieces.sh; cd .deps/some; seal wheels; touch wheels/.complete")
        (wheels / "a_b_c-2.0-py3-none-any.whl").write_text("texT", encoding="utf-8")
        fetch = ("task=deps; source scripts/environments.sh; mkdir -p .deps/logs; "
                 "wheelhouse some list")
        program = folder / "bin" / "python"
        program.write_text("#!/bin/bash\nexit 1\n", encoding="utf-8")
        program.chmod(0o755)
        said = self.bash(fetch, code=1)
        self.assertIn("some: a_b_c-2.0-py3-none-any.whl missing or changed: fetched again", said)
        self.assertIn("deps: error: some: it says nothing", said)
        self.assertEqual(sorted(os.listdir(wheels)),
                         [".sums", "a_b-1.0-py3-none-any.whl", "a_b_c-2.0-py3-none-any.whl"])
        program.write_text("""#!/bin/bash
while [[ $1 != --dest ]]; do shift; done
for word in "${@:3}"; do echo fetched >"$2/${word/==/-}-py3-none-any.whl"; done\n""",
                           encoding="utf-8")
        self.bash(fetch)
        self.assertEqual({path.name: path.read_text(encoding="utf-8")
                          for path in wheels.glob("*.whl")},
                         {"a_b-1.0-py3-none-any.whl": "text",
                          "a_b_c-2.0-py3-none-any.whl": "fetched\n",
                          "new-1-py3-none-any.whl": "fetched\n"})
        self.assertTrue((wheels / ".complete").exists())
        self.assertEqual(self.bash(fetch), "")
        (wheels / ".sums").unlink()
        self.bash(fetch)
        self.assertEqual(len(list(wheels.glob("*.whl"))), 3)
        self.assertEqual((wheels / "A.b-1.0-py3-none-any.whl").read_text(encoding="utf-8"),
                         "fetched\n")


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

    def test_a_record_that_was_cut_short(self):
        self.assertEqual(self.forget("fine==1.0"), "")
        record = self.site / "fine-1.0.dist-info" / "RECORD"
        record.write_text("fine.py,,\n" + record.read_text(encoding="utf-8").split("\n", 1)[1],
                          encoding="utf-8")
        self.assertIn("files of fine==1.0 are missing or changed", self.forget("fine==1.0"))

    def test_what_is_of_no_package_is_set_aside(self):
        words = ("task=setup; source scripts/environments.sh; mkdir -p .deps/logs; "
                 "set_foreign_aside some")
        self.assertEqual(self.bash(words), "")
        (self.site / "fine").mkdir()
        (self.site / "linked").symlink_to(self.root)
        for name in ("fine/more.py", "fine.pyc", "__pycache__/fine.pyc"):
            (self.site / name).parent.mkdir(exist_ok=True)
            (self.site / name).write_text("planted", encoding="utf-8")
        place = self.site.relative_to(self.environment_folder)
        aside = self.project / ".deps" / "foreign" / "some"
        self.assertEqual(self.bash(words), f"setup: some: of no package, and set aside in {aside}: "
                         f"{place}/fine.pyc, {place}/linked, {place}/fine/more.py\n")
        self.assertEqual((aside / place / "fine/more.py").read_text(encoding="utf-8"), "planted")
        self.assertTrue((aside / place / "linked").is_symlink())
        self.assertTrue((self.site / "__pycache__/fine.pyc").exists())
        self.assertEqual(self.bash(words), "")

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
        self.assertEqual(log, "pip\npip.py\n")  # the first line is damaged-packages.py's

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
        self.assertIn(f"some cannot be written: type rm -r {self.environment_folder}, then type "
                      "bash again", said[1])

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
            self.assertIn("http://mirror/: its server cannot be reached; set ", said)


if __name__ == "__main__":
    unittest.main()
