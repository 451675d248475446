"""Connect an editor, or Claude Code's status line, without harm: one entry edited in place, a backup, an undo.

A file that cannot be parsed, is read-only, or leads out of the project by a symlink is left alone with an error.
"""
from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
from typing import Any

from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_bytes, write_atomic
from slipstream.base.json_files import dump_json, read_object
from slipstream.base.locks import FileLock
from slipstream.base.paths import resolve_inside
from slipstream.engine.editors import SERVER, Editor, server_entry
from slipstream.engine.jsonc import parse_jsonc, remove_member, set_member
from slipstream.engine.places import find_pyz
from slipstream.engine.toml_block import remove_block, scan_toml, set_block

STATE_FOLDER = "slipstream-setup"
SIZE_LIMIT_BYTES = 8_000_000
STATUS_LINE = ["statusLine"]


class Change:
    """What a set-up would do to one file: its bytes before (None: absent) and after (None: delete it)."""

    __slots__ = ("after", "before", "note", "path")

    def __init__(self, path: str, before: bytes | None, after: bytes | None, note: str) -> None:
        self.path = path
        self.before = before
        self.after = after
        self.note = note

    @property
    def changes(self) -> bool:
        return self.before != self.after


def find_python() -> str:
    """A command for Python 3 that editors find too: `python3` where there is one, else this interpreter's path."""
    if sys.platform != "win32" and shutil.which("python3"):
        return "python3"
    return sys.executable.replace("\\", "/")


def server_command(pyz: str) -> list[str]:
    return [find_python(), "-I", "-S", pyz.replace("\\", "/"), "mcp"]


def status_line_value(pyz: str) -> dict[str, Any]:
    """The host runs this through a shell: every word is quoted that needs it, by rules sh and PowerShell share."""
    words = [find_python(), "-I", "-S", "-c", _STATUS_LINE_CODE, pyz.replace("\\", "/"), "statusline"]
    command = " ".join('"%s"' % word if set(word) - _PLAIN else word for word in words)
    return {"type": "command", "command": command, "padding": 0}


# A pyz that Python starts itself costs one bare start more: runpy and what it imports.
_STATUS_LINE_CODE = ("import os, sys; sys.path.insert(0, sys.argv[1]); from slipstream.statusline import main; "
                     "main(sys.argv[2:]); sys.stdout.flush(); os._exit(0)")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-")


def editor_file(editor: Editor, root: str, home: str, user: bool) -> str:
    """The file to edit, symlinks resolved. SlipstreamError when a project's file leads out of the project."""
    if user:
        if not editor.user:
            raise SlipstreamError("%s keeps its user servers itself: claude mcp add --scope user slipstream -- %s" % (
                editor.title, " ".join(server_command(find_pyz()))))
        return os.path.realpath(os.path.join(home, editor.user))
    return resolve_inside(root, editor.project)


def _read(path: str) -> bytes | None:
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise SlipstreamError("is not a regular file; left alone", path)
    raw = read_bytes(path, SIZE_LIMIT_BYTES + 1)
    if len(raw) > SIZE_LIMIT_BYTES:
        raise SlipstreamError("is too large for a settings file; left alone", path)
    return raw


def _text(raw: bytes | None, path: str) -> str:
    try:
        return (raw or b"").decode("utf-8")
    except UnicodeDecodeError:
        raise SlipstreamError("is not UTF-8; left alone", path) from None


def plan_editor(editor: Editor, root: str, home: str, pyz: str, user: bool = False) -> Change:
    """The change that adds or updates our server in the editor's file."""
    path = editor_file(editor, root, home, user)
    before = _read(path)
    text = _text(before, path)
    entry = server_entry(editor, server_command(pyz))
    if editor.format == "toml":
        after = set_block(text, "%s.%s" % (editor.key, SERVER), entry, path)
        scan_toml(after, path)
    else:
        after = set_member(text, [editor.key, SERVER], entry, path)
        parse_jsonc(after, path)
    return Change(path, before, after.encode("utf-8"), "%s.%s" % (editor.key, SERVER))


def plan_status_line(home: str, pyz: str, replace: bool = False) -> Change:
    """The change that sets the user's status line. SlipstreamError when another one is there and `replace` is not given."""
    path = os.path.realpath(os.path.join(home, ".claude", "settings.json"))
    before = _read(path)
    text = _text(before, path)
    value = status_line_value(pyz)
    present = parse_jsonc(text, path).at(*STATUS_LINE) if text.strip("\ufeff \t\r\n") else None
    if present is not None and not is_own_status_line(present.to_value()) and not replace:
        raise SlipstreamError("another status line is set; --replace puts ours in its place, --undo brings it back", path)
    return Change(path, before, set_member(text, STATUS_LINE, value, path).encode("utf-8"), "statusLine")


def is_own_status_line(value: Any) -> bool:
    command = str(value.get("command")) if isinstance(value, dict) else ""
    return "slipstream" in command and command.endswith("statusline")


