// Memory: one box over everything that is remembered; facts with the state of their sources; forgetting after a dry run.

import { ago, ask, clean, el, empty, instant, plural, time, when } from "./dom.js";
import { closeInspector, openRecord, section } from "./inspector.js";
import { api, post } from "./net.js";
import { app, failed, go, serverNow } from "./store.js";

export const title = "Memory";
const KINDS = ["fact", "digest", "conversation", "host", "edit", "read", "command", "search", "prompt", "note"];
const SHELVES = [["facts", "Facts"], ["observations", "Observations"], ["lessons", "Lessons"], ["digests", "Digests"]];
let ui = null;

export function mount(root) {
  ui = {
    root, box: el("input", { type: "search", placeholder: "What do you want to remember? ( / )", "aria-label": "Search everything remembered", value: app.params.q || "" }),
    kind: el("select", { "aria-label": "Kind" }, el("option", { value: "" }, "every kind"), KINDS.map((kind) => el("option", { value: kind }, kind))),
    list: el("section", { class: "panel", "aria-label": "Results" }), note: el("p", { class: "muted", role: "status" }), ticket: 0,
  };
  ui.kind.value = app.params.kind || "";
  let timer = 0;
  const search = () => ui && go({ q: ui.box.value, kind: ui.kind.value, shelf: app.params.shelf }, "memory", true);
  ui.box.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 160); });
  ui.kind.addEventListener("change", search);
  ui.tabs = el("div", { class: "tools", role: "group", "aria-label": "What is remembered" }, SHELVES.map(([name, label]) => el("button", { type: "button", class: "chip", data: { shelf: name }, onclick: () => { ui.box.value = ""; go({ shelf: name }, "memory", true); } }, label)), ui.note);
  root.append(el("h1", { class: "sr" }, "Memory"), el("div", { class: "big-search" }, ui.box, ui.kind), ui.tabs, ui.list);
  routed();
}
export function unmount() { ui = null; }

export async function routed() {
  if (!ui) return;
  const ticket = ++ui.ticket, query = (app.params.q || "").trim(), shelf = app.params.shelf || "facts";
  for (const button of ui.tabs.querySelectorAll("button")) button.setAttribute("aria-pressed", String(!query && button.dataset.shelf === shelf));
  try {
    const content = query ? await results(query) : await ({ facts: () => facts(false), digests: () => facts(true), observations, lessons })[shelf in { facts: 1, digests: 1, observations: 1, lessons: 1 } ? shelf : "facts"]();
    if (ui && ticket === ui.ticket) ui.list.replaceChildren(...content);
  } catch (error) { failed(error); }
}

const SHAPES = { fresh: "✓ fresh", moved: "→ moved", changed: "≠ changed", gone: "✕ gone" };
const freshness = (word) => (word ? el("span", { class: "tag " + ({ fresh: "t-ok", moved: "t-run", changed: "t-wait", gone: "t-fail" }[word] || "") }, SHAPES[word] || word) : null);
const age = (ts) => (ts ? el("span", { title: ts }, ago(serverNow() - instant(ts)) + " ago") : null);

function row(kind, titleText, text, meta, open) {
  return el("button", { type: "button", class: "hit", onclick: (event) => { for (const other of document.querySelectorAll(".hit.selected")) other.classList.remove("selected"); event.currentTarget.classList.add("selected"); open(); } },
    el("span", { class: "meta" }, el("span", { class: "tag" }, clean(kind, 30)), meta), el("span", { class: "title" }, clean(titleText, 300)), text ? el("span", { class: "text" }, clean(text, 400)) : null);
}

async function results(query) {
  const answer = await api("search", { q: query, kind: app.params.kind, limit: 40 });
  if (ui) ui.note.textContent = answer.hits.length ? plural(answer.hits.length, "hit") + ", best first" : "";
  if (!answer.hits.length) return [empty("Nothing that is remembered fits", "Other words may: a file, a symbol, what the problem was called then.")];
  return answer.hits.map((hit) => row(hit.kind, hit.summary, (hit.files || []).slice(0, 4).join(", "), [freshness(hit.freshness), age(hit.ts), hit.branch ? el("span", {}, clean(hit.branch, 40)) : null, hit.why && hit.why.length ? el("span", {}, "matched " + clean(hit.why.slice(0, 5).join(", "), 120)) : null], () => openHit(hit)));
}

async function openHit(hit) {
  const id = String(hit.id);
  try {
    if (id.startsWith("fact:") || id.startsWith("digest:")) {
      const found = (await api("facts")).facts.find((fact) => fact.name === id.slice(id.indexOf(":") + 1));
      if (found) { openFact(found); return; }
    }
    const whole = await api("item", { id });
    openRecord(clean(hit.kind + " " + id, 120), [["when", time(hit.ts, when)], ["session", hit.session ? el("button", { type: "button", class: "quiet", onclick: () => go({ session: hit.session, story: hit.session, q: null }, "sessions") }, clean(hit.session, 60)) : null], ["branch", hit.branch], ["matched", (hit.why || []).join(", ")]], whole.text,
      /^\d+$/.test(id) ? forgetButton({ observations: [Number(id)] }) : null);
  } catch (error) { failed(error); }
}

