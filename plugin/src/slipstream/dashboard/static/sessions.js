// Sessions: one line each; opening one tells its story.

import { ask, bytes, clean, count, el, empty, FIRST, instant, keyed, known, mark, plural, setText, span, status, time, tokens, when } from "./dom.js";
import { state } from "./agents.js";
import { openEvent } from "./inspector.js";
import { api, post } from "./net.js";
import { dollars, group, moneySwitch, sum } from "./usage.js";
import { app, changed, failed, go, loadSessions, serverNow } from "./store.js";

export const title = "Sessions";
let ui = null;

export function mount(root) {
  ui = { root, rows: el("div", {}), story: el("div", { class: "story" }), text: el("input", { type: "search", placeholder: "Filter sessions ( / )", "aria-label": "Filter sessions" }) };
  ui.text.addEventListener("input", () => update(new Set()));
  ui.more = el("button", { type: "button", class: "quiet", hidden: true, onclick: more }, "Earlier sessions");
  const head = el("div", { class: "row session head", "aria-hidden": "true" }, el("span", {}, "first ask"), el("span", {}, "last event"), ...["turns", "tools", "files", "tokens"].map((name) => el("span", { class: "num opt" }, name)), el("span", { class: "num opt price" }, "list price"));
  ui.money = moneySwitch(() => update());
  ui.listing = el("div", { class: "sessions" }, el("div", { class: "view-head" }, el("h1", {}, "Sessions"), el("span", { class: "spacer" }), ui.money, ui.text), el("section", { class: "panel", "aria-label": "Sessions" }, head, ui.rows, ui.more));
  routed();
}
export function unmount() { ui = null; }

export function routed() {
  if (!ui) return;
  if (app.params.story) { openStory(app.params.story); return; }
  ui.root.replaceChildren(ui.listing);
  loadSessions().catch(failed);
  lineage();
  update(new Set());
}

// A fork or a continued session repeats replies that another one had first: the host's transcripts tell from which.
async function lineage() {
  try {
    const { shared, rows } = await api("usage");
    if (!ui) return;
    ui.from = new Map((shared || []).map((item) => [item.session, item.sharedWith]));
    ui.exact = new Map(group(rows || [], (row) => row.session).map((item) => [item.id, item]));
    update();
    if (ui.fillStory) ui.fillStory();
  } catch { /* without transcripts there is neither lineage nor an exact figure to show */ }
}

export function update() {
  if (!ui || app.params.story) return;
  if (!app.sessions.length) { ui.root.replaceChildren(empty("No session yet", "Each session of an agent in this project becomes a line here: what was asked, how long it took, what it changed.", FIRST)); return; }
  ui.money.setAttribute("aria-pressed", String(Boolean(app.money)));
  ui.listing.classList.toggle("priced", Boolean(app.money));
  const wanted = ui.text.value.toLowerCase();
  const rows = app.sessions.map((id) => app.info.get(id) || { session: id }).filter((info) => info.firstTs || info.lastTs || info.pending)
    .filter((info) => !wanted || [info.firstAsk, info.session, info.branch].some((text) => (text || "").toLowerCase().includes(wanted)));
  keyed(ui.rows, rows.slice(0, 400), (info) => info.session, makeRow, fillRow);
  ui.more.hidden = app.sessions.every((id) => app.info.has(id));
  if (rows.some((info) => info.pending) && !ui.again) ui.again = setTimeout(() => { if (ui) { ui.again = 0; loadSessions().catch(failed); } }, 1500);
}

// Of the long random ids the beginning tells them apart.
const shortId = (id) => (/^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(id) ? id.slice(0, 8) : clean(id, 40));

function makeRow(info) {
  const row = el("button", { type: "button", class: "row session", onclick: () => go({ session: info.session, story: info.session, at: null }, "sessions") });
  row.parts = { ask: el("span", { class: "cut ask" }), sub: el("small", { class: "cut" }), last: el("span", { class: "muted" }), figures: Array.from({ length: 5 }, (_, i) => el("span", { class: i < 4 ? "num opt" : "num opt price" })) };
  const first = el("span", { class: "cut" }, row.parts.ask, row.parts.sub);
  row.parts.ask.style.display = "block";
  row.append(first, row.parts.last, ...row.parts.figures);
  return row;
}
function fillRow(row, info) {
  const { parts } = row;
  setText(parts.ask, clean(info.firstAsk || (info.pending ? "…" : "No prompt recorded"), 160));
  // Each part on its own: a branch that is written from right to left turns none of its neighbours round.
  const from = ui.from && ui.from.get(info.session);
  const about = [shortId(info.session), info.branch && clean(info.branch, 40), info.failures && count(info.failures) + " failed", info.agents > 1 && plural(info.agents - 1, "subagent"), from && "continued from " + shortId(from)].filter(Boolean);
  if (parts.sub.dataset.key !== about.join()) { parts.sub.dataset.key = about.join(); parts.sub.title = clean(info.session, 400); parts.sub.replaceChildren(...about.flatMap((text, i) => [i ? " · " : "", el("bdi", {}, text)])); }
  const now = info.status === "running" ? state(info, serverNow()) : info.status;
  if (parts.last.dataset.key !== info.lastTs + now) {
    parts.last.dataset.key = info.lastTs + now;
    parts.last.replaceChildren(time(info.lastTs, when), ["running", "waiting", "stalled"].includes(now) ? el("div", {}, status(now)) : "");
  }
  [info.turns, info.tools, info.files].forEach((value, i) => setText(parts.figures[i], count(value)));
  const exact = ui.exact && ui.exact.get(info.session);
  setText(parts.figures[3], exact ? tokens(sum(exact)) : known(info.tokens) ? "~" + tokens(info.tokens) : "–");
  parts.figures[3].title = exact ? "exact, from the host's transcript: every token of every reply, read from the cache too" : "~ is what tools read, estimated from bytes: no transcript of this session was found";
  setText(parts.figures[4], app.money ? (exact ? dollars(exact) : "–") : "");
}

