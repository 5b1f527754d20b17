#!/usr/bin/env python3
"""How near faultless runtimes come to the error bounds of `--tolerance auto`.

    bench/error_distribution.py --vernier build/release/bin/vernier [--seeds 3] [--made 24]
        [--table docs/tolerance.md]

Runs the trained networks (tests/trained/networks.py; scripts/deps.sh --tests fetches them) and
networks made from seeds (tolerance_networks.py) with every tensor marked, ONNX Runtime against
OpenVINO and the other way round, and prints for each network how many tensors were over their
bounds and the distribution of error over bound. --table puts the table between the markers of a
document. Exits with 1 where a tensor of a trained network is over its bound.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import onnx

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "trained"))

import networks as trained  # noqa: E402  pylint: disable=wrong-import-position
import tolerance_networks as made  # noqa: E402  pylint: disable=wrong-import-position

# The constants of the error model were never set by what these show.
PROOF = {"silero_vad_16k_sequence", "silero_vad_op18_ifless", "ch_ppocr_mobile_v2.0_cls_infer",
         "minilm-int8"}
ORDERS = (("--onnxrt", "--openvino"), ("--openvino", "--onnxrt"))
RUNTIME_FAILED = 6  # docs/exit-codes.md
BEGIN, END = "<!-- error-distribution: begin -->", "<!-- error-distribution: end -->"


class Distribution:
    """The tensors of one network, or of the made networks of one dtype."""

    def __init__(self, name: str, use: str) -> None:
        self.name, self.use = name, use
        self.times: dict[str, list[float]] = {}
        self.slack: list[float] = []  # bound over root mean square error
        self.refused = ""

    def add(self, outputs: list[dict], prefix: str = "") -> None:
        for output in outputs:
            bar = output["auto_tolerance"]
            if bar is None or bar["bar"] == 0:
                continue  # exact: integers, truths
            self.times.setdefault(prefix + output["name"], []).append(bar["times_over"])
            if bar["rms_error"]:
                self.slack.append(bar["bar"] / bar["rms_error"])

    @property
    def worst(self) -> dict[str, float]:
        return {name: max(times) for name, times in self.times.items()}

    @property
    def over(self) -> list[str]:
        return [name for name, times in self.worst.items() if times > 1]

    def row(self) -> str:
        if self.refused:
            return f"| {self.name} | {self.use} | {self.refused} | | | | | | |"
        worst = sorted(self.worst.values())
        at = [worst[min(int(share * len(worst)), len(worst) - 1)] for share in (0.5, 0.9, 0.99, 1)]
        slack = f"{statistics.median(self.slack):.0f}" if self.slack else "equal"
        cells = [self.name, self.use, len(worst), len(self.over), *(f"{a:.2f}" for a in at), slack]
        return "| " + " | ".join(map(str, cells)) + " |"


def run(vernier: str, words: list[str], folder: str) -> list[dict] | str:
    """The outputs of the pair, or why there are none."""
    record = pathlib.Path(folder) / "record.json"
    record.unlink(missing_ok=True)
    command = [vernier, "run", "-q", "--tolerance", "auto", "--save-record", str(record), *words]
    process = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if process.returncode not in (0, 1, RUNTIME_FAILED):
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}\n{process.stdout[-1500:]}"
                 f"{process.stderr[-1500:]}")
    loaded = json.loads(record.read_text())
    outputs = loaded["pairs"][0]["outputs"] if loaded["pairs"] else []
    if outputs:
        return outputs
    return "; ".join(f"{runner.get('backend', 'a runner')} refuses it" for runner in loaded["runners"]
                     if runner.get("failure")) or "nothing compared"


def float16_copy(args: argparse.Namespace, path: pathlib.Path, folder: str) -> str:
    copy = f"{folder}/float16.onnx"
    subprocess.run([args.vernier, "convert", path, "--fp-to-fp16", "-o", copy, "-qq"], check=True,
                   capture_output=True)
    return copy


def measure_trained(args: argparse.Namespace, network: trained.Network,
                    dtype: str) -> Distribution:
    found = Distribution(f"{network.name}, float16" if dtype == "float16" else network.name,
                         "proof" if network.name in PROOF else "calibration")
    with tempfile.TemporaryDirectory() as folder:
        model = float16_copy(args, network.path, folder) if dtype == "float16" else network.path
        for seed in range(args.first_seed, args.first_seed + args.seeds):
            for order in ORDERS:
                words = [str(model), *order, "--onnx-outputs", "mark", "all", "--seed",
                         str(seed), *network.words]
                outputs = run(args.vernier, words, folder)
                if isinstance(outputs, str):
                    found.refused = outputs
                    return found
                found.add(outputs)
    return found


def measure_made(args: argparse.Namespace, dtype: str) -> Distribution:
    found = Distribution(f"made, {dtype}", "calibration and proof")
    for seed in range(3000, 3000 + args.made // len(made.DTYPES)):
        network = made.make_network(seed, dtype)
        low, high = (-1.5, 1.5) if seed % 2 else (0, 1)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "good.onnx"
            onnx.save(made.write_models(network, seed, dtype, low, high)["good"], path)
            for order in ORDERS:
                words = [str(path), *order, "--seed", str(seed + 1), "--val-range",
                         f"[{low},{high}]"]
                outputs = run(args.vernier, words, folder)
                if not isinstance(outputs, str):
                    found.add(outputs, f"{seed} ")
    return found


def isa() -> str:
    flags = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    named = (("avx2", "AVX2"), ("avx512f", "AVX-512"), ("avx512_vnni", "AVX-512 VNNI"),
             ("avx_vnni", "AVX-VNNI"), ("amx_tile", "AMX"))
    return ", ".join(text for flag, text in named if flag in flags) or "neither AVX2 nor AVX-512"


def table(rows: list[Distribution], args: argparse.Namespace) -> str:
    text = (f"On a processor with {isa()}; {args.seeds} seeds, both orders of the runtimes, every "
            "tensor marked. The\ncolumns are the worst error over bound of each tensor: at most 1 "
            "passes.\n\n"
            "| network | used for | tensors | over | median | 90 % | 99 % | largest | bound over "
            "RMS error, median |\n|---|---|---|---|---|---|---|---|---|\n")
    return text + "\n".join(found.row() for found in rows) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vernier", required=True, help="the program")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--made", type=int, default=24,
                        help="made networks, in all dtypes together")
    parser.add_argument("--dtypes", nargs="+", choices=("float32", "float16"),
                        default=("float32", "float16"),
                        help="of the trained ones: as they are, and copies by `convert`")
    parser.add_argument("--networks", nargs="+", help="of the trained ones, by name; default: all")
    parser.add_argument("--table", type=pathlib.Path, help="the document that has the markers")
    args = parser.parse_args()
    rows = []
    for network in trained.NETWORKS:
        if args.networks and network.name not in args.networks:
            continue
        for dtype in args.dtypes:
            rows.append(measure_trained(args, network, dtype))
            print(rows[-1].row(), flush=True)
            worst = rows[-1].worst
            for name in sorted(rows[-1].over, key=worst.get, reverse=True)[:12]:
                print(f"    over: {name} {worst[name]:.3g}", flush=True)
    over = any(found.over for found in rows)
    for dtype in made.DTYPES if args.made else ():
        rows.append(measure_made(args, dtype))
        print(rows[-1].row(), flush=True)
        for name in rows[-1].over[:12]:
            print(f"    over: {name} {rows[-1].worst[name]:.3g}", flush=True)
    print("\n" + table(rows, args))
    if args.table:
        text = args.table.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        after = rest.split(END)[1]
        args.table.write_text(f"{before}{BEGIN}\n\n{table(rows, args)}\n{END}{after}",
                              encoding="utf-8")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
