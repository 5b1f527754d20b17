"""The pages of the documentation: which there are, their headings, links and console blocks.

Used by docs/site/stage.py, which makes a site of them, and by tests/docs. Standard library only.
"""

import dataclasses
import pathlib
import re
import shlex

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NAVIGATION = ROOT / "docs/site/navigation.txt"

FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*([\w+-]*)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
# [text](target) and ![text](target); the text may hold brackets of one level.
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]"
                  r"\(([^()\s]*(?:\([^()]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)")
REMARK = re.compile(r"^<!--\s*(prepare|not run):\s*(.*?)\s*-->$", re.DOTALL)
EXIT_CODE = re.compile(r"\s*#\s*exit code (\d+)\s*$")


def navigation():
    """A list of (section, pages); pages are paths relative to the repository."""
    sections = []
    for line in NAVIGATION.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            sections[-1][1].append(line.strip())
        else:
            sections.append((line.strip(), []))
    return sections


def all_pages():
    return [page for _, pages in navigation() for page in pages]


def slug(heading, seen):
    """The anchor that GitHub gives to a heading."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"[*`]", "", text).strip().lower()
    text = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
    number = seen.get(text, 0)
    seen[text] = number + 1
    return f"{text}-{number}" if number else text


@dataclasses.dataclass
class Command:
    line: int  # of the page
    text: str
    exit_code: int = 0
    shown: list = dataclasses.field(default_factory=list)  # lines of output


def _goes_on(command):
    if command.endswith("\\"):
        return True
    try:
        shlex.split(command, comments=True)
    except ValueError:  # a quotation that does not end
        return True
    return False


@dataclasses.dataclass
class Block:
    line: int
    language: str
    lines: list
    prepare: list = dataclasses.field(default_factory=list)
    not_run: str = ""

    def commands(self):
        """Commands follow "$ " and are followed by what they print. They go on behind a backslash,
        and up to the end of a quotation."""
        found = []
        open_command = False
        for number, line in enumerate(self.lines, self.line + 1):
            if open_command:
                found[-1].text += "\n" + line
            elif line.startswith("$ "):
                found.append(Command(number, line[2:]))
            elif found:
                found[-1].shown.append(line)
            else:
                raise ValueError(f"line {number}: output without a command")
            if open_command or line.startswith("$ "):
                open_command = _goes_on(found[-1].text)
        for command in found:
            code = EXIT_CODE.search(command.text)
            if code:
                command.exit_code = int(code.group(1))
        return found


class Page:
    """One Markdown file, taken apart."""

    def __init__(self, path, root=ROOT):
        self.path = path
        self.text = (root / path).read_text(encoding="utf-8")
        self.anchors = []
        self.titles = []
        self.links = []  # (line, target)
        self.blocks = []
        self._read()

    def _read(self):
        seen, remarks, comment = {}, [], None
        block, fence, indent = None, None, 0
        for number, line in enumerate(self.text.splitlines(), 1):
            if block is not None:
                if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                    self.blocks.append(block)
                    block = None
                else:
                    # In a list blocks are indented.
                    block.lines.append(line[indent:] if not line[:indent].strip() else line)
                continue
            if comment is not None or line.lstrip().startswith("<!--"):
                comment = line if comment is None else comment + "\n" + line
                if "-->" in line:
                    remark = REMARK.match(comment.strip())
                    if remark:
                        remarks.append(remark.groups())
                    comment = None
                continue
            start = FENCE.match(line)
            if start:
                indent, fence = len(start.group(1)), start.group(2)
                block = Block(number, start.group(3), [])
                for kind, text in remarks:
                    if kind == "prepare":
                        block.prepare.append(text)
                    else:
                        block.not_run = text
                remarks = []
                continue
            heading = HEADING.match(line)
            if heading:
                self.anchors.append(slug(heading.group(2), seen))
                self.titles.append((len(heading.group(1)), heading.group(2)))
            # What stands in backquotes is no link.
            plain = re.sub(r"(`+)(?:(?!\1).)*?\1", "", line)
            self.links += [(number, target) for target in LINK.findall(plain)]
            self.links += [(number, target) for target in re.findall(r'src="([^"]+)"', plain)]
        if block is not None:
            raise ValueError(f"{self.path}: the block of line {block.line} does not end")
        if remarks:
            raise ValueError(f"{self.path}: a remark stands before no block: {remarks[0][1]}")
