"""The type stubs say what the package has: every public function and method, parameter by parameter."""

import ast
import importlib
import inspect
import pathlib

import pytest

import vernier

FOLDER = pathlib.Path(vernier.__file__).parent


def parameters_of(node):
    """Names and whether each has a default, as the stub says it."""
    args = node.args
    plain = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
    found = [(arg.arg, given is not None) for arg, given in zip(plain, defaults)]
    found += [("*" + args.vararg.arg, False)] if args.vararg else []
    found += [(arg.arg, given is not None) for arg, given in zip(args.kwonlyargs, args.kw_defaults)]
    return found + ([("**" + args.kwarg.arg, False)] if args.kwarg else [])


def parameters_in_python(function):
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [(stars.get(p.kind, "") + p.name, p.default is not p.empty)
            for p in inspect.signature(function).parameters.values()]


def functions_of(tree, owner, skip):
    """(name, stub, what is there) of every function and method that has parameters of its own."""
    for node in tree.body:
        name = getattr(node, "name", "")
        if name in skip:
            continue
        if isinstance(node, ast.ClassDef) and not name.startswith("_"):
            yield from functions_of(node, getattr(owner, name), skip)
        elif isinstance(node, ast.FunctionDef) and (name == "__init__" or not name.startswith("__")):
            getattr(owner, name)  # the package loads its parts when they are asked for
            found = inspect.getattr_static(owner, name)
            if isinstance(found, (classmethod, staticmethod)):
                found = found.__func__
            if not isinstance(found, property):
                yield f"{getattr(owner, '__name__', owner)}.{name}", node, found


def stubbed(module, file, skip=()):
    tree = ast.parse((FOLDER / file).read_text())
    return [pytest.param(node, found, id=name)
            for name, node, found in functions_of(tree, importlib.import_module(module), skip)]


@pytest.mark.parametrize("node, found", [
    *stubbed("vernier", "__init__.pyi", skip=("Entry",)),
    *stubbed("vernier.pytest_plugin", "pytest_plugin.pyi", skip=("vernier",))])
def test_parameters_are_those_of_the_code(node, found):
    assert parameters_of(node) == parameters_in_python(found)


def test_everything_public_is_in_the_stubs():
    tree = ast.parse((FOLDER / "__init__.pyi").read_text())
    there = {getattr(node, "name", "") for node in tree.body}
    assert set(vernier.__all__) <= there
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or node.name.startswith("_") or (
                node.name == "Entry"):
            continue
        said = {getattr(inner, "name", getattr(getattr(inner, "target", None), "id", ""))
                for inner in node.body}
        of_class = vars(getattr(vernier, node.name))
        public = {name for name, value in of_class.items() if not name.startswith("_")
                  and (callable(value) or isinstance(value, (property, classmethod, staticmethod)))}
        assert public | ({"_repr_html_"} & set(of_class)) <= said, node.name


CALLS = """
from vernier import Record, RunResults, run
from vernier.pytest_plugin import VernierFixture

class Mine:
    def infer(self, feed: object) -> dict[str, float]:
        return {}

def of_fixture(vernier: VernierFixture, record: Record, results: RunResults) -> None:
    run("m.onnx", [Mine(), "onnxrt"])
    vernier.load_inputs("inputs.json")
    record._repr_html_()
    results._repr_html_()
"""


def test_documented_calls_pass_a_type_checker(tmp_path):
    from mypy import api  # here: only this test needs it
    (tmp_path / "calls.py").write_text(CALLS)
    out, err, code = api.run(["--strict", "--cache-dir", str(tmp_path / "cache"),
                              str(tmp_path / "calls.py")])
    assert code == 0, out + err


def test_fixture_has_what_the_stub_does_not_list():
    tree = ast.parse((FOLDER / "pytest_plugin.pyi").read_text())
    fixture = next(node for node in tree.body if getattr(node, "name", "") == "VernierFixture")
    assert "__getattr__" in [getattr(node, "name", "") for node in fixture.body]
