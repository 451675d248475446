// Timeline: a lane per agent, spans for tool calls, instants for the rest. Spans too small to draw become density.

import { clean, el, empty, FIRST, hms, keyed, kindWord, plural, span, utc, when } from "./dom.js";
import { eventRow, openAgent, openEvent } from "./inspector.js";
import { api } from "./net.js";
import { app, currentSession, failed, go, loadColumns } from "./store.js";

export const title = "Timeline";
export const full = true;
const LANE = 28, AXIS = 24, GAP = 30 * 60000;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5, 1728e5, 6048e5, 12096e5, 24192e5, 78624e5, 31536e6];
let ui = null;
let hideEmpty = false;

export const colours = () => {
  const probe = el("span", { hidden: true });
  document.body.append(probe);
  const read = (name) => { probe.style.color = "var(--" + name + ")"; return getComputedStyle(probe).color; };
  const found = Object.fromEntries(["bg", "raised", "sunk", "line", "edge", "text", "muted", "info", "run", "wait", "ok", "warn", "fail", "span", "turn"].map((name) => [name, read(name)]));
  probe.remove();
  // A label takes whichever of text and background stands out more from the span that it is written on.
  const light = (name) => { const [r, g, b] = found[name].match(/[\d.]+/g).map((part) => (Number(part) / 255) ** 2.2); return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05; };
  const apart = (one, other) => Math.max(light(one), light(other)) / Math.min(light(one), light(other));
  for (const name of ["span", "fail"]) found["on" + name] = found[apart("text", name) >= apart("bg", name) ? "text" : "bg"];
  found.font = "12px " + getComputedStyle(document.body).fontFamily;
  return found;
};

// A canvas tells its size when it changes: to ask for it in the middle of an update would lay the whole page out once more.
const sizes = new WeakMap();
const sizer = new ResizeObserver((entries) => { for (const entry of entries) sizes.set(entry.target, entry.contentRect); });
export function fit(canvas) {
  const ratio = devicePixelRatio || 1;
  let box = sizes.get(canvas);
  if (!box) { sizer.observe(canvas); box = { width: canvas.clientWidth, height: canvas.clientHeight }; }
  const { width, height } = box;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) { canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio); }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

export function mount(root) {
  const select = (label, name) => el("select", { "aria-label": label, onchange: (event) => filter({ [name]: event.target.value }) });
  ui = {
    root, canvas: el("canvas", { tabindex: 0, role: "img" }), mini: el("canvas", { role: "img", "aria-label": "Overview of the whole session" }), lanes: el("div", { class: "lanes" }), tip: el("div", { class: "tip", hidden: true }),
    agent: select("Agent", "agent"), tool: select("Tool", "tool"), outcome: select("Outcome", "outcome"),
    text: el("input", { type: "search", placeholder: "Filter by text or file ( / )", "aria-label": "Filter by text or file" }),
    table: el("div", { class: "tail", hidden: true }), top: 0, folded: new Set(), labels: new Map(), colours: colours(), hits: null,
  };
  ui.toggle = el("button", { type: "button", "aria-pressed": "false", title: "The same events as a list (l)", onclick: toggleTable }, "List");
  ui.fitAll = el("button", { type: "button", onclick: () => { range(true); draw(); } }, "Whole session");
  ui.hide = el("button", { type: "button", "aria-pressed": String(hideEmpty), title: "Lanes without an event in view that fits the filters (e)", onclick: toggleEmpty }, "Hide empty lanes");
  ui.figure = el("span", { class: "muted" });
  ui.plot = el("div", { class: "plot" }, ui.canvas, ui.tip);
  ui.frame = el("div", { class: "panel timeline" }, ui.lanes, ui.plot, el("div", { class: "mini" }, ui.mini));
  ui.nearRows = el("div", { class: "tail" });
  ui.near = el("section", { class: "panel near", hidden: true, "aria-labelledby": "h-near" }, el("header", {}, el("h2", { id: "h-near" }, "Last events in view")), ui.nearRows);
  ui.content = el("div", { class: "view-full" }, el("h1", { class: "sr" }, "Timeline"),
    el("div", { class: "tools" }, ui.text, ui.agent, ui.tool, ui.outcome, ui.fitAll, ui.hide, ui.toggle, ui.figure), ui.frame, el("section", { class: "panel", hidden: true, "aria-label": "Events" }, ui.table), ui.near);
  ui.tablePanel = ui.table.parentNode;
  root.append(ui.content);
  ui.text.value = app.params.q || app.params.file || "";
  let timer = 0;
  ui.text.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => ui && filter({ q: ui.text.value, file: "" }), 200); });
  pointer();
  ui.resize = new ResizeObserver(() => draw());
  ui.resize.observe(ui.plot);
  loadColumns();
  if (app.columns) { range(); options(); find(); }
  draw();
}
export function unmount() { if (ui) ui.resize.disconnect(); ui = null; }
export function routed() { if (app.columns && app.columns.session === currentSession()) { options(); find(); } else loadColumns(); if (app.params.seq) reveal(Number(app.params.seq)); draw(); }

