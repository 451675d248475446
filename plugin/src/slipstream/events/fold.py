"""The one fold: events in, the state that live view, replay and digests show. No clock, no I/O; memory does not grow with
the log."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

from slipstream.base.tokens import approx_tokens

WINDOW_TOKENS = 200_000
MAX_ACTIVITY, MAX_CALLS, MAX_STEPS, MAX_MARKS, MAX_AGENTS = 200, 300, 200, 100, 200


class Fold:
    """apply() events in order of their numbers, state() gives the state as a JSON value. An event that was applied is ignored.

    Kept beyond the published fields: each agent's parent, type, what it waits for and since when, failures, running calls;
    the last
    tool calls with times and outcomes; plan items with their status; tokens per turn; compactions; counts of kinds nobody
    knows.
    """

    def __init__(self, session: str = "", window_tokens: int = WINDOW_TOKENS):
        self._s: dict[str, Any] = {
            "session": session,
            "windowTokens": window_tokens,
            "agents": {},
            "plan": [],
            "planItems": [],
            "lastSeq": -1,
            "startedAt": None,
            "finishedAt": None,
            "endedAt": None,
            "lastTs": None,
            "events": 0,
            "calls": [],
            "tools": {},
            "steps": [],
            "openStep": 0,
            "compactions": [],
            "compactionCount": 0,
            "prompts": 0,
            "failures": 0,
            "redacted": 0,
            "unknown": {},
            "parents": {},
            "ended": {},
            "droppedAgents": 0,
            "branch": None,
            "model": None,
        }

    # ---- in

    def apply(self, event: dict[str, Any]) -> bool:
        """Folds one event; False when its number was already folded."""
        state, seq = self._s, event["seq"]
        if seq <= state["lastSeq"]:
            return False
        kind, ts, label = event["kind"], event["ts"], event["label"]
        data = event.get("data") or {}
        state["lastSeq"], state["lastTs"], state["events"] = seq, ts, state["events"] + 1
        state["session"] = state["session"] or event["session"]
        agent = state["agents"].get(event["agent"]) or self._meet(event["agent"], ts)
        agent["lastTs"] = ts
        activity = agent["activity"]
        activity.append({"seq": seq, "ts": ts, "kind": kind, "label": label})
        if len(activity) > MAX_ACTIVITY:
            del activity[0]
        if "redacted" in data and isinstance(data["redacted"], int):
            state["redacted"] += data["redacted"]
        if "agent_type" in data and data["agent_type"] and not agent["type"]:
            agent["type"] = str(data["agent_type"])
        handler = _HANDLERS.get(kind)
        if handler is None:
            if len(state["unknown"]) < 50 or kind in state["unknown"]:
                state["unknown"][kind] = state["unknown"].get(kind, 0) + 1
        else:
            handler(self, agent, event, data)
        if "plan" in data or "task" in data:
            self._take_plan(data)
        return True

    def _meet(self, name: str, ts: str) -> dict[str, Any]:
        """An agent that was not heard of before."""
        main = name == "main"
        born = {} if main else self._s["parents"].pop(name, {})
        agent: dict[str, Any] = {
            "id": name,
            "status": "running",
            "task": "main session" if main else born.get("task") or "subagent",
            "approxTokens": 0,
            "toolCalls": 0,
            "activity": [],
            "parent": None if main else born.get("parent", "main"),
            "type": "",
            "waitingFor": None,
            "waitingSince": None,
            "startedAt": ts,
            "endedAt": None,
            "lastTs": ts,
            "failures": 0,
            "finishedCalls": 0,
            "running": {},
        }
        self._s["agents"][name] = agent
        self._bound_agents()
        return agent

    def _bound_agents(self) -> None:
        """Beyond the bound those that ended first go, and their figures to their parents. `ended` keeps them in that order,
        so that nothing is searched for; agents that still run stay."""
        agents, ended = self._s["agents"], self._s["ended"]
        excess = len(agents) - MAX_AGENTS
        if excess <= 0 or not ended:
            return
        for name in list(islice(ended, excess)):
            agent = agents.pop(name)
            parent = agents.get(agent["parent"]) or agents.get("main")
            if parent is not None:
                for key in ("approxTokens", "toolCalls", "failures", "finishedCalls"):
                    parent[key] += agent[key]
            del ended[name]
            self._s["droppedAgents"] += 1

    def _on_session_start(self, agent: dict[str, Any], event: dict[str, Any], data: dict[str, Any]) -> None:
        state = self._s
        state["startedAt"] = event["ts"]
        state["endedAt"] = None
        state["model"] = data.get("model") or state["model"]
        self._run(agent)
        self._note_place(data)

    def _on_user_prompt(self, agent: dict[str, Any], event: dict[str, Any], data: dict[str, Any]) -> None:
        self._run(agent)
        agent["task"] = event["label"]
        agent["running"] = {}
        self._s["prompts"] += 1
        self._note_place(data)

    def _on_pre_tool(self, agent: dict[str, Any], event: dict[str, Any], data: dict[str, Any]) -> None:
        self._run(agent)
        agent["toolCalls"] += 1
        agent["task"] = event["label"]
        if data.get("tool_use_id"):
            agent["running"][str(data["tool_use_id"])] = {"seq": event["seq"], "ts": event["ts"], "label": event["label"]}
            while len(agent["running"]) > 50:
                del agent["running"][next(iter(agent["running"]))]

    def _on_post_tool(self, agent: dict[str, Any], event: dict[str, Any], data: dict[str, Any]) -> None:
        nbytes = data.get("bytes")
        tokens = approx_tokens(int(nbytes)) if isinstance(nbytes, (int, float)) and nbytes > 0 else 0
        agent["approxTokens"] += tokens
        self._s["openStep"] += tokens
        self._finish_call(agent, event, data, str(data.get("outcome") or "ok"))
        child = data.get("agent")
        if child and data.get("tool") in ("Agent", "Task"):
            self._adopt(str(child), event, data)

    def _on_tool_failure(self, agent: dict[str, Any], event: dict[str, Any], data: dict[str, Any]) -> None:
        agent["failures"] += 1
        self._s["failures"] += 1
        self._finish_call(agent, event, data, str(data.get("outcome") or "error"))

    def _finish_call(self, agent: dict[str, Any], event: dict[str, Any], data: dict[str, Any], outcome: str) -> None:
        state, ident, label = self._s, data.get("tool_use_id"), event["label"]
        tool = str(data.get("tool") or label.split(" ", 1)[0])
        begun = agent["running"].pop(str(ident), None) if agent["running"] else None
        duration, nbytes, file = data.get("duration_ms"), data.get("bytes"), data.get("file")
        if agent["status"] != "running" and (
            agent["status"] != "waiting"
            or not _began_before(event, duration, agent["waitingSince"])
            or agent["waitingFor"] == label
        ):
            self._run(agent)
        agent["finishedCalls"] += 1
        if begun is None and ident:
            agent["toolCalls"] += 1  # hosts without a pre-tool event; with one, that event has counted
        call = {
            "seq": event["seq"],
            "ts": event["ts"],
            "agent": agent["id"],
            "tool": tool,
            "label": label[:200],
            "outcome": outcome,
        }
        if duration is not None:
            call["duration_ms"] = duration
        elif begun:
            call["begunAt"] = begun["ts"]
        if nbytes is not None:
            call["bytes"] = nbytes
        if file is not None:
            call["file"] = file
        if ident is not None:
            call["tool_use_id"] = ident
        calls = state["calls"]
        calls.append(call)
        if len(calls) > MAX_CALLS:
            del calls[0]
        row = state["tools"].get(tool)
        if row is None:
            if len(state["tools"]) >= 200:
                return
            row = state["tools"][tool] = {"calls": 0, "failures": 0, "duration_ms": 0, "bytes": 0}
        row["calls"] += 1
        if outcome in ("error", "denied"):
            row["failures"] += 1
        if isinstance(duration, (int, float)):
            row["duration_ms"] += duration
        if isinstance(nbytes, int):
            row["bytes"] += nbytes

    def _adopt(self, child: str, event: dict[str, Any], data: dict[str, Any]) -> None:
        """The caller's Agent call names the child: the only place where a host tells who started whom."""
        known = self._s["agents"].get(child)
        task = event["label"].partition(" ")[2]
        if known is not None:
            known["parent"] = event["agent"]
            if task and known["task"] in ("subagent", known["type"]):
                known["task"] = task
        else:
            parents = self._s["parents"]
            parents[child] = {"parent": event["agent"], "task": task}
            while len(parents) > MAX_AGENTS:
                del parents[next(iter(parents))]

    def _on_subagent_start(self, agent: dict[str, Any], event: dict[str, Any], data: dict[str, Any]) -> None:
        self._run(agent)
        if agent["task"] in ("subagent", agent["type"]):  # what its caller asked of it says more than its type
            agent["task"] = event["label"]

    def _on_subagent_stop(self, agent: dict[str, Any], event: dict[str, Any], data: dict[str, Any]) -> None:
        self._end(agent, event["ts"], "failed" if data.get("failed") else "done")

    def _on_stop(self, agent: dict[str, Any], event: dict[str, Any], data: dict[str, Any]) -> None:
        state = self._s
        agent["running"] = {}
        if agent["id"] == "main":
            self._wait(agent, event, "your next prompt")
            if data.get("failed"):
                agent["waitingFor"] = "you: the turn failed"
        else:
            self._end(agent, event["ts"])
        state["finishedAt"] = event["ts"]
        state["steps"].append(state["openStep"])
        state["openStep"] = 0
        if len(state["steps"]) > MAX_STEPS:
            del state["steps"][0]

    def _on_permission(self, agent: dict[str, Any], event: dict[str, Any], data: dict[str, Any]) -> None:
        if data.get("outcome") == "denied":
            self._run(agent)
        else:
            self._wait(agent, event, event["label"])

    def _on_notification(self, agent: dict[str, Any], event: dict[str, Any], data: dict[str, Any]) -> None:
        sort = data.get("notification")
        if sort == "task":  # a background task came back: the host goes on by itself
            self._run(agent)
        elif sort in ("permission_prompt", "elicitation_dialog") and agent["status"] != "waiting":
            self._wait(agent, event, event["label"])
        elif sort == "idle_prompt" and agent["status"] != "waiting":
            self._wait(agent, event, "your next prompt")

    def _on_compact(self, agent: dict[str, Any], event: dict[str, Any], data: dict[str, Any]) -> None:
        marks = self._s["compactions"]
        if data.get("phase") == "done" and marks and marks[-1].get("endedAt") is None:
            marks[-1]["endedAt"] = event["ts"]
            return
        self._s["compactionCount"] += 1
        marks.append(
            {
                "seq": event["seq"],
                "ts": event["ts"],
                "trigger": data.get("trigger"),
                "endedAt": event["ts"] if data.get("phase") == "done" else None,
            }
        )
        if len(marks) > MAX_MARKS:
            del marks[0]

    def _on_session_end(self, agent: dict[str, Any], event: dict[str, Any], data: dict[str, Any]) -> None:
        self._s["endedAt"] = event["ts"]
        for other in self._s["agents"].values():
            if other["status"] in ("running", "waiting"):
                self._end(other, event["ts"])

    def _on_plan(self, agent: dict[str, Any], event: dict[str, Any], data: dict[str, Any]) -> None:
        pass  # the plan is in data, which any kind may carry

    def _run(self, agent: dict[str, Any]) -> None:
        agent.update(status="running", waitingFor=None, waitingSince=None, endedAt=None)
        self._s["ended"].pop(agent["id"], None)

    def _wait(self, agent: dict[str, Any], event: dict[str, Any], reason: str) -> None:
        agent.update(status="waiting", waitingFor=reason, waitingSince=event["ts"])
        self._s["ended"].pop(agent["id"], None)

    def _end(self, agent: dict[str, Any], ts: str, status: str = "done") -> None:
        agent.update(status=status, waitingFor=None, waitingSince=None, endedAt=ts, running={})
        if agent["id"] != "main":
            self._s["ended"].setdefault(agent["id"], 1)

    def _note_place(self, data: dict[str, Any]) -> None:
        if isinstance(data.get("branch"), str):
            self._s["branch"] = data["branch"]

    def _take_plan(self, data: dict[str, Any]) -> None:
        state, plan, task = self._s, data.get("plan"), data.get("task")
        if isinstance(plan, list):
            steps = [step for step in plan if isinstance(step, str)][:200]
            marks = data.get("plan_status")
            marks = marks if isinstance(marks, list) and len(marks) == len(plan) else ["pending"] * len(steps)
            state["plan"] = steps
            state["planItems"] = [{"text": step, "status": str(mark)} for step, mark in zip(steps, marks)]
        elif isinstance(task, dict):
            self._take_task({key: str(task.get(key) or "") for key in ("id", "subject", "status")})

    def _take_task(self, task: dict[str, str]) -> None:
        items = self._s["planItems"]
        item = next(
            (
                item
                for item in items
                if (task["id"] and item.get("id") == task["id"]) or (task["subject"] and item["text"] == task["subject"])
            ),
            None,
        )
        if item is None:
            if not task["subject"] or len(items) >= 200:
                return
            item = {"text": task["subject"], "status": "pending"}
            items.append(item)
        if task["id"]:
            item["id"] = task["id"]
        if task["status"] == "deleted":
            items.remove(item)
        elif task["status"]:
            item["status"] = task["status"]
        self._s["plan"] = [entry["text"] for entry in items]

    # ---- out

    @property
    def inside(self) -> dict[str, Any]:
        """The state as the fold holds it, agents by name: to read and not to keep, for the next event changes it."""
        return self._s

    @property
    def last_seq(self) -> int:
        return int(self._s["lastSeq"])

    def state(self) -> dict[str, Any]:
        """The state as a value of its own: published fields first, agents as a list in order of appearance."""
        state: dict[str, Any] = json.loads(self.dump())
        state["agents"] = list(state["agents"].values())
        for agent in state["agents"]:
            agent["running"] = list(agent["running"].values())
        del state["parents"], state["ended"]
        state["approxTokens"] = sum(agent["approxTokens"] for agent in state["agents"])
        return state

    def step_history(self) -> list[int]:
        """Approximate tokens of each finished turn, the open one last when it has any."""
        return [*self._s["steps"], *([self._s["openStep"]] if self._s["openStep"] else [])]

    def dump(self) -> bytes:
        """The whole fold as bytes; load() goes on from there."""
        return json.dumps(self._s, separators=(",", ":")).encode("ascii")

    @classmethod
    def load(cls, dumped: bytes) -> Fold:
        fold = cls()
        fold._s = json.loads(dumped)
        return fold


_HANDLERS = {
    "session-start": Fold._on_session_start,
    "user-prompt": Fold._on_user_prompt,
    "pre-tool": Fold._on_pre_tool,
    "post-tool": Fold._on_post_tool,
    "tool-failure": Fold._on_tool_failure,
    "subagent-start": Fold._on_subagent_start,
    "subagent-stop": Fold._on_subagent_stop,
    "stop": Fold._on_stop,
    "permission": Fold._on_permission,
    "notification": Fold._on_notification,
    "compact": Fold._on_compact,
    "session-end": Fold._on_session_end,
    "plan": Fold._on_plan,
}


def _began_before(event: dict[str, Any], duration_ms: Any, since: str | None) -> bool:
    """Whether a finished call was already running when its agent began to wait (ISO instants compare as text)."""
    if since is None or not isinstance(duration_ms, (int, float)):
        return since is not None and duration_ms is None and event["ts"] <= since
    from slipstream.base.clock import now_iso
    from slipstream.base.instants import parse_iso

    ended = parse_iso(event["ts"])
    return ended is not None and now_iso(ended - duration_ms / 1000) < since
