"""A smoke run in Firefox: it signs in, shows every view, and updates live."""

from __future__ import annotations

import os
import unittest

from slipstream.dashboard import launch

from tests.clients import skip
from tests.clients.browser.bidi import Firefox, find_firefox
from tests.clients.browser.test_page import PICTURES, VIEWS, fill
from tests.dashboard.serving import Project


class FirefoxTest(unittest.TestCase):
    def test_smoke(self) -> None:
        if not os.environ.get("SLIPSTREAM_BROWSER"):
            skip("browser", "SLIPSTREAM_BROWSER is not set")
        if find_firefox() is None:
            skip("firefox", "no Firefox on the path")
        project = Project()
        self.addCleanup(project.close)
        fill(project)
        firefox = Firefox()
        self.addCleanup(firefox.close)
        firefox.goto("http://%s/#code=%s" % (project.host, launch.one_time_code(project.root)))
        firefox.wait("document.querySelectorAll('.agent:not(.head)').length > 0", 40)
        firefox.run("window.errors = []; addEventListener('error', (event) => errors.push(event.message));"
                    " addEventListener('unhandledrejection', (event) => errors.push(String(event.reason)))")
        for view in VIEWS:
            firefox.run("location.hash = '#/%s'" % view)
            firefox.wait("document.querySelector('#rail a[aria-current=page]').dataset.view === '%s' &&"
                         " document.querySelector('main').textContent.length > 20" % view)
            if PICTURES:
                firefox.picture(os.path.join(PICTURES, "firefox-%s.png" % view))
        firefox.run("location.hash = '#/now'")
        project.emit("user-prompt", "seen in Firefox")
        firefox.wait("/seen in Firefox/.test((document.querySelector('.tail') || {}).textContent)")
        self.assertEqual(firefox.run("errors.join()"), "")
        self.assertEqual(firefox.run("getComputedStyle(document.querySelector('#rail')).display"), "flex")


if __name__ == "__main__":
    unittest.main()
