"""Values of the command line that make no sense, and places that cannot be read or written."""

import external_cases
from corpus import INCOMPLETE, MALFORMED, NOT_SAVED, UNKNOWN_NAME, USAGE
from wire import attribute, function, graph, identity, model, node, value

OK = 0
GROUP = "command_line"
TWO = ["run", "@/good/identity.onnx", "--identity", "--identity"]


def stem(words):
    """The words as a name: what is no letter or digit as its code."""
    text = "_".join(words).strip("-")
    return "".join(c if c.isalnum() or c in "-_" else f"~{ord(c):x}" for c in text)[:80]


def values(corpus):
    def case(words, expect=USAGE, **more):
        corpus.case(GROUP, stem(words), [*TWO, *words], expect, **more)

    for shape in ("", ":", "x", "x:", "x:1,2", "x:[1.5]", "x:[1e3]", "x:(", "x:[1,2", "x:[1,,2]",
                  "x:[-5,3]", "x:[99999999999999999999]", "x:[1,-1,x]", "x:[1,2,3]", "x:[[2,3]]",
                  "x:[4294967296,4294967296]", "nowhere:[2,3]", "name:with:colons:[2,3]",
                  "x:" + "[" * 100000, "x:[" + "1," * 60000 + "]", "x:['2',3]", "x:\"2,3\"",
                  "x:[2,3]\0"[:-1] + "\x1b[2J"):
        case(["--input-shapes", shape], {USAGE, MALFORMED})
    for bounds in ("5", "[1]", "[1,2,3]", "[a,b]", "[]", "x:[0]", "x:", "[[0,1],[0,1]]", "x:{0,1}",
                   "['0','1']"):
        case(["--val-range", bounds])
    # Polygraphy takes a missing bracket as read, and a space before a suffix.
    for bounds in ("[1,2", "(0,1"):
        case(["--val-range", bounds], {OK, USAGE})
    case(["--save-onnx", "s.onnx", "--external-data-size-threshold", "1 M"], {OK, USAGE},
         may_leave=["s.onnx"])
    case(["--val-range", "nowhere:[0,1]"], MALFORMED)
    for bounds in ("[nan,1]", "[-inf,inf]", "[1e400,1]", "[2,1]", "[" + "9" * 5000 + ",1]"):
        case(["--val-range", bounds], {OK, USAGE, MALFORMED, 1})
    for size in ("1Q", "K", "-1", "", "1e", "0x10", "M1", "1KB", "nan"):
        case(["--save-onnx", "s.onnx", "--external-data-size-threshold", size],
             {USAGE, MALFORMED} if size != "-1" else {OK, USAGE}, may_leave=["s.onnx"])
    for flag in ("--rtol", "--atol"):
        for number in ("a", "-1", "nan", "1,2", "[1]", "x:", "x:y", ":", "1e-5x", "True"):
            case([flag, number], {OK, USAGE} if number == "True" else USAGE)
    for number in ("x", "1.5", "", "-1", "99999999999999999999", "0x10"):
        case(["--seed", number], {OK, USAGE} if number == "-1" else USAGE)
        case(["--iterations", number],
             {INCOMPLETE, USAGE} if number == "-1" else USAGE)
    case(["--iterations", "0"], {INCOMPLETE, USAGE})
    case(["--check-error-stat", "foo"])
    case(["--check-error-stat", "x:"])
    case(["--error-quantile", "2"])
    case(["--timeout", "-1"])
    case(["--timeout", "soon"])
    case(["--pairs", "q"])
    case(["--pairs", "a:b"])
    case(["--verbosity", "LOUD"])
    case(["--model-type", "onyx"])
    case(["--load-inputs"])
    case(["--runner", "nonsense"])
    case(["--runner", "a='"], {USAGE, MALFORMED, 5})
    case(["--no-such-flag"])
    case(["--input-shape", "x:[1"], {USAGE, MALFORMED})  # an abbreviation
    case(["-"], {USAGE, MALFORMED})
    case(["--rtol=" + "1" * 10**5], {OK, USAGE})
    case(["--rtol", *["1"] * 10000], {OK, USAGE})
    case(["--\x1b[31m"])


