"""What the pyz carries of a module: no comments, docstrings, annotations, needless spaces; lines keep their number.

A start compiles each module anew, since zipimport caches nothing; what a reader needs travels beside the pyz as plain source.
"""
from __future__ import annotations

import ast
import io
import keyword
import tokenize

_TYPES_ONLY = ("typing", "collections.abc")
_TYPES_NAME = "TYPE_CHECKING"
_BEFORE_STRING = frozenset("return in not and or if else elif yield is raise assert".split())  # no prefix of a string
_FUTURE = "from __future__ import annotations\n"
_ASIDE = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)


def pack_source(text: str) -> str:
    """Python source -> the same program, line for line; every supported Python gives the same text."""
    unneeded = _lines_of_type_imports(text)
    tokens = _without_annotations(_without_lines(_whole_strings(text), unneeded))
    out: list[str] = []
    line, level, depth = 1, 0, 0
    before: tokenize.TokenInfo | None = None  # the token before this one in the same logical line
    for index, token in enumerate(tokens):
        kind = token.type
        level += (kind == tokenize.INDENT) - (kind == tokenize.DEDENT)
        if kind in _ASIDE or kind == tokenize.ENDMARKER:
            continue
        if kind == tokenize.NEWLINE:
            before = None
            continue
        gap = token.start[0] - line
        out.append(("\n" if depth or before is None else "\\\n") * gap)
        if before is None:
            if kind == tokenize.STRING and tokens[index + 1].type == tokenize.NEWLINE:
                if _ends_block(tokens, index + 2):
                    out.append(" " * level + "pass")
                out.append("\n" * (token.end[0] - token.start[0]))
                line = token.end[0]
                continue
            out.append(" " * level)
        elif before.end[0] == token.start[0] and before.end[1] < token.start[1] and _needs_gap(before.string, token.string):
            out.append(" ")
        if kind == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
        out.append(token.string)
        line, before = token.end[0], token
    packed = "".join(out)
    return (packed if _has_annotations(packed) else packed.replace(_FUTURE, "\n", 1)).rstrip("\n") + "\n"


def _has_annotations(text: str) -> bool:
    """Whether some are left that the import from `__future__` keeps from being evaluated; else it only costs its own file."""
    return any(isinstance(node, ast.AnnAssign) or getattr(node, "annotation", None) or getattr(node, "returns", None)
               for node in ast.walk(ast.parse(text)))


def _needs_gap(left: str, right: str) -> bool:
    """Whether two tokens of a line would be read as others without the space between them."""
    return (left[-1].isalnum() or left[-1] == "_" or not left.isascii()) and (right[0] not in "([{)]},:;=<>!+-*/%&|^~@'\"" or (
        right[0] in "'\"" and left not in _BEFORE_STRING))


def _without_lines(tokens: list[tokenize.TokenInfo], unneeded: set[int]) -> list[tokenize.TokenInfo]:
    """The tokens but those of some lines, whole statements; the end of their blocks is told behind them."""
    kept, open_blocks = [], 0
    for token in tokens:
        dropped = token.start[0] in unneeded
        if token.type == tokenize.INDENT and dropped:
            open_blocks += 1
        elif token.type == tokenize.DEDENT and open_blocks:
            open_blocks, dropped = open_blocks - 1, True
        if not dropped:
            kept.append(token)
    return kept


