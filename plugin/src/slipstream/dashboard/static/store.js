// What the page knows: the route, the session's folded state (folded by the server, patched here), and the event columns.

import { api, Offline, SignedOut } from "./net.js";

export const app = {
  view: "now", params: {}, session: null, at: null, now: null, live: null, sessions: [], info: new Map(), project: {}, columns: null,
  offline: false, lastUpdate: Date.now(), skew: 0, error: null, money: false,
};

const watchers = new Set();
let queued = new Set();
let unplan = null;

// One render per frame, whatever arrived; one a second in a tab that nobody sees, for its title and badge.
export function changed(reason) {
  queued.add(reason);
  if (!unplan) plan();
}
function plan() {
  const run = () => { unplan = null; const reasons = queued; queued = new Set(); for (const watcher of watchers) watcher(reasons); };
  if (document.hidden) { const timer = setTimeout(run, 1000); unplan = () => clearTimeout(timer); } else { const frame = requestAnimationFrame(run); unplan = () => cancelAnimationFrame(frame); }
}
// A frame that was asked for never comes once the tab is hidden.
document.addEventListener("visibilitychange", () => { if (unplan) { unplan(); plan(); } });
export function watch(watcher) { watchers.add(watcher); return () => watchers.delete(watcher); }

export const serverNow = () => Date.now() + app.skew;

// The address bar always holds the view.
export function address(view, params) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params || {})) if (value !== null && value !== undefined && value !== "") query.set(key, value);
  const text = String(query);
  return "#/" + view + (text ? "?" + text : "");
}
// A scrubber moves at once and is written to the address bar when it rests: browsers refuse a hundred addresses in ten seconds.
const REST_MS = 120;
let unwritten = null;
let writing = 0;
let instead = ""; // of which address; a link that was followed meanwhile wins
export const route = () => (unwritten !== null && location.hash === instead ? unwritten : location.hash);
function write() {
  clearTimeout(writing);
  writing = 0;
  const target = route();
  unwritten = null;
  if (target !== location.hash) history.replaceState(null, "", target);
}
addEventListener("pagehide", write);
export function go(params, view = app.view, replace = false) {
  const target = address(view, { session: app.params.session, at: app.params.at, ...params });
  if (target === route()) return;
  if (!replace) { write(); location.hash = target; return; }
  unwritten = target;
  instead = location.hash;
  writing = writing || setTimeout(write, REST_MS);
  dispatchEvent(new Event("route"));
}

export function failed(error) {
  if (error.name === "AbortError") return;
  if (error instanceof SignedOut) { app.signedOut = true; changed("signed-out"); return; }
  if (error instanceof Offline) { app.offline = true; changed("status"); return; }
  app.error = error.message;
  changed("error");
}

export async function loadSessions() {
  const answer = await api("sessions", { limit: 60 });
  app.sessions = answer.sessions;
  for (const item of answer.info) app.info.set(item.session, item);
  app.project = answer.project || {};
  if (answer.time) app.skew = answer.time - Date.now();
  app.offline = false;
  changed("sessions");
}

// The one that was chosen; else the one that is shown, while it is there; else the newest.
export const currentSession = () => app.params.session || (app.sessions.includes(app.session) ? app.session : app.sessions[0]) || null;

// Nobody chose a session and the shown one has fallen silent: a new one takes its place.
const SILENT_MS = 10 * 60000;
export function follow(session) {
  const live = app.live;
  if (app.params.session || app.at !== null || session === app.session || !app.sessions.includes(session)) return false;
  if (live && !live.ended && serverNow() - Date.parse(live.lastTs) < SILENT_MS) return false;
  app.session = session;
  app.now = app.live = app.columns = null;
  return true;
}

// One state request in flight; the newest wish wins, so a scrubber can move as fast as it likes.
let inFlight = false;
let wished = null;
export async function loadNow() {
  const session = currentSession();
  app.session = session;
  if (!session) { app.now = null; changed("now"); return; }
  wished = { session, at: app.at };
  if (inFlight) return;
  inFlight = true;
  try {
    while (wished) {
      const wish = wished;
      wished = null;
      const answer = await api("now", wish);
      if (wish.session !== currentSession() || (wish.at !== app.at && app.at === null)) continue;
      app.now = answer;
      if (wish.at === null) app.live = answer;
      app.lastUpdate = Date.now();
      app.offline = false;
      if (answer.behind > 0) setTimeout(() => { if (app.session === answer.session && app.at === null) loadNow(); }, 350);
      changed("now");
    }
  } catch (error) { failed(error); } finally { inFlight = false; }
}

