"""Search over everything remembered, in three layers: ranked rows, the records around one, whole records by id."""
from __future__ import annotations

import os
from _thread import RLock  # `threading` costs a fifth of a start
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from slipstream.base.tokens import BYTES_PER_TOKEN
from slipstream.memory.authors import attribute_part, find_authors, is_tracked
from slipstream.memory.catalog import Catalog
from slipstream.memory.model import OBSERVATION_KINDS, is_number
from slipstream.memory.observations import get_observations, read_observation, render_records
from slipstream.memory.ranking import Scored, rank
from slipstream.memory.segment import DamagedIndex, Segment, describe
from slipstream.memory.sources import source_folders, source_path
from slipstream.memory.terms import KINDS, path_terms

if TYPE_CHECKING:
    from slipstream.memory.fact_reading import FactStore

DEFAULT_LIMIT, MAX_LIMIT = 10, 100
ROW_TOKENS = 60
_ROW_BYTES = int(ROW_TOKENS * BYTES_PER_TOKEN)
_OPEN: dict[str, Catalog] = {}  # one opened index a store, for a server that answers many queries
_TURN = RLock()  # an opened index belongs to one thread at a time


class MemoryHit:
    """One row of the first layer. `id` is stable: a number for an observation, `fact:NAME`, `chat:SESSION:N`, `host:FILE:N`."""

    __slots__ = ("branch", "files", "id", "kind", "score", "session", "summary", "ts", "why")

    def __init__(self, id: str, ts: str, kind: str, summary: str, files: list[str], score: float, why: list[str],
                 session: str, branch: str):
        self.id, self.ts, self.kind, self.summary, self.files, self.score = id, ts, kind, summary, files, score
        self.why, self.session, self.branch = why, session, branch

    def to_record(self) -> dict[str, Any]:
        record: dict[str, Any] = {"id": int(self.id) if self.id.isdecimal() else self.id, "ts": self.ts, "kind": self.kind,
                                  "summary": self.summary, "files": self.files, "score": round(self.score, 4), "why": self.why}
        for key in ("session", "branch"):
            if getattr(self, key):
                record[key] = getattr(self, key)
        return record

    def render(self) -> str:
        """`#id [kind] date time (score s) summary`, at most 60 tokens with why it matched."""
        when = f" {self.ts[:10]} {self.ts[11:16]}" if self.ts else ""
        head = f"#{self.id} [{self.kind}]{when} (score {self.score:.2f}) "
        why = f" <{', '.join(self.why[:4])}>" if self.why else ""
        return head + _fit(" ".join(self.summary.split()), _ROW_BYTES - len((head + why).encode("utf-8", "replace"))) + why


def open_catalog(store_root: str) -> Catalog:
    """The store's index, up to date. Kept open for the next call of this process."""
    catalog = _OPEN.get(store_root)
    if catalog is None:
        if len(_OPEN) >= 8:
            close_catalogs()
        catalog = _OPEN[store_root] = Catalog(store_root)
    catalog.refresh()
    return catalog


def close_catalogs() -> None:
    """Lets go of every opened index and its files."""
    for catalog in _OPEN.values():
        catalog.close()
    _OPEN.clear()


