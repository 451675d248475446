"""Git's ignore rules without git: pattern files, nesting, negation; used where no git answers."""
from __future__ import annotations

import itertools
import os
import re
import sys

_FLAGS = re.DOTALL | (re.IGNORECASE if os.name == "nt" or sys.platform == "darwin" else 0)
_WILD = re.compile(rb"[*?\[\\]")
_CUT = re.compile(rb"([^*?\[\\]*[^*?\[\\/])(?=\*\*+(?:/|\Z))")  # git takes `a**/b` apart: `a`, and then `**/b`
_POSIX = {
    b"alnum": b"A-Za-z0-9", b"alpha": b"A-Za-z", b"blank": b" \\t", b"cntrl": b"\\x00-\\x1f\\x7f", b"digit": b"0-9",
    b"graph": b"!-~", b"lower": b"a-z", b"print": b" -~", b"punct": b"!-/:-@\\[-`{-~", b"space": b"\\s",
    b"upper": b"A-Z", b"xdigit": b"A-Fa-f0-9",
}
MAX_PATTERN_FILE_BYTES = 1_000_000
_numbers = itertools.count()  # of groups: expressions of several patterns are put together


class Pattern:
    """One line of a pattern file: what it matches, and whether it takes the path back in."""

    __slots__ = ("by_name", "depth", "last", "literal", "negated", "only_folders", "parts", "start", "suffix")

    def __init__(self, text: bytes, negated: bool, only_folders: bool) -> None:
        self.negated = negated
        self.only_folders = only_folders
        self.by_name = b"/" not in text
        text = text[1:] if text.startswith(b"/") else text
        cut = None if self.by_name else _CUT.match(text)
        self.start = re.compile(re.escape(cut.group()), _FLAGS) if cut else None
        text = text[cut.end():] if cut else text
        self.literal: bytes | None = None
        self.suffix: bytes | None = None
        self.parts: list[re.Pattern[bytes] | None] = []  # one for each folder and the name; None is `**`
        self.depth = 0  # of the paths it can mean, counted in names; 0: any
        self.last: bytes | None = None  # regular expression of the name alone; None: any
        if not _WILD.search(text) and not _FLAGS & re.IGNORECASE:
            self.literal = text
            self.last = re.escape(text.rpartition(b"/")[2])
        elif self.by_name and text[:1] == b"*" and not _WILD.search(text[1:]) and not _FLAGS & re.IGNORECASE:
            self.suffix = text[1:]
            self.last = b".*" + re.escape(text[1:])
        else:
            for part in split_pattern(text):
                if len(part) > 1 and not part.strip(b"*") and not self.by_name:
                    self.parts.append(None)
                    self.last = None
                    continue
                self.last = translate_part(part) or b"(?!)"
                self.parts.append(re.compile(self.last, _FLAGS))
            if self.last == b"[^/]*" or cut:
                self.last = None
            self.depth = 0 if self.by_name or None in self.parts else len(self.parts)

    def matches(self, name: bytes, path: bytes) -> bool:
        """Whether the entry `name`, at `path` below the pattern file's folder, is meant."""
        target = name if self.by_name else path
        if self.literal is not None:
            return target == self.literal
        if self.suffix is not None:
            return target.endswith(self.suffix)
        if self.start is not None:
            cut = self.start.match(path)
            return cut is not None and self._match_parts(path[cut.end():].split(b"/"))
        last = self.parts[-1]
        if self.by_name:
            return last is not None and last.fullmatch(name) is not None
        if self.depth and path.count(b"/") != self.depth - 1:
            return False
        return (last is None or last.fullmatch(name) is not None) and self._match_parts(path.split(b"/"))

    def _match_parts(self, pieces: list[bytes]) -> bool:
        """Runs the parts as a machine with one state for each: time grows with the path, whatever the pattern."""
        parts, end = self.parts, len(self.parts)
        states = self._closure({0})
        for piece in pieces:
            following: set[int] = set()
            for state in states:
                if state == end:
                    continue
                part = parts[state]
                if part is None:
                    following.update((state, end) if state == end - 1 else (state,))
                elif part.fullmatch(piece):
                    following.add(state + 1)
            states = self._closure(following)
            if not states:
                return False
        return end in states

    def _closure(self, states: set[int]) -> set[int]:
        """`**` stands for no folder too, unless it ends the pattern."""
        pending = list(states)
        while pending:
            state = pending.pop()
            if state < len(self.parts) - 1 and self.parts[state] is None and state + 1 not in states:
                states.add(state + 1)
                pending.append(state + 1)
        return states


