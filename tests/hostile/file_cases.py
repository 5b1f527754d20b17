"""The commands that live from files, given what the other groups made for run, and more."""

import json

from corpus import INCOMPLETE, MALFORMED, NOT_SAVED, USAGE

OK, DIFFERENT = 0, 1
EVERY = 6  # of the files for --load-outputs and --load-inputs


def accuracy(**more):
    result = {"l2_norm": 0.5, "thresholds": {"threshold": 1.0, "polygraphy_class": "L2Threshold"},
              "polygraphy_class": "L2Result", **more}
    return {"lst": [{"lst": [[["a", "b"], [{"y": result}]]], "aggregation": "per_sample",
                     "polygraphy_class": "AccuracyResult"}], "polygraphy_class": "AccuracyResults"}


def accuracy_files(corpus):
    def case(name, text, expect, *words):
        file = corpus.write(f"accuracy/{name}.json", text)
        corpus.case("accuracy", name, ["check", "accuracy", file, "--compare", "l2", *words], expect)

    text = json.dumps(accuracy())
    case("good", text, OK, "--l2-threshold", "1")
    for size in range(0, len(text), 3):
        case(f"cut_{size}", text[:size], MALFORMED)
    for name, number in {"text": "half", "null": None, "list": [1], "object": {}}.items():
        case(f"norm_{name}", json.dumps(accuracy(l2_norm=number)), {MALFORMED, DIFFERENT})
    for token in ("NaN", "-Infinity", "1e999", "-"):
        case(f"norm_{token}", text.replace("0.5", token), {OK, DIFFERENT, MALFORMED})
    case("unknown_class", text.replace("L2Result", "NoSuchResult"), MALFORMED)
    case("no_results", '{"lst": [], "polygraphy_class": "AccuracyResults"}', INCOMPLETE)
    case("deep", '{"lst": ' + "[" * 100000, MALFORMED)
    case("name_escape", text.replace('"y"', json.dumps("\x1b[2J")), {OK, DIFFERENT})


def read_by_every_command(corpus):
    """Some count as the other kind, which `run` does not accept; none may end badly."""
    read = [case for case in corpus.cases
            if case["args"][0] == "run" and ("--load-outputs" in case["args"]
                                             or "--load-inputs" in case["args"])
            and case["args"][-1].startswith("@/") and "fault" not in case]
    read += [case for case in corpus.cases if case["args"][:1] == ["run"]
             and "--save-outputs" in case["args"] and "--load-inputs" in case["args"]]
    anything = {OK, DIFFERENT, USAGE, MALFORMED, INCOMPLETE, NOT_SAVED}
    for number, case in enumerate(read[::EVERY]):
        words = case["args"]
        flag = "--load-outputs" if "--load-outputs" in words else "--load-inputs"
        file = words[-1] if flag == "--load-outputs" else words[words.index(flag) + 1]
        commands = {"show": ["data", "show", file, "-a", "-s", "-v"],
                    "convert": ["data", "convert", file, "-o", "o.npz"],
                    "merge": ["data", "merge", file, "@/good/feeds.json", "-o", "o.json"],
                    "compare": ["compare", "@/good/outputs.json", file]}
        for name, command in commands.items():
            corpus.case("files", f"{name}_{number}", command, anything,
                        may_leave=["o.npz", "o.json"])


def places(corpus):
    for name, path in {"missing": "no/such.json", "device": "/dev/null", "empty": "",
                       "memory": "/proc/self/mem", "folder": "@/folder"}.items():
        expect = {MALFORMED, USAGE} if path == "" else MALFORMED
        corpus.case("files", f"show_{name}", ["data", "show", path], expect)
        corpus.case("files", f"compare_{name}", ["compare", "@/good/outputs.json", path], expect)
        corpus.case("files", f"recover_{name}", ["data", "recover", path], expect)
        corpus.case("files", f"check_{name}", ["check", "accuracy", path, "--compare", "l2"],
                    expect)
    for name, path in {"in_proc": "/proc/nothing.json", "below_dev_null": "/dev/null/x.npz",
                       "long_name": "n" * 300 + ".json", "folder": "@/folder"}.items():
        for command in ("concat", "merge", "convert"):
            corpus.case("files", f"{command}_to_{name}",
                        ["data", command, "@/good/feeds.json", "-o", path], NOT_SAVED)


def full_disk(corpus):
    for command in ("concat", "merge", "convert"):
        for suffix in ("json", "npz"):
            old = f"o.{suffix}"
            corpus.case("full_disk", f"data_{command}_{suffix}",
                        ["data", command, "@/good/feeds.json", "-o", old], {OK, NOT_SAVED},
                        fault="calls", before={old: "old"},
                        may_leave=[f"{old}.partial"])  # to be recovered from, as of outputs
    corpus.case("full_disk", "data_concat_outputs",
                ["data", "concat", "@/good/outputs.json", "-o", "o.json"], {OK, NOT_SAVED},
                fault="calls", before={"o.json": "old"}, may_leave=["o.json.partial"])


def add(corpus):
    accuracy_files(corpus)
    read_by_every_command(corpus)
    places(corpus)
    full_disk(corpus)
