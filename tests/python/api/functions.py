"""func.extend and mod: which arguments go where, and what comes back."""
from PREFIX import func, mod
from PREFIX.exception import PolygraphyException


def said(call):
    try:
        print(call())
    except PolygraphyException as error:
        print("refused:", "Function: wrong accepts 2" in str(error))


class Pair(tuple):
    pass


@func.extend(lambda: (1, 2))
def two(first, second):
    print(first, second)


@func.extend(lambda: Pair((1, 2)))
def one(pair):
    print(type(pair).__name__, list(pair))


@func.extend(lambda: None)
def nothing():
    return "after nothing"


@func.extend(lambda: None)
def none(value):
    print("got", value)


@func.extend(lambda: ())
def empty():
    return "after an empty tuple"


@func.extend(lambda a, b=0: a + b)
def behind(a, b, total):
    return [a, b, total]


@func.extend(lambda a: ([a], a))
def list_and_value(values, value):
    values.append(value + 1)


@func.extend(lambda: (1, 2, 3))
def wrong(first, second):
    pass


for call in (two, one, nothing, none, empty, lambda: behind(1, 2), lambda: behind(1, b=3),
             lambda: list_and_value(4), wrong):
    said(call)
print(two.__name__)

numpy = mod.lazy_import("numpy")
print(numpy.arange(3).sum(), mod.lazy_import("no_such_module_x").is_installed(),
      mod.lazy_import("numpy>=1.0").is_installed())
try:
    mod.lazy_import("no_such_module_x").attribute
except Exception as error:
    print(isinstance(error, (ImportError, PolygraphyException)))
with open("beside.py", "w") as file:
    file.write("def value():\n    return 7\n")
print(mod.import_from_script("beside.py", "value")())
said(lambda: mod.import_from_script("beside.py", "absent"))
