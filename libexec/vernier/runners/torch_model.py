"""--torch: TorchScript and torch.export models, and pickled modules with --allow-pickle, by the user's
own torch. AOTInductor packages as well, untried: docs/pytorch.md says why.

The names of its members show what a file is; without --allow-pickle nothing is unpickled.
"""

import copy
import fnmatch
import inspect
import os
import zipfile

from vernier_worker import wire

import torch_state

# Before torch is imported: no part of it may unpickle more than tensors behind our back.
FORCED = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"

MADE_BY = "write one with torch.jit.save or torch.export.save"


def kind_of(path):
    """"script", "export", "aoti", "pickle", or None for what torch cannot read."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        with open(path, "rb") as file:
            return "pickle" if file.read(1) == b"\x80" else None
    except OSError as error:
        raise wire.Failure(wire.MALFORMED, f"'{path}' cannot be read: {error.strerror}") from None
    ends = {name.rsplit("/", 1)[-1] for name in names}
    if "constants.pkl" in ends and any("/code/" in name for name in names):
        return "script"
    if any("data/aotinductor/" in name for name in names):
        return "aoti"
    if any("serialized_exported_program" in n or "models/" in n for n in names):
        return "export"
    return "pickle" if "data.pkl" in ends else None


def _type_name(dtype):
    return str(dtype)[len("torch."):]


def _precision(parameters):
    """The floating types of the parameters: "float32", "bfloat16+float32"."""
    return "+".join(sorted({_type_name(p.dtype) for p in parameters if p.is_floating_point()}))


def _matching(names, patterns):
    """The names that one of the patterns fits; a pattern without any is an error."""
    chosen = set()
    for pattern in patterns:
        found = fnmatch.filter(names, pattern)
        if not found:
            raise KeyError(f"nothing is called '{pattern}'; there are: {', '.join(names)}")
        chosen.update(found)
    return [name for name in names if name in chosen]


def _flat(results):
    """Tuples and lists of tensors, nested ones too, in one list."""
    if not isinstance(results, (tuple, list)):
        return [results]
    return [value for part in results for value in _flat(part)]


def cause_first(error):
    """What TorchScript's interpreter says of an error in a module ends with the cause: that comes
    first here, as in the plug-in (backends/torch/torchscript_session.cc)."""
    text = str(error)
    cause = text.rpartition("<--- HERE\n")[2].split("\n", 1)[0] if "<--- HERE\n" in text else ""
    return wire.Failure(wire.BACKEND, f"{cause}\n{text}" if cause else text)


def wrong_count(names, count):
    """As the plug-in says it (backends/torch/torchscript_session.cc)."""
    return (f"--torch-outputs: expected a name for each output: the model returns {count}, and "
            f"{len(names)} are named ({', '.join(names)})")


class Model:
    """Something to call with tensors in order. Sub-classes say what the file holds."""

    def __init__(self, torch, call, inputs, outputs=()):
        self.torch = torch
        self.call = call
        self.input_metadata = inputs  # name to (dtype or None, shape or None)
        self.output_names = list(outputs)
        self.asked = []  # --torch-outputs
        self.module = None  # whose methods --reset may name
        self.open_again = None  # a function, where what was loaded keeps state from call to call
        self.place = "cuda" if torch.cuda.is_available() else "cpu"
        self.precision = ""
        self.marked = {}
        self.warned_of_order = False

    @property
    def device(self):
        """For the tables."""
        return self.place.upper()

    def infer(self, feed):
        names = list(self.input_metadata)
        if all(name in feed for name in names):
            arrays = [feed[name] for name in names]
        elif len(feed) == len(names):
            arrays = list(feed.values())
            self._warn_of_order(names, feed)
        else:
            raise ValueError(f"the model takes {names}, and the feed has {list(feed)}; "
                             "--map-inputs says which is which, and what is left out")
        inputs = [self.torch.from_numpy(array).to(self.place) for array in arrays]
        self.marked = {}
        with self.torch.inference_mode():
            results = self._call(inputs)
        return {**self._named(results), **self.marked}

    def _call(self, inputs):
        if not isinstance(self.call, self.torch.jit.ScriptModule):
            return self.call(*inputs)
        try:
            return self.call(*inputs)
        except RuntimeError as error:
            raise cause_first(error) from None

    def _warn_of_order(self, names, feed):
        if not self.warned_of_order:
            pairs = ", ".join(f"'{name}' is given '{given}'" for name, given in zip(names, feed))
            print("[W] the module's inputs have other names than those of the feed and are "
                  "matched in order: " + pairs)
        self.warned_of_order = True

    def _named(self, results):
        if isinstance(results, dict):
            fields, results = list(results), list(results.values())
        else:
            fields = getattr(results, "_fields", None)  # a named tuple
            results = _flat(results)
        if self.asked and len(self.asked) != len(results):
            raise wire.Failure(wire.INVALID, wrong_count(self.asked, len(results)))
        for names in (self.asked, self.output_names, fields):
            if names and len(names) == len(results):
                return dict(zip(names, results))
        return {f"output_{i}": value for i, value in enumerate(results)}


def _read_script(torch, path):
    try:
        return torch.jit.load(path, map_location="cpu").eval()
    except RuntimeError as error:
        raise wire.Failure(wire.MALFORMED, f"'{path}' cannot be read as TorchScript: "
                           f"{str(error).splitlines()[0]}") from None


def _load_script(torch, path, options):
    module = _read_script(torch, path)
    arguments = module.forward.schema.arguments[1:]  # without self
    names = [a.name for a in arguments if not a.has_default_value()]
    model = Model(torch, module, {name: (None, None) for name in names})
    model.precision = _precision(module.parameters())

    def use(chosen):
        marked = options.get("mark")
        model.module = chosen.to(model.place)
        model.call = _marking_script(torch, chosen, model, marked) if marked else chosen
    use(module)
    if not options.get("reset") and not hasattr(module, "reset_states"):
        fresh = _fresh_modules(torch, module, path)
        model.open_again = (lambda: use(fresh())) if fresh else None
    return model


def _fresh_modules(torch, module, path):
    """A function that gives the module as it was loaded; None for one that keeps no state."""
    state = torch_state.find(torch, module)
    if state.unseen:
        print(f"[W] the module calls the method '{state.unseen}' of an interface or of C++, which "
              "may keep state: the module is loaded again before each feed, or each sequence; a "
              "method reset_states avoids that")
    if not state.kept:
        return None
    if not state.in_copies:
        return lambda: _read_script(torch, path)
    pristine = copy.deepcopy(module)
    return lambda: copy.deepcopy(pristine)


def _marking_script(torch, module, model, patterns):
    """The module's graph with all calls taken apart, which also returns what patterns mark."""
    graph = module.inlined_graph.copy()
    none = graph.create("prim::Constant")
    graph.prependNode(none)
    none.output().setType(torch._C.NoneType.get())
    inner = dict(_script_tensors(torch, graph, none.output()))
    marked = _matching(list(inner), patterns)
    values = [next(graph.outputs()), *(inner[name] for name in marked)]
    together = graph.create("prim::TupleConstruct", values)
    graph.appendNode(together)
    together.output().setType(torch._C.TupleType([value.type() for value in values]))
    graph.eraseOutput(0)
    graph.registerOutput(together.output())
    function = torch._C._create_function_from_graph("forward", graph)

    def call(*inputs):
        try:
            results, *kept = function(module._c, *inputs)
        except RuntimeError as error:
            raise cause_first(error) from None
        # Of the branches of an If, one ran.
        model.marked.update((n, value) for n, value in zip(marked, kept) if value is not None)
        return results
    return call


