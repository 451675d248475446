"""Is the project's store whole, private, small and alone? Each check reads; what is safe to repair has a repair."""
from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Iterator

from slipstream.base.counts import count_of
from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_bytes, write_atomic
from slipstream.base.git import run_git
from slipstream.base.json_files import is_torn, iter_json_lines, load_json
from slipstream.base.locks import FileLock
from slipstream.base.new_store import IGNORE_ALL
from slipstream.base.roots import store_dir
from slipstream.base.settings import SETTINGS, fits
from slipstream.context.gc import LEFTOVER_AGE_S, find_leftovers, remove_leftover
from slipstream.engine.diagnosis import FAIL, OK, WARN, Finding, Patient
from slipstream.memory.share import SHARED_IGNORE

FILE_WARN_BYTES = 100_000_000
FOREIGN_AGE_S = 600.0
JSON_FILES = ("dashboard.json", "budget.json", "savings.json", "status.json", "redact.json")
CACHES = ("backfill/", "context/", "search/", "usage/")
PRIVATE = ("dashboard", "observations", "conversations", "context",
           "backfill")  # never meant for git; memory may be shared on purpose


def _folder(patient: Patient) -> str:
    return os.path.join(patient.store_root, ".claude", "slipstream")


def _walk(patient: Patient) -> Iterator[tuple[str, os.stat_result]]:
    for place, folders, names in os.walk(_folder(patient)):
        for name in folders + names:
            path = os.path.join(place, name)
            try:
                yield path, os.lstat(path)
            except OSError:
                continue


def check_store(patient: Patient) -> list[Finding]:
    """The folder itself: reachable, no symlinks, private, writable."""
    try:
        folder = store_dir(patient.store_root)
    except OSError as error:
        return [Finding("store", FAIL, str(error), "remove that symlink; the store is made anew")]
    if not os.path.isdir(folder):
        return [Finding("store", OK, "none yet in %s; it is made at the first event" % patient.short(patient.store_root))]
    links = [path for path, info in _walk(patient) if stat.S_ISLNK(info.st_mode)]
    if links:
        return [Finding("store", FAIL,
                        "symlinks in the store, which are refused: %s" % ", ".join(map(patient.short, links[:3])),
                        "remove them: rm %s" % " ".join(links[:3]))]
    probe = os.path.join(folder, "doctor-%d.probe" % os.getpid())
    try:
        with open(probe, "xb"):
            pass
        os.unlink(probe)
    except OSError as error:
        return [Finding("store", FAIL, "cannot be written: %s" % (error.strerror or error),
                        "give yourself write access to %s" % folder)]
    if os.name == "posix" and stat.S_IMODE(os.stat(folder).st_mode) & 0o077:
        def fix() -> str:
            os.chmod(folder, 0o700)
            return "made %s private" % patient.short(folder)
        return [Finding("store", WARN, "other users can read it (mode %o)" % stat.S_IMODE(os.stat(folder).st_mode),
                        "chmod 700 %s" % folder, fix)]
    return [Finding("store", OK, patient.short(folder))]


def _log_state(path: str) -> tuple[int, int, bool]:
    """(good lines, bad lines, whether the last line is torn) of a file of JSON lines."""
    good = bad = 0
    for record in iter_json_lines(path):
        good, bad = (good + 1, bad) if record is not None else (good, bad + 1)
    return good, bad, is_torn(path)


def _end_last_line(path: str) -> None:
    """Give a whole record its newline; take away a fragment, of which nothing can be read."""
    with FileLock(path), open(path, "rb+") as stream:
        data = stream.read()
        start = data.rfind(b"\n") + 1
        try:
            json.loads(data[start:])
            stream.write(b"\n")
        except ValueError:
            stream.truncate(start)


def _check_lines(patient: Patient, name: str, part: str) -> Finding:
    """Files of JSON lines: a torn last line is closed by --fix; other damaged lines are skipped by every reader."""
    folder = os.path.join(_folder(patient), part)
    good, damaged, torn = 0, [], []
    for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        path = os.path.join(folder, entry)
        if entry.endswith(".jsonl") and os.path.isfile(path) and not os.path.islink(path):
            count, bad, open_end = _log_state(path)
            good += count
            if bad:
                damaged.append("%s (%d)" % (entry, bad))
            if open_end:
                torn.append(path)
    if torn:
        def fix() -> str:
            for path in torn:
                _end_last_line(path)
            return "ended the torn last line of " + count_of(len(torn), "file")
        return Finding(name, WARN, "a torn last line in %s: a writer was killed" % ", ".join(map(os.path.basename, torn)),
                       "the next record ends it", fix)
    if damaged:
        return Finding(name, WARN, "damaged lines, skipped when read: %s" % ", ".join(damaged[:5]),
                       "nothing is lost but those lines; they may be deleted by hand in %s" % folder)
    return Finding(name, OK, count_of(good, "whole line"))


