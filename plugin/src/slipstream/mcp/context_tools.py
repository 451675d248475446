"""Tools over the context functions."""
from __future__ import annotations
