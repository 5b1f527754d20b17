"""--model-runner: a model in Python, as a runner like any other."""

import math
import mmap
import numbers
import time

from . import scripts, tensors, wire

ENTRY_POINTS = ["load", "infer"]
DEFAULT_RESET = "reset_states"
UNKNOWN = 0  # an element type that the model does not say


class Request:
    """What is to be opened (OpenRequest in src/backend/wire/messages.h)."""

    def __init__(self, reader, memory):
        self.session = reader.u64()
        self.model_path = reader.text()
        self.model_size = reader.u64()
        self.external_data_dir = reader.text()
        self.inputs = read_infos(reader)
        self.outputs = [reader.text() for _ in range(reader.u64())]
        self.lists = {}  # options by key, with all their values
        for key, value in reader.options():
            self.lists.setdefault(key, []).append(value)
        self.options = {key: values[-1] for key, values in self.lists.items()}
        self.memory = memory  # of an edited model


def read_infos(reader):
    """(name, code of the element type, dims or None) of each tensor; dims are numbers or names."""
    infos = []
    for _ in range(reader.u64()):
        name, code = reader.text(), reader.u8()
        dims = None
        if reader.u8():
            dims = [(reader.i64(), reader.text()) for _ in range(reader.u64())]
            dims = [size if size >= 0 else (symbol or -1) for size, symbol in dims]
        infos.append((name, code, dims))
    return infos


def write_infos(infos, out):
    out.u64(len(infos))
    for name, code, dims in infos:
        out.text(name)
        out.u8(code)
        out.u8(dims is not None)
        if dims is None:
            continue
        out.u64(len(dims))
        for dim in dims:
            is_size = isinstance(dim, int) and dim >= 0
            out.i64(dim if is_size else -1)
            out.text(dim if isinstance(dim, str) else "")


def _metadata_of(model, where):
    """What the object says of its inputs: a mapping of names to (dtype, shape), or None."""
    for word in ("input_metadata", "get_input_metadata"):
        metadata = getattr(model, word, None)
        if metadata is None:
            continue
        metadata = metadata() if callable(metadata) else metadata
        return [_info(name, entry, f"{where}: {word} of '{name}'")
                for name, entry in metadata.items()]
    return None


def _numpy_type(dtype):
    """NumPy's type of a type or its name; some names only ml_dtypes knows."""
    import numpy as np
    extra = tensors.EXTRA_CODES.get(dtype) if isinstance(dtype, str) else None
    return np.dtype(dtype) if extra is None else tensors.dtype_of(extra)


def _info(name, entry, who):
    try:
        dtype, shape = entry
        numpy_like = getattr(dtype, "numpy", None)  # Polygraphy's DataType
        dtype = numpy_like() if callable(numpy_like) else dtype
        code = UNKNOWN if dtype is None else tensors.code_of(_numpy_type(dtype), who)
        dims = None if shape is None else [_dim(d) for d in shape]
    except wire.Failure:
        raise
    except Exception as error:
        raise wire.Failure(wire.BACKEND, f"{who} is {entry!r:.200}; expected (dtype, shape): "
                           f"{error}") from None
    return str(name), code, dims


def _dim(dim):
    if dim is None:
        return -1
    return dim if isinstance(dim, str) else int(dim)


def _methods_of(model):
    """What --reset may name, as words that end a sentence."""
    script = getattr(model, "_c", None)  # of a TorchScript module
    if hasattr(script, "_method_names"):
        names = script._method_names()
    elif hasattr(model, "__globals__"):  # a function; those beside it
        names = [name for name, value in model.__globals__.items()
                 if getattr(value, "__module__", None) == model.__module__]
    else:
        classes = [own for own in type(model).__mro__
                   if not own.__module__.startswith(("torch.", "builtins"))]
        names = {name for own in classes for name, value in vars(own).items() if callable(value)}
    shown = ", ".join(f"'{name}'" for name in sorted(names) if not name.startswith("_"))
    return f"; its methods are: {shown}" if shown else ""


