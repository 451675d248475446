"""Text that looks like code: every language's strings and comments filled with the other languages' code, and endless tokens."""
from __future__ import annotations

import unittest
from collections.abc import Callable
from unittest import mock

from slipstream.map.languages import text as steps
from slipstream.map.languages.registry import LANGUAGES, scan_source

from tests.map.languages.test_cases import case_files, read_case

Wrap = Callable[[str], str]


def _line_comment(mark: str) -> Wrap:
    return lambda code: "\n".join(f"{mark} {line}" for line in code.split("\n"))


def _block(opener: str, closer: str, harmless: str) -> Wrap:
    return lambda code: opener + code.replace(closer, harmless) + closer


def _nested(opener: str, closer: str) -> Wrap:
    return lambda code: opener + code.replace(opener, "").replace(closer, "") + closer


def _escaped(opener: str, closer: str, *escaped: str) -> Wrap:
    def wrap(code: str) -> str:
        code = code.replace("\\", "\\\\")
        for mark in escaped:
            code = code.replace(mark, "\\" + mark)
        return opener + code + closer
    return wrap


def _one_line(quote: str, prefix: str = "") -> Wrap:
    def wrap(code: str) -> str:
        return prefix + quote + code.replace("\\", "\\\\").replace(quote, "\\" + quote).replace("\n", "\\n").replace("\r", "") + quote
    return wrap


def _joined(code: str) -> str:
    return code.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n\\\n").replace("\r", "")


def _doubled(prefix: str, quote: str, *doubled: str) -> Wrap:
    def wrap(code: str) -> str:
        for mark in doubled:
            code = code.replace(mark, mark * 2)
        return prefix + quote + code + quote
    return wrap


def _without(wrap: Wrap, *parts: str) -> Wrap:
    def stripped(code: str) -> str:
        for part in parts:
            code = code.replace(part, "")
        return wrap(code)
    return stripped


# Each line of the code at the start of a line of its own, inside a string in one pair of quotes.
_CONTINUED: list[Wrap] = [lambda code: '"' + _joined(code) + '"']
_C_COMMENTS = [_line_comment("//"), _block("/*", "*/", "* /")]

_PREPROCESSED = [*_C_COMMENTS, lambda code: "// " + code.replace("\\", "/").replace("\n", "\\\n"),
                 _without(lambda code: "#if 0\n" + code.replace("#", "") + "\n#endif", '"', "'", "/*", "\\")]
_SCRIPT_STRINGS = [_one_line('"'), _one_line("'"), _escaped("`", "`", "`", "$"), *_CONTINUED,
                   _escaped("`${f(`{`)} ", "`", "`", "$")]
# The same in a script block, where its end tag ends it whatever surrounds the tag.
_TAG_COMMENTS = [_without(wrap, "</script") for wrap in _C_COMMENTS]
_TAG_STRINGS = [_without(wrap, "</script") for wrap in _SCRIPT_STRINGS]

