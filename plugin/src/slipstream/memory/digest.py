"""The digest before compaction: what the agent must not lose, saved as a memory in the published form."""
from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from slipstream.base.clock import now_iso
from slipstream.base.errors import SlipstreamError
from slipstream.base.files import write_atomic
from slipstream.base.store import store_path
from slipstream.base.tokens import approx_text_tokens
from slipstream.events.log import list_sessions, read_events
from slipstream.events.names import safe_session
from slipstream.events.redact import redact_data, redact_text
from slipstream.memory.digest_facts import digest_name, same_session
from slipstream.memory.digest_text import (
    clip_line,
    find_changed_files,
    find_decisions,
    find_failures,
    find_identifiers,
    find_next_steps,
    find_open_task,
    find_tests,
    last_unique,
)
from slipstream.memory.fact_file import render_fact
from slipstream.memory.fact_reading import facts_lock, load_locked, write_index
from slipstream.memory.model import DIGEST_TAG, Fact
from slipstream.memory.transcript import ASK, RESULT, TEXT, TOOL, Entry, is_ask, iter_entries, tail_start
from slipstream.memory.turns import prompt_text, relative_to, tool_bucket

TRANSCRIPT_TAIL_BYTES, LAST_ENTRIES, MAX_TEXT_CHARS = 4_000_000, 40, 50_000
MAX_DECISIONS, MAX_FILES, MAX_TAGS, MAX_DIGESTS_A_SESSION = 8, 20, 12, 5
FALLBACK_TASK = "Resume the previous task; ask what it was if nothing here says so."
FALLBACK_NEXT = "Read the project map and the open task above again, then go on."


class Digest:
    """Everything a digest says; lists are clipped, unique and in order."""

    __slots__ = ("decisions", "failed", "files", "identifiers", "next_steps", "open_task", "session", "taken_at", "tests",
                 "trigger")

    def __init__(self, session: str, taken_at: str, trigger: str = "auto", open_task: str = "", decisions: Iterable[str] = (),
                 files: Iterable[str] = (), next_steps: Iterable[str] = (), failed: Iterable[str] = (),
                 identifiers: Iterable[str] = (), tests: Iterable[str] = ()):
        self.session, self.taken_at, self.trigger = session, taken_at, trigger
        self.open_task = open_task or FALLBACK_TASK
        self.decisions, self.files, self.failed = list(decisions), list(files), list(failed)
        self.identifiers, self.tests = list(identifiers), list(tests)
        self.next_steps = list(next_steps) or [FALLBACK_NEXT]

    def is_empty(self) -> bool:
        """Nothing was recorded: it holds the fallbacks alone."""
        return self.open_task == FALLBACK_TASK and self.next_steps == [FALLBACK_NEXT] and not (
            self.decisions or self.files or self.failed or self.identifiers or self.tests)

    def render(self) -> str:
        """The published Markdown; sections of ours stand between files and next steps."""
        parts = [f"Compaction digest for session {self.session}, {self.trigger} trigger, taken {self.taken_at}.",
                 f"**Open task:** {self.open_task}"]
        for title, lines in (("Decisions made", self.decisions), ("Files touched", self.files),
                             ("Failed approaches", self.failed), ("Test results", self.tests)):
            if lines:
                parts.append(f"**{title}:**\n" + "\n".join(f"- {line}" for line in lines))
        if self.identifiers:
            parts.append("**Exact identifiers:** " + ", ".join(f"`{name}`" for name in self.identifiers))
        parts.append("**Next steps:**\n" + "\n".join(f"- {line}" for line in self.next_steps))
        return "\n\n".join(parts)

    def to_record(self) -> dict[str, Any]:
        return {"session": self.session, "takenAt": self.taken_at, "trigger": self.trigger, "openTask": self.open_task,
                "decisions": self.decisions, "filesTouched": self.files, "nextSteps": self.next_steps,
                "failedApproaches": self.failed, "identifiers": self.identifiers, "testResults": self.tests}

    def to_fact(self) -> Fact:
        names = [path.replace("\\", "/").rsplit("/", 1)[-1].lower() for path in self.files]
        stems = dict.fromkeys(re.sub(r"\.[^.]*$", "", name) for name in names)
        tags = [DIGEST_TAG, "compaction", *(stem for stem in stems if stem)]
        return Fact(digest_name(self.session), f"Compaction digest: {self.open_task}", "todo", self.render(), tags[:MAX_TAGS],
                    self.taken_at, self.taken_at, extra={"session": self.session})


def build_digest(session: str, taken_at: str, trigger: str = "auto", entries: Iterable[Entry] = (),
                 events: Iterable[dict[str, Any]] = (), hint: str = "", root: str = "") -> Digest:
    """Pure: what the transcript's entries say, the event log for whatever they do not, a person's hint before both."""
    chat = list(entries)
    prompts, edited, last_done = [], [], ""
    for event in events:
        label = str(event.get("label", ""))
        if event.get("kind") == "user-prompt" and is_ask(prompt_text(event)):
            prompts.append(prompt_text(event))
        elif event.get("kind") in ("post-tool", "tool-failure"):
            last_done = label
            data = event.get("data")
            file = data.get("file") if isinstance(data, dict) else None
            tool, _, target = label.partition(" ")
            if event.get("kind") == "post-tool" and tool_bucket(tool) == "edit":
                target = file if isinstance(file, str) and file else target.strip()
                edited += [relative_to(root, target)] if target else []
    said = [entry.text for entry in chat if entry.kind == TEXT]
    asked = [entry.text for entry in chat if entry.kind == ASK]
    task_from_log = find_open_task([Entry(ASK, "", text=prompt) for prompt in prompts])
    next_steps = find_next_steps(chat)
    if not next_steps and last_done:
        next_steps = [f"Continue from: {clip_line(last_done)}"]
    return Digest(
        session, taken_at, "manual" if trigger == "manual" else "auto",
        clip_line(hint) or find_open_task(chat) or task_from_log,
        find_decisions([entry.text for entry in chat if entry.kind in (ASK, TEXT)] if chat else prompts, MAX_DECISIONS),
        last_unique(map(clip_line, [*edited, *find_changed_files(chat, root)]), MAX_FILES), next_steps, find_failures(chat),
        find_identifiers([*said[-30:], *asked[-5:]]), find_tests(chat))


