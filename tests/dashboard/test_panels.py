"""The addresses behind the panels: published shapes, memory with its dry run, budget, story, export."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import unittest
import zipfile

from slipstream.dashboard.routes import GET_ROUTES
from slipstream.events.log import log_path
from slipstream.memory.facts import add_fact
from slipstream.memory.freshness import cite
from slipstream.memory.observe import capture

from tests import PROGRAM
from tests.dashboard.serving import Project, write_transcript

SECRET = "sk-ant-" + "api03-" + "A1b2C3d4E5f6G7h8" * 4


class Panels(unittest.TestCase):
    project: Project

    @classmethod
    def setUpClass(cls) -> None:
        cls.project = project = Project(config=True)
        write_transcript(cls.project.config, cls.project.root, "told")
        with open(os.path.join(project.root, "app.py"), "w", encoding="utf-8") as stream:
            stream.write("import helper\n\n\ndef main():\n    return helper.one()\n")
        with open(os.path.join(project.root, "helper.py"), "w", encoding="utf-8") as stream:
            stream.write("def one():\n    return 1\n")
        project.emit("session-start", "session started", branch="main")
        project.emit("user-prompt", "why is the total wrong?")
        project.emit("post-tool", "Read app.py", tool="Read", file="app.py", duration_ms=12, bytes=3600, outcome="ok")
        project.emit("post-tool", "Edit app.py", tool="Edit", file="app.py", duration_ms=30, bytes=40, outcome="ok")
        project.emit("tool-failure", "Bash pytest", tool="Bash", duration_ms=900, error="Exit code 1", outcome="error")
        project.emit("stop", "turn finished")
        capture(project.root, "s1")
        add_fact(project.root, "Totals are sums of rounded lines", type="decision", body="Seen on the invoice.",
                 sources=[cite(project.root, "app.py:4-5")])

    @classmethod
    def tearDownClass(cls) -> None:
        cls.project.close()

    def test_window_and_usage_come_from_the_transcript(self) -> None:
        self.project.emit("user-prompt", "x", session="told")
        now = self.json("now?session=told")
        self.assertEqual((now["budget"]["used"], now["budget"]["source"]), (50000, "transcript"))  # type: ignore[index]
        self.assertEqual(now["cache"], {"hitRatio": 0.92})  # type: ignore[index]
        row = self.json("usage")["rows"][0]  # type: ignore[index]
        self.assertEqual((row["session"], row["cacheRead"], row["output"], row["replies"]), ("told", 46000, 500, 1))

    def json(self, target: str) -> object:
        reply = self.project.get("/api/" + target)
        self.assertEqual(reply.status, 200, (target, reply.body[:300]))
        return reply.json

    def test_published_shapes(self) -> None:
        wanted = {
            "sessions": {"sessions", "info"},
            "state": {"session", "windowTokens", "agents", "plan", "lastSeq", "startedAt", "finishedAt"},
            "budget": {"config", "served", "estimated", "source", "level", "fraction", "forecast"},
            "savings": {"scopedReads", "savedTokens", "pct", "cost"},
            "failures": {"session", "failures"},
            "story": {"session", "lanes"},
            "search?q=total": {"hits"},
            "search/conversation?q=total": {"hits"},
            "conversation": {"exchanges", "turnCount"},
            "resume": {"session", "hasContext", "lastActive", "openThread", "recentAsks", "filesInFlight", "suggestedNext"},
            "codegraph": {"nodes", "edges"},
            "project/lessons": {"lessons"},
            "project/summary": {"version", "sessions", "observations", "memories", "savedTokens", "scopedReads", "optPct", "uniqueFiles",
                                "driftCount", "kinds", "lastActivity"},
            "project/heatmap": {"days", "entries"},
            "project/files": {"files"},
            "project/day": {"date", "sessions", "observations", "driftCount", "topFiles", "kinds", "tools", "skills", "first", "last"},
            "presence": {"session", "agents"},
            "agents": {"agents"},
            "session-digest": {"session", "paragraph", "stats"},
            "graph": {"nodes", "edges"},
            "overview": {"identity", "map", "narration", "summary", "recent", "counts", "savedTokens", "savedUsd"},
            "memory/overview": {"summary", "digests", "durable", "lessons", "health", "counts"},
            **{"insights/" + name: {"paragraph", "bullets"} for name in ("live", "project", "journal", "sessions")},
        }
        for target, keys in wanted.items():
            answer = self.json(target)
            assert isinstance(answer, dict)
            self.assertLessEqual(keys, set(answer), target)

    def test_published_digests_say_what_happened(self) -> None:
        digest = self.json("session-digest?session=s1")
        self.assertIn("why is the total wrong?", digest["paragraph"])  # type: ignore[index]
        self.assertEqual(digest["stats"], {"prompts": 1, "tools": 3, "files": 1, "exchanges": 0})  # type: ignore[index]
        self.assertIn("Nothing", self.json("session-digest?session=nobody")["paragraph"])  # type: ignore[index]
        reply = self.project.get("/api/report?session=s1")
        self.assertEqual(reply.value("content-disposition"), 'attachment; filename="s1.md"')
        self.assertIn("## why is the total wrong?\n", reply.body.decode())
        self.assertIn("- Bash pytest (failed)", reply.body.decode())
        edges = self.json("graph")["edges"]  # type: ignore[index]
        self.assertIn({"source": "session:s1", "target": "file:app.py", "weight": 1}, edges)
        overview = self.json("overview")
        self.assertEqual(sum(area["files"] for area in overview["map"]), 2)  # type: ignore[index]
        self.assertEqual(overview["counts"]["memories"], self.json("memory/overview")["counts"]["memories"])  # type: ignore[index]
        self.assertIn("Nothing was captured on 1999-01-01", self.json("insights/journal?date=1999-01-01")["paragraph"])  # type: ignore[index]
        self.assertIn("s1", self.json("insights/live?session=s1")["paragraph"])  # type: ignore[index]

    def test_published_days_files_and_agents(self) -> None:
        today = self.json("observations")["observations"][-1]["ts"][:10]  # type: ignore[index]
        day = self.json("project/day?date=" + today)
        self.assertEqual((day["sessions"], day["observations"], day["topFiles"]), (["s1"], 1, [{"path": "app.py", "count": 1}]))  # type: ignore[index]
        self.assertEqual(self.json("project/day?date=1999-01-01")["first"], None)  # type: ignore[index]
        heat = self.json("project/heatmap?days=7")
        self.assertEqual(len(heat["entries"]), 7)  # type: ignore[index]
        self.assertEqual(sum(entry["count"] for entry in heat["entries"]), 1)  # type: ignore[index]
        file = self.json("project/files")["files"][0]  # type: ignore[index]
        self.assertEqual((file["path"], file["touches"], file["sessions"]), ("app.py", 1, 1))
        self.assertEqual(self.json("project/summary")["uniqueFiles"], 1)  # type: ignore[index]
        main = self.json("presence?session=s1")["agents"][0]  # type: ignore[index]
        self.assertEqual((main["id"], main["mood"], main["lastLabel"]), ("main", "waiting", "turn finished"))
        self.json("now?session=s1")
        row = next(row for row in self.json("agents")["agents"] if row["session"] == "s1")  # type: ignore[index]
        self.assertEqual((row["tool"], row["files"], row["thread"]), ("Bash", ["app.py"], "why is the total wrong?"))

    def test_a_report_keeps_to_the_projects_own_patterns(self) -> None:
        path = os.path.join(self.project.root, ".claude", "slipstream", "redact.json")
        with open(path, "w", encoding="utf-8") as stream:
            json.dump({"patterns": [{"pattern": "total wrong"}]}, stream)
        self.addCleanup(os.unlink, path)
        self.assertIn("## why is the [redacted:custom]?\n", self.project.get("/api/report?session=s1").body.decode())

    def test_sessions_tell_what_was_asked(self) -> None:
        info = next(row for row in self.json("sessions")["info"] if row["session"] == "s1")  # type: ignore[index]
        self.assertEqual((info["firstAsk"], info["turns"], info["files"], info["failures"]), ("why is the total wrong?", 1, 1, 1))
        self.assertEqual(info["observations"], 1)

    def test_story_has_what_was_done_under_each_ask(self) -> None:
        lane = self.json("story?session=s1")["lanes"][-1]  # type: ignore[index]
        self.assertEqual((lane["prompt"], lane["changed"], lane["failures"]), ("why is the total wrong?", ["app.py"], 1))

    def test_moment(self) -> None:
        moment = self.json("moment?session=s1&at=3")
        self.assertEqual(moment["prompt"]["label"], "why is the total wrong?")  # type: ignore[index]
        self.assertEqual(moment["files"], ["app.py"])  # type: ignore[index]
        self.assertEqual(moment["next"]["label"], "turn finished")  # type: ignore[index]

    def test_no_address_fails_on_a_session_without_events_or_on_odd_questions(self) -> None:
        own, jobs = {"Authorization": self.project.bearer()}, ("/api/codegraph", "/api/usage", "/api/overview")  # processes
        self.assertEqual(self.project.get("/api/events?session=s1", **own).status, 200)
        for path in sorted(GET_ROUTES.keys() - set(jobs)):
            for query in ("session=nobody&q=x&file=y", "session=nobody&at=5&seq=5&from=5", "session=s1&at=" + "9" * 18, "session=..%2F..%2Fx",
                          "session=%00", "session=%ED%A0%80&q=%00", "at=-1&seq=-1&limit=0", "at=x", "date=x&id=%2F&item=fact:..%2Fx"):
                with self.subTest(path, query=query):
                    self.assertLess(self.project.get(path.replace("*", "..") + "?" + query, **own).status, 500)

    def test_event_and_its_neighbours(self) -> None:
        answer = self.json("event?session=s1&seq=4")
        self.assertEqual(answer["event"]["outcome"], "failed")  # type: ignore[index]
        self.assertEqual(answer["data"]["error"], "Exit code 1")  # type: ignore[index]
        self.assertEqual(self.project.get("/api/event?session=s1&seq=99").status, 404)
        self.assertEqual(self.project.get("/api/event?session=s1&seq=x").status, 400)

    def test_facts_know_their_sources(self) -> None:
        fact = self.json("facts")["facts"][0]  # type: ignore[index]
        self.assertEqual(fact["marks"][0]["mark"], "fresh")
        hits = self.json("search?q=rounded+lines")["hits"]  # type: ignore[index]
        self.assertEqual(hits[0]["id"], "fact:" + fact["name"])
        number = self.json("observations")["observations"][0]["id"]  # type: ignore[index]
        self.assertEqual(self.json("observation/%d" % number)["id"], number)  # type: ignore[index]

    def test_forgetting_is_tried_first(self) -> None:
        add_fact(self.project.root, "To be forgotten", body="soon")
        name = next(fact["name"] for fact in self.json("facts")["facts"] if fact["description"] == "To be forgotten")  # type: ignore[index]
        self.assertEqual(self.project.post("/api/memory/forget", {"facts": [name]}).json["facts"], [name])
        self.assertIn(name, [fact["name"] for fact in self.json("facts")["facts"]])  # type: ignore[index]
        self.assertEqual(self.project.post("/api/memory/forget", {"facts": [name], "dryRun": False}).json["facts"], [name])
        self.assertNotIn(name, [fact["name"] for fact in self.json("facts")["facts"]])  # type: ignore[index]
        for bad in ({}, {"facts": [1]}, {"observations": ["1"]}, {"facts": []}):
            self.assertEqual(self.project.post("/api/memory/forget", bad).status, 400)

    def test_budget_is_merged_and_repaired(self) -> None:
        self.assertEqual(self.project.post("/api/budget", {"targetTokens": 150000, "warnPct": 50}).json["config"]["targetTokens"], 150000)
        self.assertEqual(self.json("budget")["config"]["warnPct"], 50)  # type: ignore[index]
        self.assertEqual(self.project.post("/api/budget", {"warnPct": "x"}).status, 400)
        self.assertEqual(self.project.post("/api/budget", {}).status, 400)
        self.assertEqual(self.json("now?session=s1")["budget"]["warn"], 0.5)  # type: ignore[index]

    def test_map_comes_from_a_process_of_its_own(self) -> None:
        graph = self.json("codegraph")
        self.assertIn({"source": "app.py", "target": "helper.py"}, graph["edges"])  # type: ignore[index]

    def test_health_counts_what_it_cannot_read(self) -> None:
        self.project.emit("wondrous", "a kind nobody knows", session="odd")
        with open(os.path.join(self.project.root, ".claude", "slipstream", "dashboard", "odd.jsonl"), "ab") as log:
            log.write(b"rubbish\n")
        self.json("now?session=odd")
        text = json.dumps(self.json("report/health"))
        self.assertIn("1 line of session odd cannot be read as events", text)
        self.assertIn("wondrous", text)

    def test_removing_a_session_is_tried_first(self) -> None:
        self.project.emit("user-prompt", "goes away", session="bye")
        plan = self.project.post("/api/sessions/remove", {"session": "bye", "dryRun": True}).json
        self.assertEqual(list(plan["wouldRemove"]), [".claude/slipstream/dashboard/bye.jsonl"])
        self.assertIn("transcript", " ".join(plan["keeps"]))
        view = log_path(self.project.root, "bye")[: -len(".jsonl")] + ".view"
        with open(view, "w", encoding="ascii") as stream:
            stream.write("derived")
        self.assertIn("bye", self.json("sessions")["sessions"])  # type: ignore[index]
        removed = self.project.post("/api/sessions/remove", {"session": "bye"}).json
        self.assertIn(".claude/slipstream/dashboard/bye.view", removed["removed"])
        self.assertFalse(os.path.exists(view))
        self.assertNotIn("bye", self.json("sessions")["sessions"])  # type: ignore[index]


class Export(unittest.TestCase):
    def setUp(self) -> None:
        self.project = Project(start=False)
        self.addCleanup(self.project.close)
        folder = os.path.join(self.project.root, ".claude", "slipstream", "dashboard")
        os.makedirs(folder)
        # Written by another program that did not redact, and that has seen hostile names.
        labels = ["use " + SECRET, "</script><script>alert(1)</script>", "\u202egnp.exe", "plain"]
        with open(os.path.join(folder, "x.jsonl"), "w", encoding="utf-8") as log:
            for index, label in enumerate(labels):
                event = {"seq": index, "ts": "2026-06-01T10:00:0%d.000Z" % index, "session": "x", "agent": "main", "kind": "user-prompt",
                         "label": label, "data": {"api_key": SECRET}}
                log.write(json.dumps(event) + "\n")

    def export(self, name: str) -> bytes:
        target = os.path.join(self.project.root, name)
        command = [sys.executable, "-I", "-S", PROGRAM, "export", "x", "--root", self.project.root, "--out", target]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(target, "rb") as stream:
            return stream.read()

    def test_says_where_and_takes_no_other_files_place(self) -> None:
        folder = os.path.join(self.project.root, "here")
        os.makedirs(folder)
        said = []
        for words in ([], [], ["--out", "x.html"], ["--out", os.path.join("new", "x.zip")]):
            done = subprocess.run([sys.executable, "-I", "-S", PROGRAM, "export", "x", "--root", self.project.root, *words], cwd=folder,
                                  capture_output=True, encoding="utf-8", timeout=60, check=True)
            said.append(done.stdout.rpartition(" (")[0].replace(os.path.realpath(folder) + os.sep, ""))
        self.assertEqual(said, ["wrote x.html", "wrote x-2.html", "replaced x.html", "wrote " + os.path.join("new", "x.zip")])

    def test_html_is_one_safe_file(self) -> None:
        page = self.export("x.html").decode("utf-8")
        self.assertNotIn(SECRET, page)
        self.assertNotIn("</script><script>alert", page)
        self.assertNotIn("\u202e", page)
        self.assertIn("default-src 'none'", page.replace("&#x27;", "'"))
        self.assertIsNone(re.search(r"(?:src|href)\s*=|url\(|@import|fetch\(|https?://", page))
        data = json.loads(re.findall(r'id="data">(.*?)</script>', page, re.S)[0])
        self.assertEqual(len(data["events"]), 4)

    def test_zip_is_as_published(self) -> None:
        with zipfile.ZipFile(io.BytesIO(self.export("x.zip"))) as archive:
            names = archive.namelist()
            parts = {name: archive.read(name) for name in names}
        manifest = json.loads(parts["manifest.json"])
        self.assertEqual((manifest["version"], manifest["session"]), (1, "x"))
        self.assertEqual(len(names), len(manifest["files"]) + 1)
        for entry in manifest["files"]:
            self.assertEqual(len(parts[entry["path"]]), entry["bytes"])
            self.assertRegex(entry["sha256"], r"^[0-9a-f]{64}$")
        self.assertFalse([name for name, data in parts.items() if SECRET.encode() in data])
        self.assertEqual(json.loads(parts["state.json"])["lastSeq"], 3)

    def test_server_offers_it_as_a_download(self) -> None:
        self.project.start()
        reply = self.project.get("/api/export?session=x&form=html")
        self.assertEqual(reply.value("content-disposition"), 'attachment; filename="x.html"')
        self.assertEqual(reply.value("content-type"), "application/octet-stream")
        self.assertEqual(self.project.get("/api/export?session=nobody").status, 404)
        self.assertEqual(self.project.get("/api/export?session=x&form=exe").status, 400)


if __name__ == "__main__":
    unittest.main()
