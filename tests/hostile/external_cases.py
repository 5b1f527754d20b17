"""Weights in other files, in all the wrong places."""

import os

from corpus import MALFORMED
from wire import external_tensor, graph, model, node, value

OK = 0
NEEDED = 24  # bytes of a float32 tensor of shape (2, 3)


def reading(entries, dims=(2, 3), dtype=1):
    weights = external_tensor("w", dims, entries, dtype)
    return model(graph([node("Add", ["x", "w"], ["y"])], [value("x")], [value("y")], [weights]))


def add(corpus):
    group = "external"
    corpus.write(f"{group}/good.bin", bytes(NEEDED))
    corpus.write(f"{group}/short.bin", bytes(NEEDED - 1))
    corpus.write(f"{group}/empty.bin", b"")
    corpus.write(f"{group}/below/good.bin", bytes(NEEDED))
    corpus.write("outside.bin", bytes(NEEDED))

    def case(name, location, offset=None, length=None, expect=MALFORMED, extra=(), **more):
        entries = [] if location is None else [("location", location)]
        entries += [("offset", str(offset))] if offset is not None else []
        entries += [("length", str(length))] if length is not None else []
        corpus.model(group, name, reading(entries, **more), expect, extra)

    case("good", "good.bin", 0, NEEDED, OK)
    case("good_below", "below/good.bin", expect=OK)
    case("missing", "nowhere.bin")
    case("missing_folder", "no/such/folder.bin")
    case("too_short", "short.bin")
    case("empty_file", "empty.bin")
    case("no_location", None)
    case("empty_location", "")
    outside = os.path.abspath(corpus.path("outside.bin"))
    for name, location in {"parent": "../outside.bin", "parent_twice": "below/../../outside.bin",
                           "dot_parent": "./../outside.bin", "absolute": outside,
                           "double_slash": "//etc/passwd", "device": "/dev/zero",
                           "own_descriptor": "/proc/self/fd/0", "nul": "good.bin\0.txt",
                           "backslash": "..\\outside.bin", "url": "file:///etc/passwd",
                           "home": "~/x", "folder": "below", "self": ".", "parent_only": "..",
                           "slash_end": "good.bin/", "long": "n" * 65536,
                           "escape": "\x1b[2Jgone"}.items():
        case(name, location)
    for name, target in {"link_out": "../outside.bin", "link_absolute": "/etc/hostname",
                         "link_dangling": "nowhere", "link_loop": "link_loop.bin",
                         "link_device": "/dev/zero", "link_proc": "/proc/self/environ"}.items():
        corpus.path(f"{group}/{name}.bin").symlink_to(target)
        case(name, f"{name}.bin")
    corpus.path(f"{group}/link_folder").symlink_to("..")
    case("link_folder_out", "link_folder/outside.bin")
    corpus.path(f"{group}/link_in.bin").symlink_to("good.bin")
    case("link_inside", "link_in.bin", expect=OK)
    case("link_inside_strict", "link_in.bin", extra=["--strict-external-data"])
    os.link(corpus.path("outside.bin"), corpus.path(f"{group}/hard.bin"))
    case("hard_link", "hard.bin", expect=OK)
    case("hard_link_strict", "hard.bin", extra=["--strict-external-data"])
    corpus.fifo(f"{group}/pipe.bin")
    case("fifo", "pipe.bin")
    for name, offset in {"past_end": NEEDED, "one_past": 1, "2_62": 2**62, "2_63": 2**63,
                         "2_64": 2**64, "negative": -1, "lowest": -2**63, "text": "ten",
                         "hex": "0x0", "float": "0.5", "huge": "9" * 1000}.items():
        case(f"offset_{name}", "good.bin", offset)
    for name, length in {"short": NEEDED - 1, "long": NEEDED + 1, "2_63": 2**63, "negative": -1,
                         "text": "many", "wraps": 2**64 - 8}.items():
        case(f"length_{name}", "good.bin", 0, length)
    case("offset_wraps", "good.bin", 2**63 - 8, NEEDED)
    case("dims_negative", "good.bin", dims=(-2, 3))
    case("dims_too_large", "good.bin", dims=(2**62, 8))
    case("dims_zero_and_huge", "good.bin", dims=(0, 2**62, 2**62), expect={OK, MALFORMED})
    case("strings", "good.bin", dtype=8)
    case("unknown_type", "good.bin", dtype=99, expect={OK, MALFORMED})
    case("other_folder_missing", "good.bin", extra=["--external-data-dir", "no/such/folder"])
    case("ignored", "nowhere.bin", expect={OK, MALFORMED}, extra=["--ignore-external-data"])