def _translate_class(text: bytes, at: int) -> tuple[bytes | None, int]:
    """Regular expression of the bracket expression that opens at `at`, and the position behind it."""
    i = at + 1
    out = b"[^" if text[i:i + 1] in (b"!", b"^") else b"["
    i += len(out) - 1
    first, low = True, None
    while True:
        char = text[i:i + 1]
        if not char:
            return None, i
        if char == b"]" and not first:
            break
        first = False
        if char == b"[" and text[i + 1:i + 2] == b":":
            end = text.find(b":]", i + 2)
            if end >= 0:
                name = text[i + 2:end]
                if name not in _POSIX:
                    return None, i
                out, i, low = out + _POSIX[name], end + 2, None
                continue
        if char == b"-" and low is not None and text[i + 1:i + 2] not in (b"]", b""):
            i += 1
            high = text[i:i + 1]
            if high == b"\\":
                i += 1
                high = text[i:i + 1]
                if not high:
                    return None, i
            if low <= high:
                out += b"\\x%02x-\\x%02x" % (low[0], high[0])
            i, low = i + 1, None
            continue
        if char == b"\\":
            i += 1
            char = text[i:i + 1]
            if not char:
                return None, i
        out += b"\\x%02x" % char[0]
        i, low = i + 1, char
    if out == b"[":
        return b"(?!)", i + 1
    return b"(?!/)" + (b"(?s:.)" if out == b"[^" else out + b"]"), i + 1


def split_pattern(text: bytes) -> list[bytes]:
    """The parts of a pattern between its slashes; those inside brackets do not count."""
    parts, start, i = [], 0, 0
    while i < len(text):
        char = text[i:i + 1]
        if char == b"[":
            piece, end = _translate_class(text, i)
            i = i + 1 if piece is None else end
            continue
        if char == b"/":
            parts.append(text[start:i])
            start = i + 1
        i += 2 if char == b"\\" else 1
    return [*parts, text[start:]]


def translate_part(text: bytes) -> bytes | None:
    """Regular expression for one part of a git wildcard pattern, None when it can match nothing.

    What stands between two stars is taken where it first occurs and not tried again elsewhere (a look-ahead keeps it), so no
    pattern makes the matching slow; only what follows the last star is bound to the end.
    """
    chunks, chunk, i = [], b"", 0
    while i < len(text):
        char = text[i:i + 1]
        if char == b"*":
            chunks.append(chunk)
            chunk = b""
            while text[i:i + 1] == b"*":
                i += 1
        elif char == b"?":
            chunk, i = chunk + b"[^/]", i + 1
        elif char == b"[":
            piece, i = _translate_class(text, i)
            if piece is None:
                return None
            chunk += piece
        elif char == b"\\":
            if i + 1 >= len(text):
                return None
            chunk, i = chunk + re.escape(text[i + 1:i + 2]), i + 2
        else:
            chunk, i = chunk + re.escape(char), i + 1
    if not chunks:
        return chunk
    first, *middle = chunks
    kept = b"".join(b"(?=(?P<g%d>[^/]*?%s))(?P=g%d)" % (at, inner, at) for inner in middle for at in [next(_numbers)])
    return first + kept + b"[^/]*" + chunk


def parse_patterns(data: bytes) -> list[Pattern]:
    """Patterns of one ignore file, in the order of its lines."""
    found = []
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    for line in data.split(b"\n"):
        if line.endswith(b"\r"):
            line = line[:-1]
        if not line or line.startswith(b"#"):
            continue
        kept = line.rstrip(b" ")
        if len(kept) < len(line):
            slashes = len(kept) - len(kept.rstrip(b"\\"))
            line = kept + b" " if slashes % 2 else kept
        negated = line.startswith(b"!")
        line = line[1:] if negated else line
        only_folders = line.endswith(b"/")
        line = line[:-1] if only_folders else line
        if line:
            found.append(Pattern(line, negated, only_folders))
    return found


