"""How names from the disk are shown: nothing that steers a terminal or breaks a line, and no two names alike."""
from __future__ import annotations

import unittest

from slipstream.base.errors import SlipstreamError
from slipstream.base.paths import shown_path


class Shown(unittest.TestCase):
    def test_plain_names_are_themselves(self) -> None:
        for name in ("a/b.py", "with space.py", "gr\u00fc\u00dfe/\u6587.ts", "tick`.py", ""):
            self.assertEqual(shown_path(name), name)

    def test_what_steers_is_written_out(self) -> None:
        for name, wanted in (("a\nb", r"a\nb"), ("a\x1b[31m", r"a\x1b[31m"), ("a\u202eyp", r"a\u202eyp"), ("a\u2028b", r"a\u2028b"),
                             ("\x7f\x9b", r"\x7f\x9b"), ("a\udcffb", r"a\udcffb"), ("a\u200bb", r"a\u200bb"), ("a\\nb", r"a\\nb")):
            self.assertEqual(shown_path(name), wanted)

    def test_errors_show_their_path_so(self) -> None:
        self.assertEqual(str(SlipstreamError("bad", "a\x1b\n.md", 3)), r"a\x1b\n.md:3: bad")


if __name__ == "__main__":
    unittest.main()