export function update(reasons) {
  if (!ui) return;
  if (!currentSession()) { ui.root.replaceChildren(empty("No timeline yet", "Every tool call of a session becomes a span here.", FIRST)); return; }
  if (!ui.content.isConnected) ui.root.replaceChildren(ui.content);
  if (reasons.has("columns")) { if (ui.whole || ui.of !== app.columns) ui.t0 = undefined; ui.of = app.columns; range(); options(); find(); if (app.params.seq) reveal(Number(app.params.seq)); }
  if (reasons.has("theme")) ui.colours = colours();
  if (!app.columns) { if (reasons.has("sessions") || reasons.has("now")) loadColumns(); draw(); return; }
  if (reasons.has("delta") && ui.follow) { const last = app.columns.latest(), width = ui.t1 - ui.t0; if (last > ui.t1) { ui.t1 = last + width * 0.02; if (!ui.whole) ui.t0 = ui.t1 - width; } }
  if (reasons.has("delta")) options();
  draw();
}

function range(whole) {
  const c = app.columns;
  if (!c || !c.size) return;
  if (ui.t0 !== undefined && !whole) return;
  const last = c.latest();
  let i = c.size - 1;
  if (whole || c.setBack > GAP || last - c.ts[0] < 6 * 36e5) i = 0; else while (i > 0 && (c.ts[i] - c.ts[i - 1] < GAP || c.size - i < 50)) i--;
  const first = i ? c.ts[i] - Math.max(0, c.ms[i]) : c.first;
  const pad = Math.max(500, (last - first) * 0.02);
  Object.assign(ui, { t0: first - pad, t1: last + pad, follow: true, whole: true });
}

function filter(change) { go({ ...pick(), ...change }, "timeline", true); }
const pick = () => ({ agent: app.params.agent, tool: app.params.tool, outcome: app.params.outcome, q: app.params.q, file: app.params.file, seq: app.params.seq });

function options() {
  const c = app.columns;
  const set = (node, all, values, value, told = (item) => item) => {
    const key = values.length + "|" + value;
    if (node.dataset.key === key) return;
    node.dataset.key = key;
    node.replaceChildren(el("option", { value: "" }, all), ...values.slice(0, 400).map((item) => el("option", { value: item }, clean(told(item), 60))));
    node.value = value || "";
  };
  const named = (id) => { const { name } = c.agents[c.index.get(id)]; return name && name !== id ? name + " " + id.slice(0, 8) : id; };
  set(ui.agent, "all agents", c.agents.map((agent) => agent.id), app.params.agent || "", named);
  set(ui.tool, "all tools", c.tools.filter(Boolean).sort(), app.params.tool || "");
  set(ui.outcome, "any outcome", c.outcomes.filter(Boolean), app.params.outcome || "");
  layout();
}

function toggleEmpty() {
  hideEmpty = !hideEmpty;
  ui.hide.setAttribute("aria-pressed", String(hideEmpty));
  ui.busyKey = "";
  if (app.columns) layout();
  draw();
}

// Which agents have an event in view that fits the filters; counted again when the view, the filters or the log changed.
function busy() {
  const c = app.columns, found = new Uint8Array(c.agents.length);
  if (ui.t0 === undefined || !ui.want) return found.fill(1);
  const end = app.at !== null ? c.at(app.at + 1) : c.size, upto = Math.min(end, c.upto(ui.t1 + c.longest));
  for (let i = c.from(ui.t0); i < upto; i++) if (!found[c.agent[i]] && c.ts[i] >= ui.t0 && c.ts[i] - Math.max(0, c.ms[i]) <= ui.t1 && matches(i)) found[c.agent[i]] = 1;
  return found;
}

