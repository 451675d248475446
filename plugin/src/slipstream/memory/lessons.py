"""Topics that come up again and again, with the observations that say so."""
from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from slipstream.base.counts import count_of
from slipstream.base.settings import setting
from slipstream.memory.observations import load_observations
from slipstream.memory.turns import concept_stems, relative_to

MIN_COUNT, LIMIT, FILES_KEPT, CITED = 3, 10, 5, 6


class Lesson:
    __slots__ = ("count", "dominant_kind", "files", "ids", "sessions", "topic")

    def __init__(self, topic: str, records: list[dict[str, Any]]):
        self.topic, self.count = topic, len(records)
        self.sessions = len({record["session"] for record in records})
        self.ids = [record["id"] for record in records]
        files: dict[str, int] = {}
        kinds: dict[str, int] = {}
        for record in records:
            kinds[record["kind"]] = kinds.get(record["kind"], 0) + 1
            for path in record["files"]:
                if topic in concept_stems([path]):
                    files[path] = files.get(path, 0) + 1
        self.files = sorted(files, key=lambda path: -files[path])[:FILES_KEPT]
        self.dominant_kind = max(kinds, key=lambda kind: kinds[kind])

    def render(self) -> str:
        where = f"; mostly {', '.join(self.files[:3])}" if self.files else ""
        cited = ", ".join(map(str, self.ids[:CITED])) + (", …" if len(self.ids) > CITED else "")
        seen = f"{count_of(self.count, 'turn')} in {count_of(self.sessions, 'session')}, mainly {self.dominant_kind}"
        return f"- {self.topic}: {seen}{where} [obs {cited}]"

    def to_record(self) -> dict[str, Any]:
        return {"topic": self.topic, "count": self.count, "sessions": self.sessions, "files": self.files,
                "dominantKind": self.dominant_kind, "summary": self.render()[2:].rsplit(" [obs", 1)[0],
                "observationIds": self.ids}


def find_lessons(store_root: str, min_count: int = MIN_COUNT, limit: int = LIMIT) -> list[Lesson]:
    records = load_observations(store_root)
    root, home = os.path.realpath(store_root), os.path.expanduser("~")
    for record in records:  # stores of other writers hold whole paths
        record["files"] = [relative_to(home, relative_to(root, path)) for path in record["files"]]
    return distil_lessons(records, min_count, limit, private_words(store_root))


def distil_lessons(records: Iterable[dict[str, Any]], min_count: int = MIN_COUNT, limit: int = LIMIT,
                   private: Iterable[str] = ()) -> list[Lesson]:
    """Clusters by the topic words of files, at least `min_count` records each; most turns times sessions first."""
    skip = set(private)
    clusters: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        for stem in concept_stems(record["files"]):
            if stem not in skip:
                clusters.setdefault(stem, []).append(record)
    lessons = [Lesson(topic, found) for topic, found in clusters.items() if len(found) >= max(1, min_count)]
    lessons.sort(key=lambda lesson: (-lesson.count * lesson.sessions, -lesson.count))
    return lessons[:limit if limit > 0 else LIMIT]


def private_words(store_root: str) -> set[str]:
    """Parts of the home folder's path, of the user's and of the project's name: they are in every whole path, and no topic."""
    texts = [os.path.expanduser("~"), os.environ.get("USER", ""), os.environ.get("USERNAME", ""),
             os.path.basename(os.path.realpath(store_root)), str(setting(store_root, "project"))]
    return {part for text in texts for part in re.split(r"[^a-z0-9]+", text.lower()) if len(part) > 2}


def render_lessons(lessons: list[Lesson]) -> str:
    return "\n".join(lesson.render() for lesson in lessons) if lessons else "no recurring lessons yet"
