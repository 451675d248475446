"""C and C++: functions, types and their members, through namespaces, templates, macros and conditional compilation."""
from __future__ import annotations

import re

from slipstream.map.languages.braces import adopt, mark_overloads
from slipstream.map.languages.c_preprocessor import LEXICON, Directive, mask, read_directives, unsplice
from slipstream.map.languages.c_types import LAST_NAME, STOP, TYPE, CTypes
from slipstream.map.model import Definition, FileScan

_CPP = re.compile(r"(?m)^[ \t]*(?:namespace\b|template\s*<|class\s+\w+[^;\n]*$|using\s+\w|public:|private:|protected:)"
                  r"|\bstd::|\bconstexpr\b")
_MACRO_LINE = re.compile(r"[A-Z_][A-Z0-9_]{2,}(?:[ \t]*\((?:[^()\n]|\([^()\n]*\)){0,300}\))?[ \t]*(?=\r?\n\s*[A-Za-z_#\[~}:/])")
_LABEL = re.compile(r"(?:public|private|protected|signals|Q_SIGNALS)\s*(?:slots|Q_SLOTS)?\s*:(?!:)")
_NAMESPACE = re.compile(r"(?:inline\s+)?namespace\b((?:\s|[\w:]|\[\[[^\]]*\]\]|\([^()]*\)){0,300}?)\{")
_SKIPPED = re.compile(r"(?:(?:export\s+)?(?:import|module)\b|template\s+(?!<)|friend\s+(?:class|struct|union)?\s*[\w:<>, ]+;"
                      r"|using\s+namespace\b|static_assert\b)")
_EXTERN_BLOCK = re.compile(r'extern\s*"[^"\n]*"\s*\{')
_EXTERN_ONE = re.compile(r'extern\s*"[^"\n]*"\s*')
_USING = re.compile(r"using\s+([^\W\d]\w*)\s*(?:\[\[[^\]]*\]\]\s*)?=")
_QUALIFIED = re.compile(
    r"((?:[^\W\d]\w*\s*(?:<(?:[^<>();{}]|<(?:[^<>();{}]|<[^<>();{}]{0,200}>){0,80}>){0,200}>)?\s*::\s*)*)(~?\s*[^\W\d]"
    r"\w*)\s*"
    r"(?:<(?:[^<>;{}]|<[^<>;{}]{0,200}>){0,200}>)?\s*\Z")
_PLAIN = re.compile(r"(?:(?<=[\s*&(])|(?<=\A))()(?<!::)(?<!~)(?<!:: )(?<!~ )([^\W\d]\w*)\s*\Z")
_OPERATOR = re.compile(r"((?:[^\W\d]\w*\s*(?:<[^();{}]{0,200}>)?\s*::\s*)*)"
                       r"\b(operator\s*(?:\(\s*\)|\[\s*\]|\"\"\s*_?\w+|(?:new|delete)\b(?:\s*\[\s*\])?"
                       r"|co_await\b|[^\s\w(\"]+|[^\W\d][\w:<>,*&\s]{0,100}?))\s*\Z")
_NOT_NAMES = frozenset(
    "if for while switch return catch sizeof alignof decltype typeof __typeof__ __attribute__ __declspec alignas noexcept "
    "throw static_assert _Static_assert void int char short long float double bool signed unsigned const volatile auto "
    "requires explicit constexpr __asm__ asm defined _Alignas __extension__ typename".split())
_AFTER_PARAMETERS = re.compile(r"\s*(?:\{|;|:|=|,|->|\[|\)|&|\Z|(?:const|noexcept|override|final|volatile|requires|throw|try|"
                               r"mutable|__attribute__|__asm__|asm|restrict)\b|[A-Z_][A-Z0-9_]{2,}\b(?!\s*\w+\s*\())")
_OLD_STYLE = re.compile(r"\s*(?:(?:const\s+|unsigned\s+|struct\s+|register\s+){0,4}[^\W\d]\w*[\s*]+[\w\s*,\[\]]{1,200};"
                        r"\s*){1,40}\{")