// Lanes in tree order; a folded parent hides its subagents. The parents of a lane that is shown are shown.
function layout() {
  const c = app.columns;
  const children = new Map();
  c.agents.forEach((agent, i) => { const parent = c.index.has(agent.parent) && agent.parent !== agent.id ? c.index.get(agent.parent) : -1; if (!children.has(parent)) children.set(parent, []); children.get(parent).push(i); });
  const lanes = [], shown = hideEmpty ? busy() : null;
  if (shown) for (let i = 0; i < shown.length; i++) for (let up = i, depth = 0; shown[i] === 1 && depth < 12; depth++) { const next = c.index.get(c.agents[up].parent); if (next === undefined || next === up) break; up = next; if (!shown[up]) shown[up] = 2; }
  const walk = (parent, depth) => { for (const i of children.get(parent) || []) { if (shown && !shown[i]) continue; const kids = (children.get(i) || []).length; lanes.push({ i, depth, kids }); if (depth < 12 && !ui.folded.has(i)) walk(i, depth + 1); } };
  walk(-1, 0);
  const shape = lanes.map((lane) => lane.i + "." + lane.depth).join();
  if (shape !== ui.laneShape) { ui.laneShape = shape; ui.laneVersion = (ui.laneVersion || 0) + 1; }
  ui.order = lanes;
  ui.laneOf = new Int32Array(c.agents.length).fill(-1);
  lanes.forEach((lane, row) => { ui.laneOf[lane.i] = row; });
}

async function find() {
  const c = app.columns, { q, file, agent, tool, outcome } = app.params;
  ui.hits = null;
  const key = JSON.stringify([q, file, c.session]);
  if (q || file) {
    if (ui.foundKey !== key) {
      ui.foundKey = key;
      try { const answer = await api("events", { session: c.session, q, file, only: "seq" }); if (!ui || ui.foundKey !== key) return; ui.found = new Set(answer.seqs); } catch (error) { failed(error); return; }
    }
  } else { ui.found = null; ui.foundKey = key; }
  ui.want = { agent: agent ? c.index.get(agent) ?? -2 : -1, tool: tool ? c.tools.indexOf(tool) : -1, outcome: outcome ? c.outcomes.indexOf(outcome) : -1 };
  ui.matchVersion = (ui.matchVersion || 0) + 1;
  ui.filtered = Boolean(ui.found || agent || tool || outcome);
  if (!ui.tablePanel.hidden) list();
  draw();
}
function matches(i) {
  const c = app.columns, want = ui.want;
  if (!ui.filtered) return true;
  return (want.agent === -1 || c.agent[i] === want.agent) && (want.tool === -1 || c.tool[i] === want.tool) && (want.outcome === -1 || c.outcome[i] === want.outcome) && (!ui.found || ui.found.has(c.seq[i]));
}

let waiting = 0;
function draw() {
  if (!ui || waiting) return;
  waiting = requestAnimationFrame(() => { waiting = 0; if (ui) paint(); });
}