def take_digest(store_root: str, session: str | None = None, trigger: str = "auto", transcript_path: str | None = None,
                hint: str = "", tree_root: str | None = None, taken_at: str | None = None, extra_activity: Iterable[str] = (),
                extra_files: Iterable[str] = (), may_be_empty: bool = True) -> tuple[Digest, Fact]:
    """Builds and saves the digest of a session (the latest one when not named) from its log and its transcript's tail.

    An empty one, which would only stand before an earlier one that says something, is refused unless it may be empty.
    """
    session = safe_session(session or newest_session(store_root) or "main")
    root = tree_root or store_root
    entries: list[Entry] = []
    if transcript_path:
        try:
            entries = [entry for _, entry in iter_entries(transcript_path, tail_start(transcript_path, TRANSCRIPT_TAIL_BYTES))]
        except OSError:
            pass
    events = read_events(store_root, session)
    events += [{"kind": "user-prompt", "label": line} for line in extra_activity]
    events += [{"kind": "post-tool", "label": f"Edit {path}"} for path in extra_files]
    _redact_entries(store_root, entries)
    digest = build_digest(session, taken_at or now_iso(), trigger, entries, events, redact_text(hint, store_root)[0], root)
    if digest.is_empty() and not may_be_empty:
        raise SlipstreamError(f"nothing is recorded in session {session}, so there is nothing to save")
    digest.open_task = redact_text(digest.open_task, store_root)[0]
    for name in ("decisions", "files", "next_steps", "failed", "identifiers", "tests"):
        setattr(digest, name, [redact_text(line, store_root)[0] for line in getattr(digest, name)])
    return digest, save_digest(store_root, digest)


def _redact_entries(store_root: str, entries: list[Entry]) -> None:
    """Before anything is picked out or cut: a word of a text does not say that it is a secret. Results are left that are not
    quoted, for they are most of a transcript and the host grants few seconds."""
    failed = {entry.call for entry in entries if entry.kind == RESULT and entry.failed}
    last = len(entries) - LAST_ENTRIES
    for number, entry in enumerate(entries):
        if entry.kind in (ASK, TEXT) or (entry.kind == RESULT and (entry.failed or number >= last)):
            entry.text = redact_text(entry.text[:MAX_TEXT_CHARS], store_root)[0]
        elif entry.kind == TOOL and tool_bucket(entry.name) != "edit" and (entry.call in failed or number >= last):
            entry.data = redact_data(entry.data, store_root)[0]


def save_digest(store_root: str, digest: Digest) -> Fact:
    """The newest keeps the published name; the one before moves to `<name>-<n>` and is superseded; five are kept."""
    fact = digest.to_fact()
    fact.description, fact.body = redact_text(fact.description, store_root)[0], redact_text(fact.body, store_root)[0]
    fact.tags = [redact_text(tag, store_root)[0] for tag in fact.tags]
    with facts_lock(store_root):
        existing = load_locked(store_root).facts
        series = re.compile(re.escape(fact.name) + r"-(\d+)$")
        earlier = {int(found.group(1)): held for held in existing if held.is_digest
                   for found in [series.match(held.name)] if found and same_session(held, digest.session)}
        current = next((held for held in existing if held.name == fact.name), None)
        if current is not None and not same_session(current, digest.session):
            fact.name = f"{fact.name[:50]}-{_short_hash(digest.session)}"  # another session with the same published name
            current = next((held for held in existing if held.name == fact.name), None)
        if current is not None:
            number = max([0, *earlier]) + 1
            moved = f"{fact.name}-{number}"
            current.name, current.path = moved, store_path(store_root, "memory", moved + ".md")
            write_atomic(current.path, render_fact(current))
            fact.supersedes = [moved]
            earlier[number] = current
            fact.created = digest.taken_at
        fact.path = store_path(store_root, "memory", fact.name + ".md")
        write_atomic(fact.path, render_fact(fact))
        for number in sorted(earlier)[:-(MAX_DIGESTS_A_SESSION - 1)]:
            try:
                os.unlink(earlier[number].path)
            except OSError:
                pass
        write_index(store_root)
    return fact


def newest_session(store_root: str) -> str | None:
    """The session whose log changed last."""
    rows = list_sessions(store_root)
    return str(rows[0]["session"]) if rows else None


def digest_result(digest: Digest, fact: Fact) -> dict[str, Any]:
    """The published answer of the digest tool."""
    return {"ok": True, "digestPath": fact.path, "tokensEstimate": approx_text_tokens(fact.body), "session": digest.session,
            "openTask": digest.open_task}


def _short_hash(text: str) -> str:
    import zlib
    return f"{zlib.crc32(text.encode('utf-8', 'replace')):08x}"

