"""Records the calls of TensorRT, on a machine with a GPU and TensorRT 8.5:

    record_traces.py VERNIER TRACING_LIBRARY FOLDER_OF_REAL_LIBRARIES OUT_FOLDER [CASE...]

The plug-in and the tracing library are compiled against the headers of the same release.
"""

import pathlib
import sys
import tempfile

import trace_cases
import trace_models


def main(words):
    vernier, library, real, out = [pathlib.Path(word).resolve() for word in words[1:5]]
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="vernier-traces-") as scratch:
        folder = pathlib.Path(scratch)
        trace_models.write_all(folder)
        for name, line in trace_cases.CASES.items():
            if words[5:] and name not in words[5:]:
                continue
            trace = folder / "trace"
            trace.unlink(missing_ok=True)
            ended = trace_cases.run(vernier, library, folder, line, trace,
                                    VERNIER_TRT_REAL=str(real))
            lines = trace.read_text(encoding="utf-8") if trace.exists() else ""
            (out / (name + ".trace")).write_text(
                f"# {line}\n# exit {ended.returncode}\n{lines}", encoding="utf-8")
            print(f"{name:22} exit {ended.returncode}, {lines.count(chr(10))} calls", flush=True)
            if ended.returncode != 0:
                print((ended.stdout + ended.stderr)[-1500:])


if __name__ == "__main__":
    main(sys.argv)
