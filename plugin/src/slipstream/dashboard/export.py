"""A session as a file to show a colleague: one HTML page that replays it, or the published zip; both redacted again."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import os
import pkgutil
import zipfile
from typing import Any

from slipstream.base.clock import now_iso
from slipstream.base.counts import count_of
from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_bytes, write_atomic
from slipstream.base.json_files import dump_json
from slipstream.base.roots import store_dir
from slipstream.base.shown import CONTROLS, DIRECTIONS
from slipstream.dashboard.live import SessionView
from slipstream.dashboard.panels import agent_row
from slipstream.events.append import session_file_name
from slipstream.events.fold import Fold
from slipstream.events.log import LogReader, log_path
from slipstream.events.redact import redact_data, redact_text

MAX_EVENTS = 30_000
MAX_LABEL = 300
ZIP_DATE = (2020, 1, 1, 0, 0, 0)
HIDDEN = dict.fromkeys((*CONTROLS, *DIRECTIONS), 0xFFFD)


def export_session(store_root: str, session: str, out: str | None) -> tuple[str, int, bool]:
    """Writes the file and returns (path, bytes, whether another was there). The name's end decides: .html or .zip.

    Without a name it goes into the current folder, beside what is there already.
    """
    path = os.path.abspath(out) if out else _free_name(session_file_name(session))
    if os.path.isdir(path):
        raise SlipstreamError("a folder, not a file", path)
    if path.endswith(".zip"):
        data = export_zip(store_root, session)
    elif path.endswith((".html", ".htm")):
        data = export_html(store_root, session)
    else:
        raise SlipstreamError("the file's name must end in .html or .zip", path)
    replaced = os.path.lexists(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write_atomic(path, data, mode=0o600)
    return path, len(data), replaced


def _free_name(stem: str) -> str:
    names = [stem + ".html", *("%s-%d.html" % (stem, number) for number in range(2, 1000))]
    return os.path.abspath(next((name for name in names if not os.path.lexists(name)), names[-1]))


def export_html(store_root: str, session: str) -> bytes:
    """One page that needs no server and asks for nothing: the events, and after each the state of its agent."""
    rows: list[list[Any]] = []
    first: list[list[Any]] = []
    view = SessionView(store_root, session, snapshots=False)
    fold = view.fold
    total = 0
    for _, event in LogReader(log_path(store_root, session)).read_with_offsets():
        total += 1
        index = view.take(event)
        row = view.row(index, event)
        agent = fold.inside["agents"].get(event["agent"])
        if agent is None:
            continue
        shown = [row["seq"], row["ts"], row["agent"], row["kind"], clean(event["label"], store_root), row["outcome"], row["ms"]]
        rows.append([*shown, _brief(agent, store_root)])
        if len(rows) > MAX_EVENTS:
            gone = rows.pop(0)
            first = [item for item in first if item[0] != gone[2]] + [[gone[2], gone[7]]]
    dropped = total - len(rows)
    data = {"session": session, "events": rows, "agents": first, "last": fold.last_seq, "dropped": dropped}
    title = clean(view.first_ask, store_root) or session
    script, style = _part("page.js"), _part("page.css")
    policy = "default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'" % (
        _digest(script),
        _digest(style),
    )
    # Inside a script element only "<" could end it or open a comment.
    body = dump_json(data).replace("<", "\\u003c")
    when = "%s, exported %s" % (count_of(len(rows), "event"), now_iso())
    when += ", the %d before them left out" % dropped if dropped else ""
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="%s">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>%s</title>\n<style>%s</style></head>\n'
        '<body><h1>%s</h1><p>Session %s · %s</p>\n'
        '<input type="range" id="range" min="0" value="0" aria-label="Moment of the session">\n'
        '<div class="bar"><span class="clock" id="clock"></span><button id="play">Play</button>'
        '<button id="prompt">Next prompt</button><button id="failure">Next failure</button><span id="count"></span></div>\n'
        '<div class="grid"><section><h2>Agents at this moment</h2><div id="agents"></div></section>'
        '<section><h2>Events</h2><ol id="events"></ol></section></div>\n'
        '<script type="application/json" id="data">%s</script>\n<script>%s</script></body></html>\n'
    ) % (html.escape(policy), html.escape(title), style, html.escape(title), html.escape(session), when, body, script)
    return page.encode("utf-8", "replace")


def _brief(agent: dict[str, Any], store_root: str) -> list[Any]:
    row = agent_row(agent, 0)
    waits = row["waitingFor"] and clean(row["waitingFor"], store_root)
    return [row["status"], clean(row["task"], store_root), row["toolCalls"], row["failures"], waits]


def clean(text: str, store_root: str | None = None) -> str:
    """A label for the page: redacted again, cut, without characters that hide or turn text."""
    return redact_text(text[: 8 * MAX_LABEL], store_root)[0][:MAX_LABEL].translate(HIDDEN)


def _part(name: str) -> str:
    data = pkgutil.get_data(__package__ or "slipstream.dashboard", "replay_file/" + name)
    assert data is not None
    return data.decode("utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def export_zip(store_root: str, session: str) -> bytes:
    """The published archive: transcript.jsonl, state.json, observations.jsonl, map.json where there is one, manifest.json."""
    from slipstream.memory.observations import session_path

    fold, lines = Fold(session), []
    for _, event in LogReader(log_path(store_root, session)).read_with_offsets():
        event = redact_data(event, store_root)[0]
        fold.apply(event)
        lines.append(dump_json(event))
    state = redact_data(fold.state(), store_root)[0]
    parts = [("transcript.jsonl", _lines(lines), "events"), ("state.json", _json(state), "state")]
    parts.append(("observations.jsonl", _lines(_redacted_lines(session_path(store_root, session), store_root)), "observations"))
    try:
        parts.append(("map.json", read_bytes(os.path.join(store_dir(store_root), "map.json"), 64_000_000), "map"))
    except OSError:
        pass
    files = [
        {"path": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "kind": kind}
        for name, data, kind in parts
    ]
    manifest = {"version": 1, "session": session, "exportedAt": now_iso(), "files": files}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, _ in [*parts, ("manifest.json", _json(manifest), "manifest")]:
            info = zipfile.ZipInfo(name, ZIP_DATE)
            info.external_attr = 0o100600 << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _redacted_lines(path: str, store_root: str) -> list[str]:
    try:
        raw = read_bytes(path, 256_000_000)
    except OSError:
        return []
    found = []
    for line in raw.split(b"\n"):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            vector = record.pop("vector", None)
            record = redact_data(record, store_root)[0]
            found.append(dump_json(record if vector is None else {**record, "vector": vector}))
    return found


def _lines(lines: list[str]) -> bytes:
    return "".join(line + "\n" for line in lines).encode("utf-8", "replace")


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")
