"""The version, in one place. HOT: imports nothing."""
from __future__ import annotations

VERSION = "0.1.0"