def search_memory(store_root: str, query: str, kind: str | None = None, session: str | None = None, branch: str | None = None,
                  file: str | None = None, since: str | None = None, limit: int = DEFAULT_LIMIT) -> list[MemoryHit]:
    """Hits, best first; empty when nothing fits. `kind` may be one of the published six, fact, digest, conversation or host.

    An unknown kind or an unreadable date filters nothing, as published. A query that is an id finds that record, `#12`
    nothing else.
    """
    with _TURN:
        limit = min(limit, MAX_LIMIT) if limit > 0 else DEFAULT_LIMIT
        is_id = query.strip()[:1] == "#" and is_number(query.strip()[1:])
        exact = [hit for hit in _exact_hits(store_root, query) if _meets(hit, kind, session, branch, file, since)]
        for attempt in (1, 2):
            catalog = open_catalog(store_root)
            try:
                accept = _filters(kind, session, branch, file, since)
                scored = [] if is_id else rank(catalog.segments, query, limit, accept)
                named = any(hit.id.startswith("fact:") for hit in exact) or any(_is_fact(catalog, item) for item in scored)
                facts = _load_facts(store_root) if named else None
                hits = [hit for hit in (_hit(catalog, item, facts) for item in scored) if hit is not None]
                taken = {hit.id for hit in exact}
                hits = [*exact, *(hit for hit in hits if hit.id not in taken)][:limit]
                _attribute(store_root, hits, facts)
                return hits
            except (DamagedIndex, IndexError):
                if attempt == 2:
                    raise
                catalog.rebuild()
        return []


def render_hits(hits: list[MemoryHit]) -> str:
    return "\n".join(hit.render() for hit in hits) if hits else "no matching observations"


def timeline(store_root: str, around: str | int, window: int = 3, session: str | None = None) -> list[dict[str, Any]]:
    """Observations by id around one (an id, or the best hit of a query), each with `anchor`; empty when there is none."""
    with _TURN:
        catalog = open_catalog(store_root)
        window = max(0, min(int(window), 50))
        places: list[tuple[int, int, int]] = []
        for number, (_, segment, deleted) in enumerate(catalog.segments):
            kinds, numbers = segment.columns["kind"], segment.columns["number"]
            wanted = segment.strings["session"].index(session) if session in segment.strings["session"] else -1
            sessions = segment.columns["session"]
            places += [(numbers[doc], number, doc) for doc in range(segment.count)
                       if kinds[doc] < len(OBSERVATION_KINDS) and doc not in deleted
                       and (session is None or sessions[doc] == wanted)]
        places.sort()
        text = str(around).strip().lstrip("#")
        if is_number(text):
            anchor = int(text)
        else:
            hits = search_memory(store_root, str(around), session=session, limit=20)
            best = next((hit for hit in hits if hit.id.isdecimal()), None)
            if best is None:
                return []
            anchor = int(best.id)
        at = next((index for index, place in enumerate(places) if place[0] == anchor), None)
        if at is None:
            return []
        rows = []
        for record_id, number, doc in places[max(0, at - window):at + window + 1]:
            record = _record_of(catalog, catalog.segments[number][1], doc)
            if record is not None:
                rows.append({"id": record_id, "ts": record["ts"], "kind": record["kind"], "summary": record["summary"],
                             "files": record["files"], "score": 0, "anchor": record_id == anchor})
        return rows


