#!/usr/bin/env python3
"""How often `--tolerance auto` is right: faultless networks have to pass, faulty ones to fail.

    bench/tolerance_proof.py --vernier PROGRAM [--networks 300] [--first-seed 3000]

Needs a Python with numpy, onnx, ml_dtypes and onnxruntime (scripts/setup.sh --tests makes one:
.deps/peer/bin/python) and the onnxruntime and openvino backends. Takes about a second a network,
and prints the two tables of docs/tolerance.md. Exits with 1 when a rate is below what is asked for
(--pass-rate, --detection-rate).

On processors without VNNI OpenVINO's int8 products saturate in 16 bits, and without AVX-512 it
leaves roundings to bfloat16 out (processor_arithmetic.py shows both). There ONNX Runtime without
optimisations takes its place for these types, and the tables say so.

Every network runs once: its faultless model under one runtime, against the faultless model and
three faulty ones under the other. Even and odd seeds swap the runtimes.

The faulty models are also compared with the faultless one under the same runtime. A fault that
changes no bit of any output there cannot be seen by anyone: a step of a quantiser or of a short
type hides it. Such networks are not in the table of faults; they are counted and named. For the
faults that are missed, these comparisons tell how much they change.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import onnx

import tolerance_networks as networks

MAX_REFUSED = 15
VARIANTS = {"weight": "one weight matrix off by 2 %", "scaled": "one weight matrix 2 % larger",
            "epsilon": "one epsilon 1e-2 instead of 1e-5"}


class Count:
    def __init__(self) -> None:
        self.good = self.all = 0

    def add(self, good: bool) -> None:
        self.good += good
        self.all += 1

    @property
    def rate(self) -> float:
        return self.good / self.all if self.all else 1.0

    def __str__(self) -> str:
        return f"{self.good} of {self.all} ({100 * self.rate:.1f} %)" if self.all else "none"


class Tables:
    def __init__(self) -> None:
        self.passed = collections.defaultdict(Count)  # by dtype: faultless outputs
        self.found = collections.defaultdict(Count)  # by variant and dtype: faulty networks
        self.found_last = collections.defaultdict(Count)  # the same by the last layer alone
        self.longest = collections.defaultdict(int)
        self.trouble: list[str] = []
        self.refused: list[str] = []  # a runtime failed; the next seed takes the place
        self.hidden: list[str] = []  # faults that change nothing

    def add(self, dtype: str, seed: int, pairs: list[dict]) -> None:
        effects = {pair["second"]: pair["outputs"] for pair in pairs if pair["first"] == "good"}
        for pair in pairs:
            outputs = pair["outputs"]
            variant = pair["second"]
            if pair["first"] == "good":
                continue
            if variant == "good":
                for output in outputs:
                    self.passed[dtype].add(output["passed"])
                    if not output["passed"]:
                        self.trouble.append(f"{dtype} {seed}: faultless output {output['name']}: "
                                            f"{describe(output)}")
                continue
            failed = any(not output["passed"] for output in outputs)
            if changes_nothing(effects[variant]):
                self.hidden.append(f"{dtype} {seed} {variant}")
                continue
            self.found[variant, dtype].add(failed)
            self.found_last[variant, dtype].add(not outputs[0]["passed"])
            if not failed:
                good = next(pair["outputs"] for pair in pairs
                            if pair["second"] == "good")
                self.trouble.append(f"{dtype} {seed}: {variant} not seen: "
                                    f"{describe_miss(outputs, good, effects[variant])}")

    def total(self, counts: dict, variant: str | None = None) -> Count:
        total = Count()
        for key, count in counts.items():
            if variant is None or key[0] == variant:
                total.good += count.good
                total.all += count.all
        return total

    def print(self, dtypes: list[str]) -> None:
        print("\n| dtype | longest sum | correct outputs that pass |\n|---|---|---|")
        for dtype in dtypes:
            print(f"| {dtype} | {self.longest[dtype]} | {self.passed[dtype]} |")
        print(f"| all | {max(self.longest.values())} | {self.total(self.passed)} |")
        print("\n| fault | " + " | ".join(dtypes) + " | all | by the last layer alone |")
        print("|---" * (len(dtypes) + 3) + "|")
        for variant, text in VARIANTS.items():
            row = [f"{self.found[variant, d].good}/{self.found[variant, d].all}" for d in dtypes]
            print(f"| {text} | " + " | ".join(row) + f" | {self.total(self.found, variant)} | "
                  f"{self.total(self.found_last, variant)} |")


def describe(output: dict) -> str:
    bound = output["auto_tolerance"]
    if bound is None:
        return "not judged by a bound"
    return f"{bound['times_over']:.3g} times bound {bound['bound']:.2g} ({bound['why']})"


def changes_nothing(effects: list[dict]) -> bool:
    return all(output["max_absolute_error"] == 0 for output in effects)


def error_of(output: dict) -> float:
    return output["auto_tolerance"]["rms_error"] if output["auto_tolerance"] else 0.0


def describe_miss(outputs: list[dict], good: list[dict], effects: list[dict]) -> str:
    """Of the output where the fault stands out most."""
    rows = zip(outputs, good, effects)
    output, clean, effect = max(rows, key=lambda r: error_of(r[2]) / (error_of(r[1]) + 1e-7))
    return (f"{output['name']} changes by {error_of(effect):.2g}, faultless runtimes differ by "
            f"{error_of(clean):.2g}; {describe(output)}")


RUNTIME_FAILED = 6  # docs/exit-codes.md
UNOPTIMISED = " --graph-optimization-level ORT_DISABLE_ALL"


def processor_flags() -> set[str]:
    path = pathlib.Path("/proc/cpuinfo")
    return set(path.read_text(encoding="utf-8").split()) if path.exists() else set()


def openvino_computes_as_written(dtype: str, flags: set[str]) -> bool:
    """Does it keep to the model's steps and roundings on a processor with these flags?"""
    if "avx2" not in flags:
        return True  # not known to be otherwise
    if dtype in ("int8", "uint8"):
        return bool(flags & {"avx512_vnni", "avx_vnni"})
    return dtype != "bfloat16" or "avx512f" in flags