def _lines_of_type_imports(text: str) -> set[int]:
    """Lines that only annotations need, which are never evaluated: imports from `typing`, which costs half a start, and
    what stands under `if TYPE_CHECKING`, with the name itself."""
    if "TYPE_CHECKING" not in text and not any(f"\nfrom {module} import " in text for module in _TYPES_ONLY):
        return set()
    tree = ast.parse(text)
    if not any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body):
        return set()
    used: set[str] = set()
    blocks = [node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name)
              and node.test.id == _TYPES_NAME and not node.orelse]
    waiting: list[ast.AST] = [node for node in tree.body if node not in blocks]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            used.add(node.id)
        aside = ("annotation", "returns")
        for field, value in ast.iter_fields(node):
            if field not in aside:
                waiting += [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, ast.AST)]
    lines: set[int] = set()
    for node in tree.body:
        names = [alias.asname or alias.name for alias in node.names] if (
            isinstance(node, ast.ImportFrom) and node.module in _TYPES_ONLY) else [
            target.id for target in node.targets if isinstance(target, ast.Name) and target.id == _TYPES_NAME] if (
            isinstance(node, ast.Assign)) else []
        if node in blocks or (names and used.isdisjoint(names)):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def _whole_strings(text: str) -> list[tokenize.TokenInfo]:
    """The tokens, an f-string as one STRING on every Python; 3.12 and later give its pieces."""
    start_kind, end_kind = getattr(tokenize, "FSTRING_START", -1), getattr(tokenize, "FSTRING_END", -1)
    lines = text.split("\n")
    found: list[tokenize.TokenInfo] = []
    nested, start = 0, (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == start_kind:
            start = start if nested else token.start
            nested += 1
        elif token.type == end_kind:
            nested -= 1
            if not nested:
                piece = lines[start[0] - 1:token.end[0]]
                piece[-1] = piece[-1][:token.end[1]]
                piece[0] = piece[0][start[1]:]
                found.append(tokenize.TokenInfo(tokenize.STRING, "\n".join(piece), start, token.end, token.line))
        elif not nested:
            found.append(token)
    return found


def _without_annotations(tokens: list[tokenize.TokenInfo]) -> list[tokenize.TokenInfo]:
    """The tokens without annotations of functions, and of assignments anywhere but in a class's body (read by NamedTuple)."""
    kept: list[tokenize.TokenInfo] = []
    line: list[tokenize.TokenInfo] = []
    blocks, opened = ["module"], "module"
    for token in tokens:
        if token.type == tokenize.INDENT:
            blocks.append(opened)
        elif token.type == tokenize.DEDENT:
            blocks.pop()
        if token.type in _ASIDE and not line:
            kept.append(token)
            continue
        line.append(token)
        if token.type == tokenize.NEWLINE or token.type == tokenize.ENDMARKER:
            first = line[0].string
            is_function = first == "def" or (first == "async" and line[1].string == "def")
            opened = "def" if is_function else "class" if first == "class" else blocks[-1]
            if is_function:
                line = _without_function_annotations(line)
            elif blocks[-1] != "class":
                line = _without_variable_annotation(line)
            kept.extend(line)
            line = []
    return kept


def _without_function_annotations(line: list[tokenize.TokenInfo]) -> list[tokenize.TokenInfo]:
    kept: list[tokenize.TokenInfo] = []
    depth, skipping, default, closed, done = 0, False, False, False, False
    for token in line:
        text = token.string if token.type == tokenize.OP else ""
        if done:
            kept.append(token)
            continue
        if depth == 1 and not closed and text == ":" and not default:
            skipping = True
        elif depth == 1 and not closed and text in (",", "="):
            skipping, default = False, text == "="
        elif depth == 1 and not closed and text == ")":
            skipping, default, closed = False, False, True
        elif not depth and text == "->":
            skipping = True
        elif not depth and text == ":":
            skipping, done = False, True
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        if not skipping or token.type in _ASIDE:
            kept.append(token)
    return kept


def _without_variable_annotation(line: list[tokenize.TokenInfo]) -> list[tokenize.TokenInfo]:
    colon = 1
    while line[colon - 1].type == tokenize.NAME and line[colon].string == "." and len(line) > colon + 2:
        colon += 2
    if len(line) <= colon or line[colon].string != ":" or line[colon - 1].type != tokenize.NAME:
        return line
    if keyword.iskeyword(line[0].string):
        return line
    depth = 0
    for index in range(colon, len(line)):
        text = line[index].string if line[index].type == tokenize.OP else ""
        if text == "=" and not depth:
            return line[:colon] + [t for t in line[colon:index] if t.type in _ASIDE] + line[index:]
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
    return line


def _ends_block(tokens: list[tokenize.TokenInfo], index: int) -> bool:
    """Whether no other statement follows in the block: the docstring is all there is."""
    while tokens[index].type in (tokenize.NL, tokenize.COMMENT):
        index += 1
    return tokens[index].type == tokenize.DEDENT
