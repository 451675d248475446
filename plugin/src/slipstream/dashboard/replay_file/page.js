"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const make = (tag, name, text) => { const node = document.createElement(tag); if (name) node.className = name; if (text !== undefined) node.textContent = text; return node; };
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const SIGNS = { running: "▸", waiting: "⏸\ufe0e", done: "✓", failed: "✕" };
const KINDS = { "user-prompt": "❯", "tool-failure": "✕", compact: "≍", permission: "⏸\ufe0e", stop: "□", "subagent-start": "↳", "subagent-stop": "↲" };
const span = (ms) => (ms < 0 ? "" : ms < 1000 ? ms + " ms" : ms < 60000 ? (ms / 1000).toFixed(1) + " s" : Math.floor(ms / 60000) + " min " + Math.round((ms % 60000) / 1000) + " s");
// event: [seq, ts, agent, kind, label, outcome, ms, state of that agent after it]
const events = data.events;
let at = events.length - 1;
let playing = 0;

function show(index) {
  at = Math.max(0, Math.min(events.length - 1, index));
  const agents = new Map(data.agents.map((row) => [row[0], row[1]]));
  for (let i = 0; i <= at; i++) agents.set(events[i][2], events[i][7]);
  $("range").value = at;
  $("clock").textContent = events.length ? clock.format(events[at][1]) : "–";
  $("count").textContent = "event " + (events.length ? events[at][0] : 0) + " of " + data.last;
  $("agents").replaceChildren(...[...agents].map(([id, [status, task, tools, failures, waits]]) => {
    const box = make("div", "agent");
    box.append(make("strong", status, (SIGNS[status] || "·") + " " + status), " ", make("strong", "", id), make("div", "", waits || task), make("div", "ms", tools + " tools" + (failures ? ", " + failures + " failed" : "")));
    return box;
  }));
  const from = Math.max(0, Math.min(at - 12, events.length - 26));
  $("events").replaceChildren(...events.slice(from, from + 26).map(([seq, ts, agent, kind, label, outcome, ms], offset) => {
    const row = make("li", from + offset === at ? "here" : "");
    row.append(make("time", "", clock.format(ts)), make("span", outcome === "failed" ? "failed" : "", outcome === "failed" ? "✕" : KINDS[kind] || "▪"), make("span", "", (agent === "main" ? "" : agent + ": ") + (label || kind)), make("span", "ms", span(ms)));
    row.title = kind + ", event " + seq;
    row.addEventListener("click", () => show(from + offset));
    return row;
  }));
}
function jump(test) { for (let i = at + 1; i < events.length; i++) if (test(events[i])) { show(i); return; } }
function play() {
  clearInterval(playing);
  playing = playing ? 0 : setInterval(() => { if (at >= events.length - 1) play(); else show(at + 1); }, 140);
  $("play").textContent = playing ? "Pause" : "Play";
  if (playing && at >= events.length - 1) show(0);
}
$("range").max = events.length - 1;
$("range").addEventListener("input", () => show(Number($("range").value)));
$("play").addEventListener("click", play);
$("prompt").addEventListener("click", () => jump((event) => event[3] === "user-prompt"));
$("failure").addEventListener("click", () => jump((event) => event[5] === "failed"));
document.addEventListener("keydown", (event) => {
  if (event.key === " " && event.target.tagName !== "BUTTON") { play(); event.preventDefault(); } else if (event.target.type !== "range" && event.key === "ArrowRight") show(at + 1);
  else if (event.target.type !== "range" && event.key === "ArrowLeft") show(at - 1);
  else if (event.key === "f") jump((item) => item[5] === "failed");
});
show(at);
