"""Decisions on the page: why agreement shows nothing, and the worst flips with their images."""

import base64
import struct
import sys
import unittest
import zlib

import records
from browser import Browser, find_browser
from page_case import PageCase

IMAGES = "document.querySelectorAll('#decisions img')"


def png(width, height, color):
    """One colour, as base64."""
    def chunk(kind, data):
        ends = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + ends
    rows = (b"\0" + bytes(color) * width) * height
    data = (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
    return base64.b64encode(data).decode()


def flip(iteration, **more):
    return {"iteration": iteration, "step": 0, "row": 0, "flip": "clear", "first": "3",
            "second": "5", "first_margin": 0.5 / (iteration + 1), "second_margin": 0.25,
            "near_tie": 0.1, "similarity": 0.0, "rows": 1, **more}


def decisions(worst, pictures=(), **more):
    record = records.network(3, first_bad=1)
    record["pairs"][0]["decisions"] = [{
        "output": "logits", "kind": "top1", "samples": 100, "agree": 100 - len(worst),
        "flips": len(worst), "clear_flips": len(worst), "near_ties": 0, "invalid": 0,
        "agreement": 1 - len(worst) / 100, "interval_low": 0.9, "interval_high": 1.0,
        "similarity": 0.9, "near_tie_from_bound": False, "margin_most": 0.0, "margin_counts": [],
        "margin_flips": [], "worst": worst, **more}]
    record["flip_pictures"] = list(pictures)
    return record


FLOATS = "float32, NCHW, RGB, guessed: values are 0 to 1"
BYTES = "uint8, NHWC, gray, values are 0 to 255"


def picture(iteration, how=FLOATS, size=(160, 90), **more):
    return {"iteration": iteration, "image": 0, "input": "image", "how": how,
            "png": png(*size, (200, 30, 30)), **more}


class Flips(PageCase):
    def text(self):
        return self.browser.ask("document.getElementById('decisions').textContent")

    def test_each_flip_has_its_image(self):
        self.show(decisions([flip(4, pictures=[1]), flip(7, pictures=[0])],
                            [picture(7, size=(16, 16)), picture(4)]))
        self.assertEqual(self.browser.ask(IMAGES + ".length"), 2)
        self.assertEqual(self.browser.ask(f"[...{IMAGES}].map((img) => img.naturalWidth)"),
                         [160, 16])
        self.assertEqual(self.browser.ask(f"[...{IMAGES}].map((img) => img.closest('tr')"
                                          ".querySelector('th').textContent)"), ["4", "7"])
        self.assertEqual(self.browser.ask(f"{IMAGES}[0].alt"),
                         "Input image of iteration 4, sample 0")
        # Small ones are shown larger, wide ones keep their shape.
        self.assertEqual(self.browser.ask(f"[...{IMAGES}].map((img) => [img.width, img.height])"),
                         [[112, 63], [48, 48]])
        self.assertIn(f"Inputs as pictures: image: {FLOATS}.", self.text())

    def test_the_table_fits_into_1200_pixels(self):
        worst = [flip(i, pictures=[i], detail="12 matched, 1 lost, mean IoU 0.9512",
                      flip="near tie") for i in range(3)]
        self.report(decisions(worst, [picture(i) for i in range(3)]), "wide.html")
        browser = Browser((1200, 1000))
        self.addCleanup(browser.close)
        browser.open(self.path("wide.html"))
        browser.frames()
        self.assertEqual(browser.ask("[...document.querySelectorAll('#decisions .scroll')]"
                                     ".filter((box) => box.scrollWidth > box.clientWidth + 1)"
                                     ".map((box) => box.textContent.slice(0, 40))"), [])

    def test_what_was_guessed_of_some_is_said_of_some(self):
        worst = [flip(0, pictures=[0]), flip(1, pictures=[1]), flip(2)]
        self.show(decisions(worst, [picture(0), picture(1, how=BYTES)]))
        text = self.text()
        for words in (f"1 picture of image: {FLOATS};", f"1 picture of image: {BYTES};",
                      "1 of 3 flips without a picture"):
            self.assertIn(words, text)

    def test_without_images_the_table_is_as_it_was(self):
        self.show(decisions([flip(0), flip(1)]))
        self.assertEqual(self.browser.ask(IMAGES + ".length"), 0)
        self.assertNotIn("Inputs as pictures", self.text())
        self.assertEqual(self.browser.ask(
            "[...document.querySelectorAll('#decisions table')].pop()"
            ".querySelectorAll('th[scope=col]').length"), 8)

    def test_what_shows_nothing_says_so(self):
        self.show(decisions([], vacuous="no sample of either side has a detection"))
        self.assertIn("top1 of logits shows nothing: no sample of either side has a detection.",
                      self.text())

    def test_labelled_boxes_have_their_precision(self):
        figures = {"ap50": 0.75, "ap75": 0.5, "ap_small": "nan", "ap_medium": "nan",
                   "ap_large": 0.25, "categories": []}
        precision = {"images": 8, "listed": 12, "units": "pixels", "first": {"ap": 0.5, **figures},
                     "second": {"ap": 0.125, **figures},
                     "intervals": {"draws": 1000, "drop_low": 0.25, "drop_high": 0.5}}
        self.show(decisions([flip(0)], precision=precision))
        rows = self.browser.ask("[...document.querySelectorAll('#decisions tr')].map((row) => "
                                "[...row.children].map((cell) => cell.textContent.trim()))")
        self.assertIn(["top1 of logits", "mAP@[.5:.95]", "8 of 12", "0.5", "0.125", "0.375",
                       "0.25 to 0.5"], rows)
        self.assertIn("top1 of logits: boxes taken as pixels.", self.text())
        titles = [row[1] for row in rows if len(row) == 7]
        self.assertIn("AP large", titles)
        self.assertNotIn("AP small", titles)

    def test_no_table_needs_a_scroll_bar(self):
        shares = {key: 0.98765 for key in ("first", "second", "drop", "drop_low", "drop_high",
                                           "first_low", "first_high", "second_low", "second_high")}
        labels = {"metric": "top-1 accuracy", "samples": 123456, "right_to_wrong": 12345,
                  "wrong_to_right": 1234, "both_right": 100000, "wrong_to_wrong": 12345,
                  "p": 1.2345e-100, "change": 0.01, "samples_to_see": 1234567, **shares}
        boxes = {"matched": 123456, "lost": 12345, "invented": 12345, "class_changed": 1234,
                 "mean_iou": 0.912345}
        classes = "person (0): 12, bicycle (1): 3, traffic light (9): 2, hair drier (78): 1"
        worst = [flip(i, pictures=[i], first=classes, second=classes,
                      detail="16 matched, 1 lost, 2 invented, mean IoU 0.9123") for i in range(3)]
        self.show(decisions(worst, [picture(i) for i in range(3)], labels=labels, boxes=boxes,
                            kind="boxes:yolov8,score=0.25,iou=0.5"))
        wide = self.browser.ask("[...document.querySelectorAll('#decisions .scroll')]"
                                ".filter((one) => one.scrollWidth > one.clientWidth)"
                                ".map((one) => one.querySelector('caption').textContent)")
        self.assertEqual(wide, [])
        for title in ("right to wrong", "p (McNemar)", "samples to see a change"):
            self.assertEqual(self.text().count(title), 1)

    def test_boxes_and_classes_are_added_up(self):
        ious = [{"class": c, "first": 10, "second": 10, "both": 10 - c, "iou": (10 - c) / (10 + c)}
                for c in range(3)]
        ious[2]["name"] = records.HOSTILE
        self.show(decisions([], boxes={"matched": 2321, "lost": 70, "invented": 83,
                                       "class_changed": 361, "mean_iou": 0.5}, class_ious=ious))
        rows = self.browser.ask("[...document.querySelectorAll('#decisions tr')].map((row) => "
                                "[...row.children].map((cell) => cell.textContent.trim()))")
        self.assertIn(["top1 of logits", "2321", "70", "83", "361", "0.5"],
                      [[cell.replace("\u202f", "").replace(",", "").replace("\u00a0", "")
                        for cell in row] for row in rows])
        classes = [row[1] for row in rows if row[0] == "top1 of logits" and len(row) == 6][1:]
        self.assertEqual(classes, ["mean over 3", records.HOSTILE, "1", "0"])

    def test_hostile_pictures_do_nothing(self):
        hostile = "\"><script>window.hacked = 1</script>' onerror='window.hacked = 2'"
        shown = picture(0, how=records.HOSTILE, input=records.HOSTILE)
        broken = picture(1, png=hostile)
        self.show(decisions([flip(0, pictures=[0, 99]), flip(1, pictures=[1])], [shown, broken]))
        self.assertIsNone(self.browser.ask("window.hacked"))
        self.assertEqual(self.browser.ask("document.scripts.length"), 3)
        self.assertEqual(self.browser.ask(IMAGES + ".length"), 1)
        self.assertIn(records.HOSTILE, self.browser.ask(f"{IMAGES}[0].title"))


if __name__ == "__main__":
    if not find_browser():
        sys.exit("there is no browser here")
    unittest.main()
