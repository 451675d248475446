// Requests, and one event stream per browser: the tab that holds the lock listens and tells the others.

export class SignedOut extends Error {}
export class Offline extends Error {}

export async function api(path, params, signal) {
  const query = new URLSearchParams(Object.entries(params || {}).filter(([, v]) => v !== null && v !== undefined && v !== ""));
  const target = "/api/" + path + (query.size || [...query].length ? "?" + query : "");
  return answer(fetch(target, { signal, credentials: "same-origin", cache: "no-store" }));
}

export function post(path, body) {
  return answer(fetch("/api/" + path, {
    method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/json", "X-Slipstream": "1" }, body: JSON.stringify(body || {}),
  }));
}

async function answer(promise) {
  let response;
  try { response = await promise; } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Offline("The server does not answer.");
  }
  if (response.status === 401) throw new SignedOut("No session.");
  const text = await response.text();
  let value = null;
  try { value = text ? JSON.parse(text) : null; } catch { /* a refusal is plain text */ }
  if (!response.ok) throw new Error((value && value.error) || text.trim() || "Answer " + response.status);
  return value;
}

const channel = "BroadcastChannel" in self ? new BroadcastChannel("slipstream:" + location.port) : null;
let listener = () => {};
let lastId = "";
let source = null;
let retry = 0;
let timer = 0;
let connected = null;
let release = null;

function tell(message) {
  if (message.id) lastId = message.id;
  if (message.type === "status") connected = message.connected;
  listener(message);
}
function say(message) {
  tell(message);
  if (channel) channel.postMessage(message);
}

function open() {
  clearTimeout(timer);
  if (source) source.close();
  source = new EventSource("/api/stream?deltas=only" + (lastId ? "&last=" + encodeURIComponent(lastId) : ""));
  source.onopen = () => { retry = 0; say({ type: "status", connected: true }); };
  source.onerror = () => {
    say({ type: "status", connected: false });
    if (source && source.readyState === EventSource.CLOSED) {
      retry = Math.min(retry + 1, 6);
      timer = setTimeout(open, 500 * 2 ** (retry - 1) * (0.75 + Math.random() / 2));
    }
  };
  for (const type of ["hello", "delta", "sessions", "resync"]) {
    source.addEventListener(type, (event) => say({ type, id: event.lastEventId, data: JSON.parse(event.data) }));
  }
}

function close() {
  clearTimeout(timer);
  if (source) source.close();
  source = null;
  if (release) release();
  release = null;
}

function lead() {
  if (!navigator.locks || !channel) { open(); return; }
  navigator.locks.request("slipstream-stream:" + location.port, () => new Promise((resolve) => { release = resolve; open(); })).catch(() => open());
}

export function listen(callback) {
  listener = callback;
  if (channel) channel.onmessage = (event) => {
    const message = event.data;
    if (message && message.type === "who") { if (source) channel.postMessage({ type: "status", connected }); return; }
    if (message && typeof message.type === "string") tell(message);
  };
  lead();
  if (channel) channel.postMessage({ type: "who" });
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted) lead(); });
}

export const retryNow = () => { if (source) { retry = 0; open(); } };
