"""What frameworks write past Python while they are imported."""

import contextlib
import os
import sys
import tempfile

# Notes of TensorFlow on the processor, which no setting keeps back.
NOTES = (b"I0000 ", b"WARNING: All log messages before absl::InitializeLog()",
         b"To enable the following instructions: ")


@contextlib.contextmanager
def without_notes():
    """Passes the lines that go to standard error on when the block ends, but for those notes."""
    sys.stderr.flush()
    before = os.dup(2)
    with tempfile.TemporaryFile() as kept:
        os.dup2(kept.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(before, 2)
            os.close(before)
            kept.seek(0)
            for line in kept:
                if not line.startswith(NOTES):
                    os.write(2, line)
