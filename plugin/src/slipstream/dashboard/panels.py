"""What each panel of the page shows, as JSON values made from the fold and the columns of a session."""

from __future__ import annotations

from operator import sub
from typing import Any

from slipstream.dashboard.live import SessionView
from slipstream.events.fold import Fold

MAX_ROWS = 300
TAIL = 12
YOUR_MOVE = "your next prompt"
EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")


def agent_row(agent: dict[str, Any], open_step: int) -> dict[str, Any]:
    """One agent for the tree. `waitingFor` is None while it only waits for the next prompt: that is the person's move."""
    waiting = agent["waitingFor"]
    since = agent["waitingSince"] or agent["endedAt"]
    if since is None:
        since = next(
            (item["ts"] for item in reversed(agent["activity"]) if item["kind"] in ("user-prompt", "subagent-start")),
            agent["startedAt"],
        )
    main = agent["id"] == "main"
    return {
        "id": agent["id"],
        "name": agent["id"] if main else agent["type"] or agent["id"],
        "parent": agent["parent"],
        "status": agent["status"],
        "task": agent["task"][:500],
        "waitingFor": None if waiting == YOUR_MOVE else waiting and waiting[:500],
        "since": since,
        "tokens": agent["approxTokens"],
        "turnTokens": open_step if main else agent["approxTokens"],
        # Calls that came without an id are only counted when they end.
        "toolCalls": max(agent["toolCalls"], agent["finishedCalls"]),
        "failures": agent["failures"],
        "lastTs": agent["lastTs"],
        "running": [
            {"seq": item["seq"], "since": item["ts"], "label": item["label"][:200]} for item in agent["running"].values()
        ][:5],
    }


def agent_rows(fold: Fold, only: set[str] | None = None) -> list[dict[str, Any]]:
    """Rows of all agents, or of some; beyond MAX_ROWS those that wait or run come first."""
    inside = fold.inside
    chosen = [agent for name, agent in inside["agents"].items() if only is None or name in only]
    if len(chosen) > MAX_ROWS:
        chosen.sort(key=lambda agent: (agent["id"] != "main", agent["status"] not in ("waiting", "running")))
        chosen = chosen[:MAX_ROWS]
    return [agent_row(agent, inside["openStep"]) for agent in chosen]


def figures(fold: Fold, events: int) -> dict[str, Any]:
    inside = fold.inside
    return {
        "events": events,
        "prompts": inside["prompts"],
        "tools": sum(row["calls"] for row in inside["tools"].values()),
        "failures": inside["failures"],
        "compactions": inside["compactionCount"],
        "redacted": inside["redacted"],
        "unknown": sum(inside["unknown"].values()),
    }


def plan_items(fold: Fold) -> list[dict[str, Any]]:
    return [{"text": item["text"], "status": item["status"]} for item in fold.inside["planItems"]]


def overall(fold: Fold) -> str:
    """One word for a session: waiting when an agent waits for a person in mid-turn."""
    agents = fold.inside["agents"].values()
    if any(agent["status"] == "waiting" and agent["waitingFor"] != YOUR_MOVE for agent in agents):
        return "waiting"
    if fold.inside["endedAt"]:
        return "done"
    return "running" if any(agent["status"] == "running" for agent in agents) else "idle"


def now_panel(view: SessionView, fold: Fold, budget: Any) -> dict[str, Any]:
    """The state of a session as a fold has it, in the shape the page patches with deltas."""
    inside = fold.inside
    count = view.position(fold.last_seq + 1)
    return {
        "session": view.session,
        "seq": fold.last_seq,
        "total": view.last_seq,
        "behind": view.behind(),
        "lastTs": inside["lastTs"],
        "startedAt": inside["startedAt"],
        "finishedAt": inside["finishedAt"],
        "ended": inside["endedAt"],
        "status": overall(fold),
        "branch": inside["branch"],
        "model": inside["model"],
        "agents": {"total": len(inside["agents"]) + inside["droppedAgents"], "rows": agent_rows(fold)},
        "plan": plan_items(fold),
        "budget": budget,
        "cache": budget.get("cache") if budget else None,
        "counts": figures(fold, count),
        "tail": view.rows(list(range(max(0, count - TAIL), count))),
    }


def delta_panel(view: SessionView, events: list[dict[str, Any]], total: int, budget: Any) -> dict[str, Any]:
    """What the last events changed: their rows, the agents they touched, the figures."""
    fold = view.fold
    inside = fold.inside
    touched = {event["agent"] for event in events}
    touched |= {inside["agents"][name]["parent"] for name in touched if name in inside["agents"]}
    ended = any(event["kind"] == "session-end" for event in events) or total > len(events)
    return {
        "session": view.session,
        "first": view.seq[-total],
        "last": view.last_seq,
        "lastTs": inside["lastTs"],
        "skipped": total - len(events),
        "events": events,
        "agents": agent_rows(fold, None if ended else touched),
        "agentsTotal": len(inside["agents"]) + inside["droppedAgents"],
        "plan": plan_items(fold),
        "budget": budget,
        "counts": figures(fold, len(view)),
        "status": overall(fold),
        "startedAt": inside["startedAt"],
        "finishedAt": inside["finishedAt"],
        "ended": inside["endedAt"],
    }


