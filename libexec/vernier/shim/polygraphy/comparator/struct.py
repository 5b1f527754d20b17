"""What runners produced."""

from polygraphy import exception, json


class IterationResult(dict):
    """Output names to arrays, with the runner's name and the time in seconds."""

    def __init__(self, outputs=None, runtime=None, runner_name=None):
        super().__init__(outputs or {})
        self.runtime = runtime
        self.runner_name = runner_name if runner_name is not None else "custom_runner"

    def _encode(self):
        outputs = {name: {"values": value, "polygraphy_class": "LazyArray"}
                   for name, value in self.items()}
        return {"outputs": outputs, "runtime": self.runtime, "runner_name": self.runner_name,
                "polygraphy_class": "IterationResult"}


class _Wrapped:
    """Keeps json.dumps from writing an IterationResult as the plain dict that it also is."""

    def __init__(self, result):
        self.result = result

    def _encode(self):
        return self.result._encode() if hasattr(self.result, "_encode") else self.result


class RunResults:
    """A list of (runner name, iterations) that is also looked up by name."""

    def __init__(self, lst=None):
        self.lst = list(lst or [])

    def items(self):
        yield from self.lst

    def keys(self):
        for name, _ in self.lst:
            yield name

    def values(self):
        for _, results in self.lst:
            yield results

    def add(self, out_list, runtime=None, runner_name=None):
        name = runner_name if runner_name is not None else "custom_runner"
        self[name] = [IterationResult(out, runtime, name) for out in out_list]

    def append(self, item):
        self.lst.append(item)

    def extend(self, items):
        self.lst.extend(items)

    def __len__(self):
        return len(self.lst)

    def __iter__(self):
        return iter(self.lst)

    def __getitem__(self, key):
        if isinstance(key, int):
            return self.lst[key]
        for name, results in self.lst:
            if name == key:
                return results
        raise exception.PolygraphyException(
            f"{key:35} does not exist in this RunResults instance. Note: Available runners: "
            f"{list(self.keys())}")

    def __setitem__(self, key, value):
        if isinstance(key, int):
            self.lst[key] = value
            return
        for index, name in enumerate(self.keys()):
            if name == key:
                self.lst[index] = (key, value)
                return
        self.lst.append((key, value))

    def __contains__(self, key):
        return key in list(self.keys()) if isinstance(key, str) else key in self.lst

    def _encode(self):
        lst = [[name, [_Wrapped(r) for r in results]] for name, results in self.lst]
        return {"lst": lst, "polygraphy_class": "RunResults"}

    def save(self, dest):
        json.save_json(self, dest)

    @staticmethod
    def load(src):
        return json.load_json(src)


__getattr__ = exception.missing("comparator.struct")
