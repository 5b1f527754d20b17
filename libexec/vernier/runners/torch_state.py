"""What the code of a TorchScript module shows of the state that a call leaves in it for the next.
As in the plug-in (backends/torch/module_state.h)."""

import re

# Where a value may come from, as bits.
OWN = 1  # it is the module's, or a view of that
HOLDS = 2  # new, but the module's values are in it: a list of attributes
FIXED = 4  # of the code, or in a list: copies of the module may share it

UNCHANGING = {"IntType", "FloatType", "BoolType", "StringType", "NoneType", "NumberType",
              "DeviceObjType", "ComplexType", "GeneratorType"}
NEW = {"prim::ListConstruct", "prim::TupleConstruct", "prim::DictConstruct"}
# "(a!)", "(a -> *)" and the like, but not "(str, t)".
ALIAS = re.compile(r"\((\*|[a-z](\|[a-z])*!?( -> [a-z*|]+)?)\)")


class State:
    def __init__(self):
        self.kept = False
        self.in_copies = True  # a copy of what was loaded begins anew: else only loading it does
        self.unseen = ""  # a method that it calls and whose code is not known


def find(torch, module):
    """Does `forward` write to what the next call finds: attributes of the module, tensors in its
    lists, dictionaries, tuples and objects, or constants of the code? Statistics that only training
    writes do not count."""
    graph = getattr(module, "inlined_graph", None)
    if graph is None:  # a module that shows none
        return State()
    state = _Search(torch).find(graph)
    if state.kept and _shares_memory([*module.parameters(), *module.buffers()]):
        state.in_copies = False
    return state


def _shares_memory(values):
    """Have two tensors memory in common, without being the same? PyTorch's copies of such a module
    confuse them."""
    known = {}
    for value in values:
        view = (value.storage_offset(), value.shape, value.stride(), value.dtype)
        if known.setdefault(value.storage().data_ptr(), view) != view:
            return True
    return False


def _kind(value):
    return value.type().kind()


def _is_tensor(value):
    return _kind(value) == "TensorType"


def _holds_others(value):
    return _kind(value) not in UNCHANGING and not _is_tensor(value)


def _is_false(value):
    """Of a module that is not trained: is it `training`, or what a branch on that gives?"""
    node = value.node()
    if node.kind() == "prim::Constant":
        return _kind(value) == "BoolType" and node.hasAttribute("value") and not node.i("value")
    if node.kind() == "prim::GetAttr":
        return node.s("name") == "training"
    if node.kind() != "prim::If" or not _is_false(next(node.inputs())):
        return False
    names = [output.debugName() for output in node.outputs()]
    other = list(list(node.blocks())[1].outputs())
    return _is_false(other[names.index(value.debugName())])


class _Schema:
    """What an operator says of its arguments: "aten::add_(Tensor(a!) self, int n=1) -> Tensor(a!)".
    Falsy: it says nothing, as operators of TorchScript's own do of what they hand on."""

    def __init__(self, node):
        text = "" if node.kind().startswith("prim::") else node.schema()
        arguments, arrow, results = text.rpartition(" -> ")
        self.said = bool(arrow)
        self.arguments = _parts(arguments.partition("(")[2][:-1]) if arrow else []
        self.results = _parts(results[1:-1] if _is_tuple(results) else results)
        self.is_mutable = any("!" in argument for argument in self.arguments)

    def __bool__(self):
        return self.said

    def argument_alias(self, index):
        """"(a!)", or "" where it has none."""
        return _alias(self.arguments, index)

    def result_alias(self, index):
        return _alias(self.results, index)


def _is_tuple(results):
    return results.startswith("(") and not results.startswith("((") and results.endswith(")")


def _alias(parts, index):
    found = ALIAS.search(parts[index]) if index < len(parts) else None
    return found.group() if found else ""


