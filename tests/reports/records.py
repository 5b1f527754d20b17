"""Records for the tests of reports, as --save-record writes them, made without a run."""

import math

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"


def charts(seed):
    counts = [int(4000 * math.exp(-((i - 16) / 6) ** 2)) + seed % 7 for i in range(32)]
    points = "".join(ALPHABET[(i + seed) % 64] + ALPHABET[i * 7 % 64] + ALPHABET[(i + seed) % 64] +
                     ALPHABET[i * 5 % 64] for i in range(128))
    cells = "".join(ALPHABET[(i * 13 + seed) % 62] for i in range(24 * 32))
    return {"low": -3.25, "high": 4.125, "first": counts, "second": counts[::-1],
            "differences": {"first_decade": -9, "counts": [3, 40, 812, 1203, 377, 12], "equal": 501,
                            "not_finite": 0},
            "heat": {"rows": 24, "columns": 32, "matrix_rows": 64, "matrix_columns": 3136,
                     "row_axes": 2, "least": 1.25e-9, "most": 0.0213, "cells": cells},
            "points": points}


def output(name, over, seed=0, **more):
    failed = over > 1
    side = {"dtype": "float32", "min": -3.25, "max": 4.125, "mean": 0.3117, "std_dev": 1.1034,
            "nan": 0, "infinite": 0}
    worst = [{"index": [0, 7, i, 3], "first": 1.234567, "second": 1.2, "absolute_error": 0.034567,
              "relative_error": 0.0288, "times_over_tolerance": over} for i in range(5)]
    return {"name": name, "other_name": name, "paired_by": "exact", "compared_iterations": 1,
            "passed_iterations": 0 if failed else 1, "not_verified_iterations": 0,
            "elements": 200704, "mismatches": 2211 if failed else 0, "tolerances_checked": True,
            "times_over_tolerance": over, "max_absolute_error": over * 1e-5,
            "max_relative_error": over * 3e-4, "mean_absolute_error": over * 1e-6,
            "required_absolute_tolerance": over * 1e-5,
            "required_relative_tolerance": over * 3e-4,
            "worst_iteration": {
                "iteration": 0, "shape": [1, 64, 56, 56],
                "gates": [{"function": "simple", "verdict": "failed" if failed else "passed"}],
                "first": side, "second": side,
                "distances": {"l2": 0.0123456, "rmse": 0.000123456, "cosine_similarity": 0.99999987,
                              "psnr": 88.1234, "snr": 60.4321, "max_ulp": 5123,
                              "max_ulp_index": [0, 1, 2, 3], "ulp_different": 77},
                "worst_elements": worst if failed else [], "charts": charts(seed)},
            **more}


OPERATORS = ("Conv", "BatchNormalization", "Relu", "Conv", "BatchNormalization", "Add")


def network(layers, first_bad, names=None):
    """A record of a chain with residual additions, out of tolerance from one layer on."""
    names = names or [f"/features/block{i // 6}/{OPERATORS[i % 6].lower()}_{i}_output_0"
                      for i in range(layers)]
    nodes, block = [], "input"
    for i, name in enumerate(names):
        before = names[i - 1] if i else "input"
        adds = OPERATORS[i % 6] == "Add"
        nodes.append({"name": f"/features/block{i // 6}/{OPERATORS[i % 6]}_{i}",
                      "op_type": OPERATORS[i % 6], "inputs": [before, block] if adds else [before],
                      "outputs": [name]})
        block = name if adds else block
    outputs = [output(name, (31.25 if i >= first_bad else 0.02) * (1 + i % 5), seed=i)
               for i, name in enumerate(names)]
    runner = {"framework_version": "1.2", "device": "CPU", "precision": "float32",
              "model": "net.onnx", "load_seconds": 0.3, "iterations": 1, "skipped_outputs": [],
              "latency_seconds": {"first": 0.04, "median": 0.021, "p95": 0.024}}
    return {"schema_version": 1, "vernier_version": "0.1.0", "command": "vernier run net.onnx",
            "origin": {"words": ["vernier", "run", "net.onnx", "--onnx-outputs", "*"],
                       "directory": "/models", "started": "2026-03-01T12:00:00Z",
                       "system": "Linux 6.1.0 x86_64", "processor": "A Processor", "processors": 2,
                       "settings": [{"option": "--onnxrt", "value": "", "given": True},
                                    {"option": "--rtol", "value": "1e-5", "given": False}]},
            "exit_code": 1 if first_bad < layers else 0, "error": None, "faults": [], "notes": [],
            "seconds": 3.25, "aggregation": "per_iteration",
            "runners": [{"name": "onnxrt", "backend": "onnxruntime", **runner},
                        {"name": "openvino", "backend": "openvino", **runner}],
            "pairs": [{"first": "onnxrt", "second": "openvino", "compared_iterations": 1,
                       "passed_iterations": 0, "expected_iterations": 1, "outputs": outputs,
                       "only_in_first": [], "only_in_second": []}],
            "graph": {"model": "net.onnx", "inputs": ["input"], "outputs": [names[-1]],
                      "nodes": nodes}}