function paint() {
  const c = app.columns, C = ui.colours;
  const { context: g, width, height } = fit(ui.canvas);
  if (!c || !c.size || ui.t0 === undefined || !ui.laneOf) return;
  const busyKey = hideEmpty ? [ui.t0, ui.t1, c.size, ui.matchVersion, app.at].join() : "";
  if (ui.laneOf.length < c.agents.length || (busyKey && busyKey !== ui.busyKey)) layout();
  ui.busyKey = busyKey;
  const scale = width / (ui.t1 - ui.t0), X = (t) => (t - ui.t0) * scale;
  const rows = ui.order.length;
  ui.top = Math.max(0, Math.min(ui.top, rows * LANE - (height - AXIS)));
  const Y = (row) => AXIS + row * LANE - ui.top;
  const first = Math.max(0, Math.floor(ui.top / LANE)), last = Math.min(rows - 1, Math.ceil((ui.top + height - AXIS) / LANE));
  const word = Object.fromEntries(c.kinds.map((kind, i) => [kind, i]));
  const failedAt = new Uint8Array(c.outcomes.length);
  c.outcomes.forEach((outcome, i) => { failedAt[i] = outcome === "failed" ? 2 : outcome === "denied" ? 1 : 0; });
  const end = app.at !== null ? c.at(app.at + 1) : c.size;

  g.save();
  g.beginPath(); g.rect(0, AXIS, width, height - AXIS); g.clip();
  for (let row = first; row <= last; row++) { g.fillStyle = C.line; g.fillRect(0, Y(row) + LANE - 1, width, 1); }
  // Turns and lifetimes behind the spans.
  g.fillStyle = C.turn;
  const bar = (row, from, to) => { if (row >= first && row <= last) { const x0 = Math.max(0, X(from)), x1 = Math.min(width, X(to)); if (x1 > x0) g.fillRect(x0, Y(row) + 4, Math.max(1, x1 - x0), LANE - 9); } };
  const starts = new Set([word["user-prompt"], word["subagent-start"]]), stops = new Set([word.stop, word["subagent-stop"], word["session-end"]]);
  if (!ui.turns || ui.turns.of !== c) ui.turns = { of: c, upto: 0, open: new Map(), list: [] };
  const { open, list } = ui.turns;
  for (let i = ui.turns.upto; i < c.size; i++) {
    const kind = c.kind[i];
    if (starts.has(kind)) { if (!open.has(c.agent[i])) open.set(c.agent[i], c.ts[i]); } else if (stops.has(kind) && open.has(c.agent[i])) { list.push(c.agent[i], open.get(c.agent[i]), c.ts[i]); open.delete(c.agent[i]); }
  }
  ui.turns.upto = c.size;
  const edge = app.at !== null ? c.ts[Math.max(0, end - 1)] : Math.max(c.latest(), Math.min(Date.now() + app.skew, ui.t1));
  for (let i = 0; i < list.length; i += 3) bar(ui.laneOf[list[i]], list[i + 1], Math.min(list[i + 2], edge));
  for (const [agent, from] of open) bar(ui.laneOf[agent], from, edge);

  // Spans: wide ones as they are, narrow ones counted per pixel. They stay on a layer of their own while the view stands still,
  // so that a new event costs one mark and not a hundred thousand.
  const from = c.from(ui.t0), upto = Math.min(end, c.upto(ui.t1 + c.longest));
  const columns = Math.ceil(width), ratio = devicePixelRatio || 1;
  const key = [ui.t0, ui.t1, width, height, ratio, ui.top, ui.laneVersion, ui.matchVersion, app.at, C.text, C.bg].join();
  let layer = ui.layer;
  if (!layer || layer.of !== c || layer.key !== key) {
    const canvas = layer ? layer.canvas : document.createElement("canvas");
    canvas.width = ui.canvas.width;
    canvas.height = ui.canvas.height;
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const cells = Math.max(1, (last - first + 1) * columns);
    layer = ui.layer = { of: c, key, canvas, context, next: from, instants: [], density: new Uint16Array(cells), broken: new Uint16Array(cells), dimmed: new Uint8Array(cells) };
  }
  const { density, broken, dimmed, instants, context: l } = layer, touched = new Set(), fresh = layer.next === from;
  const prompt = word["user-prompt"], compact = word.compact, permission = word.permission, pre = word["pre-tool"];
  l.font = C.font;
  l.textBaseline = "middle";
  for (let i = layer.next; i < upto; i++) {
    const kind = c.kind[i], row = ui.laneOf[c.agent[i]];
    if (kind === prompt || kind === compact || kind === permission) { if (c.ts[i] <= ui.t1) instants.push(i); continue; }
    if (row < first || row > last || !c.tool[i] || kind === pre) continue;
    const ms = Math.max(0, c.ms[i]), x1 = X(c.ts[i]), x0 = X(c.ts[i] - ms);
    if (x0 > width || x1 < 0) continue;
    const bad = failedAt[c.outcome[i]], ok = matches(i);
    if (x1 - x0 >= 2) {
      l.globalAlpha = ok ? 1 : 0.16;
      l.fillStyle = bad ? C.fail : C.span;
      l.fillRect(Math.max(-2, x0), Y(row) + 6, Math.min(width + 2, x1) - Math.max(-2, x0), LANE - 13);
      if (bad) l.fillRect(x0, Y(row) + 2, Math.max(2, x1 - x0), 3);
      if (x1 - x0 > 54) { l.globalAlpha = ok ? 1 : 0.4; l.fillStyle = bad ? C.onfail : C.onspan; l.save(); l.beginPath(); l.rect(x0 + 3, Y(row), x1 - x0 - 6, LANE); l.clip(); l.fillText(clean(c.tools[c.tool[i]], 40) + "  " + span(c.ms[i]), Math.max(x0, 0) + 6, Y(row) + LANE / 2); l.restore(); }
    } else {
      const at = (row - first) * columns + Math.max(0, Math.min(columns - 1, x1 | 0));
      if (ok) { density[at]++; if (bad) broken[at]++; } else dimmed[at] = 1;
      if (!fresh) touched.add(at);
    }
  }
  layer.next = Math.max(layer.next, upto);
  const column = (at) => {
    const n = density[at], x = at % columns, y = Y(first + Math.floor(at / columns));
    if (!n) { if (dimmed[at]) { l.globalAlpha = 0.14; l.fillStyle = C.span; l.fillRect(x, y + 8, 1.6, LANE - 17); } return; }
    const h = (LANE - 11) * Math.min(1, 0.45 + Math.log2(n + 1) / 9);
    l.globalAlpha = 1;
    stack(l, C, x, y + (LANE + h) / 2 - 0.5, 1.6, h, broken[at] / n);
  };
  if (fresh) for (let at = 0; at < density.length; at++) column(at); else for (const at of touched) column(at);
  g.globalAlpha = 1;
  if (width && height) g.drawImage(layer.canvas, 0, 0, width, height);
  let quiet = -99;
  for (const i of instants) {
    const x = X(c.ts[i]), row = ui.laneOf[c.agent[i]], kind = c.kind[i];
    if (kind === compact) { g.fillStyle = C.info; g.fillRect(x - 0.5, AXIS, 1.5, height); continue; }
    if (row < first || row > last || (x - quiet < 3 && kind === prompt)) continue;
    quiet = x;
    g.globalAlpha = matches(i) ? 1 : 0.2;
    g.fillStyle = kind === prompt ? C.text : C.wait;
    g.beginPath();
    if (kind === prompt) { g.moveTo(x, Y(row) + 3); g.lineTo(x + 7, Y(row) + 7.5); g.lineTo(x, Y(row) + 12); } else g.arc(x, Y(row) + 8, 4, 0, 7);
    g.fill();
    if (kind === prompt) g.fillRect(x - 0.5, Y(row) + 3, 1.2, LANE - 8);
    g.globalAlpha = 1;
  }
  const selected = app.params.seq ? c.at(Number(app.params.seq)) : -1;
  if (selected >= 0 && selected < c.size && ui.laneOf[c.agent[selected]] >= 0) { const x = X(c.ts[selected]), w = Math.max(4, Math.max(0, c.ms[selected]) * scale); g.strokeStyle = C.text; g.lineWidth = 2; g.strokeRect(x - w - 1, Y(ui.laneOf[c.agent[selected]]) + 3, w + 2, LANE - 7); }
  if (app.at !== null && end > 0) { const x = X(c.ts[end - 1]); g.fillStyle = C.run; g.fillRect(x, AXIS, 1.5, height); }
  g.restore();
  axis(g, width, X, C);
  // Few lanes leave room below: the events that are in view are listed there.
  const tall = AXIS + rows * LANE + 64, room = ui.content.clientHeight - tall - 60;
  const few = room > 150 && ui.tablePanel.hidden;
  ui.frame.style.flex = few ? "0 0 " + Math.max(200, tall) + "px" : "";
  ui.near.hidden = !few;
  if (few) near(from, Math.min(end, c.upto(ui.t1)));
  paintLanes(Y, height);
  paintMini();
  const total = app.at !== null ? end : c.size;
  ui.figure.textContent = plural(total, "event") + (ui.filtered ? ", filtered" : "") + (hideEmpty ? ", " + plural(c.agents.length - rows, "lane") + " hidden" : "");
  ui.canvas.setAttribute("aria-label", "Timeline of " + plural(rows, "agent") + " and " + plural(total, "event") + " from " + when(ui.t0) + " to " + when(ui.t1) + ". The list shows the same events.");
}

