"""A smaller client for Firefox over WebDriver BiDi: open an address, evaluate, take a picture."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from typing import Any

from tests.clients.browser.driver import Driver, WebSocket, save_picture, wait_for

PREFERENCES = ("remote.active-protocols", "1"), ("browser.shell.checkDefaultBrowser", "false"), ("app.update.disabledForTesting", "true")


def find_firefox() -> str | None:
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox(Driver):
    """One headless Firefox with a profile of its own and one tab."""

    def __init__(self) -> None:
        path = find_firefox()
        assert path is not None
        super().__init__()
        with open(os.path.join(self.profile, "user.js"), "w", encoding="ascii") as stream:
            stream.writelines('user_pref("%s", %s);\n' % pair for pair in PREFERENCES)
        self.log = open(os.path.join(self.profile, "log"), "w+b")
        command = [path, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", self.profile]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        self.socket = WebSocket((self._port(), "/session"))
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
        return self.ask(method, params)

    def goto(self, address: str) -> None:
        self.call("browsingContext.navigate", context=self.tab, url=address, wait="complete")

    def run(self, script: str) -> Any:
        answer = self.call("script.evaluate", expression=script, target={"context": self.tab}, awaitPromise=True)
        if answer["type"] == "exception":
            raise AssertionError(answer["exceptionDetails"]["text"])
        return answer["result"].get("value")

    def wait(self, script: str, seconds: float = 20.0) -> Any:
        return wait_for(self.run, script, seconds, lambda: time.sleep(0.1), str)

    def picture(self, path: str) -> None:
        save_picture(path, self.call("browsingContext.captureScreenshot", context=self.tab)["data"])

    def close(self) -> None:
        self.end("browser.close")
        self.log.close()
