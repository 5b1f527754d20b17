"""--model-runner with programs: JSON in, JSON out."""

import os
import pathlib
import shutil
import textwrap
import time
import unittest

from script_case import ScriptCase

# y = relu(x) + x and z = x, as m.onnx, in a script that knows nothing of vernier.
TWIN = """
    import json, sys
    feed = json.load(sys.stdin)
    x = feed["x"]["values"]
    y = [[max(v, 0) + v for v in row] for row in x]
    json.dump({"y": y, "z": x}, sys.stdout)
    """


class Programs(ScriptCase):
    def program(self, text, name="prog"):
        self.write(name, text.lstrip("\n"))
        (self.folder / name).chmod(0o755)

    def agrees(self, runner, *words):
        done = self.vernier("m.onnx", "--onnxrt", "--model-runner", runner, "--iterations", "2",
                            "--input-shapes", "x:[2,3]", *words)
        self.assertEqual(done.code, 0, str(done))
        self.assertIn("compared 2 outputs in 2 iterations", done.out)
        return done

    def test_a_python_script_that_reads_its_standard_input(self):
        self.write("twin.py", TWIN)
        done = self.agrees("twin.py")
        self.assertRegex(done.out, r"twin +python")

    def test_a_shell_script(self):
        # Plain lists: their type is that of the model's outputs.
        self.program("""
            #!/bin/sh
            cat > /dev/null
            echo '{"y": [[4, 6, -0.0]], "z": [[2, 3, 0]]}'
            """)
        self.write("loader.py", """
            import numpy as np
            def load_data():
                yield {"x": np.array([[2, 3, 0]], np.float32)}
            """)
        done = self.vernier("m.onnx", "--onnxrt", "--model-runner", "./prog",
                            "--data-loader-script", "loader.py", "--atol", "0", "--rtol", "0")
        self.assertEqual(done.code, 0, str(done))
        self.assertRegex(done.out, r"prog-N0-\S+ +\n    ---- Inference Output\(s\) ----\n"
                         r"    \{y \[dtype=float32, shape=\(1, 3\)\]")

    def test_a_program_that_never_stops_is_stopped(self):
        for runner in ("yes x", "sh -c 'cat > /dev/null; while :; do echo; echo x; done'"):
            done = self.vernier("m.onnx", "--onnxrt", "--model-runner", runner,
                                "--input-shapes", "x:[2,3]")
            self.assertEqual(done.code, 6, str(done))
            self.assertRegex(done.out + done.err, r"was stopped after \d+ bytes without a JSON")

    def test_a_program_that_says_much_before_its_answer(self):
        self.write("loud.py", "import sys\nsys.stderr.write('word\\n' * 20000)\n"
                   + textwrap.dedent(TWIN))
        self.agrees("loud.py")

    def test_polygraphys_encoding_there_and_back(self):
        self.write("poly.py", """
            import base64, io, json, sys
            import numpy as np
            def array(entry):
                return np.load(io.BytesIO(base64.b64decode(entry["array"])))
            def entry(a):
                stream = io.BytesIO()
                np.save(stream, a)
                return {"array": base64.b64encode(stream.getvalue()).decode(),
                        "polygraphy_class": "ndarray"}
            x = array(json.load(sys.stdin)["x"])
            json.dump({"y": entry(np.maximum(x, 0) + x), "z": entry(x)}, sys.stdout)
            """)
        self.agrees("poly.py", "--atol", "0", "--rtol", "0")

    def test_files_instead_of_streams(self):
        self.write("files.py", """
            import json, sys
            words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
            x = json.load(open(words["--input-file"]))["x"]["values"]
            y = [[max(v, 0) + v for v in row] for row in x]
            print("not the result")
            assert words["--model"].endswith("m.onnx")
            json.dump({"y": y, "z": x}, open(words["--output-file"], "w"))
            """)
        self.agrees("files.py --input-file {input} --output-file {output} --model {model}")

    def test_a_compiled_program(self):
        compiler = shutil.which("cc")
        self.assertIsNotNone(compiler, "the build needs one")
        self.write("prog.c", """
            #include <stdio.h>
            int main(void) {
              while (getchar() != EOF) {}
              puts("{\\"y\\": [[0, 0, 0]], \\"z\\": {\\"values\\": [0, 0, 0], "
                   "\\"dtype\\": \\"float32\\", \\"shape\\": [1, 3]}}");
              return 0;
            }
            """)
        self.assertEqual(os.system(f"{compiler} -o {self.folder}/prog {self.folder}/prog.c"), 0)
        done = self.vernier("m.onnx", "--onnxrt", "--runner", "c=./prog", "--val-range", "[0,0]")
        self.assertEqual(done.code, 0, str(done))
        self.assertRegex(done.out, r"vs\. c: PASSED, compared 2 outputs")

    def test_what_it_says_on_standard_error_is_logged(self):
        self.program("""
            #!/bin/sh
            cat > /dev/null
            echo 'loading took long' >&2
            echo '{"y": [[0, 0, 0]], "z": [[0, 0, 0]]}'
            """)
        done = self.vernier("m.onnx", "--model-runner", "./prog")
        self.assertEqual(done.code, 0, str(done))
        self.assertIn("loading took long", done.out)

    def test_wrong_answers_are_sentences(self):
        for answer, words in (
                ("echo nonsense", "answered with text that is not JSON: .* it begins 'nonsense"),
                ("true", "answered with text that is not JSON"),
                ("echo '{\"y\": [[1,2],[3]]}'", "its lists have different lengths|is not an array"),
                ("echo 3", "answered with an int; expected an object"),
                ("echo '{}'", "returned no outputs"),
                ("echo '{\"y\": \"text\"}'", "output 'y' of the program 'prog' is not an array"),
                ("echo '{\"y\": {\"array\": \"AAAA\"}}'", "output 'y' of the program 'prog' is no"),
                ("echo oh no >&2; exit 7", "the program 'prog' ended with exit code 7: oh no"),
                ("kill -SEGV $$", "the program 'prog' was ended by SIGSEGV")):
            with self.subTest(answer):
                self.program(f"#!/bin/sh\ncat > /dev/null\n{answer}\n")
                done = self.vernier("m.onnx", "--onnxrt", "--model-runner", "./prog")
                self.assert_fails(done, 6, words)
                self.assertRegex(done.out, r"onnxrt +onnxruntime")

    def test_one_that_does_not_end_is_ended(self):
        self.program("""
            #!/bin/sh
            echo $$ > pid
            exec sleep 1000
            """)
        done = self.vernier("m.onnx", "--model-runner", "./prog", "--timeout", "1")
        self.assert_fails(done, 6, "hung while running iteration 0", "--timeout")
        pid = int((self.folder / "pid").read_text())
        for _ in range(50):
            if not pathlib.Path(f"/proc/{pid}").exists():
                break
            time.sleep(0.1)
        self.assertFalse(pathlib.Path(f"/proc/{pid}").exists(), "the program outlived the run")

    def test_what_cannot_be_started(self):
        self.write("plain.txt", "text")
        done = self.vernier("m.onnx", "--model-runner", "plain.txt")
        self.assert_fails(done, 3, "is not executable", "chmod")
        self.program("no line that names an interpreter\n")
        done = self.vernier("m.onnx", "--model-runner", "./prog")
        self.assert_fails(done, 6, "cannot be started", "#! line")
        done = self.vernier("m.onnx", "--model-runner", "no-such-program-anywhere --flag")
        self.assert_fails(done, 5, "there is no program 'no-such-program-anywhere'")

    def test_a_feed_has_every_type(self):
        self.write("kinds.py", """
            import json, sys
            feed = json.load(sys.stdin)
            json.dump({name: {key: entry[key] for key in ("values", "dtype", "shape")}
                       for name, entry in feed.items()}, sys.stdout)
            """)
        self.write("loader.py", """
            import numpy as np
            def load_data():
                yield {"f": np.float32([[1.5, -2]]), "i": np.int64([2**62 + 1]), "b": np.array(True),
                       "h": np.float16([0.1]), "e": np.zeros((0, 3), np.uint8),
                       "t": np.array(["a", "b"])}
            """)
        self.write("echo.py", "def infer(feed): return feed\n")
        done = self.vernier("--model-runner", "kinds.py", "--model-runner", "echo.py",
                            "--data-loader-script", "loader.py")
        self.assertEqual(done.code, 0, str(done))
        self.assertIn("compared 6 outputs", done.out)


if __name__ == "__main__":
    unittest.main()
