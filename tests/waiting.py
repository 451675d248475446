"""Waiting for what another process or thread does: asks again and again, with a deadline."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def wait_until(test: Callable[[], Any], seconds: float = 20.0) -> Any:
    """The first true value of a test; AssertionError when there is none in time."""
    deadline = time.monotonic() + seconds
    while True:
        value = test()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError("never true")
        time.sleep(0.01)  # what is waited for needs the processor
