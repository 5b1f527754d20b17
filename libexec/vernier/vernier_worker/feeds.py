"""--data-loader-script: feeds, one at a time."""

import collections.abc
import contextlib
import numbers

from . import results, scripts, tensors, wire


def _up_to_length(loader):
    """Its items: Python would go on until an IndexError, which not every object raises, and may be
    a fault of the data set."""
    for index in range(len(loader)):
        yield loader[index]


def _is_sequence(loader):
    """Whether each item can be asked for by its index. Where there is an `__iter__` as well, an
    index may be a key, or give another order, except of sequences and of data sets in torch's
    protocol (`__getitems__`: Hugging Face)."""
    kind = type(loader)
    if hasattr(kind, "__iter__"):
        return isinstance(loader, collections.abc.Sequence) or hasattr(kind, "__getitems__")
    return hasattr(kind, "__getitem__") and hasattr(kind, "__len__")


def _iterate(loader):
    if hasattr(type(loader), "__iter__") or not _is_sequence(loader):
        return iter(loader)
    return _up_to_length(loader)


class FeedSource:
    """What the script's function returned, being gone through."""

    def __init__(self, path, name):
        function, symbol = scripts.find(path, [name], scripts.polygraphys_words(path, name))
        self.where = f"{path}:{function}"
        self.symbol = symbol
        self.loader = None
        self.iterator = None
        self.count = 0
        self.promised = -1  # a length above the number of feeds that there were

    def _begin(self, infos):
        if not callable(self.symbol):
            raise wire.Failure(wire.MALFORMED, f"{self.where} is not a function but "
                               f"{wire.a(type(self.symbol))}")
        loader = self.symbol()
        if infos:
            with contextlib.suppress(AttributeError):
                loader.input_metadata = results.input_metadata(infos)
        self.loader = loader

    def _go_through(self, loader):
        try:
            self.iterator = _iterate(loader)
        except TypeError:
            raise wire.Failure(
                wire.MALFORMED, f"{self.where} returned {wire.a(type(loader))}; expected a "
                "generator, a list or another iterable of mappings from input names to "
                "arrays") from None

    def next(self, infos):
        """The encoded next feed, or None at the end."""
        with scripts.guard(self.where):
            if self.iterator is None:
                self._begin(infos)
                self._go_through(self.loader)
            try:
                feed = next(self.iterator)
            except StopIteration:
                if _is_sequence(self.loader) and self.count < len(self.loader):
                    raise self._too_short(self.count) from None
                self._keep_promise()
                return None
            except IndexError as error:
                if not _is_sequence(self.loader):
                    raise
                raise self._too_short(self.count, error) from None
            return self._encode(feed)

    def length(self, infos):
        """How many feeds there are, each of which at() makes; -1: only next() makes them."""
        with scripts.guard(self.where):
            if self.loader is None:
                self._begin(infos)
            return len(self.loader) if _is_sequence(self.loader) else -1

    def at(self, index):
        """The encoded feed of an index, which is below length()."""
        with scripts.guard(self.where):
            try:
                feed = self.loader[index]
            except IndexError as error:
                raise self._too_short(index, error) from None
            self.count = index
            return self._encode(feed)

    def _keep_promise(self):
        """Of an object with a length and an order of its own, a `DataLoader` for instance."""
        with contextlib.suppress(Exception):  # it need not have one
            length = len(self.loader)
            self.promised = length if length > self.count else -1

    def _too_short(self, index, error=""):
        why = f" ({error})" if str(error) else ""
        return wire.Failure(
            wire.MALFORMED, f"{self.where} returned {wire.a(type(self.loader))} with the length "
            f"{len(self.loader)}, which has no feed {index}{why}")

    def _encode(self, feed):
        self.count += 1
        what = f"feed {self.count - 1} of {self.where}: input"
        return tensors.encode(self._items(feed), what, takes_plain=True)

    def _items(self, feed):
        try:
            items = list(feed.items())
        except Exception:
            items = None
        if items is None or not all(isinstance(name, str) for name, _ in items):
            raise wire.Failure(
                wire.MALFORMED, f"feed {self.count - 1} of {self.where} is {wire.a(type(feed))}; "
                f"expected a mapping of input names to arrays, got:\n{feed!r:.1000}")
        return items


class TokenSource:
    """--tokens SCRIPT.py: the ids that its function returns, as one tensor."""

    promised = -1  # as of FeedSource

    def __init__(self, path, name):
        function, self.symbol = scripts.find(path, [name], f"--tokens '{path}:{name}'")
        self.where = f"{path}:{function}"
        self.given = False

    def next(self, _infos):
        if self.given:
            return None
        self.given = True
        with scripts.guard(self.where):
            if not callable(self.symbol):
                raise wire.Failure(wire.MALFORMED, f"{self.where} is not a function but "
                                   f"{wire.a(type(self.symbol))}")
            return tensors.encode([("tokens", self._rows(self.symbol()))],
                                  f"what {self.where} returned:", takes_plain=True)

    def _rows(self, ids):
        if isinstance(ids, (list, tuple)) and ids and not isinstance(ids[0], numbers.Integral):
            lengths = {len(row) for row in ids}
            if len(lengths) > 1:
                raise wire.Failure(
                    wire.MALFORMED, f"{self.where} returned rows of {min(lengths)} to "
                    f"{max(lengths)} tokens; all prompts need the same number (fill short ones "
                    "with the token of --decode-stop)")
        return ids