def render_timeline(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "no timeline context"
    return "\n".join(("> " if row["anchor"] else "  ") + f"#{row['id']} [{row['kind']}] {row['ts'][:10]} {row['ts'][11:16]} "
                     + _fit(row["summary"], 140) for row in rows)


def find_records(store_root: str, ids: Iterable[int]) -> list[dict[str, Any]]:
    """Whole observations in the order asked for, found by the index; by a walk over the files where it does not know one."""
    with _TURN:
        wanted = [int(value) for value in ids]
        catalog, found = open_catalog(store_root), {}
        for record_id in set(wanted):
            for _, segment, deleted in catalog.segments:
                record = _by_number(catalog, segment, deleted, record_id)
                if record is not None:
                    found[record_id] = record
                    break
        missing = [record_id for record_id in wanted if record_id not in found]
        if missing:
            found.update((record["id"], record) for record in get_observations(store_root, missing))
        return [found[record_id] for record_id in dict.fromkeys(wanted) if record_id in found]


def show_records(store_root: str, records: list[dict[str, Any]]) -> str:
    """Past turns in full."""
    return attribute_part(store_root, "observations", render_records(records))


def show_item(store_root: str, item: str, tree_root: str = "") -> str | None:
    """The third layer for any id: a record, a fact, an exchange of a chat, a piece of the host's notes, in full."""
    item = item.strip().lstrip("#")
    if is_number(item):
        records = find_records(store_root, [int(item)])
        return show_records(store_root, records) if records else None
    kind, _, rest = item.partition(":")
    if kind in ("fact", "digest"):
        from slipstream.memory.briefing import render_facts
        store = _load_facts(store_root)
        fact = store.find(rest)
        return render_facts(store_root, tree_root or store_root, [fact], store) if fact else None
    name, _, number = rest.rpartition(":")
    if kind in ("chat", "host") and is_number(number):
        documents = _read_whole(store_root, kind, name)
        if int(number) < len(documents):
            document = documents[int(number)]
            text = f"## {item} {document.ts}\n{document.title}\n\n{document.body}".rstrip()
            return attribute_part(store_root, "conversations", text) if kind == "chat" else text
    return None


def _exact_hits(store_root: str, query: str) -> list[MemoryHit]:
    text = query.strip()
    if is_number(text[1:] if text.startswith("#") else text):
        return [MemoryHit(str(record["id"]), record["ts"], record["kind"], record["summary"], record["files"], 100.0, ["id"],
                          record["session"], str(record.get("branch") or ""))
                for record in find_records(store_root, [int(text.lstrip("#"))])]
    if " " not in text and os.path.lexists(os.path.join(source_folders(store_root)["fact"], os.path.basename(text) + ".md")):
        fact = _load_facts(store_root).find(text)
        if fact is not None:
            kind = "digest" if fact.is_digest else "fact"
            return [MemoryHit(f"fact:{fact.name}", fact.updated, kind, fact.description, [], 100.0, ["name"], "", fact.branch)]
    return []


def _filters(kind: str | None, session: str | None, branch: str | None, file: str | None, since: str | None
             ) -> Callable[[Segment], list[int] | None] | None:
    """For a segment, the documents that meet every condition, ascending; None when there is no condition."""
    wanted_kind = KINDS.index(kind) if kind in KINDS else None
    moment = _moment(since) if since else None
    if wanted_kind is None and session is None and branch is None and not file and moment is None:
        return None

    def accept(segment: Segment) -> list[int]:
        columns, found = segment.columns, range(segment.count) if not file else sorted(_documents_of_file(segment, file))
        for key, text in (("session", session), ("branch", branch)):
            if text is not None:
                known = segment.strings[key]
                number, column = known.index(text) if text in known else -1, columns[key]
                found = [doc for doc in found if column[doc] == number]
        if wanted_kind is not None:
            kinds = columns["kind"]
            found = [doc for doc in found if kinds[doc] == wanted_kind]
        if moment is not None:
            stamps = columns["ts"]
            found = [doc for doc in found if stamps[doc] >= moment]
        return list(found)
    return accept


def _meets(hit: MemoryHit, kind: str | None, session: str | None, branch: str | None, file: str | None,
           since: str | None) -> bool:
    """The same conditions for a hit that was found by its id or name."""
    moment = _moment(since) if since else None
    plain = path_terms(file)[0] if file else ""
    return not ((kind in KINDS and hit.kind != kind) or (session is not None and hit.session != session)
                or (branch is not None and hit.branch != branch) or (moment is not None and (_moment(hit.ts) or 0) < moment)
                or (plain and not any(plain in path_terms(path) for path in hit.files)))


def _moment(since: str) -> float | None:
    from slipstream.base.instants import parse_iso
    return parse_iso(since)


def _documents_of_file(segment: Segment, file: str) -> set[int]:
    place = segment.find_term("/" + file.replace("\\", "/").lower().strip("/"))
    return set(segment.read_postings(place)[0]) if place >= 0 else set()


def _load_facts(store_root: str) -> FactStore:
    from slipstream.memory.fact_reading import load_facts  # most searches find no fact
    return load_facts(store_root)


def _attribute(store_root: str, hits: list[MemoryHit], facts: FactStore | None) -> None:
    """Says in the row what is superseded, and quotes what came with the repository and is not this user's."""
    foreign_turns = is_tracked(store_root, "observations")
    authors, replaced = {}, {}
    if facts is not None:
        from slipstream.memory.fact_index import superseded_names
        authors, replaced = find_authors(store_root), superseded_names(facts.facts)
    for hit in hits:
        name = hit.id.partition(":")[2] if hit.id.startswith("fact:") else ""
        fact = facts.find(name) if facts is not None and name else None
        author = authors.get(os.path.basename(fact.path), "") if fact else ""
        if foreign_turns and hit.id.isdecimal():
            author = "the repository"
        if author:
            hit.summary = f'(by {author}) "{hit.summary}"'
        if name in replaced:
            hit.summary = f"(superseded by {replaced[name]}) {hit.summary}"


def _is_fact(catalog: Catalog, item: Scored) -> bool:
    segment = catalog.segments[item.piece][1]
    return segment.strings["source"][segment.columns["source"][item.doc]].startswith("fact/")


def _hit(catalog: Catalog, item: Scored, facts: FactStore | None) -> MemoryHit | None:
    segment = catalog.segments[item.piece][1]
    row = describe(segment, item.doc)
    kind, _, name = str(row["source"]).partition("/")
    why = [term.lstrip("/") for term in item.matched]
    if kind == "obs":
        record = _record_of(catalog, segment, item.doc)
        if record is None:
            return None
        return MemoryHit(str(record["id"]), record["ts"], record["kind"], record["summary"], record["files"], item.score, why,
                         record["session"], row["branch"])
    if kind == "fact":
        fact = facts.find(name[:-3]) if facts else None
        if fact is None:
            return None
        return MemoryHit(f"fact:{fact.name}", fact.updated, KINDS[row["kind"]], fact.description,
                         [source["file"] for source in fact.sources], item.score, why, "", fact.branch)
    stem_name = name.rsplit(".", 1)[0]
    documents = _read_whole(catalog.store_root, kind, stem_name)
    if row["offset"] >= len(documents):
        return None
    document = documents[row["offset"]]
    summary = document.title if kind == "chat" or not document.body else f"{document.title}: {document.body}".lstrip(": ")
    return MemoryHit(f"{kind}:{stem_name}:{row['offset']}", document.ts, KINDS[row["kind"]], summary, document.keys, item.score,
                     why, document.session, document.branch)


def _read_whole(store_root: str, kind: str, name: str) -> list[Any]:
    from slipstream.base.files import read_text
    from slipstream.memory.documents import conversation_documents, markdown_documents
    path = source_path(store_root, f"{kind}/{name}{'.json' if kind == 'chat' else '.md'}")
    if kind == "chat":
        return conversation_documents(path)
    try:
        return markdown_documents(read_text(path))
    except OSError:
        return []


def _by_number(catalog: Catalog, segment: Segment, deleted: set[int], record_id: int) -> dict[str, Any] | None:
    numbers, start = segment.columns["number"], 0
    while record_id:
        try:
            doc = numbers.index(record_id, start) if start else numbers.index(record_id)
        except (ValueError, TypeError):  # array.index takes a start from Python 3.10 on
            return None
        if doc not in deleted:
            record = _record_of(catalog, segment, doc)
            return record if record is not None and record["id"] == record_id else None
        start = doc + 1
    return None


def _record_of(catalog: Catalog, segment: Segment, doc: int) -> dict[str, Any] | None:
    row = describe(segment, doc)
    return read_observation(source_path(catalog.store_root, row["source"]), row["offset"], row["size"])


def _fit(text: str, limit: int) -> str:
    if len(text.encode("utf-8", "replace")) <= limit:
        return text
    return text.encode("utf-8", "replace")[:max(0, limit - 3)].decode("utf-8", "ignore").rstrip() + "…"