def check_events(patient: Patient) -> list[Finding]:
    from slipstream.events.log import list_sessions
    from slipstream.events.repair import SPILL_SUFFIX, count_waiting
    list_sessions(patient.store_root)  # takes in what waits beside the logs
    folder = os.path.join(_folder(patient), "dashboard")
    held = {name[: -len(SPILL_SUFFIX)]: count_waiting(os.path.join(folder, name[: -len(SPILL_SUFFIX)]))
            for name in (os.listdir(folder) if os.path.isdir(folder) else []) if name.endswith(SPILL_SUFFIX)}
    return [_check_lines(patient, "events", "dashboard"), *(
        Finding("events", WARN, "%s waiting beside %s: another process holds its lock" % (count_of(count, "event"), name),
                "they come in when it ends, or at the next event") for name, count in sorted(held.items()) if count)]


def check_observations(patient: Patient) -> list[Finding]:
    found = _check_lines(patient, "observations", "observations")
    if found.level != OK:
        return [found]
    from slipstream.memory.observations import load_observations
    numbers = [int(record["id"]) for record in load_observations(patient.store_root)]
    if len(set(numbers)) != len(numbers):
        return [Finding("observations", WARN,
                        "%d observations share a number with another" % (len(numbers) - len(set(numbers))),
                        "two stores were merged; citations of those numbers may show the other one")]
    counter = os.path.join(_folder(patient), "observations", ".counter")
    try:
        held = int(read_bytes(counter, 40) or b"0")
    except (OSError, ValueError):
        held = -1 if os.path.exists(counter) else max(numbers, default=0)
    if held < max(numbers, default=0):
        def fix() -> str:
            with FileLock(counter):
                write_atomic(counter, str(max(numbers)))
            return "set the counter of observations to %d" % max(numbers)
        return [Finding("observations", WARN, "the counter is behind the newest number %d" % max(numbers),
                        "the next capture heals it", fix)]
    return [Finding("observations", OK, count_of(len(numbers), "observation"))]


def check_facts(patient: Patient) -> list[Finding]:
    """Facts that cannot be read, and an index that does not agree with the files."""
    from slipstream.memory.fact_index import render_index
    from slipstream.memory.fact_reading import load_facts
    from slipstream.memory.facts import rebuild_index
    folder = os.path.join(_folder(patient), "memory")
    if not os.path.isdir(folder):
        return [Finding("facts", OK, "none yet")]
    index = os.path.join(folder, "MEMORY.md")
    before = _bytes(index)
    store = load_facts(patient.store_root)
    if store.problems:
        name, reason = store.problems[0]
        return [Finding("facts", FAIL, "%s cannot be read: %s: %s" % (count_of(len(store.problems), "fact"), name, reason),
                        "correct or delete %s" % os.path.join(folder, name))]
    if store.facts and before not in (None, render_index(store.facts).encode("utf-8")):
        def fix() -> str:
            rebuild_index(patient.store_root)
            return "wrote MEMORY.md anew from " + count_of(len(store.facts), "fact")
        return [Finding("facts", WARN, "MEMORY.md did not agree with the files", "slipstream memory index", fix)]
    return [Finding("facts", OK, count_of(len(store.facts), "fact"))]


def _bytes(path: str) -> bytes | None:
    try:
        return read_bytes(path)
    except OSError:
        return None


def check_settings(patient: Patient) -> list[Finding]:
    """Every small JSON file of the store, and the user's own settings, is JSON; what is set is a setting."""
    settings = [os.path.join(patient.home, ".claude", "slipstream.json"), os.path.join(_folder(patient), "settings.json")]
    odd = []
    for path in [*settings, *(os.path.join(_folder(patient), name) for name in JSON_FILES)]:
        try:
            found = load_json(path) or {}
            for key, value in found.items() if path in settings else ():
                if key not in SETTINGS or not fits(SETTINGS[key][0], value):
                    wanted = "true or false" if key in SETTINGS and isinstance(SETTINGS[key][0], bool) else "a text"
                    said = "takes " + wanted if key in SETTINGS else "is no setting"
                    odd.append("%s: `%s` %s" % (patient.short(path), key, said))
        except SlipstreamError as error:
            derived = os.path.basename(path) == "status.json"

            def fix(path: str = path) -> str:
                os.unlink(path)
                return "removed the damaged %s, which is derived" % patient.short(path)
            return [Finding("settings", FAIL, str(error).replace(patient.home, "~"),
                            "correct it, or delete it for the defaults", fix if derived else None)]
        except OSError:
            continue
    if odd:
        return [Finding("settings", WARN, "; ".join(odd), "correct it: it is left aside; there are: %s" % ", ".join(SETTINGS))]
    return [Finding("settings", OK, "readable")]


