"""The HTML page, in a browser, as someone who reads it would use it.

    VERNIER=path/to/vernier python3 -m unittest test_page
"""

import collections
import os
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "pictures"))

import records
from browser import find_browser
from files import Png
from page_case import PageCase
from program import save_integers

ROWS = "document.querySelectorAll('#outputs tbody tr')"
NAMES = f"[...{ROWS}].map((row) => row.querySelector('button').textContent)"
CHOSEN = "document.querySelector('#panel h2').textContent"


DIGITS = pathlib.Path(__file__).parents[2] / "examples" / "digits.onnx"


class Page(PageCase):
    """Records that are made by hand, for everything that a page may have to show."""

    def test_the_verdict_comes_first_and_the_first_divergence_is_chosen(self):
        record = records.network(30, first_bad=12)
        self.show(record)
        self.assertEqual(self.browser.ask("document.querySelector('h1').textContent"),
                         "18 of 30 outputs do not match.")
        self.assertIn("compared 30 outputs", self.browser.ask("document.getElementById('coverage').textContent"))
        self.assertEqual(self.browser.ask(CHOSEN), record["pairs"][0]["outputs"][12]["name"])
        text = self.browser.ask("document.body.innerText")
        for words in ("vernier run net.onnx --onnx-outputs '*'", "onnxruntime 1.2", "A Processor",
                      "2211 of 200704 elements out of tolerance"):
            self.assertIn(words, text)

    def test_charts_and_graph_are_drawn(self):
        self.show(records.network(30, first_bad=12))
        self.assertEqual(self.browser.ask("document.querySelectorAll('#layers circle.dot').length"), 30)
        self.assertEqual(self.browser.ask("document.querySelectorAll('#layers circle.failed').length"), 18)
        self.assertEqual(self.browser.ask("document.querySelectorAll('#panel figure svg').length"), 4)
        self.assertEqual(self.browser.ask("document.querySelectorAll('#panel figure rect').length"),
                         24 * 32 + 7)
        colors = self.browser.ask(
            "(() => { const c = document.querySelector('canvas.graph');"
            "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
            "const seen = new Set(); for (let i = 0; i < d.length; i += 4)"
            " if (d[i + 3] === 255) seen.add(d[i] * 65536 + d[i + 1] * 256 + d[i + 2]);"
            " return seen.size; })()")
        self.assertGreater(colors, 3)

    def test_filters(self):
        self.show(records.network(30, first_bad=12))
        self.type_filter("CONV")
        self.assertEqual(self.browser.ask(ROWS + ".length"), 10)
        self.choose("verdict", "failed")
        self.assertEqual(self.browser.ask(ROWS + ".length"), 6)
        self.type_filter("no such name")
        self.assertEqual(self.browser.ask(ROWS + ".length"), 0)
        self.assertIn("0 shown of 0", self.browser.ask("document.getElementById('shown').textContent"))

    def test_sorting(self):
        self.show(records.network(30, first_bad=12))
        order = self.browser.ask(NAMES)
        self.browser.click("#outputs th:nth-child(5) button")
        errors = [float(text.replace("\u2212", "-")) for text in self.browser.ask(
            f"[...{ROWS}].map((row) => row.children[4].textContent)")]
        self.assertEqual(errors, sorted(errors, reverse=True))
        self.assertEqual(self.browser.ask(
            "document.querySelector('#outputs th:nth-child(5)').getAttribute('aria-sort')"), "descending")
        self.browser.click("#outputs th:nth-child(1) button")
        self.assertEqual(self.browser.ask(NAMES), order)

    def test_choosing_a_layer_in_table_chart_and_graph(self):
        self.show(records.network(30, first_bad=12))
        names = self.browser.ask(NAMES)
        self.browser.click("#outputs tbody tr:nth-child(3) button")
        self.assertEqual(self.browser.ask(CHOSEN), names[2])
        self.assertEqual(self.browser.ask(
            "document.querySelector('#outputs tr[aria-selected=true] button').textContent"), names[2])
        self.browser.ask("document.querySelectorAll('#layers circle.dot')[20]"
                         ".dispatchEvent(new MouseEvent('click'))")
        self.assertEqual(self.browser.ask(CHOSEN), names[20])
        self.browser.ask("document.querySelector('canvas.graph').focus()")
        for key in ("ArrowRight", "ArrowRight", "Enter"):
            self.browser.press(key)
        self.assertEqual(self.browser.ask(CHOSEN), names[22])
        self.assertIn("failed", self.browser.ask("document.getElementById('graph-live').textContent"))

    def test_the_keyboard_reaches_every_control(self):
        self.show(records.network(8, first_bad=2))
        reached = set()
        for _ in range(40):
            self.browser.press("Tab")
            reached.add(self.browser.ask("(() => { const e = document.activeElement;"
                                         "return e.id || e.getAttribute('aria-label') || e.className || e.textContent; })()"))
        self.assertLessEqual({"metric", "filter", "verdict", "graph", "Zoom in", "link"},
                             {"graph" if name.startswith("Graph of") else name for name in reached})

    def test_every_control_and_picture_has_a_name(self):
        self.show(records.network(8, first_bad=2))
        self.assertEqual(self.browser.ask(
            "[...document.querySelectorAll('svg, canvas')].filter((e) => !e.getAttribute('aria-label')).length"), 0)
        self.assertEqual(self.browser.ask(
            "[...document.querySelectorAll('input, select')].filter((e) => !e.labels.length).length"), 0)

    def test_hostile_names_do_nothing(self):
        names = [records.HOSTILE, "${window.hacked=3}", "javascript:window.hacked=4", "\x00\u202e",
                 "{{script}}", "a" * 5000, "]]>", "", "line\nbreak"]
        record = records.network(len(names), first_bad=0, names=names)
        record["pairs"][0]["first"] = records.HOSTILE
        record["runners"][0]["name"] = records.HOSTILE
        record["notes"] = [records.HOSTILE]
        record["origin"]["words"].append(records.HOSTILE)
        self.show(record)
        for row in range(len(names)):
            self.browser.click(f"#outputs tbody tr:nth-child({row + 1})")
        self.assertIsNone(self.browser.ask("window.hacked"))
        self.assertEqual(self.browser.ask("document.querySelectorAll('img').length"), 0)
        self.assertEqual(self.browser.ask("document.scripts.length"), 3)
        self.assertIn(records.HOSTILE, self.browser.ask(NAMES))

    def picture(self):
        self.browser.frames()
        path = self.path("shot.png")
        path.write_bytes(self.browser.picture())
        kept = os.environ.get("VERNIER_SCREENSHOTS")
        if kept:
            (pathlib.Path(kept) / (self.id().split(".")[-1] + f"-{time.time_ns()}.png")).write_bytes(path.read_bytes())
        return Png(path)

    def test_light_and_dark_pages_are_not_blank(self):
        self.show(records.network(30, first_bad=12))
        papers = {}
        for scheme in ("light", "dark"):
            self.browser.scheme(scheme)
            pixels = [pixel for row in self.picture().rows for pixel in row]
            colors = collections.Counter(pixels)
            papers[scheme], most = colors.most_common(1)[0]
            self.assertGreater(len(colors), 30, scheme)
            share = most / len(pixels)
            self.assertTrue(0.3 < share < 0.97, f"{scheme}: {share} of the page is paper")
        self.browser.scheme("light")
        self.assertGreater(sum(papers["light"]), 700)
        self.assertLess(sum(papers["dark"]), 120)

    def test_a_thousand_layers(self):
        self.show(records.network(1000, first_bad=600))
        self.assertLess(self.path("out.html").stat().st_size, 3_000_000)
        self.assertEqual(self.browser.ask(ROWS + ".length"), 200)
        self.browser.ask("[...document.querySelectorAll('#outputs > button')].pop().click()")
        self.assertEqual(self.browser.ask(ROWS + ".length"), 1000)

    def test_a_record_without_pairs_or_charts(self):
        record = records.network(1, first_bad=1)
        record["pairs"], record["graph"] = [], None
        self.show(record)
        self.assertIn("There was nothing to compare", self.browser.ask("document.body.innerText"))
        record = records.network(3, first_bad=1)
        record["graph"] = None
        for output in record["pairs"][0]["outputs"]:
            output["worst_iteration"]["charts"] = {"missing": "it holds strings"}
        self.show(record)
        self.assertIn("No charts: it holds strings", self.browser.ask("document.body.innerText"))

    def test_what_is_to_blame(self):
        self.show(records.blame(40, guilty=12))
        self.assertEqual(self.browser.ask("document.querySelector('h1').textContent"),
                         "layer_12 (Conv) is to blame first, 1 node after it.")
        self.assertEqual(self.browser.ask("document.getElementById('blame-title').textContent"),
                         "To blame")
        culprits = "document.querySelectorAll('#blame table')[0].querySelectorAll('tbody tr')"
        self.assertEqual(self.browser.ask(culprits + ".length"), 2)
        text = self.browser.ask("document.getElementById('blame').innerText")
        for words in ("its own error, from the reference's inputs, is 41 times the error bound", records.HOSTILE,
                      "3 NaN and 1 infinite", "[0, 7]", "Looking changed the result", "layer_5, layer_6",
                      "The candidate fuses 2 tensors away", "1 tensor could not be examined"):
            self.assertIn(words, text)
        # A dot a layer for its total error, a ring for its own.
        self.assertEqual(self.browser.ask("document.querySelectorAll('#layers circle.dot').length"), 40)
        self.assertEqual(self.browser.ask("document.querySelectorAll('#layers circle.own').length"), 40)
        self.assertEqual(self.browser.ask("document.querySelectorAll('#layers circle.failed').length"), 28)
        self.assertGreater(self.browser.ask("document.querySelector('canvas.graph').width"), 100)
        self.assertIsNone(self.browser.ask("window.hacked"))
        self.picture()

    def test_choosing_a_culprit_and_sorting_by_own_error(self):
        self.show(records.blame(40, guilty=12))
        self.browser.click("#outputs tbody tr:nth-child(3) button")
        self.assertEqual(self.browser.ask(CHOSEN), "t2")
        self.browser.click("#blame table tbody tr:nth-child(1) button")
        self.assertEqual(self.browser.ask(CHOSEN), "t12")
        self.assertIn("own error", self.browser.ask("document.getElementById('panel').innerText"))
        own = self.browser.ask("[...document.querySelectorAll('#outputs th')]"
                               ".findIndex((th) => th.textContent === 'own error')")
        self.browser.click(f"#outputs th:nth-child({own + 1}) button")
        self.assertEqual(self.browser.ask(NAMES)[0], "t12")
        self.choose("verdict", "failed")
        self.assertEqual(self.browser.ask(ROWS + ".length"), 28)

    def test_a_run_and_what_is_to_blame_in_one_page(self):
        record = records.network(3, first_bad=2)
        record["blame"] = records.blame(40, guilty=12)
        self.show(record)
        self.assertEqual(self.browser.ask("document.querySelector('h1').textContent"),
                         "1 of 3 outputs does not match. layer_12 (Conv) is to blame first, 1 node after it.")
        self.assertEqual(self.browser.ask(ROWS + ".length"), 40)
        self.choose("pair", "0")
        self.assertEqual(self.browser.ask(ROWS + ".length"), 3)
        self.browser.click("#blame table tbody tr:nth-child(1) button")
        self.assertEqual(self.browser.ask(CHOSEN), "t12")
        self.assertEqual(self.browser.ask("document.getElementById('pair').value"), "1")

    def test_nothing_to_blame(self):
        record = records.blame(10, guilty=10)
        record.update(culprits=[], first_nonfinite=None, unexposed=[], disturbance=None, exit_code=0,
                      disturbed=False, fused_away=[])
        self.show(record)
        self.assertEqual(self.browser.ask("document.querySelector('h1').textContent"), "Nothing is to blame.")
        self.assertEqual(self.browser.ask("document.querySelectorAll('#blame table').length"), 0)

    def test_a_profile(self):
        record = records.network(1, first_bad=1)
        record["pairs"], record["graph"] = [], None
        latency = {"count": 100, "mean": 0.004, "std_dev": 1e-4, "min": 0.0035, "max": 0.006,
                   "median": 0.004, "p90": 0.0042, "p95": 0.0045, "p99": 0.005,
                   "median_noise": 0.012, "drift": 0.01}
        points = [{"runner": name, "shapes": f"X:[{batch},3]", "batch": batch,
                   "latency_seconds": {key: value * (batch if key not in ("count", "median_noise", "drift") else 1)
                                       for key, value in latency.items()},
                   "per_second": 250, "layers": [{"name": records.HOSTILE, "type": "Conv", "seconds": 1e-3}],
                   "accuracy": {"compared": name != "a", "passed": name != "c", "times_over_tolerance": 31}}
                  for batch in (1, 2, 4) for name in "abc"]
        record["profile"] = {"runners": [{"name": name} for name in "abc"], "points": points}
        record["exit_code"] = 1
        self.show(record)
        self.assertIn("differ", self.browser.ask("document.querySelector('h1').textContent"))
        self.assertEqual(self.browser.ask("document.querySelectorAll('#profile circle.marker').length"), 9)
        self.assertEqual(self.browser.ask("document.querySelectorAll('#profile circle.failed').length"), 3)
        self.assertIsNone(self.browser.ask("window.hacked"))


