#!/usr/bin/env python3
"""How near faultless runtimes come to the error bounds of `--tolerance auto`.

    bench/error_distribution.py --vernier build/release/bin/vernier [--seeds 3] [--made 24]
        [--networks NAME ...] [--save-lines FILE] [--table docs/tolerance.md]
    bench/error_distribution.py --merge FILE ... [--table docs/tolerance.md]

Runs the trained networks (tests/trained/networks.py; scripts/deps.sh --tests fetches them) and
networks made from seeds (tolerance_networks.py) with every tensor marked, ONNX Runtime against
OpenVINO and the other way round, and prints for each network how many tensors were over their
bounds and the distribution of error over bound. --table puts the table between the markers of a
document. Exits with 1 where a tensor of a trained network is over its bound.

All of it takes the better part of an hour. In slices, --networks, --dtypes, --seeds, --first-seed
and --made 0 choose, --save-lines appends a line of JSON for each network, and --merge makes one
table of the lines of all slices; lines of one network and dtype are put together.
"""

from __future__ import annotations

import argparse
import json
import math
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


def as_number(value: float | str) -> float:
    """A record writes infinities and NaN as text; NaN is over every bound, too."""
    number = float(value)
    return math.inf if math.isnan(number) else number


class Distribution:
    """The tensors of one network, or of the made networks of one dtype."""

    def __init__(self, name: str, use: str) -> None:
        self.name, self.use = name, use
        self.times: dict[str, list[float]] = {}
        self.slack: list[float] = []  # bound over root mean square error
        self.refused = ""

    def add(self, outputs: list[dict], prefix: str = "") -> None:
        for output in outputs:
            bound = output["auto_tolerance"]
            if bound is None or bound["bound"] == 0:  # exact: integers, truths
                if not output["passed"]:  # or not of one shape
                    self.times.setdefault(prefix + output["name"], []).append(math.inf)
                continue
            times = as_number(bound["times_over"])
            self.times.setdefault(prefix + output["name"], []).append(times)
            if as_number(bound["rms_error"]) > 0:
                self.slack.append(as_number(bound["bound"]) / as_number(bound["rms_error"]))

    def as_line(self, isa_text: str, seeds: list[int]) -> str:
        return json.dumps({"name": self.name, "use": self.use, "times": self.times,
                           "slack": self.slack, "refused": self.refused, "isa": isa_text,
                           "seeds": seeds})

    def join(self, line: dict) -> None:
        for name, times in line["times"].items():
            self.times.setdefault(name, []).extend(times)
        self.slack.extend(line["slack"])
        self.refused = self.refused or line["refused"]

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


def table(rows: list[Distribution], seeds: int, isa_text: str) -> str:
    text = (f"On a processor with {isa_text}; {seeds} seeds, both orders of the runtimes, every "
            "tensor marked. The\ncolumns are the worst error over bound of each tensor: at most 1 "
            "passes.\n\n"
            "| network | used for | tensors | over | median | 90 % | 99 % | largest | bound over "
            "RMS error, median |\n|---|---|---|---|---|---|---|---|---|\n")
    return text + "\n".join(found.row() for found in rows) + "\n"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vernier", help="the program")
    parser.add_argument("--merge", nargs="+", type=pathlib.Path, metavar="FILE",
                        help="measure nothing, and make the table of what --save-lines wrote")
    parser.add_argument("--save-lines", type=pathlib.Path, metavar="FILE",
                        help="append what was measured, a line of JSON for each network")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--made", type=int, default=24,
                        help="made networks, in all dtypes together")
    parser.add_argument("--dtypes", nargs="+", choices=("float32", "float16"),
                        default=("float32", "float16"),
                        help="of the trained ones: as they are, and copies by `convert`")
    parser.add_argument("--networks", nargs="+", help="of the trained ones, by name; default: all")
    parser.add_argument("--table", type=pathlib.Path, help="the document that has the markers")
    parser.add_argument("--made-dtypes", nargs="+", choices=made.DTYPES, default=made.DTYPES)
    args = parser.parse_args()
    if not args.vernier and not args.merge:
        parser.error("--vernier PROGRAM is missing")
    return args


def show(found: Distribution) -> None:
    print(found.row(), flush=True)
    worst = found.worst
    for name in sorted(found.over, key=worst.get, reverse=True)[:12]:
        print(f"    over: {name} {worst[name]:.3g}", flush=True)


def measure(args: argparse.Namespace) -> list[Distribution]:
    """Of every network that is wanted; saved when it is known."""
    rows = []

    def take(found: Distribution) -> None:
        rows.append(found)
        show(found)
        if args.save_lines:
            seeds = list(range(args.first_seed, args.first_seed + args.seeds))
            with args.save_lines.open("a", encoding="utf-8") as lines:
                lines.write(found.as_line(isa(), seeds) + "\n")

    for network in (*trained.NETWORKS, *trained.LSTM_NETWORKS):
        if args.networks and network.name not in args.networks:
            continue
        for dtype in args.dtypes:
            if dtype == "float32" or network in trained.NETWORKS:
                take(measure_trained(args, network, dtype))
    for dtype in args.made_dtypes if args.made else ():
        take(measure_made(args, dtype))
    return rows


def merged(paths: list[pathlib.Path]) -> tuple[list[Distribution], int, str]:
    """The rows of all lines, in the networks' order; the number of seeds, and the processors."""
    rows: dict[str, Distribution] = {}
    seeds, processors = set(), []
    for path in paths:
        for text in path.read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            rows.setdefault(line["name"], Distribution(line["name"], line["use"])).join(line)
            seeds.update(line["seeds"])
            if line["isa"] not in processors:
                processors.append(line["isa"])
    order = [name for network in trained.NETWORKS
             for name in (network.name, f"{network.name}, float16")]
    order += [network.name for network in trained.LSTM_NETWORKS]
    order += [f"made, {dtype}" for dtype in made.DTYPES]
    found = [rows[name] for name in order if name in rows]
    return found, len(seeds), " and with ".join(processors)


def main() -> int:
    args = parse()
    if args.merge:
        rows, seeds, processors = merged(args.merge)
    else:
        rows, seeds, processors = measure(args), args.seeds, isa()
    text = table(rows, seeds, processors)
    print("\n" + text)
    if args.table:
        document = args.table.read_text(encoding="utf-8")
        before, rest = document.split(BEGIN)
        after = rest.split(END)[1]
        args.table.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}", encoding="utf-8")
    return 1 if any(found.over for found in rows if not found.name.startswith("made, ")) else 0


if __name__ == "__main__":
    sys.exit(main())
