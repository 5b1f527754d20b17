#!/usr/bin/env python3
"""Draws the glyph tables of src/picture/glyphs/, which put text into PNG files.

Usage: make-glyphs.py FONT.ttf SIZE OUT.txt

Needs Pillow. The tables in the tree were made from DejaVu Sans 2.37 and are checked in, so that
neither building nor running needs a font. A table starts with "height H ascent A"; each glyph is
"U+XXXX advance W" and H rows of W characters: '.' is paper, 1 to f are growing amounts of ink.
"""

import sys
from pathlib import Path

from command_line import begin

begin(__doc__, "PIL")

from PIL import Image, ImageDraw, ImageFont  # noqa: E402

# Printable ASCII, then what the pictures' own labels use, then the sign for any other character.
CHARACTERS = [chr(code) for code in range(0x20, 0x7F)] + list("·×…≤≥\N{REPLACEMENT CHARACTER}")


def glyph_rows(font, character, width, height, baseline):
    image = Image.new("L", (width, height), 0)
    ImageDraw.Draw(image).text((0, baseline), character, font=font, fill=255, anchor="ls")
    levels = [round(value / 255 * 15) for value in image.tobytes()]
    return ["".join("." if level == 0 else f"{level:x}" for level in levels[row * width:][:width])
            for row in range(height)]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.strip())
    path, size, out = sys.argv[1:]
    font = ImageFont.truetype(path, int(size))
    ascent, descent = font.getmetrics()
    lines = [f"height {ascent + descent} ascent {ascent}"]
    for character in CHARACTERS:
        width = max(1, round(font.getlength(character)))
        lines.append(f"U+{ord(character):04X} advance {width}")
        lines += glyph_rows(font, character, width, ascent + descent, ascent)
    Path(out).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
