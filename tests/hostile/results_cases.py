"""Malformed JSON, base64 and folders of saved results and inputs."""

import base64
import json

from corpus import INCOMPLETE, MALFORMED

OK = 0


def npy(descr="<f4", shape="(2,)", data=b"\0\0\x80?" * 2):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + data


GOOD_ARRAY = base64.b64encode(npy()).decode()


def array(text=GOOD_ARRAY, **more):
    return {"array": text, "polygraphy_class": "ndarray", **more}


def lazy(values=None):
    return {"values": values or array(), "polygraphy_class": "LazyArray"}


def iteration(outputs=None, **more):
    return {"outputs": {"x": lazy()} if outputs is None else outputs, "runtime": 0.25,
            "runner_name": "r", "polygraphy_class": "IterationResult", **more}


def results(runs=None):
    return {"lst": [["r", [iteration()]]] if runs is None else runs,
            "polygraphy_class": "RunResults"}


def dump(value):
    return json.dumps(value, indent=1)


def with_payload(text):
    return dump(results([["r", [iteration({"x": lazy(array(text))})]]]))


def good(corpus):
    corpus.write("good/outputs.json", dump(results()))
    corpus.write("good/feeds.json", dump([{"x": array()}]))
    corpus.results_file("json", "good", "@/good/outputs.json", OK)


def truncated(corpus):
    text = dump(results())
    for size in range(len(text)):
        corpus.results("json_cut", f"results_{size}", ".json", text[:size])
    text = dump([{"x": array()}])
    for size in range(0, len(text), 3):
        corpus.inputs("json_cut", f"feeds_{size}", ".json", text[:size])


def syntax(corpus):
    good_text = dump(results())

    def case(name, data, expect=MALFORMED):
        corpus.results("json", name, ".json", data, expect)

    def spoil(name, old, new, expect=MALFORMED):
        if old not in good_text:
            raise ValueError(old)
        case(name, good_text.replace(old, new, 1), expect)

    for name, escape in {"x": "\\x41", "end": "\\", "u_short": "\\u12", "u_letters": "\\uzzzz",
                         "octal": "\\101", "capital_u": "\\U0001f600", "quote": "\\'"}.items():
        spoil(f"escape_{name}", '"r"', f'"{escape}"')
    spoil("escape_lone_surrogate", '"r"', '"\\ud800"', {OK, MALFORMED})
    spoil("control_character", '"r"', '"\x01"')
    spoil("line_break_in_string", '"r"', '"\n"')
    spoil("comma_at_end", '"RunResults"\n', '"RunResults",\n')
    spoil("single_quotes", '"runtime"', "'runtime'")
    spoil("no_quotes", '"runtime"', "runtime")
    spoil("comment", '"runtime"', '/* */ "runtime"')
    spoil("missing_colon", '"runtime":', '"runtime"')
    spoil("missing_comma", '0.25,', '0.25')
    for name, number in {"plus": "+1", "leading_zero": "01", "dot_first": ".5", "dot_last": "1.",
                         "hex": "0x10", "exponent": "1e", "minus": "-", "two_dots": "1.2.3",
                         "true_word": "True", "none_word": "None", "nan_word": "nan"}.items():
        spoil(f"number_{name}", "0.25", number)
    for name, number in {"1e999": "1e999", "minus_1e999": "-1e999", "nan": "NaN",
                         "infinity": "-Infinity", "2_64": "18446744073709551616",
                         "tiny": "1e-999"}.items():
        spoil(f"number_{name}", "0.25", number, OK)  # as Python reads them
    spoil("number_long", "0.25", "1" * 100000, {OK, MALFORMED})
    case("duplicate_keys", good_text.replace('"runtime": 0.25', '"runtime": 7, "runtime": 0.25'),
         OK)
    case("bom", b"\xef\xbb\xbf" + good_text.encode(), OK)
    case("utf16", good_text.encode("utf-16"))
    case("utf16_le", good_text.encode("utf-16-le"))
    case("utf32", good_text.encode("utf-32"))
    case("latin1", good_text.replace('"r"', '"\xe9"').encode("latin-1"))
    case("overlong_utf8", good_text.encode().replace(b'"r"', b'"\xc0\xaf"'))
    case("nul_byte", good_text.encode().replace(b'"r"', b'"\0"'))
    for name, rest in {"brace": "}", "bracket": "]", "word": " x", "second": good_text,
                       "nul": "\0", "comma": ","}.items():
        case(f"trailing_{name}", good_text + rest)
    case("trailing_space", good_text + " \n\t\r\n", OK)
    case("empty", "")
    case("blank", " \n ")
    for name, start in {"arrays": "[", "objects": '{"a":', "mixed": '[{"a":'}.items():
        case(f"depth_{name}", start * 100000)
        case(f"depth_{name}_600", start * 600 + "1")
    case("depth_closed", "[" * 100000 + "]" * 100000)
    case("many_values", "[" + "0," * 2000000 + "0]")
    case("zip_by_mistake", b"PK\3\4" + bytes(100))
    corpus.results_file("json", "missing", "@/json/nowhere.json")
    corpus.results_file("json", "fifo", corpus.fifo("json/fifo.json"))
    corpus.results_file("json", "huge_sparse", corpus.sparse("json/huge.json", 1 << 32, b" "))


