"""`slipstream setup`: connect an editor or the status line; --dry-run shows the change, --undo takes it back."""
from __future__ import annotations

import os
from typing import Any

from slipstream.base.errors import SlipstreamError, UsageError
from slipstream.cli.parser import EXIT_DONE, EXIT_FAILED, Checked, make_parser, print_json, roots, run
from slipstream.engine import setup
from slipstream.engine.editors import OTHERS, Editor, detect_editors, load_editors, snippet
from slipstream.engine.places import find_pyz


def main(argv: list[str]) -> int:
    return run(lambda: _setup(argv[1:]))


def _setup(argv: list[str]) -> int:
    editors = load_editors()
    parser = make_parser("setup", "Connect editors to the MCP server, and Claude Code to the status line.")
    parser.add_argument("part", nargs="?", type=Checked(("statusline",)), metavar="PART",
                        help="statusline: only Claude Code's status line")
    parser.add_argument("--editor", action="append", default=[], metavar="NAME", type=Checked((*editors, *OTHERS)),
                        help="%s; others get a snippet to paste (default: those found in the project)" % ", ".join(editors))
    parser.add_argument("--user", action="store_true", help="the user's own file instead of the project's")
    parser.add_argument("--replace", action="store_true", help="put our status line in the place of another")
    parser.add_argument("--dry-run", action="store_true", help="print what would change, write nothing")
    parser.add_argument("--undo", action="store_true", help="take out what an earlier set-up wrote")
    args = parser.parse_args(argv)
    tree_root, _store_root = roots(args)
    home = os.path.expanduser("~")
    pyz = find_pyz()
    if not pyz:
        raise SlipstreamError("there is no slipstream.pyz beside this source; run build_zipapp.py first")
    names = found = args.editor or detect_editors(tree_root)
    everywhere = args.undo and not args.editor and args.part != "statusline"
    if everywhere:  # an entry is taken out also where nothing else tells of its editor
        names = [name for name in editors if not (args.user and name == "claude-code")]
    elif args.part != "statusline" and not names:
        raise UsageError("no editor's folder here (%s); name one with --editor"
                         % ", ".join(editor.marker for editor in editors.values()))
    results: list[dict[str, Any]] = []
    if args.part == "statusline":
        names = []
        results.append(_attempt(None, args, tree_root, home, pyz))
    for name in names:
        if name in OTHERS:
            results.append({"editor": name, "result": "snippet", "snippet": snippet(setup.server_command(pyz))})
            continue
        if name == "claude-code" and name in found:
            results.append(_attempt(None, args, tree_root, home, pyz))
            if not args.undo and setup.is_plugin_enabled(tree_root, home):
                results.append({"editor": name, "result": "unchanged",
                                "note": "the plugin is enabled and brings the server itself"})
                continue
        results.append(_attempt(editors[name], args, tree_root, home, pyz))
    if args.json:
        print_json(results)
    else:
        if everywhere:
            results = [result for result in results if result["result"] != "unchanged"]
        print("\n".join(_render(result, editors.get(result["editor"])) for result in results) or "nothing to undo here")
    return EXIT_FAILED if any(result["result"] == "failed" for result in results) else EXIT_DONE


def _attempt(editor: Editor | None, args: Any, root: str, home: str, pyz: str) -> dict[str, Any]:
    """One file planned and written; an error is this file's result and does not keep the next from being tried."""
    result: dict[str, Any] = {"editor": editor.name if editor else "statusline", "result": "unchanged"}
    try:
        if args.undo:
            path = (setup.editor_file(editor, root, home, args.user) if editor
                    else os.path.realpath(os.path.join(home, ".claude", "settings.json")))
            change = setup.plan_undo(path, home, editor)
        elif editor:
            change = setup.plan_editor(editor, root, home, pyz, args.user)
        else:
            change = setup.plan_status_line(home, pyz, args.replace)
        result["path"] = change.path
        result["diff"] = _diff(change) if args.dry_run else ""
        if args.dry_run:
            result["result"] = "would change" if change.changes else "unchanged"
        elif setup.apply_undo(change, home) if args.undo else setup.apply_change(change, home):
            result["result"] = "undone" if args.undo else "written"
    except (SlipstreamError, OSError) as error:
        result["result"], result["error"] = "failed", str(error)
    return result


def _diff(change: setup.Change) -> str:
    import difflib

    before, after = ((raw or b"").decode("utf-8", "replace").splitlines() for raw in (change.before, change.after))
    return "\n".join(difflib.unified_diff(before, after, change.path, change.path + " (after)", lineterm=""))


def _render(result: dict[str, Any], editor: Editor | None) -> str:
    if result["result"] == "snippet":
        return "%s: add this to its MCP settings\n%s" % (result["editor"], result["snippet"])
    if result["result"] == "failed":
        return "%s: failed: %s" % (result["editor"], result["error"])
    lines = ["%s: %s %s" % (result["editor"], result["result"], result.get("path") or result.get("note", ""))]
    if result.get("diff"):
        lines.append(result["diff"])
    if result["result"] == "written" and editor:
        lines.append("  %s" % editor.after)
        if not result["path"].startswith(os.path.expanduser("~") + os.sep + "."):
            lines.append("  The entry names a path of this machine: keep it out of shared commits, or use --user.")
    return "\n".join(lines)
