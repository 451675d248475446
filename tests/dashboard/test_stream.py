"""What reaches a browser: snapshot, deltas, resume, resync, and recovery from everything that happens to a log."""

from __future__ import annotations

import json
import os
import unittest
from typing import Any

from slipstream.dashboard.live import Views
from slipstream.events.fold import Fold
from slipstream.events.log import log_path, read_events

from tests.dashboard.serving import Project, Stream
from tests.waiting import wait_until


class Streams(unittest.TestCase):
    project: Project

    @classmethod
    def setUpClass(cls) -> None:
        cls.project = Project()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.project.close()

    def test_published_stream(self) -> None:
        """A snapshot on connecting, a state after an event: what the TypeScript implementation's page expects."""
        self.project.emit("session-start", "session started", session="pub")
        stream = Stream(self.project, "/api/stream?session=pub")
        self.addCleanup(stream.close)
        snapshot = stream.frame("snapshot")
        self.assertEqual(snapshot["data"]["lastSeq"], 0)
        self.assertEqual(snapshot["id"], "0")
        self.project.emit("pre-tool", "Read a.ts", session="pub")
        delta = stream.frame("delta")
        self.assertEqual((delta["id"], delta["data"]["events"][0]["label"]), ("1", "Read a.ts"))
        state = stream.frame("state")
        self.assertEqual(state["data"]["agents"][0]["toolCalls"], 1)
        self.assertEqual(state["data"], json.loads(json.dumps(self.folded("pub"))))

    def folded(self, session: str) -> dict[str, object]:
        fold = Fold(session)
        for event in read_events(self.project.root, session):
            fold.apply(event)
        return fold.state()

    def test_resume_by_last_event_id(self) -> None:
        for index in range(5):
            self.project.emit("post-tool", "Read %d.ts" % index, session="resume", bytes=10)
        stream = Stream(self.project, "/api/stream?session=resume", Last_Event_ID="2")
        self.addCleanup(stream.close)
        delta = stream.frame("delta")
        self.assertEqual([event["seq"] for event in delta["data"]["events"]], [3, 4])

    def test_page_stream_resumes_or_says_that_it_cannot(self) -> None:
        stream = Stream(self.project, "/api/stream?deltas=only")
        first = stream.frame("hello")["id"]
        self.project.emit("user-prompt", "one", session="page")
        self.frame_of(stream, "sessions", "page")  # read to its end: what comes now is news
        self.project.emit("stop", "two", session="page")
        self.frame_of(stream, "delta", "page")
        stream.close()
        again = Stream(self.project, "/api/stream?deltas=only", Last_Event_ID=first)
        again.frame("hello")
        self.assertEqual(self.frame_of(again, "delta", "page")["events"][0]["label"], "two")
        again.close()
        for unknown in ("0123456789ab-3", "rubbish", first.partition("-")[0] + "-999999"):
            lost = Stream(self.project, "/api/stream?deltas=only&last=" + unknown)
            lost.frame("hello")
            lost.frame("resync")
            lost.close()

    def frame_of(self, stream: Stream, name: str, session: str) -> dict[str, Any]:
        """What the next frame of a session says: the stream carries the other tests' sessions too."""
        while True:
            data: dict[str, Any] = stream.frame(name)["data"]
            if data["session"] == session:
                return data

    def test_a_log_that_is_empty_when_it_is_found_begins_a_session(self) -> None:
        stream = Stream(self.project, "/api/stream?deltas=only")
        self.addCleanup(stream.close)
        os.makedirs(os.path.dirname(log_path(self.project.root, "slow")), exist_ok=True)
        with open(log_path(self.project.root, "slow"), "w", encoding="utf-8"):
            pass
        self.assertEqual(self.project.get("/api/now?session=slow").json["seq"], -1)
        self.project.emit("user-prompt", "first words", session="slow")
        self.frame_of(stream, "sessions", "slow")

    def test_one_stream_carries_every_session(self) -> None:
        self.project.emit("user-prompt", "a", session="one")
        self.project.emit("user-prompt", "b", session="two")
        stream = Stream(self.project, "/api/stream?deltas=only")
        self.addCleanup(stream.close)
        self.project.get("/api/now?session=one")
        self.project.get("/api/now?session=two")
        self.project.emit("stop", "x", session="one")
        self.project.emit("stop", "y", session="two")
        seen: set[str] = set()
        while not {"one", "two"} <= seen:
            seen.add(stream.frame("delta")["data"]["session"])

    def test_a_log_that_is_removed_while_watched(self) -> None:
        self.project.emit("user-prompt", "old life", session="gone")
        stream = Stream(self.project, "/api/stream?deltas=only")
        self.addCleanup(stream.close)
        self.assertEqual(self.project.get("/api/now?session=gone").json["counts"]["events"], 1)
        os.unlink(log_path(self.project.root, "gone"))
        self.assertEqual(stream.frame("resync")["data"]["session"], "gone")
        self.assertEqual(self.project.get("/api/now?session=gone").json["counts"]["events"], 0)
        self.project.emit("user-prompt", "new life", session="gone")
        wait_until(lambda: [event["label"] for event in self.project.get("/api/now?session=gone").json["tail"]] == ["new life"])

    def test_published_stream_of_a_log_that_begins_anew(self) -> None:
        for number in range(5):
            self.project.emit("user-prompt", "old %d" % number, session="anew")
        stream = Stream(self.project, "/api/stream?session=anew")
        self.addCleanup(stream.close)
        self.assertEqual(stream.frame("snapshot")["data"]["lastSeq"], 4)
        os.unlink(log_path(self.project.root, "anew"))
        self.assertEqual(stream.frame("resync")["data"]["session"], "anew")
        self.project.emit("user-prompt", "new", session="anew")
        self.assertEqual(stream.frame("state")["data"], json.loads(json.dumps(self.folded("anew"))))
        self.project.emit("stop", "newer", session="anew")
        self.assertEqual([event["label"] for event in stream.frame("delta")["data"]["events"]], ["newer"])

    def test_published_stream_while_many_sessions_are_looked_at(self) -> None:
        self.project.emit("user-prompt", "first", session="kept")
        stream = Stream(self.project, "/api/stream?session=kept")
        self.addCleanup(stream.close)
        stream.frame("snapshot")
        for number in range(Views.MAX + 2):
            self.project.get("/api/now?session=other%d" % number)
        self.project.emit("pre-tool", "Read a.ts", session="kept")
        self.assertEqual(stream.frame("state")["data"]["lastSeq"], 1)

    def test_torn_lines_wait_and_bad_lines_are_counted(self) -> None:
        self.project.emit("user-prompt", "first", session="torn")
        self.assertEqual(self.project.get("/api/now?session=torn").json["seq"], 0)
        with open(log_path(self.project.root, "torn"), "ab") as log:
            log.write(b'{"seq":1,"ts":"2026-06-01T10:00:00.000Z","session":"torn","agent":"main","kind":"stop","lab')
        self.assertEqual(self.project.get("/api/now?session=torn").json["seq"], 0)
        with open(log_path(self.project.root, "torn"), "ab") as log:
            log.write(b'el":"done"}\nnot json\n')
        now = self.project.get("/api/now?session=torn").json
        self.assertEqual((now["seq"], now["tail"][-1]["label"]), (1, "done"))

    def test_a_clock_that_jumps(self) -> None:
        for second in ("10:00:05", "10:00:01", "23:59:59", "00:00:00"):
            self.project.emit("post-tool", "Read x", session="clock", ts="2026-06-01T%s.000Z" % second, bytes=1)
        timeline = self.project.get("/api/timeline?session=clock").json
        self.assertEqual((len(timeline["dt"]), timeline["behind"]), (4, 0))
        rest = self.project.get("/api/timeline?session=clock&from=3").json
        self.assertEqual((rest["dt"], rest["seq0"], rest["t0"]), ([0], 3, timeline["t0"] + sum(timeline["dt"])))
        self.assertEqual(self.project.get("/api/now?session=clock&at=2").json["seq"], 2)

    def test_replay_is_the_same_fold(self) -> None:
        for index in range(40):
            self.project.emit(("user-prompt", "post-tool", "post-tool", "stop")[index % 4], "event %d" % index, session="same", bytes=50)
        for at in (0, 7, 22, 39):
            fold = Fold("same")
            for event in read_events(self.project.root, "same"):
                if event["seq"] <= at:
                    fold.apply(event)
            state = self.project.get("/api/state?session=same&at=%d" % at).json
            self.assertEqual(state, json.loads(json.dumps(fold.state())))
            now = self.project.get("/api/now?session=same&at=%d" % at).json
            self.assertEqual((now["seq"], now["agents"]["rows"][0]["tokens"]), (at, fold.state()["agents"][0]["approxTokens"]))

    def test_events_are_found_by_every_filter(self) -> None:
        self.project.emit("post-tool", "Read src/a.py", session="find", tool="Read", file="src/a.py", duration_ms=5, outcome="ok")
        self.project.emit("tool-failure", "Bash make", session="find", agent="w1", tool="Bash", duration_ms=7, error="boom")
        self.project.emit("user-prompt", "Bücher über Käse", session="find")
        for query, wanted in (("tool=Read", [0]), ("agent=w1", [1]), ("outcome=failed", [1]), ("q=k%C3%A4se", [2]), ("file=src/a.py", [0]),
                              ("q=MAKE", [1]), ("q=nothing+here", []), ("tool=Nope", []), ("kind=user-prompt", [2]), ("before=2", [0, 1])):
            found = self.project.get("/api/events?session=find&" + query).json["events"]
            self.assertEqual([event["seq"] for event in found], wanted, query)
            if "before" not in query:
                self.assertEqual(self.project.get("/api/events?session=find&only=seq&" + query).json["seqs"], wanted, query)

    def test_hostile_labels_travel_as_text(self) -> None:
        for label in ("<img src=x onerror=alert(1)>", "\u202egnp.exe", "a\u0000b\u001b[31m", "x" * 1_000_000, "\ud800", '"><script>'):
            self.project.emit("post-tool", label, session="hostile", bytes=1)
        reply = self.project.get("/api/now?session=hostile")
        self.assertEqual(reply.status, 200)
        self.assertLess(len(reply.body), 20_000)
        self.assertEqual(len(reply.json["tail"]), 6)

    def test_thousands_of_agents_stay_small(self) -> None:
        lines = []
        for index in range(4000):
            agent = "agent-%d" % index
            lines.append({"seq": index, "ts": "2026-06-01T10:00:00.000Z", "session": "many", "agent": agent, "kind": "subagent-start",
                          "label": "work"})
        os.makedirs(os.path.dirname(log_path(self.project.root, "many")), exist_ok=True)
        with open(log_path(self.project.root, "many"), "w", encoding="utf-8") as log:
            log.writelines(json.dumps(line) + "\n" for line in lines)
        now = wait_until(lambda: next((now for now in [self.project.get("/api/now?session=many").json] if not now["behind"]), None))
        self.assertLessEqual(len(now["agents"]["rows"]), 300)
        self.assertEqual(now["agents"]["total"], 4000)


if __name__ == "__main__":
    unittest.main()
