"""Chats folded to asks, tools, files and the first sentences of each answer; incremental by the transcript's offset."""
from __future__ import annotations

import json
import os
import re
import zlib
from typing import Any

from slipstream.base.errors import SlipstreamError
from slipstream.base.files import open_regular, read_bytes, write_atomic
from slipstream.base.json_files import dump_json
from slipstream.base.locks import FileLock
from slipstream.base.roots import store_dir
from slipstream.base.store import store_path
from slipstream.events.append import session_file_name
from slipstream.events.redact import redact_text
from slipstream.memory.outcome import clip
from slipstream.memory.transcript import ASK, TEXT, TOOL, iter_entries
from slipstream.memory.turns import relative_to, tool_bucket

MAX_ASK_CHARS, ANSWER_CHARS, MAX_EXCHANGES = 20_000, 600, 5_000
LOCK_TIMEOUT_S = 1.5  # see observe.py
_SENTENCE_END = re.compile(r"[.!?](?=\s)")
MAX_READ_CHARS = 20_000  # of an answer, of which a few sentences are kept
_FILE_KEYS = ("file_path", "notebook_path", "file", "path")


def conversations_dir(store_root: str) -> str:
    return os.path.join(store_dir(store_root), "conversations")


def conversation_path(store_root: str, session: str) -> str:
    return os.path.join(conversations_dir(store_root), session_file_name(session) + ".json")


def load_conversation(store_root: str, session: str) -> dict[str, Any]:
    """The stored chat, or an empty one in the published shape."""
    path = conversation_path(store_root, session)
    try:
        value = json.loads(read_bytes(path))
        if isinstance(value, dict) and isinstance(value.get("exchanges"), list):
            return value
    except (OSError, ValueError, RecursionError):
        pass
    return {"session": session, "exchanges": [], "turnCount": 0}


def ingest_transcript(store_root: str, session: str, transcript_path: str, tree_root: str | None = None,
                      source: str | None = None) -> int:
    """Folds what is new in a transcript into the stored chat; returns how many exchanges it now has.

    A transcript that is not the one read before (shorter, or other bytes at its start) is folded anew. OSError as open's.
    """
    target = store_path(store_root, "conversations", session_file_name(session) + ".json")
    head = _head_check(transcript_path)
    size = os.path.getsize(transcript_path)
    with FileLock(target[:-len(".json")], LOCK_TIMEOUT_S):
        chat = load_conversation(store_root, session)
        offset = chat.get("offset")
        if not (isinstance(offset, int) and 0 <= offset <= size and chat.get("head") == head):
            chat, offset = {"session": session, "exchanges": [], "turnCount": 0}, 0
        if offset == size and chat["exchanges"]:
            return len(chat["exchanges"])
        end = _fold(store_root, chat, transcript_path, offset, tree_root or store_root)
        if source:
            chat["source"] = source
        chat.update(offset=end, head=head)
        if chat["exchanges"]:
            write_atomic(target, dump_json(chat))
        return len(chat["exchanges"])


def _fold(store_root: str, chat: dict[str, Any], path: str, offset: int, root: str) -> int:
    exchanges: list[dict[str, Any]] = chat["exchanges"]
    end = offset
    for place, entry in iter_entries(path, offset):
        end = place
        if entry.kind == ASK:
            ask = redact_text(entry.text, store_root)[0][:MAX_ASK_CHARS]
            exchanges.append({"ask": ask, "replyChars": 0, "tools": [], "ts": entry.ts, "summary": ""})
            chat["turnCount"] = int(chat.get("turnCount", 0)) + 1
            if entry.branch:
                exchanges[-1]["branch"] = entry.branch
        elif not exchanges:
            continue
        elif entry.kind == TEXT:
            _add_answer(exchanges[-1], entry.text, first_sentences(redact_text(entry.text[:MAX_READ_CHARS], store_root)[0]))
            chat["turnCount"] = int(chat.get("turnCount", 0)) + 1
        elif entry.kind == TOOL:
            _add_tool(exchanges[-1], entry.name, entry.data, root, store_root)
    for exchange in exchanges[-2:]:
        exchange["summary"] = render_summary(exchange)
    for exchange in exchanges:
        exchange["summary"] = exchange["summary"] or render_summary(exchange)
    del exchanges[:-MAX_EXCHANGES]
    return end


def _add_answer(exchange: dict[str, Any], text: str, start: str) -> None:
    exchange["replyChars"] += len(text)
    held = str(exchange.get("answer", ""))
    if len(held) < ANSWER_CHARS:
        exchange["answer"] = clip(held + " " + start, ANSWER_CHARS)


def _add_tool(exchange: dict[str, Any], name: str, data: Any, root: str, store_root: str) -> None:
    if name not in exchange["tools"]:
        exchange["tools"].append(name)
    if isinstance(data, dict) and tool_bucket(name) in ("edit", "read"):
        path = next((data[key] for key in _FILE_KEYS if isinstance(data.get(key), str)), "")
        files = exchange.setdefault("files", [])
        path = redact_text(relative_to(root, path), store_root)[0]
        if path and path not in files and len(files) < 40:
            files.append(path)


def first_sentences(text: str, limit: int = 300) -> str:
    """Whole sentences from the start of a text, up to a length; white space collapsed."""
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    ends = [match.end() for match in _SENTENCE_END.finditer(text[:limit])]
    return text[:ends[-1]] if ends else clip(text, limit)


def render_summary(exchange: dict[str, Any]) -> str:
    """Published: the first sentence or 140 characters of the reply, then the tools used, five at most."""
    text = " ".join(str(exchange.get("answer", "")).split())
    match = _SENTENCE_END.search(text)
    first = text[:match.end()] if match else text[:140]
    used = f" Used {', '.join(exchange['tools'][:5])}." if exchange["tools"] else ""
    return (first + used).strip()


def _head_check(path: str) -> int:
    with os.fdopen(open_regular(path), "rb") as stream:
        return zlib.crc32(stream.read(512).split(b"\n", 1)[0])


def try_ingest(store_root: str, session: str, transcript_path: str | None, tree_root: str | None = None) -> int:
    """As ingest_transcript, for hooks: 0 where there is nothing to read or nowhere to write."""
    if not transcript_path:
        return 0
    try:
        return ingest_transcript(store_root, session, transcript_path, tree_root)
    except (OSError, SlipstreamError):
        return 0
