"""The wheel as it is installed: its name, what it carries, and what importing it costs."""

import json
import pathlib
import re
import subprocess
import sys

import vernier

FOLDER = pathlib.Path(vernier.__file__).parent


def run(*words, **settings):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=60,
                          **settings)


def test_extension_is_good_for_every_python():
    assert [path.name for path in FOLDER.glob("_native*")] == ["_native.abi3.so"]


def test_importing_loads_nothing_large():
    done = run("-c", "import sys, json, vernier; print(json.dumps(sorted(sys.modules)))")
    loaded = json.loads(done.stdout)
    assert not [name for name in loaded if name.split(".")[0] in ("numpy", "torch", "logging")]
    assert "vernier._native" not in loaded


def test_module_is_the_command():
    done = run("-m", "vernier", "--version")
    assert done.returncode == 0
    assert done.stdout == f"vernier {vernier.__version__}\n"


def test_command_keeps_its_exit_codes():
    assert run("-m", "vernier", "run", "--no-such-flag").returncode == 2
    assert run("-m", "vernier", "compare", "/nowhere/a.json", "/nowhere/b.json").returncode == 3


def test_script_is_installed():
    script = pathlib.Path(sys.executable).with_name("vernier")
    done = subprocess.run([script, "backends"], capture_output=True, text=True, timeout=60)
    assert re.search(r"^identity\b.*", done.stdout, re.MULTILINE)


def test_every_name_is_there_and_in_the_stubs():
    stubs = (FOLDER / "__init__.pyi").read_text()
    assert (FOLDER / "py.typed").exists()
    for name in vernier.__all__:
        assert getattr(vernier, name) is not None
        assert re.search(rf"\b{name}\b", stubs), name


def test_unknown_name():
    try:
        vernier.no_such_thing
    except AttributeError as error:
        assert "no_such_thing" in str(error)
    else:
        raise AssertionError("no error")


def test_the_source_tree_is_the_package(tmp_path):
    """All modules import from there as they are; only the compiled one comes from elsewhere."""
    source = pathlib.Path(__file__).parents[1]
    native, = FOLDER.glob("_native*")
    (tmp_path / native.name).symlink_to(native)
    names = [".".join(path.relative_to(source).with_suffix("").parts)
             for path in sorted((source / "vernier").rglob("*.py"))]
    names = [name.removesuffix(".__init__") for name in names if "__main__" not in name]
    done = run("-B", "-c", f"""
import importlib, sys
sys.path.insert(0, {str(source)!r})
import vernier
vernier.__path__.append({str(tmp_path)!r})
for name in {names}:
    importlib.import_module(name)
print(vernier.__file__, *sys.modules["vernier._polygraphy"].__path__)
""")
    assert done.returncode == 0, done.stderr
    shim = source.parent / "libexec" / "vernier" / "shim" / "polygraphy"
    assert done.stdout.split() == [str(source / "vernier" / "__init__.py"), str(shim)]
