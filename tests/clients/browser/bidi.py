"""A smaller client for Firefox over WebDriver BiDi: open an address, evaluate, take a picture."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from typing import Any

from tests.clients.browser.cdp import WebSocket

PREFERENCES = ("remote.active-protocols", "1"), ("browser.shell.checkDefaultBrowser", "false"), ("app.update.disabledForTesting", "true")


def find_firefox() -> str | None:
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    """One headless Firefox with a profile of its own and one tab."""

    def __init__(self) -> None:
        path = find_firefox()
        assert path is not None
        self.profile = tempfile.mkdtemp(prefix="slipstream-firefox-")
        with open(os.path.join(self.profile, "user.js"), "w", encoding="ascii") as stream:
            stream.writelines('user_pref("%s", %s);\n' % pair for pair in PREFERENCES)
        self.log = open(os.path.join(self.profile, "log"), "w+b")
        command = [path, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", self.profile]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        self.socket = WebSocket((self._port(), "/session"))
        self._next = 0
        self.call("session.new", capabilities={})
        self.tab = self.call("browsingContext.getTree")["contexts"][0]["context"]

    def _port(self) -> int:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with open(self.log.name, "rb") as stream:
                found = re.search(rb"listening on ws://127\.0\.0\.1:(\d+)", stream.read())
            if found:
                return int(found.group(1))
            time.sleep(0.1)
        raise AssertionError("Firefox did not start")

    def call(self, method: str, **params: Any) -> Any:
        self._next += 1
        self.socket.send(json.dumps({"id": self._next, "method": method, "params": params}))
        while True:
            answer = json.loads(self.socket.receive(60))
            if answer.get("id") == self._next:
                if answer.get("type") == "error":
                    raise AssertionError("%s: %s" % (method, answer.get("message")))
                return answer["result"]

    def goto(self, address: str) -> None:
        self.call("browsingContext.navigate", context=self.tab, url=address, wait="complete")

    def run(self, script: str) -> Any:
        answer = self.call("script.evaluate", expression=script, target={"context": self.tab}, awaitPromise=True)
        if answer["type"] == "exception":
            raise AssertionError(answer["exceptionDetails"]["text"])
        return answer["result"].get("value")

    def wait(self, script: str, seconds: float = 20.0) -> Any:
        deadline = time.monotonic() + seconds
        while True:
            try:
                value = self.run(script)
            except AssertionError:
                value = None
            if value:
                return value
            if time.monotonic() > deadline:
                raise AssertionError("never true: " + script)
            time.sleep(0.1)

    def picture(self, path: str) -> None:
        data = self.call("browsingContext.captureScreenshot", context=self.tab)["data"]
        with open(path, "wb") as stream:
            stream.write(base64.b64decode(data))

    def close(self) -> None:
        try:
            self.call("browser.close")
        except (AssertionError, OSError):
            pass
        self.socket.close()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)
