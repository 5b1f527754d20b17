"""A framework that takes long to open a model, as one that builds an engine does: whoever watches at a
terminal sees that something goes on, and for how long. Nobody else does.
"""

import os
import pty
import re
import subprocess
import unittest

from fault_run import FAKE_DIR, PATIENCE_S, VERNIER, FaultTest

WAITING = re.compile(r"\r\x1b\[K([-|/\\]) opening, (\d+) s\r")


class Waiting(FaultTest):
    def on_terminal(self, *arguments):
        """The exit code, and what a terminal got as standard error."""
        ours, theirs = pty.openpty()
        environment = dict(os.environ, VERNIER_FAKE="stage=open sleep=2600")
        with subprocess.Popen([VERNIER, "run", str(self.model), "--runner", "slow=fake",
                               "--backend-dir", FAKE_DIR, *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=theirs, env=environment) as process:
            os.close(theirs)
            text = b""
            while True:
                try:
                    piece = os.read(ours, 4096)
                except OSError:  # everybody has closed the other end
                    break
                if not piece:
                    break
                text += piece
            os.close(ours)
            return process.wait(PATIENCE_S), text.decode()

    def test_a_terminal_is_shown_how_long_it_takes(self):
        code, text = self.on_terminal()
        self.assertEqual(code, 0, text)
        shown = WAITING.findall(text)
        self.assertGreater(len({sign for sign, _ in shown}), 1, text)
        seconds = [int(second) for _, second in shown]
        self.assertEqual(seconds, sorted(seconds))
        self.assertGreaterEqual(seconds[0], 1)
        self.assertGreaterEqual(seconds[-1], 2)
        # It goes when the model is open.
        self.assertTrue(text.endswith("\r\x1b[K"), repr(text[-80:]))

    def test_not_where_nobody_wants_it(self):
        code, text = self.on_terminal("--no-progress")
        self.assertEqual((code, text), (0, ""))

    def test_not_in_a_file(self):
        ended = self.begin("--runner", "slow=fake", behaviour="stage=open sleep=1600").end()
        self.assertEqual(ended.code, 0, ended)
        self.assertNotIn("opening,", ended.err + ended.out)


if __name__ == "__main__":
    unittest.main()
