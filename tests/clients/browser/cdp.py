"""A small client of Chromium's debugging protocol: opens pages, evaluates, presses keys and takes pictures."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections import deque
from typing import Any

from tests.clients.browser.driver import Driver, WebSocket, save_picture, wait_for

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    return next((path for path in map(shutil.which, BROWSERS) if path), None)


class Browser(Driver):
    """One Chromium."""

    def __init__(self, *flags: str) -> None:
        path = find_chromium()
        assert path is not None
        super().__init__()
        command = [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--no-first-run"]
        command += ["--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
        command += ["--user-data-dir=" + self.profile, *flags, "about:blank"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket = WebSocket(self._wait_for_port())
        self.pages: dict[str, Page] = {}

    def _wait_for_port(self) -> tuple[int, str]:
        path, deadline = os.path.join(self.profile, "DevToolsActivePort"), time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                with open(path, encoding="ascii") as stream:
                    lines = stream.read().split("\n")
                if len(lines) >= 2 and lines[1]:
                    return int(lines[0]), lines[1]
            except (OSError, ValueError):
                pass
            time.sleep(0.05)
        raise AssertionError("the browser did not start")

    def call(self, method: str, session: str | None = None, **params: Any) -> Any:
        return self.ask(method, params, **({} if session is None else {"sessionId": session}))

    def pump(self, seconds: float) -> None:
        """Takes in events for a while."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                self.take_event(json.loads(self.socket.receive(max(0.001, deadline - time.monotonic()))))
            except (socket.timeout, TimeoutError):
                return

    def take_event(self, message: dict[str, Any]) -> None:
        page = self.pages.get(message.get("sessionId", ""))
        if page is not None:
            page.take(message.get("method", ""), message.get("params", {}))

    def open(self, address: str = "about:blank", width: int = 1280, height: int = 800, context: str | None = None) -> Page:
        extra = {"browserContextId": context} if context else {}
        target = self.call("Target.createTarget", url="about:blank", **extra)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session, target)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(domain + ".enable")
        page.size(width, height)
        if address != "about:blank":
            page.goto(address)
        return page

    def new_context(self) -> str:
        return str(self.call("Target.createBrowserContext")["browserContextId"])

    def close(self) -> None:
        self.end("Browser.close")


class Page:
    """One tab: what it logged, which addresses it asked for, and hands to use it."""

    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self.browser, self.session, self.target = browser, session, target
        self.complaints: deque[str] = deque(maxlen=200)
        self.requests: list[str] = []

    def call(self, method: str, **params: Any) -> Any:
        return self.browser.call(method, self.session, **params)

    def take(self, method: str, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append("exception: %s" % (details.get("exception", {}).get("description") or details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append("%s: %s %s" % (params["entry"]["level"], params["entry"]["text"], params["entry"].get("url", "")))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append("console.%s: %s" % (params["type"], [item.get("value") for item in params["args"]]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def goto(self, address: str) -> None:
        self.call("Page.navigate", url=address)

    def run(self, script: str) -> Any:
        """The value of an expression in the page; promises are awaited."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in result:
            raise AssertionError(result["exceptionDetails"].get("exception", {}).get("description", str(result)))
        return result["result"].get("value")

    def wait(self, script: str, seconds: float = 10.0) -> Any:
        """The expression's value once it is true."""
        return wait_for(self.run, script, seconds, lambda: self.browser.pump(0.05), self.told)

    def told(self) -> str:
        return "%s\n%s" % (self.run("document.body ? document.body.innerText.slice(0, 600) : ''"), list(self.complaints))

    def key(self, key: str, shift: bool = False) -> None:
        names = {" ": ("Space", " "), "Escape": ("Escape", ""), "Enter": ("Enter", "\r"), "Tab": ("Tab", "")}
        code, text = names.get(key, (key if len(key) > 1 else "Key" + key.upper(), key if len(key) == 1 else ""))
        numbers = {"Escape": 27, "Enter": 13, "Tab": 9, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        common = {"key": key, "code": code, "windowsVirtualKeyCode": numbers.get(key, ord(key.upper()) if len(key) == 1 else 0)}
        common["modifiers"] = 8 if shift else 0
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1, buttons=1)

    def size(self, width: int, height: int, scale: float = 1.0) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def media(self, **features: str) -> None:
        values = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", features=values)

    def picture(self, path: str) -> None:
        save_picture(path, self.call("Page.captureScreenshot", format="png")["data"])

    def close(self) -> None:
        self.browser.call("Target.closeTarget", targetId=self.target)
        self.browser.pages.pop(self.session, None)
