"""vernier batch: many models, one table, one exit code; what one does is not the others' end."""

import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time
import unittest
from xml.etree import ElementTree

import numpy as np

from program import VERNIER, Case


class Batch(Case):
    def setUp(self):
        super().setUp()
        self.path("models").mkdir()
        for name in ("a", "b", "c"):
            self.save_model(f"models/{name}.onnx", shape=(2, 3))

    def batch(self, *words):
        return self.vernier("batch", *words)

    def rows(self, ended):
        """Verdicts by model, from the table."""
        return {m[1]: m[2].strip() for m in
                re.finditer(r"^(models/\S+) +([a-z ]+?)  ", ended.out, re.MULTILINE)}

    def test_all_pass(self):
        for jobs in ("1", "2", "0"):
            ended = self.batch("models/*.onnx", "--jobs", jobs, "--", "--onnxrt", "--onnxrt")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            self.assertEqual(self.rows(ended), {f"models/{n}.onnx": "passed" for n in "abc"})
            self.assertIn("3 of 3 passed\n", ended.out)

    def test_one_bad_model_is_not_the_end(self):
        self.path("models/b.onnx").write_bytes(b"\x08\x08\x3a\x05ab")
        ended = self.batch("models/*.onnx", "--", "--onnxrt", "--onnxrt")
        self.assertEqual(ended.code, 3)
        self.assertEqual(self.rows(ended), {"models/a.onnx": "passed", "models/b.onnx": "unreadable",
                                            "models/c.onnx": "passed"})
        self.assertIn("2 of 3 passed, 1 unreadable", ended.out)
        self.assertRegex(ended.out, r"repro: cd .* && .*run models/b.onnx --onnxrt --onnxrt\n")

    def test_a_mismatch_decides(self):
        self.vernier("run", "models/a.onnx", "--onnxrt", "--seed", "7", "--save-outputs", "gold.json")
        self.path("models/b.onnx").write_bytes(b"no model")
        ended = self.batch("models/a.onnx", "models/b.onnx", "--", "--onnxrt", "--load-outputs",
                           "gold.json")
        self.assertEqual(ended.code, 1, ended.out)
        self.assertEqual(self.rows(ended)["models/a.onnx"], "mismatch")
        self.assertRegex(ended.out, r"models/a.onnx +mismatch +0 of 1 .* y: .* times the tolerance")

    def test_a_backend_that_is_not_there_is_named_once(self):
        for words in (["--runner", "x=onxrt"], ["--model-runner", "'prog x"]):
            ended = self.batch("models/*.onnx", "--", *words, "--onnxrt")
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            if words[0] == "--runner":
                named = "there is no backend 'onxrt'; did you mean 'onnxrt'?"
                self.assertEqual((ended.out + ended.err).count(named), 1)
                self.assertNotIn("usage error", ended.out)
            else:
                self.assertIn("--model-runner: a quote ' is not closed", ended.out + ended.err)

    def test_an_option_that_is_wrong_for_all_is_named_once(self):
        for words, said in ((["--rtol", "abc"], "--rtol: expected a number >= 0, got 'abc'"),
                            (["--dim", "N=x"], "--dim: expected NAME=SIZE")):
            ended = self.batch("models/*.onnx", "--", "--onnxrt", *words)
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertEqual((ended.out + ended.err).count(said), 1, ended.out + ended.err)
            self.assertNotIn("usage error", ended.out)
        ended = self.batch("models/*.onnx", "--", "--onnxrt", "--report", "a.html", "b.html")
        self.assertEqual(ended.code, 2)
        self.assertIn("'b.html' is not an option: models are named before --; --report takes one"
                      " value", ended.err)

    def test_a_type_that_differs_is_reported(self):
        self.save_feeds("in.json", [{"x": np.ones((2, 3), np.float32)}])
        self.save_runs("gold.json", [("r", [{"y": np.ones((2, 3), np.float64)}])])
        ended = self.batch("models/a.onnx", "--", "--onnxrt", "--load-inputs", "in.json",
                           "--load-outputs", "gold.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertRegex(ended.out, r"models/a.onnx +passed +1 of 1 .* types differ: y \(float32 "
                                    r"against float64\)\n")
        self.assertIn("; types differ: 1 output", ended.out)

    def test_a_log_that_cannot_be_written(self):
        def small_files_only():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
        ended = subprocess.run([VERNIER, "batch", "models/a.onnx", "models/b.onnx", "--log-dir",
                                "logs", "--", "--onnxrt", "--onnxrt"], cwd=self.folder, text=True,
                               capture_output=True, check=False, preexec_fn=small_files_only)
        self.assertEqual(ended.returncode, 7, ended.stdout + ended.stderr)
        said = re.findall(r"^\[!\] .*", ended.stdout + ended.stderr, re.MULTILINE)
        self.assertEqual(said, ["[!] 'logs/a.log': the log of the run could not be saved: "
                                "File too large"])

    def test_a_crash_of_one_is_not_the_end(self):
        self.path("model.py").write_text(
            "import os\ndef load(path):\n    if 'b.onnx' in path: os.abort()\n"
            "    return lambda feed: {'y': feed['x']}\n")
        ended = self.batch("models/*.onnx", "--", "--model-runner", "model.py", "--input-shapes",
                           "x:[2,3]", "--python", sys.executable)
        self.assertEqual(ended.code, 6, ended.out + ended.err)
        self.assertEqual(self.rows(ended)["models/b.onnx"], "backend failed")
        self.assertIn("SIGABRT", ended.out)
        self.assertIn("2 of 3 ran, 1 backend failed\n", ended.out)

    def test_no_more_jobs_than_processors_that_may_be_used(self):
        self.path("model.py").write_text(
            "import os, time\nimport numpy as np\ndef load(path):\n"
            "    def infer(feed):\n        open('busy', 'x').close()\n        time.sleep(0.5)\n"
            "        os.remove('busy')\n        return {'y': feed['x']}\n    return infer\n")
        allowed = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, allowed)
        os.sched_setaffinity(0, {min(allowed)})
        ended = self.batch("models/*.onnx", "--jobs", "0", "--", "--model-runner", "model.py",
                           "--input-shapes", "x:[2,3]", "--python", sys.executable,
                           "--save-record", "r.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("3 of 3 ran\n", ended.out)
        record = json.loads(self.path("a-r.json").read_text())
        self.assertEqual(record["origin"]["processors"], 1)

    def test_options_within_a_runner_save_to_files_of_their_own(self):
        """What TensorRT would write is known without it."""
        ended = self.batch("models/a.onnx", "models/b.onnx", "--", "--runner",
                           "t=trt --save-engine models/b.onnx")
        self.assertNotIn("would overwrite", ended.out + ended.err)
        for model in "ab":
            self.assertRegex(ended.out, f"repro: .*--save-engine models/{model}-b.onnx")
        ended = self.batch("models/a.onnx", "models/b.onnx", "--", "--runner",
                           "t=trt --save-engine models/{stem}.onnx")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("--runner t: --save-engine of 'models/a.onnx' would overwrite", ended.err)

    def test_a_run_of_one_side_has_run_and_not_passed(self):
        ended = self.batch("models/*.onnx", "--", "--onnxrt")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual(set(self.rows(ended).values()), {"ran"})
        self.assertIn("3 of 3 ran\n", ended.out)
        self.assertIn("no model had two sides; no inputs or outputs were saved\n", ended.out)
        self.assertNotIn("passed", ended.out)

    def test_the_step_that_makes_golden_outputs_says_what_it_saved(self):
        ended = self.batch("models/*.onnx", "--", "--onnxrt", "--save-outputs", "gold.json")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertRegex(ended.out, r"models/a.onnx +ran +- .* saved a-gold.json\n")
        self.assertIn("3 of 3 ran\nthere was nothing to compare: no model had two sides; saved 3 "
                      "files\n", ended.out)

    def test_logs_name_no_file_that_is_gone(self):
        ended = self.batch("models/*.onnx", "--log-dir", "logs", "-v", "--", "--onnxrt", "--onnxrt",
                           "--save-onnx", "o.onnx")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        log = self.path("logs/a.log").read_text()
        self.assertRegex(log, r"repro: cd .* run models/a.onnx .* --save-onnx a-o.onnx\n")
        self.assertNotIn("--save-record=", log + ended.out)

    def test_one_junit_report_for_all_models(self):
        self.path("models/b.onnx").write_bytes(b"no model")
        ended = self.batch("models/*.onnx", "--report", "all.xml", "--", "--onnxrt", "--onnxrt")
        self.assertEqual(ended.code, 3, ended.out + ended.err)
        root = ElementTree.parse(self.path("all.xml")).getroot()
        names = {suite.get("name") for suite in root.iter("testsuite")}
        self.assertIn("models/a.onnx: onnxrt-runner-N0 vs. onnxrt-runner-N1", names)
        self.assertIn("models/b.onnx: run", names)
        self.assertIn("models/c.onnx: run", names)
        broken = {case.get("classname") for case in root.iter("testcase")
                  if case.find("error") is not None}
        self.assertTrue(broken)
        for case in root.iter("testcase"):
            if case.get("classname").startswith("models/b.onnx: "):
                (seen,) = list(case)  # no runner that was never opened is a pass
                said = seen.get("message") + (seen.text or "")
                self.assertIn("is not a valid ONNX file", said, case.attrib)
        self.assertTrue(all(name.startswith("models/b.onnx: ") for name in broken), broken)
        again = self.batch("models/*.onnx", "--report", "again.xml", "--", "--onnxrt", "--onnxrt")
        self.assertEqual(again.code, 3)
        cases = [[(case.get("classname"), case.get("name")) for case in
                  ElementTree.parse(self.path(name)).getroot().iter("testcase")]
                 for name in ("all.xml", "again.xml")]
        self.assertEqual(*cases)
        self.assertEqual(len(set(cases[0])), len(cases[0]))
        refused = self.batch("models/*.onnx", "--report", "all.html", "--", "--onnxrt")
        self.assertEqual(refused.code, 2)
        self.assertIn("--report: expected a file that ends in .xml", refused.err)

    def test_the_record_of_an_earlier_batch_is_not_taken_for_this_one(self):
        words = ["models/a.onnx", "--", "--onnxrt", "--onnxrt", "--save-record", "{stem}.json"]
        self.assertRegex(self.batch(*words).out, r"models/a.onnx +passed +1 of 1 ")
        ended = self.batch(*words, "--atol", "nan")
        self.assertEqual(ended.code, 2, ended.out)
        self.assertRegex(ended.out, r"models/a.onnx +usage error +- ")

    def test_a_page_lists_the_options_that_were_given(self):
        for words, saved in (([], False), (["--save-record", "r.json"], True)):
            ended = self.batch("models/a.onnx", "--", "--onnxrt", "--report", "p.html", *words)
            self.assertEqual(ended.code, 0, ended.out + ended.err)
            page = self.path("a-p.html").read_text()
            self.assertNotRegex(page, r'"/[^"]*/vernier-[^"/]*/0\.json"')
            self.assertEqual('"--save-record","a-r.json"' in page, saved)

    def test_saved_names_have_the_stem(self):
        ended = self.batch("models", "models/a.onnx", "--", "--identity")
        self.assertNotEqual(ended.code, 0)
        ended = self.batch("models/*.onnx", "--log-dir", "logs", "--", "--onnxrt", "--save-outputs",
                           "out.json", "--output-dir", "all")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        for name in "abc":
            self.assertTrue(self.path(f"all/{name}/record.json").is_file())
            self.assertIn("PASSED", self.path(f"logs/{name}.log").read_text())
        self.batch("models/*.onnx", "--", "--onnxrt", "--save-outputs", "{stem}/o.npz")
        self.assertTrue(self.path("b/o.npz").is_file())

    def test_models_of_one_stem_keep_their_own_goldens(self):
        for folder in ("x", "y"):
            self.path(folder).mkdir()
        self.save_model("x/model.onnx", op="Relu", shape=(2, 3))
        self.save_model("y/model.onnx", op="Neg", shape=(2, 3))
        saved = self.batch("*/model.onnx", "--", "--onnxrt", "--save-outputs", "g/{stem}.json")
        self.assertEqual(saved.code, 0, saved.out + saved.err)
        self.assertEqual(sorted(path.name for path in self.path("g").iterdir()),
                         ["x__model.json", "y__model.json"])
        again = ["--", "--onnxrt", "--load-outputs", "g/{stem}.json"]
        turned = self.batch("y/model.onnx", "x/model.onnx", *again)
        self.assertEqual(turned.code, 0, turned.out + turned.err)
        self.assertEqual(self.batch("y/model.onnx", *again).code, 3)

    def test_no_run_writes_what_another_reads_or_writes(self):
        self.save_model("models/a-n.onnx", op="Neg", shape=(2, 3))
        model = self.path("models/a-n.onnx").read_bytes()
        for flag in ("--save-onnx", "--log-file"):
            ended = self.batch("models/a.onnx", "models/a-n.onnx", "--", "--onnxrt", flag,
                               "models/n.onnx")
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn(f"{flag} of 'models/a.onnx' would overwrite 'models/a-n.onnx', which ",
                          ended.err)
            self.assertEqual(self.path("models/a-n.onnx").read_bytes(), model)
        ended = self.batch("models/a.onnx", "models/a-n.onnx", "--", "--onnxrt", "--save-outputs",
                           "o.json", "--save-record", "n-o.json")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertIn("would both write 'a-n-o.json'", ended.err)
        ended = self.batch("models/a.onnx", "--log-dir", "logs", "--", "--onnxrt", "--log-file",
                           "logs/{stem}.log")
        self.assertEqual(ended.code, 2, ended.out + ended.err)
        self.assertFalse(self.path("logs").exists())
        self.assertFalse(list(self.folder.glob("*.json")))

    def test_refused_before_anything_runs(self):
        for words, text in ((["models/*.pb", "--", "--onnxrt"], "no file matches 'models/*.pb'"),
                            (["models/*.onnx"], "put the options for each model after --"),
                            (["models/*.onnx", "--", "--onnxrt", "--nosuch"], "'--nosuch' is not"),
                            (["models/*.onnx", "--", "--ort"], "did you mean --onnxrt?"),
                            (["models/*.onnx", "--", "x.onnx", "--onnxrt"], "named before --"),
                            (["models/*.onnx", "--jobs", "-1", "--", "--onnxrt"], "--jobs"),
                            (["models/*.onnx", "--", "--onnxrt", "--save-blame", "b.json"],
                             "--save-blame has no effect without --blame")):
            ended = self.batch(*words)
            self.assertIn(ended.code, (2, 3), words)
            self.assertIn(text, ended.err)
            self.assertEqual(ended.out, "", words)

    def test_its_own_files_are_none_of_its_runs(self):
        self.path("in.xml").write_text("inputs")
        for own, of_run in ((["--log-file", "a-run.log"], ["--log-file", "run.log"]),
                            (["--report", "a-all.xml"], ["--report", "all.xml"]),
                            (["--report", "in.xml"], ["--load-inputs", "in.xml"])):
            ended = self.batch("models/*.onnx", *own, "--", "--onnxrt", *of_run)
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertRegex(ended.err, f"{own[0]}.*'{own[1]}'")
        ended = self.batch("models/a.onnx", "--log-file", "run.log", "--", "--onnxrt",
                           "--log-file", "run.log")
        self.assertEqual(ended.code, 0, ended.out + ended.err)

    def test_options_of_run_go_behind_the_dashes(self):
        for words in (["--onnxrt"], ["--rtol", "1", "--", "--onnxrt"]):
            ended = self.batch("models/a.onnx", *words)
            self.assertEqual(ended.code, 2)
            self.assertRegex(ended.out, r"--\w+ is an option of run: put it after --")

    def test_a_folder_of_models_is_not_searched(self):
        ended = self.batch("models", "--", "--onnxrt")
        self.assertEqual(ended.code, 3)
        self.assertIn("'models' is a folder, and folders are not searched", ended.err)
        self.assertIn("give 'models/*.onnx'", ended.err)

    def test_interrupted(self):
        script = self.path("slow.py")
        script.write_text("import time\ndef load(path):\n    open('begun', 'w').close()\n"
                          "    time.sleep(60)\n")
        process = subprocess.Popen([VERNIER, "batch", "models/*.onnx", "--", "--model-runner",
                                    "slow.py", "--python", sys.executable],
                                   cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        end = time.monotonic() + 60
        while not self.path("begun").exists():
            self.assertLess(time.monotonic(), end, "no run began")
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, out)
        self.assertIn("not run", out)
        here = str(self.folder)
        left = [p for p in pathlib.Path("/proc").glob("[0-9]*/cwd")
                if _link(p) == here]
        self.assertEqual(left, [])

    def test_killed_and_resumed(self):
        """A killed batch leaves no runs behind, and what they had saved is gone on with."""
        words = ["batch", "models/a.onnx", "models/b.onnx", "--jobs", "2", "--", "--identity",
                 "--identity", "--iterations", "3000", "--save-outputs", "out.npz"]
        process = subprocess.Popen([VERNIER, *words], cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        journals = [self.path(f"{stem}-out.npz.partial/journal.jsonl") for stem in "ab"]
        self.wait_for(lambda: all(j.exists() and j.stat().st_size > 0 for j in journals))
        process.kill()
        process.wait()
        here = str(self.folder)
        self.wait_for(lambda: here not in map(_link, pathlib.Path("/proc").glob("[0-9]*/cwd")))
        ended = self.vernier(*words, "--resume")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        for stem in "ab":
            shown = self.vernier("data", "show", f"{stem}-out.npz")
            self.assertIn("3000", shown.out)

    def wait_for(self, condition):
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)


def _link(path):
    try:
        return str(path.readlink())
    except OSError:
        return ""


if __name__ == "__main__":
    unittest.main()
