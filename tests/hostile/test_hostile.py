#!/usr/bin/env python3
"""Give vernier everything of the corpus and look at how it takes it.

    VERNIER=build/release/bin/vernier test_hostile.py [unittest options]

VERNIER_HOSTILE_GROUPS names the groups to run, with commas; VERNIER_HOSTILE_PART is "2/4" for the
second quarter of each group's cases; VERNIER_HOSTILE_MODELS a folder of models to cut short as well
(make_models.py). A program with AddressSanitizer is recognised and
measured more kindly.

Every case is one process in a folder of its own. Whatever the input, it ends by itself, in time,
with the right exit code and within its memory; says once, and where, what is wrong; and leaves
the folder as it found it.
"""

import atexit
import concurrent.futures
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
VERNIER = os.path.abspath(os.environ.get("VERNIER", "build/release/bin/vernier"))
PROCESSES = 2
MIB = 1 << 20
RUSAGE_UNIT = 1024

# Reading: what a person waits for and a machine has to spare. Seconds are those of the processor,
# and of one that goes through MEASURE_LOOPS in MEASURE_SECONDS: a slower one is measured beside a
# case that took longer. How long it waited is not judged, short of HANG: other work stretches it.
SECONDS = 1.5
SECONDS_PER_MIB = 0.020
MEMORY = 64 * MIB
MEMORY_PER_BYTE = 2
# Frameworks start in workers, whose time and memory are their own.
FRAMEWORK_SECONDS = 20.0
HANG = 120.0
MEASURE_LOOPS = 1_000_000
MEASURE_SECONDS = 0.06

MALFORMED, NOT_SAVED, USAGE = 3, 7, 2
SANITIZER_FACTOR = 20
SANITIZER_OPTIONS = (
    "exitcode=99",
    "allocator_may_return_null=1",  # too much memory is an answer, as without the sanitizer
    "handle_segv=0", "handle_sigbus=0", "handle_sigfpe=0",  # a signal must stay one
    "verify_asan_link_order=0",  # the fault library is preloaded
)
FAULT = "full_disk: "  # what the preloaded library says when it makes a call fail
MOST_CALLS = 400

MISHAPS = re.compile(r"terminate called|Traceback|runtime error:|(?:ERROR|SUMMARY): \w+Sanitizer|"
                     r"Assertion|core dumped|stack smashing|std::|basic_string")
# Bytes that a terminal would obey; what is printed must be text.
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def has_sanitizer(program):
    with open(program, "rb") as file:
        return b"__asan_init" in file.read()


def slowness():
    """How many times slower this processor is, now, than the one that limits are meant for."""
    begin, total = time.thread_time(), 0
    for number in range(MEASURE_LOOPS):
        total += number % 7
    return max(1.0, (time.thread_time() - begin) / MEASURE_SECONDS)


class Finished:
    """How one process ended, and what it printed."""

    def __init__(self, code, seconds, usage, stdout, stderr):
        self.code, self.seconds, self.memory = code, seconds, usage.ru_maxrss * RUSAGE_UNIT
        self.busy = usage.ru_utime + usage.ru_stime
        self.stdout = stdout.decode("utf-8", "backslashreplace")
        lines = stderr.decode("utf-8", "backslashreplace").splitlines(keepends=True)
        self.faults = [line for line in lines if line.startswith(FAULT)]
        self.stderr = "".join(line for line in lines if not line.startswith(FAULT))


def execute(words, folder, case, fault):
    if "file_limit" in case:
        words = ["prlimit", f"--fsize={case['file_limit']}", *words]
    # What frameworks never free is not ours.
    leaks = f"detect_leaks={0 if case.get('framework') else 1}"
    environment = {**os.environ, **fault, "ASAN_OPTIONS": ":".join((leaks, *SANITIZER_OPTIONS)),
                   "UBSAN_OPTIONS": "print_stacktrace=1:exitcode=99",
                   "TBB_ENABLE_SANITIZERS": "1"}  # OpenVINO's TBB opens libraries as ASan forbids
    # Not files of the folder, and not pipes, which would have to be emptied meanwhile.
    streams = [open(os.memfd_create(name), "w+b") for name in ("stdout", "stderr")]
    start = time.monotonic()
    process = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=streams[0],
                               stderr=streams[1], env=environment)
    watch = os.pidfd_open(process.pid)
    poll = select.poll()
    poll.register(watch, select.POLLIN)
    if not poll.poll(HANG * 1000):
        process.kill()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    os.close(watch)
    process.returncode = os.waitstatus_to_exitcode(status)
    texts = []
    for stream in streams:
        stream.seek(0)
        texts.append(stream.read())
        stream.close()
    return Finished(process.returncode, seconds, usage, *texts)


