// Now: the agents as a tree, the window, the plan, the last events.

import { clean, count, el, empty, FIRST, hms, keyed, known, mark, percent, plural, setText, svg, tokens, when } from "./dom.js";
import { agentHead, renderAgents } from "./agents.js";
import { eventRow, openAgent } from "./inspector.js";
import { post } from "./net.js";
import { app, failed, go, loadNow } from "./store.js";

export const title = "Now";
let parts = null;

export function mount(root) {
  parts = {
    agents: el("div", { class: "agents" }), more: el("p", { class: "muted body" }), figures: el("span", { class: "muted" }),
    window: el("div", { class: "body" }), plan: el("ul", { class: "plan body" }), planBox: null, tail: el("div", { class: "tail" }), root,
  };
  parts.planCount = el("span", { class: "muted" });
  parts.planBox = el("section", { class: "panel", "aria-labelledby": "h-plan" }, el("header", {}, el("h2", { id: "h-plan" }, "Plan"), parts.planCount), parts.plan);
  parts.filled = el("div", { class: "grid now-grid" },
    el("div", { class: "grid" },
      el("section", { class: "panel", "aria-labelledby": "h-agents" }, el("header", {}, el("h2", { id: "h-agents" }, "Agents"), parts.figures), agentHead(), parts.agents, parts.more),
      el("section", { class: "panel", "aria-labelledby": "h-tail" }, el("header", {}, el("h2", { id: "h-tail" }, "Last events"), el("button", { type: "button", class: "quiet", onclick: () => go({}, "timeline") }, "Timeline")), parts.tail)),
    el("div", { class: "grid" },
      el("section", { class: "panel", "aria-labelledby": "h-window" }, el("header", {}, el("h2", { id: "h-window" }, "Context window"), el("button", { type: "button", class: "quiet", onclick: editBudget }, "Edit")), parts.window),
      parts.planBox));
  update(new Set(["now"]));
}
export function unmount() { parts = null; }

export function update(reasons) {
  if (!parts) return;
  const data = app.now;
  parts.root.classList.toggle("dim", !data && !!app.session);
  if (!data) {
    if (!app.session) parts.root.replaceChildren(empty("Nothing recorded here yet",
      "When an agent works in this project, it appears here: what it does, whether it waits for you, how full its window is.",
      "Everything stays on this machine.", FIRST, notifyButton()));
    return;
  }
  if (parts.filled.parentNode !== parts.root) parts.root.replaceChildren(el("h1", { class: "sr" }, "Now"), parts.filled);
  const rows = data.agents.rows;
  renderAgents(parts.agents, rows, (agent) => openAgent(agent.id));
  const hidden = data.agents.total - Math.min(300, rows.length);
  setText(parts.more, hidden > 0 ? "and " + plural(hidden, "more agent") + "; the timeline has a lane for each" : "");
  parts.more.hidden = hidden <= 0;
  setText(parts.figures, plural(data.counts.prompts, "prompt") + " · " + plural(data.counts.tools, "tool") + " · " + count(data.counts.failures) + " failed");
  tail(reasons.has("delta"));
  renderWindow(data);
  const plan = data.plan || [];
  parts.planBox.hidden = !plan.length;
  setText(parts.planCount, plan.filter((step) => step.status === "completed").length + " of " + plan.length);
  keyed(parts.plan, plan.map((step, i) => ({ ...step, i })), (step) => step.i, () => el("li", {}, el("span", {}), el("span", {})), (row, step) => {
    row.className = step.status === "completed" ? "is-done" : "";
    const name = step.status === "completed" ? "done" : step.status === "in_progress" ? "running" : "idle";
    if (row.dataset.name !== name) { row.dataset.name = name; row.firstChild.replaceChildren(...mark(name, name === "done" ? "done" : name === "running" ? "in work" : "to do")); }
    setText(row.lastChild, clean(step.text, 300));
  });
}
// A quick run of events is shown four times a second, and without the fade: more could not be read.
const TAIL_MS = 250, CALM_MS = 1000;
function tail(live) {
  const now = performance.now(), wait = TAIL_MS - (now - (parts.tailAt || -TAIL_MS));
  if (live && wait > 0) {
    parts.tailTimer = parts.tailTimer || setTimeout(() => { if (parts) { parts.tailTimer = 0; tail(true); } }, wait);
    return;
  }
  const calm = live && now - (parts.tailAt || 0) > CALM_MS;
  parts.tailAt = now;
  if (!app.now) return;
  keyed(parts.tail, [...app.now.tail].slice(-10).reverse(), (event) => event.seq, (event) => { const row = eventRow(event); if (calm) row.classList.add("changed"); return row; });
}
export function tick() { if (parts && app.now) renderAgents(parts.agents, app.now.agents.rows, (agent) => openAgent(agent.id)); }

