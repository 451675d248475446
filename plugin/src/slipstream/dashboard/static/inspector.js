// The right-hand details: an event and its neighbours, an agent, a file, a record. Every mark can be opened.

import { $, ago, bytes, clean, count, el, instant, kindMark, kindWord, span, status, svg, time, tokens, utc, when } from "./dom.js";
import { api } from "./net.js";
import { app, failed, go } from "./store.js";
import { moment, nameOf, state } from "./agents.js";

// Two places: what was opened last, and above it what is pinned: it stays while others are opened beside it.
let shown = null;
let held = null;
let back = null;
let latest = 0;
let pinned = null;
let detail = null;

function places() {
  if (detail) return;
  pinned = el("div", { class: "card pinned", hidden: true });
  detail = el("div", { class: "card", hidden: true });
  $("inspector").replaceChildren(pinned, detail);
}

// Closes what was opened last; what is pinned stays until it is closed itself.
export function closeInspector() {
  if (!detail || detail.hidden) return false;
  detail.hidden = true;
  detail.replaceChildren();
  shown = null;
  $("inspector").hidden = !held;
  for (const row of document.querySelectorAll("#view .selected")) row.classList.remove("selected");
  if (back && back.isConnected) back.focus();
  return true;
}

function unpin() {
  held = null;
  pinned.hidden = true;
  pinned.replaceChildren();
  $("inspector").hidden = detail.hidden;
  if (detail.hidden) { if (back && back.isConnected) back.focus(); } else detail.querySelector("button").focus();
}

function pin() {
  held = { ...shown };
  fill(pinned, held, true);
  shown = null;
  detail.hidden = true;
  detail.replaceChildren();
  pinned.querySelector("button").focus();
}

