// Elements, marks and formats. Text reaches the page as text nodes only; HTML is never made from strings.

const SVG = "http://www.w3.org/2000/svg";
// Control, bidirectional and other invisible characters could make a label lie about itself. The joiners, without which some
// scripts and emoji fall apart, stay.
const HOSTILE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

export const $ = (id) => document.getElementById(id);

export function clean(value, limit = 2000) {
  const text = String(value ?? "");
  const short = text.length > limit ? text.slice(0, limit) + "…" : text;
  return short.replace(HOSTILE, "\ufffd");
}

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") node.setAttribute("class", value);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(node.dataset, value);
    else if (name === "css") for (const [key, item] of Object.entries(value)) node.style.setProperty(key, item);
    else if (name in node && !node.namespaceURI.endsWith("svg") && !name.includes("-") && name !== "list" && name !== "for") node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  add(node, children);
  return node;
}

export function add(node, children) {
  for (const child of children.flat(4)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : clean(child));
  }
  return node;
}

// What others wrote runs in its own direction, so that a long label is cut off at its end.
const FREE = /\b(cut|prose|title|text)\b/;
export function el(tag, props, ...children) {
  const node = fill(document.createElement(tag), props, children);
  if (props && FREE.test(props.class)) node.dir = "auto";
  return node;
}
export const svg = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);

const WORDS = { running: "running", waiting: "waiting", idle: "idle", stalled: "stalled", done: "done", failed: "failed" };
export const KINDS = {
  "user-prompt": ["prompt", "prompt"], "session-start": ["note", "session start"], "session-end": ["end", "session end"],
  "pre-tool": ["tool", "tool starts"], "post-tool": ["tool", "tool"], "tool-failure": ["failed", "failure"],
  "subagent-start": ["agent", "subagent starts"], "subagent-stop": ["agent", "subagent ends"], stop: ["end", "turn ends"],
  permission: ["waiting", "permission"], notification: ["note", "notification"], compact: ["compact", "compaction"], plan: ["note", "plan"],
};

export function mark(name, label) {
  const node = svg("svg", { class: "mark m-" + name, viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("use", { href: "#m-" + name }));
  return label ? [node, el("span", { class: "sr" }, label)] : node;
}
export const status = (name) => el("span", { class: "state s-" + name }, mark(name in WORDS ? name : "idle"), el("span", {}, WORDS[name] || name));
export const kindMark = (event) => mark(event.outcome === "failed" ? "failed" : (KINDS[event.kind] || ["note"])[0]);
export const kindWord = (kind) => (KINDS[kind] || [0, clean(kind, 40)])[1];

// Numbers and times. Unknown is a dash, never a zero.
export const known = (value) => typeof value === "number" && Number.isFinite(value);
const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
export const count = (value) => (known(value) ? (value < 1000 ? String(Math.round(value)) : whole.format(value)) : "–");
export const plural = (value, word) => count(value) + " " + word + (value === 1 ? "" : "s");
export function tokens(value) {
  if (!known(value)) return "–";
  if (value < 1000) return String(Math.round(value));
  if (value < 99950) return (value / 1000).toFixed(1) + "k";
  if (value < 999500) return Math.round(value / 1000) + "k";
  return (value / 1e6).toFixed(2) + "M";
}
export function bytes(value) {
  if (!known(value)) return "–";
  for (const unit of ["B", "KB", "MB"]) {
    if (value < 1000) return (value < 10 && unit !== "B" ? value.toFixed(1) : Math.round(value)) + " " + unit;
    value /= 1000;
  }
  return value.toFixed(1) + " GB";
}
export const percent = (part) => (known(part) ? (part > 1 ? "over 100" : part < 0.1 && part > 0 ? (part * 100).toFixed(1) : Math.round(part * 100)) + " %" : "–");
export function span(ms) {
  if (!known(ms)) return "–";
  if (ms < 1000) return Math.max(0, Math.round(ms)) + " ms";
  if (ms < 60000) return (ms / 1000).toFixed(1) + " s";
  const s = Math.round(ms / 1000);
  if (s < 3600) return Math.floor(s / 60) + " min " + (s % 60) + " s";
  const h = Math.floor(s / 3600);
  return h < 48 ? h + " h " + Math.floor((s % 3600) / 60) + " min" : Math.floor(h / 24) + " d " + (h % 24) + " h";
}
export function ago(ms) {
  if (!known(ms)) return "–";
  if (ms < 1500) return "now";
  const s = Math.round(ms / 1000);
  if (s < 60) return s + " s";
  if (s < 3600) return Math.floor(s / 60) + " min";
  if (s < 172800) return Math.floor(s / 3600) + " h";
  return Math.floor(s / 86400) + " d";
}
export const instant = (ts) => (typeof ts === "number" ? ts : Date.parse(ts || ""));
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayAndTime = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
export const hms = (ts) => (known(instant(ts)) ? clock.format(instant(ts)) : "–");
export const when = (ts) => (known(instant(ts)) ? dayAndTime.format(instant(ts)) : "–");
export const utc = (ts) => (known(instant(ts)) ? new Date(instant(ts)).toISOString() : "");
export const time = (ts, format = hms) => el("time", { title: utc(ts), datetime: utc(ts) }, format(ts));

// Keyed reuse of rows: a row that stays is updated in place, so focus and selection survive.
export function keyed(parent, items, key, make, update) {
  const old = parent.rows || new Map();
  const wanted = new Set(items.map(key));
  for (const [id, row] of old) if (!wanted.has(id)) row.remove();
  const rows = new Map();
  let cursor = parent.firstChild;
  for (const item of items) {
    const id = key(item);
    const row = old.get(id) || make(item);
    if (update) update(row, item);
    rows.set(id, row);
    if (row === cursor) cursor = cursor.nextSibling;
    else parent.insertBefore(row, cursor);
  }
  parent.rows = rows;
}

export const setText = (node, text) => { const value = clean(text); if (node.textContent !== value) node.textContent = value; };
export function ask(label, ...content) {
  const dialog = el("dialog", { "aria-label": label }, el("h2", {}, label), content);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

// What to do where nothing has been recorded.
export const FIRST = "In Claude Code with the slipstream plugin, the first prompt is enough.";
export const empty = (title, ...lines) => el("div", { class: "empty" }, el("h2", {}, title), lines.filter(Boolean).map((line) => el("p", {}, line)));
