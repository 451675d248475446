"""The server's process: holds the project's server lock for its life, serves, and leaves when nobody needs it."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sys
import threading
import time

from slipstream.base.clock import now_iso
from slipstream.base.errors import LockTimeout, SlipstreamError
from slipstream.base.locks import FileLock
from slipstream.base.roots import store_dir
from slipstream.base.store import ensure_private_dir, ensure_store, store_path
from slipstream.base.threads import hold_archive, let_threads_import
from slipstream.dashboard import launch
from slipstream.dashboard.auth import Gate
from slipstream.dashboard.routes import Routes
from slipstream.dashboard.server import Server
from slipstream.dashboard.token import TOKEN_NAME, ensure_session_key, new_token, read_token

IDLE_EXIT_S = 30 * 60.0
WATCH_S = 2.0
LOCK_TIMEOUT_S = 3.0


def main(argv: list[str]) -> None:
    """Entry of the detached process; never returns. Arguments are the launcher's own: pairs of --name value, and --open."""
    let_threads_import()
    options = {}
    words = iter(argv)
    for word in words:
        options[word.lstrip("-")] = "1" if word == "--open" else next(words, "")
    os.umask(0o077)
    os.chdir(options["store"])  # no folder of the starter's is kept busy
    fd = int(options["fd"]) if "fd" in options else None
    if os.name == "posix":
        keep = 3 if fd is None else fd
        os.closerange(3, keep)
        os.closerange(keep + 1 if fd is not None else 3, 256)
    hold_archive()
    try:
        listener = launch.open_listener(int(options["port"])) if fd is None else socket.socket(fileno=fd)
        listener.set_inheritable(False)
        status = serve(options["store"], options["tree"], listener, options["nonce"], options["started-at"], "open" in options)
    except Exception as error:
        from slipstream.events.errorlog import log_error

        log_error(options.get("store"), "dashboard", error)
        status = 1
    os._exit(status)


def serve(
    store_root: str,
    tree_root: str,
    listener: socket.socket,
    nonce: str,
    started_at: str,
    open_browser: bool,
    stay: bool = False,
) -> int:
    """Serves until told to stop or idle. 0 also when another server of this project holds the lock: one is enough."""
    ensure_store(store_root)
    ensure_private_dir(store_path(store_root, "dashboard"))
    try:
        with FileLock(store_path(store_root, "dashboard", "server"), timeout_s=LOCK_TIMEOUT_S):
            return _serve_locked(store_root, tree_root, listener, nonce, started_at, open_browser, stay)
    except LockTimeout:
        listener.close()
        if stay:
            raise SlipstreamError("another dashboard serves this project; `dashboard stop` ends it") from None
        return 0


def _serve_locked(
    store_root: str, tree_root: str, listener: socket.socket, nonce: str, started_at: str, open_browser: bool, stay: bool
) -> int:
    port = listener.getsockname()[1]
    extra = tuple(name for name in os.environ.get("SLIPSTREAM_DASHBOARD_HOSTS", "").replace(",", " ").split() if name)
    gate = Gate(read_token(store_root) or new_token(store_root), ensure_session_key(store_root), port)
    server = Server(listener, gate, extra)
    routes = server.routes = Routes(server, store_root, tree_root, nonce, started_at)
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: routes.stop_asked.set())
    launch.save_record(store_root, launch.build_record(store_root, os.getpid(), port, nonce, started_at))
    routes.hub.start()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 30.0}, name="accept", daemon=True)
    thread.start()
    if open_browser:
        from slipstream.dashboard.browser import open_page

        open_page(launch.address(port) + "#code=" + gate.new_code())
    _wait(routes, server, store_root, nonce, stay)
    listener.close()
    _leave(store_root, nonce)
    routes.hub.stop()
    routes.hub.keep_all()
    return 0


def _wait(routes: Routes, server: Server, store_root: str, nonce: str, stay: bool) -> None:
    """Until somebody asks to stop, the project goes away, another server took over, or nobody has looked for long."""
    missing = 0
    while not routes.stop_asked.wait(min(WATCH_S, idle_exit_s() / 4)):
        record = launch.load_record(store_root)
        missing = missing + 1 if record is None or record["nonce"] != nonce else 0
        if missing >= 2 and not stay:
            return
        quiet_since = max(server.last_request, routes.hub.last_change)
        if not stay and not routes.hub.streams and time.monotonic() - quiet_since > idle_exit_s():
            return


def idle_exit_s() -> float:
    try:
        return float(os.environ.get("SLIPSTREAM_DASHBOARD_IDLE_S", "")) or IDLE_EXIT_S
    except ValueError:
        return IDLE_EXIT_S


def _leave(store_root: str, nonce: str) -> None:
    """Takes away what is ours: the record only while it is ours, the token that is now worth nothing."""
    record = launch.load_record(store_root)
    if record is None or record["nonce"] != nonce:
        return
    for name in ("server.json", TOKEN_NAME):
        try:
            os.unlink(os.path.join(store_dir(store_root), "dashboard", name))
        except OSError:
            pass


def run_foreground(store_root: str, tree_root: str, open_browser: bool) -> int:
    """`dashboard start --foreground`: serves in this process until Ctrl-C."""
    ensure_store(store_root)
    listener = launch.open_listener(launch.last_port(store_root))
    new_token(store_root)
    print(launch.address(listener.getsockname()[1]), flush=True)
    print("Ctrl-C ends it.", file=sys.stderr)
    return serve(store_root, tree_root, listener, secrets.token_hex(16), now_iso(), open_browser, stay=True)
