"""vernier template against the scripts that the peer writes, and in the peer's library."""

import os
import pathlib
import subprocess
import sys

import onnx

from program import Case

NETWORK = (
    (),
    ("m.onnx",),
    ("m.onnx", "--trt-outputs", "a", "b", "--plugins", "x.so", "--onnx-flags",
     "native_instancenorm"),
    ("m.onnx", "--trt-outputs", "*", "--trt-exclude-outputs", "q", "--trt-outputs-by-type", "Relu",
     "--layer-precisions", "a:float16", "b:int8", "--tensor-dtypes", "x:float32",
     "--tensor-formats", "x:[linear,chw4]", "--trt-network-postprocess-script", "p.py:fn", "p.py", "--strongly-typed",
     "--mark-debug", "z", "y", "--plugin-instancenorm", "--mark-unfused-tensors-as-debug-tensors"),
    ("m.onnx", "--decomposable-attentions", "--tensor-dtypes", "x:bfloat16"),
    ("m.onnx", "--fp-to-fp16", "--plugins", "y.so"),
    ("m.onnx", "--external-data-dir", "."),
    ("m.onnx", "--ignore-external-data", "--onnx-outputs", "y"),
    ("p.py:fn", "--trt-outputs", "a"),
)
CONFIG = (
    (),
    ("m.onnx",),
    ("--tf32", "--fp16", "--bf16", "--fp8", "--precision-constraints", "obey", "--sparse-weights",
     "--version-compatible", "--exclude-lean-runtime", "--load-timing-cache", "t.cache",
     "--tactic-sources", "cublas", "cudnn", "--pool-limit", "workspace:1G", "dla_local_dram:2M",
     "--preview-features", "PROFILE_SHARING_0806", "--builder-optimization-level", "3",
     "--hardware-compatibility-level", "ampere_plus", "--max-aux-streams", "2",
     "--quantization-flags", "calibrate_before_fusion", "--profiling-verbosity", "detailed",
     "--weight-streaming", "--direct-io", "--refittable", "--strip-plan", "--trt-safety-restricted",
     "--error-on-timing-cache-miss", "--disable-compilation-cache", "--runtime-platform",
     "same_as_build", "--tiling-optimization-level", "fast", "--save-tactics", "s.json",
     "--trt-config-postprocess-script", "p.py"),
    ("--int8", "--calibration-cache", "c.cache", "--calib-base-cls", "IInt8MinMaxCalibrator",
     "--quantile", "0.5", "--regression-cutoff", "0.3", "--use-dla", "--allow-gpu-fallback",
     "--seed", "3", "--iterations", "4", "--val-range", "[0,2]", "--load-tactics", "l.json"),
    ("--int8",),
    ("--trt-config-script", "p.py:cfg"),
    ("m.onnx", "--input-shapes", "x:[2,3]", "--trt-min-shapes", "x:[1,3]"),
    ("--trt-min-shapes", "x:[1,3]", "w:[1]", "--trt-opt-shapes", "x:[2,3]", "w:[2]",
     "--trt-max-shapes", "x:[4,3]", "w:[3]", "--trt-min-shapes", "x:[5,3]", "w:[5]",
     "--trt-opt-shapes", "x:[6,3]", "w:[6]", "--trt-max-shapes", "x:[7,3]", "w:[7]", "--fp16"),
)


