"""Commands that need Python packages, where there are none: one sentence, and exit code 5."""

from program import Case

TOOLS = (
    ("template", "shard-hints", "m.onnx", "-o", "x.json"),
    ("multi-device", "shard", "m.onnx", "--one-shot", "-o", "x.onnx"),
    ("plugin", "list", "m.onnx", "--plugin-dir", "plugins"),
    ("plugin", "match", "m.onnx", "--plugin-dir", "plugins"),
    ("plugin", "replace", "m.onnx", "--plugin-dir", "plugins"),
)


class WithoutGraphSurgeon(Case):
    def setUp(self):
        super().setUp()
        self.hide_packages("onnx_graphsurgeon")

    def test_the_package_is_named(self):
        self.save_model("m.onnx")
        (self.path("plugins") / "one").mkdir(parents=True)
        (self.path("plugins") / "one" / "pattern.py").write_text("", encoding="utf-8")
        for words in TOOLS:
            ended = self.vernier(*words)
            self.assertEqual(ended.code, 5, (words, ended.out + ended.err))
            self.assertIn("Python package onnx-graphsurgeon", ended.err)
            self.assertIn("pip install onnx-graphsurgeon", ended.err)
            self.assertEqual(self.lenient(*words).code, 1)

    def test_what_is_missing_itself_is_told_first(self):
        self.save_model("m.onnx")
        for command in ("list", "match", "replace"):
            ended = self.vernier("plugin", command, "m.onnx", "--plugin-dir", "nowhere")
            self.assertEqual(ended.code, 3, ended.out + ended.err)
            self.assertIn("--plugin-dir: there is no folder", ended.err)
            ended = self.vernier("plugin", command, "no.onnx", "--plugin-dir", ".")
            self.assertEqual(ended.code, 3, ended.out + ended.err)
            self.assertIn("cannot open 'no.onnx'", ended.err)
