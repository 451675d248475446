// The right-hand details: an event and its neighbours, an agent, a file, a record. Every mark can be opened.

import { $, ago, bytes, clean, count, el, instant, kindMark, kindWord, span, status, time, tokens, utc, when } from "./dom.js";
import { api } from "./net.js";
import { app, failed, go } from "./store.js";
import { moment, nameOf, state } from "./agents.js";

let shown = null;
let back = null;
let latest = 0;

export function closeInspector() {
  if ($("inspector").hidden) return false;
  $("inspector").hidden = true;
  shown = null;
  for (const row of document.querySelectorAll("#view .selected")) row.classList.remove("selected");
  if (back && back.isConnected) back.focus();
  return true;
}

function show(title, ...content) {
  const node = $("inspector");
  if (node.hidden) back = document.activeElement;
  node.hidden = false;
  node.setAttribute("aria-label", "Details: " + title);
  node.replaceChildren(el("header", {}, el("h2", {}, title), el("button", { type: "button", class: "icon", title: "Close (Esc)", onclick: closeInspector }, el("span", { "aria-hidden": "true" }, "×"), el("span", { class: "sr" }, "Close details"))), ...content.flat().filter(Boolean));
  node.scrollTop = 0;
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
        ["agent", el("button", { type: "button", class: "quiet", onclick: () => openAgent(event.agent) }, clean(event.agent, 60))],
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
  const row = app.now && app.now.agents.rows.find((item) => item.id === id);
  shown = { type: "agent", id };
  if (!row) { show("Agent " + clean(id, 60), el("p", { class: "muted" }, "Not known at this moment.")); return; }
  const at = moment();
  show(clean(row.name, 80),
    status(state(row, at)),
    section("Task", el("p", { class: "prose" }, clean(row.task, 2000) || "–")),
    row.waitingFor ? section("Waits for", el("p", { class: "prose" }, clean(row.waitingFor, 2000))) : null,
    section("Figures", facts([
      ["since", time(row.since, when)], ["last event", el("span", { title: utc(row.lastTs) }, ago(at - instant(row.lastTs)) + " ago")], ["tool calls", count(row.toolCalls)], ["failed", count(row.failures)],
      ["read, estimated", tokens(row.tokens) + " tokens"], ["this turn", tokens(row.turnTokens) + " tokens"], ["parent", row.parent ? clean(row.parent, 60) : null], ["id", el("code", { class: "code" }, clean(row.id, 200))],
    ])),
    row.running && row.running.length ? section("Running now", row.running.map((tool) => el("p", {}, clean(tool.label, 200) + " · " + ago(at - instant(tool.since))))) : null,
    el("p", { class: "tools" }, el("button", { type: "button", onclick: () => go({ agent: id }, "timeline") }, "Its events")));
}

export function openRecord(title, pairs, text, ...more) {
  latest++;
  shown = { type: "record" };
  show(title, text ? el("p", { class: "prose" }, clean(text, 20000)) : null, pairs ? section("Record", facts(pairs)) : null, ...more);
}

export function refreshInspector(reasons) {
  if (shown && shown.type === "agent" && (reasons.has("delta") || reasons.has("now")) && !$("inspector").contains(document.activeElement)) openAgent(shown.id);
}
export { facts, section };
