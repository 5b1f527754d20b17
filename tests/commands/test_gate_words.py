"""What reports say of gates: how many failed, numbers beside their limits, what was complete."""

import socket
import subprocess
import unittest
from xml.etree import ElementTree

import numpy as np

from decision_case import Decisions, flipped, scores
from program import VERNIER


class GateWords(Decisions):
    def test_every_gate_that_failed_is_counted(self):
        np.save(self.path("l.npy"), np.arange(20))
        self.compare([{"y": scores(20)}], [{"y": flipped(scores(20), *range(9))}],
                     "--decision", "top1", "--max-flip-rate", "0", "--labels", "l.npy",
                     "--max-drop", "0.1", "--report", "r.xml", code=1)
        root = ElementTree.parse(self.path("r.xml")).getroot()
        self.assertEqual(list(root.find(".//testcase[@name='completeness']")), [])
        self.assertIn("Decisions differ: --max-flip-rate 0: top1 of 'y' differs in 45 % (0 % "
                      "allowed), failed; 1 other gate failed, too.",
                      root.find(".//testcase[@name='verdict']/failure").get("message"))

    def test_one_output_of_several_pairs(self):
        rows = scores(20)
        for name, by in (("a", 0), ("b", 1), ("c", 2)):
            self.save_runs(f"{name}.json", [(name, [{"y": rows + np.float32(by)}])])
        self.ended = self.vernier("compare", "a.json", "b.json", "c.json", "--report", "r.md")
        self.assertEqual(self.ended.code, 1, self.ended.out + self.ended.err)
        self.assertIn("No output matches in any of the 2 pairs.", self.path("r.md").read_text())

    def test_a_rate_is_told_from_its_limit(self):
        rows = scores(50)
        self.compare([{"y": rows}], [{"y": flipped(rows, 3)}], "--decision", "top1",
                     "--max-flip-rate", "0.0199999999", code=1)
        self.says("differs in 2 % (1.99999999 % allowed), failed",
                  "more than 10^9 samples would decide")

    def test_what_is_no_file_of_rows(self):
        for name, why in (("r.jsonl.partial", "is what a run that was ended left of its rows: "
                           "finish it with --resume"), ("m.json", "holds metrics"),
                          ("/dev/null", "is not a file of rows")):
            ended = self.vernier("check", "accuracy", name, "--max-flip-rate", "0.1")
            self.assertEqual(ended.code, 2, ended.out + ended.err)
            self.assertIn(why, ended.out + ended.err)

    def test_each_line_is_written_at_once(self):
        """What a framework writes to the same place comes between lines, never into one."""
        self.save_runs("a.json", [("a", [{f"y{i}": np.full(3, i, "f4") for i in range(60)}])])
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, subprocess.Popen([VERNIER, "compare", "a.json", "a.json", "-v"],
                                    cwd=self.folder, stdout=theirs, stderr=theirs) as process:
            theirs.close()
            written = list(iter(lambda: ours.recv(1 << 20), b""))
            self.assertEqual(process.wait(60), 0)
        self.assertGreater(sum(map(len, written)), 1 << 14)
        self.assertEqual([text for text in written if not text.endswith(b"\n")], [])


if __name__ == "__main__":
    unittest.main()
