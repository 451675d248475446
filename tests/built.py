"""The pyz as the source builds it now, built once for all tests of a run: compressing it in Python takes seconds."""
from __future__ import annotations

from functools import lru_cache

import build_zipapp


@lru_cache(1)
def built_pyz() -> bytes:
    return build_zipapp.build_pyz()
