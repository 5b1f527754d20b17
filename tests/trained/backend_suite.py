"""ONNX's own backend tests through the program: `run MODEL --RUNNER --load-inputs SET
--load-outputs SET` with a tolerance of 1e-3 for every set of every test.

    backend_suite.py VERNIER [--runner onnxrt] [--every N] [--jobs 2] [--write]

A test whose command ends with 0 passes. Those that do not are listed in
backend_tests/RUNNER.txt, or in backend_tests.txt of the backend's folder, one a line with the
reason. The list is exact: a test that is not on it and fails, and one that is on it and passes, are
what this reports. --write makes the list anew; reasons that somebody wrote stay.
--every N tries each Nth test only.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

import networks
import onnx

LISTS = pathlib.Path(__file__).resolve().parent / "backend_tests"


def all_tests():
    """Names such as node/test_abs, in order."""
    data = networks.backend_tests()
    return sorted(str(path.parent.relative_to(data)) for path in data.glob("*/*/model.onnx"))


def list_of(runner):
    """The file of the tests that do not pass."""
    folder = networks.ROOT / "backends" / runner
    return folder / "backend_tests.txt" if folder.is_dir() else LISTS / f"{runner}.txt"


def read_list(runner):
    """{test: reason} of the tests that do not pass."""
    listed = {}
    for line in list_of(runner).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, reason = line.split(": ", 1)
            listed[name] = reason
    return listed


def without_places(line):
    """A line of a run without folders, times and labels, which differ from machine to machine."""
    line = re.sub(r"^\[[!EW]\] *", "", line).strip()
    line = re.sub(r"^\w+-runner\S* *\| FAILED: ", "", line)
    line = re.sub(r"-N\d+-\d\d/\d\d/\d\d-\d\d:\d\d:\d\d", "", line)
    return re.sub(r"\S*/(?=[\w.-]+\.(pb|onnx|cc|cpp|h)\b)", "", line)


def reason_of(done):
    """One line of what a run said went wrong."""
    if done.returncode == 1:
        apart = re.search(r"(\d+) of \d+ elements? \(.*out of tolerance", done.stdout)
        nans = [int(n) for n in re.findall(r"holds (\d+) NaN \(", done.stdout)]
        infinite = [int(n) for n in re.findall(r"(\d+) infinit(?:y|ies) \(", done.stdout)]
        same = len(nans) in (0, 2) and len(infinite) in (0, 2) and nans + infinite
        if apart and same and 2 * int(apart[1]) == sum(nans + infinite):
            what = " and ".join(["NaN"] * bool(nans) + ["infinities"] * bool(infinite))
            return f"both sides hold {what} at the same places, which agree with nothing by default"
        return "another result than ONNX's"
    said = done.stderr + "\n" + done.stdout
    for telling in (r"No conversion rule found for operations: [^\n]*", r"Unsupported type",
                    r"-- [^\n]* with a message:\s[^\n]*", r"\(\w+Error\)|\w+Error: [^\n]*"):
        if found := re.search(telling, said):
            words = " ".join(without_places(found[0]).split())
            return f"exit code {done.returncode}: {words[:160]}"
    for line in said.splitlines():
        if line.startswith(("[!]", "[E]")) and "FAILED | Runtime" not in line:
            return f"exit code {done.returncode}: {without_places(line)[:200]}"
    return f"exit code {done.returncode}"


def reason_in_the_data(name):
    """What of the test itself is why it cannot pass, or ""."""
    folder = networks.backend_tests() / name
    graph = onnx.load(folder / "model.onnx").graph
    if any(value.type.WhichOneof("value") != "tensor_type"
           for value in [*graph.input, *graph.output]):
        return ""
    for kind, values in (("input", graph.input), ("output", graph.output)):
        for path in folder.glob(f"test_data_set_*/{kind}_*.pb"):
            stored = onnx.TensorProto.FromString(path.read_bytes()).data_type
            declared = values[int(path.stem.split("_")[1])].type.tensor_type.elem_type
            if stored != declared:
                names = [onnx.TensorProto.DataType.Name(kind).lower()
                         for kind in (stored, declared)]
                return f"its data hold {names[0]} where the model has {names[1]}"
    return ""


def run_test(vernier, runner, name):
    """"" where every set passes, else the reason."""
    folder = networks.backend_tests() / name
    sets = sorted(folder.glob("test_data_set_*"))
    for data in sets:
        command = [vernier, "run", folder / "model.onnx", f"--{runner}", "-qq",
                   "--load-inputs", data, "--load-outputs", data,
                   "--atol", "1e-3", "--rtol", "1e-3", "--timeout", "60"]
        if runner == "onnxref":
            command += ["--python", sys.executable]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              check=False, timeout=120, env={**os.environ, "NO_COLOR": "1"})
        if done.returncode != 0:
            return reason_in_the_data(name) or reason_of(done)
    return "" if sets else "it has no data"


def run_all(vernier, runner, names, jobs=2):
    """{test: reason or ""}"""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return dict(zip(names, pool.map(lambda name: run_test(vernier, runner, name), names)))


def deviations(vernier, runner, every=1, jobs=2):
    """Lines about tests that are not as the list says, and how many passed."""
    listed = read_list(runner)
    names = all_tests()
    unknown = sorted(set(listed) - set(names))
    results = run_all(vernier, runner, names[::every], jobs)
    lines = [f"{name} is listed and is no test" for name in unknown]
    for name, reason in results.items():
        if reason and name not in listed:
            lines.append(f"{name} fails and is not listed: {reason}")
        if not reason and name in listed:
            lines.append(f"{name} passes and is listed: {listed[name]}")
    return lines, sum(not reason for reason in results.values())


def write_list(vernier, runner, jobs):
    path = list_of(runner)
    listed = read_list(runner) if path.exists() else {}
    failed = {name: reason for name, reason in run_all(vernier, runner, all_tests(), jobs).items()
              if reason}
    text = [f"# ONNX's backend tests that do not pass with --{runner}, and why: backend_suite.py "
            "holds them to it.\n"]
    for name, reason in failed.items():
        kept = listed.get(name)
        text.append(f"{name}: {kept if kept and not kept.startswith('exit code') else reason}\n")
    path.write_text("".join(text), encoding="utf-8")
    print(f"{len(failed)} of {len(all_tests())} do not pass with --{runner}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("vernier", type=pathlib.Path)
    parser.add_argument("--runner", default="onnxrt")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    vernier = options.vernier.resolve()
    if options.write:
        return write_list(vernier, options.runner, options.jobs)
    lines, passed = deviations(vernier, options.runner, options.every, options.jobs)
    print("\n".join([*lines, f"{passed} passed with --{options.runner}"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