def _script_tensors(torch, block, none):
    """Names and values of the tensors that a block's nodes make, and the branches of its Ifs, which
    hand them out or `none`. Those within loops have a value for each round, and stay inside."""
    tensor = torch._C.TensorType.get()
    for node in list(block.nodes()):
        made = list(node.outputs())
        if node.kind() == "prim::If":
            branches = list(node.blocks())
            for branch in branches:
                for name, value in list(_script_tensors(torch, branch, none)):
                    for other in branches:
                        other.registerOutput(value if other is branch else none)
                    node.addOutput().setType(torch._C.OptionalType(tensor))
                    yield name, list(node.outputs())[-1]
        if node.kind() in ("prim::GetAttr", "prim::Constant", "prim::Uninitialized"):
            continue
        for value in made:
            if value.type().isSubtypeOf(tensor):
                name = value.debugName()  # a number, unless the source has a word for it
                kind = node.kind().rpartition("::")[2]
                yield f"{kind}_{name}" if name.isdigit() else name, value


def _dims(value):
    return [size if isinstance(size, int) else str(size) for size in value.shape]


def _load_export(torch, path, options):
    from torch.utils import _pytree as pytree
    program = torch.export.load(path)
    names = [name for name in program.graph_signature.user_inputs if isinstance(name, str)]
    values = {node.name: node.meta.get("val") for node in program.graph.nodes
              if node.op == "placeholder"}
    inputs = {name: (_type_name(values[name].dtype), _dims(values[name])) for name in names}
    outputs = [str(name) for name in program.graph_signature.user_outputs]
    module = program.module()

    def call(*flat):
        arguments, keywords = pytree.tree_unflatten(flat, program.call_spec.in_spec)
        return pytree.tree_flatten(module(*arguments, **keywords))[0]
    model = Model(torch, call, inputs, outputs)
    model.precision = _precision(module.parameters())
    module.to(model.place)
    kept = {name: module.get_buffer(name).clone()
            for name in program.graph_signature.buffers_to_mutate.values()}

    def open_again():
        with torch.no_grad():
            for name, value in kept.items():
                module.get_buffer(name).copy_(value)
    model.open_again = open_again if kept else None
    if options.get("mark"):
        model.call = _marking_interpreter(torch, module, model, options["mark"])
    return model


