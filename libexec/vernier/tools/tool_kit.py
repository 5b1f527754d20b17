"""What the tools have in common: log lines, packages, ONNX files in and out."""

import importlib
import os
import sys

from vernier_worker import wire

SEVERITIES = {"S": -10, "V": 10, "I": 20, "W": 30, "E": 40}


def say(text, letter="I"):
    """One message of the log, of any number of lines."""
    sys.stdout.finish_line()
    sys.stdout.log(SEVERITIES[letter], text)


def refuse(text, code=wire.INVALID):
    raise wire.Failure(code, text)


def need(module, package, what):
    """The module, or a sentence about how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        refuse(f"{what} needs the Python package {package}, which {sys.executable} does not have "
               f"({error}): '{sys.executable} -m pip install {package}' adds it, or --python names "
               "another interpreter; Polygraphy needs it, too", wire.UNAVAILABLE)


def graphsurgeon(what):
    """Without its notes on every node that it looks at."""
    gs = need("onnx_graphsurgeon", "onnx-graphsurgeon", what)
    logger = importlib.import_module("onnx_graphsurgeon.logger").G_LOGGER
    logger.severity = max(logger.severity, logger.WARNING)
    return gs


def load_model(options, weights=True):
    """The model, with what the command line asked to change in it done already. Without `weights`
    those that lie in other files are left there."""
    import onnx
    path = options.value("model_source") or options.value("model_file")
    weights = weights and "ignore_external_data" not in options
    try:
        return onnx.load(path, load_external_data=weights)
    except FileNotFoundError as error:
        refuse(f"'{path}' cannot be read: {error.strerror}: '{error.filename}'", wire.MALFORMED)
    except Exception as error:
        refuse(f"'{path}' is not an ONNX model: {error}", wire.MALFORMED)


def save_model(model, path, options):
    """As the options about external data say. The file appears whole or not at all."""
    import onnx
    external = "external_data_path" in options
    threshold = options.number("external_data_size_threshold")
    say(f"Saving ONNX model to: {path}")
    folder = os.path.dirname(os.path.abspath(path))
    temporary = os.path.join(folder, f".{os.path.basename(path)}.{os.getpid()}.tmp")
    try:
        os.makedirs(folder, exist_ok=True)
        if external:
            onnx.save_model(model, temporary, save_as_external_data=True,
                            all_tensors_to_one_file="all_tensors_to_one_file" not in options,
                            location=options.value("external_data_path") or None,
                            size_threshold=1024 if threshold is None else threshold)
        else:
            onnx.save_model(model, temporary)
        os.replace(temporary, path)
    except (OSError, ValueError) as error:
        if os.path.exists(temporary):
            os.remove(temporary)
        refuse(f"'{path}' cannot be written: {error}", wire.IO)


def write_text(path, text):
    folder = os.path.dirname(os.path.abspath(path))
    temporary = os.path.join(folder, f".{os.path.basename(path)}.{os.getpid()}.tmp")
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as error:
        if os.path.exists(temporary):
            os.remove(temporary)
        refuse(f"'{path}' cannot be written: {error.strerror}", wire.IO)
