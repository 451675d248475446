// Map: folders as areas, files as nodes sized by their connections. Edges appear for what is pointed at or selected.

import { clean, count, el, empty, plural, svg } from "./dom.js";
import { openRecord, section } from "./inspector.js";
import { api } from "./net.js";
import { app, failed, go } from "./store.js";

export const title = "Map";
export const full = true;
const SIZE = 1000;
let RATIO = 0.62;
let ui = null;
let graph = null;

export function mount(root) {
  ui = { root, text: el("input", { type: "search", placeholder: "Find a file ( / )", "aria-label": "Find a file", value: app.params.q || "" }), note: el("span", { class: "muted key", role: "status" }), wrap: el("div", { class: "panel map-wrap" }) };
  ui.list = el("div", { class: "scroll-x" });
  ui.details = el("details", {}, el("summary", {}, "The same as a table"), ui.list);
  let timer = 0;
  ui.text.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => ui && go({ q: ui.text.value, file: app.params.file }, "map", true), 120); });
  ui.text.addEventListener("keydown", (event) => { if (event.key === "Enter") { const hit = matching()[0]; if (hit) select(hit.id); } });
  root.append(el("div", { class: "view-full" }, el("h1", { class: "sr" }, "Map"), el("div", { class: "tools" }, ui.text, el("button", { type: "button", onclick: whole }, "Whole project"), ui.note), ui.wrap, ui.details));
  ui.wrap.append(empty("Reading the project", "The graph of imports is made from the index; a large project takes a few seconds the first time."));
  load();
}
export function unmount() { ui = null; }
export function routed() { paint(); }

async function load() {
  try {
    const answer = await api("codegraph");
    if (answer.error) throw new Error(answer.error);
    if (!ui) return;
    ui.details.hidden = !answer.nodes.length;
    if (!answer.nodes.length) { graph = null; ui.wrap.replaceChildren(empty("No file with code yet", "Files and what they import are drawn here; search and dependents come with them.")); return; }
    RATIO = Math.max(0.3, Math.min(1.6, ui.wrap.clientHeight / Math.max(1, ui.wrap.clientWidth)));
    graph = prepare(answer);
    draw();
    paint();
  } catch (error) { if (ui) ui.wrap.replaceChildren(empty("The map could not be made", error.message)); if (error.name !== "Error") failed(error); }
}

function prepare(answer) {
  const nodes = new Map(answer.nodes.map((node) => [node.id, { ...node, out: [], in: [] }]));
  for (const { source, target } of answer.edges) { const a = nodes.get(source), b = nodes.get(target); if (a && b) { a.out.push(b); b.in.push(a); } }
  const areas = new Map();
  for (const node of nodes.values()) { const folder = node.id.includes("/") ? node.id.slice(0, node.id.lastIndexOf("/")) : "."; const area = folder.split("/").slice(0, 4).join("/"); if (!areas.has(area)) areas.set(area, []); areas.get(area).push(node); }
  const list = [...areas].map(([name, files]) => ({ name, files: files.sort((a, b) => b.degree - a.degree || (a.id < b.id ? -1 : 1)), weight: Math.max(2, files.length) })).sort((a, b) => b.weight - a.weight);
  squarify(list, 0, 0, SIZE, SIZE * RATIO);
  const unit = SIZE / Math.max(300, ui.wrap.clientWidth); // a pixel, in the map's own measure
  for (const area of list) place(area, unit);
  return { nodes, unit, areas: list, files: answer.files, edges: answer.edges.length };
}

// Squarified treemap (Bruls, Huizing and van Wijk, 2000): rows whose rectangles stay near to squares.
function squarify(items, x, y, width, height) {
  let rest = items.slice();
  let total = rest.reduce((sum, item) => sum + item.weight, 0);
  while (rest.length) {
    const short = Math.min(width, height), scale = (width * height) / total;
    let row = [], sum = 0, worst = Infinity;
    while (row.length < rest.length) {
      const next = sum + rest[row.length].weight, thick = (next * scale) / short;
      const ratio = Math.max(...rest.slice(0, row.length + 1).map((item) => { const long = (item.weight * scale) / thick; return Math.max(long / thick, thick / long); }));
      if (ratio > worst) break;
      worst = ratio; sum = next; row = rest.slice(0, row.length + 1);
    }
    const thick = (sum * scale) / short;
    let along = 0;
    for (const item of row) {
      const long = (item.weight * scale) / thick;
      if (width < height) Object.assign(item, { x: x + along, y, w: long, h: thick }); else Object.assign(item, { x, y: y + along, w: thick, h: long });
      along += long;
    }
    if (width < height) { y += thick; height -= thick; } else { x += thick; width -= thick; }
    rest = rest.slice(row.length);
    total -= sum;
  }
}

