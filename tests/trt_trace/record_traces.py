"""Records the calls of TensorRT, on a machine with a GPU and TensorRT 8.5:

    record_traces.py VERNIER TRACING_LIBRARY FOLDER_OF_REAL_LIBRARIES OUT_FOLDER [CASE...]

The plug-in and the tracing library are compiled against the headers of the same release. $JOBS
command lines run at once, one without it.
"""

import concurrent.futures
import os
import pathlib
import sys
import tempfile

import trace_cases
import trace_models


def record(name, folder, vernier, library, real, out):
    line = trace_cases.CASES[name]
    trace = folder / (name + ".trace")
    ended = trace_cases.run(vernier, library, folder, line, trace, VERNIER_TRT_REAL=str(real))
    lines = trace.read_text(encoding="utf-8") if trace.exists() else ""
    (out / (name + ".trace")).write_text(f"# {line}\n# exit {ended.returncode}\n{lines}",
                                         encoding="utf-8")
    print(f"{name:22} exit {ended.returncode}, {lines.count(chr(10))} calls", flush=True)
    if ended.returncode != 0:
        print((ended.stdout + ended.stderr)[-1500:])


def main(words):
    places = [pathlib.Path(word).resolve() for word in words[1:5]]
    places[-1].mkdir(parents=True, exist_ok=True)
    wanted = [name for name in trace_cases.CASES if not words[5:] or name in words[5:]]
    reads = {name: bool(trace_cases.read_by(trace_cases.CASES[name])) for name in wanted}
    with tempfile.TemporaryDirectory(prefix="vernier-traces-") as scratch:
        folder = pathlib.Path(scratch)
        trace_models.write_all(folder)
        # Those that read what others have written come afterwards.
        for later in (False, True):
            with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "1"))) as pool:
                list(pool.map(lambda name: record(name, folder, *places),
                              [name for name in wanted if reads[name] == later]))


if __name__ == "__main__":
    main(sys.argv)