def branching(layers, first_bad, far=0):
    """Like network(), with three branches in each block of twelve, a Constant before each
    convolution, and up to `far` connections over many blocks."""
    record = network(layers, first_bad)
    nodes, weights = record["graph"]["nodes"], []
    names = [node["outputs"][0] for node in nodes]
    for i, node in enumerate(nodes[6:], 6):
        place = i % 12
        reads = {0: (1, 6), 3: (1,), 4: (2,), 5: (3,), 6: (1, 2, 3)}.get(place, (1,))
        node["inputs"] = [names[i - back] for back in reads]
        if i > layers // 2 and far > 0:
            node["inputs"].append(names[i - layers // 2])
            far -= 1
    for i, node in enumerate(nodes):
        if node["op_type"] == "Conv":
            node["inputs"].append(f"weight_{i}")
            weights.append({"name": f"weight_{i}", "op_type": "Constant", "inputs": [],
                            "outputs": [f"weight_{i}"]})
    record["graph"]["nodes"] = weights + nodes
    return record


def magnitudes(**more):
    return {"elements": 4096, "nan_count": 0, "infinite_count": 0, "min": -3.25, "max": 4.125,
            "largest": 4.125, "float16_overflow": 0.0, "float16_denormal": 0.001, **more}


def blame(layers, guilty):
    """What `blame` saves: a chain in which one layer makes an error that the others inherit."""
    def layer(i):
        total, own = (0.02, 0.01) if i < guilty else (40.0 + i, 41.0 if i == guilty else 0.3)
        return {"node": f"layer_{i}", "op_type": OPERATORS[i % 6], "group": [],
                "inputs": [f"t{i - 1}" if i else "x"], "total_error": total, "own_error": own,
                "own_missing": None, "in_place_error": None, "fused": [], "fused_error": None,
                "iteration": 0,
                "outputs": [{"name": f"t{i}", "candidate_name": None, "dtype": "float32",
                             "shape": [8, 512], "total_error": total, "own_error": own,
                             "total_rms": 1e-5, "own_rms": 1e-6, "total_bound": 1e-6,
                             "own_bound": 1e-6, "bound_why": "float32, longest sum 512, 3 layers",
                             "reference": magnitudes(), "candidate": magnitudes()}]}

    runner = {"framework_version": "1.2", "framework_path": "/lib.so", "model": "net.onnx",
              "device": "CPU", "precision": "float32"}
    return {"schema_version": 1, "command": "vernier blame net.onnx", "version": "0.1.0",
            "culprits": [{"node": f"layer_{guilty}", "op_type": OPERATORS[guilty % 6],
                          "outputs": [f"t{guilty}"], "total_error": 40.0 + guilty, "own_error": 41.0,
                          "why": "its own error, from the reference's inputs, "
                                 "is 41 times the error bound"},
                         {"node": HOSTILE, "op_type": "Relu", "outputs": [f"t{guilty + 2}"],
                          "total_error": "inf", "own_error": None,
                          "why": "fusion or interaction: " + HOSTILE}],
            "first_nonfinite": {"node": f"layer_{guilty + 2}", "op_type": "Relu",
                                "output": f"t{guilty + 2}", "side": "candidate", "nan_count": 3,
                                "infinite_count": 1, "first": [0, 7],
                                "operands": [{"name": f"t{guilty + 1}", **magnitudes(max=6.5e4)}]},
            "unexposed": [{"name": "mask", "why": "'new' did not hand it out"}],
            "fused_away": ["t1", HOSTILE], "disturbed": True,
            "disturbance": {"changed": True, "plain_error": 40, "probed_error": 0.2, "moved": 40,
                            "effect": "cures", "probes": ["t5"], "region": ["layer_5", "layer_6"],
                            "finding": "Probing changed the result: the fault is in a fusion."},
            "first_divergence": f"layer_{guilty}", "output_error": 40.0 + layers,
            "compared": layers, "model": "net.onnx", "reference": "gold", "candidate": "new",
            "runners": [{"name": "gold", "backend": "onnxruntime", **runner},
                        {"name": "new", "backend": "openvino", **runner}],
            "batches": 1, "planned_bytes": 1 << 20, "error": None, "resume_key": "", "notes": [],
            "seconds": 1.5, "timing_seconds": {"runtimes": 1.0}, "exit_code": 1,
            "layers": [layer(i) for i in range(layers)]}


def over_steps(steps, factor, sequences=1, own=False):
    """A record of sequences: an output whose error grows by a factor at each step, and the state,
    which was compared at the first, the last and the first bad step."""
    record = network(2, first_bad=2, names=["probability", "state_n"])
    errors = [1e-7 * factor ** step for step in range(steps)]
    curve = [{"step": step, "rms_error": rms, "times_over_tolerance": rms / 1e-5}
             for step, rms in enumerate(errors)]
    bad = next((p["step"] for p in curve if p["times_over_tolerance"] > 1), None)
    time = {"steps": steps * sequences, "first_bad_step": bad,
            "first_bad_sequence": None if bad is None else sequences - 1,
            "growth_per_step": math.log(factor), "growth_error": 1e-4, "fitted_steps": steps,
            "largest_rms_error": errors[-1], "own": own, "fed_back": False, "curve": curve,
            "steps_per_point": 1}
    looked = sorted({0, steps - 1} | ({bad} if bad else set()))
    record["pairs"][0]["outputs"] = [
        output("probability", errors[-1] / 1e-5, time=time),
        output("state_n", 0.5, time={**time, "steps": len(looked), "fed_back": True,
                                     "first_bad_step": None, "first_bad_sequence": None,
                                     "curve": [curve[step] for step in looked]})]
    record["steps"] = {"lengths": [steps] * sequences, "state": "reference" if own else "own",
                       "feed_back": [{"runner": "onnxrt", "output": "state_n", "input": "state"}]}
    return record


def decoded(steps, parts_at, forced=False):
    """A record of tokens that runners chose: prompts part at the steps of `parts_at`, None where
    one does not. Behind that no token is equal."""
    record = over_steps(steps, 1.0)
    agreement = [{"step": step, "tokens": len(parts_at),
                  "agreeing_tokens": sum(part is None or step < part for part in parts_at)}
                 for step in range(steps)]
    divergences = [{"sequence": prompt, "prompt": 0, "step": part, "first_token": 17,
                    "second_token": -1 if prompt == 2 else 1024,
                    "first_margin": "nan" if prompt == 2 else 1e-6, "second_margin": 0.25,
                    "kind": "beyond tolerance" if prompt % 2 else "near tie"}
                   for prompt, part in enumerate(parts_at) if part is not None]
    kinds = [divergence["kind"] for divergence in divergences]
    until = sorted(steps if part is None else part for part in parts_at)
    record["pairs"][0]["decode"] = {
        "logits": "logits", "forced": forced, "prompts": len(parts_at),
        "tokens": steps * len(parts_at),
        "agreeing_tokens": sum(point["agreeing_tokens"] for point in agreement),
        "diverged_prompts": len(divergences),
        "tokens_until_divergence_median": until[len(until) // 2],
        "tokens_until_divergence_least": until[0], "steps_after_divergence": 0,
        "near_ties": kinds.count("near tie"), "beyond_tolerance": kinds.count("beyond tolerance"),
        "not_judged": 0, "divergences": divergences, "agreement": agreement, "steps_per_point": 1}
    return record


def with_logits(record):
    """What --compare logits measured of the first output, and of the tokens that were fed."""
    record["pairs"][0]["outputs"][0].update(
        logits={"passed": False, "axis": 2, "classes": 64, "positions": 24,
                "compared_positions": 23, "masked_positions": 0, "nan_positions": 0,
                "infinite_positions": 0, "torn_positions": 0, "kl_mean": 0.0125,
                "kl_standard_error": 0.001, "kl_median": 0.01, "kl_p1": 0.0, "kl_p5": 0.0,
                "kl_p95": 0.05, "kl_p99": 0.0625, "kl_p99_9": 0.07, "kl_max": 0.075,
                "kl_max_position": [0, 7], "kl_threshold": 0.001, "top_probability_rms": 0.01,
                "top1_share": 0.875, "top1_judged": 0.913, "top1_threshold": 1.0, "flips": 3,
                "close_flips": 1, "flip_margin_mean": 0.1, "flip_margin_max": 0.375,
                "flip_max_position": [0, 9], "top_k": 5, "top_k_share": 0.5,
                "excluded_positions": 1},
        tokens={"source": "input_ids", "mask": "attention_mask", "positions": 24,
                "excluded_positions": 1, "tokens": 22, "impossible_tokens": 0,
                "first_perplexity": 115.906, "second_perplexity": 114.852,
                "perplexity_ratio": 0.990906, "ratio_standard_error": 0.0125,
                "token_probability_rms": 0.001})
    return record
