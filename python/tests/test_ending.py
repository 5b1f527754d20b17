"""The interpreter ends while threads are at work in the package: the program ends as it would have."""

import subprocess
import sys
import textwrap

import pytest

WORK = {
    "callables": """
        def slow(feed):
            time.sleep(0.001)
            return {"y": feed["x"]}

        def work():
            vernier.run(None, {"a": slow, "b": slow}, inputs=endless(), keep_outputs=False)
        """,
    "progress": """
        def work():
            vernier.run(None, {"a": lambda f: f, "b": lambda f: f}, inputs=endless(),
                        progress=lambda *_: None, keep_outputs=False)
        """,
    # Within the callback, which gives the interpreter up and does not get it back.
    "slow progress": """
        def work():
            vernier.run(None, {"a": lambda f: f, "b": lambda f: f}, inputs=endless(),
                        progress=lambda *_: time.sleep(0.05), keep_outputs=False)
        """,
    "busy progress": """
        def busy(*_):
            end = time.monotonic() + 0.05
            while time.monotonic() < end:
                pass

        def work():
            vernier.run(None, {"a": lambda f: f, "b": lambda f: f}, inputs=endless(),
                        progress=busy, keep_outputs=False)
        """,
    "slow log": """
        class Slow(logging.Handler):
            def emit(self, record):
                time.sleep(0.05)

        def work():
            logging.getLogger("vernier").addHandler(Slow())
            logging.getLogger("vernier").setLevel(1)
            vernier.run(None, {"a": lambda f: f, "b": lambda f: f}, inputs=endless(),
                        keep_outputs=False)
        """,
    "comparisons": """
        def work():
            a = {"y": np.ones(1_000_000, np.float32)}
            while True:
                started.set()
                vernier.compare(a, a, compare=["simple", "l2"])
        """,
}
SCRIPT = """
import logging, threading, time
import numpy as np
import vernier

started = threading.Event()

def endless():
    while True:
        started.set()
        yield {"x": np.ones(2, np.float32)}

WORK

threading.Thread(target=work, daemon=True).start()
assert started.wait(60)
time.sleep(DELAY)
print("main ends", flush=True)
"""


@pytest.mark.parametrize("name", WORK)
def test_program_ends_as_it_would_have(name):
    script = SCRIPT.replace("WORK", textwrap.dedent(WORK[name]))
    for delay in ("0.1", "0.2", "0.3"):  # the moment is nobody's choice
        done = subprocess.run([sys.executable, "-c", script.replace("DELAY", delay)], text=True,
                              capture_output=True, timeout=120)
        assert (done.returncode, done.stdout) == (0, "main ends\n"), done.stderr