// A grow-only table of events in typed arrays: what timeline and scrubber draw from.
export class Columns {
  constructor(answer) {
    Object.assign(this, { session: answer.session, agents: [], tools: [], kinds: [], outcomes: [], index: new Map(), size: 0, longest: 0, setBack: 0 });
    this.grow(Math.max(1024, answer.dt.length * 1.2));
    this.extend(answer);
  }
  // What the server knows beyond what is here; its numbers for words become ours.
  extend(answer) {
    const [tools, kinds, outcomes] = ["tools", "kinds", "outcomes"].map((name) => answer[name].map((word) => this.word(this[name], word)));
    const agents = answer.agents.map((agent) => this.meet(agent));
    let ts = answer.t0;
    for (let i = 0; i < answer.dt.length; i++) {
      ts += answer.dt[i];
      const seq = answer.seqs ? answer.seqs[i] : answer.seq0 + i;
      if (seq > this.last()) this.push(seq, ts, answer.ms[i], agents[answer.agent[i]], kinds[answer.kind[i]], tools[answer.tool[i]], outcomes[answer.outcome[i]]);
    }
  }
  meet(agent) {
    const known = this.index.get(agent.id);
    if (known === undefined) { this.index.set(agent.id, this.agents.length); return this.agents.push(agent) - 1; }
    if (agent.name) this.agents[known] = agent;
    return known;
  }
  grow(size) {
    this.room = Math.ceil(size);
    for (const [name, Type] of [["seq", Float64Array], ["ts", Float64Array], ["peak", Float64Array], ["ms", Int32Array], ["agent", Uint32Array], ["kind", Uint8Array], ["tool", Uint16Array], ["outcome", Uint8Array]]) {
      const array = new Type(this.room);
      if (this[name]) array.set(this[name].subarray(0, this.size));
      this[name] = array;
    }
  }
  push(seq, ts, ms, agent, kind, tool, outcome) {
    if (this.size === this.room) this.grow(this.room * 1.5);
    const i = this.size++;
    this.seq[i] = seq; this.ts[i] = ts; this.ms[i] = ms; this.agent[i] = agent; this.kind[i] = kind; this.tool[i] = tool; this.outcome[i] = outcome;
    if (ms > this.longest) this.longest = ms;
    this.first = i ? Math.min(this.first, ts) : ts - Math.max(0, ms);
    this.peak[i] = i ? Math.max(this.peak[i - 1], ts) : ts;
    this.setBack = Math.max(this.setBack, this.peak[i] - ts);
  }
  word(list, value) {
    let i = list.indexOf(value || "");
    if (i < 0) i = list.push(value || "") - 1;
    return i;
  }
  append(event) {
    if (this.size && event.seq <= this.seq[this.size - 1]) return;
    const agent = this.index.get(event.agent) ?? this.meet({ id: event.agent, parent: event.parent || null, name: event.agent });
    this.push(event.seq, event.ts, event.ms ?? -1, agent, this.word(this.kinds, event.kind), this.word(this.tools, event.tool), this.word(this.outcomes, event.outcome));
  }
  last() { return this.size ? this.seq[this.size - 1] : -1; }
  at(seq) { return bound(this.seq, this.size, seq); }
  // A clock may be set back while a log grows, so its times need not rise: between these two positions are all events of a stretch
  // of time, and few others.
  latest() { return this.size ? this.peak[this.size - 1] : NaN; }
  from(ts) { return bound(this.peak, this.size, ts); }
  upto(ts) { return bound(this.peak, this.size, ts + this.setBack + 1); }
}
function bound(array, size, value) {
  let low = 0, high = size;
  while (low < high) { const middle = (low + high) >> 1; if (array[middle] < value) low = middle + 1; else high = middle; }
  return low;
}

// Of a long log that is still being read, what there is by now, then piece by piece the rest.
let columnsFor = null;
let columnsAgain = false;
export async function loadColumns(force) {
  const session = currentSession();
  if (!session) { app.columns = null; return; }
  if (!force && app.columns && app.columns.session === session) return;
  if (columnsFor === session) { columnsAgain = columnsAgain || !!force; return; }
  columnsFor = session;
  try {
    for (let columns = null, behind = 1; behind > 0;) {
      const answer = await api("timeline", { session, from: columns && columns.size });
      if (session !== currentSession()) break;
      if (columns) columns.extend(answer); else columns = new Columns(answer);
      app.columns = columns;
      changed("columns");
      behind = answer.behind;
    }
  } catch (error) { failed(error); } finally {
    if (columnsFor === session) columnsFor = null;
    if (columnsAgain) { columnsAgain = false; loadColumns(true); }
  }
}

// A delta carries what the server's fold changed: rows to replace, figures, and the events themselves.
export function applyDelta(delta) {
  app.lastUpdate = Date.now();
  const info = app.info.get(delta.session);
  if (info) { info.lastTs = delta.lastTs; info.status = delta.status; }
  if (!app.sessions.includes(delta.session)) { loadSessions().catch(failed); }
  if (app.sessions[0] !== delta.session) { app.sessions = [delta.session, ...app.sessions.filter((id) => id !== delta.session)]; changed("sessions"); }
  if (delta.session !== app.session) { changed("elsewhere"); return; }
  const live = app.live;
  if (live && live.session === delta.session) {
    if (delta.first > live.seq + 1) { loadNow(); loadColumns(true); return; }
    if (delta.last > live.seq) {
      live.seq = live.total = delta.last;
      live.lastTs = delta.lastTs;
      for (const key of ["counts", "plan", "budget", "finishedAt", "startedAt", "cache", "status"]) if (key in delta) live[key] = delta[key];
      const at = new Map(live.agents.rows.map((row, i) => [row.id, i]));
      for (const row of delta.agents) { if (at.has(row.id)) live.agents.rows[at.get(row.id)] = row; else live.agents.rows.push(row); }
      live.agents.total = delta.agentsTotal;
      live.tail = [...live.tail, ...delta.events].slice(-12);
    }
  }
  if (app.now && app.now !== live) app.now.total = delta.last;
  if (app.columns && app.columns.session === delta.session) {
    if (delta.skipped) loadColumns(true);
    else for (const event of delta.events) app.columns.append(event);
  }
  changed("delta");
}
