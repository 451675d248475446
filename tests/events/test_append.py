"""The writer: numbering, order, torn tails, foreign logs, locks held too long, parallel and killed writers, full and foreign disks."""
from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from collections.abc import Iterator
from unittest import mock

from slipstream.base.locks import FileLock
from slipstream.events import append, repair
from slipstream.events.append import append_event, session_file_name
from slipstream.events.log import LogReader, list_sessions, log_path, parse_event, read_events
from slipstream.events.names import decode_session, encode_session, safe_session
from slipstream.memory.observe import capture

from tests import SOURCE
from tests.folders import FolderCase

WRITER = textwrap.dedent("""
    import sys
    sys.path.insert(0, sys.argv[1])
    from slipstream.events.append import append_event
    import slipstream.events.append as append
    append.LOCK_TIMEOUT_S = 30.0
    root, name, count = sys.argv[2], sys.argv[3], int(sys.argv[4])
    sys.stdout.write("ready\\n"); sys.stdout.flush()
    sys.stdin.readline()
    for number in range(count):
        append_event(root, "s", name, "post-tool", "Bash echo %d" % number, {"tool": "Bash", "bytes": number, "n": number})
""")


HOLDER = textwrap.dedent("""
    import sys
    sys.path.insert(0, sys.argv[1])
    from slipstream.base.locks import FileLock
    with FileLock(sys.argv[2]):
        sys.stdout.write("held\\n"); sys.stdout.flush()
        sys.stdin.read()
""")