// A column of many events: the part of it that failed is at its top, and never too small to be seen.
function stack(g, C, x, bottom, width, height, failed) {
  const bad = failed ? Math.max(3, height * failed) : 0;
  g.fillStyle = C.span; g.fillRect(x, bottom - height, width, height);
  g.fillStyle = C.fail; g.fillRect(x, bottom - height, width, bad);
}

function axis(g, width, X, C) {
  const want = (ui.t1 - ui.t0) / Math.max(2, width / 110);
  const step = STEPS.find((item) => item >= want) || 31536e6;
  const zone = new Date(ui.t0).getTimezoneOffset() * 60000;
  g.font = C.font;
  g.textBaseline = "middle";
  for (let t = Math.ceil((ui.t0 - zone) / step) * step + zone; t < ui.t1; t += step) {
    const x = X(t);
    g.fillStyle = C.line; g.fillRect(x, AXIS - 6, 1, 6);
    g.fillStyle = C.muted; g.fillText(step >= 864e5 ? when(t).split(",")[0] : step < 1000 ? hms(t) + "." + String(new Date(t).getMilliseconds()).padStart(3, "0") : step < 60000 ? hms(t) : hms(t).slice(0, 5), x + 4, AXIS / 2);
  }
  g.fillStyle = C.line; g.fillRect(0, AXIS - 1, width, 1);
}

