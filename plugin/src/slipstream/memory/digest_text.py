"""What a digest keeps of a chat: the agent's own decisions, what failed, exact identifiers, tests, the next step."""
from __future__ import annotations

import re
from collections.abc import Iterable

from slipstream.memory.outcome import clip, first_error_line, tests_line
from slipstream.memory.transcript import ASK, RESULT, TEXT, TOOL, Entry
from slipstream.memory.turns import relative_to, tool_bucket

LINE_CHARS = 200  # as published; a longer line ends in three dots after 199 characters
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(])|\n+")
_DECISION = re.compile(
    r"(?i)\b(?:decid(?:e|ed|es|ing)|decision|chose|chosen|choos(?:e|es|ing)|adopt(?:s|ed|ing)?|reject(?:s|ed|ing)?|"
    r"prefer(?:s|red|ring)?|switch(?:es|ed|ing)?|opt(?:ed|ing)? for|settled on|agreed|go(?:ing)? with|instead of|rather than|"
    r"so that|because)\b|\b(?:we|i)(?:'ll| will)? us(?:e|ed|ing)\b|^us(?:e|ing)\b")
_FAILED = re.compile(
    r"(?i)\b(?:did(?:n't| not) (?:work|help|fix)|does(?:n't| not) work|(?:that|this|which|it) (?:failed|broke|fails|breaks)|"
    r"failed because|fails because|not possible|dead end|reverted|roll(?:ed|ing) back|gave up|turned out (?:to be wrong|not)|"
    r"no effect|won't work|cannot work)\b")
_NEXT = re.compile(r"(?i)\b(?:next(?: step| up|,|:| i)|remaining|still (?:need|have|to do|left)|then i(?:'ll| will)|left to do|"
                   r"to do next|follow[- ]up)\b")
_TICKED = re.compile(r"`([^`\n]{3,80})`")
_NAME = re.compile(r"\b(?:[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)+\(?\)?|[a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w+|[a-z]+_[a-z_0-9]+"
                   r"|[A-Z]{2,}_[A-Z_0-9]+"
                   r"|[A-Z]{2,}-?\d{2,}|(?:[\w.-]+/)+[\w.-]+\.\w+(?::\d+)?)")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.S)


def clip_line(text: str) -> str:
    """Published: white space collapsed, more than 200 characters cut to 199 and three dots."""
    text = " ".join(text.split())
    return text if len(text) <= LINE_CHARS else text[:LINE_CHARS - 1] + "..."


def sentences(text: str) -> list[str]:
    """Prose sentences of a Markdown text; code blocks left out, list marks dropped."""
    found = []
    for piece in _SENTENCE.split(_FENCE.sub("\n", text)):
        piece = re.sub(r"^\s*(?:[-*+>#]+|\d+[.)])\s+", "", piece).strip().strip("*")
        if len(piece) > 3:
            found.append(piece)
    return found


def last_unique(lines: Iterable[str], limit: int) -> list[str]:
    """The last `limit` different lines, in order of their last mention."""
    seen: dict[str, None] = {}
    for line in lines:
        if line:
            seen.pop(line, None)
            seen[line] = None
    return list(seen)[-limit:]


def find_decisions(texts: Iterable[str], limit: int = 8) -> list[str]:
    return last_unique((clip_line(line) for text in texts for line in sentences(text) if _DECISION.search(line)
                        and not line.endswith("?")), limit)


def find_failures(entries: list[Entry], limit: int = 6) -> list[str]:
    """What did not work, in the agent's words, and commands whose last run failed, with the first line of the error."""
    lines: list[str] = []
    open_calls: dict[str, str] = {}
    last_state: dict[str, str] = {}
    for entry in entries:
        if entry.kind == TEXT:
            lines += [clip_line(line) for line in sentences(entry.text) if _FAILED.search(line)]
        elif entry.kind == TOOL and isinstance(entry.data, dict):
            command = entry.data.get("command")
            target = command if isinstance(command, str) else next(
                (str(entry.data[key]) for key in ("file_path", "path") if isinstance(entry.data.get(key), str)), "")
            open_calls[entry.call] = f"{entry.name} {clip(target, 90)}".strip()
        elif entry.kind == RESULT and entry.call in open_calls:
            call = open_calls.pop(entry.call)
            last_state.pop(call, None)
            last_state[call] = clip_line(f"{call} -> {first_error_line(entry.text)}") if entry.failed else ""
    return last_unique([*lines, *(line for line in last_state.values() if line)], limit)