class Runner:
    """One opened model."""

    def __init__(self, request):
        self.request = request
        self._open()

    def _open(self):
        request = self.request
        self.used = False
        self.path = scripts.built_in(request.options["script"])
        request.options["external_data_dir"] = request.external_data_dir
        self.outputs = request.outputs
        wanted = request.options.get("function")
        name, symbol = scripts.find(self.path, [wanted] if wanted else ENTRY_POINTS, self.path,
                                    wire.BACKEND)
        self.where = f"{self.path}:{name}"
        with scripts.guard(self.where):
            model = self._load(name, symbol, request)
        self.model = model
        self.call = model.infer if callable(getattr(model, "infer", None)) else model
        if not callable(self.call):
            raise wire.Failure(
                wire.BACKEND, f"{self.where} returned {wire.a(type(model))}; expected a function "
                "of one feed, or an object with infer(feed)")
        with scripts.guard(self.where):
            if callable(getattr(model, "activate", None)):  # written as one of Polygraphy's runners
                model.activate()
            own = _metadata_of(model, self.where)
            self._reset = self._find_reset(request.options.get("reset"))
        self.nested_inputs = list(getattr(model, "nested_inputs", ()))  # see parts.py
        self.inputs = [info for info in (request.inputs if own is None else own)
                       if info[0] not in self.nested_inputs]

    def _load(self, name, symbol, request):
        if name == "infer" or self.path in scripts.given:
            return symbol  # a script, or an object, that is the model itself
        arguments = {}
        if scripts.accepts(symbol, "outputs"):
            arguments["outputs"] = list(request.outputs)
        if scripts.accepts(symbol, "options"):
            arguments["options"] = dict(request.options)
        if scripts.accepts(symbol, "lists"):
            arguments["lists"] = dict(request.lists)
        if scripts.accepts(symbol, "declared"):
            arguments["declared"] = {name: tensors.dtype_of(code)
                                     for name, code, _ in request.inputs if code}
        if scripts.accepts(symbol, "marked"):
            arguments["marked"] = request.lists.get("mark", [])
        if request.memory is not None and scripts.accepts(symbol, "model_bytes"):
            with mmap.mmap(request.memory, request.model_size, access=mmap.ACCESS_READ) as memory:
                arguments["model_bytes"] = memory[:]
        return symbol(request.model_path, **arguments)

    def describe(self, seconds, out):
        """SessionDescription in src/backend/wire/messages.h.

        Outputs are known once there are some."""
        write_infos(self.inputs, out)
        out.u64(0)
        out.u64(0)
        for names in (self.nested_inputs, getattr(self.model, "nested_outputs", ())):
            out.u64(len(names))
            for name in names:
                out.text(name)
        out.text(str(getattr(self.model, "precision", "") or ""))
        out.text(str(getattr(self.model, "device", "") or "CPU"))
        out.f64(seconds)
        out.u8(self._reset is not None)
        out.u8(False)  # kRunStep is for plug-ins

    def _find_reset(self, asked):
        """What resets the state that the model keeps from one call to the next: its method of that
        name, or a function beside a function that is the model. None: it keeps no state that is
        known of."""
        name = asked or DEFAULT_RESET
        module = getattr(self.model, "module", None)  # of torch_model.py
        beside = getattr(self.model, "__globals__", {})  # of a function
        for found in (getattr(self.model, name, None), getattr(module, name, None),
                      beside.get(name)):
            if callable(found):
                return found
        if asked:
            owner = (f"{self.where} gives {wire.a(type(self.model))}, which" if module is None
                     else "the module")
            raise wire.Failure(wire.INVALID, f"--reset {asked}: {owner} has no method '{asked}'"
                               + _methods_of(self.model if module is None else module))
        return getattr(self.model, "open_again", None)

    def reset(self):
        """The next call begins as the first one did: what has no method for that, nor says that it
        keeps state, is opened again."""
        if self._reset is None:
            if self.used:
                self.close()
                scripts.forget_beside(self.path)
                self._open()
            return
        with scripts.guard(f"resetting {self.where}"):
            self._reset()

    def run(self, feed, out, pool, received=None):
        """One inference; the time is what the model says of it, else includes that the outputs have
        arrived as arrays. `received`: the hashes of the inputs, where they were asked for."""
        self.used = True
        with scripts.guard(self.where):
            start = time.perf_counter()
            items = self._items(self.call(dict(feed)))
            arrays = [(name, tensors.to_numpy(value, f"output '{name}' of {self.where}"))
                      for name, value in items]
            seconds = self._own_seconds(time.perf_counter() - start)
            description, memory = tensors.encode(arrays, f"{self.where}: output", pool)
        out.f64(seconds)
        if received is not None:
            out.u64(len(received))
            for name, value in received:
                out.text(name)
                out.u64(value)
        out.raw(description)
        return memory

    def _own_seconds(self, measured):
        """Polygraphy's runners have a clock of their own, which may have nothing to say."""
        said = getattr(self.model, "inference_time", None)
        is_number = isinstance(said, numbers.Real) and not isinstance(said, bool)
        return float(said) if is_number and math.isfinite(said) and said >= 0 else measured

    def _items(self, outputs):
        if callable(getattr(outputs, "items", None)):
            items = [(str(name), value) for name, value in outputs.items()]
        else:
            values = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
            names = self.outputs
            if len(names) != len(values):
                names = [f"output_{i}" for i in range(len(values))]
            items = list(zip(names, values))
        if not items:
            raise wire.Failure(wire.BACKEND, f"{self.where} returned no outputs")
        return items

    def close(self):
        for word in ("deactivate", "close"):
            function = getattr(self.model, word, None)
            if callable(function):
                with scripts.guard(self.where):
                    function()
                return
