"""Bytes of files. Loaders are called to get what they are for."""

from vernier import Malformed
from vernier._errors import SaveError


def call(loader):
    """What a loader gives; anything else is already that."""
    return loader() if callable(loader) else loader


class BytesFromPath:
    def __init__(self, path):
        self.path = path

    def __call__(self):
        try:
            with open(self.path, "rb") as file:
                return file.read()
        except OSError as error:
            raise Malformed(f"'{self.path}' cannot be read: {error.strerror}") from error


class SaveBytes:
    def __init__(self, obj, path):
        self.obj, self.path = obj, path

    def __call__(self):
        content = call(self.obj)
        try:
            with open(self.path, "wb") as file:
                file.write(content)
        except OSError as error:
            raise SaveError(f"'{self.path}' cannot be written: {error.strerror}") from error
        return content


def bytes_from_path(path):
    return BytesFromPath(path)()


def save_bytes(obj, path):
    return SaveBytes(obj, path)()
