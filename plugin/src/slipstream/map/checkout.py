"""What tells one state of the map's source from another where it runs from a checkout."""
from __future__ import annotations

import os


def module_marks(folder: str, words: tuple[str, ...]) -> list[str]:
    """Name, size and time of each module of the map in `folder`, and of the modules `words` of `base`."""
    marks: list[str] = []
    base = os.path.join(os.path.dirname(folder), "base")
    for place in (base, folder, os.path.join(folder, "languages"), os.path.join(folder, "imports")):
        if not os.path.isdir(place):
            continue
        with os.scandir(place) as scan:
            for entry in scan:
                if entry.name in words or (entry.name.endswith(".py") and place != base):
                    info = entry.stat()
                    marks.append(f"{entry.name} {info.st_size} {info.st_mtime_ns}")
    return marks
