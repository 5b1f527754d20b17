"""What scripts print, and what Pythons that are too old say."""

import os
import pathlib
import sys
import time

from script_case import ScriptCase


class OldPython(ScriptCase):
    def test_it_is_named(self):
        self.write("python", f"""\
            #!/bin/sh
            exec {sys.executable} -c 'import runpy, sys
            sys.version_info = (3, 8, 2)
            sys.argv = sys.argv[1:]
            runpy.run_path(sys.argv[0], run_name="__main__")' "$@"
            """)
        (self.folder / "python").chmod(0o755)
        self.write("script.py", "def load_data(): return []")
        done = self.vernier("m.onnx", "--onnxrt", "--data-loader-script", "script.py",
                            python="./python")
        self.assert_fails(done, 5, "is Python 3.8; 3.9 or newer is needed", "--python")


class Output(ScriptCase):
    def test_what_scripts_print_is_in_the_log_and_breaks_nothing(self):
        self.write("script.py", r"""
            import os, subprocess, sys
            import numpy as np
            def load_data():
                print("one", "two", sep="\n", end="")
                sys.stdout.write(" and more\n[W] careful\n")
                os.write(1, b"past Python\n")
                subprocess.run(["echo", "by a child"])
                print("no end", end="")
                yield {"x": np.zeros((2, 3), np.float32)}
            """)
        done = self.vernier("m.onnx", "--onnxrt", "--data-loader-script", "script.py",
                            "--log-file", "run.log")
        self.assertEqual(done.code, 0, str(done))
        for line in ("[I] one\n", "[I] two and more\n", "[W] careful\n", "[I] no end\n"):
            self.assertIn(line, done.out)
            self.assertIn(line, (self.folder / "run.log").read_text())
        # Results alone are on stdout; what bypasses Python goes to stderr.
        self.assertIn("past Python", done.err)
        self.assertIn("by a child", done.err)
        quiet = self.vernier("m.onnx", "--onnxrt", "--data-loader-script", "script.py", "-q")
        self.assertNotIn("[I] one", quiet.out)
        self.assertIn("[W] careful", quiet.out)

    def test_nothing_is_left_behind(self):
        self.write("beside.py", "VALUE = 1\n")
        self.write("script.py", """
            import beside, os
            import numpy as np
            def load_data():
                open("pid", "w").write(str(os.getpid()))
                import beside
                yield {"x": np.zeros((2, 3), np.float32)}
            """)
        done = self.vernier("m.onnx", "--onnxrt", "--data-loader-script", "script.py")
        self.assertEqual(done.code, 0, str(done))
        self.assertFalse((self.folder / "__pycache__").exists())
        pid = int((self.folder / "pid").read_text())
        self.assertFalse(pathlib.Path(f"/proc/{pid}").exists(), "the worker should have ended")

    def test_a_worker_dies_with_its_parent(self):
        import signal
        import subprocess
        from script_case import VERNIER
        self.write("script.py", """
            import os, time
            def load_data():
                open("pid.new", "w").write(str(os.getpid()))
                os.rename("pid.new", "pid")
                while True: time.sleep(1)
            """)
        with subprocess.Popen([VERNIER, "run", "m.onnx", "--onnxrt", "--data-loader-script",
                               "script.py", "--python", sys.executable], cwd=self.folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            end = time.monotonic() + 30
            while not (self.folder / "pid").exists() and time.monotonic() < end:
                time.sleep(0.01)
            pid = int((self.folder / "pid").read_text())
            os.kill(run.pid, signal.SIGKILL)

        def alive():
            try:
                return pathlib.Path(f"/proc/{pid}/stat").read_text().split()[2] not in "ZX"
            except OSError:
                return False
        while alive() and time.monotonic() < end:
            time.sleep(0.01)
        self.assertFalse(alive())
