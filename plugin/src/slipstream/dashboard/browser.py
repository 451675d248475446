"""Opens an address in the person's browser without waiting for it: macOS, Windows, WSL, desktops on Linux."""

from __future__ import annotations

import os
import shutil
import sys


def find_opener() -> list[str] | None:
    """The command that opens an address here; None when this machine has no browser to open."""
    chosen = os.environ.get("BROWSER", "").split(os.pathsep)[0].strip()
    if chosen and shutil.which(chosen.split(" ")[0]):
        return chosen.split(" ")
    if sys.platform == "darwin":
        return ["open"]
    if os.name == "nt":
        return ["rundll32", "url.dll,FileProtocolHandler"]
    if _is_wsl():
        for command in (["wslview"], ["rundll32.exe", "url.dll,FileProtocolHandler"], ["explorer.exe"]):
            if shutil.which(command[0]):
                return command
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        for name in ("xdg-open", "gio", "sensible-browser"):
            if shutil.which(name):
                return [name, "open"] if name == "gio" else [name]
    return None


def open_page(address: str) -> bool:
    """Starts the opener and leaves it alone. False when there is none or it could not be started."""
    opener = find_opener()
    if opener is None:
        return False
    import subprocess

    try:
        process = subprocess.Popen(
            [*opener, address],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=os.name == "posix",
        )
    except OSError:
        return False
    process.returncode = 0  # not waited for
    return True


def _is_wsl() -> bool:
    try:
        with open("/proc/version", encoding="utf-8", errors="replace") as stream:
            return "microsoft" in stream.read(400).lower()
    except OSError:
        return False
