"""Tools over the map functions."""
from __future__ import annotations
