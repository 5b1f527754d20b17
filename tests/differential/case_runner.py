"""Cases, the folders in which they run, and the cache of what the peer did."""

import collections
import dataclasses
import fcntl
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import threading

# Raise this when the way of running changes what a cached result means.
CACHE_FORMAT = 3
TIMEOUT_SECONDS = 300
LINK_ABOVE_BYTES = 4 << 20


@dataclasses.dataclass
class Case:
    """One row of cases.toml; the README says what each key means."""
    name: str
    run: list
    relation: str = "same"
    setup: list = dataclasses.field(default_factory=list)
    then: list = dataclasses.field(default_factory=list)
    effect: list = dataclasses.field(default_factory=list)
    saved: list = dataclasses.field(default_factory=list)
    files: list = dataclasses.field(default_factory=list)
    stdout: list = dataclasses.field(default_factory=list)
    stderr: list = dataclasses.field(default_factory=list)
    absent: list = dataclasses.field(default_factory=list)
    env: dict = dataclasses.field(default_factory=dict)
    exit: int = None
    peer_exit: int = None
    every_line: bool = False
    more_files: bool = False
    unchanged_here: bool = False
    packages: bool = False
    reason: str = ""
    pending: str = ""
    needs: str = ""
    distinct: str = ""

    def __post_init__(self):
        for key in ("run", "setup", "then"):
            steps = getattr(self, key)
            setattr(self, key, [shlex.split(s) for s in ([steps] if isinstance(steps, str)
                                                         else steps)])
        if self.relation not in ("same", "crash", "differs", "native"):
            raise ValueError(f"{self.name}: unknown relation '{self.relation}'")
        if self.relation in ("differs", "native") and not self.reason:
            raise ValueError(f"{self.name}: a case that is not `same` says why")


def without_flag(words, flag):
    """The command without every occurrence of a flag and the values that it took."""
    kept = []
    skipping = False
    for word in words:
        is_option = word.startswith("-") and not word[1:2].isdigit()
        if word == flag or word.startswith(flag + "="):
            skipping = "=" not in word
        elif skipping and not is_option:
            continue
        else:
            skipping = False
            kept.append(word)
    return kept


def file_digest(path):
    digest = hashlib.sha256()
    with open(path, "rb") as handle:
        while block := handle.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


