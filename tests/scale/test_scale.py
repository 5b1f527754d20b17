#!/usr/bin/env python3
"""Sizes at which 32 bits, quadratic loops and copies in memory would show.

    VERNIER=build/release/bin/vernier test_scale.py [--work DIR] [NAME...]

Prints a table of times and peak memory against their limits. Needs up to 10 GB of disk and of
memory, and some minutes; scripts/deep.sh runs it. Large files are sparse where they can be.
"""

import argparse
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "hostile"))

import wire  # noqa: E402

VERNIER = os.path.abspath(os.environ.get("VERNIER", "build/release/bin/vernier"))
MIB = 1 << 20
GIB = 1 << 30
NO_LIMIT = float("inf")
SANITIZED = b"__asan_init" in pathlib.Path(VERNIER).read_bytes()  # keeps memory of its own


class Scale:
    """One folder, one table."""

    def __init__(self, folder, table=None):
        self.folder = pathlib.Path(folder)
        self.failed = False
        self.table = table

    def tell(self, title, before):
        """One line for many quiet runs."""
        fine = before or not self.failed
        print(f"{title}: {'ok' if fine else 'FAILED'}", flush=True)
        self.add_row(title, "", "", fine)

    def add_row(self, title, seconds, mib, fine):
        if self.table:
            with open(self.table, "a", encoding="utf-8") as file:
                file.write(f"| {title} | {seconds} | {mib} | {'right' if fine else 'WRONG'} |\n")

    def run(self, title, args, expect=0, seconds=NO_LIMIT, mib=NO_LIMIT, says=(), quiet=False):
        out = self.folder / "out.txt"
        start = time.monotonic()
        with open(out, "wb") as stdout, open(self.folder / "err.txt", "wb") as stderr:
            process = subprocess.Popen([VERNIER, *map(str, args)], cwd=self.folder, stdout=stdout,
                                       stderr=stderr, stdin=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        took = time.monotonic() - start
        used = usage.ru_maxrss / 1024
        # Read only where it matters: what this process holds counts for those that it starts.
        text = out.read_text(errors="replace") if says else ""
        problems = []
        if process.returncode != expect:
            problems.append(f"exit code {process.returncode}, expected {expect}: " +
                            (self.folder / "err.txt").read_text(errors="replace")[:300].strip())
        if took > seconds:
            problems.append(f"more than {seconds:g} s")
        if used > mib and not SANITIZED:
            problems.append(f"more than {mib:g} MiB")
        problems += [f"no '{word}'" for word in says if word not in text]
        self.failed |= bool(problems)
        if quiet and not problems:
            return used
        self.add_row(title, f"{took:.2f}", f"{used:.0f}", not problems)
        limits = f"{self.limit(seconds)} s {self.limit(mib)} MiB"
        print(f"{title:44}{took:8.2f} s{used:9.0f} MiB   of {limits:20}"
              f"{'; '.join(problems) or 'ok'}", flush=True)
        return used

    @staticmethod
    def limit(value):
        return "-" if value == NO_LIMIT else f"{value:g}"

    def write(self, name, make):
        """Writes what `make` returns, in a process of its own: the memory that it took would be
        counted as that of the programs which are started later."""
        child = os.fork()
        if child == 0:
            (self.folder / name).write_bytes(make())
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            raise RuntimeError(f"{name} cannot be made")

    def safetensors(self, name, dtype, item, count, changes):
        """A sparse file of zeros with a few elements set: {index: bytes}."""
        header = json.dumps({"r/0000000000/x": {"dtype": dtype, "shape": [count],
                                                "data_offsets": [0, count * item]}}).encode()
        header += b" " * (-len(header) % 8)
        with open(self.folder / name, "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header)
            begin = file.tell()
            file.truncate(begin + count * item)
            for index, data in changes.items():
                file.seek(begin + index * item)
                file.write(data)
        return name

    def remove(self, *names):
        for name in names:
            path = self.folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def many_elements(scale, dtype, item, one):
    """More elements than an int counts: where they differ is said exactly."""
    count = 2**31 + 5
    last = count - 2
    scale.safetensors("a.safetensors", dtype, item, count, {last: one})
    scale.safetensors("b.safetensors", dtype, item, count, {last: one})
    scale.safetensors("c.safetensors", dtype, item, count, {})
    memory = 2 * count * item / MIB + 64
    load = ["run", "--load-outputs", "a.safetensors"]
    scale.run(f"2^31 + 5 {dtype}, equal", [*load, "b.safetensors"], 0, mib=memory,
              says=[f"max=1 at ({last},)"])
    scale.run(f"2^31 + 5 {dtype}, one apart", [*load, "c.safetensors"], 1, mib=memory,
              says=[f"max=1 at ({last},)"])
    scale.remove("a.safetensors", "b.safetensors", "c.safetensors")


def many_bytes(scale):
    many_elements(scale, "U8", 1, b"\1")


def many_halves(scale):
    """Beyond 4 GiB, too."""
    many_elements(scale, "F16", 2, b"\0\x3c")


def long_string(scale):
    """A JSON string of more than 4 GiB."""
    count = 33 * 10**8
    scale.write("big.onnx", lambda: wire.identity(dims=(count,), dtype=2))
    tensor = count / MIB
    scale.run("3.3e9 uint8 to a JSON string of 4.1 GiB",
              ["run", "big.onnx", "--identity", "--save-outputs", "big.json"],
              mib=2 * tensor + 64)
    scale.run("the same, loaded and compared with itself",
              ["run", "--load-outputs", "big.json", "big.json"], mib=2 * tensor + 64)
    scale.remove("big.json")


def identities(names, dims=(4,)):
    return wire.model(wire.graph([wire.node("Identity", [n], [n + "_out"]) for n in names],
                                 [wire.value(n, dims) for n in names],
                                 [wire.value(n + "_out", dims) for n in names]))


def many_outputs(scale):
    scale.write("many.onnx", lambda: identities([f"tensor_{i}" for i in range(10000)]))
    for suffix in ("json", "npz", "safetensors"):
        scale.run(f"10,000 outputs x 2 runners to {suffix}",
                  ["run", "many.onnx", "--identity", "--identity", "--save-outputs",
                   f"many.{suffix}"], seconds=4, mib=200)
        scale.run(f"10,000 outputs x 2 runners from {suffix}",
                  ["run", "--load-outputs", f"many.{suffix}"], seconds=4, mib=200)
    scale.remove("many.json", "many.npz", "many.safetensors")


def relu_chain(order):
    nodes = [wire.node("Relu", [f"t{i}"], [f"t{i + 1}"]) for i in order]
    return wire.model(wire.graph(nodes, [wire.value("t0")], [wire.value(f"t{len(nodes)}")]))


def many_nodes(scale):
    count = 10**6
    scale.write("nodes.onnx", lambda: relu_chain(range(count)))
    run = ["run", "nodes.onnx", "--identity"]
    marked = [*run, "--onnx-outputs", "mark", "all"]
    scale.run("10^6 nodes, opened", run, seconds=3)
    scale.run("10^6 nodes, mark all", marked, seconds=3)
    scale.run("10^6 nodes, mark all and saved", [*marked, "--save-onnx", "marked.onnx"], seconds=5)
    # In the wrong order, so that sorting has something to do.
    scale.write("nodes.onnx", lambda: relu_chain(reversed(range(count))))
    scale.run("10^6 nodes in reverse, mark all", marked, seconds=5)
    scale.remove("nodes.onnx", "marked.onnx")


def large_weights(scale):
    """Six gigabytes of weights that are never read."""
    count = 6 * GIB // 4
    with open(scale.folder / "weights.bin", "wb") as file:
        file.truncate(4 * count)
    weights = wire.external_tensor("w", [count], [("location", "weights.bin")])
    graph = wire.graph([wire.node("Add", ["x", "w"], ["s"]), wire.node("Relu", ["s"], ["y"])],
                       [wire.value("x", (1,))], [wire.value("y", (count,))], [weights])
    scale.write("large.onnx", lambda: wire.model(graph))
    scale.run("6 GiB of external data, mark all, saved",
              ["run", "large.onnx", "--identity", "--onnx-outputs", "mark", "all", "--save-onnx",
               "saved.onnx"], mib=64)
    scale.remove("weights.bin", "saved.onnx")


def ranks(scale):
    before = scale.failed
    for rank in range(33):
        scale.write("rank.onnx", lambda: wire.identity(dims=(1,) * rank))
        for suffix in ("json", "npz", "safetensors"):
            scale.remove(f"r.{suffix}", f"i.{suffix}")
            run = ["run", "rank.onnx", "--identity", "--identity"]
            files = [f"r.{suffix}", f"i.{suffix}"]
            scale.run(f"rank {rank} to {suffix}",
                      [*run, "--save-outputs", files[0], "--save-inputs", files[1]], quiet=True)
            scale.run(f"rank {rank} from {suffix}",
                      [*run, "--load-outputs", files[0], "--load-inputs", files[1]], quiet=True)
    scale.tell("ranks 0 to 32 in three formats, saved and loaded", before)


def empty_dimensions(scale):
    """No elements, in every place of a shape: saved, loaded, and said to show nothing."""
    before = scale.failed
    for dims in ((0,), (0, 3), (3, 0), (2, 0, 4), (0, 0), (1, 2, 3, 0)):
        scale.write("empty.onnx", lambda: wire.identity(dims=dims))
        for suffix in ("json", "npz", "safetensors"):
            scale.remove(f"e.{suffix}", f"i.{suffix}")
            run = ["run", "empty.onnx", "--identity", "--identity"]
            scale.run(f"shape {dims} to {suffix}", [*run, "--save-outputs", f"e.{suffix}",
                                                    "--save-inputs", f"i.{suffix}"], quiet=True)
            scale.run(f"shape {dims} from {suffix}",
                      [*run, "--load-outputs", f"e.{suffix}", "--load-inputs", f"i.{suffix}"],
                      quiet=True, says=["shows nothing:", "(no elements)"])
    scale.tell("dimensions of size 0 in three formats", before)


def long_names(scale):
    scale.write("names.onnx",
                lambda: identities([f"{i:06d}" + "n" * 65000 for i in range(200)]))
    for suffix in ("json", "npz", "safetensors"):
        scale.run(f"200 names of 64 KiB to {suffix}",
                  ["run", "names.onnx", "--identity", "--identity", "-q", "--save-outputs",
                   f"names.{suffix}"], seconds=5, mib=400)
        scale.run(f"200 names of 64 KiB from {suffix}",
                  ["run", "--load-outputs", f"names.{suffix}", "-q"], seconds=5, mib=400)
    scale.remove("names.json", "names.npz", "names.safetensors")


def iterations(scale):
    """Memory does not grow with the iterations."""
    scale.write("mib.onnx", lambda: wire.identity(dims=(1 << 18,)))
    for suffix in ("json", "safetensors"):
        for count in (50, 1000):
            scale.run(f"{count} x 1 MiB x 2 runners to {suffix}",
                      ["run", "mib.onnx", "--identity", "--identity", "--iterations", count, "-q",
                       "--save-outputs", f"mib.{suffix}"], mib=48)
        scale.run(f"the same, loaded from {suffix}",
                  ["run", "--load-outputs", f"mib.{suffix}", "-q"], mib=48)
        scale.remove(f"mib.{suffix}")


def many_iterations(scale):
    """A hundred thousand of them need no more memory than a thousand."""
    scale.write("small.onnx", lambda: wire.identity(dims=(4,)))
    run = ["run", "small.onnx", "--identity", "--identity", "-qq"]
    for suffix in ("json", "npz", "safetensors"):
        few = scale.run(f"1,000 iterations to {suffix}",
                        [*run, "--iterations", 1000, "--save-outputs", f"it.{suffix}"], mib=48)
        scale.run(f"100,000 iterations to {suffix}",
                  [*run, "--iterations", 100000, "--save-outputs", f"it.{suffix}"], mib=few + 8)
        scale.run(f"100,000 inputs to {suffix}",
                  [*run, "--iterations", 100000, "--save-inputs", f"in.{suffix}"], mib=few + 8)
        scale.run(f"100,000 iterations from {suffix}",
                  ["run", "--load-outputs", f"it.{suffix}", "-qq"], mib=few + 32)
        scale.run(f"100,000 iterations from {suffix} against themselves",
                  ["compare", f"it.{suffix}", f"it.{suffix}"], mib=few + 56)
        scale.run(f"100,000 inputs from {suffix}", [*run, "--load-inputs", f"in.{suffix}"],
                  mib=few + 32)
        scale.remove(f"it.{suffix}", f"in.{suffix}")


def many_functions(scale):
    """Each is called once, and converted."""
    count = 6000

    def made():
        functions = [wire.function(f"F{i}", ["a"], ["b"], [wire.node("Neg", ["a"], ["b"])])
                     for i in range(count)]
        nodes = [wire.node(f"F{i}", [f"t{i}"], [f"t{i + 1}"], domain="local") for i in range(count)]
        graph = wire.graph(nodes, [wire.value("t0")], [wire.value(f"t{count}")])
        return wire.model(graph, functions, ["local"])

    scale.write("functions.onnx", made)
    scale.run("6,000 functions to float16",
              ["convert", "functions.onnx", "-o", "half.onnx", "--fp-to-fp16"], seconds=3)
    scale.remove("functions.onnx", "half.onnx")


CHECKS = (many_bytes, many_halves, long_string, many_outputs, many_nodes, large_weights, ranks,
          empty_dimensions, long_names, iterations, many_iterations, many_functions)


def holds(check, options):
    """Whether a check does, tried in a process of its own: the largest resident set of a program
    that is started has that of its parent in it."""
    child = os.fork()
    if child == 0:
        fine = False
        try:
            with tempfile.TemporaryDirectory(dir=options.work) as folder:
                scale = Scale(folder, options.table)
                check(scale)
                fine = not scale.failed
        except BaseException:  # pylint: disable=broad-except
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(0 if fine else 1)
    return os.waitpid(child, 0)[1] == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=pathlib.Path, help="where the large files go")
    parser.add_argument("--table", type=pathlib.Path, help="add rows of Markdown to this file")
    parser.add_argument("names", nargs="*", help=", ".join(c.__name__ for c in CHECKS))
    options = parser.parse_args()
    chosen = [c for c in CHECKS if not options.names or c.__name__ in options.names]
    if not chosen:
        parser.error("no such check")
    failed = [check.__name__ for check in chosen if not holds(check, options)]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
