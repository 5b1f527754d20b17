"""Bytes of files. Loaders are called to get what they are for."""

import inspect

from .. import errors, exception
from ..mod import import_from_script, snake_case


def call(loader):
    """What a loader gives; anything else is already that."""
    return loader() if callable(loader) else loader


def at_once(loader):
    """A function that makes a loader, with the parameters of its __init__, and calls it."""
    def function(*values, **words):
        return loader(*values, **words)()
    function.__name__ = function.__qualname__ = snake_case(loader.__name__)
    function.__signature__ = inspect.signature(loader)
    function.__doc__ = f"What a {loader.__name__} gives, at once."
    return function


class BytesFromPath:
    def __init__(self, path):
        self.path = path

    def __call__(self):
        try:
            with open(self.path, "rb") as file:
                return file.read()
        except OSError as error:
            raise errors.Malformed(f"'{self.path}' cannot be read: {error.strerror}") from error


class SaveBytes:
    def __init__(self, obj, path):
        self.obj, self.path = obj, path

    def __call__(self):
        content = call(self.obj)
        try:
            with open(self.path, "wb") as file:
                file.write(content)
        except OSError as error:
            raise errors.SaveError(f"'{self.path}' cannot be written: {error.strerror}") from error
        return content


class InvokeFromScript:
    """A function of a script, which is read when the function is called."""

    def __init__(self, path, name):
        self.path, self.name = path, name

    def __call__(self, *args, **kwargs):
        return import_from_script(self.path, self.name)(*args, **kwargs)


def invoke_from_script(path, name, *args, **kwargs):
    return InvokeFromScript(path, name)(*args, **kwargs)


def bytes_from_path(path):
    return BytesFromPath(path)()


def save_bytes(obj, path):
    return SaveBytes(obj, path)()


__all__ = ["BytesFromPath", "InvokeFromScript", "SaveBytes", "bytes_from_path",
           "invoke_from_script", "save_bytes"]
__getattr__ = exception.missing(__name__)