function fill(node, what, isPinned) {
  const name = (text) => el("span", { class: "sr" }, text);
  node.hidden = false;
  node.replaceChildren(el("header", {}, el("h2", {}, what.title),
    el("button", { type: "button", class: "icon pin", "aria-pressed": String(isPinned), title: isPinned ? "Unpin (p)" : "Pin: stays while others are opened (p)", onclick: isPinned ? unpin : pin }, svg("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("path", { d: "M7 3h6l-.8 5.500 2.800 3H5l2.800-3zM10 11.500V17" })), name("Pin these details")),
    el("button", { type: "button", class: "icon", title: isPinned ? "Close" : "Close (Esc)", onclick: isPinned ? unpin : closeInspector }, el("span", { "aria-hidden": "true" }, "×"), name("Close details"))), ...what.content);
}

export function togglePin() {
  if (detail && !detail.hidden) pin(); else if (held) unpin(); else return false;
  return true;
}

function show(title, ...content) {
  const node = $("inspector");
  places();
  if (node.hidden || detail.hidden) back = document.activeElement;
  node.hidden = false;
  node.setAttribute("aria-label", "Details: " + title);
  shown = { ...shown, title, content: content.flat().filter(Boolean) };
  fill(detail, shown, false);
  if (held) detail.scrollIntoView({ block: "nearest" }); else node.scrollTop = 0;
}

const section = (title, ...content) => el("section", {}, el("h3", {}, title), content);
const facts = (pairs) => el("dl", { class: "facts" }, pairs.filter((pair) => pair && pair[1] !== null && pair[1] !== undefined && pair[1] !== "").map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));

export function eventRow(event, onclick) {
  return el("button", { type: "button", class: "row event", data: { seq: event.seq }, onclick: onclick || (() => openEvent(event.seq)) },
    time(event.ts), el("span", {}, kindMark(event), el("span", { class: "sr" }, kindWord(event.kind))),
    el("span", { class: "who cut muted", title: clean(event.agent, 200) }, clean(nameOf(event.agent), 40)), el("span", { class: "cut", title: clean(event.label, 500) }, clean(event.label, 200) || kindWord(event.kind)),
    el("span", { class: "num muted" }, event.ms >= 0 && event.ms !== null ? span(event.ms) : ""));
}

export async function openEvent(seq, session = app.session) {
  const ticket = ++latest;
  for (const row of document.querySelectorAll("#view .row.event")) row.classList.toggle("selected", row.dataset.seq === String(seq));
  try {
    const answer = await api("event", { session, seq });
    if (ticket !== latest) return;
    const { event, neighbours } = answer;
    shown = { type: "event", seq };
    show(kindWord(event.kind),
      el("p", { class: "prose" }, clean(event.label, 4000)),
      section("Event", facts([
        ["number", count(event.seq)], ["at", time(event.ts, (ts) => when(ts) + ", " + new Date(instant(ts)).toLocaleTimeString("en-GB"))],
        ["agent", el("button", { type: "button", class: "quiet", title: clean(event.agent, 200), onclick: () => openAgent(event.agent) }, clean(nameOf(event.agent), 60))],
        ["tool", event.tool], ["outcome", event.outcome], ["took", event.ms >= 0 && event.ms !== null ? span(event.ms) : null],
        ["result", typeof event.bytes === "number" ? bytes(event.bytes) + ", about " + tokens(event.bytes / 3.6) + " tokens" : null],
        ["file", event.file ? el("button", { type: "button", class: "quiet", onclick: () => go({ file: event.file }, "timeline") }, clean(event.file, 300)) : null],
      ])),
      el("p", { class: "tools" },
        el("button", { type: "button", onclick: () => go({ at: event.seq }, "replay") }, "Replay from here"),
        el("button", { type: "button", onclick: () => go({ agent: event.agent, seq: event.seq }, "timeline") }, "In the timeline")),
      answer.data && Object.keys(answer.data).length ? section("Recorded data", el("pre", { tabindex: 0, "aria-label": "Recorded data" }, clean(JSON.stringify(answer.data, null, 1), 20000))) : null,
      section("Around it", neighbours.map((item) => { const row = eventRow(item); row.querySelector(".who").remove(); row.lastChild.remove(); row.classList.toggle("selected", item.seq === event.seq); return row; })));
  } catch (error) { failed(error); }
}

export function openAgent(id) {
  latest++;
  shown = { type: "agent", id };
  show(...agentCard(id));
}

function agentCard(id) {
  const row = app.now && app.now.agents.rows.find((item) => item.id === id);
  if (!row) return ["Agent " + clean(id, 60), el("p", { class: "muted" }, "Not known at this moment.")];
  const at = moment();
  return [clean(row.name, 80),
    status(state(row, at)),
    section("Task", el("p", { class: "prose" }, clean(row.task, 2000) || "–")),
    row.waitingFor ? section("Waits for", el("p", { class: "prose" }, clean(row.waitingFor, 2000))) : null,
    section("Figures", facts([
      ["since", time(row.since, when)], ["last event", el("span", { title: utc(row.lastTs) }, ago(at - instant(row.lastTs)) + " ago")], ["tool calls", count(row.toolCalls)], ["failed", count(row.failures)],
      ["read, estimated", tokens(row.tokens) + " tokens"], ["this turn", tokens(row.turnTokens) + " tokens"], ["parent", row.parent ? clean(nameOf(row.parent), 60) : null], ["id", el("code", { class: "code" }, clean(row.id, 200))],
    ])),
    row.running && row.running.length ? section("Running now", row.running.map((tool) => el("p", {}, clean(tool.label, 200) + " · " + ago(at - instant(tool.since))))) : null,
    el("p", { class: "tools" }, el("button", { type: "button", onclick: () => go({ agent: id }, "timeline") }, "Its events"))];
}

export function openRecord(title, pairs, text, ...more) {
  latest++;
  shown = { type: "record" };
  show(title, text ? el("p", { class: "prose" }, clean(text, 20000)) : null, pairs ? section("Record", facts(pairs)) : null, ...more);
}

export function refreshInspector(reasons) {
  if (!detail || !(reasons.has("delta") || reasons.has("now")) || $("inspector").contains(document.activeElement)) return;
  for (const [node, what] of [[pinned, held], [detail, shown]]) {
    if (!what || what.type !== "agent") continue;
    const [title, ...content] = agentCard(what.id);
    Object.assign(what, { title, content: content.flat().filter(Boolean) });
    fill(node, what, node === pinned);
  }
}
export { facts, section };