def types(corpus):
    """A value of every other type in every place of the document."""
    others = {"null": None, "number": 7, "text": "t", "list": [1], "object": {"k": 1},
              "true": True, "empty_list": [], "empty_object": {}}
    # A place, and the others that make no difference there.
    places = {
        "root": (lambda v: v, ()),
        "lst": (lambda v: {**results(), "lst": v}, ("empty_list",)),
        "pair": (lambda v: results([v]), ()),
        "runner": (lambda v: results([[v, [iteration()]]]), ("text",)),
        "iterations": (lambda v: results([["r", v]]), ("empty_list",)),
        "iteration": (lambda v: results([["r", [v]]]), ()),
        "outputs": (lambda v: results([["r", [iteration(outputs=v)]]]),
                    ("null", "empty_object", "object")),
        "runtime": (lambda v: results([["r", [iteration(runtime=v)]]]), ("null", "number")),
        "runner_name": (lambda v: results([["r", [iteration(runner_name=v)]]]), ("null", "text")),
        "tensor": (lambda v: results([["r", [iteration({"x": v})]]]), ()),
        # A bare number is a tensor of rank 0, as Polygraphy saves NumPy's scalars.
        "values": (lambda v: results([["r", [iteration({"x": {**lazy(), "values": v}})]]]),
                   ("number", "true")),
        "array": (lambda v: results([["r", [iteration({"x": lazy({**array(), "array": v})})]]]),
                  ()),
        "dtype": (lambda v: results([["r", [iteration({"x": lazy(array(dtype=v))})]]]), ()),
    }
    for place, (build, harmless) in places.items():
        for name, other in others.items():
            # Harmless for the reader, but possibly nothing is left to compare.
            expect = {OK, MALFORMED, INCOMPLETE, 1} if name in harmless else MALFORMED
            corpus.results("json_types", f"{place}_{name}", ".json", dump(build(other)), expect)
    for place in ("lst", "polygraphy_class"):
        whole = results()
        del whole[place]
        corpus.results("json_types", f"without_{place}", ".json", dump(whole))
    for name in ("Nothing", "ndarray", "IterationResult", "", "os.system", "__class__", "r\0n"):
        stem = name.strip("_.").replace(".", "_").replace("\0", "_nul_") or "empty"
        corpus.results("json_types", f"class_{stem}", ".json",
                       dump({**results(), "polygraphy_class": name}))
        spoiled = {**lazy(), "polygraphy_class": name}
        if name != "ndarray":
            corpus.results("json_types", f"tensor_class_{stem}", ".json",
                           dump(results([["r", [iteration({"x": spoiled})]]])))
        corpus.inputs("json_types", f"feed_class_{stem}", ".json",
                      dump([{"x": {**array(), "polygraphy_class": name}}]),
                      OK if name == "ndarray" else MALFORMED)
    for name, feed in {"number": [1], "null": [None], "lists": [[1]], "tensor_number": [{"x": 1}],
                       "results": results(), "array_only": array()}.items():
        corpus.inputs("json_types", f"feeds_{name}", ".json", dump(feed))


def payloads(corpus):
    def case(name, text, expect=MALFORMED):
        corpus.results("base64", name, ".json", with_payload(text), expect)

    size = len(GOOD_ARRAY)
    for at in (*range(0, 66), size // 2, size - 5, size - 1):
        case(f"character_{at}", GOOD_ARRAY[:at] + "!" + GOOD_ARRAY[at + 1:])
    for name, bad in {"space": " ", "dash": "-", "underscore": "_", "equals": "=", "tilde": "~",
                      "line_break": "\n", "e_acute": "\xe9", "nul": "\0"}.items():
        middle = size // 2
        case(f"middle_{name}", GOOD_ARRAY[:middle] + bad + GOOD_ARRAY[middle + 1:])
    for cut in range(1, 9):
        case(f"cut_{cut}", GOOD_ARRAY[:-cut])
        case(f"cut_and_padded_{cut}", GOOD_ARRAY[:-cut - 2].rstrip("=") + "=" * (cut % 4))
    for padding in ("=", "==", "===", "====", "A=", "A==="):
        case(f"more_{len(padding)}_{padding.strip('=') or 'padding'}", GOOD_ARRAY + padding)
    case("empty", "")
    case("only_padding", "====")
    case("nothing_but_header", base64.b64encode(npy(data=b"")).decode())
    case("no_npy", base64.b64encode(b"not an array").decode())
    case("latin1_text", "\x93NUMPY\1\0")
    case("zip_start", "PK\3\4")
    for name, content in {
            "huge_shape": npy(shape="(65536, 65536)"), "overflow": npy(shape="(4294967296,) * 3"),
            "overflow_tuple": npy(shape="(4294967296, 4294967296, 4294967296)"),
            "negative": npy(shape="(-1,)"), "object": npy(descr="|O"),
            "short": npy(shape="(3,)")}.items():
        case(f"npy_{name}", base64.b64encode(content).decode())


def folders(corpus):
    """Folders of one file an iteration."""
    def folder(name, files, expect=MALFORMED, **more):
        for file, data in files.items():
            corpus.write(f"folders/{name}/{file}", data)
        corpus.path(f"folders/{name}/.").mkdir(parents=True, exist_ok=True)
        corpus.results_file("folders", name, f"@/folders/{name}", expect, **more)

    good_text = dump(results())
    folder("good", {"0.json": good_text}, OK)
    folder("second_cut", {"0.json": good_text, "1.json": good_text[:50]})
    folder("second_empty", {"0.json": good_text, "1.json": ""})
    folder("other_type", {"0.json": dump([{"x": array()}])})
    folder("empty", {}, INCOMPLETE, mentions=[])
    corpus.fifo("folders/pipe/0.json")
    corpus.results_file("folders", "pipe", "@/folders/pipe")
    corpus.path("folders/nested/0.json").mkdir()
    corpus.results_file("folders", "nested", "@/folders/nested")


def add(corpus):
    good(corpus)
    truncated(corpus)
    syntax(corpus)
    types(corpus)
    payloads(corpus)
    folders(corpus)
