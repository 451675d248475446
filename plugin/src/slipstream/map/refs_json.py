"""References as a value for programs."""
from __future__ import annotations

from slipstream.map.refs import References


def references_json(found: References) -> dict[str, object]:
    """Name, definitions and uses, and how many uses of other definitions were left out."""
    return {"name": found.name, "others": found.others, "closest": found.close,
            "definitions": [{"path": one.path, "line": one.line, "kind": one.kind, "qualified": one.qualified,
                             "signature": one.signature} for one in found.definitions],
            "uses": [{"path": use.path, "line": use.line, "text": use.text, "inside": use.inside, "where": use.where,
                      "target": use.target} for use in found.uses[found.offset:]]}
