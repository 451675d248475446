"""One session's view: the same state however it was reached, small, and kept for the next server only while it fits."""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
import unittest

from slipstream.dashboard import cache
from slipstream.dashboard.hub import Hub
from slipstream.dashboard.live import SessionView, Views
from slipstream.dashboard.panels import find_events, timeline_panel
from slipstream.events.fold import Fold
from slipstream.events.log import log_path, read_events

from tests.folders import FolderCase

EVENTS = 4600


def write_log(root: str, session: str, count: int) -> str:
    """A long log with several agents, failures, prompts and compactions."""
    chance = random.Random(7)
    path = log_path(root, session)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as log:
        for seq in range(count):
            kind = chance.choice(("post-tool", "post-tool", "tool-failure", "user-prompt", "stop", "compact", "pre-tool"))
            agent = "main" if kind in ("user-prompt", "stop", "compact") else chance.choice(("main", "w1", "w2"))
            data = {"tool": "Read", "duration_ms": seq % 900, "bytes": 100, "tool_use_id": "t%d" % seq} if "tool" in kind else {}
            ts = "2026-06-01T%02d:%02d:%02d.%03dZ" % (seq // 3600 % 24, seq // 60 % 60, seq % 60, seq % 1000)
            event = {"seq": seq, "ts": ts, "session": session, "agent": agent, "kind": kind, "label": "Read %d" % seq, "data": data}
            log.write(json.dumps(event) + "\n")
    return path


class Live(unittest.TestCase):
    root: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.root = os.path.realpath(tempfile.mkdtemp(prefix="slipstream-live-"))
        write_log(cls.root, "long", EVENTS)
        cls.view = SessionView(cls.root, "long")
        cls.view.refresh()

    @classmethod
    def tearDownClass(cls) -> None:
        shutil.rmtree(cls.root)

    def test_any_moment_is_the_fold_to_it(self) -> None:
        events = read_events(self.root, "long")
        fold, chosen = Fold("long"), {0, 1, 999, 1000, 1001, 2500, EVENTS - 2, EVENTS - 1}
        for event in events:
            fold.apply(event)
            if event["seq"] in chosen:
                wanted = fold.state()
                found = self.view.fold_at(event["seq"]).state()
                for state in (wanted, found):
                    state.pop("calls")
                    for agent in state["agents"]:
                        agent.pop("activity")
                self.assertEqual(found, wanted, event["seq"])
                self.assertEqual(self.view.exact_fold_at(event["seq"]).state()["lastSeq"], event["seq"])

    def test_columns_say_what_the_log_says(self) -> None:
        panel = timeline_panel(self.view)
        events = read_events(self.root, "long")
        self.assertEqual(len(panel["dt"]), EVENTS)
        for index in (0, 17, 2222, EVENTS - 1):
            self.assertEqual(panel["kinds"][panel["kind"][index]], events[index]["kind"])
            self.assertEqual(panel["agents"][panel["agent"][index]]["id"], events[index]["agent"])
        self.assertEqual(self.view.rows([17])[0]["label"], "Read 17")

    def test_text_is_found_across_the_blocks_of_a_search(self) -> None:
        for number in (0, 9, 1234, EVENTS - 1):
            found, _ = find_events(self.view, text="read %d" % number, limit=None)
            self.assertEqual(found, [i for i in range(EVENTS) if str(number) in str(i) and str(i).startswith(str(number))], number)
        page, more = find_events(self.view, text="Read", limit=10, newest=False, low=5)
        self.assertEqual((page, more), (list(range(5, 15)), True))

    def test_two_readers_of_one_session_share_its_view(self) -> None:
        views = Views(self.root)
        self.assertIs(views.get("nothing yet"), views.get("nothing yet"))

    def test_kept_view_goes_on_where_it_stopped(self) -> None:
        root = tempfile.mkdtemp(prefix="slipstream-kept-")
        self.addCleanup(shutil.rmtree, root)
        path = write_log(root, "kept", EVENTS)
        first = SessionView(root, "kept")
        first.refresh()
        self.assertTrue(cache.save_view(root, first))
        self.assertFalse(cache.save_view(root, first), "nothing new to keep")
        with open(path, "a", encoding="utf-8") as log:
            log.write(json.dumps({"seq": EVENTS, "ts": "2026-06-02T10:00:00.000Z", "session": "kept", "agent": "main", "kind": "stop",
                                  "label": "later"}) + "\n")
        second = Views(root).get("kept")
        self.assertEqual(len(second), EVENTS)
        rows, total = second.refresh()
        self.assertEqual((total, rows[-1]["label"]), (1, "later"))
        first.refresh()
        self.assertEqual(second.fold.state(), first.fold.state())
        self.assertEqual(timeline_panel(second), timeline_panel(first))
        self.assertEqual(second.fold_at(1500).last_seq, 1500)

    def test_a_kept_view_that_does_not_fit_is_ignored(self) -> None:
        root = tempfile.mkdtemp(prefix="slipstream-unfit-")
        self.addCleanup(shutil.rmtree, root)
        path = write_log(root, "unfit", EVENTS)
        view = SessionView(root, "unfit")
        view.refresh()
        cache.save_view(root, view)
        kept = cache.cache_path(root, "unfit")
        with open(kept, "rb") as stream:
            good = stream.read()

        def loaded(data: bytes, mode: int = 0o600) -> int:
            with open(kept, "wb") as stream:
                stream.write(data)
            os.chmod(kept, mode)
            return len(Views(root).get("unfit"))

        self.assertEqual(loaded(good), EVENTS)
        for bad in (b"", b"{}\n", good[:-1], good[:-9] + b"123456789", good.replace(b'"format": %d' % cache.FORMAT, b'"format": 9'), b"[]\n" + good,
                    good.replace(b'"readTo": ', b'"readTo": 9')):
            self.assertEqual(loaded(bad), 0)
        if os.name == "posix":
            self.assertEqual(loaded(good, 0o644), 0, "a file that came with a clone")
        with open(path, "r+b") as log:
            log.write(b'{"seq":9')
        self.assertEqual(loaded(good), 0, "another log under the name")

    def test_a_shorter_log_is_another_log(self) -> None:
        root = tempfile.mkdtemp(prefix="slipstream-short-")
        self.addCleanup(shutil.rmtree, root)
        write_log(root, "s", 50)
        view = SessionView(root, "s")
        view.refresh()
        write_log(root, "s", 20)
        view.refresh()
        self.assertEqual((len(view), view.last_seq), (20, 19))
        os.unlink(view.path)
        view.refresh()
        view.replaced()
        self.assertEqual((len(view), view.last_seq), (0, -1))


class WhoeverAsks(FolderCase):
    """The follower and the requests share a view: what one of them read is what the other is shown."""

    def setUp(self) -> None:
        super().setUp()
        self.hub = Hub(Views(self.root), lambda view, rows, total: {})

    def read(self, session: str) -> SessionView:
        return self.hub.catch_up(session)

    def test_an_empty_log_has_one_view(self) -> None:
        write_log(self.root, "new", 0)
        first = self.read("new")
        write_log(self.root, "new", 1)
        self.assertIs(self.read("new"), first)
        self.assertEqual(len(first), 1)

    def test_a_view_that_was_dropped_is_read_again(self) -> None:
        names = ["s%d" % number for number in range(Views.MAX + 1)]
        for name in names:
            write_log(self.root, name, 2)
        self.assertEqual([len(self.read(name)) for name in names * 2], [2] * len(names) * 2)


if __name__ == "__main__":
    unittest.main()