class Written(PageCase):
    """Pages of what the program has just found: a field that its records call otherwise than those
    that are made by hand shows here."""

    RUNNERS = ("--onnxrt", "--runner", f"fp16=onnxrt {DIGITS.with_name('digits_fp16.onnx')}")

    def write(self, *words, code):
        ended = self.vernier(*words, "--report", "out.html")
        self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)
        self.open_page()
        return self.browser.ask("document.querySelector('h1').textContent")

    def count(self, selector):
        return self.browser.ask(f"document.querySelectorAll('{selector}').length")

    def test_a_run(self):
        title = self.write("run", DIGITS, *self.RUNNERS, code=1)
        self.assertEqual(title, "None of the 2 outputs matches.")
        self.assertEqual(self.browser.ask(NAMES), ["logits", "probabilities"])
        self.assertEqual(self.count("#layers circle.failed"), 2)
        self.assertEqual(self.count("#panel figure svg"), 4)
        self.assertGreater(self.browser.ask("document.querySelector('canvas.graph').width"), 100)
        text = self.browser.ask("document.body.innerText")
        for words in ("elements out of tolerance", "onnxruntime", "fp16", "digits.onnx"):
            self.assertIn(words, text)
        self.assertNotIn("undefined", text)
        self.assertNotIn("NaN", text)

    def captions(self):
        return self.browser.ask("[...document.querySelectorAll('figcaption')]"
                                ".map((caption) => caption.textContent).join(' ')")

    def test_elements_are_counted_once(self):
        self.write("run", DIGITS, *self.RUNNERS, code=1)
        # Ten elements, of which the worst are some.
        self.assertIn("10 elements, the worst among them", self.captions())
        self.assertIn("All 10 elements differ", self.captions())

    def test_words_of_headers_are_whole(self):
        self.write("run", DIGITS, *self.RUNNERS, code=1)
        for width in (1100, 1200, 1280):
            self.browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                              deviceScaleFactor=1, mobile=False)
            self.addCleanup(self.browser.call, "Emulation.clearDeviceMetricsOverride")
            broken = self.browser.ask("""(() => {
              const broken = [];
              for (const head of document.querySelectorAll('#panel thead :is(th, .both span)')) {
                const node = head.firstChild;
                if (!node || node.nodeType !== 3) continue;
                for (const word of node.textContent.matchAll(/[A-Za-z]+/g)) {
                  const range = document.createRange();
                  range.setStart(node, word.index);
                  range.setEnd(node, word.index + word[0].length);
                  const lines = new Set([...range.getClientRects()].map((box) => box.top));
                  if (lines.size > 1) broken.push(word[0]);
                }
              }
              return broken;
            })()""")
            self.assertEqual(broken, [], width)

    def test_integers_are_integers(self):
        large = 2**62
        save_integers(self.path("a.npz"), y=[large, 123456], z=[0, 1234567], zz=[large])
        save_integers(self.path("b.npz"), y=[large + 98, 123456], z=[1234567, 0], zz=[1 - large])
        self.write("compare", "a.npz", "b.npz", "--atol", "1", "--rtol", "0", code=1)
        self.assertIn(str(large + 98), self.browser.ask("document.body.innerText"))
        self.browser.click("#outputs tbody tr:nth-child(2) button")
        self.assertRegex(self.browser.ask("document.getElementById('panel').innerText"),
                         r"\[0\]\s+0\s+1234567\s+1234567\s")
        self.assertIn("1234567", self.browser.ask(ROWS + "[1].innerText"))
        self.assertIn(str(2 * large - 1), self.browser.ask(ROWS + "[2].innerText"))
        self.vernier("compare", "a.npz", "b.npz", "--report", "out.md", "--report", "out.xml")
        self.assertIn(f"| {2 * large - 1} |", self.path("out.md").read_text())
        self.assertIn(f"largest absolute error {2 * large - 1}", self.path("out.xml").read_text())

    def test_a_pair_is_listed_one_way(self):
        self.save_wrong_model()
        self.write("run", DIGITS, "--runner", "wrong=onnxrt wrong.onnx", "--onnxrt", "--blame",
                   code=1)
        titles = self.browser.ask("[...document.querySelectorAll('#pair option')]"
                                  ".map((option) => option.textContent)")
        self.assertEqual(len({title.split(",")[0] for title in titles}), 1, titles)

    def test_a_run_that_passes(self):
        title = self.write("run", DIGITS, "--onnxrt", "--onnxrt", code=0)
        self.assertEqual(title, "All 2 outputs match.")
        self.assertEqual(self.count("#layers circle.failed"), 0)

    def save_wrong_model(self):
        # Sixteen weights in the middle of the file are 0.747.
        model = bytearray(DIGITS.read_bytes())
        middle = len(model) // 2
        model[middle:middle + 64] = b"\x3f" * 64
        self.path("wrong.onnx").write_bytes(model)

    def test_a_blame(self):
        self.save_wrong_model()
        title = self.write("blame", DIGITS, "--onnxrt", "--runner", "wrong=onnxrt wrong.onnx", code=1)
        self.assertIn("to blame", title)
        self.assertGreater(self.count("#blame table tbody tr"), 0)
        self.browser.click("#blame table tbody tr:nth-child(1) button")
        self.assertGreater(self.count("#layers circle.own"), 1)
        self.assertNotIn("undefined", self.browser.ask("document.body.innerText"))

    def test_a_profile(self):
        title = self.write("profile", DIGITS, *self.RUNNERS, "--runs", "10", code=1)
        self.assertIn("differ", title)
        self.assertEqual(self.count("#profile circle.marker"), 2)
        self.assertEqual(self.count("#profile circle.failed"), 1)
        self.assertNotIn("undefined", self.browser.ask("document.body.innerText"))


if __name__ == "__main__":
    if not find_browser():
        sys.exit("there is no browser here")
    unittest.main()
