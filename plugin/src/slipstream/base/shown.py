"""Text that others wrote, for a terminal or an agent: nothing in it moves the cursor, hides itself or turns its direction."""
from __future__ import annotations

# Unicode that changes the direction of text, or cannot be seen: a text must not lie about itself. The joiners, without which
# some scripts are misspelt, stay.
DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200B, 0x200E, 0x200F, 0x061C, 0x2028, 0x2029, 0xFEFF)
CONTROLS = (*range(32), *range(0x7F, 0xA0))
_ESCAPES = {code: chr(code).encode("unicode_escape").decode() for code in (*CONTROLS, *DIRECTIONS) if code not in (9, 10)}


def shown_text(text: str) -> str:
    r"""Lines and tabs stay; every other control, and what cannot be seen, is written out: `\x1b`, `\u202e`."""
    return text if text.isprintable() else text.translate(_ESCAPES)
