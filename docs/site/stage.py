"""Copies the pages of the documentation to a folder that Sphinx can read.

Usage: stage.py FOLDER

Pages keep their places, so that links between them hold. README.md becomes the first page, with the
navigation below it; what is linked and is no page comes along as a file; and remarks about commands
that no test runs become sentences.
"""

import pathlib
import re
import shutil
import sys

import pages

NOT_RUN = re.compile(r"^<!--\s*not run:\s*(.*?)\s*-->$", re.MULTILINE)
PREPARE = re.compile(r"^<!--\s*prepare:.*?-->\n", re.MULTILINE | re.DOTALL)


def navigation_blocks():
    text = ""
    for section, listed in pages.navigation():
        entries = [page[:-len(".md")] for page in listed if page != "README.md"]
        text += f"\n```{{toctree}}\n:caption: {section}\n:hidden:\n:titlesonly:\n\n"
        text += "\n".join(entries) + "\n```\n"
    return text


def staged_text(name):
    text = (pages.ROOT / name).read_text(encoding="utf-8")
    text = PREPARE.sub("", text)
    text = NOT_RUN.sub(r"*No test runs this: \1.*\n", text)
    # console is what GitHub and Sphinx call a session; a comment with an exit code stays.
    folder = pathlib.PurePosixPath(name).parent
    if str(folder) != ".":
        up = "../" * len(folder.parts)
        text = text.replace(f"]({up}README.md", f"]({up}index.md")
    # A folder stands for the page in it.
    return re.sub(r"\]\(([\w./-]+)/\)", r"](\1/README.md)", text)


def main(target):
    target = pathlib.Path(target)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    shutil.copy(pages.ROOT / "docs/site/conf.py", target)
    listed = pages.all_pages()
    for name in listed:
        place = target / ("index.md" if name == "README.md" else name)
        place.parent.mkdir(parents=True, exist_ok=True)
        text = staged_text(name)
        if name == "README.md":
            text += navigation_blocks()
        place.write_text(text, encoding="utf-8")
        for _, link in pages.Page(name).links:
            path = ((pages.ROOT / name).parent / link.partition("#")[0]).resolve()
            inside = path.is_file() and path.is_relative_to(pages.ROOT)
            if inside and path.suffix != ".md":
                copy = target / path.relative_to(pages.ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, copy)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
