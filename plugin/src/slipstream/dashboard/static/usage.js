// Usage: exact tokens by day, model, session and subagent in four classes; honest savings; money only when asked.

import { clean, count, el, empty, percent, plural, svg, tokens } from "./dom.js";
import { api } from "./net.js";
import { app, failed, go } from "./store.js";

export const title = "Usage";
const CLASSES = [["input", "new input"], ["cacheWrite", "cache write"], ["cacheRead", "cache read"], ["output", "output"]];
let ui = null;
let data = null;

// Money is shown only when asked, and then in every view.
export function moneySwitch(redraw) {
  const button = el("button", { type: "button", "aria-pressed": String(Boolean(app.money)), onclick: () => { app.money = !app.money; button.setAttribute("aria-pressed", String(app.money)); redraw(); } }, "Show list prices");
  return button;
}

export function mount(root) {
  ui = { root, content: el("div", {}) };
  ui.money = moneySwitch(render);
  root.append(el("div", { class: "view-head" }, el("h1", {}, "Usage"), el("span", { class: "spacer" }), ui.money), ui.content);
  load();
}
export function unmount() { ui = null; }

async function load() {
  try {
    const [usage, savings] = await Promise.all([api("usage"), api("savings")]);
    data = { usage, savings };
    render();
  } catch (error) { failed(error); }
}

export const sum = (row) => CLASSES.reduce((total, [name]) => total + row[name], 0);
export function group(rows, key) {
  const groups = new Map();
  for (const row of rows) {
    const id = key(row);
    if (!groups.has(id)) groups.set(id, { id, input: 0, cacheWrite: 0, cacheRead: 0, output: 0, replies: 0, usd: 0, unpriced: 0 });
    const into = groups.get(id);
    for (const [name] of CLASSES) into[name] += row[name];
    into.replies += row.replies;
    if (row.usd === null) into.unpriced += row.replies; else into.usd += row.usd;
  }
  return [...groups.values()];
}
export const dollars = (row) => (row.unpriced && !row.usd ? "unpriced" : "$" + row.usd.toFixed(2) + (row.unpriced ? " + unpriced" : ""));

function render() {
  if (!ui || !data) return;
  const { usage, savings } = data;
  const saved = savings.honest || {};
  const savingsPanel = el("section", { class: "panel", "aria-labelledby": "h-savings" }, el("header", {}, el("h2", { id: "h-savings" }, "Saved by scoped reads")), el("div", { class: "body" },
    savings.scopedReads ? [el("div", { class: "figure" }, el("strong", {}, tokens(saved.savedTokens)), el("span", { class: "muted" }, "tokens, " + (saved.pct ?? "–") + " % of what whole files would have cost")),
      el("dl", { class: "facts" }, [["counted", plural(saved.reads, "file") + " once per version and session; what the map itself cost, " + tokens(saved.mapTokens) + " tokens, is charged"], ["published way", tokens(savings.savedTokens) + " tokens, " + savings.pct + " %, over " + plural(savings.scopedReads, "read")], app.money ? ["at list price", savings.cost.label] : null].filter(Boolean).map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]))]
      : el("p", { class: "muted" }, "No scoped read has been counted yet. A slice in place of a whole file is counted here, with the file it spared.")));
  if (usage.error || !usage.rows || !usage.rows.length) {
    ui.content.replaceChildren(el("div", { class: "grid" }, el("section", { class: "panel" }, empty(usage.error ? "Usage could not be read" : "No transcript of this project yet", usage.error ? clean(usage.error, 200) : "Exact tokens come from the host's own transcripts of this project. They are read here, on this machine, and go nowhere.")), savingsPanel));
    return;
  }
  const rows = usage.rows;
  const days = group(rows, (row) => row.day).sort((a, b) => (a.id < b.id ? -1 : 1));
  const all = group(rows, () => "all")[0];
  const table = (name, heading, groups, open) => groups.length === 0 ? null : el("section", { class: "panel", "aria-label": name }, el("header", {}, el("h2", {}, name), el("span", { class: "muted" }, "tokens")), el("div", { class: "body scroll-x", tabindex: 0, role: "group", "aria-label": name + ", table" }, el("table", {},
    el("thead", {}, el("tr", {}, el("th", {}, heading), CLASSES.map(([, label]) => el("th", { class: "num" }, label)), el("th", { class: "num" }, "replies"), app.money ? el("th", { class: "num" }, "list price") : null)),
    el("tbody", {}, groups.slice(0, 60).map((row) => el("tr", open ? { class: "link", tabindex: 0, onclick: () => open(row.id), onkeydown: (event) => { if (event.key === "Enter") open(row.id); } } : {}, el("td", {}, clean(row.id || "unknown", 80)), CLASSES.map(([key]) => el("td", { class: "num" }, tokens(row[key]))), el("td", { class: "num" }, count(row.replies)), app.money ? el("td", { class: "num" }, dollars(row)) : null))))));
  const size = (a, b) => sum(b) - sum(a);
  const hit = all.cacheRead / Math.max(1, all.cacheRead + all.cacheWrite + all.input);
  ui.content.replaceChildren(
    el("div", { class: "figures" }, [["tokens in all", tokens(sum(all))], ["output", tokens(all.output)], ["read from the cache", percent(hit)], ["replies", count(all.replies)], app.money ? ["at list price", dollars(all)] : null].filter(Boolean).map(([name, value]) => el("div", {}, el("strong", {}, value), el("span", {}, name)))),
    el("div", { class: "grid" },
      el("section", { class: "panel", "aria-label": "By day" }, el("header", {}, el("h2", {}, "By day"), el("div", { class: "legend" }, CLASSES.map(([name, label]) => el("span", {}, el("i", { class: "u-" + name }), label)))), el("div", { class: "body" }, bars(days.slice(-45)))),
      table("Days", "day", days.slice().reverse()), table("Models", "model", group(rows, (row) => row.model).sort(size)), table("Sessions", "session", group(rows, (row) => row.session).sort(size), (id) => go({ session: id, story: id }, "sessions")),
      table("Subagents", "agent", group(rows.filter((row) => row.agent), (row) => row.agent).sort(size)), savingsPanel,
      app.money ? el("p", { class: "muted" }, "List prices of " + clean(usage.pricesAsOf || "", 20) + "; on a subscription they are not what you pay. Models without a known price are named unpriced.") : null));
}

function bars(days) {
  const width = Math.max(280, ui.content.clientWidth - 34), height = 200, base = height - 22, most = Math.max(1, ...days.map(sum)), step = width / Math.max(days.length, 7), wide = Math.min(46, step * 0.72);
  return svg("svg", { class: "bars", viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": "Tokens by day; the table below has the numbers", preserveAspectRatio: "xMinYMid meet" },
    svg("text", { x: 0, y: 12 }, tokens(most)),
    days.map((day, i) => {
      let y = base;
      const x = i * step + (step - wide) / 2;
      return [CLASSES.map(([name]) => { const h = (day[name] / most) * (base - 18); y -= h; return svg("rect", { class: "u-" + name, x, y, width: wide, height: Math.max(0, h - 0.5) }, svg("title", {}, day.id + ": " + tokens(day[name]))); }), i % Math.ceil(46 / step) === 0 ? svg("text", { x: x + wide / 2, y: height - 5, "text-anchor": "middle" }, (day.id || "unknown").slice(day.id ? 5 : 0)) : null];
    }));
}
