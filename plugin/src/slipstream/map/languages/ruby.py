"""Ruby: modules, classes and methods by counting `end`; heredocs, `%` literals, endless methods, `class << self`."""
from __future__ import annotations

import re

from slipstream.map.languages.lexer import Lexicon, find_unescaped, quoted, tokens
from slipstream.map.languages.summaries import comment_summary, hash_header
from slipstream.map.languages.text import Lines, one_line, signature
from slipstream.map.model import Definition, FileScan

# Groups: 1 keyword, 2 line feed, 3 opening and 4 closing bracket, 5 what only code can tell apart (string, regexp, heredoc).
_TOKEN = re.compile(
    r"((?<![\w.:@$])(?:def|class|module|if|unless|while|until|for|begin|case|do|end|private|protected|public)"
    r"(?![\w?!]|:(?!:)|[ \t]*=>))|(\n)|([(\[{])|([)\]}])|([\"`/%]|<<)"
    r"|'(?<![\w$]')[^'\\]*(?:\\.[^'\\]*){0,9999}'?|\#[^\n]*|\$[^\w\s]|\?(?<![\w)\]}]\?)(?:\\.|[^\s\w])(?!\w)|\\\n", re.S)
_DEF = re.compile(r"def[ \t]+(?:(self|[^\W\d]\w*(?:::\w+)*)[ \t]*\.[ \t]*)?([^\W\d]\w*(?:[?!]|=(?=[ \t]*\(|"
                  r"[ \t]+\w+[ \t]*(?:\n|;|\#)))?|\[\]=?|[+\-!~]@|\*\*|<=>|===?|=~|![=~]?|"
                  r"<<|>>|<=|>=|[<>+\-*/%&|^~`])")
_TYPE = re.compile(r"(class|module)[ \t]+(<<[ \t]*[\w.@]+|(?:::)?[A-Z]\w*(?:::[A-Z]\w*)*)")
_ENDLESS = re.compile(r"[ \t]*=(?![=~>])")
_CONSTANT = re.compile(r"\n[ \t]*([A-Z]\w*)[ \t]*(?:\|\|)?=(?![=~>])([ \t]*(?:Class|Struct|Module|Data)\.(?:new|define)\b)?")
_ATTRIBUTES = re.compile(r"\n[ \t]*(?:attr_(?:accessor|reader|writer)|delegate|scope|has_many|has_one|belongs_to|"
                         r"define_method|alias_method)"
                         r"[ \t(]+((?::\w+[?!=]?[ \t]*,?\s*){1,60})")
_SYMBOL = re.compile(r":(\w+[?!=]?)")
_REQUIRE = re.compile(r"(?m)^[ \t]*(require|require_relative|load|autoload)\b[ (]*(?:(:\w+)[ ]*,[ ]*)?['\"]([^'\"\n#]+)['\"]")
_HEREDOC = re.compile(r"<<([~-]?)(['\"`]?)([^\W\d]\w*)\2")
_REGEXP = re.compile(r"/(?:[^/\\\n#]{0,500}(?:(?:\\.|#)[^/\\\n#]{0,500}){0,200})/[a-z]*")
_PERCENT = re.compile(r"%([wWiIqQrsx]?)([\[({<|!/^\-.:;+*@~])")
_WORDS_BEFORE_IF = frozenset(("else", "then", "do", "and", "or", "not", "in", "when", "begin", "ensure", "elsif"))
_LITERAL_AFTER = frozenset(("if", "unless", "while", "until", "return", "and", "or", "not", "when", "puts", "raise", "in",
                            "then", "elsif",
                            "case", "yield", "p", "print"))
_LAST_WORD = re.compile(r"\w+\Z")
_STRING = re.compile(r"\\.|(#\{)|(\")|(`)", re.S)
_CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_GOES_ON = frozenset("+-*/%&|,.=<>\\(:")


def _string_hook(text: str, match: re.Match[str]) -> int:
    return _string_end(text, match.start())