def find_identifiers(texts: Iterable[str], limit: int = 20) -> list[str]:
    """Names as they were written: in back ticks, or shaped like code or a path. The most named and latest first kept."""
    score: dict[str, float] = {}
    for position, text in enumerate(texts):
        prose = _FENCE.sub("\n", text)
        named = [(name, 2.0) for name in _TICKED.findall(prose)] + [(name, 1.0) for name in _NAME.findall(prose)]
        for name, weight in named:
            name = name.strip().strip(".,;:")
            if 3 <= len(name) <= 80 and not name.isdecimal():
                score[name] = score.get(name, 0.0) + weight + position * 0.01
    best = sorted(score, key=lambda name: -score[name])[:limit]
    return [name for name in score if name in set(best)]


def find_changed_files(entries: Iterable[Entry], root: str, limit: int = 20) -> list[str]:
    """Files that were edited or written, the last `limit`, relative to the project; files only read are not in it."""
    found: dict[str, None] = {}
    for entry in entries:
        if entry.kind == TOOL and tool_bucket(entry.name) == "edit" and isinstance(entry.data, dict):
            path = next((str(entry.data[key]) for key in ("file_path", "notebook_path", "path")
                         if isinstance(entry.data.get(key), str)), "")
            if path:
                found.pop(relative_to(root, path), None)
                found[relative_to(root, path)] = None
    return list(found)[-limit:]


def find_tests(entries: Iterable[Entry], limit: int = 3) -> list[str]:
    """The last test runs as `command: summary line`."""
    calls: dict[str, str] = {}
    lines = []
    for entry in entries:
        if entry.kind == TOOL and isinstance(entry.data, dict) and isinstance(entry.data.get("command"), str):
            calls[entry.call] = clip(entry.data["command"], 80)
        elif entry.kind == RESULT and entry.call in calls:
            line = tests_line(entry.text)
            if line:
                lines.append(clip_line(f"{calls[entry.call]}: {line}"))
    return last_unique(lines, limit)


def find_next_steps(entries: list[Entry], limit: int = 5) -> list[str]:
    """Open items of the agent's last plan, else what it said comes next, else []."""
    for entry in reversed(entries):
        if entry.kind == TOOL and isinstance(entry.data, dict) and isinstance(entry.data.get("todos"), list):
            todos = [item for item in entry.data["todos"] if isinstance(item, dict) and isinstance(item.get("content"), str)]
            rank = {"in_progress": 0, "pending": 1}
            left = sorted((item for item in todos if item.get("status") in rank), key=lambda item: rank[item["status"]])
            if left:
                return [clip_line(item["content"]) for item in left[:limit]]
    for entry in reversed([entry for entry in entries if entry.kind == TEXT][-6:]):
        said = [clip_line(line) for line in sentences(entry.text) if _NEXT.search(line)]
        if said:
            return said[-limit:]
    return []


def find_open_task(entries: list[Entry]) -> str:
    """The last thing a person asked for; a bare `go on` is given with the ask it refers to."""
    asks = [entry.text for entry in entries if entry.kind == ASK]
    if not asks:
        return ""
    last = asks[-1]
    if len(last.split()) >= 4 or len(asks) == 1:
        return clip_line(last)
    real = next((ask for ask in reversed(asks[:-1]) if len(ask.split()) >= 4), "")
    return clip_line(f"{real} (last said: {clip(last, 60)})") if real else clip_line(last)
