"""File names for facts: the published slug for ASCII names, the same idea kept readable for every other script."""
from __future__ import annotations

import re
import unicodedata

from slipstream.base.text import MARKS

MAX_SLUG_CHARS = 60
MAX_SLUG_BYTES = 180
# Windows refuses these as file stems; `memory` would be MEMORY.md on a disk that ignores case.
_RESERVED = frozenset(["memory", "con", "prn", "aux", "nul"] + [f"{name}{n}" for name in ("com", "lpt") for n in range(10)])


def build_slug(text: str) -> str:
    """Lower-case letters and digits of any script, everything else one `-`, at most 60 characters; "" when nothing is left.

    ASCII text gives the published slug (a cut may leave a `-` at the end). Accents on Latin letters are dropped.
    """
    lower = text.lower()
    if not lower.isascii():
        spread = unicodedata.normalize("NFKD", lower)
        out: list[str] = []
        for char in spread:
            if unicodedata.combining(char) and out and out[-1].isascii():
                continue
            out.append(char)
        lower = unicodedata.normalize("NFC", "".join(out)).lower()
    slug = re.sub(r"[\W_]+" if lower.isascii() else f"(?:(?![{MARKS}])[\\W_])+", "-", lower).strip("-")[:MAX_SLUG_CHARS]
    while len(slug.encode("utf-8")) > MAX_SLUG_BYTES:
        slug = slug[:-1]
    return slug + "-fact" if slug in _RESERVED else slug


def is_safe_name(name: str) -> bool:
    """Whether a name given from outside can only mean a file in the memory folder."""
    return bool(name) and name == name.strip() and not re.search(r"[/\\\0\r\n]", name) and name not in (".", "..") \
        and not name.startswith(".") and name.lower() != "memory" and len(name.encode("utf-8", "replace")) <= 250
