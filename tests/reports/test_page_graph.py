"""The graph of the HTML page, in a browser: what can be read in it, and how the view moves.

    VERNIER=path/to/vernier python3 -m unittest test_page_graph
"""

import sys
import unittest

import records
from browser import find_browser
from page_case import PageCase
from test_page import CHOSEN

# Keeps what canvases show: texts and boxes with their places and sizes in CSS pixels.
SPY = """
window.shown = new Map();
for (const [kind, size] of [['fillText', 0], ['fillRect', 2]]) {
  const plain = CanvasRenderingContext2D.prototype[kind];
  CanvasRenderingContext2D.prototype[kind] = function(...words) {
    const m = this.getTransform(), ratio = devicePixelRatio;
    const [x, y] = size ? [words[0] + words[2] / 2, words[1] + words[3] / 2] : [words[1], words[2]];
    shown.get(this.canvas).push({text: size ? '' : words[0], x: (m.a * x + m.e) / ratio,
      y: (m.d * y + m.f) / ratio, pixels: (size ? words[3] : parseFloat(this.font)) * m.d / ratio});
    return plain.apply(this, words);
  };
}
const clear = CanvasRenderingContext2D.prototype.clearRect;
CanvasRenderingContext2D.prototype.clearRect = function(...words) {
  shown.set(this.canvas, []);
  return clear.apply(this, words);
};
"""

INSIDE = """(() => {
  const canvas = document.querySelector('canvas.%s');
  return (shown.get(canvas) || []).filter((one) => one.x > 0 && one.y > one.pixels / 2 &&
      one.x < canvas.clientWidth && one.y < canvas.clientHeight - one.pixels / 2);
})()"""


class Graph(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser.call("Page.addScriptToEvaluateOnNewDocument", source=SPY)

    def labels(self):
        """What can be read: {text: height in pixels}."""
        return {one["text"]: one["pixels"] for one in self.browser.ask(INSIDE % "graph")}

    def assert_readable(self, end):
        heights = [pixels for text, pixels in self.labels().items() if text.endswith(end)]
        self.assertTrue(heights, f"no label in the view ends with {end}: {self.labels()}")
        self.assertGreaterEqual(min(heights), 9)

    def assert_out_of_view(self, end):
        self.assertEqual([text for text in self.labels() if text.endswith(end)], [])

    def box(self, selector):
        return self.browser.ask(f"(() => {{ const e = document.querySelector('{selector}');"
                                "e.scrollIntoView({block: 'center'});"
                                "const b = e.getBoundingClientRect();"
                                "return [b.x, b.y, b.width, b.height]; })()")

    def test_it_opens_at_the_first_divergence_and_its_neighbours(self):
        for width in (1200, 1600):
            self.browser.call("Emulation.setDeviceMetricsOverride", width=width, height=1000,
                              deviceScaleFactor=1, mobile=False)
            self.addCleanup(self.browser.call, "Emulation.clearDeviceMetricsOverride")
            self.show(records.branching(330, first_bad=212, far=20))
            for i in (207, 208, 210, 211, 212, 213, 216):
                self.assert_readable(f"_{i}")
            self.assert_out_of_view("_10")

    def test_it_opens_at_the_culprit(self):
        record = records.blame(200, guilty=140)
        for layer in record["layers"][90:140]:  # slightly off, and not to blame
            layer["total_error"] = layer["outputs"][0]["total_error"] = 1.5
        self.show(record)
        self.assertEqual(self.browser.ask(CHOSEN), "t140")
        self.assert_readable("_140")
        self.assert_out_of_view("_90")

    def test_the_overview_shows_all_nodes(self):
        for layers in (60, 1000):
            self.show(records.branching(layers, first_bad=layers // 2, far=5))
            boxes = self.browser.ask(INSIDE % "overview")
            self.assertEqual(len({(one["x"], one["y"]) for one in boxes}), layers)
            self.assertGreaterEqual(min(one["pixels"] for one in boxes), 1)

    def test_a_graph_that_fits_needs_no_overview(self):
        self.show(records.network(6, first_bad=2))
        self.assertTrue(self.browser.ask("document.querySelector('canvas.overview').hidden"))
        for i in range(6):
            self.assert_readable(f"_{i}")

    def test_the_overview_moves_the_view(self):
        self.show(records.branching(330, first_bad=212))
        left, top, width, height = self.box("canvas.overview")
        self.browser.click_at(left + width / 2, top + 6)
        self.browser.frames()
        self.assert_readable("_0")
        self.assert_out_of_view("_212")
        for kind, y in (("mousePressed", 6), ("mouseMoved", height / 2), ("mouseMoved", height - 6),
                        ("mouseReleased", height - 6)):
            self.browser.call("Input.dispatchMouseEvent", type=kind, x=left + width / 2, y=top + y,
                              button="left", buttons=int(kind != "mouseReleased"), clickCount=1)
        self.browser.frames()
        self.assert_readable("_329")
        self.browser.click("[aria-label='Back to the chosen node']")
        self.browser.frames()
        self.assert_readable("_212")

    def test_a_layer_chosen_elsewhere_comes_into_view(self):
        self.show(records.branching(180, first_bad=100))
        self.assert_out_of_view("_179")
        self.browser.click("#outputs tbody tr:last-child button")
        self.browser.frames()
        self.assert_readable("_179")

    def test_constants_are_left_out(self):
        self.show(records.branching(30, first_bad=12))
        self.assertNotIn("Constant", self.labels())
        self.assertIn("Left out: 10 constants.",
                      self.browser.ask("document.getElementById('graph-help').textContent"))

    def test_long_connections_do_not_push_the_picture_apart(self):
        heights = []
        for far in (0, 100):
            self.show(records.branching(330, first_bad=212, far=far))
            heights.append(self.browser.ask(
                "layOutGraph(record.graph, constantsOf(record.graph), 5, 519).height"))
        self.assertLess(heights[1], 1.2 * heights[0])

    def test_a_thousand_nodes_move_smoothly(self):
        self.show(records.branching(1000, first_bad=600, far=50))
        took = self.browser.ask("""(() => {
          const canvas = document.querySelector('canvas.graph');
          const start = performance.now();
          const picture = new GraphPicture(record.graph);
          picture.setLayout(layOutGraph(record.graph, constantsOf(record.graph), 5, 519));
          picture.draw(canvas, d3.zoomIdentity);
          canvas.getContext('2d').getImageData(0, 0, 1, 1);
          return performance.now() - start; })()""")
        print(f"a graph of 1,000 nodes took {took:.0f} ms", file=sys.stderr)
        self.assertLess(took, 1000)


if __name__ == "__main__":
    if not find_browser():
        sys.exit("there is no browser here")
    unittest.main()