class Workshop:
    """Makes run folders under one work folder and runs the peer in them, or finds that it did."""

    def __init__(self, work, peer_python, packages=None):
        self.work = pathlib.Path(work).resolve()
        # One process at a time: a second one would take folders away under the first one's feet.
        self.work.mkdir(parents=True, exist_ok=True)
        self.lock = open(self.work / "lock", "w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.sources = [self.work / "models", self.work / "fixtures"]
        # Not resolved: the interpreter of a virtual environment is a link out of it.
        python = pathlib.Path(peer_python).absolute()
        self.peer = [str(python), str(python.parent / "polygraphy")]
        self.peer_packages = sorted(path.name for path in python.parent.parent.glob(
            "lib/python*/site-packages/*.dist-info"))
        self.packages = packages  # a folder of packages beside the peer's, for rows that ask for it
        self.digests = {}
        self.locks = collections.defaultdict(threading.Lock)

    def make_data(self, tests, peer_python, light):
        """Models and fixtures, made by the peer's Python; made anew when their makers changed."""
        makers = [tests / "data" / "make_models.py", tests / "data" / "light_models.py",
                  tests / "differential" / "fixtures.py"]
        stamp = " ".join([file_digest(path) for path in makers] + ["light"] * light)
        marker = self.work / "data.stamp"
        if marker.exists() and marker.read_text() in (stamp, stamp + " light"):
            return
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        for maker, folder, extra in ((makers[0], "models", ["--light"] * light),
                                     (makers[2], "fixtures", [])):
            shutil.rmtree(self.work / folder, ignore_errors=True)
            subprocess.run([str(peer_python), str(maker), str(self.work / folder), *extra],
                           check=True, env=environment, stdout=subprocess.DEVNULL)
        marker.write_text(stamp)

    def provided(self, case):
        """Files of the models and fixtures folders that the case names, with what lies beside."""
        words = {word for step in case.run + case.setup + case.then for word in step}
        words = {part for word in words for part in (word, word.split(":")[0],
                                                     word.split("=")[-1])} | set(case.files)
        found = {}
        for word in sorted(words):
            top = word.split("/")[0]
            for source in self.sources:
                if top and top not in (".", "..") and (source / top).exists():
                    found[top] = source / top
        if "ext.onnx" in found:
            found["ext.data"] = self.sources[0] / "ext.data"
        return found

    def digest(self, path):
        key = (str(path), path.stat().st_mtime_ns)
        if key not in self.digests:
            parts = sorted(path.rglob("*")) if path.is_dir() else [path]
            self.digests[key] = "".join(file_digest(p) + p.name for p in parts if p.is_file())
        return self.digests[key]

    def populate(self, folder, case):
        folder.mkdir(parents=True)
        for name, source in self.provided(case).items():
            target = folder / name
            if source.is_dir():
                shutil.copytree(source, target)
            elif source.stat().st_size > LINK_ABOVE_BYTES:
                target.symlink_to(source)
            else:
                shutil.copyfile(source, target)

    def key(self, *parts):
        # What Polygraphy printed names its folder: a cache that was moved is no longer one; nor is
        # one from before a package was installed beside Polygraphy.
        parts = [CACHE_FORMAT, str(self.work), self.peer_packages, *parts]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]

    def identity(self, case):
        given = {name: self.digest(path) for name, path in self.provided(case).items()}
        more = []
        if case.packages:
            more.append(sorted(path.name for path in self.packages.glob("*.dist-info")))
        return self.key(case.setup, case.env, given, *more)

    def environment(self, case):
        """What the row sets: its `env`, and the place of the packages that it asks for."""
        if not case.packages:
            return case.env
        # Matplotlib keeps a cache, which is none of what a run leaves in its folder.
        return {"PYTHONPATH": str(self.packages), "MPLCONFIGDIR": str(self.work / "matplotlib"),
                **case.env}

    def cached(self, key, make):
        """Run `make(folder)` in a new folder unless a finished one with this key exists."""
        folder = self.work / "peer" / key
        record = folder / "record.json"
        with self.locks[key]:
            if not record.exists():
                shutil.rmtree(folder, ignore_errors=True)
                result = make(folder / "cwd")
                (folder / "record.json.new").write_text(json.dumps(result))
                (folder / "record.json.new").replace(record)
        return json.loads(record.read_text()), folder / "cwd"

    def execute(self, program, words, folder, env):
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(("POLYGRAPHY_", "PYTHONPATH", "COLUMNS"))}
        venv = str(pathlib.Path(self.peer[0]).parent.parent)
        environment.update(LC_ALL="C.UTF-8", TZ="UTC", PYTHONDONTWRITEBYTECODE="1")
        environment.update({name: text.replace("{peer}", venv) for name, text in env.items()})
        try:
            done = subprocess.run([*program, *words], cwd=folder, env=environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  errors="replace", timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired as error:
            return {"exit": 124, "stdout": (error.stdout or b"").decode(errors="replace"),
                    "stderr": f"no end after {TIMEOUT_SECONDS} s"}
        return {"exit": done.returncode, "stdout": done.stdout, "stderr": done.stderr}

    def prepared(self, case):
        """A folder with the provided files and what the set-up commands left, by the peer."""
        def make(folder):
            self.populate(folder, case)
            environment = self.environment(case)
            return [self.execute(self.peer, step, folder, environment) for step in case.setup]
        results, folder = self.cached("setup-" + self.identity(case), make)
        for step, result in zip(case.setup, results):
            if result["exit"] not in (0, 1) or "Traceback" in result["stderr"]:
                raise RuntimeError(f"{case.name}: set-up failed: {shlex.join(step)}\n"
                                   f"{result['stdout'][-500:]}{result['stderr'][-500:]}")
        return folder

    def run_in(self, folder, case, program, run_steps):
        source = self.prepared(case)
        shutil.copytree(source, folder, symlinks=True)
        before = {str(p.relative_to(folder)) for p in folder.rglob("*")}
        environment = self.environment(case)
        results = [self.execute(program, step, folder, environment) for step in run_steps]
        results += [self.execute(self.peer, step, folder, environment) for step in case.then]
        after = {str(p.relative_to(folder)) for p in folder.rglob("*")}
        return {"steps": results, "new_files": sorted(after - before)}

    def run_peer(self, case, run_steps=None):
        steps = case.run if run_steps is None else run_steps
        key = self.key(self.identity(case), steps, case.then)
        return self.cached(key, lambda folder: self.run_in(folder, case, self.peer, steps))

    def run_ours(self, case, program, run_steps=None):
        folder = self.work / "ours" / (case.name if run_steps is None else f"{case.name}-without")
        shutil.rmtree(folder, ignore_errors=True)
        steps = case.run if run_steps is None else run_steps
        return self.run_in(folder, case, [str(program)], steps), folder

    def paths_of(self, folder):
        site = str(pathlib.Path(self.peer[0]).parent.parent)
        return [(str(folder), "$DIR"), (site, "$VENV")]