async function facts(digests) {
  const answer = await api("facts");
  const rows = answer.facts.filter((fact) => fact.digest === digests);
  if (ui) ui.note.textContent = !rows.length ? "" : digests ? plural(rows.length, "digest") + ", written before each compaction" : plural(rows.length, "fact") + ", kept until you forget them";
  if (!rows.length) return [digests ? empty("No digest yet", "Before a compaction, what must survive it is written down and shown here.") : empty("No fact yet", "Facts are what an agent was told to remember: decisions, conventions, traps.", el("code", { class: "code" }, "python3 slipstream.pyz memory add --type decision --desc \"…\" --body \"…\""))];
  return rows.map((fact) => row(fact.type, fact.description || fact.name, fact.body.split("\n").find((line) => line.trim()) || "", [freshness(worst(fact.marks)), age(fact.updated || fact.created), fact.branch ? el("span", {}, clean(fact.branch, 40)) : null, fact.supersededBy ? el("span", { class: "tag" }, "superseded") : null, (fact.tags || []).slice(0, 4).map((tag) => el("span", {}, "#" + clean(tag, 30)))], () => openFact(fact)));
}
const worst = (marks) => ["gone", "changed", "moved", "fresh"].find((word) => (marks || []).some((item) => item.mark.startsWith(word))) || "";

function openFact(fact) {
  openRecord(clean(fact.description || fact.name, 200), [["name", el("code", { class: "code" }, clean(fact.name, 200))], ["type", fact.type], ["updated", time(fact.updated || fact.created, when)], ["branch", fact.branch], ["supersedes", (fact.supersedes || []).join(", ")], ["superseded by", fact.supersededBy], ["tags", (fact.tags || []).join(", ")]], fact.body,
    fact.marks && fact.marks.length ? section("Sources", el("ul", {}, fact.marks.map((item) => el("li", {}, freshness(item.mark.split(" ")[0]), " ", el("button", { type: "button", class: "quiet", onclick: () => go({ file: item.file, q: null }, "timeline") }, clean(item.place, 300)))))) : null,
    el("p", { class: "tools" }, el("button", { type: "button", onclick: () => supersede(fact) }, "Supersede…"), forgetButton({ facts: [fact.name] })));
}

async function observations() {
  const answer = await api("observations", { limit: 80 });
  if (ui) ui.note.textContent = answer.observations.length ? "the newest " + answer.observations.length : "";
  if (!answer.observations.length) return [empty("No observation yet", "Each finished turn becomes one: what was asked, what was done, what came of it.")];
  return answer.observations.map((item) => row(item.kind, item.summary, (item.files || []).slice(0, 4).join(", "), [el("span", {}, "#" + item.id), age(item.ts), item.branch ? el("span", {}, clean(item.branch, 40)) : null], () => openHit({ id: item.id, kind: item.kind, ts: item.ts, session: item.session, branch: item.branch })));
}

async function lessons() {
  const answer = await api("project/lessons", { minCount: 2 });
  if (ui) ui.note.textContent = answer.lessons.length ? "topics that keep coming back" : "";
  if (!answer.lessons.length) return [empty("No lesson yet", "A topic that comes up in several turns is told here, with the turns it comes from.")];
  return answer.lessons.map((item) => row("lesson", item.topic, item.summary, [el("span", {}, plural(item.count, "turn") + " in " + plural(item.sessions, "session"))], () => openRecord(clean(item.topic, 120), [["turns", item.count], ["sessions", item.sessions], ["files", (item.files || []).join(", ")]], item.summary, section("Comes from", el("p", {}, item.observationIds.slice(0, 40).map((id) => el("button", { type: "button", class: "quiet", onclick: () => openHit({ id, kind: "observation" }) }, "#" + id)))))));
}

function forgetButton(what) {
  return el("button", { type: "button", class: "danger", onclick: async () => {
    try {
      const plan = await post("memory/forget", { ...what, dryRun: true });
      const names = [...plan.facts, ...plan.observations.map((id) => "observation #" + id)];
      const dialog = ask("Forget this?", el("p", {}, names.length ? "This would go. A line in the audit log says that it went, not what it said." : "There is nothing to forget."), el("ul", {}, names.map((name) => el("li", {}, el("code", { class: "code" }, clean(name, 200))))),
        el("p", { class: "tools" }, el("button", { type: "button", class: "danger", disabled: !names.length, onclick: async () => { dialog.close(); try { await post("memory/forget", { ...what, dryRun: false }); closeInspector(); routed(); } catch (error) { failed(error); } } }, "Forget"), el("button", { type: "button", onclick: () => dialog.close() }, "Keep it")));
    } catch (error) { failed(error); }
  } }, "Forget…");
}

function supersede(fact) {
  const description = el("input", { type: "text", value: fact.description, required: true, maxlength: 300 }), body = el("textarea", { rows: 6, required: true });
  body.value = fact.body;
  const dialog = ask("Supersede this fact", el("form", { method: "dialog", class: "grid", onsubmit: async () => {
    try { await post("memory/supersede", { name: fact.name, description: description.value, body: body.value }); closeInspector(); routed(); } catch (error) { failed(error); }
  } }, el("label", {}, "in one line", description), el("label", {}, "in full", body), el("p", { class: "tools" }, el("button", {}, "Save the new fact"), el("button", { type: "button", onclick: () => dialog.close() }, "Cancel"))));
}
