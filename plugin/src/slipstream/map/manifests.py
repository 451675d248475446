"""What project manifests say in so many words: TOML and INI tables of plain strings, read the same on every Python."""
from __future__ import annotations

import re

_KEY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=\s*""")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"|\'([^\'\n]*)\'')
_TABLE = re.compile(r"""\s*\[\[?\s*((?:"[^"]*"|'[^']*'|[\w.-]+|\s*\.\s*)+?)\s*\]\]?\s*(?:#.*)?$""")


def parse_toml_strings(text: str) -> dict[str, dict[str, str]]:
    """Table -> key -> value, for the values that are one string on one line (inline tables of strings are spelt out too).

    A damaged line is passed over; multi-line strings and arrays are skipped as a whole.
    """
    tables: dict[str, dict[str, str]] = {}
    table = ""
    lines = iter(text.replace("\r\n", "\n").split("\n"))
    for line in lines:
        head = _TABLE.match(line)
        if head:
            table = ".".join(part.strip().strip("\"'") for part in head.group(1).split("."))
            tables.setdefault(table, {})
            continue
        key = _KEY.match(line)
        if not key:
            continue
        name = ".".join(part.strip().strip("\"'") for part in key.group(1).split("."))
        value = line[key.end():]
        if value.startswith(('"""', "'''")):
            mark, value = value[:3], value[3:]
            while mark not in value and (more := next(lines, None)) is not None:
                value = more
        elif value.startswith("["):
            depth = _depth(value)
            while depth > 0 and (more := next(lines, None)) is not None:
                depth += _depth(more)
        elif value.startswith("{"):
            for inner in re.finditer(r"""([\w-]+|"[^"]*")\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)')""", value):
                owner = f"{table}.{name}" if table else name
                tables.setdefault(owner, {})[inner.group(1).strip('"')] = inner.group(2) or inner.group(3) or ""
        elif found := _STRING.match(value):
            owner, _, last = f"{table}.{name}".strip(".").rpartition(".")
            tables.setdefault(owner, {})[last] = found.group(1) if found.group(1) is not None else found.group(2)
    return tables


def _depth(text: str) -> int:
    bare = _STRING.sub("", text).split("#", 1)[0]
    return bare.count("[") - bare.count("]")


def parse_ini_lists(text: str) -> dict[str, dict[str, list[str]]]:
    """Section -> key -> lines of its value, as setup.cfg writes lists; comments and blank lines left out."""
    sections: dict[str, dict[str, list[str]]] = {}
    section: dict[str, list[str]] = {}
    values: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        bare = line.strip()
        if not bare or bare[0] in "#;":
            continue
        if bare.startswith("[") and bare.endswith("]") and not line[0].isspace():
            section = sections.setdefault(bare[1:-1].strip(), {})
            values = []
        elif line[0].isspace():
            values.append(bare)
        else:
            key, _, value = bare.partition("=") if "=" in bare else bare.partition(":")
            values = section.setdefault(key.strip(), [])
            if value.strip():
                values.append(value.strip())
    return sections
