"""Collects the files and the cases of the corpus of malformed input."""

import json
import os
import pathlib

MALFORMED = 3
USAGE = 2
UNKNOWN_NAME = 1
INCOMPLETE = 4
NOT_SAVED = 7

# What a case may ask the test to do; see test_hostile.py.
KEYS = {"group", "name", "args", "expect", "mentions", "before", "may_leave", "file_limit",
        "fault", "published", "input_bytes", "framework", "out"}


class Corpus:
    """Files below one folder and the command lines that read them.

    In a command line '@/x' stands for the corpus' file x; the test runs it in an empty folder.
    """

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.cases = []
        self._names = set()

    def path(self, name):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, name, data):
        """Writes a file, text or bytes; returns the name to use in a command line."""
        self.path(name).write_bytes(data.encode() if isinstance(data, str) else data)
        return f"@/{name}"

    def sparse(self, name, size, head=b""):
        with open(self.path(name), "wb") as file:
            file.write(head)
            file.truncate(size)
        return f"@/{name}"

    def fifo(self, name):
        os.mkfifo(self.path(name))
        return f"@/{name}"

    def case(self, group, name, args, expect=MALFORMED, **more):
        """Adds a command line after `vernier run`, with the exit codes that it may have."""
        expect = [expect] if isinstance(expect, int) else sorted(expect)
        case = {"group": group, "name": name, "args": list(args), "expect": expect, **more}
        unknown = set(case) - KEYS
        if unknown or (group, name) in self._names:
            raise ValueError(f"case {group}/{name}: {unknown or 'exists already'}")
        self._names.add((group, name))
        case["input_bytes"] = sum(self._size(arg) for arg in args if arg.startswith("@/"))
        self.cases.append(case)

    def _size(self, arg):
        path = self.folder / arg[2:]
        if path.is_dir():
            return sum(p.stat().st_size for p in path.rglob("*") if p.is_file())
        return path.stat().st_size if path.is_file() else 0

    def finish(self):
        lines = ",\n".join(json.dumps(case, sort_keys=True) for case in self.cases)
        self.path("cases.json").write_text(f"[\n{lines}\n]\n")

    # The usual ways to read a file, each with an old result that must survive a failure.

    def model(self, group, name, data, expect=MALFORMED, extra=(), **more):
        """A model read by the identity runner, which needs no framework."""
        file = self.write(f"{group}/{name}.onnx", data)
        self.model_file(group, name, file, expect, extra, **more)

    def model_file(self, group, name, file, expect=MALFORMED, extra=(), **more):
        more.setdefault("mentions", [os.path.basename(file)])
        self.case(group, name,
                  ["run", file, "--identity", "--save-outputs", "old.json", *extra], expect,
                  before={"old.json": "old"}, **more)

    def results(self, group, name, suffix, data, expect=MALFORMED, **more):
        """A file given to --load-outputs, against a good one."""
        file = self.write(f"{group}/{name}{suffix}", data)
        self.results_file(group, name, file, expect, **more)

    def results_file(self, group, name, file, expect=MALFORMED, **more):
        more.setdefault("mentions", [os.path.basename(file)])
        self.case(group, name, ["run", "--load-outputs", "@/good/outputs.json", file], expect,
                  **more)

    def inputs(self, group, name, suffix, data, expect=MALFORMED, **more):
        """A file given to --load-inputs of the model good/identity.onnx."""
        file = self.write(f"{group}/{name}{suffix}", data)
        self.inputs_file(group, name, file, expect, **more)

    def inputs_file(self, group, name, file, expect=MALFORMED, **more):
        more.setdefault("mentions", [os.path.basename(file)])
        self.case(group, name,
                  ["run", "@/good/identity.onnx", "--identity", "--load-inputs", file,
                   "--save-outputs", "old.json"], expect, before={"old.json": "old"}, **more)
