"""Answers the parent's requests, one after another."""

import faulthandler
import importlib
import importlib.util
import os
import platform
import signal
import sys
import time

from . import abilities, console, results, scripts, wire

VERSION = "1"


def _require(module, called):
    if importlib.util.find_spec(module) is None:
        raise wire.Failure(
            wire.UNAVAILABLE, f"{sys.executable} (Python {platform.python_version()}) has no "
            f"{called}: '{sys.executable} -m pip install {module}' adds it, or --python names "
            "another interpreter")


def _version_of(module):
    """Without importing it, which may take seconds, where pip knows it."""
    from importlib import metadata
    try:
        return metadata.version(module)
    except metadata.PackageNotFoundError:
        pass
    with scripts.guard(module, wire.UNAVAILABLE):
        return getattr(importlib.import_module(module), "__version__", "")


class Server:
    """The state of a worker: its open sessions, by number.

    A program that serves its own objects gets what they raise through `note`, and has them given
    iterations made by `make_iteration`.
    """

    def __init__(self, channel, note=None, make_iteration=results.make, owns_process=False):
        self.channel = channel
        self.owns_process = owns_process
        self.process = os.getpid()
        self.note = note
        self.make_iteration = make_iteration
        self.console = console.Console(channel)
        self.sessions = {}
        self.pool = None  # memory for their outputs
        self.feed = None  # what the last run was given
        self.hashing = {}  # sessions whose inputs are hashed, with the function
        self.handlers = {
            wire.LOAD: self.load, wire.OPEN: self.open, wire.RUN: self.run,
            wire.CLOSE: self.close, wire.OPEN_SCRIPT: self.open_script,
            wire.NEXT_FEED: self.next_feed, wire.COMPARE: self.compare,
            wire.DECIDE: self.decide, wire.COUNT_FEEDS: self.count_feeds,
            wire.POSTPROCESS: self.postprocess, wire.MEASURE: self.measure,
            wire.INFER_SHAPES: self.infer_shapes,
            wire.DRAW: self.draw, wire.TRY_RUN: self.try_run,
            wire.HASH_INPUTS: self.hash_inputs, wire.RESET: self.reset,
            wire.LIST_MODULES: self.list_modules,
        }

    def serve(self):
        """Until the parent closes the connection, or is gone."""
        try:
            while True:
                frame = self.channel.receive()
                if frame is None:
                    return 0
                self.answer(*frame)
        except ConnectionError:
            return 0

    def answer(self, kind, body, memory):
        if kind == wire.TAKE_BACK:
            self.take_back(wire.Reader(body))
            return
        out = wire.Writer()
        out.i32(wire.OK)
        out.text("")
        sent = None
        try:
            with scripts.guard("the Python worker", wire.INTERNAL):
                handler = self.handlers.get(kind)
                if handler is None:
                    raise wire.Failure(wire.INTERNAL, f"unknown request {kind}")
                sent = handler(wire.Reader(body), memory, out)
        except wire.Failure as failure:
            if self.note is not None and failure.raised is not None:
                self.note(failure.raised)
            out = wire.Writer()
            out.i32(failure.code)
            out.text(failure.message)
        if os.getpid() != self.process:
            os._exit(0)  # forked by a script: a second answer would be taken for the next one's
        self.console.finish_line()
        self.channel.send(wire.REPLY, out.finish(), sent)
        if sent is not None:
            os.close(sent)
        self.feed = None  # no answer waits for its pages to be unmapped
        if kind == wire.LOAD and "numpy" not in sys.modules:
            self.prepare()

    def prepare(self):
        """NumPy loads while the parent does other things; a failure is reported on first use."""
        try:
            import numpy  # noqa: F401
        except BaseException:
            pass

    def load(self, reader, _memory, out):
        for _ in range(reader.u64()):  # plug-ins, which are not ours
            reader.text()
        options = dict(reader.options())
        version = platform.python_version()
        # First of all: who lacks the framework is not to install NumPy for it.
        if "module" in options:
            _require(options["module"], f"module '{options['module']}'")
        _require("numpy", "NumPy")
        if "module" in options:
            version = _version_of(options["module"]) or version
        if options.get("probe"):
            with scripts.guard(sys.executable, wire.UNAVAILABLE):
                import numpy
            version += f" numpy {numpy.__version__}"
        for text in ("python", VERSION, version, sys.executable):
            out.text(text)
        abilities.describe(options.get("module"), out)

    def watch(self):
        from . import opened
        if self.owns_process:
            opened.watch()

    def open(self, reader, memory, out):
        from . import runner
        self.watch()
        request = runner.Request(reader, memory)
        start = time.perf_counter()
        opened = runner.Runner(request)
        opened.describe(time.perf_counter() - start, out)
        self.sessions[request.session] = opened

    def run(self, reader, memory, out):
        from . import heap, loans, tensors
        if self.pool is None:
            self.pool = loans.Pool()
            if self.owns_process:
                heap.keep_freed_memory()
        number = reader.u64()
        self.feed = tensors.decode(reader, memory)
        received = None
        if number in self.hashing:
            received = [(name, self.hashing[number](tensors.bytes_of(array, f"input '{name}'")))
                        for name, array in self.feed]
        return self.sessions[number].run(self.feed, out, self.pool, received)

    def take_back(self, reader):
        """Memory of outputs that the parent has read; it waits for no answer."""
        for _ in range(reader.u64()):
            self.pool.take_back(reader.u64())

    def hash_inputs(self, reader, _memory, _out):
        from . import hashes
        self.hashing[reader.u64()] = hashes.xxh3()

    def reset(self, reader, _memory, _out):
        self.sessions[reader.u64()].reset()

    @staticmethod
    def list_modules(_reader, _memory, out):
        from . import imports
        modules = imports.listed()
        out.u64(len(modules))
        for module in modules:
            for text in module:
                out.text(text)

    def try_run(self, reader, memory, out):
        from . import tensors, trials
        session, shift = self.sessions[reader.u64()], reader.u64()
        reader.u8(), reader.u8()  # where outputs lie is NumPy's business
        inputs = trials.Inputs(tensors.decode(reader, memory), shift)
        ran = wire.Writer()
        sent = session.run(inputs.copies, ran, self.pool)
        inputs.report(out)
        out.raw(ran.finish()[8:])  # behind the time, which is not used
        return sent

    def close(self, reader, _memory, _out):
        number = reader.u64()
        self.hashing.pop(number, None)
        session = self.sessions.pop(number, None)
        if session is not None and hasattr(session, "close"):
            session.close()

    def open_script(self, reader, _memory, _out):
        session, role = reader.u64(), reader.text()
        path, name = reader.text(), reader.text()
        from . import comparison, decisions, draws, feeds, perceptual, tools
        self.watch()
        roles = {"feeds": feeds.FeedSource, "comparison": comparison.Comparison,
                 "postprocessing": comparison.Postprocessing, "decision": decisions.Decision,
                 "perceptual": perceptual.Perceptual, "draws": draws.Draws, "tool": tools.Tool,
                 "tokens": feeds.TokenSource}
        self.sessions[session] = roles[role](path, name)

    @staticmethod
    def _read_inputs(reader):
        from . import runner, tensors
        return [(name, tensors.dtype_of(code), dims)
                for name, code, dims in runner.read_infos(reader)]

    def count_feeds(self, reader, _memory, out):
        session = self.sessions[reader.u64()]
        out.i64(session.length(self._read_inputs(reader)))

    def next_feed(self, reader, _memory, out):
        session = self.sessions[reader.u64()]
        infos, index = self._read_inputs(reader), reader.i64()
        feed = session.next(infos) if index < 0 else session.at(index)
        out.u8(feed is not None)
        if feed is None:
            out.i64(session.promised)
            return None
        description, memory = feed
        out.raw(description)
        return memory

    def draw(self, reader, _memory, out):
        session, seed = self.sessions[reader.u64()], reader.i64()
        requests = []
        for _ in range(reader.u64()):
            name, code = reader.text(), reader.u8()
            dims = [reader.i64() for _ in range(reader.u64())]
            number = reader.i64 if reader.u8() else reader.f64
            requests.append((name, code, dims, number(), number()))
        description, sent = session.draw(seed, requests)
        out.raw(description)
        return sent

    @staticmethod
    def _header(reader):
        """Runner, seconds or None, number of outputs."""
        name = reader.text()
        runtime = reader.f64() if reader.u8() else None
        return name, runtime, reader.u64()

    def compare(self, reader, memory, out):
        session, iterations = self._sides(reader, memory)
        session.compare(*iterations, out)

    def decide(self, reader, memory, out):
        session, iterations = self._sides(reader, memory)
        session.decide(*iterations, out)

    def _sides(self, reader, memory):
        from . import tensors
        session = self.sessions[reader.u64()]
        sides = [self._header(reader), self._header(reader)]
        arrays = tensors.decode(reader, memory)
        iterations = []
        for name, runtime, count in sides:
            iterations.append(self.make_iteration(arrays[:count], runtime, name))
            arrays = arrays[count:]
        return session, iterations

    def measure(self, reader, memory, out):
        from . import tensors
        session = self.sessions[reader.u64()]
        (_, a), (_, b) = tensors.decode(reader, memory)
        out.f64(session.measure(a, b))

    @staticmethod
    def infer_shapes(reader, memory, out):
        from . import shapes, tensors
        use_symbolic = bool(reader.u8())
        (_, model), = tensors.decode(reader, memory)
        description, sent = tensors.encode(shapes.infer(model.tobytes(), use_symbolic), "result")
        out.raw(description)
        return sent

    def postprocess(self, reader, memory, out):
        from . import tensors
        session = self.sessions[reader.u64()]
        name, runtime, _ = self._header(reader)
        outputs = tensors.decode(reader, memory)
        description, sent = session.apply(self.make_iteration(outputs, runtime, name))
        out.raw(description)
        return sent


def serve(descriptor):
    """Serves on a descriptor. Returns the exit status."""
    faulthandler.enable()  # where in the script a crash happened
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    server = Server(wire.Channel(descriptor), owns_process=True)
    sys.stdout = server.console
    return server.serve()
