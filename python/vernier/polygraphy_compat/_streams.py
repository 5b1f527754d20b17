"""Runs and results an iteration at a time, in the memory of one."""

import contextlib
import itertools
import os

from vernier import InvalidArgument, _host
from vernier._logging import logger_of_polygraphy
from vernier._polygraphy.arguments import kind_of
from vernier._polygraphy.common import TensorMetadata
from vernier._polygraphy.logger import G_LOGGER
from vernier._results import IterationResult, RunResults, fresh
from vernier._runners import Runner

from .backend.base import FrameworkRunner, has_one_type, numpy_type


def name_of(runner):
    return getattr(runner, "name", None) or type(runner).__name__


def run(runners, loader, save_inputs, save_outputs, save_input_blob):
    """One RunResults for each feed. The runners are open until the generator ends or is closed."""
    with contextlib.ExitStack() as stack:
        opened = []
        for runner in runners:
            if not hasattr(runner, "__enter__") or not hasattr(runner, "infer"):
                raise InvalidArgument(f"streaming: '{name_of(runner)}' has no infer, or cannot be used "
                                      "in a with statement")
            logger_of_polygraphy().log(G_LOGGER.START, "%s | Activating and starting inference",
                                       name_of(runner))
            opened.append(_Opened(stack.enter_context(runner)))
        if opened[0].metadata is not None:
            with contextlib.suppress(AttributeError):
                loader.input_metadata = opened[0].metadata
        saved = [stack.enter_context(saver) for saver in (
            _SavedInputs(save_inputs), _SavedBlobs(save_input_blob))]
        outputs = stack.enter_context(_SavedOutputs(save_outputs, [one.name for one in opened]))
        for feed in loader:
            _check_feed(feed)
            for saver in saved:
                saver.append(feed)
            single = RunResults((one.name, [one.result(feed)]) for one in opened)
            outputs.append(single)
            yield single
        for saver in (*saved, outputs):
            saver.at_end = True


def _check_feed(feed):
    if not hasattr(feed, "items") or isinstance(feed, RunResults) or not all(
            isinstance(name, str) for name, _ in feed.items()):
        raise InvalidArgument(f"the data loader gave {kind_of(feed)}; expected a mapping of "
                              "input names to arrays")


class _Opened:
    """A runner that is active, whatever its class."""

    def __init__(self, runner):
        self.runner, self.name = runner, name_of(runner)
        self.metadata = None
        if isinstance(runner, Runner):
            self.metadata = TensorMetadata()
            for name, (dtype, shape) in runner.inputs.items():
                self.metadata.add(name, numpy_type(dtype), shape)
        elif hasattr(runner, "get_input_metadata"):
            self.metadata = runner.get_input_metadata()

    def result(self, feed):
        if self.metadata:
            feed = _fitted(feed, self.metadata)
        if isinstance(self.runner, FrameworkRunner):
            made = self.runner.result_of(feed)
        else:
            made = self.runner.infer(feed)
        if isinstance(made, IterationResult):
            made._load()  # of a file, it may not be read yet
            return IterationResult(made._outputs, made.runtime, self.name)._own()
        clock = getattr(self.runner, "last_inference_time", None)
        return IterationResult(made, clock() if clock else None, self.name)


def _fitted(feed, metadata):
    """What a runner wants of a feed, in its types."""
    fitted = {}
    for name, (dtype, _) in metadata.items():
        if name not in feed:
            raise InvalidArgument(f"the feed lacks input '{name}'; it has: {', '.join(feed)}")
        fitted[name] = _cast(name, feed[name], dtype)
    return fitted


def _cast(name, value, dtype):
    import numpy as np
    if not isinstance(value, np.ndarray) or not has_one_type(dtype) or value.dtype == dtype:
        return value
    G_LOGGER.warning(f"Input '{name}' is given as {value.dtype} and wanted as {dtype}: it is cast")
    return value.astype(dtype)


class _Saved:
    """A file that a run writes on the way; it is whole however the run ends. Without a path, none."""

    def __init__(self, path):
        self.at_end = False  # without a feed it is written nevertheless, of none
        self.path, self.count = None if path is None else os.fsdecode(path), 0

    def append(self, part):
        if self.path is not None:
            self.write(part)
            self.count += 1

    def write(self, part):
        raise NotImplementedError

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class _SavedInputs(_Saved):
    def __init__(self, path):
        super().__init__(path)
        self.writer = _host.create_feeds(self.path) if path is not None else None

    def write(self, feed):
        self.writer.append(feed)

    def close(self):
        if self.writer is not None and (self.count or self.at_end):
            self.writer.finish()


class _SavedBlobs(_Saved):
    """A folder of an iteration's inputs, each the bytes alone."""

    def write(self, feed):
        import numpy as np
        folder = os.path.join(self.path, f"{self.count:010d}")
        os.makedirs(folder, exist_ok=True)
        for name, value in feed.items():
            if os.path.basename(name) != name:
                raise InvalidArgument(f"save_input_blob_path: input '{name}' cannot be the name of "
                                      "a file")
            np.asarray(value).tofile(os.path.join(folder, f"{name}.bin"))


class _SavedOutputs(_Saved):
    def __init__(self, path, names):
        super().__init__(path)
        self.writer = _host.create_results(self.path, names) if path is not None else None

    def write(self, single):
        for run, (_, (iteration,)) in enumerate(single.items()):
            self.writer.append(run, iteration._tuple())

    def close(self):
        if self.writer is None:
            return
        if self.count or self.at_end:
            self.writer.publish(self.count)
        else:
            self.writer.discard()


def close(stream):
    """Ends a generator now: what it saves is whole, its runners are closed."""
    if hasattr(stream, "close"):
        stream.close()


def changed(stream, change):
    """A stream of what `change` makes of each RunResults, by its index; nothing is done ahead."""
    try:
        for index, single in enumerate(stream):
            yield change(index, _checked(single, index))
    finally:
        close(stream)


def side_by_side(run_results):
    """One stream of a RunResults, a stream, or a list of either, as long as each of them lasts."""
    runs = run_results if isinstance(run_results, (list, tuple)) else [run_results]
    streams = []
    for results in runs:
        if isinstance(results, RunResults):
            streams += [_of_runner(name, iterations) for name, iterations in results.items()]
        elif hasattr(results, "__iter__") and not hasattr(results, "keys") and not isinstance(
                results, (str, bytes)):
            streams.append(iter(results))
        else:
            raise InvalidArgument(f"{kind_of(results)} is no results: expected RunResults, a "
                                  "stream of those, or a list of either")
    return _merged(streams)


def _of_runner(name, iterations):
    for index in range(len(iterations)):
        yield RunResults([(name, [fresh(iterations, index)])])


def _checked(single, index):
    if not isinstance(single, RunResults):
        raise InvalidArgument(f"a stream gave {kind_of(single)} as iteration {index}; "
                              "expected RunResults")
    return single


def _merged(streams):
    compared = 0
    end = object()
    try:
        for group in itertools.zip_longest(*streams, fillvalue=end):
            ended = [index for index, single in enumerate(group) if single is end]
            if ended:
                G_LOGGER.warning(f"Of {len(streams)} streams some are shorter than others, those at "
                                 f"{ended}: iterations are compared as far as all go, which is "
                                 f"{compared}")
                return
            yield RunResults(entry for single in group
                             for entry in _checked(single, compared).items())
            compared += 1
    finally:
        with contextlib.ExitStack() as stack:  # each of them, whatever closing another one raises
            for stream in streams:
                stack.callback(close, stream)