_INSIDE = Lexicon(quoted("'") + r"|/(?<=[\[(,=~ ]/)[^/\n{}]{1,100}/", (r"\"", "`"), _string_hook)
_depth = [0]


def _string_end(text: str, pos: int) -> int:
    """Offset after the string at `pos`, with the code in its `#{...}`."""
    quote = text[pos]
    at = pos + 1
    if _depth[0] > 20:
        return find_unescaped(text, quote, at)
    while True:
        for match in tokens(_STRING, text, at):
            kind = match.lastindex
            if kind == 1:
                _depth[0] += 1
                at = _INSIDE.close(text, match.end() - 1)
                _depth[0] -= 1
                break
            if kind is not None and match.group() == quote:
                return match.end()
        else:
            return len(text)


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out` with the definitions, requires and purpose of a Ruby file."""
    out.purpose = hash_header(text)
    _RubyScanner("\n" + text, out).run()
    for match in _REQUIRE.finditer(text):
        names = (match.group(2)[1:],) if match.group(2) else ()
        out.imports.append((match.group(3), "include" if match.group(1) == "require_relative" else "require", names))


class _Block:
    __slots__ = ("definition", "depth", "kind", "private")

    def __init__(self, kind: str, definition: Definition | None, depth: int) -> None:
        self.kind = kind                # def, type, single (class << self), endless, or other
        self.definition = definition
        self.depth = depth
        self.private = False


class _RubyScanner:
    """One pass over the tokens of a text that begins with an added line feed."""

    def __init__(self, text: str, out: FileScan) -> None:
        self.text = text
        self.out = out
        self.lines = Lines(text)
        self.lines.shift(-1)
        self.blocks: list[_Block] = []
        self.heredocs: list[tuple[str, bool]] = []
        self.brackets = 0
        self.line_start = 0
        self.loop_line = -1

    def run(self) -> None:
        text = self.text
        pos = 0
        again = True
        while again:
            again = False
            for match in tokens(_TOKEN, text, pos):
                kind = match.lastindex
                if kind is None:
                    continue
                if kind == 3:
                    self.brackets += 1
                    continue
                if kind == 4:
                    self.brackets = max(0, self.brackets - 1)
                    continue
                if kind == 2:
                    pos = self.newline(match.start())
                elif kind == 1:
                    pos = self.keyword(match)
                else:
                    pos = self.literal(match)
                if pos != match.end():
                    again = pos < len(text)
                    break
        while self.blocks:
            self.close(len(text))

    def newline(self, pos: int) -> int:
        """A line ends at `pos`: bodies of heredocs follow; an endless method may be over. The offset to go on from."""
        text = self.text
        blocks = self.blocks
        if blocks and blocks[-1].kind == "endless" and self.brackets <= blocks[-1].depth:
            code = text[self.line_start:pos].split(" #")[0].rstrip()
            following = text[pos:pos + 200].lstrip()
            if code and code[-1] not in _GOES_ON and not following.startswith((".", "&.")):
                self.close(pos)
        at = pos + 1
        for name, indented in self.heredocs:
            margin = r"^[ \t]*" if indented else "^"
            pattern = re.compile(margin + re.escape(name) + r"[ \t]*\r?$", re.M)
            end = pattern.search(text, at)
            if end is None:
                at = len(text)
                break
            at = end.end()
        self.heredocs.clear()
        if at > pos + 1:
            self.line_start = at
            return at
        self.line_start = at
        two = text[at:at + 7]
        if two.startswith("=begin"):
            end = re.compile(r"\n=end\b[^\n]*").search(text, at)
            return end.end() if end is not None else len(text)
        if two == "__END__":
            return len(text)
        if text[at:at + 1] not in ("", "\n", "#"):
            self.names(pos)
        return at

    def owner(self) -> tuple[Definition | None, bool, bool]:
        """(type around, whether inside a method, whether private)."""
        for block in reversed(self.blocks):
            if block.kind in ("def", "endless"):
                return None, True, False
            if block.kind in ("type", "single"):
                return block.definition, False, block.private
        return None, False, False

    def names(self, newline: int) -> None:
        """Constants and attributes declared by the line after `newline`."""
        text = self.text
        constant = _CONSTANT.match(text, newline)
        attributes = _ATTRIBUTES.match(text, newline) if constant is None else None
        if (constant is None and attributes is None) or self.brackets:
            return
        owner, local, _ = self.owner()
        if local:
            return
        line = self.lines.at(newline + 1)
        end = text.find("\n", newline + 1)
        head = one_line(text[newline + 1:end if end >= 0 else len(text)], 120)
        target = owner.members if owner is not None else self.out.definitions
        parent = owner.qualified if owner is not None else ""
        if constant is not None:
            if constant.group(2):
                target.append(Definition(constant.group(1), "class", line, line, line, head, parent, True))
            else:
                target.append(Definition(constant.group(1), "const" if owner is None else "field", line, line, line, head,
                                         parent, True))
        elif attributes is not None and owner is not None:
            for symbol in _SYMBOL.finditer(attributes.group(1)):
                at = self.lines.at(attributes.start(1) + symbol.start())
                target.append(Definition(symbol.group(1), "field", at, at, at, head, parent, True))

    def keyword(self, match: re.Match[str]) -> int:
        text = self.text
        word = match.group()
        at = match.start()
        if word == "end":
            if self.blocks:
                self.close(match.end())
            return match.end()
        if word == "def":
            return self.method(at)
        if word in ("class", "module"):
            found = _TYPE.match(text, at)
            if found is None:
                return match.end()
            self.type(found, at)
            return found.end()
        if word in ("private", "protected", "public"):
            line_end = text.find("\n", at)
            if text[match.end():line_end if line_end >= 0 else len(text)].split("#")[0].strip() == "" and not text[
                    self.line_start:at].strip():
                for block in reversed(self.blocks):
                    if block.kind in ("type", "single"):
                        block.private = word != "public"
                        break
            return match.end()
        if word == "do":
            if self.loop_line == self.line_start:
                self.loop_line = -1
            else:
                self.blocks.append(_Block("do", None, self.brackets))
            return match.end()
        if word in ("if", "unless", "while", "until") and not self.begins(at):
            return match.end()
        self.blocks.append(_Block("other", None, self.brackets))
        if word in ("while", "until", "for"):
            self.loop_line = self.line_start
        return match.end()

    def begins(self, at: int) -> bool:
        """Whether a keyword stands where an expression begins (else it is a modifier)."""
        before = self.text[self.line_start:at].rstrip(" \t\r\n\\")
        if not before:
            return True
        if before[-1] in "!?":
            return not (before[-2:-1].isalnum() or before[-2:-1] == "_")
        if before[-1] in "=([{,;|&+-*<>:~^":
            return True
        word = _LAST_WORD.search(before)
        return word is not None and word.group() in _WORDS_BEFORE_IF

    def start_of(self, at: int) -> int:
        """Offset where the comment lines right above the line of `at` begin, or `at`."""
        text = self.text
        start = at
        line = text.rfind("\n", 0, at)
        while line > 0:
            above = text.rfind("\n", 0, line)
            content = text[above + 1:line].strip()
            if not content.startswith("#") or content.startswith("#!") or "frozen_string_literal" in content:
                break
            start = above + 1
            line = above
        return start

    def define(self, name: str, kind: str, at: int, name_at: int, head_end: int, owner: Definition | None,
               exported: bool) -> Definition:
        text = self.text
        start = self.start_of(at)
        line = self.lines.at(name_at)
        definition = Definition(name, kind, line, self.lines.at(start), line, signature(text[at:head_end]),
                                owner.qualified if owner is not None else "", exported, False,
                                comment_summary(text[start:at]) if start < at else "")
        (owner.members if owner is not None else self.out.definitions).append(definition)
        return definition

    def type(self, found: re.Match[str], at: int) -> None:
        owner, local, _ = self.owner()
        name = found.group(2)
        if name.startswith("<<"):
            self.blocks.append(_Block("single", owner, self.brackets))
            return
        if local:
            self.blocks.append(_Block("other", None, self.brackets))
            return
        line_end = self.text.find("\n", at)
        head = self.text[at:line_end if line_end >= 0 else len(self.text)].split(";")[0].split(" #")[0]
        definition = self.define(name.lstrip(":"), "class", at, found.start(2), at + len(head), owner, True)
        self.blocks.append(_Block("type", definition, self.brackets))

    def method(self, at: int) -> int:
        text = self.text
        found = _DEF.match(text, at)
        owner, local, private = self.owner()
        if found is None:
            self.blocks.append(_Block("other", None, self.brackets))
            return at + 3
        end = found.end()
        if text[end:end + 1] == "(":
            end = _INSIDE.close(text, end)
        endless = _ENDLESS.match(text, end) is not None and not (found.group(2)[-1] == "=" and found.group(2)[0].isalpha())
        definition = None
        if not local:
            name = found.group(2)
            line_end = text.find("\n", end)
            head_end = end if endless or text[end - 1] == ")" else line_end if line_end >= 0 else len(text)
            before = text[self.line_start:at].split()
            private = private or bool(before and before[0] in ("private", "private_class_method"))
            kind = "method" if owner is not None or found.group(1) else "function"
            head = text[at:head_end].split(";")[0].split(" #")[0]
            definition = self.define(name, kind, at, found.start(2), at + len(head), owner, not private
                                     and not name.startswith("_"))
            if owner is None and found.group(1) and found.group(1) != "self":
                definition.parent = found.group(1)
        self.blocks.append(_Block("endless" if endless else "def", definition, self.brackets))
        return end

    def close(self, end: int) -> None:
        block = self.blocks.pop()
        if block.definition is not None and block.kind != "single":
            block.definition.end = max(block.definition.line, self.lines.at(end))

    def literal(self, match: re.Match[str]) -> int:
        """Offset after the string, regexp, `%` literal or heredoc mark that may begin here."""
        text = self.text
        at = match.start()
        char = text[at]
        if char in "\"`":
            return _string_end(text, at)
        before = text[self.line_start:at].rstrip()
        space = text[at - 1:at] in (" ", "\t", "\n", "")
        last = before[-1:]
        operand = last.isalnum() or last in ("_", ")", "]", "}", "?", "!", "\"", "'", "@")
        if operand:
            word = _LAST_WORD.search(before)
            if word is not None and word.group() in _LITERAL_AFTER:
                operand = False
        if char == "<":
            heredoc = _HEREDOC.match(text, at)
            begins = (space or not operand) and not before.endswith("class")
            if heredoc is not None and (heredoc.group(1) or (begins and heredoc.group(3).isupper())):
                self.heredocs.append((heredoc.group(3), bool(heredoc.group(1))))
                return heredoc.end()
            return at + 2
        if char == "/":
            if operand and not (space and text[at + 1:at + 2] not in (" ", "=", "\t") and not last.isdigit()
                                and last not in ")]}"):
                return at + 1
            regexp = _REGEXP.match(text, at)
            return regexp.end() if regexp is not None else at + 1
        percent = _PERCENT.match(text, at)
        if percent is None:
            return at + 1
        if operand and not (space and (percent.group(1) or percent.group(2) in "([{")):
            return at + 1
        if not percent.group(1) and percent.group(2) not in "([{<|!":
            return at + 1
        opener = percent.group(2)
        closer = _CLOSERS.get(opener)
        if closer is None:
            return find_unescaped(text, opener, percent.end())
        depth = 0
        for edge in re.compile(rf"\\.|([{re.escape(opener)}])|([{re.escape(closer)}])", re.S).finditer(text, percent.end() - 1):
            if edge.lastindex == 1:
                depth += 1
            elif edge.lastindex == 2:
                depth -= 1
                if not depth:
                    return edge.end()
        return at + 1