def unknown_names(corpus):
    """Names that the model does not have."""
    for flag in ("--rtol", "--atol"):
        corpus.case(GROUP, f"{flag[2:]}_of_unknown", [*TWO, flag, "nowhere:1e-3"], UNKNOWN_NAME,
                    mentions=["nowhere"])
    corpus.case(GROUP, "statistic_of_unknown", [*TWO, "--check-error-stat", "nowhere:max"],
                UNKNOWN_NAME, mentions=["nowhere"])
    for flag in ("--onnx-outputs", "--onnx-exclude-outputs"):
        corpus.case(GROUP, f"{flag[2:]}_unknown", [*TWO, flag, "nowhere"], UNKNOWN_NAME,
                    mentions=["nowhere"])
    corpus.case(GROUP, "near_flag", [*TWO, "--onnx-outptus", "y"], USAGE,
                out=["--onnx-outputs"])


def unreadable(corpus):
    where = {"missing": "no/such/file", "below_a_file": "@/good/identity.onnx/below",
             "long_name": "n" * 300, "long_path": "d/" * 3000 + "f", "device": "/dev/null",
             "terminal": "/dev/tty", "memory": "/proc/self/mem", "empty": ""}
    for name, path in where.items():
        for flag, suffix in (("--load-inputs", ".json"), ("--load-outputs", ".json"),
                             ("--load-inputs", ".npz"), ("--load-outputs", ".safetensors")):
            file = path if path == "" or path.startswith(("/dev", "/proc")) else path + suffix
            corpus.case("unreadable", f"{name}_{flag[7:]}{suffix[1:]}", [*TWO, flag, file],
                        {MALFORMED, USAGE} if path == "" else MALFORMED)
        corpus.case("unreadable", f"{name}_model",
                    ["run", path if name in ("empty", "device", "terminal", "memory")
                     else path + ".onnx", "--identity", "--model-type", "onnx"],
                    {MALFORMED, USAGE} if path == "" else MALFORMED)


def unwritable(corpus):
    corpus.write("folder/file", "x")
    corpus.write("folder/below/file", "x")
    where = {"below_a_file": "@/good/identity.onnx/below", "in_proc": "/proc/nothing",
             "long_name": "n" * 300, "below_dev_null": "/dev/null/x", "folder": "@/folder"}
    flags = {"--save-outputs": (".json", ".npz", ".safetensors"),
             "--save-inputs": (".json", ".npz", ".safetensors"), "--save-onnx": (".onnx",),
             "--save-record": (".json",), "--log-file": (".log",), "--save-input-blob": ("",)}
    for name, path in where.items():
        for flag, suffixes in flags.items():
            for suffix in suffixes:
                file = path if path == "@/folder" else path + suffix
                blob = flag == "--save-input-blob" and name == "folder"
                corpus.case("unwritable", f"{name}{flag[1:].replace('-', '_')}{suffix}",
                            [*TWO, flag, file], OK if blob else NOT_SAVED)
    # A pipe must not be replaced, nor waited for.
    for flag, suffix in (("--save-outputs", ".json"), ("--save-inputs", ".npz"),
                         ("--save-onnx", ".onnx"), ("--save-record", ".json")):
        pipe = corpus.fifo(f"pipes/{flag[2:]}{suffix}")
        corpus.case("unwritable", f"pipe_{flag[2:]}", [*TWO, flag, pipe], {NOT_SAVED, USAGE})


def full_disk(corpus):
    """A disk that fills up, or fails at one call, at every step of the way; see full_disk.c."""
    group = "full_disk"
    corpus.write(f"{group}/big.onnx", identity(dims=(100, 1000)))
    corpus.write("external/two.onnx", external_cases.reading([("location", "good.bin")]))
    big = ["run", f"@/{group}/big.onnx", "--identity"]
    # What is saved, and what may stay of it: finished parts, to be recovered from. A folder, which
    # must be new, has no old content to keep.
    ways = {f"{what}_{suffix}": ([*big, f"--save-{what}", f"o.{suffix}"], [f"o.{suffix}.partial"])
            for what in ("outputs", "inputs") for suffix in ("json", "npz", "safetensors")}
    ways["outputs_folder"] = ([*big, "--save-outputs", "o"], ["o", "o.partial"])
    ways["blobs"] = ([*big, "--save-input-blob", "o"], ["o"])
    ways["sequential"] = ([*big, "--identity", "--sequential-runners", "--iterations", "2",
                           "--save-outputs", "o.json"], ["o.json.partial"])
    ways["record"] = ([*big, "--save-record", "o.json"], [])
    ways["model"] = (["run", "@/external/two.onnx", "--identity", "--save-onnx", "o.onnx"], [])
    ways["model_and_weights"] = (["run", "@/external/two.onnx", "--identity", "--save-onnx",
                                  "o.onnx", "--save-external-data", "w.bin",
                                  "--external-data-size-threshold", "0"], ["w.bin"])
    for name, (args, left) in ways.items():
        old = [word for word in args if word.startswith("o.")]
        more = {"before": {word: "old" for word in old}, "may_leave": left}
        # Where only the place for waiting outputs is full, what was finished is published.
        if name == "sequential":
            more["published"] = old
        corpus.case(group, f"{name}_calls", args, {OK, NOT_SAVED}, fault="calls", **more)
        for space in (0, 1, 100, 4096, 100000, 399000, 400100):
            # The smaller files fit into the larger spaces.
            expect = NOT_SAVED if space < 100 else {OK, NOT_SAVED}
            corpus.case(group, f"{name}_{space}", args, expect, fault=space, **more)
    # A limit of the process is a signal first, which must not end it.
    for what in ("outputs", "inputs"):
        corpus.case(group, f"{what}_file_size_limit", [*big, f"--save-{what}", "o.json"], NOT_SAVED,
                    file_limit=450000, before={"o.json": "old"}, may_leave=["o.json.partial"])


