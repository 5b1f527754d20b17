"""python -m vernier.ray: does the shards of one run as tasks of Ray, and merges their parts.

  python -m vernier.ray run MODEL ... --shards N --save-record FILE [options]
  python -m vernier.ray compare FIRST SECOND ... --shards N --save-record FILE [options]

  --shards N           into how many shards the iterations are divided
  --save-record FILE   where the merged record goes; parts are FILE's name with their shard in it
  --address ADDRESS    of the cluster, 'auto' for the one of this machine; without it Ray decides,
                       and starts one on this machine where there is none
  --cpus-per-shard N   CPUs that Ray keeps for a shard (default: 1)
  --gpus-per-shard N   GPUs that Ray keeps for a shard (default: 0)
  --retries N          how often a shard is tried again whose node, worker or framework was lost
                       (default: 3)
  --ship WHAT          of nodes without a shared disk: what shards read goes with them, and what
                       they write comes back. A file, a folder or a pattern in this folder, or
                       'auto' for all that other words name; may be given several times

--report, --save-rows, --reproducible and --mixed are those of `vernier merge`; every other word
goes to the shards. Without --ship models and inputs, and the folder in which this is started, are
on a disk that all nodes see. Every node has the package vernier. The exit code is that of `vernier
merge`, or of the first shard that cannot be done.
"""

# `import ray` is Ray itself, here as elsewhere: imports are absolute, and this is `vernier.ray`.
# This file runs as __main__, so that Ray sends the functions below to the nodes by their content.

import os
import subprocess
import sys
import tempfile
import time

_VALUES = {"--shards": None, "--save-record": None, "--address": None, "--cpus-per-shard": "1",
           "--gpus-per-shard": "0", "--retries": "3"}
_OF_MERGE = {"--report": True, "--save-rows": True, "--reproducible": False, "--mixed": False}
_GIVEN = ("--shard", "--shard-exit")
_MOST_SHARDS = 1_000_000
# Exit codes after which another attempt may end otherwise: a framework was lost, or memory was.
_LOST = (6, 70)
_INTERRUPTED = 130


class _Refused(Exception):
    """A sentence, and the exit code that goes with it."""

    def __init__(self, code, sentence):
        super().__init__(sentence)
        self.code = code


class _Plan:
    """What the command line says."""

    def __init__(self, words):
        self.command, self.merge, self.ship = [], [], []
        self.given = dict(_VALUES)
        words = iter(words)
        for word in words:
            flag, has_value, value = word.partition("=")
            if flag in _GIVEN:
                raise _Refused(2, f"{flag}: every shard is given its own; say how many with "
                                  "--shards N")
            if flag not in _VALUES and flag not in _OF_MERGE and flag != "--ship":
                self.command.append(word)
                continue
            if _OF_MERGE.get(flag, True) and not has_value:
                value = next(words, "")
            if _OF_MERGE.get(flag, True) and not value:
                raise _Refused(2, f"{flag}: expected a value")
            if flag == "--ship":
                self.ship.append(value)
            elif flag in _VALUES:
                self.given[flag] = value
            else:
                self.merge += [flag, value] if _OF_MERGE[flag] else [flag]
        self._check()

    def _check(self):
        if self.command[:1] not in (["run"], ["compare"]):
            raise _Refused(2, "expected 'run' or 'compare' first, got "
                              f"'{(self.command or [''])[0]}'")
        if self.given["--shards"] is None:
            raise _Refused(2, "the number of shards is missing: give --shards N")
        if self.given["--save-record"] is None:
            raise _Refused(2, "the name of the record is missing: give --save-record FILE")
        self.record = self.given["--save-record"]
        self.shards = int(self._number("--shards", 1, _MOST_SHARDS, int))
        self.retries = int(self._number("--retries", 0, None, int))
        self.cpus = self._number("--cpus-per-shard", 0, None, float)
        self.gpus = self._number("--gpus-per-shard", 0, None, float)

    def _number(self, flag, least, most, kind):
        text = self.given[flag]
        try:
            number = kind(text)
        except ValueError:
            number = None
        if number is None or not least <= number or (most is not None and number > most):
            what = "a whole number" if kind is int else "a number"
            limit = f">= {least}" if most is None else f"from {least} to {most}"
            raise _Refused(2, f"{flag}: expected {what} {limit}, got '{text}'")
        return number

    def words_of(self, shard):
        return [*self.command, "--shard", f"{shard}/{self.shards}", "--shard-exit", "done",
                "--save-record", self.record]

    def mark_of(self, shard):
        return f".shard-{shard:04}-of-{self.shards:04}"

    def part_of(self, shard):
        stem, extension = os.path.splitext(self.record)
        return stem + self.mark_of(shard) + extension


def _end_with_worker():
    """A shard does not outlive the worker of Ray that started it."""
    import ctypes
    import signal
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def _do_shard(words, folder, shard, shipped):
    """On a node: runs a shard to its end. The node's name, the exit code, what went wrong, and,
    where files were shipped to this node, what it has saved."""
    import socket
    node = socket.gethostname()
    token, files = shipped or ("", [])
    if os.path.isdir(folder) and os.path.exists(os.path.join(folder, token)):
        return node, *_run_shard(node, words, folder), []
    if not files:
        return node, 3, (f"there is no '{folder}' on this node: start in a folder that all nodes "
                         "see, or give --ship auto"), []
    try:
        import ray
        from vernier import _shipping
    except ImportError:
        return node, 5, _no_package(), []
    try:
        _shipping.unpack(folder, files, ray.get)
    except (OSError, _shipping.NotShipped) as error:
        return node, 3, f"--ship: {error}", []
    return node, *_run_shard(node, words, folder), _shipping.written(folder, shard)


