// Agents: what state they are in as seen from a moment, and their rows.

import { ago, clean, count, el, instant, keyed, setText, status, tokens, utc } from "./dom.js";
import { app, serverNow } from "./store.js";

const IDLE_MS = 3 * 60000;
const STALLED_MS = 15 * 60000;

// The log says running, waiting, done or failed. Silence makes idle, then stalled; it never makes done.
export function state(row, at) {
  if (row.status !== "running") return row.status === "waiting" && !row.waitingFor ? "idle" : row.status;
  const silent = at - instant(row.lastTs);
  if (row.running && row.running.length) return silent > 2 * STALLED_MS ? "stalled" : "running";
  return silent > STALLED_MS ? "stalled" : silent > IDLE_MS ? "idle" : "running";
}

const RANK = { waiting: 0, failed: 2 };
// Parents before children; among siblings the one that waits for a person first, then the log's order.
export function tree(rows) {
  const children = new Map();
  const known = new Set(rows.map((row) => row.id));
  for (const row of rows) {
    const parent = row.parent && row.parent !== row.id && known.has(row.parent) ? row.parent : null;
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(row);
  }
  const urgent = (row, seen = new Set()) => {
    if (seen.has(row.id)) return 9;
    seen.add(row.id);
    const own = row.status === "waiting" && row.waitingFor ? RANK.waiting : row.status === "running" ? 1 : row.status === "failed" ? RANK.failed : 3;
    return Math.min(own, ...(children.get(row.id) || []).map((child) => urgent(child, seen)));
  };
  const flat = [];
  const walk = (parent, depth) => {
    const list = (children.get(parent) || []).map((row, i) => [urgent(row), i, row]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    for (const [, , row] of list) { flat.push({ row, depth }); if (depth < 12) walk(row.id, depth + 1); }
  };
  walk(null, 0);
  return flat;
}

export const nameOf = (id) => { const row = app.now && app.now.agents.rows.find((item) => item.id === id); return row ? row.name : id; };

// Of a log that is still being read the end is not now either.
export const moment = () => (app.now && (app.at !== null || app.now.behind > 0) ? instant(app.now.lastTs) : serverNow());

export function agentHead() {
  return el("div", { class: "agent head", "aria-hidden": "true" }, el("span", {}, "state"), el("span", { class: "name" }, "agent"), el("span", { class: "task" }, "task"),
    ["tokens", "tools", "failed"].map((name) => el("span", { class: "num hide-narrow" }, name)), el("span", { class: "num" }, "since"));
}

function makeRow(open) {
  const parts = { state: el("span", {}), name: el("span", { class: "name cut" }), task: el("span", { class: "task" }), text: el("span", { class: "cut" }), doing: el("span", { class: "doing cut" }), tokens: el("span", { class: "num hide-narrow" }), tools: el("span", { class: "num hide-narrow" }), failed: el("span", { class: "num hide-narrow failed" }), since: el("span", { class: "num muted" }) };
  parts.text.style.display = "block";
  parts.task.append(parts.text, parts.doing);
  parts.task.style.minWidth = "0";
  const row = el("button", { type: "button", class: "agent" }, parts.state, parts.name, parts.task, parts.tokens, parts.tools, parts.failed, parts.since);
  row.addEventListener("click", () => open(row.agent));
  row.parts = parts;
  return row;
}

function updateRow(row, { row: agent, depth }) {
  const at = moment();
  const name = state(agent, at);
  const { parts } = row;
  const tool = agent.running && agent.running[0];
  const age = ago(at - instant(agent.since)), doingFor = tool ? ago(at - instant(tool.since)) : "";
  const key = name + age + doingFor + depth;
  if (row.agent === agent && row.key === key) return;
  row.agent = agent;
  row.key = key;
  row.classList.toggle("waiting", name === "waiting");
  row.style.setProperty("--depth", depth);
  if (parts.state.dataset.name !== name) { parts.state.dataset.name = name; parts.state.replaceChildren(status(name)); }
  setText(parts.name, clean(agent.name, 60));
  parts.name.title = clean(agent.id, 200);
  setText(parts.text, name === "waiting" ? clean(agent.waitingFor, 90) : clean(agent.task, 90));
  parts.text.title = clean(agent.task, 500);
  const doing = tool && agent.status === "running" ? (tool.label === agent.task ? "running for " : clean(tool.label, 80) + " · ") + doingFor + (agent.running.length > 1 ? " · and " + (agent.running.length - 1) + " more" : "") : "";
  setText(parts.doing, doing);
  parts.doing.hidden = !doing;
  setText(parts.tokens, tokens(agent.turnTokens));
  parts.tokens.title = "about " + count(agent.turnTokens) + " tokens read in this turn, " + count(agent.tokens) + " in all, estimated from bytes";
  const few = (value) => (value < 10000 ? count(value) : tokens(value));
  setText(parts.tools, few(agent.toolCalls));
  setText(parts.failed, agent.failures ? few(agent.failures) + " ✕" : "");
  parts.tools.title = count(agent.toolCalls) + " tool calls, " + count(agent.failures) + " failed";
  setText(parts.since, age);
  parts.since.title = utc(agent.since);
}

export function renderAgents(parent, rows, open, limit = 300) {
  keyed(parent, tree(rows).slice(0, limit), (item) => item.row.id, () => makeRow(open), updateRow);
}