def frameworks(corpus):
    """What the frameworks themselves refuse or die of; their workers are not measured."""
    group = "frameworks"

    def case(name, data, flags, expect, **more):
        file = corpus.write(f"{group}/{name}.onnx", data)
        for key, extra in flags.items():
            corpus.case(group, f"{name}_{key}", ["run", file, *extra], expect, framework=True,
                        **more)

    x, a = value("x"), value("a")
    each = {"onnxrt": ["--onnxrt"], "openvino": ["--openvino"],
            "both": ["--onnxrt", "--openvino"]}
    refused = {
        "cycle": graph([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"])], [x], [a]),
        "dangling": graph([node("Add", ["x", "nowhere"], ["a"])], [x], [a]),
        "unknown_operator": graph([node("NoSuchOp", ["x"], ["a"])], [x], [a]),
        "input_twice": graph([node("Relu", ["x"], ["a"])], [x, x], [a]),
        "too_few_inputs": graph([node("Add", ["x"], ["a"])], [x], [a]),
    }
    for name, content in refused.items():
        case(name, model(content), each, {MALFORMED, 6})
    case("cut", model(graph([], [x], [a]))[:30], each, MALFORMED)
    for name, text in {"escape": "\x1b[31mred", "c1": "\x9b2J", "bidi": "\u202egnp",
                       "newline": "x\n[I] PASSED", "not_utf8": b"\xff\xfe"}.items():
        case(f"name_{name}", identity(input_name=text, output_name=text + type(text)(
            "2" if isinstance(text, str) else b"2")), {"both": each["both"]}, {OK, MALFORMED, 6})
    # Two models that kill ONNX Runtime 1.31.1 while it opens them: scripts/python-runtimes.txt
    # pins that version. The identity runner goes on and its outputs are saved.
    survivors = {"in_front": ["--onnxrt", "--identity", "--save-outputs", "o.json"],
                 "behind": ["--identity", "--onnxrt", "--save-outputs", "o.json"],
                 "sequential": ["--onnxrt", "--identity", "--save-outputs", "o.json",
                                "--sequential-runners"]}
    block = node("DepthToSpace", ["x"], ["y"], attribute("blocksize", i=2**32))
    case("depth_to_space", model(graph([block], [value("x", (1, 8, 4, 4))], [value("y", None)])),
         survivors, 6, mentions=["onnxrt-runner-N0", "SIGFPE", "opening", "depth_to_space.onnx"],
         may_leave=["o.json"], out=["identity-runner-N0", "---- Inference Output(s) ----"])
    last = 2999
    chain = [function(f"F{i}", ["x"], ["y"],
                      [node(f"F{i + 1}", ["x"], ["y"], domain="local")]) for i in range(last)]
    chain.append(function(f"F{last}", ["x"], ["y"], [node("Relu", ["x"], ["y"])]))
    first = graph([node("F0", ["x"], ["y"], domain="local")], [x], [value("y")])
    case("function_chain", model(first, chain, ["local"]), survivors, 6,
         mentions=["onnxrt-runner-N0", "SIGSEGV", "opening", "function_chain.onnx"],
         may_leave=["o.json"], out=["identity-runner-N0", "---- Inference Output(s) ----"])


def add(corpus):
    corpus.write("good/identity.onnx", identity(dims=(2,)))
    values(corpus)
    unknown_names(corpus)
    unreadable(corpus)
    unwritable(corpus)
    full_disk(corpus)
    frameworks(corpus)