def _marking_interpreter(torch, module, model, patterns):
    """Runs the program node by node, and keeps what the marked nodes give."""
    nodes = [node.name for node in module.graph.nodes if node.op.startswith("call_")]
    marked = set(_matching(nodes, patterns))

    class Interpreter(torch.fx.Interpreter):
        def run_node(self, node):
            value = super().run_node(node)
            if node.name in marked and isinstance(value, torch.Tensor):
                model.marked[node.name] = value
            return value

    def call(*inputs):
        return Interpreter(module).run(*inputs)
    return call


def _load_compiled(torch, path, _options):
    from torch.utils import _pytree as pytree
    compiled = torch._inductor.aoti_load_package(path)
    spec = pytree.treespec_loads(compiled.loader.get_call_spec()[0])
    model = Model(torch, None, {f"input_{i}": (None, None) for i in range(spec.num_leaves)})

    def call(*flat):
        arguments, keywords = pytree.tree_unflatten(flat, spec)
        return pytree.tree_flatten(compiled(*arguments, **keywords))[0]
    model.call = call
    metadata = getattr(compiled.loader, "get_metadata", dict)()
    model.place = metadata.get("AOTI_DEVICE_KEY", "cpu")
    return model


def _load_pickle(torch, path, options):
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=False)
    except (AttributeError, ModuleNotFoundError) as error:
        code = wire.UNAVAILABLE if isinstance(error, ModuleNotFoundError) else wire.MALFORMED
        raise wire.Failure(
            code, f"'{path}' needs Python code that is not found here: {error}. A pickle has none in "
            "it: PYTHONPATH names the folder of the module that it was made with; or build the "
            "module in a script for --model-runner") from None
    if not isinstance(loaded, torch.nn.Module):
        raise wire.Failure(
            wire.MALFORMED, f"'{path}' holds {wire.a(type(loaded))} and no module: build the "
            "module in a script for --model-runner, which loads these weights")
    return from_module(torch, loaded, options.get("mark", ()))


def from_module(torch, module, mark=()):
    """A module that is run eagerly, with the outputs of the sub-modules that patterns mark."""
    module.eval()
    parameters = inspect.signature(module.forward).parameters.values()
    names = [p.name for p in parameters if p.default is p.empty]
    model = Model(torch, module, {name: (None, None) for name in names})
    model.module = module
    model.precision = _precision(module.parameters())
    module.to(model.place)
    modules = {name: inner for name, inner in module.named_modules() if name}

    def keeper(name):
        def keep(_module, _inputs, output):
            if isinstance(output, torch.Tensor):
                model.marked[name] = output
        return keep
    for name in _matching(list(modules), mark):
        modules[name].register_forward_hook(keeper(name))
    return model


LOADERS = {"script": _load_script, "export": _load_export, "aoti": _load_compiled,
           "pickle": _load_pickle}
MARKABLE = ("script", "export", "pickle")


def load(model_path, lists):
    """A file of any kind that torch has. `lists` are options by key, with all their values."""
    kind = kind_of(model_path)
    if kind is None:
        raise wire.Failure(wire.MALFORMED,
                           f"'{model_path}' is not a file that torch writes; {MADE_BY}")
    if lists.get("mark") and kind not in MARKABLE:
        print(f"[W] tensors inside of '{os.path.basename(model_path)}' cannot be marked: it is "
              "compiled; those of torch.export programs and of modules in a --model-runner can")
    if kind == "pickle" and not lists.get("allow_pickle"):
        raise wire.Failure(
            wire.MALFORMED, f"'{model_path}' is a pickle, which runs whatever code is in it when it "
            f"is loaded: --allow-pickle does so; {MADE_BY}")
    if lists.get("allow_pickle"):
        os.environ.pop(FORCED, None)
    else:
        os.environ[FORCED] = "1"
    import torch
    model = LOADERS[kind](torch, model_path, lists)
    model.asked = lists.get("output_names") or []
    return model