# extension: (first definition, statement that takes a string, last definition, comments, strings)
ENVELOPES: dict[str, tuple[str, str, str, list[Wrap], list[Wrap]]] = {
    "py": ("def alpha():\n    return 1\n", "x = %s\n", "def omega():\n    return 2\n", [_line_comment("#")],
           [_escaped('"""', '"""', '"'), _escaped("'''", "'''", "'"), _one_line('"'), _one_line("'", "f"), *_CONTINUED,
            _escaped('rb"""', '"""', '"'), lambda code: _escaped('f"""', '"""', '"')(code.replace("{", "{{").replace("}", "}}"))]),
    "ts": ("function alpha() {\n}\n", "x(%s);\n", "function omega() {\n}\n", _C_COMMENTS, _SCRIPT_STRINGS),
    "tsx": ("function alpha() {\n}\n", "x(%s);\n", "function omega() {\n}\n", _C_COMMENTS, _SCRIPT_STRINGS),
    "jsx": ("function alpha() {\n}\n", "x(%s);\n", "function omega() {\n}\n", _C_COMMENTS, _SCRIPT_STRINGS),
    "js": ("function alpha() {\n}\n", "x(%s);\n", "function omega() {\n}\n", _C_COMMENTS, _SCRIPT_STRINGS),
    "go": ("package p\n\nfunc alpha() {\n}\n", "var x = %s\n", "func omega() {\n}\n", _C_COMMENTS,
           [_one_line('"'), _block("`", "`", "'")]),
    "rs": ("fn alpha() {\n}\n", "static x: &str = %s;\n", "fn omega() {\n}\n", [_line_comment("//"), _nested("/*", "*/")],
           [_one_line('"'), _escaped('"', '"', '"'), _block('r##"', '"##', '"'), _one_line('"', "b"), _block('br#"', '"#', "'"), *_CONTINUED]),
    "java": ("class alpha {\n}\n", "class x { String y = %s; }\n", "class omega {\n}\n", _C_COMMENTS,
             [_one_line('"'), _escaped('"""\n', '"""', '"')]),
    "c": ("int alpha(void) {\n}\n", "char *x = %s;\n", "int omega(void) {\n}\n", _PREPROCESSED,
          [_one_line('"'), _one_line('"', "L"), *_CONTINUED]),
    "cpp": ("int alpha() {\n}\n", "auto x = %s;\n", "int omega() {\n}\n", _PREPROCESSED,
            [_one_line('"'), _block('R"xy(', ')xy"', ")x"), _block('u8R"(', ')"', ")"), *_CONTINUED]),
    "cs": ("class alpha {\n}\n", "class x { string y = %s; }\n", "class omega {\n}\n", _C_COMMENTS,
           [_one_line('"'), _block('"""""\n', '\n"""""', '"'), _doubled("@", '"', '"'), _doubled("$@", '"', '"', "{", "}"), _block('$$$$$"""""\n', '\n"""""', '"'),
            _without(_one_line('"', "$"), "{", "}")]),
    "php": ("<?php\nfunction alpha() {\n}\n", "$x = %s;\n", "function omega() {\n}\n",
            [_block("/*", "*/", "* /"), _without(_line_comment("//"), "?>"), _without(_line_comment("#"), "?>"),
             _without(_block("?>\n", "\n<?php", "\n"), "<?")],
            [_escaped('"', '"', '"'), _escaped("'", "'", "'"), lambda code: "<<<'EOT_X'\n" + code + "\nEOT_X",
             _escaped("<<<EOT_X\n", "\nEOT_X", "$")]),
    "rb": ("def alpha\nend\n", "x = %s\n", "def omega\nend\n", [_line_comment("#"), lambda code: "=begin\n" + code.replace("=end", "") + "\n=end"],
           [_without(_one_line('"'), "#"), _escaped("'", "'", "'"), lambda code: "<<~'EOT_X'\n" + code + "\nEOT_X",
            _escaped("%q~", "~", "~"), _without(_escaped("`", "`", "`"), "#"), _without(_block("<<-EOT_X\n", "\nEOT_X", "\n"), "#", "\\"),
            _without(lambda code: f"f(<<~A_X, <<~'B_X')\n{code}\nA_X\n{code}\nB_X", "#")]),
    "sh": ("alpha() {\n}\n", "x=%s\n", "omega() {\n}\n", [_line_comment("#"), _block(": <<'EOT_X'\n", "\nEOT_X", "\n"), _block("\tcat <<-\\EOT_X\n", "\n\tEOT_X", "\n")],
           [lambda code: "'" + code.replace("'", "") + "'", _escaped('"', '"', '"', "$", "`"),
            lambda code: "$(cat <<'EOT_X'\n" + code + "\nEOT_X\n)",
            _escaped("$'", "'", "'")]),
    "kt": ("class alpha {\n}\n", "val x = %s\n", "class omega {\n}\n", [_line_comment("//"), _nested("/*", "*/")],
           [lambda code: _one_line('"')(code.replace("$", "")), lambda code: '"""' + code.replace('"""', "'").replace("$", "") + ' """']),
    "scala": ("class alpha {\n}\n", "val x = %s\n", "class omega {\n}\n", [_line_comment("//"), _nested("/*", "*/")],
              [_without(_one_line('"'), "$"), _without(_block('"""', ' """', "'"), "$", '"""'),
               _without(_doubled("s", '"""', "$"), '"""')]),
    "lua": ("function alpha()\nend\n", "x = %s\n", "function omega()\nend\n", [_line_comment("--"), _block("--[==[", "]==]", "]]"), _block("--[[", "]]", "]")],
            [_one_line('"'), _block("[=[", "]=]", "]]"), _block("[[", "]]", "]"), *_CONTINUED]),
    "vue": ("<script>\nfunction alpha() {\n}\n", "x(%s);\n", "function omega() {\n}\n", _TAG_COMMENTS, _TAG_STRINGS),
    "svelte": ("<script lang=\"ts\">\nfunction alpha() {\n}\n", "x(%s);\n", "function omega() {\n}\n", _TAG_COMMENTS, _TAG_STRINGS),
    "astro": ("---\nfunction alpha() {\n}\n", "x(%s);\n", "function omega() {\n}\n", _C_COMMENTS, _SCRIPT_STRINGS),
    "swift": ("class alpha {\n}\n", "let x = %s\n", "class omega {\n}\n", [_line_comment("//"), _nested("/*", "*/")],
              [_one_line('"'), _block('##"""\n', '\n"""##', "'")]),
}

ENDINGS = {"vue": "</script>\n<p>it's</p>\n", "svelte": "</script>\n<p>it's</p>\n", "astro": "---\n<p>it's</p>\n"}
# Where code can stand in a component beside its script.
BESIDE: dict[str, Wrap] = {
    "comment": _block("<!-- ", " -->", ""), "style": _block("<style>\n", "\n</style>", ""),
    "data": _block('<script type="application/json">\n', "\n</script>", ""), "text": lambda code: f"<pre>\n{code}\n</pre>",
    "expression": _block("{/* ", " */}", "")}