def _parts(text):
    """What commas divide, where they are in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip() not in ("", "*")]


class _Search:
    """Follows what is the module's through the code, until nothing more is found."""

    def __init__(self, torch):
        self.torch = torch
        self.state = State()
        self.origins = {}
        self.graph = ""  # the fork that is looked at: names are of one graph
        self.forks = {}
        self.changed = False

    def find(self, graph):
        self._add(next(graph.inputs()), OWN)
        while self.changed:
            self.changed = False
            self._visit_all(graph)
        return self.state

    def _of(self, value, graph=None):
        return self.origins.get((self.graph if graph is None else graph, value.debugName()), 0)

    def _add(self, value, origin, graph=None):
        if not origin or _kind(value) in UNCHANGING:
            return
        key = (self.graph if graph is None else graph, value.debugName())
        known = self.origins.get(key, 0)
        self.changed = self.changed or known | origin != known
        self.origins[key] = known | origin

    def _add_all(self, sources, targets):
        for source, target in zip(sources, targets):
            self._add(target, self._of(source))

    def _note_write(self, origin):
        if origin & OWN:
            self.state.kept = True
            self.state.in_copies = self.state.in_copies and not origin & FIXED

    def _visit_all(self, block):
        for node in block.nodes():
            kind = node.kind()
            visit = {"prim::If": self._visit_branches, "prim::Loop": self._visit_loop,
                     "prim::Constant": self._visit_constant, "prim::GetAttr": self._visit_read,
                     "prim::SetAttr": self._visit_change, "prim::CallMethod": self._visit_unseen,
                     "prim::CallFunction": self._visit_unseen}.get(kind, self._visit_other)
            if node.hasAttribute("Subgraph"):
                visit = self._visit_fork
            visit(node, list(node.inputs()), list(node.outputs()))

    def _visit_branches(self, node, inputs, outputs):
        branches = list(node.blocks())
        for branch in branches[1:] if _is_false(inputs[0]) else branches:
            self._visit_all(branch)
            self._add_all(branch.outputs(), outputs)

    def _visit_loop(self, node, inputs, outputs):
        """Inputs: how often, whether to begin, and what is carried on. The body has the number of
        the round before that, and gives whether to go on."""
        (body,) = node.blocks()
        carried = list(body.inputs())[1:]
        self._add_all(inputs[2:], carried)
        self._visit_all(body)
        self._add_all(list(body.outputs())[1:], carried)
        self._add_all(carried, outputs)

    def _visit_fork(self, node, inputs, outputs):
        outer = self.graph
        inner = f"{outer}/{outputs[0].debugName()}"
        if inner not in self.forks:
            self.forks[inner] = node.g("Subgraph").copy()
            self.torch._C._jit_pass_inline(self.forks[inner])
        code = self.forks[inner]
        for source, target in zip(inputs, code.inputs()):
            self._add(target, self._of(source), inner)
        self.graph = inner
        self._visit_all(code)
        self.graph = outer
        for source, target in zip(code.outputs(), outputs):
            self._add(target, self._of(source, inner))

    def _visit_constant(self, _node, _inputs, outputs):
        self._add(outputs[0], OWN | FIXED)

    def _visit_read(self, _node, inputs, outputs):
        whole = self._of(inputs[0])
        # What is in a list may share memory with something else, which only the plug-in can see.
        listed = _kind(outputs[0]) not in ("TensorType", "OptionalType", "ClassType")
        if whole:
            self._add(outputs[0], OWN | whole & FIXED | (FIXED if listed else 0))

    def _visit_change(self, _node, inputs, _outputs):
        self._note_write(self._of(inputs[0]))
        self._put(inputs[0], self._of(inputs[1]))

    def _visit_unseen(self, node, inputs, outputs):
        """What it does to the module's values is unknown."""
        if any(self._of(value) & (OWN | HOLDS) for value in inputs):
            self._note_write(OWN | FIXED)
            self.state.unseen = node.s("name") if node.hasAttribute("name") else node.kind()
            for output in outputs:
                self._add(output, OWN | FIXED)

    def _put(self, whole, part):
        """What is put into a value is in it from then on."""
        if part and _holds_others(whole):
            self._add(whole, HOLDS | part & FIXED)

    def _visit_other(self, node, inputs, outputs):
        schema = _Schema(node)
        if schema.is_mutable:
            self._visit_writes(node, inputs, schema)
        self._visit_statistics(inputs, schema)
        for index, output in enumerate(outputs):
            self._add(output, self._of_output(node, inputs, output, index, schema))

    def _visit_writes(self, node, inputs, schema):
        in_list = node.kind().startswith("aten::_foreach_")
        for index, value in enumerate(inputs):
            origin = self._of(value)
            if index == 0 or (_is_tensor(value) and "!" in schema.argument_alias(index)):
                self._note_write(origin | OWN if in_list and origin else origin)
            if index > 0:
                self._put(inputs[0], origin)

    def _visit_statistics(self, inputs, schema):
        """Normalisations write to running statistics where they are asked to train, which their
        schemas do not say."""
        given = {argument.split("=")[0].split()[-1]: value
                 for argument, value in zip(schema.arguments, inputs)}
        flag = given.get("training") or given.get("use_input_stats")
        if flag and not _is_false(flag):
            for name in ("running_mean", "running_var"):
                if name in given:
                    self._note_write(self._of(given[name]))

    def _of_output(self, node, inputs, output, index, schema):
        sources = 0
        for place, value in enumerate(inputs):
            if not schema or _holds_others(value) or schema.argument_alias(place):
                sources |= self._of(value)
        if not sources:
            return 0
        handed_on = not schema or node.kind() == "aten::wait" or schema.result_alias(index)
        if _is_tensor(output):
            return OWN | sources & FIXED if handed_on else 0
        if not handed_on or node.kind() in NEW:
            return HOLDS | sources & FIXED
        same = (node.kind() == "prim::unchecked_cast"
                or str(output.type()) == str(inputs[0].type()))
        return sources if same else OWN | sources & FIXED
