"""What goes wrong on purpose in a scenario: python3 sabotage.py ACT ARGUMENT..., each act a function below."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from pathlib import Path


def stop_server(plugin: str) -> None:
    """Kill the one server process that runs from this copy of the plugin, and wait until it is gone."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        except OSError:
            continue
        if os.path.join(plugin, "slipstream.pyz") in words and "mcp" in words:
            os.kill(int(entry.name), signal.SIGKILL)
            print("server stopped")


def hold_lock(path: str) -> None:
    """Hold an advisory lock until killed."""
    import fcntl

    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        while True:
            time.sleep(60)


def remove(path: str) -> None:
    os.unlink(path)
    print("the file is gone")


def tear(path: str) -> None:
    """The first half of the file, as a broken download leaves it."""
    data = Path(path).read_bytes()
    Path(path).write_bytes(data[: len(data) // 2])
    print("the file is torn")


def replace_pyz(path: str) -> None:
    """Another version of the same file, as an update writes it: every module at another offset."""
    import zipfile

    with zipfile.ZipFile(path) as old, zipfile.ZipFile(path + ".new", "w", zipfile.ZIP_STORED) as new:
        new.writestr("AAA_first.txt", "x" * 4321)
        for name in old.namelist():
            new.writestr(name, old.read(name) + (b"\n# another version\n" if name.endswith(".py") else b""))
    os.replace(path + ".new", path)
    print("the file is replaced")


def link_tools(folder: str, python: str) -> None:
    """A PATH folder with the usual tools and `python` as python3; none when `python` is "none"."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name in ("sh", "bash", "env", "ls", "cat", "echo", "git", "rm", "cp", "touch", "uname", "grep", "sed"):
        found = shutil.which(name)
        if found:
            (target / name).symlink_to(found)
    if python != "none":
        (target / "python3").symlink_to(python)


if __name__ == "__main__":
    acts = (stop_server, hold_lock, remove, tear, replace_pyz, link_tools)
    {act.__name__.replace("_", "-"): act for act in acts}[sys.argv[1]](*sys.argv[2:])