_RETURNS_POINTER = re.compile(r"\(\s*\*+\s*([^\W\d]\w*)\s*\(")     # void (*signal(int))(int)
_REQUIRES = re.compile(r"\brequires\s*(?:\([^(){}]{0,300}\)\s*)?\Z")
_DEFINE = re.compile(r"([^\W\d]\w*)(\([^)\n]*\))?\s*(.*)", re.S)
_INCLUDE = re.compile(r'([<"])([^>"\n]+)[>"]')
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".tpp")

_BODY = LEXICON.compile(r"([(\[])|(\{)|(;)|(=(?!=)(?<![=!<>]=))|(:(?!:)(?<!::))|([)}\]])")


def scan(text: str, path: str, out: FileScan) -> None:
    """Fill `out` with the definitions, includes and purpose of a C or C++ file."""
    header = path.endswith(_HEADERS)
    if out.language == "c" and path.endswith(".h") and _CPP.search(text):
        out.language = "cpp"
    text = unsplice(text)
    directives = read_directives("\n" + text)
    scanner = _CScanner(mask("\n" + text, directives), out, header)
    scanner.run(directives)


class _CScanner(CTypes):
    def run(self, directives: list[Directive]) -> None:
        self.header_purpose()
        self.declarations(0, None, False, False)
        macros = self.directives(directives)
        adopt(self.strays, self.out.definitions, self.out.walk())
        for definition in self.out.walk():
            if definition.members:
                mark_overloads(definition.members)
        mark_overloads(self.out.definitions)
        if macros:
            self.out.definitions.extend(macros)
            self.out.definitions.sort(key=lambda d: d.line)
        if any(d.name == "main" and not d.overload for d in self.out.definitions):
            self.out.hints.append("main")

    def directives(self, directives: list[Directive]) -> list[Definition]:
        """Includes, and macros that have a value."""
        aside = Definition("", "class", 0, 0, 0)
        self.doc_text = ""
        for directive in directives:
            if directive.name in ("include", "import", "include_next"):
                match = _INCLUDE.match(directive.argument)
                if match is not None:
                    self.out.imports.append((match.group(2), "include", ("system",) if match.group(1) == "<" else ()))
            elif directive.name == "define":
                match = _DEFINE.match(directive.argument)
                if match is not None and (match.group(2) or match.group(3).strip()):
                    line = self.lines.at(directive.start + 1)
                    definition = Definition(match.group(1), "function" if match.group(2) else "const", line, line,
                                            self.lines.at(directive.end), f"#define {match.group(1)}{match.group(2) or ''}", "",
                                            self.header)
                    aside.members.append(definition)
        return aside.members

    def declarations(self, pos: int, owner: Definition | None, in_class: bool, hidden: bool) -> int:
        """Read declarations until an unopened `}`; `hidden` inside an unnamed namespace. The offset after the brace."""
        text = self.text
        size = len(text)
        self.depth += 1
        while True:
            at = self.trivia(pos)
            if at >= size:
                break
            char = text[at]
            if char == "}":
                at += 1
                if self.depth > 1:
                    break
                pos = at
                continue
            start = self.take_doc(at)
            pos = max(at + 1, self.declaration(at, start, owner, in_class, hidden))
        self.depth -= 1
        return at

    def declaration(self, at: int, start: int, owner: Definition | None, in_class: bool, hidden: bool) -> int:
        text = self.text
        lex = self.lex
        macro = _MACRO_LINE.match(text, at)
        if macro is not None:
            return macro.end()
        if text.startswith("extern", at):
            block = _EXTERN_BLOCK.match(text, at)
            if block is not None:
                return self.declarations(block.end(), owner, in_class, hidden) if self.depth < 60 else lex.close(
                    text, block.end() - 1)
        head = at
        if self.cpp:
            if _SKIPPED.match(text, at):
                return self.statement(at)
            if in_class:
                label = _LABEL.match(text, at)
                if label is not None:
                    return label.end()
            namespace = _NAMESPACE.match(text, at)
            if namespace is not None:
                return self.namespace(namespace, start, at, owner, hidden)
            while text.startswith("template", head):
                angle = self.space(head + 8)
                if text[angle:angle + 1] != "<":
                    break
                head = self.space(self.angles(angle))
            if head > at and _SKIPPED.match(text, head):
                return self.statement(head)
            if text.startswith("concept", head):
                return self.simple(re.compile(r"concept\s+(\w+)"), head, start, at, owner, hidden, "type")
            if text.startswith("using", head):
                return self.simple(_USING, head, start, at, owner, hidden, "type")
        one = _EXTERN_ONE.match(text, head)
        if one is not None:
            head = one.end()
        found = TYPE.match(text, head)
        if found is not None:
            end = self.type(found, start, at, owner, in_class, hidden)
            if end >= 0:
                return end
        if text.startswith("typedef", head) and not text[head + 7:head + 8].isalnum():
            return self.typedef(head, start, at, owner, hidden)
        return self.function_or_value(head, start, at, owner, in_class, hidden)

    def simple(self, pattern: re.Pattern[str], head: int, start: int, at: int, owner: Definition | None, hidden: bool,
               kind: str) -> int:
        """A declaration that ends at `;` and whose name the pattern's first group holds."""
        end = self.statement(head)
        match = pattern.match(self.text, head)
        if match is not None:
            self.add(match.group(1), kind, match.start(1), start, end, (at, end), owner, not hidden, False)
        return end

    def namespace(self, match: re.Match[str], start: int, at: int, owner: Definition | None, hidden: bool) -> int:
        name = re.sub(r"\[\[[^\]]*\]\]|\([^()]*\)|\s", " ", match.group(1)).split()
        if self.depth > 60:
            return self.lex.close(self.text, match.end() - 1)
        if not name:
            return self.declarations(match.end(), owner, False, True)
        definition = self.add(name[-1], "class", match.start(1) + match.group(1).rfind(name[-1]), start,
                              match.end(), (at, match.end() - 1), owner, not hidden, False)
        end = self.declarations(match.end(), definition, False, hidden)
        definition.end = self.lines.at(end - 1)
        return end

    def function_or_value(self, head: int, start: int, at: int, owner: Definition | None, in_class: bool, hidden: bool) -> int:
        text = self.text
        lex = self.lex
        pos = head
        while True:
            stop = lex.find(STOP, text, pos)
            if stop is None:
                return len(text)
            where = stop.start()
            char = stop.group()
            operator = None
            if char != "(":
                if char in ")]":
                    return where + 1
                operator = _OPERATOR.search(text, max(head, where - 30), where + 1) if char == "=" else None
                if operator is None:
                    break
                pos = text.find("(", where)
                if pos < 0:
                    return len(text)
                where = pos
            close = lex.close(text, where)
            word = text[head:where].strip() if pos == head else ""
            if word.isupper() and (owner is None or owner.name != word):
                return close                                                           # a macro call
            name = self.function_name(head, where, close)
            if name is not None:
                qualifier, plain, name_at, close = name
                if _AFTER_PARAMETERS.match(text, self.code(close)) or (not self.cpp and _OLD_STYLE.match(text, close)):
                    return self.function(plain, qualifier, name_at, close, start, at, owner, in_class, hidden)
            pos = close
        if char == "{":
            end = lex.close(text, stop.start())
            follows = self.space_in_line(end)
            if text[follows:follows + 1] == ";":
                end = follows + 1
            if head == stop.start():
                return end
        elif char == "}":
            return where
        else:
            end = self.statement(where)
        value = LAST_NAME.search(text, max(head, where - 120), where)
        words = text[head:where].replace("*", " ").replace("&", " ").split()
        if value is not None and len(words) > 1 and (in_class or self.cpp or char == "=" or self.header):
            static = "static" in text[head:where].split()
            self.add(value.group(1), "field" if in_class else "const", value.start(1), start, end, (at, where), owner,
                     not hidden and not static, False)
        return end

    def function_name(self, head: int, where: int, close: int) -> tuple[str, str, int, int] | None:
        """(qualifier, name, offset of the name, end of the parameters) of the declarator before the `(` at `where`."""
        text = self.text
        low = max(head, where - 400)
        if self.cpp and "operator" in text[low:where]:
            operator = _OPERATOR.search(text, low, where)
            if operator is None and text[where - 8:where].strip() == "operator":      # operator()(...)
                second = self.space_in_line(close)
                if text[second:second + 1] == "(":
                    return "", "operator()", where - 8, self.lex.close(text, second)
                return None
            if operator is not None:
                plain = re.sub(r"\s+", " ", operator.group(2))
                plain = re.sub(r"operator (?=\W)", "operator", plain)
                if plain == "operator(" or (plain == "operator" and text[where:where + 1] == "("):
                    return None
                return operator.group(1), plain, operator.start(2), close
        after = self.space_in_line(close)
        called = text[after:after + 1] == "("
        inner = _RETURNS_POINTER.match(text, where)
        if inner is not None and called:
            return "", inner.group(1), inner.start(1), self.lex.close(text, after)
        match = _PLAIN.search(text, max(low, where - 60), where)
        if match is None:
            match = _QUALIFIED.search(text, low, where)
        if match is None:
            return None
        name = match.group(2).replace(" ", "")
        if name in _NOT_NAMES:
            return ("", inner.group(1), inner.start(1), close) if inner is not None else None
        pointed = re.compile(r"\(\s*(?:[\w:]+\s*::\s*)?[*^]").match(text, where)
        if pointed is not None and called:
            return None
        return match.group(1), name, match.start(2), close

    def handler_end(self, pos: int) -> int:
        """Offset after the `catch (...) {}` that follows a function's body."""
        stop = self.lex.find(_BODY, self.text, pos)
        if stop is None or stop.group() != "{":
            return stop.end() if stop is not None else len(self.text)
        return self.lex.close(self.text, stop.start())

    def function(self, name: str, qualifier: str, name_at: int, close: int, start: int, at: int, owner: Definition | None,
                 in_class: bool, hidden: bool) -> int:
        """Read what follows the parameters: a body, or nothing but `;`."""
        text = self.text
        lex = self.lex
        pos = close
        initialisers = False
        if not self.cpp:
            old = _OLD_STYLE.match(text, close)
            if old is not None:
                pos = old.end() - 1
        bodied = False
        while True:
            stop = lex.find(_BODY, text, pos)
            if stop is None:
                head = end = len(text)
                break
            char = stop.group()
            head = stop.start()
            if char == ":":
                initialisers = True
                pos = stop.end()
                continue
            if char == "{":
                end = lex.close(text, head)
                following = text[self.space_in_line(end):][:1] if initialisers else ""
                if (initialisers and following in (",", "{")) or _REQUIRES.search(text, max(close, head - 320), head):
                    pos = end
                    continue
                bodied = True
                while self.cpp and text.startswith("catch", self.space_in_line(end)):
                    end = self.handler_end(end)
                break
            end = stop.end() if char == ";" else self.statement(head)
            break
        static = "static" in text[at:name_at].split()
        method = in_class or bool(qualifier)
        parent = re.sub(r"<.*", "", qualifier, flags=re.S).replace(" ", "").strip(":").rsplit("::", 1)[-1] if qualifier else ""
        aside = Definition("", "class", 0, 0, 0)
        definition = self.add(name, "method" if method else "function", name_at, start, end, (at, head),
                              aside if parent else owner, not hidden and (method or not static), False)
        if parent:
            definition.parent = parent
            self.strays.append(definition)
        definition.overload = not bodied
        return end
