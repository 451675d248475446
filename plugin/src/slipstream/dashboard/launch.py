"""Finds this project's dashboard or starts it, once; hooks call it, so importing it costs nothing but json.

Nothing here waits for the server to come up: the launcher opens the listening socket itself and hands it to the
detached process, so the address is known and connections queue before the first line of the server has run.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from slipstream.base.clock import now_iso
from slipstream.base.errors import SlipstreamError
from slipstream.base.files import read_text, write_atomic
from slipstream.base.locks import FileLock
from slipstream.base.roots import store_dir
from slipstream.base.store import ensure_private_dir, ensure_store, store_path
from slipstream.build_info import VERSION

LOOPBACK = "127.0.0.1"
PROBE_TIMEOUT_S = 0.3
START_LOCK_TIMEOUT_S = 0.3
STARTING_GRACE_S = 10.0
MAX_ANSWER_BYTES = 16 * 1024
SILENT = "the dashboard's server (process %d) does not answer; end that process, then start it again"

_children: list[int] = []


def ensure_started(store_root: str, tree_root: str, may_open: bool = False) -> str | None:
    """The plain address of the project's dashboard, started detached when it does not run; None when it cannot be.

    may_open: whether a browser may be opened on a fresh start if the user asked for that (never for a subagent or -p).
    """
    try:
        enabled, auto_open = page_settings(store_root)
        return start(store_root, tree_root, open_browser=may_open and auto_open)[0] if enabled else None
    except Exception:  # a hook must go on whatever happens here
        return None


def page_settings(store_root: str, env: Mapping[str, str] = os.environ) -> tuple[bool, bool]:
    """(enabled, autoOpen): defaults, then dashboard.json, then SLIPSTREAM_DASHBOARD and SLIPSTREAM_DASHBOARD_OPEN."""
    try:
        found = json.loads(read_small(store_root, "dashboard.json"))
    except Exception:  # absent, or a typing error: the defaults
        found = None
    found = found if isinstance(found, dict) else {}
    values = [found.get("enabled") is not False, found.get("autoOpen") is True]
    for index, name in enumerate(("SLIPSTREAM_DASHBOARD", "SLIPSTREAM_DASHBOARD_OPEN")):
        if env.get(name) in ("0", "1"):
            values[index] = env[name] == "1"
    return values[0], values[1]


def start(store_root: str, tree_root: str, open_browser: bool = False, wait_s: float = 0.0) -> tuple[str, bool]:
    """(address, whether this call started it). Raises OSError or SlipstreamError when no server can be started.

    wait_s: how long to wait until the server answers; hooks do not wait at all.
    """
    record, started = live_record(store_root), False
    if record is None:
        ensure_store(store_root)
        ensure_private_dir(store_path(store_root, "dashboard"))
        with FileLock(store_path(store_root, "dashboard", "start"), timeout_s=max(START_LOCK_TIMEOUT_S, wait_s)):
            record = live_record(store_root) or _starting_record(store_root)
            if record is None:
                old = load_record(store_root)
                if old is not None and probe(store_root, old, any_version=True):
                    ask_to_stop(store_root, old)  # another version of us: it leaves, the new one takes its port
                record, started = _spawn(store_root, tree_root, open_browser), True
    deadline = time.monotonic() + wait_s
    while wait_s and not probe(store_root, record):
        if time.monotonic() >= deadline:
            raise SlipstreamError(SILENT % record["pid"])
        time.sleep(0.02)
    return address(record["port"]), started


def stop(store_root: str, wait_s: float = 5.0) -> bool:
    """Asks the project's server to end and waits until it is gone; False when there is none that proved to be ours."""
    record = load_record(store_root)
    if record is None or not probe(store_root, record, any_version=True):
        return False
    ask_to_stop(store_root, record)  # the process may end before its answer is out
    deadline = time.monotonic() + wait_s
    while time.monotonic() < deadline and is_running(record):
        time.sleep(0.02)
    return not is_running(record)


def find_silent(store_root: str) -> int | None:
    """The process of this project's server when it still runs, by its start time, and does not answer: stopped, or hanging."""
    record = load_record(store_root)
    if record is None or record.get("project") != project_name(store_root) or record.get("processStart") is None:
        return None
    same = is_running(record) and process_start(record["pid"]) == record["processStart"]
    return int(record["pid"]) if same and not probe(store_root, record, any_version=True) else None


def one_time_code(store_root: str) -> str:
    """A code that opens a browser session, from the running server. SlipstreamError when it gives none."""
    record = live_record(store_root)
    status, answer = (0, None) if record is None else request(store_root, record["port"], "POST", "/api/code", {}, 2.0)
    if status != 200 or not isinstance(answer, dict):
        raise SlipstreamError("the dashboard's server does not answer")
    return str(answer["code"])


