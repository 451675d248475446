"""Lessons: topics of the work, never of the place where it lies."""
from __future__ import annotations

import json
import os

from slipstream.memory.lessons import find_lessons, render_lessons

from tests.memory import StoreCase


class Lessons(StoreCase):
    def test_places_are_no_topics(self) -> None:
        home = os.environ["HOME"]
        rows = [{"id": number + 1, "session": f"s{number % 2}", "ts": "", "kind": "edit", "summary": "x", "detail": "", "tags": [],
                 "files": [path]} for number, path in enumerate((
                     self.root + "/src/billing/tax.py", home + "/elsewhere/billing/rate.py", "src/billing/sum.py"))]
        self.write(".claude/slipstream/observations/s.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        lessons = find_lessons(self.root, 1)
        topics = [lesson.topic for lesson in lessons]
        self.assertEqual(topics[0], "billing")
        self.assertEqual(set(topics), {"billing", "tax", "rate", "sum", "elsewhere"})
        self.assertTrue(render_lessons(lessons).startswith("- billing: 3 turns in 2 sessions, mainly edit"))
        self.assertIn("[obs 1, 2, 3]", render_lessons(lessons))