def load_patterns(path: str) -> list[Pattern]:
    """Patterns of the file at `path`; an absent, linked or unreadable one holds none."""
    try:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with open(os.open(path, flags), "rb") as handle:
            return parse_patterns(handle.read(MAX_PATTERN_FILE_BYTES))
    except OSError:
        return []


class Layer:
    """Patterns of one file, by how they are told: `find` gives the last that matches."""

    __slots__ = ("names", "others", "plain", "prefix", "suffixes", "unnamed")

    def __init__(self, prefix: bytes, patterns: list[Pattern]) -> None:
        self.prefix = prefix
        self.plain: dict[bytes, list[tuple[int, Pattern]]] = {}  # whole names, the common case
        self.suffixes: dict[bytes, list[tuple[int, Pattern]]] = {}  # `*.ext`
        self.others: list[tuple[int, Pattern]] = []
        for at, pattern in enumerate(patterns):
            if pattern.by_name and pattern.literal is not None:
                self.plain.setdefault(pattern.literal, []).append((at, pattern))
            elif pattern.by_name and pattern.suffix is not None and pattern.suffix.rfind(b".") == 0:
                self.suffixes.setdefault(pattern.suffix, []).append((at, pattern))
            else:
                self.others.append((at, pattern))
        self.others.reverse()
        self.unnamed = [one for one in self.others if one[1].last is None]
        # None of the other patterns means a name that this does not match, but for those without a name of their own.
        lasts = [pattern.last for _, pattern in self.others if pattern.last is not None]
        self.names = re.compile(b"|".join(b"(?:%s)" % last for last in lasts) or b"(?!)", _FLAGS)

    def find(self, name: bytes, path: bytes, is_folder: bool) -> Pattern | None:
        """The last pattern that means the entry `name` at `path` (below the pattern file's folder)."""
        best, found = -1, None
        dot = name.rfind(b".")
        for at, pattern in (*self.plain.get(name, ()), *(self.suffixes.get(name[dot:], ()) if dot >= 0 else ())):
            if at > best and (is_folder or not pattern.only_folders):
                best, found = at, pattern
        for at, pattern in self.others if self.names.fullmatch(name) else self.unnamed:
            if at < best:
                break
            if (is_folder or not pattern.only_folders) and pattern.matches(name, path):
                return pattern
        return found


class IgnoreRules:
    """Rules in force inside one folder: an own layer over those of the folders above."""

    __slots__ = ("layers",)

    def __init__(self, layers: tuple[Layer, ...] = ()) -> None:
        self.layers = layers

    def below(self, folder: bytes, patterns: list[Pattern]) -> IgnoreRules:
        """Rules for `folder` (relative, `b""` is the root) when its own file holds `patterns`."""
        return IgnoreRules((Layer(folder + b"/" if folder else b"", patterns), *self.layers)) if patterns else self

    def is_ignored(self, path: bytes, is_folder: bool) -> bool:
        """Whether the last matching pattern leaves out `path` (relative to the root, its parents not ignored)."""
        name = path[path.rfind(b"/") + 1:]
        for layer in self.layers:
            found = layer.find(name, path[len(layer.prefix):], is_folder)
            if found is not None:
                return not found.negated
        return False


def outer_rules(root: str, git_dirs: tuple[str, str] | None, home: str) -> tuple[IgnoreRules, bytes]:
    """Rules that hold before any file inside `root`, and the prefix its paths have below the repository's top level.

    They are the user's own, the repository's `info/exclude`, and the pattern files of the folders above `root`.
    """
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    rules = IgnoreRules().below(b"", load_patterns(os.path.join(config, "git", "ignore")))
    if not git_dirs:
        return rules, b""
    rules = rules.below(b"", load_patterns(os.path.join(git_dirs[1], "info", "exclude")))
    above = []
    folder = root
    while not os.path.lexists(os.path.join(folder, ".git")) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        above.append(folder)
    prefix = b""
    for folder, child in zip(reversed(above), [*reversed(above[:-1]), root]):
        rules = rules.below(prefix[:-1], load_patterns(os.path.join(folder, ".gitignore")))
        prefix += os.fsencode(os.path.basename(child)) + b"/"
    return rules, prefix
