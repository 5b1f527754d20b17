"""What tests of the HTML page in a browser have in common."""

import json

from browser import Browser
from program import Case


class PageCase(Case):
    browser = None

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def show(self, record):
        self.report(record, "out.html")
        self.open_page()

    def open_page(self):
        self.browser.problems.clear()
        self.browser.requests.clear()
        self.browser.open(self.path("out.html"))
        self.browser.frames()
        # Whatever a test does after this, the page stays silent and asks for nothing.
        self.addCleanup(self.check_quiet)

    def check_quiet(self):
        self.assertEqual(self.browser.problems, [])
        outside = [url for url in self.browser.requests if not url.startswith(("file:", "data:"))]
        self.assertEqual(outside, [])

    def check_chart(self, part, last):
        """Its texts are within it in both schemes; the pointer at its right end shows `last`."""
        browser = Browser((1200, 1000))
        self.addCleanup(browser.close)
        svg = f"document.querySelector('#{part} svg')"
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            browser.open(self.path("out.html"))
            browser.frames()
            outside = browser.ask(
                f"(() => {{ const s = {svg}.getBoundingClientRect();"
                f"return [...{svg}.querySelectorAll('text')].filter((t) => {{"
                "const b = t.getBoundingClientRect();"
                "return b.left < s.left - 1 || b.right > s.right + 1 || b.top < s.top - 1 ||"
                " b.bottom > s.bottom + 1; }).map((t) => t.textContent); })()")
            self.assertEqual(outside, [])
        browser.ask(f"{svg}.scrollIntoView({{block: 'center'}})")
        box = browser.ask("(({x, y, width, height}) => [x + width - 10, y + height / 2])"
                          f"({svg}.getBoundingClientRect())")
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
        browser.frames()
        self.assertRegex(browser.ask("document.getElementById('tip').textContent"), last)
        self.assertEqual(browser.problems, [])

    def type_filter(self, text):
        self.browser.ask("(() => { const f = document.getElementById('filter'); f.value = "
                         f"{json.dumps(text)}; f.dispatchEvent(new Event('input')); "
                         "return true; })()")

    def choose(self, select, value):
        self.browser.ask(f"(() => {{ const s = document.getElementById('{select}'); s.value = "
                         f"{json.dumps(value)}; s.dispatchEvent(new Event('change')); "
                         "return true; })()")
