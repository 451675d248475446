// The frame: session, routes, the strip that answers three questions, keys, and who is told what changed.

import { $, ago, clean, count, el, hms, instant, keyed, mark, percent, plural, setText, svg, tokens, when } from "./dom.js";
import { listen, post, retryNow, SignedOut } from "./net.js";
import { address, app, applyDelta, changed, currentSession, failed, follow, go, loadColumns, loadNow, loadSessions, route, serverNow, watch } from "./store.js";
import { closeInspector, refreshInspector, togglePin } from "./inspector.js";
import { moment, state } from "./agents.js";
import * as now from "./now.js";
import * as timeline from "./timeline.js";
import * as replay from "./replay.js";
import * as sessions from "./sessions.js";
import * as memory from "./memory.js";
import * as map from "./map.js";
import * as usage from "./usage.js";
import * as health from "./health.js";

const VIEWS = { now, timeline, replay, sessions, memory, map, usage, health };
const ORDER = Object.keys(VIEWS);
let current = null;

function parseRoute() {
  const [path, query] = route().replace(/^#\/?/, "").split("?");
  const params = Object.fromEntries(new URLSearchParams(query || ""));
  const before = { session: app.session, at: app.at, view: current };
  app.view = path in VIEWS ? path : "now";
  app.params = params;
  app.at = /^\d{1,15}$/.test(params.at || "") ? Number(params.at) : null;
  const session = currentSession();
  if (session !== before.session) { app.now = app.live = app.columns = null; app.session = session; }
  if (app.at === null && app.live && app.live.session === session) app.now = app.live;
  if (session && (session !== before.session || (app.at !== before.at && (app.at !== null || app.now !== app.live)) || !app.now)) loadNow();
  if (VIEWS[app.view] !== before.view) mount();
  else if (current.routed) current.routed();
  changed("route");
}

function mount() {
  const view = $("view");
  if (current && current.unmount) current.unmount();
  current = VIEWS[app.view];
  view.rows = null;
  view.replaceChildren();
  view.setAttribute("aria-label", current.title);
  for (const link of document.querySelectorAll("#rail a")) {
    if (link.dataset.view === app.view) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  view.className = current.full ? "full" : "";
  current.mount(view);
  view.scrollTop = 0;
}

// The strip.
function waitingAgents() {
  const rows = (app.now && app.now.agents.rows) || [];
  return rows.filter((row) => row.status === "waiting" && row.waitingFor).sort((a, b) => instant(a.since) - instant(b.since));
}
function strip() {
  const data = app.now;
  const at = moment();
  const rows = (data && data.agents.rows) || [];
  const waiting = waitingAgents();
  const elsewhere = [...app.info.values()].filter((item) => item.session !== app.session && item.status === "waiting" && app.at === null);
  const running = rows.filter((row) => state(row, at) === "running").length;
  const main = rows.find((row) => row.id === "main");
  let name = "idle", title = "Nobody waits for you", sub = running ? plural(running, "agent") + (running === 1 ? " runs" : " run") : "nothing runs", what = "";
  if (waiting.length) {
    name = "waiting";
    title = clean(waiting[0].name, 40) + (waiting.length > 1 ? " and " + (waiting.length - 1) + " more wait for you" : " waits for you");
    what = clean(waiting[0].waitingFor, 90);
    sub = ago(at - instant(waiting[0].since)) + " · " + what + " · since " + hms(waiting[0].since);
  } else if (elsewhere.length) {
    name = "waiting"; title = "Another session waits for you"; sub = what = clean(elsewhere[0].firstAsk || elsewhere[0].session, 90);
  } else if (!data) { title = app.sessions.length ? "Loading" : "No session yet"; sub = " "; } else if (main && main.status === "failed") {
    name = "failed"; title = "The turn failed"; sub = clean(main.task, 90);
  } else if (data.ended) { name = "done"; title = "Session ended"; sub = when(data.ended); } else if (main && main.status === "waiting") {
    name = "done"; title = "Turn finished"; sub = "your move · since " + hms(main.since) + " (" + ago(at - instant(main.since)) + ")";
  } else if (running) name = "running";
  $("strip-wait").classList.toggle("is-waiting", name === "waiting");
  $("strip-wait").href = elsewhere.length && !waiting.length ? address("now", { session: elsewhere[0].session }) : address("now", keep());
  $("strip-window").href = address("now", keep());
  if ($("wait-mark").dataset.name !== name) { $("wait-mark").dataset.name = name; $("wait-mark").replaceChildren(mark(name)); }
  setText($("wait-title"), title);
  setText($("wait-sub"), sub);
  badge(app.at === null && name === "waiting", title, what);

  const budget = data && data.budget;
  setText($("window-title"), budget && budget.used !== null ? percent(budget.used / budget.size) + " full · " + tokens(budget.used) + " / " + tokens(budget.size) : "Window –");
  setText($("window-sub"), budget ? budget.sourceText + (budget.turnsLeft ? " · about " + plural(budget.turnsLeft, "turn") + " left" : "") : "not known yet");
  miniGauge(budget);

  const age = ago(app.live && !app.live.behind ? serverNow() - instant(app.live.lastTs) : NaN);
  setText($("capture-title"), age === "now" ? "just now" : age === "–" ? age : age + " ago");
  setText($("capture-sub"), app.live ? "recorded, " + plural(app.live.counts.events, "event") : "nothing recorded");
  band();
}
const keep = () => ({ session: app.params.session, at: app.params.at });

function miniGauge(budget) {
  const bar = $("window-bar");
  const ratio = budget && budget.used !== null ? Math.min(1, budget.used / budget.size) : 0;
  const key = budget ? [ratio.toFixed(3), budget.level, budget.warn, budget.compact].join() : "";
  if (bar.dataset.key === key) return;
  bar.dataset.key = key;
  bar.setAttribute("viewBox", "0 0 96 10");
  bar.setAttribute("class", "mini-gauge gauge");
  bar.replaceChildren(svg("rect", { class: "track", x: 0, y: 1, width: 96, height: 8, rx: 3 }));
  if (!budget) return;
  if (ratio) bar.append(svg("rect", { class: "fill " + budget.level, x: 0, y: 1, width: Math.max(3, 96 * ratio), height: 8, rx: 3 }));
  for (const tick of [budget.warn, budget.compact]) bar.append(svg("line", { class: "tick", x1: 96 * tick, x2: 96 * tick, y1: 0, y2: 10 }));
}

// A badge in title and icon, a notification where the person asked for one, one polite announcement.
let badged = "";
function badge(on, title, what) {
  const key = on ? title + ": " + what : "";
  document.title = (on ? "● " + title + " – " : "") + "slipstream" + (app.project.name ? " · " + clean(app.project.name, 60) : "");
  if (key === badged) return;
  badged = key;
  $("favicon").href = on ? "data:image/svg+xml," + encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#16324f"/><circle cx="16" cy="16" r="9" fill="#ffc24f"/></svg>') : "icon.svg";
  setText($("announce"), key);
  if (on && "Notification" in self && Notification.permission === "granted" && localStorage.getItem("slipstream.notify") === "1") {
    try { new Notification(title, { body: what, tag: "slipstream-" + location.port }); } catch { /* some systems only allow them from a worker */ }
  }
}

function band() {
  const node = $("band");
  let text = "", broken = false, button = null;
  if (app.offline) {
    text = "The server does not answer. Last update " + hms(app.lastUpdate) + "; trying again.";
    broken = true;
    button = ["Try now", () => { retryNow(); reload(); }];
  } else if (app.error) {
    text = app.error;
    broken = true;
    button = ["Dismiss", () => { app.error = null; changed("status"); }];
  } else if (app.now && app.now.behind > 0) {
    text = "Reading a long log: " + percent(1 - app.now.behind) + " so far.";
  } else if (app.at !== null && app.now) {
    text = hms(app.now.lastTs) + ", event " + count(app.now.seq) + " of " + count(app.now.total) + ", replay";
    button = ["Back to live (Esc)", () => go({ at: null })];
  }
  node.hidden = !text;
  const key = text + (button ? button[0] : "");
  if (node.dataset.key === key) return;
  node.dataset.key = key;
  node.className = broken ? "broken" : "";
  node.replaceChildren(el("span", {}, text), button ? el("button", { type: "button", onclick: button[1] }, button[0]) : "");
}

function picker() {
  const select = $("session");
  const ids = app.sessions.slice(0, 60);
  if (app.session && !ids.includes(app.session)) ids.unshift(app.session);
  keyed(select, ids.length ? ids : [""], (id) => id, (id) => el("option", { value: id }), (option, id) => {
    const info = app.info.get(id);
    const label = info && info.firstAsk ? info.firstAsk : id || "no session yet";
    setText(option, (info && info.lastTs ? when(info.lastTs) + "  " : "") + clean(label, 46));
  });
  select.value = app.session || "";
  select.disabled = !ids.length;
}

function signedOut() {
  $("view").replaceChildren(el("div", { class: "empty", id: "signed-out" },
    el("h2", {}, "This browser has no session"),
    el("p", {}, "The page shows what your agents do, so it is only open to you. In a terminal in the project, run:"),
    el("p", {}, el("code", { class: "code" }, "python3 slipstream.pyz dashboard open")),
    el("p", { class: "muted" }, "It opens this page with a code that works once, for one minute. Inside Claude Code: /slipstream:dashboard.")));
}

async function reload() {
  try { await loadSessions(); app.signedOut = false; startListening(); parseRoute(); await loadNow(); if (app.columns) loadColumns(true); } catch (error) { failed(error); }
}

watch((reasons) => {
  if (app.signedOut) { signedOut(); return; }
  if (reasons.has("sessions")) picker();
  if (reasons.has("route")) $("session").value = app.session || "";
  strip();
  if (current && current.update) current.update(reasons);
  refreshInspector(reasons);
});
// Ages tick once a second, only while somebody can see them.
setInterval(() => { if (!document.hidden && !app.signedOut) { strip(); if (current && current.tick) current.tick(); } }, 1000);
document.addEventListener("visibilitychange", () => { if (!document.hidden) changed("visible"); });

// Only once the session is proven: a refused stream would be asked for again and again.
let listening = false;
const startListening = () => { if (!listening) { listening = true; listen(take); } };
function take(message) {
  if (message.type === "status") {
    const was = app.offline;
    app.offline = message.connected === false;
    if (was && !app.offline) reload();
    changed("status");
  } else if (message.type === "delta") applyDelta(message.data);
  else if (message.type === "sessions") {
    // A session that is looked at began anew, or the first one of all began.
    const ours = !app.session || message.data.session === app.session;
    loadSessions().then(() => { if (!app.session) parseRoute(); else if (follow(message.data.session)) { loadNow(); changed("route"); if (current.routed) current.routed(); } else if (ours) { loadNow(); if (app.columns) loadColumns(true); } }, failed);
  }
  else if (message.type === "resync") reload();
}

// Keys.
const LETTERS = { n: "now", t: "timeline", r: "replay", s: "sessions", m: "memory", p: "map", u: "usage", h: "health" };
let pending = 0;
function rowsOf() { return [...document.querySelectorAll("#view .row:not(.head), #view .agent:not(.head), #view .hit, #view tr.link")].filter((row) => row.offsetParent); }
function moveRow(step) {
  const rows = rowsOf();
  if (!rows.length) return;
  const here = rows.indexOf(document.activeElement);
  const next = rows[Math.max(0, Math.min(rows.length - 1, here < 0 ? (step > 0 ? 0 : rows.length - 1) : here + step))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || app.signedOut) return;
  const target = event.target;
  const typing = target.matches("input:not([type=range]), textarea, select");
  if (event.key === "Escape") {
    if ($("help").open) return;
    if (typing) { target.blur(); return; }
    if (!closeInspector() && app.at !== null) go({ at: null });
    return;
  }
  if (typing) return;
  if (pending && LETTERS[event.key]) { pending = 0; go({}, LETTERS[event.key]); event.preventDefault(); return; }
  pending = 0;
  const key = event.key;
  if (/^[1-8]$/.test(key)) go({}, ORDER[Number(key) - 1]);
  else if (key === "g") pending = 1;
  else if (key === "?") $("help").showModal();
  else if (key === "/") { const box = document.querySelector("#view input[type=search]"); if (box) box.focus(); else go({}, "memory"); }
  else if (key === "p" && togglePin()) { /* the details stay, or go */ } else if (key === "j") moveRow(1);
  else if (key === "k") moveRow(-1);
  else if (key === "[" || key === "]") {
    const here = app.sessions.indexOf(app.session);
    const next = app.sessions[here + (key === "[" ? 1 : -1)];
    if (next) go({ session: next, at: null });
  } else if (current.key && current.key(event)) { /* the view took it */ } else if (["ArrowLeft", "ArrowRight", " ", "f", "w"].includes(key) && !(key === " " && target.matches("button, a, summary, [tabindex]:not(main)"))) {
    if (target.matches("input[type=range]") && key.startsWith("Arrow") && !event.shiftKey) return;
    if (!replay.key(event)) return;
  } else return;
  event.preventDefault();
});

document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); $("view").focus(); });
$("help-button").addEventListener("click", () => $("help").showModal());
$("session").addEventListener("change", (event) => go({ session: event.target.value, at: null }));
const THEMES = ["system", "light", "dark", "contrast"];
function theme(name) {
  if (name === "system") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = name;
  setText($("theme-name"), "Colours: " + name);
  $("theme").title = "Colours: " + name;
  localStorage.setItem("slipstream.theme", name);
  changed("theme");
}
$("theme").addEventListener("click", () => theme(THEMES[(THEMES.indexOf(localStorage.getItem("slipstream.theme") || "system") + 1) % THEMES.length]));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => changed("theme"));
for (const name of ["hashchange", "route"]) addEventListener(name, () => { if (!takeCode()) parseRoute(); });

// The launch link carries a code in its fragment: it is spent at once and taken out of the address.
function takeCode() {
  const found = /^#code=([\w-]+)$/.exec(location.hash);
  if (!found) return false;
  history.replaceState(null, "", "/");
  post("session", { code: found[1] }).then(() => { app.signedOut = false; current = null; reload(); retryNow(); }, (error) => {
    if (error instanceof SignedOut) failed(error); else reload();
  });
  return true;
}

theme(localStorage.getItem("slipstream.theme") || "system");
if (!takeCode()) reload();
