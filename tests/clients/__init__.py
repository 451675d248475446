"""Tests against real third-party parts. Each skips with a printed reason where its part is missing.

SLIPSTREAM_REQUIRE_CLIENTS (comma-separated) names the parts that were installed: a skip of one of those is a failure.
"""
from __future__ import annotations

import importlib
import os
import shutil
import sys
import unittest
from typing import Any

import tests as tests  # puts the package on the path


def skip(part: str, reason: str) -> None:
    """Skips the running test, or fails it where CI says the part was installed."""
    if part.lower() in os.environ.get("SLIPSTREAM_REQUIRE_CLIENTS", "").lower().split(","):
        raise AssertionError(f"{part} was to be there, but: {reason}")
    print(f"skipped: {part}: {reason}", file=sys.stderr)
    raise unittest.SkipTest(f"{part}: {reason}")


def require(module: str, part: str) -> Any:
    """Imports a Python package, or skips."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        skip(part, str(error))


def require_command(name: str, part: str) -> str:
    """Path of a program, or skips."""
    path = shutil.which(name)
    if path is None:
        skip(part, f"no {name} on the path")
    return path or ""