ENDLESS = ['"', "'", "`", "/", "/*", "*/", "\\", '"\\', "{", "}", "(", "[", "<", "${`", "=/[", "#", "\n#\n", "'''", '"""', "@a\n", "\n  ",
           "class A {", "def a():\n", "function a(", "a = ", "<a>", "<<A\n", "\r", "\x00", "é\"", "=>", "R\"(", "\"${", "a ${", "//\\\n", "m! { use ", "?>\n<?php ", "@\"", "$\"{", "?", ";", ","]

# Deeper than any recursion may go; and a scan in square time would take tens of seconds here.
ENDLESS_TOKENS, ENDLESS_CHARS = 1_400, 6_000
SMALL_WINDOW_CHARS = 20_000  # so that a window's edge falls into many places of a short text


def places(name: str, source: str) -> dict[str, tuple[int, int, int]]:
    return {d.name: (d.start, d.line, d.end) for d in scan_source(name, source.encode("utf-8")).walk()}


class HostileTest(unittest.TestCase):
    def test_code_of_other_languages_in_text(self) -> None:
        codes = [(f"{folder}/{name}", read_case(folder, name).decode("utf-8").rstrip("\n")) for folder, name in case_files()]
        for extension, (first, statement, last, comments, strings) in ENVELOPES.items():
            for index, wrap in enumerate([*comments, *strings]):
                for origin, code in codes:
                    with self.subTest(language=extension, wrapper=index, code=origin):
                        text = wrap(code)
                        middle = text + "\n" if index < len(comments) else statement % text
                        found = places("file." + extension, first + middle + "\n" + last + ENDINGS.get(extension, ""))
                        start = (first + middle + "\n").count("\n") + 1
                        self.assertEqual(found.pop("omega", None), (start, start, start + last.count("\n") - 1))
                        self.assertEqual(found.pop("alpha", None), (first.count("\n") - 1,) * 2 + (first.count("\n"),))
                        found.pop("x", None)
                        found.pop("y", None)
                        self.assertEqual(found, {})

    def test_every_language_in_full_has_an_envelope(self) -> None:
        self.assertEqual({scan_source("file." + extension, b"").language for extension in ENVELOPES},
                         {key for key, row in LANGUAGES.items() if row[2] == "full"})

    def test_code_beside_the_script_of_a_component(self) -> None:
        codes = [(f"{folder}/{name}", read_case(folder, name).decode("utf-8").rstrip("\n")) for folder, name in case_files()]
        script = "<script>\nfunction alpha() {\n}\n</script>\n"
        for extension in ("vue", "svelte", "astro"):
            for place, wrap in BESIDE.items():
                for origin, code in codes:
                    with self.subTest(language=extension, place=place, code=origin):
                        for mark in ("<!--", "-->", "<script", "</script", "</style", "*/"):
                            code = code.replace(mark, "")
                        text = ("---\n---\n" if extension == "astro" else "") + wrap(code) + "\n"
                        line = text.count("\n") + 2
                        self.assertEqual(places("file." + extension, text + script + wrap(code) + "\n"),
                                         {"alpha": (line, line, line + 1)})

    def test_names_of_any_script_stand_at_their_lines(self) -> None:
        for extension, (first, statement, last, comments, strings) in ENVELOPES.items():
            for encoding in ("utf-8", "utf-8-sig", "utf-16", "latin-1"):
                one, other, said = ("Éa", "Über", "ÿ é") if encoding == "latin-1" else ("名前", "Über", "漢字 🎉 é")
                head = first.replace("alpha", one) + comments[0](said) + "\n" + statement % strings[0](said) + "\n"
                source = head + last.replace("omega", other) + ENDINGS.get(extension, "")
                for end in ("\n", "\r\n", "\r"):
                    with self.subTest(language=extension, encoding=encoding, end=end):
                        scan = scan_source("file." + extension, source.replace("\n", end).encode(encoding))
                        found = {d.name: d.line for d in scan.walk()}
                        self.assertEqual((found.get(one), found.get(other)), (first.count("\n") - 1, head.count("\n") + 1))

    def test_endless_tokens_end(self) -> None:
        for key, row in LANGUAGES.items():
            name = "file." + row[3][0] if row[3] else row[4][0]
            for token in ENDLESS:
                with self.subTest(language=key, token=token):
                    source = (token * max(ENDLESS_TOKENS, ENDLESS_CHARS // len(token)) + "\n").encode("utf-8")
                    scan = scan_source(name, source)
                    self.assertEqual(scan.language, key)
                    self.assertFalse([warning for warning in scan.warnings if "stopped" in warning])

    def test_long_files_are_read_to_their_end(self) -> None:
        for extension, window in [*((one, SMALL_WINDOW_CHARS) for one in ENVELOPES), ("py", steps.WINDOW_CHARS), ("go", steps.WINDOW_CHARS)]:
            first, statement, last, comments, strings = ENVELOPES[extension]
            with self.subTest(language=extension, window=window), mock.patch.object(steps, "WINDOW_CHARS", window):
                piece = statement % strings[0]('a "{" b') + comments[0]("it's {") + "\n"
                filler = piece * (3 * window // len(piece))
                found = places("file." + extension, first + filler + last + ENDINGS.get(extension, ""))
                start = (first + filler).count("\n") + 1
                self.assertEqual(found["omega"][1:], (start, start + last.count("\n") - 1))