def is_plugin_enabled(root: str, home: str) -> bool:
    """True when Claude Code runs the plugin here, so that a second registration would start the server twice."""
    for path in (os.path.join(home, ".claude", "settings.json"), os.path.join(root, ".claude", "settings.json"),
                 os.path.join(root, ".claude", "settings.local.json")):
        try:
            enabled = parse_jsonc(_text(_read(path), path) or "{}", path).at("enabledPlugins")
        except SlipstreamError:
            continue
        members = enabled.members if enabled is not None else []
        if any(name.startswith(SERVER + "@") and node.value is True for name, _at, node in members):
            return True
    return False


def _state_path(home: str) -> str:
    return os.path.join(home, ".claude", STATE_FOLDER, "index.json")


def _load_state(home: str) -> dict[str, Any]:
    return read_object(_state_path(home), SIZE_LIMIT_BYTES)


def _digest(raw: bytes | None) -> str:
    return "" if raw is None else hashlib.sha256(raw).hexdigest()


def _refuse_read_only(change: Change) -> None:
    if change.before is not None and not os.stat(change.path).st_mode & 0o222:
        raise SlipstreamError("is read-only; left alone", change.path)


def apply_change(change: Change, home: str) -> bool:
    """Write the change with a backup in the user's folder; False when there is nothing to do."""
    if not change.changes:
        return False
    path = change.path
    _refuse_read_only(change)
    folder = os.path.join(home, ".claude", STATE_FOLDER)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with FileLock(_state_path(home)):
        if _read(path) != change.before:
            raise SlipstreamError("changed while it was being edited; try again", path)
        state = _load_state(home)
        old = state.get(path)
        record: dict[str, Any] = {"note": change.note, "after": _digest(change.after)}
        if isinstance(old, dict) and old.get("after") == _digest(change.before):
            record = {**old, **record}  # our own last version: the backup of what was there before us still holds
        else:
            record["made"] = _missing_folders(os.path.dirname(path))
            record["backup"] = ""
            if change.before is not None:
                record["backup"] = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:24] + ".backup"
                write_atomic(os.path.join(folder, record["backup"]), change.before)
            if isinstance(old, dict):
                record["stale"] = True  # edited by hand since: undo takes out our entry only
        os.makedirs(os.path.dirname(path), exist_ok=True)
        mode = 0o644 if change.before is None else stat.S_IMODE(os.stat(path).st_mode)
        write_atomic(path, change.after or b"", mode)
        if change.before is not None:
            os.chmod(path, mode)
        state[path] = record
        write_atomic(_state_path(home), dump_json(state) + "\n")
    return True


def _missing_folders(folder: str) -> list[str]:
    """The folders that will have to be made, deepest first, so that undo can take them away again."""
    missing: list[str] = []
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing


def plan_undo(path: str, home: str, editor: Editor | None) -> Change:
    """The change that takes our entry out again: byte for byte what was there, or only our entry if the file changed since.

    `editor` None means the status line.
    """
    before = _read(path)
    found = _load_state(home).get(path)
    record: dict[str, Any] = found if isinstance(found, dict) else {}
    backup: bytes | None = None
    if record.get("backup"):
        backup = _read(os.path.join(home, ".claude", STATE_FOLDER, os.path.basename(str(record["backup"]))))
    if before is None:
        return Change(path, None, None, "undo")
    whole = backup is not None or not record.get("backup")
    if record.get("after") == _digest(before) and not record.get("stale") and whole:
        return Change(path, before, backup, "undo")
    text = _text(before, path)
    if editor is None:
        present = parse_jsonc(text, path).at(*STATUS_LINE)
        if present is None or not is_own_status_line(present.to_value()):
            return Change(path, before, before, "undo")
        earlier = parse_jsonc(_text(backup, path), path).at(*STATUS_LINE) if backup else None
        if earlier is not None and not is_own_status_line(earlier.to_value()):
            after = set_member(text, STATUS_LINE, earlier.to_value(), path)
        else:
            after = remove_member(text, STATUS_LINE, path)
    elif editor.format == "toml":
        after = remove_block(text)
    else:
        after = remove_member(text, [editor.key, SERVER], path)
    return Change(path, before, after.encode("utf-8"), "undo")


def apply_undo(change: Change, home: str) -> bool:
    """Write an undo, delete a file that was not there before us with the folders made for it, forget the record."""
    if not change.changes:
        return False
    path = change.path
    _refuse_read_only(change)
    os.makedirs(os.path.dirname(_state_path(home)), mode=0o700, exist_ok=True)
    with FileLock(_state_path(home)):
        state = _load_state(home)
        record = state.pop(path, {})
        if change.after is None:
            os.unlink(path)
            for folder in record.get("made", []) if isinstance(record, dict) else []:
                try:
                    os.rmdir(folder)
                except OSError:
                    break
        else:
            write_atomic(path, change.after, stat.S_IMODE(os.stat(path).st_mode))
        write_atomic(_state_path(home), dump_json(state) + "\n")
        backup = os.path.basename(str(record.get("backup") or "")) if isinstance(record, dict) else ""
        if backup:
            try:
                os.unlink(os.path.join(home, ".claude", STATE_FOLDER, backup))
            except OSError:
                pass
    return True