function paintLanes(Y, height) {
  const visible = ui.order.map((lane, row) => ({ ...lane, row })).filter((lane) => Y(lane.row) > -LANE && Y(lane.row) < height);
  const key = visible.map((lane) => lane.i + ":" + Y(lane.row) + ":" + ui.folded.has(lane.i)).join();
  if (key === ui.lanesKey) return;
  ui.lanesKey = key;
  ui.lanes.replaceChildren(...visible.map((lane) => {
    const agent = app.columns.agents[lane.i];
    return el("div", { class: "lane", css: { top: Y(lane.row) + "px", "--depth": lane.depth, visibility: Y(lane.row) < AXIS - 4 ? "hidden" : "visible" } },
      lane.kids ? el("button", { type: "button", class: "quiet fold", "aria-expanded": String(!ui.folded.has(lane.i)), title: ui.folded.has(lane.i) ? "Show its subagents" : "Fold its subagents", onclick: () => { if (!ui.folded.delete(lane.i)) ui.folded.add(lane.i); layout(); draw(); } }, ui.folded.has(lane.i) ? "▸" : "▾") : "",
      el("button", { type: "button", class: "quiet cut", title: clean(agent.id, 200), onclick: () => openAgent(agent.id) }, clean(agent.name, 60) + (ui.folded.has(lane.i) ? " +" + lane.kids : "")));
  }));
}

function paintMini() {
  const c = app.columns, C = ui.colours;
  const { context: g, width, height } = fit(ui.mini);
  const { first } = c, last = Math.max(c.latest(), first + 1000), scale = width / (last - first);
  // Counted again at most once a second: the overview of a long session hardly changes.
  const now = performance.now();
  if (!ui.overview || ui.overview.of !== c || ui.overview.width !== width || (ui.overview.size !== c.size && now - ui.overview.at > 1000)) {
    const counts = new Uint32Array(Math.ceil(width) + 2), bad = new Uint32Array(counts.length), failing = c.outcomes.indexOf("failed");
    for (let i = 0; i < c.size; i++) { const x = Math.max(0, ((c.ts[i] - first) * scale) | 0); counts[x]++; if (c.outcome[i] === failing) bad[x]++; }
    ui.overview = { of: c, width, size: c.size, at: now, counts, bad };
  }
  const { counts, bad } = ui.overview;
  let most = 1;
  for (const n of counts) if (n > most) most = n;
  for (let x = 0; x < counts.length; x++) if (counts[x]) { const h = 4 + (height - 10) * Math.sqrt(counts[x] / most); stack(g, C, x, height, 1.2, h, bad[x] / counts[x]); }
  const x0 = Math.max(0, (ui.t0 - first) * scale), x1 = Math.min(width, (ui.t1 - first) * scale);
  g.fillStyle = C.bg; g.globalAlpha = 0.72; g.fillRect(0, 0, x0, height); g.fillRect(x1, 0, width - x1, height); g.globalAlpha = 1;
  g.strokeStyle = C.edge; g.lineWidth = 1.5; g.strokeRect(x0 + 0.75, 0.75, Math.max(3, x1 - x0 - 1.5), height - 1.5);
  ui.miniScale = { first, scale };
}

