"""The live page under load: prints figures of this machine. Needs Chromium for the browser's part.

    python3 -m tests.bench.dashboard [--browsers N] [--pages N]

100,000 events in one log: what a cold and a warm server need, how fast any moment is shown, frames while 200 events a second
arrive, how long an event takes from its append to the page, and what the server costs idle and in memory.
"""

from __future__ import annotations

import json
import os
import platform
import random
import sys
import threading
import time

from slipstream.dashboard import launch

from tests.clients.browser.cdp import Browser, Page, find_chromium
from tests.dashboard.serving import Project, Stream

EVENTS = 100_000
SESSION = "big"


def main(argv: list[str]) -> None:
    options = dict(zip(argv[::2], argv[1::2]))
    browsers, pages = int(options.get("--browsers", "8")), int(options.get("--pages", "20"))
    print("machine: %s, %d cores, Python %s, load %.1f" % (platform.platform(), os.cpu_count() or 0, platform.python_version(), load()))
    project = Project(start=False)
    try:
        write_log(project)
        serve(project)
        if find_chromium() is None:
            print("browser: not run (no Chromium)")
        else:
            cold(project)
            look(project)
            latency(project, browsers, pages)
    finally:
        project.close()


def load() -> float:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def write_log(project: Project) -> None:
    chance = random.Random(11)
    path = os.path.join(project.root, ".claude", "slipstream", "dashboard", SESSION + ".jsonl")
    os.makedirs(os.path.dirname(path), mode=0o700)
    now = time.time() - EVENTS * 0.4
    with open(path, "w", encoding="utf-8") as log:
        for seq in range(EVENTS):
            now += chance.expovariate(2.5)
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + ".%03dZ" % (now % 1 * 1000)
            agent = "main" if chance.random() < 0.6 else "sub%d" % (seq // 2500 % 40)
            kind, data = "post-tool", {"tool": chance.choice(("Read", "Edit", "Bash")), "duration_ms": int(chance.expovariate(0.002)),
                                       "bytes": 2000, "tool_use_id": "t%d" % seq, "outcome": "ok"}
            if seq % 60 == 1:
                agent, kind, data = "main", "user-prompt", {}
            elif seq % 60 == 0:
                agent, kind, data = "main", "stop", {}
            elif chance.random() < 0.03:
                kind, data["outcome"] = "tool-failure", "error"
            event = {"seq": seq, "ts": stamp, "session": SESSION, "agent": agent, "kind": kind, "label": "Read src/module_%d.py" % (seq % 900)}
            log.write(json.dumps({**event, "data": data}, separators=(",", ":")) + "\n")
    print("log: %d events, %.1f MB" % (EVENTS, os.path.getsize(path) / 1e6))


def serve(project: Project) -> None:
    begun = time.perf_counter()
    project.start()
    project.get("/api/now?session=" + SESSION)
    print("first server: start and first answer, of what is read by then: %.2f s" % (time.perf_counter() - begun))
    while project.get("/api/now?session=" + SESSION).json["behind"]:
        time.sleep(0.1)
    print("first server, the whole log read: %.2f s" % (time.perf_counter() - begun))
    launch.stop(project.root)
    project.cookie = ""
    begun = time.perf_counter()
    project.start()
    started = time.perf_counter()
    project.get("/api/now?session=" + SESSION)
    print("next server: start %.2f s, first answer %.3f s" % (started - begun, time.perf_counter() - started))
    times = []
    chance = random.Random(3)
    for _ in range(60):
        begun = time.perf_counter()
        project.get("/api/now?session=%s&at=%d" % (SESSION, chance.randrange(EVENTS)))
        times.append(time.perf_counter() - begun)
    print("any moment, server alone: median %.0f ms, 95th %.0f ms" % (percentile(times, 50), percentile(times, 95)))
    stream = Stream(project, "/api/stream?deltas=only")
    time.sleep(25)
    pid = (launch.load_record(project.root) or {})["pid"]
    before, begun = cpu(pid), time.perf_counter()
    time.sleep(20)
    print("idle with one stream: %.2f %% CPU" % ((cpu(pid) - before) / (time.perf_counter() - begun) * 100))
    stream.close()
    print("memory: %.1f MB now, %.1f MB at most" % memory(pid))


def cpu(pid: int) -> float:
    with open("/proc/%d/stat" % pid, encoding="ascii") as stream:
        fields = stream.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> tuple[float, float]:
    with open("/proc/%d/status" % pid, encoding="ascii") as stream:
        lines = dict(line.split(":", 1) for line in stream)
    return int(lines["VmRSS"].split()[0]) / 1024, int(lines["VmHWM"].split()[0]) / 1024


def percentile(times: list[float], part: int) -> float:
    """In milliseconds."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, len(ordered) * part // 100)] * 1000


def sign_in(project: Project, page: Page) -> None:
    page.goto("http://%s/#code=%s" % (project.host, launch.one_time_code(project.root)))
    page.wait("!!document.querySelector('.agent:not(.head)')", 60)


SCRUB = """(async () => {
  const { app, go } = await import('/store.js');
  const times = [];
  for (let i = 0; i < 40; i++) {
    const at = Math.floor(Math.random() * 99000), begun = performance.now();
    go({ at }, 'replay', true);
    while (!(app.now && app.now.seq === at)) await new Promise((done) => setTimeout(done, 1));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    times.push(performance.now() - begun);
  }
  go({ at: null }, 'replay', true);
  return times.map((time) => time / 1000);
})()"""
FRAMES = """(async () => {
  const times = [], end = performance.now() + 5000;
  let last = performance.now();
  while (last < end) { await new Promise(requestAnimationFrame); const now = performance.now(); times.push((now - last) / 1000); last = now; }
  return times;
})()"""


COLD = """(async () => {
  const { app } = await import('/store.js');
  const told = {};
  while (!told.timeline) {
    if (!told.rows && app.columns && app.columns.size) told.rows = performance.now();
    if (app.live && app.live.behind === 0 && app.columns && app.columns.last() === app.live.seq) told.timeline = performance.now();
    await new Promise((done) => setTimeout(done, 5));
  }
  told.paint = (performance.getEntriesByName('first-contentful-paint')[0] || {}).startTime || -1;
  return told;
})()"""


def cold(project: Project) -> None:
    """What a person sees while a new server reads the whole log for the first time."""
    launch.stop(project.root)
    os.unlink(os.path.join(project.root, ".claude", "slipstream", "dashboard", SESSION + ".view"))
    project.cookie = ""
    browser = Browser()
    try:
        project.start()
        page = browser.open("http://%s/#code=%s" % (project.host, launch.one_time_code(project.root)))
        page.wait("location.hash === ''")
        page.run("location.hash = '#/timeline?session=%s'" % SESSION)
        told = page.run(COLD)
        print("first server, the page: first paint %.0f ms, first events %.0f ms, all of them %.0f ms after navigation; load %.1f" % (
            told["paint"], told["rows"], told["timeline"], load()))
    finally:
        browser.close()


def look(project: Project) -> None:
    browser = Browser()
    try:
        page = browser.open()
        sign_in(project, page)
        address = "http://%s/" % project.host
        for view, ready in (("now", "!!document.querySelector('.agent:not(.head)')"),
                            ("timeline", "/events/.test((document.querySelector('.tools .muted') || {}).textContent || '')")):
            page.goto("about:blank")
            browser.pump(0.3)
            page.goto("%s#/%s?session=%s" % (address, view, SESSION))
            content = "(async () => { while (!(%s)) await new Promise((d) => setTimeout(d, 5)); return performance.now(); })()" % ready
            browser.pump(0.05)
            shown = page.run(content)
            paint = page.run("(performance.getEntriesByName('first-contentful-paint')[0] || {}).startTime")
            print("%s: first paint %.0f ms, its content %.0f ms after navigation" % (view, paint or -1, shown))
        page.run("location.hash = '#/replay?session=%s'" % SESSION)
        browser.pump(3)
        times = page.run(SCRUB)
        print("scrub to any moment, painted: median %.0f ms, 95th %.0f ms" % (percentile(times, 50), percentile(times, 95)))
        for view in ("now", "timeline"):
            page.run("location.hash = '#/%s?session=%s'" % (view, SESSION))
            browser.pump(2)
            writer = threading.Thread(target=write, args=(project, 1000, 200.0))
            writer.start()
            frames = page.run(FRAMES)
            writer.join()
            print("%s, 200 events a second: %.0f frames a second, 95th frame %.0f ms" % (view, len(frames) / 5, percentile(frames, 95)))
    finally:
        browser.close()


def write(project: Project, count: int, rate: float) -> None:
    begun = time.time()
    for index in range(count):
        project.emit("post-tool", "sent %.6f" % time.time(), session=SESSION, tool="Read", duration_ms=3, bytes=100, outcome="ok")
        time.sleep(max(0.0, begun + (index + 1) / rate - time.time()))


LISTEN = """(async () => {
  const { listen } = await import('/net.js');
  window.delays = [];
  const channel = new BroadcastChannel('slipstream:' + location.port);
  const take = (message) => { if (message.type === 'delta') for (const event of message.data.events) {
    const sent = /^sent ([\\d.]+)$/.exec(event.label); if (sent) window.delays.push(Date.now() / 1000 - Number(sent[1])); } };
  channel.addEventListener('message', (event) => take(event.data));
  return true;
})()"""


def latency(project: Project, browsers: int, pages: int) -> None:
    """From before an append to a page that does not hold the stream itself: through server, leader and channel."""
    opened = [Browser() for _ in range(browsers)]
    try:
        watchers = []
        for number, browser in enumerate(opened):
            first = browser.open(width=900, height=600)
            sign_in(project, first)
            for _ in range(pages - 1 if number == 0 else 1):
                page = browser.open("http://%s/#/now?session=%s" % (project.host, SESSION), width=900, height=600)
                page.wait("!!document.querySelector('.agent:not(.head)')", 60)
                watchers.append(page)
        for page in watchers:
            page.run(LISTEN.replace("const { listen } = await import('/net.js');", ""))
        write(project, 150, 10.0)
        for browser in opened:
            browser.pump(0.3)
        delays = [delay for page in watchers for delay in page.run("window.delays")]
        print("append to page, %d browsers, %d pages in the first (%d samples): median %.0f ms, 95th %.0f ms; load %.1f" % (
            browsers, pages, len(delays), percentile(delays, 50), percentile(delays, 95), load()))
        pid = (launch.load_record(project.root) or {})["pid"]
        print("memory at the end: %.1f MB now, %.1f MB at most" % memory(pid))
    finally:
        for browser in opened:
            browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
