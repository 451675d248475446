"""A session as a story: what was asked, and under each ask what was done, in the published shape of lanes."""

from __future__ import annotations

from typing import Any

from slipstream.dashboard.live import SessionView

MAX_LANES = 400
MAX_ACTIONS = 40
ACTIONS = ("post-tool", "tool-failure", "subagent-start", "subagent-stop", "compact", "permission")
VERBS = {"Read": "read", "Edit": "edited", "Write": "wrote", "Bash": "ran commands", "Agent": "delegated", "Task": "delegated"}


def story_panel(view: SessionView) -> dict[str, Any]:
    """{session, lanes[{prompt, ts, seq, actions, more, files, tools, failures, delegated, summary, outcome}]}, oldest first."""
    kinds = view.kinds.list
    lanes: list[dict[str, Any]] = []
    picks: list[list[int]] = []
    for index in range(len(view)):
        kind = kinds[view.kind[index]]
        if kind == "user-prompt" or not lanes:
            lanes.append(
                {"index": index if kind == "user-prompt" else None, "seq": view.seq[index], "ts": int(view.ts[index] * 1000)}
            )
            lanes[-1].update(tools={}, failures=0, delegated=False, count=0, ended=None, ms=0)
            picks.append([])
            if kind == "user-prompt":
                continue
        lane = lanes[-1]
        lane["ms"] = int(view.ts[index] * 1000) - lane["ts"]
        if kind == "stop":
            lane["ended"] = view.outcomes.list[view.outcome[index]] or "ok"
        if kind not in ACTIONS:
            continue
        lane["count"] += 1
        lane["failures"] += view.outcomes.list[view.outcome[index]] == "failed"
        lane["delegated"] = lane["delegated"] or kind.startswith("subagent")
        tool = view.tools.list[view.tool[index]]
        if tool and kind in ("post-tool", "tool-failure"):
            lane["tools"][tool] = lane["tools"].get(tool, 0) + 1
        picks[-1].append(index)
    if lanes and lanes[0]["index"] is None and not lanes[0]["count"]:
        del lanes[0], picks[0]  # only the session's start came before the first prompt
    dropped = max(0, len(lanes) - MAX_LANES)
    result = [_lane(view, lane, pick) for lane, pick in zip(lanes[dropped:], picks[dropped:])]
    return {"session": view.session, "lanes": result, "earlier": dropped}


def _lane(view: SessionView, lane: dict[str, Any], pick: list[int]) -> dict[str, Any]:
    index = lane.pop("index")
    rows = view.rows(([index] if index is not None else []) + pick[:MAX_ACTIONS])
    prompt = rows.pop(0)["label"] if index is not None and rows else None
    files: dict[str, bool] = {}
    for row in rows:
        if row["tool"] in ("Read", "Edit", "Write", "MultiEdit", "NotebookEdit"):
            files.setdefault(row["label"].partition(" ")[2], row["tool"] != "Read")
            files[row["label"].partition(" ")[2]] |= row["tool"] != "Read"
    names = [name for name in files if name]
    top = max(lane["tools"], key=lambda name: lane["tools"][name], default="")
    verb = VERBS.get(top, "used " + top) if top else ""
    shown = ", ".join(name.rpartition("/")[2] for name in names[:3])
    summary = "%d action%s" % (lane["count"], "" if lane["count"] == 1 else "s")
    summary += (", mostly " + verb if verb else "") + (": " + shown if shown else "")
    return {
        **lane,
        "prompt": prompt,
        "actions": rows,
        "more": max(0, len(pick) - MAX_ACTIONS),
        "files": names[:30],
        "changed": [name for name in names if files[name]][:30],
        "summary": summary if lane["count"] else "nothing done yet",
    }
