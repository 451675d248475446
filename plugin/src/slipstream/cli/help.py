"""`slipstream help`, `--version`, and the answer to an unknown verb."""
from __future__ import annotations

import difflib
import sys
from typing import Any

from slipstream.build_info import VERSION

# Verb -> one line, in the order a newcomer meets them. The README's table and the launcher's are held to this one by test.
SUMMARIES = {
    "map": "a compact map of the project under a token budget",
    "slice": "one symbol instead of a whole file",
    "lines": "a range of lines of one file",
    "outline": "every definition of one file, without bodies",
    "search": "symbols and files for a query, best first",
    "refs": "where a symbol is used",
    "graph": "who imports whom, and who breaks if a file changes",
    "guard": "is reading this whole file a good idea",
    "mindmap": "the project as a Mermaid or HTML mind map",
    "status": "files, budget, memory and savings at a glance",
    "memory": "facts and observations: add, recall, search, forget and more",
    "observe": "fold new events into observations",
    "digest": "write the digest of a session",
    "harvest": "import earlier Claude Code transcripts of this project",
    "recall-signal": "the facts that fit branch, changed files and prompt",
    "budget": "how full the context window is, and who says so",
    "savings": "what scoped reads have saved",
    "usage": "exact tokens by session, model, day and subagent",
    "gc": "remove old event logs, after asking",
    "dashboard": "the live page: start, stop, open, replay and more",
    "export": "a session as a zip or one HTML file",
    "skills": "list and search skills",
    "gate": "run the verification gate of a skill",
    "validate": "check the skills",
    "plugin-validate": "check a whole plugin folder",
    "doctor": "try everything and say what is wrong",
    "setup": "connect an editor",
    "hook": "answer one hook event of Claude Code",
    "statusline": "render the status line",
    "mcp": "run the MCP server on standard input and output",
}


FLAGS = {
    "signature": "only the declaration", "context": "lines on both sides", "from": "continue a long symbol from there",
    "limit": "so many rows at most", "offset": "leave out so many rows", "kind": "only this kind: ",
    "path": "only this folder, this file, or what fits a pattern with *", "file": "the file that defines it, among namesakes",
    "depth": "steps to follow (default: 2)", "root": "project folder (default: discovered from here)", "json": "print JSON",
}


def query_help(verb: str, usage: str, spec: dict[str, Any]) -> str:
    """What --help tells of a verb that has no argparse: its flags, and what each takes."""
    flags = [part.split("]")[0] for part in usage.split("[--")[1:]]
    rows = [f"  --{flag:<14}  {FLAGS[flag.split()[0]]}" for flag in flags]
    if "kind" in spec:
        rows = [row + ", ".join(spec["kind"]) if row.startswith("  --kind") else row for row in rows]
    of_files = "\nA FILE is a path as seen from here, or from the project's root.\n" if "FILE" in usage else ""
    return "\n".join([f"usage: slipstream {usage}", "", SUMMARIES[verb], of_files, *rows, ""])


def render_help() -> str:
    width = max(map(len, SUMMARIES))
    lines = [f"  {verb:<{width}}  {text}" for verb, text in SUMMARIES.items()]
    return "\n".join(["usage: slipstream VERB [arguments]   (slipstream VERB --help tells more)", "", *lines])


def main(argv: list[str]) -> int:
    verb = argv[0] if argv else "help"
    if verb in ("--version", "-V", "version"):
        print(f"slipstream {VERSION}")
        return 0
    if verb in ("help", "--help", "-h"):
        print(render_help())
        return 0
    if verb in SUMMARIES:
        print(f"usage: slipstream {verb}{' EVENT' if verb == 'hook' else ''}\n\n{SUMMARIES[verb]}\n\n"
              "The host calls it, with its JSON on standard input.")
        return 0
    close = difflib.get_close_matches(verb, SUMMARIES)
    hint = f"did you mean {' or '.join(sorted(close))}?" if close else "slipstream help lists the verbs"
    print(f"slipstream: unknown verb {verb!r}; {hint}", file=sys.stderr)
    return 2