class Store(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.path = log_path(self.root, "s")

    def lines(self) -> list[bytes]:
        with open(self.path, "rb") as stream:
            return stream.read().splitlines()

    def assert_whole(self, events: int) -> None:
        """Every line is an event, numbered in file order without a gap."""
        found = [parse_event(line) for line in self.lines()]
        self.assertEqual([event["seq"] for event in found if event], list(range(events)))
        self.assertEqual(len(found), events)

    def writers(self, count: int, each: int) -> list[subprocess.Popen[bytes]]:
        started = [subprocess.Popen([sys.executable, "-I", "-S", "-c", WRITER, SOURCE, self.root, f"w{number}", str(each)],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE) for number in range(count)]
        for process in started:
            assert process.stdout is not None
            self.assertEqual(process.stdout.readline(), b"ready\n")
        return started

    def finish(self, started: list[subprocess.Popen[bytes]]) -> None:
        for process in started:
            process.communicate(timeout=60)


class OneWriter(Store):
    def test_published_shape_and_key_order(self) -> None:
        self.assertEqual(append_event(self.root, "s", "", "session-start", "hi", ts="2026-05-31T20:00:00.000Z"), 0)
        self.assertEqual(append_event(self.root, "s", "w", "post-tool", "Read é", {"bytes": 3}, ts="t"), 1)
        self.assertEqual(self.lines(), [
            b'{"seq":0,"ts":"2026-05-31T20:00:00.000Z","session":"s","agent":"main","kind":"session-start","label":"hi"}',
            b'{"seq":1,"ts":"t","session":"s","agent":"w","kind":"post-tool","label":"Read \\u00e9","data":{"bytes":3}}'])

    @unittest.skipUnless(os.name == "posix", "modes are POSIX")
    def test_private_folder_file_and_ignore_rule(self) -> None:
        append_event(self.root, "s", "main", "stop", "x")
        store = os.path.join(self.root, ".claude", "slipstream")
        self.assertEqual(stat.S_IMODE(os.stat(store).st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(self.path)).st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o600)
        self.assertTrue(os.path.isfile(os.path.join(store, ".gitignore")))

    def test_time_is_taken_on_receipt_not_after_the_wait(self) -> None:
        append_event(self.root, "s", "main", "stop", "x")
        seen: list[str] = []
        real = append.FileLock

        class Slow(real):  # type: ignore[valid-type,misc]
            def __enter__(self) -> object:
                seen.append(append.now_iso(time.time() + 100))
                return super().__enter__()

        append.FileLock = Slow  # type: ignore[misc]
        try:
            append_event(self.root, "s", "main", "stop", "y")
        finally:
            append.FileLock = real  # type: ignore[misc]
        self.assertLess(read_events(self.root, "s")[-1]["ts"], seen[0])

    def test_torn_last_line_costs_only_itself(self) -> None:
        append_event(self.root, "s", "main", "stop", "x")
        with open(self.path, "ab") as stream:
            stream.write(b'{"seq":1,"ts":"t","sess')
        self.assertEqual(append_event(self.root, "s", "main", "stop", "y"), 1)
        reader = LogReader(self.path)
        self.assertEqual([event["label"] for event in reader.read()], ["x", "y"])
        self.assertEqual(reader.skipped, 1)

    def test_numbers_go_on_below_foreign_lines(self) -> None:
        append_event(self.root, "s", "main", "stop", "x")
        with open(self.path, "ab") as stream:  # keys in the other implementation's order, numbers that collide, an overlong line
            stream.write(b'{"session":"s","agent":"main","kind":"stop","label":"a","seq":7,"ts":"t"}\n')
            stream.write(b'{"session":"s","agent":"main","kind":"stop","label":"' + b"b" * 300_000 + b'","seq":8,"ts":"t"}\n')
        self.assertEqual(append_event(self.root, "s", "main", "stop", "y"), 9)
        self.assertEqual([event["seq"] for event in read_events(self.root, "s")], [0, 7, 8, 9])

    def test_a_foreign_number_too_long_to_read_stops_nobody(self) -> None:
        append_event(self.root, "s", "main", "stop", "before")
        with open(log_path(self.root, "s"), "a", encoding="utf-8") as stream:
            stream.write('{"seq":%s,"ts":"x","session":"s","agent":"main","kind":"stop","label":"b"}\n' % ("9" * 5000))
        self.assertEqual(append_event(self.root, "s", "main", "stop", "after"), 1)
        self.assertEqual([event["seq"] for event in read_events(self.root, "s")], [0, 1])

    def test_only_the_tail_is_read(self) -> None:
        append_event(self.root, "s", "main", "stop", "x")
        with open(self.path, "r+b") as stream:
            stream.truncate(3_000_000_000)  # sparse: reading it whole would be felt
            stream.seek(0, os.SEEK_END)
            stream.write(b'\n{"seq":41,"ts":"t","session":"s","agent":"main","kind":"stop","label":"z"}\n')
        self.assertEqual(append_event(self.root, "s", "main", "stop", "y"), 42)

    def test_large_data_is_bounded(self) -> None:
        append_event(self.root, "s", "main", "post-tool", "x" * 5000, {"plan": ["step " * 400] * 300, "bad": float("nan"), "deep": [[["a"]]]})
        event = read_events(self.root, "s")[0]
        self.assertEqual(event["label"], "x" * 500)
        self.assertTrue(event["data"]["cut"])
        self.assertLess(len(self.lines()[0]), 20_000)
        self.assertEqual(append_event(self.root, "s", "main", "stop", "y"), 1)


class Names(unittest.TestCase):
    def test_plain_ids_stay(self) -> None:
        for session in ("main", "s", "console", "com10", "a.con", "aa4d3a7a-3d40-4449-a6f5-58e0ce5fc81c", "cursor-ide-k3f9z", "A_b-9"):
            self.assertEqual(session_file_name(session), session)

    def test_a_secret_given_as_an_id_stands_nowhere(self) -> None:
        for secret in ("ghp" + "_" + "a1B2c3D4e5" * 4, "sk-ant-" + "api03-" + "aB3dE5fG7h" * 9, "run https://joe:hunter22x@example.com/x",
                       "password: hunter2" + "hunter", "API_TOKEN=" + "aZ3kQ9vT7m"):
            name = session_file_name(secret)
            self.assertRegex(name, r"\Aredacted-[0-9a-f]{32}\Z")
            self.assertEqual((session_file_name(name), decode_session(name), safe_session(name)), (name, name, name))
            with tempfile.TemporaryDirectory() as root:
                append_event(root, secret, "main", "user-prompt", "do it")
                append_event(root, secret, "main", "stop", "done")
                capture(root, secret, flush_open=True)
                self.assertEqual([event["session"] for event in read_events(root, secret)], [name, name])
                self.assertEqual([row["session"] for row in list_sessions(root)], [name])
                for place, _, names in os.walk(root):
                    self.assertNotIn(secret[-20:], " ".join(names))
                    for file in names:
                        with open(os.path.join(place, file), "rb") as stream:
                            self.assertNotIn(secret[-20:].encode(), stream.read(), file)
        for plain in ("session_2026_11_30_abcdef123456", "01JABCDEFGHJKMNPQRSTVWXYZ0", "a1b2c3d4e5f60718293a4b5c6d7e8f90"):
            self.assertEqual(session_file_name(plain), plain)

    def test_everything_else_is_encoded_one_to_one(self) -> None:
        ids = ["../../etc/passwd", "a/b", "a\\b", "", ".", "..", ".hidden", "a b", "é", "e\u0301", "a%2Fb", "%", "CON.", "nul\0", "a" * 500,
               "a" * 499 + "b", "x\n", "\ud800", "a.b", "a:b", "CON", "nul", "com1", "LPT9", "aux.txt", "%43ON"]
        names = [session_file_name(session) for session in ids]
        self.assertEqual(len(set(names)), len(ids))
        for session, name in zip(ids, names):
            self.assertRegex(name, r"\A[A-Za-z0-9_%-][A-Za-z0-9_.%-]*\Z")
            self.assertLessEqual(len(name), 160)
            self.assertFalse(name.endswith("."))
            self.assertNotIn(name.partition(".")[0].lower(), ("con", "nul", "com1", "lpt9", "aux"))  # devices on Windows
            if len(session) < 100:
                self.assertEqual(decode_session(name), session)
            self.assertEqual(encode_session(session), name)

    def test_no_session_leaves_the_folder(self) -> None:
        with tempfile.TemporaryDirectory() as root:
            append_event(root, "../../../outside", "main", "stop", "x")
            self.assertEqual(os.listdir(root), [".claude"])
            self.assertEqual(read_events(root, "../../../outside")[0]["session"], "../../../outside")


class HeldLock(Store):
    def test_an_event_waits_beside_the_log_and_is_taken_in(self) -> None:
        append_event(self.root, "s", "main", "stop", "first")
        append.LOCK_TIMEOUT_S, before = 0.05, append.LOCK_TIMEOUT_S
        try:
            with FileLock(self.path):
                self.assertEqual(append_event(self.root, "s", "main", "stop", "waited"), -1)
        finally:
            append.LOCK_TIMEOUT_S = before
        self.assertEqual(append_event(self.root, "s", "main", "stop", "last"), 2)
        self.assertEqual([event["label"] for event in read_events(self.root, "s")], ["first", "waited", "last"])
        self.assertFalse(os.path.exists(self.path + ".spill"))
        self.assert_whole(3)

    def test_drain_takes_in_without_a_new_event_and_only_once(self) -> None:
        append_event(self.root, "s", "main", "stop", "first")
        for label in ("a", "b"):
            repair.spill(self.path, json.dumps({"ts": label, "session": "s", "agent": "main", "kind": "stop", "label": label}))
        names = sorted(os.listdir(self.path + ".spill"))
        with open(os.path.join(self.path + ".spill", names[0]), "rb") as stream:
            taken = stream.read()
        with open(self.path, "ab") as stream:  # a writer that took the first in and was killed before it could remove the file
            stream.write(b'{"seq":1,' + taken[1:] + b"\n")
        self.assertEqual(repair.drain(self.path), 2)
        self.assertEqual([event["label"] for event in read_events(self.root, "s")], ["first", "a", "b"])
        self.assertEqual(repair.drain(self.path), 0)


    def test_what_is_no_event_in_the_waiting_folder_stops_nobody(self) -> None:
        append_event(self.root, "s", "main", "stop", "first")
        repair.spill(self.path, '{"ts":"t","session":"s","agent":"main","kind":"stop","label":"waited"}')
        os.mkdir(os.path.join(self.path + ".spill", "0"))
        if hasattr(os, "mkfifo"):
            os.mkfifo(os.path.join(self.path + ".spill", "1"))  # reading it would wait for ever, and everybody for the lock
        os.symlink("/dev/zero", os.path.join(self.path + ".spill", "2"))
        for number in (2, 3):
            self.assertEqual(append_event(self.root, "s", "main", "stop", "more"), number)
        self.assertEqual([event["label"] for event in read_events(self.root, "s")], ["first", "waited", "more", "more"])
        self.assertEqual(os.listdir(self.path + ".spill"), ["0"])

    def test_readers_take_in_what_waits_as_soon_as_the_holder_is_gone(self) -> None:
        append_event(self.root, "s", "main", "stop", "first")
        with self.held(self.path) as holder:
            for label in ("waited", "too"):
                self.assertEqual(append_event(self.root, "s", "main", "stop", label), -1)
            self.assertEqual(append_event(self.root, "new", "main", "user-prompt", "the first of its session"), 0)
            reader = LogReader(self.path)
            self.assertEqual([event["label"] for event in reader.read()], ["first"])  # nobody may write: the number is not known yet
            holder.kill()
            holder.wait()
        self.assertEqual([(event["seq"], event["label"]) for event in reader.read()], [(1, "waited"), (2, "too")])
        self.assertFalse(os.path.exists(self.path + ".spill"))
        self.assert_whole(3)
        self.assertEqual(append_event(self.root, "s", "main", "stop", "last"), 3)

    def test_every_way_to_read_sees_it(self) -> None:
        def lists() -> object:
            return [row["session"] for row in list_sessions(self.root)]

        def labels() -> object:
            return [event["label"] for event in read_events(self.root, "s")]

        def captures() -> object:
            return [record["summary"] for record in capture(self.root, "s", flush_open=True)]
        for read, wanted in ((lists, ["s"]), (captures, None), (labels, ["Bash make"])):
            with self.subTest(read=read), tempfile.TemporaryDirectory() as self.root:
                path = log_path(self.root, "s")
                append_event(self.root, "other", "main", "stop", "makes the folders")
                with self.held(path) as holder:  # the very first event of a session: no log yet
                    append_event(self.root, "s", "main", "post-tool", "Bash make", {"tool": "Bash", "tool_use_id": "t1"})
                    self.assertFalse(os.path.exists(path))
                    holder.kill()
                    holder.wait()
                found = read()
                self.assertTrue(set(wanted) <= set(found) if wanted else found, found)  # type: ignore[call-overload,arg-type]
                self.assertEqual([event["seq"] for event in read_events(self.root, "s")], [0])

    def test_a_store_that_cannot_be_written_is_still_read(self) -> None:
        append_event(self.root, "s", "main", "stop", "first")
        repair.spill(self.path, '{"ts":"t","session":"s","agent":"main","kind":"stop","label":"waits"}')
        with mock.patch.object(repair, "FileLock", side_effect=PermissionError("read-only")):
            self.assertEqual([event["label"] for event in read_events(self.root, "s")], ["first"])
            self.assertEqual(len(list_sessions(self.root)), 1)
        self.assertEqual([event["label"] for event in read_events(self.root, "s")], ["first", "waits"])

    def test_the_unfinished_file_of_a_killed_writer_goes(self) -> None:
        append_event(self.root, "s", "main", "stop", "first")
        repair.spill(self.path, '{"ts":"t","session":"s","agent":"main","kind":"stop","label":"waits"}')
        left = os.path.join(self.path + ".spill", "0-1-ab.tmp")
        with open(left, "wb"):
            pass
        self.assertEqual(len(read_events(self.root, "s")), 2)
        self.assertTrue(os.path.exists(left))  # perhaps at work
        os.utime(left, (1, 1))
        append_event(self.root, "s", "main", "stop", "last")
        self.assertFalse(os.path.exists(self.path + ".spill"))

    @contextlib.contextmanager
    def held(self, path: str) -> Iterator[subprocess.Popen[bytes]]:
        """A process that holds a log's lock, and appends that do not wait long for it."""
        holder = subprocess.Popen([sys.executable, "-I", "-S", "-c", HOLDER, SOURCE, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert holder.stdout is not None
        self.assertEqual(holder.stdout.readline(), b"held\n")
        try:
            with mock.patch.object(append, "LOCK_TIMEOUT_S", 0.02):
                yield holder
        finally:
            holder.kill()
            holder.communicate()


class ManyWriters(Store):
    def test_twenty_five_at_once(self) -> None:
        started = self.writers(25, 4)
        for process in started:
            assert process.stdin is not None
            process.stdin.write(b"go\n")
            process.stdin.flush()
        self.finish(started)
        self.assert_whole(100)
        events = read_events(self.root, "s")
        for number in range(25):  # each writer's own events stand in its own order
            self.assertEqual([event["data"]["n"] for event in events if event["agent"] == f"w{number}"], [0, 1, 2, 3])

    @unittest.skipUnless(hasattr(signal, "SIGKILL"), "needs SIGKILL")
    def test_killed_at_random_instants(self) -> None:
        started = self.writers(6, 100_000)
        for process in started:
            assert process.stdin is not None
            process.stdin.write(b"go\n")
            process.stdin.flush()
        rng, deadline = random.Random(3), time.monotonic() + 20
        for number, process in enumerate(started):
            wanted = (number + 1) * rng.randrange(30, 60)
            while time.monotonic() < deadline and (not os.path.exists(self.path) or os.path.getsize(self.path) < wanted * 150):
                pass
            process.send_signal(signal.SIGKILL)
        self.finish(started)
        survived = append_event(self.root, "s", "main", "stop", "after")
        reader = LogReader(self.path)
        events = reader.read()
        self.assertEqual([event["seq"] for event in events], list(range(len(events))))
        self.assertEqual(events[-1]["seq"], survived)
        self.assertLessEqual(reader.skipped, len(started))  # at most the line that each was writing
        for number in range(6):
            own = [event["data"]["n"] for event in events if event["agent"] == f"w{number}"]
            self.assertEqual(own, list(range(len(own))), "a hole: an event was lost before the kill")


class BadPlaces(Store):
    @unittest.skipUnless(hasattr(os, "symlink") and os.name == "posix", "needs symlinks")
    def test_symlinks_are_refused(self) -> None:
        with tempfile.TemporaryDirectory() as elsewhere:
            os.makedirs(os.path.join(self.root, ".claude", "slipstream"))
            folder = os.path.join(self.root, ".claude", "slipstream", "dashboard")
            os.symlink(elsewhere, folder)
            with self.assertRaises(OSError):
                append_event(self.root, "s", "main", "stop", "x")
            self.assertEqual(os.listdir(elsewhere), [])
            os.unlink(folder)
            os.mkdir(folder)
            target = os.path.join(elsewhere, "victim")
            os.symlink(target, self.path)
            with self.assertRaises(OSError):
                append_event(self.root, "s", "main", "stop", "x")
            self.assertFalse(os.path.exists(target))

    @unittest.skipUnless(hasattr(os, "symlink") and os.name == "posix", "needs symlinks")
    def test_a_linked_store_that_leaves_the_project_is_refused(self) -> None:
        with tempfile.TemporaryDirectory() as elsewhere:
            os.symlink(elsewhere, os.path.join(self.root, ".claude"))
            with self.assertRaises(OSError):
                append_event(self.root, "s", "main", "stop", "x")
            self.assertEqual(os.listdir(elsewhere), [])

    def test_a_folder_that_cannot_be_written_fails_at_once(self) -> None:
        os.makedirs(os.path.join(self.root, ".claude", "slipstream"))
        with open(os.path.join(self.root, ".claude", "slipstream", "dashboard"), "w", encoding="utf-8"):
            pass
        began = time.process_time()
        with self.assertRaises(OSError):
            append_event(self.root, "s", "main", "stop", "x")
        self.assertLess(time.process_time() - began, 0.5)

    @unittest.skipUnless(os.name == "posix", "needs resource limits")
    def test_full_disk_leaves_no_torn_line(self) -> None:
        program = textwrap.dedent("""
            import resource, signal, sys
            sys.dont_write_bytecode = True  # below the limit it would be torn, for everybody who imports it later
            sys.path.insert(0, sys.argv[1])
            from slipstream.events.append import append_event
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
            done = failed = 0
            for number in range(100):
                try:
                    append_event(sys.argv[2], "s", "main", "stop", "event %d" % number)
                    done += 1
                except OSError:
                    failed += 1
            print(done, failed)
        """)
        made = subprocess.run([sys.executable, "-I", "-S", "-c", program, SOURCE, self.root], capture_output=True, timeout=60, check=True)
        done, failed = map(int, made.stdout.split())
        self.assertGreater(done, 10)
        self.assertGreater(failed, 10)
        self.assert_whole(done)
        self.assertEqual(append_event(self.root, "s", "main", "stop", "room again"), done)


if __name__ == "__main__":
    unittest.main()
