// Replay: the scrubber over a session. Live is its right end; every view follows the moment it stands at.

import { clean, count, el, empty, FIRST, hms, keyed, setText, time } from "./dom.js";
import { agentHead, renderAgents } from "./agents.js";
import { eventRow, openAgent } from "./inspector.js";
import { api } from "./net.js";
import { app, currentSession, failed, go, loadColumns } from "./store.js";
import { colours, fit } from "./timeline.js";

export const title = "Replay";
const SPEEDS = [1, 4, 16];
let ui = null;
let playing = null;
let speed = 4;
let skipIdle = true;

const panel = (name, ...content) => el("section", { class: "panel", "aria-label": name }, el("header", {}, el("h2", {}, name)), content);

export function mount(root) {
  ui = {
    root, canvas: el("canvas", { role: "img", "aria-label": "Prompts, failures and compactions along the session" }),
    range: el("input", { type: "range", min: 0, max: 0, value: 0, step: 1, "aria-label": "Moment of the session, by event" }),
    clock: el("span", { class: "clock" }), count: el("span", { class: "muted" }), agents: el("div", { class: "agents" }), around: el("div", { class: "tail" }), told: el("div", { class: "body grid" }), colours: colours(),
  };
  ui.play = el("button", { type: "button", title: "Space", onclick: toggle }, "Play");
  const step = (label, hint, act) => el("button", { type: "button", title: hint, "aria-label": hint, onclick: act }, label);
  ui.speeds = SPEEDS.map((value) => el("button", { type: "button", class: "chip", "aria-pressed": String(value === speed), onclick: () => { speed = value; for (const button of ui.speeds) button.setAttribute("aria-pressed", String(button.value === String(value))); }, value }, value + "×"));
  ui.idle = el("button", { type: "button", class: "chip", "aria-pressed": String(skipIdle), onclick: () => { skipIdle = !skipIdle; ui.idle.setAttribute("aria-pressed", String(skipIdle)); } }, "skip idle");
  ui.content = el("div", {}, el("div", { class: "view-head" }, el("h1", {}, "Replay"), ui.count),
    el("div", { class: "scrub" }, ui.canvas, ui.range),
    el("div", { class: "player" }, ui.clock, ui.play, step("‹", "One event back (←)", () => move(-1)), step("›", "One event on (→)", () => move(1)),
      el("span", { class: "muted" }, "next"), step("Prompt", "Next prompt (Shift →)", () => jump(isPrompt, 1)), step("Failure", "Next failure (f)", () => jump(isFailure, 1)), step("Waiting", "Next waiting (w)", () => jump(isWaiting, 1)), step("Compaction", "Next compaction", () => jump(isCompaction, 1)), ui.speeds, ui.idle),
    el("div", { class: "grid replay-grid" },
      panel("Agents at this moment", agentHead(), ui.agents), el("div", { class: "grid" }, panel("Events around it", ui.around), panel("The turn", ui.told))));
  shown = "";
  root.append(ui.content);
  ui.range.addEventListener("input", () => { stop(); setIndex(Number(ui.range.value)); });
  ui.resize = new ResizeObserver(() => paint());
  ui.resize.observe(ui.canvas);
  loadColumns();
  update(new Set(["columns"]));
}
export function unmount() { stop(); if (ui) ui.resize.disconnect(); ui = null; }
export function routed() { loadColumns(); }

const isPrompt = (c, i) => c.kinds[c.kind[i]] === "user-prompt";
const isFailure = (c, i) => c.outcomes[c.outcome[i]] === "failed" || c.kinds[c.kind[i]] === "tool-failure";
const isWaiting = (c, i) => c.kinds[c.kind[i]] === "permission";
const isCompaction = (c, i) => c.kinds[c.kind[i]] === "compact";

function index() { const c = app.columns; if (!c) return 0; return app.at === null ? c.size - 1 : Math.max(0, Math.min(c.size - 1, c.at(app.at + 1) - 1)); }
function setIndex(i) {
  const c = app.columns;
  if (!c || !c.size) return;
  const at = i >= c.size - 1 ? null : c.seq[Math.max(0, i)];
  go({ at }, app.view, true);
}
function move(step) { stop(); setIndex(index() + step); }
function jump(test, step) {
  const c = app.columns;
  stop();
  if (!c) { loadColumns(); return; }
  // Round the end: from live, the first one is the next.
  for (let n = 1, i = index(); n < c.size; n++) { i = (i + step + c.size) % c.size; if (test(c, i)) { setIndex(i); return; } }
}

// Keys work in every view: moving the scrubber turns the view into that moment.
export function key(event) {
  if (!app.columns && currentSession()) { loadColumns(); }
  const step = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
  if (step && event.shiftKey) jump(isPrompt, step);
  else if (step) move(step);
  else if (event.key === " ") toggle();
  else if (event.key === "f") jump(isFailure, 1);
  else if (event.key === "w") jump(isWaiting, 1);
  else return false;
  return true;
}

