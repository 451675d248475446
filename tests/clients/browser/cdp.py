"""A small client of Chromium's debugging protocol: enough WebSocket to open pages, evaluate, press keys and take pictures."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
from collections import deque
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    return next((path for path in map(shutil.which, BROWSERS) if path), None)


class Browser:
    """One browser process with a profile of its own."""

    def __init__(self, *flags: str) -> None:
        path = find_chromium()
        assert path is not None
        self.profile = tempfile.mkdtemp(prefix="slipstream-browser-")
        command = [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--no-first-run"]
        command += ["--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
        command += ["--user-data-dir=" + self.profile, *flags, "about:blank"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket = WebSocket(self._wait_for_port())
        self.pages: dict[str, Page] = {}
        self._next = 0

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
        self._next += 1
        message: dict[str, Any] = {"id": self._next, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        self.socket.send(json.dumps(message))
        wanted = self._next
        while True:
            answer = json.loads(self.socket.receive(60))
            if answer.get("id") == wanted:
                if "error" in answer:
                    raise AssertionError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self._event(answer)

    def pump(self, seconds: float) -> None:
        """Takes in events for a while."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                self._event(json.loads(self.socket.receive(max(0.001, deadline - time.monotonic()))))
            except (socket.timeout, TimeoutError):
                return

    def _event(self, message: dict[str, Any]) -> None:
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
        try:
            self.call("Browser.close")
        except (AssertionError, OSError):
            pass
        self.socket.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


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
        deadline = time.monotonic() + seconds
        while True:
            try:
                value = self.run(script)
            except AssertionError:
                value = None
            if value:
                return value
            if time.monotonic() > deadline:
                text = self.run("document.body ? document.body.innerText.slice(0, 600) : ''")
                raise AssertionError("never true: %s\n%s\n%s" % (script, text, list(self.complaints)))
            self.browser.pump(0.05)

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
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as stream:
            stream.write(base64.b64decode(data))

    def close(self) -> None:
        self.browser.call("Target.closeTarget", targetId=self.target)
        self.browser.pages.pop(self.session, None)


class WebSocket:
    """Client side of RFC 6455 for one trusted peer on the loopback interface."""

    def __init__(self, where: tuple[int, str]) -> None:
        port, path = where
        self.socket = socket.create_connection(("127.0.0.1", port), 30)
        key = base64.b64encode(os.urandom(16)).decode("ascii")
        lines = ["GET %s HTTP/1.1" % path, "Host: 127.0.0.1:%d" % port, "Upgrade: websocket", "Connection: Upgrade"]
        lines += ["Sec-WebSocket-Key: " + key, "Sec-WebSocket-Version: 13", "", ""]
        self.socket.sendall("\r\n".join(lines).encode("ascii"))
        self._buffer = b""
        while b"\r\n\r\n" not in self._buffer:
            self._buffer += self.socket.recv(65536)
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        assert b" 101 " in head.split(b"\r\n")[0], head
        self._partial = b""

    def send(self, text: str) -> None:
        data, mask = text.encode("utf-8"), os.urandom(4)
        size = len(data)
        head = b"\x81" + (bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size) if size < 65536 else b"\xff" + struct.pack(">Q", size))
        padded = int.from_bytes(data, "big") ^ int.from_bytes((mask * (size // 4 + 1))[:size], "big") if size else 0
        self.socket.settimeout(30)
        self.socket.sendall(head + mask + padded.to_bytes(size, "big"))

    def _take(self, size: int, deadline: float) -> bytes:
        while len(self._buffer) < size:
            self.socket.settimeout(max(0.001, deadline - time.monotonic()))
            chunk = self.socket.recv(1 << 20)
            if not chunk:
                raise ConnectionError("the browser went away")
            self._buffer += chunk
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return taken

    def receive(self, seconds: float) -> str:
        deadline = time.monotonic() + seconds
        while True:
            if not self._buffer:
                first = self._take(2, deadline)
            else:
                first = self._take(2, time.monotonic() + 30)
            deadline = max(deadline, time.monotonic() + 30)
            size = first[1] & 0x7F
            if size == 126:
                size = struct.unpack(">H", self._take(2, deadline))[0]
            elif size == 127:
                size = struct.unpack(">Q", self._take(8, deadline))[0]
            data = self._take(size, deadline)
            if first[0] & 0x0F in (0, 1, 2):
                self._partial += data
                if first[0] & 0x80:
                    whole, self._partial = self._partial, b""
                    return whole.decode("utf-8", "replace")
            elif first[0] & 0x0F == 8:
                raise ConnectionError("the browser closed the connection")

    def close(self) -> None:
        self.socket.close()
