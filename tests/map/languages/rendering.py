"""One text per scan, for case files: everything a FileScan holds, one definition a line."""
from __future__ import annotations

from slipstream.map.model import Definition, FileScan


def render_scan(scan: FileScan) -> str:
    lines = [f"language: {scan.language}", f"lines: {scan.lines}", f"purpose: {scan.purpose}"]
    lines += [f"hint: {hint}" for hint in scan.hints]
    lines += [f"warning: {warning}" for warning in scan.warnings]
    lines += [f"import: {kind} {specifier} ({', '.join(names)})" for specifier, kind, names in scan.imports]
    lines += [f"reexport: {line} {name} = {source} {local}" for name, line, source, local in scan.reexports]
    for entry in scan.outline:
        lines.append(f"outline: {'  ' * (entry.level - 1)}{entry.line}-{entry.end} {entry.kind} {entry.name}")
    for definition in scan.definitions:
        _render(definition, 0, lines)
    return "\n".join(lines) + "\n"


def _render(definition: Definition, depth: int, lines: list[str]) -> None:
    flags = "".join(
        f" {word}" for word, on in (("exported", definition.exported), ("default", definition.default),
                                    ("overload", definition.overload)) if on)
    where = f"{definition.line}-{definition.end}"
    if definition.start != definition.line:
        where = f"{definition.start}/{where}"
    text = f"{'  ' * depth}{where} {definition.kind} {definition.qualified}{flags}"
    if definition.signature:
        text += f" | {definition.signature}"
    if definition.doc:
        text += f" # {definition.doc}"
    lines.append(text)
    for member in definition.members:
        _render(member, depth + 1, lines)
