"""Random inputs, of the same numbers as Polygraphy's, and saved ones."""

import os
from collections import OrderedDict

from polygraphy import exception, json
from polygraphy.comparator.random_inputs import RandomInputs
from polygraphy.logger import G_LOGGER


class DataLoader(RandomInputs):
    def warn(self, text):
        G_LOGGER.warning(text)

    def fail(self, text):
        raise exception.PolygraphyException(text)


class StreamingDataLoader:
    """Feeds that were saved as JSON: of one path or several, files or folders of them."""

    def __init__(self, paths, allow_dirs=True):
        self.paths, self.allow_dirs = paths, allow_dirs

    def _files(self):
        paths = [self.paths] if isinstance(self.paths, (str, os.PathLike)) else self.paths
        for path in paths:
            if not os.path.isdir(path):
                yield path
            elif not self.allow_dirs:
                raise exception.PolygraphyException(
                    f"'{path}' is a folder, and allow_dirs is False")
            else:
                names = [name for name in os.listdir(path) if name.endswith(".json")]
                names.sort(key=lambda name: (len(name), name))
                yield from (os.path.join(path, name) for name in names)

    def __iter__(self):
        for path in self._files():
            feeds = json.load_json(path)
            for feed in feeds if isinstance(feeds, list) else [feeds]:
                yield OrderedDict(feed)


__all__ = ["DataLoader", "StreamingDataLoader"]
__getattr__ = exception.missing("comparator.data_loader")