class Template(Case):
    def setUp(self):
        super().setUp()
        self.save_model("m.onnx", shape=(2, 3))
        for name in ("p.py", "x.so", "t.cache", "l.json"):
            self.path(name).write_text("", encoding="utf-8")

    def script(self, ended, name):
        """Without the lines about who wrote it and what for, and with sorted imports."""
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        lines = self.path(name).read_text(encoding="utf-8").splitlines()
        self.assertEqual(lines[0], "#!/usr/bin/env python3")
        if "try:" in lines:  # where Polygraphy is not installed
            del lines[lines.index("try:"):lines.index("from polygraphy import mod")]
        lines = [line for line in lines[1:] if not line.startswith("#") or line[2:7] == "Load"]
        return [line for line in lines if line.strip()]

    def check(self, which, words):
        theirs = self.peer("template", which, *words, "-o", "theirs.py")
        ours = self.vernier("template", which, *words, "-o", "ours.py")
        self.assertEqual(self.script(ours, "ours.py"), self.script(theirs, "theirs.py"))

    def test_networks(self):
        for words in NETWORK:
            with self.subTest(words=words):
                self.check("trt-network", words)

    def test_configurations(self):
        for words in CONFIG:
            with self.subTest(words=words):
                self.check("trt-config", words)

    def test_graphs(self):
        for words in (("m.onnx",), ("m.onnx", "--shape-inference"),
                      ("m.onnx", "--onnx-outputs", "y", "--fp-to-fp16")):
            with self.subTest(words=words):
                self.check("onnx-gs", words)

    def test_what_is_written_is_python(self):
        for which in ("trt-network", "trt-config", "onnx-gs"):
            self.vernier("template", which, "m.onnx", "-o", "made.py")
            compile(self.path("made.py").read_text(encoding="utf-8"), "made.py", "exec")

    def test_graphs_need_no_polygraphy(self):
        """A Python with the onnx package, and with something in the place of onnx_graphsurgeon."""
        packages = self.path("packages")
        packages.mkdir()
        installed = pathlib.Path(onnx.__file__).parents[1]
        for name in ("onnx", "numpy", "numpy.libs", "ml_dtypes", "google", "typing_extensions.py"):
            if (installed / name).exists():
                (packages / name).symlink_to(installed / name)
        (packages / "onnx_graphsurgeon.py").write_text(
            "def import_onnx(model):\n    return model\nexport_onnx = import_onnx\n")
        for words in ((), ("--shape-inference",), ("--onnx-outputs", "y", "--fp-to-fp16")):
            ended = self.vernier("template", "onnx-gs", "m.onnx", *words, "-o", "made.py")
            self.assertEqual(ended.code, 0, ended.err)
            python = pathlib.Path(sys.executable).resolve()
            done = subprocess.run([python, "-S", "made.py"], cwd=self.folder, capture_output=True,
                                  text=True, env={**os.environ, "PYTHONPATH": str(packages)})
            self.assertEqual(done.returncode, 0, done.stderr)
            graph = onnx.load(str(self.path("m_updated.onnx"))).graph
            self.assertEqual(graph.output[0].name, "y")
            if "--fp-to-fp16" in words:
                self.assertIn("Cast", [node.op_type for node in graph.node])

    def test_a_timing_cache_is_loaded_by_either_name(self):
        for flag in ("--load-timing-cache", "--timing-cache"):
            ended = self.vernier("template", "trt-config", flag, "t.cache", "-o", "made.py")
            self.assertEqual(ended.code, 0, ended.err)
            self.assertIn("load_timing_cache='t.cache'", self.path("made.py").read_text("utf-8"))

    def test_the_peers_library_takes_the_functions(self):
        """Without TensorRT as far as their signatures: func.extend checks nothing more."""
        self.vernier("template", "trt-config", "--fp16", "-o", "made.py")
        done = subprocess.run([sys.executable, "-c", "import made; print(made.load_config)"],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("function", done.stdout)

    def test_what_cannot_be_written_is_refused(self):
        self.assertEqual(self.vernier("template", "trt-network", "m.onnx").code, 2)
        self.assertEqual(self.vernier("template", "onnx-gs", "-o", "x.py").code, 2)
        before = self.path("m.onnx").read_bytes()
        for which in ("onnx-gs", "trt-network", "shard-hints"):
            ended = self.vernier("template", which, "m.onnx", "-o", "./m.onnx")
            self.assertEqual(ended.code, 2, which)
            self.assertIn("is read by this command", ended.err)
        self.assertEqual(self.path("m.onnx").read_bytes(), before)
        self.assertEqual(self.vernier("template", "trt-config", "-o", "m.onnx/x.py").code, 7)
        ended = self.vernier("template", "trt-network", "m.onnx", "--layer-precisions", "a", "-o",
                             "x.py")
        self.assertEqual(ended.code, 2)
        self.assertFalse(self.path("x.py").exists())

    def test_tensorflow_has_to_become_onnx_first(self):
        self.path("folder").mkdir()
        ended = self.vernier("template", "trt-network", "folder", "--ckpt", "model", "-o", "n.py")
        self.assertEqual(ended.code, 2, ended.out)
        self.assertIn("`vernier convert --ckpt` makes an ONNX model of it", ended.err)
        self.assertFalse(self.path("n.py").exists())
        ended = self.vernier("template", "trt-network", "m.onnx", "-o", "n.py", "--freeze-graph",
                             "--tf-outputs", "y", "--opset", "11")
        self.assertEqual(ended.code, 0, ended.out + ended.err)
        for flag in ("--freeze-graph", "--tf-outputs", "--opset"):
            self.assertIn(flag + " has no effect: this is not a TensorFlow model", ended.out)