function zoom(factor, x) {
  const width = ui.canvas.clientWidth, t = ui.t0 + (x / width) * (ui.t1 - ui.t0);
  const next = Math.max(20, Math.min(40 * 864e5, (ui.t1 - ui.t0) * factor));
  ui.t0 = t - (x / width) * next;
  ui.t1 = ui.t0 + next;
  moved();
}
function pan(ms) { ui.t0 += ms; ui.t1 += ms; moved(); }
function moved() { const c = app.columns; ui.whole = false; ui.follow = c && ui.t1 >= c.latest(); draw(); }
function reveal(seq) { const c = app.columns; if (!c) return; const i = Math.min(c.size - 1, c.at(seq)); if (i < 0 || ui.t0 === undefined) return; const t = c.ts[i]; if (t < ui.t0 || t > ui.t1) { const width = ui.t1 - ui.t0; ui.t0 = t - width / 2; ui.t1 = t + width / 2; moved(); } }

function hit(x, y) {
  const c = app.columns;
  if (!c || !ui.order || y < AXIS) return -1;
  const lane = ui.order[Math.floor((y - AXIS + ui.top) / LANE)];
  if (!lane) return -1;
  const scale = ui.canvas.clientWidth / (ui.t1 - ui.t0);
  const t = ui.t0 + x / scale, slack = 4 / scale;
  let best = -1, distance = Infinity;
  const upto = Math.min(app.at !== null ? c.at(app.at + 1) : c.size, c.upto(t + c.longest + slack));
  for (let i = c.from(t - slack); i < upto; i++) {
    if (c.agent[i] !== lane.i) continue;
    const start = c.ts[i] - Math.max(0, c.ms[i]);
    if (start - slack > t || c.ts[i] < t - slack) continue;
    const d = Math.max(0, t - c.ts[i], start - t) + Math.max(0, c.ms[i]) * 1e-3 + (c.tool[i] ? 0 : slack / 8);
    if (d < distance) { distance = d; best = i; }
  }
  return best;
}

function pointer() {
  let drag = null;
  const { canvas, mini, tip } = ui;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.shiftKey) { ui.top += event.deltaY; draw(); } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX / canvas.clientWidth) * (ui.t1 - ui.t0));
    else zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.004), event.offsetX);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => { drag = { x: event.offsetX, y: event.offsetY, t0: ui.t0, t1: ui.t1, top: ui.top, moved: false }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) {
      const dx = event.offsetX - drag.x, dy = event.offsetY - drag.y;
      if (Math.abs(dx) + Math.abs(dy) > 4) drag.moved = true;
      if (drag.moved) { const ms = (dx / canvas.clientWidth) * (drag.t1 - drag.t0); ui.t0 = drag.t0 - ms; ui.t1 = drag.t1 - ms; ui.top = drag.top - dy; tip.hidden = true; moved(); }
      return;
    }
    hover(event.offsetX, event.offsetY);
  });
  canvas.addEventListener("pointerup", (event) => { const was = drag; drag = null; if (was && !was.moved) { const i = hit(event.offsetX, event.offsetY); if (i >= 0) select(i); } });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("keydown", (event) => {
    const width = ui.t1 - ui.t0;
    const act = { "+": () => zoom(0.7, canvas.clientWidth / 2), "=": () => zoom(0.7, canvas.clientWidth / 2), "-": () => zoom(1.4, canvas.clientWidth / 2), PageUp: () => pan(-width * 0.7), PageDown: () => pan(width * 0.7), Home: () => { range(true); draw(); }, ArrowUp: () => { ui.top -= LANE; draw(); }, ArrowDown: () => { ui.top += LANE; draw(); } }[event.key];
    if (act) { act(); event.preventDefault(); event.stopPropagation(); }
  });
  const jump = (event) => { if (!(event.buttons & 1) || !ui.miniScale) return; const t = ui.miniScale.first + event.offsetX / ui.miniScale.scale, width = ui.t1 - ui.t0; ui.t0 = t - width / 2; ui.t1 = t + width / 2; moved(); };
  mini.addEventListener("pointerdown", (event) => { mini.setPointerCapture(event.pointerId); jump(event); });
  mini.addEventListener("pointermove", jump);
}

