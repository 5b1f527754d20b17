"""Runs vernier check lint on models that tests make, and reads its report."""

import json

from program import Case


class LintCase(Case):
    def lint(self, made, *words):
        raw = made if isinstance(made, bytes) else made.SerializeToString()
        self.path("m.onnx").write_bytes(raw)
        report = self.path("report.json")
        report.unlink(missing_ok=True)
        ended = self.vernier("check", "lint", "m.onnx", "-o", "report.json", *words)
        said = json.loads(report.read_text()) if report.exists() else None
        return ended, said

    def rules(self, said, level=None):
        return {entry["rule"] for entry in said["lint_entries"]
                if level is None or entry["level"] == level}
