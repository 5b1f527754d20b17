"""Saved results for the tests, and what they read back: PNG files and the text of SVG files."""

import base64
import json
import struct
import xml.etree.ElementTree
import zlib

SVG = "{http://www.w3.org/2000/svg}"


def array(shape, values):
    """float32 in Polygraphy's JSON."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    data = struct.pack(f"<{len(values)}f", *values)
    npy = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + data
    return {"array": base64.b64encode(npy).decode(), "polygraphy_class": "ndarray"}


def write_results(path, runner, iterations):
    """Each iteration: {output: (shape, values)}."""
    def iteration(outputs):
        lazy = {name: {"values": array(*value), "polygraphy_class": "LazyArray"}
                for name, value in outputs.items()}
        return {"outputs": lazy, "runtime": 0.25, "runner_name": runner,
                "polygraphy_class": "IterationResult"}
    document = {"lst": [[runner, [iteration(outputs) for outputs in iterations]]],
                "polygraphy_class": "RunResults"}
    path.write_text(json.dumps(document))


class Png:
    """Rows of (red, green, blue). Knows what libpng writes here: 8 bits, palette or RGB."""

    def __init__(self, path):
        data = path.read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n", path
        at, packed, palette = 8, b"", b""
        while at < len(data):
            size, kind = struct.unpack(">I4s", data[at:at + 8])
            body = data[at + 8:at + 8 + size]
            assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]
            if kind == b"IHDR":
                self.width, self.height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            elif kind == b"PLTE":
                palette = body
            elif kind == b"IDAT":
                packed += body
            at += 12 + size
        assert kind == b"IEND" and not interlaced and color in (2, 3)
        raw = zlib.decompress(packed)
        if color == 2:
            rows = self.unfilter(raw, self.width * 3, 3)
            self.rows = [[tuple(row[i:i + 3]) for i in range(0, len(row), 3)] for row in rows]
            return
        colors = [tuple(palette[i:i + 3]) for i in range(0, len(palette), 3)]
        rows = self.unfilter(raw, (self.width * depth + 7) // 8, 1)
        mask = (1 << depth) - 1
        self.rows = [[colors[row[x * depth // 8] >> (8 - depth - x * depth % 8) & mask]
                      for x in range(self.width)] for row in rows]

    @staticmethod
    def unfilter(raw, stride, step):
        before, rows = bytearray(stride), []
        for start in range(0, len(raw), stride + 1):
            kind, row = raw[start], bytearray(raw[start + 1:start + 1 + stride])
            for i in range(stride):
                left, up = row[i - step] if i >= step else 0, before[i]
                corner = before[i - step] if i >= step else 0
                if kind == 4:
                    near = [abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)]
                    guess = (left, up, corner)[near.index(min(near))]
                else:
                    guess = (0, left, up, (left + up) // 2)[kind]
                row[i] = row[i] + guess & 255
            rows.append(row)
            before = row
        return rows

    def places(self, color):
        return [(x, y) for y, row in enumerate(self.rows) for x, c in enumerate(row) if c == color]


def svg_texts(path):
    """All text of an SVG file, which must be well-formed."""
    root = xml.etree.ElementTree.parse(path).getroot()
    assert root.tag == SVG + "svg"
    return [element.text or "" for element in root.iter()
            if element.tag in (SVG + "text", SVG + "title")]