function select(i) { const seq = app.columns.seq[i]; go({ ...pick(), seq }, "timeline", true); openEvent(seq); }

function hover(x, y) {
  const i = hit(x, y), { tip } = ui, c = app.columns;
  if (i < 0) { tip.hidden = true; ui.over = -1; return; }
  if (ui.over !== i) {
    ui.over = i;
    const seq = c.seq[i];
    const head = (c.tools[c.tool[i]] || kindWord(c.kinds[c.kind[i]])) + (c.ms[i] >= 0 ? " · " + span(c.ms[i]) : "") + (c.outcomes[c.outcome[i]] ? " · " + c.outcomes[c.outcome[i]] : "") + " · " + hms(c.ts[i]);
    tip.replaceChildren(el("div", { class: "muted" }, clean(head, 160)), el("div", {}, clean(ui.labels.get(seq) || "", 300)));
    tip.title = utc(c.ts[i]);
    if (!ui.labels.has(seq)) setTimeout(async () => {
      if (!ui || ui.over !== i) return;
      try { const answer = await api("events", { session: c.session, from: seq, limit: 1 }); if (ui && answer.events[0]) { ui.labels.set(seq, answer.events[0].label); if (ui.over === i) tip.lastChild.textContent = clean(answer.events[0].label, 300); } } catch { /* a tip is not worth an error */ }
    }, 90);
  }
  tip.hidden = false;
  tip.style.left = Math.max(0, Math.min(x + 14, ui.canvas.clientWidth - tip.offsetWidth - 6)) + "px";
  tip.style.top = Math.min(y + 16, ui.canvas.clientHeight - tip.offsetHeight - 6) + "px";
}

// Read again when the view rests, at most twice a second.
function near(from, upto) {
  const c = app.columns, low = from < upto ? c.seq[from] : 0, high = from < upto ? c.seq[upto - 1] + 1 : 0;
  const { q, file, agent, tool, outcome } = app.params, key = JSON.stringify([c.session, low, high, q, file, agent, tool, outcome]);
  if (key === ui.nearKey) return;
  ui.nearKey = key;
  if (ui.nearTimer) return;
  const own = ui;  // the view may be left, and shown anew, before the timer or the answer comes
  ui.nearTimer = setTimeout(async () => {
    if (ui !== own) return;
    ui.nearTimer = 0;
    const asked = JSON.parse(ui.nearKey);
    try {
      const answer = asked[2] ? await api("events", { session: asked[0], q, file, agent, tool, outcome, after: asked[1], before: asked[2], limit: 60 }) : { events: [] };
      if (ui === own) keyed(ui.nearRows, [...answer.events].reverse(), (event) => event.seq, (event) => eventRow(event));
    } catch (error) { failed(error); }
  }, 400);
}

function toggleTable() {
  const on = ui.tablePanel.hidden;
  ui.tablePanel.hidden = !on;
  ui.frame.hidden = on;
  ui.table.hidden = !on;
  ui.toggle.setAttribute("aria-pressed", String(on));
  if (on) list();
  draw();
}
export function key(event) {
  if (event.key === "l") { toggleTable(); return true; }
  if (event.key === "e") { toggleEmpty(); return true; }
  return false;
}

// The accessible twin: the same filters, newest first, a page at a time.
async function list(before) {
  const { q, file, agent, tool, outcome } = app.params;
  try {
    const answer = await api("events", { session: currentSession(), q, file, agent, tool, outcome, before: before ?? (app.at !== null ? app.at + 1 : null), limit: 200 });
    if (!ui) return;
    const rows = [...answer.events].reverse().map((event) => eventRow(event));
    if (before === undefined) ui.table.replaceChildren();
    else ui.table.lastChild.remove();
    ui.table.append(...rows);
    if (answer.more) ui.table.append(el("button", { type: "button", class: "quiet", onclick: () => list(answer.events[0].seq) }, "Earlier events"));
    if (!ui.table.childNodes.length) ui.table.append(empty("Nothing fits this filter"));
  } catch (error) { failed(error); }
}