def address(port: int) -> str:
    return "http://%s:%d/" % (LOOPBACK, port)


def read_small(store_root: str, *parts: str) -> str:
    """Text of a small file of the store, which is not made for it. OSError also for a symlink on the way."""
    folder = store_dir(store_root)
    for part in parts[:-1]:
        folder = os.path.join(folder, part)
        if os.path.islink(folder):
            raise OSError("a symlink inside the store; refused: " + folder)
    return read_text(os.path.join(folder, parts[-1]), MAX_ANSWER_BYTES)


def project_name(store_root: str) -> str:
    """What tells one project's server from another's: the real path of the store root."""
    return os.path.realpath(store_root)


def load_record(store_root: str) -> dict[str, Any] | None:
    """server.json, or None. The file may come from a stranger: pid, port and nonce are checked, url is never used."""
    try:
        record = json.loads(read_small(store_root, "dashboard", "server.json"))
    except Exception:  # missing, torn or not ours: no record
        return None
    if not isinstance(record, dict):
        return None
    pid, port, nonce = record.get("pid"), record.get("port"), record.get("nonce")
    if type(pid) is not int or type(port) is not int or not isinstance(nonce, str):
        return None
    return record if pid > 0 and 0 < port < 65536 else None


def last_port(store_root: str) -> int:
    """The port of the last server, from dashboard.url: open tabs find the next one there. 0 when unknown."""
    try:
        text = read_small(store_root, "dashboard.url").strip()
    except Exception:  # absent or refused
        return 0
    port = text.rpartition(":")[2]
    return int(port) if port.isascii() and port.isdigit() and 1024 <= int(port) < 65536 else 0


def build_record(store_root: str, pid: int, port: int, nonce: str, started_at: str) -> dict[str, Any]:
    """The published keys of server.json and ours: which project, which instance, which process."""
    return {
        "pid": pid,
        "port": port,
        "url": address(port).rstrip("/"),
        "startedAt": started_at,
        "version": VERSION,
        "project": project_name(store_root),
        "nonce": nonce,
        "processStart": process_start(pid),
    }


def save_record(store_root: str, record: dict[str, Any]) -> None:
    write_atomic(store_path(store_root, "dashboard", "server.json"), json.dumps(record) + "\n", mode=0o600)
    write_atomic(store_path(store_root, "dashboard.url"), address(record["port"]).rstrip("/") + "\n", mode=0o600)


def process_start(pid: int) -> str | None:
    """When a process began, in the kernel's own unit; empty once it ended, None where the system does not tell it cheaply."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as stream:
            return parse_start(stream.read(4096))
    except (OSError, IndexError, ValueError):
        return None


def parse_start(stat: bytes) -> str:
    """The same from the text of /proc/PID/stat. While a thread goes on the port is held, also when the first has ended."""
    fields = stat.rpartition(b")")[2].split()
    return "" if fields[0] in (b"Z", b"X") and int(fields[17]) < 2 else fields[19].decode("ascii")


def is_running(record: dict[str, Any]) -> bool:
    """Whether the process of a record still is that process (pid and start time)."""
    for pid in list(_children):  # a server that we started and that ended must not look alive as a zombie
        try:
            if os.waitpid(pid, os.WNOHANG)[0]:
                _children.remove(pid)
        except (OSError, AttributeError):
            _children.remove(pid)
    if os.name == "posix":
        try:
            os.kill(record["pid"], 0)
        except PermissionError:
            return False  # another user's process is not our server
        except (OSError, OverflowError):
            return False
    now, then = process_start(record["pid"]), record.get("processStart")
    return now != "" and (now is None or then is None or now == then)  # ended, if its parent has noticed or not


def live_record(store_root: str) -> dict[str, Any] | None:
    """The record of a server that proved to be this project's, this instance and this version."""
    record = load_record(store_root)
    return record if record is not None and probe(store_root, record) else None


def probe(store_root: str, record: dict[str, Any], any_version: bool = False) -> bool:
    """Whether the server of a record answers the health request with the record's own project and nonce."""
    if not is_running(record):
        return False  # the token is not shown to whoever may hold the port now
    status, answer = request(store_root, record["port"], "GET", "/api/health", None, PROBE_TIMEOUT_S)
    if status != 200 or not isinstance(answer, dict):
        return False
    same = answer.get("nonce") == record["nonce"] and answer.get("project") == project_name(store_root)
    return same and (any_version or answer.get("version") == VERSION)


def ask_to_stop(store_root: str, record: dict[str, Any]) -> bool:
    return request(store_root, record["port"], "POST", "/api/shutdown", {}, PROBE_TIMEOUT_S * 3)[0] == 200


