"""Appends one event to a session's log: numbered under the lock, in one write, nothing secret, nothing lost. HOT."""
from __future__ import annotations

import os

from slipstream.base.clock import now_iso
from slipstream.base.fast_json import dumps
from slipstream.base.locks import FileLock
from slipstream.base.roots import store_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional
    Data = Optional[dict[str, object]]

LABEL_CHARS, LINE_CHARS, TAIL_BYTES, LOCK_TIMEOUT_S, HOST = 500, 4000, 8192, 1.0, ("tool_use_id", "prompt_id")
FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
NAMES = "key token secret pass pwd pw auth cred cookie signature salt dsn jwt connection".split()  # before a value
# What is_suspect would not see by itself: short, or of letters alone.
MARKS = ("-----|<private|bearer |basic |-user| -p|</|password |sig=|xapp-|hvs.|hvb.|hvr.|ya29.|webhooks/|slack.com/|eyj|acca|"
         "hf_|sk-ant-|k_live|k_test|k_prod|k_org_|api_org_|ghp_|gho_|ghs_|ghu_|ghr_|github_pat|glpat-|gldt-|glrt|glcbt-|glptt-|"
         "glft-|glimt-|glagent-|gloas-|glsoat-|glffct-|glwt-|akia|asia|abia|absk|whsec_|ltai|aiza|atbb|bbdc-|pmak-|bedrock|xox|"
         "gocspx-|pypi-ag|securestr|identified|sqlplus|:thin:|redis-cli|ldap|access_key|ttp -a|ttps -a|setenv|setx ").split("|")
SPACED, JOINED = str.maketrans("=\"'`：\\,;&?(){}[]<>|/.", ":::::" + " " * 16), {45: "", 95: ""}


def session_file_name(session: str) -> str:
    """The one way from a session's id to a file name; UUIDs, as hosts make them, stay as they are."""
    if len(session) == 36 and session[8:24:5] == "----" and session.isascii() and session.replace("-", "").isalnum():
        return session
    from slipstream.events.names import encode_session
    return encode_session(session)


def is_suspect(text: str) -> bool:
    """May hold a secret, so the redactor has to be loaded: a mark, a telling name before a value, a long word with figures."""
    low = " ".join(text.lower().split())
    parts = [part.split() for part in low.replace(" is ", " ").replace(" was ", " ").translate(SPACED).split(":")]
    words = [word for part in parts for word in part]
    named = " ".join([part[-1] for part in parts[:-1] if part] + [word for word in words if word[:1] == "-"])
    return (any(mark in low for mark in MARKS) or any(name in named for name in NAMES) or ("://" in low and "@" in low) or any(
        (len(word) > (12 if "k_" in word or "k-" in word or "re_" in word else 15) and not word.translate(JOINED).isalpha())
        or (word[:1] == "-" != word[1:2] and "u" in word[:7]) for word in words))  # curl -sSu user:...


def append_event(store_root: str, session: str, agent: str, kind: str, label: str, data: Data = None, ts: str = "") -> int:
    """The event's number; -1: the lock was held too long, so it waits beside the log for the next writer. OSError: not kept."""
    event = {"ts": ts or now_iso(), "session": session, "agent": agent or "main", "kind": kind, "label": label}
    line = dumps({**event, "data": data} if data else event)
    folder = os.path.join(store_dir(store_root), "dashboard")
    path = os.path.join(folder, (name := session_file_name(session)) + ".jsonl")
    if name != session or len(line + 8 * label) > LINE_CHARS or os.path.exists(folder[:-9] + "redact.json") or is_suspect(
            f"{agent} {label}" + "".join(f" {k}: {v}" for k, v in (data or {}).items() if k not in HOST).replace("\\n", " ")):
        from slipstream.events.redact import redact_event
        line = redact_event(store_root, {**event, "data": data})
    try:
        if os.path.islink(folder):
            raise OSError(f"{folder}: a symlink inside the store; refused")
        with FileLock(path, LOCK_TIMEOUT_S), os.fdopen(os.open(path, FLAGS, 0o600), "rb+", 0) as log:
            start, tail = log.seek(max(0, os.fstat(log.fileno()).st_size - TAIL_BYTES)), log.read(TAIL_BYTES)
            head, _, number = tail[tail.rfind(b"\n", 0, -1) + 1:].partition(b",")[0].partition(b":")
            if tail[-1:] != b"\n" or head != b'{"seq"' or not number.isdigit() or os.path.exists(path + ".spill"):
                from slipstream.events.repair import prepare
                return prepare(log, path, line)
            raw = b'{"seq":%d,%s\n' % (int(number) + 1, line[1:].encode())
            if log.write(raw) != len(raw):  # a full disk: take the torn piece back
                log.truncate(start + len(tail))
                raise OSError(f"{path}: no room for an event")
            return int(number) + 1
    except (OSError, ValueError) as error:  # ValueError: a foreign number of thousands of digits
        from slipstream.events.repair import append_slowly
        return append_slowly(store_root, path, line, error)