def contents(folder):
    """Path -> bytes of what lies in the folder; folders end in a slash."""
    found = {}
    for path in pathlib.Path(folder).rglob("*"):
        name = str(path.relative_to(folder))
        if path.is_dir():
            found[name + "/"] = b""
        else:
            found[name] = path.read_bytes() if path.is_file() else b"?"
    return found


def is_whole(data):
    """Whether these are saved results from their first to their last byte."""
    try:
        return "lst" in json.loads(data)
    except ValueError:
        return False


class Judge:
    """The rules, and what a case has broken of them."""

    def __init__(self, case, finished, factor):
        self.case, self.finished, self.factor = case, finished, factor
        self.stdout, self.stderr = finished.stdout, finished.stderr
        self.problems = []

    def blame(self, problem):
        self.problems.append(problem)

    def check_end(self):
        code, expect = self.finished.code, self.case["expect"]
        if code < 0:
            self.blame(f"died of {signal.Signals(-code).name}")
        elif code not in expect:
            self.blame(f"exit code {code}, expected {' or '.join(map(str, expect))}")
        for text in (self.stdout, self.stderr):
            if mishap := MISHAPS.search(text):
                self.blame(f"printed '{mishap[0]}'")

    def check_words(self):
        code = self.finished.code
        messages = [line for line in self.stderr.splitlines() if line.startswith("[!]")]
        if code in (MALFORMED, NOT_SAVED) and not self.case.get("framework"):
            if len(messages) != 1:
                self.blame(f"{len(messages)} messages instead of one")
        if code == USAGE and not messages:
            if "error: " not in self.stderr and "Unrecognized Options" not in self.stdout:
                self.blame("no message")
        if code == 0 and messages:
            self.blame("a message although all went well")
        if code in self.case["expect"] and code != 0:
            said = self.stderr + self.stdout
            for word in self.case.get("mentions", ()):
                if word not in said:
                    self.blame(f"does not mention '{word}'")
        for word in self.case.get("out", ()):
            if word not in self.stdout:
                self.blame(f"stdout lacks '{word}'")

    def check_terminal(self):
        # What the caller typed comes back as it was typed.
        typed = "".join(self.case["args"])
        for text in (self.stdout, self.stderr):
            obeyed = [c for c in OBEYED.findall(text) if c not in typed]
            if obeyed:
                self.blame(f"printed {ascii(obeyed[0])}, which a terminal obeys")

    def check_cost(self):
        size = self.case["input_bytes"]
        seconds = (SECONDS + SECONDS_PER_MIB * size / MIB) * self.factor
        if self.case.get("framework"):
            seconds = FRAMEWORK_SECONDS * self.factor
        if self.finished.busy > seconds:
            seconds *= slowness()
        if self.finished.busy > seconds:
            self.blame(f"worked for {self.finished.busy:.1f} of {self.finished.seconds:.1f} s, "
                       f"at most {seconds:.1f} s are allowed")
        memory = MEMORY + MEMORY_PER_BYTE * size
        measured = self.factor == 1 and not self.case.get("framework")
        if measured and self.finished.memory > memory:
            self.blame(f"needed {self.finished.memory / MIB:.0f} MiB, at most "
                       f"{memory / MIB:.0f} MiB are allowed")

    def check_folder(self, before, after):
        if self.finished.code == 0:
            allowed = set(self.case.get("may_leave", ())) | set(self.case.get("before", ()))
        else:
            allowed = set(self.case.get("may_leave", ()))
        for name in sorted(set(before) | set(after)):
            if before.get(name) == after.get(name) or name.split("/")[0] in allowed:
                continue
            if name in self.case.get("published", ()) and is_whole(after.get(name, b"")):
                continue
            state = "was left behind" if name not in before else (
                "is gone" if name not in after else "was changed")
            self.blame(f"'{name[:80]}' {state}")

    def judge(self, before, after):
        self.check_end()
        self.check_words()
        self.check_terminal()
        self.check_cost()
        self.check_folder(before, after)
        return self.problems