def timeline_panel(view: SessionView, first: int = 0) -> dict[str, Any]:
    """Columns of every event from position `first` on: numbers only, times as differences in ms."""
    start = min(first, len(view))
    millis = [int(value * 1000 + 0.5) for value in view.ts[start:]]
    base = millis[0] if millis else 0
    seqs = view.seq[start:]
    regular = not seqs or seqs[-1] - seqs[0] == len(seqs) - 1
    inside = view.fold.inside["agents"]
    agents = []
    for name in view.agents.list[1:]:
        known = inside.get(name)
        agents.append(
            {
                "id": name,
                "parent": known["parent"] if known else None if name == "main" else "main",
                "name": (known and known["type"]) or name,
            }
        )
    return {
        "session": view.session,
        "behind": view.behind(),
        "agents": agents,
        "tools": view.tools.list,
        "kinds": view.kinds.list,
        "outcomes": view.outcomes.list,
        "t0": base,
        "seq0": seqs[0] if seqs else 0,
        "seqs": None if regular else list(seqs),
        "dt": list(map(sub, millis, [base, *millis[:-1]])),
        "ms": list(view.ms[start:]),
        "agent": [number - 1 for number in view.agent[start:]],
        "kind": list(view.kind[start:]),
        "tool": list(view.tool[start:]),
        "outcome": list(view.outcome[start:]),
    }


def find_events(
    view: SessionView,
    text: str = "",
    file: str = "",
    agent: str = "",
    tool: str = "",
    outcome: str = "",
    kind: str = "",
    low: int = 0,
    high: int | None = None,
    limit: int | None = 200,
    newest: bool = True,
) -> tuple[list[int], bool]:
    """Positions of the events that fit, in order, and whether there are more. Text is sought in labels and files on disk."""
    wanted = [
        (column, words.find(value))
        for column, words, value in (
            (view.agent, view.agents, agent),
            (view.tool, view.tools, tool),
            (view.outcome, view.outcomes, outcome),
            (view.kind, view.kinds, kind),
        )
        if value
    ]
    if any(number < 0 for _, number in wanted):
        return [], False
    span = range(view.position(low), len(view) if high is None else view.position(high))
    order = reversed(span) if newest else span
    found: list[int] = []
    needles = [item.lower() for item in (text, file) if item]
    try:
        lines = _Lines(view) if needles else None
    except OSError:  # there is no log, or no longer
        return [], False
    try:
        for index in order:
            if any(column[index] != number for column, number in wanted):
                continue
            if lines is not None and not lines.holds(index, needles):
                continue
            if limit is not None and len(found) == limit:
                return (found[::-1] if newest else found), True
            found.append(index)
    finally:
        if lines is not None:
            lines.close()
    return (found[::-1] if newest else found), False


class _Lines:
    """The log's bytes in blocks, so that a search over a hundred thousand lines does not seek for each."""

    BLOCK = 1 << 20

    def __init__(self, view: SessionView) -> None:
        from slipstream.base.files import open_regular

        self._view = view
        self._stream = open(open_regular(view.path), "rb")
        self._start = self._end = 0
        self._block = b""

    def holds(self, index: int, needles: list[str]) -> bool:
        offsets = self._view.offset
        begin = offsets[index]
        finish = offsets[index + 1] if index + 1 < len(offsets) else begin + 1_000_000
        if begin < self._start or finish > self._end:
            self._start = max(0, min(begin, finish - self.BLOCK))
            self._stream.seek(self._start)
            self._block = self._stream.read(max(self.BLOCK, finish - self._start) + self.BLOCK // 4)
            self._end = max(finish, self._start + len(self._block))
        line = self._block[begin - self._start : finish - self._start].split(b"\n", 1)[0].decode("utf-8", "replace").lower()
        where = line.find('"label"')
        if "\\u" in line:
            import json

            try:
                line, where = json.dumps(json.loads(line), ensure_ascii=False).lower(), 0
            except ValueError:
                pass
        return all(needle in line[max(0, where) :] for needle in needles)

    def close(self) -> None:
        self._stream.close()


def event_panel(view: SessionView, seq: int) -> dict[str, Any] | None:
    """One event whole, and the ones around it."""
    index = view.position(seq)
    if index >= len(view) or view.seq[index] != seq:
        return None
    event = view.read([index])[0]
    if event is None:
        return None
    data = event.get("data") or {}
    row = view.row(index, event)
    row.update(label=event["label"], file=data.get("file"), bytes=data.get("bytes"))
    around = list(range(max(0, index - 4), min(len(view), index + 5)))
    return {"event": row, "data": data, "neighbours": view.rows(around)}


def moment_panel(view: SessionView, at: int | None) -> dict[str, Any]:
    """The turn around an event: what the agent had been told, which files it had changed, what it said next."""
    index = len(view) - 1 if at is None else min(len(view) - 1, max(0, view.position(at + 1) - 1))
    if index < 0:
        return {"prompt": None, "files": [], "next": None, "events": []}
    prompt, stop, main = view.kinds.find("user-prompt"), view.kinds.find("stop"), view.agents.find("main")
    begin = index
    while begin >= 0 and not (view.kind[begin] == prompt and view.agent[begin] == main) and index - begin < 20_000:
        begin -= 1
    asked = view.rows([begin]) if begin >= 0 and view.kind[begin] == prompt else []
    end = index + 1
    while end < len(view) and view.kind[end] not in (stop, prompt) and end - index < 20_000:
        end += 1
    edits = {view.tools.find(name) for name in EDITS}
    changed = [i for i in range(max(0, begin), index + 1) if view.tool[i] in edits and view.tool[i]]
    files: list[str] = []
    for event in view.read(changed[-200:]):
        name = (event.get("data") or {}).get("file") if event else None
        if isinstance(name, str) and name not in files:
            files.append(name)
    said = view.rows([end]) if end < len(view) and view.kind[end] == stop else []
    return {
        "prompt": asked[0] if asked else None,
        "files": files[:40],
        "next": said[0] if said else None,
        "events": view.rows(list(range(max(0, index - 8), min(len(view), index + 7)))),
    }
