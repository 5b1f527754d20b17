"""How many tests the Python files of a ctest entry have, without running or importing them."""

import ast
import pathlib
import tomllib


class Module:
    """The classes of one file, and those that it takes from files beside it."""

    known = {}
    python_path = ()  # further folders, from the environment of the entry that is counted

    def __init__(self, path):
        self.tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        self.folder = path.parent
        self.classes = {node.name: node for node in self.tree.body
                        if isinstance(node, ast.ClassDef)}
        self.functions = [node.name for node in self.tree.body if isinstance(node, ast.FunctionDef)]
        self.places = None
        self.imported = {}  # a name here: the file, and the name there
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    self.imported[alias.asname or alias.name] = (node.module, alias.name)

    @classmethod
    def of(cls, path):
        if path not in cls.known:
            cls.known[path] = cls(path)
        return cls.known[path]

    def find(self, name):
        """The module that defines a class, and its node; nothing for those from elsewhere."""
        if name in self.classes:
            return self, self.classes[name]
        module, dot, base = name.rpartition(".")
        module, base = (module, base) if dot else self.imported.get(name, ("", ""))
        path = self.file_of(module)
        return Module.of(path).find(base) if path else None

    def file_of(self, module):
        """Beside this file, in a folder beside its folder that it puts on Python's path, or in one
        of the entry's."""
        if not module:
            return None
        if self.places is None:
            words = {node.value for node in ast.walk(self.tree)
                     if isinstance(node, ast.Constant) and isinstance(node.value, str)}
            self.places = [self.folder, *(each for each in sorted(self.folder.parent.iterdir())
                                          if each.name in words)]
        places = (*self.places, *Module.python_path)
        files = (place / (module.replace(".", "/") + ".py") for place in places)
        return next((file for file in files if file.exists()), None)

    def methods(self, name):
        """Names of test methods of a class and its bases; None for what is no TestCase."""
        found = self.find(name)
        if not found:
            return set() if name.endswith("TestCase") else None
        module, node = found
        below = [module.methods(ast.unparse(base)) for base in node.bases]
        own = {each.name for each in node.body
               if isinstance(each, ast.FunctionDef) and each.name.startswith("test")}
        if all(each is None for each in below):
            # A part of other classes: its tests count with a TestCase beside it.
            return None
        mixed = [module.mixed_in(ast.unparse(base)) for base in node.bases]
        return own.union(*(each or set() for each in below + mixed))

    def mixed_in(self, name):
        found = self.find(name)
        if not found:
            return set()
        module, node = found
        own = {each.name for each in node.body
               if isinstance(each, ast.FunctionDef) and each.name.startswith("test")}
        return own.union(*(module.mixed_in(ast.unparse(base)) for base in node.bases))

    def unittest_tests(self):
        names = [*self.classes, *self.imported]
        return sum(len(self.methods(name) or ()) for name in names)

    def pytest_tests(self):
        """Each function once: values that it is called with do not count."""
        in_classes = sum(isinstance(node, ast.FunctionDef) and node.name.startswith("test")
                         for each in self.classes.values() for node in each.body)
        return in_classes + sum(name.startswith("test") for name in self.functions)


def unittest_files(words, folder):
    """The files of `-m unittest WORDS`."""
    words = [word for word in words if not word.startswith("-")]
    if words and words[0] != "discover":
        return [folder / (word.replace(".", "/") + ".py") for word in words]
    return sorted(folder.glob("test*.py"))


def tests_of(command, folder, python_path=()):
    """The number of tests of a command that CTest runs in a folder: 1 for what is not a list of
    tests. 0 means that nothing would be run, and is a fault. `python_path`: further folders with
    modules."""
    Module.python_path = python_path
    words = [pathlib.Path(word).name if word.endswith(".py") else word for word in command]
    if "unittest" in words:
        files = unittest_files(command[words.index("unittest") + 1:], folder)
        return sum(Module.of(file).unittest_tests() for file in files if file.exists())
    script = next((pathlib.Path(word) for word in command if word.endswith(".py")), None)
    if script is None:
        return 1
    script = folder / script
    if script.name == "run_in_fresh_environment.py":
        return sum(Module.of(file).pytest_tests() for file in script.parent.glob("test_*.py"))
    if script.name == "run_differential.py":
        cases = tomllib.loads((script.parent / "cases.toml").read_text(encoding="utf-8"))["case"]
        light = "--light" in command
        return sum((case.get("needs") == "light") == light for case in cases)
    if script.name == "check_golden.py":
        return len(list(script.parent.glob("*.test")))
    module = Module.of(script)
    has_list = script.name.startswith("test_") and "load_tests" not in module.functions
    return module.unittest_tests() or (0 if has_list and "main" not in module.functions else 1)
