"""--load-inputs with images: decoded, resized and normalised as Pillow and NumPy do it."""

import glob
import json
import pathlib
import struct
import sys
import time
import unittest
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper
from polygraphy.json import load_json

from program import Case

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
NORMAL = "scale=1/255,mean=0.485,0.456,0.406,std=0.229,0.224,0.225"


def pillow():
    """PIL.Image of the packages beside Polygraphy's; None where they are not there."""
    for folder in glob.glob(str(ROOT / ".deps/graphsurgeon/lib/python3*/site-packages")):
        if folder not in sys.path:
            sys.path.append(folder)
    try:
        from PIL import Image
    except ImportError:
        return None
    return Image


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(array, kind, depth=8, between=b""):
    """A PNG file; `kind`: 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGBA."""
    rows = b"".join(b"\0" + row.astype(">u2" if depth == 16 else "u1").tobytes() for row in array)
    header = struct.pack(">IIBBBBB", array.shape[1], array.shape[0], depth, kind, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + between +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def weights(before, after):
    """What each new pixel is made of, as a matrix: triangles, wider where it shrinks."""
    scale = before / after
    reach = max(scale, 1.0)
    centers = (np.arange(after)[:, None] + 0.5) * scale
    shares = np.maximum(1 - np.abs((np.arange(before)[None] + 0.5 - centers) / reach), 0)
    return shares / shares.sum(1, keepdims=True)


def resized(image, height, width):
    """Pillow's BILINEAR, without its roundings in between: within 1 of it."""
    return np.rint(np.einsum("yh,hwc,xw->yxc", weights(image.shape[0], height), image,
                             weights(image.shape[1], width)))


def shorter(image, side):
    height, width = image.shape[:2]
    if width <= height:
        return resized(image, int(side * height / width), side)
    return resized(image, side, int(side * width / height))


def cropped(image, height, width):
    top, left = round((image.shape[0] - height) / 2), round((image.shape[1] - width) / 2)
    return image[top:top + height, left:left + width]


def normalised(image):
    return ((image / 255 - MEAN) / STD).transpose(2, 0, 1)[None]


class Images(Case):
    def setUp(self):
        super().setUp()
        self.random = np.random.default_rng(11)
        self.path("images").mkdir()

    def model(self, shape, dtype=TensorProto.FLOAT):
        x, y = (helper.make_tensor_value_info(n, dtype, shape) for n in "xy")
        graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"], "n")], "g", [x], [y])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), str(self.path("m.onnx")))

    def pixels(self, height, width, channels=3):
        return self.random.integers(0, 256, (height, width, channels))

    def write(self, name, data):
        (self.path("images") / name).write_bytes(data)

    def load(self, *words, code=0, images="images"):
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", images, *words,
                             "--save-inputs", "in.json", "--save-record", "record.json")
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended

    def feeds(self):
        return [np.asarray(feed["x"]) for feed in load_json(str(self.path("in.json")))]

    def record(self):
        return json.loads(self.path("record.json").read_text())

    def assert_pixels_within_one(self, ours, expected):
        self.assertEqual(ours.shape, expected.shape)
        self.assertEqual(ours.dtype, np.float32)
        self.assertLessEqual(np.abs(ours - expected).max(), 1.01 / 255 / min(STD))

    def test_a_folder_is_fed_as_a_pipeline_of_pillow_and_numpy_would(self):
        self.model((1, 3, 16, 16))
        rgb, gray, wide = self.pixels(23, 31), self.pixels(40, 17, 1), self.pixels(16, 90)
        self.write("a.png", png(rgb, 2))
        self.write("b.png", png(gray, 0))
        self.write("c.PNG", png(np.dstack([wide, self.pixels(16, 90, 1)]), 6))
        self.write("notes.txt", b"not an image")
        ended = self.load("--preprocess", f"resize=18,crop,{NORMAL},layout=nchw,rgb")
        expected = [rgb, np.repeat(gray, 3, 2), wide]
        feeds = self.feeds()
        self.assertEqual(len(feeds), 3)
        for feed, image in zip(feeds, expected):
            self.assert_pixels_within_one(feed, normalised(cropped(shorter(image, 18), 16, 16)))
        self.assertIn("Input tensor: x | Gets 3 image(s), one in each iteration, as float32, NCHW,"
                      " RGB", ended.out)
        self.assertIn("Loading input data from images/b.png", ended.out)
        self.assertEqual(self.record()["samples"], ["images/a.png", "images/b.png", "images/c.PNG"])
        self.assertEqual(self.record()["notes"], [])

    def test_what_is_converted_is_said_once(self):
        self.model((1, 3, 4, 5))
        palette = self.random.integers(0, 256, (9, 3))
        places = self.random.integers(0, 9, (4, 5, 1))
        deep = self.random.integers(0, 65536, (4, 5, 1))
        between = chunk(b"PLTE", palette.astype("u1").tobytes())
        for name in ("p1.png", "p2.png"):
            self.write(name, png(places, 3, between=between))
        self.write("q.png", png(deep, 0, depth=16))
        for name in ("r1.png", "r2.png"):
            self.write(name, png(self.pixels(4, 5, 4), 6))
        ended = self.load("--preprocess", "scale=1")
        self.assertIn("with values from 0 to 255", ended.out)
        said = {"p1": "has a palette", "q": "has 16 bits", "r1": "has transparency"}
        for name, text in said.items():
            self.assertEqual(ended.out.count(text), 1, ended.out)
            self.assertIn(f"'images/{name}.png' {text}", ended.out)
        feeds = self.feeds()
        self.assertTrue((feeds[0] == palette[places[..., 0]].transpose(2, 0, 1)).all())
        self.assertTrue((feeds[2][0] == deep[..., 0] // 256).all())

    def test_the_layout_and_the_type_are_the_inputs(self):
        self.model((None, 6, 7, 3), TensorProto.UINT8)
        images = [self.pixels(6, 7), self.pixels(6, 7)]
        for i, image in enumerate(images):
            self.write(f"{i}.png", png(image, 2))
        self.write("other.txt", b"")
        ended = self.load(images="images/?.png")
        self.assertIn("as uint8, NHWC, RGB, with values from 0 to 255", ended.out)
        for feed, image in zip(self.feeds(), images):
            self.assertEqual(feed.dtype, np.uint8)
            self.assertTrue((feed[0] == image).all())
        self.load("--preprocess", "bgr", images="images/1.png")
        self.assertTrue((self.feeds()[0][0] == images[1][..., ::-1]).all())

    def test_a_damaged_image_is_skipped_and_counted(self):
        self.model((1, 3, 4, 4))
        good = png(self.pixels(4, 4), 2)
        self.write("a.png", good[:-30])
        self.write("b.png", good)
        self.write("c.jpg", b"\xff\xd8\xff\xe0 and no more")
        self.write("d.png", b"")
        ended = self.load(code=4)
        self.assertEqual(len(self.feeds()), 1)
        for name, why in (("a.png", "it is damaged: "), ("c.jpg", "it is damaged: "),
                          ("d.png", "it is empty; ")):
            self.assertIn(f"--load-inputs: 'images/{name}': {why}", ended.out)
        note = ("3 of 4 images could not be read and were skipped: 'images/a.png', 'images/c.jpg',"
                " 'images/d.png'")
        self.assertIn(note, ended.out)
        self.assertEqual(self.record()["faults"],
                         [f"--load-inputs: {note} (--lenient accepts that)"])
        self.assertEqual(self.record()["samples"], ["images/b.png"])
        self.load("--lenient")
        self.assertEqual((self.record()["notes"], self.record()["faults"]), ([note], []))
        ended = self.load("--onnxrt", "--strict", code=3)
        self.assertIn("'images/a.png': it is damaged: ", ended.err + ended.out)

    def test_no_image_at_all_is_an_error(self):
        self.model((1, 3, 4, 4))
        self.write("a.png", b"text")
        ended = self.load(code=3)
        self.assertIn("none of the 1 image(s) can be read, the first is 'images/a.png'",
                      ended.err + ended.out)
        self.path("images/a.png").rename(self.path("images/a.txt"))
        ended = self.load("--preprocess", "crop", code=3)
        self.assertIn("--preprocess: --load-inputs names no image", ended.err + ended.out)
        ended = self.load(images="images/*.png", code=3)
        self.assertIn("'images/*.png' does not exist, and no file fits it", ended.err + ended.out)

    def test_a_size_is_checked_before_anything_is_decoded(self):
        self.model((1, 3, 4, 4))
        header = struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0)
        self.write("a.png", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b""))
        self.write("b.png", png(self.pixels(4, 4), 2))
        self.write("c.png", png(self.pixels(5, 4), 2))
        start = time.monotonic()
        ended = self.load("--max-image-pixels", "16", code=4)
        self.assertLess(time.monotonic() - start, 60)
        self.assertIn("'images/a.png': it has 60000x60000 pixels, more than --max-image-pixels 16",
                      ended.out)
        self.assertIn("'images/c.png': it has 4x5 pixels", ended.out)
        self.assertEqual(len(self.feeds()), 1)

    def test_the_size_between_columns_and_rows_is_checked_too(self):
        self.model((1, 3, 1, 64))
        self.write("a.png", png(self.pixels(64, 1), 2))
        words = ["--preprocess", "resize=1x64", "--max-image-pixels"]
        ended = self.load(*words, "100", code=2)
        self.assertIn("it would be 64x64 in between, more pixels than --max-image-pixels 100",
                      ended.err + ended.out)
        self.load(*words, "4096")

    def test_what_does_not_fit_is_one_sentence(self):
        self.model((1, 3, 8, 8))
        self.write("a.png", png(self.pixels(6, 7), 2))
        for words, text in (
                (["--preprocess", "crop"], "'images/a.png': it is 6x7, too small to crop 8x8"),
                ([], "'images/a.png': it is fed as 6x7, and the input takes 8x8"),
                (["--preprocess", "resise=8"], "got 'resise=8'"),
                (["--preprocess", "gray"], "input 'x' has 3 channels, and images are fed with 1"),
                (["--max-image-pixels", "0"], "--max-image-pixels: expected a number >= 1")):
            ended = self.load(*words, code=2)
            self.assertIn(text, ended.err + ended.out)
        self.save_feeds("f.json", [{"x": np.zeros((1, 3, 8, 8), np.float32)}])
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--load-inputs", "images", "f.json")
        self.assertEqual(ended.code, 2)
        self.assertIn("'f.json' is not an image", ended.err + ended.out)
        ended = self.vernier("run", "m.onnx", "--onnxrt", "--preprocess", "crop")
        self.assertEqual(ended.code, 2)
        self.assertIn("--load-inputs", ended.err + ended.out)

    def test_a_model_without_an_input_for_images_says_so(self):
        self.model((1, 10))
        self.write("a.png", png(self.pixels(6, 7), 2))
        ended = self.load(code=2)
        self.assertIn("none of the inputs 'x' (1, 10) take images", ended.err + ended.out)

    def test_the_worker_decodes_in_process_too_and_for_runners_in_turn(self):
        self.model((1, 3, 4, 4))
        self.write("a.png", png(self.pixels(4, 4), 2))
        self.write("b.png", b"\x89PNG\r\n\x1a\n")
        for word in ("--in-process", "--sequential-runners"):
            ended = self.load("--onnxrt", word, code=4)
            self.assertEqual(ended.out.count("'images/b.png': it is damaged"), 1, ended.out)

    def test_jpeg_is_what_pillow_reads(self):
        image_of = pillow()
        if image_of is None:
            self.skipTest("no Pillow in .deps/graphsurgeon")
        self.model((1, 3, 16, 16))
        for i in range(12):
            height, width = self.random.integers(9, 60, 2)
            small = image_of.fromarray(self.pixels(5, 6).astype("u1"))
            picture = small.resize((int(width), int(height)), image_of.BICUBIC)
            picture.convert("L" if i % 4 == 3 else "RGB").save(
                str(self.path("images") / f"{i:02}.jpg"), quality=60 + 3 * i,
                progressive=i % 2 == 1, subsampling=i % 3)
        self.load("--preprocess", f"resize=16x16,{NORMAL}")
        for path, feed in zip(self.record()["samples"], self.feeds(), strict=True):
            picture = image_of.open(self.path(path)).convert("RGB")
            expected = np.asarray(picture.resize((16, 16), image_of.BILINEAR)).astype("f8")
            # One of decoding, where Pillow has another libjpeg, and one of resizing.
            error = np.abs(feed - normalised(expected)).max()
            self.assertLessEqual(error, 2.01 / 255 / min(STD), path)

    def test_pillow_resizes_the_same(self):
        image_of = pillow()
        if image_of is None:
            self.skipTest("no Pillow in .deps/graphsurgeon")
        for _ in range(40):
            height, width, new_height, new_width = self.random.integers(1, 70, 4).tolist()
            image = self.pixels(height, width)
            theirs = image_of.fromarray(image.astype("u1")).resize((new_width, new_height),
                                                                    image_of.BILINEAR)
            error = np.abs(np.asarray(theirs) - resized(image, new_height, new_width)).max()
            self.assertLessEqual(error, 1)


if __name__ == "__main__":
    unittest.main()
