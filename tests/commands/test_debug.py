"""vernier debug reduce and repeat: the planted node is found, and a session is taken up again."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from program import VERNIER, Case
from surgeon_models import model, node, value, weight

# Fails where the model holds all of these operators.
CHECK = """
import sys, onnx
wanted = set(sys.argv[2:])
made = onnx.load(sys.argv[1])
onnx.checker.check_model(made)
open("calls.txt", "a").write("x")
print("operators:", *[n.op_type for n in made.graph.node])
sys.exit(3 if wanted <= {n.op_type for n in made.graph.node} else 0)
"""


def long_model(faults, length=40):
    """A chain of nodes with a side branch; some are replaced by faults."""
    nodes, last = [], "x"
    for i in range(length):
        op = faults.get(i, ("Relu", "Tanh", "Sigmoid")[i % 3])
        nodes.append(node(op, [last], [f"t{i}"], name=f"n{i}"))
        last = f"t{i}"
        if i == length // 2:
            nodes.append(node("Softsign", ["t3"], ["side"], name="side"))
            nodes.append(node("Add", [last, "side"], ["joined"], name="join"))
            last = "joined"
    return model(nodes, [value("x", (2, 8))], [value(last, (2, 8))])


class Debug(Case):
    def setUp(self):
        super().setUp()
        self.path("check.py").write_text(CHECK)

    def check(self, *operators, model="polygraphy_debug.onnx"):
        return ["--check", sys.executable, "check.py", model, *operators]

    def reduce(self, made, *words, code=0):
        onnx.save(made, str(self.path("m.onnx")))
        ended = self.vernier("debug", "reduce", "m.onnx", "-o", "bad.onnx", *words)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended

    def names(self, path="bad.onnx"):
        return [n.name for n in onnx.load(str(self.path(path))).graph.node]

    def calls(self):
        return len(self.path("calls.txt").read_text())

    def test_one_node_is_found(self):
        ended = self.reduce(long_model({23: "Neg"}), "--min-good", "good.onnx", *self.check("Neg"))
        self.assertEqual(self.names(), ["n23"])
        onnx.checker.check_model(onnx.load(str(self.path("bad.onnx"))), full_check=True)
        self.assertNotIn("n23", self.names("good.onnx"))
        # One for the whole, and one for each time that the part is halved.
        self.assertLessEqual(self.calls(), 9)
        self.assertIn("RUNNING | Iteration 1", ended.out)
        self.assertRegex(ended.out, r"Finished \d+ iteration\(s\) \| Passed: \d+/\d+ \| Pass Rate")
        self.assertIn("1 of 42 nodes still fails: Neg 'n23'", ended.out)
        self.assertFalse(self.path("polygraphy_debug.onnx").exists())

    def test_options_of_inputs_are_told(self):
        ended = self.reduce(long_model({7: "Neg"}, 9), "--val-range", "[0,2]", "--seed", "3",
                            *self.check("Neg"))
        self.assertIn("--val-range has no effect: shapes follow", ended.out)
        self.assertIn("--seed has no effect: shapes follow", ended.out)

    def test_nodes_that_fail_together(self):
        for mode in ("bisect", "linear"):
            self.reduce(long_model({2: "Neg", 7: "Abs"}, 9), "--mode", mode,
                        *self.check("Neg", "Abs"))
            self.assertEqual(self.names(), ["n2", "n7"])

    def test_inputs_or_outputs_stay(self):
        made = long_model({7: "Neg"}, 12)
        self.reduce(made, "--no-reduce-inputs", *self.check("Neg"))
        self.assertEqual([i.name for i in onnx.load(str(self.path("bad.onnx"))).graph.input], ["x"])
        self.assertEqual(self.names()[-1], "n7")
        self.reduce(made, "--no-reduce-outputs", *self.check("Neg"))
        self.assertEqual((self.names()[0], self.names()[-1]), ("n7", "n11"))

    def test_a_session_is_taken_up(self):
        made = long_model({7: "Neg"}, 12)
        self.reduce(made, "--save-debug-replay", "r.json", *self.check("Neg"))
        whole = self.calls()
        replay = json.loads(self.path("r.json").read_text())
        self.assertEqual(len(replay), whole)
        kept = dict(list(replay.items())[:4])
        self.path("r.json").write_text(json.dumps(kept))
        self.path("calls.txt").unlink()
        ended = self.reduce(made, "--load-debug-replay", "r.json", *self.check("Neg"))
        self.assertEqual(self.calls(), whole - 4)
        self.assertEqual(self.names(), ["n7"])
        self.assertEqual(ended.out.count("Loading iteration information from debug replay"), 4)
        self.assertTrue(self.path("polygraphy_debug_replay_skip_current.json").exists())

    def test_what_is_known_of_another_model_is_not_believed(self):
        self.reduce(long_model({7: "Neg"}, 12), "--save-debug-replay", "r.json", *self.check("Neg"))
        ended = self.reduce(long_model({}, 12), "--load-debug-replay", "r.json", *self.check("Neg"),
                            code=1)
        self.assertIn("the check passes for the whole model", ended.err)

    def test_the_same_nodes_with_other_weights_are_another_model(self):
        def scaled(by):
            return model([node("Mul", ["x", "w"], ["y"], name="scale")], [value("x", (2,))],
                         [value("y", (2,))], [numpy_helper.from_array(np.float32([by]), "w")])

        grows = "import onnx, sys; from onnx import numpy_helper as n; " \
                "sys.exit(int(n.to_array(onnx.load(sys.argv[1]).graph.initializer[0])[0] > 1))"
        check = ["--check", sys.executable, "-c", grows, "polygraphy_debug.onnx"]
        self.reduce(scaled(2), "--save-debug-replay", "r.json", *check)
        ended = self.reduce(scaled(1), "--load-debug-replay", "r.json", *check, code=1)
        self.assertIn("the check passes for the whole model", ended.err)

    def test_verdicts(self):
        made = long_model({3: "Neg"}, 6)
        ended = self.reduce(made, "--fail-regex", "operators: .*Abs", *self.check("Neg"), code=1)
        self.assertIn("the check passes for the whole model", ended.err)
        self.reduce(made, "--fail-regex", "operators: .*Neg", *self.check("Abs"))
        self.assertEqual(self.names(), ["n3"])
        self.reduce(made, "--ignore-fail-code", "3", *self.check("Neg"), code=1)
        self.reduce(made, "--fail-code", "4", *self.check("Neg"), code=1)
        self.reduce(made, "--fail-code", "3", *self.check("Neg"))

    def test_checks_at_the_same_time(self):
        ended = self.reduce(long_model({23: "Neg"}), "--jobs", "3", *self.check("Neg"))
        self.assertEqual(self.names(), ["n23"])
        self.assertIn("check.py polygraphy_debug.3.onnx Neg", ended.out)
        self.assertEqual(list(self.folder.glob("polygraphy_debug*.onnx")), [])
        ended = self.reduce(long_model({}), "--jobs", "2", "--check", "true", code=2)
        self.assertIn("--jobs: the check does not name 'polygraphy_debug.onnx'", ended.err)

    def test_our_own_comparison(self):
        # No runtime knows the operator.
        made = long_model({9: "Unheard"}, 14)
        ended = self.reduce(made, "--", "--onnxrt", "--timeout", "60")
        self.assertEqual(self.names(), ["n9"])
        self.assertIn("Running check command: vernier run polygraphy_debug.onnx --onnxrt", ended.out)
        ended = self.reduce(long_model({}, 14), "--", "--onnxrt", code=1)
        self.assertIn("the check passes for the whole model", ended.err)

    def test_a_signal_ends_the_check_too(self):
        onnx.save(long_model({}, 12), str(self.path("m.onnx")))
        self.path("slow.sh").write_text("#!/bin/sh\necho x > started\nsleep 60 & wait\n")
        self.path("slow.sh").chmod(0o755)
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            self.path("started").unlink(missing_ok=True)
            with subprocess.Popen([VERNIER, "debug", "reduce", "m.onnx", "-o", "bad.onnx", "--check",
                                   "./slow.sh", "polygraphy_debug.onnx"], cwd=self.folder,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True) as search:
                while not self.path("started").exists() and search.poll() is None:
                    time.sleep(0.01)
                search.send_signal(number)
                self.assertIn("interrupted", search.communicate(timeout=40)[1])
                self.assertEqual(search.returncode, code)
            self.assertFalse(self.path("polygraphy_debug.onnx").exists())

    def test_rules_hold_for_our_own_comparison_too(self):
        made = long_model({9: "Unheard"}, 14)
        for words in (["--fail-regex", "Unheard"], ["--fail-code", "3"]):
            self.reduce(made, *words, "--", "--onnxrt")
            self.assertEqual(self.names(), ["n9"])
        for words in (["--fail-regex", "nothing of the kind"], ["--ignore-fail-code", "3"]):
            ended = self.reduce(made, *words, "--", "--onnxrt", code=1)
            self.assertIn("the check passes for the whole model", ended.err)

    def test_frameworks_stay_loaded_between_checks(self):
        self.path("model.py").write_text("""
