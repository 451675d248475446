"""The page in Chromium: every view, live from a real hook, replay, search, keys, themes, hostile text, recovery; and axe-core."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import unittest

from slipstream.dashboard import launch

from tests import PROGRAM
from tests.clients import skip
from tests.clients.browser.cdp import Browser, Page, find_chromium
from tests.dashboard.serving import Project, write_transcript
from tests.waiting import wait_until

VIEWS = ("now", "timeline", "replay", "sessions", "memory", "map", "usage", "health")
PICTURES = os.environ.get("SLIPSTREAM_PICTURES", "")  # a folder: CI keeps what was seen as artefacts
HOSTILE = '<img src=x onerror="window.stolen=1"><script>window.stolen=1</script>\u202e\u0000\u001b[31m"><b>bold</b>'


def find_axe() -> str | None:
    path = os.path.join(os.environ.get("SLIPSTREAM_AXE", ""), "axe.min.js")
    return path if os.path.isfile(path) else None


def fill(project: Project) -> None:
    """A session with everything in it."""
    project.emit("session-start", "session started (startup)", branch="main")
    for turn in range(3):
        project.emit("user-prompt", "turn %d: fix the webhook" % turn)
        for step in range(12):
            agent = "w1" if step % 3 == 2 else "main"
            if step == 5:
                project.emit("tool-failure", "Bash pytest -q", agent=agent, tool="Bash", duration_ms=800, error="Exit code 1")
            else:
                project.emit("post-tool", "Read src/f%d.py" % step, agent=agent, tool="Read", file="src/f%d.py" % step, duration_ms=20 * step,
                             bytes=4000, outcome="ok")
        if turn < 2:
            project.emit("stop", "turn finished")
    project.emit("compact", "compaction start (auto)", phase="start", trigger="auto")
    project.emit("post-tool", "TodoWrite", tool="TodoWrite", plan=["one", "two"], plan_status=["completed", "in_progress"], duration_ms=1)


class PageTest(unittest.TestCase):
    project: Project
    browser: Browser
    page: Page

    @classmethod
    def setUpClass(cls) -> None:
        if not os.environ.get("SLIPSTREAM_BROWSER"):
            skip("browser", "SLIPSTREAM_BROWSER is not set")
        if find_chromium() is None:
            skip("browser", "no Chromium on the path")
        cls.project = Project(config=True)
        write_transcript(cls.project.config, cls.project.root, "s1")
        os.makedirs(os.path.join(cls.project.root, "src"))
        for number in range(6):
            with open(os.path.join(cls.project.root, "src", "f%d.py" % number), "w", encoding="utf-8") as stream:
                stream.write("from src import f%d\n\n\ndef one():\n    return %d\n" % ((number + 1) % 6, number))
        fill(cls.project)
        from slipstream.memory.facts import add_fact
        from slipstream.memory.observe import capture

        capture(cls.project.root, "s1")
        add_fact(cls.project.root, "Webhook retries are capped at five", type="decision", body="Because of the outage in May.")
        cls.browser = Browser()
        cls.page = cls.browser.open()
        cls.sign_in(cls.page)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.browser.close()
        cls.project.close()

    @classmethod
    def sign_in(cls, page: Page) -> None:
        page.goto("http://%s/#code=%s" % (cls.project.host, launch.one_time_code(cls.project.root)))
        page.wait("!!document.querySelector('.agent:not(.head)')", 30)

    def setUp(self) -> None:
        self.page.complaints.clear()
        self.page.size(1280, 800)
        self.page.media(prefers_color_scheme="light", prefers_reduced_motion="no-preference")
        self.page.key("Escape")  # closes what a test before this one left open
        self.show("now?session=s1")

    def tearDown(self) -> None:
        self.assertEqual(list(self.page.complaints), [])

    def show(self, route: str) -> None:
        """Opens a view and waits until it has something to say."""
        name, _, query = route.partition("?")
        query = query if "session=" in query else "session=s1&" + query
        self.page.run("document.activeElement && document.activeElement.blur(); location.hash = '#/%s?%s'" % (name, query))
        self.page.wait("document.querySelector('#rail a[aria-current=page]').dataset.view === '%s'" % name)
        ready = {
            "now": "!!document.querySelector('.agent:not(.head)')",
            "timeline": "/events/.test(document.querySelector('.tools .muted').textContent)",
            "replay": "document.querySelectorAll('.replay-grid .row').length > 1",
            "sessions": "!!document.querySelector('.row.session:not(.head), .story section')",
            "memory": "!!document.querySelector('.hit, .empty')",
            "map": "document.querySelectorAll('.map-node').length > 5",
            "usage": "document.querySelectorAll('.panel').length > 1",
            "health": "document.querySelectorAll('.finding').length > 3",
        }
        self.page.wait(ready[name], 40)

    def text(self, selector: str) -> str:
        return str(self.page.run("(document.querySelector(%s) || {}).textContent || ''" % json.dumps(selector)))

    # ---- each view

    def test_every_view_loads_and_asks_nobody_else(self) -> None:
        for view in VIEWS:
            self.show(view)
            if PICTURES:
                self.page.picture(os.path.join(PICTURES, view + ".png"))
        foreign = [url for url in self.page.requests if not url.startswith(("http://%s/" % self.project.host, "data:image/svg"))]
        self.assertEqual(foreign, [])
        self.assertNotIn("code=", self.page.run("location.href"))

    def test_session_cookie_is_out_of_reach_of_scripts(self) -> None:
        self.assertEqual(self.page.run("document.cookie"), "")
        refused = "(() => { try { document.body.innerHTML = '<b>x</b>'; return 'made'; } catch (error) { return error.name; } })()"
        self.assertEqual(self.page.run(refused), "TypeError")
        self.page.complaints.clear()  # the browser reports the refusal that was just provoked

    def test_live_from_a_real_hook(self) -> None:
        payload = {"session_id": "s1", "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": {"file_path": "src/live.py"},
                   "tool_response": {"file": {"content": "x" * 360}}, "tool_use_id": "live1", "duration_ms": 7, "cwd": self.project.root}
        env = {**os.environ, "CLAUDE_PROJECT_DIR": self.project.root}
        before = self.page.run("performance.now()")
        done = subprocess.run([sys.executable, "-I", "-S", PROGRAM, "hook", "post-tool-use"], input=json.dumps(payload).encode(), env=env,
                              capture_output=True, timeout=30, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        self.page.wait("/src\\/live.py/.test(document.querySelector('.tail').textContent)")
        self.assertGreater(self.page.run("performance.now()"), before)

    def test_who_waits_comes_first(self) -> None:
        self.project.emit("permission", "Bash git push", agent="w1", tool="Bash", outcome="asked")
        self.page.wait("document.title.startsWith('●')")
        self.assertIn("waits for you", self.text("#wait-title"))
        self.assertIn("Bash git push", self.text("#wait-sub"))
        self.assertIn("waits for you", self.text("#announce"))
        self.assertIn("waiting", self.text(".agent.waiting"))
        self.project.emit("post-tool", "Bash git push", agent="w1", tool="Bash", duration_ms=5, outcome="ok")
        self.page.wait("!document.title.startsWith('●')")

    def test_budget_can_be_edited(self) -> None:
        self.page.run("[...document.querySelectorAll('button')].find((b) => b.textContent === 'Edit').click()")
        self.page.run("document.querySelector('input[name=warnPct]').value = 55; document.querySelector('form.inline').requestSubmit()")
        self.page.wait("/warn 55/.test(document.querySelector('.gauge:not(.mini-gauge)').textContent)")

    def test_replay_moves_every_view(self) -> None:
        self.show("replay?at=5")
        self.page.wait("/event 5 of/.test(document.querySelector('#band').textContent)")
        self.show("now?at=5")
        self.assertIn("replay", self.text("#band"))
        self.page.key("Escape")
        self.page.wait("document.querySelector('#band').hidden")
        self.show("replay")
        for key, shift in (("ArrowLeft", False), ("ArrowLeft", True), ("f", False), ("ArrowRight", False)):
            before = self.page.run("location.hash")
            self.page.key(key, shift)
            self.page.wait("location.hash !== %s" % json.dumps(before))
        self.page.key(" ")
        self.page.wait("document.querySelector('.player button').textContent === 'Pause'")
        self.page.key(" ")
        self.page.wait("document.querySelector('.player button').textContent === 'Play'")

    def test_timeline_opens_what_is_clicked_and_has_a_twin(self) -> None:
        self.show("timeline?tool=Bash")
        self.assertIn("filtered", self.text(".tools .muted"))
        self.page.key("l")
        self.page.wait("document.querySelectorAll('.row.event').length >= 3")
        self.assertNotIn("Read src", self.text(".view-full .tail"))
        self.page.key("j")
        self.page.key("Enter")
        self.page.wait("!document.querySelector('#inspector').hidden")
        self.assertIn("Exit code 1", self.text("#inspector"))
        self.page.key("Escape")
        self.page.wait("document.querySelector('#inspector').hidden")

    def picture(self, name: str) -> None:
        if PICTURES:
            self.page.picture(os.path.join(PICTURES, name + ".png"))

    def press(self, name: str) -> None:
        self.page.run("[...document.querySelectorAll('button')].find((b) => b.offsetParent && b.textContent.trim() === %s).click()" % json.dumps(name))

    def test_empty_lanes_are_hidden(self) -> None:
        lanes = "[...document.querySelectorAll('.lane .cut')].map((node) => node.textContent).join()"
        self.show("timeline?tool=TodoWrite")
        self.page.wait("/w1/.test(%s)" % lanes)
        self.press("Hide empty lanes")
        self.page.wait("/main/.test(%s) && !/w1/.test(%s)" % (lanes, lanes))
        self.assertRegex(self.text(".tools .muted"), r"\d lanes? hidden")
        self.picture("lanes")
        self.show("timeline?agent=w1")  # a parent stays, so that the tree can be read
        self.page.wait("/main/.test(%s) && /w1/.test(%s)" % (lanes, lanes))
        self.page.key("e")
        self.page.wait("!/hidden/.test(document.querySelector('.tools .muted').textContent)")

    def test_a_timeline_that_comes_in_pieces(self) -> None:
        """A long log is shown while the server still reads it: the pieces make what one answer holds."""
        same = self.page.run("""(async () => {
          const { Columns } = await import('/store.js'), { api } = await import('/net.js');
          const whole = await api('timeline', { session: 's1' }), first = { ...whole, tools: whole.tools.slice(0, 2), agents: whole.agents.slice(0, 1) };
          for (const name of ['dt', 'ms', 'agent', 'kind', 'tool', 'outcome']) first[name] = whole[name].slice(0, 2);
          const one = new Columns(whole), pieces = new Columns(first);
          pieces.extend(await api('timeline', { session: 's1', from: 2 }));
          const told = (c) => JSON.stringify(Array.from({ length: c.size }, (_, i) => [c.seq[i], c.ts[i], c.ms[i], c.agents[c.agent[i]].id, c.kinds[c.kind[i]], c.tools[c.tool[i]], c.outcomes[c.outcome[i]]]));
          return told(one) === told(pieces) && one.size > 20;
        })()""")
        self.assertTrue(same)

    def test_details_are_pinned(self) -> None:
        self.show("timeline?tool=Bash")
        self.page.key("l")
        self.page.wait("document.querySelectorAll('.row.event').length >= 3")
        self.page.key("j")
        self.page.key("Enter")
        self.page.wait("/Exit code 1/.test(document.querySelector('#inspector').textContent)")
        self.page.key("p")
        pinned = "document.querySelector('#inspector .pinned')"
        self.page.wait("/Exit code 1/.test(%s.textContent)" % pinned)
        self.show("now")
        self.page.run("document.querySelector('.agent:not(.head)').click()")
        self.page.wait("!document.querySelector('#inspector .card:not(.pinned)').hidden")
        self.assertTrue(self.page.run("/Exit code 1/.test(%s.textContent)" % pinned))
        self.picture("pinned")
        self.page.key("Escape")
        self.page.wait("document.querySelector('#inspector .card:not(.pinned)').hidden && !document.querySelector('#inspector').hidden")
        self.page.key("p")
        self.page.wait("document.querySelector('#inspector').hidden")

    def test_tokens_and_cost_of_a_session(self) -> None:
        self.show("sessions")
        row = "([...document.querySelectorAll('.row.session:not(.head)')].find((row) => /s1/.test(row.textContent)) || {}).textContent || ''"
        self.page.wait("/50.5k/.test(%s)" % row, 20)
        self.assertFalse(self.page.run("/\\$/.test(%s)" % row))
        self.press("Show list prices")
        self.page.wait("/\\$0[.]\\d\\d/.test(%s)" % row)
        self.picture("sessions-priced")
        self.show("sessions?story=s1&session=s1")
        self.page.wait("/at list price/.test(document.querySelector('.figures').textContent)")
        self.press("Show list prices")
        self.page.wait("!/at list price/.test(document.querySelector('.figures').textContent)")

    def test_memory_is_searched(self) -> None:
        self.show("memory")
        self.page.key("/")
        self.page.type("retries capped")
        self.page.wait("/Webhook retries/.test((document.querySelector('.hit') || {}).textContent)")
        self.page.key("Escape")
        self.page.key("j")
        self.page.key("Enter")
        self.page.wait("/outage in May/.test(document.querySelector('#inspector').textContent)")
        self.page.run("[...document.querySelectorAll('#inspector button')].find((b) => b.textContent === 'Forget…').click()")
        self.page.wait("!!document.querySelector('dialog[open]')")
        self.assertIn("webhook-retries", self.text("dialog[open]").lower())
        self.page.run("[...document.querySelectorAll('dialog[open] button')].find((b) => b.textContent === 'Keep it').click()")

    def test_map_tells_who_breaks(self) -> None:
        self.show("map")
        self.page.run("document.querySelector('.map-wrap svg').focus()")
        self.page.key("ArrowRight")
        self.page.key("Enter")
        self.page.wait("/Breaks first/.test(document.querySelector('#inspector').textContent)")
        self.page.wait("document.querySelectorAll('.map-edge').length > 0")
        self.page.wait("/first to break/.test(document.querySelector('.key').textContent)")
        swatches = self.page.run("[...document.querySelectorAll('.key i')].map((node) => [node.offsetWidth, node.offsetHeight].join('x')).join()")
        self.assertEqual(swatches, "10x10,10x10")
        self.page.key("Escape")

    def test_sessions_tell_a_story(self) -> None:
        self.show("sessions")
        self.page.key("j")
        self.page.key("Enter")
        self.page.wait("document.querySelectorAll('.story section').length >= 3")
        self.assertIn("turn 0: fix the webhook", self.text(".story"))

    def test_keyboard_reaches_every_view_and_row(self) -> None:
        for number, view in enumerate(VIEWS, 1):
            self.page.key(str(number))
            self.page.wait("document.querySelector('#rail a[aria-current=page]').dataset.view === '%s'" % view)
        for letter, view in (("n", "now"), ("t", "timeline"), ("p", "map"), ("h", "health")):
            self.page.key("g")
            self.page.key(letter)
            self.page.wait("document.querySelector('#rail a[aria-current=page]').dataset.view === '%s'" % view)
        self.page.key("?")
        self.page.wait("document.querySelector('#help').open")
        self.page.key("Escape")
        self.page.wait("!document.querySelector('#help').open")
        # Tab visits nothing that cannot be seen.
        self.show("now")
        for _ in range(30):
            self.page.key("Tab")
            seen = "(() => { const r = document.activeElement.getBoundingClientRect(); return r.width > 0 && r.height > 0; })()"
            self.assertTrue(self.page.run(seen), self.page.run("document.activeElement.outerHTML.slice(0, 200)"))

    def test_the_skip_link_stays_in_the_view(self) -> None:
        self.show("timeline")
        self.page.run("document.querySelector('.skip').focus()")
        self.page.key("Enter")
        self.page.wait("document.activeElement.id === 'view'")
        self.assertIn("#/timeline?", self.page.run("location.hash"))
        self.assertEqual(self.page.run("document.querySelector('#rail a[aria-current=page]').dataset.view"), "timeline")

    def test_nothing_is_wider_than_a_phone(self) -> None:
        for width in (320, 375, 640):
            self.page.size(width, 740)
            for view in (*VIEWS, "sessions?story=s1"):
                self.show(view)
                wide = self.page.run("[...document.querySelectorAll('#view, #strip, html')].filter((box) => box.scrollWidth > box.clientWidth)"
                                     ".map((box) => box.id || box.tagName).join()")
                self.assertEqual(wide, "", (view, width))

    def test_who_waits_can_be_read_in_half_a_window(self) -> None:
        self.project.emit("permission", "Bash make release", agent="w1", tool="Bash", outcome="asked")
        try:
            for width in (375, 640, 1280):
                self.page.size(width, 740)
                self.page.wait("/^w1 waits/.test(document.querySelector('#wait-title').textContent)")
                shown = "(() => { const n = document.querySelector('#wait-title'); return n.clientWidth > 60 && n.scrollWidth <= n.clientWidth; })()"
                self.page.wait(shown)
                self.assertRegex(self.text("#wait-sub"), r"^(now|\d+ s|\d+ min) · Bash make release", "since when comes before what may be cut off")
        finally:
            self.project.emit("post-tool", "Bash make release", agent="w1", tool="Bash", duration_ms=5, outcome="ok")
            self.page.wait("!document.title.startsWith('●')")

    def test_labels_of_every_script(self) -> None:
        """A label runs in its own direction, so that its beginning is seen where it is cut off; joiners are part of words."""
        arabic, family = "لماذا لا يعمل الدفع عبر البطاقة في صفحة الخروج؟ " * 6, "\U0001F469\u200d\U0001F467 می\u200cخواهم"
        self.project.emit("session-start", "session started", session="scripts", branch="פיצר")
        self.project.emit("user-prompt", arabic, session="scripts")
        self.project.emit("post-tool", family + " pass\u200bword", session="scripts", tool="Read", bytes=1)
        self.show("now?session=scripts")
        self.page.wait("/می/.test(document.querySelector('.tail').textContent)")
        self.assertIn(family + " pass\ufffdword", self.text(".tail"))
        task = ".agent:not(.head) .task .cut"
        self.assertEqual(self.page.run("getComputedStyle(document.querySelector('%s')).direction" % task), "rtl")
        self.show("sessions?session=scripts")
        self.page.wait("!!document.querySelector('.row.session bdi')")

    def test_a_clock_that_was_set_back(self) -> None:
        """Every event of the time in view is drawn, found and counted, though the log's times do not rise."""
        for number, ts in enumerate(("10:00:00", "10:30:00", "09:00:00", "09:30:00")):
            self.project.emit("post-tool", "Read %d" % number, session="clock", tool="Read", ts="2026-06-01T%s.000Z" % ts, duration_ms=1000, outcome="ok")
        found = self.page.run("""(async () => {
          const { Columns } = await import('/store.js'), { api } = await import('/net.js');
          const c = new Columns(await api('timeline', { session: 'clock' })), at = (text) => Date.parse('2026-06-01T' + text + ':00Z');
          const seen = (from, to) => { const found = []; for (let i = c.from(at(from)), end = c.upto(at(to)); i < end; i++) if (c.ts[i] >= at(from) && c.ts[i] <= at(to)) found.push(i); return found.join(); };
          return [seen('08:50', '09:10'), seen('09:20', '10:10'), seen('08:00', '11:00'), new Date(c.latest()).toISOString().slice(11, 16)].join(' ');
        })()""")
        self.assertEqual(found, "2 0,3 0,1,2,3 10:30")
        self.show("timeline?session=clock")
        self.page.wait("document.querySelectorAll('.near .row.event').length === 4")

    def test_agents_are_chosen_by_name(self) -> None:
        self.project.emit("subagent-start", "Look around", agent="a0f3c2d4e5b6a7988", agent_type="Explore")
        self.show("timeline")
        self.page.wait("[...document.querySelectorAll('select[aria-label=Agent] option')].some((o) => /^Explore a0f3c2/.test(o.textContent))")

    # ---- what may go wrong

    def test_hostile_text_is_only_text(self) -> None:
        self.project.emit("user-prompt", HOSTILE, session="evil")
        self.project.emit("post-tool", HOSTILE, session="evil", agent=HOSTILE[:60], tool="Read", file=HOSTILE, bytes=1)
        self.project.emit("wondrous", "x" * 1_000_000, session="evil")
        for view in ("now", "timeline", "replay", "sessions"):
            self.show(view + "?session=evil")
        self.assertIsNone(self.page.run("window.stolen || null"))
        self.assertEqual(self.page.run("document.querySelectorAll('main img, main script, main b').length"), 0)
        self.assertNotIn("\u202e", self.page.run("document.body.textContent"))
        self.show("now?session=s1")

    def test_server_killed_and_started_again(self) -> None:
        record = launch.load_record(self.project.root)
        assert record is not None
        os.kill(record["pid"], signal.SIGKILL)
        self.page.wait("/does not answer/.test(document.querySelector('#band').textContent)", 20)
        self.assertIn("Agents", self.text("main"), "the page stays readable")
        wait_until(lambda: not launch.is_running(record))
        self.project.start()
        self.page.wait("document.querySelector('#band').hidden", 30)
        self.project.emit("user-prompt", "still here?")
        self.page.wait("/still here/.test(document.querySelector('.tail').textContent)", 20)
        self.page.complaints.clear()  # the browser reports the requests that failed

    def test_a_log_that_is_removed_while_watched(self) -> None:
        self.project.emit("user-prompt", "short life", session="gone")
        self.show("now?session=gone")
        self.page.wait("/short life/.test(document.querySelector('.tail').textContent)")
        os.unlink(os.path.join(self.project.root, ".claude", "slipstream", "dashboard", "gone.jsonl"))
        self.page.wait("!/short life/.test(document.querySelector('main').textContent)", 20)
        self.project.emit("user-prompt", "second life", session="gone")
        self.page.wait("/second life/.test(document.querySelector('main').textContent)", 20)
        self.show("now?session=s1")

    def test_a_browser_without_session_is_told_how_to_get_one(self) -> None:
        stranger = self.browser.open("http://%s/#code=wrong" % self.project.host, context=self.browser.new_context())
        stranger.wait("/dashboard open/.test(document.body.textContent)")
        self.assertNotIn("fix the webhook", stranger.run("document.body.textContent"))
        stranger.close()

    def test_one_stream_for_many_pages(self) -> None:
        others = [self.browser.open("http://%s/#/now?session=s1" % self.project.host) for _ in range(4)]
        try:
            for page in others:
                page.wait("!!document.querySelector('.agent:not(.head)')", 30)
            self.project.emit("user-prompt", "to all pages")
            for page in [self.page, *others]:
                page.wait("/to all pages/.test(document.querySelector('.tail').textContent)", 20)
            streams = [url for page in [self.page, *others] for url in page.requests if "/api/stream" in url and page is not self.page]
            self.assertEqual(streams, [])
        finally:
            for page in others:
                page.close()

    # ---- for everybody

    def test_axe_finds_nothing(self) -> None:
        path = find_axe()
        if path is None:
            skip("browser", "SLIPSTREAM_AXE names no folder of axe-core")
        with open(path, encoding="utf-8") as stream:
            axe = stream.read()
        for scheme, width in (("light", 1280), ("dark", 1280), ("light", 390)):
            self.page.media(prefers_color_scheme=scheme)
            self.page.size(width, 800)
            for view in (*VIEWS, "sessions?story=s1"):
                self.show(view)
                if view == "now":
                    self.page.run("document.querySelector('.agent:not(.head)').click()")
                found = self.page.run(axe + "; axe.run().then((r) => JSON.stringify([r.passes.length, r.violations.map((v) => [v.id, v.nodes.map((n) =>"
                                      " n.html.slice(0, 200))])]))")
                passes, violations = json.loads(found)
                self.assertGreater(passes, 15)
                self.assertEqual(violations, [], (scheme, width, view))
                if view == "now":
                    self.page.key("Escape")
                overflow = self.page.run("document.documentElement.scrollWidth - innerWidth")
                self.assertLessEqual(overflow, 0, (view, width))
                if PICTURES:
                    self.page.picture(os.path.join(PICTURES, "%s-%s-%d.png" % (view.split("?")[0], scheme, width)))


if __name__ == "__main__":
    unittest.main()
