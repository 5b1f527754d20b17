#!/usr/bin/env python3
"""What the bench measures inside of a Python that has the package vernier. See python_cases.py.

    python_package.py make FOLDER MIB       writes a.npz and b.npz, one output of MIB each
    python_package.py import                prints the seconds that importing takes
    python_package.py names                 of importing it with all of its names
    python_package.py arrays FOLDER LEVEL   of comparing the two as arrays in memory
    python_package.py files FOLDER LEVEL    of comparing the two as files

LEVEL is that of the log: INFO, as the command has it, or CRITICAL, which leaves work out.
"""

import logging
import pathlib
import sys
import time


def timed(work):
    start = time.perf_counter()
    done = work()
    return time.perf_counter() - start, done


def importing():
    return timed(lambda: __import__("vernier"))[0]


def importing_names():
    def load():
        import vernier
        return [getattr(vernier, name) for name in vernier.__all__]
    return timed(load)[0]


def make(folder, mib):
    import numpy as np
    import vernier
    random = np.random.default_rng(1)
    a = random.random(int(mib) << 18, dtype=np.float32)
    for name, array in (("a", a), ("b", a + np.float32(1e-7))):
        results = vernier.RunResults()
        results.add([{"y": array}], runner_name=name)
        results.save(folder / f"{name}.npz")


def comparing(what, folder):
    import numpy as np
    import vernier
    sides = [folder / "a.npz", folder / "b.npz"]
    if what == "arrays":  # copied out of the files' maps, so that all pages are there
        sides = [{"y": np.array(vernier.load_results(side)[0][1][0]["y"])} for side in sides]
    seconds, record = timed(lambda: vernier.compare(*sides))
    if not record.passed or record.output("y")["elements"] < 1 << 18:
        sys.exit(f"the comparison ended otherwise: {record.summary()}")
    return seconds


def main():
    what, *rest = sys.argv[1:]
    if what == "import":
        return print(importing())
    if what == "names":
        return print(importing_names())
    folder = pathlib.Path(rest[0])
    if what == "make":
        return make(folder, rest[1])
    logging.basicConfig(level=rest[1], filename=folder / "log")
    return print(comparing(what, folder))


if __name__ == "__main__":
    main()