function place(area, unit) {
  area.named = area.h > 34 * unit && area.w > 46 * unit;
  const pad = 3, head = area.named ? 16 * unit : 2, w = area.w - 2 * pad, h = area.h - pad - head, n = area.files.length;
  const columns = Math.max(1, Math.min(n, Math.round(Math.sqrt((n * w) / Math.max(1, h))))), rows = Math.ceil(n / columns);
  const cell = Math.min(w / columns, h / rows), most = Math.max(4, ...area.files.map((file) => file.degree));
  area.files.forEach((file, i) => {
    file.x = area.x + pad + ((i % columns) + 0.5) * (w / columns);
    file.y = area.y + head + (Math.floor(i / columns) + 0.5) * (h / rows);
    file.r = Math.max(1.1, Math.min(cell * 0.46, cell * (0.16 + 0.3 * Math.sqrt(file.degree / most)), 15));
  });
}

function draw() {
  ui.edges = svg("g", {});
  ui.names = svg("g", {});
  const dots = svg("g", {});
  for (const node of graph.nodes.values()) {
    node.dot = svg("circle", { class: "map-node", cx: node.x, cy: node.y, r: node.r }, svg("title", {}, clean(node.id, 300)));
    node.dot.addEventListener("pointerenter", () => hover(node));
    node.dot.addEventListener("pointerleave", () => hover(null));
    node.dot.addEventListener("click", () => { if (!ui.dragged) select(node.id); });
    dots.append(node.dot);
  }
  ui.svg = svg("svg", { tabindex: 0, role: "application", "aria-roledescription": "map of files", "aria-label": "Map of " + graph.nodes.size + " files; arrow keys move from file to file, Enter opens, plus and minus zoom. The table below has the same.", preserveAspectRatio: "xMidYMid meet" },
    svg("g", {}, graph.areas.map((area) => [svg("rect", { class: "map-area", x: area.x + 1, y: area.y + 1, width: Math.max(1, area.w - 2), height: Math.max(1, area.h - 2), rx: 3 }), area.named ? label(area) : null])), ui.edges, dots, ui.names);
  view(0, 0, SIZE, SIZE * RATIO);
  ui.wrap.replaceChildren(ui.svg);
  pointer();
  const best = [...graph.nodes.values()].sort((a, b) => b.degree - a.degree).slice(0, 200);
  ui.list.replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, ["file", "imports", "imported by", "symbols", "lines"].map((name, i) => el("th", { class: i ? "num" : "" }, name)))),
    el("tbody", {}, best.map((node) => el("tr", { class: "link", tabindex: 0, onclick: () => select(node.id), onkeydown: (event) => { if (event.key === "Enter") select(node.id); } }, el("td", {}, clean(node.id, 200)), [node.out.length, node.in.length, node.symbols, node.lines].map((value) => el("td", { class: "num" }, count(value))))))));
}
function label(area) {
  const size = 12 * graph.unit, room = Math.floor(area.w / (size * 0.62)) - 1, whole = area.name === "." ? "top folder" : area.name;
  const name = whole.length > room ? "…" + whole.slice(-Math.max(1, room - 1)) : whole;
  const node = svg("text", { class: "map-label", x: area.x + 5, y: area.y + size + 1 }, clean(name, 80));
  node.style.fontSize = size + "px";
  return node;
}

const matching = () => { const q = (app.params.q || "").toLowerCase(); return q && graph ? [...graph.nodes.values()].filter((node) => node.id.toLowerCase().includes(q)).sort((a, b) => b.degree - a.degree) : []; };

function reach(node) {
  const near = new Set(node.in), far = new Set();
  for (const one of near) for (const two of one.in) if (!near.has(two) && two !== node) far.add(two);
  return { near, far };
}

function paint() {
  if (!ui || !graph || !ui.svg) return;
  const chosen = graph.nodes.get(app.params.file), hits = new Set(matching());
  const { near, far } = chosen ? reach(chosen) : { near: new Set(), far: new Set() };
  for (const node of graph.nodes.values()) {
    const dim = chosen ? node !== chosen && !near.has(node) && !far.has(node) && !chosen.out.includes(node) : hits.size > 0 && !hits.has(node);
    node.dot.setAttribute("class", "map-node" + (node === chosen ? " sel" : near.has(node) ? " near" : far.has(node) ? " far" : "") + (dim ? " dim" : ""));
  }
  edges(chosen);
  ui.note.replaceChildren(...(chosen ? [clean(chosen.id, 80) + ": ", el("i", { class: "k-near" }), plural(near.size, "file") + " first to break, ", el("i", { class: "k-far" }), count(far.size) + " more in a second step"]
    : [app.params.q ? plural(hits.size, "file") : plural(graph.files, "file") + ", " + plural(graph.edges, "import")]));
}