function toggle() {
  if (playing) { stop(); return; }
  const c = app.columns;
  if (!c || !c.size) return;
  let i = index() >= c.size - 1 ? 0 : index();
  playing = { clock: c.ts[i], last: performance.now(), i };
  if (ui) setText(ui.play, "Pause");
  setIndex(i);
  const step = (now) => {
    if (!playing || !app.columns) return;
    const columns = app.columns;
    playing.clock += (now - playing.last) * speed;
    playing.last = now;
    i = playing.i;
    while (i < columns.size - 1 && columns.ts[i + 1] <= playing.clock) i++;
    if (skipIdle && i < columns.size - 1 && columns.ts[i + 1] - playing.clock > 1500 * speed) playing.clock = columns.ts[i + 1] - 300 * speed;
    if (i !== playing.i) { playing.i = i; setIndex(i); }
    if (i >= columns.size - 1) { stop(); return; }
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
function stop() { playing = null; if (ui) setText(ui.play, "Play"); }

export function update(reasons) {
  if (!ui) return;
  if (!currentSession()) { ui.root.replaceChildren(empty("Nothing to replay yet", "A recorded session can be played back here, event by event.", FIRST)); return; }
  if (reasons.has("theme")) ui.colours = colours();
  const c = app.columns;
  if (!c || !c.size) return;
  const i = index();
  ui.range.max = c.size - 1;
  ui.range.value = i;
  ui.range.setAttribute("aria-valuetext", hms(c.ts[i]) + ", event " + count(c.seq[i]));
  setText(ui.clock, hms(c.ts[i]));
  setText(ui.count, "event " + count(c.seq[i]) + " of " + count(c.last()) + (app.at === null ? " · live" : ""));
  paint();
  if (app.now) renderAgents(ui.agents, app.now.agents.rows, (agent) => openAgent(agent.id), 60);
  clearTimeout(resting);
  resting = setTimeout(() => around(c.session, c.seq[i]), shown ? 90 : 0);
}
let resting = 0;

let pending = null, busy = false, shown = "";
async function around(session, at) {
  const key = session + ":" + at;
  if (key === shown) return;
  pending = { session, at };
  if (busy) return;
  busy = true;
  try {
    while (pending && ui) {
      const wish = pending;
      pending = null;
      const answer = await api("moment", wish);
      shown = wish.session + ":" + wish.at;
      if (!ui) return;
      keyed(ui.around, answer.events, (event) => event.seq, (event) => eventRow(event), (row, event) => { row.classList.toggle("selected", event.seq === wish.at); });
      ui.told.replaceChildren(
        el("div", {}, el("h3", {}, "It had been told"), el("p", { class: "prose" }, answer.prompt ? clean(answer.prompt.label, 1500) : "–"), answer.prompt ? el("p", { class: "muted" }, time(answer.prompt.ts)) : null),
        el("div", {}, el("h3", {}, "Changed so far in this turn"), answer.files.length ? el("ul", {}, answer.files.map((file) => el("li", {}, el("code", { class: "code" }, clean(file, 300))))) : el("p", { class: "muted" }, "no file")),
        el("div", {}, el("h3", {}, "It said next"), el("p", { class: "prose" }, answer.next ? clean(answer.next.label, 1500) : "–"), answer.next ? el("p", { class: "muted" }, time(answer.next.ts)) : null));
    }
  } catch (error) { failed(error); } finally { busy = false; }
}

// The marks are drawn once, passed and ahead; moving the scrubber only copies them.
function marks(width, height, ratio) {
  const c = app.columns, C = ui.colours;
  const key = [c.session, c.size, width, height, ratio, C.text].join();
  if (ui.layers && ui.layers.key === key) return ui.layers;
  const n = Math.max(1, c.size - 1), X = (i) => 8 + (i / n) * (width - 16);
  const is = (name) => c.kinds.indexOf(name), prompt = is("user-prompt"), compact = is("compact"), failure = is("tool-failure"), failed = c.outcomes.indexOf("failed");
  const counts = new Uint32Array(Math.ceil(width) + 1);
  for (let i = 0; i < c.size; i++) if (c.tool[i]) counts[X(i) | 0]++;
  let most = 1;
  for (const value of counts) if (value > most) most = value;
  const layer = (colour) => {
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const g = canvas.getContext("2d");
    g.scale(ratio, ratio);
    g.fillStyle = colour;
    for (let x = 0; x < counts.length; x++) if (counts[x]) { const h = 3 + (height - 24) * Math.sqrt(counts[x] / most); g.fillRect(x, height - h, 1.4, h); }
    let lastPrompt = -9, lastFailure = -9;
    g.strokeStyle = C.fail;
    g.lineWidth = 1.8;
    for (let i = 0; i < c.size; i++) {
      const kind = c.kind[i];
      if (kind !== prompt && kind !== compact && kind !== failure && (failed < 0 || c.outcome[i] !== failed)) continue;
      const x = X(i);
      if (kind === prompt) { if (x - lastPrompt < 3) continue; lastPrompt = x; g.fillStyle = C.text; g.beginPath(); g.moveTo(x - 1, 0); g.lineTo(x + 6, 5); g.lineTo(x - 1, 10); g.fill(); } else if (kind === compact) { g.fillStyle = C.info; g.fillRect(x - 0.5, 0, 2, height); } else { if (x - lastFailure < 3) continue; lastFailure = x; g.beginPath(); g.moveTo(x - 3.5, 12); g.lineTo(x + 3.5, 19); g.moveTo(x + 3.5, 12); g.lineTo(x - 3.5, 19); g.stroke(); }
    }
    return canvas;
  };
  ui.layers = { key, passed: layer(C.span), ahead: layer(C.line), X };
  return ui.layers;
}

function paint() {
  const c = app.columns;
  if (!ui || !c || !c.size) return;
  const { context: g, width, height } = fit(ui.canvas), ratio = devicePixelRatio || 1;
  if (!width || !height) return;
  const { passed, ahead, X } = marks(width, height, ratio);
  const x = X(index());
  g.drawImage(ahead, 0, 0, width, height);
  g.clearRect(0, 0, x, height);
  if (x > 1) g.drawImage(passed, 0, 0, Math.round(x * ratio), passed.height, 0, 0, x, height);
  g.fillStyle = ui.colours.run;
  g.fillRect(x - 1, 0, 2, height);
}
