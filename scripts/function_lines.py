"""The lengths of functions of C++: from the signature's first line to the closing brace.

A line of template parameters in front of the signature does not count.
"""

import re

# What has braces and parentheses that are no code.
_NO_CODE = re.compile(
    r'R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)"'
    r'|"(?:[^"\\\n]|\\.)*"|(?<![0-9a-fA-F])\'(?:[^\'\\\n]|\\.)+\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)(?:[^\n]*\\\n)*[^\n]*$", re.MULTILINE)
_TOKEN = re.compile(r"\x00\w*\x00|[{}();]|[^\s{}();\x00]+")
_SCOPE = re.compile(r"(inline )?namespace\b|extern$|extern \"|(export )?(typedef )?"
                    r"(class|struct|union|enum)\b(?!.*\w \w*\(\))")
_LAMBDA = re.compile(r"\[[^\]]*\] ?(\(\) ?)?(mutable |noexcept )?(-> .*)?$")
_INITIALISED = re.compile(r"\)( noexcept)? : .*[\w>]$")
_LABEL = re.compile(r"(public|private|protected)( \w+)?:$")


def _blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def _directive(match):
    """Of directives only which they are is left: branches of #if open the same braces."""
    kind = match.group(1)
    mark = f"\x00{kind}\x00" if kind in ("if", "ifdef", "ifndef", "elif", "else", "endif") else ""
    return mark + "\n" * match.group().count("\n")


def _opens(head):
    """What a brace behind these words opens: a "scope", a "function" or a "value"."""
    head = re.sub(r"\boperator ?(\(\)|[^\s(]+)", "operator", head)
    head = re.sub(r"^(template ?<.*?> )+(?=\w)", "", head)
    head = re.sub(r"\b(__attribute__|__declspec|alignas) ?\(\) ?", "", head)
    if _SCOPE.match(head):
        return "scope"
    if re.search(r"(?<![<>=!])=(?!=)", head):
        return "function" if _LAMBDA.search(head) else "value"
    return "function" if "()" in head and not _INITIALISED.search(head) else "value"


class _Scan:
    """Where braces, parentheses and heads stand; heads without what is in parentheses."""

    def __init__(self):
        self.open = []  # of each brace: what it opened, where that began, and parentheses around
        self.parentheses = 0
        self.head, self.began = "", 0

    def copy(self):
        other = _Scan()
        other.__dict__.update(self.__dict__, open=list(self.open))
        return other

    def forget(self):
        self.head, self.began = "", 0

    def in_scope(self):
        return self.parentheses == 0 and all(kind == "scope" for kind, *_ in self.open)

    def word(self, word, line):
        if self.in_scope():
            template = self.head.startswith("template") and self.head.endswith(">")
            if not self.began or template and self.head.count("<") == self.head.count(">"):
                self.began = line
            self.head += (" " if self.head else "") + word
            if _LABEL.match(self.head):
                self.forget()

    def parenthesis(self, word):
        if word == ")":
            self.parentheses = max(0, self.parentheses - 1)
        if self.in_scope():
            self.head += word
        if word == "(":
            self.parentheses += 1

    def brace(self, line):
        kind = _opens(self.head) if self.in_scope() else "value"
        self.open.append((kind, self.began or line, self.parentheses))
        if kind != "value":
            self.forget()
        self.parentheses = 0

    def closed(self, line):
        """The length of the function that ends here; 0: none does."""
        if not self.open:
            return 0
        kind, began, self.parentheses = self.open.pop()
        if kind != "value":
            self.forget()
        return line - began + 1 if kind == "function" else 0


def function_lines(text):
    """The lengths of the functions of a C++ source, those in classes too, lambdas in them not."""
    text = _DIRECTIVE.sub(_directive, _NO_CODE.sub(_blank, text))
    scan, branches = _Scan(), []
    line, last = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", last, match.start())
        last, word = match.start(), match.group()
        if word in ("\x00if\x00", "\x00ifdef\x00", "\x00ifndef\x00"):
            branches.append(scan.copy())
        elif word in ("\x00else\x00", "\x00elif\x00") and branches:
            scan = branches[-1].copy()
        elif word == "\x00endif\x00" and branches:
            branches.pop()
        elif word == "{":
            scan.brace(line)
        elif word == "}":
            if length := scan.closed(line):
                yield length
        elif word in "()":
            scan.parenthesis(word)
        elif word != ";":
            scan.word(word, line)
        elif scan.in_scope():
            scan.forget()
