"""What is wrong and what to do about it: quick checks of the store here, and doctor's own when somebody asks for them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from slipstream.base.counts import count_of
from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_bytes
from slipstream.base.roots import store_dir
from slipstream.dashboard import jobs
from slipstream.dashboard.query import Fields
from slipstream.events.log import LOGS_WARN_BYTES, list_sessions

if TYPE_CHECKING:
    from slipstream.dashboard.routes import Routes

DOCTOR_TIMEOUT_S = 120.0
ERROR_LINES = 20


def health_report(routes: Routes, fields: Fields) -> Any:
    """{findings[{level, title, text, remedy}], errors, sizes, doctor}: quick enough for every visit."""
    listed = list_sessions(routes.store_root)
    findings = [_capture(listed), _sizes(listed), *_logs(routes), *_errors(routes), *_memory(routes)]
    ranks = {"fail": 0, "warn": 1, "ok": 2}
    findings.sort(key=lambda finding: ranks[finding["level"]])
    with routes.cache_lock:
        doctor = routes.cache.get("doctor")
    return {"findings": findings, "doctor": doctor[1] if doctor else None, "sizes": folder_sizes(routes.store_root)}


def finding(level: str, title: str, text: str, remedy: str = "") -> dict[str, str]:
    return {"level": level, "title": title, "text": text, "remedy": remedy}


def _capture(listed: list[dict[str, Any]]) -> dict[str, str]:
    if not listed:
        return finding("warn", "Nothing is recorded", "No event log in this project.", "Start a session, or run doctor.")
    age = max(0, int(time.time() - listed[0]["modified"]))
    words = "%d s" % age if age < 60 else "%d min" % (age // 60) if age < 3600 else "%d h" % (age // 3600)
    return finding("ok", "Last capture", "%s ago, %s in all." % (words, count_of(len(listed), "session")))


def _sizes(listed: list[dict[str, Any]]) -> dict[str, str]:
    total = sum(row["bytes"] for row in listed)
    if total > LOGS_WARN_BYTES:
        return finding("warn", "Event logs are large", "%d MB." % (total // 1_000_000), "slipstream gc --dry-run")
    return finding("ok", "Event logs", "%d KB." % (total / 1000) if total < 1_000_000 else "%.1f MB." % (total / 1_000_000))


def _logs(routes: Routes) -> list[dict[str, str]]:
    """Lines that are no events, and kinds that nobody knows: counted, never guessed at."""
    found = []
    for view in routes.views.known():
        with view.lock:
            skipped, unknown = view.skipped, dict(view.fold.inside["unknown"])
        if skipped:
            text = "%s of session %s cannot be read as events." % (count_of(skipped, "line"), view.session[:60])
            found.append(finding("warn", "Unreadable lines", text, "They are skipped; a killed writer leaves one."))
        if unknown:
            kinds = ", ".join("%s (%d)" % (kind[:40], count) for kind, count in sorted(unknown.items())[:8])
            found.append(finding("ok", "Unknown kinds of events", kinds + " in session " + view.session[:60] + "."))
    return found


def _errors(routes: Routes) -> list[dict[str, str]]:
    try:
        raw = read_bytes(os.path.join(store_dir(routes.store_root), "errors.log"), 200_000)
    except OSError:
        return [finding("ok", "Errors", "errors.log is empty.")]
    lines = raw.decode("utf-8", "replace").splitlines()
    if not lines:
        return [finding("ok", "Errors", "errors.log is empty.")]
    text = "\n".join(lines[-ERROR_LINES:])
    said = "%s in errors.log, the last:\n%s" % (count_of(len(lines), "line"), text)
    return [finding("warn", "Errors", said, "Run doctor; it tries each part.")]


def _memory(routes: Routes) -> list[dict[str, str]]:
    from slipstream.memory.health import check_memory

    try:
        report = check_memory(routes.store_root, routes.tree_root)
    except (OSError, SlipstreamError) as error:
        return [finding("fail", "Memory", str(error)[:300], "slipstream memory doctor")]
    bad = report["problems"]
    if bad:
        names = ", ".join(str(row["file"]) for row in bad[:5])
        text = "%s cannot be read: %s" % (count_of(len(bad), "file"), names)
        return [finding("warn", "Memory", text, "slipstream memory doctor")]
    return [finding("ok", "Memory", "%s: %s." % (count_of(report["total"], "fact"), report["note"].rstrip(".")))]


def folder_sizes(store_root: str) -> list[dict[str, Any]]:
    """Bytes below the store, by its first folder or file; symlinks are not followed."""
    top = store_dir(store_root)
    sizes: dict[str, int] = {}
    for folder, _, names in os.walk(top):
        part = os.path.relpath(folder, top).split(os.sep)[0]
        for name in names:
            try:
                size = os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue
            key = name if part == "." else part + "/"
            sizes[key] = sizes.get(key, 0) + size
    return [{"name": name, "bytes": size} for name, size in sorted(sizes.items(), key=lambda pair: -pair[1])[:20]]


def run_doctor(routes: Routes, body: dict[str, Any]) -> Any:
    """Runs `slipstream doctor --json` as a process of its own; takes nothing from the request."""
    home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    code = "import sys;sys.path.insert(0,sys.argv.pop(1));from slipstream.doctor import main;sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-I", "-S", "-c", code, home, "doctor", "--json", "--root", routes.tree_root]
    answer = jobs.run_json(command, DOCTOR_TIMEOUT_S, routes.tree_root)
    answer["at"] = int(time.time() * 1000)
    with routes.cache_lock:
        routes.cache["doctor"] = (None, answer)
    return answer


GET_ROUTES: dict[str, Callable[[Routes, Fields], Any]] = {"/api/report/health": health_report}
POST_ROUTES: dict[str, Callable[[Routes, dict[str, Any]], Any]] = {"/api/doctor": run_doctor}