async function more() {
  const seen = app.sessions.filter((id) => app.info.has(id));
  try {
    const answer = await api("sessions", { limit: 60, after: seen[seen.length - 1] });
    for (const item of answer.info) app.info.set(item.session, item);
    changed("sessions");
  } catch (error) { failed(error); }
}

async function openStory(session) {
  if (!ui.exact) lineage();
  try {
    const answer = await api("story", { session });
    if (!ui || app.params.story !== session) return;
    const info = app.info.get(session) || {};
    const whole = info.firstTs && info.lastTs ? instant(info.lastTs) - instant(info.firstTs) : NaN;
    const figures = el("div", { class: "figures" });
    ui.fillStory = () => {
      const exact = ui.exact && ui.exact.get(session);
      figures.replaceChildren(...[["started", when(info.firstTs)], ["lasted", span(whole)], ["turns", count(info.turns)], ["tool calls", count(info.tools)], ["failed", count(info.failures)], ["tokens read, about", tokens(info.tokens)],
        exact ? ["tokens in all", tokens(sum(exact))] : null, exact ? ["output", tokens(exact.output)] : null, exact && app.money ? ["at list price", dollars(exact)] : null].filter(Boolean).map(([name, value]) => el("div", {}, el("strong", {}, value), el("span", {}, name))));
    };
    ui.fillStory();
    ui.root.replaceChildren(
      el("p", {}, el("a", { href: "#/sessions" }, "‹ All sessions")),
      el("div", { class: "view-head" }, el("h1", {}, clean(info.firstAsk || session, 160))),
      figures,
      el("div", { class: "tools" },
        el("button", { type: "button", onclick: () => go({ session, story: null, at: 0 }, "replay") }, "Replay"),
        el("button", { type: "button", onclick: () => go({ session, story: null }, "timeline") }, "Timeline"),
        el("a", { class: "button", href: "/api/export?session=" + encodeURIComponent(session) + "&form=html", download: "" }, "Export as HTML"),
        el("a", { class: "button", href: "/api/export?session=" + encodeURIComponent(session) + "&form=zip", download: "" }, "Export as zip"),
        moneySwitch(() => ui && ui.fillStory()),
        el("button", { type: "button", class: "danger", onclick: () => removal(session) }, "Remove…")),
      el("section", { class: "panel story", "aria-label": "Story" }, el("div", { class: "body" },
        answer.earlier ? el("p", { class: "muted" }, count(answer.earlier) + " earlier turns are left out; the timeline has them.") : null,
        answer.lanes.length ? answer.lanes.map(lane) : empty("Nothing happened yet"))));
  } catch (error) { failed(error); }
}

function lane(item) {
  const outcome = item.ended === "failed" ? status("failed") : item.ended ? null : el("span", { class: "muted" }, "open");
  return el("section", {},
    el("h2", { class: "prose" }, item.prompt === null ? "Before the first prompt" : clean(item.prompt, 1200)),
    el("p", { class: "muted" }, time(item.ts, when), " · " + span(item.ms) + " · " + clean(item.summary, 300) + (item.failures ? " · " + count(item.failures) + " failed" : "") + (item.delegated ? " · delegated" : ""), " ", outcome),
    item.changed.length ? el("p", {}, "Changed: ", item.changed.map((name, i) => [i ? ", " : "", el("button", { type: "button", class: "quiet", onclick: () => go({ file: name, story: null }, "timeline") }, clean(name, 200))])) : null,
    item.actions.length ? el("details", {}, el("summary", {}, count(item.actions.length + item.more) + " actions"),
      item.actions.map((event) => el("button", { type: "button", class: "row event", data: { seq: event.seq }, onclick: () => openEvent(event.seq) }, time(event.ts), mark(event.outcome === "failed" ? "failed" : event.kind.startsWith("sub") ? "agent" : event.kind === "compact" ? "compact" : event.kind === "permission" ? "waiting" : "tool", event.outcome), el("span", { class: "who cut muted" }, clean(event.agent, 40)), el("span", { class: "cut" }, clean(event.label, 200)), el("span", { class: "num muted" }, event.ms >= 0 ? span(event.ms) : ""))),
      item.more ? el("p", { class: "muted" }, "and " + count(item.more) + " more") : null) : null);
}

async function removal(session) {
  try {
    const plan = await post("sessions/remove", { session, dryRun: true });
    const files = Object.entries(plan.wouldRemove);
    const dialog = ask("Remove this session?",
      el("p", {}, files.length ? "These files go, and cannot be brought back:" : "Nothing of it is left on disk."), el("ul", {}, files.map(([name, size]) => el("li", {}, el("code", { class: "code" }, clean(name, 200)), " " + bytes(size)))),
      el("p", {}, "These stay: " + plan.keeps.map((item) => clean(item, 400)).join("; ") + "."),
      el("p", { class: "tools" }, el("button", { type: "button", class: "danger", disabled: !files.length, onclick: async () => { dialog.close(); try { await post("sessions/remove", { session }); app.info.delete(session); await loadSessions(); go({ session: null, story: null }, "sessions"); } catch (error) { failed(error); } } }, "Remove"), el("button", { type: "button", onclick: () => dialog.close() }, "Keep it")));
  } catch (error) { failed(error); }
}

