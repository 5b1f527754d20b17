"""--model-runner with a program of any language: one JSON feed in, one JSON result out.

The feed goes to its standard input, or to a file where its arguments say {input}; the result comes
from its standard output, or from a file where they say {output}; {model} is the model's path.
"""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import numpy as np

from vernier_worker import wire
from vernier_worker.json_tensors import decode, encode

LAST_LINES = 20  # of what a program that failed wrote to standard error
CHUNK = 1 << 16
# The most that a program may write, in bytes: an answer, a quarter of the memory; what cannot
# become one, or goes to standard error, of which the end is kept.
MOST_ANSWER = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4
MOST_OTHER = 1 << 20
PR_SET_PDEATHSIG = 1


def _die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _how_it_ended(code):
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _beginning(answer):
    return bytes(answer[:60]).decode(errors="replace")


def _most_of(answer):
    """How long a text that begins so may become, in bytes."""
    return MOST_ANSWER if bytes(answer[:CHUNK]).lstrip()[:1] in (b"{", b"[") else MOST_OTHER


class Program:
    """Started once for each feed."""

    def __init__(self, words, types):
        self.words = words
        self.types = types  # of outputs by name, as far as they are known
        script = len(words) > 1 and words[0] == sys.executable
        self.name = os.path.basename(words[1] if script else words[0])
        self.device = "of its own"

    def infer(self, feed):
        text = json.dumps({name: encode(array) for name, array in feed.items()})
        with tempfile.TemporaryDirectory(prefix="vernier-program-") as folder:
            places = {"input": os.path.join(folder, "input.json"),
                      "output": os.path.join(folder, "output.json")}
            by_file = {key: any("{%s}" % key in word for word in self.words) for key in places}
            if by_file["input"]:
                with open(places["input"], "w", encoding="utf-8") as file:
                    file.write(text)
            answer = self._run(places, "" if by_file["input"] else text)
            if by_file["output"]:
                answer = self._read(places["output"])
        return self._result(answer)

    def _run(self, places, text):
        words = self.words
        for key, path in places.items():
            words = [word.replace("{%s}" % key, path) for word in words]
        try:
            process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, preexec_fn=_die_with_parent)
        except OSError as error:
            raise wire.Failure(wire.BACKEND, f"the program '{words[0]}' cannot be started: "
                               f"{error.strerror} (a script needs its #! line)") from None
        answer, said = self._converse(process, text.encode())
        lines = said.decode(errors="replace").strip().splitlines()
        if process.returncode != 0:
            raise wire.Failure(wire.BACKEND, "\n".join(
                [f"the program '{self.name}' {_how_it_ended(process.returncode)}"
                 + (f": {lines[-1]}" if lines else "")] + lines[-LAST_LINES:]))
        for line in lines:
            print(line)
        return answer.decode(errors="replace")

    def _converse(self, process, text):
        """What it writes to its standard output, and to its standard error, until it ends."""
        said = bytearray()

        def feed():
            with contextlib.suppress(BrokenPipeError), process.stdin:
                process.stdin.write(text)

        def listen():
            for chunk in iter(lambda: process.stderr.read1(CHUNK), b""):
                said.extend(chunk)
                del said[:-MOST_OTHER]

        threads = [threading.Thread(target=work, daemon=True) for work in (feed, listen)]
        for thread in threads:
            thread.start()
        answer = bytearray()
        for chunk in iter(lambda: process.stdout.read1(CHUNK), b""):
            answer += chunk
            if len(answer) > _most_of(answer):
                process.kill()
                process.wait()
                raise wire.Failure(wire.BACKEND, f"the program '{self.name}' was stopped after "
                                   f"{len(answer)} bytes without a JSON result; they begin "
                                   f"{_beginning(answer)!r}")
        process.wait()
        for thread in threads:
            thread.join()
        return answer, said

    def _read(self, path):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            raise wire.Failure(wire.BACKEND, f"the program '{self.name}' ended without writing "
                               "its result to {output}") from None

    def _result(self, text):
        try:
            result = json.loads(text)
        except ValueError as error:
            hint = ""
            if self.name.endswith(".py"):
                hint = " (a script that is to be called defines load or infer)"
            raise wire.Failure(
                wire.BACKEND, f"the program '{self.name}' answered with text that is not JSON: {error}; it "
                f"begins {text[:60]!r}. Expected one object of names and arrays{hint}") from None
        if isinstance(result, list):
            return [self._array(None, value) for value in result]
        if not isinstance(result, dict):
            raise wire.Failure(wire.BACKEND, f"the program '{self.name}' answered with "
                               f"{wire.a(type(result))}; expected an object of names and arrays")
        return {name: self._array(name, value) for name, value in result.items()}

    def _array(self, name, value):
        who = f"output '{name}' of the program '{self.name}'"
        return decode(value, np.dtype(self.types[name]) if name in self.types else None, who)


def load(model_path, lists):
    """The program's words, and the types that outputs of the model have, from the options."""
    types = dict(entry.rsplit("=", 1) for entry in lists.get("output_type", []))
    known = {"{model}": model_path or "", "{python}": sys.executable}
    words = lists["word"]
    for placeholder, text in known.items():
        words = [word.replace(placeholder, text) for word in words]
    if shutil.which(words[0]) is None:
        raise wire.Failure(wire.UNAVAILABLE, f"there is no program '{words[0]}'")
    return Program(words, {name: kind for name, kind in types.items() if kind != "string"})