function edges(node) {
  if (!node) { ui.edges.replaceChildren(); ui.names.replaceChildren(); return; }
  const { far } = reach(node);
  const line = (a, b, name) => svg("path", { class: "map-edge " + name, d: "M" + a.x + " " + a.y + " Q " + ((a.x + b.x) / 2 + (b.y - a.y) * 0.12) + " " + ((a.y + b.y) / 2 - (b.x - a.x) * 0.12) + " " + b.x + " " + b.y });
  ui.edges.replaceChildren(...node.out.slice(0, 150).map((other) => line(node, other, "")), ...node.in.slice(0, 300).map((other) => line(other, node, "in")), ...[...far].slice(0, 200).flatMap((two) => two.out.filter((one) => node.in.includes(one)).slice(0, 1).map((one) => line(two, one, "far"))));
  const shown = [node, ...node.in.slice(0, 12), ...node.out.slice(0, 8)];
  ui.names.replaceChildren(...shown.map((other) => { const text = svg("text", { class: "map-name", x: other.x + other.r + 2, y: other.y + 3 }, clean(other.label, 60)); text.style.fontSize = 11 * graph.unit * ui.box.w / SIZE + "px"; return text; }));
}
function hover(node) { if (!app.params.file) edges(node); }

function select(id) {
  const node = graph.nodes.get(id);
  if (!node) return;
  go({ q: app.params.q, file: id }, "map", true);
  const { near, far } = reach(node);
  const names = (set) => el("ul", {}, [...set].slice(0, 40).map((other) => el("li", {}, el("button", { type: "button", class: "quiet", onclick: () => select(other.id) }, clean(other.id, 200)))), set.size > 40 ? el("li", { class: "muted" }, "and " + count(set.size - 40) + " more") : null);
  openRecord(clean(node.id, 200), [["symbols", count(node.symbols)], ["lines", count(node.lines)], ["imports", count(node.out.length)], ["imported by", count(node.in.length)]], node.purpose,
    near.size ? section("Breaks first if this changes", names(near)) : section("Breaks first if this changes", el("p", { class: "muted" }, "nothing in this project imports it")), far.size ? section("In a second step", names(far)) : null,
    node.out.length ? section("Imports", names(new Set(node.out))) : null,
    el("p", { class: "tools" }, el("button", { type: "button", onclick: () => go({ file: node.id, q: null }, "timeline") }, "Its events"), el("button", { type: "button", onclick: () => go({ file: null }, "map", true) }, "Clear")));
}

function view(x, y, w, h) { ui.box = { x, y, w, h }; ui.svg.setAttribute("viewBox", x + " " + y + " " + w + " " + h); }
function whole() { if (!ui.svg) return; go({ file: null }, "map", true); view(0, 0, SIZE, SIZE * RATIO); }
function zoom(factor, px, py) {
  const { x, y, w, h } = ui.box, next = Math.max(60, Math.min(SIZE * 1.4, w * factor)), k = next / w;
  view(x + (w - next) * px, y + (h - h * k) * py, next, h * k);
}
function pointer() {
  let drag = null;
  ui.svg.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.004), event.offsetX / ui.svg.clientWidth, event.offsetY / ui.svg.clientHeight); }, { passive: false });
  ui.svg.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, box: ui.box }; ui.dragged = false; });
  ui.svg.addEventListener("pointermove", (event) => {
    if (!drag || !(event.buttons & 1)) return;
    const scale = ui.box.w / ui.svg.clientWidth, dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (Math.abs(dx) + Math.abs(dy) > 4) { ui.dragged = true; view(drag.box.x - dx * scale, drag.box.y - dy * scale, drag.box.w, drag.box.h); }
  });
  ui.svg.addEventListener("pointerup", (event) => { const was = drag; drag = null; if (was && !ui.dragged && event.target === ui.svg) go({ q: app.params.q, file: null }, "map", true); });
  ui.svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step) { const here = graph.nodes.get(app.params.file) || graph.areas[0].files[0]; const next = app.params.file ? nearest(here, step) : here; if (next) go({ q: app.params.q, file: next.id }, "map", true); } else if (event.key === "Enter" && app.params.file) select(app.params.file);
    else if (event.key === "+" || event.key === "=") zoom(0.7, 0.5, 0.5);
    else if (event.key === "-") zoom(1.4, 0.5, 0.5);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}
function nearest(here, [dx, dy]) {
  let best = null, least = Infinity;
  for (const node of graph.nodes.values()) {
    const x = node.x - here.x, y = node.y - here.y, ahead = x * dx + y * dy, aside = Math.abs(x * dy) + Math.abs(y * dx);
    if (ahead <= 0.5) continue;
    const cost = ahead + aside * 2.5;
    if (cost < least) { least = cost; best = node; }
  }
  return best;
}