import os
import numpy as np
import onnx

def load(model_path):
    with open("loads.txt", "a", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\\n")
    graph = onnx.load(model_path).graph
    assert all(node.op_type != "Neg" for node in graph.node)
    return lambda feed: {output.name: feed[graph.input[0].name] for output in graph.output}
""")
        self.reduce(long_model({9: "Neg"}, 14), "--save-debug-replay", "r.json", "--",
                    "--model-runner", "model.py", "--python", sys.executable)
        self.assertEqual(self.names(), ["n9"])
        loads = self.path("loads.txt").read_text().split()
        self.assertEqual(len(loads), len(json.loads(self.path("r.json").read_text())))
        self.assertGreater(len(loads), 3)
        self.assertEqual(len(set(loads)), 1)

    def test_a_check_that_reports_is_a_process_of_its_own(self):
        made = long_model({9: "Unheard"}, 14)
        self.reduce(made, "--", "--onnxrt", "--save-record", "record.json")
        self.assertEqual(self.names(), ["n9"])
        self.assertTrue(self.path("record.json").exists())
        ended = self.reduce(made, "--", "--no-such-option", code=2)
        self.assertIn("no-such-option", ended.err)

    def test_a_check_that_cannot_judge_names_no_node(self):
        made = long_model({}, 6)
        onnx.save(made, str(self.path("m.onnx")))
        self.save_feeds("in.json", [{"x": np.ones((2, 8), np.float32)}])
        self.save_runs("gold.json", [("gold", [{made.graph.output[0].name:
                                                np.full((2, 8), 9, np.float32)}])])
        for words, code, said in (
                (("--load-outputs", "nosuch.json"), 3, "nosuch.json"),
                (("--load-inputs", "nosuch.json"), 3, "nosuch.json"),
                (("--load-inputs", "in.json", "--load-outputs", "gold.json"), 2, "")):
            ended = self.reduce(made, "--no-reduce-inputs", "--", "--onnxrt", *words, code=code)
            self.assertIn(said, ended.err)
            self.assertNotIn("still fail", ended.out)
        self.assertIn("--onnx-outputs mark all", ended.err)
        self.assertEqual(self.vernier("debug", "precision", "m.onnx", "-o", "p.onnx", "--",
                                      "--onnxrt", "--load-outputs", "nosuch.json").code, 3)

    def test_the_model_is_not_saved_over(self):
        for words in (["-o", "bad.onnx", "--min-good", "bad.onnx", *self.check("Ceil")],
                      ["-o", "bad.onnx", "--", "--onnxrt", "--save-outputs", "m.onnx"]):
            onnx.save(long_model({5: "Ceil"}), str(self.path("m.onnx")))
            before = self.path("m.onnx").read_bytes()
            ended = self.vernier("debug", "reduce", "m.onnx", *words)
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn("another file" if "--" in words else "name two files", ended.err)
            self.assertEqual(self.path("m.onnx").read_bytes(), before)

    def test_a_model_is_not_replaced_by_what_is_left_of_it(self):
        onnx.save(long_model({5: "Ceil"}), str(self.path("m.onnx")))
        self.path("link.onnx").symlink_to("m.onnx")
        before = self.path("m.onnx").read_bytes()
        for command in ("reduce", "precision"):
            for output in ("m.onnx", "./m.onnx", "link.onnx"):
                ended = self.vernier("debug", command, "m.onnx", "-o", output, *self.check("Ceil"))
                self.assertEqual(ended.code, 2, ended.out + ended.err)
                self.assertIn(f"'{output}' is read by this command", ended.err)
                self.assertIn("name another file", ended.err)
                self.assertEqual(self.path("m.onnx").read_bytes(), before)
                self.assertFalse(self.path("calls.txt").exists(), "nothing is tried before")

    def test_the_peer_replaces_it(self):
        onnx.save(long_model({5: "Ceil"}), str(self.path("m.onnx")))
        ended = self.lenient("debug", "reduce", "m.onnx", "-o", "m.onnx", *self.check("Ceil"))
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertEqual(self.names("m.onnx"), ["n5"])

    def test_build_needs_tensorrt(self):
        onnx.save(long_model({}, 3), str(self.path("m.onnx")))
        ended = self.vernier("debug", "build", "m.onnx", "--until", "2", "--check", "true")
        self.assertEqual(ended.code, 5, ended.out + ended.err)
        self.assertIn("tensorrt", ended.err.lower())
        ended = self.vernier("debug", "build", "m.onnx", "--until", "soon", "--check", "true")
        self.assertEqual(ended.code, 2)
        self.assertIn("got 'soon'", ended.err)
        self.path("m.engine").write_bytes(b"engine")
        ended = self.vernier("debug", "build", "m.engine", "--until", "1", "--check", "true")
        self.assertEqual(ended.code, 2)
        self.assertIn("is an engine, which is not built again", ended.err)

    def test_bodies_keep_what_they_capture(self):
        bodies = {which: helper.make_graph([node(op, ["b"], [which])], which, [],
                                           [value(which, (2, 8))])
                  for which, op in (("then_branch", "Neg"), ("else_branch", "Abs"))}
        made = model([node("Relu", ["x"], ["a"], name="n0"), node("MatMul", ["a", "w"], ["b"], name="n1"),
                      node("If", ["c"], ["d"], name="n2", **bodies), node("Tanh", ["d"], ["y"], name="n3")],
                     [value("x", (2, 8)), value("c", (), TensorProto.BOOL)], [value("y", (2, 8))],
                     [weight("w")])
        self.reduce(made, *self.check("If"))
        graph = onnx.load(str(self.path("bad.onnx"))).graph
        self.assertEqual([n.name for n in graph.node], ["n2"])
        self.assertEqual({i.name for i in graph.input}, {"b", "c"})

    def test_who_sits_there_is_asked(self):
        """As the peer asks, with what it writes to standard output before each answer."""
        made = model([node("Relu", ["x"], ["a"], name="first"), node("Neg", ["a"], ["b"], name="bad"),
                      node("Tanh", ["b"], ["y"], name="last")],
                     [value("x", (2, 8))], [value("y", (2, 8))])
        onnx.save(made, str(self.path("m.onnx")))
        asking = subprocess.Popen([VERNIER, "debug", "reduce", "m.onnx", "-o", "bad.onnx"],
                                  cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        said = ""
        while asking.poll() is None:
            letter = asking.stdout.read(1)
            said += letter
            if said.endswith("or [f]ail? "):
                self.assertIn(">>> Did 'polygraphy_debug.onnx' [p]ass", said.splitlines()[-1])
                names = self.names("polygraphy_debug.onnx")
                asking.stdin.write("what\nF\n" if "bad" in names else "pass\n")
                asking.stdin.flush()
            if not letter:
                break
        self.assertEqual(asking.wait(timeout=60), 0, said + asking.stderr.read())
        for stream in (asking.stdin, asking.stdout, asking.stderr):
            stream.close()
        self.assertIn(">>> Please choose either: 'p' or 'f': ", said)
        self.assertEqual(self.names(), ["bad"])

    def test_under_the_peers_name_nothing_to_reduce_is_no_failure(self):
        onnx.save(long_model({}), str(self.path("m.onnx")))
        ended = self.lenient("debug", "reduce", "m.onnx", "-o", "bad.onnx", *self.check("Neg"))
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        self.assertIn("nothing to reduce", ended.out)
        self.assertEqual(len(self.names()), 42)

    def test_what_a_part_reads_itself_is_no_output(self):
        """Two ways from one tensor; one of them is gone."""
        made = model([node("Relu", ["x"], ["a"], name="stem"), node("Tanh", ["a"], ["b"], name="other"),
                      node("Neg", ["a"], ["c"], name="bad"), node("Add", ["b", "c"], ["y"], name="join")],
                     [value("x", (2, 8))], [value("y", (2, 8))])
        self.reduce(made, "--no-reduce-inputs", *self.check("Neg"))
        self.assertEqual(self.names(), ["stem", "bad"])
        graph = onnx.load(str(self.path("bad.onnx"))).graph
        self.assertEqual([output.name for output in graph.output], ["c"])

    def test_bad_input(self):
        made = long_model({})
        ended = self.reduce(made, code=2)
        self.assertIn("nothing can answer whether the iteration is good. Give --check, as the last "
                      "option, a command", ended.err)
        ended = self.reduce(made, "--check", "no-such-program", code=2)
        self.assertIn("'no-such-program' cannot be started", ended.err)
        ended = self.reduce(made, "--check", "cat", "polygraphy_debug.engine", code=2)
        self.assertIn("is 'polygraphy_debug.onnx', and the check reads 'polygraphy_debug.engine'",
                      ended.err)
        self.path("folder").mkdir()
        for place, code in (("folder", 7), ("/dev/full", 7), ("", 2)):
            ended = self.vernier("debug", "reduce", "m.onnx", "-o", place, *self.check("Neg"))
            self.assertEqual(ended.code, code, ended.out + ended.err)
        self.assertFalse(self.path("calls.txt").exists())  # told before anything was checked
        self.path("polygraphy_debug.onnx").write_text("mine")
        ended = self.reduce(made, *self.check("Neg"), code=2)
        self.assertIn("already exists, refusing to overwrite", ended.err)
        self.assertEqual(self.path("polygraphy_debug.onnx").read_text(), "mine")

    def test_repeat(self):
        script = ("import pathlib, sys\np = pathlib.Path('n.txt')\n"
                  "n = int(p.read_text()) if p.exists() else 0\np.write_text(str(n + 1))\n"
                  "pathlib.Path('made.txt').write_text(str(n))\nsys.exit(n == 2)")
        self.path("flaky.py").write_text(script)
        check = ["--check", sys.executable, "flaky.py"]
        ended = self.vernier("debug", "repeat", "--until", "bad", "--artifacts", "made.txt",
                             "--art-dir", "kept", *check)
        self.assertEqual(ended.code, 0, ended.err)
        self.assertIn("Finished 3 iteration(s) | Passed: 2/3", ended.out)
        good, bad = (sorted(self.path("kept").joinpath(w).iterdir()) for w in ("good", "bad"))
        self.assertEqual([p.read_text() for p in good], ["0", "1"])
        self.assertEqual([p.read_text() for p in bad], ["2"])
        self.path("n.txt").unlink()
        ended = self.vernier("debug", "repeat", "--until", "2", *check)
        self.assertIn("Finished 2 iteration(s)", ended.out)
        self.assertIn("`--artifacts` was not specified", ended.out)
        ended = self.vernier("debug", "repeat", "--until", "often", *check)
        self.assertEqual(ended.code, 2)
        self.assertIn("got 'often'", ended.err)
