#!/usr/bin/env python3
"""Every page is in the navigation, and every link and anchor leads somewhere.

Environment: VERNIER, the program; without it the pages of commands are not looked at.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "docs/site"))
import pages  # noqa: E402

ROOT = pages.ROOT
# Markdown that is no page of the documentation; in src/ and backends/ it says what lies in a
# folder.
ELSEWHERE = ("tests/reports/expected.md", "tests/data/models/README.md")
FOLDERS = ("build/", ".", "src/", "backends/")


def markdown_files():
    names = subprocess.run([ROOT / "scripts" / "source-files.sh", "*.md"], capture_output=True,
                           text=True, check=True).stdout.splitlines()
    return sorted(name for name in names if not name.startswith(FOLDERS) and
                  name not in ELSEWHERE and (ROOT / name).exists())


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pages = {name: pages.Page(name) for name in markdown_files()}

    def test_every_page_is_in_the_navigation_once(self):
        listed = pages.all_pages()
        self.assertEqual(sorted(set(listed)), sorted(listed), "a page is listed twice")
        hint = "docs/site/navigation.txt lists all pages"
        self.assertEqual(sorted(set(self.pages) - set(listed)), [], hint)
        self.assertEqual(sorted(set(listed) - set(self.pages)), [], hint)

    def test_every_page_begins_with_its_title(self):
        wrong = [name for name, page in self.pages.items()
                 if not page.titles or page.titles[0][0] != 1]
        self.assertEqual(wrong, [])

    def test_links_lead_somewhere(self):
        broken = []
        for name, page in self.pages.items():
            for line, target in page.links:
                if target.startswith(("http://", "https://", "mailto:")):
                    continue
                path, _, anchor = target.partition("#")
                file = (ROOT / name).parent / path if path else ROOT / name
                if not file.exists():
                    broken.append(f"{name}:{line}: there is no '{target}'")
                    continue
                if not anchor:
                    continue
                other = os.path.relpath(file.resolve(), ROOT)
                if other not in self.pages or anchor not in self.pages[other].anchors:
                    broken.append(f"{name}:{line}: '{other}' has no heading '#{anchor}'")
        self.assertEqual(broken, [], "\n".join([""] + broken))

    def test_folders_that_sources_describe_are_all_there(self):
        for page in sorted((ROOT / "src").glob("*/README.md")):
            rows = re.findall(r"^\| `([^`|]+)/` \|", page.read_text(encoding="utf-8"), re.M)
            there = [path.name for path in page.parent.iterdir() if path.is_dir()]
            with self.subTest(page=page.relative_to(ROOT)):
                self.assertGreater(len(rows), 1)
                self.assertEqual(sorted(rows), sorted(there))

    def test_python_in_the_pages_can_be_compiled(self):
        for name, page in self.pages.items():
            for block in page.blocks:
                if block.language == "python":
                    with self.subTest(page=name, line=block.line):
                        compile("\n".join(block.lines), f"{name}:{block.line}", "exec")

    @staticmethod
    def commands():
        listing = subprocess.run([os.environ["VERNIER"], "option-docs", "commands"],
                                 capture_output=True, text=True, check=True).stdout
        return listing.splitlines()

    def test_the_program_writes_a_manual_page_for_every_command(self):
        if "VERNIER" not in os.environ:
            self.skipTest("VERNIER is not set")
        with tempfile.TemporaryDirectory() as folder:
            man = pathlib.Path(folder) / "share/man1"
            subprocess.run([os.environ["VERNIER"], "option-docs", "man", man], check=True)
            names = {f"vernier-{command.replace(' ', '-')}.1" for command in self.commands()}
            self.assertGreater(len(names), 40)
            self.assertEqual({page.name for page in man.iterdir()}, names)
            self.assertTrue((man / "vernier-run.1").read_text().startswith('.TH "VERNIER\\-RUN" '))

    def test_every_command_has_a_page(self):
        if "VERNIER" not in os.environ:
            self.skipTest("VERNIER is not set")
        missing = []
        for command in self.commands():
            page = f"docs/commands/{command.replace(' ', '-')}.md"
            if page not in self.pages:
                missing.append(page)
        self.assertEqual(missing, [], "each command has a page that shows it at work")


if __name__ == "__main__":
    unittest.main()