def check_map(patient: Patient) -> list[Finding]:
    """The index opens and agrees with the tree."""
    from slipstream.map.index import open_index
    index = open_index(patient.tree_root, patient.store_root, write=False)
    return [Finding("map", OK, count_of(sum(1 for _file in index.files()), "file") + " indexed")]


def check_conversations(patient: Patient) -> list[Finding]:
    return _check_json(patient, "conversations", lambda inner: inner.startswith("conversations/"))


def check_caches(patient: Patient) -> list[Finding]:
    return _check_json(patient, "caches", lambda inner: inner == "map.json" or inner.startswith(CACHES))


def _check_json(patient: Patient, name: str, is_meant: Callable[[str], bool]) -> list[Finding]:
    """Derived JSON files: a damaged one can go, and is made anew from what it was derived from."""
    damaged: list[str] = []
    count = 0
    for path, info in _walk(patient):
        inner = os.path.relpath(path, _folder(patient)).replace(os.sep, "/")
        if stat.S_ISREG(info.st_mode) and inner.endswith(".json") and is_meant(inner):
            count += 1
            try:
                json.loads(read_bytes(path))
            except (OSError, ValueError, RecursionError):
                damaged.append(path)
    if not damaged:
        return [Finding(name, OK, "%d readable" % count)]

    def fix() -> str:
        for path in damaged:
            os.unlink(path)
        return "removed %s, made anew when needed" % count_of(len(damaged), "damaged file")
    return [Finding(name, WARN, "damaged: %s" % ", ".join(map(os.path.basename, damaged[:5])),
                    "delete them; they are derived", fix)]


def check_redaction(patient: Patient) -> list[Finding]:
    """The user's own patterns: which are used, which are refused and why."""
    from slipstream.events.custom_rules import check_rules
    path = os.path.join(_folder(patient), "redact.json")
    if not os.path.lexists(path):
        return [Finding("redaction", OK, "built-in patterns; none of your own")]
    rules, refused = check_rules(path)
    if refused:
        why = "; ".join(line.partition(": ")[2] for line in refused[:5])
        return [Finding("redaction", WARN, why, "change or remove them in redact.json")]
    return [Finding("redaction", OK, "built-in patterns and %d of your own" % len(rules))]


def check_sizes(patient: Patient) -> list[Finding]:
    from slipstream.events.log import LOGS_WARN_BYTES
    sizes = sorted(((info.st_size, path) for path, info in _walk(patient) if stat.S_ISREG(info.st_mode)), reverse=True)
    total = sum(size for size, _path in sizes)
    shown = "%.1f MB in %s" % (total / 1e6, count_of(len(sizes), "file"))
    if total > LOGS_WARN_BYTES or (sizes and sizes[0][0] > FILE_WARN_BYTES):
        return [Finding("size", WARN,
                        "%s; the largest is %s with %.1f MB" % (shown, os.path.basename(sizes[0][1]), sizes[0][0] / 1e6),
                        "slipstream gc removes the logs of old sessions, never memory")]
    return [Finding("size", OK, shown)]


def check_leftovers(patient: Patient) -> list[Finding]:
    """Temporary files of killed writers, and the record of a dashboard that is gone."""
    old = find_leftovers(patient.store_root)
    record = os.path.join(_folder(patient), "dashboard", "server.json")
    try:
        pid = int((load_json(record) or {}).get("pid", 0))
    except (OSError, SlipstreamError, TypeError, ValueError):
        pid = -1
    if pid < 0 or (pid > 0 and not _is_alive(pid)):
        old.append(record)
    if not old:
        return [Finding("leftovers", OK, "none")]

    def fix() -> str:
        for path in old:
            remove_leftover(path)
        return "removed " + count_of(len(old), "leftover")
    return [Finding("leftovers", WARN, "left by processes that were killed: %s" % ", ".join(map(os.path.basename, old[:5])),
                    "they do no harm", fix)]