function renderWindow(data) {
  const budget = data.budget;
  const key = JSON.stringify([budget, data.cache, data.counts.compactions]);
  if (parts.windowKey === key || parts.windowKey === "editing") return;
  parts.windowKey = key;
  if (!budget) { parts.window.replaceChildren(el("p", { class: "muted" }, "Not known yet.")); return; }
  const ratio = budget.used === null ? null : budget.used / budget.size;
  const word = { ok: "comfortable", warn: "getting full", compact: "close to compaction" }[budget.level] || "";
  parts.window.replaceChildren(
    el("div", { class: "figure" }, el("strong", {}, ratio === null ? "–" : tokens(budget.used)), el("span", { class: "muted" }, "of " + tokens(budget.size) + (ratio === null ? "" : ", " + percent(ratio) + (word ? ", " + word : "")))),
    gauge(budget, ratio),
    el("dl", { class: "facts" },
      [["source", budget.sourceText],
        ["forecast", budget.turnsLeft ? "about " + plural(budget.turnsLeft, "turn") + " to compaction, at " + tokens(budget.perTurn) + " a turn" : "not enough history"],
        ["compactions", data.counts.compactions ? count(data.counts.compactions) + (budget.compactions.length ? ", last " + when(budget.compactions[budget.compactions.length - 1].ts) : "") : "none"],
        data.cache ? ["cache", cacheText(data.cache)] : null,
      ].filter(Boolean).map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
}
function cacheText(cache) {
  const text = known(cache.hitRatio) ? percent(cache.hitRatio) + " of the last prompt came from the cache" : "–";
  return text + (cache.expiresAt ? ", fresh until " + hms(cache.expiresAt) : "");
}

function gauge(budget, ratio) {
  const x = (part) => (100 * Math.max(0, Math.min(1, part))).toFixed(2) + "%"; // of its own width: its words keep their shape
  const description = ratio === null ? "Window use unknown" : "Window " + percent(ratio) + " full; warning at " + percent(budget.warn) + ", compaction at " + percent(budget.compact);
  return svg("svg", { class: "gauge", role: "img", "aria-label": description },
    svg("title", {}, description),
    svg("rect", { class: "track", y: 10, width: "100%", height: 14, rx: 4 }),
    ratio ? svg("rect", { class: "fill " + budget.level, y: 10, width: x(Math.max(0.01, ratio)), height: 14, rx: 4 }) : null,
    [["warn", budget.warn], ["compact", budget.compact]].map(([name, at]) => [svg("line", { class: "tick", x1: x(at), x2: x(at), y1: 6, y2: 28 }), svg("text", { x: x(at), y: 40, "text-anchor": at > 0.9 ? "end" : "middle" }, name + " " + Math.round(at * 100) + " %")]),
    budget.compactions.filter((item) => known(item.tokens)).slice(-6).map((item) => svg("line", { class: "compaction", x1: x(item.tokens / budget.size), x2: x(item.tokens / budget.size), y1: 4, y2: 10 }, svg("title", {}, "compacted at " + tokens(item.tokens)))));
}

function editBudget() {
  const config = app.now && app.now.budget && app.now.budget.config;
  if (!config) return;
  const field = (name, label, value, min, max) => el("label", {}, label, el("input", { type: "number", name, value, min, max, required: true }));
  const form = el("form", { class: "inline" },
    field("targetTokens", "target tokens", config.targetTokens, 1000, 10000000), field("warnPct", "warn at %", config.warnPct, 1, 99), field("compactPct", "compact at %", config.compactPct, 1, 100),
    el("button", {}, "Save"), el("button", { type: "button", class: "quiet", onclick: () => { parts.windowKey = null; update(new Set()); } }, "Cancel"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const values = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, Number(value)]));
    try { await post("budget", values); parts.windowKey = null; await loadNow(); } catch (error) { failed(error); }
  });
  parts.windowKey = "editing";
  parts.window.replaceChildren(form, el("p", { class: "muted" }, "The target is what the gauge fills toward when the host does not tell the window's size."), notifyButton());
  form.querySelector("input").focus();
}

function notifyButton() {
  if (!("Notification" in self)) return null;
  const on = () => localStorage.getItem("slipstream.notify") === "1" && Notification.permission === "granted";
  const button = el("button", { type: "button", class: "quiet" }, on() ? "Stop notifying me" : "Notify me when an agent waits");
  button.addEventListener("click", async () => {
    if (on()) localStorage.removeItem("slipstream.notify");
    else if (await Notification.requestPermission() === "granted") localStorage.setItem("slipstream.notify", "1");
    setText(button, on() ? "Stop notifying me" : "Notify me when an agent waits");
  });
  return button;
}