class Workplace:
    """The corpus and the places where it is read."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="vernier-hostile-")
        atexit.register(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name).resolve()
        models = os.environ.get("VERNIER_HOSTILE_MODELS")
        # In a process of its own: what this one has in memory would be counted as its children's.
        subprocess.run([sys.executable, HERE / "make_corpus.py", self.root / "corpus",
                        *(["--models", models] if models else [])], check=True)
        self.cases = json.loads((self.root / "corpus" / "cases.json").read_text())
        self.factor = SANITIZER_FACTOR if has_sanitizer(VERNIER) else 1
        self.full_disk = self.root / "full_disk.so"
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1",
                        HERE / "full_disk.c", "-ldl", "-o", self.full_disk], check=True)

    def run(self, case):
        """What is wrong with a case; empty if nothing is."""
        if case.get("fault") != "calls":
            return self.run_once(case, f"{case['fault']} bytes" if "fault" in case else "",
                                 {"FAULT_BYTES": str(case["fault"])} if "fault" in case else {})[0]
        for call in range(1, MOST_CALLS):
            report, faults = self.run_once(case, f"call {call}", {"FAULT_CALL": str(call)})
            if report or not faults:
                return report
        return f"{case['name']}: more than {MOST_CALLS} calls"

    def run_once(self, case, detail, fault):
        if fault:
            fault["LD_PRELOAD"] = str(self.full_disk)
        with tempfile.TemporaryDirectory(dir=self.root) as place:
            for name, text in case.get("before", {}).items():
                (pathlib.Path(place) / name).write_text(text)
            before = contents(place)
            words = [str(self.root / "corpus" / word[2:]) if word.startswith("@/") else word
                     for word in case["args"]]
            finished = execute([VERNIER, *words], place, case, fault)
            judge = Judge(case, finished, self.factor)
            problems = judge.judge(before, contents(place))
        if not problems:
            return "", finished.faults
        lines = finished.faults + [line for line in judge.stderr.splitlines() if line][-2:]
        shown = " ".join(word[:60] for word in case["args"])
        title = f"{case['group']}/{case['name']}{' at ' if detail else ''}{detail}"
        return f"{title}: {'; '.join(problems)}\n    {shown}\n" + "".join(
            f"    | {ascii(line.strip()[:160])[1:-1]}\n" for line in lines), finished.faults


class Group(unittest.TestCase):
    """All cases of one group, two at a time."""

    def __init__(self, name, cases, workplace):
        super().__init__("check")
        self.name, self.cases, self.workplace = name, cases, workplace

    def id(self):
        return f"hostile.{self.name}"

    __str__ = id

    def check(self):
        with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
            reports = [report for report in pool.map(self.workplace.run, self.cases) if report]
        if reports:
            self.fail(f"{len(reports)} of {len(self.cases)} cases:\n" + "".join(reports))


def load_tests(loader, tests, pattern):
    del loader, tests, pattern
    workplace = Workplace()
    groups = {}
    for case in workplace.cases:
        groups.setdefault(case["group"], []).append(case)
    chosen = os.environ.get("VERNIER_HOSTILE_GROUPS")
    if chosen:
        groups = {name: groups[name] for name in chosen.split(",")}
    part, parts = map(int, os.environ.get("VERNIER_HOSTILE_PART", "1/1").split("/"))
    groups = {name: cases[part - 1::parts] for name, cases in groups.items()}
    suite = unittest.TestSuite(Group(name, cases, workplace) for name, cases in groups.items())
    print(f"{sum(map(len, groups.values()))} cases in {len(groups)} groups", file=sys.stderr)
    return suite


if __name__ == "__main__":
    unittest.main(verbosity=2)