def _is_alive(pid: int) -> bool:
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def check_git(patient: Patient) -> list[Finding]:
    """The store is ignored by git, and nothing private of it is tracked."""
    folder = _folder(patient)
    if run_git(["rev-parse", "--git-dir"], patient.store_root) is None:
        return [Finding("git", OK, "not a git repository")]
    tracked = [name for name in (run_git(["ls-files", "-z", "--", ".claude/slipstream"], patient.store_root) or b"").decode(
        "utf-8", "replace").split("\0") if name]
    private = [name for name in tracked if any("/slipstream/%s/" % part in name for part in PRIVATE)]
    if private:
        folders = " ".join(".claude/slipstream/" + part for part in PRIVATE)
        said = "git tracks %s of the store, such as %s" % (count_of(len(private), "private file"), private[0])
        return [Finding("git", FAIL, said,
                        "git rm -r --cached --quiet --ignore-unmatch " + folders)]
    if not os.path.isdir(folder):
        return [Finding("git", OK, "no store yet")]
    if run_git(["check-ignore", "-q", ".claude/slipstream/dashboard/x.jsonl"], patient.store_root) is None:
        path = os.path.join(folder, ".gitignore")

        def fix() -> str:
            present = (_bytes(path) or b"").decode("utf-8", "replace")
            whole = SHARED_IGNORE if any("/memory/" in name for name in tracked) else IGNORE_ALL
            added = whole if not present else present.rstrip("\n") + "\n/dashboard/\n/observations/\n"
            write_atomic(path, added)
            return "the store's .gitignore covers events and observations again"
        return [Finding("git", FAIL, "the store is not ignored by git, so a commit may publish it",
                        "restore %s" % patient.short(path), fix)]
    shared = " (%s tracked)" % count_of(len(tracked), "shared fact") if tracked else ""
    return [Finding("git", OK, "ignored%s" % shared)]


def check_foreign(patient: Patient) -> list[Finding]:
    """Fresh lock markers that are not ours: the other implementation writes this store at the same time."""
    now = time.time()
    fresh = [path for path, info in _walk(patient) if path.endswith(".jsonl.lock") and stat.S_ISREG(info.st_mode)
             and os.name == "posix" and info.st_mode & 0o044 and now - info.st_mtime < FOREIGN_AGE_S]
    if fresh:
        return [Finding("foreign", WARN, "another program locked %s a moment ago" % os.path.basename(fresh[0]),
                        "run only one slipstream on a store: disable the other plugin or its hooks")]
    return [Finding("foreign", OK, "no other writer")]


def check_errors(patient: Patient) -> list[Finding]:
    """What failed quietly within the last day, also where the store could not take the line: there every project's are."""
    from slipstream.base.clock import now_iso
    from slipstream.events.errorlog import NAME, error_log_paths
    day_ago, store = now_iso(time.time() - 86_400), _folder(patient)
    for path, part in [(os.path.join(store, NAME), ""), *((path, store) for path in error_log_paths(None))]:
        lines = (_bytes(path) or b"").decode("utf-8", "replace").split("\n")
        recent = [line for line in lines if line[:24] > day_ago and part in line]
        if recent:
            return [Finding("errors", WARN, "%d within a day; the last: %s" % (len(recent), recent[-1][:160]),
                            "read %s" % patient.short(path))]
    return [Finding("errors", OK, "none within a day")]


def check_capture(patient: Patient) -> list[Finding]:
    """Is anything still being recorded? The newest event against the newest transcript the host wrote for this project."""
    events = _newest(os.path.join(_folder(patient), "dashboard"))
    name = "".join(char if char.isascii() and char.isalnum() else "-" for char in patient.tree_root)
    talk = _newest(os.path.join(patient.home, ".claude", "projects", name))
    if talk is None:
        return [Finding("capture", OK,
                        "no session of Claude Code here yet" if events is None else "last event %s ago" % _age(events))]
    if events is None or talk - events > LEFTOVER_AGE_S:
        return [Finding("capture", FAIL, "the last session was %s ago, the last event %s" % (
            _age(talk), "never came" if events is None else "%s ago" % _age(events)),
            "the hooks did not run: see the lines `hooks` and `plugin`, and `claude plugin list`")]
    return [Finding("capture", OK, "last event %s ago" % _age(events))]


def _newest(folder: str) -> float | None:
    try:
        return max((entry.stat().st_mtime for entry in os.scandir(folder) if entry.name.endswith(".jsonl")), default=None)
    except OSError:
        return None


def _age(then: float) -> str:
    seconds = max(0.0, time.time() - then)
    for unit, size in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size * (2 if unit == "days" else 1):
            return "%d %s" % (seconds / size, unit)
    return "%d s" % seconds


STORE_CHECKS: dict[str, Callable[[Patient], list[Finding]]] = {
    "store": check_store, "events": check_events, "observations": check_observations, "facts": check_facts,
    "conversations": check_conversations, "settings": check_settings, "redaction": check_redaction,
    "map": check_map, "caches": check_caches, "size": check_sizes, "leftovers": check_leftovers, "git": check_git,
    "foreign": check_foreign, "errors": check_errors, "capture": check_capture,
}
