"""Tools over memory: facts, observations, lessons, digests."""
from __future__ import annotations


def list_fact_rows(store_root: str) -> list[tuple[str, str]]:
    """(name, description) of every remembered fact, by name."""
    return []


def read_fact(store_root: str, name: str) -> str | None:
    return None


def read_observation(store_root: str, number: int) -> str | None:
    return None
