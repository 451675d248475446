// Health: what is wrong, and what to do about it.

import { bytes, clean, el, mark, plural, time, when } from "./dom.js";
import { api, post } from "./net.js";
import { failed } from "./store.js";

export const title = "Health";
const WORDS = { ok: ["done", "ok"], warn: ["stalled", "warn"], fail: ["failed", "fail"] };
let ui = null;

export function mount(root) {
  ui = { root, list: el("div", {}), doctor: el("div", {}), sizes: el("div", { class: "body" }) };
  ui.run = el("button", { type: "button", onclick: runDoctor }, "Run doctor");
  root.append(el("div", { class: "view-head" }, el("h1", {}, "Health")), el("div", { class: "grid" },
    el("section", { class: "panel", "aria-label": "Findings" }, el("header", {}, el("h2", {}, "This store"), el("button", { type: "button", class: "quiet", onclick: load }, "Check again")), ui.list),
    el("section", { class: "panel", "aria-label": "Doctor" }, el("header", {}, el("h2", {}, "Doctor"), ui.run), ui.doctor),
    el("section", { class: "panel", "aria-label": "Sizes" }, el("header", {}, el("h2", {}, "What is on disk")), ui.sizes)));
  load();
}
export function unmount() { ui = null; }

const level = (name) => { const [shape, word] = WORDS[name] || WORDS.warn; return el("span", { class: "state s-" + shape }, mark(shape), el("span", {}, word)); };
const entry = (item) => el("div", { class: "finding" }, level(item.level), el("strong", {}, clean(item.title || item.name || item.check, 200)), item.text || item.message || item.detail ? el("p", { class: "prose" }, clean(item.text || item.message || item.detail, 4000)) : null, item.remedy ? el("p", {}, "What to do: ", /^(slipstream|python3|claude) /.test(item.remedy) ? el("code", { class: "code" }, clean(item.remedy, 400)) : clean(item.remedy, 400)) : null);

async function load() {
  try {
    const report = await api("report/health");
    if (!ui) return;
    ui.list.replaceChildren(...report.findings.map(entry));
    doctor(report.doctor);
    ui.sizes.replaceChildren(el("table", { class: "small" }, el("tbody", {}, report.sizes.map((row) => el("tr", {}, el("td", {}, el("code", { class: "code" }, clean(row.name, 120))), el("td", { class: "num" }, bytes(row.bytes)))))));
  } catch (error) { failed(error); }
}

function doctor(answer) {
  if (!answer) { ui.doctor.replaceChildren(el("p", { class: "body muted" }, "Doctor tries each part: it starts the MCP server, runs each hook, writes and finds a fact. It takes some seconds.")); return; }
  const rows = answer.findings || answer.checks || answer.results || [];
  ui.doctor.replaceChildren(el("p", { class: "body muted" }, answer.error ? "It could not be run: " + clean(answer.error, 200) : plural(rows.length, "check") + ", ", answer.at ? time(answer.at, when) : ""), ...[...rows].sort((a, b) => ["fail", "warn", "ok"].indexOf(a.level) - ["fail", "warn", "ok"].indexOf(b.level)).map(entry));
}

async function runDoctor() {
  ui.run.disabled = true;
  ui.run.textContent = "Running…";
  try { const answer = await post("doctor", {}); if (ui) doctor(answer); } catch (error) { failed(error); } finally { if (ui) { ui.run.disabled = false; ui.run.textContent = "Run doctor"; } }
}