def run_network(vernier: str, dtype: str, seed: int, folder: pathlib.Path,
                precision: str) -> tuple[networks.Network, list[dict] | None]:
    """None in place of the pairs of outputs where a runtime refused the model or crashed."""
    network = networks.make_network(seed, dtype)
    low, high = (-1.5, 1.5) if seed % 2 else (0, 1)
    models = networks.write_models(network, seed, "float32" if precision else dtype, low, high)
    for name, model in models.items():
        onnx.save(model, folder / f"{name}.onnx")
    as_written = openvino_computes_as_written(dtype, processor_flags())
    other = ("openvino", "") if as_written else ("onnxrt", UNOPTIMISED)
    runtimes = [("onnxrt", ""), other]
    if seed % 2 and not precision:
        runtimes.reverse()
    (first, first_words), (second, second_words) = runtimes
    record = folder / "record.json"
    faulty = [name for name in models if name != "good"]
    pairs = [f"reference:{name}" for name in models] + [f"good:{name}" for name in faulty]
    command = [vernier, "run", "-q", "--tolerance", "auto", "--pairs", ",".join(pairs), "--seed",
               str(seed + 1), "--val-range", f"[{low},{high}]", "--save-record", str(record),
               "--runner", f"reference={first} {folder}/good.onnx{first_words}"]
    options = f" --openvino-precision {precision}" if precision else second_words
    for name in models:
        command += ["--runner", f"{name}={second} {folder}/{name}.onnx{options}"]
    process = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if process.returncode == RUNTIME_FAILED:
        return network, None
    if process.returncode not in (0, 1):
        sys.exit(f"{dtype} {seed} ({network.family}): exit status {process.returncode}\n"
                 f"{process.stdout[-2000:]}{process.stderr[-2000:]}")
    pairs = json.loads(record.read_text())["pairs"]
    # A mismatch goes before a failure in the exit status.
    return network, pairs if all(pair["outputs"] for pair in pairs) else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vernier", required=True, help="the program")
    parser.add_argument("--networks", type=int, default=300, help="in all dtypes together")
    parser.add_argument("--first-seed", type=int, default=3000,
                        help="the model's constants were set with seeds below 2000; those of the tables "
                             "in docs/tolerance.md begin at 3000 (default: %(default)s)")
    parser.add_argument("--dtypes", nargs="+", default=list(networks.DTYPES),
                        choices=networks.DTYPES)
    parser.add_argument("--openvino-precision", default="", choices=["", "bf16"],
                        help="float32 networks, which OpenVINO computes in a shorter type")
    parser.add_argument("--pass-rate", type=float, default=0.995)
    parser.add_argument("--detection-rate", type=float, default=0.98)
    args = parser.parse_args()
    tables = Tables()
    for dtype in args.dtypes:
        wanted, seed = args.networks // len(args.dtypes), args.first_seed
        while wanted > 0 and len(tables.refused) < MAX_REFUSED:
            with tempfile.TemporaryDirectory() as folder:
                network, pairs = run_network(args.vernier, dtype, seed, pathlib.Path(folder),
                                             args.openvino_precision)
            if pairs is None:
                tables.refused.append(f"{dtype} {seed} ({network.family})")
            else:
                wanted -= 1
                tables.longest[dtype] = max(tables.longest[dtype], network.longest_sum)
                tables.add(dtype, seed, pairs)
            seed += 1
        if not openvino_computes_as_written(dtype, processor_flags()):
            print(f"{dtype}: OpenVINO does not compute it as written on this processor; ONNX "
                  "Runtime without optimisations is in its place")
        print(f"{dtype}: {tables.passed[dtype]} faultless outputs pass", flush=True)
    tables.print(args.dtypes)
    print("\n" + "\n".join(tables.trouble))
    print(f"hidden faults, which change no bit of any output: {', '.join(tables.hidden) or 'none'}")
    print(f"left out, because a runtime failed on them: {', '.join(tables.refused) or 'none'}")
    enough = len(tables.refused) < MAX_REFUSED
    enough &= tables.total(tables.passed).rate >= args.pass_rate
    for variant in VARIANTS:
        enough &= tables.total(tables.found, variant).rate >= args.detection_rate
    print("enough" if enough else "NOT ENOUGH")
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