def _no_package():
    return f"'{sys.executable}' of this node has no package vernier: install it there"


def _last_error(log):
    """What the log says last that is wrong, where the program did not say it on stderr."""
    log.seek(0)
    wrong = [line.strip()[4:] for line in log if line.startswith(("[E] ", "[!] "))]
    return wrong[-1] if wrong else ""


def _run_shard(node, words, folder):
    try:
        from vernier.__main__ import environment
        from vernier._places import program
    except ImportError:
        return 5, _no_package()
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        done = subprocess.run([program(), *words], cwd=folder, env=environment(), check=False,
                              stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.PIPE,
                              text=True, errors="replace", preexec_fn=_end_with_worker)
        said = done.stderr.strip().removeprefix("[!] ") or _last_error(log)
    if done.returncode in _LOST or done.returncode < 0 or done.returncode > 128:
        raise ChildProcessError(done.returncode, f"on {node}: {said or 'it was ended'}")
    return done.returncode, said


def _import_ray():
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise _Refused(5, "Ray is not installed: type pip install 'vernier[ray]'") from None
    return ray


def _reach(address):
    """Ray itself would try for minutes."""
    import socket
    host, _, port = address.rpartition(":")
    if host and port.isdigit() and "://" not in address:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _connect(ray, plan):
    # Of a cluster that is started here, nothing is sent to Ray's makers unless that is asked for.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    address = plan.given["--address"]
    try:
        _reach(address or "")
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except (OSError, ValueError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or str(error).strip().splitlines()[0]
        raise _Refused(5, f"no cluster of Ray at '{address or 'this machine'}': {why}") from None
    there = ray.cluster_resources()
    for name, wanted in (("CPU", plan.cpus), ("GPU", plan.gpus)):
        if wanted > there.get(name, 0):
            _say(f"[W] a shard needs {wanted:g} {name}, and the cluster has "
                 f"{there.get(name, 0):g}: shards wait until a node with them joins")


def _say(text):
    print(text, file=sys.stderr, flush=True)


def _time_left(seconds):
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _outcome_of(ray, task, shard):
    """Nothing, once the shard is done; raises what keeps it from that."""
    try:
        node, code, said, files = ray.get(task)
    except ray.exceptions.RayError as error:
        lost = getattr(error, "cause", None)
        if isinstance(lost, ChildProcessError):
            code = lost.errno if lost.errno > 0 else 128 - lost.errno
            raise _Refused(code, f"shard {shard} ended with {code}, also when tried again, "
                                 f"{lost.strerror}") from None
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise _Refused(6, f"shard {shard} was lost, also when tried again: {first}") from None
    if code != 0:
        raise _Refused(code, f"shard {shard} ended with {code} on {node}: {said}")
    if files:
        from vernier import _shipping
        _shipping.take_back(files)


def _ship(ray, plan):
    """The files of --ship in the object store, once for all shards."""
    from vernier import _shipping
    try:
        files = _shipping.ship(plan.ship, plan.command[1:], plan.record, ray.put)
    except (_shipping.NotShipped, OSError) as error:
        raise _Refused(3, str(error)) from None
    _say(f"[I] {len(files)} file(s) go to nodes that do not see this folder")
    return files


def _do_shards(ray, plan):
    task = ray.remote(_do_shard).options(
        num_cpus=plan.cpus, num_gpus=plan.gpus, max_retries=plan.retries,
        retry_exceptions=[ChildProcessError], scheduling_strategy="SPREAD")
    folder, shipped, token = os.getcwd(), None, None
    if plan.ship:
        # Nodes that see it share the folder.
        token = tempfile.NamedTemporaryFile(prefix=".vernier-ray-", dir=folder)
        shipped = (os.path.basename(token.name), _ship(ray, plan))
    running = {task.remote(plan.words_of(shard), folder, plan.mark_of(shard), shipped):
               f"{shard}/{plan.shards}" for shard in range(1, plan.shards + 1)}
    started = time.monotonic()
    try:
        while running:
            ended, _ = ray.wait(list(running), num_returns=1)
            for each in ended:
                _outcome_of(ray, each, running.pop(each))
            done = plan.shards - len(running)
            left = (time.monotonic() - started) / done * len(running)
            _say(f"[I] {done} of {plan.shards} shards are done"
                 + (f"; about {_time_left(left)} left" if running else ""))
    finally:
        _cancel(ray, list(running))
        if token is not None:
            token.close()


def _cancel(ray, tasks):
    for each in tasks:
        ray.cancel(each)
    if tasks:  # they end their processes
        ray.wait(tasks, num_returns=len(tasks), timeout=10)


def _merge(plan):
    from vernier.__main__ import environment
    from vernier._places import program
    parts = [plan.part_of(shard) for shard in range(1, plan.shards + 1)]
    for part in parts:
        if not os.path.exists(part):
            raise _Refused(3, f"'{part}' is done and not here: start in a folder that all nodes "
                              "see")
    return subprocess.run([program(), "merge", *parts, "-o", plan.record, *plan.merge],
                          env=environment(), check=False).returncode


def main(words):
    """The exit code of a command line."""
    if not words or words[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if words else 2
    try:
        plan = _Plan(words)
        ray = _import_ray()
        _connect(ray, plan)
        _do_shards(ray, plan)
        return _merge(plan)
    except _Refused as error:
        _say(f"[!] vernier.ray: {error}")
        return error.code
    except KeyboardInterrupt:
        _say("[!] vernier.ray: cancelled; parts that are done stay")
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
