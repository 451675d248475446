"""Definitions, imports and purpose of a source file, one module per language family, each loaded when first needed."""
from __future__ import annotations
