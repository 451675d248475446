"""Comments and strings around a name: closed and unclosed, long, far into a file, escaped; hostile ones cost no more."""
from __future__ import annotations

import random
import re
import unittest

from slipstream.map.noise import MAX_BLOCK_CHARS, code_places

CASES = (  # language, text: `name` is code, `NAME` is not
    ("java", 'name("NAME", /* NAME */ name); // NAME\nname /* NAME\nNAME */ name \'NAME\' "\\"NAME" name'),
    ("java", "/** NAME */ name /* never closed name\nname"),
    ("java", "/*/ NAME */ name /**/ name"),
    ("go", "name `NAME\n\\` NAME` name // ` NAME\nname"),
    ("go", "` unclosed name\nname"),
    ("typescript", "`NAME /* ` name /* ` NAME */ name"),
    ("python", 'name # NAME " NAME\nname """NAME " # NAME\nNAME \\""" NAME""" name \'\'\'NAME """ NAME\'\'\' name "NAME" name'),
    ("python", 'r"NAME \\" NAME" name'),
    ("ruby", "name # NAME\nname 'NAME' // name"),
    ("php", "#[name]\n# NAME\nname // NAME\nname /* NAME */ name"),
    ("rust", "&'name name \"NAME\nNAME \\\" NAME\" name 'x' name '\\'' name // NAME"),
    ("lua", "name -- NAME\nname"),
    ("sql", "name -- NAME's\nname /* NAME\nNAME */ name 'NAME'"),
    ("yaml", "name: 'NAME' # NAME /* NAME\nname: // name\n"),
    ("toml", "name = 1 # NAME\nname = \"\"\"NAME\nNAME\"\"\"\nname"),
    ("terraform", "name # NAME\nname // NAME\nname /* NAME\nNAME */ name"),
    ("graphql", "\"\"\"NAME\nNAME\"\"\"\nname # NAME\nname"),
    ("dockerfile", "name # NAME\nname"),
)


class Noise(unittest.TestCase):
    def check(self, language: str, text: str) -> None:
        places = [match.start() for match in re.finditer("name|NAME", text)]
        self.assertEqual(sorted(code_places(language, text, places)), [at for at in places if text[at] == "n"], text[:200])

    def test_cases(self) -> None:
        for language, text in CASES:
            self.check(language, text)
            self.check(language, "name\n" * 60_000 + text)

    def test_prose_is_text(self) -> None:
        self.check("markdown", "NAME `NAME`\n\n```\nNAME()\n```\n")

    def test_no_place_in_a_large_file_is_special(self) -> None:
        """A name, a comment and a string lie across every offset around which a file was once cut."""
        for piece in ("name; /* NAME\n" + " * NAME\n" * 1000 + " */ name; \"NAME\"\n", "name /* " + "NAME " * 40 + "*/ "):
            self.check("java", piece * (600_000 // len(piece)))

    def test_what_does_not_close_soon_was_no_opener(self) -> None:
        self.check("css", "src/* name" + " name" * (MAX_BLOCK_CHARS // 5) + "*/ name /* NAME */ name")
        self.check("java", "/*" + "NAME " * (MAX_BLOCK_CHARS // 5 - 1) + "*/ name")

    def test_hostile(self) -> None:
        """Done in a blink, or in hours where every opener looks for its end anew."""
        for language, piece in (("java", "/* "), ("go", "`\\"), ("rust", '"\\'), ("rust", "\" '"), ("python", "\"\"\" ''' \\"), ("go", "\\` ")):
            code_places(language, piece * (400_000 // len(piece)) + " name", [400_000])

    def test_any_text(self) -> None:
        """As one pattern that tries everything at every place."""
        quoted = r'"(?:[^"\\\n]|\\.)*"?' + "|" + r"'(?:[^'\\\n]|\\.)*'?"
        pattern = re.compile(r"//[^\n]*|/\*.*?\*/|`(?:[^`\\]|\\.)*`|" + quoted, re.S)
        choose = random.Random(4)
        for _ in range(3000):
            text = "".join(choose.choices(["/*", "*/", "`", '"', "'", "\\", "\n", "//", "n", "n", " "], k=choose.randrange(25)))
            places = [match.start() for match in re.finditer("n", text)]
            noise = [match.span() for match in pattern.finditer(text)]
            wanted = {at for at in places if not any(start <= at < end for start, end in noise)}
            self.assertEqual(code_places("go", text, places), wanted, repr(text))


if __name__ == "__main__":
    unittest.main()