def request(
    store_root: str, port: int, method: str, target: str, body: dict[str, Any] | None, timeout_s: float
) -> tuple[int, Any]:
    """(status, JSON value) of one request with the bearer token over a raw socket; (0, None) when there is no answer."""
    import socket

    from slipstream.dashboard.token import read_token

    token = read_token(store_root)
    if token is None:
        return 0, None
    payload = b"" if body is None else json.dumps(body).encode("utf-8")
    lines = ["%s %s HTTP/1.1" % (method, target), "Host: %s:%d" % (LOOPBACK, port), "Connection: close"]
    lines += ["Authorization: Bearer " + token]
    if body is not None:
        lines += ["Origin: http://%s:%d" % (LOOPBACK, port), "Content-Type: application/json", "X-Slipstream: 1"]
        lines += ["Content-Length: %d" % len(payload)]
    chunks: list[bytes] = []
    try:
        with socket.create_connection((LOOPBACK, port), timeout_s) as link:
            link.sendall("\r\n".join(lines).encode("ascii") + b"\r\n\r\n" + payload)
            size = 0
            while size <= MAX_ANSWER_BYTES:
                chunk = link.recv(65536)
                if not chunk:
                    break
                chunks.append(chunk)
                size += len(chunk)
        head, _, text = b"".join(chunks).partition(b"\r\n\r\n")
        status = int(head[:16].split(b" ")[1])
        return status, json.loads(text) if text else None
    except (OSError, ValueError, IndexError):
        return 0, None


def _starting_record(store_root: str) -> dict[str, Any] | None:
    """A server that another process started a moment ago and that has not had time to answer."""
    record = load_record(store_root)
    if record is None or record.get("version") != VERSION or not is_running(record):
        return None
    from slipstream.base.instants import parse_iso

    began, now = parse_iso(str(record.get("startedAt"))), time.time()
    if began is None or not 0 <= now - began < STARTING_GRACE_S:
        return None
    return record if record.get("project") == project_name(store_root) else None


def open_listener(preferred: int) -> Any:
    """A socket that listens on the loopback address, on the preferred port when it is free, else on any."""
    import socket

    for port in (preferred, 0):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            if os.name == "posix":  # a port in TIME_WAIT is ours to take again; SO_REUSEPORT is never set
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((LOOPBACK, port))
            listener.listen(64)
            return listener
        except OSError:
            listener.close()
            if port == 0:
                raise
    raise OSError("no port")  # pragma: no cover - the loop returns or raises


def server_command(store_root: str, tree_root: str, extra: list[str]) -> list[str]:
    """The command line of the detached server, from the pyz or from a source folder alike."""
    home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    arguments = ["--store", store_root, "--tree", tree_root] + extra
    code = "import sys;sys.path.insert(0,sys.argv[1]);from slipstream.dashboard.runner import main;main(sys.argv[2:])"
    return [sys.executable, "-I", "-S", "-c", code, home] + arguments


def _spawn(store_root: str, tree_root: str, open_browser: bool) -> dict[str, Any]:
    """Starts the detached server and returns its record; the caller holds the start lock."""
    from slipstream.dashboard.token import new_token

    listener = open_listener(last_port(store_root))
    with listener:
        port: int = listener.getsockname()[1]
        nonce, started_at = os.urandom(16).hex(), now_iso()
        new_token(store_root)
        extra = ["--nonce", nonce, "--started-at", started_at] + (["--open"] if open_browser else [])
        if os.name == "posix":
            os.set_inheritable(listener.fileno(), True)
            pid = _spawn_posix(server_command(store_root, tree_root, extra + ["--fd", str(listener.fileno())]), listener)
        else:  # pragma: no cover - Windows: a socket handle is not inherited reliably, the server binds the port again
            listener.close()
            pid = _spawn_process(server_command(store_root, tree_root, extra + ["--port", str(port)]), None)
        _children.append(pid)
        record = build_record(store_root, pid, port, nonce, started_at)
        save_record(store_root, record)
    return record


def _spawn_posix(command: list[str], listener: Any) -> int:
    """posix_spawn in a session of its own; subprocess only where the system cannot do that."""
    null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    try:
        return os.posix_spawn(command[0], command, os.environ, file_actions=null, setsid=True)
    except (NotImplementedError, AttributeError):
        return _spawn_process(command, listener.fileno())


def _spawn_process(command: list[str], fd: int | None) -> int:
    import subprocess

    options: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if os.name == "posix":
        options.update(start_new_session=True, pass_fds=() if fd is None else (fd,))
    else:  # pragma: no cover - Windows: detached, no console, out of the host's job
        options.update(creationflags=0x00000008 | 0x00000200 | 0x01000000)
    process = subprocess.Popen(command, **options)
    process.returncode = 0  # never waited for here; keeps the destructor from warning about a running child
    return process.pid
